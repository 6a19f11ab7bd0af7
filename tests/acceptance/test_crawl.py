"""Whole crawls: scope, redirects, robots, limits, resuming, and books that balance (rules 1 to 8)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.crawl.local import Crawl
from purlieu.errors import NothingToResume, StoreBusy
from purlieu.response import Fault, Request
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

SITE: dict[str, Made] = {
    HOME: html("/a", "/b", "http://other.test/x", "mailto:me@site.test", "http://["),
    f"{HOME}a": html("/b", "/c"),
    f"{HOME}b": html("/"),
    f"{HOME}c": redirect("/d"),
    f"{HOME}d": html("/missing"),
}


def test_every_url_has_one_ending(tmp_path: Path) -> None:
    """Each URL found has one row with one ending, in or out (R-1.4, R-7.1)."""
    store = tmp_path / "s.db"
    result = crawl(FakeWeb(SITE), made_settings(store))
    assert result.books_balanced, result.faults
    assert endings(store) == {
        HOME: "fetched.ok",
        f"{HOME}a": "fetched.ok",
        f"{HOME}b": "fetched.ok",
        f"{HOME}c": "redirected.permanent",
        f"{HOME}d": "fetched.ok",
        f"{HOME}missing": "missing.not_found",
        "http://other.test/x": "excluded.scope",
        "http://[": "excluded.invalid_url",
    }
    assert endings(store, purpose="robots") == {f"{HOME}robots.txt": "missing.not_found"}


def test_nothing_is_fetched_twice(tmp_path: Path) -> None:
    """One response serves all purposes of a URL; it is fetched once (R-1.3)."""
    web = FakeWeb(
        {HOME: html("/robots.txt", "/"), f"{HOME}robots.txt": answer("User-agent: *\nAllow: /\n", url="/r.txt")}
    )
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store)).books_balanced
    assert sorted(web.urls) == [HOME, f"{HOME}robots.txt"]
    assert endings(store)[f"{HOME}robots.txt"] == "fetched.ok"


def test_a_redirected_seed_moves_the_scope(tmp_path: Path) -> None:
    """G seed redirects to another host, T its links are judged against the landing host (EN-13, EN-17, R-3.2)."""
    web = FakeWeb(
        {
            HOME: redirect("http://site.go.test/"),
            "http://site.go.test/": html("/in", "http://site.test/out"),
            "http://site.go.test/in": html(),
        }
    )
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store)).books_balanced
    found = endings(store)
    assert found["http://site.go.test/in"] == "fetched.ok"
    assert found["http://site.test/out"] == "excluded.scope"
    assert ledger(store)["page", "http://site.go.test/"]["rule"] == "seed-redirect"


def test_the_original_seed_can_stay_the_measure(tmp_path: Path) -> None:
    """G ``follow_redirected_seed = false``, T the landing page is fetched and its links judged by the seed (EN-18, AMB-EN-3)."""
    web = FakeWeb(
        {
            HOME: redirect("http://site.go.test/"),
            "http://site.go.test/": html("/in", "http://site.test/back"),
            f"{HOME}back": html(),
        }
    )
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store, {"scope": {"follow_redirected_seed": False}})).books_balanced
    found = endings(store)
    assert found["http://site.go.test/in"] == "excluded.scope"
    assert found[f"{HOME}back"] == "fetched.ok"


def test_refusals_are_judged_again_when_a_site_lands(tmp_path: Path) -> None:
    """G a second seed that lands late on a host refused before, T the refused URL is fetched (R-3.2)."""
    clock = FakeClock()

    async def late(_: Request) -> Made:
        await clock.sleep(20)
        return redirect("http://late.test/")

    web = FakeWeb(
        {
            HOME: html("http://late.test/page"),
            "http://slow.test/": late,
            "http://late.test/": html(),
            "http://late.test/page": html(),
        },
        clock,
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"seeds": [HOME, "http://slow.test/"]}), clock)
    assert result.books_balanced, result.faults
    assert endings(store)["http://late.test/page"] == "fetched.ok"


def test_redirects_end_by_their_landing(tmp_path: Path) -> None:
    """Redirects out of scope, in a circle, on and on, or to nowhere are misdirected (R-2.5, section 6)."""
    web = FakeWeb(
        {
            HOME: html("/out", "/loop1", "/chain0", "/nowhere", "/js", "/gone"),
            f"{HOME}out": redirect("http://other.test/"),
            f"{HOME}loop1": redirect("/loop2"),
            f"{HOME}loop2": redirect("/loop1"),
            **{f"{HOME}chain{n}": redirect(f"/chain{n + 1}") for n in range(12)},
            f"{HOME}nowhere": answer(status=302),
            f"{HOME}js": redirect("javascript:alert(1)"),
            f"{HOME}gone": redirect("/404"),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    found = endings(store)
    assert found[f"{HOME}out"] == "misdirected.out_of_scope"
    assert found["http://other.test/"] == "excluded.scope"
    assert found[f"{HOME}loop1"] == "misdirected.loop"
    assert found[f"{HOME}loop2"] == "misdirected.loop"
    assert found[f"{HOME}chain0"] == "misdirected.too_many"
    assert found[f"{HOME}chain10"] == "misdirected.too_many"
    assert found[f"{HOME}chain11"] == "excluded.depth"
    assert found[f"{HOME}nowhere"] == "misdirected.bad_location"
    assert found[f"{HOME}js"] == "misdirected.bad_location"
    assert found[f"{HOME}gone"] == "redirected.permanent"
    assert "http://other.test/" not in web.urls


def test_robots_rules_are_obeyed_on_every_way_in(tmp_path: Path) -> None:
    """Links, redirect targets and canonical targets meet robots.txt (ST-6, house section 2)."""
    web = FakeWeb(
        {
            f"{HOME}robots.txt": "User-agent: *\nDisallow: /no\n",
            HOME: html("/no/link", "/moved", head='<link rel="canonical" href="/no/canonical">'),
            f"{HOME}moved": redirect("/no/target"),
        }
    )
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store)).books_balanced
    found = endings(store)
    for path in ("no/link", "no/target", "no/canonical"):
        assert found[f"{HOME}{path}"] == "excluded.robots"
        assert f"{HOME}{path}" not in web.urls
    assert ledger(store)["page", f"{HOME}no/link"]["rule"] == "robots:2"


def test_an_unreachable_robots_txt_ends_its_pages(tmp_path: Path) -> None:
    """5xx for robots.txt is a complete disallow after three tries (ST-3, R-4.5); the pages' ending is derived (R-1.6)."""
    web = FakeWeb({HOME: html(), f"{HOME}robots.txt": 503})
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    assert web.urls == [f"{HOME}robots.txt"] * 3
    assert endings(store) == {HOME: "unreachable.robots_unreachable"}
    assert result.good == 0


