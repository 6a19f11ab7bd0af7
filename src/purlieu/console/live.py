"""A run under way, as it goes: server-sent events that say what the store says, every second, until it ends.

Asks the store read-only; what is shown is a page's own fragment, so that nothing has to be put together in the browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from purlieu.console.labels import group_of
from purlieu.console.parts import parts_of, reading, run_of
from purlieu.console.show import text
from purlieu.store.reader import RunRow
from purlieu.store.sqlite import is_held

PAUSE_SECONDS: Final = 1.0
MOST_SECONDS: Final = 600.0
"""A stream ends after so long; the browser asks again by itself."""
_GROUPS: Final = ("good", "moved", "out", "wait", "bad")


def stream(request: Request) -> Response:
    """Send the state of a run once a second until it has ended."""
    with reading(request) as reader:
        run_of(reader, request)  # an unknown run is told as one
    return StreamingResponse(_events(request), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _events(request: Request) -> AsyncIterator[str]:
    clock = parts_of(request).clock
    began, last = clock.monotonic(), None
    while clock.monotonic() - began < MOST_SECONDS and not await request.is_disconnected():
        run = await asyncio.to_thread(_run, request)
        if run.state != "running":
            yield "event: ended\ndata: ended\n\n"
            return
        shown = text(request, "live.html", run=run, **progress(request, run, last))
        last = (run.active_seconds, run.counters)
        yield "event: state\n" + "".join(f"data: {line}\n" for line in shown.splitlines()) + "\n"
        await clock.sleep(PAUSE_SECONDS)


def _run(request: Request) -> RunRow:
    with reading(request) as reader:
        return run_of(reader, request)


def progress(request: Request, run: RunRow, last: tuple[float, Any] | None = None) -> dict[str, Any]:
    """Return what a run under way has done, and how fast it is now: since ``last``, else since its start."""
    counters = run.counters
    endings: dict[str, int] = counters.get("endings", {})
    groups = dict.fromkeys(_GROUPS, 0)
    for name, number in endings.items():
        groups[group_of(name.partition(".")[0])] += number
    seconds, before = last or (0.0, {})
    passed = run.active_seconds - seconds
    if passed <= 0:
        passed, before = run.active_seconds, {}
    admitted = counters.get("admitted", 0)
    return {
        "groups": groups,
        "requests": counters.get("requests", 0),
        "size": counters.get("bytes", 0),
        "admitted": admitted,
        "waiting": max(0, admitted - sum(endings.values())),
        "rate": (counters.get("requests", 0) - before.get("requests", 0)) / passed if passed > 0 else 0.0,
        "speed": (counters.get("bytes", 0) - before.get("bytes", 0)) / passed if passed > 0 else 0.0,
        "is_alive": is_held(parts_of(request).store),
        "group_names": _GROUPS,
    }
