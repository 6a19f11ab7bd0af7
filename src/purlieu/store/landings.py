"""Where the seeds of a run have landed, and what that opens (R-3.2).

A site whose seed has not landed yet accepts nothing but that seed and its hops. When the
chain ends, scope is measured from there, and the recorded refusals are judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from purlieu.candidate import Purpose
from purlieu.decide import Visit
from purlieu.domain import is_public_suffix
from purlieu.landing import LandingKind, walk
from purlieu.scope import Scope
from purlieu.store.counters import Run
from purlieu.store.database import Database
from purlieu.store.intake import Intake
from purlieu.url import host_of


@dataclass(frozen=True, slots=True)
class Step:
    """How one address of a chain ended ("due": not yet), and where it leads."""

    kind: str
    redirect_to: str | None


class Landings:
    """The sites of one run that have not landed, by the address their chain has come to."""

    def __init__(self, database: Database, run: Run, intake: Intake) -> None:
        """Start with nothing known; ``open`` reads what is stored."""
        self._database = database
        self._run = run
        self._intake = intake
        self._tips: dict[str, set[int]] = {}

    def open(self) -> None:
        """Apply the stored landings and find where the other chains have come to."""
        scope = self._intake.admission.scope
        for site, href in self._database.rows("landings", self._run.id):
            if site in scope.pending:
                scope = scope.landed(site, href)
        self._use(scope)
        self._tips = {}
        for site in sorted(scope.pending):
            self._advance(site, scope.seed(site))
        if self._intake.admission.scope is not scope:
            self._intake.judge_again()

    def follow(self, visits: Sequence[Visit]) -> None:
        """Move on every chain whose last address has now ended; called before the visits' links are judged."""
        if not self._tips:
            return
        before = self._intake.admission.scope
        for visit in visits:
            if visit.outcome is not None and visit.entry.purpose is Purpose.PAGE:
                for site in self._tips.pop(visit.entry.href, ()):
                    self._advance(site, visit.entry.href)
        if self._intake.admission.scope is not before:
            self._intake.judge_again()

    def settle_failed(self) -> bool:
        """Land on their original the sites whose seed can no longer be had; return whether any was."""
        stuck = [(href, sites) for href, sites in self._tips.items() if not self._waits(href)]
        for href, sites in stuck:
            del self._tips[href]
            for site in sites:
                self._advance(site, href)
        if stuck:
            self._intake.judge_again()
        return bool(stuck)

    def _advance(self, site: int, start: str) -> None:
        """Walk from an address of a site's chain; land, or wait at the first that has not ended."""
        landing = walk(start, self._step, self._intake.admission.max_redirects)
        if landing.kind in {LandingKind.FAILED, LandingKind.OUT_OF_SCOPE} and self._waits(landing.href):
            self._tips.setdefault(landing.href, set()).add(site)
        else:
            self._land(site, landing.href if landing.kind is LandingKind.LANDED else None)

    def _land(self, site: int, href: str | None) -> None:
        scope = self._intake.admission.scope.landed(site, href)
        if href and host_of(href) != host_of(scope.seed(site)) and is_public_suffix(host_of(href)):
            self._intake.note("seed_landed_on_suffix", scope.seed(site), landing=href)
        self._database.run("add_landing", self._run.id, site, href or scope.seed(site))
        self._use(scope)

    def _use(self, scope: Scope) -> None:
        self._intake.admission = replace(self._intake.admission, scope=scope)

    def _waits(self, href: str) -> bool:
        """Return whether an address has not ended; a hop that is not written yet is in the batch at hand."""
        step = self._step(href)
        return step is None or step.kind == "due"

    def _step(self, href: str) -> Step | None:
        row = self._database.one("hop", self._run.id, *self._intake.key_of(href))
        return Step(row[0], row[2]) if row else None
