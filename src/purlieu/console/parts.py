"""What the views are handed: the store, its shelves, the clock, what starts a process.

Opens the store for one request at a time, read-only. Knows no page.
"""

from __future__ import annotations

import json
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final, TypeVar

from starlette.requests import Request

from purlieu.console.guard import Door
from purlieu.console.jobs import Jobs
from purlieu.console.sweeping import sweep
from purlieu.console.waiting import PATIENCE_SECONDS, NotThere, Preparing
from purlieu.crawl.clock import Clock
from purlieu.crawl.keeper import Starter
from purlieu.errors import PurlieuError
from purlieu.finding import Finding
from purlieu.report import books, findings
from purlieu.report.pruning import refuse
from purlieu.report.search import crawls as searchable
from purlieu.report.search import prepare
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase, search
from purlieu.store.sqlite.shelf import Shelf, make, path_of
from purlieu.value import dataclass, field

__all__ = ["CountingReader", "NotThere", "Parts", "Preparing", "Shelves", "Terms", "Workshop"]
LIVE_SECONDS: Final = 10.0
"""A shelf of a run under way is made anew when it is older, or older than twenty times what making it took."""
WARM_RUNS: Final = 5
"""Runs that are looked through when the console starts: the latest of so many crawls."""
LOG: Final = logging.getLogger(__name__)
_MOST_NUMBER: Final = 2**62
_MOST_TOLD: Final = 200
Made = TypeVar("Made")


class CountingReader(Reader):
    """A reader that counts a run that has ended once: its numbers stay, and counting a million rows takes 3 s."""

    def __init__(self, database: SqliteDatabase, shelves: Shelves) -> None:
        """Read from ``database``, with what ``shelves`` knows."""
        super().__init__(database)
        self.database = database
        self._shelves = shelves

    def counts(self, run: RunRow) -> dict[tuple[str, str, str], int]:
        """Return how many rows of the ledger ended how; of a run under way, what it has counted by itself."""
        if run.pruned_at is not None:
            return super().counts(run)
        if run.state == "running":
            endings = run.counters.get("endings", {}).items()
            return {("page", *name.split(".", 1)): number for name, number in endings if number}
        return self._shelves.counts(run) or self._shelves.keep_counts(run, super().counts(run))


class Workshop:
    """Makes what takes long, in one thread, and keeps the last few things that were made."""

    def __init__(self, kept: int = 8) -> None:
        """Keep so many."""
        self._kept = kept
        self._maker = ThreadPoolExecutor(1, thread_name_prefix="workshop")
        self._made: OrderedDict[object, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: object, make: Callable[[], Made], patience_seconds: float = PATIENCE_SECONDS) -> Made:
        """Return what was made under a key. Raises Preparing while it is being made, and whatever ``make`` raises."""
        with self._lock:
            future = self._made.get(key)
            if future is None or (future.done() and future.exception() is not None):
                future = self._made[key] = self._maker.submit(make)
            self._made.move_to_end(key)
            while len(self._made) > self._kept:
                self._made.popitem(last=False)
        try:
            made: Made = future.result(patience_seconds)
        except NotYet:
            raise Preparing(str(key)) from None
        return made

    def begin(self, make: Callable[[], object]) -> None:
        """Do something that nobody waits for."""
        self._maker.submit(make)

    def forget(self, key: object) -> None:
        """Make it anew when it is asked for again."""
        with self._lock:
            self._made.pop(key, None)

    def close(self) -> None:
        """Make no more."""
        self._maker.shutdown(wait=False, cancel_futures=True)


class Shelves:
    """The shelves of a store, each made when it is first asked for, and the counts of the runs that have ended."""

    def __init__(self, store: str, folder: Path, clock: Clock, workshop: Workshop) -> None:
        """Keep them in ``folder``."""
        self._store = store
        self._folder = folder
        self._clock = clock
        self._workshop = workshop
        self._took: dict[Path, tuple[float, float]] = {}
        self._told: dict[tuple[Path, str], Any] = {}
        self._counts: dict[Path, dict[tuple[str, str, str], int]] = {}

    @property
    def folder(self) -> Path:
        """The folder that they lie in."""
        return self._folder

    @contextmanager
    def opened(self, run: RunRow) -> Iterator[Shelf]:
        """Open the shelf of a run. Raises Preparing while it is being made, and StoreError for a pruned run."""
        refuse(run)
        path = path_of(self._folder, run)
        if not path.is_file() or self._is_stale(run, path):
            try:
                self._workshop.get(path, lambda: self._make(run, path))
                self._workshop.forget(path)
            except Preparing:
                if not path.is_file():
                    raise
        shelf = Shelf.open(self._store, run, self._folder)
        with suppress(OSError):
            os.utime(path)  # when it was last used, for what goes first
        try:
            yield shelf
        finally:
            shelf.close()

    def counts(self, run: RunRow) -> dict[tuple[str, str, str], int] | None:
        """Return the counts of a run that has ended, None where nobody has counted yet."""
        path = path_of(self._folder, run).with_suffix(".json")
        if path not in self._counts and path.is_file():
            with suppress(OSError, ValueError, TypeError):
                told = json.loads(path.read_text(encoding="utf-8"))
                self._counts[path] = {(purpose, kind, reason): int(number) for purpose, kind, reason, number in told}
        return self._counts.get(path)

    def keep_counts(self, run: RunRow, counts: dict[tuple[str, str, str], int]) -> dict[tuple[str, str, str], int]:
        """Remember the counts of a run that has ended, over a restart where the folder can be written."""
        path = path_of(self._folder, run).with_suffix(".json")
        self._counts[path] = counts
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps([[*key, number] for key, number in counts.items()]), encoding="utf-8")
        return counts

    def remembered(self, run: RunRow, what: str, make: Callable[[], Made]) -> Made:
        """Return what is told of a run, made once of one that has ended: a look at a million rows takes a second."""
        if run.state == "running":
            return make()
        key = (path_of(self._folder, run), what)
        if key not in self._told:
            while len(self._told) >= _MOST_TOLD:
                self._told.pop(next(iter(self._told)), None)
            self._told[key] = make()
        told: Made = self._told[key]
        return told

    def _is_stale(self, run: RunRow, path: Path) -> bool:
        if run.state != "running":
            return False
        made_at, seconds = self._took.get(path, (float("-inf"), 0.0))
        return self._clock.monotonic() - made_at > max(LIVE_SECONDS, 20 * seconds)

    def _make(self, run: RunRow, path: Path) -> None:
        began = self._clock.monotonic()
        make(self._store, run, self._folder)
        self._took[path] = (self._clock.monotonic(), self._clock.monotonic() - began)
        self.sweep()

    def sweep(self) -> None:
        """Remove the files of runs that are gone, and what is over the bound (``sweeping.MOST_BYTES``)."""
        database = SqliteDatabase.reader(self._store)
        try:
            reader = Reader(database)
            sweep(self._folder, reader.runs(), self._clock.now())
            search.sweep(self._store, (number for number, _ in reader.crawls()))
        finally:
            database.close()


