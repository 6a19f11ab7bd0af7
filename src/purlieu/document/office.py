"""What Word, PowerPoint, Excel and OpenDocument files say: XML in a zip, read as it comes.

Keeps nothing but the text. A file may unpack to a thousand times its size, nest without end or declare entities: the
first two are bounded here, the last ends the reading.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Final, Protocol
from urllib.parse import unquote
from xml.parsers import expat

from purlieu.document.open_document import OpenText
from purlieu.document.told import Enough, Telling, Unread
from purlieu.document.word import Slide, Styles, Word

MOST_UNPACKED: Final = 64 * 1024 * 1024
"""Bytes of all parts of one file together."""
MOST_PARTS: Final = 2_000
"""Slides or sheets that are read."""
MOST_SHARED: Final = 8_000_000
"""Characters of the texts that the cells of all sheets share."""
_PIECE: Final = 65_536
_PACKINGS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_LOCKED: Final = 0x1
_FACTS: Final = {
    "title": "title", "creator": "author", "initial-creator": "author", "description": "description",
    "subject": "description", "language": "language",
}  # fmt: skip


class Elements(Protocol):
    """Takes the elements of a part, by their names without prefixes."""

    def start(self, name: str, found: Mapping[str, str]) -> None:
        """Take a start tag with its attributes; one of relationships has its prefix "r:"."""
        ...

    def end(self, name: str) -> None:
        """Take an end tag."""
        ...

    def text(self, data: str) -> None:
        """Take characters."""
        ...


class Package:
    """The parts of a file, by name."""

    def __init__(self, body: bytes, most: int) -> None:
        """Open it, to read so many bytes of its parts at most. Raises Unread."""
        try:
            self._file = zipfile.ZipFile(BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError):
            raise Unread("damaged") from None
        self._parts = {one.filename: one for one in self._file.infolist()}
        self._room = most

    def __contains__(self, name: str) -> bool:
        """Return whether there is a part of that name."""
        return name in self._parts

    def small(self, name: str) -> bytes:
        """Return the first bytes of a part, none where there is no such."""
        return self._file.read(name) if name in self and self._parts[name].file_size < _PIECE else b""

    def parse(self, name: str, elements: Elements) -> None:
        """Give a part's elements. Raises Unread: it is missing, cut short or no XML."""
        part = self._parts.get(name)
        if part is None or part.compress_type not in _PACKINGS or part.flag_bits & _LOCKED:
            raise Unread("encrypted" if part and part.flag_bits & _LOCKED else "damaged")
        parser = _parser(elements)
        try:
            with self._file.open(part) as file:
                while piece := file.read(_PIECE):
                    self._room -= len(piece)
                    if self._room < 0:
                        raise Unread("too_large")
                    parser.Parse(piece, False)  # noqa: FBT003  expat's own signature
            parser.Parse(b"", True)  # noqa: FBT003  as above
        except (expat.ExpatError, zipfile.BadZipFile, zlib.error, EOFError, OSError, LookupError, ValueError):
            raise Unread("damaged") from None

    def targets(self, part: str) -> dict[str, tuple[str, str]]:
        """Return what a part ("" the file as a whole) is related to: (kind, name of the part) by id."""
        folder, name = posixpath.split(part)
        where, related = posixpath.join(folder, "_rels", f"{name}.rels"), _Relations()
        if where not in self:
            return {}
        self.parse(where, related)
        # As an address: from the part's own folder, or from the top.
        return {
            ident: (kind.rpartition("/")[2], posixpath.normpath(posixpath.join("/", folder, unquote(target)))[1:])
            for ident, (kind, target) in related.found.items()
        }


def _parser(elements: Elements) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    names: dict[str, str] = {}

    def local(name: str) -> str:
        known = names.get(name)
        if known is None:
            space, _, last = name.rpartition(" ")
            known = names[name] = f"r:{last}" if space.endswith("/relationships") else last
        return known

    def refuse(*_declared: object) -> None:
        raise Unread("damaged")  # no such file has a DTD

    parser.StartElementHandler = lambda name, found: elements.start(
        local(name), {local(key): value for key, value in found.items()}
    )
    parser.EndElementHandler = lambda name: elements.end(local(name))
    parser.CharacterDataHandler = elements.text
    parser.StartDoctypeDeclHandler = refuse
    return parser


class _Relations:
    """The relationships of a part."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, str]] = {}

    def start(self, name: str, found: Mapping[str, str]) -> None:
        if name.endswith("Relationship") and found.get("TargetMode") != "External":
            self.found[found.get("Id", "")] = (found.get("Type", ""), found.get("Target", ""))

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


class _Facts:
    """Title, author and so on, of either family."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._pieces: list[str] = []

    def start(self, name: str, found: Mapping[str, str]) -> None:  # noqa: ARG002  as ``Elements``
        self._pieces.clear()

    def end(self, name: str) -> None:
        if fact := _FACTS.get(name):
            self._telling.say(fact, "".join(self._pieces))
        self._pieces.clear()

    def text(self, data: str) -> None:
        self._pieces.append(data)


class _Root:
    """The name of the first element."""

    def __init__(self) -> None:
        self.name = ""

    def start(self, name: str, found: Mapping[str, str]) -> None:  # noqa: ARG002  as ``Elements``
        self.name = name
        raise Enough

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


