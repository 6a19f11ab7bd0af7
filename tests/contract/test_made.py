"""The made web: what it promises to tests and to crawlers must be true before anything is measured on it."""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.crawling import crawl, endings, made_settings

from purlieu import Crawl, page, sitemap
from purlieu.robots import read as read_robots
from purlieu.settings import Settings
from purlieu.testing import Changes, Errors, FakeClock, MadeServer, MadeWeb, Sitemaps, Traps
from purlieu.testing.made import fake
from purlieu.testing.made.name import host_name, host_number
from purlieu.testing.made.trap import TRAPS
from purlieu.testing.made.words import Lastmod, Snare, Validators

NAMED = "h{}.made.test"
ENDING = {
    "page": {"fetched.ok"},
    "redirect": {"redirected.permanent", "redirected.temporary"},
    "missing": {"missing.not_found"},
    "left": {"missing.gone"},
    "failing": {"server_error.server_error", "server_error.5xx"},
}


def body_of(web: MadeWeb, url: str, epoch: int = 0) -> bytes:
    """Return what is at a URL."""
    parts = urlsplit(url)
    return web.answer(parts.netloc, parts.path, None, epoch).body


def digest_of(web: MadeWeb, url: str, epoch: int) -> str:
    """Return the digest of a page's main text."""
    return page.read(body_of(web, url, epoch), url=url, content_type="text/html; charset=utf-8").digest


def asked(server: MadeServer, path: str, **headers: str) -> http.client.HTTPResponse:
    """Ask the first host over a socket and return the answer, read to the end."""
    link = http.client.HTTPConnection(urlsplit(server.url).hostname or "", server.port, timeout=10)
    link.request("GET", path, headers=headers)
    answer = link.getresponse()
    answer.read()
    link.close()
    return answer


@pytest.mark.parametrize("naming", ["127", "h{}.localhost", "www{}.shop.example", "h{}"])
@pytest.mark.parametrize("number", [0, 1, 253, 254, 65_023, 65_024, 1_000_000])
def test_a_host_is_found_by_its_name(naming: str, number: int) -> None:
    """Each number of a host has one name, and the name leads back to it."""
    name = host_name(naming, number)
    assert host_number(naming, name) == (number, "")


@pytest.mark.parametrize(
    "name", ["127.0.0.1", "127.1.0.0", "127.1.0.255", "128.1.0.1", "h1.test", "", "127.1.0.1.", "١٢٧.1.0.1"]
)
def test_a_name_of_no_host_is_none(name: str) -> None:
    """A name that no number has is no host of the web, and is answered with 404."""
    assert host_number("127", name) is None
    assert MadeWeb().answer(name, "/").status == 404


def test_the_same_request_has_the_same_answer() -> None:
    """Two webs of the same plan say the same to the byte; another seed says something else."""
    one, same, other = (MadeWeb(hosts=3, pages=50, seed=seed, cross_links=2) for seed in (1, 1, 2))
    urls = [url for url, _ in one.pages_at()]
    assert [body_of(one, url) for url in urls] == [body_of(same, url) for url in urls]
    assert sum(body_of(one, url) != body_of(other, url) for url in urls) == len(urls)


def test_a_crawl_finds_what_the_web_says_is_there(tmp_path: Path) -> None:
    """One seed leads to every page of every host, each ending as the web says; nothing else is found (traps off)."""
    web = MadeWeb(
        hosts=4, pages=120, seed=5, cross_links=2, naming=NAMED, extras=True,
        errors=Errors(redirects=0.1, missing=0.1, failing=0.05),
        changes=Changes(appear=0.05, vanish=0.05, move=0.02),
    )  # fmt: skip
    epoch = 3
    settings = made_settings(
        tmp_path / "a.db", {"seeds": web.seeds()[:1], "scope": {"mode": "same-domain"}, "politeness": {"retries": 0}}
    )
    clock = FakeClock()
    crawl(fake(web, clock, lambda: epoch), settings, clock)
    found = endings(tmp_path / "a.db")
    truth = dict(web.pages_at(epoch))
    assert len(truth) > 300
    assert set(truth.values()) == set(ENDING)
    wrong = {url: (what, found.get(url)) for url, what in truth.items() if found.get(url) not in ENDING[what]}
    assert wrong == {}
    more = {url for url in found if url not in truth}
    assert {urlsplit(url).path.split("/")[1] for url in more} == {"moved", "private", "unfollowed", "elsewhere"}


