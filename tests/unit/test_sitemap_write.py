"""Sitemap files that are written: what they hold, where they are split, and that any reader takes them."""

from __future__ import annotations

import gzip
import math
from collections.abc import Iterable, Iterator
from itertools import groupby

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree
from tests.shared import CONFORMANCE
from tests.strategies import hrefs

from purlieu import sitemap, url
from purlieu.errors import UrlError
from purlieu.sitemap import Child, Entry
from purlieu.sitemap.write import (
    LIMITS,
    LONGEST_LOC,
    Chunk,
    Form,
    Limits,
    indexes,
    lastmod_of,
    read_back,
    urlsets,
    written,
)

XSD = CONFORMANCE / "sitemap" / "xsd"
HREFLANG_XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.w3.org/1999/xhtml">
<xs:element name="link"><xs:complexType>
<xs:attribute name="rel" use="required" fixed="alternate"/>
<xs:attribute name="hreflang" use="required" type="xs:language"/>
<xs:attribute name="href" use="required" type="xs:anyURI"/>
</xs:complexType></xs:element></xs:schema>"""
BOTH_XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:import namespace="http://www.sitemaps.org/schemas/sitemap/0.9" schemaLocation="{official}"/>
<xs:import namespace="http://www.w3.org/1999/xhtml" schemaLocation="{hreflang}"/></xs:schema>"""
PLAIN = Form(gzip=False)

