"""What can be typed of what outlasts a run: the store, schedules and their keeper, the console. In one table.

Acts on nothing.
"""

from __future__ import annotations

from typing import Final

from purlieu.cli.argument import Argument, Command
from purlieu.outcome import LANGUAGES

_STORE: Final = Argument(("--store",), "the store (default: purlieu.db)", "FILE", default="purlieu.db")

KEEPING: Final = (
    Command(
        "store",
        "look after the store",
        commands=(
            Command(
                "check",
                "tell whether a store is sound; exit status 1 if it is not",
                (
                    Argument(("file",), "the store (default: purlieu.db)", "FILE", "maybe", default="purlieu.db"),
                    Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
                    Argument(("--json",), "print one JSON object", kind="flag"),
                ),
            ),
            Command(
                "repair",
                "save what can be read of a damaged store into a new file",
                (
                    Argument(("file",), "the damaged store, which is not touched", "FILE"),
                    Argument(("-o", "--output"), "the new store, not yet there (default: FILE.repaired)", "NEW"),
                    Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
                ),
            ),
            Command(
                "upgrade",
                "bring a store of an older version up to date, as the next crawl would",
                (
                    Argument(("file",), "the store (default: purlieu.db)", "FILE", "maybe", default="purlieu.db"),
                    Argument(("--no-copy",), "do not keep the old store beside the new one", kind="flag"),
                    Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
                ),
            ),
            Command(
                "prune",
                "remove the ledgers of old runs; history, totals and findings stay",
                (
                    _STORE,
                    Argument(
                        ("--keep",), "keep so many runs of each crawl (default: as retention.ledger_runs says)", "N"
                    ),
                    Argument(("--crawl",), "prune this crawl alone", "CRAWL"),
                    Argument(("--compact",), "give the freed room back to the disk", kind="flag"),
                    Argument(("--json",), "print one JSON object a run", kind="flag"),
                ),
            ),
        ),
    ),
    Command(
        "schedule",
        "plan runs of a crawl; `purlieu keep` starts them",
        commands=(
            Command(
                "add",
                "plan runs of a crawl",
                (
                    Argument(("crawl",), "the crawl's name", "CRAWL"),
                    Argument(("--cron",), 'when: minute, hour, day, month, weekday, such as "0 3 * * *"', "CRON"),
                    Argument(("--zone",), "the time zone (default: UTC)", "ZONE", default="UTC"),
                    Argument(
                        ("-c", "--config"), "the settings file (default: the settings of the crawl's last run)", "FILE"
                    ),
                    Argument(
                        ("--grace",),
                        'so late a missed start is still caught up (default: "1 h")',
                        "TIME",
                        default="1 h",
                    ),
                    _STORE,
                ),
            ),
            Command(
                "list",
                "list the schedules with what became of them",
                (_STORE, Argument(("--json",), "print one JSON object a line", kind="flag")),
            ),
            Command(
                "off",
                "start no runs by a schedule until it is on again",
                (Argument(("schedule",), "the schedule's number", "SCHEDULE"), _STORE),
            ),
            Command("on", "switch it on again", (Argument(("schedule",), "the schedule's number", "SCHEDULE"), _STORE)),
            Command(
                "remove",
                "plan no more runs by a schedule",
                (Argument(("schedule",), "the schedule's number", "SCHEDULE"), _STORE),
            ),
        ),
    ),
    Command(
        "stop",
        "ask a run that is under way to stop cleanly",
        (Argument(("run",), "the run's number, latest, or CRAWL@last", "RUN"), _STORE),
    ),
    Command(
        "serve",
        "show crawls, runs and results in a browser",
        (
            _STORE,
            Argument(("--host",), "the address to listen on (default: 127.0.0.1)", "ADDRESS", default="127.0.0.1"),
            Argument(("--port",), "the port to listen on, 0 for a free one (default: 8760)", "PORT", default="8760"),
            Argument(("--allow-host",), "a further name under which it may be asked; may be repeated", "NAME", "list"),
            Argument(("--https",), "a proxy before it speaks HTTPS: cookies are for HTTPS alone", kind="flag"),
            Argument(("--zone",), "the time zone that times are told in (default: the browser's)", "ZONE"),
            Argument(("--no-keep",), "start no runs by schedule: `purlieu keep` does, or nobody", kind="flag"),
            Argument(("--sitemap-folder",), "owners may have sitemaps written to this folder, and to no other", "DIR"),
            Argument(("--allow-private",), "owners on other machines may crawl the networks of this one", kind="flag"),
            Argument(("--hash",), "read a password or token and print its argon2 hash", kind="flag"),
        ),
    ),
    Command("keep", "start the runs that are due, until it is stopped", (_STORE,)),
)
"""``store``, ``schedule``, ``stop``, ``serve`` and ``keep``."""
