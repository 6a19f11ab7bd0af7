"""Sitemaps: each test states one rule of SM-1 to SM-65."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import sitemap
from purlieu.sitemap import moment
from purlieu.sitemap.element import START, Elements
from purlieu.sitemap.entry import Notes
from purlieu.sitemap.location import RULES, Place
from purlieu.sitemap.markup import Markup

URL = "https://example.com/map/sitemap.xml"
NS = "http://www.sitemaps.org/schemas/sitemap/0.9"
GOOD = "<url><loc>https://example.com/</loc></url>"
LISTING_1 = """
<?xml version="1.0" encoding="UTF-8"?>

    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
    <url><loc>http://www.mycompany.com/</loc>
       <lastmod>2006-08-07</lastmod><changefreq>daily</changefreq><priority>0.7</priority></url>
    <url><loc>http://www.mycompany.com/products/</loc>
       <lastmod>2006-08-01</lastmod><changefreq>weekly</changefreq> <priority>0.8</priority></url>
    <url><loc>http://www.mycompany.com/news/</loc>
       <lastmod>2006-08-07</lastmod><changefreq>weekly</changefreq> <priority>0.8</priority></url>
    <url><loc>http://www.mycompany.com/archive/</loc>
       <lastmod>2006-05-01</lastmod><changefreq>monthly</changefreq> <priority>0.3</priority></url>
    </urlset></xml>
"""


def urlset(inside: str, more: str = "") -> str:
    """Put entries into a whole document."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{NS}"{more}>{inside}</urlset>'


def read(text: str | bytes, *, strict: bool = False) -> sitemap.Sitemap:
    """Read a sitemap at URL."""
    return sitemap.read(text.encode() if isinstance(text, str) else text, url=URL, strict=strict)


def one(fields: str, *, strict: bool = False) -> sitemap.Entry:
    """Read the one entry with these fields."""
    (entry,) = read(urlset(f"<url><loc>https://example.com/</loc>{fields}</url>"), strict=strict).entries
    return entry


def locs(text: str | bytes, *, strict: bool = False) -> list[str]:
    """Return the addresses that a sitemap holds."""
    found = read(text, strict=strict)
    return [entry.loc for entry in found.entries] + [child.loc for child in found.children]


def kinds(text: str | bytes, *, strict: bool = False) -> list[str]:
    """Return the kinds of problem that a sitemap has."""
    return [problem.kind for problem in read(text, strict=strict).problems]


def test_listing_1_is_read_leniently() -> None:
    """The four entries are kept, and one problem is told for each of the two defects (SM-12, SM-13, AMB-SM-4)."""
    found = read(LISTING_1)

    assert found.kind == "urlset"
    assert [(entry.loc[24:], entry.lastmod, entry.changefreq, entry.priority) for entry in found.entries] == [
        ("/", "2006-08-07", "daily", 0.7),
        ("/products/", "2006-08-01", "weekly", 0.8),
        ("/news/", "2006-08-07", "weekly", 0.8),
        ("/archive/", "2006-05-01", "monthly", 0.3),
    ]
    assert [(problem.line, problem.kind) for problem in found.problems] == [(2, "late-declaration"), (13, "stray-tag")]


@pytest.mark.parametrize("text", [LISTING_1, LISTING_1.lstrip(), LISTING_1.replace("</xml>", "")])
def test_listing_1_is_refused_strictly(text: str) -> None:
    """Either defect refuses the file in strict reading, and without them it is read (SM-12, AMB-SM-4)."""
    assert locs(text, strict=True) == []
    assert kinds(text, strict=True) == ["xml"]
    assert len(locs(LISTING_1.lstrip().replace("</xml>", ""), strict=True)) == 4


@pytest.mark.parametrize(
    "root",
    [
        'urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"',
        'urlset xmlns="https://www.sitemaps.org/schemas/sitemap/0.9/"',
        "urlset xmlns='http://www.google.com/schemas/sitemap/0.84'",
        'urlset xmlns="http://www.google.com/schemas/sitemap/0.90"',
        "urlset",
        'urlset xmlns="urn:own"',
    ],
)
def test_namespace_variants(root: str) -> None:
    """Namespaces met in the wild are accepted leniently; only an unknown one is a problem (SM-11)."""
    text = f"<{root}><url><loc>https://example.com/a</loc></url></urlset>"

    assert locs(text) == ["https://example.com/a"]
    assert kinds(text) == (["namespace"] if "urn" in root else [])
    assert bool(locs(text, strict=True)) is (f'xmlns="{NS}"' in root)


