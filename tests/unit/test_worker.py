"""What a worker works out without asking the web."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from purlieu.candidate import Entry, Facts, Purpose
from purlieu.crawl.desk import RunLimits
from purlieu.crawl.lane import Lane
from purlieu.crawl.outbox import FOUND_AS_ONE, Outbox
from purlieu.crawl.worker import (
    BATCH,
    BATCH_FOUND,
    TAKE,
    TAKE_IN_ALL,
    TAKE_LEAST,
    Worker,
    taken_at_once,
)
from purlieu.decide import Visit
from purlieu.store.lease import Lease
from purlieu.testing import FakeClock


class NotingFrontier:
    """A frontier that notes how many visits are written together."""

    def __init__(self) -> None:
        """Begin without any."""
        self.batches: list[int] = []

    def finish(self, visits: Sequence[Visit], now: float) -> list[Visit]:
        """Note a batch."""
        self.batches.append(len(visits))
        return list(visits)


def batches(visits: int, links: int) -> list[int]:
    """Return how many visits with so many links each are written together."""
    frontier = NotingFrontier()
    given: Any = frontier
    nothing: Any = None
    lease: Any = Lease.__new__(Lease)
    entry = Entry(1, Purpose.PAGE, 1, "http://site.test/", 1, Facts(0))
    visit = Visit(entry, None, 0.0, links=(("http://site.test/a", "a", False, True),) * links)

    async def main() -> None:
        worker = Worker(given, nothing, FakeClock(), RunLimits(), Outbox(), lambda: False)
        for _ in range(visits):
            await worker._hand_over(Lane(lease), visit)

    asyncio.run(main())
    return frontier.batches


def test_many_hosts_do_not_fill_the_memory() -> None:
    """What waits in memory has a bound for all hosts together, and a host always gets some and never too many."""
    assert taken_at_once(1) == taken_at_once(64) == TAKE
    for hosts in range(1, 4_097):
        assert TAKE_LEAST <= taken_at_once(hosts) <= TAKE
        assert taken_at_once(hosts) * hosts <= max(TAKE_IN_ALL, TAKE_LEAST * hosts)


def test_a_transaction_stays_short() -> None:
    """A batch is written when it has enough visits or they have found enough; so a lease is renewed in time (R-4.3)."""
    assert batches(3 * BATCH, 10) == [BATCH] * 3
    assert batches(12, BATCH_FOUND // 4) == [4] * 3
    assert batches(3, 2 * BATCH_FOUND) == [1] * 3


def held(links: int) -> int:
    """Return how many visits with so many links each a reader lets the outbox hold before the worker must wait."""
    entry = Entry(1, Purpose.PAGE, 1, "http://site.test/", 1, Facts(0))
    visit = Visit(entry, None, 0.0, links=(("http://site.test/a", "a", False, True),) * links)

    async def main() -> int:
        outbox = Outbox(100)
        outbox.attach()
        for count in range(1_000):
            waiting = asyncio.ensure_future(outbox.room())
            await asyncio.sleep(0)
            if not waiting.done():
                waiting.cancel()
                return count
            outbox.put([visit])
        return 1_000

    return asyncio.run(main())


def test_what_waits_for_a_reader_has_a_bound() -> None:
    """The worker waits for a slow reader by what the visits hold, not only by how many they are."""
    assert held(1) == 101
    assert held(FOUND_AS_ONE * 49) == 3


def test_a_pace_is_worked_out_from_what_is_known_now() -> None:
    """R-4.2: Crawl-delay, failures, loopback and response times change the pace as soon as they are known."""
    lease = Lease(1, "a.example", 1, 1e9, 0.0, 0.0, 0.0, 0)
    lane = Lane(lease)
    lane.set_pace()
    first = lane.pace
    lane.set_pace()
    assert lane.pace is first
    assert (first.rule, lease.gap_seconds) == ("default", 0.25)
    for name, value, rule, gap in (
        ("smoothed_seconds", 0.5, "response-time", 0.5),
        ("crawl_delay", 3.0, "crawl-delay", 3.0),
        ("backoff_seconds", 8.0, "back-off", 8.0),
        ("backoff_seconds", 0.0, "crawl-delay", 3.0),
        ("crawl_delay", None, "response-time", 0.5),
        ("loopback", True, "loopback", 0.0),
    ):
        setattr(lease, name, value)
        lane.set_pace()
        assert (lane.pace.rule, lease.gap_seconds) == (rule, gap)
