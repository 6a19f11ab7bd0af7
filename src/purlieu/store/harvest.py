"""What a visit brought: links, redirect targets and robots rules, handed to the intake; sitemaps go to ``sitemaps.py``.

Runs inside the transaction of ``frontier.finish``. Judges nothing.
"""

from __future__ import annotations

from purlieu import url
from purlieu.admission import grant_of_hop
from purlieu.candidate import Candidate, Facts, FoundBy, Purpose
from purlieu.decide import Visit, for_check
from purlieu.outcome import Outcome
from purlieu.scope import GRANT_ROBOTS
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database
from purlieu.store.history import History
from purlieu.store.intake import Intake
from purlieu.store.sitemaps import SitemapRules, Sitemaps
from purlieu.store.writes import NUMBERS, OWN_ROBOTS
from purlieu.value import dataclass, field

ROBOTS_HOPS = 5
"""Redirects of a robots.txt that are followed (RFC 9309 2.3.1.2, ST-1)."""
LINKS_AT_ONCE = 20_000
"""Links of one page that are taken in together, so that a page of a million does not hold them all twice."""
_UNREACHABLE = "unreachable.robots_unreachable"


@dataclass(frozen=True, slots=True)
class HarvestRules:
    """``robots_max_age_seconds`` by ST-4; ``checks``: parts of pages are asked for; ``sitemaps`` by theirs."""

    robots_max_age_seconds: float = 86_400.0
    checks: bool = False
    sitemaps: SitemapRules = field(default_factory=SitemapRules)


