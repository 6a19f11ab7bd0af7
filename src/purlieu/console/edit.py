"""A crawl's settings edited: as a form and as TOML side by side, checked while one types, kept when one saves.

What is kept goes through ``accept.py`` alone. Of two who edit the same crawl, the second is told what the first
changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from purlieu.console import accept, action, draft, grant
from purlieu.console.accept import Checked
from purlieu.console.audit import audit
from purlieu.console.draft import Draft
from purlieu.console.form import Form, form_of, names_of
from purlieu.console.parts import crawl_of, parts_of, reading
from purlieu.console.show import page
from purlieu.console.titles import CHOICES, title_of
from purlieu.errors import UrlError
from purlieu.report import explain
from purlieu.report.explain import Explanation
from purlieu.settings import Settings
from purlieu.store import crawls
from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import parse
from purlieu.value import dataclass

MOST_BYTES: Final = 2 * 1024 * 1024
_MOST_URL: Final = 8_000
_MOST_TOLD: Final = 50
_RULES: Final = frozenset({"filter.rules", "filter.rules_file"})
"""A run has the lines of its file of rules among its rules: what it read is not what was written."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """The crawl that is edited: its number, its name, its settings until now and the hash that names their version."""

    number: int
    name: str
    toml: str
    version: str


class Ran(NamedTuple):
    """That the last run, begun at a time, had other settings; ``keys`` say what each was and is now."""

    at: float
    keys: list[Difference]


@dataclass(frozen=True, slots=True)
class Difference:
    """A key that another has changed since: what it was, what they made of it, what it would be now."""

    key: str
    before: str
    theirs: str
    yours: str


def crawl_to_edit(request: Request) -> Crawl:
    """Return the crawl that a path names with its settings: those kept for it, else its last run's. Raises NotThere."""
    with reading(request) as reader:
        name = crawl_of(reader, request)
        kept = crawls.kept(reader.database, name)
        last = None if kept else reader.latest(name)
        toml = kept.toml if kept else draft.brief(reader.config(last)) if last else ""
    return Crawl(request.path_params["crawl"], name, toml, kept.hash if kept else "")


def show(request: Request) -> Response:
    """Show a crawl's settings, to be edited."""
    crawl = crawl_to_edit(request)
    url = request.query_params.get("try", "")
    return _page(request, crawl, crawl.version, draft.of_text(crawl.toml), url)


def ran_otherwise(request: Request, crawl: Crawl) -> Ran | None:
    """Return in what the settings kept for a crawl differ from its last run's; None where they do not."""
    if not crawl.version:
        return None
    with reading(request) as reader:
        last = reader.latest(crawl.name)
        config = reader.config(last) if last else ""
    if last is None:
        return None
    before, now = (draft.of_text(draft.brief(text)).fields for text in (config, crawl.toml))
    differing = [
        Difference(name, before.get(name, ""), "", now.get(name, ""))
        for name in sorted({*before, *now})
        if before.get(name, "") != now.get(name, "") and name not in _RULES
    ]
    return Ran(last.started_at, differing[:_MOST_TOLD]) if differing else None


def toml(request: Request) -> Response:
    """Give a crawl's settings as a file for ``purlieu crawl -c``."""
    crawl = crawl_to_edit(request)
    name = "".join(one if one.isascii() and (one.isalnum() or one in "-._") else "_" for one in crawl.name)
    headers = {"Content-Disposition": f'attachment; filename="{name}.toml"'}
    return PlainTextResponse(crawl.toml, media_type="application/toml", headers=headers)


async def check(request: Request) -> Response:
    """Answer what is typed: what is wrong, the other side of the form, and whether the typed URL is in."""
    if refusal := await action.refused(request, MOST_BYTES):
        return refusal
    form = await action.form_of(request, MOST_BYTES)
    return await asyncio.to_thread(_answer, request, form)


def _answer(request: Request, form: Mapping[str, str]) -> Response:
    crawl = crawl_to_edit(request)
    typed_in = request.headers.get("hx-trigger", "")
    made = typed(form)
    text = draft.plain(form.get("toml", ""))
    # What is being typed in is left alone: what comes back is older than the next letter.
    shows_text = typed_in != "text" or (made.text != text and not made.is_broken)
    shows_fields = typed_in in {"text", "more"} or text != draft.plain(form.get("base", ""))
    values = _shown(request, crawl, form.get("version", ""), made, form.get("try", ""))
    return page(
        request, "settings_told.html", **values, shows_text=shows_text, shows_fields=shows_fields and not made.is_broken
    )


