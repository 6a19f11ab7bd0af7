"""Damaged stores: what is wrong is said, and what can be read is saved (issue "Bad input"; R-1.2, R-4.4)."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.errors import SchemaMismatch, StoreError
from purlieu.response import Request
from purlieu.store import soundness
from purlieu.store.sqlite.check import check
from purlieu.store.sqlite.pages import PageFile
from purlieu.store.sqlite.salvage import save
from purlieu.testing.clock import START
from purlieu.testing.web import FakeWeb, redirect

PAGES: Final = 40
NOW: Final = START + 10_000.0
PAGE_BYTES: Final = 4096


def reply(request: Request) -> Any:
    """Answer for a site of linked pages on two hosts, with redirects, missing pages and a sitemap."""
    url = request.url
    if url.endswith("/robots.txt"):
        return f"User-agent: *\nDisallow: /secret\nSitemap: {HOME}sitemap.xml\n"
    if url.endswith("/sitemap.xml"):
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{HOME}p/7</loc></url></urlset>'
    number = url.rpartition("/")[2]
    if number.startswith("old"):
        return redirect(f"/p/{number[3:]}")
    if number.startswith("gone"):
        return 404
    here = int(number or 0)
    links = [f"/p/{(here * 7 + step) % PAGES}" for step in range(1, 6)]
    return html(*links, f"/old{here % 40}", f"/gone{here % 30}", f"/secret/{here}", f"http://other.test/{here}",
                f"http://two.test/p/{here % 10}", title=f"page {here}" + "x" * 300, body="word " * (here % 50))  # fmt: skip


SETTINGS: Final[dict[str, Any]] = {
    "name": "made",
    "scope": {"mode": "any"},
    "filter": {"exclude": ["http://other.test/"]},
}


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a store whose run 1 finished and whose run 2 was stopped by a limit, and one in which run 2 was whole."""
    folder = tmp_path_factory.mktemp("stores")
    whole, half = folder / "whole.db", folder / "half.db"
    for store, limits in ((whole, {}), (half, {"limits": {"max_pages": 30}})):
        crawl(FakeWeb(reply), made_settings(store, SETTINGS))
        crawl(FakeWeb(reply), made_settings(store, SETTINGS | limits))
    return half, whole


def damaged(store: Path, folder: Path) -> Path:
    """Return a copy to damage."""
    folder.mkdir(exist_ok=True)
    return Path(shutil.copy(store, folder / "s.db"))


def overwrite(store: Path, page: int, start: int = 0, length: int = PAGE_BYTES, seed: int = 1) -> None:
    """Put noise into a page."""
    data = bytearray(store.read_bytes())
    at = (page - 1) * PAGE_BYTES + start
    data[at : at + length] = random.Random(seed).randbytes(length)
    store.write_bytes(data)


def repaired(store: Path) -> Path:
    """Repair a store; the original stays as it is, and the new one is sound but for what was lost of ended runs."""
    before = store.read_bytes()
    target = store.with_name("new.db")
    target.unlink(missing_ok=True)
    saved = save(str(store), str(target), NOW)
    assert store.read_bytes() == before
    assert saved.path == target
    left = check(str(target), NOW).faults
    assert {one.code for one in left} <= {"books_unbalanced"}, [one.sentence() for one in left]
    lost = {one.run for one in saved.runs if one.lost and not one.can_go_on}
    assert {one.run for one in left} <= lost
    return target


