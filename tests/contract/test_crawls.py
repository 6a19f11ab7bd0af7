"""Crawls as their owner keeps them: made, their settings changed by two people, removed with all they had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.made_store import STARTED_AT, MadeStore

from purlieu.cli.main import main
from purlieu.errors import StoreBusy
from purlieu.report import pruning
from purlieu.schedule import Schedule
from purlieu.store import crawls, schedules
from purlieu.store.database import statements
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase

NOW = STARTED_AT + 86_400.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with a run of one crawl and two of another."""
    made = MadeStore(tmp_path / "made.db")
    made.page("https://a.test/", title="Home")
    made.refusal("https://b.test/", "scope", "same-host")
    yield made
    made.close()


@pytest.fixture
def database(store: MadeStore) -> Iterator[SqliteDatabase]:
    """Yield the store opened beside whatever crawls."""
    opened = SqliteDatabase.beside(str(store.path))
    yield opened
    opened.close()


def counts(store: MadeStore) -> dict[str, int]:
    """Return how many rows each table has."""
    tables = [row[0] for row in store.connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: next(store.connection.execute(f"SELECT count(*) FROM {name}"))[0] for name in tables}


def test_a_crawl_is_made_once(database: SqliteDatabase) -> None:
    """A crawl is made under a name that is free, and has its settings before its first run (R-1.1)."""
    number = crawls.make(database, "new", 'seeds = ["https://new.test/"]')
    assert number is not None
    assert crawls.make(database, "new", "") is None
    assert crawls.make(database, "made", "") is None
    kept = crawls.kept(database, "new")
    assert kept is not None
    assert kept.toml == 'seeds = ["https://new.test/"]'
    assert crawls.kept(database, "made") is None
    assert (number, "new") in Reader(database).crawls()


def test_the_second_editor_changes_nothing(database: SqliteDatabase) -> None:
    """Settings are kept only where they are still those that the editor began with (issue 6: two people)."""
    number = crawls.make(database, "new", "# one")
    assert number is not None
    first = crawls.kept(database, "new")
    assert first is not None
    assert crawls.keep(database, number, "# two", first.hash)
    assert not crawls.keep(database, number, "# three", first.hash)
    assert crawls.kept(database, "new") != first
    assert (crawls.kept(database, "new") or first).toml == "# two"
    assert not crawls.keep(database, 1, "# of a crawl without any", first.hash)
    assert crawls.keep(database, 1, "# of a crawl without any", "")


def test_a_removed_crawl_is_gone_at_once_and_its_name_is_free(database: SqliteDatabase, store: MadeStore) -> None:
    """Nothing shows a removed crawl, its runs or schedules any more; another may have its name."""
    schedules.add(database, "made", Schedule("0 3 * * *", "UTC", 3600), None, NOW)
    assert crawls.extent(database, 1) == (1, 0, 1)
    assert crawls.remove(database, 1, NOW, is_free=True)
    assert not crawls.remove(database, 1, NOW, is_free=True)
    reader = Reader(database)
    assert (reader.crawls(), reader.runs(), reader.run(store.run), reader.latest()) == ([], [], None, None)
    assert schedules.every(database) == []
    assert crawls.make(database, "made", "") == 2


def test_a_crawl_with_a_run_under_way_stays(database: SqliteDatabase, store: MadeStore) -> None:
    """While its run is under way a crawl is not removed; one whose run was killed is (issue 6: deleted in mid-run)."""
    store.update_run(state="running", ended_at=None)
    assert not crawls.remove(database, 1, NOW, is_free=False)
    with pytest.raises(StoreBusy):
        pruning.forget(str(store.path))
    store.leave()
    assert crawls.remove(database, 1, NOW, is_free=True)


def test_what_a_removed_crawl_had_goes(database: SqliteDatabase, store: MadeStore) -> None:
    """All rows of a removed crawl go, in every table, and none of another crawl's (R-8.4)."""
    store.add_run("other", toml="# kept")
    before = counts(store)
    crawls.keep(database, 1, "# nobody keeps this when the crawl has gone", "")
    schedules.add(database, "made", Schedule("0 3 * * *", "UTC", 3600), None, NOW)
    crawls.remove(database, 1, NOW, is_free=True)
    assert pruning.forget(str(store.path)) == 1
    assert pruning.forget(str(store.path)) == 0
    after = counts(store)
    assert (after["crawl"], after["run"], after["config"], after["schedule"]) == (1, 1, 1, 0)
    assert {name for name in ("entry", "refusal", "robots", "run_host") if after[name]} == set()
    assert after["host"] == before["host"]  # their pace is the store's, not the crawl's
    assert [run.crawl for run in Reader(database).runs()] == ["other"]


def test_every_table_of_a_run_is_thought_of(store: MadeStore) -> None:
    """Each table that has a run or a crawl in its rows is emptied of it: a new one cannot be forgotten."""
    owned = {
        name
        for name in counts(store)
        for row in store.connection.execute(f"PRAGMA table_info({name})")
        if row[1] in {"run", "crawl", "schedule"}
    }
    emptied = {
        re.search(r"DELETE FROM (\w+)", text) for name, text in statements().items() if name.startswith("erase_")
    }
    assert owned - {found[1] for found in emptied if found} == {"lease"}  # one host each, whoever holds it


def test_again_takes_what_is_kept(
    store: MadeStore, database: SqliteDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    """``crawl --again`` goes by the settings kept for the crawl, run or no run, and says where a mistake stands."""
    crawls.make(database, "new", 'seeds = ["nowhere"]')
    assert main(["crawl", "--again", "new", "--store", str(store.path)]) == 2
    told = capsys.readouterr().err
    assert 'crawl "new"' in told
    assert '"nowhere"' in told
    assert main(["crawl", "--again", "newer", "--store", str(store.path)]) == 2
    assert "write one of: made, new" in capsys.readouterr().err


def test_the_settings_of_a_crawl_are_shown(
    store: MadeStore, database: SqliteDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    """``config show --crawl`` prints the settings kept for a crawl, else its last run's, as it does a file's."""
    crawls.make(database, "new", 'seeds = ["https://new.test/"]\n[limits]\nmax_depth = 3')
    assert main(["config", "show", "--crawl", "new", "--store", str(store.path)]) == 0
    told = capsys.readouterr().out
    assert "https://new.test/" in told
    assert "max_depth = 3" in told
    assert main(["config", "show", "--crawl", "newer", "--store", str(store.path)]) == 2
    assert "write one of: made, new" in capsys.readouterr().err
    assert main(["config", "show", "x.toml", "--crawl", "new", "--store", str(store.path)]) == 2
    assert "leave FILE out" in capsys.readouterr().err
    store.add_run("ran", toml='seeds = ["https://ran.test/"]')
    assert main(["config", "show", "--crawl", "ran", "--store", str(store.path)]) == 0
    assert "https://ran.test/" in capsys.readouterr().out
