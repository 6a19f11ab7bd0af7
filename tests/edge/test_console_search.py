"""The console's search: a box, pages as text with their words marked, and the same as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Event

import pytest
from starlette.testclient import TestClient
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.console.app import application
from purlieu.console.guard import Door
from purlieu.console.keys import Keys
from purlieu.console.parts import warm_up
from purlieu.crawl.clock import RealClock
from purlieu.report.search import search
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.web import FakeWeb

BASE = "http://127.0.0.1:8760"


async def nothing(words: list[str]) -> Callable[[], Awaitable[tuple[int, str]]]:
    """Start nothing."""
    await asyncio.sleep(0)
    raise AssertionError(words)


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """Return a client of a console over two crawls, of which the first keeps text."""
    nasty = html(
        title="Layer <img src=x onerror=alert(1)>",
        body="<p>選択範囲 &lt;script&gt;alert(2)&lt;/script&gt; layer \u202e",
    )
    store = tmp_path / "s.db"
    crawl(FakeWeb({HOME: html("one"), f"{HOME}one": nasty}), made_settings(store, {"keep": "text", "name": "kept"}))
    crawl(FakeWeb({HOME: html()}), made_settings(store, {"name": "bare"}))
    clock = RealClock()
    door = Door(frozenset({"127.0.0.1:8760"}), "purlieu_8760", clock.monotonic, Keys())
    made = TestClient(application(str(store), door, clock, nothing), BASE, raise_server_exceptions=False)  # type: ignore[arg-type]
    made.get("/", params={"token": door.token})
    return made


def test_what_is_found_is_shown_as_text(client: TestClient) -> None:
    """The words are marked, whatever a page says is escaped, and the answer is in the reader's language."""
    shown = client.get("/crawls/1/search", params={"q": "layer 選択"}).text
    assert "<mark>Layer</mark> &lt;img src=x" in shown
    assert "<mark>選択</mark>範囲 &lt;script&gt;" in shown
    assert "<img src=x" not in shown
    assert "\u202e" not in shown
    assert "1 of 2 pages of kept" in shown
    assert (
        "2 ページ中 1 ページ"
        in client.get("/crawls/1/search", params={"q": "layer"}, headers={"accept-language": "ja"}).text
    )
    assert (
        "2 个页面中有 1 个"
        in client.get("/crawls/1/search", params={"q": "layer"}, headers={"accept-language": "zh"}).text
    )


def test_the_box_stands_where_there_is_something_to_search(client: TestClient) -> None:
    """A crawl that keeps text has the box on its page; another says how text is kept."""
    assert 'action="/crawls/1/search"' in client.get("/crawls/1").text
    assert "/crawls/2/search" not in client.get("/crawls/2").text
    assert "keep = &#34;text&#34;" in client.get("/crawls/2/search", params={"q": "x"}).text
    assert client.get("/crawls/9/search").status_code == 404


@pytest.mark.parametrize("question", ["", "...", '"', "x" * 5_000, "<script>alert(1)</script>", "a" * 900, "\x00"])
def test_no_question_does_harm(client: TestClient, question: str) -> None:
    """Nothing, too much, syntax and markup are answered with a page, and shown as text."""
    answer = client.get("/crawls/1/search", params={"q": question})
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_the_same_as_json(client: TestClient) -> None:
    """The API names the crawl, the words, how many pages there are, and where the words stand."""
    told = client.get("/api/search", params={"q": "選択 layer"}).json()
    assert (told["crawl"], told["number"], told["pages"], told["has_all"]) == ("kept", 1, 2, True)
    (hit,) = told["hits"]
    assert {hit["excerpt"][start:end] for start, end in hit["marks"]} == {"選択", "layer"}
    assert client.get("/api/search", params={"q": "layer", "crawl": "bare"}).status_code == 404
    assert client.get("/api/search", params={"q": "..."}).json()["wrong"] == "Write at least one letter or digit."
    assert client.get("/api/search", params={"q": "the", "most": "x" * 50}).status_code == 200


def test_who_searches_waits_for_no_index(client: TestClient) -> None:
    """What is there is searched at once, with a word that more may come, and the page asks again; then it has all."""
    parts = client.app._app.state.parts  # type: ignore[attr-defined]
    enough = Event()
    parts.workshop.begin(lambda: enough.wait(60))
    try:
        shown = client.get("/crawls/1/search", params={"q": "layer"}).text
        told = client.get("/api/search", params={"q": "layer"}).json()
    finally:
        enough.set()
    assert "still being taken in" in shown
    assert '<meta http-equiv="refresh"' in shown
    assert (told["is_whole"], told["hits"]) == (False, [])
    shown = client.get("/crawls/1/search", params={"q": "layer"}).text
    assert "1 of 2 pages of kept" in shown
    assert "still being taken in" not in shown
    assert client.get("/api/search", params={"q": "layer"}).json()["is_whole"] is True


def test_words_are_taken_in_before_anybody_searches(client: TestClient) -> None:
    """The console takes in what a run has brought when it has ended, and what runs had brought when it starts."""
    parts = client.app._app.state.parts  # type: ignore[attr-defined]
    warm_up(parts)
    database = SqliteDatabase.reader(parts.store)
    found = search(database, parts.store, 1, "layer", 10, as_it_is=True)
    database.close()
    assert (found.is_whole, found.number) == (True, 1)