class Harvest:
    """Takes in the visits of one run."""

    def __init__(
        self,
        database: Database,
        run: Run,
        intake: Intake,
        counters: Counters,
        history: History,
        rules: HarvestRules,
    ) -> None:
        """Take in for one run by these rules."""
        self._database = database
        self._run = run
        self._intake = intake
        self._counters = counters
        self._rules = rules
        self._history = history
        self.sitemaps = Sitemaps(database, run, intake, rules.sitemaps)
        self._ended_some = False

    def took_an_ending(self) -> bool:
        """Return whether an origin's pages have ended by its robots.txt since the last call."""
        ended, self._ended_some = self._ended_some, False
        return ended

    def take_in(self, visit: Visit, now: float, in_flight: set[tuple[int, int]]) -> None:
        """Hand what one visit found to the intake; what it settles for others is written.

        ``in_flight`` are the (purpose, hash) of the host's entries that are being asked for.
        """
        if visit.outcome is None:
            if visit.entry.purpose is Purpose.ROBOTS:
                self._database.run("set_robots_failed", now, self._run.id, url.origin_of(visit.entry.href))
            return
        # Better facts may have come in while the entry was in flight.
        facts, href = self._intake.keys.facts(visit.entry), visit.entry.href
        if visit.entry.purpose is Purpose.ROBOTS:
            self._take_in_robots(visit, facts, now)
        elif visit.entry.purpose is Purpose.SITEMAP:
            self.sitemaps.take_in(visit, facts, now)
        elif visit.entry.purpose is Purpose.CHECK:
            self._intake.parts.lead_on(visit.redirect_to, href, facts)
            return
        else:
            links = self._history.links(visit)
            for start in range(0, len(links), LINKS_AT_ONCE):
                self._intake.links(links[start : start + LINKS_AT_ONCE], href, facts)
                if len(links) > LINKS_AT_ONCE:
                    self._intake.write(now)
            if visit.redirect_to:
                refreshed = visit.outcome.reason.code == "meta_refresh"
                found_by = FoundBy.REFRESH if refreshed else FoundBy.REDIRECT
                self._intake.moved(visit.redirect_to, href, facts, found_by, grant_of_hop(facts.grant))
            canonical = visit.page.canonical if visit.page is not None else None
            if visit.takes_over:
                row = self._database.one("canonical", self._run.id, visit.entry.host, visit.entry.hash)
                canonical = row[0] if row else None
            if canonical:
                self._intake.canonical(canonical, href, facts)
            self.sitemaps.take_in(visit, facts, now)
            if self._rules.checks and (NUMBERS[Purpose.CHECK], visit.entry.hash) not in in_flight:
                self._serve_too(visit, Purpose.CHECK, now)
        other = Purpose.SITEMAP if visit.entry.purpose is Purpose.PAGE else Purpose.PAGE
        may_serve = visit.entry.purpose is not Purpose.PAGE or visit.sitemap is not None
        if may_serve and (NUMBERS[other], visit.entry.hash) not in in_flight:
            self._serve_too(visit, other, now)

    def _normal(self, href: str | None) -> str | None:
        return self._intake.normal(href) if href else None

    def _serve_too(self, visit: Visit, other: Purpose, now: float) -> None:
        """End the page or sitemap of the same address too: one response serves all its purposes (R-1.3)."""
        entry, number = visit.entry, NUMBERS[other]
        row = self._database.one("siblings", self._run.id, entry.host, entry.hash, number)
        if row is None or visit.outcome is None:
            return
        outcome, redirect_to = visit.outcome, visit.redirect_to
        if other is Purpose.CHECK and (reason := for_check(outcome.reason)) is not outcome.reason:
            outcome, redirect_to = Outcome(reason), None
        reason = outcome.reason
        self._database.run("end_entry", reason.kind, reason.code, outcome.detail or None, visit.status,
                           self._normal(redirect_to), visit.at, "", "", 0,
                           self._run.id, entry.host, number, entry.hash)  # fmt: skip
        self._database.run("copy_response", number, self._run.id, entry.host, NUMBERS[entry.purpose], entry.hash)
        if visit.takes_over:  # what was asked for last said 304, or nothing; the response is of an earlier run
            self._database.run("take_over_status", self._run.id, entry.host, number, entry.hash)
        self._counters.endings[reason.name] += 1
        if other is Purpose.CHECK:
            if facts := self._intake.keys.facts_at((entry.host, number, entry.hash)):
                self._intake.parts.lead_on(redirect_to, entry.href, facts)
            return
        self.sitemaps.look_again(entry.href)
        if other is Purpose.PAGE:
            self._intake.replay((entry.host, 0, entry.hash), entry.href, visit.redirect_to)
            self._intake.write(now)

    # -- robots ---------------------------------------------------------------------------------

    def wake(self, origin: str, now: float) -> None:
        """Give an origin that is wanted only now what its robots.txt has said before."""
        row = self._database.one("robots_id", self._run.id, origin)
        if row is not None and row[1] == "wanted":
            self._follow_robots(row[0], origin, now)
            self._database.run("host_due", now, self._run.id, self._intake.host_id(url.host_of(f"{origin}/")))

    def _take_in_robots(self, visit: Visit, facts: Facts, now: float) -> None:
        """Give an answer to every origin that waits for it (ST-1)."""
        answer, href = visit.robots, visit.entry.href
        if answer is None:
            return
        waiting = [tuple(row) for row in self._database.rows("robots_waiting", self._run.id, href)]
        own = self._database.one("robots_id", self._run.id, url.origin_of(href))
        # Where nobody wants anything of the origin yet, this is only a hop of another's chain.
        wanted = not answer.hop or facts.grant == OWN_ROBOTS
        if own is not None and own[1] == "wanted" and wanted and href == f"{url.origin_of(href)}/robots.txt":
            waiting.append((own[0], visit.entry.host, url.origin_of(href)))
        for number, host, origin in waiting:
            if answer.hop:
                self._follow_robots(number, origin, now)
            elif answer.body is None:
                self._database.run("set_robots", "unreachable", None, href, now, answer.ended or None, number)
                self._ended_some = True
            else:
                self._robots_known(number, answer.body, href, origin, answer.ended, now)
            self._database.run("host_due", now, self._run.id, host)

    def _follow_robots(self, number: int, origin: str, now: float) -> None:
        """Walk from an origin's robots.txt to where its redirects lead: wait there, or take what was read (ST-1).

        Hops are counted along the chain each time, so that it does not matter who came to an address first.
        """
        run, purpose = self._run.id, NUMBERS[Purpose.ROBOTS]
        target, via = f"{origin}/robots.txt", ""
        for _ in range(ROBOTS_HOPS + 1):
            if via:
                facts = Facts(0, found_by=FoundBy.ROBOTS, via=via, linked=False, grant=GRANT_ROBOTS)
                self._intake.add(Candidate(target, facts, Purpose.ROBOTS))
            host, hashed = self._intake.keys.key_of(target, purpose)
            row = self._database.one("entry", run, host, purpose, hashed)
            if row is not None and row[11] is not None:
                if not via and not self._may_redirect(number, origin):
                    break
                via, target = target, row[11]
                continue
            known = self._database.one("robots_read_from", run, target) if row is not None and row[9] else None
            if known is not None and now - known[1] < self._rules.robots_max_age_seconds:
                self._robots_known(number, known[0] or b"", target, origin, known[2] or "", known[1])
            elif row is not None and row[9] is not None and known is None:
                self._database.run("set_robots", "unreachable", None, target, now, _UNREACHABLE, number)
                self._ended_some = True
            else:
                if known is not None and row is not None:
                    # A day old, like the file that led here (ST-4).
                    self._database.run("reopen_entry", 0.0, run, host, purpose, hashed)
                    self._database.run("host_due", now, run, host)
                    self._counters.endings[f"{row[9]}.{row[10]}"] -= 1
                self._database.run("set_robots_hop", target, number)
            return
        # Too many redirects, or of an origin that may not lead elsewhere: as if there were no file (AMB-ST-1).
        self._robots_known(number, b"", target, origin, "", now)

    def _may_redirect(self, number: int, origin: str) -> bool:
        """Return whether a robots.txt may lead elsewhere: of an origin in scope, or on a seed's way there (R-3.3)."""
        if self._intake.admission.scope.holds(origin):
            return True
        return self._database.one("seed_waits", self._run.id, number) is not None

    def _robots_known(self, number: int, body: bytes, source: str, origin: str, ended: str, now: float) -> None:
        self._database.run("set_robots", "known", body, source, now, ended or None, number)
        self._ended_some = self._ended_some or bool(ended)
        if not ended:
            self.sitemaps.follow_lines(origin, body, source)
