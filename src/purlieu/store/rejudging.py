"""Judge a run again by other settings, when it is resumed with them (R-3.1, R-3.2)."""

from __future__ import annotations

from purlieu import url
from purlieu.candidate import Facts, FoundBy, Standing
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database
from purlieu.store.intake import Intake
from purlieu.store.outlinks import unpack
from purlieu.store.writes import FIRST, PURPOSES
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class Rejudging:
    """One resume with other settings; runs inside a transaction."""

    database: Database
    run_key: Run
    intake: Intake
    counters: Counters

    def run(self, now: float) -> None:
        """Judge what waits, what was refused and what the pages link to."""
        self._entries(now)
        self.intake.judge_again(everything=True)
        self._outlinks(now)

    def _entries(self, now: float) -> None:
        """Exclude what waits and is out now; make due what was excluded and is in now."""
        last = FIRST
        while rows := list(self.database.rows("entries_to_judge", self.run_key.id, *last)):
            last = tuple(rows[-1][:3])
            for host, number, hashed, href, *found, kind, reason in rows:
                key = (host, number, hashed)
                sites = self.intake.keys.sites_of(key)
                depth, hops, nofollow, found_by, via, linked, granted, standing = found
                stands = Standing(standing)
                facts = Facts(
                    depth, hops, bool(nofollow), FoundBy(found_by), via, bool(linked), granted, sites, stands
                )  # fmt: skip
                ruling = self.intake.admission.judge(href, url.host_of(href), facts, PURPOSES[number])
                if ruling.refused and kind is None:
                    self.database.run("exclude_entry", ruling.refused, ruling.rule, now, self.run_key.id, *key)
                    self.counters.endings[f"excluded.{ruling.refused}"] += 1
                    self.intake.rulings.add(href, PURPOSES[number], facts, ruling)
                elif kind is not None and not ruling.refused:
                    self.database.run("reopen_entry", now, self.run_key.id, *key)
                    self.database.run("set_entry_rule", ruling.site, ruling.rule, self.run_key.id, *key)
                    self.intake.rulings.add(href, PURPOSES[number], facts, ruling)
                    self.database.run("host_due", now, self.run_key.id, host)
                    self.counters.endings[f"{kind}.{reason}"] -= 1

    def _outlinks(self, now: float) -> None:
        """Add the stored links of every page again: those beyond a list of refusals are remembered nowhere else.

        They are written as they come: the links of 27,000 pages took 150 MB together.
        """
        self.intake.write(now)
        last = FIRST[::2]
        while rows := list(self.database.rows("pages_with_outlinks", self.run_key.crawl, self.run_key.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            for host, hashed, href, blob in rows:
                facts = self.intake.keys.facts_at((host, 0, hashed))
                if facts is not None:
                    self.intake.links(unpack(blob), href, facts, replayed=True)
            self.intake.write(now)
