"""The ledger of one run laid out for looking at it: a file of its own beside the store, with indexes no crawl pays for.

Made from the store, which is only read, whole or not at all; lost without harm. Knows no web page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from purlieu.difference import section_of
from purlieu.store.database import Row, statements
from purlieu.store.reader import RunRow
from purlieu.store.sqlite.fault import told
from purlieu.value import dataclass

SMALL: Final = 20_000
"""So many rows are sorted when asked for; more are read in the order of an index."""
_MADE: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
_MOST_TRIGRAMS: Final = 60
_SORTS: Final = {"url": "id", "status": "status", "bytes": "bytes", "seconds": "seconds"}
SORTS: Final = tuple(_SORTS)
"""What a table can be sorted by; "url" is by host first."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are asked for and in which order; an empty text, or status 0, is no condition.

    ``text`` stands somewhere in the address or title, in whatever case. ``after`` is a row's (value, id), behind which
    the page begins; None for the first page.
    """

    kind: str = ""
    reason: str = ""
    section: str = ""
    status: int = 0
    purpose: str = ""
    text: str = ""
    sort: str = "url"
    is_descending: bool = False
    after: tuple[float, int] | None = None


class ShelfRow(NamedTuple):
    """One row of the ledger as a table shows it; ``status`` 0, ``bytes`` and ``seconds`` -1 where nothing answered."""

    id: int
    href: str
    purpose: str
    kind: str
    reason: str
    status: int
    title: str
    content_type: str
    depth: int
    bytes: int
    seconds: float


class Shelf:
    """The rows of one run. ``open`` makes it; whoever opened it closes it."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Hold an open connection."""
        self._path = path
        self._connection = connection
        self._sql = statements()

    @classmethod
    def open(cls, store: str, run: RunRow, folder: Path) -> Shelf:
        """Open the shelf of a run, made first where it is not there: 40 s for a million rows. Raises StoreError.

        One of a run under way holds what had ended when it was made; ``make`` makes it anew.
        """
        path = path_of(folder, run)
        if not path.is_file():
            make(store, run, folder)
        try:
            connection = apsw.Connection(
                f"{path.resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
        except apsw.Error as error:
            raise told(str(path), error) from None
        return cls(path, connection)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def counts(self) -> dict[tuple[str, str, str], int]:
        """Return how many rows ended how: (purpose, kind, reason) to number."""
        return {(row[0], row[1], row[2]): row[3] for row in self._rows(self._sql["shelf_counts"])}

    def statuses(self) -> list[tuple[int, int]]:
        """Return the statuses that there are with their numbers, by status."""
        return [(row[0], row[1]) for row in self._rows(self._sql["shelf_statuses"])]

    def sections(self, most: int) -> dict[str, dict[str, int]]:
        """Return the largest sections with their pages by kind, by name."""
        found: dict[str, dict[str, int]] = {}
        for section, kind, number in self._rows(self._sql["shelf_sections"], most):
            found.setdefault(section, {})[kind] = number
        return found

    def rows(self, wanted: Wanted, most: int) -> list[ShelfRow]:
        """Return one page of the table, at most so many rows."""
        column = _SORTS[wanted.sort]
        way, sign = ("DESC", "<") if wanted.is_descending else ("ASC", ">")
        after = f"({column}, id) {sign} (?7, ?8)" if wanted.after else "?7 = ?8"
        sql = self._sql["shelf_rows"].replace(":by", self._by(wanted, column)).replace(":after", after)
        sql = sql.replace(":order", f"{column} {way}" if column == "id" else f"{column} {way}, id {way}")
        conditions = (wanted.kind, wanted.reason, wanted.section, wanted.status, wanted.purpose, wanted.text.lower())
        values = (*conditions, *(wanted.after or (0, 0)), most)
        if "?10" in sql:
            values = (*values, _trigrams(wanted.text))
        return [ShelfRow._make(row) for row in self._rows(sql, *values)]

    def _by(self, wanted: Wanted, column: str) -> str:
        """Return the index to read by: of the narrowest condition where few rows meet it, else that of the order."""
        numbers: dict[str, int] = {}
        if wanted.kind:
            numbers["kind = ?1 AND (?2 = '' OR reason = ?2)"] = sum(
                number
                for (_, kind, reason), number in self.counts().items()
                if kind == wanted.kind and wanted.reason in {"", reason}
            )
        if wanted.section:
            numbers["section = ?3"] = next(self._rows(self._sql["shelf_section_count"], wanted.section))[0]
        if wanted.status:
            numbers["status = ?4"] = dict(self.statuses()).get(wanted.status, 0)
        if trigrams := _trigrams(wanted.text):
            number = next(self._rows(self._sql["shelf_text_count"], trigrams, SMALL + 1))[0]
            numbers["id IN (SELECT rowid FROM words WHERE words MATCH ?10)"] = number
        narrowest = min(numbers, key=lambda one: numbers[one], default="")
        if narrowest and numbers[narrowest] <= SMALL:
            return self._sql["shelf_narrowed"].replace(":narrowest", narrowest)
        return "NOT INDEXED" if column == "id" else f"INDEXED BY row_{column}"

    def _rows(self, sql: str, *values: str | float) -> Iterator[Row]:
        try:
            yield from self._connection.execute(sql, values)
        except apsw.Error as error:
            raise told(str(self._path), error) from None


def _trigrams(text: str) -> str:
    """Return the question for rows that have every three characters in a row of a text; "" for a shorter one."""
    parts = dict.fromkeys(text[at : at + 3].lower() for at in range(min(len(text), _MOST_TRIGRAMS) - 2))
    return " AND ".join('"{}"'.format(part.replace('"', '""')) for part in parts if "\0" not in part)


def _section(*values: apsw.SQLiteValue) -> str:
    return section_of(str(values[0]))


def path_of(folder: Path, run: RunRow) -> Path:
    """Return the file of a run's shelf. Its name changes with a resume, and with a store that was made anew."""
    ended = "live" if run.state == "running" else f"{int((run.ended_at or 0) * 1000):x}"
    return folder / f"{run.id}-{int(run.started_at * 1000):x}-{ended}.shelf"


def make(store: str, run: RunRow, folder: Path) -> None:
    """Make the shelf of a run. Raises StoreError."""
    path = path_of(folder, run)
    made = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}.part")
    sql = statements()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(made), flags=_MADE)
        try:
            connection.create_scalar_function("section_of", _section, 1, deterministic=True)
            connection.execute(
                sql["shelf_begin"]
            ).fetchall()  # before the store is attached, whose journal is not ours to set
            connection.execute(sql["sqlite_attach"], (f"{Path(store).resolve().as_uri()}?mode=ro",))
            connection.execute(sql["sqlite_begin"])
            connection.execute(sql["shelf_fill"], (run.id,))
            connection.execute(sql["shelf_end"])
            connection.execute(sql["sqlite_commit"])
        finally:
            connection.close()
        made.replace(path)
    except apsw.Error as error:
        raise told(str(made), error) from None
    finally:
        with suppress(OSError):
            made.unlink()
