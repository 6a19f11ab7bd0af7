"""The paragraphs of Word documents and of slides: both are paragraphs of runs.

Takes elements and tells paragraphs. Readings of characters (ruby), deleted text, field codes, and the second form of
what is there for older programs, are no text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from purlieu.document.told import Telling

_HEADING: Final = re.compile(r"heading ([1-9])", re.IGNORECASE)
_SKIPPED: Final = frozenset({"rt", "del", "moveFrom", "Fallback", "instrText", "delText"})
_BREAKS: Final = {"br": "\n", "cr": "\n", "tab": "\t", "noBreakHyphen": "-"}
_TITLES: Final = frozenset({"title", "ctrTitle"})


class Styles:
    """Which styles are headings: ids are of the writer's language, names are not."""

    def __init__(self) -> None:
        """Begin with none."""
        self.levels: dict[str, int] = {}
        self._style = ""

    def start(self, name: str, found: Mapping[str, str]) -> None:
        """Take a start tag."""
        value = found.get("val", "")
        if name == "style":
            self._style = found.get("styleId", "")
        elif name == "name" and self._style:
            heading = _HEADING.fullmatch(value)
            if heading or value.lower() == "title":
                self.levels[self._style] = int(heading[1]) if heading else 1
        elif name == "outlineLvl" and self._style and value.isdecimal() and int(value) < 9:
            self.levels.setdefault(self._style, int(value) + 1)

    def end(self, name: str) -> None:
        """Take an end tag."""

    def text(self, data: str) -> None:
        """Take characters."""


class Paragraphs:
    """Takes paragraphs of runs of text, and tells each; ``level`` above 0 makes a heading of it."""

    def __init__(self, telling: Telling) -> None:
        """Tell these."""
        self._telling = telling
        self._pieces: list[str] = []
        self._skipped = 0
        self._runs = 0
        self._takes = False
        self.level = 0

    def start(self, name: str, found: Mapping[str, str]) -> None:  # noqa: ARG002  as ``office.Elements``
        """Take a start tag."""
        if name in _SKIPPED:
            self._skipped += 1
        self._runs += name == "r"
        self._takes = name == "t" and not self._skipped
        if not self._skipped and (name == "br" or (self._runs and name in _BREAKS)):
            self._pieces.append(_BREAKS[name])

    def end(self, name: str) -> None:
        """Take an end tag."""
        self._takes = False
        if name in _SKIPPED:
            self._skipped -= 1
        self._runs -= name == "r"
        if name == "p":
            said, level, self.level = "".join(self._pieces), self.level, 0
            self._pieces.clear()
            self._telling.take(said, level)

    def text(self, data: str) -> None:
        """Take characters."""
        if self._takes:
            self._pieces.append(data)


class Word(Paragraphs):
    """The main part of a Word document; ``levels`` are those of ``Styles``."""

    def __init__(self, telling: Telling, levels: Mapping[str, int]) -> None:
        """Tell its paragraphs."""
        super().__init__(telling)
        self._levels = levels

    def start(self, name: str, found: Mapping[str, str]) -> None:
        """Take a start tag."""
        value = found.get("val", "")
        if name == "pStyle":
            self.level = self._levels.get(value, 0)
        elif name == "outlineLvl" and value.isdecimal() and int(value) < 9:
            self.level = int(value) + 1
        super().start(name, found)


class Slide(Paragraphs):
    """A slide; what stands in the place of its title is a heading."""

    def __init__(self, telling: Telling) -> None:
        """Tell its paragraphs."""
        super().__init__(telling)
        self._in_title = False

    def start(self, name: str, found: Mapping[str, str]) -> None:
        """Take a start tag."""
        if name == "sp":
            self._in_title = False
        elif name == "ph":
            self._in_title = found.get("type", "") in _TITLES
        super().start(name, found)

    def end(self, name: str) -> None:
        """Take an end tag."""
        self.level = int(self._in_title)
        super().end(name)
