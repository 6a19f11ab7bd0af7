"""A clock whose time moves only when nothing else can: days of crawling in a moment, the same each time.

Knows who sleeps until when, and sees when the event loop has nothing left to run. Knows no real time. Work that
asyncio cannot see (threads, real sockets) does not hold time back by itself: wrap it in ``FakeClock.held``.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final

START: Final = 1_767_225_600.0
"""2026-01-01 00:00 UTC."""
_ROUNDS: Final = 3
_ROUNDS_BLIND: Final = 64


class FakeClock:
    """A ``Clock`` for tests.

    How time moves: when a task sleeps, the clock looks at every round of the loop whether any other callback is
    ready. Once three rounds in a row had none, every task waits for something, so the earliest sleeper is woken and
    the time becomes the moment it asked for. Sleepers of the same moment wake one by one in the order in which they
    lay down, each only when the one before has come to rest. Nothing depends on the machine, so the same crawl runs
    the same way each time.
    (A loop that does not show what is ready, such as uvloop, is given 64 rounds instead.)

    With ``by_itself=False`` time stands until ``advance`` is awaited.
    """

    def __init__(self, start: float = START, *, by_itself: bool = True) -> None:
        """Begin at so many seconds since the epoch."""
        self._start = start
        self._passed = 0.0
        self._by_itself = by_itself
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = count()
        self._held = 0
        self._looking = False

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._start + self._passed

    def monotonic(self) -> float:
        """Return seconds since the clock was made."""
        return self._passed

    async def sleep(self, seconds: float) -> None:
        """Wait until the made time is so much later; zero or less lets the others run once."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._passed + seconds, next(self._order), woken))
        self._look()
        await woken

    async def advance(self, seconds: float) -> None:
        """Move time on by so much, waking in order everyone whose moment comes, and let them come to rest."""
        target = self._passed + seconds
        with self.held():
            await _rest()
            while self._sleepers and self._sleepers[0][0] <= target:
                self._wake_next()
                await _rest()
            self._passed = max(self._passed, target)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let no time pass by itself inside the block: for work in threads or on real sockets."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._look()

    def _look(self) -> None:
        if self._by_itself and not self._looking and not self._held and self._sleepers:
            self._looking = True
            asyncio.get_running_loop().call_soon(self._round, 0)

    def _round(self, quiet: int) -> None:
        loop = asyncio.get_running_loop()
        quiet = quiet + 1 if _nothing_ready(loop) else 0
        if quiet < _rounds(loop):
            loop.call_soon(self._round, quiet)
            return
        self._looking = False
        if not self._held:
            self._wake_next()
        self._look()

    def _wake_next(self) -> None:
        while self._sleepers:
            moment, _, woken = heapq.heappop(self._sleepers)
            if not woken.done():  # a cancelled sleeper moves no time
                self._passed = max(self._passed, moment)
                woken.set_result(None)
                return


def _nothing_ready(loop: asyncio.AbstractEventLoop) -> bool:
    return not getattr(loop, "_ready", ())


def _rounds(loop: asyncio.AbstractEventLoop) -> int:
    return _ROUNDS if hasattr(loop, "_ready") else _ROUNDS_BLIND


async def _rest() -> None:
    """Give way until three rounds of the loop in a row had nothing else to run."""
    loop = asyncio.get_running_loop()
    quiet = 0
    while quiet < _rounds(loop):
        await asyncio.sleep(0)
        quiet = quiet + 1 if _nothing_ready(loop) else 0
