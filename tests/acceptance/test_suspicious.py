"""Suspicious runs of whole crawls, with their findings and exit status; limits; who is told after a run (R-8.1, R-8.2)."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.cli import summary
from purlieu.cli.main import main
from purlieu.crawl.after import tell
from purlieu.crawl.result import Result
from purlieu.response import Request
from purlieu.settings import AfterSettings
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import FakeClock
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import FakeWeb, answer


def run(folder: Path, pages: Mapping[str, Any], tree: Mapping[str, Any] | None = None) -> tuple[Result, list[str], int]:
    """Crawl a made site; return the result, the codes of its findings, and the exit status with --strict."""
    web = FakeWeb({f"{HOME}{path}": page for path, page in pages.items()})
    made = made_settings(folder / "s.db", tree)
    result = crawl(web, made)
    database = SqliteDatabase.reader(made.store)
    try:
        reader = Reader(database)
        row = reader.run(result.run)
        assert row
        told = summary.of_run(reader, row)
        found = [one.code for one in told.findings if one.code != "pages_vanished"]
        return result, found, summary.status(told, strict=True)
    finally:
        database.close()


def site(count: int, **more: Any) -> dict[str, Any]:
    """Return a sound site of so many pages, each with its own title and words."""
    names = [f"p{number}" for number in range(count - 1)]
    return {
        "": html(*names),
        **{
            name: html(title=f"Title {name}", body=f"words of {chr(97 + n % 26)}{'x' * n}")
            for n, name in enumerate(names)
        },
        **more,
    }


def test_a_sound_run_is_not_suspicious(tmp_path: Path) -> None:
    """A run of a sound site has no finding, alone and after another."""
    for _ in range(2):
        assert run(tmp_path, site(80))[1:] == ([], 0)


def test_half_the_pages_of_last_time(tmp_path: Path) -> None:
    """A run with less than half the pages of the last one is suspicious, with the numbers and a remedy (R-8.1)."""
    run(tmp_path, site(30))
    assert run(tmp_path, site(10))[1:] == (["fewer_pages"], 3)


def test_a_result_under_the_threshold_is_marked(tmp_path: Path) -> None:
    """Below the owner's share of the last run the result is under threshold: done, with its file, marked (R-8.1, MF-35)."""
    run(tmp_path, site(20))
    tree = {"limits": {"threshold": 0.9}}
    assert run(tmp_path, site(19), tree)[1:] == ([], 0)
    result, found, status = run(tmp_path, site(15), tree)
    assert (result.state, found, status) == ("done", ["under_threshold"], 3)


def test_a_limit_is_no_suspicion_and_a_soft_stop(tmp_path: Path) -> None:
    """A run that its owner's limit ended is done: what was under way finished, no half is missed (EN-62, BJ-41, BJ-43)."""
    run(tmp_path, site(40))
    result, found, status = run(tmp_path, site(40), {"limits": {"max_pages": 5}})
    assert (result.state, result.stop_reason, found, status) == ("done", "limit:pages", [], 0)
    assert result.counts["fetched.ok"] >= 5
    assert result.books_balanced


def test_all_links_lead_outside(tmp_path: Path) -> None:
    """A seed whose links all lead elsewhere is told with the host they lead to."""
    outside = [f"http://other.test/{n}" for n in range(5)]
    _, found, status = run(tmp_path, {"": html(*outside, "http://third.test/")})
    assert (found, status) == (["all_links_outside"], 3)
    assert run(tmp_path, {"": html(*outside)}, {"scope": {"only_seeds": True}})[1] == ["one_page_only"]


def test_one_page_only(tmp_path: Path) -> None:
    """A run of one page without links is suspicious."""
    assert run(tmp_path, {"": html()})[1:] == (["one_page_only"], 3)


@pytest.mark.parametrize("status", [401, 403])
def test_a_seed_that_keeps_the_crawler_out(tmp_path: Path, status: int) -> None:
    """A seed that answers 401 or 403 is told with that status and what to do."""
    assert run(tmp_path, {"": status})[1:] == (["nothing_fetched", "seed_forbidden"], 1)


def test_most_pages_with_one_ending(tmp_path: Path) -> None:
    """A run in which more than half of the pages ended alike, and not as pages, is suspicious."""
    pages = {**site(30), **{f"p{n}": 403 for n in range(20)}}
    assert run(tmp_path, pages)[1:] == (["mostly_one_ending"], 3)


def test_one_template_repeated(tmp_path: Path) -> None:
    """A server that gives one page under many addresses is suspicious, by content or by title."""
    names = [f"item?id={n}" for n in range(120)]
    one = {"": html(*names), **{name: html(title="Item", body="none") for name in names}}
    assert "same_content" in run(tmp_path, one)[1]
    titled = {
        "": html(*names),
        **{name: html(title="Login", body=f"words {'y' * n}") for n, name in enumerate(names)},
    }
    assert "same_title" in run(tmp_path / "two", titled)[1]


