"""Killed processes lose nothing: the resumed ledger is that of an undisturbed run (R-1.6, R-4.3)."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import apsw
from tests.crawling import html, ledger

from purlieu.testing.serve import ServedFolder

PAGES = 400
KILLS = 8


def made_site(folder: Path) -> None:
    """Write pages that link to each other, to nowhere and out."""
    for number in range(PAGES):
        links = [f"/{(number * 7 + step) % PAGES}.html" for step in range(1, 9)]
        if number % 20 == 0:
            links += [f"/missing-{number}.html", f"http://other.test/{number}"]
        (folder / f"{number}.html").write_text(html(*links, title=f"page {number}"), encoding="utf-8")
    (folder / "index.html").write_text(html("/0.html"), encoding="utf-8")


def command(url: str, store: Path, *more: str) -> list[str]:
    """Return the command line of a crawl; one connection and a pause make it last some seconds."""
    return [
        sys.executable, "-m", "purlieu", "crawl", url, "--store", str(store), "--output", str(store.parent / "out"),
        "-q", "--delay", "0.005", "--connections", "4", *more,
    ]  # fmt: skip


def test_killed_runs_end_like_an_undisturbed_one(tmp_path: Path) -> None:
    """``kill -9`` at random moments, then ``--resume``: the same final set, no URL twice, at most the batch in flight again."""
    (tmp_path / "site").mkdir()
    made_site(tmp_path / "site")
    whole, killed = tmp_path / "whole.db", tmp_path / "killed.db"
    dice = random.Random(7)
    with ServedFolder(tmp_path / "site") as site:
        subprocess.run(command(site.url, whole), check=True, timeout=120)
        kills, finished, more = 0, False, list[str]()
        while not finished:
            process = subprocess.Popen(command(site.url, killed, *more), stdout=subprocess.DEVNULL)
            try:
                finished = process.wait(timeout=dice.uniform(0.4, 1.2) if kills < KILLS else 120) == 0
                assert process.returncode in {0, -signal.SIGKILL}
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
                more = ["--resume"] if killed.exists() and _has_run(killed) else []
    assert kills >= 3, "the site was crawled before it could be killed"
    one, other = ledger(whole), ledger(killed)
    for row in (*one.values(), *other.values()):
        row.pop("attempts")
    assert other == one
    assert len(one) > PAGES


def _has_run(store: Path) -> bool:
    """Return whether the process lived long enough to begin its run."""
    try:
        connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
        return connection.execute("SELECT count(*) FROM run").fetchone() != (0,)
    except apsw.Error:
        return False
