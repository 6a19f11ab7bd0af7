"""``Crawl(extract=...)``: what the owner's function takes out of pages, and what becomes of one that fails (issue 8)."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.crawling import HOME, html, made_settings
from tests.plainly import QUICK, many

import purlieu
from purlieu import report
from purlieu.crawl import extracting
from purlieu.crawl.local import Crawl
from purlieu.errors import SettingsError
from purlieu.extraction import MOST_BYTES, PageFacts, checked
from purlieu.report.pruning import prune
from purlieu.response import Request
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing import FakeClock, FakeWeb, MadeServer, MadeWeb
from purlieu.testing.clock import START
from purlieu.testing.web import Made, answer, redirect

ROOT = Path(__file__).resolve().parents[2]
PATHS = [str(ROOT / "src"), str(ROOT)]
PAGES: dict[str, Any] = {
    HOME: html("/a", "/b", "/gone", "/moved", "/empty", "/paper.pdf", title="Home"),
    f"{HOME}a": answer("<title>Ä</title>".encode("latin-1"), headers={"Content-Type": "text/html; charset=latin-1"}),
    f"{HOME}b": html(title="B"),
    f"{HOME}moved": redirect("/a"),
    f"{HOME}empty": "",
    f"{HOME}paper.pdf": b"%PDF-1.7",
}


def taken(facts: PageFacts, body: bytes, content_type: str) -> dict[str, Any]:
    """Return something of everything that is given."""
    return {
        "title": facts.title,
        "characters": len(facts.text(body)),
        "bytes": len(body),
        "links": [link.url for link in facts.links][:2],
        "type": content_type,
    }


def crawled(
    store: Path, extract: Callable[..., Any], web: FakeWeb | None = None, clock: FakeClock | None = None, **tree: Any
) -> list[dict[str, Any]]:
    """Crawl with a function and return the rows of the visits; the books must balance."""
    made, clock = made_settings(store, {"fetch": {"classes": ["HTML", "PDF"]}, **tree}), clock or FakeClock()
    given = purlieu.batches(made, 10, extract=extract, fetcher=web or FakeWeb(PAGES), clock=clock)
    rows = [row for rows in given for row in rows]
    assert given.result["books_balanced"], given.result["faults"]
    return rows


def of_ledger(store: Path, run: int = 1) -> dict[str, Any]:
    """Return what the ledger has of each page, from JSON lines; Parquet and CSV say the same."""
    folder = store.parent / f"out{run}"
    lines, parquet, _ = report.write(str(store), run, folder, ["jsonl", "parquet", "csv"])
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    pages = {row["url"]: row["extracted"] for row in rows if row["purpose"] == "page"}
    texts = [row["extracted"] for row in pq.read_table(parquet).to_pylist()]
    assert [text and json.loads(text) for text in texts] == [row["extracted"] for row in rows]
    return pages


def findings(store: Path, run: int = 1) -> dict[str, Mapping[str, Any]]:
    """Return what was told of a failing function, by what went wrong."""
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    row = reader.run(run)
    assert row is not None
    told = {one.subject: one.arguments for one in reader.findings(row) if one.code == "extract_failed"}
    database.close()
    return told


def test_what_is_taken_out_of_a_page_is_in_stream_and_ledger(tmp_path: Path) -> None:
    """Each page that was fetched with a body has one record; nothing else has any, neither redirects nor robots.txt."""
    rows = crawled(tmp_path / "s.db", taken)
    kept = of_ledger(tmp_path / "s.db")
    assert kept[f"{HOME}a"] == {
        "title": "Ä", "characters": 16, "bytes": 16, "links": [], "type": "text/html; charset=latin-1",
    }  # fmt: skip
    assert kept[HOME]["links"] == [f"{HOME}a", f"{HOME}b"]
    assert (kept[f"{HOME}paper.pdf"]["title"], kept[f"{HOME}paper.pdf"]["bytes"]) == (None, 8)
    assert {url for url, record in kept.items() if record} == {HOME, f"{HOME}a", f"{HOME}b", f"{HOME}paper.pdf"}
    assert {row["url"]: row["extracted"] for row in rows if row["purpose"] == "page"} == kept
    assert findings(tmp_path / "s.db") == {}


def test_without_a_function_nothing_is_loaded_and_nothing_is_kept(tmp_path: Path) -> None:
    """Who does not ask pays nothing: neither module nor thread (R-9.2)."""
    script = (
        "import sys, threading; sys.path[:0] = sys.argv[2:]\n"
        "from pathlib import Path; from tests.plainly import by_call\n"
        "by_call(sys.argv[1])\n"
        "assert not {'purlieu.crawl.extracting', 'purlieu.extraction'} & sys.modules.keys()\n"
        "assert threading.active_count() == 1\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "s.db"), *PATHS], check=True, timeout=60)
    assert set(of_ledger(tmp_path / "s.db").values()) == {None}


def test_a_function_that_fails_is_told_and_ends_nothing(tmp_path: Path) -> None:
    """What raises or gives nonsense is a finding for each sort, with a count and the first page; the crawl goes on."""

    def wrong(facts: PageFacts, _body: bytes, _type: str) -> Any:
        kind = facts.url.removeprefix(HOME)
        if kind == "list":
            return ["no mapping"]
        if kind == "exit":
            sys.exit("for good")
        if kind == "key":
            return dict[str, str]()["x\ny"]
        circle: dict[str, Any] = {}
        circle["circle"] = circle
        return {
            "": None, "fine": {"words": ["NaN", "∞"]}, "set": {"set": {1}}, "nan": {"n": float("nan")}, "circle": circle,
            "large": {"text": "x" * MOST_BYTES}, "half": {"text": "\ud800"}, "none": None,
        }[kind]  # fmt: skip

    kinds = ["fine", "list", "exit", "key", "set", "nan", "circle", "large", "half", "none"]
    web = FakeWeb({HOME: html(*[f"/{kind}" for kind in kinds]), **{f"{HOME}{kind}": html() for kind in kinds}})
    crawled(tmp_path / "s.db", wrong, web)
    kept = of_ledger(tmp_path / "s.db")
    assert {url: record for url, record in kept.items() if record} == {f"{HOME}fine": {"words": ["NaN", "∞"]}}
    told = findings(tmp_path / "s.db")
    assert {what: one["count"] for what, one in told.items()} == {
        "no-mapping": 1, "SystemExit": 1, "KeyError": 1, "no-json": 4, "too-large": 1,
    }  # fmt: skip
    assert (told["KeyError"]["url"], told["KeyError"]["detail"]) == (f"{HOME}key", "'x\\ny'")
    assert "purlieu-extract" not in {thread.name for thread in threading.enumerate() if thread.is_alive()} or settled()


class _Speechless(Exception):
    """An error of the owner's that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError


