"""How a host was treated: what gaps were kept, and what was asked of us and obeyed (R-4.6).

Measures from the moments at which requests began and ended alone, apart from what makes
them wait, so that it can show a fault of that. Knows no clock and no store.
"""

from __future__ import annotations

from purlieu.politeness import Pace
from purlieu.value import dataclass, field

NOT_YET = Pace(0.0, 0.0, 1)


@dataclass(slots=True)
class Conduct:
    """The figures of one host in one run so far; spans in seconds, None where there was none.

    ``least_gap`` lies between two starts, ``least_rest`` between an end and the next start where nothing was under
    way; ``least_slack`` is the smallest span kept beyond what the pace of the moment asked for, so below 0 the host
    was hurried. ``least_retry_slack`` is the same of Retry-After. ``given_up`` says why: failures or retry-after.
    """

    pace: Pace = NOT_YET
    least_gap: float | None = None
    least_rest: float | None = None
    least_slack: float | None = None
    most_connections: int = 0
    retry_afters: int = 0
    longest_retry_after: float | None = None
    least_retry_slack: float | None = None
    most_backoff: float = 0.0
    robots_retries: int = 0
    given_up: str = ""
    group: str = ""
    loopback: bool = False
    """Whether its last answer came from this machine itself, whose pace is another."""
    is_new: bool = False
    """Whether there is something that was not written yet."""
    _started_at: float | None = field(default=None, repr=False)
    _ended_at: float | None = field(default=None, repr=False)
    _quiet_until: float | None = field(default=None, repr=False)
    _running: int = field(default=0, repr=False)

    def resumed(self, started_at: float, ended_at: float) -> None:
        """Take in when the last request to the host's group began and ended; 0 for never."""
        if started_at and started_at > (self._started_at or 0.0):
            self._started_at = started_at
        if ended_at and ended_at > (self._ended_at or 0.0):
            self._ended_at = ended_at

    def began(self, at: float, pace: Pace) -> None:
        """Take in that a request begins while this pace holds."""
        self.pace, self.is_new = pace, True
        if self._started_at is not None:
            gap = at - self._started_at
            self.least_gap = _least(self.least_gap, gap)
            self.least_slack = _least(self.least_slack, gap - pace.gap_seconds)
        if self._ended_at is not None and not self._running:
            rest = at - self._ended_at
            self.least_rest = _least(self.least_rest, rest)
            if pace.connections == 1:
                self.least_slack = _least(self.least_slack, rest - pace.rest_seconds)
        if self._quiet_until is not None:
            self.least_retry_slack = _least(self.least_retry_slack, at - self._quiet_until)
            self._quiet_until = None
        self._started_at = at
        self._running += 1
        self.most_connections = max(self.most_connections, self._running)

    def ended(self, at: float) -> None:
        """Take in that a request has ended, well or not."""
        self._ended_at, self.is_new = at, True
        self._running = max(0, self._running - 1)

    def told_to_wait(self, at: float, seconds: float) -> None:
        """Take in a Retry-After."""
        self.retry_afters += 1
        self.longest_retry_after = max(self.longest_retry_after or 0.0, seconds)
        self._quiet_until = max(self._quiet_until or 0.0, at + seconds)

    def backed_off(self, seconds: float) -> None:
        """Take in the extra pause as it is after an answer."""
        self.most_backoff = max(self.most_backoff, seconds)

    def written(self) -> None:
        """Begin anew what is added up in the store."""
        self.retry_afters = self.robots_retries = 0
        self.is_new = False


def _least(old: float | None, new: float) -> float:
    return new if old is None or new < old else old
