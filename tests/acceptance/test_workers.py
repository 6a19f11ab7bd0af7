"""Several processes at one run: the ledger, books and politeness of one, whoever dies meanwhile (R-4.4, R-8.1)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import ledger
from tests.failing_disk import FailingDisk
from warcio.archiveiterator import ArchiveIterator

from purlieu import settings as settings_text
from purlieu.archive import cdxj
from purlieu.crawl.local import Crawl
from purlieu.crawl.result import Result
from purlieu.errors import ArchiveFull, StoreError
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.made import Errors, MadeServer, MadeWeb, Sitemaps

HOSTS, PAGES = 5, 80
PATIENCE_SECONDS = 60.0
RETRIES = {"connections": 2, "retries": 0, "max_backoff_seconds": 0}


@pytest.fixture(scope="module")
def server() -> Iterator[MadeServer]:
    """Serve some of everything that ends differently, on several hosts, each of which links to the others."""
    web = MadeWeb(
        hosts=HOSTS,
        pages=PAGES,
        seed=11,
        links=12,
        cross_links=2,
        page_bytes=(800, 2_400),
        delay_seconds=0.02,
        extras=True,
        errors=Errors(redirects=0.08, missing=0.06, failing=0.03),
        sitemaps=Sitemaps(per_file=40),
    )
    with MadeServer(web) as made:
        yield made


def crawl(
    server: MadeServer,
    store: Path,
    workers: int | str,
    meanwhile: Callable[[Crawl], object] = lambda _: None,
    *,
    resume: bool = False,
    **tree: Any,
) -> Result:
    """Crawl every host with so many processes; ``meanwhile`` is called ever again while it runs."""
    made = settings_text.of(
        {
            "name": "w",
            "seeds": server.seeds,
            "store": str(store),
            "output": str(store.parent / "out"),
            "formats": [],
            "workers": workers,
            # Slowly enough that other processes are there before all is done, whatever else the machine does.
            "politeness": {"delay": 0 if workers == 1 else 0.05, **RETRIES},
            **tree,
        }
    )

    async def main() -> Result:
        async with Crawl(made, resume=resume) as run:
            working = asyncio.ensure_future(run.run())
            while not working.done():
                meanwhile(run)
                await asyncio.wait([working], timeout=0.01)
            await working
        return run.result

    return asyncio.run(main())


def processes_of(run: Crawl) -> list[int]:
    """Return the ids of the other processes of a run that are at work."""
    team = run._team
    assert team is not None
    return team.processes


class Most:
    """Notes how many other processes a run has had at a time, and which."""

    def __init__(self) -> None:
        """Begin with none."""
        self.at_once = 0
        self.seen: set[int] = set()

    def __call__(self, run: Crawl) -> None:
        """Look."""
        now = processes_of(run)
        self.at_once = max(self.at_once, len(now))
        self.seen.update(now)


def alive(process: int) -> bool:
    """Return whether a process is there."""
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


@pytest.mark.parametrize("workers", [2, 3])
def test_the_ledger_is_that_of_one(server: MadeServer, tmp_path: Path, workers: int) -> None:
    """With several processes each row of the ledger is that of one, the books balance, nothing is asked for twice (R-2.1)."""
    alone = crawl(server, tmp_path / "one.db", 1)
    first, most = len(server.log), Most()
    together = crawl(server, tmp_path / "many.db", workers, most)
    assert most.at_once == workers
    assert ledger(tmp_path / "many.db") == ledger(tmp_path / "one.db")
    assert (together.state, together.books_balanced, together.counts) == ("done", True, alone.counts)
    asked = Counter((one.host, one.path) for one in server.log[first:])
    assert [key for key, count in asked.items() if count > 1] == []
    assert not any(alive(process) for process in most.seen)


def test_one_host_has_one_process(server: MadeServer, tmp_path: Path) -> None:
    """A crawl of one host, and one of few pages, is left to one process: nothing is started for it."""
    most = Most()
    few: dict[str, Any] = {"limits": {"max_depth": 0}, "sitemap": {"use": False}}
    for number, tree in enumerate([{"seeds": server.seeds[:1]}, few]):
        crawl(server, tmp_path / f"{number}.db", 3, most, **tree)
    assert most.at_once == 0


def test_a_killed_process_loses_nothing(server: MadeServer, tmp_path: Path) -> None:
    """``kill -9`` for one process: others take over, the ledger is the same, and a finding says so (R-4.3)."""
    crawl(server, tmp_path / "one.db", 1)
    killed: list[int] = []

    def kill(run: Crawl) -> None:
        there = processes_of(run)
        others = [one for one in there if one not in killed]
        if len(killed) < 2 and len(others) == 2 and run.progress().ended > 60 * (1 + len(killed)):
            killed.append(others[0])
            os.kill(others[0], signal.SIGKILL)

    result = crawl(server, tmp_path / "two.db", 2, kill)
    assert len(killed) == 2
    assert (result.state, result.books_balanced) == ("done", True)
    assert ledger(tmp_path / "two.db") == ledger(tmp_path / "one.db")
    assert len(found(tmp_path / "two.db", "worker_lost")) == 2


def found(store: Path, code: str) -> list[str]:
    """Return what findings of a code are about."""
    database = SqliteDatabase.reader(str(store))
    try:
        reader = Reader(database)
        run = reader.run(1)
        assert run is not None
        return [one.subject for one in reader.findings(run) if one.code == code]
    finally:
        database.close()


def test_the_others_end_with_the_process_that_writes(server: MadeServer, tmp_path: Path) -> None:
    """``kill -9`` for the process that has the store: the others end by themselves, and a resume ends as if nothing was (R-8.1)."""
    crawl(server, tmp_path / "one.db", 1)
    words = [sys.executable, "-m", "purlieu", "crawl", *server.seeds, "--name", "w", "--workers", "2"]
    words += [
        "--store",
        str(tmp_path / "two.db"),
        "--output",
        str(tmp_path / "out"),
        "--connections",
        "2",
        "--delay",
        "50 ms",
        "-q",
    ]
    (tmp_path / "w.toml").write_text("formats = []\n[politeness]\nretries = 0\nmax_backoff_seconds = 0\n")
    words += ["-c", str(tmp_path / "w.toml")]
    parent = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    others: list[int] = []
    until = time.monotonic() + PATIENCE_SECONDS
    first = len(server.log)
    while len(others) < 2 or len(server.log) - first < HOSTS * PAGES // 2:
        assert time.monotonic() < until
        assert parent.poll() is None
        others = children_of(parent.pid)
        time.sleep(0.002)
    parent.kill()
    parent.wait()
    while any(map(alive, others)):
        assert time.monotonic() < until
        time.sleep(0.01)
    subprocess.run([*words, "--resume"], stdout=subprocess.DEVNULL, timeout=PATIENCE_SECONDS, check=True)
    assert ledger(tmp_path / "two.db") == ledger(tmp_path / "one.db")


def children_of(process: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()]


def test_a_stop_lets_what_is_under_way_end(server: MadeServer, tmp_path: Path) -> None:
    """A stop reaches every process: what was asked for is written, the others end, and a resume asks for the rest alone."""
    first, most = len(server.log), Most()

    def stop(run: Crawl) -> None:
        most(run)
        if most.at_once == 2 and run.progress().ended > 100:
            run.stop()

    result = crawl(server, tmp_path / "w.db", 2, stop)
    assert (result.state, result.stop_reason, result.books_balanced) == ("stopped", "interrupted", True)
    assert not any(alive(process) for process in most.seen)
    asked = len(server.log) - first
    assert sum(row["attempts"] for row in ledger(tmp_path / "w.db").values()) == asked < HOSTS * PAGES


def test_a_limit_counts_the_pages_of_all(server: MadeServer, tmp_path: Path) -> None:
    """A limit of pages is one for all processes together, and exact (R-8.1)."""
    most = Most()
    result = crawl(server, tmp_path / "w.db", 2, most, limits={"max_pages": 170})
    assert most.at_once == 2
    assert (result.state, result.stop_reason) == ("done", "limit:pages")
    asked = [row for (purpose, _), row in ledger(tmp_path / "w.db").items() if purpose == "page" and row["attempts"]]
    assert len(asked) == 170


def test_no_two_processes_ask_one_host_at_a_time(server: MadeServer, tmp_path: Path) -> None:
    """The server sees each host asked as slowly by several processes as by one: never faster than the pace (R-4.1, R-4.6)."""
    first = len(server.log)
    hosts = [{"name": seed.split("/")[2].partition(":")[0], "delay": 0.05, "connections": 1} for seed in server.seeds]
    politeness = {**RETRIES, "connections": 1, "delay": 0.05}
    most = Most()
    crawl(server, tmp_path / "w.db", 2, most, politeness=politeness, host=hosts)
    assert most.at_once == 2
    at: dict[str, list[float]] = defaultdict(list)
    for one in server.log[first:]:
        at[one.host].append(one.at)
    gaps = [after - before for times in at.values() for before, after in pairwise(times)]
    assert len(gaps) > HOSTS * PAGES / 2
    assert min(gaps) > 0
    assert sum(gap < 0.03 for gap in gaps) < len(gaps) / 20


def test_what_a_seed_opens_is_open_to_all(server: MadeServer, tmp_path: Path) -> None:
    """Hosts that only a link leads to are asked by every process, though a private address is open by the seed alone (R-5.1)."""
    tree: dict[str, Any] = {
        "seeds": server.seeds[:1],
        "scope": {"mode": "any"},
        "filter": {"exclude": ["http://elsewhere.test/"]},
    }
    most = Most()
    crawl(server, tmp_path / "one.db", 1, **tree)
    crawl(server, tmp_path / "two.db", 2, most, **tree)
    assert most.at_once == 2
    assert ledger(tmp_path / "two.db") == ledger(tmp_path / "one.db")
    asked = {row["url"].split("/")[2] for row in ledger(tmp_path / "two.db").values() if row["kind"] == "fetched"}
    assert len(asked) == HOSTS


def test_processes_that_cannot_start_stop_nothing(
    server: MadeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every other process crashes at its start, the first one does all the work, and the run says so (R-4.4)."""
    crawl(server, tmp_path / "one.db", 1)
    monkeypatch.setenv("PYTHONHASHSEED", "none")  # an interpreter ends at once by that
    result = crawl(server, tmp_path / "two.db", 2)
    assert (result.state, result.books_balanced) == ("done", True)
    assert ledger(tmp_path / "two.db") == ledger(tmp_path / "one.db")
    assert 1 <= len(found(tmp_path / "two.db", "worker_lost")) <= 4