def test_an_error_that_cannot_be_written_is_told_by_its_name(tmp_path: Path) -> None:
    """Where the text of the owner's exception raises in its turn, the page has the exception's name, and the thread lives."""

    def wrong(_facts: PageFacts, _body: bytes, _type: str) -> Any:
        raise _Speechless

    crawled(tmp_path / "s.db", wrong, FakeWeb({HOME: html()}))
    assert [(what, one["detail"]) for what, one in findings(tmp_path / "s.db").items()] == [("_Speechless", "")]


def settled() -> bool:
    """Wait for threads that were told to end."""
    for thread in threading.enumerate():
        if thread.name == "purlieu-extract":
            thread.join(10)
    return not any(thread.name == "purlieu-extract" for thread in threading.enumerate())


def test_a_function_that_hangs_is_given_up_for_that_page(tmp_path: Path) -> None:
    """A page has its time; then the next has its turn, and a loop without end is ended."""

    def hangs(facts: PageFacts, _body: bytes, _type: str) -> dict[str, str]:
        while facts.url.endswith("/hang"):
            pass
        return {"url": facts.url}

    web = FakeWeb({HOME: html("/hang", "/next"), f"{HOME}hang": html(), f"{HOME}next": html()})
    given = purlieu.run(
        made_settings(tmp_path / "s.db"), extract=hangs, extract_seconds=0.2, fetcher=web, clock=FakeClock()
    )
    assert given["books_balanced"]
    kept = of_ledger(tmp_path / "s.db")
    assert (kept[f"{HOME}hang"], kept[f"{HOME}next"]) == (None, {"url": f"{HOME}next"})
    assert findings(tmp_path / "s.db")["too-slow"]["url"] == f"{HOME}hang"
    assert settled()