def test_robots_redirects_are_followed_five_times(tmp_path: Path) -> None:
    """Five hops are followed, also across hosts, and hold for the first authority (ST-1)."""
    hops = {f"http://r{n}.test/robots.txt": redirect(f"http://r{n + 1}.test/robots.txt") for n in range(1, 5)}
    web = FakeWeb(
        {
            f"{HOME}robots.txt": redirect("http://r1.test/robots.txt"),
            **hops,
            "http://r5.test/robots.txt": "User-agent: *\nDisallow: /no\n",
            HOME: html("/no", "/yes"),
            f"{HOME}yes": html(),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    found = endings(store)
    assert found[f"{HOME}no"] == "excluded.robots"
    assert found[f"{HOME}yes"] == "fetched.ok"


def test_a_robots_chain_of_six_counts_as_no_file(tmp_path: Path) -> None:
    """Beyond five hops the file may be treated as unavailable (AMB-ST-1)."""
    hops = {f"http://r{n}.test/robots.txt": redirect(f"http://r{n + 1}.test/robots.txt") for n in range(1, 9)}
    web = FakeWeb({f"{HOME}robots.txt": redirect("http://r1.test/robots.txt"), **hops, HOME: html()})
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store)).books_balanced
    assert endings(store)[HOME] == "fetched.ok"
    assert "http://r6.test/robots.txt" not in web.urls


def test_a_robots_txt_that_redirects_in_a_circle_counts_as_no_file(tmp_path: Path) -> None:
    """A circle of robots.txt redirects ends like a chain that is too long (AMB-ST-1), and nothing waits for ever."""
    web = FakeWeb(
        {
            f"{HOME}robots.txt": redirect("/r2"),
            f"{HOME}r2": redirect("/robots.txt"),
            HOME: html("http://self.test/"),
            "http://self.test/robots.txt": redirect("/robots.txt"),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"seeds": [HOME, "http://self.test/"]}))
    assert result.books_balanced, result.faults
    assert endings(store) == {HOME: "fetched.ok", "http://self.test/": "missing.not_found"}


