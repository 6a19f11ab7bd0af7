"""A crawl by plain function call: rows while it runs, in whatever thread, under whose loop, stopped by whom (issue 8)."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, ledger, made_settings
from tests.plainly import QUICK, SITE, by_call, many

import purlieu
from purlieu import report, row
from purlieu.crawl.local import Crawl
from purlieu.errors import SettingsError
from purlieu.settings import Settings
from purlieu.testing import FakeClock, FakeWeb, MadeServer, MadeWeb

DONE = {"fetched.ok": 4, "fetched.empty": 1, "redirected.permanent": 1, "missing.not_found": 1, "excluded.robots": 1}


def pages_of(counts: dict[str, int]) -> dict[str, int]:
    """Return how pages ended, without what was refused at once."""
    return {name: count for name, count in counts.items() if name in DONE}


def test_a_row_says_what_the_ledger_says(tmp_path: Path) -> None:
    """Each ending is one row under the ledger's names and with its values; a value is of its type or None."""
    store = tmp_path / "s.db"

    async def main() -> list[dict[str, Any]]:
        async with Crawl(made_settings(store), fetcher=FakeWeb(SITE), clock=FakeClock()) as run:
            return [one async for some in run.batches(3) for one in some]

    rows = asyncio.run(main())
    table = report.table(str(store), 1).to_pylist()
    told = {(one["purpose"], one["url"]): one for one in table}
    assert len({(one["purpose"], one["url"]) for one in rows}) == len(rows) == len(table) - 1  # and other.test
    for one in rows:
        assert list(one) == [*row.TYPES, "extracted"]
        assert [name for name, kind in row.TYPES.items() if one[name] is not None and type(one[name]) is not kind] == []
        known = {name: told[one["purpose"], one["url"]][name] for name in one}
        known["via"], known["depth"], known["ended_at"] = one["via"], one["depth"], one["ended_at"]
        assert one == known


def test_rows_become_frames_and_a_ledger_too(tmp_path: Path) -> None:
    """Polars and pandas take a batch with the types of a row, whatever it lacks, and a whole ledger as an Arrow table."""
    import pandas as pd
    import polars as pl

    store, parts, counted = tmp_path / "s.db", [], 0
    with purlieu.batches(made_settings(store), 2, fetcher=FakeWeb(SITE), clock=FakeClock()) as given:
        for rows in given:
            parts.append(pl.DataFrame(rows, schema=row.TYPES))
            frame = pd.DataFrame(rows, columns=list(row.TYPES)).convert_dtypes()
            counted += int((frame["kind"] == "fetched").sum())
    whole = pl.concat(parts)
    assert whole.schema["status"] == pl.Int64
    assert whole.schema["indexable"] == pl.Boolean
    pages = whole.filter(pl.col("purpose") == "page")
    assert counted == whole.filter(pl.col("kind") == "fetched").height
    (path,) = report.write(str(store), 1, tmp_path, ["parquet"])
    direct = pl.from_arrow(report.table(str(store), 1))
    assert isinstance(direct, pl.DataFrame)
    assert direct.equals(pl.read_parquet(path))
    assert report.table(str(store), 1).to_pandas().equals(pd.read_parquet(path))
    assert set(pages["url"]) == set(direct.filter(pl.col("purpose") == "page")["url"]) - {"http://other.test/"}


def test_a_batch_that_is_not_taken_holds_the_crawl(tmp_path: Path) -> None:
    """However long the crawl, no more than the outbox holds is ahead of who reads: memory is bounded."""
    web, taken, ahead = many(1_800), 0, 0
    for rows in purlieu.batches(made_settings(tmp_path / "s.db", QUICK), 100, fetcher=web, clock=FakeClock()):
        taken += len(rows)
        ahead = max(ahead, len(web.asked) - taken)
    assert taken == 1_802
    assert ahead <= 1_000 + 2 * 64 + 32


def test_who_stops_reading_stops_the_crawl(tmp_path: Path) -> None:
    """An iterator that is closed ends the run as stopped; a later call goes on with it, and nothing is asked for twice."""
    web, settings = many(1_500), made_settings(tmp_path / "s.db", QUICK)
    with purlieu.batches(settings, 10, fetcher=web, clock=FakeClock()) as given:
        assert len(next(given)) == 10
    assert given.result["state"] == "stopped"
    assert list(given) == []
    rest = purlieu.run(settings, resume=True, fetcher=web, clock=FakeClock())
    assert (rest["state"], rest["books_balanced"], rest["good"]) == ("done", True, 1_501)
    assert len(web.urls) == len(set(web.urls))


def test_what_goes_wrong_is_raised_where_it_was_asked_for(tmp_path: Path) -> None:
    """Mistakes of the owner are raised at the call, and no thread is left; so are those found when the crawl begins."""
    with pytest.raises(SettingsError):
        purlieu.batches('seeds = ["no address"]')
    wrong = {"seeds": [HOME], "store": str(tmp_path / "s.db"), "origin": [{"origin": HOME, "token": "env:NOT_THERE_X"}]}
    with pytest.raises(SettingsError):
        next(purlieu.batches(wrong))
    with pytest.raises(SettingsError):
        purlieu.run(wrong)
    assert "purlieu" not in {thread.name for thread in threading.enumerate()}


