"""The time zone that a page tells times in: chosen on the page, else the owner's flag, else the browser's.

The console's pages alone: files keep their own form. Knows no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Final
from urllib.parse import unquote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from starlette.requests import Request

CHOSEN: Final = "purlieu_zone"
BROWSER: Final = "purlieu_browser_zone"
"""The cookie in which console.js says what zone the browser is in."""
_MOST_NAME: Final = 64
_HERE: ContextVar[tzinfo | None] = ContextVar("zone", default=None)
"""Set while one page is written: filters of templates are not told which request they serve."""


@cache
def names() -> tuple[str, ...]:
    """Return the zones that the machine knows, by name."""
    return tuple(sorted(one for one in available_timezones() if "/" in one or one == "UTC"))


def is_zone(name: str) -> bool:
    """Return whether a name is that of a zone the machine knows."""
    return zone_of(name) is not None


def zone_of(name: str) -> tzinfo | None:
    """Return a zone by its name, None for what is none."""
    if not name or len(name) > _MOST_NAME:
        return None
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def name_of(request: Request, fixed: str = "") -> str:
    """Return the name of a request's zone, "" for that of the machine; ``fixed`` is what the owner's flag says."""
    for name in (request.cookies.get(CHOSEN, ""), fixed, unquote(request.cookies.get(BROWSER, ""))):
        if is_zone(name):
            return name
    return ""


@contextmanager
def told_in(name: str) -> Iterator[None]:
    """Tell times in a zone while a page is written."""
    before = _HERE.set(zone_of(name))
    try:
        yield
    finally:
        _HERE.reset(before)


def local(at: float) -> datetime:
    """Return a moment in seconds since the epoch in the zone of the page, else of the machine."""
    return datetime.fromtimestamp(at, UTC).astimezone(_HERE.get())
