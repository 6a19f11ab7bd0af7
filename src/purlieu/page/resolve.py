"""A page's references resolved against its base: each distinct one once, links unique by what they resolve to.

Knows which ones ``_scan.c`` may resolve: those that the URL Standard leaves no doubt about. All others, and all where
it was not built, are for ``url.Joiner``; both give the same, and tests compare them.
"""

from __future__ import annotations

import re

from purlieu.page import scan
from purlieu.page.gather import Gathered
from purlieu.url import Joiner

RawLink = tuple[str, str, bool, bool]
"""(absolute href, or what was written if that is no URL; kind; nofollow; whether it is a URL)."""

Joins = tuple[tuple[Gathered, Joiner], ...]
"""What was gathered, of the header and of the page, each with what its references are read against."""

_WEB = ("http://", "https://")
_OF_NO_WEB = re.compile("(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE | re.ASCII)
_RAW_CHARACTERS = 2048  # kept of what is no URL
_MOST_CHARACTERS = 64 * 1024 * 1024
"""Of all hrefs of a page together: a base of 50 kB and 20,000 short links would be a gigabyte."""


def raw_links(joins: Joins, most: int = _MOST_CHARACTERS) -> tuple[RawLink, ...]:
    """Resolve each distinct reference once, and make links unique by what they resolve to.

    Those after the first ``most`` characters of hrefs stay as written, as if they were no URLs.
    """
    joins = tuple(join for join in joins if join[0].links)
    if len(joins) == 1 and (native := scan.native()):
        ((gathered, joiner),) = joins
        found: tuple[RawLink, ...] = native.resolve(joiner.plain_base, gathered.links, joiner, _RAW_CHARACTERS, most)
        return found
    unique: dict[tuple[str, str, bool], bool] = {}
    for gathered, joiner in joins:
        hrefs: dict[str, str | None] = {}
        for written, nofollow in gathered.links.items():
            kind, reference = ("a", written) if isinstance(written, str) else written
            href = None
            if most >= 0:
                href = hrefs[reference] if reference in hrefs else hrefs.setdefault(reference, joiner(reference))
                most -= len(href or "")
            key = (reference[:_RAW_CHARACTERS], kind, False) if href is None else (href, kind, True)
            unique[key] = nofollow and unique.get(key, True)
    return tuple((href, kind, nofollow, is_url) for (href, kind, is_url), nofollow in unique.items())


def canonical(joins: Joins) -> str | None:
    """Return the one href of the web that is declared canonical, None for none or several (ST-33)."""
    found: str | None = None
    most = _MOST_CHARACTERS
    for gathered, joiner in joins:
        for reference in gathered.canonicals:
            if _OF_NO_WEB.match(reference):
                continue  # documentation that is installed names a file: 20 ms to import who could read it
            href = web(joiner(reference))
            most -= len(href or "")
            if (found and href and href != found) or most < 0:
                return None
            found = found or href
    return found


def alternates(joins: Joins) -> tuple[tuple[str, str], ...]:
    """Return (hreflang, href) of the alternates that are URLs, as many as there is room for."""
    found: list[tuple[str, str]] = []
    most = _MOST_CHARACTERS
    for gathered, joiner in joins:
        for language, reference in gathered.alternates:
            if most >= 0 and (href := joiner(reference)):
                found.append((language, href))
                most -= len(href)
    return tuple(found)


def web(href: str | None) -> str | None:
    """Return the href if it is one of the web."""
    return href if href and href.startswith(_WEB) else None
