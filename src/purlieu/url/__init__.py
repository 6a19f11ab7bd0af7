"""What a URL is: parse, join, serialise and key it by the WHATWG standard.

Knows only the text of URLs. Knows no scope, no host history, no page: whether a URL
may be fetched is asked elsewhere. Two libraries answer: url-py (fast) and, for what
url-py refuses or is known to serialise otherwise than the standard, ada-url (right
on all cases of the standard's own suite, five times slower).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from struct import Struct

import url as _rust

from purlieu.digest import blake2b
from purlieu.errors import UrlError
from purlieu.url.percent import encoder
from purlieu.value import dataclass

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
        against = f' against "{base.href[:200]}"' if base else ""
        raise UrlError(f'"{_scalar(text[:200])}" is no URL{against}: write it whole, like https://example.com/path')
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


def without_login(href: str) -> str:
    """Return a serialised http or https href without the user name and password it may carry."""
    if "@" not in href or not href.startswith(_HTTP):
        return href
    scheme, _, rest = href.partition("//")
    authority, slash, path = rest.partition("/")
    return f"{scheme}//{authority.rpartition('@')[2]}{slash}{path}"


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
    number: int = _signed64(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest())[0]
    return number


class Joiner:
    """Turns a page's link texts into absolute hrefs; the base is parsed once.

    ``encoding`` is the WHATWG name of the page's encoding: browsers encode the query of an
    http(s) link in it (URL Standard, query state). Raises UrlError when the base is no URL.
    """

    __slots__ = ("_base", "_encode", "_join", "_stateful")

    def __init__(self, base: str | Url, encoding: str = "utf-8") -> None:
        """Parse the base; ``encoding`` unknown or UTF-8, UTF-16: queries are UTF-8."""
        self._join: Callable[[str], object] = _no_join
        text = str(base)
        try:
            parsed = _rust.URL.parse(text)
            self._base = str(parsed)
            if "#" not in self._base and not _is_doubtful(self._base):
                self._join = parsed.join
        except _REFUSED:  # a host that only ada-url takes
            self._base = ""
        if self._join is _no_join:
            self._base = parse(text).href
            if not _is_doubtful(self._base):
                with suppress(*_REFUSED):
                    self._join = _rust.URL.parse(self._base).join
        self._encode = encoder(encoding.lower())
        self._stateful = encoding.lower() == "iso-2022-jp"  # its escapes are ASCII: looked at even in ASCII links

    @property
    def plain_base(self) -> str:
        """Return the base that references of ASCII are read against and nothing else, "" where encoding matters."""
        return "" if self._stateful else self._base

    def __call__(self, ref: str) -> str | None:
        """Return the absolute href without fragment, None if ``ref`` is no URL."""
        if self._encode is not None and (self._stateful or not ref.isascii()):
            ref = self._requeried(ref)
        try:
            href = str(self._join(ref))
        except _REFUSED:
            return _without_fragment(_by_ada(ref, self._base))
        # The base is not doubtful: without one of these the URL cannot be. Three times faster than asking it.
        if (":" in ref or "^" in ref or "|" in ref) and _is_doubtful(href):
            return _without_fragment(_by_ada(ref, self._base))
        if "#" in href:
            return href[: href.index("#")]
        return href

    def _requeried(self, ref: str) -> str:
        """Percent-encode the query of a reference in the page's encoding, if it makes an http(s) URL."""
        whole = _serialise(ref, self._base)
        if self._encode is None or whole is None or not whole.startswith(_HTTP):
            return ref
        clean = ref.translate(_DROPPED).strip(_TRIMMED)
        before, fragment, _ = clean.partition("#")
        head, mark, query = before.partition("?")
        # The mark of the fragment stays: without it what stands before it could be trimmed as the text's end.
        return head + mark + self._encode(query) + fragment


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
    return _by_ada(text, base) if _is_doubtful(whole) else whole


def _is_doubtful(whole: str) -> bool:
    """Say whether url-py may have given another URL than the standard.

    It leaves ``^`` in paths, does not step back over a segment that looks like a drive letter (``C:`` or ``C|``,
    which then stays in the path), and differs in schemes other than http and https. All else agreed with ada-url
    on 1.5 million generated links (docs/decisions).
    """
    return "^" in whole or "|" in whole or whole.find(":/", 8) > 0 or not whole.startswith(_HTTP)


def _by_ada(text: str, base: str | None) -> str | None:
    import ada_url  # 20 ms of start-up, and few crawls need it before their first request

    try:
        return str(ada_url.join_url(base, _scalar(text)) if base is not None else ada_url.normalize_url(_scalar(text)))
    except ValueError:
        return None


def _scalar(text: str) -> str:
    """Return the text with lone surrogates as U+FFFD and pairs as one character (Infra Standard 4.6)."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
