"""The settings as a JSON Schema, for editors that complete and check TOML files.

Knows how a key's facts are said in JSON Schema (draft 2020-12). Checks nothing.
"""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, Final

from purlieu.settings.check import UNITS
from purlieu.settings.fact import META, Key
from purlieu.settings.key import Settings
from purlieu.settings.tree import LISTS, SECTIONS, known

_TYPES: Final[dict[str, dict[str, Any]]] = {
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "int | str": {"type": "integer"},
    "float": {"type": "number"},
    "str": {"type": "string"},
    "tuple[str, ...]": {"type": "array", "uniqueItems": True},
    "tuple[tuple[str, str], ...]": {"type": "object", "additionalProperties": {"type": "string"}},
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of the settings file."""
    properties = _table(Settings)["properties"]
    properties |= {name: _table(kind) for name, kind in SECTIONS.items()}
    for name, (_, kind) in LISTS.items():
        section, _, last = name.rpartition(".")
        within = properties[section]["properties"] if section else properties
        within[last] = {"type": "array", "items": _table(kind)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Purlieu settings",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _table(kind: type) -> dict[str, Any]:
    keys = [field for field in fields(kind) if META in field.metadata and not known(field).table]
    needed = [field.name for field in keys if known(field).needed]
    return {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "additionalProperties": False,
        "properties": {field.name: _key(field, known(field)) for field in keys},
        **({"required": needed} if needed else {}),
    }


def _key(field: Field[Any], key: Key) -> dict[str, Any]:
    kind = str(field.type).removesuffix(" | None")
    facts: dict[str, Any] = dict(_TYPES[kind])
    if key.is_lines:
        facts = {"type": "array", "items": {"type": "string"}}
    elif kind == "tuple[str, ...]":
        facts["items"] = {"type": "string", **({"enum": list(key.choices)} if key.choices else {"minLength": 1})}
    elif key.choices:
        facts["enum"] = list(key.choices)
    facts |= {name: value for name, value in (("minimum", key.least), ("maximum", key.most)) if value is not None}
    if key.also is not None:
        facts = {"anyOf": [facts, {"const": key.also}]}
    if key.unit:
        written = {"type": "string", "pattern": rf"^[0-9]+(\.[0-9]+)? ?({'|'.join(UNITS[key.unit])})$"}
        facts = {"anyOf": [*facts.get("anyOf", [facts]), written]}
    default = field.default
    if default is not None:
        facts["default"] = list(default) if isinstance(default, tuple) and kind == "tuple[str, ...]" else default
    if kind.startswith("tuple[tuple"):
        facts["default"] = {}
    return {"description": key.doc, **facts}
