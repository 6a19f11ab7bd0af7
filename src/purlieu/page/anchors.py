"""The places on a page that links can point to, and the places that its links ask for on pages (``#fragment``).

A reading of its own, for those who ask for it alone: the one that every page gets knows nothing of ids. Pure text in,
bytes out; linear in the text; no page raises.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b
from typing import Final, NamedTuple
from urllib.parse import unquote

from purlieu.page import encoding, markup
from purlieu.url import Joiner

MOST_IDS: Final = 100_000
"""Places kept of a page; of one that has more, nothing is said to be missing."""
MOST_ASKED: Final = 50_000
"""Places that one page may ask for, all told; links beyond are not looked at."""
_SIZE: Final = 5
"""Bytes of an id's hash: two of 100,000 ids and one question meet by chance once in ten million times."""
_DIRECTIVE: Final = ":~:"  # what follows it is for the browser and never for the page (Fragment Directive, 3.1)
_OF_SCRIPTS: Final = ("!", "/")  # "#!/news" and "#/news" are states of a script, no places
_STRIPPED: Final = "".join(map(chr, range(33)))
_REMOVED: Final = dict.fromkeys(map(ord, "\t\n\r"))
# Tags of usual spelling that surely tell nothing, with neither id nor name nor a # in them: a run of them is one token.
_SPECIAL: Final = "base|script|style|title|textarea|xmp|iframe|noembed|noframes|plaintext|template"
_DULL: Final = (
    rf"(?:(?:/(?!template)[a-z][a-z0-9]*|(?!(?:{_SPECIAL})[\t\n\f\r />])[a-z][a-z0-9]*"
    r"(?:[\t\n\f\r ]++(?!id=|name=)[a-z-]++=\"[^\"#&]*+\")*+[\t\n\f\r ]*+)>[^<]*+<(?=[a-zA-Z/!?]))*+"
)
_MAY_TELL: Final = re.compile(r"id|name|#|&num", re.IGNORECASE)


class Anchors(NamedTuple):
    """``ids``: the hashes of a page's places, sorted and joined; ``asked``: ``href#fragment``, one a line, by zlib."""

    ids: bytes
    asked: bytes


def read(body: bytes, encoding_name: str, url: str) -> Anchors | None:
    """Return the places of an HTML page that came from a URL, and those it asks for; None for one with too many.

    What the page asks of itself and has is left out of what it asks for.
    """
    text = markup.without_cdata(encoding.decoded(body, encoding_name).replace("\0", "\ufffd"))
    ids: set[bytes] = set()
    references: dict[str, None] = {}
    base: str | None = None
    for name, found in _elements(text):
        if place := found.get("id"):
            ids.add(_hash(place))
        if name in {"a", "area"}:
            if name == "a" and (place := found.get("name")):
                ids.add(_hash(place))
            reference = found.get("href", "")
            if "#" in reference and len(references) < MOST_ASKED:
                references[reference] = None
        elif name == "base" and base is None:
            base = found.get("href")
    if len(ids) > MOST_IDS:
        return None
    packed = b"".join(sorted(ids))
    joiner = Joiner(url, encoding=encoding_name)
    if base is not None and (based := joiner(base)) and based.startswith(("http://", "https://")):
        joiner = Joiner(based, encoding=encoding_name)
    asked = dict.fromkeys(_asked(references, joiner, url.partition("#")[0], packed))
    return Anchors(packed, zlib.compress("\n".join(asked).encode("utf-8", "replace"), 1) if asked else b"")


def lines(asked: bytes) -> list[str]:
    """Return what a page asks for: ``href#fragment`` each."""
    return zlib.decompress(asked).decode().split("\n") if asked else []


def has(ids: bytes, fragment: str) -> bool:
    """Return whether a page with these places has the one that a fragment names (HTML, 7.4.6.4, indicated part)."""
    decoded = unquote(fragment, errors="replace")
    if _is_in(_hash(fragment), ids) or (decoded != fragment and _is_in(_hash(decoded), ids)):
        return True
    return decoded.lower() == "top"


def _is_in(hashed: bytes, ids: bytes) -> bool:
    count = len(ids) // _SIZE
    at = bisect_left(range(count), hashed, key=lambda place: ids[place * _SIZE : place * _SIZE + _SIZE])
    return ids[at * _SIZE : at * _SIZE + _SIZE] == hashed


def _hash(place: str) -> bytes:
    return blake2b(place.encode("utf-8", "replace"), digest_size=_SIZE).digest()


def _elements(text: str, passed_over: str = _DULL) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (lower-case name, attributes) of the elements outside templates that may have one of these attributes."""
    template = 0
    for token in markup.any_token(passed_over).finditer(text):
        name = (token["name"] or token[markup.RAW_NAME] or "").lower()
        if name in {"template", "/template"}:
            template = max(0, template + (1 if name == "template" else -1))
        elif name and not template:
            written = token["attributes"] or token[markup.RAW_ATTRIBUTES] or ""
            if name == "base" or _MAY_TELL.search(written):
                yield name, markup.attributes(written)


def _asked(references: dict[str, None], joiner: Joiner, url: str, ids: bytes) -> Iterator[str]:
    for reference in references:
        fragment = reference.strip(_STRIPPED).translate(_REMOVED).partition("#")[2].partition(_DIRECTIVE)[0]
        href = joiner(reference) if fragment and not fragment.startswith(_OF_SCRIPTS) else None
        if href and href.startswith(("http://", "https://")) and not (href == url and has(ids, fragment)):
            yield f"{href}#{fragment}"
