"""XML as configuration files need it: elements and text, no DTD and no entities, which can reach files and blow up.

Knows nothing of what the elements mean. A text that is not well-formed comes back as one
mistake with its line.
"""

from __future__ import annotations

from xml.parsers import expat

from purlieu.errors import Mistake, SettingsError
from purlieu.value import dataclass, field

MOST_BYTES = 4 * 1024 * 1024
_DEEPEST = 32


@dataclass(slots=True)
class Element:
    """One element: its name, its line, the text right in it, and the elements in it."""

    name: str
    line: int = 1
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, name: str) -> Element | None:
        """Return the first element in it of that name."""
        return next((one for one in self.children if one.name == name), None)


class _Refused(Exception):
    """Something that a configuration file has no need of."""


def read(body: bytes, file: str) -> Element:
    """Return the root element of a text, which is kept below ``MOST_BYTES`` where it is read from its file.

    Raises SettingsError: not well-formed, or with a DTD.
    """
    top = Element("")
    stack = [top]
    pieces: list[list[str]] = [[]]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, _attributes: object) -> None:
        if len(stack) > _DEEPEST:
            raise _Refused(f"<{name}> is nested too deeply")
        element = Element(name, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)
        pieces.append([])

    def end(_name: str) -> None:
        stack.pop().text = "".join(pieces.pop())

    def text(data: str) -> None:
        pieces[-1].append(data)

    def refuse(*_declared: object) -> None:
        raise _Refused("a DTD is not read, since its entities could reach other files; take <!DOCTYPE ...> out")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(body, True)  # noqa: FBT003  expat's own signature
    except _Refused as refused:
        raise _mistake(parser.CurrentLineNumber, body, str(refused), file) from None
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise _mistake(error.lineno, body, f"this is no well-formed XML: {what}; mend it", file) from None
    except (LookupError, ValueError) as error:  # an encoding that there is not
        raise _mistake(1, body, f"its encoding cannot be read ({error}); save it as UTF-8", file) from None
    return top.children[0]


def _mistake(line: int, body: bytes, remedy: str, file: str) -> SettingsError:
    lines = body.splitlines() or [b""]
    shown = lines[min(line, len(lines)) - 1].decode("utf-8", "replace").strip()[:200]
    return SettingsError((Mistake(f"line {line}", shown, remedy, file),))