def test_a_robots_txt_is_asked_for_again_when_it_is_old(tmp_path: Path) -> None:
    """A cached copy is not used for more than a day, here a minute (ST-4); what it says then holds."""
    clock = FakeClock()
    rules = iter(["", "User-agent: *\nDisallow: /late\n"])

    def robots(_: Request) -> Made:
        return answer(next(rules), url="/robots.txt")

    links = [f"/{number}" for number in range(100)]
    web = FakeWeb({HOME: html(*links), f"{HOME}robots.txt": robots, f"{HOME}99": html("/late")}, clock)
    store = tmp_path / "s.db"
    tree = {"robots": {"max_age_seconds": 60}, "politeness": {"delay": 0.9}}
    result = crawl(web, made_settings(store, tree), clock)
    assert result.books_balanced, result.faults
    assert web.urls.count(f"{HOME}robots.txt") == 2
    assert endings(store)[f"{HOME}late"] == "excluded.robots"


def test_an_origins_pages_end_when_it_asks_for_too_long_a_delay(tmp_path: Path) -> None:
    """A Crawl-delay over the maximum drops the origin (EN-51); -1 obeys any (EN-52)."""
    pages = {f"{HOME}robots.txt": "User-agent: *\nCrawl-delay: 31\n", HOME: html()}
    dropped, obeyed = tmp_path / "1.db", tmp_path / "2.db"
    assert crawl(FakeWeb(pages), made_settings(dropped)).books_balanced
    assert endings(dropped)[HOME] == "abandoned.delay_too_long"
    crawl(FakeWeb(pages), made_settings(obeyed, {"politeness": {"max_crawl_delay": -1}}))
    assert endings(obeyed)[HOME] == "fetched.ok"


def test_depth_and_nofollow_refuse_until_a_better_way_is_found(tmp_path: Path) -> None:
    """A URL refused for depth or nofollow becomes due when found better (R-2.1)."""
    web = FakeWeb(
        {
            HOME: html("/1") + '<a rel="nofollow" href="/n">n</a>',
            f"{HOME}1": html("/2", "/n"),
            f"{HOME}2": html("/3"),
            f"{HOME}n": html("/deep"),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"limits": {"max_depth": 2}}))
    assert result.books_balanced, result.faults
    found = endings(store)
    assert found[f"{HOME}n"] == "fetched.ok"
    assert found[f"{HOME}3"] == "excluded.depth"
    assert ledger(store)["page", f"{HOME}n"]["depth"] == 1


def test_a_page_limit_is_exact_and_can_be_raised_by_resuming(tmp_path: Path) -> None:
    """``max_pages`` ends a run softly as done (R-8.1); the rest is ``abandoned.run_limit`` and a resume goes on (R-1.6)."""
    store = tmp_path / "s.db"
    web = FakeWeb({HOME: html(*[f"/{n}" for n in range(20)]), **{f"{HOME}{n}": html() for n in range(20)}})
    first = crawl(web, made_settings(store, {"limits": {"max_pages": 5}}))
    assert first.books_balanced, first.faults
    assert (first.state, first.stop_reason) == ("done", "limit:pages")
    assert sum(1 for url in web.urls if not url.endswith("robots.txt")) == 5
    assert list(endings(store).values()).count("abandoned.run_limit") == 16
    again = crawl(web, made_settings(store), resume=True)
    assert again.books_balanced, again.faults
    assert set(endings(store).values()) == {"fetched.ok"}
    assert len(web.urls) == len(set(web.urls))


def test_a_time_limit_ends_a_run(tmp_path: Path) -> None:
    """``max_seconds`` is the owner's limit too (R-8.1, BJ-41)."""
    clock = FakeClock()
    store = tmp_path / "s.db"
    web = FakeWeb(
        {HOME: html(*[f"/{n}" for n in range(100)]), **{f"{HOME}{n}": html() for n in range(100)}}, clock, 1.0
    )
    result = crawl(web, made_settings(store, {"limits": {"max_seconds": 30}}), clock)
    assert (result.state, result.stop_reason, result.books_balanced) == ("done", "limit:seconds", True)
    assert 5 < len(web.urls) < 32


