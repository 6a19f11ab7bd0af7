"""One URL in a run: the verdict and its tests, how it was found, where it leads, who links to it, and its past runs."""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.candidate import Purpose
from purlieu.console.parts import NotThere, reading, run_of
from purlieu.console.show import page
from purlieu.report import explain
from purlieu.report.pruning import refuse
from purlieu.store.reader import Reader, RunRow

MOST_RUNS: Final = 20
_MOST_URL: Final = 20_000


def show(request: Request) -> Response:
    """Show everything that is known of a URL in a run."""
    url = request.query_params.get("u", "")[:_MOST_URL]
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
        if not url:
            raise NotThere("")
        told = explain.by_run(reader, run, url)
        visit = reader.visit(run, told.judgement.href) if told.row else None
        if visit is None and told.row:
            visit = reader.visit(run, told.judgement.href, Purpose.SITEMAP)
        shown = {
            "run": run,
            "url": url,
            "told": told,
            "visit": visit,
            "headers": _headers(visit.headers if visit else None),
        }
        return page(request, "url.html", **shown, past=past_runs(reader, run, told.judgement.href))


def past_runs(reader: Reader, run: RunRow, href: str) -> list[dict[str, Any]]:
    """Return how a URL ended in the last runs of its crawl, the newest first; a pruned run has no row any more."""
    found: list[dict[str, Any]] = []
    for one in reader.runs():
        if one.crawl != run.crawl or one.pruned_at is not None or len(found) >= MOST_RUNS:
            continue
        row = reader.found(one, href)
        visit = reader.visit(one, href) if row else None
        found.append({"run": one, "row": row, "title": visit.title if visit else None})
    return found


def _headers(text: str | None) -> list[tuple[str, str]]:
    """Return stored headers as pairs."""
    pairs = [line.partition(":") for line in (text or "").split("\n") if line]
    return [(name, value.strip()) for name, _, value in pairs]
