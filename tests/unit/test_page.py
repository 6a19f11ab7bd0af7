"""What a page says: title, links, canonical, robots rules, alternates, refresh, digest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import page, url
from purlieu.errors import UrlError

pytestmark = pytest.mark.usefixtures("scanner")

HERE = "http://example.com/dir/page.html"


def read(html: str, *, headers: list[tuple[str, str]] | None = None, kinds: frozenset[str] | None = None) -> page.Page:
    """Read a page in UTF-8."""
    return page.read(
        html.encode(),
        url=HERE,
        content_type="text/html; charset=utf-8",
        headers=headers or [],
        kinds=kinds or page.DEFAULT_KINDS,
    )


def hrefs(html: str, *, kinds: frozenset[str] | None = None) -> list[str]:
    """Return the links of a page as written after the folder's address."""
    return [link.url.removeprefix("http://example.com/dir/") for link in read(html, kinds=kinds).links]


# Title (MF-9, AMB-MF-11)


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>One</title><title>Two</title>", "One"),
        ("<title> a \n\t b&nbsp;&amp; c </title>", "a b\u00a0& c"),
        ("<title>日本\u3000語</title>", "日本\u3000語"),
        ("<svg><title>drawing</title></svg><title>page</title>", "page"),
        ("<svg><title>drawing</title></svg>", None),
        ("<!-- <title>no</title> --><p>x", None),
        ("<script>'<title>no</title>'</script><title>yes</title>", "yes"),
        ("<template><title>no</title></template><title>yes</title>", "yes"),
        ("<title><b>no tag</b></title>", "<b>no tag</b>"),
        ("<TITLE>upper</TITLE>", "upper"),
        ("<title></title>", ""),
        ("<title>cut", "cut"),
        ("<p>text", None),
    ],
)
def test_title(html: str, title: str | None) -> None:
    """The title is the first title element of the page itself: references replaced, white space collapsed (AMB-MF-11)."""
    assert read(html).title == title


# Links


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=1><area href='2'><frame src=3><iframe src=4></iframe>", ["1", "2", "3", "4"]),
        (
            "<link rel=next href=1><link rel='Prev x' href=2><link rel=sitemap href=3><link rel=alternate href=4>",
            list("1234"),
        ),
        ("<link rel='alternate stylesheet' href=1><link rel=icon href=2><link href=3>", []),
        ("<a href=''>self</a>", ["page.html"]),
        ("<a href>self</a>", ["page.html"]),
        ("<a href='#top'>self</a>", ["page.html"]),
        ("<a href='x #y'>", ["x%20"]),
        ("<a href=' \t\n a\tb\nc \f'>", ["abc"]),
        ("<a name=x><a href=1 href=2>", ["1"]),
        ("<A HREF=1>", ["1"]),
        ("<a title='<a href=no>' href=1>", ["1"]),
        ('<a title="a>b" href=1>', ["1"]),
        ("<a/href=1><a\nhref\n=\n'2'class=x>", ["1", "2"]),
        ("<a href=1/><a href=2 / ><a href='3'/>", ["1/", "2", "3"]),
        ("<a href='?a=1&amp;b=2&copy=3&lt;&#x41;'>", ["page.html?a=1&b=2&copy=3%3CA"]),
        ("<!-- <a href=no> --><a href=1>", ["1"]),
        ("<!--><a href=1>--><!---><a href=2>", ["1", "2"]),
        ("<!-- x --!><a href=1>", ["1"]),
        ("<script>'<a href=no>'</script><a href=1>", ["1"]),
        ("<script><!-- <script></script><a href=no> --></script><a href=1>", ["1"]),
        ("<style><a href=no></style><textarea><a href=no></textarea><xmp><a href=no></xmp><a href=1>", ["1"]),
        ("<iframe src=1><a href=no></iframe><noframes><a href=no></noframes>", ["1"]),
        ("<plaintext><a href=no>", []),
        ("<template><a href=no><template></template><a href=no></template><a href=1>", ["1"]),
        ("<noscript><a href=1></noscript>", ["1"]),
        ("<svg><a xlink:href=1></a><a href=2 xlink:href=no></a></svg><a xlink:href=no>", ["1", "2"]),
        ("<svg><![CDATA[<a href=no>]]></svg><![CDATA[<a href=1>]]>", []),
        ("<svg><![CDATA[<a href=no>]]><a href=1></svg>", ["1"]),
        ("<a href=1", []),
        ("<a title='unfinished><a href=no>", []),
        ("<img src=no><script src=no></script><form action=no><link rel=stylesheet href=no>", []),
    ],
)
def test_links(html: str, expected: list[str]) -> None:
    """Links are what a browser without scripts would find, resolved, in document order (HTML 13.2.5)."""
    assert hrefs(html) == expected


