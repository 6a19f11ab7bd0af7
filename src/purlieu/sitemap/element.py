"""Elements: tags to well-nested starts and ends with their namespaces.

Knows nesting and prefixes, and mends what owners get wrong in both. Must not know which elements a sitemap has.
"""

from __future__ import annotations

from collections.abc import Iterator

from purlieu.sitemap.entry import Notes
from purlieu.sitemap.markup import Markup, attributes
from purlieu.value import dataclass, field

START, END, TEXT = "start", "end", "text"
# (START, namespace, name, attributes as written) · (END, namespace, name, "") · (TEXT, text, "", "")
Event = tuple[str, str, str, str]

UNDECLARED = "?"  # stands before a prefix that is used as a namespace, since nothing declares it
_DEEPEST = 64  # open elements that are remembered; what lies deeper is passed over
_MOST = 2_000_000  # elements read of one file: forty for each of 50,000 entries
_MOST_NAMES = 1_000  # names remembered with their namespace


@dataclass(frozen=True, slots=True)
class _Scope:
    """The prefixes declared at one place, and what they make of the names met there."""

    prefixes: dict[str, str]
    known: dict[str, tuple[str, str]] = field(default_factory=dict)

    def under(self, raw: str) -> _Scope:
        """Return the scope of an element with these attributes."""
        declared = {
            name[6:]: value.strip()
            for name, value in attributes(raw).items()
            if name == "xmlns" or name.startswith("xmlns:")
        }
        return _Scope(self.prefixes | declared) if declared else self

    def resolve(self, name: str, notes: Notes) -> tuple[str, str]:
        """Return namespace and local name (SM-10)."""
        prefix, colon, local = name.rpartition(":")
        namespace = self.prefixes.get(prefix)
        if namespace is None:
            namespace = UNDECLARED + prefix if colon else ""
            if colon:
                notes.add("prefix", name)
        if len(self.known) >= _MOST_NAMES:
            self.known.clear()
        self.known[name] = namespace, local
        return namespace, local


class Elements:
    """The elements of one document. Set ``listening`` while the text is wanted."""

    def __init__(self, markup: Markup, notes: Notes, most: int = _MOST) -> None:
        """Read at most so many elements from ``markup``; tell ``notes`` what is wrong."""
        self.listening = False
        self._markup = markup
        self._notes = notes
        self._scope = _Scope({"xml": "http://www.w3.org/XML/1998/namespace"})
        self._open: list[tuple[str, str, str, _Scope]] = []  # (name as written, namespace, name, scope around it)
        self._deeper = 0
        self._left = most

    def events(self) -> Iterator[Event]:
        """Yield starts, ends and wanted text; each start has its end, unless the file breaks off."""
        for text, end, name, raw in self._markup.tokens():
            if self.listening and text:
                yield TEXT, text, "", ""
            if name is not None:
                yield from self._start(name, raw or "")
            elif end is not None:
                yield from self._end(end)
            if self._notes.ended:
                return
        if self._open:
            self._notes.add("unclosed", self._open[-1][0])

    def wholes(self) -> Markup | None:
        """Return what reads children of the root as one each (``Markup.whole``), if that can be done just here.

        It cannot where the root's name has a prefix.
        """
        return self._markup if len(self._open) == 1 and ":" not in self._open[0][0] else None

    def namespace(self, prefix: str) -> str | None:
        """Return what a prefix stands for just here, None if it is not declared."""
        return self._scope.prefixes.get(prefix)

    def _start(self, name: str, raw: str) -> Iterator[Event]:
        self._left -= 1
        if self._left < 0:
            self._notes.end("too-full")
        empty = raw.endswith("/")
        if self._deeper or len(self._open) >= _DEEPEST:
            self._deeper += not empty
            return
        outer = scope = self._scope
        if "xmlns" in raw:
            scope = outer.under(raw)
        namespace, local = scope.known.get(name) or scope.resolve(name, self._notes)
        yield START, namespace, local, raw
        if empty:
            yield END, namespace, local, ""
            return
        self._scope = scope
        self._open.append((name, namespace, local, outer))

    def _end(self, name: str) -> Iterator[Event]:
        if self._deeper:
            self._deeper -= 1
            return
        if not self._open or self._open[-1][0] != name:
            if all(name != one[0] for one in self._open):
                self._notes.add("stray-tag", name)
                return
            self._notes.add("nesting", name)
        written = ""
        while written != name:
            written, namespace, local, self._scope = self._open.pop()
            yield END, namespace, local, ""
