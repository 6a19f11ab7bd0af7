"""What can be typed after ``purlieu sitemap build``.

Acts on nothing.
"""

from __future__ import annotations

from typing import Final

from purlieu.cli.argument import Argument, Command
from purlieu.outcome import LANGUAGES

KEEPS: Final = ("auto", "all", "none")

BUILD: Final = Command(
    "build",
    "write sitemap files for a web server: from a run, a folder of files, or lists of URLs",
    (
        Argument(("run",), "the run's number, latest, or CRAWL@last", "RUN", "maybe"),
        Argument(("--from-files",), "take the HTML files of this folder instead of a run; needs --base", "DIR"),
        Argument(("--from-list",), "take the URLs of this CSV, JSONL or text file; may be repeated", "FILE", "list"),
        Argument(("--base",), "the URL of the folder in which the files will lie", "URL"),
        Argument(("--profile",), "which pages go in (default: public)", "NAME", default="public"),
        Argument(
            ("-c", "--config"), "the settings file that has the profile (default: the run's own settings)", "FILE"
        ),
        Argument(("-o", "--output"), "where to write (default: purlieu-out/CRAWL/sitemap)", "FOLDER"),
        Argument(("--with-doors",), "pages that were fetched with credentials go in too", kind="flag"),
        Argument(
            ("--left-out",),
            "the list of what is left out, .csv or .jsonl (default: purlieu-out/CRAWL/sitemap-left-out.csv)",
            "FILE",
        ),
        Argument(
            ("--keep",),
            "what the former files list and the run did not visit: auto keeps it unless the run was whole, all, none",
            "WHAT",
            choices=KEEPS,
            default="auto",
        ),
        Argument(("--robots",), "name the sitemap in this robots.txt; - prints the line", "FILE"),
        Argument(("--ping",), "tell this address of the sitemap; {sitemap} stands for its URL", "URL", "list"),
        Argument(("--indexnow",), "tell this IndexNow address of what is new, changed or gone; needs --key", "URL"),
        Argument(("--key",), "your IndexNow key, 8 to 128 letters and digits; its file is written too", "KEY"),
        Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES, default="en"),
        Argument(("--json",), "print one JSON object", kind="flag"),
        Argument(("--store",), "the store that the run is in (default: purlieu.db)", "FILE", default="purlieu.db"),
    ),
)
"""The command that makes sitemaps."""
