"""The search sitemap utility: a run's sections and pages as a tree that is opened, filtered, paged and exported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.crawling import HOME, crawl, html, made_settings
from tests.made_store import MadeStore

from purlieu.report import sitemap_files
from purlieu.report.site_tree import NO_PAGES, PAGE_SIZE, Filter, Listing, Node, SiteTree, View
from purlieu.report.sitemap_writing import How
from purlieu.settings import ProfileSettings
from purlieu.sitemap import read
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.web import FakeWeb, answer, redirect

NEWS, SHOP = f"{HOME}news/", f"{HOME}shop/"


@contextmanager
def reader_of(store: Path, run: int = 1) -> Iterator[tuple[Reader, RunRow]]:
    """Give what reads a store, and a run of it."""
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    row = reader.run(run)
    assert row is not None
    try:
        yield reader, row
    finally:
        database.close()


@contextmanager
def tree_of(store: Path, run: int = 1) -> Iterator[SiteTree]:
    """Give the tree of a run."""
    with reader_of(store, run) as (reader, row):
        yield SiteTree(reader, row)


def made(tmp_path: Path, *hrefs: str) -> Path:
    """Return a store with a run of these pages."""
    store = MadeStore(tmp_path / "made.db")
    for href in hrefs:
        store.page(href, title=f"title of {href}")
    store.close()
    return store.path


def all_pages(tree: SiteTree, view: View) -> list[Listing]:
    """Return every page of the tree, from the first to the last."""
    found = [tree.listing(view)]
    while found[-1].following is not None:
        found.append(tree.listing(view, found[-1].following))
    return found


def keys(*listings: Listing) -> list[tuple[str, str]]:
    """Return what is listed, as (kind, address)."""
    return [(node.kind, node.key) for listing in listings for node in listing.nodes]


SITE = [
    HOME,
    f"{HOME}about.html",
    NEWS,
    f"{NEWS}2025/a.html",
    f"{NEWS}2026/b.html",
    f"{NEWS}2026/c.html?page=1/2",
    f"{SHOP}cart",
    "http://other.test/x",
]


def test_a_page_of_the_tree_has_fifty_entries_and_links_to_more(tmp_path: Path) -> None:
    """IB-1: fifty entries to a page by default, an authorised user may change that, more entries give further links."""
    with tree_of(made(tmp_path, *(f"{HOME}{n:03}.html" for n in range(120)))) as tree:
        first, second, third = all_pages(tree, View())

        assert [len(one.nodes) for one in (first, second, third)] == [PAGE_SIZE, PAGE_SIZE, 21]
        assert PAGE_SIZE == 50
        assert (first.previous, third.following) == (None, None)
        assert tree.listing(View(), third.previous) == second
        assert tree.listing(View(), second.previous) == first
        assert [len(one.nodes) for one in all_pages(tree, View(size=100))] == [100, 21]


@pytest.fixture(scope="module")
def site_tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteTree]:
    """Give the tree of a small site."""
    with tree_of(made(tmp_path_factory.mktemp("site"), *SITE)) as tree:
        yield tree


SECTIONS = (HOME, NEWS, f"{NEWS}2025/", f"{NEWS}2026/", SHOP, "http://other.test/")
SOME = st.frozensets(st.sampled_from(SECTIONS))


@example(frozenset({f"{NEWS}2026/"}), Filter(is_on=True, sections=frozenset({f"{NEWS}2026/"})), 1)
@given(st.none() | SOME, st.builds(Filter, st.booleans(), SOME), st.integers(1, 50))
def test_pages_of_any_size_make_the_whole_tree(
    site_tree: SiteTree, opened: frozenset[str] | None, chosen: Filter, size: int
) -> None:
    """IB-7: however many entries a page has, and whatever is open and selected, the pages give every visible entry once.

    They lead back the same way.
    """
    whole = View(chosen, opened, size=1000)
    small = replace(whole, size=size)
    pages = all_pages(site_tree, small)

    assert keys(*pages) == keys(site_tree.listing(whole))
    for before, after in pairwise(pages):
        assert site_tree.listing(small, after.previous) == before


@pytest.mark.parametrize(
    "at",
    [
        "",
        "x",
        "[]",
        "{}",
        "null",
        '["a", 1e999, 0]',
        '["a", 0, 1e40]',
        '["a", 7, 0]',
        '["\\ud800", 0, 0]',
        "[" * 99_999,
    ],
)
def test_a_place_that_was_typed_wrong_is_the_first_page(site_tree: SiteTree, at: str) -> None:
    """What comes from the address line of a browser is no fault of ours: it shows the first page."""
    assert site_tree.listing(View(size=2), at) == site_tree.listing(View(size=2))


def test_sections_open_and_close(tmp_path: Path) -> None:
    """IB-2: pages are shown as a tree; what a closed section holds is not shown, its sums are."""
    with tree_of(made(tmp_path, *SITE)) as tree:
        closed = tree.listing(View(opened=frozenset({HOME})))
        opened = tree.listing(View(opened=frozenset({HOME, NEWS})))

        assert keys(closed) == [
            ("section", "http://other.test/"), ("section", HOME), ("page", HOME), ("page", f"{HOME}about.html"),
            ("section", NEWS), ("section", SHOP),
        ]  # fmt: skip
        assert ("section", f"{NEWS}2026/") in keys(opened)
        assert ("page", f"{NEWS}2026/b.html") not in keys(opened)
        (news,) = [node for node in closed.nodes if node.key == NEWS]
        assert (news.health.pages, news.is_open, news.level) == (4, False, 1)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (Filter(is_on=False), {"http://other.test/", HOME, NEWS, f"{NEWS}2025/", f"{NEWS}2026/", SHOP}),
        (Filter(is_on=False, sections=frozenset({NEWS})), {"http://other.test/", HOME, NEWS, f"{NEWS}2025/", f"{NEWS}2026/", SHOP}),
        (Filter(is_on=True, sections=frozenset({SHOP})), {SHOP}),
        (Filter(is_on=True, sections=frozenset({SHOP, NEWS, f"{NEWS}2026/"})), {SHOP, NEWS, f"{NEWS}2025/", f"{NEWS}2026/"}),
    ],
)  # fmt: skip
def test_the_filter_shows_selected_sections(tmp_path: Path, chosen: Filter, expected: set[str]) -> None:
    """IB-3 and IB-4: off shows all pages, whatever is selected; on, only the selected sections."""
    with tree_of(made(tmp_path, *SITE)) as tree:
        shown = tree.listing(View(filter=chosen))

        assert {node.key for node in shown.nodes if node.kind == "section"} == expected
        assert all(any(node.key.startswith(one) for one in expected) for node in shown.nodes)
        assert shown.message == ""
        assert keys(*all_pages(tree, View(filter=chosen, size=2))) == keys(shown)


@pytest.mark.parametrize(("language", "sentence"), list(zip(("en", "ja", "zh"), NO_PAGES, strict=True)))
def test_the_filter_with_nothing_selected_shows_nothing(tmp_path: Path, language: str, sentence: str) -> None:
    """IB-5: on with no selection gives no page and says that none is available, which is not the same as all pages."""
    with tree_of(made(tmp_path, *SITE)) as tree:
        shown = tree.listing(View(filter=Filter(is_on=True)), language=language)

        assert shown == Listing((), None, None, sentence)


def web() -> FakeWeb:
    """Return a site in two languages, with a document, a frame, and a sitemap that does not agree with the links."""

    def alternate(language: str, path: str) -> str:
        return f'<link rel="alternate" hreflang="{language}" href="{HOME}{path}">'

    listed = ["", "en/", "orphan.html", "moved", "gone", "private/"]
    sitemap = "".join(
        f"<url><loc>{HOME}{path}</loc><lastmod>2026-0{n + 1}-01</lastmod></url>" for n, path in enumerate(listed)
    )
    frame = '<iframe src="/frame.html"></iframe>'
    return FakeWeb(
        {
            f"{HOME}robots.txt": f"User-agent: *\nDisallow: /private/\nSitemap: {HOME}sitemap.xml",
            f"{HOME}sitemap.xml": f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{sitemap}</urlset></xml>',
            HOME: html("/en/", "/unlisted.html", "/doc.pdf", title="Start", body=frame),
            f"{HOME}en/": html("/doc.pdf", title="Welcome", head=alternate("ja-JP", "ja/") + alternate("fr", "fr/")),
            f"{HOME}ja/": html(title="ようこそ"),
            f"{HOME}unlisted.html": html("/ja/", title="Unlisted"),
            f"{HOME}frame.html": html(title="Frame"),
            f"{HOME}doc.pdf": answer(b"%PDF", headers={"Content-Type": "application/pdf"}),
            f"{HOME}orphan.html": html("/orphan.html", title="Orphan"),
            f"{HOME}moved": redirect("/en/"),
        }
    )  # fmt: skip


@pytest.fixture(name="crawled")
def crawled_once(tmp_path: Path) -> Path:
    """Return the store of a crawl of that site."""
    crawl(web(), made_settings(tmp_path / "crawl.db"))
    return tmp_path / "crawl.db"


def by_key(listing: Listing, kind: str = "page") -> dict[str, Node]:
    """Return the nodes of a kind by their address below the home page."""
    return {node.key.removeprefix(HOME): node for node in listing.nodes if node.kind == kind}


def test_labels_follow_the_locale(crawled: Path) -> None:
    """IB-2: in another locale the label is the title of the alternate fetched in this run, else the page's own, marked."""
    with tree_of(crawled) as tree:
        own, ja, fr = (by_key(tree.listing(View(locale=locale)))["en/"] for locale in ("", "ja", "fr"))

        assert [(one.label, one.label_is_own) for one in (own, ja, fr)] == [
            ("Welcome", False),
            ("ようこそ", False),
            ("Welcome", True),
        ]


