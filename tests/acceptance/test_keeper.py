"""Schedules kept: which runs are started, when, by whom, and what is recorded of each due time (R-8.5, MF-35)."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.made_store import MadeStore

from purlieu.cli.main import main
from purlieu.crawl.keeper import Keeper, words
from purlieu.errors import StoreError
from purlieu.schedule import Schedule
from purlieu.store import schedules
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing import demo
from purlieu.testing.clock import START, FakeClock

HOUR, DAY = 3600.0, 86_400.0
THREE = START + 3 * HOUR
NIGHTLY = Schedule("0 3 * * *")


class Runs:
    """Starts made runs, which write their row as a crawl does and take so long."""

    def __init__(self, store: MadeStore, clock: FakeClock, seconds: float = 60.0, status: int = 0) -> None:
        """Take how long each run lasts and how it exits; 2 begins none."""
        self.store, self.clock, self.seconds, self.status = store, clock, seconds, status
        self.started: list[tuple[float, list[str]]] = []
        self.under_way = 0

    def is_busy(self) -> bool:
        """Return whether a run is under way."""
        return self.under_way > 0

    async def start(self, typed: list[str]) -> Runs.One:
        """Start one."""
        self.started.append((self.clock.now() - START, typed))
        return Runs.One(self, typed[typed.index("--name" if "--name" in typed else "--again") + 1])

    class One:
        """One made run."""

        def __init__(self, runs: Runs, crawl: str) -> None:
            """Take its crawl."""
            self.runs, self.crawl = runs, crawl

        async def wait(self) -> tuple[int, str]:
            """Run to the end."""
            runs = self.runs
            if runs.status == 2:
                return 2, 'purlieu: URL = "": nothing to crawl'
            runs.under_way += 1
            number = runs.store.add_run(
                self.crawl, state="running", started_at=runs.clock.now(), ended_at=None, stop_reason=None
            )
            await runs.clock.sleep(runs.seconds)
            runs.store.connection.execute(
                "UPDATE run SET state = 'done', stop_reason = 'finished' WHERE id = ?", (number,)
            )
            runs.under_way -= 1
            return runs.status, ""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """A store with one run that has ended."""
    made = MadeStore(tmp_path / "made.db")
    yield made
    made.close()


def plan(store: MadeStore, crawl: str = "docs", schedule: Schedule = NIGHTLY, now: float = START) -> int:
    """Plan runs of a crawl."""
    database = SqliteDatabase.beside(str(store.path))
    number = schedules.add(database, crawl, schedule, None, now)
    database.close()
    return number


def kept(store: MadeStore, clock: FakeClock, seconds: float, runs: Runs, keepers: int = 1) -> None:
    """Keep the schedules of a store for so long, by one keeper or several."""

    async def go() -> None:
        databases = [SqliteDatabase.beside(str(store.path)) for _ in range(keepers)]
        made = [
            Keeper(database, "made.db", runs.is_busy, runs.start, clock, f"keeper {number}")
            for number, database in enumerate(databases)
        ]
        tasks = [asyncio.create_task(keeper.run()) for keeper in made]
        await clock.sleep(seconds)
        for keeper in made:
            keeper.stop()
        await asyncio.gather(*tasks)
        for database in databases:
            database.close()

    asyncio.run(go())


def told(store: MadeStore, schedule: int = 1) -> list[tuple[float, str, int, str]]:
    """Return what became of a schedule's due times, the oldest first, in hours since the start."""
    database = SqliteDatabase.reader(str(store.path))
    found = [
        ((one.due_at - START) / HOUR, one.state, one.times, one.detail)
        for one in schedules.events(database, schedule, 99)
    ]
    database.close()
    return found[::-1]


def test_a_run_is_started_when_it_is_due(store: MadeStore) -> None:
    """Each due time starts one run, at its time, and its end is recorded with the run's state (R-8.5)."""
    plan(store)
    clock = FakeClock()
    runs = Runs(store, clock)
    kept(store, clock, 28 * HOUR, runs)
    assert [at for at, _ in runs.started] == [3 * HOUR, 27 * HOUR]
    assert runs.started[0][1] == ["crawl", "--again", "docs", "--store", "made.db", "--quiet"]
    assert told(store) == [(3.0, "ended", 1, "done, exit status 0"), (27.0, "ended", 1, "done, exit status 0")]


