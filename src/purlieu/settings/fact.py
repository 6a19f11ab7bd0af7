"""What is known of one key of the settings besides its type and default.

Knows the form of that knowledge. Knows no key.
"""

from __future__ import annotations

from typing import TypeVar

from purlieu.value import dataclass, field

T = TypeVar("T")
META = "key"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of one key besides its type and default.

    ``least`` and ``most`` bound a number, and ``also`` is a value outside the bounds that has a meaning
    of its own. ``unit`` ("seconds" or "bytes") lets a number be written with a unit: "5 min", "10 MiB".
    ``form`` names one of the checks in ``check.FORMS``. ``unset`` says what leaving the key out means
    where the default does not say it. ``needed``: an entry of a list cannot do without it. ``table`` is
    the TOML name of a list of tables. ``is_lines``: a list of lines, in which repeats, empty lines and tabs count.
    """

    doc: str
    least: float | None = None
    most: float | None = None
    also: float | str | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""
    form: str = ""
    unset: str = ""
    needed: bool = False
    table: str = ""
    is_lines: bool = False


def key(default: T, known: Key) -> T:
    """Return a dataclass field that carries what is known of its key."""
    made: T = field(default=default, metadata={META: known})
    return made
