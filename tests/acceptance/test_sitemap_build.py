"""Sitemaps made from whole crawls: what goes in, what stays, and that other readers and a crawl find the same set."""

from __future__ import annotations

import csv
import gzip
import json
import multiprocessing
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from tests.crawling import HOME, crawl, endings, html, made_settings
from tests.shared import CONFORMANCE
from usp.fetch_parse import SitemapFetcher
from usp.web_client.abstract_client import (
    AbstractWebClient,
    AbstractWebClientResponse,
    LocalWebClientSuccessResponse,
    WebClientErrorResponse,
)

from purlieu import sitemap
from purlieu.errors import SettingsError, StoreError
from purlieu.report import sitemap_files, sitemap_writing
from purlieu.report.file_set import replacing_in
from purlieu.report.sitemap_former import Former
from purlieu.report.sitemap_writing import Built, How, LeftOut
from purlieu.settings import PUBLIC, ProfileSettings
from purlieu.sitemap import Entry
from purlieu.sitemap.write import Form
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

DAY = 86_400.0
NOW = 1_800_000_000.0
XSD = CONFORMANCE / "sitemap" / "xsd"
PLAIN = replace(PUBLIC, gzip=False)
ENGLISH, GERMAN = (f"{HOME}{language}/" for language in ("en", "de"))
BOTH = "".join(
    f'<link rel="alternate" hreflang="{language}" href="{href}">'
    for language, href in (("en", ENGLISH), ("de", GERMAN), ("x-default", ENGLISH))
)
SITE: Mapping[str, Made] = {
    HOME: html(
        "/a", "/b", "/gone", "/moved", "/noindex", "/copy", "/doc.pdf", "/en/", "/de/", "/empty", "/old", "/x|y?a=1&b=2"
    ),
    f"{HOME}a": html(title="A"),
    f"{HOME}b": html("/a", title="B"),
    f"{HOME}moved": redirect("/a"),
    f"{HOME}noindex": html(head='<meta name="robots" content="noindex">'),
    f"{HOME}copy": html(head=f'<link rel="canonical" href="{HOME}a">'),
    f"{HOME}doc.pdf": b"%PDF-1.7",
    ENGLISH: html(head=BOTH),
    GERMAN: html(head=BOTH),
    f"{HOME}old": html(head='<meta http-equiv="refresh" content="0; url=/a">'),
    f"{HOME}empty": answer("", status=204),
    f"{HOME}x|y?a=1&b=2": html(),
}
LISTED = {HOME, f"{HOME}a", f"{HOME}b", ENGLISH, GERMAN, f"{HOME}x%7Cy?a=1&b=2"}
LEFT_OUT = {
    f"{HOME}gone": "missing",
    f"{HOME}moved": "redirected",
    f"{HOME}old": "redirected",
    f"{HOME}noindex": "noindex",
    f"{HOME}copy": "canonical",
    f"{HOME}doc.pdf": "document",
    f"{HOME}empty": "not_200",
}


@contextmanager
def opened(store: Path) -> Iterator[Reader]:
    """Give a reader of a store."""
    database = SqliteDatabase.reader(str(store))
    try:
        yield Reader(database)
    finally:
        database.close()


def build(store: Path, folder: Path, profile: ProfileSettings = PLAIN, **how: Any) -> Built:
    """Make the sitemap of the newest run."""
    with opened(store) as reader:
        run = reader.latest()
        assert run
        return sitemap_files.build(reader, run, profile, folder, How(NOW, **how))


def entries(folder: Path) -> list[Entry]:
    """Return the entries of a folder's sitemap by our strict reader; nothing may be wrong."""
    found: list[Entry] = []
    index = sitemap.read((folder / "sitemap.xml").read_bytes(), url=f"{HOME}sitemap.xml", strict=True)
    assert (index.kind, index.problems) == ("index", ())
    for child in index.children:
        read = sitemap.read((folder / child.loc.removeprefix(HOME)).read_bytes(), url=child.loc, strict=True)
        assert (read.kind, read.problems) == ("urlset", ())
        found += read.entries
    assert len({entry.loc for entry in found}) == len(found)
    return found


def locs(folder: Path) -> set[str]:
    """Return the addresses of a folder's sitemap."""
    return {entry.loc for entry in entries(folder)}