def test_a_function_that_never_comes_back_is_called_no_more(tmp_path: Path) -> None:
    """With so many calls that cannot be ended no more are made: pages are told as too slow at once, and all are fetched."""
    release, calls = threading.Event(), []

    def waits(facts: PageFacts, _body: bytes, _type: str) -> None:
        calls.append(facts.url)
        release.wait()

    pages = [f"{HOME}{n}" for n in range(extracting.MOST_HUNG + 4)]
    web = FakeWeb({HOME: html(*pages), **dict.fromkeys(pages, html())})
    given = purlieu.run(
        made_settings(tmp_path / "s.db"), extract=waits, extract_seconds=0.02, fetcher=web, clock=FakeClock()
    )
    release.set()
    assert given["books_balanced"]
    assert len(calls) == extracting.MOST_HUNG
    assert findings(tmp_path / "s.db")["too-slow"]["count"] == len(pages) + 1
    assert settled()


def test_a_revisit_keeps_the_record_of_what_has_not_changed(tmp_path: Path) -> None:
    """304 and what is not asked for keep the former record, changed pages get a new one, each run its own (R-2.4)."""
    store, changed = tmp_path / "s.db", [""]

    def page(request: Request) -> Made:
        tag = f'"{changed[0] if request.url.endswith("/b") else ""}"'
        if dict(request.headers).get("If-None-Match") == tag:
            return answer(status=304)
        body = html("/a", "/b", body=changed[0] if request.url.endswith("/b") else "same")
        return answer(body, headers={"ETag": tag, "Content-Type": "text/html"})

    calls: list[str] = []

    def numbered(facts: PageFacts, _body: bytes, _type: str) -> dict[str, int]:
        calls.append(facts.url)
        return {"call": len(calls)}

    for number, text in enumerate(["one", "two"], 1):
        changed[0] = text
        web = FakeWeb({HOME: page, f"{HOME}a": page, f"{HOME}b": page})
        clock = FakeClock(START + number * 86_400 * 30)
        crawled(store, numbered, web, clock, revisit=True)
    first, second = of_ledger(store, 1), of_ledger(store, 2)
    assert sorted(record["call"] for record in first.values()) == [1, 2, 3]
    assert calls[3:] == [f"{HOME}b"]
    assert second == {**first, f"{HOME}b": {"call": 4}}
    prune(str(store), START, keep=1)  # what a later run takes over stays (R-8.4)
    crawled(store, numbered, web, FakeClock(START + 90 * 86_400), revisit=True)
    assert len(calls) == 4
    assert of_ledger(store, 3) == second


KILLED = """
import os, signal, sys; sys.path[:0] = sys.argv[2:]
from pathlib import Path
import purlieu
from purlieu.testing import FakeClock
from tests.crawling import made_settings
from tests.plainly import QUICK, many

calls = 0

def extract(facts, body, content_type):
    global calls
    calls += 1
    if calls == 200:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"url": facts.url}

purlieu.run(made_settings(Path(sys.argv[1]), QUICK), extract=extract, fetcher=many(300), clock=FakeClock())
"""


