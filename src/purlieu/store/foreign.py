"""The links of a run's pages that lead out of scope, as candidates for a check (``links.check_external``).

Reads what is stored of the pages, once they all have ended: by then the scope is what it will be (R-3.2), so that no
order of visits shows in what is checked. Judges nothing but the scope, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from purlieu.admission import WEB_SCHEMES
from purlieu.candidate import EMBEDDED, Candidate, Facts, FoundBy, Purpose
from purlieu.scope import GRANT_FOREIGN
from purlieu.store.counters import Run
from purlieu.store.database import Database
from purlieu.store.intake import Intake
from purlieu.store.outlinks import LETTERS, lines
from purlieu.url import host_of

_FIRST = (-1, -(2**63))
_REMEMBERED = 200_000
"""Links of which it is remembered whether they lead out; then the memory starts afresh."""


class Foreign:
    """The foreign links of one run."""

    def __init__(self, database: Database, run: Run, intake: Intake, kinds: frozenset[str]) -> None:
        """Read the links of these kinds (keys of ``outlinks.LETTERS``)."""
        self._database = database
        self._run = run
        self._intake = intake
        self._kinds = {LETTERS[kind]: kind for kind in kinds}
        self._outside: dict[tuple[str, frozenset[int]], str] = {}

    def found(self) -> Iterator[list[Candidate]]:
        """Yield the foreign links of a few hundred pages at a time, each with the facts of its best finding there."""
        last = _FIRST
        while rows := list(self._database.rows("pages_with_outlinks", self._run.crawl, self._run.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            found: dict[str, Facts] = {}
            for host, hashed, page, blob in rows:
                facts = self._intake.keys.facts_at((host, 0, hashed))
                if facts is not None:
                    self._take_in(page, facts, lines(blob), found)
            yield [Candidate(href, facts, Purpose.CHECK) for href, facts in found.items() if not self._is_page(href)]

    def _take_in(self, page: str, facts: Facts, links: list[str], found: dict[str, Facts]) -> None:
        for line in links:
            kind = self._kinds.get(line[0].lower())
            if kind is None or not (href := self._led_out(line[1:], facts)):
                continue
            is_part = kind in EMBEDDED
            mine = Facts(
                facts.depth + (not is_part),
                nofollow=line[0].isupper(),
                found_by=FoundBy(kind) if is_part else FoundBy.LINK,
                via=page,
                linked=not is_part,
                grant=GRANT_FOREIGN,
            )
            known = found.get(href)
            found[href] = mine if known is None else known.merged(mine)

    def _led_out(self, link: str, facts: Facts) -> str:
        """Return the address that a link of a page means where it leads out of scope, else ""."""
        key = (link, facts.sites)
        href = self._outside.get(key)
        if href is None:
            if len(self._outside) > _REMEMBERED:
                self._outside.clear()
            href = self._intake.linked(link) if link.startswith(WEB_SCHEMES) else ""
            admission = self._intake.admission
            within = len(href) <= admission.max_url_length
            href = href if within and href and admission.is_outside(href, host_of(href), facts) else ""
            self._outside[key] = href
        return href

    def _is_page(self, href: str) -> bool:
        """Return whether the run has asked for it as a page all the same: by a grant, or for another site of it."""
        return self._database.one("hop", self._run.id, *self._intake.keys.key_of(href)) is not None
