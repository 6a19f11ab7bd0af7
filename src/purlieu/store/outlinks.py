"""A page's outlinks as one blob (R-1.5): what was found on it, as it was found.

One line per link, ``KIND`` one letter (upper case: nofollow) and the href or raw text;
zlib level 1. The text stands in it, not only hashes, so that an unchanged page can be
replayed through a changed scope and no target has to be looked up (docs/decisions).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

# "u" marks a reference that is no URL.
LETTERS: Final = {
    "a": "a",
    "area": "r",
    "frame": "f",
    "iframe": "i",
    "next": "n",
    "prev": "p",
    "alternate": "l",
    "refresh": "h",
    "sitemap": "s",
    "canonical": "c",
    "image": "g",
    "script": "j",
    "style": "y",
    "form": "m",
}
KINDS: Final = {letter: kind for kind, letter in LETTERS.items()}

Link = tuple[str, str, bool, bool]
"""href (or raw text), kind, nofollow, parsed."""


def pack(links: Iterable[Link]) -> bytes | None:
    """Return the blob of the links, None when there are none."""
    lines = [
        (LETTERS[kind].upper() if nofollow else LETTERS[kind]) + href
        if parsed
        else "u" + href.replace("\n", " ").replace("\r", " ")
        for href, kind, nofollow, parsed in links
    ]
    return zlib.compress("\n".join(lines).encode("utf-8", "surrogatepass"), 1) if lines else None


def lines(blob: bytes | None) -> list[str]:
    """Return a blob's lines, one for each link; equal lines are equal links."""
    return zlib.decompress(blob).decode("utf-8", "surrogatepass").split("\n") if blob else []


def read(line: str) -> Link:
    """Return the link of a line."""
    letter, href = line[0], line[1:]
    return (href, "a", False, False) if letter == "u" else (href, KINDS[letter.lower()], letter.isupper(), True)


def unpack(blob: bytes | None) -> Iterator[Link]:
    """Yield the links of a blob in the order they were packed."""
    return map(read, lines(blob))