def test_prefixes_mean_nothing() -> None:
    """Elements are known by namespace and name, whatever the prefix, and a child may declare its own (SM-10)."""
    prefixed = f'<s:urlset xmlns:s="{NS}"><s:url><s:loc>https://example.com/a</s:loc></s:url></s:urlset>'
    local = f'<s:urlset xmlns:s="{NS}"><url xmlns="{NS}"><loc>https://example.com/b</loc></url></s:urlset>'
    undone = urlset('<url xmlns=""><loc>https://example.com/c</loc></url>')

    assert [locs(text) for text in (prefixed, local, undone)] == [
        ["https://example.com/a"], ["https://example.com/b"], ["https://example.com/c"],
    ]  # fmt: skip
    assert locs(prefixed, strict=True) == ["https://example.com/a"]


def test_foreign_addresses_are_never_the_page_s() -> None:
    """An image's, video's or stranger's loc is not the entry's, even before it or where it has none (SM-9, SM-63)."""
    spaces = (
        ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
        ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:o="urn:other"'
    )
    image = "<image:image><image:loc>https://cdn.example/i.png</image:loc></image:image>"
    video = (
        "<video:video><video:thumbnail_loc>https://cdn.example/t.png</video:thumbnail_loc>"
        "<video:content_loc>https://cdn.example/v.mp4</video:content_loc></video:video>"
    )
    other = "<o:loc>https://o.example/</o:loc><o:x><loc>https://x.example/</loc></o:x>"
    page = f"<url>{image}{video}{other}<loc>https://example.com/a</loc></url><url>{image}{other}</url>"
    found = read(urlset(page, spaces))

    assert [(entry.loc, entry.images, entry.videos) for entry in found.entries] == [
        ("https://example.com/a", ("https://cdn.example/i.png",), ("https://cdn.example/v.mp4",))
    ]
    assert [problem.kind for problem in found.problems] == ["no-loc"]


def test_undeclared_prefixes_have_their_usual_meaning() -> None:
    """A prefix that is not declared is a problem, and an image's address stays an image's (SM-9)."""
    text = urlset(
        "<url><loc>https://example.com/a</loc><image:image><image:loc>https://i.example/</image:loc></image:image></url>"
    )

    assert [entry.images for entry in read(text).entries] == [("https://i.example/",)]
    assert kinds(text) == ["prefix", "prefix"]
    assert locs(text, strict=True) == []


def test_alternates_and_news() -> None:
    """Alternates and news metadata are kept as small tuples (SM-61, SM-62)."""
    spaces = ' xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"'
    entry = read(urlset(
        "<url><loc>https://example.com/</loc>"
        '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/?a=1&amp;l=de"/>'
        "<xhtml:link rel='alternate' hreflang='x-default' href='https://example.com/'></xhtml:link>"
        '<xhtml:link rel="alternate" href="https://example.com/none"/><xhtml:link rel="alternate" hreflang="fr"/>'
        "<n:news><n:publication><n:name>N</n:name></n:publication><n:publication_date>2024-01-01</n:publication_date>"
        "<n:title>T &amp; U</n:title></n:news></url>", spaces,
    )).entries[0]  # fmt: skip

    assert entry.alternates == (("de", "https://example.com/?a=1&l=de"), ("x-default", "https://example.com/"))
    assert entry.news == sitemap.News("N", "2024-01-01", "T & U")


@pytest.mark.parametrize(
    ("text", "priority", "kind"),
    [("0.0", 0.0, []), ("1", 1.0, []), (" 0.8 ", 0.8, []), (".5", 0.5, []), ("", 0.5, []),
     ("1.1", 0.5, ["priority"]), ("-0.1", 0.5, ["priority"]), ("NaN", 0.5, ["priority"]), ("0,8", 0.5, ["priority"]),
     ("1e-1", 0.5, ["priority"]), ("٠", 0.5, ["priority"]), (".", 0.5, ["priority"])],
)  # fmt: skip
def test_priority(text: str, priority: float, kind: list[str]) -> None:
    """What is no number from 0.0 to 1.0 is 0.5, with a problem; the entry is kept (SM-6, SM-8)."""
    field = f"<priority>{text}</priority>"

    assert one(field).priority == priority
    assert kinds(urlset(f"<url><loc>https://example.com/</loc>{field}</url>")) == kind


@pytest.mark.parametrize(
    ("text", "changefreq", "kind"),
    [("daily", "daily", []), ("Daily ", "daily", []), ("every WEEKLY run", "weekly", []), ("", None, []),
     ("when we feel like it", None, ["changefreq"])],
)  # fmt: skip
def test_changefreq(text: str, changefreq: str | None, kind: list[str]) -> None:
    """One of seven words, in any case and anywhere in the text, else none (SM-5, SM-8)."""
    field = f"<changefreq>{text}</changefreq>"

    assert one(field).changefreq == changefreq
    assert kinds(urlset(f"<url><loc>https://example.com/</loc>{field}</url>")) == kind


