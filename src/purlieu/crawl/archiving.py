"""A Fetcher that keeps what another one fetched: each answer is in a WARC file before anybody sees it.

Knows both seams, the web and the files, and how a coded body is decoded within its limit. Decides nothing.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from purlieu import __version__
from purlieu.archive import cdxj
from purlieu.archive.earlier import Earlier
from purlieu.archive.salvage import salvage
from purlieu.archive.warc import WarcWriter, full
from purlieu.fetch.fetcher import Fetcher
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import Settings
from purlieu.settings.door import door
from purlieu.url import origin_of
from purlieu.value import replace

INDEX: Final = "index.cdxj"
_LETS_IN: Final = frozenset({"set-cookie", "set-cookie2", "authentication-info"})
_NAMED: Final = frozenset({"x-gzip", "gzip", "deflate"})
_PLAIN: Final = frozenset({"", "identity"})
MOST_CODINGS: Final = 5
"""As many times a body may be packed; libcurl has the same bound."""
_SLICE: Final = 8_192


class ArchivingFetcher:
    """A ``Fetcher``; holds the files of one process."""

    def __init__(
        self,
        fetcher: Fetcher,
        writer: WarcWriter,
        sent: Sequence[tuple[str, str]],
        *,
        coded: bool,
        doors: Collection[str] = (),
    ) -> None:
        """Keep what ``fetcher`` gives. ``sent`` are the headers that go with every request.

        ``doors`` are the origins with credentials: the cookies that they set let in and are not kept.

        ``coded``: ``fetcher`` gives bodies as they were sent, and they are kept so; whoever asks gets them decoded.
        """
        self._fetcher = fetcher
        self._writer = writer
        self._sent = tuple(sent)
        self._coded = coded
        self._doors = frozenset(doors)

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop, keep the answer, and return it. Raises ArchiveFull when the disk does not take it."""
        answer = await self._fetcher.fetch(request)
        if isinstance(answer, Failure) or request.method == "HEAD" or request.plain:
            return answer
        # Credentials are not among these: they are bound to an origin inside the other fetcher.
        sent = [("Host", request.url.split("/")[2]), *self._sent, *request.headers]
        self._writer.take(request, sent, self._public(answer), coded=self._coded)
        return decoded(answer, request.body_bytes) if self._coded else answer

    def _public(self, answer: Response) -> Response:
        """Return an answer without what lets in."""
        if not self._doors or origin_of(answer.url) not in self._doors:
            return answer
        return replace(answer, headers=tuple(pair for pair in answer.headers if pair[0].lower() not in _LETS_IN))

    async def address_of(self, host: str) -> str:
        """Return what the other fetcher says."""
        return await self._fetcher.address_of(host)

    async def close(self) -> None:
        """Release connections and end the files."""
        await self._fetcher.close()
        self._writer.close()


def decoded(answer: Response, most: int) -> Response:
    """Return an answer whose body is decoded from gzip and deflate, to at most so many bytes.

    What is no such thing, of another coding, or cut short, has the fault ``decoding``; what is longer, ``too_large``.
    """
    body, fault = answer.body, answer.fault
    codings = [coding.strip() for coding in ",".join(answer.all("content-encoding")).lower().split(",")]
    for number, coding in enumerate(coding for coding in reversed(codings) if coding not in _PLAIN):
        if body:
            known = coding in _NAMED and number < MOST_CODINGS
            body, wrong = _unpacked(body, coding, most) if known else (b"", Fault.DECODING)
            fault = fault or wrong
    return replace(answer, body=body, fault=fault)


def _unpacked(body: bytes, coding: str, most: int) -> tuple[bytes, Fault | None]:
    # Servers send bare deflate where zlib's is meant, and browsers take both.
    out = bytearray()
    for window in (31,) if coding != "deflate" else (15, -15):
        out.clear()
        try:
            for piece in _pieces(body, window):
                out += piece
                if len(out) > most:
                    return bytes(out[:most]), Fault.TOO_LARGE
        except zlib.error:
            continue
        except EOFError:
            break
        return bytes(out), None
    return bytes(out), Fault.DECODING


def _pieces(body: bytes, window: int) -> Iterator[bytes]:
    """Yield what is unpacked, at most 1,032 times a slice at once; of gzip, all members. Raises EOFError if cut short.

    Slices keep the work linear: what follows a member is copied for each, and there may be half a million of them.
    """
    stream = None
    for start in range(0, len(body), _SLICE):
        left = body[start : start + _SLICE]
        while left:
            stream = stream or zlib.decompressobj(window)
            yield stream.decompress(left)
            left = stream.unused_data
            if stream.eof:
                if window != 31:
                    return
                stream = None
    if stream is not None:
        raise EOFError


def begin(folder: Path) -> None:
    """Set right what a killed run left in a folder; nobody may be writing there."""
    if folder.is_dir():
        salvage(folder)


def keeping(fetcher: Fetcher, settings: Settings, folder: Path, name: str, *, coded: bool) -> ArchivingFetcher:
    """Return what keeps all that ``fetcher`` gives in a folder; each process of a run has one."""
    info = {
        "software": f"Purlieu/{__version__}",
        "format": "WARC file version 1.1",
        "isPartOf": name,
        "robots": "obey" if settings.robots.obey else "ignore",
    }
    doors = [one.origin for one in settings.origins if door(one)]
    agent = settings.fetch.user_agent or f"Purlieu/{__version__}"
    before = _earlier(folder) if settings.revisit else None
    writer = WarcWriter(folder, re.sub(r"[^\w.-]", "_", name), info, settings.archive.file_bytes, before)
    return ArchivingFetcher(fetcher, writer, (("User-Agent", agent), ("Accept", "*/*")), coded=coded, doors=doors)


def _earlier(folder: Path) -> Earlier | None:
    """Return what knows the archives of the runs before, which lie beside this one's: ``CRAWL/RUN/archive``."""
    run = folder.parent.name
    others = (path for path in folder.parent.parent.glob(f"*/{folder.name}/{INDEX}") if path.parts[-3].isdecimal())
    indexes = [path for path in others if run.isdecimal() and int(path.parts[-3]) < int(run)]
    return Earlier(sorted(indexes, key=lambda path: -int(path.parts[-3]))) if indexes else None


def finish(folder: Path, *, lost: bool) -> None:
    """Write the index of all WARC files of a folder, where there are any; ``lost``: processes may have been killed."""
    try:
        if lost:
            begin(folder)
        indexes = sorted(path for path in folder.glob("*.cdxj") if path.name != INDEX)
        if indexes:
            cdxj.merge(indexes, folder / INDEX)
    except OSError as error:
        raise full(folder / INDEX, error) from None
