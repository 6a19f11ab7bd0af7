"""What a transfer library asks of the event loop: watch these sockets, come back after so long.

Knows asyncio's readers, writers and timers. Knows nothing of HTTP or of the library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

READ: Final = 1
WRITE: Final = 2


class Watch:
    """Watches sockets and one moment; calls back only from the loop, never from inside ``socket`` or ``timer``."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, act: Callable[[int, int], None], come_back: Callable[[], None]
    ) -> None:
        """Call ``act(fd, READ or WRITE)`` for a ready socket and ``come_back()`` when the moment has come."""
        self._loop = loop
        self._act = act
        self._come_back = come_back
        self._watched: dict[int, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due_at: float | None = None
        self._wakes_at = 0.0

    def socket(self, fd: int, wanted: int) -> None:
        """Watch a socket for reading, writing, both or (0) nothing more."""
        had = self._watched.pop(fd, 0)
        if wanted:
            self._watched[fd] = wanted
        changed = had ^ wanted
        if changed & READ:
            if wanted & READ:
                self._loop.add_reader(fd, self._act, fd, READ)
            else:
                self._loop.remove_reader(fd)
        if changed & WRITE:
            if wanted & WRITE:
                self._loop.add_writer(fd, self._act, fd, WRITE)
            else:
                self._loop.remove_writer(fd)

    def timer(self, seconds: float | None) -> None:
        """Come back after so long, instead of what was asked before; None: not at all.

        Every transfer moves the moment of its limit forward. So a timer that is set for an earlier moment is left
        standing and looks again when it fires, which spares setting and cancelling one for each page.
        """
        if seconds is None:
            self._due_at = None
            return
        self._due_at = due_at = self._loop.time() + seconds
        if self._timer is None or due_at < self._wakes_at:
            self._plan(due_at)

    def close(self) -> None:
        """Watch nothing more."""
        for fd in tuple(self._watched):
            self.socket(fd, 0)
        self._due_at = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _plan(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wakes_at = moment
        self._timer = self._loop.call_at(moment, self._fired)

    def _fired(self) -> None:
        self._timer = None
        if self._due_at is None:
            return
        if self._loop.time() + 0.001 < self._due_at:
            self._plan(self._due_at)
        else:
            self._come_back()
