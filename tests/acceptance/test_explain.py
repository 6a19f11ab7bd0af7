"""``explain`` gives for every URL of a run the verdict that the ledger has (issue of scope; R-3.1 to R-3.7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crawling import HOME, crawl, html, ledger, made_settings

from purlieu.candidate import Purpose
from purlieu.crawl.local import Crawl
from purlieu.judgement import Rules
from purlieu.report import explain, whatif
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

TWO = "http://two.test/"
SITEMAP = (
    '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<url><loc>http://site.test/only-in-sitemap</loc><lastmod>2026-01-02</lastmod></url>"
    "<url><loc>http://site.test/private/b</loc></url></urlset>"
)
ROBOTS = "User-agent: *\nDisallow: /private/\nSitemap: /sitemap.xml\n"
WEB: Mapping[str, Made] = {
    HOME: html(
        "/a", "/r", "/out", "/private/a", "/x.pdf", "/s?sid=1", "http://other.test/x", "ftp://site.test/f", "http://["
    ),
    f"{HOME}robots.txt": answer(ROBOTS, url="/robots.txt"),
    f"{HOME}sitemap.xml": answer(SITEMAP, url="/sitemap.xml"),
    f"{HOME}a": html("/a/b", "/t/t/t/t/x", "http://user:secret@site.test/login", f"{TWO}in", "//sub.site.test/"),
    f"{HOME}a/b": html("/c", "mailto:me@site.test", f"/{'long' * 30}"),
    f"{HOME}c": html("/d"),
    f"{HOME}r": redirect("/r2"),
    f"{HOME}r2": redirect("/a"),
    f"{HOME}out": redirect("http://other.test/landed"),
    f"{HOME}only-in-sitemap": html('/n" rel="nofollow'),
    TWO: redirect("http://moved.test/dir/"),
    "http://moved.test/dir/": html("/dir/page", "/elsewhere", HOME, f"{TWO}in", "http://www.moved.test/dir/x"),
    "http://moved.test/dir/page": html("http://site.test/a", "/dir/deeper?sid=2"),
    f"{TWO}in": html(),
}
SEEDS = [HOME, TWO]
CASES: Mapping[str, Mapping[str, Any]] = {
    "same-host": {},
    "same-domain": {"scope": {"mode": "same-domain"}},
    "same-dir": {"scope": {"mode": "same-dir"}},
    "same-sld": {"scope": {"mode": "same-sld", "www_equivalent": True}},
    "any": {"scope": {"mode": "any"}},
    "own-seed": {"scope": {"judge_against": "own-seed"}},
    "own-seed by lists": {"scope": {"judge_against": "own-seed", "mode": "same-domain", "domains": "lists"}},
    "seeds stay": {"scope": {"follow_redirected_seed": False}},
    "sites": {
        "site": [
            {"url": "http://site.test/a/", "mode": "same-dir"},
            {"url": TWO, "mode": "same-host"},
            {"url": "http://moved.test/", "mode": "same-domain", "aliases": ["other.test"]},
        ]
    },
    "a list": {"scope": {"only_seeds": True}},
    "lines": {"filter": {"rules": ["# c", r"-\.pdf$", "-/elsewhere", "+."]}},
    "lines for seeds": {"filter": {"rules": ["-moved", "+."], "apply_to_seeds": True}},
    "lines that refuse a seed": {"filter": {"rules": ["-two", "+."], "apply_to_seeds": True}},
    "include": {"filter": {"include": ["*site.test/*"], "exclude": ["/a/*", "*.pdf"]}},
    "normalise": {"normalise": {"rule": [{"pattern": "[?]sid=[0-9]+$", "replace": ""}]}},
    "normalise seeds": {
        "normalise": {"apply_to_seeds": True, "rule": [{"pattern": "two[.]test", "replace": "duo.test"}]}
    },
    "limits": {"limits": {"max_depth": 1, "max_redirects": 1, "max_url_length": 100}},
    "one link deep": {"limits": {"max_depth": 0}},
    "few a host": {"limits": {"pages_per_host": 3}},
    "few pages": {"limits": {"max_pages": 4}},
    "no robots": {"robots": {"obey": False}, "links": {"obey_nofollow": False}},
    "no list of refusals": {"ledger": {"refusals_per_host": 1}},
    "links checked": {"links": {"check_external": True}},
    "links checked by robots.txt": {"links": {"check_external": True, "external_robots": True}},
}


def crawled(tmp_path: Path, tree: Mapping[str, Any]) -> Path:
    """Crawl the made web of these tests and return the store."""
    store = tmp_path / "s.db"
    result = crawl(FakeWeb(WEB), made_settings(store, {"seeds": SEEDS, **tree}), FakeClock())
    assert result.books_balanced, result.faults
    return store


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what gives the store of a case, crawled once."""
    return cache(lambda case: crawled(tmp_path_factory.mktemp("case"), CASES[case]))


