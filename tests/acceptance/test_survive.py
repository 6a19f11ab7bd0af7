"""What a run survives: power cuts, full and failing disks, clocks that jump, a second writer (R-4.3, R-4.4, R-8.1)."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import apsw
import pytest
from tests.crawling import HOME, crawl, html, ledger, made_settings
from tests.failing_disk import FailingDisk

from purlieu.crawl.local import Crawl
from purlieu.errors import OutOfMemory, SchemaMismatch, StoreBusy, StoreError
from purlieu.response import Request
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.store.sqlite.check import check
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, answer, redirect

PAGES: Final = 16
YEAR: Final = 366 * 86_400.0
NOW: Final = START + 10_000.0


def reply(request: Request) -> Any:
    """Answer for a small site that has a bit of everything."""
    url = request.url
    if url.endswith("/robots.txt"):
        return f"User-agent: *\nDisallow: /secret\nSitemap: {HOME}sitemap.xml\n"
    if url.endswith("/sitemap.xml"):
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{HOME}7</loc></url></urlset>'
    number = url.rpartition("/")[2]
    if number.startswith("old"):
        return redirect(f"/{number[3:]}" if number != "old9" else "/old9")
    if number.startswith("gone"):
        return 503 if number == "gone1" else 404
    here = int(number or 0)
    return html(*[f"/{(here * 7 + step) % PAGES}" for step in range(1, 5)], f"/old{here % 10}", f"/gone{here % 4}",
                f"/secret/{here}", f"http://other.test/{here}", f"http://two.test/{here % 5}", title=f"page {here}")  # fmt: skip


SETTINGS: Final[dict[str, Any]] = {"name": "made", "seeds": [HOME, "http://two.test/"]}


class Snapshots:
    """A web that copies the store aside when it is asked so many times: what a killed process leaves."""

    def __init__(self, store: Path, at: set[int]) -> None:
        """Copy this store at these requests."""
        self.store, self.at, self.asked, self.made = store, at, 0, list[Path]()

    def __call__(self, request: Request) -> Any:
        """Answer one request."""
        self.asked += 1
        if self.asked in self.at:
            folder = self.store.parent / str(self.asked)
            folder.mkdir()
            self.made.append(copied(self.store, folder))
        return reply(request)


def copied(store: Path, folder: Path) -> Path:
    """Copy a store with its log, not with its index of the log, into a folder."""
    folder.mkdir(exist_ok=True)
    for path in (store, Path(f"{store}-wal")):
        if path.exists():
            shutil.copy(path, folder / path.name)
    return folder / store.name


def told(store: Path, run: int = 1) -> dict[tuple[str, str], dict[str, Any]]:
    """Return a run's ledger without the number of attempts, which a batch fetched twice raises."""
    rows = ledger(store, run)
    for row in rows.values():
        row.pop("attempts")
    return rows


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the ledger of an undisturbed run."""
    store = tmp_path_factory.mktemp("whole") / "s.db"
    result = crawl(FakeWeb(reply), made_settings(store, SETTINGS))
    assert result.books_balanced, result.faults
    return told(store)


def resumed(store: Path, clock: FakeClock | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    """Resume and return the ledger; the books balance."""
    result = crawl(FakeWeb(reply), made_settings(store, SETTINGS), clock, resume=True)
    assert result.books_balanced, result.faults
    return told(store, result.run)


# -- power cuts ------------------------------------------------------------------------------------


def test_a_log_cut_anywhere_opens_to_a_committed_state(tmp_path: Path, whole: dict[Any, Any]) -> None:
    """A torn log is used up to its last whole commit: the rows hold together, and ``--resume`` ends as ever (R-4.4, R-7.1)."""
    snapshots = Snapshots(tmp_path / "s.db", {40})
    crawl(FakeWeb(snapshots), made_settings(tmp_path / "s.db", SETTINGS))
    (store,) = snapshots.made
    log = Path(f"{store}-wal").read_bytes()
    assert len(log) > 100_000
    counts = set()
    step = len(log) // 30
    for number, length in enumerate([*range(0, len(log), step), *range(0, len(log), 4120 * 8)]):
        cut = copied(store, tmp_path / "cut")
        Path(f"{cut}-shm").unlink(missing_ok=True)
        Path(f"{cut}-wal").write_bytes(log[:length])
        try:
            found = check(str(cut), NOW)
        except SchemaMismatch:
            pytest.fail("a store in its beginning is no other program's")
        if any("holds nothing yet" in one.example for one in found.faults):
            continue
        assert found.is_sound, [one.sentence() for one in found.faults]
        rows = len(ledger(cut)) if found.unfinished else 0
        counts.add(rows)
        if rows and number % 15 == 0:
            assert resumed(cut) == whole
    assert len(counts) > 8, counts


@pytest.mark.parametrize("damage", ["noise", "zeros", "gone", "header"])
def test_a_damaged_log_loses_the_last_batches_at_most(tmp_path: Path, whole: dict[Any, Any], damage: str) -> None:
    """Of a log that is noise, zeros, lost, or of another store, what was taken into the file before stands (R-4.4)."""
    store = tmp_path / "s.db"
    crawl(FakeWeb(reply), made_settings(store, SETTINGS | {"limits": {"max_pages": 12}}))
    before = told(store)
    log = Path(f"{store}-wal")
    snapshots = Snapshots(store, {8})
    crawl(FakeWeb(snapshots), made_settings(store, SETTINGS), resume=True)
    (cut,) = snapshots.made
    log = Path(f"{cut}-wal")
    data = bytearray(log.read_bytes())
    if damage == "noise":
        data[60:] = bytes(byte ^ 0x5A for byte in data[60:])
    elif damage == "zeros":
        data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    elif damage == "header":
        data[:32] = bytes(range(32))
    log.write_bytes(data)
    if damage == "gone":
        log.unlink()
    assert check(str(cut), NOW).is_sound
    assert told(cut).keys() >= {key for key, row in before.items() if row["kind"] == "fetched"}
    assert resumed(cut) == whole


@pytest.mark.parametrize("at", [1, 2, 3, 30])
def test_a_kill_at_any_request_loses_nothing(tmp_path: Path, whole: dict[Any, Any], at: int) -> None:
    """What a killed process leaves, at its first requests or late, resumes to the ledger of an undisturbed run (R-1.6)."""
    snapshots = Snapshots(tmp_path / "s.db", {at})
    crawl(FakeWeb(snapshots), made_settings(tmp_path / "s.db", SETTINGS))
    assert resumed(snapshots.made[0]) == whole


@pytest.mark.parametrize("at", [1, 30])
def test_a_kill_in_a_revisit_loses_nothing(tmp_path: Path, at: int) -> None:
    """A revisit that was killed is sound, and resumes to the ledger of an undisturbed one (R-1.7, R-2.4)."""
    store = tmp_path / "s.db"
    crawl(FakeWeb(reply), made_settings(store, SETTINGS))
    again, later = SETTINGS | {"revisit": True}, START + 40 * 86_400.0
    snapshots = Snapshots(store, {at})
    crawl(FakeWeb(snapshots), made_settings(store, again), FakeClock(later))
    (killed,) = snapshots.made
    assert check(str(killed), later + 1000).is_sound
    result = crawl(FakeWeb(reply), made_settings(killed, again), FakeClock(later + 50), resume=True)
    assert result.books_balanced, result.faults
    assert told(killed, 2) == told(store, 2)


def test_a_kill_while_the_run_ends_loses_nothing(tmp_path: Path, whole: dict[Any, Any]) -> None:
    """A log cut within the end of a run, between settling and books, resumes to balanced books (R-2.5, R-7.1)."""
    store = tmp_path / "s.db"

    async def main() -> None:
        async with Crawl(made_settings(store, SETTINGS), fetcher=FakeWeb(reply), clock=FakeClock()) as run:
            reader = SqliteDatabase.reader(str(store))  # keeps the log from being taken in at the end
            list(reader.rows("report_runs"))
            await run.run()
            copied(store, tmp_path / "ended")
            reader.close()

    asyncio.run(main())
    ended = tmp_path / "ended" / "s.db"
    log = Path(f"{ended}-wal").read_bytes()
    for frames in range(1, 30, 4):
        cut = copied(ended, tmp_path / "cut")
        Path(f"{cut}-shm").unlink(missing_ok=True)
        Path(f"{cut}-wal").write_bytes(log[: len(log) - 4120 * frames])
        found = check(str(cut), NOW)
        assert found.is_sound, [one.sentence() for one in found.faults]
        if found.unfinished:
            assert resumed(cut) == whole


# -- disks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "remedy", "after"),
    [
        (apsw.FullError, "the disk is full: free some space, then resume", (0, 40, 130, 200)),
        (apsw.IOError, "the disk gave an error: check the disk", (150,)),
        (apsw.ReadOnlyError, "read-only: make it writable", (170,)),
    ],
)
def test_a_disk_that_fails_ends_the_run_and_loses_nothing(
    tmp_path: Path, whole: dict[Any, Any], fault: type[apsw.Error], remedy: str, after: tuple[int, ...]
) -> None:
    """Whichever write fails first, the message has the remedy, the store is sound, and ``--resume`` ends as ever (R-8.1)."""
    failed = 0
    for writes in after:
        store = tmp_path / f"{writes}.db"
        with FailingDisk(writes, fault), pytest.raises(StoreError) as told_of:
            crawl(FakeWeb(reply), made_settings(store, SETTINGS))
        assert remedy in str(told_of.value)
        if _has_run(store):
            failed += 1
            assert check(str(store), NOW).is_sound
            assert resumed(store) == whole
        else:
            crawl(FakeWeb(reply), made_settings(store, SETTINGS))
            assert told(store) == whole
    assert failed >= len(after) - 2


def _has_run(store: Path) -> bool:
    connection = apsw.Connection(str(store))
    try:
        return bool(connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'run'").fetchone() == (1,)
                    and connection.execute("SELECT count(*) FROM run").fetchone() != (0,))  # fmt: skip
    finally:
        connection.close()


def test_a_disk_that_fails_for_a_moment_marks_the_run_failed(tmp_path: Path) -> None:
    """A run whose batch could not be written has failed by the system, not finished, once there is room again (R-8.1)."""
    store = tmp_path / "s.db"
    with FailingDisk(10_000) as disk:

        def full_for_one_batch(request: Request) -> Any:
            if request.url == f"{HOME}5" and not disk.failed:
                disk.left = 0
            elif disk.failed:
                disk.mended = True
            return reply(request)

        async def main() -> None:
            settings = made_settings(store, SETTINGS)
            async with Crawl(settings, fetcher=FakeWeb(full_for_one_batch), clock=FakeClock()) as run:
                await run.run()

        with pytest.raises(StoreError, match="full"):
            asyncio.run(main())
    reader = SqliteDatabase.reader(str(store))
    (row,) = Reader(reader).runs()
    reader.close()
    assert (row.state in {"failed", "running"}, row.books is None or row.books["balanced"]) == (True, True)


@pytest.mark.parametrize("store", ["/proc/self/fdinfo/s.db", "/dev/null/s.db"])
def test_a_folder_that_cannot_be_written_is_told(store: str) -> None:
    """A store in a folder where nothing can be made is the owner's mistake: message with the name and the remedy."""
    with pytest.raises(StoreError, match=r"cannot be written.*--store"):
        SqliteDatabase.writer(store)


