"""Sites without end come to an end, with every real page fetched and the rule named (issue 5: traps)."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.crawl.local import Crawl
from purlieu.report import books, findings
from purlieu.response import Request
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, Made

REAL = [f"{HOME}article-{name}" for name in ("one", "two", "three")] + [f"{HOME}item?id={n}" for n in range(400)]
WORDS = ("dog", "cat", "bird", "fish", "tree", "rock")


def found(store: Path) -> dict[str, str]:
    """Return the findings of the newest run, subjects by code and subject."""
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.latest()
    assert run is not None
    told = {
        f"{one.code} {one.subject}": one.sentence() for one in findings.of_run(reader, run, books.of_run(reader, run))
    }
    database.close()
    return told


def real(url: str) -> Made:
    """Return a real page: a text of its own, in words."""
    dice = random.Random(url)
    return html("/", body=" ".join(dice.choice(WORDS) for _ in range(30)))


def trapped_site(request: Request) -> Made:
    """A site with real pages, a calendar without end whose every day is a page, and session ids that never repeat."""
    path = request.url.removeprefix(HOME).partition(";")[0]
    session = f"{random.Random(request.url).getrandbits(64):016x}"
    if path.startswith("robots.txt"):
        return 404
    if path.partition("?")[0] == "calendar":
        number = int(path.rpartition("day=")[2] or 0)
        days = (number + 1, number + 31, number + 365, number - 1)
        months = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ]
        body = f"<h1>{months[abs(number) // 30 % 12]} {number}</h1>No events on this day."
        return html(*[f"/calendar?day={day}" for day in days], "/", body=body)
    if path == "":
        return html(
            *[f"{url.removeprefix(HOME[:-1])}" for url in REAL], "/calendar?day=0", f"/shop/?PHPSESSID={session}"
        )
    if path.startswith("shop"):
        return html(*[f"/shop/{name};jsessionid={session}?PHPSESSID={session}" for name in WORDS], body=f"at {path}")
    return real(request.url) if request.url in REAL else 404


def test_a_trap_of_a_hundred_thousand_pages_ends_by_itself(tmp_path: Path) -> None:
    """The calendar ends after 300 pages and what was under way, sessions make no new pages, real pages are all fetched."""
    web = FakeWeb(trapped_site, FakeClock())
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store, {"politeness": {"delay": 0.0}})).books_balanced
    ended = endings(store)
    assert {url: ended[url] for url in REAL} == dict.fromkeys(REAL, "fetched.ok")
    asked = [url for url in web.urls if "/calendar" in url]
    assert len(asked) <= 300 + 64
    assert len(web.urls) <= len(REAL) + 300 + 64 + len(WORDS) + 4
    assert {url.removeprefix(HOME) for url in ended if "/shop/" in url} == {"shop/", *(f"shop/{one}" for one in WORDS)}
    rows = [row for row in ledger(store).values() if row["kind"] == "excluded" and row["reason"] == "trap"]
    assert {(row["rule"], row["detail"], row["attempts"]) for row in rows} == {
        ("same_text=300", f"{HOME}calendar?day=*", 0)
    }
    told = found(store)
    assert f"trap_series {HOME}calendar?day=*" in told
    assert f"{len(rows)} addresses" in told["trap site.test, same_text=300"]


def test_the_owner_has_the_last_word(tmp_path: Path) -> None:
    """What ``traps.allow`` names is fetched on, and nothing is told of it."""
    pages: dict[str, Any] = {HOME: html("/p/0"), f"{HOME}robots.txt": 404}
    pages |= {f"{HOME}p/{number}": html(f"/p/{number + 1}", body="same") for number in range(60)}
    for allow, number in (([], 20), (["/p/*"], 60)):
        store = tmp_path / f"{number}.db"
        tree = {"traps": {"same_text": 20, "allow": allow}, "politeness": {"delay": 0.0}}
        crawl(FakeWeb(pages, FakeClock()), made_settings(store, tree))
        ended = [ending for url, ending in endings(store).items() if "/p/" in url]
        assert ended.count("fetched.ok") == number
        assert any("trap" in name for name in found(store)) is not bool(allow)


def test_a_resume_remembers_the_traps(tmp_path: Path) -> None:
    """A series that was found before a stop is not asked for after it."""
    store = tmp_path / "s.db"
    fan = [f"/p/{number}" for number in range(40)]
    pages: dict[str, Any] = {HOME: html(*fan), f"{HOME}robots.txt": 404}
    pages |= {f"{HOME}p/{number}": html(body="same") for number in range(40)}
    clock = FakeClock()
    web = FakeWeb(pages, clock)
    made = made_settings(store, {"traps": {"same_text": 20}})

    async def twice() -> int:
        async with Crawl(made, fetcher=web, clock=clock) as run:
            async for visit in run:
                if visit.kind == "excluded":
                    break
        before = len(web.urls)
        async with Crawl(made, fetcher=web, clock=clock, resume=True) as run:
            await run.run()
        return before

    assert asyncio.run(twice()) == len(web.urls) == 2 + 20
    assert list(endings(store).values()).count("excluded.trap") == 20


@pytest.mark.parametrize("chance", range(3))
def test_addresses_alone_decide_in_any_order(tmp_path: Path, chance: int) -> None:
    """Loops, far dates, permutations and chains give the same ledger in whatever order pages come (R-2.1)."""
    clock, dice = FakeClock(), random.Random(chance)

    async def reply(request: Request) -> Made:
        await clock.sleep(dice.random() * 9)
        url = request.url
        if url.endswith("robots.txt"):
            return 404
        year = int(url.rpartition("year=")[2]) if "year=" in url else 2026
        return html(
            f"/cal?year={year + 1}", f"/cal?year={year - 300}", f"{url.partition('?')[0]}/a/b/c", "/l?p=1&p=1&p=1"
        )

    for name, connections in (("one", 4), ("two", 1)):
        tree = {"politeness": {"connections": connections, "delay": 0.0}, "traps": {"same_text": 0}}
        clock = FakeClock()
        crawl(FakeWeb(reply, clock), made_settings(tmp_path / f"{name}{chance}.db", tree), clock)
    one, two = (ledger(tmp_path / f"{name}{chance}.db") for name in ("one", "two"))
    assert {key: (row["kind"], row["reason"], row["rule"]) for key, row in one.items()} == {
        key: (row["kind"], row["reason"], row["rule"]) for key, row in two.items()
    }
    rules = {row["rule"] for row in one.values() if row["reason"] == "trap"}
    assert rules == {"years_ahead=5", "first_year=1600", "repeated_path=3", "repeated_parameter=3"}


def test_subdomains_without_end_are_capped(tmp_path: Path) -> None:
    """Only so many hosts of one registrable domain are taken; the rest is refused by name and told."""

    def reply(request: Request) -> Made:
        if request.url.endswith("robots.txt"):
            return 404
        host = request.url.split("/")[2]
        number = int(host.split(".")[0][1:] or 0) if host.startswith("n") else 0
        return html(*[f"http://n{number * 3 + more}.site.test/" for more in (1, 2, 3)])

    store = tmp_path / "s.db"
    tree = {"scope": {"mode": "same-domain"}, "traps": {"hosts_per_domain": 20}, "politeness": {"delay": 0.0}}
    web = FakeWeb(reply, FakeClock())
    assert crawl(web, made_settings(store, tree)).books_balanced
    assert len({url.split("/")[2] for url in web.urls}) == 20
    rules = {row["rule"] for row in ledger(store).values() if row["reason"] == "trap"}
    assert rules == {"hosts_per_domain=20"}


def test_soft_404_are_told_by_a_probe(tmp_path: Path) -> None:
    """On request each host is asked once for a page that cannot be there; pages with its text are ``missing.soft_404``."""

    def reply(request: Request) -> Made:
        path = request.url.removeprefix(HOME)
        if path == "robots.txt":
            return 404
        if path == "":
            return html("/good", "/gone1", "/gone2")
        return html(body="a real text") if path == "good" else html(body="Sorry, page not found.", title=path)

    for asked in (False, True):
        store = tmp_path / f"{asked}.db"
        web = FakeWeb(reply, FakeClock())
        assert crawl(web, made_settings(store, {"traps": {"soft_404": asked}})).books_balanced
        ended = endings(store)
        gone = "missing.soft_404" if asked else "fetched.ok"
        assert {url.removeprefix(HOME): ended[url] for url in ended if "is-not-there" not in url} == {
            "": "fetched.ok", "good": "fetched.ok", "gone1": gone, "gone2": gone,
        }  # fmt: skip
        assert sum("is-not-there" in url for url in web.urls) == asked
