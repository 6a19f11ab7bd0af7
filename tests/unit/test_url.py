"""URLs: the rules of url.py, by example and by property."""

from __future__ import annotations

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from purlieu import url
from purlieu.errors import UrlError

BASE = "https://docs.example/3/library/index.html?q=1"


def by_the_standard(text: str, base: str) -> str | None:
    """Return what ada-url, right on every case of the standard's suite, says; without fragment."""
    try:
        return ada_url.join_url(base, text).partition("#")[0]
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://EX.com:80/a/../b?q#f", ("http://ex.com/b?q", "f", "http", "ex.com", None, "/b", "q", "http://ex.com")),
        (
            "https://u:p@ex.com:81?#",
            ("https://u:p@ex.com:81/?", "", "https", "ex.com", 81, "/", "", "https://ex.com:81"),
        ),
        ("http://[::0:1]:8080/", ("http://[::1]:8080/", None, "http", "[::1]", 8080, "/", None, "http://[::1]:8080")),
        ("mailto:x@y?subject=z", ("mailto:x@y?subject=z", None, "mailto", "", None, "x@y", "subject=z", "null")),
        ("foo://H:1?x", ("foo://H:1?x", None, "foo", "H", 1, "", "x", "null")),
        ("foo:/.//x", ("foo:/.//x", None, "foo", "", None, "//x", None, "null")),
        ("wss://h:443/", ("wss://h/", None, "wss", "h", None, "/", None, "wss://h")),
    ],
)
def test_parts(text: str, expected: tuple[object, ...]) -> None:
    """A URL is given in the standard's serialisation without fragment, cut into its parts (house 5, UF-21, UF-22)."""
    got = url.parse(text)

    href = expected[0]
    assert expected == (got.href, got.fragment, got.scheme, got.host, got.port, got.path, got.query, got.origin)
    assert href == got.key == str(got)


@pytest.mark.parametrize("text", ["", "x", "/x", "http://", "http://a b/", "http://h:99999/", "http://\ud800/", "\0"])
def test_no_url(text: str) -> None:
    """What is no URL raises UrlError with the value and what to write instead, in printable text."""
    with pytest.raises(UrlError, match="write it whole") as caught:
        url.parse(text)

    assert str(caught.value).encode()


def test_base_may_be_parsed_or_text() -> None:
    """A base may be a text or a Url; a base that is no URL is an error of its own."""
    assert url.parse("../x", BASE) == url.parse("../x", url.parse(BASE))
    assert url.parse("../x", BASE).href == "https://docs.example/3/x"
    with pytest.raises(UrlError):
        url.parse("x", "nothing")
    with pytest.raises(UrlError, match="against"):
        url.parse("x", "mailto:x")


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("../whatsnew/#new", "https://docs.example/3/whatsnew/"),
        ("", BASE),
        ("#f", BASE),
        ("?x", "https://docs.example/3/library/index.html?x"),
        ("//other.example:443\\a", "https://other.example/a"),
        (" \thttp:\n//A/ ", "http://a/"),
        ("mailto:x@y", "mailto:x@y"),
        ("javascript:void(0)", "javascript:void(0)"),
        ("http://h:99999/", None),
        ("a^b", "https://docs.example/3/library/a%5Eb"),
        ("C:/../x", "c:/x"),
        ("/C:/../x", "https://docs.example/x"),
        ("C|/../x", "https://docs.example/3/library/x"),
        ("https:///host/path", "https://host/path"),
        ("//xn--a/", "https://xn--a/"),
        ("//h/\ud83d\ude00\ud800", "https://h/%F0%9F%98%80%EF%BF%BD"),
        ("\0", BASE),
        ("a\0b", "https://docs.example/3/library/a%00b"),
    ],
)
def test_join(ref: str, expected: str | None) -> None:
    """A link becomes an absolute href without fragment, None if it is no URL, whichever library answers (house 8)."""
    assert expected == url.Joiner(BASE)(ref)


@pytest.mark.parametrize("base", ["about:blank", "data:,x", "foo://h/a/b", "file:///C:/x", "http://xn--a/b/c"])
def test_join_to_other_bases(base: str) -> None:
    """A base of any scheme, or of a host that only ada-url takes, joins as the standard says."""
    joiner = url.Joiner(base)

    for ref in ("x", "/y", "..", "#f", "http://h/", "//k/^"):
        assert by_the_standard(ref, base) == joiner(ref)


@given(ref=strategies.junk, base=strategies.hrefs())
def test_join_is_the_standard(ref: str, base: str) -> None:
    """For every http(s) base and any text, joining gives what the standard gives, and never raises."""
    scalar = ref.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    assert by_the_standard(scalar, url.parse(base).href) == url.Joiner(base)(ref)


@given(ref=strategies.junk)
def test_parsing_twice_changes_nothing(ref: str) -> None:
    """What parse gives is a fixed point of parse, and equals what the Joiner gives."""
    href = url.Joiner(BASE)(ref)
    if href is None:
        with pytest.raises(UrlError):
            url.parse(ref, BASE)
        return

    once = url.parse(ref, BASE)
    assert href == once.href
    again = url.parse(href)
    assert (href, None) == (again.href, again.fragment)
    assert (once.host, once.port, once.path, once.query) == (again.host, again.port, again.path, again.query)


