"""Schedules in words, and where they come into each other's way."""

from __future__ import annotations

import pytest

from purlieu.schedule import Schedule
from purlieu.sentence import said, speaker
from purlieu.timetable import Overlap, overlaps, words

START = 1_767_225_600.0
"""2026-01-01 00:00 UTC, a Thursday."""
HOUR = 3600.0


@pytest.mark.parametrize(
    ("cron", "told"),
    [
        ("0 3 * * *", "every day, at 03:00"),
        ("* * * * *", "every day, every minute"),
        ("*/15 * * * *", "every day, every 15 minutes"),
        ("5 * * * *", "every day, every hour at minute 5"),
        ("5,7 * * * *", "every day, every hour at the minutes 5, 7"),
        ("0 12 * * mon-fri", "from Monday to Friday, at 12:00"),
        ("0 0 * * 7", "on Sunday, at 00:00"),
        ("0 0 * * sat,sun", "on Saturday, Sunday, at 00:00"),
        ("30 6 1,15 * *", "on day 1, 15 of the month, at 06:30"),
        ("0 0 L * *", "on the last day of the month, at 00:00"),
        ("0 0 LW * *", "on the last working day of the month, at 00:00"),
        ("0 0 * * 5L", "on the last Friday of the month, at 00:00"),
        ("15 10 * jan,jul mon#2", "on Monday number 2 of the month, at 10:15, only in January, July"),
        ("0 0 1 * 1", "on day 1 of the month, and also on Monday, at 00:00"),
        ("*/20 9-17 * * *", "every day, every 20 minutes from 09:00 to 17:40"),
        ("0 0 */16 * 1", "on day 1, 17 of the month, if that is on Monday, at 00:00"),
        (
            "7 1,3,5,7,9,11,13,15,20 * * *",
            "every day, every hour at minute 7 in the hours 1, 3, 5, 7, 9, 11, 13, 15, 20",
        ),
    ],
)
def test_a_cron_expression_is_told_in_words(cron: str, told: str) -> None:
    """A schedule is said as Debian's cron reads it: days of month and week are either, unless one begins with a star."""
    assert words(cron) == told


def test_words_are_said_in_each_language() -> None:
    """The pieces are put together in the order of the language."""
    assert said(words("0 3 * * mon-fri"), speaker("ja")) == "月曜日から金曜日まで、03:00"
    assert said(words("0 3 * * mon-fri"), speaker("zh")) == "星期一至星期五，03:00"


def test_a_start_within_a_run_is_foreseen() -> None:
    """A due time at which the run of another schedule is still in progress is told, with that run: it wins (R-8.5)."""
    plans = [(1, Schedule("0 3 * * *")), (2, Schedule("30 3 * * fri"))]
    (first, *_) = overlaps(plans, HOUR, START)
    assert first == Overlap(2, START + 27.5 * HOUR, 1, START + 27 * HOUR)
    assert overlaps(plans, HOUR / 2, START) == []
    assert overlaps(plans, 0.0, START) == []


def test_a_schedule_can_be_in_its_own_way() -> None:
    """A schedule that is due more often than its runs take leaves out starts of its own."""
    found = overlaps([(1, Schedule("*/10 * * * *"))], 900, START, most=2)
    assert [(one.at - START, one.begun_at - START) for one in found] == [(1200, 600), (2400, 1800)]


def test_schedules_of_the_same_moment_start_one_run() -> None:
    """Of two schedules due at the same moment the first starts the run, and the other is left out."""
    (one, *_) = overlaps([(1, Schedule("0 3 * * *")), (2, Schedule("0 3 * * *"))], 60, START)
    assert (one.schedule, one.other, one.at) == (2, 1, one.begun_at)
