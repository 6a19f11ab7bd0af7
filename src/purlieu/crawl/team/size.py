"""How many processes a run is worth: what ``workers`` means on this machine, for this run, now.

Decides from numbers that are handed in. Starts nothing.
"""

from __future__ import annotations

import os
from typing import Final

MOST_BY_ITSELF: Final = 4
"""What "auto" starts at most: the process that writes has a third of the work, so more would wait for it."""
WORTH_STARTING: Final = 64
"""Pages that must wait before another process is started: it takes as long to start as 200 pages take."""
WORTH_BY_ITSELF: Final = 2_000
"""The same for "auto"."""
BUSY_SHARE: Final = 0.8
"""With "auto" the one process must have been at work for so much of the time: else the web is what is waited for."""
WATCHED_SECONDS: Final = 1.0


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Size:
    """How many processes there should be, for one run."""

    def __init__(self, workers: int | str, most_hosts: int) -> None:
        """Take the settings: ``workers``, and how many hosts are asked at the same time."""
        self.by_itself = isinstance(workers, str)
        wanted = min(cores(), MOST_BY_ITSELF) if isinstance(workers, str) else workers
        self.most = max(1, min(wanted, most_hosts))
        self._since = (0.0, 0.0)

    def wanted(self, due: int, hosts: int) -> int:
        """Return how many processes ask the web best while so many pages wait on so many hosts; 1: this one alone."""
        worth = WORTH_BY_ITSELF if self.by_itself else WORTH_STARTING
        if due < worth or min(self.most, hosts) < 2 or (self.by_itself and not self._is_busy()):
            return 1
        return min(self.most, hosts)

    def _is_busy(self) -> bool:
        """Return whether this process has lately used its core."""
        times = os.times()
        cpu, elapsed = times.user + times.system, times.elapsed
        passed = elapsed - self._since[1]
        if passed < WATCHED_SECONDS:
            return False
        before, self._since = self._since, (cpu, elapsed)
        return before[1] > 0 and cpu - before[0] >= BUSY_SHARE * passed
