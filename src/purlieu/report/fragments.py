"""What an audit says of links to places on pages (``page#place``): those of which the page has no such place.

Compares what pages ask of each other with the ids they have, as the crawl kept both (``links.check_fragments``). Holds
what is wrong, and the ids of a bounded number of pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from purlieu.audit import Fault
from purlieu.page import anchors
from purlieu.store.audit import AuditRows

EXAMPLES: Final = 5
_PAGES: Final = 256
"""Pages whose ids are remembered: half a megabyte each at most, a few hundred bytes as a rule."""


def faults(rows: AuditRows, normal: Callable[[str], str]) -> Iterator[Fault]:
    """Yield a fault for each place that links ask for and that its page, which was fetched as HTML, does not have.

    Of a page that redirects nothing is told, nor of one that the run has not read.
    """
    ids_of = lru_cache(maxsize=_PAGES)(rows.ids_of)
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    for page, asked in rows.asked():
        missing: dict[str, None] = {}
        for line in anchors.lines(asked):
            href, _, fragment = line.partition("#")
            target = normal(href)
            ids = ids_of(target)
            if ids is not None and not anchors.has(ids, fragment):
                missing[f"{target}#{fragment}"] = None
        for place in missing:
            count, first = found.get(place, (0, ()))
            found[place] = (count + 1, (*first, page) if count < EXAMPLES else first)
    for place, (count, first) in sorted(found.items()):
        yield Fault("broken_fragment", place, "", count, tuple(sorted(first)))
