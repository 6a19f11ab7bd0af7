"""A run under way and what is wrong, in the console: one reader for all who look on, and a page for every fault."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.edge.test_console import DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu.console import wrong
from purlieu.console.guard import SESSION_SECONDS
from purlieu.console.live import MOST_SECONDS, SMOOTH, Moment, Sample, Watch, left_seconds, rates
from purlieu.testing import demo

NASTY = "https://a.test/<script>alert(1)</script>\u202e"
ROW = [NASTY, "missing.not_found", 404, "<img src=x onerror=alert(1)>", STARTED_AT]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with one run."""
    made = MadeStore(tmp_path / "made.db")
    yield made
    made.close()


@pytest.fixture
def console(store: MadeStore) -> Console:
    """Return a console a day after that run."""
    return Console(store, HandClock(STARTED_AT + DAY))


def under_way(store: MadeStore, **counters: Any) -> None:
    """Make the run one that is under way."""
    told = {"admitted": 50, "requests": 41, "bytes": 9_000, "endings": {"fetched.ok": 30, "missing.not_found": 4}}
    store.update_run(state="running", ended_at=None, stop_reason=None, active_seconds=10, counters=told | counters)


def test_hostile_pages_are_text_as_they_come(console: Console, store: MadeStore) -> None:
    """The newest pages and errors are shown as text, with the reason in words and its code."""
    under_way(store, newest=[ROW], newest_faults=[ROW])
    text = console.client.get("/runs/1/live").text.split("event: state")[1]
    assert "<script>" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    assert "There is no such page (404)" in text
    assert "<code>missing.not_found</code>" in text


def test_the_hosts_asked_now_are_told(console: Console, store: MadeStore) -> None:
    """Hosts that are leased now are named with what they cost; a lease that ran out is not one."""
    now = console.clock.now()
    for name, until in (("busy.test", now + 9_999), ("late.test", now - 1)):
        number = store.host(name, requests=7, failures=2, bytes=5_000)
        store.insert("lease", host=number, token=1, run=store.run, expires_at=until)
    store.host("waiting.test", due_at=now)
    under_way(store)
    text = console.client.get("/runs/1/live").text.split("event: state")[1]
    assert "busy.test" in text
    assert "late.test" not in text
    assert "1 wait" in text


def test_a_stream_tells_the_browser_to_come_again(console: Console, store: MadeStore) -> None:
    """A stream says how soon to ask again where the connection is lost, and ends for a session that is over."""
    under_way(store)
    assert console.client.get("/runs/1/live").text.startswith("retry: 2000\n\n")
    console.clock.advance(SESSION_SECONDS - MOST_SECONDS - 5)
    text = console.client.get("/runs/1/live").text
    assert 0 < text.count("event: state") < 10


def test_many_who_look_on_cost_one_reader(console: Console, store: MadeStore) -> None:
    """However many look on in the same second, the store is read once, and once more in the next."""
    under_way(store)
    read: list[int] = []

    class Counting(Watch):
        """Counts how often it reads."""

        def _read(self, number: int, at: float) -> Moment:
            read.append(number)
            return super()._read(number, at)

    watch = Counting(console.app._app.state.parts, 1)  # type: ignore[attr-defined]

    async def look() -> None:
        moments = await asyncio.gather(*(watch.now() for _ in range(50)))
        assert {moment.number for moment in moments} == {0}
        console.clock.advance(1)
        assert (await watch.now()).number == 1

    asyncio.run(look())
    assert read == [0, 1]


def test_a_crawl_that_is_deleted_meanwhile_is_told(console: Console, store: MadeStore) -> None:
    """When a run is gone its stream ends, and its page says that it is not there any more."""
    under_way(store)
    assert "event: state" in console.client.get("/runs/1/live").text
    store.connection.execute("DELETE FROM run")
    for address in ("/runs/1", "/runs/1/live", "/runs/1/url?u=https://a.test/"):
        answer = console.client.get(address)
        assert answer.status_code == 404
        assert "There is no such page" in answer.text


def samples(*done: tuple[int, int]) -> list[Sample]:
    """Return a sample a second from (ended, admitted)."""
    return [Sample(float(at), ended, ended, ended, admitted) for at, (ended, admitted) in enumerate(done)]


