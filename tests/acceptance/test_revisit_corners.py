"""Corners of revisits: addresses that serve two purposes, what robots.txt forbids by now, clocks, cut and lying files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.acceptance.test_revisit import DATED, REVISIT, Page, Site, urlset
from tests.crawling import HOME, endings, html, ledger

from purlieu.response import Fault
from purlieu.testing.clock import START
from purlieu.testing.web import answer, redirect

DAY = 86_400.0
INDEX = (
    '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    f"<sitemap><loc>{HOME}one.xml</loc><lastmod>2025-12-01</lastmod></sitemap></sitemapindex>"
)


def told(store: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Return rows of a store."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    rows = [tuple(row) for row in connection.execute(query, values)]
    connection.close()
    return rows


def same_but_how(store: Path, one: int, other: int) -> None:
    """Two runs of an unchanged web have the same rows, but for how each was asked (R-2.4)."""
    first, second = ledger(store, one), ledger(store, other)
    assert first.keys() == second.keys()
    for key, row in first.items():
        mine = {name: value for name, value in second[key].items() if name not in {"kind", "reason", "attempts"}}
        assert mine.items() <= row.items(), key


def test_a_sitemap_that_is_linked_too_stands_unchanged_for_both(tmp_path: Path) -> None:
    """One answer serves the page and the sitemap of an address (R-1.3), also a 304: both have the stored status."""
    site = Site({**DATED, "": html("a", "map.xml")})
    site.run(tmp_path)
    site.run(tmp_path, REVISIT, days=3)
    same_but_how(tmp_path / "s.db", 1, 2)
    assert ledger(tmp_path / "s.db", 2)["page", f"{HOME}map.xml"]["status"] == 200


def test_a_page_that_stands_in_a_sitemaps_place_keeps_its_links(tmp_path: Path) -> None:
    """Where a sitemap is looked for and a page stands, its links are taken over with it (R-1.3, R-2.4)."""
    site = Site({"robots.txt": f"Sitemap: {HOME}here", "": html("here"), "here": html("b", "http://["), "b": html()})
    site.run(tmp_path)
    for days in (2, 4):
        site.run(tmp_path, REVISIT, days=days)
    same_but_how(tmp_path / "s.db", 1, 3)


def test_a_page_that_refreshes_in_a_sitemaps_place_is_asked_plainly(tmp_path: Path) -> None:
    """Whichever purpose is asked first, a meta refresh leads on, in the first run and in a revisit (R-1.3, R-2.4)."""
    refresh = html(head='<meta http-equiv="refresh" content="0;url=/b">')
    site = Site({"robots.txt": f"Sitemap: {HOME}here", "": html("here"), "here": refresh, "b": html()})
    site.run(tmp_path)
    site.run(tmp_path, REVISIT, days=2)
    same_but_how(tmp_path / "s.db", 1, 2)
    assert endings(tmp_path / "s.db", 2)[f"{HOME}here"] == "redirected.meta_refresh"


def test_a_sitemap_that_came_cut_off_is_asked_for_as_a_whole(tmp_path: Path) -> None:
    """A file that was cut off does not stand unchanged: no 304 may make a part of it the whole (R-2.4)."""
    site = Site({**DATED, "": html()})
    whole = site.pages[f"{HOME}map.xml"]
    assert isinstance(whole, str)
    half, typed = whole[: whole.index("<url><loc>", 100)], {"Content-Type": "application/xml", "ETag": '"1"'}
    site.pages[f"{HOME}map.xml"] = answer(half, headers=typed, fault=Fault.TRUNCATED)
    site.run(tmp_path)
    site.pages[f"{HOME}map.xml"] = whole
    site.always_304 = True
    site.run(tmp_path, REVISIT, days=2)
    assert f"{HOME}c" in endings(tmp_path / "s.db", 2)


def test_what_robots_forbids_by_now_brings_nothing_and_is_not_lost(tmp_path: Path) -> None:
    """A known page that robots.txt forbids leads nowhere, the books balance, and later it is asked conditionally."""
    site = Site({"": html("a"), "a": html("http://other.test/", "b"), "b": html()})
    site.run(tmp_path)
    site.pages[f"{HOME}robots.txt"] = "User-agent: *\nDisallow: /a"
    site.run(tmp_path, REVISIT, days=2)
    assert ("page", "http://other.test/") not in ledger(tmp_path / "s.db", 2)
    site.pages[f"{HOME}robots.txt"] = ""
    site.run(tmp_path, REVISIT, days=4)
    assert endings(tmp_path / "s.db", 3)[f"{HOME}a"] == "unchanged.not_modified"
    assert ("page", "http://other.test/") in ledger(tmp_path / "s.db", 3)


def test_a_sitemap_file_with_the_same_bytes_is_no_change(tmp_path: Path) -> None:
    """Without validators a file that came again with the same bytes is unchanged, and its index told the truth."""
    site = Site(
        {**DATED, "": html(), "map.xml": INDEX, "one.xml": urlset(a="2025-12-01", b="2025-12-01")}, validators=False
    )
    site.run(tmp_path)
    for run in (2, 3):
        site.run(tmp_path, {"revisit": True, "history": {"sample": 1}}, days=run)
        assert set(endings(tmp_path / "s.db", run, "sitemap").values()) == {"unchanged.same_content"}
    assert told(tmp_path / "s.db", "SELECT sum(sampled), sum(missed) FROM trust WHERE hint = 'index'") == [(2.0, 0.0)]


def test_an_empty_page_that_stays_empty_is_no_change(tmp_path: Path) -> None:
    """A page without a body ends as fetched.empty each time, and that is no change that its sitemap hid (SM-64)."""
    site = Site({**DATED, "a": "", "b": "", "c": ""}, validators=False)
    site.run(tmp_path)
    site.run(tmp_path, {"revisit": True, "history": {"sample": 1}}, days=3)
    assert told(tmp_path / "s.db", "SELECT sum(sampled), sum(missed) FROM trust") == [(3.0, 0.0)]


def test_only_a_sitemap_that_may_name_a_page_dates_it(tmp_path: Path) -> None:
    """A date that a misplaced sitemap gives is not remembered as the page's, which would look moved each time (SM-70)."""
    deep = urlset(a="2025-12-20").replace("map.xml", "")
    site = Site({**DATED, "robots.txt": f"Sitemap: {HOME}map.xml\nSitemap: {HOME}deep/map.xml", "deep/map.xml": deep})
    tree: Mapping[str, Any] = {**REVISIT, "sitemap": {"location": "enforce"}}
    site.run(tmp_path, {"sitemap": {"location": "enforce"}})
    _, asked = site.run(tmp_path, tree, days=3)
    assert sorted(asked) == ["", "deep/map.xml", "map.xml"]