# -- clocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-30 * YEAR, -3 * 3600.0, -5.0, 3 * 3600.0, 30 * YEAR])
def test_a_clock_that_jumps_between_kill_and_resume_delays_nobody(
    tmp_path: Path, whole: dict[Any, Any], jump: float
) -> None:
    """However the clock was set, a resume takes no longer than the run, and the ledger is the same (R-4.2, R-4.3)."""
    snapshots = Snapshots(tmp_path / "s.db", {20})
    crawl(FakeWeb(snapshots), made_settings(tmp_path / "s.db", SETTINGS))
    store = snapshots.made[0]
    clock = FakeClock(START + 60 + jump)
    web = FakeWeb(reply, clock)
    result = crawl(web, made_settings(store, SETTINGS), clock, resume=True)
    assert result.books_balanced, result.faults
    assert told(store) == whole
    assert clock.monotonic() < 200
    by_host: dict[str, list[float]] = {}
    for one in web.asked:
        by_host.setdefault(one.url.split("/")[2], []).append(one.began_at)
    gaps = [late - early for times in by_host.values() for early, late in pairwise(times)]
    assert min(gaps) >= 0.25 - 1e-6


@pytest.mark.parametrize("jump", [-30 * YEAR, -3 * 3600.0, 30 * YEAR])
def test_a_run_by_a_wrong_clock_does_not_delay_the_next(tmp_path: Path, jump: float) -> None:
    """A new run after one that was made years ahead, or behind, starts at once and ends as soon (R-4.2)."""
    store = tmp_path / "s.db"
    first, second = FakeClock(START), FakeClock(START + jump)
    crawl(FakeWeb(reply, first), made_settings(store, SETTINGS), first)
    crawl(FakeWeb(reply, second), made_settings(store, SETTINGS), second)
    assert told(store, 2) == told(store, 1)
    assert second.monotonic() < first.monotonic() + 100
    assert check(str(store), START + jump + 1000).is_sound


