"""Pages made from templates: what every page has, how numbers, times and sizes are written, and what is safe to show.

All that comes from the web is text: it is escaped by the templates, and characters that would turn a line round or hide
in it are replaced here. Reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from purlieu import __version__
from purlieu.console import labels, zone
from purlieu.console.keys import Role
from purlieu.console.speech import NAMES, language_of
from purlieu.outcome import REASONS, words_of
from purlieu.report.states import State
from purlieu.sentence import Say, Sentence, said, speaker

_TEMPLATES: Final = Path(__file__).parent / "templates"
_LONG: Final = 2_000


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "n": number,
        "at": moment,
        "iso": iso,
        "span": span,
        "about": about,
        "size": size,
        "safe_text": safe,
    }
    made.globals |= {
        "version": __version__,
        "languages": NAMES,
        "group_of": labels.group_of,
        "change_group": labels.change_group,
        "is_web": is_web,
        "query": query,
    }
    return made


def tongue_of(request: Request) -> tuple[str, Say]:
    """Return the language of a request, and what says texts in it."""
    language = language_of(request)
    return language, speaker(language)


def page(request: Request, template: str, status: int = 200, /, **values: object) -> HTMLResponse:
    """Return the page of a template in the language of the request."""
    return HTMLResponse(text(request, template, **values), status)


def text(request: Request, template: str, /, **values: object) -> str:
    """Return the text of a template in the language of the request."""
    language, say = tongue_of(request)
    session = getattr(request.state, "session", None)
    may_change = session is not None and session.role is Role.OWNER
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")

    def ending(name: str) -> str:
        return REASONS[name].sentence(language) if name in REASONS else ""

    parts = getattr(request.app.state, "parts", None) if "app" in request.scope else None
    place = zone.name_of(request, parts.terms.zone if parts else "")
    with zone.told_in(place):
        return _environment().get_template(template).render(
            say=say,
            said=lambda one: said(one, say),
            language=language,
            here=here if request.method == "GET" else "/",
            form_key=session.form_key if session and may_change else "",
            may_change=may_change,
            session=session,
            zone=place,
            asks_zone=not place and request.method == "GET",
            kind=lambda one: _labelled(labels.KINDS, one, say),
            difference=lambda one: _labelled(labels.DIFFERENCES, one, say),
            word=lambda what, one: _labelled(labels.WORDS[what], one, say),
            state=lambda one: State(one).words(language),
            ending=ending,
            reason=lambda code: words_of(code, language),
            sentence=lambda one: one.sentence(language),
            **values,
        )  # fmt: skip


def _labelled(table: Mapping[str, Sentence], name: str, say: Say) -> str:
    return said(table[name], say) if name in table else name


def number(value: float) -> str:
    """Return a number with commas."""
    return f"{value:,}"


def moment(at: float | None) -> str:
    """Return a time in seconds since the epoch as date and time in the zone of the page, "" for none."""
    return "" if at is None else zone.local(at).strftime("%Y-%m-%d %H:%M")


def iso(at: float | None) -> str:
    """Return the same exactly, with its zone, for machines and for who points at it."""
    return "" if at is None else zone.local(at).isoformat(timespec="seconds")


def span(seconds: float | None) -> str:
    """Return a span as people write it: ``0.25 s``, ``1:02:03``."""
    if seconds is None or seconds < 0:
        return ""
    if seconds < 60:
        return f"{seconds:.2f} s"
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def about(seconds: float | None) -> str:
    """Return a span of time roughly, as ``35 s``, ``12 min`` or ``3 h 20 min``."""
    if seconds is None:
        return ""
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def size(count: float) -> str:
    """Return a number of bytes as people write it: ``1.2 MB``."""
    if count < 0:
        return ""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"


def safe(text: object) -> str:
    """Return a text of the web's without characters that are not seen or turn the line round, and not too long."""
    whole = str(text)
    shown = whole if whole.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in whole)
    return shown if len(shown) <= _LONG else f"{shown[:_LONG]}…"


def is_web(href: str) -> bool:
    """Return whether an address may be a link: of the web, and nothing that a browser would run."""
    return href.startswith(("http://", "https://"))


def query(values: Mapping[str, Any], **changed: object) -> str:
    """Return a query from what is set in values, with changes; "" and None are left out."""
    merged = {**values, **changed}
    return urlencode({name: value for name, value in merged.items() if value not in {"", None, 0}})
