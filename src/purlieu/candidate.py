"""A URL found and not yet accepted, with how it was found.

Knows the facts that travel with a link and how two sets of facts about one URL
merge (R-2.1); knows neither scope nor store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Purpose(StrEnum):
    """What a URL is fetched for (R-1.3)."""

    PAGE = "page"
    ROBOTS = "robots"
    SITEMAP = "sitemap"


class FoundBy(StrEnum):
    """By what a URL was found, the strongest first: of equal ways the first stands in the ledger."""

    SEED = "seed"
    SITEMAP = "sitemap"
    LINK = "link"
    REDIRECT = "redirect"
    REFRESH = "refresh"
    CANONICAL = "canonical"
    ALTERNATE = "alternate"
    ROBOTS = "robots"
    OWNER = "owner"


FOUND_BY_RANK = {found_by: rank for rank, found_by in enumerate(FoundBy)}


@dataclass(frozen=True, slots=True)
class Facts:
    """How a URL was found: the part of a candidate that links of one page share.

    ``via`` is the href of the page it stood on ("" for a seed); ``sites`` the lineage
    for ``own-seed`` scope (empty when the crawl does not need it).
    """

    depth: int
    hops: int = 0
    nofollow: bool = False
    found_by: FoundBy = FoundBy.LINK
    via: str = ""
    sites: frozenset[int] = frozenset()

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Order by which ``via`` and ``found_by`` are chosen: the shallowest way, then the first by address."""
        return (self.depth, self.hops, FOUND_BY_RANK[self.found_by], self.via)

    def merged(self, other: Facts) -> Facts:
        """Return the better of each: depth = min, hops = min, nofollow = and, sites = union (R-2.1).

        Commutative, associative and idempotent, so that no order of discovery shows in the ledger.
        """
        first = self if self.rank <= other.rank else other
        return replace(
            first,
            depth=min(self.depth, other.depth),
            hops=min(self.hops, other.hops),
            nofollow=self.nofollow and other.nofollow,
            sites=self.sites | other.sites,
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """One URL (an absolute href without fragment), what it would be fetched for, and its facts."""

    href: str
    facts: Facts
    purpose: Purpose = Purpose.PAGE
