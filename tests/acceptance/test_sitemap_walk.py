"""A sitemap looked at by itself: its children, its place, its limits, and whatever a hostile web makes of them."""

from __future__ import annotations

import asyncio
import gzip
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu import settings
from purlieu.crawl.sitemap_walk import SitemapWalk, WalkRules
from purlieu.response import Fault
from purlieu.sitemap.inspection import Inspection
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, answer, redirect

NS = "http://www.sitemaps.org/schemas/sitemap/0.9"
TOP = "http://site.test/sitemap.xml"


def urlset(*locs: str) -> str:
    """Return a sitemap of these entries."""
    return f'<urlset xmlns="{NS}">' + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>"


def index(*locs: str) -> str:
    """Return an index of these files."""
    return (
        f'<sitemapindex xmlns="{NS}">'
        + "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
        + "</sitemapindex>"
    )


def walked(
    pages: Mapping[str, Any], url: str = TOP, *, strict: bool = False, **rules: Any
) -> tuple[list[Inspection], FakeWeb]:
    """Return what looking at a URL gives, and the web that was asked."""
    clock = FakeClock()
    web = FakeWeb(pages, clock)

    async def main() -> list[Inspection]:
        walk = SitemapWalk(settings.of({}), web, clock, WalkRules(strict, **rules))
        return [one async for one in walk.of_url(url)]

    return asyncio.run(main()), web


def kinds(found: list[Inspection]) -> list[list[str]]:
    """Return the kinds of problems of each file."""
    return [[problem.kind for problem in one.problems] for one in found]


def test_an_index_is_followed_one_level(  # the good entries of every child are kept
) -> None:
    """AMB-SM-11, SM-38: children are read, an index in an index is told and its files are not read."""
    found, web = walked(
        {
            TOP: index("http://site.test/a.xml", "http://site.test/inner.xml"),
            "http://site.test/a.xml": urlset("http://site.test/1", "http://site.test/2"),
            "http://site.test/inner.xml": index("http://site.test/b.xml"),
        }
    )

    assert [(one.kind, one.entries) for one in found] == [("index", 0), ("urlset", 2), ("index", 0)]
    assert kinds(found) == [[], [], ["index-in-index"]]
    assert "http://site.test/b.xml" not in web.urls


def test_loops_end() -> None:
    """An index that names itself, or a file twice, is told, and no file is asked for twice."""
    found, web = walked(
        {TOP: index(TOP, "http://site.test/a.xml", "http://site.test/a.xml"), "http://site.test/a.xml": index(TOP)}
    )

    assert kinds(found) == [["loop", "loop"], ["index-in-index"]]
    assert len(web.urls) == len(set(web.urls)) == 3


def test_a_local_index_that_names_itself() -> None:
    """A file on disk that names the place where it will stand is a loop too, and nothing is asked for."""
    web = FakeWeb({})

    async def main() -> list[Inspection]:
        walk = SitemapWalk(settings.of({}), web, FakeClock(), WalkRules())
        return [one async for one in walk.of_bytes(lambda: (index(TOP).encode(),), "index.xml", TOP)]

    assert (kinds(asyncio.run(main())), web.urls) == ([["loop"]], [])


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        (404, ["status"]),
        ("<!doctype html><html><body>Sorry</body></html>", ["doctype", "not-a-sitemap"]),
        (answer(gzip.compress(urlset("http://site.test/1").encode())[:-9]), ["gzip"]),
        (answer(gzip.compress(b"<urlset>" + b" " * 60_000_000)), ["too-large"]),
        ('<!DOCTYPE l [<!ENTITY a "b">]>' + urlset("http://site.test/&a;"), ["doctype", "dtd"]),
        ("just words", ["line", "not-a-sitemap"]),
        (answer(urlset("http://site.test/1", "http://site.test/2").encode()[:-30], fault=Fault.TRUNCATED), None),
        (Fault.TIMEOUT, ["not-fetched"]),
        (redirect("http://site.test/child.xml"), ["redirects"]),
        ("<?xml version='1.0' encoding='utf-16'?>" + urlset("http://site.test/ok"), None),
        ("", None),
    ],
)  # fmt: skip
def test_a_bad_child_is_a_problem_and_the_good_ones_are_kept(child: Any, expected: list[str] | None) -> None:
    """Whatever a child is, it is told as a problem, ends, and takes nothing from the others."""
    good = urlset("http://site.test/good")
    found, _ = walked(
        {
            TOP: index("http://site.test/child.xml", "http://site.test/good.xml"),
            "http://site.test/child.xml": child,
            "http://site.test/good.xml": good,
        }
    )

    assert [one.entries for one in found][2] == 1
    assert found[2].is_valid
    if expected is not None:
        assert kinds(found)[1] == expected
    assert kinds(found)[1], "nothing was told"


