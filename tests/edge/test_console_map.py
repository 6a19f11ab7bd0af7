"""The map of the site and the table that it leads to: areas that tell the truth, and the same numbers as a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.edge.test_console import DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu.console.treemap import Box, bands, squarified

EVIL = "https://a.test/news/%3Cscript%3Ealert(1)%3C/script%3E/x%E2%80%AEy/"


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    """Yield a console over two runs of a site with folders in folders."""
    made = MadeStore(tmp_path / "made.db")
    for path in ("", "news/", "news/one", "news/2026/a", "news/2026/b/", "news/2026/c?x=/y/", "shop/1"):
        made.page(f"https://a.test/{path}", digest="old")
    second = made.add_run()
    for path, ending, status, digest in (
        ("", "fetched.ok", 200, "old"), ("news/", "fetched.ok", 200, "new"), ("news/one", "missing.not_found", 404, None),
        ("news/2026/a", "fetched.ok", 200, "old"), ("news/2026/b/", "fetched.ok", 200, "new"),
        ("news/2026/c?x=/y/", "server_error.5xx", 503, None), ("shop/1", "fetched.ok", 200, "old"),
        ("shop/2", "fetched.ok", 200, "old"),
    ):  # fmt: skip
        made.entry(f"https://a.test/{path}", ending, run=second, status=status)
        made.response(f"https://a.test/{path}", status, run=second, digest=digest)
    made.entry(EVIL + "page", "fetched.ok", run=second)
    made.entry("https://b.test/", "unreachable.timeout", run=second)
    made.refusal("javascript:alert(1)", "scheme", "scheme")
    yield Console(made, HandClock(STARTED_AT + DAY))
    made.close()


def rows(console: Console, **query: str) -> set[str]:
    """Return the addresses of the rows that meet a query."""
    told = console.client.get("/api/runs/2/ledger", params={"size": "200", **query}).json()
    return {row["href"].removeprefix("https://a.test/") for row in told["rows"]}


@given(st.lists(st.integers(1, 10**6), max_size=40), st.integers(10, 2_000), st.integers(10, 2_000))
def test_areas_are_as_the_numbers(numbers: list[int], width: int, height: int) -> None:
    """The rectangles of a treemap fill their box, none outside of it, each as large as its share (issue 6, screen 6)."""
    box = Box(0, 0, width, height)
    falling = sorted(numbers, reverse=True)
    found = squarified(falling, box)
    whole = sum(falling)
    for number, one in zip(falling, found, strict=True):
        assert one.width * one.height == pytest.approx(number / whole * width * height, rel=1e-6, abs=1e-6)
        assert one.x >= -1e-6
        assert one.y >= -1e-6
        assert one.x + one.width <= width + 1e-6 * width
        assert one.y + one.height <= height + 1e-6 * height
    assert sum(one.width * one.height for one in bands(falling, box)) == pytest.approx(width * height if falling else 0)


def test_folders_have_the_sums_of_what_lies_below(console: Console) -> None:
    """Each folder counts its pages and those of its folders, by outcome and by change; a refused address is in none."""
    told = console.client.get("/api/runs/2/map", params={"at": "https://a.test/"}).json()
    assert (told["folder"]["number"], told["folder"]["own"]) == (9, 2)
    by_name = {one["folder"]: one for one in told["folders"]}
    news = by_name["https://a.test/news/"]
    assert (news["number"], news["own"]) == (5, 1)
    assert news["kinds"] == {"fetched": 3, "missing": 1, "server_error": 1}
    assert news["differences"] == {"changed": 1, "failed": 1, "gone": 1, "new": 1, "unchanged": 1}
    assert console.client.get("/api/runs/1/map").json()["folder"]["number"] == 7
    hosts = console.client.get("/api/runs/2/map").json()["folders"]
    assert [(one["folder"], one["number"]) for one in hosts] == [("https://a.test/", 9), ("https://b.test/", 1)]


def test_a_folder_leads_to_its_rows(console: Console) -> None:
    """What the ledger shows below a folder are the pages that the map counts in it."""
    assert rows(console, within="https://a.test/news/2026/") == {f"news/2026/{name}" for name in ("a", "b/", "c?x=/y/")}
    assert len(rows(console, within="https://a.test/news/")) == 5
    assert rows(console, within="https://a.test/news/", kind="missing") == {"news/one"}
    assert rows(console, within="https://a.test/nowhere/") == set()
    assert rows(console, within="https://a.test/", own="on") == {"", "news/"}
    assert rows(console, within="https://a.test/news/", own="on") == {"news/one"}
    assert rows(console, within="https://a.test/news/2026/", own="on", sort="bytes") == rows(
        console, within="https://a.test/news/2026/"
    )
    assert rows(console, within="https://a.test/", own="on", kind="missing") == set()
    shown = console.page("/runs/2/map?at=https%3A%2F%2Fa.test%2F")
    assert "/runs/2?within=https%3A%2F%2Fa.test%2F&amp;purpose=page&amp;own=on#table-top" in shown
    assert "directly in https://a.test/" in console.page("/runs/2?within=https%3A%2F%2Fa.test%2F&own=on")
    assert "/runs/2?within=https%3A%2F%2Fa.test%2Fshop%2F&amp;purpose=page" in console.page(
        "/runs/2/map?at=https://a.test/"
    )


def test_rows_are_filtered_by_what_became_of_them(console: Console) -> None:
    """A row knows its difference from the run before, and the table filters by it (issue 6, screen 3)."""
    assert rows(console, changed="changed") == {"news/", "news/2026/b/"}
    assert rows(console, changed="any") >= {"news/", "news/one", "shop/2", "news/2026/c?x=/y/"}
    assert rows(console, changed="gone") == {"news/one"}
    assert rows(console, changed="nonsense") == rows(console)
    assert 'name="changed"' in console.page("/runs/2")
    assert 'name="changed"' not in console.page("/runs/1")


@pytest.mark.parametrize("address", ["/runs/2/map", "/runs/2/map?by=change", f"/runs/2/map?at={quote(EVIL)}"])
def test_folder_names_are_text(console: Console, address: str) -> None:
    """A folder whose name is markup, or turns a line round, is shown as text."""
    text = console.page(address)
    assert "<script>alert" not in text
    assert "\u202e" not in text


def test_the_map_is_a_table_too(console: Console) -> None:
    """Each folder of the picture stands in the table below it, with its number and a link to its rows."""
    text = console.page("/runs/2/map?at=https://a.test/")
    table = text[text.index("<table") :]
    assert re.findall(r'<th scope="row" class="url">(?:<a[^>]*>)?([^<]+)', table) == ["news/", "shop/"]
    assert table.count("#table-top") == 3


def test_columns_are_chosen(console: Console) -> None:
    """The table shows the columns that were chosen, keeps them over pages and filters, and never none but the address."""
    usual = console.page("/runs/2")
    assert ">Change</th>" in usual
    chosen = console.page("/runs/2?cols=-&cols=depth&cols=type&cols=nonsense")
    head = re.search(r'<table class="ledger.*?</thead>', chosen, re.DOTALL)
    assert head
    assert "Content type" in head[0]
    assert "Status" not in head[0]
    assert "cols=depth%2Ctype" in head[0]


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_what_the_files_guard_is_said_beside_them(console: Console, language: str) -> None:
    """Beside the downloads stands which of them guards its cells and which keep the exact text (issue 6)."""
    text = console.page("/runs/2", language=language)
    assert text.index("files/csv-spreadsheet") < text.index('class="sub"', text.index("files/csv-spreadsheet"))


def test_a_comparison_is_paged_by_key(tmp_path: Path) -> None:
    """Every URL of a class comes once, forwards and backwards, however many there are, and again after a restart."""
    made = MadeStore(tmp_path / "made.db")
    second = made.add_run()
    for number in range(120):
        made.entry(f"https://a.test/{number:03}", run=second)
        made.response(f"https://a.test/{number:03}", run=second)
    clock = HandClock(STARTED_AT + DAY)

    def pages(console: Console, way: str, at: str) -> list[list[str]]:
        found = []
        told = {way: at}
        while told[way] is not None:
            query = {"before": "1", "after": "2", "class": "new", "at": told[way]}
            told = console.client.get("/api/compare", params=query).json()
            found.append([pair["url"][-3:] for pair in told["listed"]])
        return found

    console = Console(made, clock)
    forwards = pages(console, "following", "")
    assert [len(page) for page in forwards] == [50, 50, 20]
    assert [*chain.from_iterable(forwards)] == [f"{number:03}" for number in range(120)]
    assert pages(console, "previous", "before.101") == [forwards[1], forwards[0]]
    again = Console(made, clock)
    assert pages(again, "following", "after.100") == [forwards[2]]
    assert 'rel="next"' in again.page("/compare?before=1&after=2&class=new")
    assert 'rel="prev"' in again.page("/compare?before=1&after=2&class=new&at=after.50")
    for wrong in ("at=before.x", "at=9", "class=nonsense", "at=before.0", "at=after.99999999999999999999"):
        assert (
            again.client.get(f"/api/compare?before=1&after=2&{wrong}").json()["listed"]
            == again.client.get("/api/compare?before=1&after=2").json()["listed"]
        )
    made.close()
