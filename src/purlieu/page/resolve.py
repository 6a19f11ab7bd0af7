"""A page's references resolved against its base: each distinct one once, links unique by what they resolve to.

Knows which ones ``_scan.c`` may resolve: those that the URL Standard leaves no doubt about. All others, and all where
it was not built, are for ``url.Joiner``; both give the same, and tests compare them.
"""

from __future__ import annotations

from purlieu.page import scan
from purlieu.page.gather import Gathered
from purlieu.url import Joiner

RawLink = tuple[str, str, bool, bool]
"""(absolute href, or what was written if that is no URL; kind; nofollow; whether it is a URL)."""

Joins = tuple[tuple[Gathered, Joiner], ...]
"""What was gathered, of the header and of the page, each with what its references are read against."""

_RAW_CHARACTERS = 2048  # kept of what is no URL


def raw_links(joins: Joins) -> tuple[RawLink, ...]:
    """Resolve each distinct reference once, and make links unique by what they resolve to."""
    joins = tuple(join for join in joins if join[0].links)
    if len(joins) == 1 and (native := scan.native()):
        ((gathered, joiner),) = joins
        found: tuple[RawLink, ...] = native.resolve(joiner.plain_base, gathered.links, joiner, _RAW_CHARACTERS)
        return found
    unique: dict[tuple[str, str, bool], bool] = {}
    for gathered, joiner in joins:
        hrefs: dict[str, str | None] = {}
        for written, nofollow in gathered.links.items():
            kind, reference = ("a", written) if isinstance(written, str) else written
            href = hrefs[reference] if reference in hrefs else hrefs.setdefault(reference, joiner(reference))
            key = (reference[:_RAW_CHARACTERS], kind, False) if href is None else (href, kind, True)
            unique[key] = nofollow and unique.get(key, True)
    return tuple((href, kind, nofollow, is_url) for (href, kind, is_url), nofollow in unique.items())
