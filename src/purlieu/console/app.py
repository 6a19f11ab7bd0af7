"""The console put together: its parts, its addresses, its door, and what is shown when something is wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from socket import socket
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from purlieu.console import (
    action,
    address,
    api,
    compare,
    crawls,
    edit,
    files,
    hosts,
    keeping,
    laying,
    live,
    make,
    schedules,
    search,
    site_map,
    sitemap_checking,
    sitemap_making,
    tree,
    wrong,
    zone,
)
from purlieu.console.audit import audit
from purlieu.console.audit import show as show_audit
from purlieu.console.guard import LOGIN, Door, Guard, caller_of
from purlieu.console.jobs import Jobs
from purlieu.console.parts import NotThere, Parts, Shelves, Terms, Workshop, parts_of
from purlieu.console.show import page
from purlieu.console.speech import COOKIE
from purlieu.crawl.clock import Clock
from purlieu.crawl.keeper import Starter
from purlieu.outcome import LANGUAGES

LOG: Final = logging.getLogger(__name__)
STATIC: Final = Path(__file__).parent / "static"
_YEAR: Final = 365 * 86_400


def application(
    store: str, door: Door, clock: Clock, start: Starter, folder: Path | None = None, terms: Terms | None = None
) -> Guard:
    """Return the console of a store.

    ``start`` starts ``purlieu`` with some words; ``folder`` is where shelves lie, beside the store where none is named.
    """
    workshop = Workshop()
    shelves = Shelves(store, folder or Path(f"{store}.console"), clock, workshop)

    parts = Parts(store, clock, door, start, workshop, shelves, Path(f"{store}.audit.jsonl"), terms or Terms(), Jobs())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with laying.laid_out(parts), keeping.kept(parts):
            yield
        workshop.close()
        parts.jobs.close()

    app = Starlette(
        routes=_routes(),
        exception_handlers=wrong.HANDLERS,
        lifespan=lifespan,
    )
    app.state.parts = parts
    app.state.watches = live.Watches(parts)
    return Guard(app, door, wrong.refused)  # around all of it: the page of a crash has the same headers


async def serve(app: Guard, listener: socket) -> None:
    """Serve the console on an open socket until the process is asked to end."""
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, date_header=False, proxy_headers=False,
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    await uvicorn.Server(config).serve(sockets=[listener])


def _routes() -> list[Route | Mount]:
    return [
        Route("/", crawls.every),
        Route("/crawls/new", make.new),
        Route("/crawls/new", make.create, methods=["POST"]),
        Route("/crawls/{crawl:int}", crawls.one),
        Route("/crawls/{crawl:int}/settings", edit.show),
        Route("/crawls/{crawl:int}/settings", edit.save, methods=["POST"]),
        Route("/crawls/{crawl:int}/settings/check", edit.check, methods=["POST"]),
        Route("/crawls/{crawl:int}/settings.toml", edit.toml),
        Route("/crawls/{crawl:int}/search", search.show),
        Route("/crawls/{crawl:int}/delete", make.ask),
        Route("/crawls/{crawl:int}/delete", make.delete, methods=["POST"]),
        Route("/crawls/{crawl:int}/result", files.latest),
        Route("/crawls/{crawl:int}/run", action.run_now, methods=["POST"]),
        Route("/runs/{run:int}", crawls.run),
        Route("/runs/{run:int}/url", address.show),
        Route("/runs/{run:int}/hosts", hosts.show),
        Route("/runs/{run:int}/tree", tree.show),
        Route("/runs/{run:int}/map", site_map.show),
        Route("/runs/{run:int}/live", live.stream),
        Route("/runs/{run:int}/files/{name}", files.one),
        Route("/runs/{run:int}/stop", action.stop, methods=["POST"]),
        Route("/runs/{run:int}/resume", action.resume, methods=["POST"]),
        Route("/compare", compare.show),
        Route("/changes", show_audit),
        *schedules.routes(),
        Route("/language", _language),
        Route("/zone", _zone),
        Route(LOGIN, _login, methods=["GET", "POST"]),
        Route("/logout", _logout, methods=["POST"]),
        *sitemap_making.routes(),
        *sitemap_checking.routes(),
        *api.routes(),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


def _language(request: Request) -> Response:
    """Remember the language that was chosen, and go back to the page it was chosen on."""
    chosen = request.query_params.get("to", "")
    answer = _back(request)
    if chosen in LANGUAGES:
        answer.set_cookie(COOKIE, chosen, max_age=_YEAR, httponly=True, samesite="strict", path="/")
    return answer


def _zone(request: Request) -> Response:
    """Ask for a time zone; remember the one that was chosen, or forget it for that of the browser, and go back."""
    chosen = request.query_params.get("to")
    if chosen is None or (chosen and not zone.is_zone(chosen)):
        back = request.query_params.get("back", "/")
        return page(request, "zone.html", wrong=chosen is not None, back=back, zones=zone.names())
    answer = _back(request)
    if chosen:
        answer.set_cookie(zone.CHOSEN, chosen, max_age=_YEAR, httponly=True, samesite="strict", path="/")
    else:
        answer.delete_cookie(zone.CHOSEN, httponly=True, samesite="strict", path="/")
    return answer


def _back(request: Request) -> Response:
    """Return to the page that a choice was made on, which is one of this console."""
    back = request.query_params.get("back", "/")
    is_local = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
    return RedirectResponse(back if is_local else "/", HTTPStatus.SEE_OTHER)


async def _login(request: Request) -> Response:
    """Ask for a password or token; five wrong ones in a minute are followed by a pause for who sent them."""
    door = parts_of(request).door
    if not door.keys:
        raise NotThere(LOGIN)
    if request.method == "GET":
        return page(request, "login.html", wrong=False, throttled=False)
    given = (await action.form_of(request)).get("password", "")
    caller = caller_of(request)
    if not door.may_try(caller):
        return page(request, "login.html", HTTPStatus.TOO_MANY_REQUESTS, wrong=False, throttled=True)
    role = await asyncio.to_thread(door.keys.role_of, given)
    if role is None:
        audit(request, "login_refused", {})
        return page(request, "login.html", HTTPStatus.FORBIDDEN, wrong=True, throttled=False)
    door.was_right(caller)
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    request.state.session = door.let_in(request, answer, role)
    audit(request, "login", {})
    return answer


async def _logout(request: Request) -> Response:
    """End the session."""
    if await action.is_ours(request):
        audit(request, "logout", {})
        parts_of(request).door.let_out(request)
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    answer.headers["Clear-Site-Data"] = '"cache"'
    return answer