def test_links_only_on_request() -> None:
    """Canonical, image, script, style and form links are listed only when asked for."""
    html = (
        "<link rel=canonical href=1><link rel=stylesheet href=2><script src=3></script><img src=4 srcset='5, 6 2x'>"
        "<picture><source srcset='7 100w'></picture><form action=8></form><form method=post action=no></form><a href=9>"
    )

    assert hrefs(html) == ["9"]
    assert hrefs(html, kinds=page.ALL_KINDS) == list("123456789")
    assert hrefs(html, kinds=frozenset(["script"])) == ["3"]


def test_links_are_unique_by_url_and_kind() -> None:
    """A link stands once for each kind, without fragment, and says nofollow only if every occurrence does."""
    found = read("<a href=x#1 rel=nofollow><a href=./x rel='a NoFollow'><area href=x><a href=y rel=nofollow><a href=y>")

    assert [(link.url[-1], link.kind, link.nofollow) for link in found.links] == [
        ("x", "a", True),
        ("x", "area", False),
        ("y", "a", False),
    ]
    assert len(found.links) == 3


def test_raw_links_keep_what_is_no_url() -> None:
    """What does not parse stays as written, cut, and marked; other schemes are links like any (R-1.4)."""
    found = read(f"<a href='http://['><a href=mailto:x@y><a href='javascript:f()'><a href='http://[{'x' * 5000}'>")

    assert [link[:4] for link in found.raw_links[:3]] == [
        ("http://[", "a", False, False),
        ("mailto:x@y", "a", False, True),
        ("javascript:f()", "a", False, True),
    ]
    assert (len(found.raw_links[3][0]), found.raw_links[3][3]) == (2048, False)
    assert [link.url for link in found.links] == ["mailto:x@y", "javascript:f()"]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("<base href=/b/>", "http://example.com/b/x"),
        ("<base target=_top><base href=/b/><base href=/c/>", "http://example.com/b/x"),
        ("<base href=javascript:f()>", "http://example.com/dir/x"),
        ("<base href='http://['>", "http://example.com/dir/x"),
        ("<base href=//other.test>", "http://other.test/x"),
        ("<noscript><base href=/no/></noscript>", "http://example.com/dir/x"),
        ("<template><base href=/no/></template>", "http://example.com/dir/x"),
        ("<body><p><base href=/b/>", "http://example.com/b/x"),
    ],
)
def test_base(base: str, expected: str) -> None:
    """The first base with an href resolves all links, before and after it, if it is of the web (HTML 4.2.3)."""
    assert next(link.url for link in read(f"<a href=x></a>{base}").links if link.kind == "a") == expected


def test_link_queries_are_in_the_pages_encoding() -> None:
    """A browser writes the query of a link in the page's encoding, its path in UTF-8 (URL Standard, query state)."""
    html = "<meta charset=shift_jis><a href='/語?q=語'>".encode("shift_jis")

    assert [link.url for link in page.read(html, url=HERE).links] == ["http://example.com/%E8%AA%9E?q=%8C%EA"]


# Canonical (ST-30 to ST-33)


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ("<link rel=canonical href=a#f>", None, "http://example.com/dir/a"),
        ("<base href=/b/><link rel='x CANONICAL' href=a>", None, "http://example.com/b/a"),
        ("<link rel=canonical href=https://other.test/>", None, "https://other.test/"),
        ("<link rel=canonical href=a><link rel=canonical href=./a>", None, "http://example.com/dir/a"),
        ("<link rel=canonical href=a><link rel=canonical href=b>", None, None),
        ("", '<a>; rel="canonical"', "http://example.com/dir/a"),
        (
            "<base href=/b/>",
            "</x>; rel=next, <a>; title=\"x, y; rel=no\"; REL='other', <c>;rel=canonical",
            "http://example.com/dir/c",
        ),
        ("<link rel=canonical href=a>", "<a>; rel=canonical", "http://example.com/dir/a"),
        ("<link rel=canonical href=a>", "<b>; rel=canonical", None),
        ("", "<a>; rel=canonical; anchor=/elsewhere", None),
        ("<link rel=canonical href=''>", None, None),
        ("<link rel=canonical href='mailto:x'>", None, None),
        ("<body><link rel=canonical href=a>", None, None),
        ("<head><div></div><link rel=canonical href=a></head><body>", None, "http://example.com/dir/a"),
        ("<head></head><body><div></div><link rel=canonical href=a></head></body>", None, None),
        ("<noscript><link rel=canonical href=a></noscript>", None, None),
        ("<head><noscript><img src=x></noscript><link rel=canonical href=a></head>", None, "http://example.com/dir/a"),
    ],
)
def test_canonical(html: str, header: str | None, expected: str | None) -> None:
    """One canonical of the head or the Link header counts; two different ones count for nothing (ST-30, ST-33)."""
    assert read(html, headers=[("link", header)] if header else []).canonical == expected


