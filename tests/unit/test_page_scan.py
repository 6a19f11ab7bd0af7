"""The scanner in C gives what the one in Python gives, and both read names as the tokenizer does (HTML 13.2.5)."""

from __future__ import annotations

import tarfile
import zlib
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tag_soup import TYPES, mutated, soup

from purlieu import page
from purlieu.page import scan
from purlieu.page.gather import elements_for
from purlieu.page.markup import Element, PlainLinks

_scan = pytest.importorskip("purlieu.page._scan", reason="the page scanner in C was not built; see CONTRIBUTING.md")
SITES = ("/usr/share/doc/python3.11/html", "/usr/share/gimp/2.0/help/ja", "/usr/share/doc/sqlite3")
KINDS = (page.DEFAULT_KINDS, page.ALL_KINDS, frozenset(("image",)))


def both(body: bytes, content_type: str | None = "text/html", *, more: bool = True) -> list[page.Page]:
    """Read a page by the scanner in Python and by the one in C."""
    pages = []
    for native in (False, True):
        with scan.forced(native=native):
            kinds = page.ALL_KINDS if more else page.DEFAULT_KINDS
            pages.append(page.read(body, url="http://h.test/d/p", content_type=content_type, kinds=kinds))
    return pages


@given(st.randoms(use_true_random=False), st.sampled_from(TYPES), st.booleans())
def test_tag_soup_is_read_alike(chance: Random, content_type: str, more: bool) -> None:
    """Of made and mutated pages, in any encoding, both scanners say the same."""
    python, native = both(mutated(chance, soup(chance)), content_type, more=more)

    assert native == python


# fmt: off
_USUAL = """<p> </p> <li> <span·class="a·b"> </span> <a·href="x"> <a·href="y#z"·rel="nofollow"> </a> <br·/> <nav> </nav> <b·c="<"> <b·c=">">
 <b·c='"'> <b·c='> <b·c="> <b·"c>"> <b·c=d"e·f=">"> <b·="c>"> <b=c·d=">"> <b·c="d"="e>"> <b/c="d>e"> <b·c=·"d>"> <i <<i> > < <> </> </1> <!-->
 --> <!--·<a·href="w">·--> <script> </script> <title> </title> <template> </template> <strong> <plaintexts> <head·" " ' = / 12 · é 日 word
 <header>1 </header>2 <base·href="/b/"> <link·rel="next"·href="n"> <textarea> </body> <svg/>"""
# fmt: on
USUAL = [piece.replace("·", " ").encode() for piece in _USUAL.split()]
USUAL += [b'<b\x01c="d>">', b'<b\tc="d\n>e">', b"\n", b"\x0b", b"\xff"]


@given(st.integers(0, 2**64))
def test_blocks_of_a_long_page_are_read_alike(seed: int) -> None:
    """Wherever a block of bytes ends, tags in it that are not spelled as nearly all are mean what they mean."""
    chance = Random(seed)
    body = b"<body>" + b"".join(chance.choices(USUAL, k=chance.randrange(80)))
    read = []
    for native in (False, True):
        taken: list[Element | PlainLinks] = []
        with scan.forced(native=native):
            title, kept, *_ = scan.read(body, "UTF-8", elements_for(page.ALL_KINDS), taken.extend, most_short=0)
            read.append((title, kept, [one[:2] for one in taken if isinstance(one, tuple) and one[0] != "a"]))

    assert read[0] == read[1]
    assert len(set(both(body + b"x" * 300))) == 1


@given(st.binary(), st.sampled_from((None, *TYPES)))
def test_any_bytes_are_read_alike(body: bytes, content_type: str | None) -> None:
    """Of any bytes both scanners say the same."""
    python, native = both(body, content_type)

    assert native == python


@pytest.mark.parametrize("site", SITES)
def test_documentation_is_read_alike(site: str) -> None:
    """Of each twentieth page of three sites both scanners say the same."""
    files = sorted(Path(site).rglob("*.html"))[::20]
    if not files:
        pytest.skip(f"no pages at {site}")

    assert [file for file in files if len(set(both(file.read_bytes()))) > 1] == []


