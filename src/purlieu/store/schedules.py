"""Schedules in the store: what is planned, what became of it, and which keeper may act (R-8.5).

Every change is one short transaction beside whatever crawls. Decides nothing: ``schedule.py`` does.
"""

from __future__ import annotations

from typing import NamedTuple

from purlieu.schedule import Schedule
from purlieu.store.database import Database, Row
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class Planned:
    """A schedule of a crawl. ``config``: the path of its settings file, None for the settings of the last run.

    ``handled_at``: the last due time that was seen to, or when the schedule was made.
    ``paused_at``: when it was switched off, None while it is on.
    """

    id: int
    crawl: str
    schedule: Schedule
    config: str | None
    handled_at: float
    paused_at: float | None = None


class Event(NamedTuple):
    """What became of a due time, or of so many in a row that were missed. ``state``: see schema.sql."""

    due_at: float
    state: str
    at: float
    times: int
    run: int | None
    detail: str


class Open(NamedTuple):
    """A due time that waits for the store, or whose run was started and has not been seen to end."""

    due_at: float
    state: str
    at: float
    planned: Planned


def add(database: Database, crawl: str, schedule: Schedule, config: str | None, now: float) -> int:
    """Plan runs of a crawl, which need not have any yet, and return the schedule's number."""
    with database.transaction():
        known = database.one("crawl_id", crawl) or database.one("add_crawl", crawl)
        row = database.one(
            "add_schedule", known[0] if known else 0, schedule.cron, now, schedule.zone, config, schedule.grace_seconds,
            int(schedule.public_only),
        )  # fmt: skip
    return int(row[0]) if row else 0


def remove(database: Database, number: int, now: float) -> bool:
    """Plan no more runs by a schedule; return whether there was one. What became of its due times is kept."""
    with database.transaction():
        return database.run("remove_schedule", now, number) == 1


def switch(database: Database, number: int, now: float, *, on: bool) -> bool:
    """Switch a schedule on or off; return False where there is none, or it is so already."""
    with database.transaction():
        return database.run("unpause_schedule" if on else "pause_schedule", now, number) == 1


def every(database: Database) -> list[Planned]:
    """Return every schedule, by number."""
    return [_planned(row) for row in database.rows("schedules")]


def events(database: Database, number: int, most: int) -> list[Event]:
    """Return what became of a schedule's last due times, the newest first."""
    return [Event._make(row) for row in database.rows("schedule_events", number, most)]


def opened(database: Database) -> list[Open]:
    """Return the due times that are not over, in the order in which they were due."""
    return [Open(row[1], row[2], row[3], _planned((row[0], *row[4:]))) for row in database.rows("open_schedule_events")]


def handle(
    database: Database, planned: Planned, event: tuple[float, str, str], missed: tuple[float, int] | None, now: float
) -> bool:
    """Write that a due time was seen to: (due_at, state, detail), and before it how many were missed since when.

    Returns False, and writes nothing, when another keeper was first or the schedule was removed.
    """
    due_at, state, detail = event
    with database.transaction():
        if not database.run("handle_schedule", due_at, planned.id):
            return False
        if missed:
            database.run("add_schedule_event", planned.id, missed[0], "missed", now, missed[1], "no keeper ran")
        database.run("add_schedule_event", planned.id, due_at, state, now, 1, detail)
    return True


def anchor(database: Database, planned: Planned, now: float) -> None:
    """Take up to ``now`` as seen to: the clock was far ahead when ``handled_at`` was written."""
    with database.transaction():
        database.run("anchor_schedule", now, planned.id, planned.handled_at)


def turn(database: Database, event: Open, state: str, now: float, *, run: int | None = None, detail: str = "") -> bool:
    """Write a due time's next state; return False when it is in another state by now than ``event`` says."""
    with database.transaction():
        values = (event.planned.id, event.due_at, event.state, state, now, run, detail)
        return database.run("turn_schedule_event", *values) == 1


def take(database: Database, token: str, now: float, expires_at: float) -> bool:
    """Take or renew the lease of the keeper; return whether it is ours."""
    with database.transaction():
        return database.run("take_keeper", token, expires_at, now) == 1


def leave(database: Database, token: str) -> None:
    """Give the lease of the keeper back."""
    with database.transaction():
        database.run("leave_keeper", token)


def keeper(database: Database, now: float) -> tuple[str, float] | None:
    """Return the name of the keeper whose lease holds, here or in another process, and until when; None for none."""
    row = database.one("keeper_until")
    return (row[0], row[1]) if row is not None and row[1] > now else None


def running(database: Database) -> set[str]:
    """Return the crawls of which a run is under way, or was killed."""
    return {row[0] for row in database.rows("running_crawls")}


def run_since(database: Database, crawl: str, moment: float, now: float) -> tuple[int, str, str] | None:
    """Return the first run of a crawl since a moment as (run, state, stop_reason), None when there is none."""
    row = database.one("run_since", crawl, moment, now)
    return (row[0], row[1], row[2] or "") if row else None


def _planned(row: Row) -> Planned:
    number, crawl, cron, zone, config, grace_seconds, handled_at, public_only, paused_at = row
    return Planned(number, crawl, Schedule(cron, zone, grace_seconds, bool(public_only)), config, handled_at, paused_at)
