"""A search of what the pages of a crawl say: a box, and the pages that have the words, the best first.

Everything of a page is shown as text; the places of the words are told apart, not marked in it.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console.parts import CountingReader, NotThere, Preparing, crawl_of, parts_of, reading
from purlieu.console.show import page
from purlieu.query import MOST_CHARACTERS, words
from purlieu.report import search
from purlieu.sentence import Sentence

SHOWN: Final = 20
MOST: Final = 100
_TOO_LONG: Final = Sentence("This is too long: write at most {most} characters.", most=f"{MOST_CHARACTERS:,}")
_NO_WORDS: Final = Sentence("Write at least one letter or digit.")
_NO_TEXT: Final = Sentence('This crawl has kept no text. Set keep = "text" in its settings and run it.')


def show(request: Request) -> Response:
    """Show the box, and what was found where there is a question."""
    question = request.query_params.get("q", "")
    with reading(request) as reader:
        name = crawl_of(reader, request)
        number = request.path_params["crawl"]
        found, wrong = None, _wrong(question) if question else None
        if number not in dict(search.crawls(reader.database)):
            wrong = _NO_TEXT
        elif question and wrong is None:
            found = _found(request, reader, number, question, SHOWN)
    shown = question[:MOST_CHARACTERS]
    return page(request, "search.html", name=name, number=number, question=shown, found=found, wrong=wrong)


def facts(request: Request) -> Any:
    """Tell what was found in a crawl, the one that ran last where none is named; ``wrong`` says why nothing was."""
    question, named = request.query_params.get("q", ""), request.query_params.get("crawl")
    given = request.query_params.get("most", "")
    most = min(int(given), MOST) if given.isdecimal() and len(given) < 9 else SHOWN
    with reading(request) as reader:
        known = [(number, name) for number, name in search.crawls(reader.database) if named in {None, name}]
        if named is not None and not known:
            raise NotThere("")
        number, name = known[0] if known else (0, "")
        found = search.Found((), 0, ())
        wrong = _wrong(question) if known else _NO_TEXT
        if wrong is None:
            found = _found(request, reader, number, question, most)
    return {
        "crawl": name, "words": found.words, "number": found.number, "pages": found.pages, "has_all": found.has_all,
        "is_whole": found.is_whole,
        "hits": [search.facts(hit) for hit in found.hits], "wrong": wrong or "",
    }  # fmt: skip


def _found(request: Request, reader: CountingReader, number: int, question: str, most: int) -> search.Found:
    """Search what is there at once where taking in the rest would keep the reader waiting; ``is_whole`` says so."""
    parts = parts_of(request)
    found = search.search(reader.database, parts.store, number, question, most, as_it_is=True)
    if found.is_whole:
        return found
    key = ("search", number)
    try:
        parts.workshop.get(key, lambda: search.prepare(parts.store, number))
    except Preparing:
        return found
    parts.workshop.forget(key)
    return search.search(reader.database, parts.store, number, question, most)


def _wrong(question: str) -> Sentence | None:
    if len(question) > MOST_CHARACTERS:
        return _TOO_LONG
    return None if words(question) else _NO_WORDS