def test_real_pages_are_read_alike(conformance: Path) -> None:
    """Of 339 pages of the real web both scanners say the same."""
    zstandard = pytest.importorskip("zstandard", reason="the conformance files are packed with zstd")
    with (conformance / "html" / "pages.tar.zst").open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            read = [(one.name, both(file.read())) for one in tar if (file := tar.extractfile(one))]

    assert len(read) > 300
    assert [name for name, (python, native) in read if native != python] == []


def test_the_built_scanner_is_of_this_source(root: Path) -> None:
    """A compiled file left behind by an older source is noticed: make the environment anew, or install again."""
    source = (root / "src" / "purlieu" / "page" / "_scan.c").read_bytes()

    assert f"{zlib.crc32(source):08x}" == _scan.SOURCE


@pytest.mark.parametrize(
    "html",
    [
        "<lin\u212a rel=next href=x>",
        "<noframe\u017f><a href=y></noframe\u017f>",
        "<scr\u0131pt><a href=y></scr\u0131pt>",
        "<t\u0131tle>x</t\u0131tle>",
        "<svg><a xlin\u212a:href=x></svg><a href=y>",
    ],
)
@pytest.mark.usefixtures("scanner")
def test_only_letters_of_ascii_have_two_cases(html: str) -> None:
    """A name with a long s, a dotless i or a Kelvin sign is no name of HTML (13.2.5.8, 13.2.5.33)."""
    found = page.read(html.encode(), url="http://h.test/", content_type="text/html; charset=utf-8")

    assert (found.title, [link.url[-1] for link in found.links]) == (None, ["y"] if "href=y" in html else [])


@pytest.mark.parametrize(("space", "canonical"), [("\t\n\f\r ", "http://h.test/x"), ("\u00a0", None), ("\x0b", None)])
@pytest.mark.usefixtures("scanner")
def test_only_white_space_of_html_stays_in_the_head(space: str, canonical: str | None) -> None:
    """Any other character opens the body, and a canonical after it does not count (13.2.6.4.4)."""
    html = f"<title>t</title>{space}<link rel=canonical href=x>"

    assert page.read(html.encode(), url="http://h.test/", content_type="text/html;charset=utf-8").canonical == canonical


@pytest.mark.parametrize(("links", "canonical"), [(999, "http://h.test/x"), (1000, None)])
@pytest.mark.usefixtures("scanner")
def test_an_author_s_head_of_thousands_of_elements_is_none(links: int, canonical: str | None) -> None:
    """What ends the head by mistake is forgiven up to a thousand elements of interest, so that none need be kept."""
    html = b"<div>" + b"<a href=y>" * links + b"<link rel=canonical href=x></head>"

    assert page.read(html, url="http://h.test/").canonical == canonical


@pytest.mark.usefixtures("scanner")
def test_elements_are_handed_over_in_turns() -> None:
    """A page of very many elements never holds them all at once."""
    turns: list[int] = []

    def take(elements: list[Element | PlainLinks]) -> None:
        turns.append(len(elements))

    scan.read(b"<body>" + b"<img src=x>" * 100_000, "UTF-8", elements_for(page.ALL_KINDS), take)

    assert sum(turns) == 100_000
    assert max(turns) <= 20_000


def test_a_fault_in_what_takes_elements_comes_through() -> None:
    """The scanner in C raises what its caller's function raises."""

    def take(elements: list[Element | PlainLinks]) -> None:
        raise LookupError(len(elements))

    with pytest.raises(LookupError):
        scan.read(b"<a href=x>", "UTF-8", frozenset("a"), take)


@pytest.mark.parametrize("name", ["", "blockquote", "A", "/a"])
def test_names_that_the_scanner_cannot_want_are_refused(name: str) -> None:
    """Rather than miss an element, the scanner in C refuses a name it has no room for."""
    with scan.forced(native=True), pytest.raises(ValueError, match="wanted"):
        scan.read(b"", "UTF-8", frozenset((name,)), lambda _: None)