def test_a_sitemap_speaks_for_its_folder() -> None:
    """SM-31: of the article's example the page in the folder is valid, those above it and on other hosts are not."""
    file = "http://www.mycompany.com/xyz/sitemap.xml"
    found, _ = walked(
        {
            file: urlset(
                "http://www.mycompany.com/xyz/index.html",
                "http://www.mycompany.com/index.html",
                "http://www.notmycompany.com/index.html",
                "http://subdomain.mycompany.com/",
            )
        },
        file,
    )

    assert kinds(found) == [["location", "host", "host"]]
    assert found[0].rejected == {
        "http://www.mycompany.com/index.html",
        "http://www.notmycompany.com/index.html",
        "http://subdomain.mycompany.com/",
    }
    assert not found[0].is_valid


def test_scheme_and_port_belong_to_the_place() -> None:
    """SM-32, SM-46: another scheme or port is another site, and http and https are different URLs."""
    file = "http://www.example.com:100/sitemap.xml"
    found, _ = walked(
        {file: urlset("http://www.example.com:100/a", "http://www.example.com/a", "https://www.example.com:100/a")},
        file,
    )

    assert kinds(found) == [["host", "host"]]


@pytest.mark.parametrize(("strict", "expected"), [(False, ["by-robots"]), (True, ["location", "location"])])
def test_the_sites_robots_txt_lets_a_sitemap_speak_for_all(strict: bool, expected: list[str]) -> None:
    """AMB-SM-7: named by its own host's robots.txt, entries above the folder count, with one problem; not strictly."""
    file = "http://site.test/deep/sitemap.xml"
    pages = {
        "http://site.test/robots.txt": f"Sitemap: {file}\n",
        file: urlset("http://site.test/deep/a", "http://site.test/b", "http://site.test/c"),
    }
    found, _ = walked(pages, file, strict=strict)

    assert kinds(found) == [expected]
    assert found[0].is_valid is not strict


@pytest.mark.parametrize("proves", [True, False])
def test_a_cross_submission_is_proven_by_the_other_hosts_robots_txt(proves: bool) -> None:
    """SM-35, SM-36: URLs of another host count if that host's robots.txt names the file, wherever they lie there."""
    file = "http://www.sitemaphost.test/deep/sitemap-host1.xml"
    pages = {
        "http://www.host1.test/robots.txt": f"User-agent: *\nDisallow:\nSitemap: {file}" if proves else "User-agent: *",
        file: urlset("http://www.host1.test/", "http://www.host1.test/x/y", "http://www.host2.test/"),
    }
    found, _ = walked(pages, file)

    assert kinds(found) == [["host"] if proves else ["host", "host", "host"]]
    assert ("http://www.host1.test/" in found[0].rejected) is not proves


def test_an_index_lists_only_files_of_its_own_site() -> None:
    """SM-37, AMB-SM-9: a child on another host is told and not read, unless the site's robots.txt names it."""
    pages = {
        "http://site.test/robots.txt": "Sitemap: http://cdn.test/named.xml",
        TOP: index("http://cdn.test/other.xml", "http://cdn.test/named.xml"),
        "http://cdn.test/named.xml": urlset("http://cdn.test/1"),
    }
    found, web = walked(pages)

    assert kinds(found)[0] == ["child-host"]
    assert [one.url for one in found] == [TOP, "http://cdn.test/named.xml"]
    assert "http://cdn.test/other.xml" not in web.urls