def test_link_header_makes_links() -> None:
    """Links of the Link header stand first and resolve against the page's address, not its base (RFC 8288, 3.2)."""
    found = read(
        "<base href=/b/><a href=x>", headers=[("LINK", "<2>; rel=next"), ("Link", '<de>; rel=alternate; hreflang="de"')]
    )

    assert [(link.url, link.kind) for link in found.links] == [
        ("http://example.com/dir/2", "next"),
        ("http://example.com/dir/de", "alternate"),
        ("http://example.com/b/x", "a"),
    ]
    assert found.alternates == (("de", "http://example.com/dir/de"),)


# Robots (ST-20 to ST-25)


@pytest.mark.parametrize(
    ("html", "headers", "expected"),
    [
        ("", [], (False, False)),
        ("<meta name=robots content='NoIndex'>", [], (True, False)),
        ("<META NAME=ROBOTS CONTENT='index, nofollow'>", [], (False, True)),
        ("<meta name=robots content=none>", [], (True, True)),
        ("<meta name=robots content=all><meta name=robots content=noindex>", [], (True, False)),
        ("<meta name=robots content='noindex nofollow'>", [], (True, True)),
        ("<meta name=Purlieu content=nofollow><meta name=otherbot content=noindex>", [], (False, True)),
        ("<body><p><meta name=robots content=noindex>", [], (False, False)),
        ("<noscript><meta name=robots content=noindex></noscript>", [], (False, False)),
        ("<meta name=robots content='nonoindex, noindexed'>", [], (False, False)),
        ("<meta name=robots content=index>", ["noindex"], (True, False)),
        ("", ["noarchive", "nofollow"], (False, True)),
        ("", ["otherbot: noindex, nofollow"], (False, False)),
        ("", ["otherbot: noindex", "nofollow"], (False, True)),
        ("", ["PURLIEU: noindex"], (True, False)),
        ("", ["otherbot: noindex, purlieu: nofollow"], (False, True)),
        ("", ["unavailable_after: Wednesday, 03-Jun-2026 15:00:00 PST, noindex"], (True, False)),
        ("", ["max-snippet:-1, max-image-preview: large, nofollow"], (False, True)),
    ],
)
def test_robots_rules(html: str, headers: list[str], expected: tuple[bool, bool]) -> None:
    """Rules for all bots and for this one add up, and the negative ones win (ST-20 to ST-22, ST-24)."""
    found = read(html, headers=[("x-robots-tag", value) for value in headers])

    assert (found.noindex, found.nofollow) == expected


# Alternates, language, refresh


def test_alternates_and_language() -> None:
    """Hreflang alternates come in order with absolute hrefs; the language is the html element's."""
    found = read(
        "<html lang=' ja '><link rel=alternate hreflang=en href=en><link rel=alternate hreflang=x-default href=/>"
    )

    assert found.alternates == (("en", "http://example.com/dir/en"), ("x-default", "http://example.com/"))
    assert found.lang == "ja"
    assert read("<html xml:lang=de>").lang == "de"
    assert read("<html lang=''>").lang is None


@pytest.mark.parametrize(
    ("html", "header", "expected"),
    [
        ("<meta http-equiv=refresh content='5; url=x'>", None, (5, "http://example.com/dir/x")),
        ("<meta http-equiv=Refresh content=0>", None, (0, None)),
        ("<base href=/b/><meta http-equiv=refresh content='0;x'>", None, (0, "http://example.com/b/x")),
        (
            "<meta http-equiv=refresh content='x'><meta http-equiv=refresh content='1;a'><meta http-equiv=refresh content='2;b'>",
            None,
            (1, "http://example.com/dir/a"),
        ),
        ("<meta http-equiv=refresh content='1; url=javascript:f()'>", None, None),
        ("<noscript><meta http-equiv=refresh content='0;no'></noscript>", None, None),
        ("<meta http-equiv=refresh content='9;a'>", "3; url=/h", (3, "http://example.com/h")),
        (f"<meta http-equiv=refresh content='{'9' * 10000};a'>", None, (10**9, "http://example.com/dir/a")),
    ],
)
def test_refresh(html: str, header: str | None, expected: tuple[int, str | None] | None) -> None:
    """The header's refresh counts before the page's, the first that is one before later ones (HTML 4.2.5.3)."""
    assert read(html, headers=[("Refresh", header)] if header else []).refresh == expected


