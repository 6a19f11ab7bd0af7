"""Puts a made web behind the ``Fetcher`` seam: whole crawls of it without a socket, on a made clock.

Knows how an answer of the web becomes a ``Response`` or ``Failure``.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from purlieu.crawl.clock import Clock
from purlieu.response import Fault, Request
from purlieu.testing.made.web import MadeWeb
from purlieu.testing.web import FakeWeb, Made, answer

FAULTS = {"reset": Fault.RESET, "hang": Fault.TIMEOUT, "close": Fault.RESET, "garbage": Fault.PROTOCOL}


def fake(web: MadeWeb, clock: Clock | None = None, epoch: Callable[[], int] = lambda: 0) -> FakeWeb:
    """Return a ``FakeWeb`` that answers from the made web as it is at ``epoch()``; delays pass on the clock."""
    began_at = clock.monotonic() if clock else 0.0

    async def given(request: Request) -> Made:
        parts = urlsplit(request.url)
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        headers = {name.lower(): value for name, value in request.headers}
        second = clock.monotonic() - began_at if clock else 0.0
        got = web.answer(parts.netloc, path, headers, epoch(), second)
        if clock and got.after_seconds:
            await clock.sleep(got.after_seconds)
        if got.fault in FAULTS:
            return FAULTS[got.fault]
        cut = got.fault == "truncated"
        body = got.body[: len(got.body) // 2] if cut else got.body
        fault = Fault.TRUNCATED if cut else None
        return answer(body, url=request.url, status=got.status, headers=got.headers, fault=fault)

    return FakeWeb(given, clock)
