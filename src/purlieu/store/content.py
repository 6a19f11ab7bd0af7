"""What pages say to their readers, kept with their crawl: written with the visit, read by reports, feeds and search.

Knows the rows. Runs inside the transaction of ``frontier.finish``; judges nothing.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

from purlieu.decide import Visit
from purlieu.digest import blake2b
from purlieu.named import NamedTuple
from purlieu.store.database import Database, Row, Value

UNREAD: Final = "documents_unread"
"""The finding's code."""


class ContentRow(NamedTuple):
    """The content of one page. ``headings``: (level, text); ``changed_at`` in seconds since the epoch."""

    id: int
    url: str
    changed_run: int
    changed_at: float
    title: str
    language: str
    description: str
    headings: tuple[tuple[int, str], ...]
    open_graph: dict[str, str]
    json_ld: list[Any]
    breadcrumbs: list[str]
    text: str
    author: str
    unread: str
    anchors: list[str]
    content_type: str
    last_modified: str
    index_reason: str
    depth: int


def write(database: Database, crawl: int, run: int, visits: Sequence[Visit]) -> None:
    """Write the content of those visits that have one."""
    database.many("put_content", [_row(crawl, run, visit) for visit in visits if visit.content is not None])


def note_unread(database: Database, crawl: int, run: int) -> None:
    """Write a finding for each reason why there is no text of documents; what an earlier end said goes."""
    database.run("forget_finding", run, UNREAD)
    for reason, count, example in list(database.rows("unread_documents", run, crawl)):
        database.run("add_finding", run, UNREAD, reason, json.dumps({"count": count, "example": example}))


def _row(crawl: int, run: int, visit: Visit) -> tuple[Value, ...]:
    from purlieu.store import anchors  # only who keeps text pays for it

    content, page, entry = visit.content, visit.page, visit.entry
    assert content is not None  # noqa: S101 - asked for above
    title = (page.title if page else None) or content.title
    language = (page.lang if page else None) or content.language
    more = json.dumps({
        "open_graph": dict(content.open_graph), "json_ld": content.json_ld, "breadcrumbs": content.breadcrumbs,
        "author": content.author,
    }, ensure_ascii=False)  # fmt: skip
    headings = json.dumps(content.headings, ensure_ascii=False)
    told = (title, language, content.description, headings, more)
    text = content.text.encode("utf-8", "replace")
    digest = blake2b("\x00".join(told).encode("utf-8", "replace") + b"\x00" + text, digest_size=16).hexdigest()
    clean = [part.encode("utf-8", "replace").decode() for part in told]
    known = (crawl, entry.host, entry.hash, entry.href, run, visit.at, digest)
    return (*known, *clean, zlib.compress(text, 6), content.unread, anchors.packed(content.anchors))


def rows(database: Database, run: int) -> Iterator[ContentRow]:
    """Yield the content of the pages of a run, a few at a time in memory, in the order in which they were first met."""
    last = 0
    while some := list(database.rows("contents", run, last)):
        last = some[-1][0]
        yield from map(_made, some)


def _made(row: Row) -> ContentRow:
    more = json.loads(row[8])
    return ContentRow._make((
        *row[:7],
        tuple((level, heading) for level, heading in json.loads(row[7])),
        more["open_graph"], more["json_ld"], more["breadcrumbs"],
        zlib.decompress(row[9]).decode(), more.get("author", ""), row[10],
        json.loads(row[11]), row[12] or "", row[13] or "", row[14] or "", row[15],
    ))  # fmt: skip
