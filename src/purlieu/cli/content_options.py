"""What can be typed after ``purlieu audit``, ``search`` and ``feed``: a part of the table of commands."""

from __future__ import annotations

from typing import Final

from purlieu.cli.argument import Argument, Command
from purlieu.outcome import LANGUAGES

FORMS: Final = ("opensearch", "elasticsearch", "meilisearch", "solr", "jsonl")
"""Those of ``purlieu.feed``, which a crawl need not load for its own options."""
_ENV: Final = "env:VARIABLE"
_STORE: Final = Argument(("--store",), "the store (default: purlieu.db)", "FILE", default="purlieu.db")

AUDIT: Final = Command(
    "audit",
    "tell what is wrong with the site that was crawled: links, titles, canonicals, languages, sitemaps",
    (
        Argument(
            ("run",), "the run: a number, latest, or CRAWL@last (default: latest)", "RUN", "maybe", default="latest"
        ),
        Argument(
            ("--format",), "write it as this (default: text)", "FORMAT", choices=("html", "json", "junit", "sarif")
        ),
        Argument(("-o", "--output"), "the file to write it to (default: stdout)", "FILE"),
        Argument(
            ("--fail-on",),
            "exit with 1 where a rule that weighs so much, or more, is broken",
            "WEIGHT",
            choices=("problem", "warning", "note"),
        ),
        Argument(
            ("--allow",),
            "so many faults of a rule are allowed, such as title_duplicate=20; may be repeated",
            "RULE=NUMBER",
            "list",
        ),
        Argument(("--most",), "how many faults of each rule are told (default: 10, in files 1000)", "NUMBER"),
        Argument(
            ("--certificate-days",), "a certificate that holds no longer expires soon (default: 21 days)", "NUMBER"
        ),
        Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
        Argument(("--json",), "print one JSON object", kind="flag"),
        _STORE,
    ),
)

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

FEED: Final = Command(
    "feed",
    "tell a search engine what changed in a crawl since it was last told; the crawl must keep text (--keep text)",
    (
        Argument(("crawl",), "the crawl's name, or its newest run: a number, latest, or CRAWL@last", "CRAWL"),
        Argument(("--to",), "who is told; jsonl: one JSON object a line", "TARGET", choices=FORMS),
        Argument(("--url",), "the server's address; without it a file is written", "URL"),
        Argument(("--index",), "the index, collection or core (default: the crawl's name)", "NAME"),
        Argument(("-o", "--output"), "the file to write where there is no --url (default: stdout)", "FILE"),
        Argument(
            ("--field-names",),
            "the names of fields; endeca: those of its records (default: own)",
            "NAMES",
            choices=("own", "endeca"),
        ),
        Argument(("--full",), "tell of every page, whatever was told before", kind="flag"),
        Argument(("--user",), "a variable of the environment that holds USER:PASSWORD", _ENV),
        Argument(
            ("--header",),
            'a header with its value in a variable, such as "Authorization: env:VARIABLE"; may be repeated',
            "HEADER",
            "list",
        ),
        Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
        Argument(("--json",), "print one JSON object", kind="flag"),
        _STORE,
    ),
)
