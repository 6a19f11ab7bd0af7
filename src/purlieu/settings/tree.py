"""TOML text or nested tables to checked settings, and back.

Knows how keys are laid out in tables and tells every mistake in one go. Knows
nothing of single values (``check.py``) and reads no file and no environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from purlieu.errors import Mistake, SettingsError
from purlieu.sentence import Sentence
from purlieu.settings.agreement import disagreements
from purlieu.settings.belonging import (
    DomainSettings,
    FilterSettings,
    NormaliseRule,
    NormaliseSettings,
    ScopeSettings,
    SiteSettings,
)
from purlieu.settings.check import check, nearest
from purlieu.settings.door import SECRET_TABLES, OriginSettings, lacking
from purlieu.settings.ending import AfterSettings, RetentionSettings
from purlieu.settings.fact import META, Key
from purlieu.settings.keeping import ArchiveSettings, DocumentSettings
from purlieu.settings.key import (
    FetchSettings,
    HistorySettings,
    LedgerSettings,
    LimitSettings,
    LinkSettings,
    RobotsSettings,
    Settings,
    SitemapSettings,
)
from purlieu.settings.pacing import GroupSettings, HostSettings, PolitenessSettings
from purlieu.settings.profile import ProfileSettings
from purlieu.settings.secret import MASK, masked
from purlieu.settings.trapping import TrapSettings
from purlieu.value import fields, replace

if TYPE_CHECKING:
    from dataclasses import Field

SECTIONS: Final[dict[str, type]] = {
    "scope": ScopeSettings,
    "domains": DomainSettings,
    "filter": FilterSettings,
    "normalise": NormaliseSettings,
    "limits": LimitSettings,
    "traps": TrapSettings,
    "fetch": FetchSettings,
    "politeness": PolitenessSettings,
    "robots": RobotsSettings,
    "links": LinkSettings,
    "sitemap": SitemapSettings,
    "history": HistorySettings,
    "ledger": LedgerSettings,
    "archive": ArchiveSettings,
    "documents": DocumentSettings,
    "retention": RetentionSettings,
    "after": AfterSettings,
}
"""The tables of the file, by name."""

LISTS: Final[dict[str, tuple[str, type]]] = {
    "site": ("sites", SiteSettings),
    "normalise.rule": ("rules", NormaliseRule),
    "sitemap.profile": ("profiles", ProfileSettings),
    "host": ("hosts", HostSettings),
    "group": ("groups", GroupSettings),
    "origin": ("origins", OriginSettings),
}
"""The lists of tables of the file, by name: the field of ``Settings``, or of the section before the dot, and what one
table holds."""
_REPEATABLE: Final = (SiteSettings, NormaliseRule)  # lists in which several tables may begin alike


def read(text: str, *, path: str | None = None, overrides: Mapping[str, object] | None = None) -> Settings:
    """Return the settings that a TOML text and the overrides say.

    ``path`` is only shown in mistakes. ``overrides`` maps dotted keys (``limits.max_depth``) to values that
    stand instead of the text's; None means "not given". Raises SettingsError with every mistake; one of an
    override names no file.
    """
    mistakes: list[Mistake] = []
    tree = _tables(text, path, mistakes) if text else {}
    return _checked(tree, mistakes, path, overrides or {})


def _tables(text: str, path: str | None, mistakes: list[Mistake]) -> dict[str, Any]:
    """Return the tables of a TOML text; what is none is a mistake."""
    import tomllib  # 8 million instructions that a crawl without a file need not wait for

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        mistakes.append(_syntax(str(error), text, path))
    except RecursionError:
        told = Sentence("the tables are nested too deeply; no key needs more than two levels")
        mistakes.append(Mistake("file", "", told, path))
    return {}


def of(tree: Mapping[str, object]) -> Settings:
    """Return the settings that nested tables say, as in TOML: ``{"seeds": [...], "limits": {"max_depth": 2}}``.

    Raises SettingsError with every mistake.
    """
    return _checked(tree, [], None, {})


def _checked(
    tree: Mapping[str, Any], mistakes: list[Mistake], path: str | None, overrides: Mapping[str, object]
) -> Settings:
    given = {dotted: value for dotted, value in overrides.items() if value is not None}
    known, unknown = dict(tree), []
    for dotted, value in given.items():
        section, _, name = dotted.rpartition(".")
        if section in SECTIONS and isinstance(known.get(section, {}), Mapping):
            known[section] = {**known.get(section, {}), name: value}
        elif not section:
            known[name] = value
        else:
            unknown.append(Mistake(dotted, shown(value), _unknown(dotted, ""), None))
    found = _Reading(path, frozenset(given), [*mistakes, *unknown])
    settings = found.settings(known)
    if found.mistakes:
        raise SettingsError(tuple(found.mistakes))
    return settings


class _Reading:
    """One pass over the tables; collects mistakes."""

    def __init__(self, path: str | None, overridden: frozenset[str], mistakes: list[Mistake]) -> None:
        self.mistakes = mistakes
        self._path = path
        self._overridden = overridden

    def settings(self, tree: Mapping[str, Any]) -> Settings:
        """Return what the tables say; where one is wrong, its default."""
        top = {name: value for name, value in tree.items() if name not in SECTIONS and name not in LISTS}
        lists: dict[str, Any] = {name: tree.get(name, []) for name in LISTS}
        whole: Settings = self._table(Settings, top, "")
        parts: dict[str, Any] = {}
        for name, kind in SECTIONS.items():
            table = tree.get(name, {})
            if isinstance(table, Mapping):
                own = {key: value for key, value in table.items() if f"{name}.{key}" not in LISTS}
                lists |= {f"{name}.{key}": value for key, value in table.items() if f"{name}.{key}" in LISTS}
                parts[name] = self._table(kind, own, f"{name}.")
            else:
                self._add(name, table, Sentence("write a table: {example}", example=f"[{name}]"))
        for name, (field, kind) in LISTS.items():
            section, made = name.rpartition(".")[0], self._list(kind, name, lists[name])
            if not section:
                parts[field] = made
            elif made:
                parts[section] = replace(parts.get(section, SECTIONS[section]()), **{field: made})
        settings = replace(whole, **parts)
        for told in disagreements(settings):
            self._add(*told)
        return settings

    def _list(self, kind: type, name: str, tables: object) -> tuple[Any, ...]:
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self._add(name, tables, Sentence("write a list of tables: {example}", example=f"[[{name}]]"))
            return ()
        made = tuple(self._table(kind, table, f"{name}[{number}].") for number, table in enumerate(tables, 1))
        for number, table in enumerate(tables if kind is OriginSettings else (), 1):
            for lacks, told in lacking(table):
                self._add(f"{name}[{number}].{lacks}", "", told)
        first = fields(kind)[0].name
        seen: set[str] = set()
        for one in made:
            which = getattr(one, first)
            if which and which in seen and kind not in _REPEATABLE:
                self._add(f"{name}.{first}", which, Sentence("it stands here twice; put all of it into one table"))
            seen.add(which)
        return made

    def _table(self, kind: type, table: Mapping[str, Any], prefix: str) -> Any:
        """Return a ``kind`` with what the table says."""
        keys = {field.name: field for field in fields(kind) if META in field.metadata and not known(field).table}
        values = {}
        for name, value in table.items():
            if name not in keys:
                self._add(prefix + name, value, _unknown(name, prefix))
                continue
            values[name], wrongs = check(value, str(keys[name].type), known(keys[name]))
            for wrong in wrongs:
                self._add(prefix + name, wrong.value, wrong.remedy)
            if wrongs:
                del values[name]
        for name, field in keys.items():
            if known(field).needed and not table.get(name):
                self._add(prefix + name, "", Sentence("it is needed here"))
        return kind(**values)

    def _add(self, key: str, value: object, remedy: str) -> None:
        path = None if key.partition("[")[0] in self._overridden else self._path
        text = MASK if value and key.startswith("origin[") and _is_secret(key.rpartition(".")[2]) else shown(value)
        self.mistakes.append(Mistake(key, text, remedy, path))


def _is_secret(name: str) -> bool:
    """Return whether a key of ``[[origin]]`` may hold a secret, a misspelt one too."""
    return name in SECRET_TABLES or any(part in name.lower() for part in ("pass", "token", "secret", "pwd"))


def known(field: Field[Any]) -> Key:
    """Return what is known of a field's key."""
    key: Key = field.metadata[META]
    return key


