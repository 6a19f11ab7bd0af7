"""Where a URL finally leads, by redirects and canonical: ``last_url`` of every report (MF-10).

Follows what the ledger holds; asks no server. Knows no file format.
"""

from __future__ import annotations

from functools import cached_property

from purlieu.candidate import Purpose
from purlieu.landing import LANDED_KINDS, Landing, LandingKind, walk
from purlieu.store.reader import Reader, RunRow, VisitRow

UNASKED_KINDS = frozenset({"excluded", "abandoned", "unreachable", "due"})


class Destinations:
    """Answers for one run."""

    def __init__(self, reader: Reader, run: RunRow) -> None:
        """Read from ``reader``; the run's own limit of redirects holds."""
        self._reader = reader
        self._run = run

    @cached_property
    def _max_redirects(self) -> int:
        """Return the run's own limit; read where something redirects, as its settings must be parsed for it."""
        return self._reader.max_redirects(self._run)

    def landing(self, href: str, purpose: Purpose = Purpose.PAGE) -> Landing[VisitRow]:
        """Return where the redirects from an href end."""
        return self._reader.landing(self._run, href, self._max_redirects, purpose)

    def landing_of(self, visit: VisitRow) -> Landing[VisitRow]:
        """Return where the redirects of a page end whose row is known."""
        return walk(
            visit.href,
            lambda step: visit if step == visit.href else self._reader.visit(self._run, step),
            self._max_redirects if visit.redirect_to else 0,
        )

    def last_url(self, landing: Landing[VisitRow]) -> str:
        """Return the landing's address, or its canonical where that counts."""
        if landing.kind is LandingKind.LANDED and landing.row is not None:
            return self.canonical(landing.href, landing.row.canonical)
        return landing.href

    def canonical(self, href: str, canonical: str | None) -> str:
        """Return a fetched page's canonical when it is in range (AMB-MF-4), else the page's own href.

        In range is an entry of this run that was fetched or stands unchanged, redirects nowhere and names
        no other canonical itself (ST-32, ST-33).
        """
        if not canonical or canonical == href:
            return href
        canonical = canonical.partition("#")[0]
        target = self._reader.visit(self._run, canonical)
        if target is None or target.kind not in LANDED_KINDS or target.redirect_to:
            return href
        chained = target.canonical and target.canonical.partition("#")[0] != canonical
        return href if chained else canonical

    def of_ledger_row(
        self, url: str, purpose: str, kind: str, redirect_to: str | None, canonical: str | None, attempts: int
    ) -> str | None:
        """Return ``last_url`` of a ledger row; None where nothing was asked."""
        if redirect_to:
            return self.last_url(self.landing(url, Purpose(purpose)))
        if kind in LANDED_KINDS:
            return self.canonical(url, canonical) if purpose == Purpose.PAGE else url
        return url if attempts or kind not in UNASKED_KINDS else None
