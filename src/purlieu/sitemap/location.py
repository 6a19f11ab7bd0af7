"""Where a sitemap may speak for: only what lies beside and below it, or what its namers vouch for (SM-30 to SM-37).

Knows URLs, and by whom a file is named. Must not know how that was found out, nor what is done with what lies outside.
"""

from __future__ import annotations

import re

from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.value import dataclass

OWNER = "owner"
"""The namer of a file that the owner of the crawl names."""
ROBOTS = "robots:"
"""How the namer of a file begins that a host names in its robots.txt."""
RULES = ("by-discovery", "off", "warn", "enforce")

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


@dataclass(frozen=True, slots=True)
class Place:
    """What one sitemap file may speak for, by one of ``RULES``. Made by ``of``.

    By discovery: all of each host whose robots.txt names the file, as it speaks for the whole host (AMB-SM-7) and
    proves a cross-submission (SM-35, SM-36); everything where the owner names it; else what lies in its location.
    """

    file: str
    folder: str
    host: str
    vouching: frozenset[str]
    """The hosts whose robots.txt name the file."""
    is_open: bool
    """Whether it may speak for everything."""
    rule: str

    @classmethod
    def of(cls, file: str, namers: frozenset[str], rule: str = RULES[0]) -> Place:
        """Return the place of a file, by its serialised URL and its namers."""
        host = urls.host_of(file)
        vouching = frozenset(namer.removeprefix(ROBOTS) for namer in namers if namer.startswith(ROBOTS))
        is_open = rule in {"off", "warn"} or (rule == RULES[0] and OWNER in namers)
        path = file.partition("?")[0]
        return cls(file, path[: path.rfind("/") + 1], host, vouching, is_open, rule)

    def holds(self, href: str) -> bool:
        """Return whether a serialised URL is one of the file by the protocol: in its location, or cross-submitted."""
        if href.startswith(self.folder):
            return True
        host = urls.host_of(href)
        if host != self.host:
            return host in self.vouching
        return "%" in href + self.folder and in_location(href, self.file)

    def allows(self, href: str) -> bool:
        """Return whether a serialised URL that is not held is taken from the file all the same."""
        return self.is_open or (self.rule == RULES[0] and urls.host_of(href) in self.vouching)

    def takes_file(self, href: str) -> bool:
        """Return whether an index may list the sitemap at a serialised URL: of its own host, or vouched for (SM-37)."""
        host = urls.host_of(href)
        return self.is_open or host == self.host or host in self.vouching


def _spelt(path: str) -> str:
    path = _ESCAPED.sub(lambda octet: chr(int(octet[0][1:], 16)), path)
    return _ESCAPE.sub(lambda octet: octet[0].upper(), path)
