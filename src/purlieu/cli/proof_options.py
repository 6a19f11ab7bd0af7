"""What can be typed after ``purlieu proof``, in one table.

Acts on nothing.
"""

from __future__ import annotations

from typing import Final

from purlieu.cli.argument import Argument, Command

_MADE_WEB: Final = (
    *(
        Argument((f"--{name}",), told, metavar)
        for name, metavar, told in (
            ("hosts", "N", "how many hosts (default: 1)"),
            ("pages", "N", "pages of each host (default: 1000)"),
            ("links", "N", "links of a page, at most (default: 30)"),
            ("cross-links", "N", "how many of them lead to other hosts, at most 8 (default: 0)"),
            ("seed", "N", "what chance begins with (default: 0)"),
            ("port", "N", "the port of all hosts (default: 8000)"),
            ("delay", "SECONDS", "the time that every answer takes (default: 0)"),
            ("crawl-delay", "SECONDS", "a Crawl-delay in every robots.txt"),
            ("redirects", "SHARE", "how many of the pages without children redirect, from 0 to 1"),
            ("missing", "SHARE", "how many of them are 404"),
            ("failing", "SHARE", "how many of them are 500"),
            ("slow-hosts", "SHARE", "how many hosts are slow"),
            ("slow-seconds", "SECONDS", "how slow (default: 2)"),
            ("broken-hosts", "SHARE", "how many hosts break off, hang or talk no HTTP"),
            ("busy-seconds", "SECONDS", "how long a host answers 429 to everything ..."),
            ("busy-every-seconds", "SECONDS", "... out of so long (default: 60)"),
            ("appear", "SHARE", "how many of the pages without children are new in each epoch"),
            ("vanish", "SHARE", "how many of them are gone in each epoch"),
            ("move", "SHARE", "how many of them redirect from each epoch on"),
            ("epoch", "N", "how far the web has changed (default: 0)"),
            ("epoch-seconds", "SECONDS", "the epoch moves on by itself after so long"),
            ("per-file", "N", "entries of a sitemap file; more are split (default: 50000)"),
            ("trap-pages", "N", "pages of each trap, on each host (default: 100000)"),
            ("log", "FILE", "write each request: monotonic seconds, status, host, path"),
        )
    ),
    Argument(
        ("--naming",), "127 for addresses, or a pattern such as h{}.localhost (default: 127)", "PATTERN", default="127"
    ),
    Argument(("--change",), "so many pages change every so many epochs; may be repeated", "SHARE:EPOCHS", "list"),
    Argument(
        ("--lastmod",),
        "what sitemaps say (default: honest)",
        "KIND",
        choices=("honest", "fresh", "stale", "random", "none"),
        default="honest",
    ),
    Argument(
        ("--trap",),
        "a trap on every page; may be repeated",
        "KIND",
        "list",
        choices=("calendar", "session", "parameters", "segments", "subdomains", "soft404"),
    ),
    Argument(("--dated",), "write the day into every footer", kind="flag"),
    Argument(("--extras",), "also link to forbidden pages, other sites, mail, nofollow", kind="flag"),
)

PROOF: Final = Command(
    "proof",
    "put claims of ours to the proof, on a web made for it",
    commands=(
        Command(
            "kill",
            "kill crawls at random moments, resume and compare; exit status 1 at the first difference",
            (
                Argument(("--kills",), "how often to kill (default: 20)", "N"),
                Argument(
                    ("--workers",), "processes at each run, of which single ones are killed too (default: 1)", "N"
                ),
                Argument(("--seed",), "what chance begins with (default: 0)", "N"),
                Argument(("--json",), "print one JSON object", kind="flag"),
            ),
        ),
        Command("web", "serve a made web on this machine, for any crawler, until it is interrupted", _MADE_WEB),
    ),
)