def test_pages_change_on_schedule_and_in_their_main_text() -> None:
    """Of 20,000 pages 1 % are exactly 200, and the digest moves for these alone, whatever the footer says."""
    web = MadeWeb(hosts=10, pages=2_000, changes=Changes(schedule=((0.01, 1), (0.05, 7)), dated=True))
    always = dict(MadeWeb(hosts=10, pages=2_000, changes=Changes(schedule=((0.01, 1),))).changed(0, 1))
    assert len(always) == 200
    changed = dict(web.changed(3, 4))
    assert set(always) < set(changed)
    assert set(changed.values()) == {"changed"}
    assert 300 < len(changed) < 400
    urls = [url for url, _ in web.pages_at()][::50] + list(changed)[:50]
    assert all((digest_of(web, url, 3) != digest_of(web, url, 4)) == (url in changed) for url in urls)
    assert all(body_of(web, url, 3) != body_of(web, url, 4) for url in urls)
    assert sum(1 for _ in web.changed(0, 7)) == 200 + 1_000


def test_pages_appear_vanish_and_move() -> None:
    """What is new, gone or moved between two epochs is so for whoever asks at both."""
    web = MadeWeb(pages=3_000, changes=Changes(appear=0.01, vanish=0.01, move=0.01))
    status = {0: {"new"}, 1: {"gone"}, 2: {"moved"}}
    changed = dict(web.changed(1, 4))
    assert {name for names in status.values() for name in names} == set(changed.values())
    for url, how in changed.items():
        parts = urlsplit(url)
        before, after = (web.answer(parts.netloc, parts.path, None, epoch).status for epoch in (1, 4))
        assert {"new": before == 404, "gone": after in {404, 410}, "moved": after in {301, 302}}[how], (
            url,
            before,
            after,
        )


def test_links_that_come_and_go_leave_the_main_text_alone() -> None:
    """A page whose links appear or vanish has the same main text: only what ``changed`` names has another digest."""
    web = MadeWeb(hosts=2, pages=300, cross_links=2, changes=Changes(appear=0.02, vanish=0.02))
    stays = {url for url, what in web.pages_at(1) if what == "page"} - set(dict(web.changed(1, 4)))
    relinked = [url for url in stays if body_of(web, url, 1) != body_of(web, url, 4)]
    assert len(relinked) > 20
    assert [url for url in relinked if digest_of(web, url, 1) != digest_of(web, url, 4)] == []


@pytest.mark.parametrize("validators", ["both", "etag", "date"])
def test_validators_are_honoured(validators: Validators) -> None:
    """A conditional request is answered with 304 until the page changes, and with the page after that."""
    web = MadeWeb(validators=validators, changes=Changes(schedule=((1.0, 5),)))
    for url, _ in web.pages_at():
        parts = urlsplit(url)
        sent = {name.lower(): value for name, value in web.answer(parts.netloc, parts.path).headers}
        asks = {"if-none-match": sent.get("etag"), "if-modified-since": sent.get("last-modified")}
        headers = {name: value for name, value in asks.items() if value}
        changes_at = next(epoch for epoch in range(1, 7) if any(one == url for one, _ in web.changed(0, epoch)))
        got = [web.answer(parts.netloc, parts.path, headers, epoch).status for epoch in range(changes_at + 1)]
        assert got == [304] * changes_at + [200]


def test_a_sitemap_is_honest_or_lies() -> None:
    """An honest lastmod moves with the main text alone, a fresh one always, a stale one never; split files list all."""
    kinds: tuple[Lastmod, ...] = ("honest", "fresh", "stale")
    for kind in kinds:
        plan = Sitemaps(lastmod=kind, per_file=40, changefreq=True, priority=True)
        web = MadeWeb(pages=100, sitemaps=plan, changes=Changes(schedule=((0.2, 1),)))
        said = []
        for epoch in (3, 4):
            index = sitemap.read(
                body_of(web, f"{web.origin(0)}/sitemap.xml", epoch), url=f"{web.origin(0)}/sitemap.xml"
            )
            files = [child.loc for child in index.children]
            entries = [entry for url in files for entry in sitemap.read(body_of(web, url, epoch), url=url).entries]
            said.append({entry.loc: entry.lastmod for entry in entries})
        assert len(files) == 3
        assert set(said[0]) == {url for url, _ in web.pages_at()}
        moved = {url for url in said[0] if said[0][url] != said[1][url]}
        assert moved == {"honest": set(dict(web.changed(3, 4))), "fresh": set(said[0]), "stale": set()}[kind]


