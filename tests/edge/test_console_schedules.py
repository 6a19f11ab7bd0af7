"""Schedules in the console: planned, switched, removed, checked while typed, and kept by the console itself (R-8.5)."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.edge.test_console import BASE, DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu.cli.main import main
from purlieu.console.app import application
from purlieu.console.guard import Door
from purlieu.console.keeping import kept
from purlieu.console.parts import Parts, Terms
from purlieu.crawl.keeper import DETAILS, Keeper
from purlieu.schedule import Schedule
from purlieu.store import schedules
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock

HOUR = 3600.0
HEADERS = {"origin": BASE}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with one run of an hour, in which a second schedule would be due."""
    made = MadeStore(tmp_path / "made.db")
    made.update_run(ended_at=STARTED_AT + HOUR)
    yield made
    made.close()


@pytest.fixture
def console(store: MadeStore) -> Console:
    """Return a console a day after that run."""
    return Console(store, HandClock(STARTED_AT + DAY))


def post(console: Console, path: str, **fields: str) -> Any:
    """Send a form."""
    return console.client.post(path, data={"form_key": console.form_key(), **fields}, headers=HEADERS)


def planned(store: MadeStore) -> list[tuple[Any, ...]]:
    """Return the schedules of a store as (cron, zone, whether it is off)."""
    rows = store.connection.execute("SELECT cron, zone, paused_at IS NOT NULL FROM schedule WHERE removed_at IS NULL")
    return list(rows)


def test_schedules_are_planned_switched_and_removed(console: Console, store: MadeStore) -> None:
    """A crawl has several schedules; each is told in words with its next five times, can be off, and can go (issue 6)."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="Asia/Tokyo")
    post(console, "/crawls/1/schedules/add", cron=" 30   3 * * mon-fri ", zone="Asia/Tokyo")
    assert planned(store) == [("0 3 * * *", "Asia/Tokyo", 0), ("30 3 * * mon-fri", "Asia/Tokyo", 0)]
    text = console.page("/crawls/1/schedules")
    assert "from Monday to Friday, at 03:30" in text
    assert text.count('<ol class="times"><li>') == 3  # and those of the form
    post(console, "/crawls/1/schedules/1/off")
    post(console, "/crawls/1/schedules/2/remove")
    assert planned(store) == [("0 3 * * *", "Asia/Tokyo", 1)]
    assert "Switch on" in console.page("/crawls/1/schedules")
    post(console, "/crawls/1/schedules/1/on")
    assert planned(store) == [("0 3 * * *", "Asia/Tokyo", 0)]


def test_what_is_stale_is_told(console: Console) -> None:
    """A schedule that is gone, that is so already, or that is another crawl's is no crash and changes nothing."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="UTC")
    for path in ("/crawls/1/schedules/9/off", "/crawls/1/schedules/1/on", f"/crawls/1/schedules/{10**30}/remove"):
        assert post(console, path).status_code == 409, path
    assert post(console, "/crawls/9/schedules/1/off").status_code == 404
    assert post(console, "/crawls/1/schedules/1/explode").status_code == 404


@pytest.mark.parametrize(
    ("cron", "zone", "told"),
    [
        ("0 3 * *", "UTC", "Write minute, hour, day, month and weekday"),
        ("0 25 * * *", "UTC", "Write minute, hour, day, month and weekday"),
        ("0 0 31 2 *", "UTC", "Write minute, hour, day, month and weekday"),
        ("", "UTC", "Write minute, hour, day, month and weekday"),
        ("0 3 * * *", "Mars/Olympus", "Write the name of a time zone"),
        ("0 3 * * *", "../../etc/passwd", "Write the name of a time zone"),
        ("<b>" * 60, "UTC", "Write minute, hour, day, month and weekday"),
    ],
)
def test_a_wrong_schedule_is_told_while_typed(
    console: Console, store: MadeStore, cron: str, zone: str, told: str
) -> None:
    """What is typed is checked at once and again when it is sent, with what to write instead; nothing is planned."""
    query = {"cron": cron, "zone": zone}
    answer = console.client.get("/crawls/1/schedules/check", params=query)
    assert answer.status_code == 200
    assert told in answer.text
    assert "<b>" not in answer.text
    answer = post(console, "/crawls/1/schedules/add", **query)
    assert answer.status_code == 400
    assert told in answer.text
    assert planned(store) == []


