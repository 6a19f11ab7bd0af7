"""Documents read in a process of its own, one after another, while the crawl goes on.

Knows how long one may take, and ends the process that takes longer. What goes wrong is the reason why there is no text
of a document; nothing is raised for it. Knows no form of documents.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from purlieu.crawl.process import DocumentProcess
from purlieu.document import told

if TYPE_CHECKING:
    from purlieu.page.content import Content

LOG = logging.getLogger(__name__)
TURN_SECONDS: Final = 60.0
"""A document waits so long at most until those before it are read."""
START_SECONDS: Final = 20.0
"""What a process may take to start, and to hand over what was read, besides the time for a document."""
BUSY: Final = 3
"""A document's time is computing time; on a busy machine that takes longer, up to so many times."""
MOST_BAD: Final = 5
"""After so many documents of a host that took too long or ended the process, no more of it are read in this run."""
MOST_HOSTS: Final = 10_000
"""Hosts whose bad documents are counted."""

_BAD: Final = frozenset({"too_slow", "crashed"})


def visit_seconds(timeout_seconds: float) -> float:
    """Return how much longer a visit may take when its document is read."""
    return TURN_SECONDS + 2 * (BUSY * timeout_seconds + START_SECONDS)


class DocumentReader:
    """Reads documents; starts a process with the first, and another where one has ended."""

    def __init__(self, timeout_seconds: float, memory_bytes: int) -> None:
        """``timeout_seconds`` and ``memory_bytes`` bound the reading of one document."""
        self._timeout_seconds = timeout_seconds
        self._memory_bytes = memory_bytes
        self._turn = asyncio.Lock()
        self._process: DocumentProcess | None = None
        self._bad: dict[str, int] = {}

    async def read(self, host: str, body: bytes) -> Content:
        """Return what a document says that came from a host; ``Content.unread`` says why it says nothing."""
        if self._bad.get(host, 0) >= MOST_BAD:
            return told.unread("given_up")
        if 2 * len(body) > self._memory_bytes:
            return told.unread("too_large")
        try:
            async with asyncio.timeout(TURN_SECONDS):
                await self._turn.acquire()
        except TimeoutError:
            return told.unread("busy")
        try:
            content = await self._read(body)
        finally:
            self._turn.release()
        if content.unread in _BAD and len(self._bad) < MOST_HOSTS:
            self._bad[host] = self._bad.get(host, 0) + 1
        return content

    async def _read(self, body: bytes) -> Content:
        """Read in the process that there is; where it breaks down, once more in a new one: others may be to blame."""
        is_new = self._process is None
        content = await self._ask(body)
        return await self._ask(body) if content.unread == "crashed" and not is_new else content

    async def _ask(self, body: bytes) -> Content:
        process, self._process = self._process or DocumentProcess(), None  # nobody has it while it is at work
        try:
            async with asyncio.timeout(BUSY * self._timeout_seconds + START_SECONDS):
                if not process.is_started:
                    process.start(self._timeout_seconds, self._memory_bytes)
                said = await process.ask(body)
        except TimeoutError:
            process.kill()
            return told.unread("too_slow")
        except OSError as error:
            LOG.warning("no process to read documents: %s", error)
            process.kill()
            return told.unread("crashed")
        except BaseException:
            process.kill()
            raise
        if said is None:
            return told.unread("too_slow" if process.kill() else "crashed")
        self._process = process
        return told.unpacked(said)

    async def close(self) -> None:
        """End the process."""
        with suppress(TimeoutError):
            async with asyncio.timeout(TURN_SECONDS), self._turn:
                process, self._process = self._process, None
                if process is not None:
                    process.kill()
