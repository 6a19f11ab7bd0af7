"""What can be typed after ``purlieu search`` and ``purlieu feed``: a part of the table of commands."""

from __future__ import annotations

from typing import Final

from purlieu.cli.argument import Argument, Command
from purlieu.outcome import LANGUAGES

_STORE: Final = Argument(("--store",), "the store (default: purlieu.db)", "FILE", default="purlieu.db")

SEARCH: Final = Command(
    "search",
    "look for words in what the pages of a crawl say; the crawl must keep it (--keep text)",
    (
        Argument(("words",), 'what to look for; "several words" in quotes stand together', "WORDS", "rest"),
        Argument(("--crawl",), "search the pages of this crawl (default: the one that ran last)", "CRAWL"),
        Argument(("--most",), "show so many pages (default: 10)", "NUMBER", default="10"),
        Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
        Argument(("--json",), "print one JSON object a page", kind="flag"),
        _STORE,
    ),
)
