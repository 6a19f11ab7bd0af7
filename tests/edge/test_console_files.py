"""The files that the console keeps beside a store: which are made before anybody asks, and which go by themselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.edge.test_console import BASE, DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu.console.parts import warm_up
from purlieu.console.sweeping import PART_SECONDS, sweep
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase, contrast
from purlieu.store.sqlite.shelf import path_of


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with two runs of one page each."""
    made = MadeStore(tmp_path / "made.db")
    made.page("https://a.test/", title="Home")
    made.add_run()
    yield made
    made.close()


def runs_of(store: MadeStore) -> list[RunRow]:
    """Return the runs of a store, the newest first."""
    database = SqliteDatabase.reader(str(store.path))
    try:
        return Reader(database).runs()
    finally:
        database.close()


def names_in(folder: Path) -> set[str]:
    """Return what lies in a folder."""
    return {path.name for path in folder.iterdir()}


def test_what_is_of_no_run_any_more_goes(store: MadeStore, tmp_path: Path) -> None:
    """Shelves, counts and comparisons go with a run that is gone, pruned or went on; nothing else is touched."""
    after, before = runs_of(store)
    folder = tmp_path / "files"
    folder.mkdir()
    kept = {
        path_of(folder, after).name, path_of(folder, before).with_suffix(".json").name,
        contrast.path_of(folder, before, after).name, "notes.txt", "9-holiday.shelf", ".shelf",
    }  # fmt: skip
    pairs = contrast.path_of(folder, before, after).name
    gone = {"7-18c-18d-2.shelf", "7-18c-18d-2.json", f"{after.id}-18c-live-2.shelf", pairs.replace("1-", "7-", 1)}
    for name in kept | gone:
        (folder / name).write_bytes(b"x")
    assert set(sweep(folder, [after, before], STARTED_AT)) == gone
    assert names_in(folder) == kept

    store.update_run(pruned_at=STARTED_AT + DAY)  # the first one
    assert set(sweep(folder, runs_of(store), STARTED_AT)) == {path_of(folder, before).with_suffix(".json").name, pairs}


def test_what_was_used_last_stays(store: MadeStore, tmp_path: Path) -> None:
    """Over the bound the files go that were used least lately, never the last; a part that nobody ends goes in a day."""
    after, before = runs_of(store)
    folder = tmp_path / "files"
    folder.mkdir()
    older, newer = (path_of(folder, run) for run in (before, after))
    part = folder / "1-18c-18d-2.77-0123abcd.part"
    for path, used_at in ((older, STARTED_AT), (newer, STARTED_AT + 1), (part, STARTED_AT)):
        path.write_bytes(b"x" * 100)
        os.utime(path, (used_at, used_at))
    assert sweep(folder, [after, before], STARTED_AT + 1, 300) == []
    assert sweep(folder, [after, before], STARTED_AT + PART_SECONDS + 1, 300) == [part.name]
    assert sweep(folder, [after, before], STARTED_AT + 1, 199) == [older.name]
    assert sweep(folder, [after, before], STARTED_AT + 1, 1) == []
    assert sweep(tmp_path / "none", [after, before], STARTED_AT) == []


def test_the_latest_runs_are_laid_out(store: MadeStore) -> None:
    """The latest run of a crawl is laid out when the console starts, and a later one when it has ended; no older one."""
    console = Console(store, HandClock(STARTED_AT + DAY))
    parts = console.app._app.state.parts  # type: ignore[attr-defined]
    folder = parts.shelves.folder
    known = warm_up(parts)
    assert {name for name in names_in(folder) if name.endswith(".shelf")} == {path_of(folder, runs_of(store)[0]).name}
    assert warm_up(parts, known) == known
    store.add_run("second")
    known = warm_up(parts, known)
    assert path_of(folder, runs_of(store)[0]).is_file()
    assert len(known) == 2


def test_a_deleted_crawl_leaves_no_file(store: MadeStore) -> None:
    """After a crawl was deleted its files go when the next run is laid out; a comparison is made anew when its went."""
    console = Console(store, HandClock(STARTED_AT + DAY))
    parts = console.app._app.state.parts  # type: ignore[attr-defined]
    console.page("/runs/1")
    console.page("/compare?before=1&after=2")
    (pairs,) = parts.shelves.folder.glob("*.pairs")
    pairs.unlink()
    console.page("/compare?before=1&after=2")
    assert pairs.is_file()
    other = store.add_run("second")
    searches = Path(f"{store.path}.search")
    searches.mkdir()
    for name in ("1-1.search", "1-1.search-wal", "2-1.search", "mine.txt"):
        (searches / name).write_bytes(b"x")
    form = {"form_key": console.form_key()}
    console.client.post("/crawls/1/delete", data=form, headers={"origin": BASE})
    console.page(f"/runs/{other}")
    assert {name.partition("-")[0] for name in names_in(parts.shelves.folder)} == {str(other)}
    assert names_in(searches) == {"2-1.search", "mine.txt"}
