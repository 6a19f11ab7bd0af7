"""WARC 1.1 files (ISO 28500): one request, response and metadata record for each hop, packed record by record.

Knows the records and how a file is begun, rolled and ended, and gives back what was half written. A body that was kept
before is a revisit record. Knows no settings.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO, FileIO
from pathlib import Path
from typing import Any, Final, NamedTuple

from warcio.recordbuilder import RecordBuilder
from warcio.recordloader import ArcWarcRecord
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from purlieu.archive import cdxj
from purlieu.errors import ArchiveFull
from purlieu.response import Fault, Request, Response, media_type

OPEN: Final = ".open"
"""Ends the name of a file that is being written."""
BODIES_REMEMBERED: Final = 100_000
_LEVEL: Final = 6
_NOT_MODIFIED: Final = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
_CODED: Final = frozenset({"transfer-encoding"})
_DECODED: Final = frozenset({"transfer-encoding", "content-encoding", "content-length"})
_TRUNCATED: Final = {Fault.TOO_LARGE: "length", Fault.TIMEOUT: "time"}
_RECORDS: Final = RecordBuilder(warc_version="1.1")
_NO_BREAKS: Final = dict.fromkeys((0, 10, 13), " ")
_PROTOCOLS: Final = {"2": "h2", "3": "h3"}


class Head(StatusAndHeaders):  # type: ignore[misc]  # warcio has no hints
    """Start line and headers, written octet by octet as they were received: they were read as latin-1."""

    def __init__(self, start: str, pairs: Sequence[tuple[str, str]], **more: Any) -> None:
        """Take them; a line break inside, which would begin another header, becomes a space."""
        clean = [(name.translate(_NO_BREAKS), value.translate(_NO_BREAKS)) for name, value in pairs]
        super().__init__(start.translate(_NO_BREAKS).strip(), clean, **more)

    def to_ascii_bytes(self, filter_func: Any = None) -> bytes:
        """Return the lines and the empty one after them."""
        text = f"{self.to_str(filter_func)}\r\n"
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError:  # what a browser has decoded
            return text.encode("utf-8", "replace")


class Kept(NamedTuple):
    """Where a body was kept first."""

    url: str
    date: str


class WarcWriter:
    """Writes the WARC files of one process into a folder. Raises ArchiveFull when the disk does not take a record."""

    def __init__(
        self,
        folder: Path,
        name: str,
        info: Mapping[str, str],
        file_bytes: int,
        before: Callable[[str, str], Kept | None] | None = None,
    ) -> None:
        """Write files whose names begin with ``name``; one that holds ``file_bytes`` is ended.

        ``info`` is what each file's first record says of the crawl. ``before`` tells where an address and digest were
        kept in other archives that this one may refer to.
        """
        self._folder = folder
        self._name = name
        self._info = dict(info)
        self._file_bytes = file_bytes
        self._before = before
        self._file: FileIO | None = None
        self._index: FileIO | None = None
        self._path = folder
        self._serial = 0
        self._bodies: OrderedDict[bytes, Kept] = OrderedDict()

    def take(self, request: Request, sent: Sequence[tuple[str, str]], response: Response, *, coded: bool) -> None:
        """Write the records of one hop.

        ``sent`` are the headers of the request that may be told; ``coded``: the body is as it was sent, else decoded.
        """
        date = _date(response.started_at)
        digest = hashlib.sha1(response.body, usedforsecurity=False).digest()
        shown = "sha1:" + base64.b32encode(digest).decode("ascii")
        record = self._answer(request, response, shown, digest, date, coded=coded)
        number = record.rec_headers.get_header("WARC-Record-ID")
        asked = _RECORDS.create_warc_record(
            request.url, "request", http_headers=Head(_target(request), sent, is_http_request=True),
            warc_headers_dict={"WARC-Date": date, "WARC-Concurrent-To": number},
        )  # fmt: skip
        about = {"fetchTimeMs": round(response.seconds * 1000), **({"via": request.via} if request.via else {})}
        text = "".join(f"{name}: {value}\r\n" for name, value in about.items()).encode()
        timed = {"WARC-Date": date, "WARC-Concurrent-To": number}
        metadata = _RECORDS.create_warc_record(
            request.url, "metadata", payload=BytesIO(text), length=len(text),
            warc_content_type="application/warc-fields", warc_headers_dict=timed,
        )  # fmt: skip
        offset, length = self._write(record, asked, metadata)
        is_revisit = record.rec_type == "revisit"
        mime = "warc/revisit" if is_revisit else media_type(response.header("content-type")) or "unk"
        timestamp = datetime.fromtimestamp(response.started_at, UTC).strftime("%Y%m%d%H%M%S")
        name = self._path.name.removesuffix(OPEN)
        captured = cdxj.Captured(request.url, timestamp, mime, response.status, shown, length, offset, name)
        self._index_line(cdxj.line(captured))
        if not is_revisit and response.body and response.fault is None:
            self._bodies[digest] = Kept(request.url, date)
            if len(self._bodies) > BODIES_REMEMBERED:
                self._bodies.popitem(last=False)

    def close(self) -> None:
        """End the file that is being written."""
        if self._file is None or self._index is None:
            return
        self._file.close()
        self._index.close()
        self._file = self._index = None
        end(self._path)

    def _answer(
        self, request: Request, response: Response, shown: str, digest: bytes, date: str, *, coded: bool
    ) -> ArcWarcRecord:
        """Return the response record, or a revisit record where the server or the body says that nothing is new."""
        hidden = _CODED if coded else _DECODED
        pairs = [
            (f"X-Archive-Orig-{name}" if name.lower() in hidden else name, value) for name, value in response.headers
        ]
        version = response.http_version if response.http_version in {"1.0", "1.1"} else "1.1"
        headers = Head(f"{response.status} {response.reason}", pairs, protocol=f"HTTP/{version}")
        about = {"WARC-Date": date}
        if response.address:
            about["WARC-IP-Address"] = response.address
        if response.http_version in _PROTOCOLS:
            about["WARC-Protocol"] = _PROTOCOLS[response.http_version]
        if response.cut:
            about["WARC-Truncated"] = "unspecified"
        elif response.fault is not None:
            about["WARC-Truncated"] = _TRUNCATED.get(response.fault, "disconnect")
        if response.status == 304:
            about |= {"WARC-Profile": _NOT_MODIFIED, "WARC-Refers-To-Target-URI": request.url}
            return _RECORDS.create_warc_record(request.url, "revisit", http_headers=headers, warc_headers_dict=about)
        if response.body and "WARC-Truncated" not in about and (kept := self._kept(request.url, digest, shown)):
            return _RECORDS.create_revisit_record(
                request.url, shown, kept.url, kept.date, http_headers=headers, warc_headers_dict=about
            )
        about["WARC-Payload-Digest"] = shown
        return _RECORDS.create_warc_record(
            request.url, "response", payload=BytesIO(response.body), length=len(response.body), http_headers=headers,
            warc_headers_dict=about,
        )  # fmt: skip

    def _kept(self, url: str, digest: bytes, shown: str) -> Kept | None:
        """Return where a body was kept first, if it was."""
        kept = self._bodies.get(digest)
        if kept is not None:
            self._bodies.move_to_end(digest)
        elif self._before is not None:
            kept = self._before(url, shown)
        return kept

    def _write(self, *records: ArcWarcRecord) -> tuple[int, int]:
        """Write records one behind the other, all or none; return where the first lies and its length."""
        pieces = [_packed(record) for record in records]
        file = self._opened()
        offset = file.tell()
        try:
            _put(file, b"".join(pieces))
        except OSError as error:
            os.ftruncate(file.fileno(), offset)  # what of the record came to the disk before it was full
            raise self._left(error) from None
        return offset, len(pieces[0])

    def _index_line(self, text: str) -> None:
        try:
            if self._index is not None:
                _put(self._index, text.encode())
        except OSError as error:
            raise self._left(error) from None

    def _left(self, error: OSError) -> ArchiveFull:
        """Leave the files as they are, for a resume to bring in order, and return what is to be raised."""
        for file in (self._file, self._index):
            if file is not None:
                file.close()
        self._file = self._index = None
        return full(self._path, error)

    def _opened(self) -> FileIO:
        if self._file is not None and self._file.tell() < self._file_bytes:
            return self._file
        self.close()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            while True:  # other processes of the run write into this folder too
                self._serial += 1
                self._path = self._folder / f"{self._name}-{self._serial:05}.warc.gz{OPEN}"
                if self._path.with_name(self._path.name.removesuffix(OPEN)).exists():
                    continue
                try:
                    self._file = self._path.open("xb", buffering=0)
                    break
                except FileExistsError:
                    continue
            self._index = _index_of(self._path).open("wb", buffering=0)
            name = self._path.name.removesuffix(OPEN)
            _put(self._file, _packed(_RECORDS.create_warcinfo_record(name, self._info)))
        except OSError as error:
            raise self._left(error) from None
        return self._file


def end(path: Path) -> None:
    """Give a file that was being written its name, and sort its index beside it. Raises ArchiveFull."""
    index = _index_of(path)
    whole = path.with_name(path.name.removesuffix(OPEN))
    try:
        cdxj.sort(index, whole.with_name(f"{whole.name.removesuffix('.warc.gz')}.cdxj"))
        path.replace(whole)
        index.unlink()
    except OSError as error:
        raise full(path, error) from None


def _index_of(path: Path) -> Path:
    """Return where the lines of a file that is being written stand, in the order of its records."""
    return path.with_name(f"{path.name.removesuffix(OPEN)}.lines{OPEN}")


def _packed(record: ArcWarcRecord) -> bytes:
    """Return a record as one member of a gzip file."""
    out = BytesIO()
    WARCWriter(out, gzip=False, warc_version="1.1").write_record(record)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)
    return packer.compress(out.getbuffer()) + packer.flush()


def _target(request: Request) -> str:
    _, _, rest = request.url.partition("//")
    path = rest[rest.find("/") :] if "/" in rest else "/"
    return f"{request.method} {path} HTTP/1.1"


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _put(file: FileIO, data: bytes) -> None:
    """Write all of it; a file that held some back would fail again when it is closed."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def full(path: Path, error: OSError) -> ArchiveFull:
    """Return what is to be raised where the disk does not take a file."""
    return ArchiveFull(
        f'archive "{path}": it cannot be written ({error.strerror or error}): free some space and go on with --resume; '
        "what was written before is whole"
    )
