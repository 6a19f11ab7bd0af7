"""Where the archives of a crawl's earlier runs have a body, so that a run which revisits need not keep it again.

Knows how to look an address up in their indexes and to see that the record is still there. Writes nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from purlieu.archive import cdxj
from purlieu.archive.warc import Kept

_HEAD_BYTES: Final = 4_096
"""So much of a packed record holds what stands before its HTTP headers."""


class Earlier:
    """The archives of earlier runs, the newest first."""

    def __init__(self, indexes: Sequence[Path]) -> None:
        """Look into these indexes, each beside its files."""
        self._indexes = tuple(indexes)

    def __call__(self, url: str, digest: str) -> Kept | None:
        """Return when an address was kept with a body of this digest; None where no record of it is there any more."""
        for index in self._indexes:
            try:
                for found in cdxj.find(index, url):
                    is_same = found.digest == digest and found.url == url and found.mime != "warc/revisit"
                    if is_same and (date := _date(index.parent / found.filename, found.offset)):
                        return Kept(url, date)
            except (OSError, ValueError, KeyError, TypeError):  # removed meanwhile, or damaged: then it is kept again
                continue
        return None


def _date(path: Path, offset: int) -> str:
    """Return the date that a record in a file says of itself, "" where there is no such record."""
    with path.open("rb") as file:
        file.seek(offset)
        try:
            head = zlib.decompressobj(31).decompress(file.read(_HEAD_BYTES), 4 * _HEAD_BYTES)
        except zlib.error:
            return ""
    lines = head.partition(b"\r\n\r\n")[0].decode("utf-8", "replace").split("\r\n")
    said = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    return said.get("WARC-Date", "") if said.get("WARC-Type") == "response" else ""
