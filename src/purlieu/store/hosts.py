"""What an intake remembers of hosts and origins: their numbers, and how much of them a run has taken in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purlieu.domain import registrable
from purlieu.store.counters import HostCount

if TYPE_CHECKING:
    from purlieu.store.counters import Run
    from purlieu.store.database import Database, Row
    from purlieu.store.writes import Writes

REMEMBERED = 200_000
"""Hosts kept in memory; then the memory starts afresh."""


class Hosts:
    """The hosts and origins of one run, looked up once each."""

    def __init__(self, database: Database, run: Run, writes: Writes) -> None:
        """Start with nothing remembered; ``writes`` holds what the round at hand has added."""
        self._database = database
        self._run = run
        self._writes = writes
        self._numbers: dict[str, int] = {}
        self._origins: dict[str, int] = {}
        self._unruled: set[str] = set()
        self._counts: dict[int, HostCount] = {}
        self._domains: dict[str, int] = {}

    def forget(self) -> None:
        """Forget all that is remembered of the store, after a batch was rolled back."""
        for memory in (self._numbers, self._origins, self._counts, self._domains):
            memory.clear()
        self._unruled.clear()

    def number(self, name: str) -> int:
        """Return the number of a host; a new one is written."""
        number = self._numbers.get(name)
        if number is None:
            if len(self._numbers) > REMEMBERED:
                self._numbers.clear()
            row = self._database.one("host_id", name) or self._database.one("add_host", name)
            number = self._numbers[name] = _number(row)
            self._database.run("add_run_host", self._run.id, number)
        return number

    def origin(self, origin: str, host: int) -> int:
        """Return the number of an origin's robots.txt; a new one is written."""
        number = self._origins.get(origin)
        if number is None:
            if len(self._origins) > REMEMBERED:
                self._origins.clear()
            known = self._database.one("robots_id", self._run.id, origin)
            row = known or self._database.one("add_robots", self._run.id, host, origin, "wanted")
            number = self._origins[origin] = _number(row)
        return number

    def unruled(self, origin: str, host: int) -> int:
        """Return the same of an origin that is asked without its robots.txt, unless that is known or waited for."""
        if origin not in self._unruled:
            if len(self._unruled) > REMEMBERED:
                self._unruled.clear()
            self._unruled.add(origin)
            self._database.run("open_origin", self._run.id, host, origin)
        return self.origin(origin, host)

    def count(self, host: int) -> HostCount:
        """Return how many pages are admitted and how many refusals listed of a host; the caller keeps it up to date."""
        count = self._counts.get(host)
        if count is None:
            if len(self._counts) > REMEMBERED:
                self._counts.clear()
            row = self._database.one("run_host", self._run.id, host)
            count = self._counts[host] = HostCount(
                (row[1] if row else 0) + self._writes.pages[host], (row[2] if row else 0) + self._writes.refused[host]
            )
        return count

    def may_take(self, host: int, name: str, most: int) -> bool:
        """Return whether a page of a host may be taken: so many hosts of its registrable domain may have any."""
        if self.count(host).pages:
            return True
        domain = registrable(name) or name
        taken = self._domains.get(domain)
        if taken is None:
            if len(self._domains) > REMEMBERED:
                self._domains.clear()
            row = self._database.one("hosts_with_pages", self._run.id, domain, f".{domain}", f".{domain}")
            taken = int(row[0]) if row else 0
        self._domains[domain] = min(taken + 1, most)
        return taken < most


def _number(row: Row | None) -> int:
    if row is None:
        message = "a row was written and is not there"
        raise AssertionError(message)
    return int(row[0])
