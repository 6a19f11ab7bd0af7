"""Whether a store's file is whole, and its rows hold together: what ``purlieu store check`` tells.

Asks SQLite of the file, ``soundness.py`` of the rows, and the log of what a power cut left. Writes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from purlieu.errors import SchemaMismatch, StoreError
from purlieu.store.soundness import Unsound, faults
from purlieu.store.sqlite import SqliteDatabase, is_held
from purlieu.store.sqlite.pages import PageFile
from purlieu.store.sqlite.salvage import survey
from purlieu.value import dataclass

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found out of a store.

    ``unfinished`` are (run, crawl) that a resume takes up. ``log_bytes_unused`` at the end of the log belong to
    no commit, as a kill or a power cut leaves them; that is no fault. ``is_held``: a crawl works on it now.
    ``readable`` are the rows by table that a repair finds, told only of a damaged file.
    """

    faults: tuple[Unsound, ...]
    unfinished: tuple[tuple[int, str], ...]
    leases: int
    log_bytes_unused: int
    is_held: bool
    readable: dict[str, int]

    @property
    def is_sound(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.faults


def check(path: str, now: float) -> Checked:
    """Return what is wrong with a store, if anything.

    Raises SchemaMismatch for a store of another version, StoreError where there is no such file.
    """
    unused, is_cut = _ends(path)
    found = [_of_file("it ends in the middle of a page")] if is_cut else []
    unfinished: tuple[tuple[int, str], ...] = ()
    leases = 0
    try:
        database = SqliteDatabase.reader(path)
    except SchemaMismatch as error:
        if "holds nothing yet" not in str(error):
            raise
        found.append(_of_file(str(error)))
    except StoreError as error:
        if not Path(path).is_file():
            raise
        found.append(_of_file(str(error)))
    else:
        try:
            found += map(_of_file, _integrity(database))
            found += faults(database, now)
            unfinished = tuple((run, crawl) for run, crawl in database.rows("sound_unfinished"))
            leases = int((database.one("sound_leases") or (0,))[0])
        except StoreError as error:
            found.append(_of_file(str(error)))
        finally:
            database.close()
    is_damaged = any(one.code == "file" for one in found)
    readable = survey(path)[0] if is_damaged else {}
    return Checked(tuple(found), unfinished, leases, unused, is_held(path), readable)


def _integrity(database: SqliteDatabase) -> list[str]:
    rows = [str(row[0]) for row in database.rows("sqlite_integrity")]
    lines = [
        line for text in rows for line in text.split("\n") if line != "ok" and not line.startswith("*** in database")
    ]
    return lines[:_SHOWN] + ([f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])


def _of_file(text: str) -> Unsound:
    return Unsound("file", None, 1, text)


def _ends(path: str) -> tuple[int, bool]:
    """Return how much of the log is after its last whole frame, and whether the file itself was cut off."""
    try:
        source = PageFile(Path(path))
        source.open()
        size = Path(path).stat().st_size
        log = Path(f"{path}-wal")
        log_size = log.stat().st_size if log.is_file() else 0
    except OSError:
        return 0, False
    source.close()
    unused = log_size - 32 - source.log_frames * (24 + source.page_bytes) if log_size else 0
    return max(0, unused), bool(size % source.page_bytes) and not source.log_frames
