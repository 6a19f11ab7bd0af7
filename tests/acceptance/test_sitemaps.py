"""Whole crawls with sitemaps: how they are found, what they may speak for, in what order, and what the ledger says."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.cli.main import main
from purlieu.crawl.load import MOST_BYTES
from purlieu.crawl.result import Result
from purlieu.errors import SettingsError
from purlieu.report import books, findings
from purlieu.response import Request, Response
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
ROBOTS = f"{HOME}robots.txt"
MAP = f"{HOME}map.xml"
DEEP = f"{HOME}xyz/sitemap.xml"
ONLY: Mapping[str, Any] = {"sitemap": {"mode": "sitemaps-only"}}
WIDE: Mapping[str, Any] = {"scope": {"mode": "same-domain"}}
Web = dict[str, Made]


def xml(text: str) -> Response:
    """Return an answer of type application/xml."""
    return answer(text, headers={"Content-Type": "application/xml"})


def urlset(*locs: str, **priorities: str) -> Response:
    """Return a sitemap of absolute addresses, and of paths of the site with their priority."""
    urls = "".join(f"<url><loc>{loc}</loc></url>" for loc in locs)
    urls += "".join(
        f"<url><loc>{HOME}{path}</loc><priority>{priority}</priority></url>" for path, priority in priorities.items()
    )
    return xml(f"<urlset {XMLNS}>{urls}</urlset>")


def index(*locs: str) -> Response:
    """Return an index of sitemaps."""
    return xml(
        f"<sitemapindex {XMLNS}>{''.join(f'<sitemap><loc>{loc}</loc></sitemap>' for loc in locs)}</sitemapindex>"
    )


def naming(*files: str) -> Response:
    """Return a robots.txt that names sitemaps."""
    return answer("".join(f"Sitemap: {file}\n" for file in files), url="/robots.txt")


def site(pages: Web) -> Web:
    """Return a web with one page at the start and the given ones; addresses of pages that are ``html()`` may repeat."""
    return {HOME: html(), **pages}


def run(folder: Path, web: Web, tree: Mapping[str, Any] | None = None) -> tuple[Result, list[str]]:
    """Crawl a web; return the result and what was asked for, in order. The books must balance."""
    fake = FakeWeb(web)
    result = crawl(fake, made_settings(folder / "s.db", tree))
    assert result.books_balanced, result.faults
    return result, fake.urls


def read(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what the store says of each sitemap that was read."""
    connection = apsw.Connection(str(folder / "s.db"), flags=apsw.SQLITE_OPEN_READONLY)
    rows = list(connection.execute("SELECT href, kind, entries, children, problems FROM sitemap_read"))
    connection.close()
    return {
        href: {"kind": kind, "entries": entries, "children": children, "problems": json.loads(problems)}
        for href, kind, entries, children, problems in rows
    }


def problems(folder: Path, href: str = MAP) -> list[str]:
    """Return the kinds of problems of one sitemap."""
    return [kind for _, kind, _ in read(folder)[href]["problems"]]


# -- modes ---------------------------------------------------------------------------------------------


def test_only_what_sitemaps_name_is_fetched(tmp_path: Path) -> None:
    """SM-77, SM-76: sitemap-only mode fetches the seeds and the entries, also those that nothing links to, and no link."""
    web = site({
        HOME: html("linked", "listed"), ROBOTS: naming(MAP), MAP: urlset(f"{HOME}listed", f"{HOME}island?id=7&x=%2F"),
        f"{HOME}listed": html("linked", "deeper"), f"{HOME}island?id=7&amp;x=%2F": html(),
    })  # fmt: skip
    _, asked = run(tmp_path, web, ONLY)
    assert sorted(asked) == sorted([ROBOTS, MAP, HOME, f"{HOME}island?id=7&x=%2F", f"{HOME}listed"])
    found = endings(tmp_path / "s.db")
    assert found[f"{HOME}linked"] == found[f"{HOME}deeper"] == "excluded.not_in_sitemap"
    assert found[f"{HOME}listed"] == "fetched.ok"
    assert ledger(tmp_path / "s.db")["page", f"{HOME}linked"]["rule"] == "sitemap.mode=sitemaps-only"


