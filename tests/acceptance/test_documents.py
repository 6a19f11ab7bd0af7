"""``documents.read``: PDF and Office text beside that of pages, and what becomes of hostile documents (issue 8)."""

from __future__ import annotations

import ast
import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from tests import papers
from tests.acceptance.test_content import written
from tests.crawling import HOME, crawl, endings, html, made_settings

from purlieu.crawl.clock import RealClock
from purlieu.crawl.documents import MOST_BAD, DocumentReader
from purlieu.page.content import Content
from purlieu.report import search
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.web import FakeWeb, answer

MIB: Final = 1024 * 1024
KEPT: Final = {"keep": "text", "documents": {"read": True}, "politeness": {"delay": 0}, "traps": {"detect": False}}


def made(name: str, body: bytes, kind: str) -> Any:
    """Return an answer with a document."""
    return answer(body, url=f"{HOME}{name}", headers={"Content-Type": kind})


def test_documents_are_found_as_pages_are(tmp_path: Path) -> None:
    """What PDF and Word files say is in the text output and found by search; a picture's answer is none."""
    site: dict[str, Any] = {
        HOME: html("a.pdf", "b.docx", "c.txt"),
        f"{HOME}a.pdf": made("a.pdf", papers.pdf([f"{papers.WORDS}です"], "年次報告"), papers.PDF),
        f"{HOME}b.docx": made("b.docx", papers.docx(papers.paragraph("quarterly figures")), papers.DOCX),
        f"{HOME}c.txt": made("c.txt", b"plain", "text/plain"),
    }
    store = tmp_path / "s.db"
    crawl(FakeWeb(site), made_settings(store, KEPT), RealClock())
    rows = {row["url"].removeprefix(HOME): row for row in written(store, 1)}
    assert sorted(rows) == ["", "a.pdf", "b.docx"]
    assert (rows["a.pdf"]["title"], rows["a.pdf"]["author"], rows["a.pdf"]["language"]) == ("年次報告", "著者", "ja-JP")
    assert (rows["b.docx"]["text"], rows["b.docx"]["unread"]) == ("quarterly figures", "")
    assert list(rows.values()) == written(store, 1, "text-parquet")
    database = SqliteDatabase.reader(str(store))
    for words in ("年次報告", papers.WORDS, "quarterly"):
        found = search.search(database, str(store), 1, words, 10)
        assert [hit.url for hit in found.hits] == [f"{HOME}{'b.docx' if words == 'quarterly' else 'a.pdf'}"]
    database.close()


def test_what_cannot_be_read_changes_no_outcome_and_is_told(tmp_path: Path) -> None:
    """Encrypted, damaged and endless documents end as fetched; each reason is one finding with a count and an example."""
    bodies = {"bad.pdf": b"%PDF-1.7 garbage", "end.pdf": papers.looping_pdf(), "good.pdf": papers.pdf(["words"]),
              "locked.pdf": papers.locked_pdf(), "zlocked.pdf": papers.locked_pdf()}  # fmt: skip
    site: dict[str, Any] = {f"{HOME}{name}": made(name, body, papers.PDF) for name, body in bodies.items()}
    store = tmp_path / "s.db"
    settings = made_settings(store, {**KEPT, "documents": {"read": True, "timeout_seconds": 1}})
    crawl(FakeWeb({HOME: html(*bodies), **site}), settings, RealClock())
    assert {endings(store)[f"{HOME}{name}"] for name in bodies} == {"fetched.ok"}
    told = {row["url"].removeprefix(HOME): row["unread"] for row in written(store, 1)}
    assert told == {"": "", "bad.pdf": "damaged", "end.pdf": "too_slow", "good.pdf": "", "locked.pdf": "encrypted",
                    "zlocked.pdf": "encrypted"}  # fmt: skip
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None
    found = [one for one in reader.findings(run) if one.code == "documents_unread"]
    database.close()
    assert [(one.subject, one.arguments["count"]) for one in found] == [
        ("damaged", 1),
        ("encrypted", 2),
        ("too_slow", 1),
    ]
    assert found[1].arguments["example"] == f"{HOME}locked.pdf"


