"""A page's references resolved against its base: each distinct one once, links unique by what they resolve to.

Knows which ones ``_scan.c`` may resolve: those that the URL Standard leaves no doubt about. All others, and all where
it was not built, are for ``url.Joiner``; both give the same, and tests compare them.
"""

from __future__ import annotations

import re

from purlieu import late
from purlieu.page import scan
from purlieu.page.gather import Gathered
from purlieu.url import Joiner

RawLink = tuple[str, str, bool, bool]
"""(absolute href, or what was written if that is no URL; kind; nofollow; whether it is a URL)."""


class Base:
    """What references are read against. A ``Joiner`` is made when there is one that C does not resolve.

    ``plain`` is the URL that references of ASCII are read against and nothing else, "" where encoding matters.
    """

    __slots__ = ("_encoding", "_joiner", "plain")

    def __init__(self, url: str, encoding: str | None) -> None:
        """Take a URL, and the encoding of what holds the references; UrlError if it is none."""
        self._encoding = encoding or "UTF-8"
        self._joiner: Joiner | None = None
        native = scan.native()
        if native and encoding != "ISO-2022-JP" and native.join(url, "") is not None:  # it is one as it stands
            self.plain = url
        else:
            self._joiner = Joiner(url, self._encoding)
            self.plain = self._joiner.plain_base

    def __call__(self, reference: str) -> str | None:
        """Return the absolute href without fragment, None if the reference is no URL."""
        native = scan.native()
        href: str | None = native.join(self.plain, reference) if native else None
        return self.exactly(reference) if href is None else href

    def exactly(self, reference: str) -> str | None:
        """Return the same by ``url.Joiner`` alone."""
        if self._joiner is None:
            self._joiner = Joiner(self.plain, self._encoding)
        return self._joiner(reference)


Joins = tuple[tuple[Gathered, Base], ...]
"""What was gathered, of the header if it says something and of the page, each with what it is read against."""

_WEB = ("http://", "https://")
_OF_NO_WEB = late.pattern("(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_RAW_CHARACTERS = 2048  # kept of what is no URL
_MOST_CHARACTERS = 64 * 1024 * 1024
"""Of all hrefs of a page together: a base of 50 kB and 20,000 short links would be a gigabyte."""


def raw_links(joins: Joins, most: int = _MOST_CHARACTERS) -> tuple[RawLink, ...]:
    """Resolve each distinct reference once, and make links unique by what they resolve to.

    Those after the first ``most`` characters of hrefs stay as written, as if they were no URLs.
    """
    native = scan.native()
    unique: dict[tuple[str, str, bool], bool] = {}
    for gathered, base in joins[:-1] if native else joins:
        hrefs: dict[str, str | None] = {}
        for written, nofollow in gathered.links.items():
            kind, reference = written if isinstance(written, tuple) else ("a", str(written))
            href = None
            if most >= 0:
                href = hrefs[reference] if reference in hrefs else hrefs.setdefault(reference, base(reference))
                most -= len(href or "")
            key = (reference[:_RAW_CHARACTERS], kind, False) if href is None else (href, kind, True)
            unique[key] = nofollow and unique.get(key, True)
    if native:
        gathered, base = joins[-1]
        found: tuple[RawLink, ...] = native.resolve(
            base.plain, gathered.links, base.exactly, _RAW_CHARACTERS, most, gathered.plain
        )
        if not unique:
            return found
        for href, kind, nofollow, is_url in found:
            unique[href, kind, is_url] = nofollow and unique.get((href, kind, is_url), True)
    return tuple((href, kind, nofollow, is_url) for (href, kind, is_url), nofollow in unique.items())


def canonical(joins: Joins) -> str | None:
    """Return the one href of the web that is declared canonical, None for none or several (ST-33)."""
    found: str | None = None
    most = _MOST_CHARACTERS
    for gathered, base in joins:
        for reference in gathered.canonicals:
            if _OF_NO_WEB.match(reference):
                continue  # documentation that is installed names a file: 20 ms to import who could read it
            href = web(base(reference))
            most -= len(href or "")
            if (found and href and href != found) or most < 0:
                return None
            found = found or href
    return found


def alternates(joins: Joins) -> tuple[tuple[str, str], ...]:
    """Return (hreflang, href) of the alternates that are URLs, as many as there is room for."""
    found: list[tuple[str, str]] = []
    most = _MOST_CHARACTERS
    for gathered, base in joins:
        for language, reference in gathered.alternates:
            if most >= 0 and (href := base(reference)):
                found.append((language, href))
                most -= len(href)
    return tuple(found)


def web(href: str | None) -> str | None:
    """Return the href if it is one of the web."""
    return href if href and href.startswith(_WEB) else None
