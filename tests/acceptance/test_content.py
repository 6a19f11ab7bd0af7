"""``keep = "text"``: what pages say to their readers, kept with the crawl and written as JSON lines and Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow.parquet
import pytest
from tests.crawling import HOME, crawl, html, made_settings
from tests.tag_soup import soup

from purlieu import report
from purlieu.page import anchor, content
from purlieu.response import Request
from purlieu.store.anchors import MOST_TEXTS
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, Made, answer

PAGE = """<!doctype html><html lang="ja"><head><title>題</title>
<meta name="Description" content="A &amp; B"><meta property="og:title" content="T"><meta property="og:title" content="2nd">
<script type="application/ld+json">{"@graph": [{"@type": "BreadcrumbList", "itemListElement":
[{"name": "Home"}, {"item": {"name": "Docs"}}]}]}</script><script type="application/ld+json">no json</script></head>
<body><nav><a href="/">to the home page of all</a></nav><main><h1>One &lt;x&gt; <b>two</b></h1>
<p>日本語の本文はここに書かれています。検索できるようにするためです。ページの内容を読んで、どの言語で書かれているかを調べます。</p><h2> </h2><h3>Three</h3></main></body></html>"""


def test_a_page_is_taken_apart() -> None:
    """Text without navigation, headings, the first description and OpenGraph property, JSON-LD, breadcrumbs, language."""
    made = content.read(PAGE.encode(), "UTF-8")
    assert "日本語の本文は" in made.text
    assert "home page of all" not in made.text
    assert made.headings == ((1, "One <x> two"), (3, "Three"))
    assert (made.description, made.open_graph) == ("A & B", (("title", "T"),))
    assert made.breadcrumbs == ("Home", "Docs")
    assert len(made.json_ld) == 1
    assert made.language == "ja"


def test_links_marked_as_breadcrumbs_are_taken_where_nothing_better_is_said() -> None:
    """Without a BreadcrumbList the links of an element marked so are the breadcrumbs, each once."""
    marked = '<div class="my-breadcrumbs"><a href="/">Home</a> &gt; <a href="/d">Docs</a> <a href="/d">Docs</a></div>'
    assert content.read(marked.encode(), "UTF-8").breadcrumbs == ("Home", "Docs")


HOSTILE = {
    "deep": "<div>" * 100_000 + "words",
    "unended tags": "<div " * 100_000,
    "headings": "<h1>" * 100_000,
    "scripts": '<script type="application/ld+json">' * 20_000,
    "script ends": '<script type="application/ld+json">{' + "</" * 200_000,
    "brackets": '<script type="application/ld+json">' + "[" * 60_000 + "</script>",
    "formatting": "".join(f"<b a{n}></div>" for n in range(30_000)),
    "paragraphs": "<p>" * 100_000,
    "cells": "<table><tr>" + "<td>" * 50_000,
    "angles": "<" * 300_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_page_gives_little_and_ends(name: str) -> None:
    """Nesting, tags without end and blocks without end raise nothing; a page nested too deep for a tree keeps its text."""
    made = content.read(HOSTILE[name].encode(), "UTF-8")
    assert len(made.text) <= content.MOST_TEXT
    if name == "deep":
        assert made.text == "words"


@pytest.mark.parametrize("seed", range(200))
def test_no_page_raises(seed: int) -> None:
    """Whatever a page holds, its content is values within their limits."""
    made = content.read(soup(Random(seed)), "UTF-8")
    assert len(made.headings) <= content.MOST_HEADINGS
    assert all(len(text) <= content.MOST_CHARACTERS for _, text in made.headings)


LINKED: Final = """<!doctype html><html><head><base href="/docs/"><title>t</title></head><body>
<a href="a">One <b>two</b> &amp; three</a> <A HREF='b#part'><img src=x alt="A picture"> of it</A> <a href=c><span></span></a>
<a data-href="no" class=x>no link</a> <a href="javascript:x">no page</a> <!-- <a href="old">old</a> -->
<script>"<a href='made'>made</a>"</script> <a href="http://site.test/p#here">\u00b6</a> <a href="a">One <b>two</b> &amp; three</a>
<a href="a">other words</a><a href="unended">first<a href="d">second</a></body></html>"""


def test_what_links_say_is_kept_with_the_page_that_has_them() -> None:
    """Each pair of address and text once; images by their description; no links to the page itself, to no page, of scripts."""
    made = content.read(LINKED.encode(), "UTF-8", "http://site.test/p")
    docs = "http://site.test/docs/"
    assert made.anchors == (
        (f"{docs}a", "One two & three"), (f"{docs}b", "A picture of it"), (f"{docs}a", "other words"),
        (f"{docs}unended", "first"), (f"{docs}d", "second"),
    )  # fmt: skip
    assert content.read(LINKED.encode(), "UTF-8").anchors == ()


@pytest.mark.parametrize(
    "page",
    [
        "".join(f"<a href=p{n}>{'text ' * 200}</a>" for n in range(5_000)),
        "<a href=x>" * 100_000,
        "<a href='x" * 100_000,
        f"<base href='/{'x' * 50_000}/'>" + "".join(f"<a href=p{n}>t</a>" for n in range(5_000)),
        "<a href=x>" + "<img alt=" * 50_000,
    ],
    ids=["many", "unended", "quotes", "base", "images"],
)
def test_what_links_say_has_bounds(page: str) -> None:
    """Links of a page, the length of their texts and of their addresses together have bounds, whatever it holds."""
    made = content.read(page.encode(), "UTF-8", HOME)
    assert len(made.anchors) <= anchor.MOST_LINKS
    assert all(len(text) <= anchor.MOST_CHARACTERS for _, text in made.anchors)
    assert sum(len(href) for href, _ in made.anchors) <= 4_000_000


def test_a_page_has_what_links_to_it_say(tmp_path: Path) -> None:
    """Of all pages of a run, the most frequent texts first (issue 8); addresses as the owner's normalisers have them."""

    def links(*pairs: tuple[str, str]) -> str:
        return "<!doctype html><title>t</title>words" + "".join(f'<a href="{href}">{text}</a>' for href, text in pairs)

    site: dict[str, Any] = {
        HOME: links(("a", "Rare"), ("b", "Second"), ("c", "Third")),
        f"{HOME}a": links(("a", "me"), ("/", "Home")),
        f"{HOME}b": links(("a?utm_source=x", "Usual"), ("/", "Home")),
        f"{HOME}c": links(("a", "Usual"), ("/", "Start"), *((f"a#{n}", f"text {n}") for n in range(30))),
    }
    store = tmp_path / "s.db"
    settings = {"keep": "text", "normalise": {"drop_parameters": ["utm_*"]}}
    crawl(FakeWeb(site), made_settings(store, settings))
    rows = {row["url"].removeprefix(HOME): row["anchors"] for row in written(store, 1)}
    assert rows == {row["url"].removeprefix(HOME): row["anchors"] for row in written(store, 1, "text-parquet")}
    assert rows["a"][:2] == ["Usual", "Rare"]
    assert len(rows["a"]) == MOST_TEXTS
    assert (rows[""], rows["b"]) == (["Home", "Start"], ["Second"])


