"""One leased host at work: when it may be asked next, how slowly, and what its answers teach of that (R-4.2, R-4.3).

Knows the lease, the pace and the conduct that is kept of it. Starts and awaits nothing, and reads no clock: that is the
worker's.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from purlieu.candidate import Purpose
from purlieu.politeness import Pace, Wish, backoff, pace, smoothed
from purlieu.settings import PolitenessSettings
from purlieu.value import dataclass, field

if TYPE_CHECKING:
    import asyncio

    from purlieu.candidate import Entry
    from purlieu.decide import Visit
    from purlieu.store.lease import Lease

_KEPT_SHARE = 1.25
_LOOPBACK = ("127.", "::1")
_UNKNOWN = Pace(0.0, 0.0, 1)


@dataclass(slots=True)
class Lane:
    """One leased host at work."""

    lease: Lease
    queue: deque[Entry] = field(default_factory=deque)
    running: int = 0
    unwritten: int = 0
    began_at: float = 0.0
    slowed_at: float = 0.0
    """When a failure last made the host slower."""
    slots: set[asyncio.Task[None]] = field(default_factory=set)
    parked: bool = False
    pace: Pace = _UNKNOWN
    crawl_delay: float | None = None
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    is_exception: bool = False
    asked: tuple[object, ...] = ()
    """What the pace was worked out from."""

    def set_pace(self) -> None:
        """Work out the host's pace, where what it follows from has changed."""
        lease, wanted = self.lease, self.politeness
        self.crawl_delay = lease.crawl_delay
        # On this machine, or where the owner does not want it, nothing follows from how soon a host answers.
        usual = lease.smoothed_seconds if wanted.adaptive and not lease.loopback else 0.0
        asked = (wanted, lease.crawl_delay, lease.loopback, lease.backoff_seconds, usual, self.is_exception)
        if asked == self.asked:
            return
        self.asked = asked
        self.pace = pace(
            Wish(wanted.delay, wanted.connections, lease.crawl_delay, wanted.adaptive, self.is_exception),
            loopback=lease.loopback,
            smoothed_seconds=lease.smoothed_seconds,
            backoff_seconds=lease.backoff_seconds,
        )
        lease.gap_seconds = max(self.pace.gap_seconds, self.pace.rest_seconds)

    def begin(self, now: float) -> None:
        """Take in that a request begins."""
        self.lease.conduct.began(now, self.pace)
        self.lease.started_at = now

    def free_at(self) -> float:
        """Return when the next request to a host may start (R-4.2)."""
        lease = self.lease
        after = lease.ended_at + self.pace.rest_seconds if lease.ended_at else 0.0
        start = lease.started_at + self.pace.gap_seconds if lease.started_at else 0.0
        return max(lease.next_at, start, after)

    def is_slower(self) -> bool:
        """Return whether the host is asked more slowly than the store knows: that is written first (R-4.3)."""
        # Response times change with each answer; what the owner, robots.txt or failures ask for is exact.
        kept = self.lease.kept_gap_seconds * (_KEPT_SHARE if self.pace.rule == "response-time" else 1.0)
        return self.lease.gap_seconds > kept

    def learn(self, visit: Visit, began_at: float, now: float, *, proxied: bool) -> None:
        """Take what an answer says about its host into the lease; the visit began at a moment and ends now."""
        lease, kept = self.lease, self.lease.conduct
        lease.ended_at = now
        kept.ended(now)
        kept.robots_retries += visit.entry.purpose is Purpose.ROBOTS and visit.outcome is None
        if visit.against_host:
            lease.failures_in_a_row += 1
            # What was under way together fails together: one burst on eight connections would cost 30 s, not one.
            if began_at >= self.slowed_at:
                self.slowed_at = now
                lease.backoff_seconds = backoff(lease.backoff_seconds, self.politeness.max_backoff_seconds, failed=True)
            if lease.failures_in_a_row >= self.politeness.give_up_after:
                lease.broken, kept.given_up = True, "failures"
        elif visit.response is not None:
            lease.failures_in_a_row = 0
            lease.backoff_seconds = backoff(lease.backoff_seconds, self.politeness.max_backoff_seconds, failed=False)
            lease.smoothed_seconds = smoothed(lease.smoothed_seconds, visit.response.first_byte_seconds)
        if visit.pause_seconds is not None:
            lease.next_at = max(lease.next_at, now + visit.pause_seconds)
            kept.told_to_wait(now, visit.pause_seconds)
            if visit.pause_seconds > self.politeness.max_retry_after_seconds:
                lease.broken, kept.given_up = True, kept.given_up or "retry-after"
        kept.backed_off(lease.backoff_seconds)
        answer = visit.response or visit.failure
        if answer is not None and answer.address and not lease.loopback:
            kept.loopback = lease.loopback = not proxied and answer.address.startswith(_LOOPBACK)
