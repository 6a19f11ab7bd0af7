"""The list of runs: states in words, pages and how they compare with the run before (R-8.1, MF-30, MF-35)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.crawling import HOME, crawl, html, made_settings
from tests.made_store import STARTED_AT, MadeStore

from purlieu.cli.main import main
from purlieu.report.crawl_result import Absence, absence
from purlieu.report.states import State
from purlieu.store.database import statements
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.web import Entry, FakeWeb


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """A store whose first run has three pages."""
    made = MadeStore(tmp_path / "made.db")
    for name in ("", "x", "y"):
        made.entry(f"https://a.test/{name}")
    yield made
    made.close()


def shown(store: MadeStore, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Type ``purlieu runs`` and return its lines below the head."""
    assert main(["runs", "--store", str(store.path), *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    return lines if "--json" in words else lines[1:]


@pytest.mark.parametrize(
    ("state", "stop_reason", "codes", "expected", "en", "ja"),
    [
        ("running", None, (), State.RUNNING, "running", "実行中"),
        ("done", "finished", (), State.DONE, "done", "完了"),
        ("done", "limit:seconds", (), State.LIMIT, "done (limit:seconds)", "完了 (limit:seconds)"),
        ("done", "finished", ("under_threshold",), State.UNDER_THRESHOLD, "done, under threshold", "しきい値未満"),
        ("done", "finished", ("same_title",), State.SUSPICIOUS, "done, suspicious", "要確認"),
        ("done", "finished", ("robots_ignored",), State.DONE, "done", "完了"),
        ("stopped", "interrupted", (), State.STOPPED, "stopped by its owner", "手動による停止"),
        ("failed", "system:disk", (), State.SYSTEM, "stopped by the system (disk)", "システムによる停止 (disk)"),
    ],
)
def test_each_state_is_told_in_the_owners_words(
    store: MadeStore,
    capsys: pytest.CaptureFixture[str],
    state: str,
    stop_reason: str | None,
    codes: tuple[str, ...],
    expected: State,
    en: str,
    ja: str,
) -> None:
    """Done, by a limit, under the threshold, suspicious, stopped by its owner or by the system: each has its words.

    A stop by the system is shown as 「システムによる停止」 in the list (MF-30); a result under the threshold as such (MF-35).
    """
    store.update_run(state=state, stop_reason=stop_reason)
    for code in codes:
        store.insert("finding", run=1, code=code, subject="made")
    assert f"  {en}  " in shown(store, capsys)[0]
    assert ja in shown(store, capsys, "--lang", "ja")[0]
    (told,) = map(json.loads, shown(store, capsys, "--json"))
    assert (told["shown_state"], told["state"], told["stop_reason"]) == (expected, state, stop_reason)
    assert told["marks"] == [code for code in codes if code != "robots_ignored"]


def test_pages_are_compared_with_the_finished_run_before(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The trend is against the last finished run of the same crawl, whatever lies between."""
    store.add_run(state="failed")
    other = store.add_run("other")
    third = store.add_run()
    store.entry("https://a.test/", run=third)
    store.entry("https://b.test/", run=other)
    found = {run["run"]: (run["pages"], run["trend"]) for run in map(json.loads, shown(store, capsys, "--json"))}
    assert found == {1: (3, None), 2: (0, -3), other: (1, None), third: (1, -2)}
    assert [line.split()[0] for line in shown(store, capsys, "--crawl", "other")] == [str(other)]


def test_a_killed_run_is_told_as_one(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that nobody works on any more was stopped by the system, for every reader, before any crawl writes so (R-8.1, MF-30)."""
    store.entry("https://a.test/z", None)
    store.update_run(state="running", stop_reason=None, ended_at=None, active_from=STARTED_AT, active_seconds=9.0)
    assert "  running  " in shown(store, capsys)[0]
    store.leave()
    assert "  2023-11-14 22:13:29Z  stopped by the system (killed)  " in shown(store, capsys)[0]
    reader = Reader(SqliteDatabase.reader(str(store.path)))
    row = reader.latest()
    assert row is not None
    assert (row.state, row.stop_reason, absence(row)) == ("failed", "system:killed", Absence.STOPPED_BY_SYSTEM)
    assert reader.counts(row)["page", "abandoned", "stopped"] == 1


def test_a_killed_run_is_shown_with_every_column(store: MadeStore) -> None:
    """What a reader sees in place of the table of runs has its columns, in its order: a new one may not be forgotten."""
    store.connection.execute(statements()["sqlite_dead"])
    view, table = (
        [row[1] for row in store.connection.execute(f"PRAGMA {where}.table_info(run)")] for where in ("temp", "main")
    )
    assert view == table


def test_what_a_run_sums_up_to_is_written_at_its_end(tmp_path: Path) -> None:
    """The list of runs reads what was written at each end, equal to what a count gives, and not from before a resume (R-7.1)."""
    pages: dict[str, Entry] = {
        HOME: html("/a", "/b", "/c", "http://other.test/", "mailto:x@y.test", "/secret"),
        f"{HOME}a": 500,
    }
    web = FakeWeb({**pages, f"{HOME}robots.txt": "User-agent: *\nDisallow: /secret\n"})
    store, settings = tmp_path / "s.db", {"name": "made", "politeness": {"retries": 0}}
    for resume, limits in ((False, {"max_pages": 2}), (True, {})):
        crawl(web, made_settings(store, {**settings, "limits": limits}), resume=resume)
        database = SqliteDatabase.reader(str(store))
        reader = Reader(database)
        run = reader.latest()
        assert run is not None
        (text,) = next(database.rows("report_totals", run.id))
        assert {tuple(key): count for *key, count in json.loads(text)} == reader.counts(run) == reader.totals(run)
        assert ("page", "abandoned", "run_limit") not in reader.counts(run) or not resume
        database.close()


def test_every_state_has_its_words() -> None:
    """No state is without words in any language, and another language gives English."""
    for state in State:
        assert all(state.words(language) for language in ("en", "ja", "zh"))
        assert state.words("fr") == state.words("en")


def test_a_run_of_another_process_is_asked_to_stop(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu stop`` writes its wish beside the crawl that holds the store; a run that has ended cannot be stopped (R-8.5)."""
    assert main(["stop", "1", "--store", str(store.path)]) == 2
    store.update_run(state="running", stop_reason=None)
    assert main(["stop", "latest", "--store", str(store.path)]) == 0
    store.leave()
    assert main(["stop", "latest", "--store", str(store.path)]) == 2
    assert store.connection.execute("SELECT stop_requested FROM run").fetchone() == (1,)
    assert main(["stop", "9", "--store", str(store.path)]) == 2