def dotted_keys() -> list[str]:
    """Return every key of the file: ``seeds``, ``limits.max_depth``, ``site.url`` ..."""
    tables = {"": Settings, **SECTIONS, **{name: kind for name, (_, kind) in LISTS.items()}}
    return [
        f"{name}.{field.name}" if name else field.name
        for name, kind in tables.items()
        for field in fields(kind)
        if META in field.metadata and not known(field).table
    ]


def _unknown(name: str, prefix: str) -> str:
    """Return the remedy for a key that does not exist: the nearest one of its table, else of any, else a table."""
    every = dotted_keys()
    here = [key.rpartition(".")[2] for key in every if key.rpartition(".")[0] == prefix.partition("[")[0].strip(".")]
    last = {key.rpartition(".")[2]: key for key in reversed(every)}
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).replace("-", "_").lstrip("_")
    tables = {name: f"[{name}]" for name in SECTIONS} | {name: f"[[{name}]]" for name in LISTS}
    near = (
        (snake if snake in here else "")
        or last.get(snake, "")
        or nearest(snake, here)
        or tables.get(nearest(snake, [*tables]), "")
        or last.get(nearest(snake, [*last]), "")
    )
    if near:
        return Sentence('there is no such key; did you mean "{key}"?', key=near)
    return Sentence("there is no such key; take it out")


