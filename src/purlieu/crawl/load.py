"""How much of large files is under way: asked for, read, and not yet written.

A sitemap may hold 50 MB, and hundreds of hosts have one: together they would fill the memory while they wait for the
writer. So the next is asked for when there is room. Knows sizes and nothing of hosts, pace or what a file says.
"""

from __future__ import annotations

import asyncio

MOST_BYTES = 8 * 1024 * 1024
"""Bytes of files under way; what was read of one takes three times as much beside them until it is written."""
LEAST_BYTES = MOST_BYTES // 64
"""A file that is awaited counts for as much at least, so that no more than 64 are awaited."""
FIRST_BYTES = MOST_BYTES // 16
"""How large the first files are expected to be."""
FADING = 0.9
"""After a smaller file than expected the expectation keeps so much of itself."""


class Load:
    """The files under way. What is on its way counts as large as those before it let expect."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        """Begin with nothing; a file larger than ``most_bytes`` is under way alone."""
        self._most = most_bytes
        self._expected = float(FIRST_BYTES)
        self._weights: dict[object, float] = {}
        self._bytes = 0.0
        self._went = asyncio.Event()
        self._open = False

    @property
    def bytes(self) -> int:
        """Return what is under way, expected or known."""
        return int(self._bytes)

    async def begin(self, file: object) -> None:
        """Wait until there is room for one more, and count it; ``file`` is whatever names it."""
        while self._weights and not self._open and self.bytes + self._expected > self._most:
            self._went.clear()
            await self._went.wait()
        self._weights[file] = self._expected
        self._bytes += self._expected

    def came(self, file: object, size_bytes: int) -> None:
        """Note how large a file was. The largest is expected again, and only slowly less."""
        if file in self._weights:
            self._bytes += size_bytes - self._weights[file]
            self._weights[file] = size_bytes
            self._expected = max(float(size_bytes), self._expected * FADING, LEAST_BYTES)

    def gone(self, file: object) -> None:
        """Note that a file is written, or was not asked for after all."""
        weight = self._weights.pop(file, None)
        if weight is not None:
            self._bytes = self._bytes - weight if self._weights else 0.0
            self._went.set()

    def open(self) -> None:
        """Let nobody wait any longer, as nothing more is asked for."""
        self._open = True
        self._went.set()
