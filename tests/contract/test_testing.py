"""What we offer to tests: the made clock, the served folder, the demo site. They must be right before others rely on them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.fetching import real_fetcher, response

from purlieu.response import Request, Response
from purlieu.testing import demo
from purlieu.testing.clock import FakeClock
from purlieu.testing.serve import ServedFolder
from purlieu.testing.web import FakeWeb

DAY = 86_400.0


def nap(clock: FakeClock, log: list[tuple[float, str]], name: str, *naps: float) -> asyncio.Task[None]:
    """Start a task that sleeps some times and notes when it woke."""

    async def sleeper() -> None:
        for seconds in naps:
            await clock.sleep(seconds)
            log.append((clock.monotonic(), name))

    return asyncio.ensure_future(sleeper())


def test_time_moves_when_everybody_sleeps() -> None:
    """FakeClock: sleepers wake in the order of their moments, equal ones in the order they lay down, in no real time."""

    async def go() -> list[tuple[float, str]]:
        clock = FakeClock(start=1000.0)
        log: list[tuple[float, str]] = []
        await asyncio.gather(
            nap(clock, log, "a", 1, 1, 1),
            nap(clock, log, "b", 0.5, 0.5, 2),
            nap(clock, log, "c", DAY),
            return_exceptions=False,
        )
        assert clock.now() == 1000.0 + DAY
        return log

    expected = [(0.5, "b"), (1.0, "a"), (1.0, "b"), (2.0, "a"), (3.0, "b"), (3.0, "a"), (DAY, "c")]
    assert expected == asyncio.run(go())


def test_time_waits_for_work() -> None:
    """FakeClock: no time passes while any task can still run, however many turns of the loop it takes."""

    async def go() -> None:
        clock = FakeClock()
        log: list[tuple[float, str]] = []
        sleeper = nap(clock, log, "a", 60)
        for _ in range(500):
            await asyncio.sleep(0)
        assert (clock.monotonic(), log) == (0.0, [])
        await sleeper
        assert log == [(60.0, "a")]

    asyncio.run(go())


def test_a_cancelled_sleep_moves_no_time() -> None:
    """FakeClock: who is cancelled does not count."""

    async def go() -> None:
        clock = FakeClock()
        log: list[tuple[float, str]] = []
        long = nap(clock, log, "long", DAY)
        await asyncio.sleep(0)
        long.cancel()
        await nap(clock, log, "short", 1)
        assert clock.monotonic() == 1.0

    asyncio.run(go())


def test_held_time_stands() -> None:
    """FakeClock: while held, no time passes by itself; afterwards it goes on."""

    async def go() -> None:
        clock = FakeClock()
        log: list[tuple[float, str]] = []
        sleeper = nap(clock, log, "a", 1)
        with clock.held():
            await asyncio.sleep(0.02)
            assert log == []
        await sleeper
        assert log == [(1.0, "a")]

    asyncio.run(go())


def test_advance_by_hand() -> None:
    """FakeClock(by_itself=False): time stands until advanced, and wakes only those whose moment has come."""

    async def go() -> None:
        clock = FakeClock(by_itself=False)
        log: list[tuple[float, str]] = []
        sleeper = nap(clock, log, "a", 1, 1, 1)
        await clock.advance(2.5)
        assert (clock.monotonic(), log) == (2.5, [(1.0, "a"), (2.0, "a")])
        await clock.advance(1)
        assert sleeper.done()

    asyncio.run(go())


def test_the_made_web_takes_made_time() -> None:
    """FakeWeb: an answer takes the latency of the clock, and what was asked is remembered with its moments."""

    async def go() -> None:
        clock = FakeClock()
        web = FakeWeb({"http://a.example/": "x"}, clock, latency_seconds=0.5)
        got = response(await web.fetch(Request("http://a.example/")))
        assert (got.seconds, clock.monotonic()) == (0.5, 0.5)
        await asyncio.gather(web.fetch(Request("http://a.example/1")), web.fetch(Request("http://a.example/2")))
        assert [(one.began_at, one.ended_at) for one in web.asked] == [(0.0, 0.5), (0.5, 1.0), (0.5, 1.0)]

    asyncio.run(go())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a document root."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "index.html").write_text("<title>Root</title>")
    (tmp_path / "docs" / "index.html").write_text("<title>Docs</title>")
    (tmp_path / "docs" / "日本 語.txt").write_text("text")
    return tmp_path


def test_served_folder(folder: Path) -> None:
    """ServedFolder: index files, types, the redirect to the slash, encoded names, 404, and nothing outside the folder."""

    async def go() -> None:
        async with real_fetcher() as fetcher:

            async def get(path: str) -> Response:
                return response(await fetcher.fetch(Request(f"{site.origin}{path}")))

            root = await get("/")
            assert (root.status, root.body, root.header("content-type")) == (200, b"<title>Root</title>", "text/html")
            slash = await get("/docs")
            assert (slash.status, slash.header("location")) == (301, "/docs/")
            assert (await get("/docs/")).body == b"<title>Docs</title>"
            text = await get("/docs/%E6%97%A5%E6%9C%AC%20%E8%AA%9E.txt?q")
            assert (text.status, text.body, text.header("content-type")) == (200, b"text", "text/plain")
            for path in ("/none", "/../../etc/hostname", "/%2e%2e/%2e%2e/etc/hostname", "/%00"):
                assert (await get(path)).status == 404

    with ServedFolder(folder) as site:
        asyncio.run(go())


def test_served_folder_validators(folder: Path) -> None:
    """ServedFolder: a matching ETag or Last-Modified gives 304 without a body, and the ETag wins over the date."""

    async def go() -> None:
        async with real_fetcher() as fetcher:

            async def status(*headers: tuple[str, str]) -> int:
                return response(await fetcher.fetch(Request(site.url, headers=headers))).status

            first = response(await fetcher.fetch(Request(site.url)))
            etag, date = first.header("etag") or "", first.header("last-modified") or ""
            assert await status(("If-None-Match", etag)) == 304
            assert await status(("If-None-Match", f'"other", W/{etag}')) == 304
            assert await status(("If-Modified-Since", date)) == 304
            assert await status(("If-None-Match", '"other"'), ("If-Modified-Since", date)) == 200

    with ServedFolder(folder) as site:
        asyncio.run(go())


def test_served_folder_answers_many_at_once(folder: Path) -> None:
    """ServedFolder: hundreds of requests at the same time are all answered."""

    async def go() -> list[int]:
        async with real_fetcher() as fetcher:
            urls = [f"{site.url}?{number}" for number in range(300)]
            return [
                response(got).status for got in await asyncio.gather(*(fetcher.fetch(Request(url)) for url in urls))
            ]

    with ServedFolder(folder) as site:
        assert asyncio.run(go()) == [200] * 300


def test_demo_site() -> None:
    """The demo holds one of each thing a crawl must tell apart, in three languages and two legacy encodings."""

    async def go(start: str) -> None:
        async with real_fetcher() as fetcher:

            async def get(path: str) -> Response:
                return response(await fetcher.fetch(Request(start.rstrip("/") + path)))

            assert "生け垣のパン屋" in (await get("/ja/")).body.decode("shift_jis")
            assert "树篱面包店" in (await get("/zh/")).body.decode("gb18030")
            assert "charset" not in ((await get("/ja/")).header("content-type") or "")
            assert [(await get(path)).status for path in ("/cakes", "/old-menu", "/menu", "/closed-shop")] == [
                301,
                301,
                302,
                404,
            ]
            assert (await get("/price-list.pdf")).body.startswith(b"%PDF-")
            assert b"Disallow: /kitchen/" in (await get("/robots.txt")).body
            assert b"/hidden-oven</loc>" in (await get("/sitemap.xml")).body
            for path in demo.PAGES:
                assert (await get(path)).status == 200

    with demo.serve() as start:
        asyncio.run(go(start))


def test_the_demo_pdf_is_whole() -> None:
    """The PDF made in code has a cross-reference table whose offsets are right."""
    data = demo.pdf("a (b) \\ c")
    table = data[int(data.rpartition(b"startxref\n")[2].split()[0]) :].split(b"\n")
    assert table[0] == b"xref"
    for number, line in enumerate(table[3:8], 1):
        assert data[int(line[:10]) :].startswith(b"%d 0 obj" % number)


def test_the_demo_stands_where_it_stood_if_it_can() -> None:
    """The demo is served on the port that is asked for, and on another one while that is taken."""
    with demo.DemoSite() as taken:
        with demo.serve(taken.port) as elsewhere:
            assert elsewhere != taken.url
        port = taken.port
    with demo.serve(port) as start:
        assert start == f"http://127.0.0.1:{port}/"
