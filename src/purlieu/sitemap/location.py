"""Where a sitemap may speak for: only what lies beside and below it (SM-30 to SM-33).

Knows two URLs. Must not know how the sitemap was found, which decides whether this rule holds at all.
"""

from __future__ import annotations

import re

from purlieu import url as urls
from purlieu.errors import UrlError

_ESCAPED = re.compile(r"%(?:[46][1-9A-Fa-f]|[57][0-9Aa]|3\d|2[DEde]|5[Ff]|7[Ee])")  # the unreserved octets
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


def in_location(loc: str, sitemap_url: str) -> bool:
    """Say whether ``loc`` has the scheme, host and port of ``sitemap_url`` and its folder's path as a prefix.

    Both sides are normalised first, the path's letter case is kept (AMB-SM-8). What is no URL is nowhere.
    """
    try:
        page, file = urls.parse(loc), urls.parse(sitemap_url)
    except UrlError:
        return False
    folder = file.path[: file.path.rfind("/") + 1]
    return page.origin == file.origin != "null" and _spelt(page.path).startswith(_spelt(folder))


def _spelt(path: str) -> str:
    path = _ESCAPED.sub(lambda octet: chr(int(octet[0][1:], 16)), path)
    return _ESCAPE.sub(lambda octet: octet[0].upper(), path)
