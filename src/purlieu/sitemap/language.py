"""Which pages are one page in several languages: what each declares to a set on which all agree (SM-61).

Knows hreflang pairs only. Must not know how a page was read; what a page declares is asked of whoever does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

Alternates = Sequence[tuple[str, str]]
MOST: Final = 200
"""Pages of one set; a larger one is no set of translations, and none of it is written."""
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*|x-default", re.ASCII | re.IGNORECASE)


def agreed(href: str, declared: Callable[[str], Alternates | None]) -> tuple[tuple[str, str], ...]:
    """Return the (hreflang, href) pairs for a page: itself and all that it is joined to; () when it stands alone.

    ``declared`` gives what a page says of its languages, None for one that does not belong in a sitemap. Two pages are
    joined when each names the other, so every page of a set gets the same pairs. A language that two pages of the set
    claim goes to the one whose href comes first.
    """
    own = declared(href)
    if not own:
        return ()
    known: dict[str, Alternates] = {href: own}
    waiting = [href]
    while waiting:
        here = waiting.pop()
        for _, there in known[here]:
            if there in known:
                continue
            said = declared(there)
            if said and any(back == here for _, back in said):
                known[there] = said
                waiting.append(there)
                if len(known) > MOST:
                    return ()
    if len(known) == 1:
        return ()
    pairs: dict[str, str] = {}
    for language, there in sorted((language, there) for said in known.values() for language, there in said):
        if there in known and _LANGUAGE.fullmatch(language):
            pairs.setdefault(language, there)
    # One that got no language of its own cannot be listed, and a set that leaves one out is not reciprocal.
    return tuple(pairs.items()) if href in pairs.values() and len(set(pairs.values())) > 1 else ()
