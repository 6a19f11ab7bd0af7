"""For tests of fetchers: one made web served in memory or on loopback, and a real fetcher that may enter loopback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from purlieu.crawl.clock import RealClock
from purlieu.fetch.http import HttpFetcher
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import FetchSettings, HostSettings, OriginSettings
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import Entry, answer

OPEN = FetchSettings(allow_addresses=("loopback",), timeout_seconds=10.0, connect_timeout_seconds=5.0)


@asynccontextmanager
async def real_fetcher(
    settings: FetchSettings = OPEN,
    origins: tuple[OriginSettings, ...] = (),
    hosts: tuple[HostSettings, ...] = (),
    **changed: Any,
) -> AsyncIterator[HttpFetcher]:
    """Give a fetcher (settings changed by keyword) and close it."""
    fetcher = HttpFetcher(replace(settings, **changed), origins, hosts, "Tester/1.0", RealClock().now)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def served(pages: Mapping[str, Entry]) -> Loopback:
    """Return a server of a made web's entries by path: the same table that ``FakeWeb`` takes by URL."""

    async def give(received: Received, out: asyncio.StreamWriter) -> bool:
        made: Any = pages.get(received.path, 404)
        if callable(made):
            made = made(Request(received.target, method=received.method, headers=tuple(received.headers.items())))
        if isinstance(made, Fault):
            return False
        if isinstance(made, int):
            made = answer(status=made)
        if isinstance(made, bytes | str):
            made = answer(made, url=received.path)
        out.write(
            message(made.body, status=made.status, headers=dict(made.headers), with_body=received.method != "HEAD")
        )
        return True

    return Loopback(give)


def sends(data: bytes | Callable[[Received], bytes], *, again: bool = False) -> Loopback:
    """Return a server that sends these bytes, whatever is asked."""

    async def give(received: Received, out: asyncio.StreamWriter) -> bool:
        out.write(data(received) if callable(data) else data)
        return again

    return Loopback(give)


def fetched(server: Loopback, path: str = "/", **request: Any) -> Response | Failure:
    """Fetch one page of a server that is not running yet, and stop it again."""

    async def ask() -> Response | Failure:
        async with real_fetcher() as fetcher:
            return await fetcher.fetch(Request(f"{server.origin}{path}", **request))

    with server:
        return asyncio.run(ask())


def response(got: Response | Failure) -> Response:
    """Insist on a response."""
    assert isinstance(got, Response), got
    return got


def failure(got: Response | Failure) -> Failure:
    """Insist on a failure."""
    assert isinstance(got, Failure), got
    return got
