"""Two runs beside each other: what became of the URLs, in counts, by section and as lists."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console import chart
from purlieu.console.parts import NotThere, Parts, parts_of, reading
from purlieu.console.show import page
from purlieu.difference import MEANINGS, Difference, Seen
from purlieu.errors import StoreError
from purlieu.report.diff import Pair, Tally, pairs
from purlieu.report.pruning import refuse
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase, contrast
from purlieu.value import dataclass

SHOWN: Final = 50
SHOWN_SECTIONS: Final = 20
LISTED: Final = tuple(one for one in Difference if one not in {Difference.UNCHANGED, Difference.OUTSIDE})
"""The classes that have a list."""


@dataclass(slots=True)
class Comparison:
    """The counts of two runs, and the file that has the URLs of each class."""

    tally: Tally
    path: Path


@dataclass(slots=True)
class Part:
    """Some URLs of a class; ``previous`` and ``following`` are what to ask for next, None where there is no more."""

    pairs: list[Pair]
    previous: str | None
    following: str | None


def show(request: Request) -> Response:
    """Show two runs of a store compared; the earlier one is the one before where none is named."""
    before, after = named(request)
    with reading(request) as reader:
        runs = reader.runs()
    if after is None or before is None:
        return page(request, "compare.html", runs=runs, before=before, after=after, found=None)
    found = of_runs(parts_of(request), before, after)
    chosen = class_of(request, found)
    part = listed(request, found, chosen)
    sections = sorted(found.tally.sections.items(), key=lambda one: -sum(one[1][each] for each in LISTED))
    return page(
        request, "compare.html", runs=runs, before=before, after=after, found=found, chosen=chosen, part=part,
        bars=chart.bars((one.value, found.tally.classes[one]) for one in Difference), classes=LISTED,
        meanings=MEANINGS, sections=sections[:SHOWN_SECTIONS],
    )  # fmt: skip


def named(request: Request) -> tuple[RunRow | None, RunRow | None]:
    """Return the two runs that a query names; the earlier one is the one before where none is named."""
    with reading(request) as reader:
        after = _named(reader, request.query_params.get("after", ""))
        before = _named(reader, request.query_params.get("before", ""))
        if before is None and after is not None:
            before = next((one for one in reader.runs() if one.crawl == after.crawl and one.id < after.id), None)
    return before, after


def of_runs(parts: Parts, before: RunRow, after: RunRow) -> Comparison:
    """Return two runs compared. Raises Preparing while that is done, and StoreError for a pruned run."""
    for run in (before, after):
        refuse(run)
    path = contrast.path_of(parts.shelves.folder, before, after)
    key = ("compare", path, before.state, after.state, before.active_seconds, after.active_seconds)
    found = parts.workshop.get(key, lambda: _compared(parts, before, after, path))
    if not found.path.is_file():  # swept away since
        parts.workshop.forget(key)
        found = parts.workshop.get(key, lambda: _compared(parts, before, after, path))
    with suppress(OSError):
        os.utime(found.path)  # when it was last used, for what goes first
    return found


def class_of(request: Request, found: Comparison) -> Difference:
    """Return the class that a query names, else the first that has any URL."""
    wanted = request.query_params.get("class", "")
    if wanted in set(LISTED):
        return Difference(wanted)
    return next((one for one in LISTED if found.tally.classes[one]), LISTED[0])


def listed(request: Request, found: Comparison, chosen: Difference) -> Part:
    """Return the URLs of a class behind the place that a query names, or before it."""
    way, _, number = request.query_params.get("at", "").partition(".")
    place = int(number) if number.isdecimal() and len(number) < 18 else 0
    is_before = way == "before" and place > 0
    rows = contrast.page(found.path, chosen.value, place, SHOWN + 1, is_before=is_before)
    is_more = len(rows) > SHOWN
    rows = rows[-SHOWN:] if is_before else rows[:SHOWN]
    has_previous = is_more if is_before else place > 0
    has_following = is_before or is_more
    return Part(
        [_pair(told) for _, told in rows],
        f"before.{rows[0][0]}" if rows and has_previous else None,
        f"after.{rows[-1][0]}" if rows and has_following else None,
    )


def _compared(parts: Parts, before: RunRow, after: RunRow, path: Path) -> Comparison:
    """Return two runs compared: read again where that was done before, and both have ended."""
    if path.is_file() and "running" not in {before.state, after.state}:
        with suppress(StoreError, ValueError, KeyError, IndexError):
            return Comparison(_tally(contrast.tally_of(path)), path)
    tally = Tally()
    database = SqliteDatabase.reader(parts.store)

    def told() -> Iterator[tuple[str, str]]:
        for pair in pairs(Reader(database), before, after):
            tally.add(pair)
            if pair.is_told:
                yield pair.difference.value, json.dumps(pair)

    try:
        contrast.make(path, told(), lambda: json.dumps([tally.classes, tally.facts, tally.sections]))
    finally:
        database.close()
    parts.shelves.sweep()
    return Comparison(tally, path)


def _tally(text: str) -> Tally:
    classes, facts, sections = json.loads(text)
    return Tally(Counter(classes), Counter(facts), {name: Counter(counts) for name, counts in sections.items()})


def _pair(text: str) -> Pair:
    url, difference, changed, before, after = json.loads(text)
    return Pair(url, Difference(difference), tuple(changed), _seen(before), _seen(after))


def _seen(row: list[Any] | None) -> Seen | None:
    return None if row is None else Seen._make((*row[:7], None if row[7] is None else tuple(row[7])))


def _named(reader: Reader, text: str) -> RunRow | None:
    if not text:
        return None
    run = reader.run(int(text)) if text.isdecimal() and len(text) < 18 else None
    if run is None:
        raise NotThere(text)
    return run