def test_a_resumed_run_is_judged_anew(tmp_path: Path) -> None:
    """What an earlier end of a run said is forgotten when a later end does not say it."""
    run(tmp_path, site(20))
    tree = {"limits": {"threshold": 0.9, "max_pages": 5}}
    assert run(tmp_path, site(20), tree)[1] == ["under_threshold"]
    web = FakeWeb({f"{HOME}{path}": page for path, page in site(20).items()})
    crawl(web, made_settings(tmp_path / "s.db", {"limits": {"threshold": 0.9}}), resume=True)
    database = SqliteDatabase.reader(str(tmp_path / "s.db"))
    last = Reader(database).latest()
    assert last
    assert Reader(database).findings(last) == []
    database.close()


# -- after a run -------------------------------------------------------------------------------------------------------

PRINT = "import sys, pathlib; pathlib.Path(sys.argv[1]).write_bytes(sys.stdin.buffer.read())"


def told(settings: AfterSettings, web: FakeWeb) -> list[tuple[str, str]]:
    """Tell of a run and return what failed."""
    return asyncio.run(tell(settings, b'{"run": 1}', web))


def test_the_command_reads_the_result(tmp_path: Path) -> None:
    """The owner's command is run without a shell and reads the result as JSON."""
    file = tmp_path / "a b;c"
    settings = AfterSettings((sys.executable, "-c", PRINT, str(file)))
    assert told(settings, FakeWeb({})) == []
    assert json.loads(file.read_bytes()) == {"run": 1}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((sys.executable, "-c", "raise SystemExit(4)"), "exit status 4"),
        (("/nowhere/at-all",), "No such file"),
        ((sys.executable, "-c", "import sys; sys.stdin.close()"), ""),
    ],
)
def test_a_command_that_fails_is_told(words: tuple[str, ...], why: str) -> None:
    """A command that cannot be run, fails, or reads nothing never fails the run; what went wrong is told."""
    failed = told(AfterSettings(words), FakeWeb({}))
    assert [what for what, _ in failed] == ([f"after.command ({words[0]})"] if why else [])
    assert all(why in told_why for _, told_why in failed)


def test_the_webhook_gets_the_result() -> None:
    """The webhook is sent the result by POST through the door of all requests; another answer than 2xx is a failure."""
    seen: list[Request] = []

    def hook(request: Request) -> Any:
        seen.append(request)
        return answer(status=204 if len(seen) == 1 else 500)

    web = FakeWeb({"https://hook.test/x": hook})
    settings = AfterSettings(webhook="https://hook.test/x")
    assert told(settings, web) == []
    assert told(settings, web) == [("after.webhook", "status 500")]
    assert (seen[0].method, seen[0].body, dict(seen[0].headers)["Content-Type"]) == (
        "POST", b'{"run": 1}', "application/json",
    )  # fmt: skip


def test_a_webhook_that_hangs_is_left(tmp_path: Path) -> None:
    """A webhook that does not answer in time is left, and told."""
    clock = FakeClock()

    async def hang() -> list[tuple[str, str]]:
        web = FakeWeb({"https://hook.test/": 200}, clock=FakeClock(by_itself=False), latency_seconds=1e6)
        return await tell(AfterSettings(webhook="https://hook.test/", timeout_seconds=0.01), b"{}", web)

    assert asyncio.run(hang()) == [("after.webhook", "it took longer than 0.01 s")]
    assert clock.now()


class Site(Loopback):
    """A site of one page that also takes what is sent to /hook."""

    def __init__(self) -> None:
        """Serve."""
        self.sent: list[Received] = []
        super().__init__(self._give)

    async def _give(self, received: Received, out: asyncio.StreamWriter) -> bool:
        if received.path == "/hook":
            self.sent.append(received)
            out.write(message(b"", status=200))
        elif received.path == "/":
            out.write(message(b"<title>one</title>"))
        else:
            out.write(message(b"", status=404))
        return True


def test_a_whole_session_tells_and_prunes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu crawl`` tells the webhook and the command at its end, prunes, notes what failed, and exits as without."""
    with Site() as served:
        file = tmp_path / "c.toml"
        file.write_text(
            f'name = "one"\nseeds = ["{served.origin}/"]\nstore = "{tmp_path}/s.db"\noutput = "{tmp_path}/out"\n'
            f'[retention]\nledger_runs = 1\n[after]\nwebhook = "{served.origin}/hook"\n'
            f'command = ["{sys.executable}", "-c", "raise SystemExit(7)"]\n',
            encoding="utf-8",
        )
        statuses = [main(["crawl", "-c", str(file), "-q", *strict]) for strict in ([], ["--strict"])]
    assert statuses == [0, 3]
    sent = [json.loads(one.body) for one in served.sent]
    assert [(one["run"], one["crawl"], one["state"], one["exit_status"]) for one in sent] == [
        (1, "one", "done", 0), (2, "one", "done", 3),
    ]  # fmt: skip
    assert "one_page_only" in [one["code"] for one in sent[1]["findings"]]
    assert served.sent[0].method == "POST"
    database = SqliteDatabase.reader(str(tmp_path / "s.db"))
    reader = Reader(database)
    newest, oldest = reader.runs()
    assert (newest.pruned_at, oldest.pruned_at is None) == (None, False)
    assert "after_failed" in [one.code for one in reader.findings(newest)]
    database.close()
    capsys.readouterr()
    assert main(["runs", "--store", str(tmp_path / "s.db"), "--json"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