@pytest.mark.parametrize(
    ("text", "at", "exact"),
    [
        ("1970", 0.0, True),
        ("1970-02", 31 * 86400.0, True),
        ("1970-01-02", 86400.0, True),
        ("1970-01-01T01:00Z", 3600.0, True),
        ("1970-01-01T01:00:01+01:00", 1.0, True),
        ("1970-01-01T00:00:00.25-00:30", 1800.25, True),
        ("1970-01-01T01:00:00", 3600.0, False),
        ("1970-01-01 01:00:00+0000", 3600.0, False),
        ("1970-1-2", 86400.0, False),
        ("1970-02-30", None, True),
        ("0000", None, True),
        ("yesterday", None, False),
        ("19700102", None, False),
        ("9999-12-31T23:59:59-23:00", 253402383599.0, True),
        ("１９７０", None, False),
    ],
)  # fmt: skip
def test_lastmod(text: str, at: float | None, exact: bool) -> None:
    """Six shapes are W3C Datetime, each the start of its period in UTC; slips without doubt are read too (SM-50 to SM-53)."""
    entry = one(f"<lastmod> {text}\n</lastmod>")

    assert (entry.lastmod_at, entry.lastmod) == (at, None if at is None else text)
    assert moment.is_exact(text) is exact


def test_strict_reading_leaves_out_faulty_entries() -> None:
    """A fault of one entry costs that entry in strict reading, and nothing in lenient reading (AMB-SM-6)."""
    faulty = (
        "<lastmod>1970-1-2</lastmod>",
        "<priority>2</priority>",
        "<changefreq>Daily</changefreq>",
        "<loc>https://example.com/2</loc>",
    )
    text = urlset("".join(f"<url><loc>https://example.com/1</loc>{field}</url>" for field in (*faulty, "")))

    assert locs(text) == ["https://example.com/1"] * 5
    assert locs(text, strict=True) == ["https://example.com/1"]


@pytest.mark.parametrize(
    ("loc", "found", "kind"),
    [
        (" \n https://example.com/a \n", "https://example.com/a", None),
        ("<![CDATA[https://example.com/?a=1&b=2]]>", "https://example.com/?a=1&b=2", None),
        ("<![CDATA[https://example.com/?a=1&amp;b]]>", "https://example.com/?a=1&amp;b", None),
        ("https://example.com/?a=1&amp;b=2&#x26;&#99;=3", "https://example.com/?a=1&b=2&c=3", None),
        ("https://example.com/?a=1&b=2", "https://example.com/?a=1&b=2", "reference"),
        ("https://example.com/&nbsp;&#0;&#xD800;", "https://example.com/&nbsp;&#0;&#xD800;", "reference"),
        ("https://example.com/<!-- no -->a", "https://example.com/a", None),
        ("https://example.com/a>b", "https://example.com/a>b", None),
        ("HTTPS://Example.com/Ü", "HTTPS://Example.com/Ü", None),
        ("/a b", None, "bad-loc"),
        ("/a", "https://example.com/a", "relative-loc"),
        ("b.html", "https://example.com/map/b.html", "relative-loc"),
        ("ftp://example.com/", None, "bad-loc"),
        ("mailto:a@example.com", None, "bad-loc"),
        ("https://", None, "bad-loc"),
        ("", None, "no-loc"),
        ("https://example.com/" + "x" * 2027, "https://example.com/" + "x" * 2027, None),
        ("https://example.com/" + "x" * 2028, "https://example.com/" + "x" * 2028, "longest-loc"),
        ("https://example.com/" + "x" * 2029, None, "long-loc"),
    ],
)
def test_loc(loc: str, found: str | None, kind: str | None) -> None:
    """Addresses are unescaped once, joined if relative, and dropped one by one if they are none (SM-2, SM-4, SM-34, AMB-SM-1)."""
    text = urlset(f"<url><loc>{loc}</loc></url><url><loc>https://example.com/next</loc></url>")

    assert locs(text) == [*([] if found is None else [found]), "https://example.com/next"]
    assert set(kinds(text)) == ({kind} if kind else set())


