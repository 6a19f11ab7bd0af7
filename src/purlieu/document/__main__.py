"""A process that reads documents: ``python -m purlieu.document SECONDS BYTES``, started by a crawl and by nobody else.

Its standard input is a socket: eight bytes of length and a document come, the same of length and what it says go back.
It ends when the socket does, by a signal when a document takes too long, and by itself when one took too much memory.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
from pathlib import Path
from typing import Final

from purlieu.document import read
from purlieu.document.told import packed, unread
from purlieu.page.content import language_of

_HEAD: Final = 8


def _bound(memory_bytes: int) -> None:
    """Let this process take so much more memory than it has, write no file and leave no core."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:  # no Linux
        pages = 0
    most = pages * os.sysconf("SC_PAGE_SIZE") + memory_bytes
    for what, limit in ((resource.RLIMIT_AS, most), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(what)[1]
        most_here = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(what, (most_here, most_here))


def _take(wire: socket.socket, size: int) -> bytes:
    """Return so many bytes, fewer when the other end has gone."""
    came = bytearray(size)
    at = 0
    while at < size and (read_now := wire.recv_into(memoryview(came)[at:])):
        at += read_now
    return bytes(came[:at])


def main() -> int:
    """Read documents until no more come, and return the exit status."""
    seconds, memory_bytes = float(sys.argv[1]), int(sys.argv[2])
    for number in (signal.SIGINT, signal.SIGHUP):  # the crawl hears them and says what to do
        signal.signal(number, signal.SIG_IGN)
    from purlieu.document import office, pdf  # noqa: F401  before memory is bounded, as libraries take much of it

    language_of("any words, so that what tells languages is there as well")
    wire = socket.socket(fileno=0)
    _bound(memory_bytes)
    while len(head := _take(wire, _HEAD)) == _HEAD:
        is_out = False
        try:
            body = _take(wire, int.from_bytes(head))
            # The system's own ending: what loops in C hears nothing else. It holds though the crawl is gone. It counts
            # what this process computes, as a busy machine is no fault of a document.
            signal.setitimer(signal.ITIMER_PROF, seconds)
            told = packed(read(body))
            signal.setitimer(signal.ITIMER_PROF, 0)
        except MemoryError:
            told, is_out = packed(unread("too_large")), True
        wire.sendall(len(told).to_bytes(_HEAD) + told)
        if is_out:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