def written(store: Path, run: int, form: str = "text") -> list[dict[str, Any]]:
    """Return the rows of a run's file."""
    (path,) = report.write(str(store), run, store.parent / f"{run}", [form])
    if form == "text":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
    for row in rows:
        row["open_graph"], row["json_ld"] = json.loads(row["open_graph"]), json.loads(row["json_ld"])
    return rows


def test_both_forms_have_the_same_rows(tmp_path: Path) -> None:
    """JSON lines and Parquet agree; a page that is gone, a redirect and a PDF have no row."""
    site: dict[str, Any] = {HOME: html("p", "gone", "file.pdf"), f"{HOME}p": PAGE, f"{HOME}gone": 404,
            f"{HOME}file.pdf": answer(b"%PDF", url=f"{HOME}file.pdf")}  # fmt: skip
    store = tmp_path / "s.db"
    crawl(FakeWeb(site), made_settings(store, {"keep": "text"}))
    rows = written(store, 1)
    assert sorted(row["url"] for row in rows) == [HOME, f"{HOME}p"]
    assert rows == written(store, 1, "text-parquet")
    (page,) = [row for row in rows if row["url"] == f"{HOME}p"]
    assert (page["title"], page["language"], page["breadcrumbs"]) == ("題", "ja", ["Home", "Docs"])