def test_a_vanished_page_is_not_found_by_itself(tmp_path: Path) -> None:
    """A page that nothing names any more but its own canonical has vanished all the same (R-2.4)."""
    own: dict[str, Page] = {"a": html(head=f'<link rel="canonical" href="{HOME}a">'), "r": redirect("/r", 302)}
    site = Site({"": html("a", "r"), **own})
    tree = {**REVISIT, "links": {"canonical": True}}
    site.run(tmp_path, {"links": {"canonical": True}})
    site.pages[HOME] = html()
    site.run(tmp_path, tree, days=2)
    assert {ledger(tmp_path / "s.db", 2)["page", f"{HOME}{path}"]["found_by"] for path in own} == {"history"}


def test_what_is_met_and_refused_has_not_vanished(tmp_path: Path) -> None:
    """A page that is linked and that today's filters refuse has not vanished, and none is told twice (R-2.4)."""
    site = Site({"": html("a", "b"), "a": html(), "b": html()})
    site.run(tmp_path)
    narrow = {**REVISIT, "filter": {"exclude": [f"{HOME}a"]}}
    site.run(tmp_path, narrow, days=2)
    assert told(tmp_path / "s.db", "SELECT missed_runs FROM page WHERE href = ?", f"{HOME}a") == [(0,)]
    site.pages[HOME] = html("a")
    for days in (3, 3.1):
        site.run(tmp_path, narrow, days=days)
    told_of = told(tmp_path / "s.db", "SELECT run, arguments FROM finding WHERE code = 'pages_vanished'")
    assert told_of == [(3, f'{{"count": 1, "example": "{HOME}b"}}')]


def test_near_duplicates_of_a_revisit_are_those_of_a_full_run(tmp_path: Path) -> None:
    """What makes a page's text comparable is taken over with the page (R-9.3, R-2.4)."""
    site = Site({**DATED, **{path: html(body=f"{'many words of the same sort ' * 40}{path}") for path in "abc"}})
    tree = {"ledger": {"near_duplicates": True}}
    site.run(tmp_path, tree)
    query = "SELECT hash, sketch FROM sketch WHERE run = ? ORDER BY hash"
    first = told(tmp_path / "s.db", query, 1)
    for run in (2, 3):
        site.run(tmp_path, {**REVISIT, **tree}, days=run)
        assert told(tmp_path / "s.db", query, run) == first
    assert len(first) > 2


@pytest.mark.parametrize("table", ["page", "sitemap_file"])
def test_a_history_of_the_future_keeps_no_page_from_being_asked(tmp_path: Path, table: str) -> None:
    """Where the clock was years ahead when a page was asked for, it is asked again now (issue: impossible dates)."""
    site = Site({**DATED, "map.xml": INDEX, "one.xml": urlset(a="2025-12-01")})
    site.run(tmp_path)
    connection = apsw.Connection(str(tmp_path / "s.db"))
    connection.execute(f"UPDATE {table} SET asked_at = ?", (START + 9_000 * DAY,))
    connection.close()
    _, asked = site.run(tmp_path, REVISIT, days=2)
    assert ("a" if table == "page" else "one.xml") in asked