def test_a_typed_schedule_is_told_in_words_and_times(console: Console) -> None:
    """A schedule that is typed is told in the reader's language, with its next five times in the reader's zone."""
    console.client.get("/zone", params={"to": "Asia/Tokyo"})
    query = {"cron": "0 3 * * *", "zone": "Europe/Berlin"}
    text = console.client.get("/crawls/1/schedules/check", params=query, headers={"accept-language": "ja"}).text
    assert "毎日、03:00" in text
    assert "<html" not in text
    times = re.findall(r"<time[^>]*>([^<]+)</time>", text)
    assert len(times) == 5
    assert {time[-5:] for time in times} <= {"10:00", "11:00"}


def test_an_overlap_is_foreseen_and_told(console: Console) -> None:
    """Schedules that meet a run of the other are told before and after they are planned: the run in progress wins."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="UTC")
    query = {"cron": "30 3 * * *", "zone": "UTC"}
    assert "It wins" in console.client.get("/crawls/1/schedules/check", params=query).text
    post(console, "/crawls/1/schedules/add", **query)
    assert "The run in progress wins" in console.page("/crawls/1/schedules")
    query = {"cron": "30 5 * * *", "zone": "UTC"}
    assert "It wins" not in console.client.get("/crawls/1/schedules/check", params=query).text


@pytest.mark.parametrize(
    ("state", "detail", "language", "told"),
    [
        ("missed", "no keeper ran within the grace period", "ja", "猶予時間内に keeper が動いていませんでした"),
        ("ended", "done, exit status 0", "zh", "运行已完成"),
        ("ended", "killed", "en", "the run was killed"),
        ("failed", 'purlieu: seeds = "<i>"', "ja", "purlieu: seeds = &#34;&lt;i&gt;&#34;"),
    ],
)
def test_what_became_of_a_due_time_is_told(
    console: Console, store: MadeStore, state: str, detail: str, language: str, told: str
) -> None:
    """Each due time has its state and reason in words of the reader's language; what a process said is quoted as text."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="UTC")
    store.insert("schedule_event", schedule=1, due_at=STARTED_AT, state=state, at=STARTED_AT, detail=detail)
    assert told in console.page("/crawls/1/schedules", language=language)


def test_the_run_that_won_is_told(console: Console, store: MadeStore) -> None:
    """Where a start was left out because a run was in progress, that run is named."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="UTC")
    at = STARTED_AT + HOUR / 2
    store.insert("schedule_event", schedule=1, due_at=at, state="overlapped", at=at, detail="a run in progress wins")
    row = re.search(r"left out: overlapped.*?</tr>", console.page("/crawls/1/schedules"), re.DOTALL)
    assert row
    assert '<a href="/runs/1">' in row[0]


def test_nobody_keeping_is_told(console: Console, store: MadeStore) -> None:
    """While no keeper holds the lease the page says that nothing will be started."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="UTC")
    assert "Nobody starts these runs now" in console.page("/crawls/1/schedules")
    store.insert("keeper", id=1, token="other", expires_at=console.clock.now() + 60)
    assert "Nobody starts these runs now" not in console.page("/crawls/1/schedules")


def test_a_keeper_that_was_killed_is_told(console: Console, store: MadeStore) -> None:
    """While the lease of a killed keeper holds, the page says that it was killed and when another may take its place."""
    post(console, "/crawls/1/schedules/add", cron="0 3 * * *", zone="UTC")
    told = "The keeper of these schedules was killed."
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    store.insert("keeper", id=1, token=f"{process.pid}-00", expires_at=console.clock.now() + 60)
    assert told in console.page("/crawls/1/schedules")
    store.connection.execute("UPDATE keeper SET token = ?", (f"{os.getpid()}-00",))
    page = console.page("/crawls/1/schedules")
    assert told not in page
    assert "Nobody starts these runs now" not in page


# -- the keeper --------------------------------------------------------------------------------------------------------


