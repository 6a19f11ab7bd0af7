"""What is due on a leased host: robots.txt first, then what it lets be asked for, the longest waiting first.

Decides nothing of its own: what a revisit wants of a page is ``history.py``'s to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from purlieu.candidate import Entry, Facts, FoundBy, Purpose, Standing
from purlieu.scope import GRANT_SEED
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database, Row
from purlieu.store.history import History
from purlieu.store.keys import Keys
from purlieu.store.lease import Lease, Origin, rules_of
from purlieu.store.writes import NUMBERS, PURPOSES
from purlieu.value import dataclass

_FILES = (NUMBERS[Purpose.ROBOTS], NUMBERS[Purpose.SITEMAP])
_CHECK = NUMBERS[Purpose.CHECK]
Batch = Callable[[], AbstractContextManager[None]]


class DueRules(Protocol):
    """What the settings say of what is due; see ``FrontierRules``."""

    @property
    def agent(self) -> str:
        """Return the name by which robots.txt is asked."""
        ...

    @property
    def robots_max_age_seconds(self) -> float:
        """Return after how long a robots.txt is asked for again (ST-4)."""
        ...


@dataclass(frozen=True, slots=True)
class Due:
    """What waits in one run."""

    database: Database
    run: Run
    keys: Keys
    counters: Counters
    history: History
    rules: DueRules

    def take(self, lease: Lease, now: float, limit: int, batch: Batch) -> list[Entry]:
        """Return up to ``limit`` due entries of a leased host that are not in flight; see ``Frontier.take``.

        What has to be written is written inside a ``batch``.
        """
        lease.origins = {origin.id: origin for origin in self._origins(lease)}
        delays = [origin.rules.crawl_delay(self.rules.agent) for origin in lease.origins.values() if origin.rules]
        lease.crawl_delay = max((delay for delay in delays if delay is not None), default=None)
        taken: list[Entry] = []
        for origin in lease.origins.values():
            if lease.broken or len(taken) >= limit:
                break
            if origin.state == "wanted":
                rows = self.database.rows("due_robots", self.run.id, origin.id, now)
            elif origin.ended:
                continue
            else:
                rows = self.database.rows("due_entries", self.run.id, origin.id, now, limit + len(lease.in_flight))
            entries = [self._entry(lease, row) for row in _without_twins(rows, lease.in_flight)]
            if entries and self._outdated(origin, now):
                with batch():
                    entries = self._ask_robots_again(lease, origin)
            taken += entries[: limit - len(taken)]
        if self.run.revisit:
            taken = self.history.planned(_after_sitemaps(taken, lease.in_flight), now)
        lease.in_flight.update((NUMBERS[entry.purpose], entry.hash) for entry in taken)
        return taken

    def next_at(self, host: int) -> float | None:
        """Return when the next entry of a host is due that its robots.txt lets be asked for, None for never."""
        times = []
        for origin in self.database.rows("robots_of_host", self.run.id, host):
            number, state, ended = origin[0], origin[2], origin[6]
            if state == "wanted":
                row = self.database.one("next_robots_due", self.run.id, host, number)
            elif ended is None:
                row = self.database.one("next_due", self.run.id, number)
            else:
                continue
            if row and row[0] is not None:
                times.append(row[0])
        return min(times, default=None)

    def _origins(self, lease: Lease) -> Iterator[Origin]:
        for number, origin, state, body, fetched_at, failed_at, ended in self.database.rows(
            "robots_of_host", self.run.id, lease.host
        ):
            held = lease.origins.get(number)
            rules = held.rules if held and held.fetched_at == fetched_at else None
            if rules is None and state == "known":
                rules = rules_of(body or b"")
            yield Origin(number, origin, state, rules, fetched_at, failed_at, ended is not None, body)

    def _entry(self, lease: Lease, row: Row) -> Entry:
        number, hashed, href, origin, depth, hops, nofollow, found_by, via, linked, granted, attempts, standing = row
        sites = self.keys.sites_of((lease.host, number, hashed))
        stands = Standing(standing)
        facts = Facts(depth, hops, bool(nofollow), FoundBy(found_by), via, bool(linked), granted, sites, stands)
        return Entry(lease.host, PURPOSES[number], hashed, href, origin, facts, attempts, lease.token)

    def _outdated(self, origin: Origin, now: float) -> bool:
        return (
            origin.state == "known"
            and origin.fetched_at is not None
            and now - origin.fetched_at > self.rules.robots_max_age_seconds
        )

    def _ask_robots_again(self, lease: Lease, origin: Origin) -> list[Entry]:
        """Reopen an origin's robots entry after a day (ST-4) and return it."""
        href, host = f"{origin.origin}/robots.txt", lease.host
        hashed = self.keys.key_of(href, NUMBERS[Purpose.ROBOTS])[1]
        old = self.database.one("entry", self.run.id, host, 1, hashed)
        if old is not None and self.database.run("reopen_entry", 0.0, self.run.id, host, 1, hashed):
            self.counters.endings[f"{old[9]}.{old[10]}"] -= 1
        self.database.run("robots_again", origin.id)
        origin.state = "wanted"
        row = self.database.one("due_robots", self.run.id, origin.id, 0.0)
        return [self._entry(lease, row)] if row else []


def _without_twins(rows: Iterable[Row], in_flight: set[tuple[int, int]]) -> list[Row]:
    """Leave out what is in flight, and what is at hand for another purpose that serves both (R-1.3).

    A file serves the page of its address, and both serve a check.
    """
    rows = list(rows)
    files = {hashed for number, hashed in in_flight if number in _FILES} | {row[1] for row in rows if row[0] in _FILES}
    left = [row for row in rows if (row[0], row[1]) not in in_flight and (row[0] or row[1] not in files)]
    if any(row[0] == _CHECK for row in left):
        read = {hashed for number, hashed in in_flight if number != _CHECK} | {
            row[1] for row in rows if row[0] != _CHECK
        }
        left = [row for row in left if row[0] != _CHECK or row[1] not in read]
    return left


def _after_sitemaps(entries: list[Entry], in_flight: set[tuple[int, int]]) -> list[Entry]:
    """Return what may be asked for now: while a sitemap is asked for the first time, no pages but the seeds."""
    number = NUMBERS[Purpose.SITEMAP]
    waits = any(one == number for one, _ in in_flight) or any(
        entry.purpose is Purpose.SITEMAP and not entry.attempts for entry in entries
    )
    if not waits:
        return entries
    return [entry for entry in entries if entry.purpose is not Purpose.PAGE or entry.facts.grant == GRANT_SEED]
