"""Runs of crawls: begin, resume, end (R-1.1, R-1.7, section 8 of the rules)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from purlieu.errors import NothingToResume
from purlieu.settings.reading import judge_alike
from purlieu.store import setback
from purlieu.store.counters import Counters, Run
from purlieu.store.crawls import add_config
from purlieu.store.database import Database
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class Opened:
    """A run to work on: what it has counted so far and for how many seconds it has been active.

    ``changed``: it is resumed with settings that judge otherwise than those it was made with.
    """

    run: Run
    counters: Counters
    active_seconds: float
    changed: bool = False


def begin(database: Database, name: str, settings: tuple[str, bool], version: str, now: float) -> Opened:
    """Start a new run of the crawl ``name`` (made when absent); ``settings`` as text, and whether it is a revisit."""
    toml, revisit = settings
    with database.transaction():
        setback.undo(database, None, now)
        database.run("end_the_dead")
        crawl = _number(database.one("crawl_id", name) or database.one("add_crawl", name))
        run = _number(database.one("add_run", crawl, add_config(database, toml), version, now, revisit))
    return Opened(Run(run, crawl, revisit), Counters(), 0.0)


def resume(database: Database, name: str, toml: str, now: float) -> Opened:
    """Go on with the last run of the crawl ``name`` if it is unfinished; raises NothingToResume else."""
    crawl = database.one("crawl_id", name)
    last = database.one("last_run", crawl[0]) if crawl else None
    if crawl is None or last is None:
        known = ", ".join(f'"{row[0]}"' for row in database.rows("crawl_names")) or "none"
        message = (
            f'there is no run of "{name}" to resume (crawls in this store: {known}); leave --resume out to begin one'
        )
        raise NothingToResume(message)
    run, state, stop_reason, counters, active_seconds, before, revisit = last
    if state == "done" and not (stop_reason or "").startswith("limit:"):
        message = (
            f'the last run of "{name}" (run {run}) has finished; leave --resume out to begin a new one, '
            f'or use "purlieu report {run}" for its files'
        )
        raise NothingToResume(message)
    with database.transaction():
        setback.undo(database, run, now)
        database.run("end_the_dead")
        database.run("reopen_run", add_config(database, toml), now, run)
    changed = not judge_alike(before, toml)
    return Opened(Run(run, crawl[0], bool(revisit)), _counters(counters), active_seconds, changed)


def last_unfinished(database: Database) -> tuple[str, str]:
    """Return the name and settings text of the newest unfinished run; raises NothingToResume when all have finished."""
    row = database.one("last_unfinished")
    if row is None:
        message = "every run in this store has finished: there is nothing to resume; leave --resume out to begin one"
        raise NothingToResume(message)
    return row[0], row[1]


def end(database: Database, run: Run, state: str, stop_reason: str, now: float) -> None:
    """Write how a run ended: ``done``, ``stopped`` by its owner or ``failed`` by the system (R-8.1)."""
    database.run("end_run", state, stop_reason, now, run.id)


def save_books(database: Database, run: Run, books: dict[str, Any]) -> None:
    """Write a run's books, and what its rows sum up to for the list of runs."""
    database.run("save_books", json.dumps(books, sort_keys=True), run.id)
    database.run("save_totals", run.id)


def stop_requested(database: Database, run: Run) -> bool:
    """Return whether somebody asked this run to stop (R-8.5)."""
    row = database.one("stop_requested", run.id)
    return bool(row and row[0])


def _counters(text: str) -> Counters:
    stored = json.loads(text)
    endings: Counter[str] = Counter(stored.pop("endings", {}))
    newest, faults = (tuple(map(tuple, stored.pop(name, ()))) for name in ("newest", "newest_faults"))
    return Counters(**stored, endings=endings, newest=newest, newest_faults=faults)


def _number(row: tuple[Any, ...] | None) -> int:
    if row is None:
        message = "a row was written and is not there"
        raise AssertionError(message)
    return int(row[0])
