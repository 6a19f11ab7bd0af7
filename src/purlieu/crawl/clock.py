"""The seam to real time; the only place that reads a clock or waits for one."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Real or made time."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait so long."""
        ...


class SteadyClock:
    """Another clock, whose time of day follows its monotonic seconds: a clock that is set back stops no crawl."""

    def __init__(self, clock: Clock, offset: float | None = None) -> None:
        """Take the time of day once, or the ``offset`` of another process of the machine, to go with its clock."""
        self.real = self._clock = clock
        self.offset = clock.now() - clock.monotonic() if offset is None else offset
        """The time of day when the monotonic seconds were 0."""
        self._seconds = clock.monotonic  # asked seven times a page

    def now(self) -> float:
        """Return seconds since the epoch, as they were at the start plus what has passed."""
        return self.offset + self._seconds()

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return self._seconds()

    async def sleep(self, seconds: float) -> None:
        """Wait so long."""
        await self._clock.sleep(seconds)


class RealClock:
    """The machine's clock."""

    def now(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return the monotonic clock in seconds."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait so long on the event loop."""
        await asyncio.sleep(seconds)
