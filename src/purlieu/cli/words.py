"""What the terminal says, in the owner's language.

Texts stand in English where they are said; the other languages are gettext catalogues
in ``purlieu/locale``. Sentences for endings and findings are not here: their tables
have them.
"""

from __future__ import annotations

import gettext
import unicodedata
from functools import cache
from pathlib import Path

from purlieu.sentence import Say as Say  # noqa: PLC0414  every command takes it from here

LOCALE = Path(__file__).parent.parent / "locale"


@cache
def speaker(language: str) -> Say:
    """Return what says texts in ``en``, ``ja`` or ``zh``; a language without a catalogue is English."""
    catalogue = gettext.translation("purlieu", LOCALE, [language], fallback=True)

    def say(text: str, /, **values: object) -> str:
        return catalogue.gettext(text).format(**values)

    return say


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


def safe(text: str) -> str:
    """Return a text of the web's without characters that would act on a terminal."""
    return text if text.isprintable() else "".join(char if char.isprintable() else "\ufffd" for char in text)