def test_an_entrys_redirect_is_followed_and_its_canonical_is_not(tmp_path: Path) -> None:
    """SM-77: in sitemap-only mode a redirect leads to what the entry is; a canonical or a refresh link is another page."""
    web = site({
        ROBOTS: naming(MAP), MAP: urlset(f"{HOME}old", f"{HOME}twin"),
        f"{HOME}old": redirect("/older"), f"{HOME}older": redirect("/new"), f"{HOME}new": html("more"),
        f"{HOME}twin": html(head='<link rel="canonical" href="/first">'),
    })  # fmt: skip
    run(tmp_path, web, ONLY)
    found = endings(tmp_path / "s.db")
    assert (found[f"{HOME}old"], found[f"{HOME}new"]) == ("redirected.permanent", "fetched.ok")
    assert found[f"{HOME}first"] == found[f"{HOME}more"] == "excluded.not_in_sitemap"


def test_links_only_reads_no_sitemap(tmp_path: Path) -> None:
    """Mode links-only asks for no sitemap, whoever names it; sitemap.use = false still reads the owner's files."""
    web = site({HOME: html(head=f'<link rel="sitemap" href="{MAP}">'), ROBOTS: naming(MAP), MAP: urlset(f"{HOME}a")})
    _, asked = run(tmp_path, web, {"sitemap": {"mode": "links-only"}})
    assert asked == [ROBOTS, HOME]
    (tmp_path / "b").mkdir()
    _, asked = run(tmp_path / "b", web, {"sitemap": {"use": False, "files": [f"{HOME}own.xml"]}})
    assert sorted(asked) == sorted([ROBOTS, f"{HOME}own.xml", HOME])


@pytest.mark.parametrize(
    ("tree", "told"),
    [
        ({"sitemap": {"mode": "links-only", "files": [MAP]}}, "it reads no sitemap"),
        ({"sitemap": {"mode": "sitemaps-only"}, "scope": {"only_seeds": True}}, "scope.only_seeds"),
        ({"sitemap": {"mode": "sitemaps-only", "use": False}}, "sitemap.files"),
        ({"sitemap": {"mode": "only"}}, "sitemaps-only"),
    ],
)
def test_modes_that_contradict_other_keys(tmp_path: Path, tree: Mapping[str, Any], told: str) -> None:
    """A mode that cannot be is a mistake with its remedy (house, section 4)."""
    with pytest.raises(SettingsError, match=r"sitemap\.mode") as caught:
        made_settings(tmp_path / "s.db", tree)
    assert told in str(caught.value)


def test_links_beyond_the_list_are_counted(tmp_path: Path) -> None:
    """R-1.4: what no sitemap names is listed up to ledger.refusals_per_host and counted beyond; the books balance."""
    web = site({HOME: html(*(f"n{number}" for number in range(30))), ROBOTS: naming(MAP), MAP: urlset(f"{HOME}n7")})
    result, _ = run(tmp_path, web, {**ONLY, "ledger": {"refusals_per_host": 10}})
    found = list(endings(tmp_path / "s.db").values())
    assert (found.count("excluded.not_in_sitemap"), result.good) == (9, 1), "n7 was one of the ten until it was named"


# -- discovery -----------------------------------------------------------------------------------------


def test_a_seed_that_is_a_sitemap_is_read_as_one(tmp_path: Path) -> None:
    """A start address that turns out to be a sitemap is read as the owner's, with one request (R-1.3)."""
    web: Web = {MAP: urlset(f"{HOME}a", f"{HOME}sub/b"), f"{HOME}a": html(), f"{HOME}sub/b": html()}
    _, asked = run(tmp_path, web, {"seeds": [MAP], **ONLY})
    assert sorted(asked) == sorted([ROBOTS, MAP, f"{HOME}a", f"{HOME}sub/b"])
    rows = ledger(tmp_path / "s.db")
    assert (rows["sitemap", MAP]["kind"], rows["sitemap", MAP]["found_by"]) == ("fetched", "seed")
    assert rows["page", MAP]["kind"] == "fetched"


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/xml", "text/plain"])
def test_a_seed_behind_a_redirect_may_be_a_sitemap_of_any_type(tmp_path: Path, kind: str) -> None:
    """A seed's chain may end at a sitemap, whatever type the server gives it."""
    body = f"<urlset {XMLNS}><url><loc>{HOME}a</loc></url></urlset>"
    web: Web = {
        f"{HOME}go": redirect("/map.xml"), MAP: answer(body, headers={"Content-Type": kind}), f"{HOME}a": html(),
    }  # fmt: skip
    run(tmp_path, web, {"seeds": [f"{HOME}go"]})
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"


