"""A page's outlinks as one blob (R-1.5): what was found on it, as it was found.

One line per link, ``KIND`` one letter (upper case: nofollow) and the href or raw text;
zlib level 1. The text stands in it, not only hashes, so that an unchanged page can be
replayed through a changed scope and no target has to be looked up (docs/decisions).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

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
    "media": "v",
    "post": "o",
}
KINDS: Final = {letter: kind for kind, letter in LETTERS.items()}

_WINDOW, _MEMORY = 14, 6
"""A page's links are a few kB. With zlib's own 15 and 8 most of the time goes into clearing tables: 65 µs, and 7 so."""

Link = tuple[str, str, bool, bool]
"""href (or raw text), kind, nofollow, parsed."""


class Packed(Sequence[Link]):
    """Links that another process has packed: their blob is made, and they are read when somebody looks at them."""

    __slots__ = ("_links", "_text", "blob")

    def __init__(self, text: bytes, blob: bytes) -> None:
        """Take what ``text_of`` has returned, and the blob of it."""
        self.blob = blob
        self._text = text
        self._links: list[Link] | None = None

    def _read(self) -> list[Link]:
        if self._links is None:
            self._links = list(map(read, self._text.decode("utf-8", "surrogatepass").split("\n")))
            self._text = b""
        return self._links

    @overload
    def __getitem__(self, at: int) -> Link: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Link]: ...

    def __getitem__(self, at: int | slice) -> Link | Sequence[Link]:
        """Return one link, or some."""
        return self._read()[at]

    def __iter__(self) -> Iterator[Link]:
        """Yield the links in order."""
        return iter(self._read())

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        """Return whether the links are the same, however they are kept."""
        return isinstance(other, Sequence) and self._read() == list(other)

    __hash__ = None  # type: ignore[assignment]


def text_of(links: Iterable[Link]) -> bytes:
    """Return the lines of the links."""
    lines = [
        (LETTERS[kind].upper() if nofollow else LETTERS[kind]) + href
        if parsed
        else "u" + href.replace("\n", " ").replace("\r", " ")
        for href, kind, nofollow, parsed in links
    ]
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def blob_of(text: bytes) -> bytes:
    """Return the blob of what ``text_of`` has returned."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    return packer.compress(text) + packer.flush()


def pack(links: Iterable[Link]) -> bytes | None:
    """Return the blob of the links, None when there are none."""
    if isinstance(links, Packed):
        return links.blob
    text = text_of(links)
    return blob_of(text) if text else None


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
