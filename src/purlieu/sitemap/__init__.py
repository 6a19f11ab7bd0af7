"""Sitemaps: bytes to entries, children and problems (SM-1 ff.).

Reads urlset, index, text, RSS 2.0 and Atom, gzipped or not, in any usual encoding, as a stream. Knows the formats and
what owners do to them. Must not know scope, history, or how a file was fetched; whether an entry is trusted for its
place is asked of ``in_location``, and the answer is the caller's to use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from purlieu.sitemap.entry import Child, Entry, Kind, News, Problem, Sitemap
from purlieu.sitemap.location import in_location
from purlieu.sitemap.reader import LIMIT_URLS, Reader, looks_like
from purlieu.sitemap.unpack import LIMIT_BYTES

__all__ = [
    "LIMIT_BYTES",
    "LIMIT_URLS",
    "Child",
    "Entry",
    "Kind",
    "News",
    "Problem",
    "Sitemap",
    "in_location",
    "looks_like",
    "read",
    "scan",
]


def scan(
    chunks: Iterable[bytes], *, url: str, strict: bool = False, limit_bytes: int = LIMIT_BYTES
) -> Iterator[Entry | Child | Problem]:
    """Yield what a sitemap's bytes hold, in order, in memory that does not grow with the file.

    ``url`` is the file's own, which relative addresses are joined to. Lenient reading goes on after damage and yields a
    Problem for it; strict reading leaves out each faulty entry and ends at the first fault of the file itself. At most
    ``LIMIT_URLS`` entries and ``limit_bytes`` decoded bytes are read (SM-20, AMB-SM-3, AMB-SM-10). Nothing is raised.
    """
    yield from Reader(url, strict=strict, limit_bytes=limit_bytes).items(chunks)


def read(body: bytes, *, url: str, strict: bool = False, limit_bytes: int = LIMIT_BYTES, whole: bool = True) -> Sitemap:
    """Return a sitemap's bytes as one value; arguments as for ``scan``.

    A file that is faulty itself has no entries when read strictly (AMB-SM-4). Of a body that is not ``whole``, since it
    broke off on its way here, what the end cuts in two is left out, and that is no fault of the file's.
    """
    reader = Reader(url, strict=strict, limit_bytes=limit_bytes, whole=whole)
    entries: list[Entry] = []
    children: list[Child] = []
    problems: list[Problem] = []
    for item in reader.items((body,)):
        if isinstance(item, Entry):
            entries.append(item)
        elif isinstance(item, Child):
            children.append(item)
        else:
            problems.append(item)
    if reader.refused:
        entries, children = [], []
    return Sitemap(reader.kind, tuple(entries), tuple(children), tuple(problems))
