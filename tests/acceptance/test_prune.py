"""Retention: old runs lose their rows and nothing else; results are given out for sixty days (R-8.4, MF-31)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, endings, html, made_settings
from tests.made_store import STARTED_AT, MadeStore

from purlieu import report
from purlieu.cli.main import main
from purlieu.errors import StoreBusy, StoreError
from purlieu.report import books, findings
from purlieu.report.pruning import prune
from purlieu.response import Request, Response
from purlieu.store import retention
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.store.sqlite.check import check
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, answer
from purlieu.url import key64

A = "https://a.test/"
NOW = STARTED_AT + 1000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """A store with five runs of one crawl: done, failed, done, done, stopped; each has every kind of row."""
    made = MadeStore(tmp_path / "made.db")
    runs = [made.run, *(made.add_run(state=state) for state in ("failed", "done", "done", "stopped"))]
    for run in runs:
        for name in ("", "x", "y"):
            made.entry(f"{A}{name}", run=run, status=200, **({"found_by": "seed"} if not name else {}))
            made.response(f"{A}{name}", run=run)
        host = made.host("a.test")
        for table, more in (
            ("refusal", {"purpose": 0, "depth": 1, "hops": 0, "nofollow": 0, "found_by": "link", "via": A, "linked": 1,
                         "reason": "scope", "rule": "same-host"}),
            ("sitemap_entry", {"sitemap": f"{A}sitemap.xml"}),
            ("sitemap_child", {"sitemap": f"{A}index.xml"}),
            ("sitemap_read", {"kind": "urlset", "entries": 1, "children": 0}),
        ):  # fmt: skip
            made.insert(table, run=run, host=host, hash=key64(f"{A}out"), href=f"{A}out", **more)
        made.insert("site_of", run=run, host=host, purpose=0, hash=key64(A), site=0)
        made.insert("sketch", run=run, host=host, hash=key64(A), sketch=b"")
        made.insert("finding", run=run, code="robots_ignored", subject="made")
    yield made
    made.close()


ROWS = ("entry", "refusal", "site_of", "response", "sitemap_entry", "sitemap_child", "sitemap_read", "sketch", "robots")


def left(store: MadeStore, table: str) -> list[int]:
    """Return the runs that have rows in a table."""
    return [run for (run,) in store.connection.execute(f"SELECT DISTINCT run FROM {table} ORDER BY run")]


@pytest.mark.parametrize(
    ("keep", "expected"), [(1, [4, 5]), (2, [3, 4, 5]), (3, [1, 2, 3, 4, 5]), (9, [1, 2, 3, 4, 5])]
)
def test_the_newest_finished_runs_keep_their_rows(store: MadeStore, keep: int, expected: list[int]) -> None:
    """As many finished runs as are wanted keep their rows, so do runs between them and the newest, whatever became of it."""
    prune(str(store.path), NOW, keep=keep)
    assert {table: left(store, table) for table in ROWS} == dict.fromkeys(ROWS, expected)


def test_history_totals_and_findings_stay(store: MadeStore) -> None:
    """A pruned run tells the same books, hosts and findings as before, and nothing of the history goes (R-8.4)."""
    page = {"first_seen": 0, "last_fetched": 0, "last_changed": 0, "visits": 1, "changes": 0}
    for name, last in (("", 1), ("x", 5)):
        href = f"{A}{name}"
        store.insert("page", crawl=1, host=store.host("a.test"), hash=key64(href), href=href, last_run=last, **page)
    store.insert(
        "sitemap_file",
        crawl=1,
        host=store.host("a.test"),
        hash=key64(f"{A}out"),
        href=f"{A}sitemap.xml",
        last_run=1,
        asked_at=0,
    )
    before = _told(store, 1)
    prune(str(store.path), NOW, keep=1)
    assert _told(store, 1) == before
    assert store.connection.execute("SELECT count(*) FROM page").fetchone() == (2,)
    kept = {table: [run for run in left(store, table) if run < 4] for table in ROWS}
    assert {table: runs for table, runs in kept.items() if runs} == {
        "response": [1], "sketch": [1], "sitemap_entry": [1], "sitemap_read": [1],
    }, "what a later run takes over stays"  # fmt: skip
    assert list(store.connection.execute("SELECT hash FROM response WHERE run = 1")) == [(key64(A),)]


def _told(store: MadeStore, number: int) -> tuple[Any, ...]:
    database = SqliteDatabase.reader(str(store.path))
    try:
        reader = Reader(database)
        run = reader.run(number)
        assert run
        kept = books.of_run(reader, run)
        return (
            reader.counts(run), books.text(kept), kept.balanced, list(reader.hosts(run)),
            [(one.code, one.subject, dict(one.arguments)) for one in findings.of_run(reader, run, kept)],
        )  # fmt: skip
    finally:
        database.close()


def test_findings_that_follow_from_rows_are_noted_first(store: MadeStore) -> None:
    """What is only derived from rows, such as a seed that failed, is still told when they have gone (R-8.4)."""
    store.connection.execute("INSERT OR REPLACE INTO config VALUES ('hash of ', ?)", (f'seeds = ["{A}"]',))
    store.connection.execute("UPDATE entry SET kind = 'missing', reason = 'not_found', status = 404 WHERE run = 1")
    before = _told(store, 1)
    assert {"seed_failed", "nothing_fetched"} <= {code for code, _, _ in before[4]}
    prune(str(store.path), NOW, keep=1)
    assert _told(store, 1) == before


def test_a_pruning_that_was_broken_off_is_finished(store: MadeStore) -> None:
    """A run is marked before its rows go, so a part of them is never shown as the whole; the next pruning ends it."""
    database = SqliteDatabase.writer(str(store.path))
    with database.transaction():
        database.run("mark_pruned", NOW, "[]", 1)
    database.close()
    with pytest.raises(StoreError, match="pruned"):
        report.write(str(store.path), 1, store.path.parent, ["csv"])
    assert [one.run for one in prune(str(store.path), NOW, keep=1)] == [1, 2, 3]
    assert prune(str(store.path), NOW, keep=1) == []
    assert left(store, "entry") == [4, 5]


def test_a_large_host_goes_in_pieces() -> None:
    """The pieces of a host's rows are of bounded size, meet each other and cover every hash."""
    for count in (0, 1, retention.ROWS_AT_ONCE, 10 * retention.ROWS_AT_ONCE + 7):
        pieces = list(retention._pieces(count))
        assert len(pieces) == count // retention.ROWS_AT_ONCE + 1
        assert (pieces[0][0], pieces[-1][1]) == (-(2**63), 2**63 - 1)
        assert all(one[1] + 1 == two[0] for one, two in pairwise(pieces))


