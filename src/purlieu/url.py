"""What a URL is: parse, join, serialise and key it by the WHATWG standard.

Knows only the text of URLs. Knows no scope, no host history, no page: whether a URL
may be fetched is asked elsewhere. Two libraries answer: url-py (fast) and, for what
url-py refuses or is known to serialise otherwise than the standard, ada-url (right
on all cases of the standard's own suite, five times slower).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import groupby
from struct import Struct
from typing import TYPE_CHECKING

import url as _rust

from purlieu.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_HTTP = ("http://", "https://")
_WITH_ORIGIN = frozenset({"http", "https", "ws", "wss", "ftp"})  # URL Standard 4.7; blob: is 'null' here
_REFUSED = (_rust.URLError, UnicodeEncodeError)
_signed64 = Struct(">q").unpack


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed URL. ``href`` is its WHATWG serialisation without fragment.

    ``host`` is '' when there is none (IPv6 in brackets); ``port`` is None when absent or the
    scheme's default; ``query`` and ``fragment`` come without their mark, None when absent;
    ``origin`` is ``null`` for schemes without one; ``key`` is what makes two URLs the same.
    """

    href: str
    fragment: str | None
    scheme: str
    host: str
    port: int | None
    path: str
    query: str | None
    origin: str
    key: str

    def __str__(self) -> str:
        """Return the href."""
        return self.href


def parse(text: str, base: str | Url | None = None) -> Url:
    """Return the URL that ``text`` means, read against ``base`` when it is relative.

    Any scheme parses (URL Standard 4.4). Raises UrlError, and nothing else, for what is no URL.
    """
    if isinstance(base, str):
        base = parse(base)
    whole = _serialise(text, base.href if base else None)
    if whole is None:
        against = f' (against "{base.href[:200]}")' if base else ""
        message = f'"{text[:200]!s}" is no URL{against}: write it whole, like https://example.com/path'
        raise UrlError(message)
    return _cut_up(whole)


def host_of(href: str) -> str:
    """Return the host of a serialised http or https href (IPv6 in brackets), '' for any other."""
    if not href.startswith(_HTTP):
        return ""
    authority = href.split("/", 3)[2]
    if "@" in authority:
        authority = authority.rpartition("@")[2]
    if ":" in authority and authority[-1] != "]":
        authority = authority.rpartition(":")[0]
    return authority


def origin_of(href: str) -> str:
    """Return ``scheme://host[:port]`` of a serialised http or https href, ``null`` for any other."""
    if not href.startswith(_HTTP):
        return "null"
    scheme, _, authority = href.split("/", 3)[:3]
    if "@" in authority:
        authority = authority.rpartition("@")[2]
    return f"{scheme}//{authority}"


def key64(key: str) -> int:
    """Return the signed 64-bit hash of a ``Url.key`` under which the store keeps it (R-1.2)."""
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int(_signed64(digest)[0])


class Joiner:
    """Turns a page's link texts into absolute hrefs; the base is parsed once.

    ``encoding`` is the WHATWG name of the page's encoding: browsers encode the query of an
    http(s) link in it (URL Standard, query state). Raises UrlError when the base is no URL.
    """

    __slots__ = ("_base", "_encode", "_join", "_stateful")

    def __init__(self, base: str | Url, encoding: str = "utf-8") -> None:
        """Parse the base; ``encoding`` unknown or UTF-8, UTF-16: queries are UTF-8."""
        self._base = base.href if isinstance(base, Url) else parse(base).href
        self._join: Callable[[str], object] = _no_join
        if self._base.startswith(_HTTP):
            try:
                self._join = _rust.URL.parse(self._base).join
            except _REFUSED:  # a host that only ada-url takes
                self._join = _no_join
        self._encode = _encoder(encoding.lower())
        self._stateful = encoding.lower() == "iso-2022-jp"  # its escapes are ASCII: looked at even in ASCII links

    def __call__(self, ref: str) -> str | None:
        """Return the absolute href without fragment, None if ``ref`` is no URL."""
        if self._encode is not None and (self._stateful or not ref.isascii()):
            ref = self._requeried(ref)
        try:
            href = str(self._join(ref))
        except _REFUSED:
            return _without_fragment(_by_ada(ref, self._base))
        if "^" in href or not href.startswith(_HTTP):  # where url-py and the standard part
            return _without_fragment(_by_ada(ref, self._base))
        if "#" in href:
            return href[: href.index("#")]
        return href

    def many(self, refs: Iterable[str]) -> list[str | None]:
        """Return ``[self(ref) for ref in refs]``."""
        return [self(ref) for ref in refs]

    def _requeried(self, ref: str) -> str:
        """Percent-encode the query of a reference in the page's encoding, if it makes an http(s) URL."""
        whole = _serialise(ref, self._base)
        if self._encode is None or whole is None or not whole.startswith(_HTTP):
            return ref
        clean = ref.translate(_DROPPED).strip(_TRIMMED)
        head, mark, query = clean.partition("#")[0].partition("?")
        return head + mark + self._encode(query)