def test_the_first_loc_wins() -> None:
    """A second loc is a problem, in any order of fields (AMB-SM-6)."""
    text = urlset("<url><priority>1</priority><loc>https://example.com/1</loc><loc>https://example.com/2</loc></url>")

    assert locs(text) == ["https://example.com/1"]
    assert kinds(text) == ["second-loc"]


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("<url><loc>https://a.example/<lastmod>2024</lastmod></url><url><loc>https://b.example/</loc></url>", "ab"),
        ("<url><loc>https://a.example/</url><url><loc>https://b.example/</loc></url>", "ab"),
        ("<url><loc>https://a.example/</loc><url><loc>https://b.example/</loc></url>", "ab"),
        ("<url><loc>https://a.example/</loc></url></url><url><loc>https://b.example/</loc></url>", "ab"),
        ("<url><loc>https://a.example/</lok></url><url><loc>https://b.example/</loc></url>", "ab"),
        ('<url><loc x="1>https://a.example/</loc></url><url><loc>https://b.example/</loc></url>', "b"),
        ("<url><loc>https://a.example/</loc><x < y></url><url><loc>https://b.example/</loc></url>", "ab"),
        ("<url><loc>https://a.example/</loc></url><!-- <url><loc>https://b.example/</loc></url>", "a"),
        ("<url><loc>https://a.example/</loc></url><url><loc>https://b.exam", "a"),
        ("<url><loc>https://a.example/</loc></url><url><loc>https://b.example/</loc><last", "ab"),
        ("<url/><url><loc/></url><url><loc>https://a.example/</loc></url>", "a"),
    ],
)
def test_lenient_reading_goes_on_after_damage(inside: str, found: str) -> None:
    """Damage costs no more than the entry it is in, and is told; strict reading refuses the file (SM-34)."""
    text = f'<urlset xmlns="{NS}">{inside}' + ("" if "exam" in inside[-9:] or inside.endswith("<last") else "</urlset>")

    assert locs(text) == [f"https://{letter}.example/" for letter in found]
    assert read(text).problems
    assert locs(text, strict=True) == (["https://a.example/"] if inside.startswith("<url/>") else [])


def test_an_index() -> None:
    """An index lists files, with the date of each file (SM-40)."""
    text = (
        f'<sitemapindex xmlns="{NS}"><sitemap><loc>https://example.com/1.xml.gz</loc><lastmod>1970-01-02</lastmod></sitemap>'
        "<sitemap><lastmod>2020</lastmod><loc>https://example.com/2.txt</loc></sitemap><sitemap/></sitemapindex>"
    )
    found = read(text)

    assert (found.kind, found.entries) == ("index", ())
    assert found.children[0] == sitemap.Child("https://example.com/1.xml.gz", "1970-01-02", 86400.0)
    assert found.children[1].loc == "https://example.com/2.txt"
    assert [problem.kind for problem in found.problems] == ["no-loc"]


def test_text() -> None:
    """One address a line, mark, blanks and any line end tolerated, bad lines told and skipped (SM-41)."""
    found = read(
        b"\xef\xbb\xbf https://example.com/1 \r\n\r\nhttps://example.com/2\rwww.example.com\nhttps://example.com/3?<a>"
    )

    assert found.kind == "text"
    assert [entry.loc for entry in found.entries] == [f"https://example.com/{end}" for end in ("1", "2", "3?<a>")]
    assert [(problem.line, problem.kind) for problem in found.problems] == [(4, "line")]


def test_rss() -> None:
    """An item's link, or else its permanent guid, and its date; the channel's own link is no entry (SM-42)."""
    text = """<rss version="2.0" xmlns:a="http://www.w3.org/2005/Atom"><channel><link>https://example.com/</link>
    <a:link href="https://example.com/feed" rel="self"/><image><link>https://example.com/i</link></image>
    <item><link>https://example.com/1</link><pubDate>Thu, 01 Jan 1970 01:00:00 +0100</pubDate>
      <a:link href="https://no.example/"/><source url="https://no.example/">s</source></item>
    <item><title><![CDATA[a < b]]></title><link>https://example.com/2</link><pubDate>1 Jan 80 00:00 EST</pubDate></item>
    <item><guid>https://example.com/3</guid><pubDate>02 Jan 70 13:34:55</pubDate></item>
    <item><guid isPermaLink="false">https://example.com/4</guid><pubDate></pubDate></item></channel></rss>"""
    found = read(text)

    assert found.kind == "rss"
    assert [(entry.loc, entry.lastmod) for entry in found.entries] == [
        ("https://example.com/1", "1970-01-01T00:00:00+00:00"),
        ("https://example.com/2", "1980-01-01T05:00:00+00:00"),
        ("https://example.com/3", "2070-01-02T13:34:55+00:00"),
    ]
    assert [problem.kind for problem in found.problems] == ["no-loc"]