class _Parts:
    """What a presentation or workbook lists: (relation, name), in order; those that are hidden left out."""

    def __init__(self, element: str) -> None:
        self._element = element
        self.found: list[tuple[str, str]] = []

    def start(self, name: str, found: Mapping[str, str]) -> None:
        if name == self._element and not found.get("state", "").lower().endswith("hidden"):
            self.found.append((found.get("r:id", ""), found.get("name", "")))

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


class _Shared:
    """The texts that cells share, without readings of characters (phonetic runs)."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._pieces: list[str] = []
        self._room = MOST_SHARED
        self._reading = self._in_text = False

    def start(self, name: str, found: Mapping[str, str]) -> None:  # noqa: ARG002  as ``Elements``
        self._reading = self._reading or name == "rPh"
        self._in_text = name == "t"

    def end(self, name: str) -> None:
        self._in_text = False
        if name == "rPh":
            self._reading = False
        elif name == "si":
            said = "".join(self._pieces)
            self._pieces.clear()
            self._room -= len(said) + 8
            if self._room < 0:
                raise Enough
            self.texts.append(said)

    def text(self, data: str) -> None:
        if self._in_text and not self._reading:
            self._pieces.append(data)


class _Sheet:
    """The rows of a sheet, a line each."""

    def __init__(self, telling: Telling, shared: list[str]) -> None:
        self._telling, self._shared = telling, shared
        self._cells: list[str] = []
        self._pieces: list[str] = []
        self._kind = ""
        self._takes = False

    def start(self, name: str, found: Mapping[str, str]) -> None:
        if name == "c":
            self._kind = found.get("t", "n")
            self._pieces.clear()
        self._takes = name == "v" or (name == "t" and self._kind == "inlineStr")

    def end(self, name: str) -> None:
        self._takes = False
        if name == "c" and self._pieces and self._kind != "e":
            self._cells.append(self._value("".join(self._pieces)))
        elif name == "row":
            self._telling.take("\t".join(self._cells))
            self._cells.clear()

    def text(self, data: str) -> None:
        if self._takes:
            self._pieces.append(data)

    def _value(self, said: str) -> str:
        if self._kind != "s":
            return said
        number = int(said) if said.isascii() and said.isdigit() and len(said) < 10 else -1
        return self._shared[number] if 0 <= number < len(self._shared) else ""


def read(body: bytes, telling: Telling, most: int = MOST_UNPACKED) -> None:
    """Tell what a file says that unpacks to so many bytes at most. Raises Unread, and Enough."""
    package = Package(body, most)
    try:
        kind = package.small("mimetype")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        raise Unread("damaged") from None
    if kind.startswith(b"application/vnd.oasis.opendocument"):
        _open_document(package, telling, is_sheet=b"spreadsheet" in kind, is_slides=b"presentation" in kind)
        return
    related = list(package.targets("").values())
    main = next((name for kind, name in related if kind == "officeDocument"), "")
    if not main:
        raise Unread("unknown_form")
    facts = next((name for kind, name in related if kind == "core-properties"), "")
    if facts in package:
        package.parse(facts, _Facts(telling))
    root = _Root()
    _parse_some(package, main, root)
    form = _FORMS.get(root.name)
    if form is None:
        raise Unread("unknown_form")
    form(package, main, telling)


def _parse_some(package: Package, part: str, elements: Elements) -> None:
    """Give a part's elements until they are enough."""
    try:
        package.parse(part, elements)
    except Enough:
        return


def _word(package: Package, main: str, telling: Telling) -> None:
    styles = Styles()
    for kind, name in package.targets(main).values():
        if kind == "styles" and name in package:
            package.parse(name, styles)
    package.parse(main, Word(telling, styles.levels))


def _listed(package: Package, main: str, element: str) -> list[tuple[str, str]]:
    """Return (part, name) of what a presentation or workbook lists."""
    listed, related = _Parts(element), package.targets(main)
    package.parse(main, listed)
    found = [(related[ident][1], name) for ident, name in listed.found if ident in related]
    return [one for one in found if one[0] in package][:MOST_PARTS]


def _presentation(package: Package, main: str, telling: Telling) -> None:
    for part, _ in _listed(package, main, "sldId"):
        package.parse(part, Slide(telling))


def _workbook(package: Package, main: str, telling: Telling) -> None:
    shared = _Shared()
    for kind, name in package.targets(main).values():
        if kind == "sharedStrings" and name in package:
            _parse_some(package, name, shared)
    for part, name in _listed(package, main, "sheet"):
        telling.take(name, 2)
        package.parse(part, _Sheet(telling, shared.texts))


_FORMS: Final[Mapping[str, Callable[[Package, str, Telling], None]]] = {
    "document": _word,
    "presentation": _presentation,
    "workbook": _workbook,
}
"""By the name of the first element of the main part."""


class _Encryption:
    """Whether an OpenDocument file's manifest says that it is encrypted."""

    def start(self, name: str, found: Mapping[str, str]) -> None:  # noqa: ARG002  as ``Elements``
        if name == "encryption-data":
            raise Unread("encrypted")

    def end(self, name: str) -> None:
        pass

    def text(self, data: str) -> None:
        pass


def _open_document(package: Package, telling: Telling, *, is_sheet: bool, is_slides: bool) -> None:
    if "META-INF/manifest.xml" in package:
        package.parse("META-INF/manifest.xml", _Encryption())
    if "meta.xml" in package:
        package.parse("meta.xml", _Facts(telling))
    package.parse("content.xml", OpenText(telling, is_sheet=is_sheet, is_slides=is_slides))