def test_a_page_that_is_a_sitemap_serves_both(tmp_path: Path) -> None:
    """R-1.3: a sitemap that is linked and fetched as a page first is not fetched again when it is named as a sitemap."""
    web = site({
        HOME: html("map.xml", "a"), f"{HOME}a": html(head=f'<link rel="sitemap" href="{MAP}">'),
        MAP: urlset(f"{HOME}b"), f"{HOME}b": html(),
    })  # fmt: skip
    _, asked = run(tmp_path, web, {"politeness": {"connections": 1}})
    assert asked.count(MAP) == 1
    rows = ledger(tmp_path / "s.db")
    assert rows["page", MAP]["kind"] == rows["sitemap", MAP]["kind"] == "fetched"
    assert rows["page", f"{HOME}b"]["found_by"] == "sitemap"


def test_a_seed_that_stands_unchanged_is_still_a_sitemap(tmp_path: Path) -> None:
    """R-2.4: a revisit whose seed is a sitemap and answers 304 takes over what it named."""

    def unless_known(request: Request) -> Response:
        if dict(request.headers).get("If-None-Match"):
            return answer(status=304)
        return replace(urlset(f"{HOME}a"), headers=(("Content-Type", "application/xml"), ("ETag", '"1"')))

    web: dict[str, Any] = {MAP: unless_known, f"{HOME}a": html()}
    tree = {"seeds": [MAP], "revisit": True, "history": {"sample": 0}}
    run(tmp_path, web, tree)
    result, _ = run(tmp_path, web, tree)
    assert endings(tmp_path / "s.db", result.run)[MAP] == "unchanged.not_modified"
    assert ledger(tmp_path / "s.db", result.run)["page", f"{HOME}a"]["found_by"] == "sitemap"


def test_a_resume_with_another_location_rule_takes_what_it_allows(tmp_path: Path) -> None:
    """A run that is resumed with a wider rule takes the entries that it had left out, with no second fetch of the file."""
    web = site({HOME: html("x", head=f'<link rel="sitemap" href="{DEEP}">'), DEEP: urlset(f"{HOME}out")})
    web |= {f"{HOME}out": html(), f"{HOME}x": html()}
    strict = {"sitemap": {"location": "enforce"}, "limits": {"max_pages": 1}, "politeness": {"connections": 1}}
    crawl(FakeWeb(web), made_settings(tmp_path / "s.db", strict))
    fake = FakeWeb(web)
    wide = made_settings(tmp_path / "s.db", {"sitemap": {"location": "warn"}})
    result = crawl(fake, wide, FakeClock(START + 60), resume=True)
    assert result.books_balanced, result.faults
    assert endings(tmp_path / "s.db")[f"{HOME}out"] == "fetched.ok"


def test_a_page_that_looks_like_a_sitemap_and_is_named_by_nobody_names_nothing(tmp_path: Path) -> None:
    """A linked XML file is only a page: what it lists is no candidate until somebody names it as a sitemap."""
    run(tmp_path, site({HOME: html("map.xml"), MAP: urlset(f"{HOME}a"), f"{HOME}a": html()}))
    assert f"{HOME}a" not in endings(tmp_path / "s.db")


def test_guesses(tmp_path: Path) -> None:
    """sitemap.guess tries the usual paths where robots.txt names none; a 404 there stands apart by its found_by."""
    web = site({f"{HOME}sitemap.xml": urlset(f"{HOME}a"), f"{HOME}a": html()})
    _, asked = run(tmp_path, web, {"sitemap": {"guess": True}})
    assert f"{HOME}sitemap_index.xml" in asked
    rows = ledger(tmp_path / "s.db")
    assert (rows["page", f"{HOME}a"]["kind"], rows["sitemap", f"{HOME}sitemap.xml"]["found_by"]) == ("fetched", "guess")
    assert rows["sitemap", f"{HOME}sitemap_index.xml"]["reason"] == "not_found"
    (tmp_path / "b").mkdir()
    _, asked = run(tmp_path / "b", {**web, ROBOTS: naming(MAP)}, {"sitemap": {"guess": True}})
    assert f"{HOME}sitemap.xml" not in asked, "where one is named nothing is guessed"
    (tmp_path / "c").mkdir()
    assert f"{HOME}sitemap.xml" not in run(tmp_path / "c", web)[1], "not by default"


@pytest.mark.parametrize(
    "feed",
    [
        f"<rss version='2.0'><channel><link>{HOME}</link><item><link>{HOME}a</link></item></channel></rss>",
        f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{HOME}a'/></entry></feed>",
        f"{HOME}a\n",
    ],
)
def test_feeds_and_lists_are_sitemaps_too(tmp_path: Path, feed: str) -> None:
    """SM-41, SM-42: RSS, Atom and a text of addresses, given as a sitemap, name pages."""
    web = site({ROBOTS: naming(f"{HOME}feed"), f"{HOME}feed": answer(feed), f"{HOME}a": html()})
    run(tmp_path, web)
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"