def test_pauses_are_kept_when_the_clock_was_set_back(tmp_path: Path) -> None:
    """What a host asked to be left alone for is waited for as long as it was, by the new clock too (R-4.2, Retry-After)."""
    store = tmp_path / "s.db"
    settings = made_settings(store, {"name": "x", "limits": {"max_seconds": 5}})
    clock = FakeClock()
    busy = answer(status=503, headers={"Retry-After": "600"})
    crawl(FakeWeb({HOME: html("/busy"), f"{HOME}busy": busy}, clock), settings, clock)
    later = FakeClock(START - YEAR)
    web = FakeWeb({HOME: html("/busy"), f"{HOME}busy": html()}, later)
    crawl(web, made_settings(store, {"name": "x"}), later, resume=True)
    (asked,) = [one for one in web.asked if one.url.endswith("/busy")]
    assert 590 <= asked.began_at <= 610


@pytest.mark.parametrize("jump", [-YEAR, YEAR])
def test_a_clock_that_jumps_in_mid_run_changes_nothing(tmp_path: Path, whole: dict[Any, Any], jump: float) -> None:
    """Within a run the time of day follows the monotonic clock, whatever the machine's clock does (R-4.3)."""

    class Jumping(FakeClock):
        def now(self) -> float:
            return super().now() + (jump if self.monotonic() > 5 else 0.0)

    store, clock = tmp_path / "s.db", Jumping()
    crawl(FakeWeb(reply, clock), made_settings(store, SETTINGS), clock)
    assert told(store) == whole