moments = st.floats(0, 4e9).map(math.floor) | st.none()
frequencies = st.sampled_from(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never", None))
priorities = st.integers(0, 1000).map(lambda number: number / 1000)
tails = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Draw an entry as it is chosen: a serialised href of the web, and any hints."""
    href = url.parse(draw(hrefs()) + draw(tails)).href
    languages = draw(st.lists(st.tuples(st.sampled_from(("en", "de-AT", "x-default")), hrefs()), max_size=2))
    alternates = tuple((language, url.parse(href).href) for language, href in languages)
    return Entry(href, None, draw(frequencies), draw(priorities), draw(moments), alternates)


def files(chunks: Iterable[Chunk]) -> dict[str, bytes]:
    """Return what was written, by name; the bytes of one file follow each other."""
    whole = [(name, b"".join(one.data for one in some)) for name, some in groupby(chunks, lambda one: one.file)]
    assert len(dict(whole)) == len(whole)
    return dict(whole)


def read(body: bytes) -> sitemap.Sitemap:
    """Read a file as strictly as can be; nothing may be wrong with it."""
    found = sitemap.read(body, url="http://x.test/sitemap.xml", strict=True)
    assert found.problems == ()
    return found


def said(entry: Entry) -> tuple[object, ...]:
    """Return what an entry says, addresses as they are written."""
    alternates = tuple((language, written(href)) for language, href in entry.alternates)
    return written(entry.loc), entry.lastmod_at, entry.changefreq, entry.priority, alternates


@given(st.lists(entries(), max_size=8), st.booleans())
@example([Entry("http://a.test/?a=1&b='2'|<\">%zz[]^`{}")], False)
def test_what_is_written_is_read_again(given_entries: list[Entry], packed: bool) -> None:
    """Our strict reader finds the entries that were written, in their order, and nothing wrong (SM-1 to SM-7, SM-61)."""
    found = files(urlsets(given_entries, Form(gzip=packed)))
    got = [entry for body in found.values() for entry in read(body).entries]
    assert [said(entry) for entry in got] == [said(entry) for entry in given_entries]


@given(st.lists(entries(), max_size=20), st.integers(1, 7), st.integers(300, 2_000))
def test_no_file_is_over_its_limits(given_entries: list[Entry], most_urls: int, most_bytes: int) -> None:
    """A file holds no more addresses and bytes, unpacked, than it may, unless one entry alone is larger (SM-20, SM-22)."""
    form = Form(limits=Limits(most_urls, most_bytes))
    bodies = [gzip.decompress(body) for body in files(urlsets(given_entries, form)).values()]
    counts = [len(read(body).entries) for body in bodies]
    assert sum(counts) == len(given_entries)
    for body, count in zip(bodies, counts, strict=True):
        assert 1 <= count <= most_urls
        assert len(body) <= most_bytes or count == 1


def many(number: int, tail: str = "") -> Iterator[Entry]:
    """Yield so many entries."""
    return (Entry(f"http://x.test/{one}{tail}") for one in range(number))


def test_files_are_split_at_50000_addresses() -> None:
    """The 50,001st address begins a second file, and names count from 1 (SM-20)."""
    found = files(urlsets(many(50_001), PLAIN))
    assert [(name, body.count(b"<loc>")) for name, body in found.items()] == [
        ("sitemap-1.xml", 50_000),
        ("sitemap-2.xml", 1),
    ]


@pytest.mark.parametrize(("profile", "most", "number"), [("0.90", 52_428_800, 27_000), ("2007", 10_485_760, 6_000)])
def test_files_are_split_at_the_bytes_of_their_time(profile: str, most: int, number: int) -> None:
    """A file has at most 52,428,800 bytes unpacked, of the profile of 2007 10,485,760 (SM-20, SM-21, AMB-SM-3)."""
    found = files(urlsets(many(number, "x" * 1_980), Form(limits=LIMITS[profile], gzip=False)))
    assert len(found) == 2
    sizes = [len(body) for body in found.values()]
    assert all(most - 2_100 < size <= most for size in sizes[:-1])
    assert sizes[-1] <= most


def test_an_index_is_split_too() -> None:
    """An index over 50,000 files becomes two, neither of which names the other (SM-23, SM-38)."""
    found = files(indexes((Child(f"http://x.test/sitemap-{one}.xml") for one in range(50_001)), PLAIN))
    assert list(found) == ["sitemap.xml", "sitemap-index-2.xml"]
    assert [len(read(body).children) for body in found.values()] == [50_000, 1]


@given(st.lists(entries(), min_size=1, max_size=5))
def test_the_same_entries_give_the_same_bytes(given_entries: list[Entry]) -> None:
    """Gzip files bear no time and no name, so that what has not changed is not written anew."""
    first, second = (files(urlsets(given_entries, Form())) for _ in range(2))
    assert first == second
    assert all(body[:2] == b"\x1f\x8b" and body[3:8] == bytes(5) for body in first.values())


def test_groups_have_files_of_their_own() -> None:
    """A source's name stands in its files' names, the stem before it (SM-75)."""
    assert list(files(urlsets(many(1), Form("site"), "news"))) == ["site-news-1.xml.gz"]


def test_no_entries_give_no_file() -> None:
    """The schema has no empty urlset, so none is written."""
    assert list(urlsets([], PLAIN)) == list(indexes([], PLAIN)) == []


@pytest.mark.parametrize(
    ("href", "loc"),
    [
        ("http://www.example.com/ümlat.php&q=name", "http://www.example.com/%C3%BCmlat.php&amp;q=name"),
        ("http://a.test/?q='<\">", "http://a.test/?q=%27%3C%22%3E"),
        ("http://a.test/it's", "http://a.test/it&apos;s"),
        ("http://a.test/a|b^c`{d}[e]\\f", "http://a.test/a%7Cb%5Ec%60%7Bd%7D%5Be%5D/f"),
        ("http://a.test/100%", "http://a.test/100%25"),
        ("http://a.test/%e4%41", "http://a.test/%e4%41"),
        ("http://[::1]:8080/[x]", "http://[::1]:8080/%5Bx%5D"),
        ("http://日本.test/", "http://xn--wgv71a.test/"),
        ("HTTP://A.test", "http://a.test/"),
        ("http://www/", "http://www:0080/"),
        ("http://a:8/", "http://a:0008/"),
    ],
)
def test_addresses_are_escaped_and_encoded(href: str, loc: str) -> None:
    """An address is ASCII, percent-encoded by RFC 3986 and entity-escaped, as in the protocol's example (SM-2, SM-3)."""
    (body,) = files(urlsets([Entry(href)], PLAIN)).values()
    assert f"<loc>{loc}</loc>" in body.decode("ascii")


@given(hrefs(), tails)
def test_an_encoded_address_leads_back(href: str, tail: str) -> None:
    """What was encoded beyond the URL Standard can be turned back, for a former file to be compared with a run."""
    whole = url.parse(href + tail).href
    if "%" not in whole:
        assert url.parse(read_back(written(whole))).href == whole


@pytest.mark.parametrize("text", ["mailto:a@a.test", "/relative", "ftp://a.test/"])
def test_only_addresses_of_the_web_are_written(text: str) -> None:
    """What is no http or https address cannot be written; who chooses entries leaves it out (SM-4)."""
    with pytest.raises(UrlError):
        list(urlsets([Entry(text)], PLAIN))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-11-30", "2026-11-30"),
        ("2026-11-30T12:00:00Z", "2026-11-30T12:00:00Z"),
        ("2026-11-30T12:00:00.25+09:00", "2026-11-30T12:00:00.25+09:00"),
        ("2026", "2026-01-01T00:00:00+00:00"),
        ("2026-11", "2026-11-01T00:00:00+00:00"),
        ("2026-11-30T12:00+01:00", "2026-11-30T11:00:00+00:00"),
        ("2026-11-30 12:00:00", "2026-11-30T12:00:00+00:00"),
        ("2026-11-30T12:00:00+23:00", "2026-11-29T13:00:00+00:00"),
        ("2026-02-30", None),
        ("0000-01-01", None),
        ("yesterday", None),
    ],
)
def test_only_whole_dates_are_written(text: str, shown: str | None) -> None:
    """Of the shapes of W3C Datetime only whole dates and date-times go out, the others become one (AMB-SM-2, SM-50)."""
    assert lastmod_of(Entry("http://a.test/", text)) == shown


