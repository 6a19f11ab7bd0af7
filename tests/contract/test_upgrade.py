"""Stores of every released schema become today's, and keep all they hold (R-1.1, R-1.7; issue "Upgrades")."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
from tests.crawling import HOME, crawl, endings, html, made_settings
from tests.failing_disk import FailingDisk

from purlieu import report
from purlieu.errors import SchemaMismatch, StoreError
from purlieu.store.database import SCHEMA_VERSION, schema
from purlieu.store.sqlite import SqliteDatabase
from purlieu.store.sqlite.upgrade import OLDEST
from purlieu.testing.web import FakeWeb, redirect

CORPUS: Final = Path(__file__).resolve().parent.parent / "corpus" / "store"
RELEASED: Final = range(OLDEST, SCHEMA_VERSION)
SITEMAP: Final = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<url><loc>http://site.test/a</loc><lastmod>2025-12-01</lastmod></url>"
    "<url><loc>http://site.test/only-sitemap</loc></url></urlset>"
)
PAGES: Final[dict[str, Any]] = {
    f"{HOME}robots.txt": "User-agent: *\nDisallow: /secret\nSitemap: http://site.test/sitemap.xml\n",
    f"{HOME}sitemap.xml": SITEMAP,
    HOME: html("/a", "/b", "/old", "/secret", "/missing", "/flaky", "http://other.test/x", "mailto:x@site.test"),
    f"{HOME}a": html("/b", "/c"),
    f"{HOME}b": html("/d", head='<meta name="robots" content="noindex">'),
    **{f"{HOME}{one}": html(f"/{other}") for one, other in ("ce", "df", "eg")},
    f"{HOME}f": html(),
    f"{HOME}g": html(),
    f"{HOME}old": redirect("/a"),
    f"{HOME}only-sitemap": html("/a"),
    f"{HOME}flaky": 503,
}
"""The site that the rows of the old stores were made from."""


def old_store(folder: Path, version: int) -> Path:
    """Make a store as a released schema left it: run 1 finished, run 2 killed in the middle."""
    store = folder / "old.db"
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute((CORPUS / f"schema-{version}.sql").read_text(encoding="utf-8"))
    connection.execute((CORPUS / f"rows-{version}.sql").read_text(encoding="utf-8"))
    connection.pragma("user_version", version)
    connection.close()
    return store


def upgraded(store: Path) -> Path | None:
    """Upgrade a store as the next crawl does, and return the copy that is kept."""
    database = SqliteDatabase.writer(str(store))
    database.close()
    return database.kept


def structure(text: str | None) -> tuple[str, tuple[str, ...], str]:
    """Return a statement of the schema with its constraints after its columns, since ALTER TABLE adds columns at the end.

    The order of columns counts: where a damaged file has lost its schema, its rows are read by today's.
    """
    bare = re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", text or "")).strip()
    if not bare.startswith("CREATE TABLE"):
        return bare, (), ""
    head, _, rest = bare.partition("(")
    inside, _, tail = rest.rpartition(")")
    parts = [part.strip() for part in re.split(r",(?![^(]*\))", inside)]
    parts = sorted(parts, key=lambda part: part.startswith(("PRIMARY KEY", "UNIQUE", "CHECK")))
    return head.strip(), tuple(re.sub(r"\s*([()])\s*", r"\1", part) for part in parts), tail.strip()


def structures(connection: apsw.Connection) -> dict[str, object]:
    """Return everything that the schema names, apart from what SQLite makes itself."""
    found = connection.execute("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    return {name: structure(text) for name, text in found}


def of_text(text: str) -> dict[str, object]:
    """Return the structures that a schema's text makes."""
    connection = apsw.Connection(":memory:")
    connection.execute(text)
    return structures(connection)


