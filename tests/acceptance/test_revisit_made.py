"""Revisits of a made site whose pages change on schedule, with a sitemap that tells the truth and with one that lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.crawling import crawl, endings, made_settings

from purlieu.crawl.result import Result
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.made import Changes, MadeWeb, Sitemaps, fake
from purlieu.testing.made.words import Lastmod

PAGES, CHANGED = 4_000, 40
SAMPLE = 0.05
FAST = {"politeness": {"delay": 0, "connections": 8, "adaptive": False}, "history": {"sample": SAMPLE}}


def revisit(folder: Path, lastmod: Lastmod, epoch: int) -> tuple[Result, int, set[str], set[str]]:
    """Crawl the site as it is on a day; return the result, the requests, what was found changed and what had."""
    web = MadeWeb(
        pages=PAGES, links=6, page_bytes=(400, 900), sitemaps=Sitemaps(lastmod=lastmod),
        changes=Changes(schedule=((CHANGED / PAGES, 1),)),
    )  # fmt: skip
    clock = FakeClock(START + 86_400 * epoch)
    asked = fake(web, clock, lambda: epoch)
    tree: dict[str, Any] = {**FAST, "seeds": web.seeds(), "revisit": epoch > 0}
    result = crawl(asked, made_settings(folder / "s.db", tree), clock)
    assert result.books_balanced, result.faults
    found = {href for href, end in endings(folder / "s.db", result.run).items() if end == "fetched.ok"}
    assert len(endings(folder / "s.db", result.run)) == PAGES, "every page has a row, asked for or not"
    return result, len(asked.urls), found, {href for href, _ in web.changed(epoch - 1, epoch)} if epoch else set()


def test_an_honest_sitemap_saves_all_but_the_changes_and_the_sample(tmp_path: Path) -> None:
    """The second run asks for the changed pages, the sample and the sitemap, and finds every change (SM-71, issue)."""
    revisit(tmp_path, "honest", 0)
    for epoch in (1, 2):
        result, requests, found, changed = revisit(tmp_path, "honest", epoch)
        assert len(changed) == CHANGED
        assert changed <= found
        sampled = result.counts["unchanged.not_modified"]
        assert requests <= CHANGED + sampled + 3, "besides robots.txt, the sitemap and the start address"
        assert 0.6 * SAMPLE * PAGES < sampled < 1.4 * SAMPLE * PAGES


def test_a_lying_sitemap_is_noticed_and_the_changes_are_found(tmp_path: Path) -> None:
    """Dates that never move are noticed by the sample in the first run that relies on them; the next finds all (issue)."""
    revisit(tmp_path, "stale", 0)
    _, requests, found, changed = revisit(tmp_path, "stale", 1)
    assert 0 < len(found & changed) < len(changed), "only the sample sees any"
    assert requests < PAGES / 10
    _, _, found, changed = revisit(tmp_path, "stale", 2)
    assert changed <= found
    _, requests, found, changed = revisit(tmp_path, "stale", 3)
    assert changed <= found, "and from then on, as what has changed is asked for more often"
    assert requests < PAGES / 2
