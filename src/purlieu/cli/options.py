"""What can be typed: every command, option and argument, in one table.

The parser, the shell completion and the reference page are made from it, and an option
with a key stands for that key of the settings. Acts on nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from purlieu.cli.argument import Argument, Command
from purlieu.cli.content_options import AUDIT, FEED, SEARCH
from purlieu.cli.keeping_options import KEEPING
from purlieu.cli.proof_options import PROOF
from purlieu.cli.sitemap_options import SITEMAP
from purlieu.outcome import LANGUAGES
from purlieu.scope import MODES
from purlieu.settings.check import number_or_text
from purlieu.settings.key import FORMATS, KEPT

SHELLS: Final = ("bash", "zsh", "fish")
SETTINGS_FILE: Final = "purlieu.toml"
VIEWS: Final = ("politeness", "duplicates", "sitemaps")
"""What ``report`` prints of a run instead of writing files."""


_STORE: Final = Argument(("--store",), "the store (default: purlieu.db)", "FILE", default="purlieu.db")
_FILE: Final = Argument(
    ("file",), f"the settings file (default: {SETTINGS_FILE})", "FILE", "maybe", default=SETTINGS_FILE
)
_ADOPTED: Final = (
    Argument(("-o", "--output"), "the settings file to write; it must not exist yet (default: stdout)", "FILE"),
    Argument(("--json",), "print one JSON object: toml, carried, not_carried, warnings", kind="flag"),
)
_FORMATS: Final = ", ".join(FORMATS)
_TONGUES: Final = ", ".join(LANGUAGES)

COMMANDS: Final = (
    Command(
        "crawl",
        "crawl a site and account for every URL",
        (
            Argument(("urls",), "where to start; stands instead of the file's seeds", "URL", "rest"),
            Argument(("-c", "--config"), "the settings file; options override it", "FILE"),
            Argument(
                ("--scope",),
                "how far the crawl reaches (default: same-host)",
                "MODE",
                key="scope.mode",
                choices=MODES,
            ),
            Argument(
                ("--include",),
                "take only what matches: a URL's beginning, or *.html; may be repeated",
                "PATTERN",
                "list",
                "filter.include",
            ),
            Argument(
                ("--exclude",),
                "leave out what matches: a URL's beginning, or */print/*; may be repeated",
                "PATTERN",
                "list",
                "filter.exclude",
            ),
            Argument(
                ("--max-depth",), "how many links away from a seed a page may be", "N", "number", "limits.max_depth"
            ),
            Argument(("--max-pages",), "end after so many pages", "N", "number", "limits.max_pages"),
            Argument(
                ("--max-seconds",), 'end after so long; "5 min" is understood', "TIME", "number", "limits.max_seconds"
            ),
            Argument(("--delay",), "least time between two requests to a host", "TIME", "number", "politeness.delay"),
            Argument(("--connections",), "requests to one host at a time", "N", "number", "politeness.connections"),
            Argument(
                ("--workers",), "processes that ask the web; auto: as many as help (default)", "N", "number", "workers"
            ),
            Argument(("--user-agent",), "what the crawler calls itself to servers", "TEXT", key="fetch.user_agent"),
            Argument(
                ("--public-only",),
                "connect to no private address, wherever a name leads",
                "",
                "on",
                "fetch.public_only",
            ),
            Argument(
                ("--check-fragments",),
                "compare links to places on pages (page#place) with the pages, for purlieu audit",
                "",
                "on",
                "links.check_fragments",
            ),
            Argument(
                ("--check-resources",),
                "ask of the images, scripts and styles of pages whether they are there, for purlieu audit",
                "",
                "on",
                "links.check_resources",
            ),
            Argument(
                ("--check-external",),
                "ask once for each link that leads out of scope, for purlieu audit to tell which are broken",
                "",
                "on",
                "links.check_external",
            ),
            Argument(("--ignore-robots",), "do not obey robots.txt; only for your own site", "", "off", "robots.obey"),
            Argument(("--endeca",), "take the settings from an Endeca configuration folder", "DIR"),
            Argument(("--endeca-defaults",), "the folder with its default.xml, if that is another", "DIR"),
            Argument(("--benjamin",), "take the settings from a Benjamin TaskConfig", "FILE"),
            Argument(("--list",), "crawl exactly the URLs in this file, one a line; - is stdin", "FILE"),
            Argument(("--name",), "the crawl's name (default: the first seed's host)", "NAME", key="name"),
            Argument(("--store",), "the file that remembers everything (default: purlieu.db)", "FILE", key="store"),
            Argument(
                ("--keep",),
                "what is kept of what was fetched (default: none); text: for search, body: WARC files",
                "WHAT",
                key="keep",
                choices=KEPT,
            ),
            Argument(("--documents",), "keep what PDF and Office files say as well", "", "on", "documents.read"),
            Argument(("--output",), "the folder for result files (default: purlieu-out)", "FOLDER", key="output"),
            Argument(
                ("--format",), f"a result file to write: {_FORMATS}; may be repeated", "FORMAT", "list", "formats"
            ),
            Argument(("--lang",), f"the language of sentences: {_TONGUES}", "LANG", key="language", choices=LANGUAGES),
            Argument(("--resume",), "go on with the last unfinished run", kind="flag"),
            Argument(("--again",), "crawl with the settings kept for this crawl, else those of its last run", "CRAWL"),
            Argument(("--revisit",), "ask only for what may have changed since the last run", "", "on", "revisit"),
            Argument(("--demo",), "crawl a small site that is served here for the purpose", kind="flag"),
            Argument(("--strict",), "exit with status 3 when the result looks suspicious", kind="flag"),
            Argument(("-q", "--quiet"), "print nothing but the end", kind="flag", is_loudness=True),
            Argument(("-v", "--verbose"), "print each URL as it ends; -vv debugs", kind="count", is_loudness=True),
            Argument(("--log",), "add what happens to this file, each verdict too, one JSON object a line", "FILE"),
            Argument(("--json",), "print one JSON object a line", kind="flag"),
        ),
    ),
    Command(
        "runs",
        "list the runs that the store remembers",
        (
            Argument(("--crawl",), "list the runs of this crawl alone", "CRAWL"),
            Argument(("--lang",), "the language of states", "LANG", choices=LANGUAGES),
            Argument(("--json",), "print one JSON object a line", kind="flag"),
            _STORE,
        ),
    ),
    Command(
        "report",
        "write the result files of a run and print its books",
        (
            Argument(("run",), "the run's number, or latest", "RUN"),
            Argument(
                ("--format",),
                f"a result file to write; may be repeated. Or what to print instead: {', '.join(VIEWS)}",
                "FORMAT",
                "list",
                choices=(*FORMATS, *VIEWS),
            ),
            Argument(("-o", "--output"), "where to write (default: where the run's settings say)", "FOLDER"),
            Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
            Argument(
                ("--json",),
                "print JSON: the books as one object, or what is printed instead as one a line",
                kind="flag",
            ),
            _STORE,
        ),
    ),
    Command(
        "diff",
        "tell what changed from one run to another",
        (
            Argument(
                ("runs",), "two runs, the earlier first: a number, latest, CRAWL@last or CRAWL@last-1", "RUN", "rest"
            ),
            Argument(("--last",), "compare the last two runs of this crawl", "CRAWL"),
            Argument(("--list",), "list every page that is not as it was", kind="flag"),
            Argument(
                ("--header",), "a header of which the value counts, not its presence; may be repeated", "NAME", "list"
            ),
            Argument(("--format",), "write the list instead, as this", "FORMAT", choices=("csv", "jsonl")),
            Argument(("-o", "--output"), "the file to write the list to (default: stdout)", "FILE"),
            Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
            Argument(("--json",), "print the counts as one JSON object, after one a page with --list", kind="flag"),
            _STORE,
        ),
    ),
    AUDIT,
    SEARCH,
    FEED,
    Command(
        "explain",
        "tell why a URL is in or out, without asking the network",
        (
            Argument(("url",), "the URL to explain", "URL"),
            Argument(
                ("-c", "--config"),
                f"the settings file to judge by (default: {SETTINGS_FILE}, or else the latest run)",
                "FILE",
            ),
            Argument(("--run",), "judge as this run did, and tell what it knows: its number, or latest", "RUN"),
            Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
            Argument(("--json",), "print one JSON object", kind="flag"),
            _STORE,
        ),
    ),
    Command(
        "scope",
        "try out what belongs to a crawl, without asking the network",
        commands=(
            Command(
                "check",
                "judge URLs by a settings file; exit status 1 if any is refused",
                (
                    Argument(("urls",), "a URL, a file with one a line, or - for stdin", "URL", "rest"),
                    Argument(
                        ("-c", "--config"),
                        f"the settings file (default: {SETTINGS_FILE})",
                        "FILE",
                        default=SETTINGS_FILE,
                    ),
                    Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
                    Argument(("--json",), "print one JSON object a line", kind="flag"),
                ),
            ),
            Command(
                "whatif",
                "tell which pages of a run other settings would take in or leave out",
                (
                    Argument(("run",), "the run's number, or latest", "RUN"),
                    Argument(
                        ("-c", "--config"),
                        f"the other settings file (default: {SETTINGS_FILE})",
                        "FILE",
                        default=SETTINGS_FILE,
                    ),
                    Argument(("--list",), "list the pages that enter or leave", kind="flag"),
                    Argument(("--lang",), "the language of sentences", "LANG", choices=LANGUAGES),
                    Argument(
                        ("--json",), "print the counts as one JSON object, after one a page with --list", kind="flag"
                    ),
                    _STORE,
                ),
            ),
            Command(
                "leaktest",
                "crawl a site, served here, that tempts out of scope; exit status 1 if it succeeds",
                (
                    Argument(("-c", "--config"), "the settings file (default: none, a crawl as it comes)", "FILE"),
                    Argument(("--scope",), "how far the crawl reaches, in every site", "MODE", choices=MODES),
                    Argument(("--json",), "print one JSON object: requests, leaks, rounds", kind="flag"),
                ),
            ),
        ),
    ),
    SITEMAP,
    Command(
        "config",
        "check, show or describe the settings file",
        commands=(
            Command("check", "tell every mistake in the file", (_FILE,)),
            Command(
                "show",
                "print all settings of a file or a crawl, defaults included; secrets are masked",
                (
                    Argument(("file",), f"the settings file (default: {SETTINGS_FILE})", "FILE", "maybe"),
                    Argument(("--crawl",), "instead those kept for this crawl, else those of its last run", "NAME"),
                    Argument(("--store",), "the store that the crawl is in (default: purlieu.db)", "FILE"),
                ),
            ),
            Command("schema", "print the JSON Schema of the file, for editors"),
        ),
    ),
    Command(
        "adopt",
        "write a settings file that decides as another system's configuration does",
        commands=(
            Command(
                "endeca",
                "adopt a configuration folder of the Endeca Web Crawler",
                (
                    Argument(("folder",), "the folder with site.xml, the original's -c", "DIR"),
                    Argument(("--defaults",), "the folder with default.xml, if that is another", "DIR"),
                    Argument(("--seed",), "a seed, or a file with one a line; may be repeated", "SEED", "list"),
                    Argument(("--depth",), "how many links away from a seed a page may be; 0 is the seeds", "N"),
                    Argument(("--limit",), "end after so many pages; 0 is no limit", "N"),
                    *_ADOPTED,
                ),
            ),
            Command(
                "benjamin",
                "adopt a Benjamin TaskConfig, JSON or YAML",
                (
                    Argument(("file",), "the TaskConfig; - is stdin", "FILE"),
                    Argument(("--strict",), "refuse SameTLD for an address instead of taking SameDomain", kind="flag"),
                    *_ADOPTED,
                ),
            ),
        ),
    ),
    PROOF,
    *KEEPING,
    Command(
        "completion",
        "print a script that completes commands and options in your shell",
        (Argument(("shell",), f"your shell: {', '.join(SHELLS)}", "SHELL", choices=SHELLS),),
    ),
)
"""Everything that can be typed after ``purlieu``, besides ``--version`` and ``--help``."""

_CRAWL: Final = COMMANDS[0].arguments
_ACTIONS: Final[dict[str, dict[str, Any]]] = {
    "flag": {"action": "store_true"},
    "off": {"action": "store_const", "const": False},
    "on": {"action": "store_const", "const": True},
    "count": {"action": "count", "default": 0},
    "list": {"action": "append"},
    "rest": {"nargs": "*"},
    "maybe": {"nargs": "?"},
}
_UNREAD: Final = partial(argparse.HelpFormatter, width=80)
"""Lays each argument out as it is added, which nobody sees: it need not ask the terminal how wide it is."""


def parser(only: str = "") -> argparse.ArgumentParser:
    """Return the parser of the whole command line; of ``only`` one command where that is named and known."""
    from purlieu import __version__

    top = argparse.ArgumentParser(
        prog="purlieu",
        formatter_class=_UNREAD,
        description="A web crawler that knows its bounds: exactly your site, and one reason for every URL.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"purlieu {__version__}", help="print the version")
    _add(top, COMMANDS, "command", only)
    top.formatter_class = argparse.HelpFormatter
    return top


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return what was typed. Exits with status 2 and a usage line when it makes no command."""
    return parser(words[0] if words else "").parse_args(words)


