"""A URL found and not yet accepted, with how it was found.

Knows the facts that travel with a link and how two sets of facts about one URL
merge (R-2.1), and what an accepted one looks like; knows neither scope nor store.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

from purlieu.revisit import Plan
from purlieu.value import dataclass, replace


class Purpose(StrEnum):
    """What a URL is fetched for (R-1.3). A check only asks whether it is there; what it says is not read."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"
    CHECK = "check"


class FoundBy(StrEnum):
    """By what a URL was found, the strongest first: of equal ways the first stands in the ledger."""

    SEED = "seed"
    SITEMAP = "sitemap"
    LINK = "link"
    STYLE = "style"
    SCRIPT = "script"
    IMAGE = "image"
    MEDIA = "media"
    REDIRECT = "redirect"
    REFRESH = "refresh"
    CANONICAL = "canonical"
    ROBOTS = "robots"
    OWNER = "owner"
    HISTORY = "history"
    GUESS = "guess"


EMBEDDED = frozenset({"style", "script", "image", "media"})
"""Kinds of links that are parts of the page on which they stand; frames are pages of their own."""
NOT_FOLLOWED = EMBEDDED | {"form", "post"}
"""Kinds that are kept with a page when asked for, and are no candidates for pages."""
FOUND_BY_RANK = {found_by: rank for rank, found_by in enumerate(FoundBy)}


class Standing(IntEnum):
    """What sitemaps make of a URL: nothing but one that may not speak for it names it, no matter, or one that may.

    A redirect's target stands as its source does where that is listed: it is what the entry is.
    """

    MISPLACED = 0
    FOUND = 1
    LISTED = 2


@dataclass(frozen=True, slots=True)
class Facts:
    """How a URL was found: the part of a candidate that the links of one page share.

    ``via`` is the href of the page it stood on ("" for a seed); ``linked`` says that it was found
    as seed, link or sitemap entry, which gives it a row in the MF3.0 file (R-6.2); ``grant`` is the
    permission outside scope it comes with ("" for none, R-3.3); ``sites`` the lineage for
    ``own-seed`` scope (empty when the crawl does not need it); ``standing`` what sitemaps make of it.
    """

    depth: int
    hops: int = 0
    nofollow: bool = False
    found_by: FoundBy = FoundBy.LINK
    via: str = ""
    linked: bool = True
    grant: str = ""
    sites: frozenset[int] = frozenset()
    standing: Standing = Standing.FOUND

    @property
    def rank(self) -> tuple[int, int, str]:
        """Order by which ``via`` and ``found_by`` are chosen: the shallowest way, then the first by address.

        Hops are not part of it: they are minimised apart, and a rank that mixed both would
        make the result depend on the order of merging.
        """
        return (self.depth, FOUND_BY_RANK[self.found_by], self.via)

    def covers(self, other: Facts) -> bool:
        """Return whether merging ``other`` would change nothing. Runs once per link, so the common case comes first."""
        if (
            self.depth > other.depth
            or self.hops > other.hops
            or self.nofollow > other.nofollow
            or self.linked < other.linked
            or self.standing < other.standing
            or not other.standing
        ):
            return self.merged(other) == self if not other.standing else False
        if self.depth == other.depth and self.rank > other.rank:
            return False
        return (not other.grant or _first(self.grant, other.grant) == self.grant) and self.sites >= other.sites

    def merged(self, other: Facts) -> Facts:
        """Return the better of each: depth = min, hops = min, nofollow = and, sites = union (R-2.1).

        A misplaced mention adds nothing to any other. Commutative, associative and idempotent, so that no order of
        discovery shows in the ledger.
        """
        if bool(self.standing) != bool(other.standing):
            return self if self.standing else other
        first = self if self.rank <= other.rank else other
        return Facts(
            first.depth, min(self.hops, other.hops), self.nofollow and other.nofollow, first.found_by, first.via,
            self.linked or other.linked, _first(self.grant, other.grant), self.sites | other.sites,
            max(self.standing, other.standing),
        )  # fmt: skip

    def judged_as(self, other: Facts) -> bool:
        """Return whether they differ in nothing that the rules of ``admission`` look at."""
        return bool(self.standing) and (
            self.depth, self.hops, self.nofollow, self.grant, self.sites, self.standing,
        ) == (other.depth, other.hops, other.nofollow, other.grant, other.sites, other.standing)  # fmt: skip

    def of_target(self, found_by: FoundBy, source: str, grant: str = "") -> Facts:
        """Return the facts of what an entry at ``source`` leads to: same depth, one hop more (R-2.2)."""
        # A redirect leads to what the entry is; a canonical is another page.
        listed = self.standing is Standing.LISTED and found_by is FoundBy.REDIRECT
        standing = Standing.LISTED if listed else Standing.FOUND
        return Facts(
            self.depth, self.hops + 1, found_by=found_by, via=source, linked=False, grant=grant, sites=self.sites,
            standing=standing,
        )  # fmt: skip

    def with_sites(self, sites: frozenset[int]) -> Facts:
        """Return the same facts with another lineage."""
        return self if sites == self.sites else replace(self, sites=sites)


def _first(one: str, other: str) -> str:
    """Return the first by name of two grants, of which "" is none."""
    return min(one, other) if one and other else one or other


@dataclass(frozen=True, slots=True)
class Candidate:
    """One URL (an absolute href without fragment), what it would be fetched for, and its facts."""

    href: str
    facts: Facts
    purpose: Purpose = Purpose.PAGE


@dataclass(frozen=True, slots=True)
class Entry:
    """An accepted candidate as the frontier hands it out: its key (host, purpose, hash) and what is known of it.

    ``origin`` is the number of its robots.txt; ``attempts`` the requests sent for it so far; ``token`` that
    of the lease under which it was handed out, so that a late visit is known as one (R-4.3); ``plan`` is what a
    revisit wants of it, None where every address is fetched.
    """

    host: int
    purpose: Purpose
    hash: int
    href: str
    origin: int
    facts: Facts
    attempts: int = 0
    token: int = 0
    plan: Plan | None = None
