"""What a search engine has of a crawl's pages, and what it has not yet been told.

Knows the rows. What has changed is read a few pages at a time, so that what was accepted is written in between.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from purlieu.store.database import Database, Row


class FeedKey(NamedTuple):
    """What is written when a page was accepted; of one that is removed, ``id`` alone counts."""

    id: int
    host: int = 0
    hash: int = 0
    href: str = ""
    digest: str = ""


class FeedRow(NamedTuple):
    """One page to tell of. ``headings``: their texts; ``headers``: "Name: value" lines as received."""

    is_known: bool
    url: str
    changed_at: float
    title: str
    language: str
    description: str
    headings: tuple[str, ...]
    open_graph: dict[str, str]
    json_ld: list[object]
    breadcrumbs: list[str]
    text: str
    content_type: str
    last_modified: str
    etag: str
    status: int
    headers: str
    depth: int
    via: str
    anchors: list[str]
    author: str


class Feed:
    """The pages of a crawl, as a run found them, against what one target has. Whoever opened the database closes it."""

    def __init__(self, database: Database, crawl: int, run: int, target: str) -> None:
        """Hold an open database that may be written to (``SqliteDatabase.beside``)."""
        self._database = database
        self._crawl = crawl
        self._run = run
        self._target = target

    def changed(self, mark: str = "", *, is_full: bool = False) -> Iterator[list[tuple[FeedKey, FeedRow]]]:
        """Yield pages that the target has not, or not as they are, some at a time; ``is_full``: all pages.

        ``mark`` stands for the form of the documents: those that were told in another have changed.
        """
        last = 0
        ask = (self._run, self._crawl, self._target)
        while some := list(self._database.rows("feed_changed", *ask, last, int(is_full), mark)):
            last = some[-1][0]
            yield [(FeedKey(row[0], row[1], row[2], row[5], row[3] + mark), _made(row)) for row in some]

    def gone(self) -> Iterator[list[tuple[FeedKey, str]]]:
        """Yield pages that the target has and should have no more, by address, some at a time."""
        last = 0
        while some := list(self._database.rows("feed_gone", self._run, self._crawl, self._target, last)):
            last = some[-1][0]
            yield [(FeedKey(row[0]), row[1]) for row in some]

    def accept(self, keys: Sequence[FeedKey], at: float) -> None:
        """Write down that the target has these pages now, at so many seconds since the epoch."""
        with self._database.transaction():
            rows = [(self._crawl, self._target, key.host, key.hash, key.href, key.digest, at) for key in keys]
            self._database.many("feed_accepted", rows)

    def remove(self, keys: Sequence[FeedKey]) -> None:
        """Write down that the target has these pages no more."""
        with self._database.transaction():
            self._database.many("feed_removed", [(key.id,) for key in keys])


def newest_finished(database: Database, crawl: int) -> int | None:
    """Return the newest finished run of a crawl that still has its rows, None where there is none."""
    row = database.one("feed_run", crawl)
    return row[0] if row else None


def _made(row: Row) -> FeedRow:
    more = json.loads(row[11])
    return FeedRow._make((
        bool(row[4]), *row[5:10],
        tuple(text for _, text in json.loads(row[10])),
        more["open_graph"], more["json_ld"], more["breadcrumbs"],
        zlib.decompress(row[12]).decode("utf-8", "replace"),
        *(value or "" for value in row[13:16]), row[16] or 0, row[17] or "", *row[18:20],
        json.loads(row[20]), more.get("author", ""),
    ))  # fmt: skip
