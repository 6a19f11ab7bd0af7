"""Saves what can be read of a damaged store into a new one, row by row.

The original is read only, and never written. Tables are found by the schema in the file where it
can be read, else, page by page, by the shape of their rows. What is saved is then mended
(``mending.py``); what was not is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Final

import apsw

from purlieu.errors import StoreError
from purlieu.store.database import SCHEMA_VERSION, migration, schema, statements
from purlieu.store.mending import MendedRun, mend
from purlieu.store.sqlite import SqliteDatabase
from purlieu.store.sqlite.fault import told
from purlieu.store.sqlite.pages import Cell, PageFile, Record
from purlieu.store.sqlite.upgrade import OLDEST
from purlieu.value import dataclass

_BATCH: Final = 1000
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "INTEGER": (int,),
    "REAL": (int, float),
    "TEXT": (str,),
    "BLOB": (bytes,),
}


@dataclass(frozen=True, slots=True)
class SavedTable:
    """One table: the rows that were saved, and those that could be read but break a rule of the schema."""

    name: str
    saved: int
    refused: int


@dataclass(frozen=True, slots=True)
class Saved:
    """What a repair gave.

    ``damaged_pages`` of ``pages`` made no sense; ``strays`` rows belonged to no table for certain.
    """

    path: Path
    tables: tuple[SavedTable, ...]
    runs: tuple[MendedRun, ...]
    pages: int
    damaged_pages: int
    strays: int


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    types: tuple[type, ...]
    is_needed: bool
    is_rowid: bool


@dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: tuple[_Column, ...]
    has_rowid: bool
    least: int

    def fits(self, record: Record) -> bool:
        """Return whether a record can be a row of this table."""
        if (record.rowid is not None) != self.has_rowid or not self.least <= len(record.values) <= len(self.columns):
            return False
        return all(
            column.is_rowid if value is None and column.is_needed else value is None or type(value) in column.types
            for column, value in zip(self.columns, record.values, strict=False)
        )

    def row(self, record: Record) -> tuple[Cell, ...]:
        """Return a record's values with the rowid in its place."""
        pairs = zip(self.columns, record.values, strict=False)
        return tuple(record.rowid if column.is_rowid else value for column, value in pairs)


def save(path: str, target: str, now: float) -> Saved:
    """Save what can be read of the store at ``path`` into a new store at ``target``; which must not exist.

    Raises StoreError when nothing can be read, or ``target`` exists or cannot be written.
    """
    if Path(target).exists():
        message = f'store "{target}": it is there already; name another file with --output'
        raise StoreError(message)
    source = PageFile(Path(path))
    try:
        source.open()
    except OSError as error:
        message = f'store "{path}": it cannot be read ({error.strerror}); check the disk and the rights of the file'
        raise StoreError(message) from None
    part = Path(f"{target}.part")
    _clear(part)
    try:
        saved = _save(source, part, now)
        part.rename(target)
    finally:
        source.close()
        _clear(part)
    return Saved(Path(target), *saved)


def _clear(part: Path) -> None:
    for end in ("", "-wal", "-shm", ".lock"):
        Path(f"{part}{end}").unlink(missing_ok=True)


def _save(
    source: PageFile, part: Path, now: float
) -> tuple[tuple[SavedTable, ...], tuple[MendedRun, ...], int, int, int]:
    into = apsw.Connection(":memory:")
    into.execute(schema())
    today = _tables(into)
    into.close()
    SqliteDatabase.writer(str(part)).close()
    try:
        filling = _Filling(part, today)
        try:
            filling.from_roots(source)
            filling.from_strays(source)
        finally:
            filling.connection.close()
    except apsw.Error as error:
        raise told(str(part), error) from None
    if not filling.saved.total():
        message = f'store "{source.path}": nothing of a store can be read in it; restore a copy, or name another file'
        raise StoreError(message)
    database = SqliteDatabase.writer(str(part))
    try:
        runs = tuple(mend(database, now))
    finally:
        database.close()
    tables = tuple(SavedTable(name, filling.saved[name], filling.refused[name]) for name in today)
    return tables, runs, source.pages, len(source.damaged), filling.strays


