"""One sitemap file, whatever its format: bytes to items, within the limits.

Knows how the formats are told apart, and text sitemaps. Must not know what XML elements mean (``document.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.sentence import Sentence
from purlieu.sitemap.document import SHAPES, Document
from purlieu.sitemap.draft import fits, is_address
from purlieu.sitemap.element import START, Elements
from purlieu.sitemap.entry import Child, Entry, Kind, Notes, Problem
from purlieu.sitemap.markup import Markup, judged
from purlieu.sitemap.unpack import LIMIT_BYTES, PIECE, texts

LIMIT_URLS = 50_000  # SM-20, SM-23
_LONGEST_LINE = 8_192  # characters kept of one line of a text sitemap
_TOP = re.compile(r"[^/]*://[^/?#\\]*[/?#\\]")
_BLANK = " \t\v\f\0\ufeff"
_LOOKED_AT = 20  # lines that show whether a text is a sitemap


class Reader:
    """Reads one sitemap. ``kind`` and ``refused`` are known once all items are taken."""

    def __init__(self, url: str, *, strict: bool = False, limit_bytes: int = LIMIT_BYTES, whole: bool = True) -> None:
        """Prepare to read the file at ``url``; ``whole`` says that nothing got lost on its way here."""
        self._url = url
        self._strict = strict
        self._limit_bytes = limit_bytes
        self._whole = whole
        self._notes = Notes(strict=strict)
        self._kind: Kind = "unknown"
        self._document: Document | None = None
        self._top = "\n"  # scheme and host of the last address; this begins none

    @property
    def kind(self) -> Kind:
        """The format, unknown if it is none."""
        return self._document.kind if self._document else self._kind

    @property
    def refused(self) -> bool:
        """Whether the file itself is so faulty that none of it counts."""
        return self._notes.refused

    @property
    def line(self) -> int:
        """The line that has been reached, from 1."""
        return self._notes.line()

    @property
    def size_bytes(self) -> int:
        """The size of what was read, unpacked."""
        return self._notes.size_bytes

    def items(self, chunks: Iterable[bytes]) -> Iterator[Entry | Child | Problem]:
        """Yield entries, children and problems; see ``purlieu.sitemap.scan``."""
        notes = self._notes
        pieces = texts(chunks, notes, self._limit_bytes)
        for count, item in enumerate(self._found(pieces if self._whole else _cut_off(pieces, notes)), 1):
            if notes.found:
                yield from notes.drain()
            if notes.refused:
                break
            if count > LIMIT_URLS:
                notes.end("too-many")
                break
            notes.allow()
            if not item.loc.startswith(self._top) and not self._is_url(item.loc):
                notes.add("bad-loc", item.loc)
                continue
            yield item
        yield from notes.drain()
        yield from notes.rest()

    def _is_url(self, loc: str) -> bool:
        """Say whether an address is valid, and remember its host: whatever follows a valid one is valid too."""
        top = _TOP.match(loc)
        try:
            urls.parse(top[0] if top else loc)
        except UrlError:
            return False
        if top:
            self._top = top[0]
        return True

    def _found(self, pieces: Iterator[str]) -> Iterator[Entry | Child]:
        is_xml, pieces = _is_xml(pieces)
        if not is_xml:
            return self._lines(pieces)
        if self._strict:
            pieces = judged(pieces, self._notes)
        markup = Markup(pieces, self._notes)
        self._document = Document(Elements(markup, self._notes), self._notes, self._url)
        return self._document.items()

    def _lines(self, pieces: Iterator[str]) -> Iterator[Entry]:
        """Yield the addresses of a text sitemap, one a line (SM-41)."""
        notes, number = self._notes, 0
        notes.line = lambda: max(number, 1)
        for line in _split(pieces, notes):
            number += 1
            if is_address(line):
                self._kind = "text"
                if fits(line, notes):
                    yield Entry(line)
            elif line:
                notes.add("line", line)
            if notes.ended:
                return
        if self._kind == "unknown":
            notes.add("not-a-sitemap", Sentence("no line is an address"))


def looks_like(start: bytes, content_type: str | None = None) -> bool:
    """Say whether a body that begins with ``start`` is a sitemap or feed, by its first element or its first lines.

    Text counts only with the content type ``text/plain`` or none, and if each of its first lines is an address.
    """
    notes = Notes(strict=False)
    is_xml, pieces = _is_xml(texts((start[:PIECE],), notes, 16 * PIECE))
    if is_xml:
        first = next((event for event in Elements(Markup(pieces, notes), notes).events() if event[0] is START), None)
        return first is not None and first[2] in SHAPES
    if (content_type or "text/plain").partition(";")[0].strip().lower() != "text/plain":
        return False
    lines = [line for line in "".join(pieces).splitlines()[:_LOOKED_AT] if line.strip()]
    return bool(lines) and all(is_address(line.strip()) for line in lines)


def _is_xml(pieces: Iterator[str]) -> tuple[bool, Iterator[str]]:
    """Say whether a text is markup, and give it back whole, but for white space beyond the first piece's size."""
    start = next(pieces, "")
    while (not start or start.isspace()) and (more := next(pieces, "")):
        start = start[-PIECE:] + more
    return start.lstrip()[:1] == "<", chain((start,), pieces)


def _cut_off(pieces: Iterator[str], notes: Notes) -> Iterator[str]:
    yield from pieces
    notes.cut = True


def _split(pieces: Iterator[str], notes: Notes) -> Iterator[str]:
    """Yield the lines of a text without the white space around them, each cut at a length no address has.

    The last line is left out where the text broke off, since it may be half an address.
    """
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        rest = rest[:_LONGEST_LINE]
        for line in lines:
            yield line[:_LONGEST_LINE].strip(_BLANK)
    if not notes.cut:
        yield rest.strip(_BLANK)
