"""The rows of a damaged SQLite file, read page by page where the database itself refuses.

Knows the file format (sqlite.org/fileformat2.html): the log's committed frames over the file's
pages, b-trees, overflow chains, records. Never trusts a number it reads: what makes no sense is
a damaged page, counted and stepped over. Knows no table of ours and no driver.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from purlieu.value import dataclass, field

Cell = None | int | float | str | bytes
USUAL_PAGE_BYTES: Final = 4096
"""What our stores have; taken where the header does not say."""
_INNER_INDEX, _INNER_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13
_INNER: Final = (_INNER_INDEX, _INNER_TABLE)
_KINDS: Final = (*_INNER, _LEAF_INDEX, _LEAF_TABLE)
_MAGIC: Final = b"SQLite format 3\x00"
_FRAME_HEADER, _LOG_HEADER = 24, 32
_MOST_COLUMNS: Final = 200


class Record(NamedTuple):
    """One row as stored: its rowid (None in a table or index without), and its values in stored order."""

    rowid: int | None
    values: tuple[Cell, ...]


class _DamagedError(Exception):
    """A page or cell that makes no sense."""


@dataclass(slots=True)
class PageFile:
    """A database file and its log, open for reading pages. ``damaged`` are the pages that made no sense so far."""

    path: Path
    page_bytes: int = USUAL_PAGE_BYTES
    pages: int = 0
    reserved: int = 0
    header_is_sound: bool = False
    log_frames: int = 0
    damaged: set[int] = field(default_factory=set)
    visited: set[int] = field(default_factory=set)
    _file: int = -1
    _log: int = -1
    _frames: dict[int, int] = field(default_factory=dict)

    def open(self) -> None:
        """Open the file and find the log's pages. Raises OSError."""
        self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        with suppress(OSError):
            self._log = os.open(f"{self.path}-wal", os.O_RDONLY | os.O_CLOEXEC)
        self._read_log()
        self.pages = max(os.fstat(self._file).st_size // self.page_bytes, self.pages)
        header = self._header()
        if header is None:  # the page size may stand in the header alone
            self._header_from_file()
        else:
            self.header_is_sound = True
            self.reserved = header[20]

    def close(self) -> None:
        """Close what is open."""
        for one in (self._file, self._log):
            if one >= 0:
                os.close(one)
        self._file = self._log = -1

    def roots(self) -> list[Record]:
        """Return the rows of the schema table, as far as they can be read."""
        return list(self.walk(1)) if self.header_is_sound else []

    def walk(self, root: int) -> Iterator[Record]:
        """Yield the rows of the b-tree below a page, in no certain order; what is damaged is left out."""
        waiting = [root]
        while waiting:
            number = waiting.pop()
            if number in self.visited or not 1 <= number <= self.pages:
                continue
            self.visited.add(number)
            yield from self._page(number, waiting)

    def unreached(self) -> Iterator[Iterator[Record]]:
        """Yield the rows of each page that no ``walk`` came to and that is not known to be free."""
        free = self._free()
        for number in range(2, self.pages + 1):
            if number not in self.visited and number not in free:
                self.visited.add(number)
                yield self._page(number, [], strict=True)

    # -- pages -------------------------------------------------------------------------------------

    def _page(self, number: int, waiting: list[int], *, strict: bool = False) -> Iterator[Record]:
        """Yield the rows of one page and add its children to ``waiting``; ``strict``: it may be no b-tree page."""
        data = self._read(number)
        start = 100 if number == 1 else 0
        kind = data[start] if len(data) == self.page_bytes else 0
        if kind not in _KINDS:
            if not strict:
                self.damaged.add(number)
            return
        count = int.from_bytes(data[start + 3 : start + 5], "big")
        first = start + (12 if kind in _INNER else 8)
        if first + 2 * count > len(data):
            self.damaged.add(number)
            return
        for at in range(first, first + 2 * count, 2):
            try:
                row = self._cell(data, int.from_bytes(data[at : at + 2], "big"), kind, waiting)
            except (_DamagedError, IndexError, UnicodeDecodeError):
                self.damaged.add(number)
            else:
                if row is not None:
                    yield row
        if kind in _INNER:
            waiting.append(int.from_bytes(data[start + 8 : start + 12], "big"))

    def _cell(self, data: bytes, at: int, kind: int, waiting: list[int]) -> Record | None:
        if at < 8:
            raise _DamagedError
        if kind in _INNER:
            waiting.append(int.from_bytes(data[at : at + 4], "big"))
            at += 4
        if kind == _INNER_TABLE:
            return None
        size, at = _varint(data, at)
        rowid = None
        if kind == _LEAF_TABLE:
            rowid, at = _varint(data, at)
        return Record(rowid, _values(self._payload(data, at, size, is_table=kind == _LEAF_TABLE)))

    def _payload(self, data: bytes, at: int, size: int, *, is_table: bool) -> bytes:
        """Return a cell's bytes, with what overflows into other pages."""
        usable = self.page_bytes - self.reserved
        most = usable - 35 if is_table else (usable - 12) * 64 // 255 - 23
        if not 0 < size <= usable * self.pages:
            raise _DamagedError
        if size <= most:
            if at + size > len(data):
                raise _DamagedError
            return data[at : at + size]
        least = (usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (usable - 4)
        local = local if local <= most else least
        parts, left = [data[at : at + local]], size - local
        number = int.from_bytes(data[at + local : at + local + 4], "big")
        seen: set[int] = set()
        while left > 0:
            page = self._read(number)
            if number in seen or len(page) != self.page_bytes:
                raise _DamagedError
            seen.add(number)
            parts.append(page[4 : 4 + min(left, usable - 4)])
            left -= usable - 4
            number = int.from_bytes(page[:4], "big")
        self.visited |= seen
        return b"".join(parts)

    def _free(self) -> set[int]:
        """Return the pages of the list of free pages, as far as it makes sense."""
        free: set[int] = set()
        header = self._header()
        trunk = int.from_bytes(header[32:36], "big") if header else 0
        while 1 < trunk <= self.pages and trunk not in free:
            data = self._read(trunk)
            free.add(trunk)
            count = min(int.from_bytes(data[4:8], "big"), len(data) // 4 - 2)
            free.update(int.from_bytes(data[at : at + 4], "big") for at in range(8, 8 + 4 * count, 4))
            trunk = int.from_bytes(data[:4], "big")
        return free

    def _read(self, number: int) -> bytes:
        if number in self._frames:
            return os.pread(self._log, self.page_bytes, self._frames[number])
        return os.pread(self._file, self.page_bytes, (number - 1) * self.page_bytes) if number > 0 else b""

    # -- header and log ----------------------------------------------------------------------------

    def _header(self) -> bytes | None:
        header = self._read(1)[:100]
        return header if header.startswith(_MAGIC) and _page_bytes(header[16:18]) == self.page_bytes else None

    def _header_from_file(self) -> None:
        """Take the page size from the file's own header where the log had none."""
        header = os.pread(self._file, 100, 0)
        size = _page_bytes(header[16:18])
        if header.startswith(_MAGIC) and size and not self._frames:
            self.page_bytes, self.header_is_sound = size, True
            self.reserved = header[20]
            self.pages = os.fstat(self._file).st_size // size

    def _read_log(self) -> None:
        """Find the newest committed page of each number, before the first frame of the log that is not whole."""
        header = os.pread(self._log, _LOG_HEADER, 0) if self._log >= 0 else b""
        if len(header) < _LOG_HEADER or header[:4] not in {b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"}:
            return
        swap = (header[3] == 0x82) != (array("H", [1]).tobytes() == b"\x01\x00")
        total = _checksum(header[:24], (0, 0), swap=swap)
        size = int.from_bytes(header[8:12], "big")
        if _pair(header[24:32]) != total or size not in {2**power for power in range(9, 17)}:
            return
        at, found = _LOG_HEADER, dict[int, int]()
        while len(frame := os.pread(self._log, _FRAME_HEADER + size, at)) == _FRAME_HEADER + size:
            total = _checksum(frame[:8] + frame[24:], total, swap=swap)
            if frame[8:16] != header[16:24] or _pair(frame[16:24]) != total:
                break
            found[int.from_bytes(frame[:4], "big")] = at + _FRAME_HEADER
            at += _FRAME_HEADER + size
            self.log_frames += 1
            if after := int.from_bytes(frame[4:8], "big"):  # a commit: so many pages has the file now
                self._frames |= found
                found.clear()
                self.page_bytes, self.pages = size, after


def _page_bytes(field_: bytes) -> int:
    size = int.from_bytes(field_, "big")
    return 65536 if size == 1 else size if size in {2**power for power in range(9, 16)} else 0


def _pair(eight: bytes) -> tuple[int, int]:
    return int.from_bytes(eight[:4], "big"), int.from_bytes(eight[4:], "big")


def _checksum(data: bytes, before: tuple[int, int], *, swap: bool) -> tuple[int, int]:
    words = array("I", data)
    if swap:
        words.byteswap()
    one, two = before
    for at in range(0, len(words), 2):
        one = (one + words[at] + two) & 0xFFFFFFFF
        two = (two + words[at + 1] + one) & 0xFFFFFFFF
    return one, two


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number and where the next begins; nine bytes at most, signed."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    value = value << 8 | data[at + 8]
    return value - (1 << 64) if value >> 63 else value, at + 9


_SIZES: Final = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)


def _values(payload: bytes) -> tuple[Cell, ...]:
    """Return the values of a record."""
    end, at = _varint(payload, 0)
    if not at <= end <= len(payload):
        raise _DamagedError
    found: list[Cell] = []
    place = end
    while at < end:
        kind, at = _varint(payload, at)
        if kind in {10, 11} or kind < 0 or len(found) >= _MOST_COLUMNS:
            raise _DamagedError
        size = _SIZES[kind] if kind < 12 else (kind - 12) // 2
        raw = payload[place : place + size]
        if len(raw) != size:
            raise _DamagedError
        place += size
        found.append(_value(kind, raw))
    if place != len(payload):
        raise _DamagedError
    return tuple(found)


def _value(kind: int, raw: bytes) -> Cell:
    if kind == 0:
        return None
    if kind == 7:
        from struct import unpack

        return float(unpack(">d", raw)[0])
    if kind in {8, 9}:
        return kind - 8
    if kind < 7:
        return int.from_bytes(raw, "big", signed=True)
    return raw.decode("utf-8") if kind % 2 else raw
