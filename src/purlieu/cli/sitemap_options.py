"""What can be typed after ``purlieu sitemap``, in one table.

Acts on nothing.
"""

from __future__ import annotations

from typing import Final

from purlieu.cli.argument import Argument, Command
from purlieu.cli.sitemap_build_options import BUILD
from purlieu.outcome import LANGUAGES

_CONFIG: Final = Argument(("-c", "--config"), "the settings file, for how to ask; its seeds do not count", "FILE")
_STORE: Final = Argument(("--store",), "the store that a run is in (default: purlieu.db)", "FILE", default="purlieu.db")
_WHAT: Final = "a URL, a file, - for stdin, or a run: its number, latest, or CRAWL@last"

LOOK: Final = (
    Command(
        "check",
        "tell what is wrong with a sitemap and all that its index names; exit status 1 if it is invalid",
        (
            Argument(("sitemap",), "a URL, a file, or - for stdin; .gz is understood", "SITEMAP"),
            Argument(("--strict",), "read strictly: anything wrong makes it invalid", kind="flag"),
            Argument(("--url",), "where a file is going to stand, for the location rule", "URL"),
            Argument(
                ("--profile",),
                "2007: also the size limit of that year, 10,485,760 bytes",
                "YEAR",
                choices=("2007",),
            ),
            Argument(("--no-children",), "do not look at the files that an index names", kind="flag"),
            Argument(("--crawl",), "ask for every entry, politely, and tell how it ended", kind="flag"),
            _CONFIG,
            Argument(("--json",), "print one JSON object: entries, problems, files, valid", kind="flag"),
            Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
        ),
    ),
    Command(
        "tree",
        "show a sitemap, or what a run found, as a tree of sections",
        (
            Argument(("sitemap",), _WHAT, "SITEMAP"),
            Argument(("--depth",), "how many levels below the host are shown (default: 2)", "N", default="2"),
            Argument(("--all",), "show every section; otherwise the 20 largest of each", kind="flag"),
            _CONFIG,
            Argument(("--json",), "print one JSON object a section", kind="flag"),
            _STORE,
        ),
    ),
    Command(
        "diff",
        "tell what was added, removed or changed between two sitemaps",
        (
            Argument(("before",), _WHAT, "A"),
            Argument(("after",), "the same, to compare with", "B"),
            Argument(("--csv",), "print a table: change, url, and each field before and after", kind="flag"),
            Argument(("--json",), "print one JSON object a change, and the sums", kind="flag"),
            _CONFIG,
            _STORE,
        ),
    ),
)
"""The commands that look at sitemaps."""

SITEMAP: Final = Command(
    "sitemap", "check sitemaps, see them as a tree, compare and build them", commands=(*LOOK, BUILD)
)
