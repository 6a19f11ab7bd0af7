"""Where the seeds of a run have landed, and what that opens (R-3.2).

A site whose seed has not landed yet accepts nothing but that seed and its hops. When the
chain ends, scope is measured from there, and the recorded refusals are judged again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from purlieu.decide import Visit
from purlieu.domain import is_public_suffix
from purlieu.landing import LandingKind, walk
from purlieu.scope import Scope, Site, of_landing
from purlieu.store.counters import Run
from purlieu.store.database import Database
from purlieu.store.intake import Intake
from purlieu.url import host_of
from purlieu.value import dataclass, replace


@dataclass(frozen=True, slots=True)
class Step:
    """How one address of a chain ended ("due": not yet), and where it leads."""

    kind: str
    redirect_to: str | None


class Landings:
    """The sites of one run that have not landed, by the address their chain has come to."""

    def __init__(self, database: Database, run: Run, intake: Intake, follow_sitemaps: Callable[[str], None]) -> None:
        """Start with nothing known; ``open`` reads what is stored. ``follow_sitemaps`` takes a host that opened."""
        self._database = database
        self._run = run
        self._intake = intake
        self._follow_sitemaps = follow_sitemaps
        self._tips: dict[str, set[int]] = {}
        self._landed: dict[int, str | None] = {}

    def open(self) -> None:
        """Apply the stored landings and find where the other chains have come to."""
        if self._intake.admission.only_seeds:
            return  # a list opens nothing, wherever its URLs lead
        scope = self._intake.admission.scope
        landed: dict[str, str] = dict(self._database.rows("landings", self._run.id))
        scope = scope.all_landed(
            {site: landed[scope.seed(site)] for site in scope.pending if scope.seed(site) in landed}
        )
        self._use(scope)
        self._tips = {}
        for site in sorted(scope.pending):
            self._advance(site, scope.seed(site))
        self._open_up()

    def follow(self, visits: Sequence[Visit]) -> None:
        """Move on every chain whose last address, as a page, has now ended."""
        if not self._tips:
            return
        for visit in visits:
            if visit.outcome is not None:
                for site in self._tips.pop(visit.entry.href, ()):
                    self._advance(site, visit.entry.href)
        self._open_up()

    def settle_failed(self) -> bool:
        """Land on their original the sites whose seed can no longer be had; return whether any was."""
        stuck = [(href, sites) for href, sites in self._tips.items() if not self._waits(href)]
        for href, sites in stuck:
            del self._tips[href]
            for site in sites:
                self._advance(site, href)
        self._open_up()
        return bool(stuck)

    def _open_up(self) -> None:
        """Land what has arrived since the last call; judge again what that may open, follow the sitemaps there."""
        if not self._landed:
            return
        landed, self._landed = self._landed, {}
        scope = self._intake.admission.scope.all_landed(landed)
        self._use(scope)
        for site in landed:
            if (finding := of_landing(scope, site)) is not None:
                self._intake.note(finding.code, finding.subject, **finding.arguments)
        hosts = {host_of(href or scope.seed(site)) for site, href in landed.items()}
        hosts |= {host_of(scope.seed(site)) for site in landed}
        self._intake.judge_again(hosts if all(_opens_its_host_only(scope.sites[site]) for site in landed) else None)
        for host in hosts:
            self._follow_sitemaps(host)

    def _advance(self, site: int, start: str) -> None:
        """Walk from an address of a site's chain; land, or wait at the first that has not ended."""
        landing = walk(start, self._step, self._intake.admission.max_redirects)
        if landing.kind in {LandingKind.FAILED, LandingKind.OUT_OF_SCOPE} and self._waits(landing.href):
            self._tips.setdefault(landing.href, set()).add(site)
        else:
            self._land(site, landing.href if landing.kind is LandingKind.LANDED else None)

    def _land(self, site: int, href: str | None) -> None:
        seed = self._intake.admission.scope.seed(site)
        if href and host_of(href) != host_of(seed) and is_public_suffix(host_of(href)):
            self._intake.note("seed_landed_on_suffix", seed, landing=href)
        self._database.run("add_landing", self._run.id, seed, href or seed)
        self._landed[site] = href

    def _use(self, scope: Scope) -> None:
        self._intake.admission = replace(self._intake.admission, scope=scope)

    def _waits(self, href: str) -> bool:
        """Return whether an address has not ended; a hop that is not written yet is in the batch at hand."""
        step = self._step(href)
        return step is None or step.kind == "due"

    def _step(self, href: str) -> Step | None:
        row = self._database.one("hop", self._run.id, *self._intake.keys.key_of(href))
        return Step(row[0], row[2]) if row else None


def _opens_its_host_only(site: Site) -> bool:
    """Return whether a landing opens nothing but the host it is on, so that only refusals there need be looked at."""
    alike = site.aliases or site.www_equivalent or site.alternative_suffixes
    return site.mode in {"same-host", "same-dir"} and not alike