def test_two_keepers_start_a_run_once(store: MadeStore) -> None:
    """Two keepers of one store never start a run twice; one acts, the other waits for its end (R-8.5)."""
    plan(store)
    clock = FakeClock()
    runs = Runs(store, clock)
    kept(store, clock, 4 * HOUR, runs, keepers=2)
    assert len(runs.started) == 1


def test_a_due_time_is_claimed_once_even_without_the_lease(store: MadeStore) -> None:
    """Two keepers that both believe to hold the lease see to a due time once: the second changes nothing (R-8.5)."""
    plan(store)
    one, two = (SqliteDatabase.beside(str(store.path)) for _ in range(2))
    (planned,) = schedules.every(one)
    assert schedules.handle(one, planned, (THREE, "waiting", ""), None, THREE)
    assert not schedules.handle(two, planned, (THREE, "waiting", ""), None, THREE)
    (event,) = schedules.opened(one)
    assert [schedules.turn(database, event, "started", THREE) for database in (one, two)] == [True, False]
    one.close()
    two.close()


def test_the_lease_ends_with_its_keeper(store: MadeStore) -> None:
    """The lease is taken again by its holder, by another only once it was given back or ran out (R-8.5)."""
    database = SqliteDatabase.beside(str(store.path))
    assert schedules.take(database, "a", 0, 60)
    assert schedules.take(database, "a", 30, 90)
    assert not schedules.take(database, "b", 89, 149)
    assert schedules.take(database, "b", 90, 150)
    schedules.leave(database, "b")
    assert schedules.take(database, "a", 91, 151)
    database.close()


def test_a_missed_start_is_caught_up_once(store: MadeStore) -> None:
    """After an absence the last due time is caught up within its grace; the others are recorded as missed (R-8.5)."""
    plan(store)
    clock = FakeClock(START + 3 * DAY + 3.5 * HOUR)
    runs = Runs(store, clock)
    kept(store, clock, HOUR, runs)
    assert len(runs.started) == 1
    assert told(store) == [(3.0, "missed", 3, "no keeper ran"), (75.0, "ended", 1, "done, exit status 0")]


def test_beyond_its_grace_a_start_is_missed(store: MadeStore) -> None:
    """A due time whose grace is over is recorded as missed and not started (R-8.5)."""
    plan(store)
    clock = FakeClock(START + 5 * HOUR)
    runs = Runs(store, clock)
    kept(store, clock, HOUR, runs)
    assert runs.started == []
    assert told(store) == [(3.0, "missed", 1, "no keeper ran within the grace period")]


def test_a_run_in_progress_wins(store: MadeStore) -> None:
    """A due time that meets a run of its crawl starts none, and that is recorded (R-8.5, MF-35)."""
    plan(store, schedule=Schedule("0 * * * *"))
    clock = FakeClock()
    runs = Runs(store, clock, seconds=1.5 * HOUR)
    kept(store, clock, 4.2 * HOUR, runs)
    assert [at for at, _ in runs.started] == [HOUR, 3 * HOUR]
    assert [(hour, state) for hour, state, _, _ in told(store)] == [
        (1.0, "ended"), (2.0, "overlapped"), (3.0, "started"), (4.0, "overlapped"),
    ]  # fmt: skip


def test_a_run_by_hand_wins_too(store: MadeStore) -> None:
    """A run that somebody else started counts as a run in progress, one that was killed does not (R-8.5)."""
    plan(store)
    store.add_run("docs", state="running", stop_reason=None, ended_at=None)
    for busy, expected in ((True, "overlapped"), (False, "ended")):
        clock = FakeClock(THREE - 60)
        runs = Runs(store, clock)
        runs.under_way = int(busy)
        kept(store, clock, 600, runs)
        assert told(store)[0][1] == expected
        store.connection.execute("DELETE FROM schedule_event")
        store.connection.execute("UPDATE schedule SET handled_at = ?", (START,))


def test_another_crawl_in_the_store_is_waited_for(store: MadeStore) -> None:
    """A store has one writer, so a due time waits for a run of another crawl, within its grace (R-4.4, R-8.5)."""
    plan(store, "docs")
    plan(store, "blog")
    plan(store, "wiki", Schedule("0 3 * * *", grace_seconds=1200))
    clock = FakeClock()
    runs = Runs(store, clock, seconds=1800)
    kept(store, clock, 5 * HOUR, runs)
    assert [typed[2] for _, typed in runs.started] == ["docs", "blog"]
    assert runs.started[1][0] >= 3 * HOUR + 1800
    assert told(store, 3) == [(3.0, "missed", 1, "another crawl held the store for the whole grace period")]


