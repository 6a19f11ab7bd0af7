"""``purlieu diff``: two runs compared from the store, as text, CSV, JSON lines and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings
from tests.made_store import MadeStore

from purlieu.cli.main import main
from purlieu.report import diff
from purlieu.response import Request
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, answer, redirect

A = "https://a.test/"


def page(store: MadeStore, run: int, href: str, ending: str = "fetched.ok", status: int = 200, **response: Any) -> None:
    """Insert a page of a run with its response."""
    store.entry(href, ending, run=run, status=status)
    store.response(href, status, run=run, **{"digest": "d", **response})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """A store with two runs that differ in every way."""
    made = MadeStore(tmp_path / "made.db")
    one, two = made.run, made.add_run()
    for run in (one, two):
        page(made, run, A)
        page(made, run, f"{A}docs/old", digest=f"d{run}", title=f"Title {run}")
        page(made, run, f"{A}docs/head", headers="Server: made\n" if run == one else "Server: other\nAge: 1\n")
    page(made, one, f"{A}docs/gone")
    made.entry(f"{A}docs/gone", "missing.not_found", run=two, status=404)
    page(made, one, f"{A}docs/moved")
    made.entry(f"{A}docs/moved", "redirected.permanent", run=two, status=301, redirect_to=f"{A}docs/new")
    page(made, two, f"{A}docs/new")
    made.entry(f"{A}robots.txt", purpose="robots", run=two)
    made.refusal("https://b.test/")
    made.refusal("https://c.test/x")
    yield made
    made.close()


EXPECTED = {
    A: "unchanged",
    f"{A}docs/gone": "gone",
    f"{A}docs/head": "unchanged",
    f"{A}docs/moved": "moved",
    f"{A}docs/new": "new",
    f"{A}docs/old": "changed",
    "https://b.test/": "outside",
    "https://c.test/x": "outside",
}


def compared(store: MadeStore, *values_of: str) -> dict[str, diff.Pair]:
    """Return the comparison of the first two runs by URL, in its order."""
    database = SqliteDatabase.reader(str(store.path))
    try:
        reader = Reader(database)
        before, after = reader.run(1), reader.run(2)
        assert before
        assert after
        return {pair.url: pair for pair in diff.pairs(reader, before, after, values_of)}
    finally:
        database.close()


def test_every_page_of_either_run_is_compared_once(store: MadeStore) -> None:
    """Each page that one of the runs has stands once, by host and address, with its class; robots.txt files do not."""
    found = compared(store)
    assert {url: str(pair.difference) for url, pair in found.items()} == EXPECTED
    assert list(found) == list(EXPECTED)


def test_headers_count_by_name_and_by_value_when_asked(store: MadeStore) -> None:
    """A change of the header set is told by name; of a header that is asked for the value counts too."""
    plain, valued = (compared(store, *of)[f"{A}docs/head"] for of in ((), ("Server",)))
    assert plain.changed == valued.changed == ("headers",)
    assert (plain.facts()["headers_added"], plain.facts()["headers_removed"]) == (["age"], [])
    assert valued.facts()["headers_added"] == ["age", "server: other"]
    assert valued.facts()["headers_removed"] == ["server: made"]


def test_a_page_that_stands_unchanged_has_its_older_response(store: MadeStore) -> None:
    """A page that was not asked for again is compared by the response that the history has of it."""
    store.entry(f"{A}docs/kept", "unchanged.not_due", run=2, attempts=0)
    store.response(f"{A}docs/kept", run=1, digest="d", title="Kept")
    store.entry(f"{A}docs/kept", "fetched.ok", run=1, status=200)
    store.insert(
        "page", crawl=1, host=store.host("a.test"), hash=store_hash(f"{A}docs/kept"), href=f"{A}docs/kept", first_seen=0,
        last_fetched=0, last_changed=0, visits=1, changes=0, last_run=1,
    )  # fmt: skip
    pair = compared(store)[f"{A}docs/kept"]
    assert (pair.difference, pair.changed) == ("unchanged", ())
    assert pair.after
    assert pair.after.title == "Kept"


def store_hash(href: str) -> int:
    """Return the key of an address in the store."""
    from purlieu.url import key64

    return key64(href)


def run(store: MadeStore, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Type ``purlieu diff`` and return what it printed."""
    assert main(["diff", *words, "--store", str(store.path)]) == 0
    return capsys.readouterr().out