# -- others ----------------------------------------------------------------------------------------


def test_who_reads_beside_the_writer_sees_whole_batches(tmp_path: Path) -> None:
    """A reader opened while a crawl writes sees a committed state, and holds nobody up (R-4.4)."""
    store = tmp_path / "s.db"
    seen = []

    def watched(request: Request) -> Any:
        if request.url == f"{HOME}3":
            reader = SqliteDatabase.reader(str(store))
            (run,) = Reader(reader).runs()
            seen.append((Reader(reader).entry_count(run), run.counters.get("admitted", 0)))
            reader.close()
            assert check(str(store), NOW).is_held
        return reply(request)

    result = crawl(FakeWeb(watched), made_settings(store, SETTINGS))
    assert result.books_balanced
    assert seen
    assert all(rows == counted for rows, counted in seen)


def test_a_deleted_lock_file_lets_no_two_writers_mix(tmp_path: Path, whole: dict[Any, Any]) -> None:
    """When the lock is deleted and another process takes the store over, the first writes nothing more and says so (R-4.3)."""
    store = tmp_path / "s.db"
    taken: list[SqliteDatabase] = []

    def stolen(request: Request) -> Any:
        if request.url == f"{HOME}5" and not taken:
            Path(f"{store}.lock").unlink()
            taken.append(SqliteDatabase.writer(str(store)))
        return reply(request)

    with pytest.raises(StoreBusy, match=r"another process has taken it over.*\.lock"):
        crawl(FakeWeb(stolen), made_settings(store, SETTINGS))
    taken[0].close()
    assert resumed(store) == whole


