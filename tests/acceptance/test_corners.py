"""Where two rules meet: one address for several purposes, late landings, changed settings, faults of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.crawl.clock import SteadyClock
from purlieu.crawl.local import Crawl
from purlieu.errors import StoreError
from purlieu.response import Request
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*locs: str) -> Made:
    """Return a sitemap."""
    return answer(f"<urlset {XMLNS}>{''.join(f'<url><loc>{loc}</loc></url>' for loc in locs)}</urlset>", url="/x.xml")


def index(*locs: str) -> Made:
    """Return a sitemap index."""
    entries = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return answer(f"<sitemapindex {XMLNS}>{entries}</sitemapindex>", url="/x.xml")


def test_sitemaps_that_come_before_the_landing_are_read(tmp_path: Path) -> None:
    """A sitemap index and its children are met before the seed has landed, and are judged again then (R-3.2)."""
    web = FakeWeb(
        {
            f"{HOME}robots.txt": "Sitemap: /index.xml\nSitemap: http://maps.test/far.xml\n",
            f"{HOME}index.xml": index(f"{HOME}child.xml"),
            f"{HOME}child.xml": urlset(f"{HOME}only-in-child"),
            "http://maps.test/far.xml": urlset(f"{HOME}only-far"),
            f"{HOME}start.html": html(),
            f"{HOME}only-in-child": html(),
            f"{HOME}only-far": html(),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"seeds": [f"{HOME}start.html"]}))
    assert result.books_balanced, result.faults
    found = endings(store)
    assert (found[f"{HOME}only-in-child"], found[f"{HOME}only-far"]) == ("fetched.ok", "fetched.ok")
    assert ledger(store)["sitemap", "http://maps.test/far.xml"]["rule"] == "named-sitemap"


@pytest.mark.parametrize("robots", [redirect("/"), "Sitemap: http://site.test/\n"])
def test_a_page_that_answers_for_another_purpose_is_read_as_a_page(tmp_path: Path, robots: Made) -> None:
    """G robots.txt redirects to the home page, or names it as a sitemap, T its links are followed (R-1.3)."""
    web = FakeWeb({f"{HOME}robots.txt": robots, HOME: html("/deep", title="home"), f"{HOME}deep": html()})
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    assert endings(store)[f"{HOME}deep"] == "fetched.ok"
    assert ledger(store)["page", HOME]["title"] == "home"
    assert web.urls.count(HOME) == 1


def test_a_robots_txt_that_is_linked_and_redirects_passes_its_target_on(tmp_path: Path) -> None:
    """The page of the same address redirects too, and its target is a candidate (R-1.3, R-2.2)."""
    web = FakeWeb({f"{HOME}robots.txt": redirect("/r2.txt"), f"{HOME}r2.txt": "", HOME: html("/robots.txt")})
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    assert endings(store)[f"{HOME}robots.txt"] == "redirected.permanent"
    assert endings(store)[f"{HOME}r2.txt"].startswith("fetched")


def test_robots_txt_files_that_redirect_to_each_other_in_one_batch(tmp_path: Path) -> None:
    """G two origins answered together, one by a redirect to the other, T the rules of the other hold for both (ST-1)."""
    web = FakeWeb(
        {
            "http://a.test/robots.txt": redirect("http://b.test/robots.txt"),
            "http://b.test/robots.txt": "User-agent: *\nDisallow: /no\n",
            "http://a.test/": html("/no"),
            "http://b.test/": html("/no"),
        }
    )
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store, {"seeds": ["http://a.test/", "http://b.test/"]})).books_balanced
    found = endings(store)
    assert (found["http://a.test/"], found["http://a.test/no"]) == ("fetched.ok", "excluded.robots")


def test_a_login_in_a_link_names_no_other_page(tmp_path: Path) -> None:
    """What is never sent makes no other address, so a site is not crawled once for each login (R-1.2)."""
    web = FakeWeb({HOME: html("http://me:secret@site.test/a", "http://you@site.test/a"), f"{HOME}a": html()})
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    assert web.urls.count(f"{HOME}a") == 1
    assert not [url for url in endings(store) if "@" in url]


def test_resuming_with_other_settings_judges_again(tmp_path: Path) -> None:
    """What waits and is out by the settings of today is excluded, what was refused and is in is fetched (R-3.1)."""
    pages: dict[str, Made] = {
        HOME: html("/a", "http://other.test/", *[f"/{n}" for n in range(9)]),
        "http://other.test/": html(),
        f"{HOME}a": html("/b"),
        f"{HOME}b": html("/c"),
    }
    store = tmp_path / "s.db"
    limit = {"limits": {"max_pages": 3}}
    crawl(FakeWeb(pages), made_settings(store, {**limit, "name": "x", "scope": {"mode": "any"}}))
    narrow = {"name": "x", "limits": {"max_pages": 20, "max_depth": 2}}
    first = FakeWeb(pages)
    result = crawl(first, made_settings(store, narrow), resume=True)
    assert result.books_balanced, result.faults
    assert "http://other.test/" not in first.urls or endings(store)["http://other.test/"] == "fetched.ok"
    whole = tmp_path / "whole.db"
    crawl(FakeWeb(pages), made_settings(whole, narrow))
    if "http://other.test/" not in first.urls:
        assert endings(store).keys() == endings(whole).keys()


def test_resuming_with_a_wider_scope_finds_what_was_refused(tmp_path: Path) -> None:
    """Refusals beyond the list are found again in the stored links of the pages (R-1.4, R-3.1)."""
    pages: dict[str, Made] = {HOME: html("/a", *[f"http://other.test/{n}" for n in range(9)]), f"{HOME}a": html()}
    store = tmp_path / "s.db"
    narrow = {"name": "x", "limits": {"max_pages": 1}, "ledger": {"refusals_per_host": 2}}
    crawl(FakeWeb(pages), made_settings(store, narrow))
    result = crawl(FakeWeb(pages), made_settings(store, {"name": "x", "scope": {"mode": "any"}}), resume=True)
    assert result.books_balanced, result.faults
    assert len([url for url in endings(store) if url.startswith("http://other.test/")]) == 9


class _Breaking(apsw.Connection):
    """A connection whose disk is full for a while."""


def _broken(path: Path, at: int) -> Callable[[Request], Made]:
    """Return a web whose ``at``-th answer fills the store's disk: no more pages may be added to the file."""
    asked = 0

    def reply(request: Request) -> Made:
        nonlocal asked
        asked += 1
        if asked == at:
            connection = apsw.Connection(str(path))
            connection.execute("CREATE TRIGGER full BEFORE INSERT ON response BEGIN SELECT RAISE(ABORT, 'full'); END")
            connection.close()
        return html(*[f"/{asked}-{n}" for n in range(5)]) if "robots" not in request.url else 404

    return reply


