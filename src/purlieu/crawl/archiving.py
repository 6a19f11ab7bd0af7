"""A Fetcher that keeps what another one fetched: each answer is in a WARC file before anybody sees it.

Knows both seams, the web and the files, and how a coded body is decoded within its limit. Decides nothing.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from purlieu import __version__
from purlieu.archive import cdxj
from purlieu.archive.salvage import salvage
from purlieu.archive.warc import WarcWriter
from purlieu.fetch.fetcher import Fetcher
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import Settings
from purlieu.value import replace

INDEX: Final = "index.cdxj"
_NAMED: Final = frozenset({"x-gzip", "gzip", "deflate"})


class ArchivingFetcher:
    """A ``Fetcher``; holds the files of one process."""

    def __init__(self, fetcher: Fetcher, writer: WarcWriter, sent: Sequence[tuple[str, str]], *, coded: bool) -> None:
        """Keep what ``fetcher`` gives. ``sent`` are the headers that go with every request.

        ``coded``: ``fetcher`` gives bodies as they were sent, and they are kept so; whoever asks gets them decoded.
        """
        self._fetcher = fetcher
        self._writer = writer
        self._sent = tuple(sent)
        self._coded = coded

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop, keep the answer, and return it. Raises ArchiveFull when the disk does not take it."""
        answer = await self._fetcher.fetch(request)
        if isinstance(answer, Failure) or request.method == "HEAD":
            return answer
        # Credentials are not among these: they are bound to an origin inside the other fetcher.
        sent = [("Host", request.url.split("/")[2]), *self._sent, *request.headers]
        self._writer.take(request, sent, answer, coded=self._coded)
        return decoded(answer, request.body_bytes) if self._coded else answer

    async def address_of(self, host: str) -> str:
        """Return what the other fetcher says."""
        return await self._fetcher.address_of(host)

    async def close(self) -> None:
        """Release connections and end the files."""
        await self._fetcher.close()
        self._writer.close()


def decoded(answer: Response, most: int) -> Response:
    """Return an answer whose body is decoded from gzip and deflate, to at most so many bytes.

    What is no such thing, or cut short, has the fault ``decoding``; what is longer, ``too_large``.
    """
    body, fault = answer.body, answer.fault
    for coding in reversed(",".join(answer.all("content-encoding")).lower().split(",")):
        if coding.strip() in _NAMED and body:
            body, wrong = _unpacked(body, coding.strip(), most)
            fault = fault or wrong
    return replace(answer, body=body, fault=fault)


def _unpacked(body: bytes, coding: str, most: int) -> tuple[bytes, Fault | None]:
    # Servers send bare deflate where zlib's is meant, and browsers take both.
    bits = (31,) if coding != "deflate" else (15, -15)
    for number, window in enumerate(bits, 1):
        pieces, size, left = [], 0, body
        try:
            while left:
                stream = zlib.decompressobj(window)
                piece = stream.decompress(left, most - size + 1)
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    return b"".join(pieces)[:most], Fault.TOO_LARGE
                if not stream.eof:
                    return b"".join(pieces), Fault.DECODING
                left = stream.unused_data if coding != "deflate" else b""
        except zlib.error:
            if number == len(bits):
                return b"".join(pieces), Fault.DECODING
            continue
        break
    return b"".join(pieces), None


def keeping(fetcher: Fetcher, settings: Settings, folder: Path, name: str, *, coded: bool) -> ArchivingFetcher:
    """Return what keeps all that ``fetcher`` gives in a folder, where what a killed process left is set right first."""
    if folder.is_dir():
        salvage(folder)
    info = {
        "software": f"Purlieu/{__version__}",
        "format": "WARC file version 1.1",
        "isPartOf": name,
        "robots": "obey" if settings.robots.obey else "ignore",
    }
    agent = settings.fetch.user_agent or f"Purlieu/{__version__}"
    writer = WarcWriter(folder, re.sub(r"[^\w.-]", "_", name), info, settings.archive.file_bytes)
    return ArchivingFetcher(fetcher, writer, (("User-Agent", agent), ("Accept", "*/*")), coded=coded)


def finish(folder: Path) -> None:
    """Write the index of all WARC files of a folder, where there are any."""
    indexes = sorted(path for path in folder.glob("*.cdxj") if path.name != INDEX)
    if indexes:
        cdxj.merge(indexes, folder / INDEX)
