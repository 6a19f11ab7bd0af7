"""One hop's answer as it arrives: header lines and body pieces, held to their limits.

Knows how header blocks follow each other (interim ones, trailers) and when there is enough.
Knows nothing of libcurl, sockets or time: bytes go in, a ``Response`` comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from purlieu.named import NamedTuple
from purlieu.response import Fault, Request, Response, content_class

STOP: Final = -1
"""What ``header`` and ``body`` return to have the transfer ended; None asks for more."""
OTHER_BODY_BYTES: Final = 65_536
"""The most that is kept of a body whose status is not 2xx: the headers are the answer, the body only explains."""
INTERIM_BLOCKS: Final = 16
_SPACE: Final = " \t\r\n"
_VERSIONS: Final = {"HTTP/1.1": "1.1", "HTTP/1.0": "1.0", "HTTP/2": "2", "HTTP/2.0": "2", "HTTP/3": "3"}


class Start(NamedTuple):
    """A status line, taken apart."""

    version: str
    status: int
    reason: str


# Sites send most lines again and again; both caches hold short lines only, so that nobody fills them with long ones.
CACHED_BYTES: Final = 256


@lru_cache(maxsize=256)
def start(line: bytes) -> Start | None:
    """Return what a status line says; None when it is none."""
    version, _, rest = line.decode("latin-1").rstrip("\r\n").partition(" ")
    code, _, reason = rest.partition(" ")
    if not (version in _VERSIONS and len(code) == 3 and code.isascii() and code.isdigit()):
        return None
    return Start(_VERSIONS[version], int(code), reason.strip())


_class_of: Final = lru_cache(maxsize=1024)(content_class)


def pairs(lines: Sequence[bytes]) -> tuple[tuple[str, str], ...]:
    """Return name and value of header lines, decoded as latin-1, in order as received.

    Outer white space is dropped; a folded line (RFC 9112, section 5.2) continues the value before it; a line without
    a name and a colon is left out.
    """
    found = [_known_pair(line) if len(line) < CACHED_BYTES else _pair(line) for line in lines]
    return _mended(lines) if None in found else tuple(found)  # type: ignore[arg-type]


def _pair(line: bytes) -> tuple[str, str] | None:
    """Return a plain line's pair; None for one that needs a closer look."""
    name, colon, value = line.decode("latin-1").partition(":")
    return (name, value.strip(_SPACE)) if colon and name and name == name.strip(_SPACE) else None


_known_pair: Final = lru_cache(maxsize=1024)(_pair)


def _mended(lines: Sequence[bytes]) -> tuple[tuple[str, str], ...]:
    whole: list[str] = []
    for line in b"".join(lines).decode("latin-1").split("\n"):
        if whole and line[:1] in {" ", "\t"}:
            whole[-1] = f"{whole[-1].rstrip(_SPACE)} {line.strip(_SPACE)}"
        else:
            whole.append(line)
    cut = [line.partition(":") for line in whole]
    return tuple(
        [(name.strip(_SPACE), value.strip(_SPACE)) for name, colon, value in cut if colon and name.strip(_SPACE)]
    )


class Answer:
    """What has come so far of one hop's answer; used again for the next hop after ``begin``."""

    __slots__ = ("_header_limit", "_in_block", "_interim", "_left", "_limit", "_lines", "_request", "_whole",
                 "cookie_bytes", "cut", "enough", "fault", "headers", "pieces", "size", "start", "trouble")  # fmt: skip

    def __init__(self, header_bytes: int) -> None:
        """Hold header lines to so many bytes in all."""
        self._header_limit = header_bytes
        self.begin(_NOTHING)

    def begin(self, request: Request) -> None:
        """Forget the last hop."""
        self._request = request
        self.fault: Fault | None = None
        self.trouble = ""
        self._left = self._header_limit
        self.cookie_bytes = 0
        self.restart()

    def restart(self) -> None:
        """Forget what came so far: it was the challenge of an authentication."""
        self._lines: list[bytes] = []
        self._interim = 0
        self._in_block = False
        self._whole = False
        self._limit = 0
        self.start: Start | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.pieces: list[bytes] = []
        self.size = 0
        self.cut = False
        self.enough = False

    @property
    def untouched(self) -> bool:
        """Say whether nothing has come yet."""
        return self._left == self._header_limit

    def header(self, line: bytes) -> int | None:
        """Take one header line with its line end; the empty line ends a block."""
        size = len(line)
        left = self._left = self._left - size
        if self._in_block and size > 2 and left >= 0:  # nine lines of ten
            self._lines.append(line)
            return None
        if left < 0:
            return self._refuse("more header bytes than fetch.header_bytes allows")
        if self._whole:  # a trailer
            return None
        if self._in_block:
            return None if line.strip() else self._block_end()
        self.start = start(line[:CACHED_BYTES])
        if self.start is None:
            return self._refuse("the answer's first line is no status line")
        self._in_block = True
        return None

    def body(self, piece: bytes) -> int | None:
        """Take one decoded piece of the body."""
        before = self.size
        self.size = before + len(piece)
        if self.size <= self._limit:
            self.pieces.append(piece)
            return None
        self.pieces.append(piece[: self._limit - before])
        self.size = self._limit
        self.enough = True
        if not self.complete():
            self.fault = Fault.TOO_LARGE
        return STOP

    def complete(self) -> bool:
        """Say whether the headers alone are the answer (any status but 2xx): then nothing befalls the body."""
        return self._whole and self.start is not None and self.start.status // 100 != 2

    def response(
        self, fault: Fault | None, address: str, started_at: float, times: tuple[float, float], wire_bytes: int
    ) -> Response:
        """Return what came, with the fault that ended it; ``times`` are the seconds to the first and the last byte."""
        version, status, reason = self.start or Start("", 0, "")
        body = b"".join(self.pieces)
        self.pieces = []  # a handle that waits for its next hop must not hold the last page
        return Response(
            self._request.url,
            status,
            reason,
            self.headers if self._whole else pairs(self._lines),
            body,
            version,
            address,
            started_at,
            times[1],
            times[0],
            wire_bytes,
            self.cut,
            fault,
        )

    def _block_end(self) -> int | None:
        status = self.start.status if self.start else 0
        self._in_block = False
        if status < 200 and status != 101:
            self._interim += 1
            self._lines = []
            return self._refuse("more interim answers than make sense") if self._interim > INTERIM_BLOCKS else None
        self._whole = True
        self.headers = pairs(self._lines)
        content_type = self._look()
        request = self._request
        if not 200 <= status < 300:
            self._limit = min(request.body_bytes, OTHER_BODY_BYTES)
            return None
        self._limit = request.body_bytes
        if request.classes is None or request.method == "HEAD" or _class_of(content_type) in request.classes:
            return None
        self.cut = self.enough = True
        return STOP

    def _look(self) -> str | None:
        """Return the first Content-Type, and count the bytes of cookies."""
        content_type = None
        for name, value in self.headers:
            size = len(name)  # spares lowering every name of every page
            if size == 12 and content_type is None and name.lower() == "content-type":
                content_type = value
            elif size == 10 and name.lower() == "set-cookie":
                self.cookie_bytes += len(value)
        return content_type

    def _refuse(self, trouble: str) -> int:
        self.fault = Fault.PROTOCOL
        self.trouble = trouble
        self.enough = True
        return STOP


_NOTHING: Final = Request("")