def pages_of(store: Path, *names: str) -> list[int]:
    """Return the numbers of the pages that the named tables and indexes take (the schema: page 1)."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    marks = ", ".join("?" * len(names))
    found = [row[0] for row in connection.execute(f"SELECT pageno FROM dbstat WHERE name IN ({marks})", names)]
    connection.close()
    return sorted(found)


def test_a_sound_store_is_called_sound(stores: tuple[Path, Path]) -> None:
    """Nothing is wrong with a store that nobody damaged; its unfinished run is named."""
    for store, unfinished in zip(stores, ((2, "made"), None), strict=True):
        found = check(str(store), NOW)
        assert found.is_sound, [one.sentence() for one in found.faults]
        assert found.unfinished == ((unfinished,) if unfinished else ())
        assert not found.is_held


def test_every_row_of_a_sound_store_can_be_saved(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """Read page by page, a store gives the same rows as read by SQLite (sqlite.org/fileformat2.html)."""
    store = damaged(stores[0], tmp_path / "x")
    target = repaired(store)
    with_rows = 0
    one, other = apsw.Connection(str(store)), apsw.Connection(str(target))
    for (name,) in list(
        one.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ):
        rows = sorted(map(repr, one.execute(f"SELECT * FROM {name}")))
        if name not in {"meta", "lease", "run"}:
            assert sorted(map(repr, other.execute(f"SELECT * FROM {name}"))) == rows, name
            with_rows += bool(rows)
    one.close()
    other.close()
    assert with_rows >= 10


def test_an_overwritten_page_loses_no_url_of_a_run_that_can_go_on(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """Whichever page is overwritten, repair and ``--resume`` end with the ledger of an undisturbed run (R-1.7, R-3.1)."""
    half, whole = stores
    wanted = endings(whole, 2)
    dice = random.Random(5)
    numbers = [
        *dice.sample(pages_of(half, "entry"), 2), dice.choice(pages_of(half, "page")), *pages_of(half, "run_host", "host"),
        dice.choice(pages_of(half, "run")), *pages_of(half, "robots", "config", "crawl")[:3],
    ]  # fmt: skip
    unsound = 0
    for number in numbers:
        store = damaged(half, tmp_path / str(number))
        overwrite(store, number, seed=number)
        unsound += not check(str(store), NOW).is_sound
        target = repaired(store)
        connection = apsw.Connection(str(target))
        runs = list(connection.execute("SELECT max(id) FROM run"))
        connection.close()
        if runs != [(2,)]:
            continue
        result = crawl(FakeWeb(reply), made_settings(target, SETTINGS), resume=True)
        assert endings(target, result.run) == wanted, number
    assert unsound == len(numbers)


def test_a_damaged_header_is_told_and_the_rows_are_saved(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """Without its first page a file is found to be damaged, and its tables are told apart by the shape of their rows."""
    for place, length in ((0, 16), (16, 84), (0, PAGE_BYTES), (100, 12)):
        store = damaged(stores[0], tmp_path / f"{place}-{length}")
        overwrite(store, 1, place, length)
        with pytest.raises(StoreError, match="purlieu store repair"):
            crawl(FakeWeb(reply), made_settings(store, SETTINGS), resume=True)
        found = check(str(store), NOW)
        assert [one.code for one in found.faults] == ["file"]
        target = repaired(store)
        assert ledger(target, 1).keys() == ledger(stores[0], 1).keys()
        crawl(FakeWeb(reply), made_settings(target, SETTINGS), resume=True)
        assert endings(target, 2) == endings(stores[1], 2)


def test_a_file_that_was_cut_off_is_saved_as_far_as_it_goes(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """A file cut at any length gives what its pages hold, or says that nothing can be read; what was lost is counted."""
    data = stores[0].read_bytes()
    for length in (0, 99, 4095, 4096, len(data) // 4, len(data) // 2, len(data) - 5000, len(data) - 1):
        store = damaged(stores[0], tmp_path / str(length))
        store.write_bytes(data[:length])
        assert not check(str(store), NOW).is_sound
        if length < PAGE_BYTES:
            with pytest.raises(StoreError, match="nothing of a store can be read"):
                repaired(store)
        elif length > len(data) // 4:
            repaired(store)


def test_noise_never_breaks_the_repair(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """Whatever single bytes and stretches are overwritten, repair gives a sound store or says that there is nothing."""
    dice = random.Random(11)
    size = stores[0].stat().st_size
    for number in range(12):
        store = damaged(stores[0], tmp_path / str(number))
        data = bytearray(store.read_bytes())
        for _ in range(dice.choice([1, 5, 50])):
            at, length = dice.randrange(size), dice.choice([1, 1, 2, 8, 500])
            data[at : at + length] = dice.randbytes(len(data[at : at + length]))
        store.write_bytes(data)
        check(str(store), NOW)
        repaired(store)


def test_what_is_saved_of_damaged_rows_is_counted(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """The rows saved of each table, the damaged pages, and the URLs lost of each run are told (R-7.1)."""
    store = damaged(stores[1], tmp_path / "x")
    (page, *_) = dice_pages = [number for number in pages_of(store, "entry") if number != pages_of(store, "entry")[0]]
    assert dice_pages
    overwrite(store, page)
    saved = save(str(store), str(tmp_path / "new.db"), NOW)
    assert saved.damaged_pages >= 1
    (entries,) = [table.saved for table in saved.tables if table.name == "entry"]
    assert entries == sum(one.entries for one in saved.runs)
    lost = {one.run: one.lost for one in saved.runs}
    assert sum(lost.values()) > 0
    found = check(str(tmp_path / "new.db"), NOW).faults
    assert {one.run for one in found} == {run for run, count in lost.items() if count}
    assert all(f"{lost[one.run or 0]} were lost" in one.sentence() for one in found)


def test_a_store_that_is_there_is_not_overwritten(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """Repair writes a new file, and refuses to write over one that exists; a failed repair leaves nothing behind."""
    (tmp_path / "new.db").write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="there already"):
        save(str(stores[0]), str(tmp_path / "new.db"), NOW)
    assert (tmp_path / "new.db").read_text(encoding="utf-8") == "mine"
    (tmp_path / "noise").write_bytes(random.Random(1).randbytes(50_000))
    with pytest.raises(StoreError, match="nothing of a store"):
        save(str(tmp_path / "noise"), str(tmp_path / "other.db"), NOW)
    with pytest.raises(StoreError, match="cannot be read"):
        save(str(tmp_path / "absent"), str(tmp_path / "other.db"), NOW)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.db", "noise"]


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("DELETE FROM host WHERE name = 'two.test'", "host_missing"),
        ("DELETE FROM run_host WHERE run = 2", "run_host_missing"),
        ("INSERT INTO run_host (run, host, due_at) VALUES (2, 99, 0)", "run_host_alone"),
        ("DELETE FROM robots WHERE run = 2", "origin_missing"),
        ("DELETE FROM run WHERE id = 2", "run_missing"),
        ("UPDATE run_host SET due_at = NULL WHERE run = 2", "never_due"),
        ("UPDATE robots SET state = 'wanted', source = NULL WHERE run = 2", "robots_never_due"),
        ("DELETE FROM entry WHERE run = 2 AND kind IS NOT NULL AND href LIKE '%/p/1%'", "counters"),
        ("UPDATE run SET counters = '{' WHERE id = 2", "counters_unreadable"),
        ("UPDATE run SET books = NULL WHERE id = 1", "books_missing"),
        ("UPDATE run SET books = json_set(books, '$.balanced', json('false')) WHERE id = 2", "books_unbalanced"),
        ("DELETE FROM config", "config_missing"),
        ("DELETE FROM crawl", "crawl_missing"),
        ("UPDATE run SET stop_reason = 'finished' WHERE id = 2", "finished_undone"),
        ("DELETE FROM entry WHERE run = 2 AND kind IS NOT NULL", "response_alone"),
        ("UPDATE entry SET due_at = due_at + 1e9 WHERE run = 2 AND due_at IS NOT NULL", "dates"),
        ("UPDATE host SET next_at = 1e12", "dates"),
        ("UPDATE page SET last_fetched = last_fetched + 1e9", "dates"),
        ("UPDATE run SET ended_at = 5", "dates"),
        ("UPDATE page SET outlinks = x'00' WHERE href LIKE '%/p/3'", "outlinks"),
    ],
)
def test_every_rule_between_rows_is_checked(stores: tuple[Path, Path], tmp_path: Path, damage: str, code: str) -> None:
    """Each rule, broken by hand, is told in every language, and a repair makes the store sound again (R-7.1)."""
    store = damaged(stores[0], tmp_path / "x")
    connection = apsw.Connection(str(store))
    connection.execute(damage)
    assert connection.total_changes()
    connection.close()
    found = check(str(store), NOW).faults
    assert code in {one.code for one in found}
    for language in ("en", "ja", "zh"):
        assert all(one.sentence(language) for one in found)
    if code not in {"books_missing", "books_unbalanced", "finished_undone"}:  # an ended run is not opened again
        repaired(store)


def test_every_rule_has_a_case() -> None:
    """The table of sentences and the cases above name the same rules."""
    marks = test_every_rule_between_rows_is_checked.pytestmark  # type: ignore[attr-defined]
    cases = {code for mark in marks if mark.name == "parametrize" for _, code in mark.args[1]}
    assert cases | {"file"} == soundness.SENTENCES.keys()


def test_a_newer_store_is_not_called_damaged(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """A store of another version is told as such, by its version, with the remedy."""
    store = damaged(stores[0], tmp_path / "x")
    connection = apsw.Connection(str(store))
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(SchemaMismatch, match='"99"'):
        check(str(store), NOW)


def test_a_page_number_that_leads_round_ends(stores: tuple[Path, Path], tmp_path: Path) -> None:
    """A b-tree whose pages lead back to themselves is read once each, and ends."""
    store = damaged(stores[0], tmp_path / "x")
    (root,) = [one for one in pages_of(store, "entry") if _kind(store, one) == 2][:1]
    data = bytearray(store.read_bytes())
    data[(root - 1) * PAGE_BYTES + 8 : (root - 1) * PAGE_BYTES + 12] = root.to_bytes(4, "big")
    store.write_bytes(data)
    source = PageFile(store)
    source.open()
    rows = list(source.walk(root))
    source.close()
    assert rows
    repaired(store)


def _kind(store: Path, page: int) -> int:
    return store.read_bytes()[(page - 1) * PAGE_BYTES]