def test_refresh_is_a_link() -> None:
    """Where a refresh leads to is a link of its own kind."""
    assert [(link.url, link.kind) for link in read("<meta http-equiv=refresh content='0;url=x'>").links] == [
        ("http://example.com/dir/x", "refresh")
    ]


# Digest


def test_digest_sees_the_main_text_only() -> None:
    """Header, nav, footer, scripts, styles, tags and digits do not change the digest; the main text does (R-9.3)."""
    one = read(
        "<header>H</header><nav>N<nav>N</nav></nav><p>Text of 2024</p><script>1</script><footer>F</footer>"
    ).digest
    two = read("<header>other</header><p class=x>Text\n of <b>2026</b></p><style>x</style><footer>G</footer>").digest

    assert one == two
    assert read("<p>Another text").digest != one
    assert read("<p>Text of 2024").digest == one


@pytest.mark.parametrize(
    ("html", "empty"),
    [
        ("<body><div> \n &nbsp; </div><script>x</script><title>t</title>", True),
        ("<p>404</p>", False),
        ("<nav>menu</nav>", False),
        ("<noscript>needs a script</noscript>", False),
        ("", True),
    ],
)
def test_text_empty(html: str, empty: bool) -> None:
    """A page is empty if no text stands anywhere in it; digits and menus are text."""
    assert read(html).text_empty is empty


# Other types


def test_what_is_no_html_has_no_links() -> None:
    """Of other types only the headers are read, and the digest is the body's."""
    headers = [("Content-Type", "application/pdf"), ("X-Robots-Tag", "noindex"), ("Link", "</c>; rel=canonical")]
    found = page.read(b"<title>x</title><a href=x>", url=HERE, headers=headers)

    assert (found.title, found.encoding, list(found.links)) == (None, None, [])
    assert (found.noindex, found.canonical) == (True, "http://example.com/c")
    assert found.digest != page.read(b"other", url=HERE, headers=headers).digest


def test_no_type_and_xhtml_are_html() -> None:
    """A response without a type is read as HTML, and so is XHTML, which is in UTF-8 unless it says otherwise (AMB-MF-13)."""
    body = b"<title>\xe9</title>"

    assert page.read(body, url=HERE).title == "é"
    assert page.read(body, url=HERE, content_type="application/xhtml+xml").title == "\ufffd"
    assert page.read(body, url=HERE, headers=[("content-type", "text/plain")]).title is None


def test_a_page_needs_an_address() -> None:
    """An address that is no URL is the caller's mistake."""
    with pytest.raises(UrlError):
        page.read(b"", url="no url")


PIECES = (
    *(
        "<a href=",
        "<a href='",
        '<a href="x">',
        "<A\thref=/",
        "</a>",
        ">",
        "<",
        "</",
        '"',
        "'",
        "=",
        "/",
        " ",
        "\n",
        "&",
        "&#",
        "&#x",
        ";",
    ),
    *(
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "<title>",
        "</title>",
        "<svg>",
        "<![CDATA[",
        "]]>",
        "<template>",
        "</template>",
    ),
    *("<noscript>", "<meta charset=", "<meta http-equiv=refresh content='", "<base href=", "<link rel=canonical href="),
    *(
        "http://",
        "//",
        "?",
        "#",
        ":",
        "[",
        "javascript:",
        "\0",
        "\xff",
        "shift_jis",
        "iso-2022-jp",
        "\x1b$B",
        "utf-16",
        "0;",
    ),
)


@given(
    st.one_of(
        st.binary(), st.lists(st.sampled_from(PIECES), max_size=12).map(lambda all_: "".join(all_).encode("latin-1"))
    ),
    st.one_of(st.none(), st.sampled_from(("text/html", "text/html;charset=gb18030", "text/html; charset=euc-jp", "x"))),
    st.lists(st.tuples(st.sampled_from(("link", "refresh", "x-robots-tag", "content-type")), st.text(max_size=30))),
)
def test_nothing_raises_and_links_are_stable(
    body: bytes, content_type: str | None, headers: list[tuple[str, str]]
) -> None:
    """No bytes and no headers raise, and every link parses again to itself."""
    found = page.read(body, url=HERE, content_type=content_type, headers=headers, kinds=page.ALL_KINDS)

    assert [url.parse(link.url).href for link in found.links] == [link.url for link in found.links]
    assert len({(href, kind) for href, kind, _, _ in found.raw_links}) == len(found.raw_links)
