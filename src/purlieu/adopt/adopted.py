"""What comes of reading another system's configuration: a settings file, and what it could not take along.

Knows how the file is laid out and commented, and hands out none that ``settings.read`` refuses.
Knows no other system.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from purlieu import settings
from purlieu.errors import SettingsError
from purlieu.settings.tree import written
from purlieu.value import dataclass, field, replace

SECRET: Final = re.compile(r"passw|secret|token|cookie|credential|auth|api_?key", re.IGNORECASE)
"""Names of entries whose values are not shown."""
_LONGEST: Final = 160  # characters of a value in a comment, and of a list in one line


@dataclass(frozen=True, slots=True)
class Adopted:
    """A settings file that decides as the configuration did, with what became of each of its entries.

    ``toml`` is the commented text of the file. ``carried`` has (name, value, key of ours), ``not_carried``
    (name, value, why), ``warnings`` sentences for the owner. Secrets are masked everywhere but in ``toml``.
    """

    toml: str
    carried: tuple[tuple[str, str, str], ...] = ()
    not_carried: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """An entry of the other system: its name, its value as it may be shown, and where it stands ("" nowhere)."""

    name: str
    value: str
    place: str = ""

    def __str__(self) -> str:
        """Return it for a comment."""
        return f"{self.name} = {written(self.value[:_LONGEST])} ({self.place or 'its default'})"


@dataclass(slots=True)
class Draft:
    """A settings file while it is being written."""

    heading: tuple[str, ...]
    _tables: dict[str, list[str]] = field(default_factory=lambda: {"": []})
    _lists: list[str] = field(default_factory=list)
    _carried: list[tuple[str, str, str]] = field(default_factory=list)
    _left: list[tuple[str, str, str]] = field(default_factory=list)
    _warnings: list[str] = field(default_factory=list)

    def put(self, key: str, value: object, *sources: Source, why: str = "") -> None:
        """Write a dotted key, under a comment with the entries it came from and why it is so."""
        table, _, name = key.rpartition(".")
        lines = self._tables.setdefault(table, [])
        lines += [f"# {_line(str(source))}" for source in sources]
        lines += [f"# {_line(why)}"] if why else []
        lines.append(f"{name} = {_value(value)}")
        self._carry(key, sources)

    def add(self, table: str, pairs: Sequence[tuple[str, object]], *sources: Source, why: str = "") -> None:
        """Write one table of a list of tables: ``[[table]]``."""
        self._lists += ["", f"[[{table}]]", *(f"# {_line(str(source))}" for source in sources)]
        self._lists += [f"# {_line(why)}"] if why else []
        self._lists += [f"{name} = {_value(value)}" for name, value in pairs]
        self._carry(table, sources)

    def agree(self, source: Source, key: str) -> None:
        """Note an entry that says what already holds, by the key it is about; nothing is written."""
        self._carry(key, (source,))

    def leave(self, source: Source, why: str) -> None:
        """Note an entry that cannot be carried over."""
        self._left.append((source.name, source.value, why))

    def warn(self, text: str) -> None:
        """Note what the owner should know; said once."""
        if text not in self._warnings:
            self._warnings.append(text)

    def adopted(self, source: str) -> Adopted:
        """Return what was written, once the settings take it; raises SettingsError, with ``source`` as its file.

        A mistake is told under the name of the entry that the key came from.
        """
        lines = [f"# {_line(line)}" for line in self.heading]
        lines += [f"# Note: {_line(text)}" for text in self._warnings]
        for table, entries in self._tables.items():
            lines += ["", *([f"[{table}]"] if table else []), *entries] if entries else []
        lines += self._lists
        if self._left:
            lines += ["", "# Not carried over:"]
            told = (
                (f"{name} = {written(value[:_LONGEST])}" if value else name, why) for name, value, why in self._left
            )
            lines += [f"#   {_line(what)}: {_line(why)}" for what, why in told]
        toml = "\n".join(lines) + "\n"
        try:
            settings.read(toml, path=source)
        except SettingsError as error:
            names = {key: name for name, _, key in self._carried}
            raise SettingsError(
                tuple(replace(one, key=names.get(one.key.partition("[")[0], one.key)) for one in error.mistakes)
            ) from None
        return Adopted(toml, tuple(self._carried), tuple(self._left), tuple(self._warnings))

    def _carry(self, key: str, sources: Sequence[Source]) -> None:
        self._carried += [(source.name, source.value, key) for source in sources if source.place]


def _line(text: str) -> str:
    """Return a text as a comment can hold it: one line without control characters (TOML 1.0, comments)."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def _value(value: object) -> str:
    """Return a TOML value; a long list has a line for each text, so that it can be read."""
    if isinstance(value, list | tuple) and len(written(value)) > _LONGEST:
        return "[\n" + "".join(f"    {written(one)},\n" for one in value) + "]"
    return written(value)
