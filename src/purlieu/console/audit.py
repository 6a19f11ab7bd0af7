"""The file of changes: when, from where, who, what, and what it was before and after; one line of JSON each.

Written before a change is made: one that cannot be written down is not made.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console.keys import Role
from purlieu.console.parts import NotThere, parts_of
from purlieu.console.show import page
from purlieu.row import iso8601

SHOWN: Final = 100
_BLOCK: Final = 65_536
_MOST_LINE: Final = 100_000
_OWN: Final = frozenset({"at", "from", "role", "action", "before", "after"})


def audit(
    request: Request, action: str, what: dict[str, Any], *, before: str | None = None, after: str | None = None
) -> None:
    """Add a line to the file of changes. ``before`` and ``after`` are texts, of which it has the hashes.

    Raises OSError when it cannot be written.
    """
    parts = parts_of(request)
    session = getattr(request.state, "session", None)
    line: dict[str, Any] = {
        "at": iso8601(parts.clock.now()),
        "from": request.client.host if request.client else "",
        "role": session.role if session else "",
        "action": action,
        **what,
        **({} if before is None else {"before": fingerprint(before)}),
        **({} if after is None else {"after": fingerprint(after)}),
    }
    place = os.open(parts.audit, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(place, "a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def fingerprint(text: str) -> str:
    """Return the first 16 digits of a text's SHA-256."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def show(request: Request) -> Response:
    """Show owners the last changes, the newest first; ``before`` is the place that the page before gave."""
    if request.state.session.role is not Role.OWNER:
        raise NotThere(request.url.path)
    given = request.query_params.get("before", "")
    place = int(given) if given.isdecimal() and len(given) < 16 else None
    lines, further = _last(Path(parts_of(request).audit), place)
    return page(request, "audit.html", lines=lines, further=further, is_first=place is None)


def _last(path: Path, place: int | None) -> tuple[list[dict[str, Any]], int]:
    """Return the lines before a place in the file, and the place of the oldest of them, 0 where there are no more."""
    found: list[dict[str, Any]] = []
    at = 0
    for at, line in _backwards(path, place):
        if told := _told(line):
            found.append(told)
        if len(found) == SHOWN:
            return found, at
    return found, 0


def _told(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    if not isinstance(told, dict):
        return None
    told |= {"at": _moment(told.get("at"))}
    rest = {name: value for name, value in told.items() if name not in _OWN}
    return {**{name: told.get(name, "") for name in _OWN}, "what": rest}


def _moment(text: object) -> float | None:
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


def _backwards(path: Path, place: int | None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file from a place back, each with the place where it begins; reads what is asked for."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        end = min(file.seek(0, 2), file.tell() if place is None else place)
        rest = b""
        while end > 0:
            start = max(0, end - _BLOCK)
            file.seek(start)
            block = file.read(end - start) + rest
            first, *lines = block.split(b"\n")
            behind = start + len(block)
            for line in reversed(lines):
                behind -= len(line)
                if line:
                    yield behind, line
                behind -= 1
            rest, end = first[:_MOST_LINE], start
        if rest:
            yield 0, rest