def test_a_run_that_was_killed_has_one_record_a_page_when_it_is_resumed(tmp_path: Path) -> None:
    """Killed inside the function and resumed, each page that was fetched has exactly one record (R-8.1)."""
    store = tmp_path / "s.db"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(store), *PATHS], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    rest = purlieu.run(made_settings(store, QUICK), resume=True, extract=address, fetcher=many(300), clock=FakeClock())
    assert (rest["run"], rest["state"], rest["books_balanced"]) == (1, "done", True)
    kept = of_ledger(store)
    assert len(kept) == 301
    assert kept == {url: {"url": url} for url in kept}


def address(facts: PageFacts, _body: bytes, _type: str) -> dict[str, str]:
    """Return the page's address."""
    return {"url": facts.url}


def test_other_processes_call_it_too(tmp_path: Path) -> None:
    """With several processes the records, and the count of what failed, are those of one."""
    told = []
    with MadeServer(MadeWeb(hosts=4, pages=60, seed=4, delay_seconds=0.02)) as server:
        for workers in (1, 2):
            store = tmp_path / f"{workers}.db"
            made = {
                "seeds": server.seeds, "store": str(store), "workers": workers, "formats": [],
                "politeness": {"delay": 0 if workers == 1 else 0.05},
            }  # fmt: skip
            purlieu.run(made, extract=some)
            told.append((of_ledger(store), {what: one["count"] for what, one in findings(store).items()}))
    assert told[0] == told[1]
    assert told[0][1].keys() == {"ValueError"}


def some(facts: PageFacts, body: bytes, _type: str) -> dict[str, Any]:
    """Return something of most pages, and fail on the others."""
    if len(body) % 5 == 0:
        message = "five"
        raise ValueError(message)
    return {"title": facts.title, "bytes": len(body)}


def test_a_function_that_no_other_process_can_import_is_told_with_the_remedy(tmp_path: Path) -> None:
    """With more than one worker it must stand in a module; by itself the crawl then stays with one process."""

    def inner(_facts: PageFacts, _body: bytes, _type: str) -> None:
        return None

    async def awaited(_facts: PageFacts, _body: bytes, _type: str) -> None:
        return None

    made = made_settings(tmp_path / "s.db", {"workers": 2})
    with pytest.raises(
        SettingsError, match=r'extract = ".*inner": with workers = 2 .*define it at the top of a module'
    ):
        Crawl(made, extract=inner)
    with pytest.raises(SettingsError, match="write a number above 0") as both:
        Crawl(made, extract=awaited, extract_seconds=0)  # type: ignore[arg-type]
    assert len(both.value.mistakes) == 3
    Crawl(made, extract=some)
    Crawl(made_settings(tmp_path / "s.db"), extract=inner)


def test_an_awaited_crawl_goes_on_while_a_function_works(tmp_path: Path) -> None:
    """The function works in a thread: other tasks of the loop run meanwhile."""
    seen = threading.Event()

    def waits(_facts: PageFacts, _body: bytes, _type: str) -> dict[str, bool]:
        return {"seen": seen.wait(20)}

    def goes_on() -> None:
        if any(thread.name == "purlieu-extract" for thread in threading.enumerate()):
            seen.set()
        else:
            asyncio.get_running_loop().call_later(0.001, goes_on)

    async def main() -> None:
        made = made_settings(tmp_path / "s.db")
        crawling = asyncio.create_task(
            purlieu.run_async(
                made, extract=waits, extract_seconds=30, fetcher=FakeWeb({HOME: html()}), clock=FakeClock()
            )
        )
        asyncio.get_running_loop().call_soon(goes_on)
        await crawling

    asyncio.run(main())
    assert of_ledger(tmp_path / "s.db")[HOME] == {"seen": True}


@pytest.mark.parametrize("given", [{1: "a", "b": (1, 2)}, {"deep": [[[]]]}, {}])
def test_what_is_kept_is_what_json_reads_back(given: dict[Any, Any]) -> None:
    """A record is what JSON makes of it: keys are texts, tuples lists."""
    made = checked(given)
    assert made.value == json.loads(json.dumps(given))
