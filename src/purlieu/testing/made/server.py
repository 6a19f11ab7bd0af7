"""Serves a made web over HTTP/1.1 on loopback, from one process and one port, for any crawler.

Knows sockets, delays and faults, and keeps the log. What is said is ``made.web``'s to say. Nobody but this machine is
answered.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Self

from purlieu.testing.made.name import LOOPBACK, host_name
from purlieu.testing.made.web import Answer, MadeWeb

REQUEST_BYTES: Final = 65_536
CONTROL: Final = "/.made/epoch"
"""Asked for, tells the epoch; with ``?set=3`` sets it. No page is there."""
_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
_HANG_SECONDS: Final = 3_600.0


class Logged(NamedTuple):
    """One request: when it came (monotonic seconds), for what, and the status it was answered with (0: a fault)."""

    at: float
    host: str
    path: str
    status: int


class MadeServer:
    """A context manager that serves a made web in a thread of its own until the block ends.

    ``epoch`` may be set at any time. ``log`` holds every request in the order of arrival, or goes to what ``told`` is.
    With ``epoch_seconds`` the epoch moves on by itself every so many seconds.
    """

    def __init__(
        self,
        web: MadeWeb,
        *,
        port: int = 0,
        epoch: int = 0,
        epoch_seconds: float = 0.0,
        told: Callable[[Logged], object] | None = None,
    ) -> None:
        """Prepare to serve on a port, or one of the system's choice."""
        self.web = web
        self.port = port
        self.log: list[Logged] = []
        self._told = told or self.log.append
        self._epoch, self._epoch_seconds = epoch, epoch_seconds
        self._began_at = time.monotonic()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.Event | None = None
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self.connections: set[_Connection] = set()

    @property
    def epoch(self) -> int:
        """Return how far the web has changed by now."""
        passed = (time.monotonic() - self._began_at) // self._epoch_seconds if self._epoch_seconds else 0
        return self._epoch + int(passed)

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        """Set how far the web has changed; its clock begins anew."""
        self._epoch, self._began_at = epoch, time.monotonic()

    @property
    def seeds(self) -> list[str]:
        """Return the root of every host."""
        return self.web.seeds(self.port)

    @property
    def url(self) -> str:
        """Return the root of the first host."""
        return f"{self.web.origin(0, self.port)}/"

    def __enter__(self) -> Self:
        """Listen; the port is known when this returns."""
        listener = listen(self.web.naming, self.port)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=run_loop, args=(lambda: self._serve(listener),), daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Drop every connection and wait for the thread."""
        if self._loop is not None and self._ending is not None:
            self._loop.call_soon_threadsafe(self._ending.set)
        if self._thread is not None:
            self._thread.join()

    def settle(self) -> None:
        """Wait until all that was sent by clients that have gone is in the log; only where no client is left."""
        # It comes after whoever has not been let in yet.
        with socket.create_connection((host_name(self.web.naming, 0), self.port)) as last:
            last.sendall(f"GET {CONTROL} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            while last.recv(4096):
                pass
        while self.connections:
            time.sleep(0.002)

    def serve(self, ready: Callable[[], object] = lambda: None) -> None:
        """Serve in this thread until it is interrupted; call ``ready`` when the port is known and open."""
        listener = listen(self.web.naming, self.port)
        self.port = listener.getsockname()[1]
        ready()
        with suppress(KeyboardInterrupt):
            run_loop(lambda: self._serve(listener))

    async def _serve(self, listener: socket.socket) -> None:
        self._loop, self._ending = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(lambda: _Connection(self), sock=listener, backlog=4096)
        self._ready.set()
        try:
            await self._ending.wait()
        finally:
            server.close()
            for connection in tuple(self.connections):
                connection.drop()
            await asyncio.sleep(0)

    def met(self, host: str, path: str, headers: dict[str, str]) -> Answer:
        """Answer one request and put it into the log."""
        at = time.monotonic()
        if path.startswith(CONTROL):
            return self._controlled(path)
        answer = self.web.answer(host, path, headers, self.epoch, at - self._began_at)
        self._told(Logged(at, host, path, 0 if answer.fault else answer.status))
        return answer

    def _controlled(self, path: str) -> Answer:
        wanted = path.partition("?set=")[2]
        if wanted.isascii() and wanted.isdigit() and len(wanted) < 10:
            self.epoch = int(wanted)
        return Answer(200, (("Content-Type", "text/plain"),), b"%d\n" % self.epoch)


class _Connection(asyncio.Protocol):
    """One connection; requests are answered one after the other."""

    def __init__(self, server: MadeServer) -> None:
        self._server = server
        self._transport: Any = None
        self._rest = b""
        self._heads: deque[bytes] = deque()
        self._later: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        name = transport.get_extra_info("sockname")
        if not str(name[0]).startswith("127."):  # from outside: see ``listen``
            transport.abort()
            return
        self._server.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        self._server.connections.discard(self)
        if self._later is not None:
            self._later.cancel()

    def drop(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        *heads, self._rest = (self._rest + data).split(b"\r\n\r\n")
        if len(self._rest) > REQUEST_BYTES:
            self.drop()
            return
        self._heads.extend(heads)
        self._go_on()

    def _go_on(self) -> None:
        while self._heads and self._later is None and not self._transport.is_closing():
            method, host, path, headers = _read(self._heads.popleft())
            answer = self._server.met(host, path, headers)
            seconds = _HANG_SECONDS if answer.fault == "hang" else answer.after_seconds
            with_body, closes = method != "HEAD", headers.get("connection", "").lower() == "close"
            if seconds:
                loop = asyncio.get_running_loop()
                self._later = loop.call_later(seconds, self._say_later, answer, with_body, closes)
            else:
                self._say(answer, with_body=with_body, closes=closes)

    def _say_later(self, answer: Answer, with_body: bool, closes: bool) -> None:  # noqa: FBT001 - the loop's call
        self._later = None
        self._say(answer, with_body=with_body, closes=closes)
        self._go_on()

    def _say(self, answer: Answer, *, with_body: bool, closes: bool) -> None:
        match answer.fault:
            case "reset":
                link = self._transport.get_extra_info("socket")
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self._transport.abort()
            case "close" | "hang":
                self._transport.close()
            case "garbage":
                self._transport.write(b"\x00\x01 this is no HTTP\r\n\r\n")
                self._transport.close()
            case "truncated":
                self._transport.write(spoken(answer)[: -max(1, len(answer.body) // 2)])
                self._transport.close()
            case _:
                self._transport.write(spoken(answer, with_body=with_body))
                if closes:
                    self._transport.close()


def spoken(answer: Answer, *, with_body: bool = True) -> bytes:
    """Return an answer as HTTP/1.1."""
    lines = [f"HTTP/1.1 {answer.status} {_PHRASES.get(answer.status, 'Status')}"]
    if answer.status != 304:
        lines.append(f"Content-Length: {len(answer.body)}")
    if not any(name == "Date" for name, _ in answer.headers):
        lines.append(f"Date: {_date(int(time.time()))}")
    lines += [f"{name}: {value}" for name, value in answer.headers]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")
    return head + answer.body if with_body else head


_DATE: list[Any] = [0, ""]


def _date(now: int) -> str:
    """Return the Date header's value; made once a second."""
    if _DATE[0] != now:
        _DATE[:] = now, formatdate(now, usegmt=True)
    return str(_DATE[1])


def _read(head: bytes) -> tuple[str, str, str, dict[str, str]]:
    """Return method, host, path and headers (names in lower case) of a request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.strip("\r\n").partition(" ")
    target = rest.partition(" ")[0]
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    host = headers.get("host", "")
    if target.startswith("http://"):  # as a proxy is asked
        host, _, path = target.removeprefix("http://").partition("/")
        target = f"/{path}"
    return method, host.lower(), target, headers


def listen(naming: str, port: int) -> socket.socket:
    """Return a listening socket that only this machine can reach; for addresses, one for all of 127/8."""
    if naming != LOOPBACK:
        return socket.create_server(("127.0.0.1", port), backlog=4096)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    with suppress(OSError, AttributeError):  # Linux before 5.7 wants rights for it; connections are looked at too
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
    listener.bind(("0.0.0.0", port))  # noqa: S104 - every address of loopback
    listener.listen(4096)
    listener.settimeout(0)
    return listener


def run_loop(main: Callable[[], Any]) -> None:
    """Run a coroutine function, on uvloop where there is one."""
    if sys.platform == "win32":
        asyncio.run(main())
        return
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