def test_stopping_and_resuming_loses_nothing(tmp_path: Path) -> None:
    """A stopped run resumes where it was, and ends as an undisturbed one (EN-64, R-1.6)."""
    pages = {HOME: html(*[f"/{n}" for n in range(50)]), **{f"{HOME}{n}": html(f"/{n + 1}") for n in range(60)}}
    whole, parts = tmp_path / "whole.db", tmp_path / "parts.db"
    crawl(FakeWeb(pages), made_settings(whole))

    async def interrupted() -> None:
        async with Crawl(made_settings(parts), fetcher=FakeWeb(pages), clock=FakeClock()) as run:
            count = 0
            async for _ in run:
                count += 1
                if count == 10:
                    run.stop()
        assert run.result.state == "stopped"
        assert run.result.books_balanced, run.result.faults

    asyncio.run(interrupted())
    assert "abandoned.stopped" in endings(parts).values()
    crawl(FakeWeb(pages), made_settings(parts), resume=True)
    assert ledger(parts) == ledger(whole)


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    """With no unfinished run ``--resume`` says so."""
    store = tmp_path / "s.db"
    crawl(FakeWeb({HOME: html()}), made_settings(store))
    with pytest.raises(NothingToResume, match="has finished"):
        crawl(FakeWeb({HOME: html()}), made_settings(store), resume=True)


def test_a_second_process_is_told_that_the_store_is_held(tmp_path: Path) -> None:
    """Another crawl with the same store is refused at once (R-4.3)."""

    async def both() -> None:
        settings = made_settings(tmp_path / "s.db")
        async with Crawl(settings, fetcher=FakeWeb({HOME: html()}), clock=FakeClock()):
            with pytest.raises(StoreBusy, match="another process"):
                async with Crawl(settings, fetcher=FakeWeb({}), clock=FakeClock()):
                    pass

    asyncio.run(both())


def test_passing_failures_are_tried_again(tmp_path: Path) -> None:
    """A failure that may pass is asked again, later and later; the last one counts (R-6)."""
    clock = FakeClock()
    answers: Iterator[Made] = iter([Fault.TIMEOUT, 503])

    def flaky(_: Request) -> Made:
        return next(answers, html())

    web = FakeWeb({HOME: html("/flaky", "/down"), f"{HOME}flaky": flaky, f"{HOME}down": Fault.CONNECT}, clock)
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store), clock)
    assert result.books_balanced, result.faults
    assert endings(store)[f"{HOME}flaky"] == "fetched.ok"
    assert endings(store)[f"{HOME}down"] == "unreachable.connect"
    assert ledger(store)["page", f"{HOME}flaky"]["attempts"] == 3
    assert web.urls.count(f"{HOME}down") == 3


def test_a_broken_host_is_given_up_with_a_reason(tmp_path: Path) -> None:
    """A host that stays broken is given up; what was due is ``abandoned.host_given_up`` (R-1.6)."""
    web = FakeWeb({HOME: html(*[f"/{n}" for n in range(30)]), f"{HOME}robots.txt": 404}, lacking=500)
    store = tmp_path / "s.db"
    tree = {"politeness": {"give_up_after": 5, "retries": 0}}
    result = crawl(web, made_settings(store, tree))
    assert result.books_balanced, result.faults
    counts = list(endings(store).values())
    assert counts.count("server_error.5xx") == 5
    assert counts.count("abandoned.host_given_up") == 25


