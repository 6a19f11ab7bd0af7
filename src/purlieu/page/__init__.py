"""What a page says: title, links, canonical, robots rules, alternates, refresh, digest.

Takes the bytes and headers of one response and gives values. Knows no scope and fetches nothing; whether a
link is followed is decided elsewhere. No bytes raise, and the work is linear in them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from purlieu import late, likeness
from purlieu.digest import blake2b
from purlieu.page import encoding, markup, resolve, scan
from purlieu.page.gather import ALL_KINDS, DEFAULT_KINDS, Gathered, elements_for, heard_for
from purlieu.page.header import Headers, combined, content_type_of, robots_rules, telling
from purlieu.page.resolve import Base, Joins, RawLink
from purlieu.page.scan import Scanned
from purlieu.response import HTML_TYPES
from purlieu.value import dataclass

__all__ = ["ALL_KINDS", "DEFAULT_KINDS", "Link", "Links", "Page", "RawLink", "content_type_of", "read"]

_TITLE_WHITE = late.pattern(r"[\t\n\f\r ]+")
_NO_RULES: frozenset[str] = frozenset()
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
    essence, charset = combined(content_type or ",".join(fields.get("content-type", ())))
    fields.pop("content-type", None)
    name, scanned, found = None, None, None
    if essence is None or essence in HTML_TYPES:
        fallback = "UTF-8" if essence == "application/xhtml+xml" else ""  # XML 1.0, 4.3.3
        most_short = sys.maxsize if sketched else _SHORT_BYTES
        name, scanned, found = _read_html(body, charset, fallback, Gathered(kinds, agent), most_short)
    found = found or Gathered(kinds, agent)
    joins: Joins = ((found, _base(url, found.base, name)),)
    if fields:
        said = Gathered(kinds, agent)
        said.take_headers(fields)
        joins = ((said, Base(url, None)), *joins)
    title, kept, main, aside, _ = scanned or (None, body, None, None, None)
    robots = [value for gathered, _ in joins for value in gathered.robots]
    rules = robots_rules(robots, agent) if robots else _NO_RULES
    return Page(
        title=title and _title(title),
        canonical=resolve.canonical(joins),
        noindex=not rules.isdisjoint(("noindex", "none")),
        nofollow=not rules.isdisjoint(("nofollow", "none")),
        alternates=resolve.alternates(joins),
        lang=found.lang,
        encoding=name,
        refresh=_refresh(joins),
        digest=digest_of(kept),
        text_empty=_is_empty(kept, main, aside) if scanned else not body.strip(),
        raw_links=resolve.raw_links(joins),
        sketch=likeness.sketch(markup.unescaped(main.decode())) if sketched and main is not None else b"",
    )


def _read_html(
    body: bytes, charset: str | None, fallback: str, found: Gathered, most_short: int
) -> tuple[str, Scanned, Gathered]:
    """Decode and cut up a page; once more if a meta element beyond the prescan names an encoding (HTML 13.2.3.4)."""
    declared = encoding.declared(body, charset) if charset or not scan.is_silent(body) else None
    name = declared or fallback or encoding.assumed(body)
    while True:
        kinds, agent = found.kinds, found.agent
        heard = heard_for(kinds, agent, charset=declared is None)
        scanned = scan.read(body, name, elements_for(kinds), found.take, heard, most_short)
        late = None if declared else encoding.as_declared(found.charset)
        if late is None or late == name:
            found.plain = scanned[-1]
            return name, scanned, found
        name = declared = late
        found = Gathered(kinds, agent)


def _base(url: str, base: str | None, name: str | None) -> Base:
    """Return what a page's references are read against; a base counts only if it is of the web (HTML 4.2.3)."""
    here = Base(url, name)
    based = resolve.web(here(base)) if base is not None else None
    return Base(based, name) if based else here


def _title(written: str) -> str:
    if "&" in written:
        written = markup.unescaped(written)
    if "  " in written or not written.isprintable():  # else the only white space in it are single spaces
        written = _TITLE_WHITE.sub(" ", written)
    return written.strip(" ")


def _refresh(joins: Joins) -> tuple[int, str | None] | None:
    """Return the first refresh whose target is a URL and no script (HTML 4.2.5.3)."""
    for gathered, base in joins:
        if gathered.refresh:
            seconds, reference = gathered.refresh
            href = base(reference) if reference else None
            if not reference or (href and not href.startswith("javascript:")):
                return seconds, href
    return None


def _is_empty(kept: bytes, main: bytes | None, aside: bytes | None) -> bool:
    """Say whether there is no text at all, however written; a text that is short without digits comes as it is too."""
    if len(kept) >= _SHORT_BYTES or main is None or aside is None:
        return False
    return not markup.unescaped(f"{main.decode()} {aside.decode()}").strip()


def digest_of(kept: bytes) -> str:
    """Return the digest of a text or file: 16 hexadecimal digits."""
    return blake2b(kept, digest_size=8).hexdigest()
