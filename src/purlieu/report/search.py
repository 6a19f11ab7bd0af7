"""A search of a crawl's newest content: the pages that have the words, the best first, each with a piece of its text.

Where no page has all words, those are found that have some of what the words are made of.
"""

from __future__ import annotations

import json
import zlib
from heapq import nlargest
from pathlib import Path
from typing import Any, Final

from purlieu.query import Excerpt, Scale, excerpt, folded, pieces, shown, words
from purlieu.store.database import Database, Row
from purlieu.store.sqlite.search import AT_ONCE, SearchIndex, Told
from purlieu.value import dataclass

MOST: Final = 1_000
"""So many pages can be asked for at once."""
_TITLE: Final = 300
_LEAST_WEIGHED: Final = 100


@dataclass(frozen=True, slots=True)
class Hit:
    """A page that was found. ``title`` and ``excerpt`` are texts with the places of the words in them."""

    url: str
    title: Excerpt
    excerpt: Excerpt
    language: str
    changed_at: float
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """The answer: how many of the ``pages`` that may be searched, the best of them, whether these have all words.

    ``is_whole``: the index had all pages of the crawl.
    """

    words: tuple[str, ...]
    number: int
    hits: tuple[Hit, ...]
    has_all: bool = True
    pages: int = 0
    is_whole: bool = True


def crawls(database: Database) -> list[tuple[int, str]]:
    """Return (number, name) of the crawls that have kept what pages say, the one that ran last first."""
    return [(number, name) for number, name in database.rows("search_crawls")]


def prepare(
    store: str, crawl: int, folder: Path | None = None, told: Told | None = None, at_once: int = AT_ONCE
) -> None:
    """Take in what the index of a crawl has not yet, so that a search need not wait for it. Raises StoreError.

    ``told`` hears how many pages it has so far, and of how many, after each ``at_once``.
    """
    SearchIndex.open(store, crawl, folder, told, at_once).close()


def search(
    database: Database,
    store: str,
    crawl: int,
    text: str,
    most: int,
    folder: Path | None = None,
    *,
    as_it_is: bool = False,
) -> Found:
    """Look for a text in the pages of a crawl, by its number; ``database`` reads the same ``store``.

    ``as_it_is``: in what the index has, which may not be all; else it is brought up to date first. Finds nothing where
    the text has no words (``query.words``). Raises StoreError.
    """
    looked_for = words(text)
    if not looked_for:
        return Found((), 0, ())
    index = (SearchIndex.as_it_is if as_it_is else SearchIndex.open)(store, crawl, folder)
    try:
        groups = [[word] for word in looked_for]
        number, has_all = index.number(groups), True
        if not number:
            has_all, looked_for = False, tuple(dict.fromkeys((*looked_for, *pieces(looked_for))))
            groups = [list(looked_for)]
            number = index.number(groups)
        pages, average = index.size()
        scale = Scale(looked_for, [index.number([[word]]) for word in looked_for], pages, average)
        places = index.find(groups, max(_LEAST_WEIGHED, min(most, MOST)))
    finally:
        index.close()
    rows = database.rows_of("content_to_show", places)
    best = nlargest(most, (_weighed(scale, row) for row in rows))
    hits = tuple(_hit(row, looked_for, weight) for weight, _, row in best)
    return Found(looked_for, number, hits, has_all, pages, index.is_whole)


def _weighed(scale: Scale, row: Row) -> tuple[float, int, Row]:
    """Return a page behind its weight; of equal ones the first known comes first."""
    title, description, headings, packed = row[3], row[5], row[6], row[7]
    text = f"{description} {_unpacked(packed)}".lower()  # folding a hundred of them takes longer than all else
    return scale.weigh(folded(title), folded(_headings(headings)), text), -row[0], row


def _hit(row: Row, looked_for: tuple[str, ...], score: float) -> Hit:
    _, url, changed_at, title, language, description, headings, packed = row
    piece = Excerpt("")
    for text in map(shown, (_unpacked(packed), description, _headings(headings))):
        better = excerpt(text, looked_for)
        if better.marks or not piece.text:
            piece = better
        if piece.marks:
            break
    return Hit(url, excerpt(shown(title) or url, looked_for, _TITLE), piece, language, changed_at, score)


def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode("utf-8", "replace")


def _headings(told: str) -> str:
    return " · ".join(heading for _, heading in json.loads(told))


def facts(hit: Hit) -> dict[str, Any]:
    """Return a page that was found as it is told to programs; marks are (start, end) in characters."""
    return {
        "url": hit.url, "title": hit.title.text, "title_marks": hit.title.marks, "excerpt": hit.excerpt.text,
        "marks": hit.excerpt.marks, "language": hit.language, "changed_at": hit.changed_at,
        "score": round(hit.score, 3),
    }  # fmt: skip