def test_a_sitemap_that_redirects_speaks_for_what_its_namer_vouches_for(tmp_path: Path) -> None:
    """A named sitemap may redirect; where it leads, it is the same file for who named it."""
    web = site({
        ROBOTS: naming(MAP), MAP: redirect("/deep/down/map.xml"), f"{HOME}deep/down/map.xml": urlset(f"{HOME}a"),
        f"{HOME}a": html(),
    })  # fmt: skip
    run(tmp_path, web)
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"


# -- the location rule ---------------------------------------------------------------------------------


def located(folder: Path, by: str, location: str | None = None, *, strict: bool = False) -> str:
    """Crawl a site whose sitemap in a folder names a page above it; return how that page ended."""
    web = site({DEEP: urlset(f"{HOME}xyz/in", f"{HOME}out"), f"{HOME}xyz/in": html(), f"{HOME}out": html()})
    tree: dict[str, Any] = {"sitemap": {"strict": strict} | ({"location": location} if location else {})}
    if by == "robots":
        web[ROBOTS] = naming(DEEP)
    elif by == "owner":
        tree["sitemap"]["files"] = [DEEP]
    else:
        web[HOME] = html(head=f'<link rel="sitemap" href="{DEEP}">')
    run(folder, web, tree)
    found = endings(folder / "s.db")
    assert found[f"{HOME}xyz/in"] == "fetched.ok"
    return found[f"{HOME}out"]


@pytest.mark.parametrize(
    ("by", "location", "strict", "ending", "told"),
    [
        ("robots", None, False, "fetched.ok", ["location"]),
        ("owner", None, False, "fetched.ok", ["location"]),
        ("link", None, False, "excluded.sitemap_location", ["location"]),
        ("link", "warn", False, "fetched.ok", ["location"]),
        ("link", "off", False, "fetched.ok", []),
        ("owner", "enforce", False, "excluded.sitemap_location", ["location"]),
        ("robots", "enforce", False, "excluded.sitemap_location", ["location"]),
        ("robots", None, True, "excluded.sitemap_location", ["location"]),
        ("owner", None, True, "excluded.sitemap_location", ["location"]),
        ("owner", "warn", True, "fetched.ok", ["location"]),
    ],
)
def test_the_location_rule(
    tmp_path: Path, by: str, location: str | None, strict: bool, ending: str, told: list[str]
) -> None:
    """SM-30, SM-31, SM-34, AMB-SM-7: what lies outside the file's folder is taken or left out by who names the file.

    Either way there is one problem per file, and each address that is left out has its row.
    """
    assert located(tmp_path, by, location, strict=strict) == ending
    assert problems(tmp_path, DEEP) == told


def test_in_sitemap_tells_what_a_sitemap_may_name(tmp_path: Path) -> None:
    """The column in_sitemap is true where a sitemap that may speak for a page names it."""
    located(tmp_path, "link")
    connection = apsw.Connection(str(tmp_path / "s.db"))
    rows = dict(connection.execute("SELECT href, misplaced FROM sitemap_entry"))
    connection.close()
    assert rows == {f"{HOME}xyz/in": 0, f"{HOME}out": 1}


def test_a_misplaced_address_that_is_linked_is_as_if_only_linked(tmp_path: Path) -> None:
    """An address that a sitemap may not name is taken where a link names it, and found by that link."""
    web = site({HOME: html("out", head=f'<link rel="sitemap" href="{DEEP}">'), DEEP: urlset(f"{HOME}out")})
    run(tmp_path, {**web, f"{HOME}out": html()})
    row = ledger(tmp_path / "s.db")["page", f"{HOME}out"]
    assert (row["kind"], row["found_by"], row["via"]) == ("fetched", "link", HOME)


ONE, TWO = "http://one.site.test/", "http://two.site.test/"


def crossed(*, proven: bool) -> Web:
    """Return a web in which a sitemap on one host lists pages of another, whose robots.txt may name it."""
    web: Web = {
        ONE: html(), f"{ONE}robots.txt": naming(f"{ONE}maps/two.xml"),
        f"{ONE}maps/two.xml": urlset(f"{TWO}a", f"{TWO}b"), f"{TWO}a": html(), f"{TWO}b": html(),
    }  # fmt: skip
    if proven:
        web[f"{TWO}robots.txt"] = naming(f"{ONE}maps/two.xml")
    return web