def _add(parser: argparse.ArgumentParser, commands: tuple[Command, ...], into: str, only: str = "") -> None:
    # Named, or argparse lays out a usage line to find the same name.
    parts = parser.add_subparsers(dest=into, metavar="COMMAND", required=True, prog=parser.prog)
    # Only what was named: the other three hundred arguments take longer than the rest of the start.
    for command in [one for one in commands if one.name == only] or commands:
        told = f"{command.help[0].upper()}{command.help[1:]}."
        part = parts.add_parser(
            command.name, help=command.help, description=told, allow_abbrev=False, formatter_class=_UNREAD
        )
        # argparse fails on a group without arguments
        loud = any(argument.is_loudness for argument in command.arguments)
        loudness = part.add_mutually_exclusive_group() if loud else part
        for argument in command.arguments:
            facts = {"help": argument.help, **_ACTIONS.get(argument.kind, {})}
            facts |= {"metavar": argument.metavar} if argument.metavar else {}
            facts |= {"choices": argument.choices} if argument.choices and not argument.key else {}
            facts |= {"default": argument.default} if argument.default else {}
            (loudness if argument.is_loudness else part).add_argument(*argument.names, **facts)
        if command.commands:
            _add(part, command.commands, "what")
        part.formatter_class = argparse.HelpFormatter


def overrides(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the settings that the options of ``crawl`` override, by dotted key."""
    given: dict[str, object] = {}
    for argument in _CRAWL:
        value = getattr(arguments, argument.name)
        if argument.key and value is not None:
            given[argument.key] = number_or_text(value) if argument.kind == "number" else value
    return given


def flag_of(key: str) -> str:
    """Return the option of ``crawl`` that stands for a key of the settings, "" when none does."""
    return next((argument.names[-1] for argument in _CRAWL if argument.key == key), "")


def every_command(commands: tuple[Command, ...] = COMMANDS, before: str = "") -> Iterator[tuple[str, Command]]:
    """Yield every command with what is typed for it, such as ``config show``."""
    for command in commands:
        typed = f"{before} {command.name}".strip()
        yield typed, command
        yield from every_command(command.commands, typed)
