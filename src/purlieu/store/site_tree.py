"""The pages of a run in the order of their addresses, with the sections they make, in temporary tables.

Knows how the tables are filled once and asked by key: nothing is held in memory that grows with the run. What is shown
of them is ``report.site_tree``'s.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator
from operator import add
from typing import Any, Final, NamedTuple

from purlieu.sitemap import moment
from purlieu.store.database import Database
from purlieu.store.outlinks import Link, lines, unpack
from purlieu.value import dataclass, fields

SECTION, PAGE = 0, 1
END = "\x7f"
"""Stands behind every character of a serialised address: what begins with a prefix lies before prefix + END."""
_RECENT = 100_000  # links remembered as seen: most are the same on every page
_AT_ONCE = 5_000
_GOOD = frozenset(("fetched", "unchanged"))
_FAILING = frozenset(("missing", "refused", "server_error", "unreachable", "unreadable", "abandoned", "crashed"))


class TreeNode(NamedTuple):
    """One row: a section (``rank`` 0) with the sums of what lies below it, or a page (1) with what became of it.

    ``newest`` is a section's newest lastmod in seconds since the epoch.
    """

    key: str
    rank: int
    host: int | None
    hash: int | None
    title: str | None
    kind: str
    reason: str
    index_reason: str
    is_document: int
    in_sitemap: int
    is_linked: int
    lastmod: str | None
    pages: int
    newest: float | None
    unlinked: int
    unlisted: int
    redirecting: int
    excluded: int
    failing: int
    broken: int
    unindexable: int
    problems: int


@dataclass(frozen=True, slots=True)
class Health:
    """How a section or page does: numbers of pages, of which a page is one itself.

    ``unlinked``: in a sitemap and not linked; ``unlisted``: linked and indexable, in no sitemap; ``redirecting``,
    ``excluded`` and ``failing``: in a sitemap, and yet; ``broken``: failing at all; ``problems`` of its sitemap files.
    """

    pages: int
    in_sitemap: int
    unlinked: int
    unlisted: int
    redirecting: int
    excluded: int
    failing: int
    broken: int
    unindexable: int
    problems: int


COUNTS: Final = tuple(one.name for one in fields(Health))
_NEVER: Final = float("-inf")


@dataclass(slots=True)
class _Open:
    """A section whose pages are still going by, with its counts in the order of ``COUNTS``."""

    key: str
    sums: list[int]
    newest: float = _NEVER


def of_page(
    kind: str, index_reason: str, *, in_sitemap: bool, linked: bool, with_sitemaps: bool = True
) -> tuple[int, ...]:
    """Return the counts of one page, 0 or 1 each, in the order of ``COUNTS``; only a file has problems.

    Where no sitemap was read (``with_sitemaps``), that a page is in none says nothing.
    """
    good, fails, is_left_out = kind in _GOOD, kind in _FAILING, index_reason != ""
    facts = (
        True, in_sitemap, in_sitemap and not linked,
        not in_sitemap and linked and with_sitemaps and good and not is_left_out,
        in_sitemap and kind == "redirected", in_sitemap and kind == "excluded", in_sitemap and fails, fails,
        good and is_left_out, False,
    )  # fmt: skip
    return tuple(map(int, facts))


def section_of(href: str) -> str:
    """Return the section an address lies in: all up to the last slash of its path."""
    path = href.partition("?")[0]
    return path[: path.rfind("/") + 1]


def sections_of(key: str) -> list[str]:
    """Return the sections that hold an address, or that a section lies in, itself included; the host's first."""
    section = section_of(key)
    start = section.find("/", section.find("://") + 3) + 1
    found = []
    while start > 0:
        found.append(section[:start])
        start = section.find("/", start) + 1
    return found