@pytest.mark.parametrize("location", ["by-discovery", "enforce"])
def test_a_cross_submission_is_proven_by_the_other_hosts_robots_txt(tmp_path: Path, location: str) -> None:
    """SM-35, SM-36: the pages of another host count if its robots.txt, asked for that, names the file; no path matters."""
    tree = {"seeds": [ONE], **WIDE, "sitemap": {"location": location}}
    run(tmp_path, crossed(proven=True), tree)
    found = endings(tmp_path / "s.db")
    assert found[f"{TWO}a"] == found[f"{TWO}b"] == "fetched.ok"
    assert problems(tmp_path, f"{ONE}maps/two.xml") == []


def test_without_proof_a_cross_submission_is_left_out(tmp_path: Path) -> None:
    """SM-35: without a line in the other host's robots.txt nothing of that host is taken, and the file says so."""
    _, asked = run(tmp_path, crossed(proven=False), {"seeds": [ONE], **WIDE})
    assert [url for url in asked if url.startswith(TWO)] == [f"{TWO}robots.txt"]
    assert endings(tmp_path / "s.db")[f"{TWO}a"] == "excluded.sitemap_location"
    ((line, kind, sentence),) = read(tmp_path)[f"{ONE}maps/two.xml"]["problems"]
    assert (line, kind) == (0, "location")
    assert sentence.startswith("2 addresses are left out")
    assert f"{TWO}a, {TWO}b" in sentence


def test_a_foreign_sitemap_named_by_a_host_in_scope_is_granted_and_what_it_names_is_judged(tmp_path: Path) -> None:
    """R-3.3, SM-35: a sitemap on a foreign host is read; of its entries only those of the naming host can count."""
    far = "http://maps.test/site.xml"
    web = site({ROBOTS: naming(far), far: urlset(f"{HOME}a", "http://maps.test/b"), f"{HOME}a": html()})
    _, asked = run(tmp_path, web)
    found = endings(tmp_path / "s.db")
    assert (found[f"{HOME}a"], found["http://maps.test/b"]) == ("fetched.ok", "excluded.scope")
    assert "http://maps.test/b" not in asked


def test_a_foreign_robots_txt_grants_nothing(tmp_path: Path) -> None:
    """R-3.3: the robots.txt of a host out of scope, asked for on a seed's way, makes no sitemap of that host asked for."""
    web: Web = {
        HOME: redirect("http://way.test/"), "http://way.test/": redirect(f"{HOME}home"), f"{HOME}home": html(),
        "http://way.test/robots.txt": naming("http://way.test/map.xml", f"{HOME}theirs.xml"),
    }  # fmt: skip
    _, asked = run(tmp_path, web)
    assert "http://way.test/map.xml" not in asked
    assert endings(tmp_path / "s.db", purpose="sitemap")["http://way.test/map.xml"] == "excluded.scope"


# -- indexes -------------------------------------------------------------------------------------------


def test_an_index_is_followed_one_level(tmp_path: Path) -> None:
    """SM-38, AMB-SM-11: an index in an index is reported and not followed; the files it lists have rows that say so."""
    outer, inner = f"{HOME}outer.xml", f"{HOME}inner.xml"
    web = site({
        ROBOTS: naming(outer), outer: index(inner, MAP), inner: index(f"{HOME}deep.xml"), MAP: urlset(f"{HOME}a"),
        f"{HOME}a": html(), f"{HOME}deep.xml": urlset(f"{HOME}b"),
    })  # fmt: skip
    _, asked = run(tmp_path, web)
    assert f"{HOME}deep.xml" not in asked
    assert problems(tmp_path, inner) == ["nested-index"]
    row = ledger(tmp_path / "s.db")["sitemap", f"{HOME}deep.xml"]
    assert (row["reason"], row["rule"]) == ("depth", "index-in-index")
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"


def test_an_inner_index_that_robots_txt_names_too_is_followed(tmp_path: Path) -> None:
    """AMB-SM-11: an index that is named by itself is no index in an index, whatever was read first."""
    outer, inner = f"{HOME}outer.xml", f"{HOME}inner.xml"
    web = site({
        HOME: html(head=f'<link rel="sitemap" href="{inner}">'), ROBOTS: naming(outer), outer: index(inner),
        inner: index(MAP), MAP: urlset(f"{HOME}a"), f"{HOME}a": html(),
    })  # fmt: skip
    run(tmp_path, web)
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"
    assert problems(tmp_path, inner) == []


