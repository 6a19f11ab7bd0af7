"""One hop's answer as it arrives: header lines and body pieces, held to their limits.

Knows how header blocks follow each other (interim ones, trailers, a proxy's own) and
when there is enough. Knows nothing of libcurl, sockets or time: bytes go in, a Response comes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from purlieu.response import Fault, Request, Response, content_class

if TYPE_CHECKING:
    from collections.abc import Sequence

STOP: Final = -1
"""What ``header`` and ``body`` return to have the transfer ended; None asks for more."""
OTHER_BODY_BYTES: Final = 65_536
"""The most that is kept of a body whose status is not 2xx: the headers are the answer, the body only explains."""
INTERIM_BLOCKS: Final = 16
_VERSIONS: Final = {"HTTP/1.1": "1.1", "HTTP/1.0": "1.0", "HTTP/2": "2", "HTTP/2.0": "2", "HTTP/3": "3"}


def pairs(lines: Sequence[bytes]) -> tuple[tuple[str, str], ...]:
    """Return name and value of header lines, decoded as latin-1, in order as received.

    Outer white space is dropped; a folded line (RFC 9112, section 5.2) continues the value before it; a line without
    a colon is left out.
    """
    found: list[tuple[str, str]] = []
    for line in b"".join(lines).decode("latin-1").split("\n"):
        name, colon, value = line.partition(":")
        if line[:1] in {" ", "\t"}:
            if found:
                found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}".strip())
        elif colon and name:
            found.append((name.rstrip(), value.strip()))
    return tuple(found)


class Answer:
    """What has come so far of one hop's answer; used again for the next hop after ``begin``."""

    __slots__ = ("_header_limit", "_header_size", "_interim", "_limit", "_lines", "_request", "_whole",
                 "cut", "enough", "fault", "headers", "pieces", "size", "started", "status", "trouble")  # fmt: skip

    def __init__(self, header_bytes: int) -> None:
        """Hold header lines to so many bytes in all."""
        self._header_limit = header_bytes
        self.begin(_NOTHING)

    def begin(self, request: Request) -> None:
        """Forget the last hop."""
        self._request = request
        self.fault: Fault | None = None
        self.trouble = ""
        self._header_size = 0
        self.restart()

    def restart(self) -> None:
        """Forget what came before the request went out: it was the proxy's, or the challenge of an authentication."""
        self._lines: list[bytes] = []
        self._interim = 0
        self._whole = False
        self._limit = 0
        self.status = 0
        self.started = ""
        self.headers: tuple[tuple[str, str], ...] = ()
        self.pieces: list[bytes] = []
        self.size = 0
        self.cut = False
        self.enough = False

    def header(self, line: bytes) -> int | None:
        """Take one header line with its line end; the empty line ends a block."""
        self._header_size += len(line)
        if self._header_size > self._header_limit:
            return self._refuse("more header bytes than fetch.header_bytes allows")
        if self._whole:  # trailers
            return None
        if not self.started:
            return self._status_line(line)
        if line in {b"\r\n", b"\n"}:
            return self._block_end()
        self._lines.append(line)
        return None

    def body(self, piece: bytes) -> int | None:
        """Take one decoded piece of the body."""
        self.size += len(piece)
        if self.size <= self._limit:
            self.pieces.append(piece)
            return None
        room = self._limit - (self.size - len(piece))
        if room > 0:
            self.pieces.append(piece[:room])
        self.size = self._limit
        self.enough = True
        if self.status // 100 == 2:
            self.fault = Fault.TOO_LARGE
        return STOP

    def complete(self) -> bool:
        """Say whether the headers alone answer: then nothing that befalls the body is a fault."""
        return self._whole and self.status // 100 != 2

    def response(self, fault: Fault | None, **how: object) -> Response:
        """Return what came, with the fault that ended it; ``how`` gives address, times and wire bytes."""
        version, _, rest = self.started.partition(" ")
        headers = self.headers if self._whole else pairs(self._lines)
        return Response(
            url=self._request.url,
            status=self.status,
            reason=rest.partition(" ")[2].strip(),
            headers=headers,
            body=b"".join(self.pieces),
            http_version=_VERSIONS.get(version, version.removeprefix("HTTP/")),
            cut=self.cut,
            fault=fault,
            **how,  # type: ignore[arg-type]
        )

    def _status_line(self, line: bytes) -> int | None:
        text = line.decode("latin-1").rstrip("\r\n")
        code = text.partition(" ")[2][:3]
        if not (code.isascii() and code.isdigit()):
            return self._refuse("the answer's first line is no status line")
        self.started = text
        self.status = int(code)
        return None

    def _block_end(self) -> int | None:
        status = self.status
        if status < 200 and status != 101:
            self._interim += 1
            if self._interim > INTERIM_BLOCKS:
                return self._refuse("more interim answers than make sense")
            self._lines = []
            self.started = ""
            return None
        self._whole = True
        self.headers = pairs(self._lines)
        request = self._request
        if status // 100 != 2:
            self._limit = min(request.body_bytes, OTHER_BODY_BYTES)
            return None
        self._limit = request.body_bytes
        if request.classes is not None and content_class(self._content_type()) not in request.classes:
            self.cut = self.enough = request.method != "HEAD"
            return STOP if self.cut else None
        return None

    def _content_type(self) -> str | None:
        return next((value for name, value in self.headers if name.lower() == "content-type"), None)

    def _refuse(self, trouble: str) -> int:
        self.fault = Fault.PROTOCOL
        self.trouble = trouble
        self.enough = True
        return STOP


_NOTHING: Final = Request("")
