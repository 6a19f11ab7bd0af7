"""The whole ledger as CSV, JSON lines, Parquet, and a CSV for spreadsheets.

Knows the file formats; every one gets the same rows from ``column.py``. The only room for pyarrow,
which is loaded when a Parquet file is asked for.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

from purlieu import jsonl
from purlieu.outcome import REASONS
from purlieu.report.column import COLUMNS, LEDGER_SCHEMA, NAMES, OBJECTS, TRUTHS, rows
from purlieu.report.whole_file import replacing
from purlieu.store.database import Row
from purlieu.store.reader import Reader, RunRow

_ROWS_AT_ONCE = 1_000
_ROW_GROUP_ROWS = 10_000
# What makes a spreadsheet run a cell (CWE-1236), full-width forms included, as Japanese and Chinese ones take those.
_RUN = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def write(reader: Reader, run: RunRow, path: Path, form: str, language: str = "en") -> None:
    """Write a run's ledger to ``path``, whole or not at all, in one of ``FORMS``. Raises StoreError.

    ``language`` is that of the sentences in the spreadsheet form; the others have none.
    """
    with replacing(path) as file:
        FORMS[form](file, rows(reader, run), language)


def _csv(file: BinaryIO, ledger: Iterator[Row], _: str) -> None:
    """RFC 4180 with a header, in UTF-8 without BOM, which programs that read data stumble over."""
    _csv_rows(file, NAMES, map(_csv_row, ledger), csv.QUOTE_MINIMAL)


def _csv_spreadsheet(file: BinaryIO, ledger: Iterator[Row], language: str) -> None:
    """As CSV, with the BOM that spreadsheets want, no cell that they would run, and the owner's sentence at the end."""
    kind, reason = NAMES.index("kind"), NAMES.index("reason")
    sentences = {name: ending.sentence(language) for name, ending in REASONS.items()}
    guarded = ([*map(_guarded, _csv_row(row)), sentences.get(f"{row[kind]}.{row[reason]}", "")] for row in ledger)
    file.write(b"\xef\xbb\xbf")
    _csv_rows(file, (*NAMES, "sentence"), guarded, csv.QUOTE_ALL)


def _csv_rows(file: BinaryIO, names: tuple[str, ...], table: Iterator[list[Any]], quoting: Literal[0, 1]) -> None:
    piece = StringIO()
    writer = csv.writer(piece, quoting=quoting, lineterminator="\r\n")
    writer.writerow(names)
    while True:
        file.write(piece.getvalue().encode())
        piece.seek(0)
        piece.truncate()
        some = list(islice(table, _ROWS_AT_ONCE))
        if not some:
            return
        writer.writerows(some)


def _csv_row(row: Row) -> list[Any]:
    """Write truth as JSON does; csv.writer makes the rest of None, numbers and text."""
    cells = list(row)
    for place in TRUTHS:
        if cells[place] is not None:
            cells[place] = "true" if cells[place] else "false"
    return cells


def _guarded(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run."""
    return f"'{value}" if isinstance(value, str) and value[:1] in _RUN else value


def _jsonl(file: BinaryIO, ledger: Iterator[Row], _: str) -> None:
    """One object a line, UTF-8, every column present, null where there is nothing."""
    while some := [jsonl.encode(dict(zip(NAMES, _read(row), strict=True))) for row in islice(ledger, _ROWS_AT_ONCE)]:
        file.write(jsonl.whole("\n".join(some) + "\n").encode())


def _read(row: Row) -> Row | list[Any]:
    """Return a row with what is stored as JSON read."""
    if all(row[place] is None for place in OBJECTS):
        return row
    return [json.loads(cell) if place in OBJECTS and cell is not None else cell for place, cell in enumerate(row)]


def table(reader: Reader, run: RunRow) -> Any:
    """Return a run's ledger as a ``pyarrow.Table`` with the columns of the Parquet file. Raises StoreError."""
    import pyarrow as pa

    schema = _schema()
    return pa.Table.from_batches(_record_batches(rows(reader, run), schema), schema)


def _parquet(file: BinaryIO, ledger: Iterator[Row], _: str) -> None:
    """Typed columns, compressed with zstd, each with its meaning; the version of the columns in the metadata."""
    import pyarrow.parquet as pq

    schema = _schema()
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _record_batches(ledger, schema):
            writer.write_batch(batch)


def _schema() -> Any:
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "truth": pa.bool_(),
        "time": pa.string(),  # the same text as in the other forms, so that rows compare equal
        "json": pa.string(),
    }
    return pa.schema(
        [pa.field(column.name, types[column.type], metadata={"meaning": column.meaning}) for column in COLUMNS],
        metadata={"purlieu.ledger_schema": str(LEDGER_SCHEMA)},
    )


def _record_batches(ledger: Iterator[Row], schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    while some := list(islice(ledger, _ROW_GROUP_ROWS)):
        columns = zip(*some, strict=True)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


FORMS: Final[dict[str, Callable[[BinaryIO, Iterator[Row], str], None]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
    "csv-spreadsheet": _csv_spreadsheet,
}
"""Every form of the ledger by the name that ``--format`` takes."""