def test_parts_are_leaves_of_the_pages_that_hold_them(crawled: Path) -> None:
    """IB-2: documents and frames appear only when asked for, below each page that holds them, and lead to that page."""
    with tree_of(crawled) as tree:
        without, shown = tree.listing(View()), tree.listing(View(with_parts=True))

        assert not by_key(without, "part")
        assert f"{HOME}doc.pdf" not in {node.key for node in without.nodes}
        parts = [(node.key.removeprefix(HOME), node.leads_to) for node in shown.nodes if node.kind == "part"]
        assert sorted(parts) == [("doc.pdf", HOME), ("doc.pdf", f"{HOME}en/"), ("frame.html", HOME)]
        small = View(with_parts=True, size=2)
        pages = all_pages(tree, small)
        assert keys(*pages) == keys(shown)
        for before, after in pairwise(pages):
            assert tree.listing(small, after.previous) == before


def test_health_tells_where_sitemap_and_links_disagree(crawled: Path) -> None:
    """A page tells whether it is listed and not linked, linked and not listed, or listed and yet redirecting or out."""
    with tree_of(crawled) as tree:
        pages = by_key(tree.listing(View()))
        section = by_key(tree.listing(View()), "section")[""].health

        assert {key for key, node in pages.items() if node.health.unlinked} == {
            "orphan.html",
            "moved",
            "gone",
            "private/",
        }
        assert {key for key, node in pages.items() if node.health.unlisted} == {"unlisted.html", "ja/", "frame.html"}
        assert {key for key, node in pages.items() if node.health.redirecting} == {"moved"}
        assert {key for key, node in pages.items() if node.health.excluded} == {"private/"}
        assert {key for key, node in pages.items() if node.health.failing} == {"gone"}
        assert (section.in_sitemap, section.unlinked, section.redirecting, section.excluded, section.failing) == (
            6,
            4,
            1,
            1,
            1,
        )
        assert section.problems == 1