def test_counts_are_told_by_class_and_section(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON object counts classes, facts and sections; the pages of --list come before it, one a line."""
    *listed, last = map(json.loads, run(store, capsys, "1", "2", "--json", "--list").splitlines())
    assert {row["url"]: row["difference"] for row in listed} == {
        url: one for url, one in EXPECTED.items() if one not in {"unchanged", "outside"} or url.endswith("head")
    }
    assert last["counts"] | {"failed": 0, "back": 0, "unasked": 0} == {
        "new": 1, "changed": 1, "moved": 1, "gone": 1, "failed": 0, "back": 0, "unasked": 0, "unchanged": 2, "outside": 2,
    }  # fmt: skip
    assert last["changed_facts"]["title"] == 1
    assert [(row["section"], row["new"], row["unchanged"]) for row in last["sections"]] == [
        (A, 0, 1),
        (f"{A}docs/", 1, 1),
    ]


@pytest.mark.parametrize("words", [("1", "2"), ("made@last-1", "made@last"), ("--last", "made"), ("1", "latest")])
def test_runs_are_named_by_number_or_crawl(
    store: MadeStore, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """A run is named by its number, as the latest, or as the last or an earlier one of a crawl."""
    text = run(store, capsys, *words)
    assert text.startswith("From run 1 of made to run 2 of made\n")
    assert f"gone       {A}docs/gone  reason fetched.ok -> missing.not_found; status 200 -> 404" in text


@pytest.mark.parametrize(
    "words", [("1",), ("1", "2", "2"), ("1", "9"), ("made@last-7", "1"), ("1", "2", "--last", "made")]
)
def test_a_wrong_run_is_the_owners_mistake(store: MadeStore, words: tuple[str, ...]) -> None:
    """What names no two runs ends with status 2 (R-8.2)."""
    assert main(["diff", *words, "--store", str(store.path)]) == 2


def test_a_crawl_without_two_runs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A crawl that is not in the store, or has one run so far, is named as it was typed, with what would do (R-8.2)."""
    store = tmp_path / "one.db"
    crawl(FakeWeb({HOME: html()}), made_settings(store, {"name": "docs"}))
    assert main(["diff", "--last", "docs", "--store", str(store)]) == 2
    assert (
        capsys.readouterr().err == 'purlieu: --last = "docs": it has one run so far; crawl it again, or name two runs\n'
    )
    for command, option in (("diff", "--last"), ("runs", "--crawl"), ("store prune --keep 1", "--crawl")):
        assert main([*command.split(), option, "dosc", "--store", str(store)]) == 2
        told = f'purlieu: {option} = "dosc": there is no run of it in {store}; its crawls: docs\n'
        assert capsys.readouterr().err == told


def test_the_list_is_written_as_csv_and_json_lines(
    store: MadeStore, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """CSV and JSON lines hold the same rows, on the terminal and in a file."""
    lines = [json.loads(line) for line in run(store, capsys, "1", "2", "--format", "jsonl").splitlines()]
    assert run(store, capsys, "1", "2", "--format", "csv", "-o", str(tmp_path / "d.csv")) == ""
    with (tmp_path / "d.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["url"] for row in rows] == [line["url"] for line in lines]
    assert tuple(rows[0]) == tuple(lines[0]) == diff.COLUMNS
    moved = next(row for row in rows if row["difference"] == "moved")
    assert (moved["status_before"], moved["status_after"], moved["redirect_to_after"]) == ("200", "301", f"{A}docs/new")
    assert moved["changed"] == "outcome reason status redirect_to"


def test_a_pruned_run_is_not_compared(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """A run whose rows were pruned says so instead of showing every page as new (R-8.4)."""
    store.update_run(pruned_at=1_700_000_000.0)
    assert main(["diff", "1", "2", "--store", str(store.path)]) == 1
    assert "retention.ledger_runs" in capsys.readouterr().err


def test_runs_of_a_site_that_changes_are_told_apart(tmp_path: Path) -> None:
    """Real runs, the later ones revisits: what changed is told and nothing else, whatever was not asked for again (R-2.4)."""
    links = ["same", "text", "lost", "away", "broken", "gone"]
    pages: dict[str, Any] = {HOME: html(*links), **{f"{HOME}{name}": html(body=f"words of {name}") for name in links}}
    etags = dict.fromkeys(pages, "1")

    def give(request: Request) -> Any:
        page = pages.get(request.url, 404)
        if not isinstance(page, str):
            return page
        etag = f'"{etags[request.url]}"'
        known = dict(request.headers).get("If-None-Match") == etag
        return answer("" if known else page, status=304 if known else 200, headers={"ETag": etag})

    def run(day: int) -> None:
        tree = {"revisit": day > 0, "history": {"sample": 0}}
        assert crawl(
            FakeWeb(give), made_settings(tmp_path / "s.db", tree), FakeClock(START + day * 86_400)
        ).books_balanced

    def put(url: str, page: Any) -> None:
        pages[url], etags[url] = page, f"{etags.get(url, '')}2"

    def told(one: int, two: int) -> dict[str, str]:
        database = SqliteDatabase.reader(str(tmp_path / "s.db"))
        reader = Reader(database)
        before, after = reader.run(one), reader.run(two)
        assert before
        assert after
        found = {
            pair.url.removeprefix(HOME): " ".join(
                [pair.difference, *(fact for fact in pair.changed if fact != "headers")]
            )
            for pair in diff.pairs(reader, before, after)
            if pair.is_told
        }
        database.close()
        return found

    run(0)
    put(HOME, html(*[name for name in links if name != "gone"], "fresh"))
    put(f"{HOME}text", html(body="other words"))
    put(f"{HOME}fresh", html(body="fresh words"))
    pages[f"{HOME}lost"], pages[f"{HOME}broken"] = 404, 403
    pages[f"{HOME}away"] = redirect(f"{HOME}same")
    run(40)
    changed = {
        "text": "changed content",
        "fresh": "new",
        "lost": "gone outcome reason status",
        "broken": "failed outcome reason status",
        "away": "moved outcome reason status redirect_to",
    }
    found = told(1, 2)
    gone = found.pop("gone", None)
    assert found == changed
    assert gone in {None, "gone"}, "nothing links to it any more; whether it was asked for is the revisit's to say"
    run(41)
    assert {url: one for url, one in told(2, 3).items() if url != "gone"} == {}
    assert {url: one for url, one in told(1, 3).items() if url != "gone"} == changed
