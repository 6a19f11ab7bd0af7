"""Which encoding a page is in, and that titles come out right in each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import page
from purlieu.page import content, encoding
from purlieu.page.label import LABELS

pytestmark = pytest.mark.usefixtures("scanner")

JAPANESE, CHINESE, KOREAN, RUSSIAN = "表示ソ①～－㈱", "中文标题", "한국어 똠방각하", "Заголовок"


@pytest.mark.parametrize(
    ("label", "codec", "title", "name"),
    [
        ("shift_jis", "cp932", JAPANESE, "Shift_JIS"),
        ("x-sjis", "cp932", "ｶﾅ", "Shift_JIS"),
        ("iso-2022-jp", "iso2022_jp", "日本語 ABC 語", "ISO-2022-JP"),
        ("euc-jp", "euc_jp", "表示ソ漢字", "EUC-JP"),
        ("gb2312", "gbk", CHINESE, "GBK"),
        ("gb18030", "gb18030", "中文\U00020000", "gb18030"),
        ("big5", "big5", "繁體中文", "Big5"),
        ("big5-hkscs", "big5hkscs", "香港㗎", "Big5"),
        ("ks_c_5601-1987", "cp949", KOREAN, "EUC-KR"),
        ("koi8-r", "koi8-r", RUSSIAN, "KOI8-R"),
        ("windows-1251", "cp1251", RUSSIAN, "windows-1251"),
        ("iso-8859-1", "cp1252", "“quoted” €", "windows-1252"),
        ("tis-620", "cp874", "ไทย", "windows-874"),
        ("utf8", "utf-8", JAPANESE, "UTF-8"),
        ("utf-16", "utf-16-le", JAPANESE, "UTF-16LE"),
        ("utf-16be", "utf-16-be", JAPANESE, "UTF-16BE"),
    ],
)
def test_titles_in_declared_encodings(label: str, codec: str, title: str, name: str) -> None:
    """Title, heading and text in any encoding that the HTTP header names come out right, under the standard's name."""
    body = f"<title>{title}</title><h1>{title}</h1><main><p>1 {title} 2</p></main>".encode(codec)
    found = page.read(body, url="http://h/", content_type=f'text/html; charset="{label}"')

    assert (found.title, found.encoding) == (title, name)
    kept = content.read(body, name)
    assert kept.headings == ((1, title),)
    assert f"1 {title} 2" in kept.text


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("<p>ü".encode(), "UTF-8"),
        ("<p>日本語".encode()[:-1], "UTF-8"),
        ("<p>ü".encode("latin-1"), "windows-1252"),
        ("<p>日本語".encode("cp932"), "windows-1252"),
        ("<p>ü".encode() + b"\xff", "windows-1252"),
        (b"<p>plain", "windows-1252"),
        (b"<p>\xc0\xaf", "windows-1252"),
        ("<p>ü".encode() + b" " * 2000 + b"<meta charset=koi8-r>", "KOI8-R"),
    ],
    ids=["utf-8", "cut", "latin-1", "shift-jis", "one-wrong", "ascii", "overlong", "late"],
)
def test_a_page_that_does_not_say(body: bytes, name: str) -> None:
    """HTML 13.2.3.2, step 8: octets that are UTF-8 and more than ASCII are taken for it; anything else is windows-1252."""
    assert page.read(body, url="http://h/").encoding == name


