"""What the text of a run's settings says, and whether two runs read the same out of an answer.

The same of how they judge what they find. Knows which keys say what is read. Knows no run and no store.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

_OF_EITHER: Final = ("fetch.user_agent", "fetch.accept_language")
OF_PAGES: Final = (
    *_OF_EITHER, "fetch.page_bytes", "fetch.classes", "links.kinds", "links.check_resources", "links.check_fragments",
    "sitemap.mode", "sitemap.use", "robots.agent", "ledger.near_duplicates", "scope.only_seeds",
)  # fmt: skip
"""Keys that say what is asked for and read of a page."""
OF_FILES: Final = (*_OF_EITHER, "fetch.sitemap_bytes", "sitemap.strict", "normalise")
"""The same of a sitemap file, whose entries are stored as the owner's normalisers made them."""
_OF_NO_JUDGEMENT: Final = ("politeness", "formats", "output", "store", "workers")
_ABSENT: Final = object()


def reads_alike(one: str, other: str, keys: tuple[str, ...]) -> bool:
    """Return whether two settings texts agree in keys; one that a text does not have was not there at its time."""
    if one == other:
        return True
    pairs = ((_value(one, key), _value(other, key)) for key in keys)
    return all(_ABSENT in pair or pair[0] == pair[1] for pair in pairs)


def keeps_more(one: str, other: str, *kinds: str) -> bool:
    """Return whether settings keep what others do not, of ``text`` and ``body``: then an answer of 304 is no answer.

    The text of documents is kept where they are read.
    """
    keeps, kept = (str(tables(text).get("keep", "")) for text in (one, other))
    reads, read = (_value(text, "documents.read") is True for text in (one, other))
    return ("text" in kinds and reads and not read) or any(kind in keeps and kind not in kept for kind in kinds)


def judge_alike(one: str, other: str) -> bool:
    """Return whether two settings texts judge alike what is found: pace and files have no part in that."""
    return one == other or _of_judgement(one) == _of_judgement(other)


def _of_judgement(text: str) -> dict[str, Any]:
    return {key: value for key, value in tables(text).items() if key not in _OF_NO_JUDGEMENT}


def _value(text: str, key: str) -> Any:
    found: Any = tables(text)
    for part in key.split("."):
        found = found.get(part, _ABSENT) if isinstance(found, Mapping) else _ABSENT
    # Pages are read alike in both modes that look for sitemaps.
    return found == "links-only" if key == "sitemap.mode" and found is not _ABSENT else found


@lru_cache(maxsize=8)
def tables(text: str) -> Mapping[str, Any]:
    """Return what a run's settings say as nested tables, to be looked at only; nothing when the text is no TOML."""
    import tomllib  # where settings are only made it is not needed

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
