"""Second and later runs of a crawl: what is asked for, what is left alone, what the ledger says then."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.crawl.result import Result
from purlieu.report import crawl_result, explain
from purlieu.response import Request, Response
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, answer, redirect

DAY = 86_400.0
Page = str | int | Response
REVISIT: Mapping[str, Any] = {"revisit": True, "history": {"sample": 0}}


class Site:
    """A site whose pages may be changed between runs; with ``validators`` it answers 304 where it may."""

    def __init__(self, pages: Mapping[str, Page], *, validators: bool = True) -> None:
        """Serve the pages by path."""
        self.pages = {f"{HOME}{path}": page for path, page in pages.items()}
        self.validators = validators
        self.always_304 = False

    def answer(self, request: Request) -> Response:
        """Answer as a server with ETags does."""
        page = self.pages.get(request.url, 404)
        if isinstance(page, Response):
            return page
        if isinstance(page, int):
            return answer(status=page)
        etag = f'"{hash(page) & 0xFFFFFFFF:x}"'
        asked = dict(request.headers)
        headers = {"ETag": etag} if self.validators else {}
        if self.validators and (asked.get("If-None-Match") == etag or (self.always_304 and "If-None-Match" in asked)):
            return answer(status=304, headers=headers)
        kind = "application/xml" if request.url.endswith(".xml") else "text/html"
        kind = "text/plain" if request.url.endswith(".txt") else kind
        return answer(page, headers={"Content-Type": kind, **headers})

    def run(
        self, folder: Path, tree: Mapping[str, Any] | None = None, *, days: float = 0, **more: Any
    ) -> tuple[Result, list[str]]:
        """Crawl on the given day; return the result and the paths asked for, robots.txt aside."""
        web = FakeWeb(self.answer)
        result = crawl(web, made_settings(folder / "s.db", tree), FakeClock(START + days * DAY), **more)
        assert result.books_balanced, result.faults
        return result, [url.removeprefix(HOME) for url in web.urls if not url.endswith("robots.txt")]


def urlset(**lastmods: str) -> str:
    """Return a sitemap of pages with their dates."""
    urls = "".join(
        f"<url><loc>{HOME}{path}</loc>{f'<lastmod>{date}</lastmod>' if date else ''}</url>"
        for path, date in lastmods.items()
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'


SMALL: Mapping[str, Page] = {
    "": html("a", "b", "moved", "gone", "mailto:x@y.z", "http://other.test/", "http://["),
    "a": html("c", head='<link rel="canonical" href="/d">'),
    "b": html("a"),
    "c": html(),
    "d": html(),
    "e": html("f"),
    "f": html(),
    "moved": redirect("/e", 302),
    "refresh": html(head='<meta http-equiv="refresh" content="0;url=/f">'),
}


def test_a_site_that_answers_304_throughout_is_the_same_site(tmp_path: Path) -> None:
    """Every page answers 304: the same set of URLs, refusals included, and the same columns but the reason (R-2.4)."""
    site = Site(SMALL)
    first, _ = site.run(tmp_path)
    second, asked = site.run(tmp_path, REVISIT, days=2)
    one, two = ledger(tmp_path / "s.db", 1), ledger(tmp_path / "s.db", 2)
    assert one.keys() == two.keys()
    for key, row in one.items():
        same = {name: value for name, value in two[key].items() if name not in {"kind", "reason"}}
        assert same.items() <= row.items(), key
    changed = {key[1].removeprefix(HOME) for key, row in two.items() if (row["kind"], row["reason"]) == NOT_MODIFIED}
    assert changed == {"", "a", "b", "c", "d", "e", "f"}
    assert len(asked) == len(set(asked)) == 9
    assert (first.good, second.good) == (8, 8)


NOT_MODIFIED = ("unchanged", "not_modified")


def test_without_validators_the_same_content_is_seen(tmp_path: Path) -> None:
    """A page that is fetched again with the same main content is unchanged.same_content; another is fetched."""
    site = Site(SMALL, validators=False)
    site.run(tmp_path)
    site.pages[f"{HOME}c"] = html(body="something else altogether")
    site.run(tmp_path, REVISIT, days=2)
    found = endings(tmp_path / "s.db", 2)
    assert found[f"{HOME}c"] == "fetched.ok"
    assert {found[f"{HOME}{path}"] for path in ("", "a", "b", "d", "e", "f")} == {"unchanged.same_content"}


def test_nothing_is_asked_before_its_time(tmp_path: Path) -> None:
    """Without a sitemap only the seed and what failed or redirected is asked within the least interval (SM-72)."""
    site = Site(SMALL)
    site.run(tmp_path)
    _, asked = site.run(tmp_path, REVISIT, days=0.5)
    assert sorted(asked) == ["", "gone", "moved"]
    found = endings(tmp_path / "s.db", 2)
    assert found[f"{HOME}f"] == "unchanged.not_due"
    assert found.keys() == endings(tmp_path / "s.db", 1).keys()


def test_the_interval_grows_while_nothing_changes_and_shrinks_with_a_change(tmp_path: Path) -> None:
    """Longer without change, shorter with one, within the bounds (issue: the adaptive interval)."""
    site = Site({"": html("a"), "a": html()})
    tree = {"revisit": True, "history": {"sample": 0, "least_interval_seconds": DAY, "most_interval_seconds": 4 * DAY}}
    asked_on = []
    for day in range(30):
        if day == 20:
            site.pages[f"{HOME}a"] = html(body="changed")
        if "a" in site.run(tmp_path, tree, days=day)[1]:
            asked_on.append(day)
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked_on)]
    assert asked_on[:4] == [0, 1, 3, 6]
    assert max(gaps) == 4
    seen = next(day for day in asked_on if day >= 20)
    assert asked_on[asked_on.index(seen) + 1] - seen < 4


DATED: Mapping[str, Page] = {
    "robots.txt": f"Sitemap: {HOME}map.xml",
    "": html("a", "b", "c"),
    "a": html(),
    "b": html(),
    "c": html(),
    "map.xml": urlset(a="2025-12-01", b="2025-12-01", c="2025-12-01"),
}


def test_what_an_honest_sitemap_says_is_unchanged_is_not_asked_for(tmp_path: Path) -> None:
    """A second run over an unchanged sitemap asks for the seed and the sitemap alone (SM-71), and all stands."""
    site = Site(DATED)
    site.run(tmp_path)
    result, asked = site.run(tmp_path, REVISIT, days=3)
    assert sorted(asked) == ["", "map.xml"]
    found = endings(tmp_path / "s.db", 2)
    assert {found[f"{HOME}{path}"] for path in "abc"} == {"unchanged.sitemap_lastmod"}
    assert result.counts["unchanged.sitemap_lastmod"] == 3


def test_what_the_sitemap_dates_anew_is_asked_for(tmp_path: Path) -> None:
    """Lastmod chooses what this run handles (SM-70): of three pages the one with another date is asked."""
    site = Site(DATED)
    site.run(tmp_path)
    site.pages[f"{HOME}b"] = html(body="new words")
    site.pages[f"{HOME}map.xml"] = urlset(a="2025-12-01", b="2026-01-02", c="2025-12-01")
    _, asked = site.run(tmp_path, REVISIT, days=3)
    assert sorted(asked) == ["", "b", "map.xml"]
    assert endings(tmp_path / "s.db", 2)[f"{HOME}b"] == "fetched.ok"


def test_a_stale_date_gets_an_occasional_check(tmp_path: Path) -> None:
    """After the most interval a page is asked for whatever its sitemap says (SM-64)."""
    site = Site(DATED)
    site.run(tmp_path)
    _, asked = site.run(tmp_path, REVISIT, days=31)
    assert sorted(asked) == ["", "a", "b", "c", "map.xml"]


def test_a_page_asked_on_the_day_that_its_date_names_is_asked_again(tmp_path: Path) -> None:
    """A date names a whole day: what was fetched within it may have changed after (SM-53)."""
    site = Site({**DATED, "map.xml": urlset(a="2026-01-01", b="2025-12-01")})
    site.run(tmp_path)
    _, asked = site.run(tmp_path, REVISIT, days=2)
    assert "a" in asked
    assert "b" not in asked


@pytest.mark.parametrize(("said", "asked_after_two_days"), [("daily", True), ("weekly", False), ("never", False)])
def test_changefreq_counts_where_there_is_no_date(tmp_path: Path, said: str, asked_after_two_days: bool) -> None:
    """Changefreq says when a page is due (SM-5, SM-64)."""
    url = f"<url><loc>{HOME}a</loc><changefreq>{said}</changefreq></url>"
    site = Site({**DATED, "map.xml": urlset().replace("</urlset>", f"{url}</urlset>")})
    site.run(tmp_path)
    _, asked = site.run(tmp_path, REVISIT, days=2)
    assert ("a" in asked) is asked_after_two_days


def test_a_child_file_whose_index_has_not_moved_is_not_fetched(tmp_path: Path) -> None:
    """A child sitemap whose index lastmod has not moved is left alone, its entries are taken over (R-2.4)."""
    index = (
        '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<sitemap><loc>{HOME}one.xml</loc><lastmod>2025-12-01</lastmod></sitemap>"
        f"<sitemap><loc>{HOME}two.xml</loc><lastmod>%s</lastmod></sitemap></sitemapindex>"
    )
    pages = {path: html() for path in "abcd"}
    site = Site({
        **DATED, **pages, "": html(), "map.xml": index % "2025-12-01",
        "one.xml": urlset(a="2025-12-01", b="2025-12-01"), "two.xml": urlset(c="2025-12-01", d="2025-12-01"),
    })  # fmt: skip
    site.run(tmp_path)
    site.pages[f"{HOME}map.xml"] = index % "2026-01-02"
    site.pages[f"{HOME}two.xml"] = urlset(c="2026-01-02", d="2025-12-01")
    site.pages[f"{HOME}c"] = html(body="new")
    _, asked = site.run(tmp_path, REVISIT, days=3)
    assert sorted(asked) == ["", "c", "map.xml", "two.xml"]
    assert endings(tmp_path / "s.db", 2, "sitemap")[f"{HOME}one.xml"] == "unchanged.sitemap_lastmod"
    assert endings(tmp_path / "s.db", 1).keys() == endings(tmp_path / "s.db", 2).keys()
    _, asked = site.run(tmp_path, REVISIT, days=4)
    assert sorted(asked) == ["", "map.xml"], "what was taken over is taken over again"
    assert endings(tmp_path / "s.db", 3).keys() == endings(tmp_path / "s.db", 2).keys()


def test_what_stands_unchanged_meets_todays_scope(tmp_path: Path) -> None:
    """The links that are taken over are judged by the settings of the day (R-2.4)."""
    site = Site(SMALL)
    site.run(tmp_path)
    site.run(tmp_path, {**REVISIT, "filter": {"exclude": [f"{HOME}c"]}}, days=2)
    assert endings(tmp_path / "s.db", 2)[f"{HOME}c"] == "excluded.filter"


def test_robots_of_today_forbids_what_would_stand(tmp_path: Path) -> None:
    """What robots.txt forbids by now does not stand unchanged."""
    site = Site(DATED)
    site.run(tmp_path)
    site.pages[f"{HOME}robots.txt"] = f"User-agent: *\nDisallow: /b\nSitemap: {HOME}map.xml"
    site.run(tmp_path, REVISIT, days=3)
    assert endings(tmp_path / "s.db", 2)[f"{HOME}b"] == "excluded.robots"


def test_pages_that_nothing_names_any_more_are_asked_ever_more_rarely(tmp_path: Path) -> None:
    """A vanished page is asked at once and then more rarely; while it answers, what it links to is crawled (R-2.4)."""
    site = Site({"": html("a"), "a": html("b"), "b": html()})
    site.run(tmp_path)
    site.pages[HOME] = html()
    asked_on = [day for day in range(1, 16) if "a" in site.run(tmp_path, REVISIT, days=day)[1]]
    assert asked_on[0] == 1
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked_on)]
    assert gaps == sorted(gaps)
    assert gaps[-1] > gaps[0]
    found = ledger(tmp_path / "s.db", 2)
    assert found["page", f"{HOME}a"]["found_by"] == "history"
    assert found["page", f"{HOME}b"]["via"] == f"{HOME}a"


def test_what_is_gone_is_retired_in_the_end(tmp_path: Path) -> None:
    """404 for N runs: asked more rarely, then missing.retired and asked no more, until a sitemap dates it anew."""
    site = Site({**DATED, "": html("x"), "x": html(), "map.xml": urlset()})
    site.run(tmp_path)
    del site.pages[f"{HOME}x"]
    tree = {"revisit": True, "history": {"sample": 0, "gone_after": 2, "retire_after": 4}}
    asked_on = [day for day in range(1, 40) if "x" in site.run(tmp_path, tree, days=day)[1]]
    assert asked_on == [1, 2, 3, 5]
    assert endings(tmp_path / "s.db", 5)[f"{HOME}x"] == "missing.not_found"
    assert endings(tmp_path / "s.db", 40)[f"{HOME}x"] == "missing.retired"
    site.pages[f"{HOME}x"] = html(body="back")
    site.pages[f"{HOME}map.xml"] = urlset(x="2026-02-10")
    _, asked = site.run(tmp_path, tree, days=41)
    assert "x" in asked
    assert endings(tmp_path / "s.db", 41)[f"{HOME}x"] == "fetched.ok"


def test_a_full_run_asks_for_everything(tmp_path: Path) -> None:
    """A second run of a name without revisit is a full crawl (R-1.7)."""
    site = Site(DATED)
    _, first = site.run(tmp_path)
    _, second = site.run(tmp_path, days=3)
    assert sorted(first) == sorted(second)


def test_a_run_of_nothing_but_what_stands_is_a_good_run(tmp_path: Path) -> None:
    """All-unchanged counts as success (R-8.2)."""
    site = Site(DATED)
    site.run(tmp_path)
    result, _ = site.run(tmp_path, REVISIT, days=3)
    assert result.state == "done"
    assert result.good == 4


def _result_rows(store: Path, run: int) -> list[tuple[str, ...]]:
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    row = reader.run(run)
    assert row is not None
    found = sorted(crawl_result.rows(reader, row))
    database.close()
    return found


@pytest.mark.parametrize("validators", [True, False])
@pytest.mark.parametrize("days", [0.5, 2.0])
def test_the_result_file_of_a_revisit_is_that_of_a_full_run(tmp_path: Path, days: float, validators: bool) -> None:
    """What stands unchanged has a true row with the columns of the stored response (rules, section 6)."""
    site = Site(SMALL, validators=validators)
    site.run(tmp_path)
    site.run(tmp_path, REVISIT, days=days)
    assert _result_rows(tmp_path / "s.db", 2) == _result_rows(tmp_path / "s.db", 1)


def _learnt(store: Path) -> list[tuple[Any, ...]]:
    """Return what the history has counted and measured, without times."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    found: list[tuple[Any, ...]] = []
    for query in (
        "SELECT href, visits, changes, gone_runs, missed_runs, interval_seconds, kind, reason, lastmod, last_run FROM page",
        "SELECT host, section, hint, run, announced, confirmed, sampled, missed, left_alone FROM trust",
        "SELECT href, index_lastmod, last_run FROM sitemap_file",
    ):
        found += sorted(tuple(row) for row in connection.execute(query))
    connection.close()
    return found


