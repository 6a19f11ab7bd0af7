"""page/anchors.py: the places that a page has, and those that its links ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.page import anchors

URL = "https://site.test/a/b"


def read(html: str, url: str = URL) -> anchors.Anchors:
    """Return what a page in UTF-8 has and asks for."""
    found = anchors.read(html.encode(), "UTF-8", url)
    assert found is not None
    return found


def asked(html: str) -> list[str]:
    """Return what a page asks for."""
    return anchors.lines(read(html).asked)


@pytest.mark.parametrize(
    "html",
    [
        '<p id="x">',
        "<P ID=x>",
        "<p id = 'x'>",
        '<p class="a" id="x" lang="en">',
        '<div class="a"><span class="b"><b id="x">',
        "<a name=x>",
        '<svg><g id="x"/></svg>',
        '<my-element id="x">',
        '<textarea id="x"></textarea>',
        '<script id="x"></script>',
        '<p id="&#120;">',
        '<p id="x" id="y">',
        '<p title="a > b" id="x">',
        "<title><p id=y></title><p id=x>",
        '<noscript><p id="x"></noscript>',
    ],
)
def test_an_element_with_that_id_and_an_a_of_that_name_are_places(html: str) -> None:
    """Any element's id, and the name of an a element, is a place (HTML, 7.4.6.4), however it is written."""
    assert anchors.has(read(html).ids, "x")


@pytest.mark.parametrize(
    "html",
    [
        '<!-- <p id="x"> -->',
        '<script>"<p id=x>"</script>',
        '<style><p id="x"></style>',
        '<textarea><p id="x"></textarea>',
        '<template><p id="x"></template>',
        '<p name="x">',
        '<p data-id="x">',
        '<p class="id=x">',
        '<p id="X">',
        '<p id="y" id="x">',
        '<p id="">',
        '<p id="x',
    ],
)
def test_what_is_no_element_of_the_page_is_no_place(html: str) -> None:
    """Comments, scripts, templates, other attributes, other letters and tags that do not end give no place."""
    assert not anchors.has(read(html).ids, "x")


def test_what_follows_a_template_counts_again() -> None:
    """Only what lies in a template is left out, nested ones too."""
    found = read("<template><template><p id=a></template><p id=b></template><p id=c>")
    assert [anchors.has(found.ids, place) for place in "abc"] == [False, False, True]


@pytest.mark.parametrize(
    ("place", "fragment"),
    [
        ("été", "été"),
        ("été", "%C3%A9t%C3%A9"),
        ("a b", "a%20b"),
        ("a%20b", "a%20b"),
        ("100%", "100%"),
        ("日本", "日本"),
    ],
)
def test_a_fragment_is_compared_as_written_and_percent_decoded(place: str, fragment: str) -> None:
    """First the fragment itself is looked for, then what its percent-encoding means (HTML, 7.4.6.4, steps 3 to 8)."""
    assert anchors.has(read(f'<p id="{place}">').ids, fragment)


def test_the_top_is_always_there() -> None:
    """``#top`` in any case needs no place (HTML, 7.4.6.4, step 9); an empty fragment asks for none."""
    assert anchors.has(b"", "ToP")
    assert asked('<a href="#">a</a><a href="c#">c</a>') == []


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<a href="c#x">', ["https://site.test/a/c#x"]),
        ("<area href='/c?q=1#x'>", ["https://site.test/c?q=1#x"]),
        ('<a href="#x">', ["https://site.test/a/b#x"]),
        ('<a href="b#x"><p id="x">', []),
        ('<a href="c#x:~:text=word">', ["https://site.test/a/c#x"]),
        ('<a href="c#:~:text=word">', []),
        ('<a href="c#!/route"><a href="#/route">', []),
        ('<a href="javascript:f(\'#x\')"><a href="mailto:a@b.test#x">', []),
        ('<base href="/other/"><a href="#x">', ["https://site.test/other/#x"]),
        ('<a href=" c#x\n ">', ["https://site.test/a/c#x"]),
        ('<a href="c#x"><a href="c#x">', ["https://site.test/a/c#x"]),
        ('<a href="c#a&amp;b">', ["https://site.test/a/c#a&b"]),
        ('<link href="c#x"><img src="c#x">', []),
    ],
)
def test_what_links_ask_for_is_kept_once_with_its_page(html: str, expected: list[str]) -> None:
    """Links of a and area ask for a place on the page that they lead to; what the page itself has is left out."""
    assert asked(html) == expected


def test_a_page_with_more_places_than_are_kept_says_nothing() -> None:
    """Memory is bounded: of a page with too many places nothing is kept, so that nothing is said to be missing."""
    page = "".join(f"<p id={number}>" for number in range(anchors.MOST_IDS + 1))
    assert anchors.read(page.encode(), "UTF-8", URL) is None


@given(st.lists(st.sampled_from(["<", ">", "p", " id=x", '"', "'", "=", "a", " href=", "#", "!--", "-->", "/", "</p>",
                                 "<div>", "<script>", "</script>", "<template>", "\0", "&#", "%ff", "\ud800"])))  # fmt: skip
def test_no_page_raises_and_the_shortcut_changes_nothing(pieces: list[str]) -> None:
    """No page raises, and passing over dull tags as a run finds what looking at each one does."""
    text = "".join(pieces)
    quick = [*anchors._elements(text)]
    telling = [
        one for one in anchors._elements(text, "") if one[1].keys() & {"id", "name"} or "#" in one[1].get("href", "")
    ]
    assert [one for one in quick if one in telling] == telling
    anchors.read(text.encode("utf-8", "surrogatepass"), "UTF-8", URL)


@pytest.mark.parametrize(
    "piece", ["<p>", "<", "<p id=", "<a href=#", '<p class="', "<!--", "</p>", "<p <p ", "<template>"]
)
def test_a_megabyte_of_anything_is_read(piece: str) -> None:
    """Whatever a page repeats, it is read to its end and what stands there counts; in quadratic time it would never come."""
    found = anchors.read(piece.encode() * (1_000_000 // len(piece)) + b"</template>", "UTF-8", URL)
    assert found is not None
    assert len(found.ids) <= 5
