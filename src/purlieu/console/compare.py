"""Two runs beside each other: what became of the URLs, in counts, by section and as lists."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console import chart
from purlieu.console.parts import NotThere, Parts, parts_of, reading
from purlieu.console.show import page
from purlieu.difference import MEANINGS, Difference
from purlieu.report.diff import Pair, Tally, pairs
from purlieu.report.pruning import refuse
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase
from purlieu.value import dataclass, field

KEPT: Final = 2_000
"""URLs of each class that are listed; the command line writes them all."""
SHOWN: Final = 50
SHOWN_SECTIONS: Final = 20
_TOLD: Final = tuple(one for one in Difference if one not in {Difference.UNCHANGED, Difference.OUTSIDE})


@dataclass(slots=True)
class Comparison:
    """The counts of two runs and the first URLs of each class."""

    tally: Tally = field(default_factory=Tally)
    lists: dict[Difference, list[Pair]] = field(default_factory=dict)


def show(request: Request) -> Response:
    """Show two runs of a store compared; the earlier one is the one before where none is named."""
    before, after = named(request)
    with reading(request) as reader:
        runs = reader.runs()
    if after is None or before is None:
        return page(request, "compare.html", runs=runs, before=before, after=after, found=None)
    found = of_runs(parts_of(request), before, after)
    wanted = request.query_params.get("class", "")
    chosen = (
        Difference(wanted) if wanted in set(_TOLD) else next((one for one in _TOLD if one in found.lists), _TOLD[0])
    )
    start = request.query_params.get("from", "")
    first = int(start) if start.isdecimal() and len(start) < 6 else 0
    sections = sorted(found.tally.sections.items(), key=lambda one: -sum(one[1][each] for each in _TOLD))
    return page(
        request, "compare.html", runs=runs, before=before, after=after, found=found, chosen=chosen, first=first,
        shown=SHOWN, bars=chart.bars((one.value, found.tally.classes[one]) for one in Difference), classes=_TOLD,
        kept=KEPT, meanings=MEANINGS, sections=sections[:SHOWN_SECTIONS],
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
    key = ("compare", *((run.id, run.state, run.ended_at, run.active_seconds) for run in (before, after)))
    return parts.workshop.get(key, lambda: _compared(parts, before, after))


def _compared(parts: Parts, before: RunRow, after: RunRow) -> Comparison:
    found = Comparison()
    database = SqliteDatabase.reader(parts.store)
    try:
        for pair in pairs(Reader(database), before, after):
            found.tally.add(pair)
            if pair.is_told or pair.difference in _TOLD:
                kept = found.lists.setdefault(pair.difference, [])
                if len(kept) < KEPT:
                    kept.append(pair)
    finally:
        database.close()
    return found


def _named(reader: Reader, text: str) -> RunRow | None:
    if not text:
        return None
    run = reader.run(int(text)) if text.isdecimal() and len(text) < 18 else None
    if run is None:
        raise NotThere(text)
    return run