FORKED: Final = """
import os, sys
from purlieu.errors import StoreError
from purlieu.store.sqlite import SqliteDatabase
database = SqliteDatabase.writer(sys.argv[1])
told, telling = os.pipe()
wait, go = os.pipe()
if os.fork() == 0:
    try:
        with database.transaction():
            os.write(telling, b"wrote")
    except StoreError as error:
        os.write(telling, str(error).encode())
    os.read(wait, 1)
    os._exit(0)
print(os.read(told, 1000).decode())
with database.transaction():
    pass
database.close()
SqliteDatabase.writer(sys.argv[1]).close()
print("free")
os.write(go, b"x")
"""


def test_a_forked_child_neither_writes_nor_holds_the_lock(tmp_path: Path) -> None:
    """A child of a fork is told to open the store itself, and the lock is free when the parent leaves it (R-4.3)."""
    command = [sys.executable, "-c", FORKED, str(tmp_path / "s.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "before this process was forked; open it in the new process" in done.stdout
    assert done.stdout.endswith("free\n")


def test_a_store_without_content_is_told(tmp_path: Path) -> None:
    """A store whose first write was cut off says that there is nothing in it yet (R-1.7)."""
    store = tmp_path / "s.db"
    store.touch()
    with pytest.raises(SchemaMismatch, match="holds nothing yet"):
        SqliteDatabase.reader(str(store))


# -- memory ----------------------------------------------------------------------------------------


def test_a_run_without_memory_is_stopped_by_the_system(tmp_path: Path, whole: dict[Any, Any]) -> None:
    """Memory that gives out ends the run as failed with a remedy, not one page as crashed, and ``--resume`` goes on (R-8.1)."""

    def out_of_memory(request: Request) -> Any:
        if request.url == f"{HOME}5":
            raise MemoryError
        return reply(request)

    store = tmp_path / "s.db"
    with pytest.raises(OutOfMemory, match="ask fewer hosts at once"):
        crawl(FakeWeb(out_of_memory), made_settings(store, SETTINGS))
    reader = Reader(SqliteDatabase.reader(str(store)))
    run = reader.latest()
    assert run is not None
    assert (run.state, run.stop_reason) == ("failed", "system:memory")
    assert check(str(store), NOW).is_sound
    assert resumed(store) == whole


def test_a_filter_without_memory_stops_the_run(tmp_path: Path) -> None:
    """The owner's callable may refuse a page; that the machine has no memory is no refusal (R-3.4, R-8.1)."""

    def accept(href: str) -> bool:
        if href == f"{HOME}5":
            raise MemoryError
        return True

    async def main() -> None:
        settings = made_settings(tmp_path / "s.db", SETTINGS)
        async with Crawl(settings, fetcher=FakeWeb(reply), clock=FakeClock(), accept=accept) as run:
            await run.run()

    with pytest.raises(OutOfMemory):
        asyncio.run(main())