class _PowerCut(BaseException):
    """Ends a crawl as a power cut does: nothing more is written."""


@pytest.mark.parametrize("asked_before", [1, 4, 9, 15, 21])
def test_a_revisit_that_is_cut_short_resumes_to_the_same_ledger(tmp_path: Path, asked_before: int) -> None:
    """Killed at any point and resumed, a revisit ends with the ledger of an undisturbed one (R-2.4)."""
    paths = [f"p{number}" for number in range(30)]
    pages: dict[str, Page] = {path: html(f"p{(number * 7 + 1) % 40}") for number, path in enumerate(paths)}
    dated = urlset(**dict.fromkeys(paths[:10], "2025-12-01"))
    pages |= {"": html(*paths[:20]), "robots.txt": f"Sitemap: {HOME}map.xml", "map.xml": dated}
    site = Site(pages)
    undisturbed, cut = tmp_path / "one", tmp_path / "two"
    for folder in (undisturbed, cut):
        site.run(folder)
    for number in (3, 12, 25):
        site.pages[f"{HOME}p{number}"] = html("p1", "new", body="changed")
    site.pages[f"{HOME}new"] = html()
    site.run(undisturbed, REVISIT, days=2)

    count = 0

    def until_the_cut(request: Request) -> Response:
        nonlocal count
        count += 1
        if count > asked_before:
            raise _PowerCut
        return site.answer(request)

    with pytest.raises(_PowerCut):
        crawl(FakeWeb(until_the_cut), made_settings(cut / "s.db", REVISIT), FakeClock(START + 2 * DAY))
    result, _ = site.run(cut, {**REVISIT}, days=2.01, resume=True)
    assert result.run == 2
    one, two = ledger(undisturbed / "s.db", 2), ledger(cut / "s.db", 2)
    differing = {"attempts"}
    assert {key: {n: v for n, v in row.items() if n not in differing} for key, row in one.items()} == {
        key: {n: v for n, v in row.items() if n not in differing} for key, row in two.items()
    }
    assert _learnt(cut / "s.db") == _learnt(undisturbed / "s.db"), "nothing is counted twice, or lost"