def test_a_run_that_reads_more_of_a_page_asks_for_it_as_a_whole(tmp_path: Path) -> None:
    """What an earlier run did not read cannot be taken over: with other kinds of links a page is fetched once (R-2.4)."""
    site = Site({"": html(), "a": html(), **DATED})
    site.pages[HOME] = html("a", head='<link rel="next" href="/n">', body='<area href="/m">')
    few = {"links": {"kinds": ["a"]}}
    site.run(tmp_path, few)
    site.run(tmp_path, REVISIT, days=2)
    assert {f"{HOME}n", f"{HOME}m"} <= endings(tmp_path / "s.db", 2).keys()
    site.run(tmp_path, REVISIT, days=4)
    assert endings(tmp_path / "s.db", 3)[HOME] == "unchanged.not_modified"


def test_a_run_that_looks_for_sitemaps_finds_what_one_of_links_alone_did_not(tmp_path: Path) -> None:
    """A sitemap that a page names is found by the first run that looks for sitemaps, also in a revisit (R-2.4)."""
    site = Site({"": html("a", head='<link rel="sitemap" href="/map.xml">'), "a": html(), "b": html()})
    site.pages[f"{HOME}map.xml"] = urlset(b="2025-12-01")
    site.run(tmp_path, {"sitemap": {"mode": "links-only"}})
    site.run(tmp_path, REVISIT, days=2)
    assert endings(tmp_path / "s.db", 2)[f"{HOME}b"] == "fetched.ok"


def test_other_normalisers_reach_what_sitemaps_name(tmp_path: Path) -> None:
    """The owner's normalisers of today hold for a sitemap that has not changed (R-2.4, R-3.5)."""
    site = Site({"robots.txt": f"Sitemap: {HOME}map.xml", "": html(), "a?x=1": html(), "a": html()})
    site.pages[f"{HOME}map.xml"] = urlset(**{"a?x=1": "2025-12-01"})
    site.run(tmp_path)
    site.run(tmp_path, {**REVISIT, "normalise": {"drop_parameters": ["x"]}}, days=2)
    found = endings(tmp_path / "s.db", 2)
    assert found == {HOME: "unchanged.not_modified", f"{HOME}a": "fetched.ok"}


def test_settings_that_read_alike_save_as_much(tmp_path: Path) -> None:
    """Other limits, filters or politeness are no reason to ask for a page as a whole (R-2.4)."""
    site = Site(DATED)
    site.run(tmp_path)
    tree = {**REVISIT, "limits": {"max_depth": 9}, "politeness": {"delay": 2}, "sitemap": {"mode": "sitemaps-only"}}
    _, asked = site.run(tmp_path, tree, days=3)
    assert sorted(asked) == ["", "map.xml"]


def test_a_trap_that_is_known_is_not_walked_into_again(tmp_path: Path) -> None:
    """A revisit asks for nothing more of a series that the run before found to be a trap, run after run (issue: traps)."""

    class Calendar(dict[str, Page]):
        def get(self, url: str, default: Any = None) -> Any:
            day = url.removeprefix(f"{HOME}cal/")
            return (
                html(*(f"/cal/{int(day) + n}" for n in range(1, 9))) if day.isdecimal() else super().get(url, default)
            )

    site = Site({})
    site.pages = Calendar({HOME: html("cal/0")})
    tree = {"traps": {"same_text": 20}}
    _, first = site.run(tmp_path, tree)
    assert 20 <= len(first) < 40
    for days in (2, 4):
        _, asked = site.run(tmp_path, {**REVISIT, **tree}, days=days)
        assert set(asked) <= set(first)
    same_but_how(tmp_path / "s.db", 1, 3)
    _, again = site.run(tmp_path, {**tree, "traps": {"detect": False}, "limits": {"max_pages": 60}, **REVISIT}, days=6)
    assert set(again) - set(first), "unless the owner looks for no traps"


@pytest.mark.parametrize("status", [404, 410])
def test_what_is_gone_and_not_asked_for_keeps_its_status(tmp_path: Path, status: int) -> None:
    """A page that was gone and is left alone this time has the status of the last time, in every report (R-6.2)."""
    site = Site({"": html("x"), "x": status})
    tree = {"history": {"gone_after": 1}}
    site.run(tmp_path, tree)
    _, asked = site.run(tmp_path, {"revisit": True, **tree}, days=0.1)
    assert asked == [""]
    row = ledger(tmp_path / "s.db", 2)["page", f"{HOME}x"]
    assert (row["kind"], row["status"], row["attempts"]) == ("missing", status, 0)
