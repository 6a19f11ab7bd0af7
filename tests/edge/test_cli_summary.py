"""What is said at the end of a run and about stored ones: books, hosts, findings, files, exit status.

Rules R-7.1, R-8.1, R-8.2; the rows are made in a real store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.made_store import MadeStore

from purlieu.cli import summary
from purlieu.cli.main import main
from purlieu.cli.words import columned, fitted, folded, padded, width
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase

BALANCED = {"balanced": True, "faults": []}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Return a store with one run of a few pages."""
    made = MadeStore(tmp_path / "s.db")
    made.page("http://a.test/")
    made.page("http://a.test/2")
    made.entry("http://a.test/lost", "missing.not_found", status=404)
    made.entry("http://slow.test/", "unreachable.timeout")
    made.entry("http://a.test/robots.txt", "fetched.ok", purpose="robots")
    made.refusal("http://other.test/")
    made.host("a.test", requests=4, failures=1, seconds=0.5, bytes=4000)
    made.host("slow.test", requests=3, failures=3, seconds=90.0, given_up=1)
    made.update_run(books=BALANCED, active_seconds=61.5)
    yield made
    made.close()


def of(store: MadeStore, **more: Any) -> summary.Summary:
    """Return what is said of the store's first run."""
    database = SqliteDatabase.reader(str(store.path))
    try:
        reader = Reader(database)
        row = reader.run(store.run)
        assert row is not None
        return summary.of_run(reader, row, **more)
    finally:
        database.close()


def test_the_end_tells_the_books(store: MadeStore) -> None:
    """Each ending of pages stands with its number and sentence, then the sum; robots.txt and sitemaps stand apart."""
    lines = list(summary.lines(of(store), "en"))
    text = "\n".join(lines)
    assert lines[0] == "Run 1 of made is done."
    assert "7 requests in 0:01:01, 4.0 kB" in lines
    assert "  fetched.ok           2  The page was fetched." in lines
    assert "  URLs in all          5" in lines
    assert "  robots.txt files: fetched.ok 1" in lines
    assert "The books balance: every URL has one ending." in lines
    assert "missing.not_found" in text
    assert "excluded.scope" in text


def test_the_end_names_the_slowest_and_most_failing_hosts(store: MadeStore) -> None:
    """Hosts stand with the seconds a request took and the requests that failed, the worst first."""
    lines = list(summary.lines(of(store), "en"))
    slow = lines[lines.index("Slowest hosts") + 1 :]
    assert slow[:2] == ["  slow.test  30.000 s a request", "  a.test      0.125 s a request"]
    failing = lines[lines.index("Most failing hosts") + 1 :]
    assert [" ".join(line.split()) for line in failing[:2]] == [
        "slow.test 3 of 3 requests given up",
        "a.test 1 of 4 requests",
    ]


def test_unbalanced_books_are_not_hidden(store: MadeStore) -> None:
    """Faults of the audit are told, and the exit status is 1 (R-7.1)."""
    store.update_run(books={"balanced": False, "faults": ["one link has no row"]})
    told = of(store)
    lines = list(summary.lines(told, "en"))
    assert "The books do NOT balance. Keep the store and report this." in lines
    assert "  one link has no row" in lines
    assert summary.status(told, strict=False) == 1


def test_findings_are_told_the_worst_first(store: MadeStore) -> None:
    """Problems come before warnings and notes, in the owner's language; files and the way to resume follow."""
    store.insert("finding", run=store.run, code="refusals_not_listed", subject="x.test", arguments='{"count": 7}')
    store.insert("finding", run=store.run, code="nothing_fetched", subject="made")
    told = of(store, files=("out/ledger.csv",), resume="purlieu crawl --resume")
    lines = list(summary.lines(told, "en"))
    at = lines.index("Findings")
    assert lines[at + 1].startswith("  Not one page was fetched")
    assert lines[at + 2].startswith("  The host slow.test failed too often")
    assert lines[at + 3].startswith("  7 refused links to x.test")
    assert lines[-4:] == ["Files", "  out/ledger.csv", "", "To go on: purlieu crawl --resume"]


