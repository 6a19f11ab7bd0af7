"""What a killed process left of its WARC files: cut behind the last whole record, indexed and given their names.

Knows members of gzip files and the records in them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from purlieu.archive import cdxj
from purlieu.archive.warc import OPEN, end
from purlieu.response import media_type

_PIECE: Final = 1 << 14  # what follows a member is copied for each: small pieces keep that linear


def salvage(folder: Path) -> list[Path]:
    """Bring every half written file of a folder in order, and return them; nobody may be writing there."""
    found = []
    for path in sorted(folder.glob(f"*.warc.gz{OPEN}")):
        whole = _whole_bytes(path)
        if not whole:
            path.unlink()
            path.with_name(f"{path.name.removesuffix(OPEN)}.lines{OPEN}").unlink(missing_ok=True)
            continue
        with path.open("r+b") as file:
            file.truncate(whole)
        name = path.name.removesuffix(OPEN)
        path.with_name(f"{name}.lines{OPEN}").write_text("".join(map(cdxj.line, index(path, name))), encoding="utf-8")
        end(path)
        found.append(path.with_name(name))
    for lines in folder.glob(f"*.lines{OPEN}"):  # of a file that had its name when the process was killed
        lines.unlink()
    return found


def _whole_bytes(path: Path) -> int:
    """Return where the last whole member of a gzip file ends."""
    whole = read = 0
    with path.open("rb") as file:
        member = zlib.decompressobj(31)
        left = b""
        while piece := left or file.read(_PIECE):
            read += 0 if left else len(piece)
            try:
                member.decompress(piece)
            except zlib.error:
                break
            left = member.unused_data if member.eof else b""
            if member.eof:
                whole = read - len(left)
                member = zlib.decompressobj(31)
    return whole


def index(path: Path, name: str) -> Iterator[cdxj.Captured]:
    """Yield what the index of a WARC or ARC file says, in the order of its records, up to where it cannot be read.

    ``name`` is the file's name as the index gives it.
    """
    with path.open("rb") as file:
        records = ArchiveIterator(file, arc2warc=True)
        try:
            for record in records:
                if record.rec_type in {"response", "revisit"}:
                    told = _told(record)
                    yield cdxj.Captured(*told, records.get_record_length(), records.get_record_offset(), name)
        except (ArchiveLoadFailed, EOFError, zlib.error):
            return


def _told(record: Any) -> tuple[str, str, str, int, str]:
    """Return url, timestamp, mime, status and digest of a record."""
    said = record.rec_headers.get_header
    headers = record.http_headers
    mime = media_type(headers.get_header("Content-Type")) if headers else ""
    code = headers.get_statuscode() if headers else ""
    return (
        said("WARC-Target-URI") or "",
        "".join(letter for letter in said("WARC-Date") or "" if letter.isdigit())[:14],
        "warc/revisit" if record.rec_type == "revisit" else mime or "unk",
        int(code) if code.isdecimal() else 0,
        said("WARC-Payload-Digest") or "",
    )
