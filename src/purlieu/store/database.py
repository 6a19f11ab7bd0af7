"""The seam to a database: named statements in, tuples out.

SQL text stands only in ``*.sql`` beside this file, each statement under a line
``-- name: NAME`` with a comment that says what it is for. Placeholders are ``?``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any, Protocol

Value = None | int | float | str | bytes
Row = tuple[Any, ...]

SCHEMA_VERSION = 3
# Not importlib.resources: its import alone costs 8 ms before the first request.
_HERE = Path(__file__).parent


class Database(Protocol):
    """A store that runs the named statements. Every fault is raised as ``errors.StoreError`` with a remedy."""

    def rows(self, name: str, *values: Value) -> Iterator[Row]:
        """Run a statement and return its rows, read as they are asked for."""
        ...

    def rows_of(self, name: str, numbers: Sequence[int], *values: Value) -> Iterator[Row]:
        """Run a statement whose first placeholder stands for a list of numbers; none without numbers."""
        ...

    def one(self, name: str, *values: Value) -> Row | None:
        """Run a statement and return its first row, or None."""
        ...

    def run(self, name: str, *values: Value) -> int:
        """Run a statement and return how many rows it changed."""
        ...

    def many(self, name: str, rows: Iterable[tuple[Value, ...]]) -> None:
        """Run a statement once for each row of values."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context in which all or nothing is written."""
        ...

    def close(self) -> None:
        """Release the store."""
        ...


@cache
def statements() -> dict[str, str]:
    """Return every named statement of ``store/*.sql`` by its name; a name that stands twice is a ValueError."""
    found: dict[str, str] = {}
    for file in sorted(_HERE.iterdir()):
        if file.suffix == ".sql" and file.name != "schema.sql":
            # Cut, not matched: a pattern that looks for the next name at each character took 40 million instructions.
            for statement in f"\n{file.read_text(encoding='utf-8')}".split("\n-- name: ")[1:]:
                name, _, text = statement.partition("\n")
                if name in found:
                    message = f'the statement "{name}" stands twice'
                    raise ValueError(message)
                found[name] = text.strip().rstrip(";")
    return found


def schema() -> str:
    """Return the text that makes an empty store."""
    return (_HERE / "schema.sql").read_text(encoding="utf-8")


def migration(version: int) -> str:
    """Return the text that makes a store of the schema before one of this version."""
    return (_HERE / "migrations" / f"{version:04}.sql").read_text(encoding="utf-8")
