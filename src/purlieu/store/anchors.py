"""What links to a page say: kept with the page that has them, gathered for the pages that they lead to as a run ends.

Knows the rows, and holds a bounded number of pages and texts, whatever the size of the run.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from typing import Final

from purlieu.store.database import Database

MOST_TEXTS: Final = 20
"""Texts kept of links to one page, the most frequent."""
_CANDIDATES: Final = 60
"""Texts of which it is counted how many pages have them; those met later are not."""
_AT_ONCE: Final = 50_000
"""Pages for which texts are gathered in one look at all links."""
_REMEMBERED: Final = 200_000
"""Addresses of which it is remembered to which page they lead."""


def packed(anchors: Sequence[tuple[str, str]]) -> bytes | None:
    """Return a page's links (href, text) as they are stored, None for none: a line each, zlib."""
    if not anchors:
        return None
    return zlib.compress("\n".join(f"{href}\t{text}" for href, text in anchors).encode("utf-8", "replace"), 1)


def gather(database: Database, crawl: int, run: int, normal: Callable[[str], str]) -> None:
    """Write for each page of a run what links to it say; ``normal`` gives the address that a link's is known by.

    Belongs into the transaction that ends the run.
    """
    last = 0
    while targets := list(database.rows("anchor_targets", run, crawl, last, _AT_ONCE)):
        last = targets[-1][0]
        counts = _counted(database, crawl, run, normal, {href: {} for _, href in targets})
        database.many("put_anchors", [(_told(counts[href]), number) for number, href in targets])


def _counted(
    database: Database, crawl: int, run: int, normal: Callable[[str], str], counts: dict[str, dict[str, int]]
) -> dict[str, dict[str, int]]:
    """Return how many pages say which text of each of these addresses."""
    known: dict[str, dict[str, int] | None] = {}
    last = 0
    while sources := list(database.rows("anchor_sources", run, crawl, last)):
        last = sources[-1][0]
        if len(known) > _REMEMBERED:
            known.clear()
        for _, source, links in sources:
            own = counts.get(source)
            for line in zlib.decompress(links).decode("utf-8", "replace").split("\n"):
                href, _, text = line.partition("\t")
                if href not in known:
                    known[href] = counts.get(href) if href in counts else counts.get(normal(href))
                texts = known[href]
                if texts is not None and texts is not own and (text in texts or len(texts) < _CANDIDATES):
                    texts[text] = texts.get(text, 0) + 1
    return counts


def _told(texts: dict[str, int]) -> str:
    """Return the most frequent texts; of equally frequent ones that of the page that was met first."""
    best = sorted(texts, key=lambda text: -texts[text])[:MOST_TEXTS]
    return json.dumps(best, ensure_ascii=False)
