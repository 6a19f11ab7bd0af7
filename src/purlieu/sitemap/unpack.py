"""From a sitemap's bytes to its text: gzip, then the encoding, piece by piece.

Knows magic numbers, byte order marks and declarations, and stops at the limit. Must not know what the text means.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator

from purlieu.sentence import Sentence
from purlieu.sitemap.entry import Notes

LIMIT_BYTES = 52_428_800  # SM-20, SM-22, R-8.3: decoded
PIECE = 65_536  # bytes handled at a time
_LAYERS = 2  # gzip inside gzip; servers that compress .gz files make it
_MEMBERS = 1_000  # gzip members in one file, so that many empty ones cost nothing
_GZIP = b"\x1f\x8b"

_BY_MARK = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_DECLARED = re.compile(rb"\s*<\?xml[^>]{0,500}?\sencoding\s?=\s?[\"']([A-Za-z0-9._:-]{1,40})[\"']")
# Codecs that a declaration may name, and what browsers take in their place. Python's others are not all encodings.
_CODECS = {
    "utf-8": "utf-8", "ascii": "utf-8",
    "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030",
    "shift_jis": "cp932", "cp932": "cp932", "euc_jp": "euc_jp", "iso2022_jp": "iso2022_jp",
    "euc_kr": "cp949", "cp949": "cp949", "big5": "big5hkscs", "big5hkscs": "big5hkscs",
    "koi8-r": "koi8-r", "koi8-u": "koi8-u",
}  # fmt: skip
_SINGLE_BYTE = re.compile(r"iso8859-\d{1,2}|cp125\d|mac-\w+")


def texts(chunks: Iterable[bytes], notes: Notes, limit_bytes: int) -> Iterator[str]:
    """Yield the text of a file in pieces, unpacked, decoded and cut at the limit, without byte order mark."""
    yield from _decoded(_unpacked(_even(chunks), notes, limit_bytes), notes)


def _even(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of one size, so that neither tiny nor huge chunks cost more."""
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        view = memoryview(chunk)
        while size + len(view) >= PIECE:
            head, view = view[: PIECE - size], view[PIECE - size :]
            yield b"".join((*waiting, head))
            waiting, size = [], 0
        if view:
            waiting.append(bytes(view))
            size += len(view)
    if waiting:
        yield b"".join(waiting)


def _unpacked(chunks: Iterator[bytes], notes: Notes, limit: int) -> Iterator[bytes]:
    for _ in range(_LAYERS):
        first = next(chunks, b"")
        if not first.startswith(_GZIP):
            break
        chunks = _even(_limited(_gunzipped(_after(first, chunks), notes), notes, limit))
    else:
        first = next(chunks, b"")
        if first.startswith(_GZIP):
            notes.add("gzip", Sentence("it is packed more than twice"))
            return
    yield from _limited(_after(first, chunks), notes, limit)


def _after(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from chunks


def _limited(chunks: Iterator[bytes], notes: Notes, limit: int) -> Iterator[bytes]:
    left = limit
    for chunk in chunks:
        yield chunk[:left]
        left -= len(chunk)
        if left < 0:
            notes.add("too-large", f"{limit:,}")
            return


def _gunzipped(chunks: Iterator[bytes], notes: Notes) -> Iterator[bytes]:
    """Yield what every member of a gzip file holds, however many there are, in pieces of bounded size."""
    unpack, members, fresh = zlib.decompressobj(31), 1, True
    for packed in chunks:
        chunk = packed
        while chunk:
            if unpack.eof:
                if not chunk.startswith(_GZIP) or members >= _MEMBERS:
                    notes.add("gzip", Sentence("something else follows their end"))
                    return
                unpack, members, fresh = zlib.decompressobj(31), members + 1, True
            before = unpack.copy()
            try:
                yield unpack.decompress(chunk, PIECE)
            except zlib.error:
                yield _saved(before, chunk)
                notes.add("gzip", Sentence("they break off at something unreadable"))
                return
            fresh = False
            chunk = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
    if not unpack.eof and not fresh:
        yield unpack.flush(PIECE)
        if not unpack.eof:
            notes.add("gzip", Sentence("the end is missing"))


def _saved(unpack: zlib._Decompress, chunk: bytes) -> bytes:
    """Return what comes before the damage in a chunk, found byte by byte: less than PIECE, which one call gives."""
    found = []
    try:
        for at in range(len(chunk)):
            found.append(unpack.decompress(chunk[at : at + 1], PIECE))
            found.append(unpack.decompress(unpack.unconsumed_tail, PIECE))
    except zlib.error:
        pass
    return b"".join(found)


def _decoded(chunks: Iterator[bytes], notes: Notes) -> Iterator[str]:
    first = next(chunks, b"")
    mark, encoding = _encoding(first, notes)
    if encoding != "utf-8":
        notes.add("encoding", encoding)
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    genuine = "\ufffd".encode(encoding, "ignore")
    told = False
    for chunk in _after(first[mark:], chunks):
        notes.size_bytes += len(chunk)
        text = decoder.decode(chunk)
        if not told and "\ufffd" in text and not (genuine and genuine in chunk):
            notes.add("bytes", encoding)
            told = True
        yield text
    yield decoder.decode(b"", final=True)


def _encoding(start: bytes, notes: Notes) -> tuple[int, str]:
    """Return the length of the byte order mark and the codec: by mark, by declaration, else UTF-8 (SM-2)."""
    for mark, encoding in _BY_MARK:
        if start.startswith(mark):
            return (0 if b"<" in mark else len(mark)), encoding
    declared = _DECLARED.match(start)
    if declared is None:
        return 0, "utf-8"
    label = declared[1].decode("ascii")
    try:
        name = codecs.lookup(label).name
    except LookupError:
        name = ""
    encoding = _CODECS.get(name) or (name if _SINGLE_BYTE.fullmatch(name) else "")
    if not encoding:
        # What declares itself UTF-16 in single bytes is not.
        notes.add("encoding", label)
    return 0, encoding or "utf-8"