def left_out(path: Path) -> dict[str, str]:
    """Return the list of what was left out."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["sentence"] for row in rows)
    assert len({row["url"] for row in rows}) == len(rows)
    return {row["url"]: row["reason"] for row in rows}


class Served(AbstractWebClient):
    """Serves a folder to the peer, as a web server would."""

    def __init__(self, folder: Path) -> None:
        """Serve this folder at the top."""
        self._folder = folder

    def set_max_response_data_length(self, max_response_data_length: int | None) -> None:
        """Have no limit."""

    def get(self, url: str) -> AbstractWebClientResponse:
        """Give the file of a URL."""
        path = self._folder / url.removeprefix(HOME)
        if not path.is_file():
            return WebClientErrorResponse(message="not here", retryable=False)
        body = path.read_bytes()
        return LocalWebClientSuccessResponse(url, (gzip.decompress(body) if path.suffix == ".gz" else body).decode())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the store of one crawl of the site."""
    path = tmp_path_factory.mktemp("crawl") / "s.db"
    crawl(FakeWeb(SITE), made_settings(path))
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_what_is_built_is_valid_and_read_by_all(store: Path, tmp_path: Path, packed: bool) -> None:
    """Index and files are valid, and our strict reader and ultimate-sitemap-parser find the same set (issue 4)."""
    built = build(store, tmp_path, replace(PUBLIC, gzip=packed))
    assert locs(tmp_path) == LISTED
    assert built.entries == len(LISTED)
    tree = SitemapFetcher(f"{HOME}sitemap.xml", 0, web_client=Served(tmp_path)).sitemap()
    assert {page.url for page in tree.all_pages()} == LISTED
    for name in built.files if XSD.is_dir() else ():
        body = (tmp_path / name).read_bytes()
        root = etree.fromstring(gzip.decompress(body) if name.endswith(".gz") else body)
        for link in root.findall(
            ".//{http://www.w3.org/1999/xhtml}link"
        ):  # another schema's, see test_sitemap_write.py
            link.getparent().remove(link)
        etree.XMLSchema(etree.parse(XSD / ("siteindex.xsd" if name == "sitemap.xml" else "sitemap.xsd"))).assertValid(
            root
        )


