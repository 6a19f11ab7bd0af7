"""Visits on their way from the worker to whoever reads the crawl. Knows nothing of either."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Sequence

    from purlieu.decide import Visit

FOUND_AS_ONE = 250
"""So many addresses that a visit found weigh as much as the visit itself: a sitemap has 50,000."""
TEXT_AS_ONE = 4_096
"""So many characters that the owner's function took out of a page weigh as much."""


class Outbox:
    """Visits on their way to a reader of the crawl; a slow reader holds the crawl back."""

    def __init__(self, most: int = 1000) -> None:
        """Hold at most about ``most`` visits once there is a reader, fewer where they found much."""
        self.closed = False
        self.newest = ""
        self._most = most
        self._read = False
        self._visits: deque[Visit] = deque()
        self._weight = 0
        self._came = asyncio.Event()
        self._went = asyncio.Event()

    def put(self, visits: Sequence[Visit]) -> None:
        """Take a written batch; without a reader it is dropped."""
        if visits:
            self.newest = visits[-1].url
        if self._read:
            self._visits.extend(visits)
            self._weight += sum(map(_weight, visits))
            self._came.set()

    @property
    def is_full(self) -> bool:
        """Return whether the reader has to catch up before more comes."""
        return self._read and self._weight > self._most

    def attach(self) -> None:
        """Begin to keep visits for a reader."""
        self._read = True

    def close(self) -> None:
        """Say that nothing more comes."""
        self.closed = True
        self._came.set()

    def leave(self) -> None:
        """Say that nobody reads any longer."""
        self._read = False
        self._visits.clear()
        self._weight = 0
        self._went.set()

    async def room(self) -> None:
        """Wait until the reader has caught up."""
        while self.is_full:
            self._went.clear()
            await self._went.wait()

    async def get(self) -> Visit | None:
        """Return the next visit; None when there will be none."""
        while not self._visits:
            if self.closed:
                return None
            self._came.clear()
            await self._came.wait()
        self._went.set()
        visit = self._visits.popleft()
        self._weight -= _weight(visit)
        return visit


def _weight(visit: Visit) -> int:
    found = len(visit.links) + (len(visit.sitemap.entries) if visit.sitemap else 0)
    return 1 + found // FOUND_AS_ONE + (len(visit.extracted.text) // TEXT_AS_ONE if visit.extracted else 0)


async def in_batches(visits: AsyncIterable[Visit], size: int) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield the endings among visits as rows (``row.py``), so many at a time; what is to be tried again is none."""
    from purlieu import row  # only who reads a crawl in rows pays for it

    rows: list[dict[str, Any]] = []
    async for visit in visits:
        if visit.outcome is not None:
            rows.append(row.of(visit))
        if len(rows) >= size:
            yield rows
            rows = []
    if rows:
        yield rows