def test_sitemaps_of_robots_txt_are_read(tmp_path: Path) -> None:
    """A Sitemap line is followed; what it names is found at depth 1 and passes scope (R-2.2, R-3.3)."""
    sitemap = (
        '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>http://site.test/only-here</loc></url><url><loc>http://other.test/out</loc></url></urlset>"
    )
    web = FakeWeb(
        {
            f"{HOME}robots.txt": f"Sitemap: {HOME}map.xml\n",
            f"{HOME}map.xml": sitemap,
            HOME: html(),
            f"{HOME}only-here": html(),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    row = ledger(store)["page", f"{HOME}only-here"]
    assert (row["kind"], row["depth"], row["found_by"], row["via"]) == ("fetched", 1, "sitemap", f"{HOME}map.xml")
    assert endings(store)["http://other.test/out"] == "excluded.scope"
    assert endings(store, purpose="sitemap") == {f"{HOME}map.xml": "fetched.ok"}


def test_list_mode_fetches_exactly_the_given_urls(tmp_path: Path) -> None:
    """``only_seeds``: nothing but the given URLs and their redirects."""
    web = FakeWeb({HOME: html("/a"), f"{HOME}x": redirect("/y"), f"{HOME}y": html()})
    store = tmp_path / "s.db"
    tree = {"seeds": [HOME, f"{HOME}x"], "scope": {"only_seeds": True}}
    assert crawl(web, made_settings(store, tree)).books_balanced
    assert {url for url in web.urls if "robots" not in url} == {HOME, f"{HOME}x", f"{HOME}y"}
    assert endings(store)[f"{HOME}a"] == "excluded.scope"
    assert ledger(store)["page", f"{HOME}a"]["rule"] == "only-seeds"


def test_a_slow_reader_slows_the_crawl_and_gets_every_visit(tmp_path: Path) -> None:
    """Visits are given after their commit, each at least once."""
    pages = {HOME: html(*[f"/{n}" for n in range(30)]), **{f"{HOME}{n}": html() for n in range(30)}}

    async def main() -> list[str]:
        clock = FakeClock()
        seen = []
        async with Crawl(made_settings(tmp_path / "s.db"), fetcher=FakeWeb(pages, clock), clock=clock) as run:
            async for visit in run:
                seen.append(visit.url)
                await clock.sleep(0.5)
        return seen

    seen = asyncio.run(main())
    assert sorted(seen) == sorted([*pages, f"{HOME}robots.txt"])


def test_a_long_retry_after_is_obeyed_and_a_too_long_one_ends_the_host(tmp_path: Path) -> None:
    """429 and 503 honour Retry-After; longer than the owner allows gives the host up (ST-40, R-4.5)."""
    clock = FakeClock()
    told: Iterator[Made] = iter([answer(status=429, headers={"Retry-After": "120"})])

    def busy(_: Request) -> Made:
        return next(told, html())

    web = FakeWeb({HOME: html("/busy", "/after"), f"{HOME}busy": busy, f"{HOME}after": html()}, clock)
    store = tmp_path / "1.db"
    assert crawl(web, made_settings(store), clock).books_balanced
    times = {one.url: one.began_at for one in web.asked}
    first = next(one.began_at for one in web.asked if one.url == f"{HOME}busy")
    assert times[f"{HOME}busy"] - first >= 120
    assert not [one for one in web.asked if first < one.began_at < first + 120]
    assert set(endings(store).values()) == {"fetched.ok"}

    down = answer(status=503, headers={"Retry-After": "1000"})
    web = FakeWeb({HOME: html("/a", "/b"), f"{HOME}robots.txt": 404}, lacking=down)
    given_up = tmp_path / "2.db"
    result = crawl(web, made_settings(given_up, {"politeness": {"retries": 0}}))
    assert result.books_balanced, result.faults
    assert sorted(endings(given_up).values()) == ["abandoned.host_given_up", "fetched.ok", "server_error.5xx"]


def test_one_host_can_be_treated_apart(tmp_path: Path) -> None:
    """All of politeness is adjustable per host."""
    clock = FakeClock()
    pages: dict[str, Made] = {f"http://{host}.test/": html("/1", "/2") for host in "ab"}
    web = FakeWeb(pages, clock)
    tree = {
        "seeds": list(pages),
        "politeness": {"delay": 1.0},
        "host": [{"name": "b.test", "delay": 7.0, "retries": 0}],
    }
    crawl(web, made_settings(tmp_path / "s.db", tree), clock)
    for host, gap in (("a", 1.0), ("b", 7.0)):
        starts = [one.began_at for one in web.asked if one.url.startswith(f"http://{host}")]
        assert len(starts) == 4
        assert min(later - earlier for earlier, later in pairwise(starts)) == pytest.approx(gap)


def test_what_is_only_counted_is_counted_to_the_last(tmp_path: Path) -> None:
    """``mailto:`` and the like are counted per scheme, also on a page that has no other link (R-1.4, R-7.1)."""
    web = FakeWeb({HOME: html("/a"), f"{HOME}a": html("mailto:a@b", "tel:1", "javascript:x", "data:,x")})
    result = crawl(web, made_settings(tmp_path / "s.db"))
    assert result.books_balanced, result.faults


def test_better_facts_count_that_come_while_a_page_is_in_flight(tmp_path: Path) -> None:
    """A shorter way that is found between asking for a page and its answer holds for what the page links to (R-2.1)."""
    clock = FakeClock()

    def after(seconds: float, page: str) -> Callable[[Request], Awaitable[Made]]:
        async def give(_: Request) -> Made:
            await clock.sleep(seconds)
            return page

        return give

    web = FakeWeb(
        {
            HOME: html("/a"),
            f"{HOME}a": html("/x"),
            f"{HOME}late": after(5, html("/x")),
            f"{HOME}x": after(30, html("/y")),
            f"{HOME}y": html(),
        },
        clock,
    )
    store = tmp_path / "s.db"
    tree = {"seeds": [HOME, f"{HOME}late"], "politeness": {"connections": 3, "delay": 0}}
    assert crawl(web, made_settings(store, tree), clock).books_balanced
    depths = {url: row["depth"] for (_, url), row in ledger(store).items()}
    assert (depths[f"{HOME}x"], depths[f"{HOME}y"]) == (1, 2)


def test_a_page_that_turns_out_to_be_a_seeds_hop_passes_its_grant_on(tmp_path: Path) -> None:
    """G a page redirects out of scope, and later a seed redirects to it, T the seed's chain is followed (R-3.3, R-2.1)."""
    clock = FakeClock()

    async def late(_: Request) -> Made:
        await clock.sleep(30)
        return redirect(f"{HOME}hop")

    web = FakeWeb(
        {
            HOME: html("/hop"),
            f"{HOME}hop": redirect("http://end.test/"),
            "http://late.test/": late,
            "http://end.test/": html("/in"),
            "http://end.test/in": html(),
        },
        clock,
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"seeds": [HOME, "http://late.test/"]}), clock)
    assert result.books_balanced, result.faults
    assert endings(store)["http://end.test/in"] == "fetched.ok"
    assert endings(store)[f"{HOME}hop"] == "redirected.permanent"