def test_only_the_runs_of_the_crawl_count(store: MadeStore) -> None:
    """Each crawl keeps its own runs; the newest settings of each say how many."""
    other = store.add_run("other", toml="[retention]\nledger_runs = 1\n")
    store.entry(f"{A}other", run=other)
    store.add_run("other", toml="[retention]\nledger_runs = 1\n")
    assert [(one.run, one.crawl) for one in prune(str(store.path), NOW)] == [(other, "other")]
    assert left(store, "entry") == [1, 2, 3, 4, 5]


def test_pruning_waits_for_no_crawl(store: MadeStore) -> None:
    """While a crawl is at work nothing is pruned, and that is told (R-4.4)."""
    writer = SqliteDatabase.writer(str(store.path))
    with pytest.raises(StoreBusy):
        prune(str(store.path), NOW, keep=1)
    writer.close()


def test_the_command_prunes_and_tells(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu store prune`` tells which runs lost their rows; nothing to do is no mistake, keeping none is."""
    typed = ["store", "prune", "--store", str(store.path)]
    assert main(typed) == 0
    assert capsys.readouterr().out.startswith("nothing to prune")
    assert main([*typed, "--keep", "0"]) == 2
    capsys.readouterr()
    assert main([*typed, "--keep", "2", "--compact", "--json"]) == 0
    assert [json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()] == [1, 2]
    assert main(["report", "1", "--store", str(store.path), "-o", str(store.path.parent / "out")]) == 0
    assert "crawl_result_detail.csv.zip: The ledger of the run was pruned" in capsys.readouterr().out
    assert main(["runs", "--store", str(store.path)]) == 0
    assert "fetched 3, excluded 1" in capsys.readouterr().out.splitlines()[-1]


DAY = 86_400.0


@pytest.mark.parametrize(
    ("age", "toml", "is_written"),
    [
        (60 * DAY, "", True),
        (60 * DAY + 1, "", False),
        (10 * DAY, "[retention]\nresult_days = 9\n", False),
        (9000 * DAY, "[retention]\nresult_days = -1\n", True),
    ],
)
def test_an_old_result_is_not_given_out(
    store: MadeStore, tmp_path: Path, age: float, toml: str, is_written: bool
) -> None:
    """A result older than sixty days, or as the settings say, is refused; exactly as old it is not (MF-31, AMB-MF-12)."""
    run = store.add_run(toml=toml, ended_at=STARTED_AT)
    written = report.write(str(store.path), run, tmp_path / "out", ["crawl_result", "csv"], now=STARTED_AT + age)
    assert [path.name for path in written] == ["crawl_result_detail.csv.zip"] * is_written + ["ledger.csv"]


def test_an_old_result_is_told_to_be_too_old(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu report`` says of a result past its days to run the crawl again, and leaves a file that is there (MF-31)."""
    out = store.path.parent / "out"
    out.mkdir()
    (out / "crawl_result_detail.csv.zip").write_bytes(b"mine")
    assert main(["report", "1", "--store", str(store.path), "-o", str(out), "--lang", "ja"]) == 0
    assert "保管期限を超えています" in capsys.readouterr().out
    assert (out / "crawl_result_detail.csv.zip").read_bytes() == b"mine"


def test_a_revisit_goes_on_from_a_pruned_run(tmp_path: Path) -> None:
    """What a revisit takes over outlives the run it was read in: it asks and ends as without pruning (R-2.4, R-8.4)."""
    links = {"": ("a", "b"), "a": ("c",), "b": (), "c": ()}
    bodies = {f"{HOME}{name}": html(*to, title=name) for name, to in links.items()}

    def answered(request: Request) -> Response:
        body, etag = bodies.get(request.url), f'"{request.url}"'
        if body is None:
            return answer(status=404)
        known = dict(request.headers).get("If-None-Match") == etag
        return answer("" if known else body, status=304 if known else 200, headers={"ETag": etag})

    ends = []
    for pruned in (False, True):
        store = tmp_path / f"{pruned}.db"
        for number in range(4):
            web, clock = FakeWeb(answered), FakeClock(START + number * 40 * DAY)
            crawl(web, made_settings(store, {"revisit": number > 0}), clock)
            if pruned:
                prune(str(store), clock.now(), keep=1)
        assert check(str(store), START + 200 * DAY).faults == ()
        ends.append((endings(store, 4), sorted(web.urls), _told_file(store, tmp_path / f"{pruned}")))
    assert ends[0] == ends[1]
    assert len(ends[0][0]) == len(links)


def _told_file(store: Path, folder: Path) -> bytes:
    (path,) = report.write(str(store), 4, folder, ["crawl_result"])
    return path.read_bytes()