class Starts:
    """Remembers what was to be started; each ends at once."""

    def __init__(self) -> None:
        """Begin with none."""
        self.words: list[list[str]] = []

    async def __call__(self, words: list[str]) -> Starts:
        """Remember the words."""
        self.words.append(words)
        return self

    async def wait(self) -> tuple[int, str]:
        """End well."""
        return 0, ""


def parts_with(store: MadeStore, clock: FakeClock, starts: Starts, *, keeps: bool = True) -> Parts:
    """Return the parts of a console that keeps schedules."""
    console = application(
        str(store.path), Door(frozenset(), "", clock.monotonic), clock, starts, terms=Terms(keeps=keeps)
    )
    made: Parts = console._app.state.parts  # type: ignore[attr-defined]
    return made


@pytest.mark.parametrize(("keeps", "number"), [(True, 1), (False, 0)])
def test_the_console_keeps_schedules(store: MadeStore, number: int, *, keeps: bool) -> None:
    """Runs that are due start while the console is up, not with --no-keep; at its end the lease is free at once."""
    clock, starts = FakeClock(), Starts()

    async def go() -> None:
        async with kept(parts_with(store, clock, starts, keeps=keeps)):
            await clock.sleep(4 * HOUR)

    plan(store, "0 3 * * *")
    asyncio.run(go())
    assert len(starts.words) == number
    assert list(store.connection.execute("SELECT * FROM keeper")) == []


def test_a_console_beside_a_keeper_starts_nothing_twice(store: MadeStore) -> None:
    """A console and ``purlieu keep`` of one store start each run once (R-8.5)."""
    clock, starts = FakeClock(), Starts()

    async def go() -> None:
        database = SqliteDatabase.beside(str(store.path))
        keeper = Keeper(database, str(store.path), lambda: False, starts, clock, "purlieu keep")
        async with kept(parts_with(store, clock, starts)), kept(parts_with(store, clock, starts)):
            task = asyncio.create_task(keeper.run())
            await clock.sleep(28 * HOUR)
            keeper.stop()
            await task
        database.close()

    plan(store, "0 3 * * *")
    asyncio.run(go())
    assert len(starts.words) == 2


def test_a_schedule_that_is_off_starts_nothing_and_misses_nothing(store: MadeStore) -> None:
    """What was due while a schedule was off is neither started nor recorded as missed when it is on again."""
    clock, starts = FakeClock(), Starts()
    number = plan(store, "0 * * * *")

    def switch(*, on: bool) -> None:
        database = SqliteDatabase.beside(str(store.path))
        assert schedules.switch(database, number, clock.now(), on=on)
        database.close()

    async def go() -> None:
        async with kept(parts_with(store, clock, starts)):
            await clock.sleep(1.5 * HOUR)
            switch(on=False)
            await clock.sleep(3 * HOUR)
            switch(on=True)
            await clock.sleep(1 * HOUR)

    asyncio.run(go())
    due = [round((at - START) / HOUR) for (at,) in store.connection.execute("SELECT due_at FROM schedule_event")]
    assert due == [1, 5]
    assert len(starts.words) == 2


def test_every_detail_of_the_keeper_is_a_sentence() -> None:
    """What the keeper records besides a state is in the catalogues, so that the console can say it."""
    assert len({*DETAILS}) == len(DETAILS) == 6


def test_schedules_are_switched_on_the_command_line(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu schedule off`` and ``on`` do the same, the list shows it, and what is so already is told."""
    plan(store, "0 3 * * *")
    given = ["--store", str(store.path)]
    assert main(["schedule", "off", "1", *given]) == 0
    assert main(["schedule", "list", *given]) == 0
    assert "off" in capsys.readouterr().out.splitlines()[-1]
    assert main(["schedule", "off", "1", *given]) == 2
    assert main(["schedule", "on", "1", *given]) == 0
    assert planned(store) == [("0 3 * * *", "UTC", 0)]


def plan(store: MadeStore, cron: str) -> int:
    """Plan runs of the made crawl."""
    database = SqliteDatabase.beside(str(store.path))
    number = schedules.add(database, "made", Schedule(cron), None, START)
    database.close()
    return number