def test_a_seed_chain_without_end_meets_the_limit(tmp_path: Path) -> None:
    """A seed's hops are always fetched (R-3.3), but no more of them than ``max_redirects`` (R-2.5)."""
    web = FakeWeb(lambda request: redirect(f"{request.url}x") if "robots" not in request.url else 404)
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    assert len([url for url in web.urls if "robots" not in url]) == 11
    assert endings(store)[HOME] == "misdirected.too_many"


def test_a_redirect_to_itself_that_sets_a_cookie_is_asked_once_more(tmp_path: Path) -> None:
    """With the cookie the page may answer (end of R-2.5); if it does not, it is a loop."""
    answers: Iterator[Made] = iter([answer(status=302, headers={"Location": "/", "Set-Cookie": "a=b"}), html()])
    store, other = tmp_path / "1.db", tmp_path / "2.db"

    def asks(_: Request) -> Made:
        return next(answers)

    assert crawl(FakeWeb({HOME: asks}), made_settings(store)).books_balanced
    assert endings(store)[HOME] == "fetched.ok"
    stubborn = FakeWeb({HOME: answer(status=302, headers={"Location": "/", "Set-Cookie": "a=b"})})
    assert crawl(stubborn, made_settings(other)).books_balanced
    assert endings(other)[HOME] == "misdirected.loop"
    assert stubborn.urls.count(HOME) == 2


def test_a_sitemap_that_is_a_page_too_is_fetched_once(tmp_path: Path) -> None:
    """G a seed that robots.txt names as a sitemap, T one response serves both purposes (R-1.3)."""
    sitemap = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://site.test/a</loc></url></urlset>'
    )
    web = FakeWeb(
        {
            f"{HOME}robots.txt": f"Sitemap: {HOME}map.xml\n",
            f"{HOME}map.xml": answer(sitemap, url="/map.xml"),
            f"{HOME}a": html("/map.xml"),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"seeds": [f"{HOME}map.xml"]}))
    assert result.books_balanced, result.faults
    assert web.urls.count(f"{HOME}map.xml") == 1
    assert endings(store)[f"{HOME}map.xml"] == "fetched.ok"
    assert endings(store, purpose="sitemap")[f"{HOME}map.xml"] == "fetched.ok"


