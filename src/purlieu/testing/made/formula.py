"""The formula of a made web: which pages there are, what each is at an epoch, and where it leads.

Pages of a host are numbered from 0, the root, and form a tree, so that all are reachable; further links are by
chance. Knows numbers only: no address, no HTML, no HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Final, NamedTuple

from purlieu.testing.made.plan import Changes, Errors
from purlieu.testing.made.words import ONE, dice

_APPEAR_EPOCHS: Final = 10
"""Pages appear for so many epochs; without an end there could be no number of pages."""
_HOST_BRANCHES: Final = 8
BROKEN: Final = ("reset", "hang", "close", "truncated", "garbage", "503")


class Fate(NamedTuple):
    """What a page is at an epoch.

    ``what``: page, redirect, missing, failing, unborn, gone (unlinked) or left (gone, and still linked).
    ``version`` counts the changes of its main text, the last of which was at epoch ``changed`` (None: never changed).
    ``target`` is the page that a redirect leads to.
    """

    what: str
    version: int = 0
    changed: int | None = None
    target: int = 0


@dataclass(frozen=True)
class Formula:
    """Size, chance and change of a made web, as numbers."""

    hosts: int
    pages: int
    seed: int
    links: int
    cross_links: int
    errors: Errors
    changes: Changes

    @cached_property
    def branches(self) -> int:
        """Return how many children a page has."""
        return max(1, min(self.links // 3, 20))

    @cached_property
    def parents(self) -> int:
        """Return how many pages have children: those below this number; they never fail, move or vanish."""
        return max(1, -(-(self.pages - 1) // self.branches))

    @cached_property
    def _classes(self) -> tuple[tuple[int, int], ...]:
        """Return (rank below which, epochs between changes) for each row of the schedule."""
        total, upto, rows = self.hosts * self.pages, 0.0, []
        for share, every in self.changes.schedule:
            upto += share
            rows.append((round(upto * total), every))
        return tuple(rows)

    @cached_property
    def _shuffle(self) -> tuple[int, int, int]:
        """Return factor, shift and modulus of a permutation of all pages: shares of them are exact."""
        total = self.hosts * self.pages
        first, shift, *_ = dice(self.seed, "shuffle", 0)
        factor = first % total | 1
        while gcd(factor, total) != 1:
            factor += 2
        return factor, shift % total, total

    @cached_property
    def _may_change_fate(self) -> bool:
        errors, changes = self.errors, self.changes
        return any((errors.redirects, errors.missing, errors.failing, changes.appear, changes.vanish, changes.move))

    @cached_property
    def _may_be_unlinked(self) -> bool:
        return bool(self.changes.appear or self.changes.vanish)

    def fate(self, host: int, page: int, epoch: int) -> Fate:
        """Return what a page of a host is at an epoch."""
        if self._may_change_fate and page >= self.parents:
            drawn = dice(self.seed, "fate", host, page)
            what = self._ending(drawn, epoch)
            if what == "redirect":
                return Fate("redirect", target=drawn[4] % self.parents)
            if what:
                return Fate(what)
        if not self._classes:
            return Fate("page")
        factor, shift, total = self._shuffle
        rank = ((host * self.pages + page) * factor + shift) % total
        for below, every in self._classes:
            if rank < below:
                phase = rank % every
                version = (epoch + phase) // every
                return Fate("page", version, version * every - phase) if version > 0 else Fate("page")
        return Fate("page")

    def _ending(self, drawn: tuple[int, ...], epoch: int) -> str:
        errors, changes = self.errors, self.changes
        fate = drawn[0] / ONE
        for what, share in (("redirect", errors.redirects), ("missing", errors.missing), ("failing", errors.failing)):
            if fate < share:
                return what
            fate -= share
        born = int(drawn[1] / ONE / changes.appear) + 1 if changes.appear else 0
        if epoch < born <= _APPEAR_EPOCHS:
            return "unborn"
        if changes.vanish and epoch > drawn[2] / ONE / changes.vanish:
            return "left" if drawn[5] % 2 else "gone"
        return "redirect" if changes.move and epoch > drawn[3] / ONE / changes.move else ""

    def is_linked(self, host: int, page: int, epoch: int) -> bool:
        """Say whether pages lead to this one at an epoch."""
        return not self._may_be_unlinked or self.fate(host, page, epoch).what not in {"unborn", "gone"}

    def own_links(self, host: int, page: int) -> list[int]:
        """Return the pages of the same host that a page leads to: its children, its parent, and others by chance.

        As long as they are linked, that is (``is_linked``); so it is with ``far_links``.
        """
        pages, branches = self.pages, self.branches
        first = page * branches + 1
        found = dict.fromkeys(range(first, min(first + branches, pages)))
        if page:
            found[(page - 1) // branches] = None
        missing = self.links - self.cross_links - branches - 1
        for turn in range(0, missing, 16):
            for one in dice(self.seed + turn, "links", host, page)[: missing - turn]:
                found[one % pages] = None
        return list(found)

    def far_links(self, host: int, page: int) -> list[tuple[int, int]]:
        """Return (host, page) of the links to other hosts; roots lead to further roots, so that the first finds all."""
        if not self.cross_links or self.hosts < 2:
            return []
        found: dict[tuple[int, int], None] = {}
        if not page:
            first = host * _HOST_BRANCHES + 1
            found |= dict.fromkeys((far, 0) for far in range(first, min(first + _HOST_BRANCHES, self.hosts)))
        drawn = dice(self.seed, "far", host, page)
        for turn in range(min(self.cross_links, 8)):
            far = (host + 1 + drawn[2 * turn] % (self.hosts - 1)) % self.hosts
            found[far, drawn[2 * turn + 1] % self.pages] = None
        return list(found)

    def broken(self, host: int) -> str:
        """Return in which way a host is broken: one of ``BROKEN``, or "" when it is not. The first never is."""
        if not self.errors.broken_hosts or not host:
            return ""
        drawn = dice(self.seed, "host", host)
        return BROKEN[drawn[1] % len(BROKEN)] if drawn[0] / ONE < self.errors.broken_hosts else ""

    def is_slow(self, host: int) -> bool:
        """Say whether a host is slow."""
        share = self.errors.slow_hosts
        return bool(share) and dice(self.seed, "host", host)[2] / ONE < share

    def busy_seconds(self, host: int, second: float) -> float:
        """Return for how much longer a host answers 429 at this second of its clock; 0 when it does not."""
        errors = self.errors
        if not errors.busy_seconds:
            return 0.0
        shift = dice(self.seed, "host", host)[3] / ONE * errors.busy_every_seconds
        into = (second + shift) % errors.busy_every_seconds
        return max(0.0, errors.busy_seconds - into)

    def standing(self, host: int, epoch: int) -> Iterator[tuple[int, Fate]]:
        """Yield every page of a host that is linked or in its sitemap at an epoch, with what it is."""
        for page in range(self.pages):
            fate = self.fate(host, page, epoch)
            if fate.what not in {"unborn", "gone"}:
                yield page, fate
