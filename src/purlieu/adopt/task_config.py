"""A Benjamin TaskConfig's text, JSON or YAML, as plain values with names in snake_case.

Knows the two notations, and refuses in YAML what a configuration has no need of: aliases,
which can blow up, and names said twice. Knows nothing of what a field means.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Hashable
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from purlieu.errors import Mistake, SettingsError

MOST_CHARACTERS: Final = 4 * 1024 * 1024
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read(text: str, source: str) -> dict[str, Any]:
    """Return the fields of a TaskConfig; raises SettingsError when it is none."""
    if len(text) > MOST_CHARACTERS:
        raise _mistake("file", "", f"it is longer than {MOST_CHARACTERS:,} characters; give another file", source)
    text = text.removeprefix("\ufeff")
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except _Twice as twice:
        raise _mistake(str(twice), "", "it stands here twice; write it once", source) from None
    except (ValueError, RecursionError) as wrong:
        value = _yaml(text, source, wrong if text.lstrip()[:1] in {"{", "["} else None)
    if not isinstance(value, dict):
        raise _mistake("file", reprlib.repr(value), "write a TaskConfig: entry_points, follow_policy, sites", source)
    return snake(value, source)


def snake(fields: dict[Any, Any], source: str, prefix: str = "") -> dict[str, Any]:
    """Return the fields under their names in snake_case; ``camelCase`` is accepted. Raises SettingsError."""
    named: dict[str, Any] = {}
    for name, value in fields.items():
        known = _HUMP.sub("_", str(name)).lower()
        if known in named:
            raise _mistake(prefix + known, str(name), "it stands here in two spellings; write it once", source)
        named[known] = value
    return named


class _Twice(Exception):
    """A name that stands twice in one object."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise _Twice(name)
        made[name] = value
    return made


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # the library has no types
    """Plain values alone: no aliases, no name twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="an alias (*name) is not read; write the value out", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        names: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)[:200]
            if name in names:
                raise yaml.MarkedYAMLError(problem=f'"{name}" stands here twice', problem_mark=key.start_mark)
            names.add(name)
        made: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
        return made


def _yaml(text: str, source: str, as_json: Exception | None) -> Any:
    """Return the value of a YAML text; where it began like JSON, what JSON says of it is told."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506  a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(as_json, json.JSONDecodeError):
            lines = text.splitlines() or [""]
            shown = lines[min(as_json.lineno, len(lines)) - 1]
            remedy = f"this is no JSON: {as_json.msg}; mend it"
            raise _mistake(f"line {as_json.lineno}", shown.strip()[:200], remedy, source) from None
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or ("nested too deeply" if isinstance(error, RecursionError) else error)
        line = mark.line + 1 if mark else 1
        lines = text.splitlines() or [""]
        shown = lines[min(line, len(lines)) - 1].strip()[:200]
        raise _mistake(f"line {line}", shown, f"this is no YAML: {what}; mend it", source) from None


def _mistake(key: str, value: str, remedy: str, source: str) -> SettingsError:
    return SettingsError((Mistake(key, value, remedy, source),))
