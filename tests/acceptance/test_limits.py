"""The owner's limits are soft stops, and a run says which of them ended it (R-8.1, BJ-40 to BJ-43, EN-62)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, endings, html, made_settings

from purlieu import report
from purlieu.cli.main import main
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb

NAMES = [f"p{n}" for n in range(30)]
PAGES: dict[str, Any] = {HOME: html(*NAMES), **{f"{HOME}{name}": html(body=name) for name in NAMES}}


def limited(folder: Path, **limits: Any) -> tuple[Any, list[str]]:
    """Crawl the site with eight connections and slow answers; return the result and the pages asked for."""
    clock = FakeClock()
    web = FakeWeb(PAGES, clock, latency_seconds=1.0)
    tree = {"limits": limits, "politeness": {"connections": 8, "delay": 0}}
    result = crawl(web, made_settings(folder / "s.db", tree), clock)
    return result, [url for url in web.urls if not url.endswith("robots.txt")]


def test_there_is_no_limit_unless_one_is_set(tmp_path: Path) -> None:
    """All limits are off by default (BJ-40)."""
    result, asked = limited(tmp_path)
    assert (result.state, result.stop_reason, len(asked)) == ("done", "finished", 31)


@pytest.mark.parametrize(("limit", "value"), [("max_pages", 12), ("max_targets", 12), ("max_seconds", 3)])
def test_a_limit_is_a_soft_stop(tmp_path: Path, limit: str, value: int) -> None:
    """At a limit nothing new starts, what is under way ends as it would, and all files are written (BJ-41, EN-62, R-8.1)."""
    result, asked = limited(tmp_path, **{limit: value})
    ended = endings(tmp_path / "s.db")
    assert (result.state, result.stop_reason) == ("done", f"limit:{limit.removeprefix('max_')}")
    assert 0 < len(asked) < 31
    assert {url for url, ending in ended.items() if ending == "fetched.ok"} == set(asked)
    assert set(ended.values()) == {"fetched.ok", "abandoned.run_limit"}
    assert report.write(str(tmp_path / "s.db"), 1, tmp_path / "out", ["crawl_result"])


def test_targets_under_way_count(tmp_path: Path) -> None:
    """``max_targets`` counts what has ended and what is under way together, so no more than that are ever asked (BJ-43)."""
    assert len(limited(tmp_path, max_targets=12)[1]) == 12


def test_the_run_names_its_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that a limit ended is done, not stopping, and is marked with the limit's name (BJ-42)."""
    limited(tmp_path, max_seconds=3)
    assert main(["runs", "--store", str(tmp_path / "s.db"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["state"], told["stop_reason"], told["shown_state"]) == ("done", "limit:seconds", "limit")