async def save(request: Request) -> Response:
    """Keep the settings that are sent, unless something is wrong with them or another has changed them since."""
    if refusal := await action.refused(request, MOST_BYTES):
        return refusal
    form = await action.form_of(request, MOST_BYTES)
    wanted = form.get("action", "")
    crawl = await asyncio.to_thread(crawl_to_edit, request)
    made = typed(form)
    if wanted == "back":
        made = draft.of_text(made.base)
    version = form.get("version", "")
    if wanted == "over":  # knowing what another did, as it was shown
        version = form.get("theirs", "")
    if wanted not in {"save", "run", "over"}:
        return await asyncio.to_thread(_page, request, crawl, version, made, form.get("try", ""))
    checked = await asyncio.to_thread(_checked, request, crawl, made)
    if checked.made is None:
        return await asyncio.to_thread(_page, request, crawl, version, made, "", HTTPStatus.UNPROCESSABLE_ENTITY)
    if made.text != crawl.toml or version != crawl.version:
        if version != crawl.version:
            return await asyncio.to_thread(_conflict, request, version, made)
        what = {"crawl": crawl.name, "keys": changed(crawl.toml, made.text)}
        audit(request, "settings", what, before=crawl.toml, after=made.text)
        if not await asyncio.to_thread(keep, request, crawl, made.text, version):  # between two looks
            return await asyncio.to_thread(_conflict, request, version, made)
    back = f"/crawls/{crawl.number}"
    if wanted == "run":
        return await action.start_crawl(request, crawl.name, back)
    return RedirectResponse(f"{back}/settings?saved=on", HTTPStatus.SEE_OTHER)


def _checked(request: Request, crawl: Crawl, made: Draft) -> Checked:
    return accept.check(made.text, parts_of(request).terms, crawl.name, crawl.toml)


def typed(form: Mapping[str, str]) -> Draft:
    """Return the draft that a form has sent."""
    return draft.merged(form.get("base", ""), form.get("toml", ""), form)


def keep(request: Request, crawl: Crawl, text: str, version: str) -> bool:
    """Keep a text for a crawl whose settings still have this version; return whether they had."""
    database = SqliteDatabase.beside(parts_of(request).store)
    try:
        return crawls.keep(database, crawl.number, grant.closed(text, parts_of(request).terms), version)
    finally:
        database.close()


def changed(before: str, after: str) -> list[str]:
    """Return the keys in which two texts differ, by the form's names."""
    one, two = (draft.of_text(text).fields for text in (before, after))
    return sorted(name for name in {*one, *two} if one.get(name, "") != two.get(name, ""))[:_MOST_TOLD]


def _conflict(request: Request, version: str, made: Draft) -> Response:
    """Show what another has changed since, beside what would be saved; nothing is lost."""
    theirs = crawl_to_edit(request)
    with reading(request) as reader:
        row = reader.database.one("report_config", version)
    before, now = draft.of_text(str(row[0]) if row else "").fields, draft.of_text(theirs.toml).fields
    differing = [
        Difference(name, before.get(name, ""), now.get(name, ""), made.fields.get(name, ""))
        for name in sorted({*now, *made.fields})
        if now.get(name, "") != made.fields.get(name, "")
    ]
    return _page(request, theirs, version, made, status=HTTPStatus.CONFLICT, differing=differing[:_MOST_TOLD])


def _page(
    request: Request, crawl: Crawl, version: str, made: Draft, url: str = "", status: int = HTTPStatus.OK,
    differing: list[Difference] | None = None,
) -> Response:  # fmt: skip
    values = _shown(request, crawl, version, made, url)
    saved = "saved" in request.query_params and request.method == "GET"
    differs = ran_otherwise(request, crawl) if differing is None else None
    return page(request, "settings.html", status, **values, differing=differing, saved=saved, differs=differs)


def _shown(request: Request, crawl: Crawl, version: str, made: Draft, url: str) -> dict[str, Any]:
    checked = _checked(request, crawl, made)
    by_field = accept.by_field(checked, names_of(made))
    form: Form = form_of(made, by_field)
    return {
        "crawl": crawl,
        "version": version,
        "draft": made,
        "checked": checked,
        "form": form,
        "loose": by_field.get("", []),
        "url": url[:_MOST_URL],
        "verdict": judged(request, checked, url) if url.strip() else None,
        "title_of": title_of,
        "choices": CHOICES,
    }


def judged(request: Request, checked: Checked, url: str) -> Explanation | None:
    """Return whether a URL would be in by the settings as they stand, None while something is wrong with them."""
    if checked.made is None:
        return None
    return explain.by_settings(checked.made, whole(checked.made, url), parts_of(request).clock.now())


def whole(made: Settings, url: str) -> str:
    """Return a URL as it was meant: one typed without its beginning is taken to be like the first start address."""
    text = url.strip()[:_MOST_URL]
    if "://" in text or not made.seeds:
        return text
    try:
        seed = parse(made.seeds[0])
        if text.startswith(("/", "?")):
            return parse(text, seed).href
        if "." in text.partition("/")[0] and ":" not in text.partition(".")[0]:
            return parse(f"{seed.scheme}://{text}").href
    except UrlError:
        pass
    return text
