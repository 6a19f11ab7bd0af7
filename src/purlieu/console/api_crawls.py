"""Crawls and their settings as JSON: made, read, changed and deleted as on the pages, by the same rules.

Whatever changes something carries the key of its session in the header ``X-Form-Key``; ``/api/session`` tells it.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from http import HTTPStatus
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from purlieu.console import accept, action, edit, make
from purlieu.console.accept import Checked
from purlieu.console.audit import audit
from purlieu.console.parts import parts_of
from purlieu.console.speech import language_of
from purlieu.console.wrong import problem
from purlieu.errors import Mistake
from purlieu.report import explain
from purlieu.sentence import Sentence, said, speaker
from purlieu.store.crawls import hash_of

KEY: Final = "x-form-key"
CHANGED: Final = Sentence("Somebody else has changed these settings since you opened them")
TOO_LONG: Final = Sentence("This is too long: send at most 2 MiB.")
NO_OBJECT: Final = Sentence("Send one JSON object.")


def session(request: Request) -> Any:
    """Tell the key that changes must carry, and the role of who asks."""
    held = request.state.session
    return {"form_key": held.form_key, "role": str(held.role)}


def crawl(request: Request) -> Any:
    """Tell a crawl's settings and the version that a change must name."""
    found = edit.crawl_to_edit(request)
    return {"crawl": found.number, "name": found.name, "toml": found.toml, "version": found.version}


async def create(request: Request) -> Response:
    """Make a crawl of addresses, or of a settings text; run it where ``run`` is true."""
    given = await _given(request)
    if isinstance(given, Response):
        return given
    seeds = given.get("seeds", "")
    form = {name: str(given.get(name, "")) for name in ("name", "toml", "copy")}
    form["seeds"] = "\n".join(map(str, seeds)) if isinstance(seeds, list) else str(seeds)
    text, name, checked = await asyncio.to_thread(make.wanted, request, form)
    if checked.made is None:
        return _wrong(request, checked)
    audit(request, "create", {"crawl": name}, after=text)
    number = await asyncio.to_thread(make.make, parts_of(request), name, text)
    if number is None:
        return _wrong(request, Checked(mistakes=(Mistake("name", name, make.TAKEN),)))
    if given.get("run") is True and (started := await action.start_crawl(request, name, "")).status_code >= 400:
        return started
    return JSONResponse({"crawl": number, "name": name, "version": hash_of(text)}, HTTPStatus.CREATED)


async def change(request: Request) -> Response:
    """Keep other settings for a crawl, unless they are of another version by now than the one that is named."""
    given = await _given(request)
    if isinstance(given, Response):
        return given
    found = await asyncio.to_thread(edit.crawl_to_edit, request)
    text, version = str(given.get("toml", "")), str(given.get("version", ""))
    checked = await asyncio.to_thread(accept.check, text, parts_of(request).terms, found.name, found.toml)
    if checked.made is None:
        return _wrong(request, checked)
    if version == found.version:
        what = {"crawl": found.name, "keys": edit.changed(found.toml, text)}
        audit(request, "settings", what, before=found.toml, after=text)
        if await asyncio.to_thread(edit.keep, request, found, text, version):
            return JSONResponse({"crawl": found.number, "version": hash_of(text)})
    theirs = await asyncio.to_thread(edit.crawl_to_edit, request)
    say = speaker(language_of(request))
    more = {"version": theirs.version, "toml": theirs.toml}
    return problem("conflict", say("This did not work"), said(CHANGED, say), HTTPStatus.CONFLICT, **more)


async def delete(request: Request) -> Response:
    """Delete a crawl with all that its runs have left, unless one is under way."""
    given = await _given(request)
    return given if isinstance(given, Response) else await make.deleted(request)


async def run(request: Request) -> Response:
    """Start a run of a crawl."""
    given = await _given(request)
    if isinstance(given, Response):
        return given
    found = await asyncio.to_thread(edit.crawl_to_edit, request)
    return await action.start_crawl(request, found.name, "")


async def check(request: Request) -> Response:
    """Tell what is wrong with a settings text, and whether it lets a URL in, without keeping it."""
    given = await _given(request)
    if isinstance(given, Response):
        return given
    return JSONResponse(await asyncio.to_thread(_checked, request, given))


def _checked(request: Request, given: dict[str, Any]) -> dict[str, Any]:
    checked = accept.check(str(given.get("toml", "")), parts_of(request).terms)
    url = str(given.get("url", ""))
    verdict = edit.judged(request, checked, url) if url else None
    language = language_of(request)
    return {
        "mistakes": _mistakes(request, checked),
        "notes": [one.sentence(language) for one in checked.notes],
        "verdict": explain.facts(verdict) if verdict else None,
    }


def _mistakes(request: Request, checked: Checked) -> list[dict[str, str]]:
    say = speaker(language_of(request))
    return [{"key": one.key, "value": one.value, "remedy": said(one.remedy, say)} for one in checked.mistakes]


def _wrong(request: Request, checked: Checked) -> Response:
    mistakes = _mistakes(request, checked)
    detail = "; ".join(f"{one['key']}: {one['remedy']}" for one in mistakes)
    title = speaker(language_of(request))("This did not work")
    return problem("settings", title, detail, HTTPStatus.UNPROCESSABLE_ENTITY, mistakes=mistakes)


async def _given(request: Request) -> dict[str, Any] | Response:
    """Return the JSON object of a request with the key of its session, else the answer that refuses it."""
    held = getattr(request.state, "session", None)
    key = request.headers.get(KEY, "")
    if held is None or not hmac.compare_digest(key.encode(), held.form_key.encode()):
        return action.no(request, action.FORM, HTTPStatus.FORBIDDEN)
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > edit.MOST_BYTES:
            return action.no(request, TOO_LONG, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    try:
        given = json.loads(body) if body else {}
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        return action.no(request, NO_OBJECT, HTTPStatus.BAD_REQUEST)
    return given