@pytest.mark.parametrize(
    ("name", "raw", "text"),
    [
        ("windows-1252", b"\x80\x81\x9f\xa0", "€\x81Ÿ\u00a0"),
        ("windows-1253", b"\xaa\x81", "\ufffd\x81"),
        ("windows-1255", b"\xca", "\u05ba"),
        ("KOI8-U", b"\xae\xbe", "ўЎ"),
        ("EUC-JP", b"\xad\xa1\xa1\xc1\xa1\xdd\xf9\xab\x8e\xb6\x8f\xb0\xa1", "①～－曻ｶ丂"),
        ("EUC-JP", b"\xa1<\x8f\xf3\xa1x", "\ufffd<\ufffdx"),
        ("Shift_JIS", b"\x87\x40\x81\x60\xa0\x80\x81<", "①～\ufffd\x80\ufffd<"),
        ("ISO-2022-JP", b"a\x1b$B-!\x1b(Bb\x1b(I6\x1b(J\\~\x1b(B\\~", "a①bｶ¥‾\\~"),
        ("GBK", b"\x80\xa3\xa0\x81<", "€\u3000\ufffd<"),
        ("gb18030", b"\xa8\xbc\x95\x32\x82\x36", "ḿ\U00020000"),
        ("Big5", b"\xa3\xe1\xa1\x45\xf9\xfe\x81<", "€‧▓\ufffd<"),
        ("EUC-KR", b"\xa2\xe6\x81<", "€\ufffd<"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("replacement", b"<title>x", "\ufffd"),
        ("replacement", b"", ""),
        ("UTF-16LE", b"\xff\xfea\x00\x00\xd8b\x00c", "a\ufffdb\ufffd"),
        ("UTF-8", b"\xef\xbb\xbfa\xf0\x9f\x98b\xc0\xaf", "a\ufffdb\ufffd\ufffd"),
        ("ISO-8859-8-I", b"\xe0", "א"),
        ("macintosh", b"\xdb", "€"),
    ],
)
def test_decoding_where_python_differs(name: str, raw: bytes, text: str) -> None:
    """Bytes decode as the Encoding Standard's indexes say, not as Python's codecs of that name do."""
    assert encoding.decoded(raw, name) == text


@pytest.mark.parametrize(
    ("body", "charset", "name"),
    [
        (b"\xef\xbb\xbf<meta charset=koi8-r>", "gbk", "UTF-8"),
        (b"\xfe\xff", "utf-8", "UTF-16BE"),
        (b"<meta charset=koi8-r>", "gbk", "GBK"),
        (b"<meta charset=koi8-r>", "no such", "KOI8-R"),
        (b"<meta charset=utf-16>", None, "UTF-8"),
        (b"<meta charset=x-user-defined>", None, "windows-1252"),
        (b"<meta charset=' UTF-8 '>", None, "UTF-8"),
        (b"<META/HTTP-EQUIV=Content-Type CONTENT='text/html; charset = \"gbk\"'>", None, "GBK"),
        (b"<meta content='charset=gbk'>", None, None),
        (b"<meta http-equiv=content-type content='x' charset=gbk>", None, "GBK"),
        (b"<meta charset=nope><meta charset=gbk>", None, "GBK"),
        (b"<!-- <meta charset=gbk> --><meta charset=big5>", None, "Big5"),
        (b"<!--><meta charset=big5>", None, "Big5"),
        (b"<p title='<meta charset=gbk>'><meta charset=big5>", None, "Big5"),
        (b"<?x ><!x></ x><meta charset=big5>", None, "Big5"),
        (b'<p a="<meta charset=gbk>', None, None),
        (b"<metax charset=gbk>", None, None),
        (b"x" * 1024 + b"<meta charset=gbk>", None, None),
        (b"<?xml version='1.0' encoding=\"euc-jp\"?>", None, "EUC-JP"),
        (b"<\0?\0x\0", None, "UTF-16LE"),
        (b"\0<\0?\0x", None, "UTF-16BE"),
        (b"", None, None),
    ],
)
def test_declared(body: bytes, charset: str | None, name: str | None) -> None:
    """The byte order mark counts first, then HTTP, then what the first 1,024 bytes declare (HTML 13.2.3.2)."""
    assert encoding.declared(body, charset) == name


def test_a_late_declaration_counts() -> None:
    """A meta element beyond the prescan still changes the encoding of a page that declared none (HTML 13.2.3.4)."""
    body = b"<!--" + b"x" * 2000 + b"--><meta charset=shift_jis><title>" + "題".encode("cp932")

    assert (page.read(body, url="http://h/").title, page.read(body, url="http://h/").encoding) == ("題", "Shift_JIS")
    assert page.read(body, url="http://h/", content_type="text/html;charset=gbk").encoding == "GBK"


@given(st.binary(), st.sampled_from(sorted(set(LABELS.values()))))
def test_any_bytes_decode(body: bytes, name: str) -> None:
    """Every encoding decodes every sequence of bytes, to characters that can be written again."""
    encoding.decoded(body, name).encode()


@given(
    st.lists(
        st.sampled_from(
            (
                b"<meta ",
                b"charset=",
                b"gbk",
                b"'",
                b'"',
                b">",
                b"/",
                b" ",
                b"<!--",
                b"-->",
                b"<",
                b"=",
                b"http-equiv=",
                b"content",
            )
        )
    ).map(b"".join)
)
def test_any_prescan_ends(head: bytes) -> None:
    """The prescan ends on any bytes, with a name of the standard or none."""
    assert encoding.prescan(head) in {None, "GBK"}
