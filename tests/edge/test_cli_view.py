"""What ``purlieu report RUN --format politeness`` and ``duplicates`` print."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.cli.main import main
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, answer


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of a run with two pages that say the same and one that nearly does."""
    path = tmp_path_factory.mktemp("view") / "s.db"
    dice = random.Random(1)
    words = [chr(97 + dice.randrange(26)) * 3 + chr(97 + dice.randrange(26)) for _ in range(300)]
    busy = iter([answer("", status=429, headers={"Retry-After": "3"})])
    pages: dict[str, Any] = {
        HOME: html("/a", "/b", "/c", "/d"),
        f"{HOME}a": html(body=" ".join(words)),
        f"{HOME}b": html(body=" ".join(words) + " 12"),
        f"{HOME}c": html(body=" ".join(words) + " else"),
        f"{HOME}d": lambda _: next(busy, html(body="quite another text")),
    }
    tree = {"ledger": {"near_duplicates": True}, "politeness": {"delay": 2.0}}
    clock = FakeClock()
    assert crawl(FakeWeb(pages, clock), made_settings(path, tree), clock).books_balanced
    return path


def test_politeness_as_a_table(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line for each host under its heads, and a sentence that says whether everything was kept, in each language."""
    for language, sentence in (("en", "No host was asked sooner"), ("ja", "早く"), ("zh", "提前")):
        assert main(["report", "latest", "--store", str(store), "--format", "politeness", "--lang", language]) == 0
        heads, host, _, told = capsys.readouterr().out.splitlines()
        assert heads.split()[:3] == ["HOST", "RULE", "PACE"]
        assert host.split()[:4] == ["site.test", "delay", "2.000", "s"]
        assert "1, longest 3.000 s, kept +" in host
        assert sentence in told


def test_hosts_that_were_asked_as_one_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each group has a line below the table, with its hosts and requests, as the table has no room for it (R-4.6)."""
    other = "http://two.test/"
    tree = {"seeds": [HOME, other], "group": [{"name": "both", "hosts": ["site.test", "two.test"]}]}
    crawl(FakeWeb({HOME: html(), other: html()}), made_settings(tmp_path / "s.db", tree))
    for language, sentence in (
        ("en", "Asked as one: list:both, 2 hosts, 4 requests."),
        ("ja", "2 件"),
        ("zh", "list:both"),
    ):
        words = ["report", "1", "--format", "politeness", "--store", str(tmp_path / "s.db"), "--lang", language]
        assert main(words) == 0
        assert sentence in capsys.readouterr().out.splitlines()[-2]


def test_politeness_as_json(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object a host, spans in seconds, with whether it was kept."""
    assert main(["report", "latest", "--store", str(store), "--format", "politeness", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["host"] == "site.test"
    assert (told["rule"], told["gap_seconds"], told["least_gap"], told["kept"]) == ("delay", 2.0, 2.0, True)
    assert (told["requests"], told["retry_afters"], told["errors"]) == (7, 1, 1)


def test_duplicates(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exact groups first, then near ones with one page of each exact group; the same as JSON."""
    assert main(["report", "latest", "--store", str(store), "--format", "duplicates"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 pages with the same text", f"  {HOME}a", f"  {HOME}b",
        "2 pages with nearly the same text", f"  {HOME}a", f"  {HOME}c",
    ]  # fmt: skip
    assert main(["report", "latest", "--store", str(store), "--format", "duplicates", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told == [
        {"exact": True, "count": 2, "urls": [f"{HOME}a", f"{HOME}b"]},
        {"exact": False, "count": 2, "urls": [f"{HOME}a", f"{HOME}c"]},
    ]


def test_the_books_as_json(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files are written with --json too, and the books are one object, with the files' paths (R-8.2)."""
    words = ["report", "latest", "--store", str(store), "--format", "csv", "-o", str(tmp_path), "--json"]
    assert main(words) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["run"], told["balanced"], told["files"]) == (1, True, [str(tmp_path / "ledger.csv")])


@pytest.mark.parametrize("other", ["csv", "duplicates"])
def test_what_is_printed_goes_alone(store: Path, other: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file beside what is printed, or two things to print, is the owner's mistake (exit status 2)."""
    assert main(["report", "latest", "--store", str(store), "--format", other, "--format", "politeness"]) == 2
    assert "write --format politeness" in capsys.readouterr().err