def test_an_endless_loop_of_indexes_ends(tmp_path: Path) -> None:
    """AMB-SM-11: indexes that list each other and themselves, and ever new ones, are each read once at most."""
    endless = {
        f"{HOME}loop{number}.xml": index(*(f"{HOME}loop{n}.xml" for n in (number, number + 1, 0)))
        for number in range(50)
    }
    _, asked = run(tmp_path, site({ROBOTS: naming(f"{HOME}loop0.xml"), **endless}))
    assert [url for url in asked if "loop" in url] == [f"{HOME}loop0.xml", f"{HOME}loop1.xml"]
    assert [problems(tmp_path, f"{HOME}loop{n}.xml") for n in (0, 1)] == [["loop"], ["nested-index"]]


def test_ten_thousand_children(tmp_path: Path) -> None:
    """SM-23: an index of 10,000 files that are all missing is told file by file, and the run goes on."""
    children = [f"{HOME}m/{number}.xml" for number in range(10_000)]
    web = site({ROBOTS: naming(MAP), MAP: index(*children), children[7]: urlset(f"{HOME}a"), f"{HOME}a": html()})
    run(tmp_path, web, {"politeness": {"delay": 0, "adaptive": False}})
    found = endings(tmp_path / "s.db", purpose="sitemap")
    assert list(found.values()).count("missing.not_found") == 9_999
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"


def test_children_on_another_host(tmp_path: Path) -> None:
    """SM-37, AMB-SM-9: an index may list files of its own host; one of another only if that host's robots.txt names it."""
    web: Web = {
        ONE: html(), f"{ONE}robots.txt": naming(f"{ONE}index.xml"), f"{ONE}index.xml": index(f"{TWO}m.xml"),
        f"{TWO}m.xml": urlset(f"{TWO}a"), f"{TWO}a": html(), TWO: html(),
    }  # fmt: skip
    tree = {"seeds": [ONE, TWO], **WIDE}
    run(tmp_path, web, tree)
    assert endings(tmp_path / "s.db", purpose="sitemap")[f"{TWO}m.xml"] == "excluded.sitemap_location"
    assert problems(tmp_path, f"{ONE}index.xml") == ["foreign-child"]
    (tmp_path / "b").mkdir()
    run(tmp_path / "b", {**web, f"{TWO}robots.txt": naming(f"{ONE}index.xml")}, tree)
    assert endings(tmp_path / "b" / "s.db")[f"{TWO}a"] == "fetched.ok"
    assert problems(tmp_path / "b", f"{ONE}index.xml") == []


# -- order ---------------------------------------------------------------------------------------------


def test_priority_sets_the_order_and_nothing_else(tmp_path: Path) -> None:
    """SM-73: 0.8 is fetched before 0.3 in one site; the ledger is the same as without priorities."""
    priorities = {"low": "0.3", "mid": "0.5", "high": "0.8", "top": "1.0", "least": "0.0"}
    web = site({ROBOTS: naming(MAP), MAP: urlset(**priorities), **{f"{HOME}{name}": html() for name in priorities}})
    _, asked = run(tmp_path, web, {"politeness": {"connections": 1}})
    order = [name for url in asked if (name := url.removeprefix(HOME)) in priorities]
    assert order == ["top", "high", "mid", "low", "least"]
    (tmp_path / "b").mkdir()
    flat = urlset(*(f"{HOME}{name}" for name in priorities))
    run(tmp_path / "b", web | {MAP: flat}, {"politeness": {"connections": 1}})
    assert ledger(tmp_path / "b" / "s.db") == ledger(tmp_path / "s.db")


def test_priority_brings_forward_what_waits(tmp_path: Path) -> None:
    """SM-73: a page that was found by a link and waits is fetched earlier once a sitemap gives it a priority."""
    links = [f"n{number:03}" for number in range(600)]  # more than are handed out at once
    names = dict.fromkeys(links[::100], "0.9")
    web = site({HOME: html(*links, head=f'<link rel="sitemap" href="{MAP}">'), MAP: urlset(**names)})
    _, asked = run(tmp_path, web, {"politeness": {"connections": 1}})
    pages = [url.removeprefix(HOME) for url in asked if "/n" in url]
    assert max(map(pages.index, names)) < 300


# -- a hostile web -------------------------------------------------------------------------------------