def test_explain_tells_the_history_of_a_page(tmp_path: Path) -> None:
    """``explain --run`` says when a page was first seen, how often it was asked for and how often it had changed."""
    site = Site({"": html("a"), "a": html()})
    site.run(tmp_path)
    site.pages[f"{HOME}a"] = html(body="changed")
    site.run(tmp_path, REVISIT, days=2)
    database = SqliteDatabase.reader(str(tmp_path / "s.db"))
    reader = Reader(database)
    run = reader.run(2)
    assert run is not None
    told = explain.facts(explain.by_run(reader, run, f"{HOME}a"))["history"]
    database.close()
    assert (told["visits"], told["changes"], told["retired"]) == (2, 1, 0)
    assert told["first_seen"] < told["last_changed"] == told["asked_at"]


@pytest.mark.parametrize("path", ["map.xml", "hop"])
def test_a_sitemap_as_the_seed_stands_unchanged_too(tmp_path: Path, path: str) -> None:
    """A start address that is a sitemap, or leads to one, is asked conditionally and names the same pages (R-2.4)."""
    dates = {"a": "2025-12-01", "b": "2025-12-01"}
    site = Site({"map.xml": urlset(**dates), "hop": redirect("/map.xml"), "a": html(), "b": html("c"), "c": html()})
    seeds = {"seeds": [f"{HOME}{path}"]}
    site.run(tmp_path, seeds)
    _, asked = site.run(tmp_path, {**REVISIT, **seeds}, days=3)
    assert sorted(asked) == sorted({path, "map.xml", "c"})
    assert ledger(tmp_path / "s.db", 1).keys() == ledger(tmp_path / "s.db", 2).keys()
    assert endings(tmp_path / "s.db", 2)[f"{HOME}a"] == "unchanged.sitemap_lastmod"