def tables(store: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield every table with its rows as column to value."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    for (name,) in list(names):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        yield name, [dict(zip(columns, row, strict=True)) for row in connection.execute(f"SELECT * FROM {name}")]
    connection.close()


@pytest.mark.parametrize("version", RELEASED)
def test_an_upgraded_store_is_built_as_a_new_one(tmp_path: Path, version: int) -> None:
    """Migrations lead from every released schema to today's; a change of ``schema.sql`` without one fails here."""
    store = old_store(tmp_path, version)
    upgraded(store)
    connection = apsw.Connection(str(store))
    assert structures(connection) == of_text(schema())
    assert connection.pragma("user_version") == SCHEMA_VERSION
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def test_every_released_schema_is_kept() -> None:
    """Each schema before today's has its text and its rows here, and one that is here already does not change."""
    for version in RELEASED:
        assert (CORPUS / f"schema-{version}.sql").is_file()
        assert (CORPUS / f"rows-{version}.sql").is_file()
    today = CORPUS / f"schema-{SCHEMA_VERSION}.sql"
    if today.is_file():
        assert of_text(today.read_text(encoding="utf-8")) == of_text(schema()), "released: write a migration"


def test_a_changed_schema_is_noticed() -> None:
    """The comparison sees a new column, another default, a lost index and a changed view."""
    text = schema()
    changes = [
        ("purpose INTEGER NOT NULL,", "purpose INTEGER NOT NULL, colour TEXT,"),
        ("attempts INTEGER NOT NULL DEFAULT 0", "attempts INTEGER NOT NULL DEFAULT 1"),
        ("CREATE INDEX run_crawl ON run (crawl, id);", ""),
        ("'run_limit'", "'limit'"),
    ]
    for old, new in changes:
        assert old in text
        assert of_text(text.replace(old, new, 1)) != of_text(text)


@pytest.mark.parametrize("version", RELEASED)
def test_no_row_is_lost_or_changed(tmp_path: Path, version: int) -> None:
    """Every row of an old store stands in the upgraded one with all its values."""
    store = old_store(tmp_path, version)
    before = dict(tables(store))
    upgraded(store)
    after = dict(tables(store))
    assert sum(map(len, before.values())) > 50
    for name, rows in before.items():
        kept = after[name] if name != "meta" else [row for row in after[name] if row["key"] != "writer"]
        assert [{key: row[key] for key in old} for old, row in zip(rows, kept, strict=True)] == rows, name


@pytest.mark.parametrize("version", RELEASED)
def test_reports_of_old_runs_stay_as_they_were(tmp_path: Path, version: int) -> None:
    """The MF3.0 file is byte-equal to the old program's, and so is every column the ledger had then."""
    store = old_store(tmp_path, version)
    upgraded(store)
    ledger, result = report.write(str(store), 1, tmp_path / "files", ["jsonl", "crawl_result"])
    with zipfile.ZipFile(result) as archive:
        assert archive.read(archive.namelist()[0]) == (CORPUS / f"crawl_result-{version}.csv").read_bytes()
    old = [json.loads(line) for line in (CORPUS / f"ledger-{version}.jsonl").read_text("utf-8").splitlines()]
    new = [json.loads(line) for line in ledger.read_text("utf-8").splitlines()]
    assert [{key: row.get(key) for key in was} for was, row in zip(old, new, strict=True)] == old


@pytest.mark.parametrize("version", RELEASED)
def test_an_unfinished_run_of_an_old_store_is_resumed(tmp_path: Path, version: int) -> None:
    """A run that the old program left in the middle ends as an undisturbed one (R-1.7)."""
    store, whole = old_store(tmp_path, version), tmp_path / "whole.db"
    crawl(FakeWeb(PAGES), made_settings(whole, {"name": "old"}))
    result = crawl(FakeWeb(PAGES), made_settings(store, {"name": "old"}), resume=True)
    assert result.run == 2
    assert result.books_balanced, result.faults
    assert endings(store, 2) == endings(whole)


@pytest.mark.parametrize("version", RELEASED)
def test_the_old_store_is_kept_beside_the_new(tmp_path: Path, version: int) -> None:
    """Before an upgrade the store is copied, with what its log holds; a later copy takes no other's place."""
    store = old_store(tmp_path, version)
    before = dict(tables(store))
    (tmp_path / f"old.db.version-{version}").write_text("somebody's", encoding="utf-8")
    kept = upgraded(store)
    assert kept == tmp_path / f"old.db.version-{version}.2"
    assert dict(tables(kept)) == before
    assert upgraded(store) is None, "upgraded once, it is today's"
    assert not list(tmp_path.glob("*.part"))


def test_a_reader_of_an_old_store_is_told_how_to_upgrade(tmp_path: Path) -> None:
    """Who only reads changes nothing: the message names both versions and the command."""
    store = old_store(tmp_path, 1)
    before = store.read_bytes()
    with pytest.raises(SchemaMismatch, match=r'version "1".*purlieu store upgrade'):
        SqliteDatabase.reader(str(store))
    assert store.read_bytes() == before


@pytest.mark.parametrize("opened", [SqliteDatabase.writer, SqliteDatabase.reader])
def test_a_newer_store_is_left_alone(tmp_path: Path, opened: Callable[[str], SqliteDatabase]) -> None:
    """A store of a newer version is named with its version and the remedy, and not one byte is written."""
    store = old_store(tmp_path, 1)
    connection = apsw.Connection(str(store))
    connection.pragma("user_version", 99)
    connection.close()
    before = store.read_bytes()
    with pytest.raises(SchemaMismatch, match=r'version "99".*newer Purlieu'):
        opened(str(store))
    assert store.read_bytes() == before


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """A file that another program made is refused, and not one byte is written."""
    store = tmp_path / "theirs.db"
    connection = apsw.Connection(str(store))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = store.read_bytes()
    with pytest.raises(SchemaMismatch, match="another program"):
        SqliteDatabase.writer(str(store))
    assert store.read_bytes() == before


@pytest.mark.parametrize("version", RELEASED)
def test_a_disk_that_fills_in_mid_upgrade_leaves_the_old_store(tmp_path: Path, version: int) -> None:
    """Whichever write is the first to fail, the store is still the old one with every row, or whole and new."""
    made = old_store(tmp_path, version)
    before = dict(tables(made))
    outcomes = set()
    for writes in (*range(1, 20), *range(20, 400, 20)):
        folder = tmp_path / str(writes)
        folder.mkdir()
        store = Path(shutil.copy(made, folder / "old.db"))
        with FailingDisk(writes) as disk, suppress(StoreError):
            upgraded(store)
        for log in folder.glob("old.db-*"):  # what a killed process leaves is read too
            assert log.name.removeprefix("old.db") in {"-wal", "-shm"}
        connection = apsw.Connection(str(store))
        found = connection.pragma("user_version")
        assert connection.pragma("integrity_check") == "ok"
        connection.close()
        outcomes.add((disk.failed, found))
        assert found in {version, SCHEMA_VERSION}
        if found == version:
            assert dict(tables(store)) == before
        upgraded(store)
    assert (True, version) in outcomes
    assert (False, SCHEMA_VERSION) in outcomes


def test_no_room_for_the_copy_is_told(tmp_path: Path) -> None:
    """Where the copy cannot be made nothing is upgraded; the message names the copy and how to do without."""
    store = old_store(tmp_path, 1)
    with FailingDisk(3), pytest.raises(StoreError, match=r"old\.db\.version-1.*--no-copy.*nothing was changed"):
        upgraded(store)
    assert not list(tmp_path.glob("*version-1*"))
    database = SqliteDatabase.writer(str(store), copy=False)
    database.close()
    assert database.kept is None


@pytest.mark.parametrize("version", RELEASED)
def test_a_kill_in_mid_upgrade_leaves_the_old_store(tmp_path: Path, version: int) -> None:
    """The log of an upgrade, cut anywhere as a kill or a power cut leaves it, gives the old store or the new (R-1.1)."""
    store = old_store(tmp_path, version)
    before = dict(tables(store))
    (tmp_path / "cut").mkdir()
    cut = tmp_path / "cut" / "old.db"
    reader = apsw.Connection(str(store))  # an open reader keeps the log from being taken into the file
    reader.execute("BEGIN; SELECT count(*) FROM run")
    upgraded(store)
    log = Path(f"{store}-wal").read_bytes()
    assert len(log) > 10_000
    found = set()
    for length in range(0, len(log) + 1, max(1, len(log) // 40)):
        shutil.copy(store, cut)
        Path(f"{cut}-wal").write_bytes(log[:length])
        Path(f"{cut}-shm").unlink(missing_ok=True)
        connection = apsw.Connection(str(cut))
        now = connection.pragma("user_version")
        connection.close()
        found.add(now)
        if now == version:
            assert dict(tables(cut)) == before
    reader.close()
    assert version in found


def test_the_history_knows_how_a_page_ended_last(tmp_path: Path) -> None:
    """A page that led elsewhere when it was asked for last is no page that stands unchanged, after an upgrade too (R-2.4)."""
    store = old_store(tmp_path, 1)
    connection = apsw.Connection(str(store))
    newest = "(SELECT max(run) FROM entry WHERE href = ?1 AND attempts > 0)"
    connection.execute(
        "UPDATE entry SET kind = 'redirected', reason = 'meta_refresh', due_at = NULL, redirect_to = ?2 "
        f"WHERE href = ?1 AND run = {newest}",
        (f"{HOME}a", f"{HOME}c"),
    )
    connection.close()
    upgraded(store)
    connection = apsw.Connection(str(store))
    told = dict(connection.execute("SELECT href, kind || '.' || reason FROM page"))
    connection.close()
    assert told[f"{HOME}a"] == "redirected.meta_refresh"
    assert told[f"{HOME}b"] == "fetched.ok"