def test_a_page_instead_of_a_sitemap(tmp_path: Path) -> None:
    """HTML with status 200 where a sitemap was named is a problem of that file, and the rest goes on."""
    run(tmp_path, site({ROBOTS: naming(f"{HOME}gone.xml", MAP), f"{HOME}gone.xml": html("x"), MAP: urlset(f"{HOME}a")}))
    assert problems(tmp_path, f"{HOME}gone.xml") == ["doctype", "not-a-sitemap"]
    assert f"{HOME}a" in endings(tmp_path / "s.db")


def test_damaged_and_bursting_gzip(tmp_path: Path) -> None:
    """A gzip file that breaks off keeps its good entries; one that bursts is read to the limit; each has its problem."""
    many = urlset(*(f"{HOME}{number}" for number in range(2_000))).body
    bomb = gzip.compress(f"<urlset {XMLNS}><url><loc>{HOME}first</loc></url>".encode() + b" " * 20_000_000)
    web = site({
        ROBOTS: naming(f"{HOME}cut.xml.gz", f"{HOME}bomb.xml.gz"),
        f"{HOME}cut.xml.gz": answer(gzip.compress(many)[:-3_000], headers={"Content-Type": "application/gzip"}),
        f"{HOME}bomb.xml.gz": answer(bomb, headers={"Content-Type": "application/gzip"}),
    })  # fmt: skip
    run(tmp_path, web, {"fetch": {"sitemap_bytes": 1_000_000}, "politeness": {"delay": 0}})
    files = read(tmp_path)
    assert 0 < files[f"{HOME}cut.xml.gz"]["entries"] < 2_000
    assert "gzip" in problems(tmp_path, f"{HOME}cut.xml.gz")
    assert (files[f"{HOME}bomb.xml.gz"]["entries"], problems(tmp_path, f"{HOME}bomb.xml.gz")) == (1, ["too-large"])


@pytest.mark.parametrize("as_text", [True, False])
def test_a_file_over_the_limit_is_told_as_such(tmp_path: Path, as_text: bool) -> None:
    """AMB-SM-10, R-8.3: of a file that is too large what is within the limit is taken, and that alone is its problem."""
    pages = [f"{HOME}{number:04}" for number in range(100)]
    body = answer("\n".join(pages), headers={"Content-Type": "text/plain"}) if as_text else urlset(*pages)
    run(tmp_path, site({ROBOTS: naming(MAP), MAP: body}), {"fetch": {"sitemap_bytes": 1_024}})
    taken = [href for href in endings(tmp_path / "s.db") if href != HOME]
    assert taken
    assert set(taken) < set(pages)
    assert problems(tmp_path) == ["too-large"]


def test_three_million_entries_in_one_file(tmp_path: Path) -> None:
    """AMB-SM-10, SM-20: of a file of 3 million entries 50,000 are read, in memory that does not grow with the rest."""
    far = "".join(f"http://far.test/{number}\n" for number in range(10))  # few, so that the crawl costs next to nothing
    body = gzip.compress(far.encode() * 300_000, 1)
    file = f"{HOME}list.txt.gz"
    web = site({ROBOTS: naming(file), file: answer(body, headers={"Content-Type": "application/gzip"})})
    tracemalloc.start()
    try:
        run(tmp_path, web)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (read(tmp_path)[file]["entries"], "too-many" in problems(tmp_path, file)) == (50_000, True)
    assert list(endings(tmp_path / "s.db").values()).count("excluded.scope") == 10
    assert most < 60_000_000  # the file has 54 MB


def test_at_most_a_hundred_problems_of_a_file_are_stored(tmp_path: Path) -> None:
    """A file with a fault in every entry keeps its good parts and 100 problems, that of its place among them."""
    urls = "".join(f"<url><loc>{HOME}{n}</loc><lastmod>soon</lastmod></url>" for n in range(300))
    body = f"<urlset {XMLNS}>{urls}<url><loc>{HOME}</loc></url></urlset>"
    web = site({ROBOTS: naming(f"{HOME}d/map.xml"), f"{HOME}d/map.xml": xml(body)})
    run(tmp_path, web, {"limits": {"max_pages": 1}})
    told = problems(tmp_path, f"{HOME}d/map.xml")
    assert (len(told), told.count("location")) == (100, 1)


def test_strict_reading_in_a_crawl(tmp_path: Path) -> None:
    """SM-12, AMB-SM-4: sitemap.strict refuses a file with a fault of its own, which lenient reading only reports."""
    body = f"\n<?xml version='1.0'?><urlset {XMLNS}><url><loc>{HOME}a</loc></url></urlset></xml>"
    web = site({ROBOTS: naming(MAP), MAP: xml(body), f"{HOME}a": html()})
    run(tmp_path, web)
    assert endings(tmp_path / "s.db")[f"{HOME}a"] == "fetched.ok"
    assert problems(tmp_path) == ["late-declaration", "stray-tag"]
    (tmp_path / "b").mkdir()
    run(tmp_path / "b", web, {"sitemap": {"strict": True}})
    assert f"{HOME}a" not in endings(tmp_path / "b" / "s.db")
    assert read(tmp_path / "b")[MAP]["entries"] == 0


