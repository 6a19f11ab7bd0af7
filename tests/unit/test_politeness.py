"""How slowly a host is asked (rules, section 4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.politeness import Wish, backoff, pace, retry_after, smoothed

NOTHING_SAID = Wish(None, None, None, adaptive=True)
NOW = 1_700_000_000.0


def test_without_a_word_it_is_one_connection_and_a_quarter_second() -> None:
    """Default: one connection, gap at least 0.25 s (R-4.2)."""
    found = pace(NOTHING_SAID, loopback=False, smoothed_seconds=0.0, backoff_seconds=0.0)
    assert (found.gap_seconds, found.rest_seconds, found.connections) == (0.25, 0.25, 1)


def test_loopback_alone_knows_no_pause() -> None:
    """No pause and eight connections on loopback only (R-4.2)."""
    found = pace(NOTHING_SAID, loopback=True, smoothed_seconds=2.0, backoff_seconds=0.0)
    assert (found.gap_seconds, found.rest_seconds, found.connections) == (0.0, 0.0, 8)


def test_a_slow_host_is_asked_as_slowly_as_it_answers() -> None:
    """The gap is at least the smoothed response time (R-4.2)."""
    assert pace(NOTHING_SAID, loopback=False, smoothed_seconds=1.5, backoff_seconds=0.0).gap_seconds == 1.5


@pytest.mark.parametrize("loopback", [False, True])
def test_the_owner_is_obeyed_everywhere(loopback: bool) -> None:
    """A delay and a number of connections that the owner names hold, on loopback too."""
    found = pace(Wish(3.0, 4, None, adaptive=True), loopback=loopback, smoothed_seconds=0.0, backoff_seconds=0.0)
    assert (found.gap_seconds, found.connections, found.rest_seconds) == (3.0, 4, 0.0)


@given(
    delay=st.none() | st.floats(0, 100),
    crawl_delay=st.none() | st.floats(0, 100),
    loopback=st.booleans(),
    seconds=st.floats(0, 100),
)
def test_crawl_delay_always_counts(
    delay: float | None, crawl_delay: float | None, loopback: bool, seconds: float
) -> None:
    """The larger of the owner's delay and Crawl-delay holds, whatever else does (AMB-ST-3, R-4.2)."""
    wish = Wish(delay, None, crawl_delay, adaptive=False)
    found = pace(wish, loopback=loopback, smoothed_seconds=seconds, backoff_seconds=0.0)
    assert found.gap_seconds >= (crawl_delay or 0.0)
    assert found.gap_seconds >= (delay or 0.0)


def test_backing_off_doubles_and_recovers() -> None:
    """Each failure doubles the extra pause up to the most; successes bring it back to none; a most of 0 is none."""
    grown = [0.0]
    while grown[-1] < 30:
        grown.append(backoff(grown[-1], 30.0, failed=True))
    assert grown == [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0]
    assert backoff(0.0, 0.0, failed=True) == 0.0
    seconds = 30.0
    for _ in range(10):
        seconds = backoff(seconds, 30.0, failed=False)
    assert seconds == 0.0


def test_smoothing_moves_a_fifth_of_the_way() -> None:
    """The first answer counts whole, later ones by a fifth."""
    assert smoothed(0.0, 2.0) == 2.0
    assert smoothed(2.0, 1.0) == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        (" 7 ", 7.0),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60.0),
        ("Tuesday, 14-Nov-23 22:14:20 GMT", 60.0),
        ("Tue Nov 14 22:14:20 2023", 60.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("", None),
        (None, None),
        ("9" * 400, 999_999_999.0),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    """Retry-After is delay seconds or an HTTP-date in any of its forms; a past date is now (ST-40, ST-43)."""
    assert retry_after(value, NOW) == seconds


@given(st.text())
def test_no_retry_after_raises(value: str) -> None:
    """Whatever a server sends is a number of seconds or nothing."""
    found = retry_after(value, NOW)
    assert found is None or found >= 0
