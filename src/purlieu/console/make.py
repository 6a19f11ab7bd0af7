"""Crawls made, copied and removed: whoever makes one types an address, and has a crawl with sensible settings.

What is kept goes through ``accept.py`` alone; what goes with a crawl that is removed is said before.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from purlieu.console import accept, action, draft, grant
from purlieu.console.accept import Checked
from purlieu.console.audit import audit
from purlieu.console.edit import MOST_BYTES, crawl_to_edit
from purlieu.console.parts import NotThere, Parts, crawl_of, parts_of, reading
from purlieu.console.show import page
from purlieu.console.speech import language_of
from purlieu.errors import Mistake, StoreBusy, UrlError
from purlieu.report import pruning
from purlieu.sentence import Sentence
from purlieu.settings.tree import written
from purlieu.store import crawls
from purlieu.store.crawls import Extent
from purlieu.store.sqlite import SqliteDatabase, is_held
from purlieu.url import parse

TAKEN: Final = Sentence("there is a crawl of this name already; write another")
UNDER_WAY: Final = Sentence("A run of this crawl is under way. Stop it first; then the crawl can be deleted.")
_MOST_NAMES: Final = 1_000


def new(request: Request) -> Response:
    """Ask for the address of a new crawl, or for the name of a copy."""
    return _page(request, {"copy": request.query_params.get("copy", "")})


async def create(request: Request) -> Response:
    """Make a crawl, and run it where that is wanted too."""
    if refusal := await action.refused(request, MOST_BYTES):
        return refusal
    form = await action.form_of(request, MOST_BYTES)
    text, name, checked = await asyncio.to_thread(wanted, request, form)
    if checked.made is None:
        return await asyncio.to_thread(_page, request, form, checked)
    audit(request, "create", {"crawl": name}, after=text)
    number = await asyncio.to_thread(make, parts_of(request), name, text)
    if number is None:  # another made it between two looks
        return await asyncio.to_thread(_page, request, form, Checked(mistakes=(Mistake("name", name, TAKEN),)))
    if form.get("action") == "run":
        return await action.start_crawl(request, name, f"/crawls/{number}")
    return RedirectResponse(f"/crawls/{number}", HTTPStatus.SEE_OTHER)


def make(parts: Parts, name: str, text: str) -> int | None:
    """Make a crawl and return its number, None when its name is taken."""
    database = SqliteDatabase.beside(parts.store)
    try:
        return crawls.make(database, name, grant.closed(text, parts.terms))
    finally:
        database.close()


def wanted(request: Request, form: Mapping[str, str]) -> tuple[str, str, Checked]:
    """Return the settings that a form asks for, the crawl's name, and what is wrong with either."""
    text, name = draft.plain(form.get("toml", "")).strip("\n"), form.get("name", "").strip()
    with reading(request) as reader:
        taken = {one for _, one in reader.crawls()}
    if form.get("copy"):
        text = crawl_to_edit(_of_number(request, form["copy"])).toml
        text = draft.put_name(text, "")
    elif not text:
        text = usual(form.get("seeds", ""), language_of(request))
    if name:
        text = draft.put_name(text, name)
    checked = accept.check(f"{text}\n", parts_of(request).terms, name)
    if name in taken:
        checked = Checked(mistakes=(*checked.mistakes, Mistake("name", name, TAKEN)))
    if checked.made is None:
        return text, name, checked
    chosen = name or checked.made.name or free_name(parse(checked.made.seeds[0]).host, taken)
    return f"{text}\n", chosen, checked


def usual(typed: str, language: str) -> str:
    """Return the settings of a crawl of which only addresses were typed, one a line."""
    seeds = [address_of(one) for one in draft.plain(typed).split("\n") if one.strip()]
    lines = [f"seeds = {written(seeds)}"]
    if language != "en":
        lines.append(f"language = {written(language)}")
    return "\n".join(lines)


