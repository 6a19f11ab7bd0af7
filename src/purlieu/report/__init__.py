"""Tell: books, ledger files and the MF3.0 result file.

``write`` makes a run's files from its store. What each holds is in the module of its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from purlieu.errors import Mistake, SettingsError, StoreError
from purlieu.report import crawl_result, ledger, text
from purlieu.report.pruning import refuse
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase

FILES: Final = {
    "crawl_result": crawl_result.ZIP_NAME,
    "csv": "ledger.csv",
    "jsonl": "ledger.jsonl",
    "parquet": "ledger.parquet",
    "csv-spreadsheet": "ledger-spreadsheet.csv",
    "text": "text.jsonl",
    "text-parquet": "text.parquet",
}
"""The file of each format, by the name that ``--format`` takes."""


def write(
    store_path: str, run: int, folder: Path, formats: Sequence[str], language: str = "en", *, now: float | None = None
) -> list[Path]:
    """Write a run's files into a folder, made when absent, and return their paths in the order of ``formats``.

    Each file replaces the one of its name, whole or not at all. A run that was stopped by the system or has not
    ended has no ``crawl_result`` (MF-30): its path is then not in the list, and ``crawl_result.absence`` says why.
    Where ``now`` is given, one that is older than ``retention.result_days`` is not written either (MF-31); a file that
    is there already is left alone. A run whose ledger was pruned has no files (R-8.4).
    Raises SettingsError for an unknown format, StoreError for a run that is not there or a disk that is full.
    """
    unknown = [name for name in formats if name not in FILES]
    if unknown:
        remedy = f"write one of {', '.join(FILES)}"
        raise SettingsError(tuple(Mistake("format", name, remedy) for name in unknown))
    with _opened(store_path, run) as (reader, row):
        written = []
        for name in dict.fromkeys(formats):
            path = folder / FILES[name]
            if name == "crawl_result" and now is not None:
                days = crawl_result.kept_days(reader, row)
                if crawl_result.available(row, now, days) is crawl_result.Absence.TOO_OLD:
                    continue
            if name in text.FORMS:
                text.write(reader, refuse(row), path, name)
            elif name != "crawl_result":
                ledger.write(reader, refuse(row), path, name, language)
            elif crawl_result.write(reader, row, path) is not None:
                continue
            written.append(path)
        return written


def table(store_path: str, run: int) -> Any:
    """Return a run's ledger as a ``pyarrow.Table``, which data frame libraries take as it is; all of it in memory.

    Its columns are those of the Parquet file. Raises StoreError for a run that is not there or whose ledger was pruned.
    """
    with _opened(store_path, run) as (reader, row):
        return ledger.table(reader, refuse(row))


@contextmanager
def _opened(store_path: str, run: int) -> Iterator[tuple[Reader, RunRow]]:
    database = SqliteDatabase.reader(store_path)
    try:
        reader = Reader(database)
        row = reader.run(run)
        if row is None:
            raise StoreError(f'store "{store_path}": it has no run "{run}"; list its runs with "purlieu runs"')
        yield reader, row
    finally:
        database.close()
