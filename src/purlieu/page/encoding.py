"""Which encoding a page is in, and its text: the WHATWG Encoding Standard and HTML 13.2.3 (sniffing).

Knows labels, byte order marks, the prescan for ``<meta charset>`` and how Python's codecs differ from
the standard's. Knows nothing of links or titles. No bytes raise: what does not decode becomes U+FFFD.
"""

from __future__ import annotations

import codecs
import re
from functools import cache, lru_cache

from purlieu import late
from purlieu.page.label import CODECS, LABELS

PRESCAN_BYTES = 1024  # HTML 13.2.3.2
UTF_8_MARK = b"\xef\xbb\xbf"
_BOMS = ((UTF_8_MARK, "UTF-8"), (b"\xfe\xff", "UTF-16BE"), (b"\xff\xfe", "UTF-16LE"))
_UTF_8_MARK_BEGINS = b"\xef"  # the least byte that a mark begins with
_WS = rb"\t\n\f\r "
_ATTRIBUTE = late.pattern(
    rb"[" + _WS + rb"/]*([^" + _WS + rb"/>][^" + _WS + rb"/>=]*)"
    rb"(?:[" + _WS + rb"]*=[" + _WS + rb"]*(?:\"([^\"]*)\"|'([^']*)'|(?![\"'])([^" + _WS + rb">]*)))?",
)
_TAG = late.pattern(rb"</?[a-zA-Z][^" + _WS + rb">]*")
_META = late.pattern(rb"<meta[" + _WS + rb"/]", re.IGNORECASE)
_CONTENT_CHARSET = late.pattern(
    r"charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:\"([^\"]*)\"|'([^']*)'|([^\"'\t\n\f\r ;][^\t\n\f\r ;]*))", re.IGNORECASE
)
# How nine of ten pages begin, up to a known label in the usual spelling: found at once what the prescan finds.
_USUAL_TAG = (
    rb"<(?:!(?!--)[^>]*+|\?[^>]*+|/?(?![mM][eE][tT][aA][\t\n\f\r /])[a-zA-Z][a-zA-Z0-9]*+"
    rb"(?: [a-z:-]++=\"[^\"]*+\")*+ ?/?)>"
)
_OTHER_META = rb"<meta(?: (?!charset|http-equiv)[a-z:-]++=\"[^\"]*+\")++ ?/?>"
_USUAL_HEAD = late.pattern(
    rb"(?:[^<]*+(?:" + _USUAL_TAG + rb"|" + _OTHER_META + rb"))*+[^<]*+<meta (?:charset=\"(utf-8|UTF-8)\""
    rb"|http-equiv=\"[cC]ontent-[tT]ype\" content=\"text/html; *charset=(utf-8|UTF-8)\") ?/?>"
)
_XML_ENCODING = late.pattern(rb"encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\x00-\x20\"]*)\"|'([^\x00-\x20']*)')")


def named(label: str | None) -> str | None:
    """Return the standard's name of an encoding label (``latin1`` is ``windows-1252``), None for an unknown one."""
    return LABELS.get(label.strip("\t\n\f\r ").lower()) if label else None


def declared(body: bytes, charset: str | None) -> str | None:
    """Return the name of the encoding a page says it is in, None if it does not say.

    The byte order mark counts first, then HTTP's charset, then what the prescan finds.
    """
    if body[:1] >= _UTF_8_MARK_BEGINS:
        for mark, name in _BOMS:
            if body.startswith(mark):
                return name
    return named(charset) or prescan(body[:PRESCAN_BYTES])


def assumed(body: bytes) -> str:
    """Return the name of the encoding of a page that does not say: UTF-8 where its octets show that, else windows-1252.

    Text of another encoding hardly ever follows UTF-8's pattern (HTML 13.2.3.2, step 8). A body may be cut anywhere.
    """
    if body.isascii():
        return "windows-1252"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return "windows-1252"
    return "UTF-8"


def as_declared(label: str | None) -> str | None:
    """Return the name of the encoding that a label inside a page means.

    A declaration that could be read is in an encoding that extends ASCII (HTML 13.2.3.2, last steps).
    """
    name = named(label)
    if name in {"UTF-16BE", "UTF-16LE"}:
        return "UTF-8"
    return "windows-1252" if name == "x-user-defined" else name