def test_a_crawl_that_asks_for_no_documents_reads_none(tmp_path: Path) -> None:
    """Without ``documents.read`` a PDF has no row, and no process is started."""
    site: dict[str, Any] = {HOME: html("a.pdf"), f"{HOME}a.pdf": made("a.pdf", papers.pdf(["x"]), papers.PDF)}
    store = tmp_path / "s.db"
    crawl(FakeWeb(site), made_settings(store, {"keep": "text"}))
    assert [row["url"] for row in written(store, 1)] == [HOME]


def test_who_asks_for_no_documents_imports_nothing_of_them() -> None:
    """A crawl's start is not slower by what it does not use (R-9.2)."""
    said = "import sys, purlieu.crawl.local, purlieu.cli.crawl; print([m for m in sys.modules if 'document' in m and 'purlieu' in m])"
    told = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(told.stdout)) <= {"purlieu.report.feed_document"}


def test_what_reads_documents_has_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that reads what is hostile does not inherit the environment, in which secrets stand (issue 8)."""
    monkeypatch.setenv("SITE_PASSWORD", "hush")

    async def main() -> bytes:
        reader = DocumentReader(20.0, 512 * MIB)
        await reader.read("a.test", papers.pdf(["words"]))
        process = reader._process
        assert process is not None
        environment = Path(f"/proc/{process.id}/environ").read_bytes()  # noqa: ASYNC240  no file, and nothing else runs
        await reader.close()
        return environment

    assert b"hush" not in asyncio.run(main())


def read(*bodies: bytes, memory: int = 512 * MIB, seconds: float = 20.0) -> list[Content]:
    """Return what a reader says of documents of one host, one after another."""

    async def main() -> list[Content]:
        reader = DocumentReader(seconds, memory)
        try:
            return [await reader.read("a.test", body) for body in bodies]
        finally:
            await reader.close()

    return asyncio.run(main())


def test_a_process_that_was_ended_is_replaced() -> None:
    """A document that takes too long or too much ends its process alone; the next is read by another."""
    good = papers.pdf(["words"])
    assert [one.unread for one in read(good, papers.looping_pdf(), good, seconds=2.0)] == ["", "too_slow", ""]
    bomb, after = read(papers.bomb_pdf(100), good, memory=64 * MIB)
    assert bomb.unread in {"crashed", "too_large", "too_slow"}
    assert after.text == "words"


def test_a_document_that_is_too_large_for_its_memory_is_not_given_to_it() -> None:
    """What would not fit beside its text is told to be too large."""
    assert read(b"%PDF-" + bytes(40 * MIB), memory=64 * MIB)[0].unread == "too_large"


def test_a_host_of_slow_documents_is_given_up() -> None:
    """After ``MOST_BAD`` documents that took too long no more of their host are read, so that others have their turn."""
    found = read(*[papers.looping_pdf()] * (MOST_BAD + 2), seconds=0.2)
    assert [one.unread for one in found] == ["too_slow"] * MOST_BAD + ["given_up"] * 2


def test_the_crawl_goes_on_while_a_document_is_read() -> None:
    """The event loop runs meanwhile, also while the process is ended; a reading that is given up leaves no process."""

    async def main() -> int:
        reader = DocumentReader(1.0, 512 * MIB)
        task, turns = asyncio.create_task(reader.read("a.test", papers.looping_pdf())), 0
        while not task.done():
            turns += 1
            await asyncio.sleep(0.01)
        assert (await task).unread == "too_slow"
        given_up = asyncio.create_task(reader.read("b.test", papers.looping_pdf()))
        await asyncio.sleep(0.05)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        assert (await reader.read("b.test", papers.pdf(["words"]))).text == "words"
        await reader.close()
        return turns

    assert asyncio.run(main()) > 3


def test_a_process_that_somebody_ends_costs_no_document() -> None:
    """A process that breaks down between two documents is replaced, and the document is read by the new one."""

    async def main() -> str:
        reader = DocumentReader(20.0, 512 * MIB)
        await reader.read("a.test", papers.pdf(["first"]))
        process = reader._process
        assert process is not None
        os.kill(process.id, signal.SIGKILL)
        content = await reader.read("a.test", papers.pdf(["second"]))
        await reader.close()
        return content.text

    assert asyncio.run(main()) == "second"