def test_all_that_is_left_out_is_listed_with_its_reason(store: Path, tmp_path: Path) -> None:
    """Each page of the run is in the sitemap or in the list, with one reason (issue 4)."""
    built = build(store, tmp_path / "map", left_out=tmp_path / "left.csv")
    assert left_out(tmp_path / "left.csv") == LEFT_OUT
    assert sum(built.left_out.values()) == len(LEFT_OUT)
    assert len(endings(store)) == len(LEFT_OUT) + built.entries
    build(store, tmp_path / "map", left_out=tmp_path / "left.jsonl", language="ja")
    rows = [json.loads(line) for line in (tmp_path / "left.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["url"]: row["reason"] for row in rows} == LEFT_OUT
    assert not any(row["sentence"].isascii() for row in rows)


def test_a_crawl_by_the_sitemap_alone_fetches_its_set(store: Path, tmp_path: Path) -> None:
    """A crawl of the site in sitemap-only mode fetches exactly what the built index lists (issue 4, SM-77)."""
    build(store, tmp_path / "map", replace(PUBLIC, exclude=("*|*",)))
    served = {f"{HOME}{path.name}": answer(path.read_bytes(), headers={"Content-Type": "application/xml"})
              for path in (tmp_path / "map").iterdir()}  # fmt: skip
    web = FakeWeb({**SITE, **served, f"{HOME}robots.txt": answer(f"Sitemap: {HOME}sitemap.xml\n", url="/robots.txt")})
    crawl(web, made_settings(tmp_path / "again.db", {"sitemap": {"mode": "sitemaps-only"}}))
    pages = {url for url, ending in endings(tmp_path / "again.db").items() if ending == "fetched.ok"}
    assert pages == locs(tmp_path / "map") == LISTED - {f"{HOME}x%7Cy?a=1&b=2"}
    assert set(web.urls) == pages | set(served) | {f"{HOME}robots.txt"}


def test_languages_of_a_page_are_listed(store: Path, tmp_path: Path) -> None:
    """Pages that name each other have the same hreflang links, themselves among them; off writes none (SM-61)."""
    build(store, tmp_path)
    found = {entry.loc: set(entry.alternates) for entry in entries(tmp_path) if entry.alternates}
    both = {("en", ENGLISH), ("de", GERMAN), ("x-default", ENGLISH)}
    assert found == {ENGLISH: both, GERMAN: both}
    build(store, tmp_path, replace(PLAIN, hreflang=False))
    assert not any(entry.alternates for entry in entries(tmp_path))


def test_the_profile_decides(store: Path, tmp_path: Path) -> None:
    """Location, sections, parts and priorities are the profile's (IB-6, SM-6, SM-30)."""
    build(store, tmp_path, replace(PLAIN, location=f"{HOME}en/"))
    assert {entry.loc for entry in sitemap.read((tmp_path / "sitemap-1.xml").read_bytes(), url=HOME).entries} == {
        ENGLISH
    }
    build(store, tmp_path, replace(PLAIN, parts=True, priority=("/a 0.9", "/doc.pdf 0.1")))
    found = {entry.loc: entry.priority for entry in entries(tmp_path)}
    assert set(found) == LISTED | {f"{HOME}doc.pdf"}
    assert {loc: number for loc, number in found.items() if number != 0.5} == {f"{HOME}a": 0.9, f"{HOME}doc.pdf": 0.1}


def test_without_pages_nothing_is_written(store: Path, tmp_path: Path) -> None:
    """A filter on with no selection gives no pages, and the files that stand there stay (IB-5)."""
    build(store, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    built = build(store, tmp_path, replace(PLAIN, filter_sections=True))
    assert (built.entries, built.files) == (0, ())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_has_not_changed_is_not_written(store: Path, tmp_path: Path) -> None:
    """Building again touches no file and dates nothing anew; the index dates a file by when its bytes changed (SM-40)."""
    build(store, tmp_path)
    times = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    with opened(store) as reader:
        run = reader.latest()
        assert run
        built = sitemap_files.build(reader, run, PLAIN, tmp_path, How(NOW + DAY))
        assert built.changed == built.removed == ()
        assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == times
        index = sitemap.read((tmp_path / "sitemap.xml").read_bytes(), url=HOME)
        assert [child.lastmod_at for child in index.children] == [NOW]
        built = sitemap_files.build(reader, run, replace(PLAIN, exclude=("/a",)), tmp_path, How(NOW + DAY))
    assert built.changed == ("sitemap-1.xml", "sitemap.xml")
    index = sitemap.read((tmp_path / "sitemap.xml").read_bytes(), url=HOME)
    assert [child.lastmod_at for child in index.children] == [NOW + DAY]


def test_files_no_longer_needed_go_last(store: Path, tmp_path: Path) -> None:
    """Files of ours that the new index does not name are removed; what others put there stays (issue 4)."""
    build(store, tmp_path, PUBLIC)
    for name in ("sitemap-9.xml.gz", "sitemap-notes.txt", "other.xml"):
        (tmp_path / name).write_text("theirs")
    built = build(store, tmp_path, PLAIN)
    assert built.removed == ("sitemap-1.xml.gz",)
    names = {"sitemap.xml", "sitemap-1.xml", "sitemap-9.xml.gz", "sitemap-notes.txt", "other.xml"}
    assert {path.name for path in tmp_path.iterdir()} == names


def page(main: str, aside: str = "") -> str:
    """Return a page with a main text and a footer."""
    return html("/p", "/q", body=f"<main>{main}</main><footer>{aside}</footer>")


def test_lastmod_moves_with_the_main_content_only(tmp_path: Path) -> None:
    """A new footer leaves ``<lastmod>`` where it was, a new text moves it to the visit that saw it (issue 4, SM-7)."""
    store = tmp_path / "s.db"
    modified = {"Last-Modified": "Mon, 30 Nov 2020 12:00:00 GMT"}
    dates = []
    for day, (main, aside) in enumerate((("old text", "one"), ("old text", "two"), ("new text", "two"))):
        web = FakeWeb(
            {HOME: page("home", aside), f"{HOME}p": answer(page(main, aside), headers=modified), f"{HOME}q": page("q")}
        )
        crawl(web, made_settings(store), FakeClock(START + day * DAY))
        build(store, tmp_path / "map")
        dates.append({entry.loc: entry.lastmod_at for entry in entries(tmp_path / "map")})
    assert dates[0] == dates[1]
    assert (dates[2][f"{HOME}p"] or 0) - (dates[0][f"{HOME}p"] or 0) > DAY
    assert {loc for loc in dates[0] if dates[0][loc] != dates[2][loc]} == {f"{HOME}p"}
    build(store, tmp_path / "map", replace(PLAIN, lastmod="server"))
    said = {entry.loc: entry.lastmod for entry in entries(tmp_path / "map")}
    assert said[f"{HOME}p"] == "2020-11-30T12:00:00+00:00"
    build(store, tmp_path / "map", replace(PLAIN, lastmod="none"))
    assert {entry.lastmod for entry in entries(tmp_path / "map")} == {None}


def test_a_sitemap_is_kept_up_to_date(tmp_path: Path) -> None:
    """SM-78: the file is made without a hand, follows the site, and holds what the owner lets in.

    What is new, changed or gone is told for whoever is to be informed.
    """
    store, folder = tmp_path / "s.db", tmp_path / "map"
    sites: tuple[dict[str, Made], ...] = (
        {HOME: html("/a", "/b"), f"{HOME}a": html(), f"{HOME}b": html()},
        {HOME: html("/b", "/c"), f"{HOME}b": html(body="<main>new</main>"), f"{HOME}c": html()},
    )
    profiles = (PLAIN, replace(PLAIN, exclude=("/c",)))
    listed, moved = [], []
    for day, (pages, profile) in enumerate(zip((*sites, sites[1]), (PLAIN, *profiles), strict=True)):
        crawl(FakeWeb(pages), made_settings(store), FakeClock(START + day * DAY))
        moved.append(set(build(store, folder, profile, tracks=True).moved))
        listed.append(locs(folder))
    assert listed == [{HOME, f"{HOME}a", f"{HOME}b"}, {HOME, f"{HOME}b", f"{HOME}c"}, {HOME, f"{HOME}b"}]
    assert moved == [listed[0], {f"{HOME}a", f"{HOME}b", f"{HOME}c"}, {f"{HOME}c"}]


def test_changefreq_is_measured(tmp_path: Path) -> None:
    """The word follows the changes that were seen, after four visits and not before (issue 4, SM-72)."""
    store = tmp_path / "s.db"
    words = []
    for day in range(6):
        letter = "abcdef"[day]
        crawl(
            FakeWeb({HOME: page("home"), f"{HOME}p": page(f"text {letter}"), f"{HOME}q": page("q")}),
            made_settings(store),
            FakeClock(START + day * DAY),
        )
        build(store, tmp_path / "map")
        words.append({entry.loc: entry.changefreq for entry in entries(tmp_path / "map")})
    assert set(words[2].values()) == {None}
    assert words[5] == {HOME: "weekly", f"{HOME}p": "daily", f"{HOME}q": "weekly"}
    build(store, tmp_path / "map", replace(PLAIN, changefreq=False))
    assert {entry.changefreq for entry in entries(tmp_path / "map")} == {None}


THREE = {HOME: html("/p", "/q"), f"{HOME}p": html(), f"{HOME}q": html()}


@pytest.mark.parametrize(
    ("keep", "tree", "web", "expected", "reason"),
    [
        ("auto", {"limits": {"max_pages": 1}}, THREE, {HOME, f"{HOME}p", f"{HOME}q"}, ""),
        ("none", {"limits": {"max_pages": 1}}, THREE, {HOME}, "not_visited"),
        ("auto", {}, {HOME: html("/p"), f"{HOME}p": html()}, {HOME, f"{HOME}p"}, "vanished"),
        ("all", {}, {HOME: html("/p"), f"{HOME}p": html()}, {HOME, f"{HOME}p", f"{HOME}q"}, ""),
        ("auto", {}, {HOME: html("/p", "/q"), f"{HOME}p": html()}, {HOME, f"{HOME}p"}, "missing"),
        (
            "auto",
            {"limits": {"max_pages": 2}},
            {HOME: html("/p", "/q"), f"{HOME}q": html()},
            {HOME, f"{HOME}q"},
            "missing",
        ),
        ("auto", {"filter": {"exclude": ["/q"]}, "limits": {"max_pages": 1}}, THREE, {HOME, f"{HOME}p"}, "excluded"),
    ],
)
def test_a_partial_run_keeps_what_it_did_not_visit(
    tmp_path: Path, keep: str, tree: Mapping[str, Any], web: Mapping[str, Made], expected: set[str], reason: str
) -> None:
    """What a limited run did not ask for stays; what it found gone or refused, or a whole run did not find, goes (issue 4)."""
    store = tmp_path / "s.db"
    crawl(FakeWeb(THREE), made_settings(store))
    build(store, tmp_path / "map")
    crawl(FakeWeb(web), made_settings(store, tree))
    built = build(store, tmp_path / "map", keep=keep, left_out=tmp_path / "left.csv")
    assert locs(tmp_path / "map") == expected
    gone = left_out(tmp_path / "left.csv")
    assert set(gone) == {HOME, f"{HOME}p", f"{HOME}q"} - expected
    assert set(gone.values()) <= {reason}
    again = build(store, tmp_path / "map", keep=keep)
    assert (again.changed, again.entries) == ((), built.entries)


def test_a_revisit_keeps_what_it_left_alone(tmp_path: Path) -> None:
    """An incremental run that leaves pages alone takes nothing out of the sitemap (issue 4, R-2.4)."""
    store = tmp_path / "s.db"
    crawl(FakeWeb(SITE), made_settings(store), FakeClock(START))
    build(store, tmp_path / "map")
    before = entries(tmp_path / "map")
    web = FakeWeb(SITE)
    crawl(web, made_settings(store, {"revisit": True}), FakeClock(START + 60))
    assert len([url for url in web.urls if not url.endswith("robots.txt")]) < len(SITE)
    build(store, tmp_path / "map")
    assert [entry.loc for entry in entries(tmp_path / "map")] == [entry.loc for entry in before]


def test_pages_that_the_crawl_refused_are_listed_too(tmp_path: Path) -> None:
    """What the owner's own filter or robots.txt kept from being asked is listed, once; other hosts' pages are not."""
    store = tmp_path / "s.db"
    crawl(FakeWeb(THREE), made_settings(store))
    build(store, tmp_path / "map")
    rules = answer("User-agent: *\nDisallow: /r\n", url="/robots.txt")
    web: dict[str, Made] = {
        HOME: html("/p", "/q", "/r", "http://other.test/"),
        f"{HOME}p": html(),
        f"{HOME}robots.txt": rules,
    }
    crawl(FakeWeb(web), made_settings(store, {"filter": {"exclude": ["/q"]}}))
    build(store, tmp_path / "map", left_out=tmp_path / "left.csv")
    assert left_out(tmp_path / "left.csv") == {f"{HOME}q": "excluded", f"{HOME}r": "robots"}


def test_damaged_former_files_are_told(store: Path, tmp_path: Path) -> None:
    """What can still be read of the former files is kept, and what was wrong with them is said."""
    (tmp_path / "sitemap.xml").write_text(
        f"<urlset><url><loc>{HOME}kept</loc></url><url><loc>mailto:nonsense</loc></url>"
    )
    built = build(store, tmp_path, keep="all")
    assert locs(tmp_path) == LISTED | {f"{HOME}kept"}
    assert built.kept == 1
    assert any("nonsense" in problem for problem in built.problems)


def test_names_in_a_former_index_lead_nowhere_else(store: Path, tmp_path: Path) -> None:
    """An index that names files outside its folder has neither read nor removed them."""
    outside, folder = tmp_path / "sitemap-1.xml", tmp_path / "map"
    folder.mkdir()
    outside.write_text(f"<urlset><url><loc>{HOME}outside</loc></url></urlset>")
    names = "".join(
        f"<sitemap><loc>{HOME}{name}</loc></sitemap>" for name in ("../sitemap-1.xml", "..", "%00", "x" * 300, "")
    )
    (folder / "sitemap.xml").write_text(f"<sitemapindex>{names}</sitemapindex>")
    build(store, folder, keep="all")
    assert locs(folder) == LISTED
    assert outside.exists()


def test_logins_of_the_run_are_known_though_masked(tmp_path: Path) -> None:
    """Pages of an origin with a login, or a header that lets in, are not public, also by the stored settings (IB-6)."""
    for name, origin in (
        ("a", {"origin": "http://site.test", "user": "me", "password": "s3cret"}),
        ("b", {"origin": "http://site.test", "headers": {"X-Api-Key": "s3cret"}}),
        ("c", {"origin": "http://site.test", "headers": {"X-Purpose": "search"}}),
    ):
        store = tmp_path / f"{name}.db"
        crawl(FakeWeb(THREE), made_settings(store, {"origin": [origin]}))
        built = build(store, tmp_path / name)
        assert built.left_out == ({} if name == "c" else {"login": 3})
        assert build(store, tmp_path / name, replace(PLAIN, with_login=True)).entries == 3


def test_profiles_come_from_the_run(tmp_path: Path) -> None:
    """A run's own settings name its profiles, besides the one of public pages; another name is the owner's mistake."""
    store = tmp_path / "s.db"
    profiles = [{"name": "news", "sections": ["/p"], "filter_sections": True, "robot": "abot"}]
    rules = answer("User-agent: abot\nDisallow: /p/secret\n", url="/robots.txt")
    web: dict[str, Made] = {
        HOME: html("/p", "/p/secret"),
        f"{HOME}p": html(),
        f"{HOME}p/secret": html(),
        f"{HOME}robots.txt": rules,
    }
    crawl(FakeWeb(web), made_settings(store, {"sitemap": {"profile": profiles}}))
    with opened(store) as reader:
        run = reader.latest()
        assert run
        assert sitemap_files.profile_of(reader, run, "public") is PUBLIC
        news = sitemap_files.profile_of(reader, run, "news")
        with pytest.raises(SettingsError, match="news, public"):
            sitemap_files.profile_of(reader, run, "other")
    built = build(store, tmp_path / "map", replace(news, gzip=False))
    assert locs(tmp_path / "map") == {f"{HOME}p"}
    assert built.left_out == {"section": 1, "robots": 1}


def test_a_redirected_seed_gives_its_landing_as_location(tmp_path: Path) -> None:
    """Without a location the files are for the host where the first seed has landed."""
    store, www = tmp_path / "s.db", "https://www.site.test/"
    web = FakeWeb({HOME: redirect(www), www: html("/a"), f"{www}a": html()})
    crawl(web, made_settings(store, {"scope": {"mode": "same-domain"}}))
    assert build(store, tmp_path / "map").indexes == (f"{www}sitemap.xml",)


def _killed_in_the_middle(folder: Path) -> None:
    def pages() -> Iterator[Entry]:
        for number in range(120_000):
            if number == 110_000:
                os.kill(os.getpid(), signal.SIGKILL)
            yield Entry(f"{HOME}{number}")

    _put(folder, pages())


def _killed_before_the_removal(folder: Path) -> None:
    def surplus() -> Iterator[str]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield ""

    with replacing_in(folder) as files:
        files.put([("sitemap-1.xml.gz", b"new"), ("sitemap.xml", b"new")])
        files.commit(surplus())


def _put(folder: Path, pages: Iterator[Entry]) -> None:
    former = Former.of(folder, Form(), HOME)
    sitemap_writing.put([("", pages)], former.form, former, LeftOut(None, None, "en"), How(NOW))


def _in_another_process(what: Any, folder: Path) -> None:
    process = multiprocessing.get_context("spawn").Process(target=what, args=(folder,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def test_a_kill_leaves_the_old_set_whole(tmp_path: Path) -> None:
    """A build that is killed while it writes has touched no file, and the next one succeeds and leaves nothing (issue 4)."""
    _put(tmp_path, iter([Entry(f"{HOME}old")]))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    _in_another_process(_killed_in_the_middle, tmp_path)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert after == before
    assert any(path.name.endswith(".part") for path in tmp_path.iterdir())
    _put(tmp_path, iter([Entry(f"{HOME}new")]))
    assert locs(tmp_path) == {f"{HOME}new"}
    assert {path.name for path in tmp_path.iterdir()} == set(before)


def test_a_kill_after_the_index_leaves_the_new_set_whole(tmp_path: Path) -> None:
    """Old files go only when the new index stands: a kill in between leaves files too many, never too few (issue 4)."""
    (tmp_path / "sitemap-2.xml.gz").write_bytes(b"old")
    _in_another_process(_killed_before_the_removal, tmp_path)
    names = ("sitemap-1.xml.gz", "sitemap.xml", "sitemap-2.xml.gz")
    assert [(tmp_path / name).read_bytes() for name in names] == [b"new", b"new", b"old"]


def test_two_builds_do_not_mix(store: Path, tmp_path: Path) -> None:
    """While one process writes into a folder another is refused, with what to do."""
    with replacing_in(tmp_path), pytest.raises(StoreError, match="another process"):
        build(store, tmp_path)
    assert build(store, tmp_path).entries == len(LISTED)


def test_a_failure_leaves_no_trace(tmp_path: Path) -> None:
    """What breaks off a build on our side leaves the folder as it was."""
    _put(tmp_path, iter([Entry(f"{HOME}old")]))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def pages() -> Iterator[Entry]:
        yield Entry(f"{HOME}new")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        _put(tmp_path, pages())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