def decoded(body: bytes, name: str) -> str:
    """Return the text of a body without its byte order mark; ``name`` is one that ``named`` gives."""
    for mark, marked in _BOMS:
        if marked == name and body.startswith(mark):
            body = body[len(mark) :]
    if name == "replacement":
        return "\ufffd" if body else ""
    if name == "ISO-2022-JP":
        return _iso_2022_jp(body)
    if name not in CODECS:
        return codecs.charmap_decode(body, "replace", _single_byte(name))[0]
    text = body.decode(*CODECS[name])
    if name in _REREAD:
        suspects, table = _REREAD[name]
        if suspects.search(text):
            return text.translate(table)
    return text


_XML_STARTS = (b"<?xml", b"<\0?\0x\0", b"\0<\0?\0x")


def prescan(head: bytes) -> str | None:
    """Return what the first bytes declare in ``<meta>`` or an XML declaration, None if nothing (HTML 13.2.3.2)."""
    at = head.find(b"charset")
    if at > 0 and (name := _usual(head[: head.find(b">", at) + 1])):
        return name
    if at < 0 and b"charset" not in head.lower() and not head.startswith(_XML_STARTS):
        return None  # no meta element can declare anything; the steps would take 0.2 ms to say so
    return _usual.__wrapped__(head) or prescan_by_steps(head)


@lru_cache(maxsize=64)  # page after page of a site begins the same
def _usual(head: bytes) -> str | None:
    """Return what a head declares whose spelling up to there is the usual one: what comes after does not matter."""
    usual = _USUAL_HEAD.match(head)
    return as_declared(usual[usual.lastindex or 0].decode()) if usual else None