def test_rates_are_over_some_seconds() -> None:
    """What comes in batches is told as a rate over the last samples, and never below zero."""
    made = samples(*((10 * (at // SMOOTH), 0) for at in range(20)))
    assert rates([one.ended for one in made], made)[-1] == 10 / SMOOTH
    assert rates([5, 0], samples((5, 0), (0, 0))) == [0.0]
    assert rates([1], samples((1, 1))) == []


def test_an_end_is_foretold_only_where_it_can_be() -> None:
    """The time left is told once far fewer pages are found than fetched; before that, and at first, none is."""
    assert left_seconds(samples(*((at, 1_000) for at in range(10)))) is None
    assert left_seconds(samples(*((at, 1_000) for at in range(61)))) == 940
    assert left_seconds(samples(*((at, at + 100) for at in range(61)))) is None
    assert left_seconds(samples(*((5, 100) for _ in range(61)))) is None


@pytest.mark.parametrize(
    ("state", "reason", "language", "told"),
    [
        ("failed", "system:disk", "en", "Free some space, then resume or run it again."),
        ("failed", "system:killed", "ja", "プロセスが強制終了されました。"),
        ("done", "limit:pages", "zh", "达到页数上限"),
        ("stopped", "interrupted", "en", "Its owner stopped it"),
        ("failed", "system:<b>", "en", "<code>system:&lt;b&gt;</code>"),
    ],
)
def test_why_a_run_ended_is_told(
    console: Console, store: MadeStore, state: str, reason: str, language: str, told: str
) -> None:
    """Why a run ended is told in words of the reader's language, what to do about it, with the code beside it."""
    store.update_run(state=state, stop_reason=reason)
    assert told in console.page("/runs/1", language=language)


def test_a_chosen_reason_is_told_in_words(console: Console, store: MadeStore) -> None:
    """Where the table shows one reason alone, its sentence stands above it with the code beside it."""
    store.page("https://a.test/lost", "missing.not_found", 404)
    text = console.page("/runs/1?kind=missing&reason=not_found", language="ja")
    assert "ページが存在しません（404）" in text[text.index('id="table"') :]
    assert "<code>missing.not_found</code>" in text


# -- what is wrong -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "code", "told"),
    [
        ("PRAGMA user_version = 99", "schema", "The store was written by another version"),
        ("delete", "missing", "The store is gone"),
        ("garbage", "damaged", "The store is damaged"),
    ],
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_fault_of_the_store_has_its_page(
    console: Console, store: MadeStore, damage: str, code: str, told: str, language: str
) -> None:
    """A store that is newer, gone or damaged is a page with a remedy in the reader's language, and a problem in JSON."""
    store.close()
    if damage.startswith("PRAGMA"):
        connection = apsw.Connection(str(store.path))
        connection.execute(damage)
        connection.close()
    else:
        for file in store.path.parent.glob(f"{store.path.name}*"):
            if file.is_file():
                file.unlink()
        if damage == "garbage":
            store.path.write_bytes(b"no store at all " * 1_000)
    answer = console.client.get("/", headers={"accept-language": language})
    assert answer.status_code == 503
    assert (told in answer.text) is (language == "en")
    assert f"<code>{code}</code>" in answer.text
    problem = console.client.get("/api/runs", headers={"accept-language": language})
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["code"] == code
    for text in (answer.text, problem.text):
        assert "Traceback" not in text


def test_every_fault_has_title_and_remedy() -> None:
    """Each code has a title, a remedy and a status of its own kind; one that passes says when to ask again."""
    for code, one in wrong.TABLE.items():
        assert one.title, code
        assert one.remedy, code
        assert 400 <= one.status < 600
    assert wrong.TABLE["busy"].again_seconds


@pytest.mark.parametrize("address", ["/api/runs/99", "/api/nothing", "/api/runs/1/url"])
def test_under_api_every_fault_is_a_problem(console: Console, address: str) -> None:
    """An address of the API answers with a problem in JSON whatever is wrong (RFC 9457)."""
    answer = console.client.get(address)
    assert answer.status_code == answer.json()["status"] == 404
    assert answer.json()["code"] == "not_found"


# -- the console goes, the run stays -----------------------------------------------------------------------------------


class Served:
    """A console in a process of its own, and the address that it printed."""

    def __init__(self, store: Path) -> None:
        """Start it."""
        words = [sys.executable, "-P", "-m", "purlieu", "serve", "--store", str(store), "--port", "0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=store.parent)
        assert self.process.stdout
        self.address = self.process.stdout.readline().strip()
        cookies = urllib.request.HTTPCookieProcessor()
        self.opener = urllib.request.build_opener(cookies)
        self.base = self.address.partition("/?")[0]
        self.home = self.opener.open(self.address, timeout=30).read().decode()

    def page(self, path: str, data: bytes | None = None) -> str:
        """Return a page."""
        request = urllib.request.Request(self.base + path, data, {"Origin": self.base})
        text: str = self.opener.open(request, timeout=30).read().decode()
        return text

    def kill(self) -> None:
        """End it without a word."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def test_a_run_outlives_its_console(tmp_path: Path) -> None:
    """A run started from the console goes on when that is killed, and the next console finds it (issue 6)."""
    with demo.serve() as home:
        store = tmp_path / "purlieu.db"
        crawl = [sys.executable, "-P", "-m", "purlieu", "crawl", home, "--name", "demo", "--quiet"]
        subprocess.run(
            [*crawl, "--store", str(store), "--delay", "0.3", "--connections", "1"], cwd=tmp_path, check=True
        )
        console = Served(store)
        try:
            key = re.search(r'name="form_key" value="([^"]+)"', console.page("/crawls/1"))
            assert key
            console.page("/crawls/1/run", f"form_key={key[1]}".encode())
        finally:
            console.kill()
        console = Served(store)
        try:
            for _ in range(600):
                runs = json.loads(console.page("/api/runs"))
                if runs[0]["state"] == "done" and runs[0]["run"] == 2:
                    break
                time.sleep(0.1)
        finally:
            console.kill()
    assert [(run["run"], run["state"], run["stop_reason"]) for run in runs] == [
        (2, "done", "finished"),
        (1, "done", "finished"),
    ]
