"""The URLs that two runs differ in, laid out for looking at them: a file of its own, read in pages by key.

Keeps texts under classes, in the order in which they came. Knows neither what they say nor any web page.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import apsw

from purlieu.store.database import Row, statements
from purlieu.store.reader import RunRow
from purlieu.store.sqlite.fault import told


def path_of(folder: Path, before: RunRow, after: RunRow) -> Path:
    """Return the file of two runs. Its name changes with a resume of either."""
    return folder / f"{stem_of(before)}-{stem_of(after)}.pairs"


def stem_of(run: RunRow) -> str:
    """Return the part of a file's name that stands for a run."""
    return f"{run.id}-{int(run.started_at * 1000):x}-{int((run.ended_at or 0) * 1000):x}"


def make(path: Path, pairs: Iterator[tuple[str, str]], tally: Callable[[], str]) -> None:
    """Write pairs, each a class and a text, and what ``tally`` gives at their end; whole or not at all.

    Raises StoreError.
    """
    made = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}.part")
    sql = statements()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(made))
        try:
            connection.execute(sql["contrast_begin"]).fetchall()
            connection.execute(sql["sqlite_begin"])
            connection.executemany(sql["contrast_add"], pairs)
            connection.execute(sql["contrast_count"], (tally(),))
            connection.execute(sql["contrast_end"])
            connection.execute(sql["sqlite_commit"])
        finally:
            connection.close()
        made.replace(path)
    except apsw.Error as error:
        raise told(str(made), error) from None
    finally:
        with suppress(OSError):
            made.unlink()


def tally_of(path: Path) -> str:
    """Return what was tallied. Raises StoreError."""
    return str(_rows(path, "contrast_tally")[0][0])


def page(path: Path, name: str, place: int, most: int, *, is_before: bool = False) -> list[tuple[int, str]]:
    """Return at most so many texts of a class behind a place, or before it, each with its own place, in order."""
    rows = _rows(path, "contrast_page_before" if is_before else "contrast_page", name, place, most)
    return [(row[0], row[1]) for row in (reversed(rows) if is_before else rows)]


def _rows(path: Path, name: str, *values: str | int) -> list[Row]:
    try:
        connection = apsw.Connection(
            f"{path.resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        try:
            return list(connection.execute(statements()[name], values))
        finally:
            connection.close()
    except apsw.Error as error:
        raise told(str(path), error) from None
