"""Messages between two processes of a run, over a pair of sockets that nobody else has.

A message is a tuple of plain values behind its length; it is made by ``marshal``, which only our own processes write
and read here. Knows nothing of what is said.
"""

from __future__ import annotations

import asyncio
import marshal
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, cast

_HEAD: Final = 8
_VERSION: Final = 2
"""Of ``marshal``: without looking for values that occur twice, which costs more than it saves."""


class Wire(asyncio.Protocol):
    """One end. ``heard`` gets each message, in order; ``lost`` is called once, when the other end has gone.

    What came at once is heard inside one ``together``; what is said meanwhile goes after that, in one piece.
    """

    def __init__(
        self,
        heard: Callable[[tuple[Any, ...]], None],
        lost: Callable[[], None],
        together: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Tell these."""
        self._heard = heard
        self._lost = lost
        self._together = together
        self._going: list[bytes] = []
        self._came = bytearray()
        self._transport: asyncio.Transport | None = None
        self._room = asyncio.Event()
        self._room.set()
        self._paused = False
        self.is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._loop = asyncio.get_running_loop()
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        """Put the pieces together and tell each message that is whole."""
        came = self._came
        came += data
        at, whole = 0, []
        while len(came) - at >= _HEAD:
            end = at + _HEAD + int.from_bytes(came[at : at + _HEAD])
            if len(came) < end:
                break
            whole.append(marshal.loads(memoryview(came)[at + _HEAD : end]))  # noqa: S302 - by our own other process
            at = end
        if whole:
            del came[:at]
            with self._together():
                for message in whole:
                    self._heard(message)

    def connection_lost(self, _error: Exception | None) -> None:
        """End."""
        self.is_open = False
        self._room.set()
        self._lost()

    def pause_writing(self) -> None:
        """Note that the other end is slow."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Note that it has caught up."""
        self._room.set()

    def send(self, *message: Any) -> None:
        """Send a message of plain values; nothing happens when the other end has gone."""
        if self._transport is not None and self.is_open:
            data = marshal.dumps(message, _VERSION)
            if not self._going:
                self._loop.call_soon(self.flush)
            self._going += (len(data).to_bytes(_HEAD), data)

    def flush(self) -> None:
        """Send what waits to go with what else is said in this turn of the loop."""
        going, self._going = self._going, []
        if going and self._transport is not None and self.is_open:
            self._transport.write(b"".join(going))

    def unsay(self) -> None:
        """Send nothing of what waits to go: what it tells has not come to be."""
        self._going = []

    async def room(self) -> None:
        """Wait until the other end has taken most of what was sent to it."""
        await self._room.wait()

    def pause(self, *, paused: bool) -> None:
        """Hear nothing for a while, so that the other end has to wait; or go on."""
        if self._transport is not None and self.is_open and paused != self._paused:
            self._paused = paused
            if paused:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def close(self) -> None:
        """Send what waits, then hang up."""
        if self._transport is not None:
            self.flush()
            self._transport.close()
