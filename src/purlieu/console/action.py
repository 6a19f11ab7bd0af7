"""What an owner can do: run a crawl now, stop a run, resume one. Each as a process of its own, and with an audit line.

A form carries the key of its session; one without is refused. The store is written to by the run itself, and here only
to ask for a stop.
"""

from __future__ import annotations

import asyncio
import hmac
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from purlieu.console import grant
from purlieu.console.audit import audit
from purlieu.console.parts import Parts, crawl_of, parts_of, reading, run_of
from purlieu.console.show import page
from purlieu.console.speech import language_of
from purlieu.console.wrong import problem
from purlieu.sentence import Sentence, said, speaker
from purlieu.store import crawls
from purlieu.store.reader import RunRow
from purlieu.store.sqlite import SqliteDatabase, is_held

BUSY = Sentence("A crawl is under way in this store. Wait for its end, or stop it first.")
NOT_RUNNING = Sentence("This run is not under way, so there is nothing to stop.")
NOTHING_TO_RESUME = Sentence("This run has finished, or it is not the last of its crawl: there is nothing to resume.")
NEVER_RAN = Sentence("This crawl has no run yet whose settings could be taken.")
FORM = Sentence("This form was not made by this console, or is too old. Go back, load the page anew and try again.")
SECONDS_TO_BEGIN: Final = 10.0
MOST_FORM_BYTES: Final = 65_536
MOST_FIELDS: Final = 5_000


async def run_now(request: Request) -> Response:
    """Start a run of a crawl with the settings kept for it, else those of its last run."""
    if refusal := await refused(request):
        return refusal
    with reading(request) as reader:
        name = crawl_of(reader, request)
    return await start_crawl(request, name, f"/crawls/{request.path_params['crawl']}")


async def start_crawl(request: Request, name: str, back: str) -> Response:
    """Start a run of the crawl of a name, unless there is a reason against it, and go ``back``."""
    parts = parts_of(request)
    config = settings_of(request, name)
    if config is None:
        return no(request, NEVER_RAN)
    if (wrong := grant.of_text(config, parts.terms)) is not None:
        return no(request, wrong, HTTPStatus.FORBIDDEN)
    if is_held(parts.store):
        return no(request, BUSY)
    return await start(request, ["crawl", "--again", name], "run", {"crawl": name}, back)


def settings_of(request: Request, name: str) -> str | None:
    """Return the settings that a run of a crawl would have, None where there are none."""
    with reading(request) as reader:
        kept = crawls.kept(reader.database, name)
        last = None if kept else reader.latest(name)
        return kept.toml if kept else reader.config(last) if last else None


async def resume(request: Request) -> Response:
    """Go on with an unfinished run, which must be the last of its crawl."""
    if refusal := await refused(request):
        return refusal
    parts = parts_of(request)
    with reading(request) as reader:
        run = run_of(reader, request)
        last = reader.latest(run.crawl)
    if (wrong := grant.of_text(settings_of(request, run.crawl) or "", parts.terms)) is not None:
        return no(request, wrong, HTTPStatus.FORBIDDEN)
    if last is None or last.id != run.id or not may_resume(run, parts):
        return no(request, BUSY if is_held(parts.store) else NOTHING_TO_RESUME)
    words = ["crawl", "--again", run.crawl, "--resume"]
    return await start(request, words, "resume", {"run": run.id, "crawl": run.crawl}, f"/runs/{run.id}")


async def stop(request: Request) -> Response:
    """Ask a run to stop; what is in flight ends first (R-8.5)."""
    if refusal := await refused(request):
        return refusal
    parts = parts_of(request)
    with reading(request) as reader:
        run = run_of(reader, request)

    def ask() -> int:
        database = SqliteDatabase.beside(parts.store)
        try:
            with database.transaction():
                return database.run("request_stop", run.id)
        finally:
            database.close()

    if run.state != "running":
        return no(request, NOT_RUNNING)
    audit(request, "stop", {"run": run.id, "crawl": run.crawl})
    if not await asyncio.to_thread(ask):
        return no(request, NOT_RUNNING)
    return RedirectResponse(f"/runs/{run.id}", HTTPStatus.SEE_OTHER)


