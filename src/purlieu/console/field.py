"""The settings as fields of a form: one for each key, made from the tree of settings, and its value as a text.

Knows how a key's value is typed into a form and read out of it. Checks nothing, and knows no page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

from purlieu.settings.check import number_or_text
from purlieu.settings.fact import META, Key
from purlieu.settings.key import Settings
from purlieu.settings.tree import LISTS, SECTIONS, known, written
from purlieu.value import dataclass

UNSET: Final = object()
"""Leaving the key out."""
LEFT_OUT: Final = frozenset({"name", "store", "output", "filter.rules_file"})
"""Keys that a crawl in a store does not have a say in: its name is the store's, files are the machine's."""
_MOST_TABLES: Final = 200
_WIDGETS: Final = {
    "bool": "flag", "int": "number", "int | str": "number", "float": "number", "tuple[tuple[str, str], ...]": "pairs",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One key in a form. ``name`` is what the form calls it (``site[2].url``), ``key`` what the reference does."""

    name: str
    key: str
    known: Key
    kind: str
    default: Any

    @property
    def id(self) -> str:
        """Return what elements of the page are called after it."""
        return self.name.replace("[", "-").replace("].", "-").replace(".", "-")

    @property
    def widget(self) -> str:
        """Return how it is typed: flag, choice, many, lines, pairs, number or text."""
        kind = self.kind.removesuffix(" | None")
        if kind == "tuple[str, ...]":
            return "many" if self.known.choices else "lines"
        if self.known.choices:
            return "choice"
        return _WIDGETS.get(kind, "text")

    def shown(self, value: object) -> str:
        """Return a value of TOML as it stands in the form; UNSET as its default where that is a choice or a list."""
        if value is UNSET:
            value = self.default if self.widget in {"flag", "choice", "many", "lines"} else None
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
            return "\n".join(value)
        if isinstance(value, Mapping):
            return "\n".join(f"{name}: {text}" for name, text in value.items())
        return value if isinstance(value, str) else _plain(value)

    def read(self, text: str) -> Any:
        """Return the value of TOML that a text stands for; what makes no sense stays a text, for the check to tell."""
        match self.widget:
            case "flag" if text in {"true", "false"}:
                return text == "true"
            case "number":
                return _number(text.strip())
            case "many" | "lines":
                return self._lines(text)
            case "pairs":
                pairs = (line.partition(":") for line in text.split("\n") if line.strip())
                return {name.strip(): value.strip() for name, _, value in pairs} or UNSET
        return text.strip() or UNSET

    def _lines(self, text: str) -> Any:
        lines = text.split("\n")
        if self.known.is_lines:
            lines = lines[: -1 if not lines[-1] else None]
        else:
            lines = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
        return lines if lines or self.default else UNSET

    @property
    def usual(self) -> str:
        """Return what holds where nothing is typed, "" where only a sentence can say it (``known.unset``)."""
        if self.default in (None, "", ()):
            return ""
        return self.default if isinstance(self.default, str) else _plain(self.default)


def _number(text: str) -> Any:
    return number_or_text(text) if text else UNSET


def _plain(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value == int(value) else written(value)


def table(kind: type, prefix: str, key: str) -> Iterator[Field]:
    """Yield the fields of one table."""
    for one in fields(kind):
        if META in one.metadata and not known(one).table and f"{key}{one.name}" not in LEFT_OUT:
            yield Field(prefix + one.name, key + one.name, known(one), str(one.type), one.default)


def of_section(name: str) -> list[Field]:
    """Return the fields of a table of the file, those at its top for ""."""
    return list(table(SECTIONS[name] if name else Settings, f"{name}." if name else "", f"{name}." if name else ""))


def of_list(name: str, number: int) -> list[Field]:
    """Return the fields of one table of a list, which is counted from 1."""
    return list(table(LISTS[name][1], f"{name}[{number}].", f"{name}."))


def tables(tree: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the tables of a list as far as it is one."""
    section, _, last = name.rpartition(".")
    inside = tree.get(section) if section else tree
    found = inside.get(last, []) if isinstance(inside, Mapping) else []
    return [one if isinstance(one, Mapping) else {} for one in found][:_MOST_TABLES] if isinstance(found, list) else []


def every(tree: Mapping[str, Any]) -> Iterator[tuple[Field, object]]:
    """Yield every field of a form with its value in a tree, UNSET for none; each list has one table more."""
    for name in ("", *SECTIONS):
        inside = tree.get(name, {}) if name else tree
        for one in of_section(name):
            last = one.name.rpartition(".")[2]
            yield one, inside.get(last, UNSET) if isinstance(inside, Mapping) else UNSET
    for name in LISTS:
        found = tables(tree, name)
        for number, one_table in enumerate([*found, {}], 1):
            for one in of_list(name, number):
                yield one, one_table.get(one.name.rpartition(".")[2], UNSET)


def values(tree: Mapping[str, Any]) -> dict[str, str]:
    """Return what stands in each field of the form of a tree."""
    return {one.name: one.shown(value) for one, value in every(tree)}
