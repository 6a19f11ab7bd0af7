"""What a worker works out without working."""

from __future__ import annotations

from purlieu.crawl.worker import TAKE, TAKE_IN_ALL, TAKE_LEAST, taken_at_once


def test_many_hosts_do_not_fill_the_memory() -> None:
    """What waits in memory has a bound for all hosts together, and a host always gets some and never too many."""
    assert taken_at_once(1) == taken_at_once(64) == TAKE
    for hosts in range(1, 4_097):
        assert TAKE_LEAST <= taken_at_once(hosts) <= TAKE
        assert taken_at_once(hosts) * hosts <= max(TAKE_IN_ALL, TAKE_LEAST * hosts)
