"""Settings while they are edited: as a text and as a form at once, each kept with what was typed into the other.

What was typed into the form is what differs from the text that the form was made of; it is written into the text as
that stands now. Comments and order of the text stay. Checks nothing, and knows no page.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, MutableMapping
from functools import cache
from typing import Any, Final

from purlieu.console.field import UNSET, Field, every, of_list, of_section, values
from purlieu.settings.fact import Key
from purlieu.settings.key import Settings
from purlieu.settings.tree import LISTS, SECTIONS, written
from purlieu.value import dataclass, field

MOST_TABLES: Final = 200
_OF_TABLE: Final = re.compile(r"([a-z_.]+)\[([1-9][0-9]{0,2})\]\.([a-z_0-9]+)")
_LONG: Final = 3
"""Lists with more items than this have a line for each."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What is being edited: ``text`` as it stands, ``base`` the last one that could be read, which the form shows.

    ``fields`` is what stands in the form. While ``text`` is no TOML, ``is_broken``, they may say what it does not.
    """

    text: str
    base: str
    fields: Mapping[str, str] = field(default_factory=dict)
    is_broken: bool = False

    @property
    def tree(self) -> dict[str, Any]:
        """Return the tables of the last text that could be read."""
        return tree_of(self.base) or {}


def of_text(text: str) -> Draft:
    """Return the draft of a text that nobody has edited."""
    text = plain(text)
    tree = tree_of(text)
    return Draft(text, text if tree is not None else "", values(tree or {}), tree is None)


def merged(base: str, text: str, given: Mapping[str, str]) -> Draft:
    """Return the draft after some typing: ``given`` are the fields of a form made of ``base``, beside a ``text``."""
    base, text = plain(base), plain(text)
    typed = {name: plain(value) for name, value in given.items() if name != "name"}
    before = values(tree_of(base) or {})
    changed = {name: value for name, value in typed.items() if _is_other(value, before.get(name, ""))}
    if tree_of(text) is None:
        return Draft(text, base, before | typed, is_broken=True)
    new = put(text, changed)
    return Draft(new, new, values(tree_of(new) or {}))


def brief(text: str) -> str:
    """Return settings that a run stored, without what is usual anyway and what the store says by itself."""
    tree = tree_of(text) or {}
    for name in ("name", "store"):
        tree.pop(name, None)
    for one, value in every(tree):
        if value == _usual(one):
            _put(tree, one, UNSET, dict)
    if tree.get("output") == Settings().output:
        del tree["output"]
    if isinstance(filters := tree.get("filter"), dict) and not filters.get("rules_file"):
        filters.pop("rules_file", None)  # its lines stand in ``rules`` by then
    _tidy(tree)
    return _whole(tree)


def put_name(text: str, name: str) -> str:
    """Return a text in which the crawl is called ``name``, "" leaves it out; one that is no TOML stays as it is."""
    if tree_of(text) is None:
        return text
    return put(text, {"name": name})


def tree_of(text: str) -> dict[str, Any] | None:
    """Return the tables of a text, None when it is no TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def plain(text: str) -> str:
    """Return a text with the line breaks of TOML, which a form sends as two characters."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_other(one: str, two: str) -> bool:
    return one.strip("\n") != two.strip("\n")


def put(text: str, changed: Mapping[str, str]) -> str:
    """Return a text of TOML with other values of fields in it, and all else as its owner wrote it."""
    found = [(one, changed[name]) for name in changed if (one := _named(name)) is not None]
    wanted = {one.name: (one, one.read(value)) for one, value in found}
    if not wanted:
        return text
    import tomlkit  # 45 ms, only where something is edited
    from tomlkit.exceptions import TOMLKitError

    goal = tomllib.loads(text)
    for one, value in wanted.values():
        _put(goal, one, value, dict)
    _tidy(goal)
    try:
        document = tomlkit.parse(text)
        for one, value in wanted.values():
            _put(document, one, _as_written(value), tomlkit.table, tomlkit.aot)
        _tidy(document)
        made = tomlkit.dumps(document)
    except (TOMLKitError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        made = ""
    # What cannot be put into the text as it stands is written anew, without its comments.
    return _spaced(made, text) if made and _full(tree_of(made)) == _full(goal) else _whole(goal)


def _full(tree: Any) -> Any:
    """Return tables without those in which nothing stands."""
    if not isinstance(tree, dict):
        return tree
    inside = {name: _full(one) for name, one in tree.items()}
    return {name: one for name, one in inside.items() if one != {}}


def _spaced(made: str, before: str) -> str:
    """Return a text with an empty line before each table that was not there before."""
    known = {line.strip() for line in before.split("\n")}
    lines: list[str] = []
    for line in made.split("\n"):
        if line.startswith("[") and line.strip() not in known and lines and lines[-1].strip():
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


@cache
def _places() -> dict[str, Field]:
    found = {one.name: one for name in ("", *SECTIONS) for one in of_section(name)}
    return found | {"name": Field("name", "name", Key("", form="name"), "str", "")}


def _named(name: str) -> Field | None:
    """Return the field of a name, None when there is none: whoever sends a form may send anything."""
    if (found := _OF_TABLE.fullmatch(name)) and found[1] in LISTS and int(found[2]) <= MOST_TABLES:
        return next((one for one in of_list(found[1], int(found[2])) if one.name == name), None)
    return _places().get(name)


def _put(tree: Any, one: Field, value: Any, table: Any, tables: Any = list) -> None:
    """Set one value in tables, or take it out."""
    found = _OF_TABLE.fullmatch(one.name)
    path, _, last = (found[1] if found else one.name).rpartition(".")
    inside = tree
    if path:
        if path not in tree:
            if value is UNSET:
                return
            tree[path] = table()
        inside = tree[path]
    if found:
        if last not in inside:
            inside[last] = tables()
        rows = inside[last]
        number = int(found[2])
        while len(rows) < number:
            rows.append(table())
        inside, last = rows[number - 1], found[3]
    if not isinstance(inside, MutableMapping):
        return  # the check tells that a table is wanted there
    if value is UNSET:
        inside.pop(last, None)
    else:
        inside[last] = _kept(inside.get(last), value)


def _usual(one: Field) -> Any:
    if one.widget == "pairs":
        return {}
    return list(one.default) if isinstance(one.default, tuple) else one.default


def _kept(before: Any, value: Any) -> Any:
    """Return a list as it was written, with items taken out and added at its end, where that makes the new one."""
    from tomlkit.items import Array

    if isinstance(before, Array) and isinstance(value, list):
        wanted = [str(one) for one in value]
        rest = [str(one) for one in before if str(one) in wanted]
        if rest == wanted[: len(rest)] and len(before) < 1_000:
            for place in range(len(before) - 1, -1, -1):
                if str(before[place]) not in wanted:
                    del before[place]
            before.extend(wanted[len(rest) :])
            return before
    return value


def _as_written(value: Any) -> Any:
    import tomlkit

    if isinstance(value, dict):
        pairs = tomlkit.inline_table()
        pairs.update(value)
        return pairs
    if isinstance(value, list) and len(value) > _LONG:
        made = tomlkit.array()
        made.extend(value)
        return made.multiline(multiline=True)
    return value


def _tidy(tree: Any) -> None:
    """Take out what nothing stands in any more: tables of lists, and tables without a comment."""
    for name in LISTS:
        path, _, last = name.rpartition(".")
        inside = tree.get(path, {}) if path else tree
        rows = inside.get(last) if isinstance(inside, MutableMapping) else None
        if isinstance(rows, list):
            for place in range(len(rows) - 1, -1, -1):
                if isinstance(rows[place], MutableMapping) and not rows[place]:
                    del rows[place]
            if not rows:
                del inside[last]
    for name in SECTIONS:
        inside = tree.get(name)
        is_empty = isinstance(inside, MutableMapping) and not inside
        if is_empty and not (hasattr(inside, "as_string") and inside.as_string().strip()):
            del tree[name]


def _whole(tree: Mapping[str, Any]) -> str:
    """Return tables as TOML, in the order of the reference."""
    blocks = [_block("", {name: one for name, one in tree.items() if name not in SECTIONS and name not in LISTS})]
    for name in SECTIONS:
        if name in tree:
            inside = tree[name]
            own = {key: one for key, one in inside.items() if f"{name}.{key}" not in LISTS}
            blocks.append(_block(f"[{name}]", own))
            blocks += [
                _block(f"[[{name}.{key}]]", row)
                for key, rows in inside.items()
                if f"{name}.{key}" in LISTS
                for row in rows
            ]
    blocks += [_block(f"[[{name}]]", row) for name in LISTS if "." not in name for row in tree.get(name, [])]
    return "\n".join(block for block in blocks if block)


def _block(head: str, rows: Mapping[str, Any]) -> str:
    lines = [head] if head else []
    return "".join(f"{line}\n" for line in [*lines, *(f"{name} = {written(one)}" for name, one in rows.items())])