def survey(path: str) -> tuple[dict[str, int], int, int]:
    """Return the rows that can be read of each table, the damaged pages and all pages; writes nothing."""
    source = PageFile(Path(path))
    rows: Counter[str] = Counter()
    try:
        source.open()
        for record in source.roots():
            if len(record.values) == 5 and record.values[0] == "table" and isinstance(record.values[3], int):
                rows[str(record.values[1])] = sum(1 for _ in source.walk(record.values[3]))
        return {name: count for name, count in rows.items() if count}, len(source.damaged), source.pages
    except OSError:
        return {}, 0, 0
    finally:
        source.close()


class _Filling:
    """A new store that is being filled."""

    def __init__(self, part: Path, today: dict[str, _Table]) -> None:
        self.connection = apsw.Connection(str(part))
        self.saved: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.strays = 0
        self._today = today

    def from_roots(self, source: PageFile) -> None:
        """Take in every table that the file's schema leads to; indexes are walked too, lest they pass for strays."""
        found = [row.values for row in source.roots() if len(row.values) == 5]
        theirs = _of_texts(str(text) for kind, name, _, _, text in found if kind == "table")
        for kind, name, _, root, _ in found:
            if not isinstance(root, int) or root < 2:
                continue
            if kind == "table" and name in theirs and name in self._today:
                self._put(theirs[str(name)], source.walk(root))
            else:
                for _ in source.walk(root):
                    pass

    def from_strays(self, source: PageFile) -> None:
        """Take in pages that nothing leads to any more, where their rows can be those of one table alone."""
        for page in source.unreached():
            records = list(page)
            if not records:
                continue
            able = [table for table in self._today.values() if all(map(table.fits, records))]
            if len(able) > 1:  # a row as wide as its table is likelier than one from before a column was added
                able = [table for table in able if len(table.columns) == len(records[0].values)] or able
            if {table.name for table in able} == {"config", "meta"}:  # the same shape, but for what the key looks like
                is_config = all(re.fullmatch("[0-9a-f]{32}", str(record.values[0])) for record in records)
                able = [self._today["config" if is_config else "meta"]]
            if len(able) == 1:
                self._put(able[0], records)
            elif able or records[0].rowid is not None:
                self.strays += len(records)

    def _put(self, table: _Table, records: Iterable[Record]) -> None:
        known = {column.name for column in self._today[table.name].columns}
        by_width: dict[int, list[Record]] = {}
        batches = iter(records)
        while batch := list(islice(batches, _BATCH)):
            for record in batch:
                by_width.setdefault(len(record.values), []).append(record)
            for width, alike in by_width.items():
                self._put_alike(table, width, alike, known)
            by_width.clear()

    def _put_alike(self, table: _Table, width: int, records: list[Record], known: set[str]) -> None:
        fitting = [table.row(record) for record in records if table.fits(record)]
        places = [place for place, column in enumerate(table.columns[:width]) if column.name in known]
        names = [f'"{table.columns[place].name}"' for place in places]
        text = statements()["salvage_put"].replace(":table", f'"{table.name}"')
        text = text.replace(":columns", ", ".join(names)).replace(":values", ", ".join("?" * len(names)))
        before = self.connection.total_changes()
        with self.connection:
            self.connection.executemany(text, ([row[place] for place in places] for row in fitting))
        put = self.connection.total_changes() - before
        self.saved[table.name] += put
        self.refused[table.name] += len(records) - put


def _of_texts(texts: Iterator[str]) -> dict[str, _Table]:
    """Return the tables that statements make, those that can still be made."""
    connection = apsw.Connection(":memory:")
    for text in texts:
        with suppress(apsw.Error):
            connection.execute(text)
    return _tables(connection)


def _tables(connection: apsw.Connection) -> dict[str, _Table]:
    sql = statements()
    steps = "".join(migration(version) for version in range(OLDEST + 1, SCHEMA_VERSION + 1))
    added = Counter(re.findall(r"^ALTER TABLE (\w+) ADD COLUMN", steps, re.MULTILINE))
    found = {}
    for name, _ in list(connection.execute(sql["salvage_tables"])):
        ((has_rowid,),) = connection.execute(sql["salvage_has_rowid"], (name,))
        rows = list(connection.execute(sql["salvage_columns"], (name,)))
        columns = tuple(
            _Column(column, _TYPES.get(kind, tuple(chain(*_TYPES.values()))), bool(needed),
                    bool(has_rowid and pk and kind == "INTEGER"))
            for column, kind, needed, pk in rows
        )  # fmt: skip
        # A row written before a column was added is shorter; no other may be, lest an index pass for a table.
        found[name] = _Table(name, columns, bool(has_rowid), len(columns) - added[name])
    return found
