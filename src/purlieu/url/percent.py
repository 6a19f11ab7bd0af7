"""Percent-encoding of a link's query in the encoding of its page.

Knows the encoders of the Encoding Standard as far as Python's codecs can be made to agree with them.
Knows nothing of URLs: ``url.Joiner`` says which text is a query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from unicodedata import normalize

# WHATWG encoding name -> Python codec. Absent names encode as UTF-8 (Encoding Standard 4.3, get an output encoding).
_CODECS = {
    "big5": "big5hkscs",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "gbk": "gbk",
    "ibm866": "cp866",
    "iso-8859-8-i": "iso8859_8",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{page}": f"cp{page}" for page in range(1250, 1259)},
}
# Where the standard's encoder and the codec part: what is written instead, None for "not in this encoding".
_ROMAN_ONLY = {"\u00a5": b"\\", "\u203e": b"~"}
_APART: dict[str, dict[str, bytes | None]] = {
    "gb18030": {"\ue5e5": None},
    "gbk": {"\ue5e5": None, "\u20ac": b"\x80"},
    "shift_jis": {"\u2212": b"\x81\x7c", **_ROMAN_ONLY},
}
_BIG5_UNWRITTEN = range(0x81, 0xA1)  # the standard's Big5 reads the Hong Kong rows here, and never writes them
# The special-query percent-encode set (URL Standard 1.3), as one text for each byte.
_BYTES = [f"%{n:02X}" if n not in range(0x21, 0x7F) or chr(n) in "\"#<>'" else chr(n) for n in range(256)]


@cache
def encoder(encoding: str) -> Callable[[str], str] | None:
    """Return the function that percent-encodes a query in the WHATWG-named encoding; None where that is UTF-8.

    A character that the encoding lacks becomes ``&#N;``, percent-encoded (URL Standard 1.3, percent-encode
    after encoding).
    """
    if encoding == "iso-2022-jp":
        return _in_iso_2022_jp
    if encoding in {"euc-jp", "shift_jis"}:
        return partial(_encoded, _in_euc_jp if encoding == "euc-jp" else _in_shift_jis)
    if encoding in _CODECS:
        return partial(_encoded, partial(_by_codec, encoding))
    return None


def _encoded(encode: Callable[[str], bytes | None], query: str) -> str:
    table = {char: _percent(char, encode(char)) for char in set(query)}
    return "".join([table[char] for char in query])


def _percent(char: str, encoded: bytes | None) -> str:
    return f"%26%23{ord(char)}%3B" if encoded is None else "".join([_BYTES[byte] for byte in encoded])


def _by_codec(encoding: str, char: str) -> bytes | None:
    apart = _APART.get(encoding, {})
    if char in apart:
        return apart[char]
    try:
        encoded = char.encode(_CODECS[encoding])
    except UnicodeEncodeError:
        return None
    return None if encoding == "big5" and encoded[0] in _BIG5_UNWRITTEN else encoded


def _in_shift_jis(char: str) -> bytes | None:
    """Write IBM's rows (from FA40 on) where Python writes the same characters in NEC's copy of them."""
    encoded = _by_codec("shift_jis", char)
    return _ibm_rows()[char] if encoded and encoded[0] in _NEC_LEADS else encoded


@cache
def _ibm_rows() -> dict[str, bytes]:
    pairs = [bytes((lead, trail)) for lead in (0xFA, 0xFB, 0xFC) for trail in _TRAILS]
    return {char: pair for pair in pairs if (char := pair.decode("cp932", "ignore"))}


_NEC_LEADS = (0xED, 0xEE)
_TABLE_LEADS = (*range(0x81, 0xA0), *range(0xE0, 0xF0))
_TRAILS = (*range(0x40, 0x7F), *range(0x80, 0xFD))


def _in_euc_jp(char: str) -> bytes | None:
    if char < "\x80":
        return char.encode()
    if char in _ROMAN_ONLY:
        return _ROMAN_ONLY[char]
    if _is_half_width(char):
        return bytes((0x8E, ord(char) - 0xFF61 + 0xA1))
    pair = _jis(char)
    return pair and bytes((pair[0] | 0x80, pair[1] | 0x80))


def _in_iso_2022_jp(query: str) -> str:
    """Write an escape only where the character set changes (Encoding Standard 12.2.2)."""
    parts, state = [], _ASCII
    for char in query:
        wanted, text = _in_7_bits(char)
        if wanted is None:  # lacking: written in the state that is, but never amid two-byte characters
            wanted = _ASCII if state == _KANJI else state
        elif wanted == _ASCII and state == _ROMAN and char not in "\\~":
            wanted = _ROMAN
        if wanted != state:
            parts.append(f"%1B{wanted}")
            state = wanted
        parts.append(text)
    return "".join(parts) + ("" if state == _ASCII else f"%1B{_ASCII}")


_ASCII, _ROMAN, _KANJI = "(B", "(J", "$B"


def _in_7_bits(char: str) -> tuple[str | None, str]:
    """Return the character set that holds a character (None: none does) and its text there."""
    if char in "\x0e\x0f\x1b":
        return None, _percent("\ufffd", None)
    if char < "\x80":
        return _ASCII, _BYTES[ord(char)]
    if char in _ROMAN_ONLY:
        return _ROMAN, _percent(char, _ROMAN_ONLY[char])
    if _is_half_width(char):
        char = normalize("NFKC", char).translate({0x3099: 0x309B, 0x309A: 0x309C})
    pair = _jis(char)
    return (_KANJI if pair else None), _percent(char, pair)


def _is_half_width(char: str) -> bool:
    return "\uff61" <= char <= "\uff9f"


def _jis(char: str) -> bytes | None:
    """Return the JIS X 0208 row and cell (as 7-bit bytes) in the standard's index, read off Shift_JIS."""
    pair = _by_codec("shift_jis", char)
    if pair is None or len(pair) == 1 or pair[0] not in _TABLE_LEADS:
        return None
    row, cell = _TABLE_LEADS.index(pair[0]) * 2, _TRAILS.index(pair[1])
    return bytes((0x21 + row + cell // 94, 0x21 + cell % 94))
