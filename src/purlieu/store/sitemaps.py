"""The sitemaps of one run: which files are asked for, and what the files that were read give the intake.

Runs inside the transaction of ``frontier.finish``. Must not know how a sitemap is read or fetched.
"""

from __future__ import annotations

from purlieu import robots as robots_txt
from purlieu import url
from purlieu.candidate import Candidate, Facts, FoundBy, Purpose
from purlieu.decide import Visit
from purlieu.scope import GRANT_SITEMAP
from purlieu.store.counters import Run
from purlieu.store.database import Database
from purlieu.store.intake import Intake


class Sitemaps:
    """Finds the sitemaps of one run and takes in what they name."""

    def __init__(self, database: Database, run: Run, intake: Intake, *, use: bool) -> None:
        """Work for one run; ``use`` follows the Sitemap lines of robots.txt."""
        self._database = database
        self._run = run
        self._intake = intake
        self._use = use

    # -- discovery ---------------------------------------------------------------------------------

    def follow_lines(self, origin: str, body: bytes, source: str) -> None:
        """Add the sitemaps that an origin's robots.txt names; granted when the origin is in scope (R-3.3)."""
        if not self._use:
            return
        # A robots.txt speaks for its whole host, also where the site is only a folder of it.
        granted = self._intake.admission.scope.judge(f"{origin}/", "robots").accepted
        join = url.Joiner(source)
        for named in robots_txt.read(body).sitemaps:
            href = join(named)
            if href is not None and url.host_of(href):
                grant = GRANT_SITEMAP if granted else ""
                facts = Facts(0, found_by=FoundBy.ROBOTS, via=source, linked=False, grant=grant)
                self._intake.add(Candidate(href, facts, Purpose.SITEMAP))

    def follow_host(self, host: str) -> None:
        """Add the sitemaps that are named on a host where a site has just landed."""
        if self._use:
            for origin, body, source in list(self._database.rows("robots_known_of_host", self._run.id, host)):
                self.follow_lines(origin, body, source)

    # -- what a file gives -------------------------------------------------------------------------

    def take_in(self, visit: Visit, facts: Facts) -> None:
        """Add what a sitemap names: pages at depth 1 (R-2.2), children of an index one level down (AMB-SM-11)."""
        href = visit.entry.href
        if visit.redirect_to:
            moved = Facts(facts.depth, facts.hops + 1, found_by=FoundBy.REDIRECT, via=href, linked=False)
            self._intake.add(Candidate(visit.redirect_to, moved, Purpose.SITEMAP))
        if visit.sitemap is None:
            return
        join = url.Joiner(href)
        found = Facts(1, found_by=FoundBy.SITEMAP, via=href)
        rows = []
        for item in visit.sitemap.entries:
            named = join(item.loc)
            target = self._intake.normal(named) if named else None
            if target is not None and url.host_of(target):
                host, hashed = self._intake.key_of(target)
                rows.append((self._run.id, host, hashed, href, target, item.lastmod, item.changefreq, item.priority))
                self._intake.add(Candidate(target, found))
        self._database.many("add_sitemap_entry", rows)
        if facts.depth == 0:
            child = Facts(1, found_by=FoundBy.SITEMAP, via=href, linked=False)
            for named_child in visit.sitemap.children:
                target = join(named_child.loc)
                if target is not None and url.host_of(target):
                    self._intake.add(Candidate(target, child, Purpose.SITEMAP))
