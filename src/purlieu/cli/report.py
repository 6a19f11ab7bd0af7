"""``purlieu runs`` and ``purlieu report``: what the store remembers, shown and written.

Reads the store; the files are made by ``purlieu.report``, the text by ``summary.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from purlieu import report, settings
from purlieu.cli import summary
from purlieu.cli.config import existing_store
from purlieu.cli.words import columned, fitted, safe, tongue
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.report import states
from purlieu.report.pruning import refuse
from purlieu.settings import Settings
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase

_LEAST: Final = ("RUN", "STARTED", "STATE", "CRAWL", "PAGES", "URLS BY ENDING")
"""What a narrow terminal shows of the runs."""


def runs(arguments: argparse.Namespace) -> int:
    """Print the runs of a store, the newest first."""
    with opened(arguments.store) as reader:
        if arguments.crawl:
            known_crawl(reader, "--crawl", arguments.crawl, arguments.store)
        found = list(states.listed(reader, arguments.crawl))
    if arguments.json:
        for one in found:
            facts = {"shown_state": one.state, "pages": one.pages, "trend": one.trend, "marks": list(one.marks)}
            facts |= {"pruned_at": one.run.pruned_at}
            sys.stdout.write(json.dumps({**summary.of_row(one.run, one.kinds), **facts}, ensure_ascii=False) + "\n")
        return 0
    rows: list[tuple[str, ...]] = [("RUN", "STARTED", "ENDED", "STATE", "CRAWL", "PAGES", "TREND", "URLS BY ENDING")]
    rows += [_listed(one, tongue(arguments.lang)) for one in found]
    for line in fitted(columned(rows, sys.stdout, _LEAST), sys.stdout):
        sys.stdout.write(f"{line}\n")
    return 0


def _listed(one: states.Listed, language: str) -> tuple[str, ...]:
    run = one.run
    state = one.state.words(language)
    if one.state in {states.State.LIMIT, states.State.SYSTEM}:
        state += f" ({safe((run.stop_reason or '').removeprefix('system:'))})"
    kinds = ", ".join(f"{kind} {n:,}" for kind, n in one.kinds.items()) + (" (pruned)" if run.pruned_at else "")
    trend = "" if one.trend is None else f"{one.trend:+,}"
    return (
        *(str(run.id), _time(run.started_at), _time(run.ended_at), state),
        *(safe(run.crawl), f"{one.pages:,}", trend, kinds),
    )


def _time(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def run(arguments: argparse.Namespace) -> int:
    """Write the result files of a run, print its books, and return 0."""
    with opened(arguments.store) as reader:
        row = run_named(reader, arguments.run, arguments.store, pruned=True)
        made = _settings(reader, row)
    language = tongue(arguments.lang, made.language)
    formats = arguments.format or made.formats
    folder = Path(arguments.output or settings.result_folder(made, row.crawl, row.id))
    now = RealClock().now()
    files = report.write(arguments.store, row.id, folder, formats, arguments.lang or made.language, now=now)
    with opened(arguments.store) as reader:
        told = summary.of_run(reader, row, tuple(map(str, files)))
        absent = report.crawl_result.available(row, now, report.crawl_result.kept_days(reader, row))
    if arguments.json:
        sys.stdout.write(json.dumps(summary.facts(told), ensure_ascii=False) + "\n")
        return 0
    for line in fitted(summary.lines(told, language), sys.stdout):
        sys.stdout.write(f"{line}\n")
    if "crawl_result" in formats and absent:
        sys.stdout.write(f"\n{report.FILES['crawl_result']}: {absent.sentence(language)}\n")
    return 0


def known_crawl(reader: Reader, option: str, crawl: str, store: str) -> list[RunRow]:
    """Return the runs of a store; raises SettingsError when none is of the crawl that an option names."""
    runs = reader.runs()
    if all(one.crawl != crawl for one in runs):
        known = ", ".join(dict.fromkeys(one.crawl for one in runs)) or "none yet"
        raise SettingsError((Mistake(option, crawl, f"there is no run of it in {store}; its crawls: {known}"),))
    return runs


def run_named(reader: Reader, named: str, store: str, *, pruned: bool = False) -> RunRow:
    """Return the run of a number, the latest, or a crawl's: NAME@last, NAME@last-1 and so on.

    Raises SettingsError when there is none, and StoreError when its rows were pruned, unless ``pruned`` will do.
    """
    crawl, at, back = named.rpartition("@last")
    if named == "latest":
        row = reader.latest()
    elif at and (not back or back.removeprefix("-").isdecimal()):
        row = _of_crawl(reader, crawl, int(back.removeprefix("-") or 0))
    else:
        row = reader.run(int(named)) if named.isdecimal() and len(named) < 18 else None
    if row is None:
        known = ", ".join(str(one.id) for one in reader.runs()[:20]) or "none"
        remedy = f"there is no such run in {store}; write latest, CRAWL@last, or one of its runs ({known})"
        raise SettingsError((Mistake("RUN", named, remedy),))
    return row if pruned else refuse(row)


def _of_crawl(reader: Reader, crawl: str, back: int) -> RunRow | None:
    """Return a crawl's newest run, or one so many before it."""
    runs = [one for one in reader.runs() if one.crawl == crawl]
    return runs[back] if back < len(runs) else None


def _settings(reader: Reader, row: RunRow) -> Settings:
    """Return the settings a run was made with; the defaults where they cannot be read (a masked secret)."""
    try:
        return settings.read(reader.config(row))
    except SettingsError:
        return Settings()


@contextmanager
def opened(store: str) -> Iterator[Reader]:
    """Give a reader of a store; raises SettingsError when there is no such file."""
    database = SqliteDatabase.reader(existing_store(store))
    try:
        yield Reader(database)
    finally:
        database.close()
