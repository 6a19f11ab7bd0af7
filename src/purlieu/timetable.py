"""A schedule in words, and where schedules of one crawl come into each other's way.

Says what ``schedule.py`` plans; a text of its own in each language is put together from few pieces. Knows no store and
no clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from purlieu.schedule import LAST_DAY, LAST_WORKING_DAY, Fields, Schedule, fields, times
from purlieu.sentence import Sentence

_MONDAY_FIRST = (
    Sentence("Monday"), Sentence("Tuesday"), Sentence("Wednesday"), Sentence("Thursday"), Sentence("Friday"),
    Sentence("Saturday"), Sentence("Sunday"),
)  # fmt: skip
_MONTHS = (
    Sentence("January"), Sentence("February"), Sentence("March"), Sentence("April"), Sentence("May"), Sentence("June"),
    Sentence("July"), Sentence("August"), Sentence("September"), Sentence("October"), Sentence("November"),
    Sentence("December"),
)  # fmt: skip
_MOST_TIMES = 8
_LOOKED_AT = 200
"""Due times of each schedule that are looked through for overlaps."""


class Overlap(NamedTuple):
    """A due time at which the run of another schedule is expected to be in progress, which wins."""

    schedule: int
    at: float
    other: int
    begun_at: float


def words(cron: str) -> Sentence:
    """Return in words when a cron expression without mistakes is due, as Debian's cron reads it."""
    sim = fields(cron)
    told = Sentence("{days}, {time}", days=_days(sim), time=_time(sim.hours, sim.minutes))
    if len(sim.months) < len(_MONTHS):
        months = _listed([_MONTHS[month - 1] for month in sim.months])
        return Sentence("{rest}, only in {months}", rest=told, months=months)
    return told


def overlaps(plans: Sequence[tuple[int, Schedule]], seconds: float, now: float, most: int = 5) -> list[Overlap]:
    """Return the next due times that are expected to fall into a run of the same crawl that takes so long.

    The rule is the keeper's (R-8.5): a run in progress wins, and the start that falls into it is left out.
    """
    coming = sorted(
        (at, number) for number, schedule in plans for at in islice(times(schedule, now), _LOOKED_AT if seconds else 0)
    )
    found: list[Overlap] = []
    begun_at, by = float("-inf"), 0
    for at, number in coming:
        if at - begun_at >= seconds:
            begun_at, by = at, number
        elif len(found) < most:
            found.append(Overlap(number, at, by, begun_at))
    return found


def _days(sim: Fields) -> Sentence:
    in_month = None if len(sim.days) == 31 else _of_month(sim.days)
    in_week = _of_week(sim.weekdays)
    if in_month and in_week:
        if sim.both:
            return Sentence("{one}, if that is {other}", one=in_month, other=in_week)
        return Sentence("{one}, and also {other}", one=in_month, other=in_week)
    return in_month or in_week or Sentence("every day")


def _of_month(days: Sequence[int]) -> Sentence:
    if days[0] == LAST_DAY and len(days) == 1:
        return Sentence("on the last day of the month")
    if days[0] == LAST_WORKING_DAY and len(days) == 1:
        return Sentence("on the last working day of the month")
    numbers = [str(day) if day > 0 else Sentence("the last") for day in days]
    return Sentence("on day {days} of the month", days=_listed(numbers))


def _of_week(weekdays: Iterable[int | tuple[int, int]]) -> Sentence | None:
    plain = sorted({(day - 1) % 7 for day in weekdays if isinstance(day, int)})
    if len(plain) == 7:
        return None
    nth = sorted(((day - 1) % 7, which) for day, which in (one for one in weekdays if isinstance(one, tuple)))
    if len(plain) > 2 and not nth and plain[-1] - plain[0] == len(plain) - 1:
        first, last = _MONDAY_FIRST[plain[0]], _MONDAY_FIRST[plain[-1]]
        return Sentence("from {first} to {last}", first=first, last=last)
    named = [_MONDAY_FIRST[day] for day in plain]
    for day, which in nth:
        name = _MONDAY_FIRST[day]
        named.append(
            Sentence("the last {day} of the month", day=name)
            if which < 0
            else Sentence("{day} number {which} of the month", day=name, which=which)
        )
    return Sentence("on {days}", days=_listed(named))


def _time(hours: Sequence[int], minutes: Sequence[int]) -> Sentence:
    if len(minutes) * len(hours) <= _MOST_TIMES:
        points = [f"{hour:02}:{minute:02}" for hour in hours for minute in minutes]
        return Sentence("at {times}", times=_listed(points))
    every = _every_minutes(minutes)
    if len(hours) == 24:
        return every
    if hours[-1] - hours[0] == len(hours) - 1:
        first, last = f"{hours[0]:02}:{minutes[0]:02}", f"{hours[-1]:02}:{minutes[-1]:02}"
        return Sentence("{every} from {first} to {last}", every=every, first=first, last=last)
    return Sentence("{every} in the hours {hours}", every=every, hours=_listed(list(map(str, hours))))


def _every_minutes(minutes: Sequence[int]) -> Sentence:
    if len(minutes) == 1:
        return Sentence("every hour at minute {minute}", minute=minutes[0])
    step = minutes[1] - minutes[0]
    if minutes[0] == 0 and 60 % step == 0 and list(minutes) == list(range(0, 60, step)):
        return Sentence("every minute") if step == 1 else Sentence("every {step} minutes", step=step)
    return Sentence("every hour at the minutes {minutes}", minutes=_listed(list(map(str, minutes))))


def _listed(named: Sequence[str]) -> str:
    """Return several as one, from left to right."""
    told = named[0]
    for one in named[1:]:
        told = Sentence("{one}, {more}", one=told, more=one)
    return told
