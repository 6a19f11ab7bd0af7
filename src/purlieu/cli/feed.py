"""``purlieu feed``: tell a search engine, or a file, what changed in a crawl since it was last told.

Checks what was typed, builds what sends, and says what became of it.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from urllib.parse import urlsplit

from purlieu import __version__
from purlieu.cli.config import existing_store
from purlieu.cli.report import run_named
from purlieu.cli.words import safe, speaker, tongue
from purlieu.crawl.clock import RealClock
from purlieu.crawl.feeding import Sender, Tally, feed
from purlieu.errors import Mistake, SettingsError
from purlieu.feed import FRAME, REMOVED, Change, Target, asked, id_of
from purlieu.report.explain import settings_of
from purlieu.report.feed_document import NAMES
from purlieu.report.search import crawls
from purlieu.report.whole_file import replacing
from purlieu.settings import FetchSettings
from purlieu.store.database import Database
from purlieu.store.feed import Feed, FeedKey, newest_finished
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase

_INDEX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_HEADER: Final = re.compile(r"([A-Za-z0-9-]+)\s*:\s*(env:\S+)")
_SHOWN: Final = 20
_Lots = Iterator[list[tuple[FeedKey, Change]]]


class Sending(NamedTuple):
    """Where to send, with which credentials, and how the network is got at."""

    target: Target
    headers: Sequence[tuple[str, str]]
    way: FetchSettings


def run(arguments: argparse.Namespace) -> int:
    """Tell of the changes and print what became of them; return 1 when some were refused, else 0."""
    headers = _checked(arguments)
    database = SqliteDatabase.beside(existing_store(arguments.store))
    try:
        number, row = _crawl(database, arguments)
        reader = Reader(database)
        crawl, run_number, seeds = row.crawl, row.id, reader.seeds(row)
        index = arguments.index or re.sub(r"[^a-z0-9._-]+", "-", crawl.lower()).strip("._-") or "purlieu"
        target = Target(arguments.to, (arguments.url or "").rstrip("/"), index)
        told = Feed(database, number, run_number, target.name)
        names = arguments.field_names or "own"
        tally = Tally()
        changed, gone = _changed(told, names, seeds, is_full=arguments.full), _gone(told)
        if target.url:
            made = settings_of(reader, row).fetch
            # Not how the site is to be crawled: only how the network is got at.
            way = FetchSettings(ca_file=made.ca_file, proxy_from_environment=made.proxy_from_environment)
            asyncio.run(_send(Sending(target, headers, way), told, changed, gone, tally))
        else:
            _write(target, told, changed, gone, tally, arguments.output)
    finally:
        database.close()
    out = sys.stdout if target.url or arguments.output else sys.stderr
    if arguments.json:
        facts = {"crawl": crawl, "run": run_number, "target": target.name, **tally.accepted}
        refused = [{"id": one.id, "url": one.url, "reason": reason} for one, reason in tally.refused]
        out.write(json.dumps({**facts, "refused": refused}, ensure_ascii=False) + "\n")
    else:
        out.writelines(f"{line}\n" for line in _lines(tally, target, tongue(arguments.lang)))
    return 1 if tally.refused else 0


def _checked(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Return the headers that carry credentials. Raises SettingsError with every mistake in what was typed."""
    mistakes, headers = [], []
    if arguments.to is None:
        mistakes.append(Mistake("--to", "", "name who is told: opensearch, elasticsearch, meilisearch, solr or jsonl"))
    if arguments.url:
        parts = urlsplit(arguments.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            mistakes.append(
                Mistake("--url", arguments.url, "write the server's address, such as http://localhost:9200")
            )
        elif parts.username is not None or parts.password is not None:
            shown = arguments.url.replace(parts.netloc, parts.netloc.rpartition("@")[2])
            mistakes.append(Mistake("--url", shown, "leave user and password out: --user takes them from a variable"))
        if arguments.output:
            mistakes.append(Mistake("--output", arguments.output, "a server or a file is told: leave one of them out"))
    elif arguments.to == "meilisearch" and not arguments.output:
        mistakes.append(Mistake("--to", "meilisearch", "name a file with -o: what is removed goes into one beside it"))
    if arguments.index is not None and not _INDEX.fullmatch(arguments.index):
        mistakes.append(Mistake("--index", arguments.index, "write letters, digits, dots, lines and underlines"))
    for option, text in (("--user", arguments.user), *(("--header", one) for one in arguments.header or ())):
        if text is not None:
            found = _HEADER.fullmatch(text) if option == "--header" else None
            name, variable = (found[1], found[2]) if found else ("Authorization", text)
            value = os.environ.get(variable.removeprefix("env:"), "")
            if not variable.startswith("env:") or (option == "--header" and not found):
                remedy = "a secret is not typed: write env:VARIABLE for it, and set the variable"
                mistakes.append(Mistake(option, "...", remedy))
            elif not value or not value.isprintable():
                mistakes.append(Mistake(option, variable, "set this variable of the environment, to one line"))
            else:
                basic = "Basic " + base64.b64encode(value.encode()).decode()
                headers.append((name, basic if option == "--user" else value))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return headers


def _crawl(database: Database, arguments: argparse.Namespace) -> tuple[int, RunRow]:
    """Return the number of the crawl and its newest finished run. Raises SettingsError."""
    reader = Reader(database)
    known = {name: number for number, name in crawls(database)}
    is_name = reader.crawl_number(arguments.crawl) is not None
    named = None if is_name else run_named(reader, arguments.crawl, arguments.store)
    crawl = arguments.crawl if named is None else named.crawl
    if crawl not in known:
        remedy = f"{crawl} has kept no text in {arguments.store}; crawl it with --keep text"
        raise SettingsError((Mistake("CRAWL", arguments.crawl, remedy),))
    newest = newest_finished(database, known[crawl])
    if newest is None:
        remedy = f"{crawl} has no finished run; resume the last one"
        raise SettingsError((Mistake("CRAWL", arguments.crawl, remedy),))
    if named is not None and named.id != newest:
        remedy = f"the store has the newest content alone; write {crawl}, or {newest}, its newest finished run"
        raise SettingsError((Mistake("CRAWL", arguments.crawl, remedy),))
    row = reader.run(newest)
    assert row is not None  # noqa: S101 - the store has just named it
    return known[crawl], row


def _changed(told: Feed, names: str, seeds: Sequence[str], *, is_full: bool) -> _Lots:
    make = NAMES[names]
    for some in told.changed("" if names == "own" else f" {names}", is_full=is_full):
        lot = []
        for key, row in some:
            ident = id_of(row.url)
            what = "changed" if row.is_known else "added"
            lot.append((key, Change(what, ident, row.url, make(row, ident, seeds))))
        yield lot


def _gone(told: Feed) -> _Lots:
    for some in told.gone():
        yield [(key, Change(REMOVED, id_of(url), url)) for key, url in some]


async def _send(sending: Sending, told: Feed, changed: _Lots, gone: _Lots, tally: Tally) -> None:
    from purlieu.fetch.http import HttpFetcher

    clock = RealClock()
    fetcher = HttpFetcher(sending.way, (), (), f"Purlieu/{__version__}", clock.now)
    target = sending.target
    sender = Sender(target, fetcher, clock, sending.headers)
    try:
        await feed(sender, target, changed, lambda keys: told.accept(keys, clock.now()), tally)
        await feed(sender, target, gone, told.remove, tally)
    finally:
        await fetcher.close()


def _write(target: Target, told: Feed, changed: _Lots, gone: _Lots, tally: Tally, output: str | None) -> None:
    """Write a file, whole, and only then remember what is in it; Meilisearch's removals stand in one beside it."""
    kept: list[FeedKey] = []
    removed: list[FeedKey] = []
    with ExitStack() as files:
        file: BinaryIO = files.enter_context(replacing(Path(output))) if output else sys.stdout.buffer
        beside = None
        before, between, after = FRAME.get(target.form, (b"", b"", b""))
        file.write(before)
        is_first = True
        for some in chain(changed, gone):
            if some[0][1].what == REMOVED and target.form == "meilisearch":
                beside = beside or files.enter_context(replacing(Path(f"{output}.removed.json")))
                removed += [key for key, _ in some]
                continue
            body = asked(target, [change for _, change in some]).body
            file.write((b"" if is_first else between) + body[len(before) : len(body) - len(after)])
            is_first = False
            for key, change in some:
                (removed if change.what == REMOVED else kept).append(key)
                tally.accepted[change.what] += 1
        file.write(after)
        file.flush()
        if beside:
            lot = [change for some in _gone(told) for _, change in some]
            beside.write(asked(target, lot).body)
            tally.accepted[REMOVED] = len(lot)
    told.accept(kept, RealClock().now())
    told.remove(removed)


def _lines(tally: Tally, target: Target, language: str) -> Iterator[str]:
    say = speaker(language)
    numbers = {what: f"{number:,}" for what, number in tally.accepted.items()}
    yield say("{target}: {added} added, {changed} changed, {removed} removed", target=safe(target.name), **numbers)
    if tally.refused:
        yield say("{count} records were refused, and will be offered again:", count=f"{len(tally.refused):,}")
        for change, reason in tally.refused[:_SHOWN]:
            yield safe(f"  {change.url}  {reason}")
        if len(tally.refused) > _SHOWN:
            yield "  " + say("... and {count} more", count=f"{len(tally.refused) - _SHOWN:,}")