@pytest.mark.parametrize("case", CASES)
def test_explain_says_what_the_ledger_says(case: str, stores: Callable[[str], Path]) -> None:
    """Each row of a whole crawl, of any purpose, is explained by its own verdict and rule, worked out anew (R-3.1 to R-3.3)."""
    store = stores(case)
    rows = ledger(store)
    assert len(rows) > 8
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None
    for (purpose, url), row in rows.items():
        told = explain.by_run(reader, run, url)
        assert told.in_run is not None
        (found,) = [one for one in told.in_run.rows if one.purpose is Purpose(purpose)]
        accepted = row["kind"] != "excluded"
        assert (found.accepted, found.row.rule) == (accepted, row["rule"]), url
        if len(url) < run_length(case):
            assert (found.anew.accepted, found.anew.rule) == (accepted, row["rule"]), (url, row, found)
            assert found.anew.refused == ("" if accepted else row["reason"]), url
            assert found.anew.reason
        if purpose == "page":
            assert (told.accepted, told.rule) == (accepted, row["rule"]), url
    database.close()


def run_length(case: str) -> int:
    """Return the length from which an address is stored cut and so cannot be judged again (R-1.4)."""
    return int(CASES[case].get("limits", {}).get("max_url_length", 8192))


@pytest.mark.parametrize("case", CASES)
def test_the_first_test_that_refuses_is_the_one_that_decides(case: str, stores: Callable[[str], Path]) -> None:
    """The tests shown agree with the verdict: all pass, or the first that does not names the ending; a grant goes before."""
    names = {"list": "scope", "length": "url_too_long", "redirects": "depth"}
    store = stores(case)
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None
    rules = Rules.of(explain.settings_of(reader, run), reader.landings(run))
    for row in reader.found_pages(run):
        judged = rules.judge_href(row.href, explain.granted(reader, run, rules, row).facts)
        checks = [one for one in judged.checks if one.passed is False]
        if judged.checks and judged.checks[0].name != "grant":
            first = names.get(checks[0].name, checks[0].name) if checks else ""
            assert first == judged.refused.replace("filter_timeout", "filter"), (row, judged)
    database.close()


def told_of(store: Path, url: str) -> dict[str, Any]:
    """Return the explanation of a URL in the first run as values."""
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None
    facts = explain.facts(explain.by_run(reader, run, url))
    database.close()
    return facts


def test_a_run_tells_how_a_url_was_found(tmp_path: Path) -> None:
    """The way to the seed, the pages that link to it, the sitemaps that name it, and the redirects from it are told."""
    store = crawled(tmp_path, {})
    deep = told_of(store, f"{HOME}a/b")
    assert [step["url"] for step in deep["found"]] == [f"{HOME}a/b", f"{HOME}a", HOME]
    assert deep["linked_from"] == [{"url": f"{HOME}a", "kind": "a", "nofollow": False}]
    assert deep["all_pages_searched"]
    hop = told_of(store, f"{HOME}r#part")
    assert hop["normalised"] == f"{HOME}r"
    assert [step["url"] for step in hop["redirects"]] == [f"{HOME}r", f"{HOME}r2", f"{HOME}a"]
    assert hop["landing"] == {"kind": "landed", "url": f"{HOME}a", "hops": 2}
    listed = told_of(store, f"{HOME}only-in-sitemap")
    assert listed["sitemaps"] == [{"url": f"{HOME}sitemap.xml", "lastmod": "2026-01-02"}]
    assert listed["rows"][0]["found_by"] == "sitemap"


def test_a_run_tells_the_line_of_robots(tmp_path: Path) -> None:
    """The line that forbids is told from the body that the run read, also for a URL that it never met (ST-6)."""
    store = crawled(tmp_path, {})
    met, unmet = told_of(store, f"{HOME}private/a"), told_of(store, f"{HOME}private/never")
    assert (met["accepted"], met["rule"]) == (unmet["accepted"], unmet["rule"]) == (False, "robots:2")
    assert 'line 2, "Disallow: /private/"' in met["reason"]
    assert any("no row" in note for note in unmet["notes"])


def test_a_login_names_the_page_without_it(tmp_path: Path) -> None:
    """A link with a login is explained as the page that was met, and its page is found."""
    told = told_of(crawled(tmp_path, {}), "http://user:secret@site.test/login")
    assert told["normalised"] == f"{HOME}login"
    assert [one["url"] for one in told["linked_from"]] == [f"{HOME}a"]


def test_a_landing_of_the_run_is_the_measure(tmp_path: Path) -> None:
    """With a run, scope is measured from where its seeds landed; without one no seed is taken to redirect (R-3.2, R-3.7)."""
    store = crawled(tmp_path, {})
    assert told_of(store, "http://moved.test/never-met")["accepted"]
    told = explain.by_settings(made_settings(store, {"seeds": SEEDS}), "http://moved.test/never-met")
    assert not told.accepted
    assert "assuming no seed redirects" in told.notes


