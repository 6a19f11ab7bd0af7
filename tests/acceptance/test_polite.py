"""Politeness proven from the log of requests, exactly (R-4.2, R-4.6)."""

from __future__ import annotations

import random
import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.crawling import crawl, html, made_settings

from purlieu.response import Request
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import Asked, FakeWeb, Made, answer

HOSTS = ("a", "b", "c")
PAGES = 12


@given(
    delay=st.sampled_from([None, 0.0, 0.5, 3.0]),
    connections=st.sampled_from([None, 1, 3]),
    crawl_delay=st.sampled_from([None, "1", "2.5"]),
    failing=st.floats(0, 0.6),
    chance=st.integers(0, 999),
)
@settings(max_examples=40, deadline=None)
def test_no_host_is_hurried(
    delay: float | None, connections: int | None, crawl_delay: str | None, failing: float, chance: int
) -> None:
    """Between two starts lies the gap, on one connection also after each end; no more connections than granted."""
    clock, dice = FakeClock(), random.Random(chance)

    async def reply(request: Request) -> Made:
        await clock.sleep(dice.random() * 2)
        if request.url.endswith("/robots.txt"):
            lines = f"User-agent: *\nCrawl-delay: {crawl_delay}\n" if crawl_delay else ""
            return answer(lines, url=request.url)
        if dice.random() < failing:
            return 503
        return html(*[f"http://{host}.test/{dice.randrange(PAGES)}" for host in HOSTS for _ in range(4)])

    web = FakeWeb(reply, clock)
    tree = {
        "seeds": [f"http://{host}.test/" for host in HOSTS],
        "politeness": {
            name: value
            for name, value in {"delay": delay, "connections": connections, "retry_seconds": 1.0}.items()
            if value is not None
        },
    }
    with tempfile.TemporaryDirectory() as folder:
        assert crawl(web, made_settings(Path(folder) / "s.db", tree), clock).books_balanced
    gap = max(0.25 if delay is None else delay, 0.0)
    for host in HOSTS:
        asked = sorted((one for one in web.asked if f"//{host}.test" in one.url), key=lambda one: one.began_at)
        # What robots.txt asks for is known once it is read.
        after_robots = asked[1:]
        slow = max(gap, float(crawl_delay or 0))
        for one, two in pairwise(after_robots):
            assert two.began_at - one.began_at >= slow - 1e-6
            if (connections or 1) == 1:
                assert two.began_at - one.ended_at >= slow - 1e-6
        assert _most_at_once(asked) <= (connections or 1)


def _most_at_once(asked: list[Asked]) -> int:
    moments = sorted([(one.began_at, 1) for one in asked] + [(one.ended_at, -1) for one in asked])
    most = now = 0
    for _, step in moments:
        now += step
        most = max(most, now)
    return most
