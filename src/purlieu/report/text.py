"""What pages say to their readers, as JSON lines and Parquet: for a search engine, a data frame, or to read.

Lays out what ``keep = "text"`` kept; one row a page that the run has fetched or found unchanged, the same columns in
both forms.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final

from purlieu import jsonl
from purlieu.report.whole_file import replacing
from purlieu.store.content import ContentRow
from purlieu.store.reader import Reader, RunRow

_ROWS_AT_ONCE: Final = 500
TEXT_SCHEMA: Final = 1
"""Version of the columns, in the Parquet file's metadata."""
COLUMNS: Final = (
    "url", "title", "language", "description", "headings", "text", "breadcrumbs", "open_graph", "json_ld",
    "content_type", "last_modified", "indexable", "index_reason", "depth", "changed_at", "author", "unread",
    "anchors",
)  # fmt: skip
"""Columns; ``headings`` are objects of level and text, ``open_graph`` is one object, ``json_ld`` the blocks' values."""


def document(row: ContentRow) -> dict[str, Any]:
    """Return one page as values by ``COLUMNS``."""
    changed = datetime.fromtimestamp(row.changed_at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    headings = [{"level": level, "text": text} for level, text in row.headings]
    return {
        "url": row.url, "title": row.title, "language": row.language, "description": row.description,
        "headings": headings, "text": row.text, "breadcrumbs": row.breadcrumbs, "open_graph": row.open_graph,
        "json_ld": row.json_ld,
        "content_type": row.content_type, "last_modified": row.last_modified, "indexable": not row.index_reason,
        "index_reason": row.index_reason, "depth": row.depth, "changed_at": changed,
        "author": row.author, "unread": row.unread, "anchors": row.anchors,
    }  # fmt: skip


def write(reader: Reader, run: RunRow, path: Path, form: str) -> None:
    """Write the content of a run's pages, whole or not at all, in one of ``FORMS``. Raises StoreError."""
    with replacing(path) as file:
        FORMS[form](file, map(document, reader.contents(run)))


def _jsonl(file: BinaryIO, documents: Iterator[dict[str, Any]]) -> None:
    file.writelines(f"{jsonl.line(told)}\n".encode("utf-8", "replace") for told in documents)


def _parquet(file: BinaryIO, documents: Iterator[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text = pa.string()
    special = {
        "headings": pa.list_(pa.struct([("level", pa.int64()), ("text", text)])),
        "breadcrumbs": pa.list_(text),
        "anchors": pa.list_(text),
        "indexable": pa.bool_(),
        "depth": pa.int64(),
    }
    schema = pa.schema(
        [(name, special.get(name, text)) for name in COLUMNS], metadata={"purlieu.text_schema": str(TEXT_SCHEMA)}
    )
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while some := list(islice(documents, _ROWS_AT_ONCE)):
            for told in some:
                told["open_graph"] = json.dumps(told["open_graph"], ensure_ascii=False)
                told["json_ld"] = json.dumps(told["json_ld"], ensure_ascii=False)
            writer.write_table(pa.Table.from_pylist(some, schema=schema))


FORMS: Final[dict[str, Callable[[BinaryIO, Iterator[dict[str, Any]]], None]]] = {
    "text": _jsonl,
    "text-parquet": _parquet,
}
"""Every form by the name that ``--format`` takes."""
