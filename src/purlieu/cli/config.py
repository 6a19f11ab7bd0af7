"""Settings from a file and from what was typed; ``purlieu config``.

The only place that reads settings files and lists of URLs. What is right is
decided by ``purlieu.settings``; here mistakes only get the name the owner used.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TextIO

from purlieu import settings
from purlieu.cli import options
from purlieu.cli.words import tongue
from purlieu.errors import Mistake, SettingsError
from purlieu.settings import Settings, advice
from purlieu.value import replace


def read(path: str) -> str:
    """Return the text of a settings file; raises SettingsError when it cannot be read."""
    return text_of(path, "-c", "give the path of a settings file")


def of_crawl(arguments: argparse.Namespace, stdin: TextIO, stored: tuple[str, str] | None = None) -> Settings:
    """Return the settings of ``purlieu crawl``: the file's, overridden by options, URLs and list.

    ``stored``, a text and where it comes from, stands instead of the file (a run to resume). Raises
    SettingsError with every mistake; one in an option names the option, one in a list its line.
    """
    given = options.overrides(arguments)
    listed = _list(arguments.list, stdin) if arguments.list else {}
    if arguments.urls or listed:
        given["seeds"] = [*arguments.urls, *listed]
    if arguments.list:
        given["scope.only_seeds"] = True
    text, path = stored or (read(arguments.config) if arguments.config else "", arguments.config)
    mistakes: list[Mistake] = []
    try:
        made = settings.read(text, path=path, overrides=given)
    except SettingsError as error:
        mistakes += [_renamed(mistake, arguments.list, listed) for mistake in error.mistakes]
    else:
        made = _with_rules(made, path, mistakes)
        if not made.seeds:
            mistakes.append(_nothing(arguments))
        mistakes += _unreadable(made, path) + _unset(made, path) + _lacking(made, path)
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return made


def of_file(path: str) -> Settings:
    """Return the settings of a file with the lines of its rules file; raises SettingsError with every mistake."""
    mistakes: list[Mistake] = []
    made = _with_rules(settings.read(read(path), path=path), path, mistakes)
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return made


def _with_rules(made: Settings, path: str | None, mistakes: list[Mistake]) -> Settings:
    """Return the settings with the lines of ``filter.rules_file``, which stands relative to the settings file."""
    name = made.filter.rules_file
    if not name:
        return made
    try:
        text = text_of(str(Path(path or ".").parent / name), "filter.rules_file", "give the path of a file of rules")
        return settings.with_rules(made, text)
    except SettingsError as error:
        mistakes += error.mistakes
        return made


def existing_store(path: str) -> str:
    """Return the path of a store that is there; raises SettingsError when it is not."""
    if not Path(path).is_file():
        raise SettingsError((Mistake("--store", path, "there is no such file; give the store that a crawl wrote"),))
    return path


def kept_text(name: str, store: str, key: str) -> tuple[str, str]:
    """Return the settings kept for a crawl, else its last run's, and where they come from.

    Raises SettingsError that names ``key`` where there are none.
    """
    from purlieu.store.crawls import kept
    from purlieu.store.reader import Reader
    from purlieu.store.sqlite import SqliteDatabase

    database = SqliteDatabase.reader(store)
    try:
        reader = Reader(database)
        if own := kept(database, name):
            return own.toml, f'{store}, crawl "{name}"'
        if last := reader.latest(name):
            return reader.config(last), f"{store}, run {last.id}"
        known = ", ".join(one for _, one in reader.crawls()) or "none"
        remedy = f"it has neither settings nor a run in {store}; write one of: {known}"
        raise SettingsError((Mistake(key, name, remedy),))
    finally:
        database.close()


def _shown(arguments: argparse.Namespace) -> Settings:
    """Return the settings that are to be shown: a file's, or a crawl's."""
    if arguments.crawl is None:
        path = arguments.file or options.SETTINGS_FILE
        return _readable(settings.read(read(path), path=path), path)
    if arguments.file is not None:
        raise SettingsError((Mistake("--crawl", arguments.crawl, "leave FILE out: the settings are the crawl's"),))
    text, where = kept_text(arguments.crawl, existing_store(arguments.store or Settings().store), "--crawl")
    return _readable(settings.read(text, path=where), where)


def _nothing(arguments: argparse.Namespace) -> Mistake:
    if arguments.list:
        return Mistake("--list", arguments.list, "there is no URL in it; write one a line")
    there = " purlieu.toml" if Path("purlieu.toml").is_file() else " FILE"
    where = (
        "write seeds in the file, or give a URL" if arguments.config else f"give a URL, or a settings file: -c{there}"
    )
    return Mistake("URL", "", f"nothing to crawl; {where}", arguments.config)


def _list(path: str, stdin: TextIO) -> dict[str, int]:
    """Return the URLs of a list with their first lines; blank lines and lines that begin with # are no URLs."""
    remedy = "give the path of a file with one URL a line, or -"
    text = text_of(path, "--list", remedy, stdin if path == "-" else None)
    listed: dict[str, int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        if (one := line.strip()) and not one.startswith("#"):
            listed.setdefault(one, number)
    return listed


def text_of(path: str, key: str, remedy: str, stream: TextIO | None = None) -> str:
    """Return the text of a file, or of a stream instead; raises SettingsError that names ``key``."""
    try:
        return stream.read() if stream else Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SettingsError((Mistake(key, path, "the file is not UTF-8; save it as UTF-8"),)) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or str(error)
        raise SettingsError((Mistake(key, path, f"the file cannot be read ({why}); {remedy}"),)) from None


def _unreadable(made: Settings, path: str | None) -> list[Mistake]:
    """Return a mistake for each file that the settings name and that cannot be read."""
    if not made.fetch.ca_file:
        return []
    try:
        text_of(made.fetch.ca_file, "fetch.ca_file", "give the path of a PEM file")
    except SettingsError as error:
        return [replace(mistake, file=path) for mistake in error.mistakes]
    return []


def _readable(made: Settings, path: str | None) -> Settings:
    """Return the settings unless a file that they name cannot be read; raises SettingsError."""
    if mistakes := _unreadable(made, path):
        raise SettingsError(tuple(mistakes))
    return made


def _unset(made: Settings, path: str | None) -> list[Mistake]:
    """Return a mistake for each secret that is not there, so that no run begins without it."""
    from purlieu.crawl.clock import RealClock
    from purlieu.fetch import secret

    try:
        secret.resolved(made, RealClock().now())
    except SettingsError as error:
        return [replace(mistake, file=path) for mistake in error.mistakes]
    return []


def _lacking(made: Settings, path: str | None) -> list[Mistake]:
    """Return the mistake that something is asked for whose library is not installed."""
    if not made.reads_documents:
        return []
    from purlieu.document import lacking

    return [replace(mistake, file=path) for mistake in lacking(made)]


def _renamed(mistake: Mistake, listed_in: str | None, listed: dict[str, int]) -> Mistake:
    """Return the mistake with the name the owner used: the option's, or the list's line."""
    if mistake.file is not None:
        return mistake
    if mistake.key == "seeds":
        line = listed.get(mistake.value)
        return replace(mistake, key=f"line {line}", file=listed_in) if line else replace(mistake, key="URL")
    return replace(mistake, key=options.flag_of(mistake.key) or mistake.key)


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu config`` and return the exit status."""
    if arguments.what == "schema":
        import json

        sys.stdout.write(json.dumps(settings.schema(), ensure_ascii=False, indent=2) + "\n")
        return 0
    if arguments.what == "show":
        sys.stdout.write(settings.dump(_shown(arguments)))
        return 0
    made = _readable(settings.read(read(arguments.file), path=arguments.file), arguments.file)
    if mistakes := _lacking(made, arguments.file):
        raise SettingsError(tuple(mistakes))
    sys.stdout.write(f"{arguments.file}: no mistakes\n")
    for finding in advice.findings(made):
        sys.stdout.write(f"{arguments.file}: {finding.sentence(tongue(None, made.language))}\n")
    return 0