@pytest.mark.parametrize(
    ("change", "strict", "status"),
    [
        ({}, False, 0),
        ({}, True, 0),
        ({"stop_reason": "limit:pages"}, True, 0),
        ({"state": "stopped", "stop_reason": "interrupted"}, False, 130),
        ({"state": "failed", "stop_reason": "system:store"}, False, 1),
        ({"books": {"balanced": False, "faults": []}}, False, 1),
        ({"books": None}, False, 1),
    ],
)
def test_the_exit_status(store: MadeStore, change: dict[str, Any], strict: bool, status: int) -> None:
    """0 done and at a limit, 1 for bad books and the machine's faults, 130 interrupted (R-8.2)."""
    store.update_run(**change)
    assert summary.status(of(store), strict=strict) == status


def test_no_good_page_is_status_1(tmp_path: Path) -> None:
    """A run in which no page ended fetched, unchanged or redirected has failed, whatever its books say (R-8.2)."""
    made = MadeStore(tmp_path / "s.db")
    made.entry("http://a.test/", "missing.not_found")
    made.entry("http://a.test/robots.txt", "fetched.ok", purpose="robots")
    made.update_run(books=BALANCED)
    assert summary.status(of(made), strict=False) == 1
    made.page("http://a.test/2", "unchanged.not_modified")
    assert summary.status(of(made), strict=False) == 0
    made.close()


@pytest.mark.parametrize("code", ["under_threshold", "nothing_fetched"])
def test_strict_makes_a_suspicious_result_status_3(store: MadeStore, code: str) -> None:
    """With --strict a result under threshold or with a problem ends with 3, without it with 0 (R-8.2)."""
    store.insert("finding", run=store.run, code=code, subject="made")
    assert (summary.status(of(store), strict=True), summary.status(of(store), strict=False)) == (3, 0)


def test_strict_lets_warnings_pass(store: MadeStore) -> None:
    """A warning or note alone does not make a result suspicious."""
    store.insert("finding", run=store.run, code="host_given_up", subject="slow.test", arguments='{"failures": 20}')
    assert summary.status(of(store), strict=True) == 0


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({"stop_reason": "limit:pages"}, "Run 1 of made is done: it reached limits.max_pages."),
        ({"state": "stopped", "stop_reason": "interrupted"}, "Run 1 of made was stopped."),
        ({"state": "failed", "stop_reason": "system:disk"}, "Run 1 of made was broken off: disk."),
        ({"state": "running", "stop_reason": None}, "Run 1 of made has not ended."),
    ],
)
def test_the_first_line_says_how_the_run_ended(store: MadeStore, change: dict[str, Any], first: str) -> None:
    """The owner reads first whether the run is whole, and if not, why (R-8.1)."""
    store.update_run(**change)
    assert next(summary.lines(of(store), "en")) == first


@pytest.mark.parametrize(("language", "word"), [("ja", "帳簿は一致しています"), ("zh", "账目平衡")])
def test_the_end_is_told_in_the_owners_language(store: MadeStore, language: str, word: str) -> None:
    """Headings and sentences are in the owner's language, and columns stand straight although characters are wide."""
    lines = list(summary.lines(of(store), language))
    assert any(word in line for line in lines)
    fetched = next(line for line in lines if line.startswith("  fetched.ok "))
    total = next(line for line in lines if line.startswith("  URL "))
    assert width(fetched.partition("2")[0]) == width(total.partition("5")[0])


def test_width_counts_columns_of_a_terminal() -> None:
    """Wide characters take two columns, combining ones none (Unicode Annex 11)."""
    assert [width(text) for text in ("abc", "日本", "e\u0301", "ﾊﾝ", "Ａ")] == [3, 4, 1, 2, 2]
    assert padded("日本", 6) == "日本  "
    assert padded("5", 3, right=True) == "  5"


