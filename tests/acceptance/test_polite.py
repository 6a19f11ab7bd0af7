"""Politeness proven from the log of requests, exactly (R-4.2, R-4.6)."""

from __future__ import annotations

import asyncio
import itertools
import random
import shutil
import tempfile
from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.crawling import crawl, endings, html, made_settings

from purlieu.crawl.local import Crawl
from purlieu.report.politeness import is_kept
from purlieu.response import Request
from purlieu.store.reader import ConductRow, Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import Asked, FakeWeb, Made, answer

HOSTS = ("a", "b", "c")
PAGES = 12


@given(
    delay=st.sampled_from([None, 0.0, 0.5, 3.0]),
    connections=st.sampled_from([None, 1, 3]),
    crawl_delay=st.sampled_from([None, "1", "2.5"]),
    failing=st.floats(0, 0.6),
    chance=st.integers(0, 999),
)
@settings(max_examples=40, deadline=None)
def test_no_host_is_hurried(
    delay: float | None, connections: int | None, crawl_delay: str | None, failing: float, chance: int
) -> None:
    """Between two starts lies the gap, on one connection also after each end; no more connections than granted."""
    clock, dice = FakeClock(), random.Random(chance)

    async def reply(request: Request) -> Made:
        await clock.sleep(dice.random() * 2)
        if request.url.endswith("/robots.txt"):
            lines = f"User-agent: *\nCrawl-delay: {crawl_delay}\n" if crawl_delay else ""
            return answer(lines, url=request.url)
        if dice.random() < failing:
            return 503
        return html(*[f"http://{host}.test/{dice.randrange(PAGES)}" for host in HOSTS for _ in range(4)])

    web = FakeWeb(reply, clock)
    tree = {
        "seeds": [f"http://{host}.test/" for host in HOSTS],
        "politeness": {
            name: value
            for name, value in {"delay": delay, "connections": connections, "retry_seconds": 1.0}.items()
            if value is not None
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        assert crawl(web, made_settings(Path(folder) / "s.db", tree), clock).books_balanced
    gap = max(0.25 if delay is None else delay, 0.0)
    for host in HOSTS:
        asked = sorted((one for one in web.asked if f"//{host}.test" in one.url), key=lambda one: one.began_at)
        # What robots.txt asks for is known once it is read.
        after_robots = asked[1:]
        slow = max(gap, float(crawl_delay or 0))
        for one, two in pairwise(after_robots):
            assert two.began_at - one.began_at >= slow - 1e-6
            if (connections or 1) == 1:
                assert two.began_at - one.ended_at >= slow - 1e-6
        assert _most_at_once(asked) <= (connections or 1)


def _most_at_once(asked: list[Asked]) -> int:
    moments = sorted([(one.began_at, 1) for one in asked] + [(one.ended_at, -1) for one in asked])
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most


# -- each rule by itself, and the ledger of politeness ----------------------------------------------------


def site(pages: int, host: str = "site.test", robots: str = "") -> dict[str, Any]:
    """Return a site whose home links to so many pages."""
    paths = [f"/{number}" for number in range(pages)]
    return {
        f"http://{host}/robots.txt": robots or 404,
        f"http://{host}/": html(*paths),
        **{f"http://{host}{path}": html(title=path) for path in paths},
    }


def polite(web: FakeWeb, clock: FakeClock, folder: Path, tree: dict[str, Any] | None = None) -> dict[str, ConductRow]:
    """Crawl and return the ledger of politeness by host; every slack in it agrees with the log of requests."""
    assert crawl(web, made_settings(folder / "s.db", tree), clock).books_balanced
    return conduct(folder)


def conduct(folder: Path) -> dict[str, ConductRow]:
    """Return the ledger of politeness of the newest run."""
    database = SqliteDatabase.reader(str(folder / "s.db"))
    reader = Reader(database)
    run = reader.latest()
    assert run is not None
    rows = {row.host: row for row in reader.conduct(run)}
    database.close()
    return rows


def spans(web: FakeWeb) -> tuple[list[float], list[float]]:
    """Return what lay between starts, and between each end and the next start, in the order of requests."""
    asked = sorted(web.asked, key=lambda one: one.began_at)
    return (
        [two.began_at - one.began_at for one, two in pairwise(asked)],
        [two.began_at - one.ended_at for one, two in pairwise(asked)],
    )


@pytest.mark.parametrize(
    ("tree", "robots", "rule", "gap"),
    [
        ({}, "", "default", 0.25),
        ({"politeness": {"delay": 1.5}}, "", "delay", 1.5),
        ({"politeness": {"delay": 1.5}, "host": [{"name": "site.test", "delay": 0.5}]}, "", "host", 0.5),
        ({}, "User-agent: *\nCrawl-delay: 3\n", "crawl-delay", 3.0),
        ({"politeness": {"delay": 4.0}}, "User-agent: *\nCrawl-delay: 3\n", "delay", 4.0),
        ({"robots": {"agent": "mine"}}, "User-agent: *\nCrawl-delay: 9\n\nUser-agent: mine\n", "default", 0.25),
    ],
)
def test_the_rule_in_force_is_kept_and_named(
    tmp_path: Path, tree: dict[str, Any], robots: str, rule: str, gap: float
) -> None:
    """From the first page on the largest pause that anyone asks for is kept, and the ledger names it (R-4.2, EN-50)."""
    clock = FakeClock()
    web = FakeWeb(site(6, robots=robots), clock, latency_seconds=0.125)
    row = polite(web, clock, tmp_path, tree)["site.test"]
    starts, rests = spans(web)
    assert min(starts) >= gap + 0.125 - 1e-6
    assert min(rests) == pytest.approx(gap)
    assert (row.rule, row.gap_seconds, row.requests, row.most_connections) == (rule, gap, 8, 1)
    assert row.least_gap == pytest.approx(min(starts))
    assert row.least_rest == pytest.approx(min(rests))
    assert row.least_slack == pytest.approx(0, abs=1e-6)
    assert is_kept(row)


def test_a_slow_host_sets_its_own_pace(tmp_path: Path) -> None:
    """The gap is at least the smoothed response time, and the ledger names that rule (R-4.2)."""
    clock = FakeClock()
    web = FakeWeb(site(6), clock, latency_seconds=2.0)
    row = polite(web, clock, tmp_path)["site.test"]
    assert row.rule == "response-time"
    assert min(spans(web)[0]) >= 2.0 - 1e-6
    assert is_kept(row)


@pytest.mark.parametrize("form", ["seconds", "date"])
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_obeyed_in_both_forms(tmp_path: Path, form: str, status: int) -> None:
    """No request starts before a Retry-After is over, be it seconds or an HTTP-date (ST-40), also while parked."""
    clock = FakeClock()
    told: list[tuple[float, int]] = []

    def busy(request: Request) -> Made:
        if len(told) >= 2:
            return html()
        seconds = (7, 100)[len(told)]
        told.append((clock.monotonic(), seconds))
        value = str(seconds) if form == "seconds" else formatdate(clock.now() + seconds, usegmt=True)
        return answer("", status=status, headers={"Retry-After": value})

    web = FakeWeb(site(4) | {"http://site.test/1": busy}, clock)
    row = polite(web, clock, tmp_path)["site.test"]
    for at, seconds in told:
        after = min(one.began_at for one in web.asked if one.began_at > at)
        assert after >= int(at) + seconds - 1e-6 if form == "date" else after >= at + seconds - 1e-6
    assert row.retry_afters == 2
    assert row.longest_retry_after == pytest.approx(100, abs=1)
    assert row.least_retry_slack is not None
    assert row.least_retry_slack >= -1e-6
    assert is_kept(row)


def test_bursts_of_429_back_off_and_recover(tmp_path: Path) -> None:
    """Each refusal doubles the extra pause, each success halves it; after a burst the old pace comes back (R-4.2)."""
    clock, count = FakeClock(), itertools.count()

    def burst(_: Request) -> Made:
        return 429 if next(count) in {3, 4, 5, 6, 20, 21} else html()

    web = FakeWeb(site(30) | {f"http://site.test/{number}": burst for number in range(30)}, clock)
    tree = {"politeness": {"retries": 5, "retry_seconds": 0.0}}
    row = polite(web, clock, tmp_path, tree)["site.test"]
    starts, _ = spans(web)
    pages = starts[1:]  # from the home page on
    assert pages[3:9] == pytest.approx([0.25, 1, 2, 4, 8, 4])
    assert max(pages) == pytest.approx(8)
    assert pages[-1] == pytest.approx(0.25)
    assert (row.most_backoff, row.errors) == (8.0, 6)
    assert set(endings(tmp_path / "s.db").values()) == {"fetched.ok"}
    assert is_kept(row)


def test_errors_are_capped(tmp_path: Path) -> None:
    """A host that fails so often in a row is asked no more; the ledger says why (R-1.6)."""
    clock = FakeClock()
    web = FakeWeb(site(20) | {f"http://site.test/{number}": 500 for number in range(20)}, clock)
    row = polite(web, clock, tmp_path, {"politeness": {"give_up_after": 4}})["site.test"]
    assert (row.requests, row.errors, row.given_up) == (2 + 4, 4, "failures")


def test_a_retry_after_beyond_the_limit_ends_the_host(tmp_path: Path) -> None:
    """A host that asks for a longer pause than the owner grants is left alone and not asked again."""
    clock = FakeClock()
    busy = answer("", status=503, headers={"Retry-After": "3600"})
    web = FakeWeb(site(3) | {"http://site.test/0": busy}, clock)
    row = polite(web, clock, tmp_path)["site.test"]
    assert (row.given_up, row.longest_retry_after, row.least_retry_slack) == ("retry-after", 3600.0, None)
    assert web.urls[-1] == "http://site.test/0"


def test_robots_is_asked_again_after_failures(tmp_path: Path) -> None:
    """A robots.txt that fails is asked for up to three times, and the ledger counts the retries (R-4.5)."""
    clock = FakeClock()
    web = FakeWeb(site(1) | {"http://site.test/robots.txt": 503}, clock)
    row = polite(web, clock, tmp_path)["site.test"]
    assert (row.requests, row.robots_retries) == (3, 2)


def test_head_and_get_keep_the_pause_too(tmp_path: Path) -> None:
    """With HEAD before GET the pause lies between the end of the one and the start of the other (R-4.2)."""
    clock = FakeClock()
    web = FakeWeb(site(3), clock, latency_seconds=1.0)
    row = polite(web, clock, tmp_path, {"fetch": {"head_first": True}, "politeness": {"delay": 2.0}})["site.test"]
    assert min(spans(web)[1]) == pytest.approx(2.0)
    assert is_kept(row)


def test_the_ledger_of_politeness_survives_a_resume(tmp_path: Path) -> None:
    """What was counted before a stop and after it adds up, and the first request waits for the pace (R-4.3)."""
    clock = FakeClock()
    busy = iter([answer("", status=429, headers={"Retry-After": "5"})])
    pages = site(9) | {"http://site.test/2": lambda _: next(busy, html())}
    web = FakeWeb(pages, clock)
    settings_ = made_settings(tmp_path / "s.db", {"politeness": {"delay": 3.0}})

    async def twice() -> int:
        async with Crawl(settings_, fetcher=web, clock=clock) as run:
            async for visit in run:
                if visit.url.endswith("/5"):
                    break
        before = conduct(tmp_path)["site.test"].requests
        async with Crawl(settings_, fetcher=web, clock=clock, resume=True) as run:
            await run.run()
        return before

    assert 0 < asyncio.run(twice()) < len(web.asked) == 11 + 1
    row = conduct(tmp_path)["site.test"]
    assert (row.requests, row.retry_afters, row.longest_retry_after) == (len(web.asked), 1, 5.0)
    assert min(spans(web)[1]) >= 3.0 - 1e-6
    assert row.least_rest == pytest.approx(3.0)


@given(
    grouping=st.sampled_from(["address", "domain", "list"]),
    delay=st.sampled_from([0.25, 1.0, 12.0]),
    crawl_delay=st.sampled_from(["", "2"]),
    chance=st.integers(0, 99),
)
@settings(max_examples=25, deadline=None)
def test_hosts_of_a_group_are_asked_as_one(grouping: str, delay: float, crawl_delay: str, chance: int) -> None:
    """Two hosts of a group are never asked at the same time, nor nearer than the pace of the one asked (R-4.1)."""
    clock, dice = FakeClock(), random.Random(chance)
    hosts = ("a.one.test", "b.one.test", "c.one.test", "other.test")

    async def reply(request: Request) -> Made:
        await clock.sleep(dice.random() * 2)
        if request.url.endswith("/robots.txt"):
            return f"User-agent: *\nCrawl-delay: {crawl_delay}\n" if crawl_delay and "//b." in request.url else 404
        return html(*[f"http://{host}/{dice.randrange(5)}" for host in hosts for _ in range(2)])

    web = FakeWeb(reply, clock, addresses={"other.test": "203.0.113.99"})
    tree: dict[str, Any] = {"seeds": [f"http://{host}/" for host in hosts], "politeness": {"delay": delay}}
    if grouping == "list":
        tree["group"] = [{"name": "one", "hosts": list(hosts[:3])}]
    else:
        tree["politeness"]["group"] = grouping
    with tempfile.TemporaryDirectory() as folder:
        rows = polite(web, clock, Path(folder), tree)
    together = sorted((one for one in web.asked if ".one.test" in one.url), key=lambda one: one.began_at)
    assert {one.url.split("/")[2] for one in together} == set(hosts[:3])
    for one, two in pairwise(together):
        slow = 2.0 if crawl_delay and "//b." in two.url and not two.url.endswith("robots.txt") else 0.0
        assert two.began_at - one.ended_at >= max(delay, slow) - 1e-6
    assert len({rows[host].group for host in hosts[:3]}) == 1
    assert all(map(is_kept, rows.values()))
    # The host beside the group is not held up by it.
    alone = [one for one in web.asked if "//other." in one.url]
    assert any(one.began_at < two.ended_at and two.began_at < one.ended_at for one in alone for two in together)


@pytest.mark.parametrize(
    ("tree", "robots", "gap"),
    [
        ({"politeness": {"delay": 0.1}}, "", 0.1),
        ({}, "User-agent: *\nCrawl-delay: 0.3\n", 0.3),
        ({"politeness": {"delay": 0.1, "connections": 3}}, "", 0.1),
    ],
)
def test_a_real_server_sees_the_pause(tree: dict[str, Any], robots: str, gap: float) -> None:
    """Between two requests that a server on loopback logs lies what the rule asks for, to within 20 ms (R-4.6)."""
    refused: list[float] = []

    async def reply(received: Received, out: asyncio.StreamWriter) -> bool:
        if received.path == "/3" and not refused:
            refused.append(received.at)
            out.write(message(b"busy", status=429, headers={"Retry-After": "1"}))
        elif received.path == "/robots.txt":
            out.write(message(robots.encode(), headers={"Content-Type": "text/plain"}))
        else:
            out.write(message("".join(f'<a href="/{number}">x</a>' for number in range(8)).encode()))
        return True

    with tempfile.TemporaryDirectory() as folder, Loopback(reply) as server:
        made = made_settings(Path(folder) / "s.db", {"seeds": [f"{server.origin}/"], **tree})

        async def main() -> None:
            async with Crawl(made) as run:
                await run.run()

        asyncio.run(main())
        (row,) = conduct(Path(folder)).values()
        moments = [one.at for one in server.log]
    assert len(moments) == 11
    assert min(two - one for one, two in pairwise(moments)) >= gap - 0.02
    assert min(at for at in moments if at > refused[0] + 0.5) >= refused[0] + 1 - 0.02
    assert row.retry_afters == 1
    assert is_kept(row)


@pytest.mark.parametrize(
    ("tree", "robots", "gap"),
    [
        ({"politeness": {"delay": 10.0}}, "", 10.0),
        ({"host": [{"name": "site.test", "delay": 15.0}]}, "", 15.0),
        ({}, "User-agent: *\nCrawl-delay: 8\n", 8.0),
    ],
)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_kill_between_requests_hurries_nobody(
    tmp_path: Path, tree: dict[str, Any], robots: str, gap: float, at: int
) -> None:
    """Killed while a request is under way, of which nothing was written, a resume waits for the pace in force (R-4.3)."""
    clock, killed = FakeClock(), tmp_path / "killed"
    killed.mkdir()
    pages: dict[str, Made] = site(4) | {"http://site.test/robots.txt": robots or 404}

    def reply(request: Request) -> Made:
        if len(web.asked) == at - 1:
            for path in tmp_path.glob("s.db*"):
                shutil.copy(path, killed / path.name)
        return pages.get(request.url, 404)

    web = FakeWeb(reply, clock)
    crawl(web, made_settings(tmp_path / "s.db", tree), clock)
    last = web.asked[at - 1].began_at
    again = FakeClock(START + last + 0.1)
    web = FakeWeb(pages, again)
    crawl(web, made_settings(killed / "s.db", tree), again, resume=True)
    assert web.asked[0].began_at >= (0.0 if robots and at == 1 else gap) - 1e-6


def test_requests_under_way_together_slow_a_host_once(tmp_path: Path) -> None:
    """A burst of 429 on several connections is one burst: the extra pause begins at a second, not at its most (R-4.2)."""
    clock = FakeClock()

    def busy(_: Request) -> Made:
        return answer("", status=429, headers={"Retry-After": "3"}) if 1.9 < clock.monotonic() < 4 else html()

    web = FakeWeb(site(60) | {f"http://site.test/{number}": busy for number in range(60)}, clock, latency_seconds=0.3)
    tree = {"politeness": {"delay": 0.05, "connections": 6, "adaptive": False, "retry_seconds": 0.0}}
    row = polite(web, clock, tmp_path, tree)["site.test"]
    assert (row.errors, row.most_backoff) == (6, 1.0)
    assert set(endings(tmp_path / "s.db").values()) == {"fetched.ok"}
    assert is_kept(row)


def test_this_machine_is_known_again_after_a_pause(tmp_path: Path) -> None:
    """A host on loopback that was given back for its Retry-After goes on at its own pace, and nobody says it was hurried (R-4.2)."""
    clock, count = FakeClock(), itertools.count()

    def reply(request: Request) -> Made:
        if request.url.endswith("/robots.txt"):
            made = answer("", status=404)
        elif next(count) == 20:
            made = answer("", status=429, headers={"Retry-After": "60"})
        else:
            made = answer("".join(f'<a href="/{one}">x</a>' for one in range(40)))
        return replace(made, address="127.0.0.1")

    web = FakeWeb(reply, clock, latency_seconds=0.01)
    row = polite(web, clock, tmp_path)["site.test"]
    assert row.retry_afters == 1
    assert (row.rule, row.connections) == ("loopback", 8)
    assert is_kept(row)
