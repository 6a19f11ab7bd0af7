"""When a schedule is due, and what is to be done about it (R-8.5, MF-35)."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purlieu.schedule import MOST_COUNTED, Action, Decision, Schedule, following, judge, mistake

HOUR, DAY = 3600.0, 86_400.0


def moment(text: str, zone: str = "UTC") -> float:
    """Return a local time as seconds since the epoch."""
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


NIGHTLY = Schedule("0 3 * * *")


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("0 3 * * *", "UTC", "2026-01-01T00:00", "2026-01-01T03:00"),
        ("0 3 * * *", "UTC", "2026-01-01T03:00", "2026-01-02T03:00"),
        ("0 3 * * *", "Asia/Tokyo", "2026-01-01T00:00", "2026-01-01T03:00"),
        ("*/10 9-17 * * mon-fri", "Asia/Tokyo", "2026-01-02T17:50", "2026-01-05T09:00"),
        ("0 0 1 * *", "UTC", "2026-01-15T00:00", "2026-02-01T00:00"),
        ("0 0 29 2 *", "UTC", "2026-01-01T00:00", "2028-02-29T00:00"),
        # Clocks go forward at 02:00: what stands in the hour that is not is due at once after it.
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-29T03:00"),
        ("0 3 * * *", "Europe/Berlin", "2026-03-28T12:00", "2026-03-29T03:00"),
        # Clocks go back at 03:00: what stands in the hour that comes twice is due once.
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00", "2026-10-25T02:30"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:30", "2026-10-26T02:30"),
    ],
)
def test_the_next_due_time_is_that_of_cron(cron: str, zone: str, after: str, expected: str) -> None:
    """A due time is what cron would take in the schedule's own zone, over clock changes too (MF-35)."""
    assert following(Schedule(cron, zone), moment(after, zone)) == moment(expected, zone)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-01-01T02:59", Decision(Action.WAIT)),
        ("2026-01-01T03:00", Decision(Action.START, moment("2026-01-01T03:00"))),
        ("2026-01-01T04:00", Decision(Action.START, moment("2026-01-01T03:00"))),
        ("2026-01-01T04:01", Decision(Action.MISSED, moment("2026-01-01T03:00"))),
        ("2026-01-04T03:30", Decision(Action.START, moment("2026-01-04T03:00"), 3)),
        ("2026-01-04T12:00", Decision(Action.MISSED, moment("2026-01-04T03:00"), 3)),
    ],
)
def test_a_missed_start_is_caught_up_once_within_its_grace(now: str, expected: Decision) -> None:
    """Only the last due time is caught up, within the grace; the others, or all of them, are missed (R-8.5)."""
    assert judge(NIGHTLY, moment("2026-01-01T00:00"), moment(now)) == expected


def test_what_was_seen_to_is_not_due_again() -> None:
    """A due time that was seen to waits for the next one, also when the clock is set back (R-8.5)."""
    due = moment("2026-01-01T03:00")
    for now in (due, due - HOUR, due + HOUR):
        assert judge(NIGHTLY, due, now).action is Action.WAIT


def test_a_long_absence_costs_little() -> None:
    """Missed due times are counted up to a bound."""
    found = judge(Schedule("* * * * *"), 0.0, 50 * 365 * DAY)
    assert (found.action, found.missed) == (Action.START, MOST_COUNTED)


@settings(deadline=None)
@given(
    st.sampled_from(["0 3 * * *", "*/15 * * * *", "30 2 * * *", "30 2 * * sun", "0 0 1 * *", "5 1-4 * * *"]),
    st.sampled_from(["UTC", "Asia/Tokyo", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    st.integers(1_760_000_000, 1_800_000_000),
    st.integers(0, 40 * 86_400),
)
def test_due_times_are_dealt_with_one_after_the_other(cron: str, zone: str, handled: int, later: int) -> None:
    """What is judged due lies after what was seen to and not in the future, and there is one when a due time passed."""
    schedule, now = Schedule(cron, zone), float(handled + later)
    found = judge(schedule, float(handled), now)
    first = following(schedule, float(handled))
    assert first is not None
    assert (found.action is Action.WAIT) == (first > now)
    if found.action is not Action.WAIT:
        assert handled < found.due_at <= now
        assert found.missed == 0 or first < found.due_at
        assert judge(schedule, found.due_at, now).action is Action.WAIT


@pytest.mark.parametrize(
    ("cron", "zone", "option"),
    [
        ("0 3 * * *", "Asia/Tokyo", None),
        ("30 6 * * mon", "UTC", None),
        ("@daily", "UTC", "--cron"),
        ("0 3 * *", "UTC", "--cron"),
        ("0 0 3 * * *", "UTC", "--cron"),
        ("61 3 * * *", "UTC", "--cron"),
        ("x 3 * * *", "UTC", "--cron"),
        ("0 0 31 2 *", "UTC", "--cron"),
        ("", "UTC", "--cron"),
        ("0 3 * * *", "Asia/Edo", "--zone"),
        ("0 3 * * *", "", "--zone"),
        ("0 3 * * *", "../etc/passwd", "--zone"),
    ],
)
def test_a_schedule_that_cannot_be_is_the_owners_mistake(cron: str, zone: str, option: str | None) -> None:
    """A wrong expression or zone is told with its option, the value and what to write instead."""
    found = mistake(cron, zone)
    assert (found[0] if found else None) == option
    assert not found or (found[2] and found[1] in {cron, zone})
