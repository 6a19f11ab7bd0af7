"""The text of OpenDocument files: paragraphs and headings, wherever they stand.

Takes elements and tells paragraphs. Comments, readings of characters (ruby) and deleted text are no text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from purlieu.document.told import Telling

_SKIPPED: Final = frozenset({"annotation", "ruby-text", "tracked-changes"})
_PARAGRAPHS: Final = frozenset({"p", "h"})
_MOST_BLANKS: Final = 100


class OpenText:
    """Takes the elements of ``content.xml``."""

    def __init__(self, telling: Telling, *, is_sheet: bool, is_slides: bool) -> None:
        """Tell its paragraphs: of a sheet a row is a line, its name a heading; of slides the titles are headings."""
        self._telling = telling
        self._is_sheet, self._is_slides = is_sheet, is_slides
        self._pieces: list[str] = []
        self._cells: list[str] = []
        self._open: list[int] = []
        """Levels of the paragraphs that are open; one may hold a frame with others."""
        self._skipped = 0
        self._in_title = False

    def start(self, name: str, found: Mapping[str, str]) -> None:
        """Take a start tag."""
        if name in _SKIPPED:
            self._skipped += 1
        elif name in _PARAGRAPHS:
            level = found.get("outline-level", "1") if name == "h" else "0"
            self._open.append(int(level) if level.isdecimal() and len(level) < 3 else 1)
        elif name == "table" and self._is_sheet:
            self._telling.take(found.get("name", ""), 2)
        elif name == "frame" and self._is_slides:
            self._in_title = found.get("class", "") == "title"
        elif self._open and not self._skipped:
            self._blank(name, found)

    def _blank(self, name: str, found: Mapping[str, str]) -> None:
        if name == "s":
            count = found.get("c", "1")
            self._pieces.append(" " * (min(int(count), _MOST_BLANKS) if count.isdecimal() and len(count) < 10 else 1))
        elif name in {"tab", "line-break"}:
            self._pieces.append("\t" if name == "tab" else "\n")

    def end(self, name: str) -> None:
        """Take an end tag."""
        if name in _SKIPPED:
            self._skipped -= 1
        elif name in _PARAGRAPHS and self._open:
            level, said = self._open.pop(), "".join(self._pieces)
            self._pieces.clear()
            if self._is_sheet:
                self._cells.append(said)
            else:
                self._telling.take(said, level or int(self._in_title))
        elif name == "table-row" and self._cells:
            said = "\t".join(self._cells)
            self._cells.clear()
            self._telling.take(said)

    def text(self, data: str) -> None:
        """Take characters."""
        if self._open and not self._skipped:
            self._pieces.append(data)