@dataclass(frozen=True, slots=True)
class Terms:
    """What whoever started the console laid down.

    ``zone`` that times are told in, "" for the browser's; ``private``: runs and settings may open the networks of this
    machine (R-5.1); ``keeps``: it starts the runs that are due. ``sitemap_folder``: the one folder that sitemaps may be
    written to, "" for none.
    """

    zone: str = ""
    private: bool = True
    keeps: bool = False
    sitemap_folder: str = ""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the console is built of. ``start`` begins a run as a process; ``audit`` is the file of changes."""

    store: str
    clock: Clock
    door: Door
    start: Starter
    workshop: Workshop
    shelves: Shelves
    audit: Path
    terms: Terms
    jobs: Jobs
    children: set[object] = field(default_factory=set)


def warm_up(parts: Parts, known: frozenset[tuple[int, float]] | None = None) -> frozenset[tuple[int, float]]:
    """Lay out the latest runs and look through them, so that the first who asks does not wait for it.

    These are the latest of ``WARM_RUNS`` crawls when nothing is ``known``, else the latest of each crawl that ended
    since. Returns what is known then: the latest runs, each with its end.
    """
    latest: dict[str, RunRow] = {}
    try:
        database = SqliteDatabase.reader(parts.store)
    except PurlieuError as error:
        LOG.info("%s", error)
        return known or frozenset()
    try:
        reader = CountingReader(database, parts.shelves)
        for run in reader.runs():
            if run.state != "running" and run.pruned_at is None:
                latest.setdefault(run.crawl, run)
        if known is None:
            parts.shelves.sweep()
        ended = {(run.id, run.ended_at or 0.0): run for run in latest.values()}
        fresh = [run for name, run in ended.items() if name not in (known or ())]
        for run in fresh if known is not None else fresh[:WARM_RUNS]:
            findings_of(parts, reader, run)
            with suppress(Preparing), parts.shelves.opened(run):
                pass
        _take_in_words(parts, database, fresh)
    except PurlieuError as error:  # the page will tell
        LOG.info("%s", error)
        return known or frozenset()
    finally:
        database.close()
    return frozenset(ended)


def _take_in_words(parts: Parts, database: SqliteDatabase, runs: Iterable[RunRow]) -> None:
    """Bring the words of these runs' crawls up to date, where they keep text, so that a search finds them so."""
    names = {run.crawl for run in runs}
    for number, name in searchable(database):
        if name in names:
            prepare(parts.store, number)


def findings_of(parts: Parts, reader: Reader, run: RunRow) -> list[Finding]:
    """Return the findings of a run."""
    return parts.shelves.remembered(run, "findings", lambda: findings.of_run(reader, run, books.of_run(reader, run)))


def parts_of(request: Request) -> Parts:
    """Return the parts of the console that was asked."""
    parts: Parts = request.app.state.parts
    return parts


@contextmanager
def reading(request: Request) -> Iterator[CountingReader]:
    """Open the store, read-only, for one request."""
    parts = parts_of(request)
    database = SqliteDatabase.reader(parts.store)
    try:
        yield CountingReader(database, parts.shelves)
    finally:
        database.close()


def run_of(reader: Reader, request: Request, name: str = "run") -> RunRow:
    """Return the run that a path names; raises NotThere."""
    number: int = request.path_params[name]
    row = reader.run(number) if number < _MOST_NUMBER else None
    if row is None:
        raise NotThere(str(number))
    return row


def crawl_of(reader: Reader, request: Request) -> str:
    """Return the name of the crawl that a path names by its number; raises NotThere."""
    number: int = request.path_params["crawl"]
    found = next((name for one, name in reader.crawls() if one == number), None)
    if found is None:
        raise NotThere(str(number))
    return found