# -- what the owner is told ----------------------------------------------------------------------------


def told(folder: Path) -> dict[tuple[str, str], str]:
    """Return the sentences of a run's findings by code and subject."""
    database = SqliteDatabase.reader(str(folder / "s.db"))
    try:
        reader = Reader(database)
        row = reader.latest()
        assert row is not None
        found = findings.of_run(reader, row, books.of_run(reader, row))
        return {(one.code, one.subject): one.sentence() for one in found}
    finally:
        database.close()


def test_what_is_wrong_with_sitemaps_is_found(tmp_path: Path) -> None:
    """A named file that cannot be had and a faulty one are a finding each; a guess that finds nothing is none."""
    gone, faulty = f"{HOME}gone.xml", f"{HOME}d/faulty.xml"
    run(tmp_path, site({ROBOTS: naming(gone, faulty), faulty: urlset(f"{HOME}a")}))
    found = told(tmp_path)
    assert "(missing.not_found)" in found["sitemap_failed", gone]
    assert f"{faulty} has 1 problems. The first: 1 addresses lie outside {HOME}d/" in found["sitemap_faulty", faulty]
    (tmp_path / "b").mkdir()
    run(tmp_path / "b", site({}), {"sitemap": {"guess": True}})
    assert not [code for code, _ in told(tmp_path / "b") if "sitemap" in code]


def test_a_crawl_by_sitemaps_that_finds_none_says_so(tmp_path: Path) -> None:
    """SM-77: sitemap-only mode without any sitemap is a problem that the owner is told, with the remedy."""
    run(tmp_path, site({}), ONLY)
    assert "sitemap.guess = true" in told(tmp_path)["no_sitemap", "site.test"]


def test_the_list_of_a_runs_sitemaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``report RUN --format sitemaps`` tells each file with its problems, and apart from them how many guesses failed."""
    faulty = f"{HOME}d/faulty.xml"
    tree = {"sitemap": {"files": [faulty], "guess": True}}
    run(tmp_path, site({faulty: urlset(f"{HOME}a")}), tree)
    command = ["report", "1", "--format", "sitemaps", "--store", str(tmp_path / "s.db")]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert [line.split() for line in text.splitlines()[:2]] == [
        ["SITEMAP", "NAMED", "BY", "ENDING", "KIND", "ENTRIES", "FILES", "PROBLEMS"],
        [faulty, "owner", "fetched.ok", "urlset", "1", "0", "1"],
    ]
    assert "  location: 1 addresses lie outside" in text
    assert text.endswith("2 usual addresses were tried and hold no sitemap.\n")
    assert main([*command, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["url"], row["found_by"], len(row["problems"])) for row in rows] == [
        (faulty, "owner", 1), (f"{HOME}sitemap.xml", "guess", 0), (f"{HOME}sitemap_index.xml", "guess", 0),
    ]  # fmt: skip


def test_large_sitemaps_do_not_all_come_at_once(tmp_path: Path) -> None:
    """Of a hundred hosts at work, as many sitemaps are under way as fit the bound by the size of those before (R-8.3)."""
    hosts = [f"http://h{number}.test/" for number in range(100)]
    clock, under_way, most = FakeClock(), 0, [0]
    pages: dict[str, Any] = {}

    async def large(request: Request) -> Response:
        nonlocal under_way
        under_way += 1
        most.append(under_way)
        await clock.sleep(1)
        under_way -= 1
        return xml(f"<urlset {XMLNS}><!--{' ' * 2**21}--><url><loc>{request.url[:-7]}x</loc></url></urlset>")

    for host in hosts:
        pages |= {host: html(), f"{host}x": html(), f"{host}map.xml": large}
        pages[f"{host}robots.txt"] = answer(f"Sitemap: {host}map.xml\n", url="/robots.txt")
    tree = {"seeds": hosts, "politeness": {"max_hosts": 100}}
    result = crawl(FakeWeb(pages, clock), made_settings(tmp_path / "s.db", tree), clock)
    assert result.good == 200
    assert max(most) == 16
    assert max(most[-80:]) <= MOST_BYTES // 2**21