@pytest.mark.parametrize(
    ("namespace", "date"), [("http://www.w3.org/2005/Atom", "updated"), ("http://purl.org/atom/ns#", "modified")]
)
def test_atom(namespace: str, date: str) -> None:
    """Atom 1.0 and 0.3: an entry's alternate link and its date, published only where nothing newer is told (SM-42)."""
    text = f"""<feed xmlns="{namespace}"><link href="https://example.com/"/><{date}>1999</{date}>
    <entry><link rel="self" href="https://no.example/"/><link href="https://example.com/1?a&amp;b"/>
      <published>1970-01-01</published><{date}>1970-01-02T00:00:00Z</{date}></entry>
    <entry><source><link href="https://no.example/"/><{date}>1999</{date}></source>
      <link rel="alternate" href="2"/><published>1970-01-03</published></entry></feed>"""
    found = read(text)

    assert found.kind == "atom"
    assert [(entry.loc, entry.lastmod_at) for entry in found.entries] == [
        ("https://example.com/1?a&b", 86400.0),
        ("https://example.com/map/2", 172800.0),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   \n",
        b"<html><body>https://example.com/</body></html>",
        b"hello",
        b"<",
        b"\x00\x01",
        b"<!-- -->",
        b"<?xml?>",
    ],
)
def test_what_is_no_sitemap(body: bytes) -> None:
    """A body in no known format has no entries, and says so."""
    found = read(body)

    assert (found.kind, found.entries) == ("unknown", ())
    assert "not-a-sitemap" in {problem.kind for problem in found.problems}


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("utf-16-be", "utf-16"), ("shift_jis", "Shift_JIS"),
     ("euc_jp", "EUC-JP"), ("gb18030", "GB2312"), ("cp1252", "ISO-8859-1"), ("koi8-r", "KOI8-R"), ("iso8859-15", "iso-8859-15")],
)  # fmt: skip
def test_encodings(encoding: str, declared: str) -> None:
    """Marks and declarations are followed, and anything but UTF-8 is a problem (SM-2)."""
    word = {"shift_jis": "日本", "euc_jp": "日本", "gb18030": "中国", "koi8-r": "мир"}.get(encoding, "ü")
    text = urlset(f"<url><loc>https://example.com/{word}</loc></url>").replace("UTF-8", declared)

    assert locs(text.encode(encoding)) == [f"https://example.com/{word}"]
    assert set(kinds(text.encode(encoding))) == (set() if encoding == "utf-8-sig" else {"encoding"})


@pytest.mark.parametrize("declared", ["UTF-16", "zlib_codec", "idna", "unicode_escape", "utf-7", "nonsense", "x" * 40])
def test_declarations_that_cannot_be_meant(declared: str) -> None:
    """A declaration of what is no encoding, or cannot be this file's, is told and passed over (SM-2)."""
    text = urlset("<url><loc>https://example.com/ü</loc></url>").replace("UTF-8", declared)

    assert locs(text) == ["https://example.com/ü"]
    assert kinds(text) == ["encoding"]


def test_broken_bytes_are_told_once() -> None:
    """Bytes that are not UTF-8 are replaced, and one problem says so; a genuine replacement character is none."""
    entry = b"<url><loc>https://example.com/\xff</loc></url>"
    broken = urlset("").encode().replace(b"</urlset>", entry * 3 + b"</urlset>")

    assert locs(broken) == ["https://example.com/\ufffd"] * 3
    assert kinds(broken) == ["bytes"]
    assert kinds(urlset("<url><loc>https://example.com/\ufffd</loc></url>")) == []


SMALL = urlset("<url><loc>https://example.com/</loc></url>").encode()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (gzip.compress(SMALL), []),
        (gzip.compress(gzip.compress(SMALL)), []),
        (gzip.compress(SMALL[:50]) + gzip.compress(SMALL[50:]), []),
        (gzip.compress(b"") + gzip.compress(SMALL), []),
        (gzip.compress(SMALL) + b"junk", ["gzip"]),
        (gzip.compress(SMALL)[:-9], ["gzip"]),
        (gzip.compress(SMALL)[:-8] + b"\0" * 8, ["gzip"]),
    ],
)
def test_gzip(body: bytes, kind: list[str]) -> None:
    """Data packed with gzip are known by their bytes; what can be unpacked counts, and damage is told (SM-22, SM-43)."""
    assert locs(body) == ["https://example.com/"]
    assert kinds(body) == kind


@pytest.mark.parametrize("body", [b"\x1f\x8b", b"\x1f\x8bjunk", gzip.compress(gzip.compress(gzip.compress(SMALL)))])
def test_gzip_that_is_none(body: bytes) -> None:
    """What only looks like gzip, or is packed more than twice, has no entries."""
    assert locs(body) == []
    assert "gzip" in kinds(body)


