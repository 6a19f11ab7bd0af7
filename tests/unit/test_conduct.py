"""How a host was treated (conduct.py, R-4.6)."""

from __future__ import annotations

from purlieu.conduct import Conduct
from purlieu.politeness import RULES, Pace, Wish, pace

SECOND = Pace(1.0, 1.0, 1, "delay")


def test_spans_are_measured_between_requests() -> None:
    """The smallest span between starts, and from an end to the next start; slack is what was kept beyond the pace."""
    kept = Conduct()
    kept.began(10.0, SECOND)
    assert (kept.least_gap, kept.least_rest, kept.least_slack) == (None, None, None)
    kept.ended(10.5)
    kept.began(11.75, SECOND)
    kept.ended(12.0)
    kept.began(14.0, SECOND)
    assert (kept.least_gap, kept.least_rest, kept.least_slack) == (1.75, 1.25, 0.25)


def test_a_hurried_host_shows() -> None:
    """A request that begins too soon leaves a slack below zero, whatever made it begin."""
    kept = Conduct()
    kept.began(10.0, SECOND)
    kept.ended(10.5)
    kept.began(11.0, SECOND)
    assert kept.least_slack == -0.5


def test_with_several_connections_starts_alone_count() -> None:
    """The pause after an end counts with one connection only (R-4.2); the most at a time are counted."""
    kept, three = Conduct(), Pace(1.0, 0.0, 3, "delay")
    for at in (10.0, 11.0, 12.0):
        kept.began(at, three)
    kept.ended(12.5)
    kept.began(13.0, three)
    assert (kept.least_slack, kept.least_rest, kept.most_connections) == (0.0, None, 3)


def test_the_wait_after_a_retry_after() -> None:
    """The wait is measured against the longest that was asked for before the next request, and only once."""
    kept = Conduct()
    kept.told_to_wait(10.0, 5.0)
    kept.told_to_wait(10.0, 3.0)
    kept.began(15.5, SECOND)
    kept.began(99.0, SECOND)
    assert (kept.retry_afters, kept.longest_retry_after, kept.least_retry_slack) == (2, 5.0, 0.5)


def test_the_last_request_of_a_group_counts() -> None:
    """A host of a group goes on from when the group was last asked; a moment of its own that is later stands."""
    kept = Conduct()
    kept.resumed(10.0, 10.5)
    kept.began(11.0, SECOND)
    assert (kept.least_gap, kept.least_rest) == (1.0, 0.5)
    kept.ended(12.0)
    kept.resumed(5.0, 6.0)
    kept.began(14.0, SECOND)
    assert kept.least_gap == 1.0
    assert kept.least_rest == 0.5


def test_sums_begin_anew_when_written() -> None:
    """What the store adds up is handed over once; the smallest and largest stay."""
    kept = Conduct()
    kept.told_to_wait(10.0, 5.0)
    kept.robots_retries += 1
    kept.written()
    assert (kept.retry_afters, kept.robots_retries, kept.longest_retry_after, kept.is_new) == (0, 0, 5.0, False)


def test_every_pace_names_its_rule() -> None:
    """Whatever sets the pace has a name that is explained; of equal ones the owner's word stands first."""
    made = [
        pace(Wish(delay, None, crawl_delay, adaptive, exception), loopback=loopback, smoothed_seconds=2.0, backoff_seconds=off)
        for delay in (None, 1.0, 9.0)
        for crawl_delay in (None, 9.0)
        for adaptive in (True, False)
        for exception in (True, False)
        for loopback in (True, False)
        for off in (0.0, 20.0)
    ]  # fmt: skip
    assert {one.rule for one in made} == RULES.keys()
    both = pace(Wish(9.0, None, 9.0, adaptive=False), loopback=False, smoothed_seconds=0.0, backoff_seconds=0.0)
    assert both.rule == "delay"
