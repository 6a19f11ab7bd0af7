"""What a page says: title, links, canonical, robots rules, alternates, refresh, digest.

Takes the bytes and headers of one response and gives values. Knows no scope and fetches nothing; whether a
link is followed is decided elsewhere. No bytes raise, and the work is linear in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b

from purlieu import likeness
from purlieu.page import encoding, markup, resolve, scan
from purlieu.page.gather import ALL_KINDS, DEFAULT_KINDS, Gathered, elements_for, heard_for
from purlieu.page.header import Headers, combined, content_type_of, robots_rules, telling
from purlieu.page.markup import Markup
from purlieu.page.resolve import Joins, RawLink
from purlieu.response import HTML_TYPES
from purlieu.url import Joiner
from purlieu.value import dataclass

__all__ = ["ALL_KINDS", "DEFAULT_KINDS", "Link", "Links", "Page", "RawLink", "content_type_of", "read"]

_TITLE_WHITE = re.compile(r"[\t\n\f\r ]+")
_SHORT_BYTES = 256  # up to here a text is looked at for being nothing but digits or no-break spaces


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page: absolute href without fragment, its kind, whether every occurrence says nofollow."""

    url: str
    kind: str
    nofollow: bool


class Links:
    """A view of raw links that makes a ``Link`` only when it is asked for one."""

    __slots__ = ("_raw",)

    def __init__(self, raw: tuple[RawLink, ...]) -> None:
        """Look at raw links."""
        self._raw = raw

    def __iter__(self) -> Iterator[Link]:
        """Iterate in document order."""
        return (Link(url, kind, nofollow) for url, kind, nofollow, is_url in self._raw if is_url)

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(is_url for _, _, _, is_url in self._raw)


@dataclass(frozen=True, slots=True)
class Page:
    """What one page says about itself and where it leads.

    ``encoding`` is the WHATWG name, None for what is no HTML; ``canonical`` the one absolute href that the head and
    the Link header declare, None for none or several (ST-33); ``refresh`` (seconds, absolute href or None for the page
    itself); ``alternates`` (hreflang, href) pairs; ``digest`` a hash of the text outside header, nav and footer with
    digits and white space left out (R-9.3); ``text_empty`` says that there is no text at all. ``raw_links`` is for hot
    paths: plain tuples (``RawLink``), unique by (url, kind), in order; what is no URL is among them. ``sketch`` makes
    the same text comparable with others' (``likeness.py``), b"" when it was not asked for.
    """

    title: str | None
    canonical: str | None
    noindex: bool
    nofollow: bool
    alternates: tuple[tuple[str, str], ...]
    lang: str | None
    encoding: str | None
    refresh: tuple[int, str | None] | None
    digest: str
    text_empty: bool
    raw_links: tuple[RawLink, ...]
    sketch: bytes = b""

    @property
    def links(self) -> Links:
        """Return the links that are URLs: unique by (url, kind), in document order, those of headers first."""
        return Links(self.raw_links)


def read(
    body: bytes,
    *,
    url: str,
    content_type: str | None = None,
    headers: Headers = (),
    agent: str = "purlieu",
    kinds: frozenset[str] = DEFAULT_KINDS,
    sketched: bool = False,
) -> Page:
    """Return what a page says. ``url`` is where it came from: UrlError if that is no URL; nothing else raises.

    ``content_type`` counts before the one in ``headers``; of a type that is not HTML only the headers are read, and
    the digest is the body's. ``agent`` is the bot's name in robots rules, ``kinds`` are the kinds of links wanted,
    ``sketched`` that the text is made comparable (about 1 ms for 3,500 words).
    """
    fields = telling(headers)
    essence, charset = combined(content_type or ",".join(fields.pop("content-type", ())))
    name, marked, said = None, None, None
    if essence is None or essence in HTML_TYPES:
        fallback = "UTF-8" if essence == "application/xhtml+xml" else "windows-1252"  # XML 1.0, 4.3.3
        name, marked, found = _read_html(body, charset, fallback, kinds, agent)
    else:
        found = Gathered(kinds, agent)
    joins: Joins = ((found, _joiner(url, found.base, name)),)
    if fields.keys() - {"content-type"}:
        said = Gathered(kinds, agent)
        said.take_headers(fields)
        joins = ((said, Joiner(url)), *joins)
    digest, text_empty = _digest(marked) if marked else (digest_of(body), not body.strip())
    rules = robots_rules([value for gathered, _ in joins for value in gathered.robots], agent)
    return Page(
        title=None if marked is None or marked.title is None else _title(marked.title),
        canonical=resolve.canonical(joins),
        noindex=not rules.isdisjoint(("noindex", "none")),
        nofollow=not rules.isdisjoint(("nofollow", "none")),
        alternates=resolve.alternates(joins),
        lang=found.lang,
        encoding=name,
        refresh=_refresh(joins),
        digest=digest,
        text_empty=text_empty,
        raw_links=resolve.raw_links(joins),
        sketch=likeness.sketch(markup.unescaped(marked.main.decode())) if marked and sketched else b"",
    )


def _read_html(
    body: bytes, charset: str | None, fallback: str, kinds: frozenset[str], agent: str
) -> tuple[str, Markup, Gathered]:
    """Decode and cut up a page; once more if a meta element beyond the prescan names an encoding (HTML 13.2.3.4)."""
    declared = encoding.declared(body, charset)
    name = declared or fallback
    while True:
        found = Gathered(kinds, agent)
        heard = heard_for(kinds, agent, charset=declared is None)
        marked = scan.read(body, name, elements_for(kinds), found.take, heard)
        late = None if declared else encoding.as_declared(found.charset)
        if late is None or late == name:
            return name, marked, found
        name = declared = late


def _joiner(url: str, base: str | None, name: str | None) -> Joiner:
    """Return the joiner for a page's references; a base counts only if it is of the web (HTML 4.2.3)."""
    joiner = Joiner(url, encoding=name or "UTF-8")
    based = resolve.web(joiner(base)) if base is not None else None
    return Joiner(based, encoding=name or "UTF-8") if based else joiner


def _title(written: str) -> str:
    return _TITLE_WHITE.sub(" ", markup.unescaped(written) if "&" in written else written).strip(" ")


def _refresh(joins: Joins) -> tuple[int, str | None] | None:
    """Return the first refresh whose target is a URL and no script (HTML 4.2.5.3)."""
    for gathered, joiner in joins:
        if gathered.refresh:
            seconds, reference = gathered.refresh
            href = joiner(reference) if reference else None
            if not reference or (href and not href.startswith("javascript:")):
                return seconds, href
    return None


def _digest(marked: Markup) -> tuple[str, bool]:
    """Return the hash of the main text and whether there is no text at all."""
    kept = scan.masked(marked.main)
    empty = len(kept) < _SHORT_BYTES and not markup.unescaped(f"{marked.main.decode()} {marked.aside.decode()}").strip()
    return digest_of(kept), empty


def digest_of(kept: bytes) -> str:
    """Return the digest of a text or file: 16 hexadecimal digits."""
    return blake2b(kept, digest_size=8).hexdigest()