def test_a_clock_that_was_far_ahead_stops_no_schedule(store: MadeStore) -> None:
    """What a wrong clock saw to in a far future is forgotten; due times start again from now (R-8.5)."""
    plan(store, now=START + 400 * DAY)
    clock = FakeClock()
    runs = Runs(store, clock)
    kept(store, clock, 4 * HOUR, runs)
    assert [at for at, _ in runs.started] == [3 * HOUR]


def test_due_times_that_a_wrong_clock_saw_come_again(store: MadeStore) -> None:
    """After hours by a clock that was ahead, and a keeper that died then, a due time comes once more (R-8.5)."""
    plan(store)
    ahead = FakeClock(START + 10 * DAY)
    kept(store, ahead, 4 * HOUR, Runs(store, ahead))
    assert (243.0, "ended", 1, "done, exit status 0") in told(store)
    store.insert("keeper", id=1, token="died", expires_at=START + 20 * DAY)
    store.connection.execute("UPDATE schedule SET handled_at = ?", (START + 10 * DAY,))
    clock = FakeClock(START + 10 * DAY + HOUR)
    runs = Runs(store, clock)
    kept(store, clock, 3 * HOUR, runs)
    assert [at / HOUR for at, _ in runs.started] == [243.0]


def test_a_run_that_was_killed_is_recorded_as_that(store: MadeStore) -> None:
    """A run that died is told as killed, whether its keeper still lives or another comes (R-8.5, R-8.1)."""
    plan(store)
    clock = FakeClock()
    runs = Runs(store, clock, seconds=HOUR)
    kept(store, clock, 3.5 * HOUR, runs)
    runs.under_way = 0
    kept(store, FakeClock(START + 4 * HOUR), 60, runs)
    assert told(store) == [(3.0, "ended", 1, "killed")]


def test_a_run_that_cannot_begin_is_recorded(store: MadeStore) -> None:
    """A run that ends before it began, by a mistake in its settings, is recorded with what was said."""
    plan(store)
    clock = FakeClock()
    kept(store, clock, 4 * HOUR, Runs(store, clock, status=2))
    assert told(store) == [(3.0, "failed", 1, 'purlieu: URL = "": nothing to crawl')]


def test_a_keeper_follows_what_another_started(store: MadeStore) -> None:
    """A run outlives its keeper, and the next keeper records its end (R-8.5)."""
    plan(store)
    clock = FakeClock()
    runs = Runs(store, clock, seconds=HOUR)
    kept(store, clock, 3.5 * HOUR, runs)
    assert [state for _, state, _, _ in told(store)] == ["started"]
    store.connection.execute("UPDATE run SET state = 'done'")
    runs.under_way = 0
    kept(store, FakeClock(START + 4 * HOUR), 60, runs)
    assert told(store) == [(3.0, "ended", 1, "done")]
    assert len(runs.started) == 1


def test_a_schedule_that_was_removed_starts_nothing(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A removed schedule starts no run; what became of it before is kept."""
    plan(store)
    assert main(["schedule", "remove", "1", "--store", str(store.path)]) == 0
    assert main(["schedule", "remove", "1", "--store", str(store.path)]) == 2
    clock = FakeClock()
    runs = Runs(store, clock)
    kept(store, clock, 4 * HOUR, runs)
    assert runs.started == []


def test_schedules_are_planned_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several schedules of a crawl can be planned before its first run; each is listed with its next due time (MF-35)."""
    file = tmp_path / "docs.toml"
    file.write_text('seeds = ["http://site.test/"]\n', encoding="utf-8")
    store = str(tmp_path / "new.db")
    for more in (["--zone", "Asia/Tokyo", "-c", str(file)], ["--grace", "30 min"]):
        assert main(["schedule", "add", "docs", "--cron", "0 3 * * *", "--store", store, *more]) == 0
    err = capsys.readouterr().err
    assert err.count("docs has no run yet, whose settings would be taken") == 1  # of the schedule without a file
    assert main(["schedule", "list", "--json", "--store", store]) == 0
    one, two = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (one["zone"], one["config"], one["grace_seconds"], two["grace_seconds"]) == (
        "Asia/Tokyo",
        str(file),
        3600,
        1800,
    )
    assert one["next_at"] % DAY == 18 * HOUR
    assert main(["schedule", "list", "--store", store]) == 0
    assert "docs  0 3 * * *  Asia/Tokyo  next 20" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more", [["--cron", "nightly"], ["--cron", "0 3 * * *", "--zone", "Tokio"], [], ["--cron", "0 3 * * *", "--grace", "soon"],
             ["--cron", "0 3 * * *", "-c", "nowhere.toml"], ["--cron", "61 3 * * *", "--zone", "Mars"]]
)  # fmt: skip
def test_a_wrong_schedule_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]) -> None:
    """A wrong expression, zone, grace or settings file is told and nothing is written (R-8.2)."""
    store = tmp_path / "new.db"
    assert main(["schedule", "add", "docs", "--store", str(store), *more]) == 2
    err = capsys.readouterr().err
    assert err.startswith("purlieu: ")
    assert err.count("\n") == (2 if "Mars" in more else 1)
    assert not store.exists()