_TRIMMED = "".join(map(chr, range(0x21)))
_DROPPED = {0x09: None, 0x0A: None, 0x0D: None}


def _no_join(ref: str) -> object:
    """Refuse, so that ada-url is asked."""
    raise _rust.URLError(ref)


def _serialise(text: str, base: str | None) -> str | None:
    """Return the whole serialised URL, fragment included, None if it is none."""
    try:
        if base is None:
            whole = str(_rust.URL.parse(text))
        elif base.startswith(_HTTP):
            whole = str(_rust.URL.parse(base).join(text))
        else:
            return _by_ada(text, base)
    except _REFUSED:
        return _by_ada(text, base)
    if "^" in whole or not whole.startswith(_HTTP):
        return _by_ada(text, base)
    return whole


def _by_ada(text: str, base: str | None) -> str | None:
    import ada_url  # noqa: PLC0415  20 ms of start-up, and few crawls need it before their first request

    if not text.isascii():  # lone surrogates become U+FFFD, pairs one character (Infra Standard, scalar values)
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    try:
        return str(ada_url.join_url(base, text) if base is not None else ada_url.normalize_url(text))
    except ValueError:
        return None


def _without_fragment(whole: str | None) -> str | None:
    return whole if whole is None else whole.partition("#")[0]


def _cut_up(whole: str) -> Url:
    """Slice a serialised URL; its form is fixed by URL Standard 4.5, so no parser is needed."""
    href, mark, fragment = whole.partition("#")
    scheme, _, rest = href.partition(":")
    before, question, query = rest.partition("?")
    authority, path = "", before
    if before.startswith("//"):
        authority, slash, path = before[2:].partition("/")
        path = slash + path
    elif before.startswith("/.//"):  # no host, and a path that begins with //
        path = before[2:]
    authority = authority.rpartition("@")[2]
    host, port = authority, None
    if ":" in authority and not authority.endswith("]"):
        host, _, digits = authority.rpartition(":")
        port = int(digits)
    return Url(
        href=href,
        fragment=fragment if mark else None,
        scheme=scheme,
        host=host,
        port=port,
        path=path,
        query=query if question else None,
        origin=f"{scheme}://{authority}" if scheme in _WITH_ORIGIN else "null",
        key=href,
    )


# WHATWG encoding name -> the codec here that encodes likewise. Absent: UTF-8 (and UTF-16, replacement).
_CODECS = {
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "gbk": "gb18030",
    "iso-2022-jp": "iso2022_jp",
    "iso-8859-8-i": "iso8859_8",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "ibm866": "ibm866",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    **{f"iso-8859-{n}": f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-{n}": f"cp{n}" for n in range(1250, 1259)},
}


@cache
def _encoder(encoding: str) -> Callable[[str], str] | None:
    """Return the query encoder of a WHATWG encoding name, None where it is UTF-8."""
    codec = _CODECS.get(encoding)
    return None if codec is None else lambda query: _percent_encoded(query, codec)


def _percent_encoded(query: str, codec: str) -> str:
    """Encode, then percent-encode (URL Standard 1.3); what the encoding lacks becomes ``&#N;``, percent-encoded."""
    lacking = {char for char in set(query) if not _encodes(char, codec)}
    parts = []
    for missing, run in groupby(query, lacking.__contains__):
        text = "".join(run)
        if missing:
            parts += [f"%26%23{ord(char)}%3B" for char in text]
        else:
            parts += [_BYTES[byte] for byte in text.encode(codec)]
    return "".join(parts)


def _encodes(char: str, codec: str) -> bool:
    try:
        char.encode(codec)
    except UnicodeEncodeError:
        return False
    return True


_BYTES = [
    f"%{byte:02X}" if byte <= 0x20 or byte >= 0x7F or chr(byte) in "\"#<>'" else chr(byte) for byte in range(256)
]
