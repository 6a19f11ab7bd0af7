"""The files that pages embed, and where they redirect: candidates of which only is asked whether they are there.

Knows how such a candidate follows from its page. Judges and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from purlieu.admission import grant_of_hop
from purlieu.candidate import Candidate, Facts, FoundBy, Purpose

RECENT = 100_000
"""Parts remembered in memory; a site shows the same ones on page after page."""


class Parts:
    """Collects the parts of one run's pages."""

    def __init__(self, add: Callable[[Candidate], None], normal: Callable[[str], str]) -> None:
        """Hand candidates to ``add``; ``normal`` gives the address under which a redirect's target stands."""
        self._add = add
        self._normal = normal
        self._recent: dict[str, Facts] = {}

    def forget(self) -> None:
        """Forget what is remembered."""
        self._recent.clear()

    def take(self, href: str, kind: str, source: str, facts: Facts) -> None:
        """Collect a part of a page, which is as deep as the page is."""
        found = Facts(facts.depth, found_by=FoundBy(kind), via=source, linked=False, sites=facts.sites)
        known = self._recent.get(href)
        if known is None or not known.covers(found):
            if len(self._recent) >= RECENT:
                self._recent.clear()
            self._recent[href] = found if known is None else known.merged(found)
            self._add(Candidate(href, found, Purpose.CHECK))

    def lead_on(self, target: str | None, source: str, facts: Facts) -> None:
        """Collect where an address leads that is only checked, if anywhere: same depth, one hop more (R-2.2)."""
        if target and (href := self._normal(target)) != source:
            found = facts.of_target(FoundBy.REDIRECT, source, grant_of_hop(facts.grant))
            self._add(Candidate(href, found, Purpose.CHECK))
