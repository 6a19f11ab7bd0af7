"""What the terminal says, in the owner's language.

Texts stand in English where they are said; the other languages are gettext catalogues
in ``purlieu/locale``. Sentences for endings and findings are not here: their tables
have them.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TextIO

from purlieu.outcome import LANGUAGES
from purlieu.sentence import LOCALE, Say, speaker

__all__ = [
    "LOCALE",
    "Say",
    "clock",
    "columned",
    "fitted",
    "moment",
    "padded",
    "safe",
    "size",
    "speaker",
    "tongue",
    "width",
]  # what every command takes from here

_LEAST_COLUMNS: Final = 24
_WIDE: Final = r"\u2e80-\uffdf"
_LAST_COLUMN: Final = r"(?:.*\s\s)?"
_UNIT: Final = rf"[（「『【《]*(?:[^\s{_WIDE}]+|[{_WIDE}])[。、，；：！？）」』】》…]*\s*|\s+"
"""What no line is broken within: a word, or a sign of a script that has none, each with its brackets and stops."""


def tongue(typed: str | None, kept: str = "en") -> str:
    """Return the language to speak on the terminal: the one typed, else that of the settings, else the machine's.

    English in the settings is what they have when nobody chose: then LC_ALL, LC_MESSAGES or LANG, the first that is
    set, may name another that there is. Files take the language of the settings alone.
    """
    if typed or kept != "en":
        return typed or kept
    named = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return named[:2] if named[:2] in LANGUAGES and not named[2:3].isalpha() else "en"


def clock(seconds: float) -> str:
    """Return a span as ``H:MM:SS``."""
    whole = max(0, int(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def moment(at: float) -> str:
    """Return a moment in seconds since the epoch as a date and time in UTC."""
    from datetime import UTC, datetime  # not for the commands that show none

    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def size(count: float) -> str:
    """Return a number of bytes as people write it: ``1.2 MB``."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"


def counted(count: int, one: str, many: str) -> str:
    """Return a number with its English word: ``1 file``, ``1,200 files``."""
    return f"{count:,} {one if count == 1 else many}"


def width(text: str) -> int:
    """Return how many columns a text takes on a terminal (Unicode Annex 11: wide characters take two)."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return the text filled with spaces to so many columns."""
    spaces = " " * max(0, columns - width(text))
    return spaces + text if right else text + spaces


def _columns(out: TextIO) -> int:
    """Return how wide the terminal is that a text goes to, 0 where it goes elsewhere."""
    import shutil  # for the start of a crawl it costs too much

    return shutil.get_terminal_size().columns if out.isatty() else 0


def columned(rows: Sequence[Sequence[str]], out: TextIO, least: Sequence[str] = ()) -> Iterator[str]:
    """Yield a table, heads first, as lines in columns.

    On a terminal that is too narrow for all only the columns with the ``least`` heads are shown, if there are any.
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    shown = list(range(len(widths)))
    if least and 0 < _columns(out) < sum(widths) + 2 * (len(widths) - 1):
        shown = [place for place in shown if rows[0][place] in least]
    for row in rows:
        yield "  ".join(padded(row[place], widths[place]) for place in shown).rstrip()


def fitted(lines: Iterable[str], out: TextIO) -> Iterator[str]:
    """Yield lines folded to the width of the terminal that they go to; as they are where they go elsewhere."""
    columns = _columns(out)
    for line in lines:
        yield from folded(line, columns) if columns else (line,)


def folded(line: str, columns: int) -> Iterator[str]:
    """Yield a line in pieces of so many columns, the further ones below the text that stands last in it.

    A word that is too long stays whole, so that an address can be copied.
    """
    found = re.match(_LAST_COLUMN, line)
    head = found.end() if found else 0
    place = used = width(line[:head])
    if width(line) <= columns or columns - place < _LEAST_COLUMNS:
        yield line
        return
    row = line[:head]
    for unit in re.findall(_UNIT, line[head:]):
        if used > place and used + width(unit.rstrip()) > columns:
            yield row.rstrip()
            row, used = " " * place, place
        row += unit
        used += width(unit)
    yield row.rstrip()


def safe(text: str) -> str:
    """Return a text of the web's without characters that would act on a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)