def _syntax(message: str, text: str, path: str | None) -> Mistake:
    """Return the mistake of a text that is no TOML, with its line."""
    import re

    at = re.search(r"\(at line (\d+)", message)
    lines = text.splitlines() or [""]
    number = int(at[1]) if at else len(lines)
    what = message.partition(" (at ")[0]
    return Mistake(
        f"line {number}",
        lines[min(number, len(lines)) - 1].strip()[:200],
        Sentence("this is no TOML: {what}; mend it", what=what),
        path,
    )


def shown(value: object) -> str:
    """Return a value as an owner wrote it, at most 200 characters."""
    return (value if isinstance(value, str) else written(value))[:200]


def checked(settings: Settings) -> Settings:
    """Return settings that were made in Python, checked as if they had been read; raises SettingsError."""
    tree = _tree(settings)
    tree |= {name: _tree(getattr(settings, name)) for name in SECTIONS}
    for name in LISTS:
        section, _, last = name.rpartition(".")
        tables = [_tree(one) for one in listed(settings, name)]
        if not section:
            tree[last] = tables
        elif tables:
            tree[section][last] = tables
    return of(tree)


def listed(settings: Settings, name: str) -> tuple[Any, ...]:
    """Return what a list of tables holds, by its name in the file."""
    section = name.rpartition(".")[0]
    tables: tuple[Any, ...] = getattr(getattr(settings, section) if section else settings, LISTS[name][0])
    return tables


def dump(settings: Settings) -> str:
    """Return the settings as TOML with every key; ``read`` gives them back.

    Secrets are masked unless they are ``env:NAME`` (see ``secret.py``), and ``read`` refuses a mask. A key that
    is not set stands as a comment.
    """
    safe = masked(settings)
    blocks = [_block("", safe)]
    blocks += [_block(f"[{name}]", getattr(safe, name)) for name in SECTIONS]
    blocks += [_block(f"[[{name}]]", one) for name in LISTS for one in listed(safe, name)]
    return "\n".join(blocks)


def _tree(table: Any) -> dict[str, Any]:
    """Return the keys of one table that are set, as TOML holds them."""
    tree = {}
    for field in fields(table):
        if META in field.metadata and not known(field).table:
            value = getattr(table, field.name)
            if value is not None:
                tree[field.name] = dict(value) if str(field.type).startswith("tuple[tuple") else value
    return tree


def _block(head: str, table: Any) -> str:
    tree = _tree(table)
    lines = [head] if head else []
    for field in fields(table):
        if field.name in tree:
            lines.append(f"{field.name} = {written(tree[field.name])}")
        elif META in field.metadata and not known(field).table:
            lines.append(f"# {field.name}: {known(field).unset}")
    return "\n".join(lines) + "\n"


def written(value: object) -> str:
    """Return a TOML value (TOML 1.0: a JSON text, but DEL is escaped too)."""
    from json import dumps

    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return (
            f"{{ {', '.join(f'{written(name)} = {written(one)}' for name, one in value.items())} }}" if value else "{}"
        )
    if isinstance(value, Iterable):
        return f"[{', '.join(map(written, value))}]"
    return str(value)