def test_only_elements_of_the_protocol_are_written() -> None:
    """Nothing but the four elements and hreflang links is ever in a file; an expiry has no place there (IB-8)."""
    entry = Entry("http://a.test/", "2026-11-30", "daily", 0.8, alternates=(("de", "http://a.test/de"),))
    (body,) = files(urlsets([entry], PLAIN)).values()
    names = {etree.QName(element).localname for element in etree.fromstring(body).iter()}
    assert names == {"urlset", "url", "loc", "lastmod", "changefreq", "priority", "link"}


def test_the_longest_address_is_shorter_than_the_limit() -> None:
    """Fewer than 2,048 characters are what every reader takes (SM-4, AMB-SM-1)."""
    href = f"http://a.test/{'x' * (LONGEST_LOC - 14)}"
    (body,) = files(urlsets([Entry(href)], PLAIN)).values()
    assert [len(entry.loc) for entry in read(body).entries] == [2_047]


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> dict[str, etree.XMLSchema]:
    """Compile the official schemas; that of entries with one of ours for what the official one leaves to others."""
    folder = tmp_path_factory.mktemp("xsd")
    (folder / "hreflang.xsd").write_text(HREFLANG_XSD)
    (folder / "both.xsd").write_text(BOTH_XSD.format(official=(XSD / "sitemap.xsd").as_uri(), hreflang="hreflang.xsd"))
    paths = {"urlset": folder / "both.xsd", "index": XSD / "siteindex.xsd"}
    return {kind: etree.XMLSchema(etree.parse(path)) for kind, path in paths.items()}


@pytest.mark.skipif(not XSD.is_dir(), reason="the official schemas are not here")
@given(st.lists(entries(), min_size=1, max_size=5))
def test_files_are_valid_by_the_official_schema(
    schemas: dict[str, etree.XMLSchema], given_entries: list[Entry]
) -> None:
    """A urlset and an index are valid by the schemas of sitemaps.org, hreflang links by one of ours (SM-1 to SM-7)."""
    for body in files(urlsets(given_entries, PLAIN)).values():
        schemas["urlset"].assertValid(etree.fromstring(body))
    child = Child("http://a.test/sitemap-1.xml.gz", "2026-11-30T12:00:00+00:00")
    for body in files(indexes([child], PLAIN)).values():
        schemas["index"].assertValid(etree.fromstring(body))
