"""What any Fetcher must do, on the made web in memory and on real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from tests.fetching import failure, real_fetcher, response, served

from purlieu.fetch.fetcher import Fetcher
from purlieu.response import Failure, Fault, Request, Response
from purlieu.testing.web import Entry, FakeWeb, answer, redirect

PAGE = "<title>Ein Platz für Brot</title>"


def by_tag(request: Request) -> Entry:
    """Answer 304 to the right tag."""
    tags = [value for name, value in request.headers if name.lower() == "if-none-match"]
    return answer(status=304, headers={"ETag": '"a"'}) if tags == ['"a"'] else answer(PAGE, headers={"ETag": '"a"'})


PAGES: dict[str, Entry] = {
    "/": PAGE,
    "/moved": redirect("/"),
    "/elsewhere": redirect("http://other.example/", 302),
    "/picture.png": answer(b"\x89PNG" * 100, url="/picture.png"),
    "/untyped": answer("<p>x", headers={"Content-Type": ""}),
    "/error.png": answer(b"no", status=500, headers={"Content-Type": "image/png"}),
    "/big": "x" * 50_000,
    "/tagged": by_tag,  # type: ignore[dict-item]
    "/twice": answer("x", headers={"X-Note": "one", "Link": "<a>; rel=x"}),
    "/gone": 410,
    "/reset": Fault.RESET,
}

Fetch = Callable[..., Awaitable[Response | Failure]]


@asynccontextmanager
async def in_memory() -> AsyncIterator[Fetch]:
    """Give a fetch by path on the made web."""
    web: Fetcher = FakeWeb({f"http://made.example{path}": entry for path, entry in PAGES.items()})
    yield lambda path, **wishes: web.fetch(Request(f"http://made.example{path}", **wishes))
    await web.close()


@asynccontextmanager
async def on_loopback() -> AsyncIterator[Fetch]:
    """Give a fetch by path on real sockets."""
    with served(PAGES) as site:
        async with real_fetcher() as fetcher:
            yield lambda path, **wishes: fetcher.fetch(Request(f"{site.origin}{path}", **wishes))


@pytest.fixture(params=[in_memory, on_loopback], ids=["FakeWeb", "HttpFetcher"])
def ask(request: pytest.FixtureRequest) -> Callable[..., Response | Failure]:
    """Return a blocking fetch by path."""

    def once(path: str, **wishes: object) -> Response | Failure:
        async def go() -> Response | Failure:
            async with request.param() as fetch:
                got: Response | Failure = await fetch(path, **wishes)
                return got

        return asyncio.run(go())

    return once


Ask = Callable[..., Response | Failure]


def test_a_page(ask: Ask) -> None:
    """House 2, step 7: a response keeps the URL asked, the status, the headers and the body bytes."""
    got = response(ask("/"))
    assert got.url.endswith("/")
    assert (200, "OK", PAGE.encode(), None, False) == (got.status, got.reason, got.body, got.fault, got.cut)
    assert got.header("content-type") == "text/html; charset=utf-8"
    assert got.address


@pytest.mark.parametrize(
    ("path", "status", "target"), [("/moved", 301, "/"), ("/elsewhere", 302, "http://other.example/")]
)
def test_redirects_are_not_followed(ask: Ask, path: str, status: int, target: str) -> None:
    """House 2, step 7: one hop only; the target is for the crawler to judge."""
    got = response(ask(path))
    assert (status, target) == (got.status, got.header("location"))


@pytest.mark.parametrize(("path", "status"), [("/nowhere", 404), ("/gone", 410), ("/error.png", 500)])
def test_a_bad_status_is_a_response(ask: Ask, path: str, status: int) -> None:
    """R-6: a status is an answer, never a failure."""
    assert status == response(ask(path)).status


def test_an_unwanted_class_is_left_out(ask: Ask) -> None:
    """R-10 (HEAD before GET): the body of an unwanted class is cut off when the headers show it."""
    got = response(ask("/picture.png", classes=frozenset({"HTML"})))
    assert (got.status, got.cut, got.body, got.fault) == (200, True, b"", None)


@pytest.mark.parametrize("path", ["/", "/untyped", "/error.png", "/picture.png"])
def test_a_wanted_class_is_kept(ask: Ask, path: str) -> None:
    """R-10: HTML, what has no type, an error of any type, and any class when none is named are not cut."""
    got = response(ask(path, classes=None if path == "/picture.png" else frozenset({"HTML"})))
    assert not got.cut
    assert got.body


def test_a_body_over_the_limit(ask: Ask) -> None:
    """R-6.1: a too large page is read up to the limit."""
    got = response(ask("/big", body_bytes=1000))
    assert (got.status, got.fault, got.body) == (200, Fault.TOO_LARGE, b"x" * 1000)


def test_a_body_of_exactly_the_limit(ask: Ask) -> None:
    """R-6.1: the limit itself is not too large."""
    got = response(ask("/big", body_bytes=50_000))
    assert (got.fault, len(got.body)) == (None, 50_000)


def test_head(ask: Ask) -> None:
    """MF-21: HEAD gives headers and no body, and no class is cut."""
    got = response(ask("/picture.png", method="HEAD", classes=frozenset({"HTML"})))
    assert (got.status, got.body, got.cut, got.header("content-type")) == (200, b"", False, "image/png")


def test_headers_of_the_request_are_sent(ask: Ask) -> None:
    """A conditional request reaches the server, and its 304 comes back as it is."""
    assert response(ask("/tagged")).status == 200
    assert response(ask("/tagged", headers=(("If-None-Match", '"a"'),))).status == 304


def test_headers_keep_their_order(ask: Ask) -> None:
    """House 2: header pairs stay in the order received, for archives and replays."""
    names = [name for name, _ in response(ask("/twice")).headers]
    assert names.index("X-Note") < names.index("Link")


def test_no_answer_is_a_failure(ask: Ask) -> None:
    """R-6.1: what breaks before the first header byte is a Failure with its reason."""
    got = failure(ask("/reset"))
    assert got.fault is Fault.RESET
    assert got.url.endswith("/reset")
    assert got.detail


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("no.such.invalid", ""), ("a.localhost", "127.0.0.1")],
)
def test_the_address_of_a_host(host: str, address: str) -> None:
    """A name that leads nowhere has no address; an address is its own; all of localhost is here (R-4.1, by address)."""

    async def go() -> str:
        async with real_fetcher() as fetcher:
            return await fetcher.address_of(host)

    assert asyncio.run(go()) == address
