"""What a transfer library asks of the event loop: watch these sockets, come back after so long.

Knows asyncio's readers and timers, and epoll. Knows nothing of HTTP or of the library.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from select import EPOLLIN, EPOLLOUT, epoll
from typing import Final

LOG: Final = logging.getLogger(__name__)
READ: Final = 1
WRITE: Final = 2
_NEVER: Final = float("inf")
_EVENTS: Final = (0, EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT)


class Watch:
    """Watches sockets and one moment; calls back only from the loop, never from inside ``socket`` or ``timer``."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        act: Callable[[int, int], None],
        collect: Callable[[], None],
        come_back: Callable[[], None],
    ) -> None:
        """Call ``act(fd, READ or WRITE or both)`` for each ready socket and then ``collect()`` once.

        ``come_back()`` is called when the moment has come.
        """
        self.comes_by_itself = False
        """Whether what is asked for at once is done by who set this, as soon as the library has returned."""
        self._loop = loop
        self._time = loop.time
        self._act = act
        self._collect = collect
        self._come_back = come_back
        # A set of sockets of its own, which the loop sees as one: a kept connection is watched and left alone once for
        # each page, and the loop's own way to do so costs it six system calls.
        self._sockets = epoll()
        loop.add_reader(self._sockets.fileno(), self._ready)
        self._timer: asyncio.TimerHandle | None = None
        self._wakes_at = _NEVER

    def socket(self, wanted: int, fd: int, *_: object) -> None:
        """Watch a socket for reading, writing, both or nothing more: of ``wanted`` these two bits count alone."""
        sockets, events = self._sockets, _EVENTS[wanted & 3]
        try:
            if events:
                sockets.register(fd, events)
            else:
                sockets.unregister(fd)
        except FileExistsError:
            sockets.modify(fd, events)
        except OSError:  # what is closed is watched no longer
            LOG.debug("no longer a socket: %d", fd)

    def timer(self, milliseconds: int) -> None:
        """Come back after so long, instead of what was asked before; below 0: not at all.

        Every transfer moves the moment of its limit forward. So a timer that is set for an earlier moment is left
        standing and asks again when it fires, which spares setting and cancelling one for each page.
        """
        if milliseconds < 0 or (milliseconds == 0 and self.comes_by_itself):
            return
        moment = self._time() + milliseconds / 1000
        if moment < self._wakes_at:
            if self._timer is not None:
                self._timer.cancel()
            self._wakes_at = moment
            self._timer = self._loop.call_at(moment, self._fired)

    def close(self) -> None:
        """Watch nothing more."""
        self._loop.remove_reader(self._sockets.fileno())
        self._sockets.close()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ready(self) -> None:
        for fd, events in self._sockets.poll(0, 64):
            self._act(fd, READ if events == EPOLLIN else WRITE if events == EPOLLOUT else READ | WRITE)
        self._collect()

    def _fired(self) -> None:
        self._timer, self._wakes_at = None, _NEVER
        self._come_back()