def test_a_batch_that_cannot_be_written_is_fetched_again_and_nothing_else(tmp_path: Path) -> None:
    """A fault of the store ends the run at once; after the remedy it resumes, and the books balance (R-7.1, R-8.1)."""
    store = tmp_path / "s.db"
    settings = made_settings(store, {"limits": {"max_pages": 30}})

    async def main() -> None:
        async with Crawl(settings, fetcher=FakeWeb(_broken(store, 12)), clock=FakeClock()) as run:
            await run.run()

    with pytest.raises(StoreError):
        asyncio.run(main())
    connection = apsw.Connection(str(store))
    connection.execute("DROP TRIGGER full")
    assert connection.execute("SELECT state FROM run").fetchone() == ("failed",)
    connection.close()
    result = crawl(FakeWeb(_broken(store, -1)), settings, resume=True)
    assert result.books_balanced, result.faults


def test_a_newer_run_is_the_one_to_resume(tmp_path: Path) -> None:
    """A run that was killed before a newer one of the same crawl began is marked so, and not resumed."""
    store = tmp_path / "s.db"
    crawl(FakeWeb({HOME: html()}), made_settings(store))
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE run SET state = 'running', stop_reason = NULL")
    connection.close()
    crawl(FakeWeb({HOME: html()}), made_settings(store))
    connection = apsw.Connection(str(store))
    states = list(connection.execute("SELECT state, stop_reason FROM run ORDER BY id"))
    connection.close()
    assert states == [("failed", "system:killed"), ("done", "finished")]


def test_a_clock_that_is_set_back_stops_no_crawl() -> None:
    """The time of day is taken once and then follows the monotonic clock."""

    class Jumping(FakeClock):
        def now(self) -> float:
            return 1_000_000.0 if self.monotonic() else 2_000_000.0

    async def main() -> None:
        clock = SteadyClock(Jumping())
        before = clock.now()
        await clock.sleep(5)
        assert clock.now() - before == 5

    asyncio.run(main())


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM entry WHERE href LIKE '%/2'",
        "UPDATE entry SET reason = 'empty' WHERE href LIKE '%/2' AND kind IS NOT NULL",
        "UPDATE entry SET attempts = attempts + 1 WHERE href LIKE '%/2'",
        "DELETE FROM refusal WHERE href LIKE 'http://other%'",
        "DELETE FROM refusal_count",
        "UPDATE run SET counters = json_set(counters, '$.admitted', 1)",
    ],
)
def test_every_damage_shows_in_the_books(tmp_path: Path, damage: str) -> None:
    """Each of the three counts is damaged in turn, and each time the run is marked bad (R-7.1)."""
    store = tmp_path / "s.db"
    links = [f"/{n}" for n in range(4)]

    def reply(request: Request) -> Made:
        if request.url == f"{HOME}late":
            connection = apsw.Connection(str(store))
            connection.execute(damage)
            connection.close()
        return html(*links, "/late", "http://other.test/", "mailto:a@b") if "robots" not in request.url else 404

    # The last page of all does the damage, when everything else is written.
    settings = made_settings(store, {"limits": {"max_depth": 1}})
    crawl(FakeWeb(lambda request: html(*links, "http://other.test/", "mailto:a@b") if "robots" not in request.url else 404),
          settings)  # fmt: skip
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE run SET state = 'stopped'")
    connection.execute(damage)
    connection.close()
    result = crawl(FakeWeb(reply), settings, resume=True)
    assert not result.books_balanced
    assert result.faults
