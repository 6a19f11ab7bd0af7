"""One hop's answer as it arrives: header lines and body pieces, held to their limits.

Knows how header blocks follow each other (interim ones, trailers) and when there is enough.
Knows nothing of libcurl, sockets or time: bytes go in, a ``Response`` comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeVar

from purlieu.named import NamedTuple
from purlieu.response import Fault, Request, Response, content_class

STOP: Final = -1
"""What ``look`` and ``body`` return to have the transfer ended; None asks for more."""
OTHER_BODY_BYTES: Final = 65_536
"""The most that is kept of a body whose status is not 2xx: the headers are the answer, the body only explains."""
INTERIM_BLOCKS: Final = 16
_SPACE: Final = " \t\r\n"
_BLOCK_ENDS: Final = (b"\r\n", b"\n")
_VERSIONS: Final = {"HTTP/1.1": "1.1", "HTTP/1.0": "1.0", "HTTP/2": "2", "HTTP/2.0": "2", "HTTP/3": "3"}


class Start(NamedTuple):
    """A status line, taken apart."""

    version: str
    status: int
    reason: str


# Sites send most lines again and again; both tables hold short lines only, so that nobody fills them with long ones.
# A dict is asked for bytes in half the time of an lru_cache, which makes a tuple of each key.
CACHED_BYTES: Final = 256
CACHED_LINES: Final = 1024


_Value = TypeVar("_Value")


class _Starts(dict[bytes, Start | None]):
    """What status lines say; None for what is none."""

    def __missing__(self, line: bytes) -> Start | None:
        version, _, rest = line[:CACHED_BYTES].decode("latin-1").rstrip("\r\n").partition(" ")
        code, _, reason = rest.partition(" ")
        known = version in _VERSIONS and len(code) == 3 and code.isascii() and code.isdigit()
        found = Start(_VERSIONS[version], int(code), reason.strip()) if known else None
        return _kept(self, line, found)


class _Pairs(dict[bytes, tuple[str, str]]):
    """Name and value of plain header lines; KeyError for a line that needs a closer look."""

    def __missing__(self, line: bytes) -> tuple[str, str]:
        name, colon, value = line.decode("latin-1").partition(":")
        if not (colon and name and name == name.strip(_SPACE)):
            raise KeyError(line)
        return _kept(self, line, (name, value.strip(_SPACE)))


def _kept(known: dict[bytes, _Value], line: bytes, value: _Value) -> _Value:
    if len(line) < CACHED_BYTES:
        if len(known) >= CACHED_LINES:
            known.clear()
        known[line] = value
    return value


start: Final = _Starts().__getitem__
_pair: Final = _Pairs().__getitem__
_class_of: Final = lru_cache(maxsize=1024)(content_class)


def pairs(lines: Sequence[bytes]) -> tuple[tuple[str, str], ...]:
    """Return name and value of header lines, decoded as latin-1, in order as received.

    Outer white space is dropped; a folded line (RFC 9112, section 5.2) continues the value before it; a line without
    a name and a colon is left out.
    """
    try:
        return tuple(map(_pair, lines))
    except KeyError:
        return _mended(lines)


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
    """What has come so far of one hop's answer; used again for the next hop after ``begin``.

    Header lines are added to ``lines`` as they come, with their line ends; the empty line ends a block. They are looked
    at when the body begins or nothing more comes: ten calls a page that do nothing but add are the least there can be.
    """

    __slots__ = ("_header_limit", "_in_block", "_interim", "_left", "_limit", "_lines", "_request", "_seen", "_whole",
                 "cookie_bytes", "cut", "enough", "fault", "headers", "lines", "pieces", "size", "start",
                 "trouble")  # fmt: skip

    def __init__(self, header_bytes: int) -> None:
        """Hold header lines to so many bytes in all."""
        self._header_limit = header_bytes
        self.lines: list[bytes] = []
        self.begin(_NOTHING)

    def begin(self, request: Request) -> None:
        """Forget the last hop."""
        self._request = request
        self.fault: Fault | None = None
        self.trouble = ""
        self._left = self._header_limit
        self.cookie_bytes = 0
        self._forget()

    def restart(self) -> None:
        """Forget what came so far, but not how much: it was the challenge of an authentication."""
        self.look()
        self._forget()

    def _forget(self) -> None:
        self.lines.clear()
        self._seen = 0
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

    def look(self) -> int | None:
        """Look at the header lines that have come since the last look."""
        lines = self.lines
        seen, self._seen = self._seen, len(lines)
        if seen == self._seen:
            return None
        if not seen and (first := start(lines[0])) and first.status >= 200 and lines[-1] in _BLOCK_ENDS:
            block = b"".join(lines)
            left = self._left - len(block)
            if left >= 0:  # nearly always it is one block, which is whole
                try:
                    self.headers = tuple(map(_pair, lines[1:-1]))
                except KeyError:
                    pass
                else:
                    self.start, self._left = first, left
                    return self._judge(first.status, self._content_type(block.lower()))
        return STOP if any(self._header(line) is not None for line in lines[seen:]) else None

    def _header(self, line: bytes) -> int | None:
        size = len(line)
        left = self._left = self._left - size
        if left < 0:
            return self._refuse("more header bytes than fetch.header_bytes allows")
        if self._in_block and size > 2:
            self._lines.append(line)
            return None
        if self._whole:  # a trailer
            return None
        if self._in_block:
            return None if line.strip() else self._block_end()
        self.start = start(line)
        if self.start is None:
            return self._refuse("the answer's first line is no status line")
        self._in_block = True
        return None

    def is_unwanted(self) -> bool:
        """Return whether a whole answer has come whose body nobody wants, before any of that body has.

        For a server that sends headers and then nothing: ``body`` would never be called.
        """
        lines = self.lines
        if self._seen or not lines or lines[-1] not in _BLOCK_ENDS:
            return False
        at = next((at for at in range(len(lines) - 1, 0, -1) if lines[at - 1] in _BLOCK_ENDS), 0)
        first = start(lines[at])  # of the last block: interim ones may stand before it
        return first is not None and 200 <= first.status < 300 and self.look() is not None

    def body(self, piece: bytes) -> int | None:
        """Take one decoded piece of the body. STOP: there is enough, or the header lines are no answer."""
        if not self._seen and self.look() is not None:
            return STOP
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
        self.headers = pairs(self._lines)
        return self._judge(status, self._content_type())

    def _judge(self, status: int, content_type: str | None) -> int | None:
        """Know how much of the body is wanted."""
        self._whole = True
        request = self._request
        if not 200 <= status < 300:
            self._limit = min(request.body_bytes, OTHER_BODY_BYTES)
            return None
        self._limit = request.body_bytes
        if request.classes is None or request.method == "HEAD" or _class_of(content_type) in request.classes:
            return None
        self.cut = self.enough = True
        return STOP

    def _content_type(self, block: bytes = b"") -> str | None:
        """Return the first Content-Type, and count the bytes of cookies; ``block`` are plain lines in lower case."""
        at = block.find(b"\ncontent-type:") + 14
        if at > 13 and b"\nset-cookie:" not in block:  # spares looking at every name of every page
            return block[at : block.find(b"\n", at)].decode("latin-1").strip(_SPACE)
        content_type = None
        for name, value in self.headers:
            size = len(name)
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
