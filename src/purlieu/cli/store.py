"""``purlieu store``: check a store, save what a damaged one holds, upgrade an older one.

Says what ``purlieu.store`` finds out; decides and mends nothing itself.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from purlieu.cli.config import existing_store
from purlieu.cli.words import Say, safe, speaker, tongue
from purlieu.crawl.clock import RealClock
from purlieu.store.sqlite import SqliteDatabase, is_held
from purlieu.store.sqlite.check import Checked, check
from purlieu.store.sqlite.salvage import Saved, save


def run(arguments: argparse.Namespace) -> int:
    """Do one of the commands and return the exit status."""
    path = existing_store(arguments.file or "purlieu.db")
    return {"check": _check, "repair": _repair, "upgrade": _upgrade}[arguments.what](path, arguments)


def _check(path: str, arguments: argparse.Namespace) -> int:
    """Tell what is wrong with a store; exit status 1 if anything is."""
    found = check(path, RealClock().now())
    if arguments.json:
        sys.stdout.write(json.dumps(facts(path, found), ensure_ascii=False) + "\n")
    else:
        language = tongue(arguments.lang)
        sys.stdout.writelines(f"{line}\n" for line in checked_lines(path, found, speaker(language), language))
    return 0 if found.is_sound else 1


def facts(path: str, found: Checked) -> dict[str, object]:
    """Return a check as values for JSON."""
    return {
        "store": path,
        "sound": found.is_sound,
        "faults": [
            {"code": one.code, "run": one.run, "count": one.count, "sentence": one.sentence()} for one in found.faults
        ],
        "unfinished": [{"run": run, "crawl": crawl} for run, crawl in found.unfinished],
        "in_use": found.is_held,
        "unused_log_bytes": found.log_bytes_unused,
        "readable": found.readable,
    }


def checked_lines(path: str, found: Checked, say: Say, language: str = "en") -> Iterator[str]:
    """Yield what is to be said of a check."""
    name = safe(path)
    if found.is_sound:
        yield say("{store} is sound.", store=name)
    else:
        yield say("{store} is not sound:", store=name)
        yield from (f"  {safe(one.sentence(language))}" for one in found.faults)
    if found.readable:
        rows = ", ".join(f"{table} {count:,}" for table, count in sorted(found.readable.items()))
        yield say("What can still be read: {rows}", rows=rows)
    if found.is_held:
        yield say("A crawl is working on it now.")
    else:
        for number, crawl in found.unfinished:
            yield say("Run {run} of {name} can be resumed.", run=number, name=safe(crawl))
    if found.log_bytes_unused and not found.is_held:
        yield say(
            "The last {count} bytes of its log belong to no commit, as after a power cut; they are left out.",
            count=f"{found.log_bytes_unused:,}",
        )
    if not found.is_sound:
        yield say('"purlieu store repair {store}" saves what can be saved into a new file.', store=name)


def _repair(path: str, arguments: argparse.Namespace) -> int:
    """Save what can be read into a new store, unless nothing is wrong."""
    language = tongue(arguments.lang)
    say = speaker(language)
    now = RealClock().now()
    if is_held(path):
        SqliteDatabase.writer(path).close()  # says who holds it
    if check(path, now).is_sound:
        sys.stdout.write(say("{store} is sound: there is nothing to repair.", store=safe(path)) + "\n")
        return 0
    target = arguments.output or f"{path}.repaired"
    saved = save(path, target, now)
    sys.stdout.writelines(f"{line}\n" for line in saved_lines(path, saved, say))
    return 0


def saved_lines(path: str, saved: Saved, say: Say) -> Iterator[str]:
    """Yield what is to be said of a repair."""
    yield say(
        "What could be read is saved in {target}; {store} was not touched.",
        target=safe(str(saved.path)),
        store=safe(path),
    )
    for table in saved.tables:
        if table.saved or table.refused:
            line = say("  {table}: {count} rows saved", table=table.name, count=f"{table.saved:,}")
            yield line + (say(", {count} unusable", count=f"{table.refused:,}") if table.refused else "")
    if saved.damaged_pages:
        yield say(
            "{damaged} of {pages} pages are damaged.", damaged=f"{saved.damaged_pages:,}", pages=f"{saved.pages:,}"
        )
    if saved.strays:
        yield say("{count} rows belong to no table for certain and were left out.", count=f"{saved.strays:,}")
    for run in saved.runs:
        values = {"run": run.run, "name": safe(run.crawl), "entries": f"{run.entries:,}", "lost": f"{run.lost:,}"}
        if run.can_go_on:
            yield say(
                "Run {run} of {name}: {entries} URLs are there, {lost} were lost; --resume finds them again.", **values
            )
        else:
            yield say("Run {run} of {name}: {entries} URLs are there, {lost} were lost.", **values)
    yield say("To go on with it, move {store} away and give the new file its name.", store=safe(path))


def _upgrade(path: str, arguments: argparse.Namespace) -> int:
    """Bring an older store to today's schema."""
    database = SqliteDatabase.writer(path, copy=not arguments.no_copy)
    database.close()
    kept = database.kept
    say = speaker(tongue(arguments.lang))
    if kept:
        sys.stdout.write(
            say("{store} is up to date; {kept} is the store as it was.", store=safe(path), kept=safe(str(kept)))
        )
    else:
        sys.stdout.write(say("{store} is up to date.", store=safe(path)))
    sys.stdout.write("\n")
    return 0