def in_a_thread(store: str) -> dict[str, Any]:
    """Crawl off the main thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(by_call, store).result()


def under_a_loop(store: str) -> dict[str, Any]:
    """Crawl where a loop is running already, as in a cell of a notebook."""

    async def cell() -> dict[str, Any]:
        return by_call(store)

    return asyncio.run(cell())


def awaited(store: str) -> dict[str, Any]:
    """Crawl on the loop that is running, which goes on meanwhile."""

    async def cell() -> dict[str, Any]:
        made = made_settings(Path(store))
        return await purlieu.run_async(made, fetcher=FakeWeb(SITE), clock=FakeClock())

    return asyncio.run(cell())


def in_another_process(store: str) -> dict[str, Any]:
    """Crawl in a process that was started afresh, as executors of schedulers do."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(by_call, (store,))


@pytest.mark.parametrize("how", [by_call, in_a_thread, under_a_loop, awaited, in_another_process])
def test_a_plain_call_works_wherever_it_is_made(how: Any, tmp_path: Path) -> None:
    """In any thread, process or running loop the call gives the same small summary, and leaves signals as they were."""
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    told = how(str(tmp_path / "s.db"))
    assert pages_of(told["counts"]) == DONE
    assert (told["run"], told["state"], told["books_balanced"], told["faults"]) == (1, "done", True, [])
    assert json.loads(json.dumps(told)) == told
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == handlers


def test_settings_may_be_a_text_or_tables(tmp_path: Path) -> None:
    """What a scheduler can hand on is taken: TOML, or the same tables as a mapping; several processes may work at it."""
    with MadeServer(MadeWeb(hosts=3, pages=40, seed=3, delay_seconds=0.01)) as server:
        shared = {"seeds": server.seeds, "workers": 2, "formats": []}
        tables = {**shared, "store": str(tmp_path / "1.db"), "politeness": {"delay": 0.02}}
        of_tables = in_thread_of(lambda: purlieu.run(tables))
        text = f"store = '{tmp_path / '2.db'}'\nworkers = 1\nformats = []\nseeds = {json.dumps(server.seeds)}\n"
        of_text = purlieu.run(text)
    assert of_tables["counts"] == of_text["counts"]
    assert of_tables["good"] >= 120
    assert of_text["store"] == str(tmp_path / "2.db")


def in_thread_of(work: Any) -> Any:
    """Return what a call gives in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


SCRIPT = """
import asyncio, os, signal, sys
import purlieu
from tests.plainly import QUICK, many
from tests.crawling import made_settings
from purlieu.testing import FakeClock
from pathlib import Path

store, how = Path(sys.argv[1]), sys.argv[2]
asked = 0

def accept(url):
    global asked
    asked += 1
    if asked == 800:
        os.kill(os.getpid(), signal.SIGINT)
    return True

def work(**options):
    return purlieu.run(made_settings(store, QUICK), fetcher=many(1500), clock=FakeClock(), **options)

async def cell():
    work(accept=accept)

if how == "left":
    left = purlieu.batches(made_settings(store, QUICK), 10, fetcher=many(1500), clock=FakeClock())
    next(left)
    sys.exit(0)
try:
    asyncio.new_event_loop().run_until_complete(cell()) if how == "loop" else work(accept=accept)  # as a kernel does
except KeyboardInterrupt:
    sys.exit(3)
"""


@pytest.mark.parametrize(("how", "status"), [("plain", 3), ("loop", 3), ("left", 0)])
def test_an_interrupt_or_the_end_of_the_program_stops_the_crawl_cleanly(how: str, status: int, tmp_path: Path) -> None:
    """Ctrl-C under a call, and a program that ends with its rows half read, leave a run that is stopped, not killed."""
    store = tmp_path / "s.db"
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(store), how], env=environment, timeout=120, capture_output=True, check=False
    )
    assert ended.returncode == status, ended.stderr.decode()
    rows = ledger(store)
    assert rows
    result = crawl(many(1_500), made_settings(store, QUICK), resume=True)  # which a run that is done would refuse
    assert (result.run, result.state, result.good, result.books_balanced) == (1, "done", 1_501, True)


def test_a_notebook_crawls_by_call_and_by_await(tmp_path: Path) -> None:
    """In a real kernel, whose loop runs while a cell does, a plain call works, and so does an awaited one."""
    import nbformat
    from nbclient import NotebookClient

    with MadeServer(MadeWeb(pages=12, seed=5)) as server:
        wanted = {"seeds": server.seeds, "store": str(tmp_path / "n.db"), "formats": []}
        cells = [
            f"import purlieu\nwanted = {wanted!r}",
            "print(purlieu.run(wanted)['state'])",
            "print((await purlieu.run_async(wanted))['run'])",
            "print(sum(len(rows) for rows in purlieu.batches(wanted, 5)) > 12)",
        ]
        book = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))  # type: ignore[no-untyped-call]
        NotebookClient(book, timeout=120, kernel_name="python3").execute()
    said = ["".join(one.get("text", "") for one in cell.outputs).strip() for cell in book.cells]
    assert said == ["", "done", "2", "True"]


def test_settings_that_are_made_may_be_given_as_they_are() -> None:
    """What is wrong in settings that were put together is told at the call, as for a text."""
    with pytest.raises(SettingsError):
        purlieu.run(Settings(seeds=("no address",)))
