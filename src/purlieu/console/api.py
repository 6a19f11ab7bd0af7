"""The same as the pages, as JSON under ``/api``, with its description in OpenAPI; one table of both.

Addresses take the same conditions as the pages. What changes something is ``api_crawls.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from itertools import islice
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from purlieu import __version__
from purlieu.console import api_crawls, compare, search, site_map, sitemap_checking, sitemap_making, table, tree
from purlieu.console.parts import NotThere, findings_of, parts_of, reading, run_of
from purlieu.report import books, crawl_result, explain, politeness, sitemaps, states
from purlieu.report.pruning import refuse
from purlieu.report.states import Listed
from purlieu.schedule import times
from purlieu.store import schedules
from purlieu.store.reader import RunRow


class Parameter(NamedTuple):
    """One condition in an address."""

    name: str
    meaning: str


class Endpoint(NamedTuple):
    """One address: what answers it, what it tells, and its conditions; of a change, what its JSON object holds."""

    path: str
    answer: Callable[[Request], Any]
    summary: str
    parameters: tuple[Parameter, ...] = ()
    method: str = "GET"


def _crawls(request: Request) -> Any:
    with reading(request) as reader:
        last = {one.run.crawl: one for one in reversed(list(states.listed(reader)))}
        return [
            {"crawl": number, "name": name, "last_run": _listed(last[name]) if name in last else None}
            for number, name in reader.crawls()
        ]


def _runs(request: Request) -> Any:
    with reading(request) as reader:
        return [_listed(one) for one in states.listed(reader, request.query_params.get("crawl"))]


def _run(request: Request) -> Any:
    with reading(request) as reader:
        run = run_of(reader, request)
        told = books.of_run(reader, run)
        absent = crawl_result.available(run, parts_of(request).clock.now(), crawl_result.kept_days(reader, run))
        one = next(one for one in states.listed(reader, run.crawl) if one.run.id == run.id)
        return {
            **_listed(one),
            "balanced": told.balanced,
            "faults": list(told.faults),
            "endings": [
                {"purpose": line.purpose, "kind": line.kind, "reason": line.reason, "count": line.count}
                for line in books.text(told)
            ],
            "findings": [
                {
                    "code": each.code,
                    "severity": each.severity,
                    "subject": each.subject,
                    "arguments": dict(each.arguments),
                }
                for each in findings_of(parts_of(request), reader, run)
            ],
            "crawl_result": {
                "available": absent is None,
                "reason": absent,
                "sentence": absent.sentence() if absent else "",
            },
        }


def _ledger(request: Request) -> Any:
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
    wanted, size = table.asked(request)
    with parts_of(request).shelves.opened(run) as shelf:
        rows, after = table.some(shelf, wanted, size)
    named = [{name: value for name, value in row._asdict().items() if name != "id"} for row in rows]
    for row in named:
        row["status"] = row["status"] or None
        row |= {name: None for name in ("bytes", "seconds") if row[name] < 0}
    return {"rows": named, "after": after}


def _url(request: Request) -> Any:
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
        url = request.query_params.get("u", "")
        if not url:
            raise NotThere("")
        return explain.facts(explain.by_run(reader, run, url[:20_000]))


def _schedules(request: Request) -> Any:
    now, crawl = parts_of(request).clock.now(), request.query_params.get("crawl")
    with reading(request) as reader:
        every = [one for one in schedules.every(reader.database) if crawl in {None, one.crawl}]
        return [
            {
                "schedule": one.id,
                "crawl": one.crawl,
                "cron": one.schedule.cron,
                "zone": one.schedule.zone,
                "public_only": one.schedule.public_only,
                "paused_at": one.paused_at,
                "next_at": [] if one.paused_at else list(islice(times(one.schedule, now), 5)),
                "events": [each._asdict() for each in schedules.events(reader.database, one.id, 20)],
            }
            for one in every
        ]


def _hosts(request: Request) -> Any:
    with reading(request) as reader:
        return [politeness.facts(row) for row in reader.conduct(run_of(reader, request))]


def _sitemaps(request: Request) -> Any:
    with reading(request) as reader:
        return [sitemaps.facts(row) for row in reader.sitemaps(run_of(reader, request))]


def _tree(request: Request) -> Any:
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
    listing = tree.listing(request, run, tree.view_of(request))
    return {
        "nodes": [asdict(node) for node in listing.nodes],
        "previous": listing.previous,
        "following": listing.following,
        "message": listing.message,
    }


def _map(request: Request) -> Any:
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
    told = site_map.of_request(request, run)
    return {
        "folder": told["folder"]._asdict(),
        "folders": [one._asdict() for one in told["children"]],
        "by": told["by"],
    }


def _compare(request: Request) -> Any:
    before, after = compare.named(request)
    if before is None or after is None:
        raise NotThere("")
    found = compare.of_runs(parts_of(request), before, after)
    chosen = compare.class_of(request, found)
    part = compare.listed(request, found, chosen)
    return {
        "before": before.id,
        "after": after.id,
        **found.tally.as_json(),
        "class": chosen.value,
        "listed": [pair.facts() for pair in part.pairs],
        "previous": part.previous,
        "following": part.following,
    }


def _listed(one: Listed) -> dict[str, Any]:
    run: RunRow = one.run
    return {
        "run": run.id,
        "crawl": run.crawl,
        "state": run.state,
        "shown_state": one.state,
        "stop_reason": run.stop_reason,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "active_seconds": run.active_seconds,
        "pages": one.pages,
        "trend": one.trend,
        "counts": dict(one.kinds),
        "marks": list(one.marks),
        "pruned_at": run.pruned_at,
    }


_PLACE: Final = Parameter("after", "the place that the last answer gave")
_TABLE: Final = (
    Parameter("kind", "rows of this kind; kind.reason too"), Parameter("reason", "rows of this reason"),
    Parameter("status", "rows with this HTTP status"), Parameter("section", "rows of this section"),
    Parameter("purpose", "page, robots, sitemap or check"), Parameter("text", "what stands in the address or title"),
    Parameter("changed", "a difference from the run before, or any"),
    Parameter("within", "rows in and below this folder"), Parameter("own", "on: those in no folder of it"),
    Parameter("sort", "url, kind, reason, status, depth, bytes or seconds"), Parameter("order", "asc or desc"),
    Parameter("size", "rows at a time: 25, 50, 100 or 200"), _PLACE,
)  # fmt: skip
_TREE: Final = (
    Parameter("open", "a section that is open; may be repeated"), Parameter("all", "on: all are open"),
    Parameter("filter", "on: only the sections named"), Parameter("section", "a section to show; may be repeated"),
    Parameter("size", "entries at a time"), Parameter("locale", "the language of labels"),
    Parameter("parts", "on: documents and frames below their pages"), Parameter("at", "a place that an answer gave"),
)  # fmt: skip
_COMPARE: Final = (
    Parameter("before", "a run"),
    Parameter("after", "a later run"),
    Parameter("class", "the class of difference that is listed"),
    Parameter("at", "a place that an answer gave"),
)
_MAP: Final = (
    Parameter("at", "a folder whose folders are told"),
    Parameter("by", "outcome or change"),
)
_SEARCH: Final = (
    Parameter("q", "the words"),
    Parameter("crawl", "of this crawl, by name; else of the one that ran last"),
    Parameter("most", "at most so many pages, up to 100"),
)
_TOML: Final = Parameter("toml", "settings, as text")
_MAKING: Final = (
    Parameter("seeds", "an address, or a list of addresses"), _TOML, Parameter("name", "what the crawl is called"),
    Parameter("copy", "the number of a crawl whose settings are taken"), Parameter("run", "true: run it at once"),
)  # fmt: skip
_CHANGING: Final = (_TOML, Parameter("version", "the version that is changed; 409 when it is another by now"))
_CHECKING: Final = (_TOML, Parameter("url", "a URL: whether it would be in, and why"))
ENDPOINTS: Final = (
    Endpoint("/api/crawls", _crawls, "The crawls, each with its last run"),
    Endpoint("/api/runs", _runs, "The runs, the newest first", (Parameter("crawl", "of this crawl, by name"),)),
    Endpoint("/api/runs/{run}", _run, "One run with its books and findings"),
    Endpoint("/api/runs/{run}/ledger", _ledger, "Rows of the ledger, some at a time", _TABLE),
    Endpoint("/api/runs/{run}/url", _url, "Why one URL is in or out", (Parameter("u", "the URL"),)),
    Endpoint(
        "/api/schedules",
        _schedules,
        "The schedules, each with its next times and what became of the last ones",
        (Parameter("crawl", "of this crawl, by name"),),
    ),
    Endpoint("/api/runs/{run}/hosts", _hosts, "How politely each host was asked"),
    Endpoint("/api/runs/{run}/sitemaps", _sitemaps, "The sitemap files, and what is wrong with each"),
    Endpoint("/api/runs/{run}/tree", _tree, "The site as a tree of sections and pages", _TREE),
    Endpoint("/api/runs/{run}/sitemap-profiles", sitemap_making.facts, "What sitemaps are made of it, by profile"),
    Endpoint("/api/runs/{run}/map", _map, "The folders of the site with what became of their pages", _MAP),
    Endpoint("/api/sitemaps/checks/{job}", sitemap_checking.facts, "What a check of a sitemap found"),
    Endpoint("/api/compare", _compare, "Two runs compared", _COMPARE),
    Endpoint("/api/search", search.facts, "Pages whose texts have the words, the best first", _SEARCH),
    Endpoint("/api/session", api_crawls.session, "The key that a change carries as X-Form-Key"),
    Endpoint("/api/crawls/{crawl}", api_crawls.crawl, "The settings of a crawl, with their version"),
    Endpoint("/api/crawls", api_crawls.create, "Make a crawl", _MAKING, "POST"),
    Endpoint("/api/crawls/{crawl}", api_crawls.change, "Change the settings of a crawl", _CHANGING, "PUT"),
    Endpoint("/api/crawls/{crawl}", api_crawls.delete, "Delete a crawl and all its runs", (), "DELETE"),
    Endpoint("/api/crawls/{crawl}/run", api_crawls.run, "Run a crawl", (), "POST"),
    Endpoint("/api/settings/check", api_crawls.check, "Check settings without keeping them", _CHECKING, "POST"),
)
"""Every address of the API."""


def routes() -> list[Route]:
    """Return the routes of the API, its description among them."""
    found = [
        Route(
            one.path.replace("{run}", "{run:int}").replace("{crawl}", "{crawl:int}"),
            _json(one.answer) if one.method == "GET" else one.answer,
            methods=[one.method],
        )
        for one in ENDPOINTS
    ]
    return [*found, Route("/api/openapi.json", lambda _: JSONResponse(description()))]


def description() -> dict[str, Any]:
    """Return the API described in OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for one in ENDPOINTS:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one)
    told = {"title": "Purlieu", "version": __version__, "description": "What the console shows and does, as JSON."}
    return {"openapi": "3.1.0", "info": told, "paths": paths}