class SiteTable:
    """The tree of one run."""

    def __init__(self, database: Database, run: int, normal: Callable[[str], str], *, is_over: bool) -> None:
        """Look at a run; the tables are filled at its first look, which takes 17 s of CPU for a million pages.

        ``normal`` gives the address that a link means. Of a run that is not over each look is a first one.
        """
        self._database = database
        self._run = run
        self._normal = normal
        self._with_sitemaps = database.one("tree_read_sitemaps", run) is not None
        database.run("tree_begin")
        if not is_over:
            database.run("tree_forget", run)
            database.run("tree_forget_run", run)
        if database.one("tree_known", run) is None:
            self._fill()

    def after(self, key: str, rank: int, before: str, most: int) -> list[TreeNode]:
        """Return at most so many nodes behind a place and before a key, in order."""
        return [TreeNode._make(row) for row in self._database.rows("tree_after", self._run, key, rank, before, most)]

    def before(self, key: str, rank: int, least: str, most: int = 1) -> list[TreeNode]:
        """Return at most so many nodes before a place, none before a key, the nearest first."""
        return [TreeNode._make(row) for row in self._database.rows("tree_before", self._run, key, rank, least, most)]

    def section(self, least: str, before: str) -> TreeNode | None:
        """Return the first section from a key on, None when there is none before the other."""
        row = self._database.one("tree_section_from", self._run, least, before)
        return TreeNode._make(row) if row else None

    def node(self, key: str, rank: int) -> TreeNode | None:
        """Return one node, None if there is none."""
        row = self._database.one("tree_node", self._run, key, rank)
        return TreeNode._make(row) if row else None

    def health(self, node: TreeNode) -> Health:
        """Return how a section or page does."""
        if node.rank == SECTION:
            return Health(*(getattr(node, name) for name in COUNTS))
        return Health(*self._counts(node.kind, node.index_reason, node.in_sitemap, node.is_linked))

    def _counts(self, kind: str, index_reason: str, in_sitemap: int, linked: int) -> tuple[int, ...]:
        known = self._with_sitemaps
        return of_page(kind, index_reason, in_sitemap=bool(in_sitemap), linked=bool(linked), with_sitemaps=known)

    def history(self, node: TreeNode) -> tuple[list[Link], list[tuple[str, str]]]:
        """Return the links of a page and its alternates (hreflang, href)."""
        row = self._database.one("tree_history", self._run, node.host, node.hash)
        if row is None:
            return [], []
        return list(unpack(row[0])), [(language, href) for language, href in json.loads(row[1] or "[]")]

    # -- filling -----------------------------------------------------------------------------------

    def _fill(self) -> None:
        database, run = self._database, self._run
        with database.transaction():
            database.run("tree_add_pages", run)
            database.run("tree_add_refused", run)
            if self._with_sitemaps:
                self._link()
            database.run("tree_forget_sections")
            database.many("tree_add_section", self._sections())
            database.run("tree_end")
            database.run("tree_done", run)

    def _link(self) -> None:
        """Mark what a page of the run links to; a sitemap's entries are found by it, whoever links to them too."""
        recent: OrderedDict[str, None] = OrderedDict()
        wanted: list[tuple[int, str]] = []
        last = (-1, -(2**63))
        while rows := list(self._database.rows("report_outlinks", self._run, *last)):
            last = (rows[-1][0], rows[-1][1])
            for _, _, page, blob in rows:
                for line in lines(blob):
                    href = line[1:]
                    if line[0] in "ulscmgjy" or href in recent or href == page:
                        continue  # no link that a reader could follow
                    recent[href] = None
                    meant = self._normal(href)
                    if meant != page:
                        wanted.append((self._run, meant))
            while len(recent) > _RECENT:
                recent.popitem(last=False)
            if len(wanted) > _AT_ONCE:
                self._database.many("tree_link", wanted)
                wanted = []
        self._database.many("tree_link", wanted)

    def _sections(self) -> Iterator[tuple[int | str | float | None, ...]]:
        """Yield the rows of the sections as their last page has gone by; only the open ones are held."""
        problems: dict[str, int] = {}
        for href, count in self._database.rows("tree_problems", self._run):
            problems[section_of(href)] = problems.get(section_of(href), 0) + count
        open_: list[_Open] = []
        for key, *facts in self._database.rows("tree_pages", self._run):
            section = section_of(key)
            while open_ and not section.startswith(open_[-1].key):
                yield self._closed(open_)
            if not open_ or open_[-1].key != section:
                held = open_[-1].key if open_ else ""
                open_ += (
                    _Open(prefix, [*[0] * (len(COUNTS) - 1), problems.pop(prefix, 0)])
                    for prefix in sections_of(section)[held.count("/") - 2 if held else 0 :]
                )
            if open_:
                self._count(open_[-1], facts)
        while open_:
            yield self._closed(open_)

    def _closed(self, open_: list[_Open]) -> tuple[int | str | float | None, ...]:
        done = open_.pop()
        if open_:
            above = open_[-1]
            above.sums[:] = map(add, above.sums, done.sums)
            above.newest = max(above.newest, done.newest)
        newest = None if done.newest == _NEVER else done.newest
        pages, in_sitemap, *further = done.sums
        return (self._run, done.key, in_sitemap, pages, newest, *further)

    def _count(self, section: _Open, facts: list[Any]) -> None:
        """Count one page of a section."""
        kind, _, index_reason, _, in_sitemap, linked, lastmod = facts
        section.sums[:] = map(add, section.sums, self._counts(kind, index_reason, in_sitemap, linked))
        at = moment.of_w3c(lastmod) if in_sitemap and lastmod else None
        if at is not None and at > section.newest:
            section.newest = at