def may_resume(run: RunRow, parts: Parts) -> bool:
    """Return whether a run can be gone on with: stopped, cut short by a limit, or killed, while nobody crawls."""
    unfinished = run.state != "done" or (run.stop_reason or "").startswith("limit:")
    return unfinished and not is_held(parts.store)


async def is_ours(request: Request, most: int = MOST_FORM_BYTES) -> bool:
    """Return whether a form carries the key of its session."""
    return is_key(request, (await form_of(request, most)).get("form_key", ""))


def is_key(request: Request, given: str) -> bool:
    """Return whether it is the key of the session."""
    session = getattr(request.state, "session", None)
    return session is not None and hmac.compare_digest(given.encode(), session.form_key.encode())


async def form_of(request: Request, most: int = MOST_FORM_BYTES) -> dict[str, str]:
    """Return the fields of a form as a browser sends it by itself; nothing of one longer than ``most`` bytes.

    What is sent several times under one name are the lines of its value.
    """
    kept: dict[str, str] | None = getattr(request.state, "form", None)
    if kept is not None:
        return kept
    body, found = b"", dict[str, str]()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            break
    else:
        with suppress(ValueError):  # no UTF-8, or too many
            for name, value in parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS):
                found[name] = f"{found[name]}\n{value}" if name in found else value
    request.state.form = found
    return found


async def refused(request: Request, most: int = MOST_FORM_BYTES) -> Response | None:
    """Return the answer to a form that does not carry the key of its session, None for one that does."""
    return None if await is_ours(request, most) else no(request, FORM, HTTPStatus.FORBIDDEN)


def no(request: Request, why: str, status: int = HTTPStatus.CONFLICT) -> Response:
    """Return the page, or the JSON, that says why something was not done."""
    if request.url.path.startswith("/api"):
        say = speaker(language_of(request))
        return problem("refused", say("This did not work"), said(why, say), status)
    return page(request, "refused.html", status, why=why)


def done(request: Request, back: str) -> Response:
    """Return the answer to what was done: the way ``back``, or for who asked for JSON that it was accepted."""
    if request.url.path.startswith("/api"):
        return JSONResponse({"accepted": True}, HTTPStatus.ACCEPTED)
    return RedirectResponse(back, HTTPStatus.SEE_OTHER)


async def start(request: Request, words: list[str], action: str, what: dict[str, Any], back: str) -> Response:
    """Start a run as a process, and show it once it is under way; one that ends at once has something to say.

    ``back`` is where to go when it has ended, or has not begun in time. It opens no private network where this console
    may open none (R-5.1).
    """
    parts = parts_of(request)
    audit(request, action, what)
    words = [*words, *grant.words_of(parts.terms), "--store", parts.store, "--quiet"]
    try:
        child = await parts.start(words)
    except OSError as error:
        return no(request, str(error), HTTPStatus.INTERNAL_SERVER_ERROR)
    waiting = asyncio.create_task(child.wait())
    parts.children.add(waiting)
    waiting.add_done_callback(parts.children.discard)
    began = parts.clock.monotonic()
    run = None
    while run is None and not waiting.done() and parts.clock.monotonic() - began < SECONDS_TO_BEGIN:
        await parts.clock.sleep(0.05)
        run = _under_way(request)
    if waiting.done() and waiting.result()[0] == 2:
        return no(request, waiting.result()[1])
    return done(request, back if run is None else f"/runs/{run}")


def _under_way(request: Request) -> int | None:
    """Return the run that is under way as pages tell it: the store is held a moment before its run is said to run."""
    if not is_held(parts_of(request).store):
        return None
    with reading(request) as reader:
        last = reader.latest()
    return last.id if last is not None and last.state == "running" else None