def test_nothing_is_missing_from_a_sitemap_that_was_not_read(tmp_path: Path) -> None:
    """Of a run that read no sitemap neither a page nor its section is told to be in none: both count by one rule."""
    with tree_of(made(tmp_path, HOME, NEWS)) as tree:
        nodes = tree.listing(View()).nodes
        assert {node.kind for node in nodes} == {"section", "page"}
        assert {node.health.unlisted for node in nodes} == {0}
        assert nodes[0].health.pages == 2


def test_the_export_is_what_the_filter_shows(crawled: Path, tmp_path: Path) -> None:
    """IB-6: the exported file holds the public pages of the selected sections; IB-8: it has no element for an expiry."""
    news = View(filter=Filter(is_on=True, sections=frozenset({f"{HOME}en/"})))
    plain = ProfileSettings(gzip=False)
    with reader_of(crawled) as (reader, run):
        sitemap_files.build(reader, run, news.chosen(plain), tmp_path, How(now=0.0))
        some = b"".join(path.read_bytes() for path in sorted(tmp_path.glob("sitemap-*.xml")))
        sitemap_files.build(reader, run, View().chosen(plain), tmp_path / "all", How(now=0.0))
        whole = b"".join(path.read_bytes() for path in sorted((tmp_path / "all").glob("sitemap-*.xml")))

    assert {entry.loc for entry in read(some, url=f"{HOME}sitemap.xml").entries} == {f"{HOME}en/"}
    assert f"{HOME}orphan.html" in {entry.loc for entry in read(whole, url=f"{HOME}sitemap.xml").entries}
    assert b"expir" not in whole


@pytest.mark.parametrize(("state", "expected"), [("running", 2), ("done", 1)])
def test_the_tree_of_a_run_that_goes_on_grows(tmp_path: Path, state: str, expected: int) -> None:
    """Of a run that is not over each look sorts the pages again; of one that is, the first look serves the others."""
    store = MadeStore(tmp_path / "made.db")
    store.update_run(state=state)
    store.page(HOME)
    database = SqliteDatabase.reader(str(store.path))
    reader = Reader(database)
    row = reader.run(store.run)
    assert row is not None

    assert SiteTree(reader, row).listing(View()).nodes[0].health.pages == 1
    store.page(f"{HOME}more")
    assert SiteTree(reader, row).listing(View()).nodes[0].health.pages == expected
    database.close()
    store.close()