def test_a_revisit_keeps_what_stands_and_tells_what_changed(tmp_path: Path) -> None:
    """A page that answers 304 keeps its content; one that changed has its new one, and says since when."""
    now = {"": html("same", "other", "gone", title="Home"), "same": html(body="same"), "other": html(body="old"),
           "gone": html(body="gone")}  # fmt: skip

    def web(request: Request) -> Made:
        name = request.url.removeprefix(HOME)
        body = now.get(name)
        if body is None:
            return answer("", status=404)
        tag = f'"{hash(body) % 1000}"'
        if ("If-None-Match", tag) in request.headers:
            return answer("", status=304)
        return answer(body, headers={"ETag": tag, "Content-Type": "text/html"})

    store = tmp_path / "s.db"
    settings = {"keep": "text", "revisit": True, "traps": {"soft_404": False}}
    crawl(FakeWeb(web), made_settings(store, settings))
    now["other"] = html(body="entirely new words")
    del now["gone"]
    crawl(FakeWeb(web), made_settings(store, settings), FakeClock(START + 86_400))
    first = {row["url"]: row for row in written(store, 1)}
    second = {row["url"]: row for row in written(store, 2)}
    assert set(first) - set(second) == {f"{HOME}gone"}
    assert "entirely new words" in second[f"{HOME}other"]["text"]
    changed = {url for url, row in second.items() if row["changed_at"] != first[url]["changed_at"]}
    # What a run says is what is known of the page now: the first run's row has the new content too.
    assert changed == set()
    assert {row["text"] for row in written(store, 2)} >= {second[f"{HOME}same"]["text"]}


@pytest.mark.parametrize("keep", ["text", "body"])
def test_what_was_not_kept_is_fetched_wholly_once(keep: str, tmp_path: Path) -> None:
    """R-2.4: where ``keep`` is switched on, a page that nobody kept is not asked conditionally; the next time it is."""
    asked: list[bool] = []

    def web(request: Request) -> Made:
        if request.url.endswith("robots.txt"):
            return answer("", status=404)
        asked.append(any(name == "If-None-Match" for name, _ in request.headers))
        if asked[-1]:
            return answer("", status=304)
        return answer(html(body="words of the page"), headers={"ETag": '"1"', "Content-Type": "text/html"})

    store = tmp_path / "s.db"
    plain = {"revisit": True, "traps": {"soft_404": False}}
    kept = {**plain, "keep": keep}
    for number, settings in enumerate((plain, plain, kept, kept, {**plain, "keep": "none"}, kept)):
        crawl(FakeWeb(web), made_settings(store, settings), FakeClock(START + number * 86_400))
    #                 first  304   kept   304   304   again, since a change might have been missed
    assert asked == [False, True, False, True, True, False]
    if keep == "text":
        assert "words of the page" in written(store, 4)[0]["text"]


def test_json_ld_is_such_as_any_reader_takes() -> None:
    """Numbers that JSON does not have, or no reader holds, are null; a block nested too deep is left out."""
    block = '<script type="application/ld+json">%s</script>'
    numbers = '{"a": NaN, "b": 1e999, "c": -Infinity, "d": %s, "e": 1.5, "f": 12}' % ("9" * 3000)
    deep = "[" * 900 + "]" * 900
    made = content.read((block % numbers + block % deep + block % "[[1]]").encode(), "UTF-8")
    assert made.json_ld == ({"a": None, "b": None, "c": None, "d": None, "e": 1.5, "f": 12}, [[1]])
    json.dumps(made.json_ld, allow_nan=False)


def test_comments_and_scripts_have_no_headings() -> None:
    """Headings and data are those of the markup, in upper or lower case; a comment or script holds none."""
    page = (
        '<H1>One</H1><p>x<!-- <h2>Old</h2><script type="application/ld+json">1</script> --><script>"<h3>Made</h3>"</script>'
        '<SCRIPT type="application/LD+json">{"a": 1}</SCRIPT><h2>Two</h3>more'
    )
    made = content.read(page.encode(), "UTF-8")
    assert made.headings == ((1, "One"), (2, "Two"))
    assert made.json_ld == ({"a": 1},)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<div>" * 400 + "<b>x</b>" * 50_000, id="many elements in deep ones"),
        pytest.param("<script " + "application/ld+json " * 20_000, id="a start tag without end"),
        pytest.param("<h1>" * 100_000, id="headings without end"),
        pytest.param("<div class=breadcrumb><a>x</a></div>" * 20_000, id="many breadcrumbs"),
    ],
)
def test_a_hostile_page_is_read(page: str) -> None:
    """Text that makes a careless reader take time by its square is read to its end, its parts counted up to their most."""
    made = content.read(page.encode(), "UTF-8")
    assert len(made.headings) <= content.MOST_HEADINGS
    assert len(made.breadcrumbs) <= content.MOST_CRUMBS


def test_many_elements_in_deep_ones_make_no_tree() -> None:
    """A page is read without a tree where too many elements lie in too many others, and with one where few do."""
    assert content.is_deep("<div>" * 400 + "<b>x</b>" * 50_000)
    assert not content.is_deep("<div>" * 400 + "<b>x</b>" * 5_000)
    assert not content.is_deep("<div><b>x</b></div>" * 50_000)
