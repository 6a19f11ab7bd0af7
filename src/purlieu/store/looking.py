"""What a run is doing at this moment: the hosts that are asked now, and how many wait."""

from __future__ import annotations

from typing import NamedTuple

from purlieu.store.database import Database


class Busy(NamedTuple):
    """A host that is leased now, and what it cost in this run so far."""

    host: str
    requests: int
    failures: int
    bytes: int
    failures_in_a_row: int


class Hosts(NamedTuple):
    """The hosts of a run at a moment: some of those that are asked now, how many they are, and how many wait."""

    busy: tuple[Busy, ...]
    busy_count: int
    waiting_count: int


def hosts(database: Database, run: int, now: float, most: int) -> Hosts:
    """Return which hosts are asked at a moment."""
    busy = tuple(Busy._make(row) for row in database.rows("busy_hosts", run, now, most))
    return Hosts(
        busy, _count(database, "count_busy_hosts", run, now), _count(database, "count_waiting_hosts", run, now)
    )


def _count(database: Database, name: str, run: int, now: float) -> int:
    row = database.one(name, run, now)
    return int(row[0]) if row else 0