@given(href=st.one_of(strategies.hrefs(), strategies.junk))
def test_slices_agree_with_the_parser(href: str) -> None:
    """host_of and origin_of, which only slice, say what the parser says for http(s) and nothing for the rest."""
    try:
        parsed = url.parse(href)
    except UrlError:
        return

    web = parsed.scheme in {"http", "https"}
    assert (parsed.host if web else "") == url.host_of(parsed.href)
    assert (parsed.origin if web else "null") == url.origin_of(parsed.href)


@pytest.mark.parametrize("text", ["x", "http://h", "http:/", "https:", "", "http://", "HTTP://h/"])
def test_slices_take_any_text(text: str) -> None:
    """Slicing a text that was never serialised gives something harmless, not an error."""
    assert isinstance(url.host_of(text), str)
    assert isinstance(url.origin_of(text), str)


def test_key64() -> None:
    """The hash of a key is the first 64 bits of BLAKE2b read as a signed big-endian number, the same on every machine."""
    assert url.key64("http://example.com/") == -350646258024731386
    assert url.key64("\ud800") != url.key64("\ud801")
    assert all(-(2**63) <= url.key64(str(number)) < 2**63 for number in range(100))
    assert len({url.key64(str(number)) for number in range(1000)}) == 1000


@pytest.mark.parametrize(
    ("encoding", "ref", "expected"),
    [
        ("utf-8", "/日?日", "http://h/%E6%97%A5?%E6%97%A5"),
        ("utf-16le", "?日", "http://h/?%E6%97%A5"),
        ("no-such-encoding", "?日", "http://h/?%E6%97%A5"),
        ("shift_jis", "/日?日é'#日", "http://h/%E6%97%A5?%93%FA%26%23233%3B%27"),
        ("Shift_JIS", "\t ?\n日 ", "http://h/?%93%FA"),
        ("shift_jis", "mailto:x?日", "mailto:x?%E6%97%A5"),
        ("shift_jis", "http://日:99999/?日", None),
        ("euc-jp", "?髙①日ｱ‾", "http://h/?%FC%E2%AD%A1%C6%FC%8E%B1~"),
        (
            "iso-2022-jp",
            "?日a\x1bｱ‾a\\é日",
            "http://h/?%1B$BF|%1B(Ba%26%2365533%3B%1B$B%%22%1B(J~a%1B(B\\%26%23233%3B%1B$BF|%1B(B",
        ),
        ("shift_jis", "?髙﨑①～", "http://h/?%FB%FC%FA%B1%87@%81`"),
        ("iso-2022-jp", "?日é日", "http://h/?%1B$BF|%1B(B%26%23233%3B%1B$BF|%1B(B"),
        ("gbk", "?€中😀", "http://h/?%80%D6%D0%26%23128512%3B"),
        ("gb18030", "?€中😀", "http://h/?%A2%E3%D6%D0%949%FC6"),
        ("big5", "?中", "http://h/?%A4%A4"),
        ("euc-kr", "?한똠", "http://h/?%C7%D1%8Cc"),
        ("windows-1251", "?я€中", "http://h/?%FF%88%26%2320013%3B"),
    ],
)
def test_query_encoding(encoding: str, ref: str, expected: str | None) -> None:
    """The query of an http(s) link, and nothing else, is encoded as its page is (URL Standard, query state)."""
    assert expected == url.Joiner("http://h/", encoding)(ref)


@given(ref=strategies.junk, encoding=st.sampled_from(("euc-jp", "iso-2022-jp", "shift_jis", "gbk", "big5", "koi8-r")))
def test_query_encoding_touches_only_the_query(ref: str, encoding: str) -> None:
    """In any encoding, joining never raises and only the query differs from UTF-8's."""
    plain, encoded = url.Joiner(BASE)(ref), url.Joiner(BASE, encoding)(ref)

    assert (plain or "").partition("?")[:2] == (encoded or "").partition("?")[:2]
    if encoded is not None:
        assert encoded == url.parse(encoded).href


@pytest.mark.parametrize(
    "text",
    [
        "a." * 500_000,
        "\u00fc" * 1_000_000,
        "xn--" + "b9a" * 300_000,
        "[" + "1:" * 500_000 + "]",
        "a@" * 500_000,
        "x/" + "a/" * 300_000 + "../" * 300_000,
        "\ud800" * 300_000,
        "x/?" + "\u65e5\ud800" * 300_000,
    ],
)
def test_megabytes_end(text: str) -> None:
    """A link of a megabyte ends in time that grows with its length, and raises nothing (house: the web is hostile)."""
    for joiner in (url.Joiner(BASE), url.Joiner(BASE, "euc-jp")):
        href = joiner("http://" + text)
        assert href is None or href.startswith("http://")
