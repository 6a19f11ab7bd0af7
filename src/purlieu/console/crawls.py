"""The list of crawls, one crawl with its runs, and one run with its outcomes and its table.

Gathers what ``report/`` and ``store/`` know for the templates; decides nothing.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console import chart, labels, table
from purlieu.console.parts import crawl_of, findings_of, parts_of, reading, run_of
from purlieu.console.show import page
from purlieu.outcome import KINDS
from purlieu.report import books, crawl_result, savings, states
from purlieu.report.search import crawls as searchable
from purlieu.report.states import Listed
from purlieu.schedule import following
from purlieu.store import schedules
from purlieu.store.reader import Reader, RunRow

TREND_RUNS: Final = 20
SHOWN_SECTIONS: Final = 12
SHOWN_FINDINGS: Final = 50


def every(request: Request) -> Response:
    """Show the crawls of the store, each with its state, last run, next run, pages and trend (MF-30)."""
    parts = parts_of(request)
    with reading(request) as reader:
        listed: dict[str, list[Listed]] = {name: [] for _, name in reader.crawls()}
        for one in states.listed(reader):
            listed[one.run.crawl].append(one)
        numbers = {name: number for number, name in reader.crawls()}
    next_at = planned(request)
    names = sorted(listed, key=lambda name: -(listed[name][0].run.id if listed[name] else 0))
    rows = [
        {
            "number": numbers[name],
            "name": name,
            "last": next(iter(listed[name]), None),
            "runs": len(listed[name]),
            "next_at": next_at.get(name),
            "trend": trend_of(listed[name]),
        }
        for name in names
    ]
    return page(request, "crawls.html", rows=rows, store=parts.store)


def one(request: Request) -> Response:
    """Show a crawl: its latest result file or why there is none (MF-30, MF-31, MF-53), and all its runs."""
    parts = parts_of(request)
    with reading(request) as reader:
        name = crawl_of(reader, request)
        runs = list(states.listed(reader, name))
        last = runs[0].run if runs else None
        absent = _absent(reader, last, parts.clock.now()) if last else None
        config = reader.config(last) if last else ""
        may_search = any(known == name for _, known in searchable(reader.database))
    return page(
        request, "crawl.html", name=name, number=request.path_params["crawl"], runs=runs, last=last, absent=absent,
        config=config, trend=trend_of(runs), next_at=planned(request).get(name), zip_name=crawl_result.ZIP_NAME,
        may_search=may_search,
    )  # fmt: skip


def run(request: Request) -> Response:
    """Show a run: its books, findings and sections, and its table, which alone is sent where only that is asked for."""
    with reading(request) as reader:
        row = run_of(reader, request)
        shown = table.of_request(request, row)
        if request.headers.get("hx-target") == "table":
            return page(request, "table.html", run=row, **shown)
        told = books.of_run(reader, row)
        one = next(one for one in states.listed(reader, row.crawl) if one.run.id == row.id)
        number = reader.crawl_number(row.crawl)
        hosts = list(reader.hosts(row))
        return page(
            request, "run.html", run=row, one=one, crawl_number=number, books=told, lines=_lines(told),
            findings=findings_of(parts_of(request), reader, row)[:SHOWN_FINDINGS], saved=savings.of_run(row),
            requests=sum(host.requests for host in hosts), size=sum(host.size_bytes for host in hosts),
            hosts=len(hosts), sections=sections_of(request, row), **shown,
        )  # fmt: skip


def trend_of(runs: list[Listed]) -> chart.Trend | None:
    """Return the line of pages of the last runs that were not cut short, the oldest first."""
    ended = [one.pages for one in runs if one.run.state == "done"][:TREND_RUNS]
    return chart.trend(ended[::-1])


def planned(request: Request) -> dict[str, float]:
    """Return when each crawl that has schedules runs next, by name."""
    now = parts_of(request).clock.now()
    found: dict[str, float] = {}
    with reading(request) as reader:
        for plan in schedules.every(reader.database):
            at = following(plan.schedule, now) if plan.paused_at is None else None
            if at is not None:
                found[plan.crawl] = min(at, found.get(plan.crawl, at))
    return found


def sections_of(request: Request, run: RunRow) -> list[dict[str, Any]]:
    """Return the largest sections of a run with the parts of their bars; none of a pruned run."""
    if run.pruned_at is not None:
        return []
    with parts_of(request).shelves.opened(run) as shelf:
        found = shelf.sections(SHOWN_SECTIONS)
    sums = {name: sum(kinds.values()) for name, kinds in found.items()}
    most = max(sums.values(), default=0)
    names = sorted(found, key=lambda name: (-sums[name], name))
    return [{"name": name, "number": sums[name], "parts": chart.stacked(found[name], most)} for name in names]


def _lines(told: books.Books) -> list[dict[str, Any]]:
    """Return the books as groups of bars: a kind with its reasons, in the order of the table of outcomes."""
    order = [*KINDS, *sorted({kind for kind, _ in told.pages} - set(KINDS))]
    kinds = [(kind, told.of_kind(kind)) for kind in order]
    found = []
    for bar in chart.bars((kind, number) for kind, number in kinds if number):
        reasons = sorted(
            ((reason, number) for (kind, reason), number in told.pages.items() if kind == bar.name),
            key=lambda one: -one[1],
        )
        found.append({"bar": bar, "group": labels.group_of(bar.name), "reasons": reasons})
    return found


def _absent(reader: Reader, run: RunRow, now: float) -> crawl_result.Absence | None:
    return crawl_result.available(run, now, crawl_result.kept_days(reader, run))