_ERRORS: Final = (
    (HTTPStatus.ACCEPTED, "Accepted; or the rows are being laid out: ask again after Retry-After"),
    (HTTPStatus.FORBIDDEN, "No session: open the address that purlieu serve printed; or a change without X-Form-Key"),
    (HTTPStatus.NOT_FOUND, "There is no such run or crawl"),
    (
        HTTPStatus.CONFLICT,
        "The ledger of the run was pruned; or the settings are of another version; or a run is under way",
    ),
    (HTTPStatus.UNPROCESSABLE_ENTITY, "Something is wrong with the settings: mistakes lists it"),
)


_PLACES: Final = (
    ("run", "integer", "the run's number"),
    ("crawl", "integer", "the crawl's number"),
    ("job", "string", "the name of the check, which stands at the end of its page's address; the last few are kept"),
)


def _described(one: Endpoint) -> dict[str, Any]:
    """Return an address with its conditions: of a query, or of the JSON object that a change sends."""
    places = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": kind},
            "description": told,
        }
        for name, kind, told in _PLACES
        if f"{{{name}}}" in one.path
    ]
    text = {"type": "string"}
    responses = {"200": {"description": "OK", "content": {"application/json": {}}}}
    responses |= {str(int(status)): {"description": told} for status, told in _ERRORS}
    if one.method == "GET":
        asked = [
            {"name": each.name, "in": "query", "schema": text, "description": each.meaning} for each in one.parameters
        ]
        return {"summary": one.summary, "parameters": [*places, *asked], "responses": responses}
    key = {"name": "X-Form-Key", "in": "header", "required": True, "schema": text, "description": "from /api/session"}
    held = {each.name: {"description": each.meaning} for each in one.parameters}
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": held}}}}
    return {"summary": one.summary, "parameters": [*places, key], "requestBody": body, "responses": responses}


def _json(answer: Callable[[Request], Any]) -> Callable[[Request], Response]:
    def answered(request: Request) -> Response:
        return JSONResponse(answer(request))

    return answered
