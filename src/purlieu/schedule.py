"""When a schedule is due, and what to do about it now: wait, start, or record that a start was missed (R-8.5).

Knows cron expressions and time zones; the calendar arithmetic, clock changes included, is ``cronsim``'s, which does as
Debian's cron does. Knows no store, no clock and no process: moments come in as seconds since the epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from purlieu.sentence import Sentence
from purlieu.value import dataclass

GRACE_SECONDS = 3600.0
"""So late a missed start is still caught up, unless the owner says otherwise."""
MOST_COUNTED = 100
"""Missed due times are counted up to so many; a keeper that was away for a year does not count its minutes."""
_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Schedule:
    """A cron expression of five fields in a time zone, and how late a start is still worth while.

    ``public_only``: its runs connect to no private address (R-5.1), as who made it may open none.
    """

    cron: str
    zone: str = "UTC"
    grace_seconds: float = GRACE_SECONDS
    public_only: bool = False


class Action(StrEnum):
    """What is to be done about a schedule."""

    WAIT = "wait"
    START = "start"
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done, the due time it is about (0.0 for none) and how many due times before that went by."""

    action: Action
    due_at: float = 0.0
    missed: int = 0


@dataclass(frozen=True, slots=True)
class Fields:
    """What a cron expression allows: minutes, hours, days of the month (below 0: the last ones), months (from 1).

    ``weekdays`` from 0, Sunday, to 7, Sunday; a pair is a weekday and which of the month it is, below 0 the last.
    ``both``: a day must fit month and week; else one of them does.
    """

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: frozenset[int | tuple[int, int]]
    both: bool


LAST_DAY: int = CronSim.LAST
LAST_WORKING_DAY: int = CronSim.LAST_WEEKDAY


def fields(cron: str) -> Fields:
    """Return what a cron expression without mistakes allows."""
    sim = CronSim(cron, datetime(2026, 1, 1, tzinfo=UTC))
    minutes, hours, days, months = (tuple(sorted(found)) for found in (sim.minutes, sim.hours, sim.days, sim.months))
    return Fields(minutes, hours, days, months, frozenset(sim.weekdays), sim.day_and)


_PARTS: Final = {
    "minute": Sentence("minute"),
    "hour": Sentence("hour"),
    "day-of-month": Sentence("day of the month"),
    "month": Sentence("month"),
    "day-of-week": Sentence("weekday"),
}
"""What the parts of a crontab's line are called, by what the library calls them."""


def mistake(cron: str, zone: str) -> tuple[str, str, str] | None:
    """Return (option, value, remedy) of what is wrong with a schedule, None when nothing is."""
    if len(cron.split()) != _FIELDS:
        return (
            "--cron",
            cron,
            Sentence('write minute, hour, day, month and weekday, such as "0 3 * * *" for three every night'),
        )
    try:
        place = _zone(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return (
            "--zone",
            zone,
            Sentence("write a time zone's name, such as Asia/Tokyo or UTC, that the system's tzdata has"),
        )
    try:
        next(CronSim(cron, datetime(2026, 1, 1, tzinfo=place)))
    except CronSimError as error:
        name = str(error).removeprefix("Bad ")
        return (
            "--cron",
            cron,
            Sentence(
                'the {part} cannot be read; write it as in a crontab, such as "0 3 * * *" or "30 6 * * mon"',
                part=_PARTS.get(name, name),
            ),
        )
    except StopIteration:
        return "--cron", cron, Sentence("there is no such day in the next fifty years; check day and month")
    return None


def following(schedule: Schedule, after: float) -> float | None:
    """Return the first due time after a moment, None when there is none any more."""
    return next(times(schedule, after), None)


def judge(schedule: Schedule, handled_at: float, now: float) -> Decision:
    """Return what to do at ``now`` about a schedule whose due times up to ``handled_at`` were seen to.

    Of several due times that went by only the last can be caught up, and only within the grace; the others are missed.
    """
    if handled_at >= now or (first := following(schedule, handled_at)) is None or first > now:
        return Decision(Action.WAIT)
    last = max(_last(schedule, now), first)  # what a clock change moves is found going forward only
    passed = sum(1 for _ in islice(_until(schedule, handled_at, last), MOST_COUNTED))
    if now - last <= schedule.grace_seconds:
        return Decision(Action.START, last, passed)
    return Decision(Action.MISSED, last, passed)


def _until(schedule: Schedule, after: float, end: float) -> Iterator[float]:
    """Yield the due times between two moments, neither included."""
    for at in times(schedule, after):
        if at >= end:
            return
        yield at


def times(schedule: Schedule, after: float) -> Iterator[float]:
    """Yield the due times after a moment, as long as there are any."""
    start = datetime.fromtimestamp(after, _zone(schedule.zone))
    for at in CronSim(schedule.cron, start):
        moment = at.timestamp()
        if moment > after:  # where the clock is set back an hour is met twice
            yield moment


def _last(schedule: Schedule, now: float) -> float:
    """Return the last due time up to a moment."""
    # Backwards, a tick of this very second would be left out.
    start = datetime.fromtimestamp(int(now) + 1, _zone(schedule.zone))
    return next((at.timestamp() for at in CronSim(schedule.cron, start, reverse=True) if at.timestamp() <= now), 0.0)


def _zone(name: str) -> tzinfo:
    return UTC if name == "UTC" else ZoneInfo(name)