def prescan_by_steps(head: bytes) -> str | None:
    """Return what ``prescan`` does, by the steps of HTML 13.2.3.2."""
    if head.startswith(b"<\0?\0x\0"):
        return "UTF-16LE"
    if head.startswith(b"\0<\0?\0x"):
        return "UTF-16BE"
    at = head.find(b"<")
    while 0 <= at < len(head):
        if head.startswith(b"<!--", at):
            end = head.find(b"-->", at + 2)
            at = -1 if end < 0 else end + 3
        elif tag := _TAG.match(head, at):
            meta = _META.match(head, at)
            attributes, at = _attributes(head, meta.end() - 1 if meta else tag.end())
            if meta and at >= 0 and (name := _in_meta(attributes)):
                return name
        elif head[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = head.find(b">", at)
        else:
            at += 1
        at = head.find(b"<", at) if at >= 0 else -1
    return _xml_declared(head)


def _attributes(head: bytes, at: int) -> tuple[dict[str, str], int]:
    """Read attributes up to the end of the tag; the position is -1 when the bytes end before it does."""
    found: dict[str, str] = {}
    while match := _ATTRIBUTE.match(head, at):
        at = match.end()
        if at == len(head):
            return found, -1
        name, *values = (part.decode("latin-1").lower() if part else "" for part in match.groups())
        found.setdefault(name, "".join(values))
        if head[at] == 0x3D and match.group(2, 3, 4) == (None, None, None):
            return found, -1  # a quote that does not close
    while at < len(head) and head[at] in b"\t\n\f\r /":
        at += 1
    return found, at if at < len(head) else -1


def _in_meta(attributes: dict[str, str]) -> str | None:
    if "charset" in attributes:
        return as_declared(attributes["charset"])
    if attributes.get("http-equiv") == "content-type":
        return as_declared(charset_in(attributes.get("content", "")))
    return None


def charset_in(content: str) -> str | None:
    """Return the label after ``charset=`` in a meta element's content, None if there is none (HTML 2.5.4)."""
    found = _CONTENT_CHARSET.search(content)
    return next((group for group in found.groups() if group is not None), None) if found else None


def _xml_declared(head: bytes) -> str | None:
    if not head.startswith(b"<?xml"):
        return None
    end = head.find(b">")
    found = _XML_ENCODING.search(head, 0, end) if end > 0 else None
    return as_declared((found[1] or found[2] or b"").decode("latin-1")) if found else None


@cache
def _single_byte(name: str) -> str:
    """Return the 256 characters of a single-byte encoding; U+FFFE marks a byte that has none."""
    if name == "x-user-defined":
        return "".join(chr(byte if byte < 0x80 else 0xF700 + byte) for byte in range(256))
    table = [bytes([byte]).decode(_PYTHON_NAMES.get(name, name), "replace") for byte in range(256)]
    for byte in range(0x80, 0xA0):
        if table[byte] == "\ufffd":
            table[byte] = chr(byte)  # the standard lets the C1 controls through
    for byte, character in _PATCHES.get(name, {}).items():
        table[byte] = character
    return "".join(table).replace("\ufffd", "\ufffe")


_PYTHON_NAMES = {"windows-874": "cp874", "x-mac-cyrillic": "mac_cyrillic", "macintosh": "mac_roman", "IBM866": "cp866"}
_PYTHON_NAMES["ISO-8859-8-I"] = "iso8859-8"
_PATCHES = {"KOI8-U": {0xAE: "\u045e", 0xBE: "\u040e"}, "windows-1255": {0xCA: "\u05ba"}}


def _reread(python: str, standard: str) -> tuple[re.Pattern[str], dict[int, int]]:
    """Return how to find and replace the characters that Python's codec reads otherwise than the standard's index."""
    return late.pattern(f"[{python}]"), str.maketrans(python, standard)


_GB = _reread(  # code points that came into Unicode after GB 18030-2000
    "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f"
    "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)
_REREAD = {
    # JIS X 0208 as Microsoft reads it, also in EUC-JP (index jis0208)
    "EUC-JP": _reread("\u301c\u2016\u2212\u00a2\u00a3\u00ac\u2014", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2\u2015"),
    "Shift_JIS": _reread("\uf8f0\uf8f1\uf8f2\uf8f3", "\ufffd\ufffd\ufffd\ufffd"),  # 0xA0, 0xFD to 0xFF are errors
    "Big5": _reread(
        "\u2022\uff64\u203e\u223c\u2641\u2609\u00a5\u00a2\u00a3\uffed",
        "\u2027\ufe51\u00af\uff5e\u2295\u2299\uffe5\uffe0\uffe1\u2593",
    ),
    "GBK": _GB,
    "gb18030": _GB,
}
_ESCAPE = late.pattern(rb"\x1b(\$[@B]|\([BJI])")
_HIGH = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))


def _iso_2022_jp(body: bytes) -> str:
    """Decode by the escape sequences, each stretch as EUC-JP or half-width katakana."""
    pieces = _ESCAPE.split(body)
    text = [pieces[0].decode("ascii", "replace")]
    for escape, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if escape.startswith(b"$"):
            text.append(decoded(piece.translate(_HIGH), "EUC-JP"))
        elif escape == b"(I":
            text.append(piece.translate(_HIGH).decode("cp932", "replace"))
        elif escape == b"(J":  # JIS X 0201 Roman
            text.append(piece.decode("ascii", "replace").replace("\\", "\u00a5").replace("~", "\u203e"))
        else:
            text.append(piece.decode("ascii", "replace"))
    return "".join(text)


def _euc_jp_rest(error: UnicodeError) -> tuple[str, int]:
    """Read the NEC and IBM rows, which the standard has and Python's euc_jp has not, through Shift_JIS."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    pair = error.object[error.start : error.start + 2]
    if len(pair) == 2 and min(pair) >= 0xA1 and max(pair) < 0xFF:
        row, cell = pair[0] - 0xA1, pair[1] - 0xA1
        lead, trail = row // 2, cell + (94 if row % 2 else 0)
        moved = bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
        return moved.decode("cp932", "replace")[:1], error.start + 2
    triple = error.object[error.start : error.start + 3]
    if len(triple) == 3 and triple[0] == 0x8F and min(triple[1:]) >= 0xA1:
        return "\ufffd", error.start + 3
    return "\ufffd", error.end


def _gb18030_rest(error: UnicodeError) -> tuple[str, int]:
    """Read a lone 0x80 as the euro sign (Encoding Standard 10.2.1)."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return ("\u20ac" if error.object[error.start] == 0x80 else "\ufffd"), error.start + 1


def _big5_rest(error: UnicodeError) -> tuple[str, int]:
    """Read the euro sign, which Python's big5hkscs has not."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if error.object[error.start : error.start + 2] == b"\xa3\xe1":
        return "\u20ac", error.start + 2
    return "\ufffd", error.end


codecs.register_error("purlieu-big5", _big5_rest)
codecs.register_error("purlieu-euc-jp", _euc_jp_rest)
codecs.register_error("purlieu-gb18030", _gb18030_rest)