def test_a_bomb_is_cut_at_the_limit() -> None:
    """The limit counts decoded bytes, also of gzip in gzip, and what is within it is kept (SM-22, AMB-SM-10)."""
    deflate = zlib.compressobj(9, wbits=31)
    packed = [deflate.compress(SMALL.removesuffix(b"</urlset>"))]
    packed += [deflate.compress(b" " * 1_048_576) for _ in range(60)] + [deflate.flush()]
    bomb = b"".join(packed)
    tracemalloc.start()
    items = [item for body in (bomb, gzip.compress(bomb)) for item in sitemap.scan([body], url=URL)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(bomb) < 100_000
    assert [item.loc for item in items if isinstance(item, sitemap.Entry)] == ["https://example.com/"] * 2
    assert [item.kind for item in items if isinstance(item, sitemap.Problem)] == ["too-large"] * 2
    assert peak < 2_000_000


def test_the_limit_of_bytes_is_exact() -> None:
    """A file of just the limit is whole, one byte more is not (SM-20, SM-21)."""
    whole, over = (list(sitemap.scan([SMALL], url=URL, limit_bytes=len(SMALL) - less)) for less in (0, 1))

    assert [type(item).__name__ for item in whole] == ["Entry"]
    assert [getattr(item, "kind", "entry") for item in over] == ["entry", "too-large"]


def endless(entry: bytes, start: bytes = SMALL[:-18]) -> Iterator[bytes]:
    """Yield a document that never ends."""
    yield start
    while True:
        yield entry * 1000


def test_the_first_50_000_addresses_are_read() -> None:
    """More are told and not read, in memory that does not grow (SM-20, AMB-SM-10)."""
    tracemalloc.start()
    chunks = endless(b"<url><loc>https://example.com/a</loc></url>\n", urlset("").encode().removesuffix(b"</urlset>"))
    count, last = 0, None
    for item in sitemap.scan(chunks, url=URL):
        count, last = count + isinstance(item, sitemap.Entry), item
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == sitemap.LIMIT_URLS
    assert isinstance(last, sitemap.Problem)
    assert last.kind == "too-many"
    assert peak < 2_000_000


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE urlset [<!ENTITY x "https://evil.example/">]>',
        '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b "&c;&c;">]>',
        "<!doctype urlset [ <!ELEMENT url ANY> ]>",
    ],
)
def test_a_file_that_declares_entities_is_given_up(doctype: str) -> None:
    """An internal DTD is a problem and is never read, in either reading (SM-14)."""
    text = doctype + "<urlset><url><loc>https://example.com/&x;</loc></url></urlset>"

    for strict in (False, True):
        assert locs(text, strict=strict) == []
    assert kinds(text) == ["doctype", "dtd"]
    assert kinds(text, strict=True) == ["dtd" if "DOCTYPE" in doctype else "xml"]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("https://example.com/1\nhttps://example.com/22\n", ["https://example.com/1"]),
        ("<urlset><url><loc>https://example.com/1</loc></url><url><loc>https://example.com/22</loc></url></urlset>",
         ["https://example.com/1"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["gzip", "limit", "way"])
def test_what_a_cut_leaves_half_is_no_entry(text: str, whole: list[str], how: str) -> None:
    """Where a file breaks off, half an address is none, and only the cut is told (AMB-SM-10)."""
    body = text[: text.index("/22") + 2].encode()
    if how == "gzip":
        found = sitemap.read(gzip.compress(body)[:-8], url=URL)
    elif how == "limit":
        found = sitemap.read(text.encode(), url=URL, limit_bytes=len(body))
    else:
        found = sitemap.read(body, url=URL, whole=False)

    assert [entry.loc for entry in found.entries] == whole
    told = [problem.kind for problem in found.problems if problem.kind != "namespace"]
    assert told == {"gzip": ["gzip"], "limit": ["too-large"], "way": []}[how]


def test_addresses_that_are_none_are_left_out() -> None:
    """An entry whose host or port no URL can have is left out and told; the others stay (SM-34)."""
    wrong = (
        "http://example.com:99999/",
        "http://a b/",
        "https://[1::2",
        "http://1.2.3.4.5.256/x",
        "http://",
        "https://?x",
    )
    text = "".join(f"<url><loc>{loc}</loc></url>{GOOD}" for loc in wrong)

    assert locs(f"<urlset>{text}</urlset>") == ["https://example.com/"] * len(wrong)
    assert kinds(f"<urlset>{text}</urlset>") == ["bad-loc"] * len(wrong)
    assert locs("\n".join(("http://example.com/", *wrong))) == ["http://example.com/"]


def test_a_mere_document_type_is_passed_over() -> None:
    """An external DTD is told, never fetched, and refused only strictly (SM-14)."""
    text = f'<!DOCTYPE urlset SYSTEM "http://example.com/x.dtd"><urlset xmlns="{NS}"><url><loc>https://example.com/</loc></url></urlset>'

    assert locs(text) == ["https://example.com/"]
    assert kinds(text) == kinds(text, strict=True) == ["doctype"]
    assert locs(text, strict=True) == []


@pytest.mark.parametrize(
    "unit",
    ["<a>", "<a ", "<!--", "<![CDATA[", "<url><loc>", "</a>", "&amp", "&#", 'x="', "<a b='", "<?x ", "a ", "<url>", "<x:y>",
     "<loc>https://example.com/</loc>", "<a xmlns:b='c'>", "]]>", "-->", "<!DOCTYPE ", "\n", "<url/>"],
)  # fmt: skip
@pytest.mark.parametrize(
    "start", ["", f'<urlset xmlns="{NS}">', f'<urlset xmlns="{NS}"><url><loc>', f'<urlset xmlns="{NS}"><a b="']
)
def test_hostile_repetition_takes_linear_time_and_little_memory(start: str, unit: str) -> None:
    """200 KB of anything end with a bounded number of problems; quadratic reading would meet the suite's time-out."""
    body = (start + unit * (200_000 // len(unit))).encode()
    problems = [item for item in sitemap.scan([body], url=URL) if isinstance(item, sitemap.Problem)]

    assert len(problems) < 1000


@pytest.mark.parametrize("unit", [b"<url/>", b"<a ", b"</a>", b"<url><loc>x y &&</loc></url>"])
def test_a_file_of_nothing_but_faults_is_not_read_to_its_end(unit: bytes) -> None:
    """After thousands of faults and hardly an entry reading ends, so that a small packed file cannot keep a worker busy."""
    chunks = endless(unit, urlset("").encode().removesuffix(b"</urlset>") + b"<url><loc>https://example.com/</loc>")
    items = list(sitemap.scan(chunks, url=URL))

    assert sitemap.Entry("https://example.com/") in items
    assert "too-faulty" in [item.kind for item in items if isinstance(item, sitemap.Problem)]


def test_a_fault_in_every_entry_ends_nothing() -> None:
    """The same slips in each of many entries cost none of them."""
    entry = "<url><loc>https://example.com/?a&b&c</loc><priority>10</priority><changefreq>often</changefreq></url>"

    assert len(locs(urlset(entry * 6_000))) == 6_000


def test_elements_are_limited() -> None:
    """A file of elements that mean nothing is not read to its end either."""
    notes = Notes(strict=False)
    elements = Elements(Markup(iter(["<a><b/><b/><b/><b/></a>"]), notes), notes, most=3)

    assert sum(event[0] is START for event in elements.events()) == 4
    assert [problem.kind for problem in notes.drain()] == ["too-full"]


def test_bad_lines_are_limited() -> None:
    """A text of bad lines is not read to its end (SM-24)."""
    items = list(sitemap.scan(endless(b"no\n", b"https://example.com/\n"), url=URL))

    assert items[0] == sitemap.Entry("https://example.com/")
    assert isinstance(items[-1], sitemap.Problem)


def test_many_names_and_problems_are_not_kept() -> None:
    """Neither names nor namespaces nor problems pile up (bounded memory)."""

    def chunks() -> Iterator[bytes]:
        yield urlset("").encode().removesuffix(b"</urlset>")
        for number in range(6_000):
            yield f'<n{number} xmlns:p{number}="urn:{number}"/><p:q{number}/><url><loc>x y</loc></url>'.encode()

    tracemalloc.start()
    count = sum(isinstance(item, sitemap.Problem) for item in sitemap.scan(chunks(), url=URL))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 203
    assert peak < 3_000_000


@given(st.binary(max_size=400), st.integers(1, 50))
def test_nothing_makes_it_raise(noise: bytes, size: int) -> None:
    """No bytes raise, in either reading, and how they are cut into chunks changes nothing."""
    body = (
        urlset("<url><loc>https://example.com/</loc>").encode()
        + noise
        + b"<url><loc>https://example.com/</loc></url></urlset>"
    )
    chunks = [body[at : at + size] for at in range(0, len(body), size)]

    for strict in (False, True):
        assert list(sitemap.scan(chunks, url=URL, strict=strict)) == list(sitemap.scan([body], url=URL, strict=strict))
    sitemap.read(noise, url=URL)
    sitemap.looks_like(noise)


_NAMES = st.sampled_from(["loc", "lastmod", "x", "i:loc", "i:image", "url", "s:loc"])
_TEXTS = st.text(st.sampled_from("ab<>&\"' \n/ü:]"), max_size=12)


@st.composite
def well_formed(draw: st.DrawFn) -> str:
    """Draw a well-formed urlset with nested, foreign and commented elements."""

    def escaped(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    def element(depth: int) -> str:
        name = draw(_NAMES)
        name = "x" if name == "url" and depth else name
        plain = name in {"loc", "s:loc", "lastmod"}
        inside = (
            escaped(draw(_TEXTS))
            if plain or depth > 2
            else "".join(element(depth + 1) for _ in range(draw(st.integers(0, 2))))
        )
        return f"<{name} a='{escaped(draw(_TEXTS)).replace(chr(39), '&apos;')}'>{inside}<!-- {name} --></{name} >"

    entries = "".join(
        f"<url><loc>https://example.com/{escaped(draw(_TEXTS))}</loc>{''.join(element(1) for _ in range(draw(st.integers(0, 3))))}</url>\n"
        for _ in range(draw(st.integers(0, 4)))
    )
    return urlset(entries, f' xmlns:i="http://www.google.com/schemas/sitemap-image/1.1" xmlns:s="{NS}"')


@given(well_formed())
def test_well_formed_files_are_read_as_an_xml_parser_reads_them(text: str) -> None:
    """On well-formed XML the addresses are those that a conforming parser finds directly inside each entry (SM-1, SM-9)."""
    tree = ET.fromstring(text)
    expected = [(url.findtext(f"{{{NS}}}loc") or "").strip() for url in tree.findall(f"{{{NS}}}url")]

    assert locs(text) == expected
    assert "xml" not in kinds(text, strict=True)


@pytest.mark.parametrize(
    ("start", "content_type", "looks"),
    [
        (SMALL, "application/xml", True),
        (SMALL[:150], None, True),
        (gzip.compress(SMALL)[:-12], "application/gzip", True),
        (SMALL, "text/html", True),
        (b"\xef\xbb\xbf\n<!-- x --><s:sitemapindex xmlns:s='x'>", "text/xml", True),
        (b"<rss version='2.0'>", "application/rss+xml", True),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml", True),
        (b"<!DOCTYPE html><html><body><urlset>", "text/html", False),
        (b"<svg xmlns='x'>", "image/svg+xml", False),
        (b"https://example.com/1\nhttps://example.com/2", "text/plain; charset=utf-8", True),
        (b"https://example.com/1\nhttps://example.com/2", "text/html", False),
        (b"https://example.com/1\nand more", "text/plain", False),
        (b"", "text/plain", False),
        (b"\x1f\x8b", None, False),
    ],
)
def test_looks_like(start: bytes, content_type: str | None, looks: bool) -> None:
    """The first element, or each of the first lines, tells a sitemap from a page."""
    assert sitemap.looks_like(start, content_type) is looks


@pytest.mark.parametrize(
    ("loc", "file", "inside"),
    [
        ("http://example.com/catalog/show?item=233", "http://example.com/catalog/sitemap.xml", True),
        ("http://example.com/image/show?item=233", "http://example.com/catalog/sitemap.xml", False),
        ("https://example.com/catalog/page1.php", "http://example.com/catalog/sitemap.xml", False),
        ("http://www.mycompany.com/xyz/index.html", "http://www.mycompany.com/xyz/sitemap.xml", True),
        ("http://www.mycompany.com/index.html", "http://www.mycompany.com/xyz/sitemap.xml", False),
        ("http://www.notmycompany.com/xyz/index.html", "http://www.mycompany.com/xyz/sitemap.xml", False),
        ("http://subdomain.mycompany.com/xyz/", "http://www.mycompany.com/xyz/sitemap.xml", False),
        ("http://www.example.com:100/a", "http://www.example.com:100/sitemap.xml", True),
        ("http://www.example.com/a", "http://www.example.com:100/sitemap.xml", False),
        ("http://example.com/a", "http://example.com/index.php?route=feed/x", True),
        ("HTTP://EXAMPLE.com:80/%7Ejoe/a", "http://example.com/~joe/sitemap.xml", True),
        ("http://example.com/Joe/a", "http://example.com/joe/sitemap.xml", False),
        ("http://example.com/joe/../a", "http://example.com/joe/sitemap.xml", False),
        ("no address", "http://example.com/joe/sitemap.xml", False),
        ("mailto:a@example.com", "mailto:b@example.com", False),
    ],
)
def test_in_location(loc: str, file: str, inside: bool) -> None:
    """Scheme, host, port and folder are the file's, compared after normalising both (SM-30 to SM-33, AMB-SM-8)."""
    assert sitemap.in_location(loc, file) is inside


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("href", "namers", "held", "by_discovery"),
    [
        ("https://example.com/map/a", (), True, True),
        ("https://example.com/%6Dap/a", (), True, True),  # AMB-SM-8
        ("https://example.com/mapped", (), False, False),
        ("http://example.com/map/a", (), False, False),  # SM-32
        ("https://example.com/", ("robots:example.com",), False, True),  # AMB-SM-7
        ("https://example.com/", ("owner",), False, True),
        ("https://other.example/a", (), False, False),
        ("https://other.example/a", ("robots:example.com",), False, False),
        ("https://other.example/a", ("robots:other.example",), True, True),  # SM-35, SM-36
        ("https://sub.example.com/map/a", ("robots:example.com",), False, False),  # SM-31
    ],
)
def test_a_file_speaks_for_what_its_namers_vouch_for(
    rule: str, href: str, namers: tuple[str, ...], held: bool, by_discovery: bool
) -> None:
    """What is held by the protocol is the same by every rule; what is taken besides depends on the rule and the namers."""
    place = Place.of(URL, frozenset(namers), rule)
    assert place.holds(href) is held
    taken = {"by-discovery": by_discovery, "off": True, "warn": True, "enforce": held}
    assert (place.holds(href) or place.allows(href)) is taken[rule]


def test_which_files_an_index_may_list() -> None:
    """SM-37, AMB-SM-9: files of its own host in any folder, and of hosts whose robots.txt names it."""
    place = Place.of(URL, frozenset({"robots:two.example"}))
    files = {"https://example.com/a.xml": True, "https://two.example/b.xml": True, "https://three.example/c.xml": False}
    assert {file: place.takes_file(file) for file in files} == files