def test_what_a_sitemap_names_and_is_refused_has_a_row(tmp_path: Path) -> None:
    """Children of an index and entries that are out of scope are rows like any other (R-1.4)."""
    index = (
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<sitemap><loc>http://other.test/child.xml</loc></sitemap>"
        "<sitemap><loc>http://site.test/child.xml</loc></sitemap></sitemapindex>"
    )
    child = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        "<url><loc>http://other.test/page</loc></url></urlset>"
    )
    web = FakeWeb(
        {
            f"{HOME}robots.txt": f"Sitemap: {HOME}index.xml\n",
            f"{HOME}index.xml": answer(index, url="/x.xml"),
            f"{HOME}child.xml": answer(child, url="/x.xml"),
            HOME: html(),
        }
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store))
    assert result.books_balanced, result.faults
    found = endings(store)
    assert endings(store, purpose="sitemap")["http://other.test/child.xml"] == "excluded.scope"
    assert found["http://other.test/page"] == "excluded.scope"
    assert "http://other.test/child.xml" not in web.urls


def test_a_reader_may_pause_for_longer_than_a_lease(tmp_path: Path) -> None:
    """Leases of a living process are kept, however long its reader takes (R-4.3)."""
    pages: dict[str, Made] = {}
    for host in ("a", "b"):
        pages[f"http://{host}.test/"] = html(*[f"/{number}" for number in range(5)])

    async def main() -> None:
        clock = FakeClock()
        settings = made_settings(tmp_path / "s.db", {"seeds": list(pages)})
        async with Crawl(settings, fetcher=FakeWeb(pages, clock), clock=clock) as run:
            async for _ in run:
                await clock.sleep(100)
        assert run.result.books_balanced, run.result.faults
        assert run.result.state == "done"

    asyncio.run(main())


def test_a_stop_by_the_system_has_failed(tmp_path: Path) -> None:
    """Shutdown is a stop by the system (R-8.1); the run can be resumed."""

    async def main() -> None:
        settings = made_settings(tmp_path / "s.db")
        async with Crawl(settings, fetcher=FakeWeb(SITE), clock=FakeClock()) as run:
            run.stop("system:shutdown")
        assert (run.result.state, run.result.stop_reason) == ("failed", "system:shutdown")

    asyncio.run(main())
    assert crawl(FakeWeb(SITE), made_settings(tmp_path / "s.db"), resume=True).state == "done"


def test_through_a_proxy_nothing_is_loopback(tmp_path: Path) -> None:
    """The address of a proxy says nothing of the host behind it, so the host is asked politely (R-4.2, R-5.2)."""
    clock = FakeClock()
    near = replace(answer(html("/1", "/2", "/3"), url="/x.html"), address="127.0.0.1")
    web = FakeWeb(lambda _: near, clock)
    crawl(web, made_settings(tmp_path / "s.db", {"fetch": {"proxy": "http://127.0.0.1:3128"}}), clock)
    starts = [one.began_at for one in web.asked]
    assert min(later - earlier for earlier, later in pairwise(starts)) >= 0.25


def test_head_may_be_asked_first(tmp_path: Path) -> None:
    """HEAD decides, GET follows at the host's pace; a server without HEAD gets GET; both must agree on HTML (ST-44, MF-21)."""
    clock = FakeClock()

    def typed(kind: str, head: str = "") -> Callable[[Request], Made]:
        def give(request: Request) -> Made:
            found = head or kind if request.method == "HEAD" else kind
            return answer("x", headers={"Content-Type": found})

        return give

    def no_head(request: Request) -> Made:
        return answer(status=405) if request.method == "HEAD" else html()

    web = FakeWeb(
        {
            HOME: html("/agrees", "/changes", "/image", "/no-head"),
            f"{HOME}agrees": typed("application/pdf"),
            f"{HOME}changes": typed("application/pdf", head="text/html"),
            f"{HOME}image": typed("image/png"),
            f"{HOME}no-head": no_head,
        },
        clock,
    )
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"fetch": {"head_first": True}}), clock)
    assert result.books_balanced, result.faults
    found = endings(store)
    assert found[f"{HOME}agrees"] == "fetched.ok"
    assert found[f"{HOME}changes"] == "skipped.content_class"
    assert found[f"{HOME}image"] == "skipped.content_class"
    assert found[f"{HOME}no-head"] == "fetched.ok"
    assert [one.request.method for one in web.asked if one.url == f"{HOME}image"] == ["HEAD"]
    starts = [one.began_at for one in web.asked]
    assert min(later - earlier for earlier, later in pairwise(starts)) >= 0.25