def address_of(typed: str) -> str:
    """Return an address as it was meant: without a scheme it is https, or http for a host of this machine or an IP."""
    text = typed.strip()
    if "://" in text or not text:
        return text
    try:
        host = parse(f"http://{text}").host
    except UrlError:
        return text
    with suppress(ValueError):
        ipaddress.ip_address(host.strip("[]"))
        return f"http://{text}"
    return f"http://{text}" if "." not in host else f"https://{text}"


def free_name(host: str, taken: set[str]) -> str:
    """Return a name that no crawl has: the host's, or with a number behind it."""
    base = host.strip("[]").replace(":", "-") or "crawl"
    return next(
        name for number in range(1, _MOST_NAMES) if (name := base if number == 1 else f"{base}-{number}") not in taken
    )


def ask(request: Request) -> Response:
    """Ask whether a crawl is to be deleted, and say what would be lost."""
    with reading(request) as reader:
        name = crawl_of(reader, request)
        extent = crawls.extent(reader.database, request.path_params["crawl"])
        last = reader.latest(name)
    running = last if last and last.state == "running" else None
    return page(request, "delete.html", name=name, number=request.path_params["crawl"], extent=extent, running=running)


async def delete(request: Request) -> Response:
    """Delete a crawl with all its runs, unless one is under way."""
    return await action.refused(request) or await deleted(request)


async def deleted(request: Request) -> Response:
    """Delete a crawl for who may do that, and lead back to the others."""
    parts, number = parts_of(request), request.path_params["crawl"]
    name, extent = await asyncio.to_thread(_extent, request)
    if await asyncio.to_thread(_is_running, request, name):
        return action.no(request, UNDER_WAY)
    audit(request, "delete", {"crawl": name, **extent._asdict()})
    if not await asyncio.to_thread(remove, parts, number):  # begun between two looks
        return action.no(request, UNDER_WAY)
    parts.workshop.begin(lambda: _forget(parts))
    return action.done(request, "/")


def remove(parts: Parts, number: int) -> bool:
    """Remove a crawl; False while one of its runs is under way."""
    database = SqliteDatabase.beside(parts.store)
    try:
        return crawls.remove(database, number, parts.clock.now(), is_free=not is_held(parts.store))
    finally:
        database.close()


def _is_running(request: Request, name: str) -> bool:
    with reading(request) as reader:
        last = reader.latest(name)
    return last is not None and last.state == "running"


def _extent(request: Request) -> tuple[str, Extent]:
    with reading(request) as reader:
        return crawl_of(reader, request), crawls.extent(reader.database, request.path_params["crawl"])


def _forget(parts: Parts) -> None:
    """Take the rows of removed crawls, unless somebody crawls: then whoever prunes next does."""
    with suppress(StoreBusy):
        pruning.forget(parts.store)


def _page(request: Request, form: Mapping[str, str], checked: Checked | None = None) -> Response:
    copied = crawl_to_edit(_of_number(request, form["copy"])) if form.get("copy") else None
    by_field = accept.by_field(checked or Checked(), {"seeds", "name"})
    with reading(request) as reader:
        taken = {one for _, one in reader.crawls()}
    shown = {name: form.get(name, "") for name in ("seeds", "name", "toml")}
    if copied and not shown["name"]:
        shown["name"] = free_name(copied.name, taken)
    return page(
        request, "new.html", HTTPStatus.UNPROCESSABLE_ENTITY if checked else HTTPStatus.OK, form=shown, copied=copied,
        seeds_wrong=by_field.pop("seeds", []), name_wrong=by_field.pop("name", []),
        other_wrong=[one for some in by_field.values() for one in some],
    )  # fmt: skip


def _of_number(request: Request, text: str) -> Request:
    """Return the request as if its path named this crawl. Raises NotThere for what is no number."""
    if not text.isdecimal() or len(text) > 18:
        raise NotThere(text)
    request.path_params["crawl"] = int(text)
    return request
