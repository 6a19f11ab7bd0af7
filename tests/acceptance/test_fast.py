"""A fast run keeps to the same rules as a slow one (R-2.1, R-4.2, R-7.1)."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.crawling import crawl, html, ledger, made_settings

from purlieu.response import Request
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

HOME = "http://one.test/"
PAGES = 60
DELAY_SECONDS = 0.5


def web(clock: FakeClock, asked: list[tuple[float, str]], seconds: float) -> FakeWeb:
    """Return a site with what a crawl meets: closed folders, other hosts, redirects, canonicals, nofollow, gaps."""

    async def reply(request: Request) -> Made:
        asked.append((clock.monotonic(), request.url))
        await clock.sleep(seconds)
        if request.url == f"{HOME}robots.txt":
            return answer("User-agent: *\nDisallow: /closed/\n", url=request.url)
        path = request.url.removeprefix(HOME)
        number = int(path) if path.isdecimal() else 0
        if path and not number:
            return 404
        if number % 10 == 7:
            return redirect(f"{HOME}{number + 1}")
        links = [f"{HOME}{number * 3 + step}" for step in range(1, 4) if number * 3 + step < PAGES]
        links += [
            f"{HOME}closed/{number}",
            f"http://two.test/{number % 4}",
            f"{HOME}none/{number % 3}",
            "mailto:a@b.test",
        ]
        head = f'<link rel="canonical" href="{HOME}{number // 2}">' if number % 5 == 4 else ""
        return html(*links, title=f"Page {number}", head=head, body="".join(map(chr, range(97, 97 + number % 26 + 1))))

    return FakeWeb(reply, clock)


def run(
    folder: Path, politeness: dict[str, Any], seconds: float
) -> tuple[Any, dict[Any, Any], list[tuple[float, str]]]:
    """Crawl the site; return the result, the ledger, and when what was asked for."""
    clock = FakeClock()
    asked: list[tuple[float, str]] = []
    folder.mkdir()
    tree = {"seeds": [HOME], "name": "one", "politeness": politeness}
    result = crawl(web(clock, asked, seconds), made_settings(folder / "s.db", tree), clock)
    return result, ledger(folder / "s.db"), asked


def test_a_fast_run_ends_as_a_slow_one(tmp_path: Path) -> None:
    """Ledger, books, scope and robots are those of a slow run; each asks for the same, and the slow one keeps its gap."""
    slow, slow_ledger, slow_asked = run(tmp_path / "slow", {"connections": 1, "delay": DELAY_SECONDS}, 0.01)
    fast, fast_ledger, fast_asked = run(tmp_path / "fast", {"connections": 8, "delay": 0.0, "adaptive": False}, 0.2)
    assert fast_ledger == slow_ledger
    assert fast.books_balanced
    assert slow.books_balanced
    assert fast.counts == slow.counts
    assert fast.counts["excluded.robots"] > PAGES // 2
    assert sorted(url for _, url in fast_asked) == sorted(url for _, url in slow_asked)
    assert not [url for _, url in fast_asked if "/closed/" in url or "two.test" in url]
    assert min(after - before for (before, _), (after, _) in pairwise(slow_asked)) >= DELAY_SECONDS - 1e-6
    assert fast.seconds < slow.seconds