def test_what_is_counted_only_is_said_so(tmp_path: Path) -> None:
    """A refusal beyond the list of its host has no row, and its host's count is told (R-1.4)."""
    web = FakeWeb({HOME: html(*(f"http://other.test/{number}" for number in range(5)))})
    store = tmp_path / "s.db"
    assert crawl(web, made_settings(store, {"ledger": {"refusals_per_host": 2}})).books_balanced
    met = set(ledger(store))
    url = next(
        f"http://other.test/{number}" for number in range(5) if ("page", f"http://other.test/{number}") not in met
    )
    told = told_of(store, url)
    assert (told["accepted"], told["rule"]) == (False, "out-of-scope:other.test")
    assert any(note.startswith("not listed: 3 finds of its host") for note in told["notes"])


def test_a_scheme_that_is_counted_only_is_said_so(tmp_path: Path) -> None:
    """An address that is not of the web is told with the count of its scheme alone (R-1.4)."""
    told = told_of(crawled(tmp_path, {}), "mailto:me@site.test")
    assert (told["accepted"], told["rule"]) == (False, "mailto")
    assert [note for note in told["notes"] if "not listed:" in note] == [
        "not listed: 1 find of its scheme ended excluded.scheme (mailto)"
    ]


def test_a_search_for_links_that_was_cut_is_said_so(tmp_path: Path) -> None:
    """The search for pages that link to a URL ends after so many, and says that there may be more."""
    store = crawled(tmp_path, {})
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None
    whole = reader.linking(run, f"{HOME}a", str, 20, 1000)
    assert len(whole.found) > 1
    assert not whole.cut
    assert reader.linking(run, f"{HOME}a", str, 1, 1000).cut
    assert reader.linking(run, f"{HOME}a", str, 20, 1).scanned == 1
    assert reader.linking(run, f"{HOME}a", str, 20, 1).cut
    database.close()


def test_what_a_callable_refused_is_told_as_that(tmp_path: Path) -> None:
    """A refusal by the owner's callable, which no settings hold, is told from the ledger; scope goes before it (R-3.4)."""
    made = made_settings(tmp_path / "s.db")

    async def main() -> None:
        web = FakeWeb({HOME: html("/yes", "/no", "http://other.test/no")})
        async with Crawl(made, accept=lambda url: not url.endswith("/no"), fetcher=web, clock=FakeClock()) as run:
            await run.run()

    asyncio.run(main())
    no, other = (told_of(tmp_path / "s.db", url) for url in (f"{HOME}no", "http://other.test/no"))
    assert (no["accepted"], no["rule"], no["reason"]) == (False, "accept", "the owner's callable refuses it")
    assert (other["accepted"], other["rule"]) == (False, "out-of-scope:other.test")
    assert told_of(tmp_path / "s.db", f"{HOME}yes")["accepted"]


def test_the_ledger_stands_where_judging_anew_differs(tmp_path: Path) -> None:
    """A row whose verdict no settings give any more is told as it stands, and that it differs is said."""
    store = crawled(tmp_path, {})
    connection = apsw.Connection(str(store))
    connection.execute("UPDATE entry SET rule = 'another' WHERE href = ? AND purpose = 0", (f"{HOME}c",))
    connection.close()
    told = told_of(store, f"{HOME}c")
    assert (told["accepted"], told["rule"], told["reason"]) == (True, "another", "The page was fetched.")
    assert (
        "the ledger's verdict (page) stands; judged anew by the run's settings the rule is same-host" in told["notes"]
    )


PAIRS = [
    (one, other)
    for one in ("same-host", "any", "own-seed", "lines", "limits")
    for other in CASES
    # A lineage that the run did not keep, and counts that only a crawl can make, are said to be unknown.
    if other not in {one, "few a host", "few pages"} and (one == "own-seed" or not other.startswith("own-seed"))
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_if_says_what_a_crawl_would(one: str, other: str, stores: Callable[[str], Path]) -> None:
    """A page that both crawls find the same way has the verdict and rule that were foretold; a landing of the run holds."""
    store = stores(one)
    databases = [SqliteDatabase.reader(str(path)) for path in (store, stores(other))]
    reader, crawled_reader = map(Reader, databases)
    run, crawled_run = reader.run(1), crawled_reader.run(1)
    assert run is not None
    assert crawled_run is not None
    before = {row.href: row for row in reader.found_pages(run)}
    true = {row.href: row for row in crawled_reader.found_pages(crawled_run)}
    asked = whatif.WhatIf.of(reader, run, made_settings(store, {"seeds": SEEDS, **CASES[other]}))
    compared = 0
    for change in asked.changes():
        assert change.was_in == (before[change.url].kind != "excluded")
        if change.after is None or change.after.href not in true or len(change.url) >= 100:
            continue
        found = true[change.after.href]
        if not all(
            getattr(found.facts, name) == getattr(before[change.url].facts, name)
            for name in ("depth", "hops", "nofollow")
        ):
            continue
        assert (change.after.accepted, change.after.rule) == (found.kind != "excluded", found.rule), change
        compared += 1
    assert compared > 3
    for database in databases:
        database.close()
