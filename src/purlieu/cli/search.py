"""``purlieu search``: look for words in what the pages of a crawl say.

Checks what was typed and lays out what ``purlieu.report.search`` finds.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Final

from purlieu.cli.config import existing_store
from purlieu.cli.words import safe, speaker, tongue
from purlieu.errors import Mistake, SettingsError
from purlieu.query import MOST_CHARACTERS, Excerpt, words
from purlieu.report.search import MOST, Found, crawls, facts, search
from purlieu.store.database import Database
from purlieu.store.sqlite import SqliteDatabase

_BOLD: Final = ("\x1b[1m", "\x1b[22m")


def run(arguments: argparse.Namespace) -> int:
    """Print the pages that were found, the best first; return 0, and 1 when there are none."""
    text = " ".join(arguments.words)
    mistakes = list(_mistakes(text, arguments.most))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    database = SqliteDatabase.reader(existing_store(arguments.store))
    try:
        number, crawl = _crawl(database, arguments)
        found = search(database, arguments.store, number, text, int(arguments.most))
    finally:
        database.close()
    if arguments.json:
        sys.stdout.writelines(json.dumps(facts(hit), ensure_ascii=False) + "\n" for hit in found.hits)
    else:
        marks = _BOLD if sys.stdout.isatty() else ("", "")
        sys.stdout.writelines(f"{line}\n" for line in _lines(found, crawl, tongue(arguments.lang), marks))
    return 0 if found.hits else 1


def _mistakes(text: str, most: str) -> Iterator[Mistake]:
    if len(text) > MOST_CHARACTERS:
        yield Mistake("WORDS", f"{text[:20]}...", f"write at most {MOST_CHARACTERS:,} characters, not {len(text):,}")
    elif not words(text):
        yield Mistake("WORDS", text, "write what to look for: at least one letter or digit")
    if not (most.isdecimal() and len(most) < 9 and 0 < int(most) <= MOST):
        yield Mistake("--most", most, f"write how many pages to show, 1 to {MOST:,}")


def _crawl(database: Database, arguments: argparse.Namespace) -> tuple[int, str]:
    """Return the number and name of the crawl to search. Raises SettingsError where none has kept what pages say."""
    known = crawls(database)
    for number, name in known:
        if arguments.crawl in {None, name}:
            return number, name
    if known:
        remedy = f"it has kept no text in {arguments.store}; those that have: {', '.join(name for _, name in known)}"
        raise SettingsError((Mistake("--crawl", arguments.crawl, remedy),))
    remedy = 'no crawl in it has kept what its pages say; crawl with --keep text, or set keep = "text"'
    raise SettingsError((Mistake("--store", arguments.store, remedy),))


def _lines(found: Found, crawl: str, language: str, marks: tuple[str, str]) -> Iterator[str]:
    say = speaker(language)
    told = {"count": f"{found.number:,}", "pages": f"{found.pages:,}", "crawl": safe(crawl)}
    if not found.hits:
        yield say("None of the {pages} pages of {crawl} that may be searched has any of the words.", **told)
    elif found.has_all:
        yield say("{count} of {pages} pages of {crawl}", **told)
    else:
        yield say("No page of {crawl} has all of the words; {count} of {pages} have some", **told)
    for place, hit in enumerate(found.hits, 1):
        yield ""
        yield f"{place}. {_marked(hit.title, marks)}"
        yield f"   {safe(hit.url)}"
        yield f"   {_marked(hit.excerpt, marks)}".rstrip()


def _marked(piece: Excerpt, marks: tuple[str, str]) -> str:
    """Return a text in which the words stand out; nothing of the page's own acts on the terminal."""
    return "".join(
        f"{marks[0]}{safe(text)}{marks[1]}" if is_marked else safe(text) for text, is_marked in piece.parts()
    )
