"""Entries to the bytes of sitemap files: split at the limits, escaped, gzipped, with their index (SM-1 to SM-7, SM-20).

Knows the two file formats and their limits. Must not know which pages belong in, nor disks: names and bytes come
out as a stream, and memory does not grow with it. Never writes what the protocol lacks, such as an expiry (IB-8).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.sitemap import moment
from purlieu.sitemap.entry import Child, Entry
from purlieu.value import dataclass

NAMESPACE: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
XHTML: Final = "http://www.w3.org/1999/xhtml"
LONGEST_LOC: Final = 2_047
"""The most characters that every reader takes (SM-4: fewer than 2,048; AMB-SM-1)."""
_SHORTEST_LOC: Final = 12  # by the schema
_PORTS: Final = {"http": 80, "https": 443}
_CHUNK_BYTES: Final = 65_536
_DECLARATION: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'

# SM-3, RFC 3986 2: what may stand in a URL as it is; the URL Standard leaves more.
_UNWRITABLE: Final = re.compile(r"[^!#$&'()*+,./0-9:;=?@A-Z\[\]_a-z~%-]|%(?![0-9A-Fa-f]{2})")
_BRACKET: Final = re.compile(r"[\[\]]")
_WRITTEN: Final = {ord(char): f"%{ord(char):02X}" for char in '|^`{}"<>\\ []%'}
_READ: Final = {escape: chr(code) for code, escape in _WRITTEN.items()}
_PLAIN: Final = re.compile(r"https?://[!#$()*+,./0-9:;=?@A-Z_a-z~-]++")  # needs no escaping either, as nearly all
_WRITABLE: Final = re.compile(r"https?://[!#$&'()*+,./0-9:;=?@A-Z_a-z~-]++")  # needs no encoding
_ESCAPES: Final = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&apos;"), ('"', "&quot;"))  # SM-2
# AMB-SM-2: of the six shapes of W3C Datetime the schema knows these two; in zones up to 14 hours away.
_WHOLE: Final = re.compile(
    r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:0\d|1[0-3]):[0-5]\d|[+-]14:00))?", re.ASCII
)


class Limits(NamedTuple):
    """How many addresses and how many bytes, not compressed, one file may hold."""

    urls: int
    bytes: int


LIMITS: Final = {"0.90": Limits(50_000, 52_428_800), "2007": Limits(50_000, 10_485_760)}
"""Of the protocol (SM-20, SM-23), and of its first years (SM-21, AMB-SM-3)."""


class Chunk(NamedTuple):
    """Some bytes of a file; those of one file follow each other."""

    file: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Form:
    """How files are written: ``stem`` begins their names, ``gzip`` compresses all but the index."""

    stem: str = "sitemap"
    limits: Limits = LIMITS["0.90"]
    gzip: bool = True
    hreflang: bool = True

    def child(self, number: int, group: str = "") -> str:
        """Return the name of a group's file, counted from 1: the same set of pages has the same names."""
        middle = f"{group}-" if group else ""
        return f"{self.stem}-{middle}{number}.xml{'.gz' if self.gzip else ''}"

    def index(self, number: int = 1) -> str:
        """Return the name of an index file; the first is the one that is made known."""
        return f"{self.stem}.xml" if number == 1 else f"{self.stem}-index-{number}.xml"


def urlsets(entries: Iterable[Entry], form: Form, group: str = "") -> Iterator[Chunk]:
    """Yield the files of entries in their order, each as full as the limits let it be; no entries give no file.

    Raises UrlError for a ``loc`` that is no http or https address: who chooses entries has left it out.
    """
    extra = f' xmlns:xhtml="{XHTML}"' if form.hreflang else ""
    head = f'{_DECLARATION}<urlset xmlns="{NAMESPACE}"{extra}>\n'
    items = (_url(entry, hreflang=form.hreflang) for entry in entries)
    for number, chunks in enumerate(_split(items, head, "</urlset>\n", form.limits), 1):
        name = form.child(number, group)
        for data in _deflated(chunks) if form.gzip else chunks:
            yield Chunk(name, data)


def indexes(children: Iterable[Child], form: Form) -> Iterator[Chunk]:
    """Yield the index of files; several where the limits ask for it, since none may name another (SM-23, SM-38)."""
    head = f'{_DECLARATION}<sitemapindex xmlns="{NAMESPACE}">\n'
    items = (_sitemap(child) for child in children)
    for number, chunks in enumerate(_split(items, head, "</sitemapindex>\n", form.limits), 1):
        name = form.index(number)
        for data in chunks:
            yield Chunk(name, data)