def test_a_full_disk_ends_all(server: MadeServer, tmp_path: Path) -> None:
    """A disk that is full for the process that writes ends the run and every other process; a resume has it all (R-8.1)."""
    crawl(server, tmp_path / "one.db", 1)
    most = Most()
    with FailingDisk(10**9) as disk:

        def fill(run: Crawl) -> None:
            most(run)
            if most.at_once == 2:
                disk.left = 0

        with pytest.raises(StoreError):
            crawl(server, tmp_path / "two.db", 2, fill)
        assert disk.failed
    assert not any(alive(process) for process in most.seen)
    result = crawl(server, tmp_path / "two.db", 2, resume=True)
    assert (result.state, result.books_balanced) == ("done", True)
    assert ledger(tmp_path / "two.db") == ledger(tmp_path / "one.db")


def archived(folder: Path) -> list[str]:
    """Return the addresses of the answers in a folder's WARC files, whose digests hold, each found by the index."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                if record.rec_type in {"response", "revisit"}:
                    found.append(record.rec_headers.get_header("WARC-Target-URI"))
                    assert path.name in {one.filename for one in cdxj.find(folder / "index.cdxj", found[-1])}
                record.raw_stream.read()
    return found


def fetched(store: Path) -> set[str]:
    """Return the pages of a run that were fetched."""
    return {url for (purpose, url), row in ledger(store).items() if (purpose, row["kind"]) == ("page", "fetched")}


def test_each_process_keeps_what_it_fetches(server: MadeServer, tmp_path: Path) -> None:
    """``keep = "body"``: what any process fetched is in the archive, of one that was killed too, and one index has it all."""
    store, killed, most = tmp_path / "many.db", list[int](), Most()

    def kill(run: Crawl) -> None:
        most(run)
        there = processes_of(run)
        if not killed and len(there) == 2 and run.progress().ended > 100:
            killed.append(there[0])
            os.kill(there[0], signal.SIGKILL)

    result = crawl(server, store, 2, kill, keep="body")
    assert (result.state, len(killed), most.at_once) == ("done", 1, 2)
    folder = result.folder / "archive"
    assert fetched(store) <= set(archived(folder))
    assert len(list(folder.glob("*.warc.gz"))) >= 3
    assert list(folder.glob("*.open")) == []


def test_a_process_whose_archive_cannot_grow_ends_the_run(server: MadeServer, tmp_path: Path) -> None:
    """An archive that another process cannot write ends the run with the words for it (R-8.1); a resume has it all."""
    store, away = tmp_path / "many.db", tmp_path / "away"
    folder = tmp_path / "out" / "w" / "1" / "archive"
    most = Most()

    def block(run: Crawl) -> None:
        most(run)
        if not away.exists() and list(folder.glob("*.open")):  # that of the first process, which goes on with it
            folder.rename(away)
            folder.write_text("a file where the folder should be", encoding="utf-8")

    with pytest.raises(ArchiveFull, match=r"archive .*cannot be written .*--resume"):
        crawl(server, store, 2, block, keep="body")
    assert most.at_once, "no other process was there to fail"
    assert not any(alive(process) for process in most.seen)
    assert found(store, "worker_lost") == []
    folder.unlink()
    away.rename(folder)
    result = crawl(server, store, 2, resume=True, keep="body")
    assert (result.state, result.books_balanced) == ("done", True)
    assert fetched(store) <= set(archived(folder))