@pytest.mark.parametrize(
    "line",
    [
        "  fetched.ok    14  The page was fetched.",
        "  missing.gone   2  The page is gone for good (410); remove the links to it, wherever they may be.",
        "  missing.gone   2  ページは恒久的に削除されました（410）。リンクを削除してください。ほかにもあれば、それも。",
        "  https://www.example.com/an/address/that/is/longer/than/the/line/and/stays/whole",
        "  one very long first column that leaves no room at all here  and a second one that is long as well",
        "",
    ],
)
@pytest.mark.parametrize("columns", [44, 80])
def test_lines_are_folded_below_their_last_column(line: str, columns: int) -> None:
    """No text is lost, no line is wider than the terminal unless one word or the columns before are, and no stop begins one."""
    rows = list(folded(line, columns))
    text = "".join(rows)
    assert "".join(text.split()) == "".join(line.split())
    assert all(width(row) <= columns for row in rows) or "www" in line or "no room" in line
    assert all(row.lstrip()[:1] not in {"。", "、", "）", ")"} for row in rows)
    if len(rows) > 1:
        place = width(rows[0]) - width(rows[0].rpartition("  ")[2])
        assert {width(row) - width(row.lstrip()) for row in rows[1:]} == {place}


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_a_table_too_wide_for_the_terminal_shows_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file gets every column, a narrow terminal those that matter most."""
    rows = [("A", "B", "C"), ("1", "x" * 30, "3")]
    monkeypatch.setenv("COLUMNS", "30")
    assert list(columned(rows, Terminal(), ("A", "C"))) == ["A  C", "1  3"]
    assert list(columned(rows, StringIO(), ("A", "C")))[1].split() == list(rows[1])
    monkeypatch.setenv("COLUMNS", "36")
    assert list(columned(rows, Terminal(), ("A", "C")))[1].split() == list(rows[1])


def test_lines_are_folded_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes into a file or a pipe stays one line each; a terminal has as many columns as it says."""
    monkeypatch.setenv("COLUMNS", "40")
    line = "  1  " + "word " * 20
    assert list(fitted([line], StringIO())) == [line]
    assert len(list(fitted([line], Terminal()))) == 3


def test_runs_are_listed_the_newest_first(store: MadeStore, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu runs`` has a line a run; with --json an object with run, crawl, state, times and counts by kind."""
    second = store.add_run("other", state="stopped", stop_reason="interrupted")
    assert main(["runs", "--store", str(store.path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["RUN", str(second), "1"]
    assert "stopped by its owner" in lines[1]
    assert lines[2].endswith("fetched 2, excluded 1, missing 1, unreachable 1")
    assert main(["runs", "--store", str(store.path), "--json"]) == 0
    newest, oldest = map(json.loads, capsys.readouterr().out.splitlines())
    assert (newest["run"], newest["crawl"], newest["state"]) == (second, "other", "stopped")
    assert oldest["counts"] == {"fetched": 2, "excluded": 1, "missing": 1, "unreachable": 1}
    assert {"started_at", "ended_at"} <= oldest.keys()


def test_a_report_writes_files_and_tells_the_books(
    store: MadeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``purlieu report`` writes each format that is asked for into the folder and prints the books and the paths."""
    folder = tmp_path / "out"
    words = ["report", "latest", "--store", str(store.path), "-o", str(folder), "--format", "csv", "--format", "jsonl"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert sorted(path.name for path in folder.iterdir()) == ["ledger.csv", "ledger.jsonl"]
    assert all(str(path) in out for path in folder.iterdir())
    assert "URLs in all" in out


def test_a_report_takes_folder_formats_and_language_from_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without options a report goes where the run's own settings say, in their formats and language (R-1.7)."""
    made = MadeStore(tmp_path / "s.db")
    folder = tmp_path / "here"
    run = made.add_run("a b/c", toml=f'output = "{folder}"\nformats = ["csv"]\nlanguage = "ja"\n')
    assert main(["report", str(run), "--store", str(made.path)]) == 0
    assert (folder / "a b_c" / str(run) / "ledger.csv").is_file()
    assert "URL 合計" in capsys.readouterr().out
    made.close()


def test_a_run_without_a_result_file_says_why(
    store: MadeStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that was stopped by the system has no MF3.0 file, and the report says so (MF-30)."""
    store.update_run(state="failed", stop_reason="system:disk")
    assert main(["report", "1", "--store", str(store.path), "-o", str(tmp_path), "--format", "crawl_result"]) == 0
    assert "crawl_result_detail.csv.zip: The run was stopped by the system" in capsys.readouterr().out


@pytest.mark.parametrize("run", ["7", "newest", "-1", "1.0"])
def test_a_run_that_is_not_there_is_a_mistake(store: MadeStore, run: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown run ends with status 2 and names those that are there."""
    assert main(["report", "--store", str(store.path), "--", run]) == 2
    assert "(1)" in capsys.readouterr().err


def test_the_end_as_json_holds_the_same(store: MadeStore) -> None:
    """With --json the end is one object with state, books, hosts, findings and files."""
    facts = json.loads(json.dumps(summary.facts(of(store, files=("x",)))))
    assert facts["balanced"] is True
    assert {"purpose": "page", "kind": "fetched", "reason": "ok", "count": 2} in facts["endings"]
    assert facts["slowest"][0]["name"] == "slow.test"
    assert facts["files"] == ["x"]