def written(loc: str) -> str:
    """Return an address as a sitemap holds it: absolute, in ASCII, percent-encoded by RFC 3986 (SM-3, SM-4).

    What the URL Standard leaves in a path or query and RFC 3986 does not (``|``, ``[``, a bare ``%``) is encoded too:
    servers read both alike. Raises UrlError for what is no http or https address.
    """
    if len(loc) >= _SHORTEST_LOC and _WRITABLE.fullmatch(loc):
        return loc
    parsed = urls.parse(loc)
    if parsed.scheme not in {"http", "https"}:
        raise UrlError(f'"{loc[:200]}" is no http or https address: a sitemap can name no other')
    begin = parsed.href.find("/", parsed.href.find("://") + 3)  # an IPv6 host keeps its brackets
    rest = _UNWRITABLE.sub(lambda char: char[0].translate(_WRITTEN), parsed.href[begin:])
    rest = _BRACKET.sub(lambda char: _WRITTEN[ord(char[0])], rest)
    top = parsed.href[:begin]
    if len(top) + len(rest) < _SHORTEST_LOC:
        # A bare name on an intranet: said with its port, or with a zero before that, it is the same address.
        top = f"{parsed.scheme}://{parsed.host}:{parsed.port or _PORTS[parsed.scheme]:04}"
    return top + rest


def read_back(loc: str) -> str:
    """Return the address that ``written`` has encoded, as the URL Standard serialises it."""
    return re.sub(r"%(?:7C|5[BCDE]|60|7[BD]|25)", lambda escape: _READ[escape[0]], loc) if "%" in loc else loc


def lastmod_of(entry: Entry | Child) -> str | None:
    """Return a whole date or date-time that every reader and the schema take (AMB-SM-2), None when there is none."""
    if entry.lastmod and _is_whole(entry.lastmod):
        return entry.lastmod
    at = moment.of_w3c(entry.lastmod) if entry.lastmod and entry.lastmod_at is None else entry.lastmod_at
    return None if at is None else _moment(int(at))


@lru_cache(maxsize=4096)
def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and moment.of_w3c(text) is not None


@lru_cache(maxsize=4096)
def _moment(seconds: int) -> str | None:
    try:
        return moment.as_w3c(seconds)
    except (ValueError, OverflowError, OSError):  # beyond the years that can be written
        return None


def _url(entry: Entry, *, hreflang: bool) -> str:
    """Return one ``<url>``, its elements in the schema's order; a priority of 0.5 is the default and left out."""
    loc = entry.loc
    if len(loc) < _SHORTEST_LOC or not _PLAIN.fullmatch(loc):
        loc = _text(written(loc))
    text = f"<url><loc>{loc}</loc>"
    if lastmod := lastmod_of(entry):
        text += f"<lastmod>{lastmod}</lastmod>"
    if entry.changefreq:
        text += f"<changefreq>{entry.changefreq}</changefreq>"
    if entry.priority != 0.5:
        text += f"<priority>{_priority(entry.priority)}</priority>"
    if hreflang and entry.alternates:
        text += "".join(
            f'<xhtml:link rel="alternate" hreflang="{_text(language)}" href="{_text(written(href))}"/>'
            for language, href in entry.alternates
        )
    return f"{text}</url>\n"


def _sitemap(child: Child) -> str:
    lastmod = lastmod_of(child)
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    return f"<sitemap><loc>{_text(written(child.loc))}</loc>{dated}</sitemap>\n"


def _text(text: str) -> str:
    for char, escaped in _ESCAPES:
        text = text.replace(char, escaped)
    return text


@lru_cache(maxsize=1024)
def _priority(number: float) -> str:
    """Return 0.0 to 1.0 as a decimal without exponent, of at most three places."""
    text = f"{min(max(number, 0.0), 1.0):.3f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def _split(items: Iterator[str], head: str, tail: str, limits: Limits) -> Iterator[Iterator[bytes]]:
    """Yield for each file its bytes in pieces; each must be read to its end before the next is asked for."""
    held = next(items, None)
    room = limits.bytes - len(head) - len(tail)

    def file() -> Iterator[bytes]:
        nonlocal held
        pieces, size, total, count = [head], len(head), 0, 0
        # All is ASCII, so characters are bytes. An entry larger than a file gets one of its own.
        while held is not None and count < limits.urls and (not count or total + len(held) <= room):
            pieces.append(held)
            size, total, count = size + len(held), total + len(held), count + 1
            if size >= _CHUNK_BYTES:
                yield "".join(pieces).encode("ascii")
                pieces, size = [], 0
            held = next(items, None)
        pieces.append(tail)
        yield "".join(pieces).encode("ascii")

    while held is not None:
        yield file()


def _deflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Gzip without time and name, so that the same entries give the same bytes."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    for chunk in chunks:
        if data := packer.compress(chunk):
            yield data
    yield packer.flush()