def test_nothing_to_keep_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A store that is not there is not kept, and one without schedules says how to plan one (R-8.2)."""
    store = tmp_path / "new.db"
    assert main(["keep", "--store", str(store)]) == 2
    assert "plan a run first: `purlieu schedule add`" in capsys.readouterr().err
    assert not store.exists()
    SqliteDatabase.beside(str(store)).close()
    assert main(["schedule", "list", "--store", str(store)]) == 0
    assert capsys.readouterr().out == "no schedules; `purlieu schedule add` plans runs\n"


def test_a_settings_file_or_the_last_run_gives_the_settings() -> None:
    """A scheduled run reads the settings file anew, or takes the settings of the crawl's last run."""
    planned: Any = schedules.Planned(1, "docs", NIGHTLY, "/etc/docs.toml", 0.0)
    assert words(planned, "s.db") == ["crawl", "-c", "/etc/docs.toml", "--name", "docs", "--store", "s.db", "--quiet"]


def test_a_scheduled_run_is_made_by_a_process_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu keep`` starts a real run of a site on loopback, records its end, and ends when it is told to (R-8.5)."""
    store = str(tmp_path / "real.db")
    with demo.serve() as home:
        file = tmp_path / "docs.toml"
        file.write_text(f'seeds = ["{home}"]\noutput = "{tmp_path}/out"\n', encoding="utf-8")
        database = SqliteDatabase.beside(store)
        schedules.add(database, "docs", Schedule("* * * * *"), str(file), 0.0)
        with subprocess.Popen(
            [sys.executable, "-m", "purlieu", "keep", "--store", store], stderr=subprocess.PIPE
        ) as keeper:
            seen = Event()
            # The store is the only sign, and another process writes it.
            while not any(one.state in {"ended", "failed"} for one in schedules.events(database, 1, 9)):
                seen.wait(0.05)
            keeper.send_signal(signal.SIGTERM)
            said = keeper.communicate()[1].decode()
        assert keeper.returncode == 0, said
        done = next(one for one in schedules.events(database, 1, 9) if one.state not in {"missed", "overlapped"})
        assert schedules.take(database, "another", 0, 1), "the lease was given back"
        database.close()
    assert (done.state, done.run, done.detail) == ("ended", 1, "done, exit status 0"), said
    assert list((tmp_path / "out" / "docs" / "1").iterdir())
    assert main(["schedule", "list", "--store", store]) == 0
    assert "run 1 done, exit status 0" in capsys.readouterr().out


def test_a_few_rows_are_written_beside_a_crawl(tmp_path: Path) -> None:
    """Schedules can be written while a crawl holds the store; a newer or foreign file is refused, a new one is made (R-4.4)."""
    path = tmp_path / "s.db"
    SqliteDatabase.beside(str(path)).close()
    holding = SqliteDatabase.writer(str(path))
    beside = SqliteDatabase.beside(str(path))
    assert schedules.add(beside, "docs", NIGHTLY, None, START) == 1
    with holding.transaction():
        holding.run("leave_keeper", "nobody")
    assert [one.crawl for one in schedules.every(holding)] == ["docs"]
    beside.close()
    holding.close()
    for content in (b"no database at all" * 100, b""):
        other = tmp_path / f"{len(content)}.db"
        other.write_bytes(content)
        if content:
            with pytest.raises(StoreError):
                SqliteDatabase.beside(str(other))
        else:
            SqliteDatabase.beside(str(other)).close()
