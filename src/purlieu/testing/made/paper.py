"""What a made web's pages, sitemaps and trap pages look like, as bytes, and what their paths are.

Knows no formula: what stands on a page is handed in.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

from purlieu.testing.made.plan import Sitemaps
from purlieu.testing.made.words import letters, prose

SECTIONS: Final = 10
_PAGE: Final = re.compile(r"/section-(\d)/page-(\d{1,12})\.html", re.ASCII)
_SITEMAP: Final = re.compile(r"/sitemap-(\d{1,9})\.xml(\.gz)?", re.ASCII)
_LINE_BYTES: Final = 84
_LINK_BYTES: Final = 70
_FREQUENCIES: Final = ("daily", "weekly", "monthly", "yearly")
_SITEMAPS: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


class Facts(NamedTuple):
    """Which page it is; ``number`` counts all pages of the web."""

    host: int
    page: int
    version: int
    seed: int
    number: int


class Entry(NamedTuple):
    """One entry of a sitemap; ``lastmod`` in seconds since the epoch."""

    href: str
    lastmod: int | None
    page: int


@lru_cache(maxsize=50_000)
def page_path(page: int) -> str:
    """Return the path of a page; every tenth page is in the same section."""
    return f"/section-{page % SECTIONS}/page-{page}.html" if page else "/"


def page_number(path: str) -> int | None:
    """Return the page of a path, None for a path of none."""
    if path == "/":
        return 0
    found = _PAGE.fullmatch(path)
    number = int(found[2]) if found else 0
    return number if number and page_path(number) == path else None


def page(
    facts: Facts, hrefs: list[str], places: int, sizes: tuple[int, int], day: int | None, *, extras: bool
) -> bytes:
    """Return a page: its main text by its number and version, its links in a nav, the day in the footer.

    ``places`` says for how many links the main text leaves room, whatever becomes of them.
    """
    chosen = crc32(b"%d %d %d" % (facts.seed, facts.number, facts.version))
    least, most = sizes
    room = least + crc32(b"%d %d" % (facts.seed, facts.number)) % (most - least + 1) - _LINK_BYTES * places
    text = prose(chosen, max(1, room // _LINE_BYTES))
    links = "\n".join(map(_item, hrefs))
    more = _extras(facts) if extras else ""
    dated = "" if day is None else f"<p>Printed on {datetime.fromtimestamp(day, UTC):%d %B %Y}.</p>"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page {facts.page} of host {facts.host}</title></head>
<body><header><a href="/">Home</a></header>
<main><h1>Page {letters(facts.number)}</h1>
<p>Edition {letters(facts.version)}.</p>
{text}</main>
<nav><ul>
{links}{more}
</ul></nav>
<footer>{dated}<p>A made page.</p></footer></body></html>
""".encode("ascii")


@lru_cache(maxsize=50_000)
def _item(href: str) -> str:
    return f'<li><a href="{href}">{href.rpartition("/")[2] or href}</a></li>'


def _extras(facts: Facts) -> str:
    return f"""
<li><a href="/private/{facts.page}.html">private</a></li>
<li><a href="http://elsewhere.test/elsewhere/{facts.page}">elsewhere</a></li>
<li><a href="mailto:page{facts.page}@made.test">write</a></li>
<li><a href="/unfollowed/{facts.page}" rel="nofollow">unfollowed</a></li>"""


def trap_page(title: str, hrefs: list[str]) -> bytes:
    """Return a page of a trap: the same text on all of them."""
    links = "".join(f'<li><a href="{href}">{title}</a></li>' for href in hrefs)
    return (
        f'<!doctype html>\n<html lang="en"><head><title>{title}</title></head><body><main><h1>{title}</h1>'
        f"{prose(0, 4)}</main><nav><ul>{links}</ul></nav></body></html>\n"
    ).encode("ascii")


def sitemap_path(number: int, *, gzipped: bool) -> str:
    """Return the path of a file of a split sitemap."""
    return f"/sitemap-{number}.xml{'.gz' if gzipped else ''}"


def sitemap_number(path: str, *, gzipped: bool) -> int | None:
    """Return which file of a split sitemap a path is."""
    found = _SITEMAP.fullmatch(path)
    return int(found[1]) if found and bool(found[2]) is gzipped else None


def sitemap(entries: Iterable[Entry], plan: Sitemaps) -> bytes:
    """Return a sitemap file."""
    told = []
    for entry in entries:
        lastmod = "" if entry.lastmod is None else f"<lastmod>{_w3c(entry.lastmod)}</lastmod>"
        often = f"<changefreq>{_FREQUENCIES[entry.page % 4]}</changefreq>" if plan.changefreq else ""
        weight = f"<priority>{entry.page % 11 / 10:.1f}</priority>" if plan.priority else ""
        told.append(f"<url><loc>{entry.href}</loc>{lastmod}{often}{weight}</url>\n")
    return f"{_XML}<urlset {_SITEMAPS}>\n{''.join(told)}</urlset>\n".encode("ascii")


def sitemap_index(files: Iterable[tuple[str, int | None]]) -> bytes:
    """Return a sitemap index."""
    told = "".join(
        f"<sitemap><loc>{href}</loc>{'' if at is None else f'<lastmod>{_w3c(at)}</lastmod>'}</sitemap>\n"
        for href, at in files
    )
    return f"{_XML}<sitemapindex {_SITEMAPS}>\n{told}</sitemapindex>\n".encode("ascii")


def gzipped(body: bytes) -> bytes:
    """Return the bytes of a gzip file, always the same."""
    return gzip.compress(body, 6, mtime=0)


def _w3c(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
