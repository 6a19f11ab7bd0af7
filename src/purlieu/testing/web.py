"""A made web in memory: a ``Fetcher`` that answers from a table, and remembers what it was asked.

Knows how a table's entry becomes a ``Response`` or ``Failure``, held to the request's limits as the real fetcher does.
Opens no socket. Follows no redirect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from inspect import isawaitable
from typing import Any, Final

from purlieu.crawl.clock import Clock
from purlieu.response import Failure, Fault, Request, Response, content_class
from purlieu.value import dataclass, replace

Made = Response | Failure | Fault | bytes | str | int
"""What an entry may be: a whole answer, a fault, a body (status 200) or a bare status."""
Entry = Made | Callable[[Request], "Made | Awaitable[Made]"]

TYPES: Final = {
    "txt": "text/plain; charset=utf-8",
    "xml": "application/xml",
    "pdf": "application/pdf",
    "png": "image/png",
    "json": "application/json",
}
PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
AFTER_HEADERS: Final = frozenset({Fault.TOO_LARGE, Fault.TRUNCATED, Fault.DECODING, Fault.PROTOCOL})
"""Faults that befall an answer that has begun (R-6.1); as an entry they give an empty 200 with the fault."""
ADDRESS: Final = "203.0.113.7"


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that was made: the monotonic moments at which it began and was answered."""

    request: Request
    began_at: float
    ended_at: float

    @property
    def url(self) -> str:
        """Return what was asked for."""
        return self.request.url


def answer(
    body: bytes | str = b"",
    *,
    url: str = "",
    status: int = 200,
    headers: Mapping[str, str] | tuple[tuple[str, str], ...] = (),
    fault: Fault | None = None,
) -> Response:
    """Return a response as if received; without a Content-Type header it gets one by the URL's ending, else HTML."""
    data = body.encode() if isinstance(body, str) else body
    pairs = tuple(headers.items()) if isinstance(headers, Mapping) else headers
    if data and not any(name.lower() == "content-type" for name, _ in pairs):
        ending = url.partition("?")[0].rpartition("/")[2].rpartition(".")[2]
        pairs = (("Content-Type", TYPES.get(ending, "text/html; charset=utf-8")), *pairs)
    return Response(
        url=url,
        status=status,
        reason=PHRASES.get(status, ""),
        headers=pairs,
        body=data,
        http_version="1.1",
        address=ADDRESS,
        started_at=0.0,
        seconds=0.0,
        first_byte_seconds=0.0,
        wire_bytes=len(data),
        fault=fault,
    )


def redirect(target: str, status: int = 301) -> Response:
    """Return a redirect to the target, which is sent as given."""
    return answer(status=status, headers={"Location": target})


class FakeWeb:
    """A ``Fetcher`` without a network.

    ``pages`` maps a URL to an entry, or is a callable that gives one for a request. A URL that the table lacks is
    ``lacking`` (404). An entry that is callable is called with the request, so that a page can differ from visit to
    visit. Headers of the request that make it conditional are the entry's own business.
    """

    def __init__(
        self,
        pages: Mapping[str, Entry] | Callable[[Request], Made | Awaitable[Made]],
        clock: Clock | None = None,
        latency_seconds: float = 0.0,
        lacking: Entry = 404,
        addresses: Mapping[str, str] | None = None,
    ) -> None:
        """Answer from the pages, after so much of the clock's time; ``addresses`` by host, all others have one."""
        self._pages = pages
        self._clock = clock
        self._latency = latency_seconds
        self._lacking = lacking
        self._addresses = addresses or {}
        self.asked: list[Asked] = []
        self.closed = False

    @property
    def urls(self) -> list[str]:
        """Return what was asked for, in order."""
        return [one.url for one in self.asked]

    async def fetch(self, request: Request) -> Response | Failure:
        """Answer from the table."""
        clock = self._clock
        began_at, started_at = (clock.monotonic(), clock.now()) if clock else (0.0, 0.0)
        if clock and self._latency:
            await clock.sleep(self._latency)
        made: Any = self._pages(request) if callable(self._pages) else self._pages.get(request.url, self._lacking)
        if callable(made):
            made = made(request)
        if isawaitable(made):
            made = await made
        ended_at = clock.monotonic() if clock else 0.0
        self.asked.append(Asked(request, began_at, ended_at))
        return _held_to_limits(_whole(made, request), request, started_at, ended_at - began_at)

    async def address_of(self, host: str) -> str:
        """Return the address that the host was given."""
        return self._addresses.get(host, ADDRESS)

    async def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


def _whole(made: Made, request: Request) -> Response | Failure:
    if isinstance(made, Response):
        return replace(made, url=request.url)
    if isinstance(made, Failure):
        return replace(made, url=request.url)
    if isinstance(made, Fault):
        if made in AFTER_HEADERS:
            return answer(url=request.url, fault=made)
        return Failure(request.url, made, f"made {made.value}", 0.0, 0.0)
    if isinstance(made, int):
        return answer(url=request.url, status=made)
    return answer(made, url=request.url)


def _held_to_limits(got: Response | Failure, request: Request, started_at: float, seconds: float) -> Response | Failure:
    got = replace(got, started_at=started_at, seconds=seconds)
    if isinstance(got, Failure):
        return got
    got = replace(got, first_byte_seconds=seconds)
    if request.method == "HEAD":
        return replace(got, body=b"", wire_bytes=0)
    good = got.status // 100 == 2
    if good and request.classes is not None and content_class(got.header("content-type")) not in request.classes:
        return replace(got, body=b"", wire_bytes=0, cut=True)
    if len(got.body) > request.body_bytes:
        return replace(got, body=got.body[: request.body_bytes], fault=Fault.TOO_LARGE if good else got.fault)
    return got
