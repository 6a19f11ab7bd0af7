"""A small HTTP server on 127.0.0.1 in a thread of its own: the ground of the served sites.

Knows how to read a request and to hand it to one coroutine, which writes whatever it likes, right or wrong.
Serves nobody but tests and trials: no limits on rate, no logging, loopback only.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from email.utils import formatdate
from typing import Final, Self

from purlieu.value import dataclass, replace

REQUEST_BYTES: Final = 65_536
_PHRASES: Final = {
    200: "OK",
    204: "No Content",
    301: "Moved Permanently",
    302: "Found",
    304: "Not Modified",
    404: "Not Found",
}


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived; header names in lower case; ``at`` in monotonic seconds."""

    method: str
    target: str
    headers: dict[str, str]
    at: float
    body: bytes = b""

    @property
    def path(self) -> str:
        """Return the target without its query."""
        return self.target.partition("?")[0]


Answer = Callable[[Received, asyncio.StreamWriter], Awaitable[bool]]
"""Writes an answer and says whether the connection may serve another request."""


def message(
    body: bytes = b"",
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    with_body: bool = True,
) -> bytes:
    """Return a whole, correct answer; a Content-Type is added when there is a body and none is given."""
    lines = {"Date": formatdate(usegmt=True), "Content-Length": str(len(body)), **(headers or {})}
    if body and "Content-Type" not in lines:
        lines["Content-Type"] = "text/html; charset=utf-8"
    if status in {204, 304}:
        del lines["Content-Length"]
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    start = f"HTTP/1.1 {status} {_PHRASES.get(status, 'Status')}\r\n{head}\r\n".encode()
    return start + body if with_body else start


def reset(out: asyncio.StreamWriter) -> None:
    """End the connection with a TCP reset instead of a close."""
    link = out.get_extra_info("socket")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    out.transport.abort()


class Loopback:
    """A context manager that serves one coroutine on a port of the system's choice until the block ends.

    ``log`` holds every request in order of arrival. One answer may take at most ``seconds``; then its connection is
    dropped.
    """

    def __init__(
        self,
        answer: Answer,
        *,
        seconds: float = 30.0,
        tls: ssl.SSLContext | None = None,
        address: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """Serve this coroutine, over TLS when given a context; at another address of loopback, on a given port."""
        self._answer = answer
        self._address = address
        self._seconds = seconds
        self._tls = tls
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self._thread: threading.Thread | None = None
        self.log: list[Received] = []
        self.connections = 0
        self.port = port

    @property
    def origin(self) -> str:
        """Return scheme, address and port, such as ``http://127.0.0.1:40123``."""
        return f"{'https' if self._tls else 'http'}://{self._address}:{self.port}"

    def __enter__(self) -> Self:
        """Listen; the port is known when this returns."""
        listener = socket.create_server((self._address, self.port), backlog=512)
        self.port = listener.getsockname()[1]
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(listener),), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Drop every connection and wait for the thread."""
        while self._loop is None:  # the thread has not come to serve yet
            time.sleep(0.001)
        self._loop.call_soon_threadsafe(self._ending.set)
        if self._thread is not None:
            self._thread.join()

    async def _serve(self, listener: socket.socket) -> None:
        serving: set[asyncio.Task[None]] = set()

        async def met(reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            if task is not None:
                serving.add(task)
                task.add_done_callback(serving.discard)
            with suppress(asyncio.CancelledError):  # only the end of the block cancels
                await self._meet(reader, out)

        server = await asyncio.start_server(met, sock=listener, ssl=self._tls, limit=REQUEST_BYTES)
        self._loop = asyncio.get_running_loop()
        await self._ending.wait()
        server.close()
        for task in tuple(serving):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _meet(self, reader: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            again = True
            while again:
                head = await reader.readuntil(b"\r\n\r\n")
                received = _read(head)
                if length := received.headers.get("content-length", ""):
                    received = replace(received, body=await reader.readexactly(min(int(length), REQUEST_BYTES)))
                self.log.append(received)
                async with asyncio.timeout(self._seconds):
                    again = await self._answer(received, out)
                    if not out.is_closing():
                        await out.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, TimeoutError):
            pass  # the other side has gone, or was slow, or sent too much: all of them end this connection only
        finally:
            out.close()


def _read(head: bytes) -> Received:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.lower()] = value.strip()
    return Received(method, rest.partition(" ")[0], headers, time.monotonic())