def test_limits_of_2007_are_told_when_asked_for() -> None:
    """SM-21, AMB-SM-3: the profile 2007 has the limit of 10,485,760 bytes; today's is five times that."""
    body = urlset("http://site.test/1").replace("</urlset>", " " * 10_485_760 + "</urlset>")

    assert kinds(walked({TOP: body})[0]) == [[]]
    assert kinds(walked({TOP: body}, limit_2007=True)[0]) == [["too-large-2007"]]


def test_an_index_has_a_limit_of_files() -> None:
    """SM-23: at most 50,000 files of an index are looked at; more are told."""
    many = index(*(f"http://site.test/{n}.xml" for n in range(50_001)))
    found, _ = walked({TOP: many}, most_files=2)
    read = list(found[0].problems)

    assert [problem.kind for problem in read] == ["too-many", "too-many-files"]
    assert len(found) == 3


def test_files_are_asked_for_politely() -> None:
    """SM-74: one request at a time, by the pace that robots.txt wants; only GET; what it forbids is not read."""
    pages = {
        "http://site.test/robots.txt": "User-agent: *\nCrawl-delay: 5\nDisallow: /secret",
        TOP: index("http://site.test/a.xml", "http://site.test/secret.xml", "http://site.test/b.xml"),
        "http://site.test/a.xml": urlset("http://site.test/1"),
        "http://site.test/b.xml": urlset("http://site.test/2"),
    }
    found, web = walked(pages)

    assert kinds(found) == [[], [], ["robots"], []]
    assert "http://site.test/secret.xml" not in web.urls
    assert {one.request.method for one in web.asked} == {"GET"}
    starts = [one.began_at for one in web.asked[1:]]
    assert all(after - before >= 5 for before, after in itertools.pairwise(starts))


def test_a_passing_fault_is_tried_again() -> None:
    """A server that answers 503 once is asked again."""
    answers = iter([503, urlset("http://site.test/1")])
    found, _ = walked({TOP: lambda _: next(answers)})

    assert (found[0].entries, kinds(found)) == (1, [[]])


def test_a_file_over_the_owners_limit() -> None:
    """AMB-SM-10: a file larger than ``fetch.sitemap_bytes`` is told as too large, and by nothing else."""
    web = FakeWeb({TOP: urlset(*(f"http://site.test/{number}" for number in range(100)))})

    async def main() -> list[Inspection]:
        made = settings.of({"fetch": {"sitemap_bytes": 1_024}})
        return [one async for one in SitemapWalk(made, web, FakeClock(), WalkRules()).of_url(TOP)]

    (found,) = asyncio.run(main())
    assert ([one.kind for one in found.problems], 0 < found.entries < 100) == (["too-large"], True)


def test_only_the_host_that_was_typed_may_open_private_addresses() -> None:
    """R-5.1: what a sitemap names on other hosts is asked for as any page of the web is."""
    pages = {TOP: redirect("http://else.test/s.xml"), "http://else.test/s.xml": urlset("http://else.test/1")}
    _, web = walked(pages)

    opens = {one.url: one.request.opens for one in web.asked}
    assert opens[TOP]
    assert not opens["http://else.test/s.xml"]


def test_a_crawl_triggers_no_action(tmp_path: Path) -> None:
    """SM-74: nothing is asked for by a method other than GET or HEAD, and no form is sent, whatever a page offers."""
    form = '<form action="/delete" method="post"><input name="all" value="1"><button>Delete</button></form>'
    web = FakeWeb(
        {HOME: html("/a", body=form), f"{HOME}a": html(body='<form action="/search"><input name="q"></form>')}
    )

    crawl(web, made_settings(tmp_path / "s.db"))

    assert {one.request.method for one in web.asked} <= {"GET", "HEAD"}
    assert sorted(web.urls) == [HOME, f"{HOME}a", f"{HOME}robots.txt"]


def test_a_redirected_sitemap_is_measured_where_it_lies() -> None:
    """A redirect is followed, and the location rule is that of the address that answers."""
    pages = {
        TOP: redirect("/deep/s.xml"),
        "http://site.test/deep/s.xml": urlset("http://site.test/deep/a", "http://site.test/b"),
    }
    found, _ = walked(pages)

    assert (found[0].url, kinds(found)) == ("http://site.test/deep/s.xml", [["location"]])