def test_robots_tells_delay_and_sitemap() -> None:
    """robots.txt names the sitemap of its own host and port, and the Crawl-delay that was wished for."""
    rules = read_robots(MadeWeb(crawl_delay=2.5).answer("127.1.0.1:81", "/robots.txt").body)
    assert rules.crawl_delay("any") == 2.5
    assert list(rules.sitemaps) == ["http://127.1.0.1:81/sitemap.xml"]


def test_a_busy_host_says_for_how_long() -> None:
    """In a burst everything is 429 with what is left of it as Retry-After; after so long it is over."""
    web = MadeWeb(errors=Errors(busy_seconds=10, busy_every_seconds=60))
    answers = [web.answer("127.1.0.1", "/", None, 0, second) for second in range(120)]
    assert Counter(one.status for one in answers) == {200: 100, 429: 20}
    for second, one in enumerate(answers):
        if one.status == 429:
            wait = int(dict(one.headers)["Retry-After"])
            assert web.answer("127.1.0.1", "/", None, 0, second + wait).status == 200


@pytest.mark.parametrize("kind", TRAPS)
def test_a_trap_has_as_many_pages_as_wished_for(kind: Snare) -> None:
    """Every page leads into the trap, each of its pages leads on, and a walk meets no more than there are."""
    web = MadeWeb(naming=NAMED, pages=5, traps=Traps((kind,), 300))
    start = web.seeds()[0]
    waiting, seen = [start], {start}
    while waiting:
        url = waiting.pop()
        parts = urlsplit(url)
        got = web.answer(parts.netloc, f"{parts.path}?{parts.query}" if parts.query else parts.path)
        assert got.status == 200 or parts.netloc == "h0.made.test", url
        for link in page.read(got.body, url=url, content_type="text/html").links:
            if link.url not in seen:
                seen.add(link.url)
                waiting.append(link.url)
    assert 300 <= len(seen) <= 300 + 5 + 1
    assert TRAPS["parameters"].number(TRAPS["parameters"].address(99_999)) == 99_999


def test_it_is_served_on_loopback() -> None:
    """Every host has its address on one port; the log says who asked for what, and the epoch may be set from outside."""
    web = MadeWeb(hosts=300, pages=10, changes=Changes(schedule=((1.0, 1),)), crawl_delay=1)
    with MadeServer(web) as server:
        assert asked(server, "/").status == 200
        tag = asked(server, "/").headers["ETag"]
        assert asked(server, "/", **{"If-None-Match": tag}).status == 304
        asked(server, "/.made/epoch?set=4")
        assert server.epoch == 4
        assert asked(server, "/", **{"If-None-Match": tag}).status == 200
        assert asked(server, "/nothing").status == 404
    assert [(one.host, one.path, one.status) for one in server.log] == [
        (f"127.1.0.1:{server.port}", path, status)
        for path, status in [("/", 200), ("/", 200), ("/", 304), ("/", 200), ("/nothing", 404)]
    ]


def test_a_crawl_over_sockets_finds_what_is_there(tmp_path: Path) -> None:
    """Hosts by address and hosts by name are crawled over real sockets, broken ones too (R-5.1: a seed opens loopback)."""
    for number, naming in enumerate(("127", "h{}.localhost")):
        web = MadeWeb(
            hosts=12, pages=8, seed=2, naming=naming, errors=Errors(broken_hosts=0.5, slow_hosts=0.2, slow_seconds=0.05)
        )
        broken = [host for host in range(12) if web.formula.broken(host)]
        assert len(broken) > 3
        store = tmp_path / f"{number}.db"
        with MadeServer(web) as server:
            settings = made_settings(
                store,
                {
                    "seeds": server.seeds,
                    "politeness": {"retries": 0},
                    "robots": {"tries": 1},
                    "fetch": {"timeout_seconds": 1},
                },
            )
            real_crawl(settings)
            truth = dict(web.pages_at(0, server.port))
        found = endings(store)
        assert {url for url, ending in found.items() if ending == "fetched.ok"} == set(truth)
        assert len(truth) == (12 - len(broken)) * 8


def real_crawl(settings: Settings) -> None:
    """Crawl with real sockets and real time."""

    async def main() -> None:
        async with Crawl(settings) as run:
            await run.run()

    asyncio.run(main())


def test_what_was_sent_by_who_has_gone_is_in_the_log() -> None:
    """After ``settle`` every request of a client that closed without reading is in the log, so logs can be cut there."""
    with MadeServer(MadeWeb(hosts=1, pages=5)) as server:
        place = urlsplit(server.url)
        for number in range(200):
            with socket.create_connection((place.hostname or "", server.port)) as client:
                client.sendall(f"GET /{number} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
        server.settle()
        assert len(server.log) == 200
        assert not server.connections
