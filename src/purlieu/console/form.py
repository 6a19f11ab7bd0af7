"""The settings' form: which fields stand in it, in which groups, under which titles, with which mistakes beside them.

The common ones stand first, the rest is folded. What a key is called is in ``titles.py``, what it means in the
settings themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from purlieu.console.draft import Draft
from purlieu.console.field import UNSET, Field, every, of_list, tables
from purlieu.console.titles import COMMON, LISTS_TITLED, SECTIONS_TITLED
from purlieu.errors import Mistake
from purlieu.sentence import Sentence
from purlieu.settings.tree import LISTS, SECTIONS
from purlieu.value import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """One field with what stands in it and what is wrong with it. ``is_set``: the text has its key."""

    field: Field
    value: str
    is_set: bool
    mistakes: tuple[Mistake, ...] = ()

    @property
    def chosen(self) -> frozenset[str]:
        """Return what is chosen of several."""
        return frozenset(self.value.split("\n"))


@dataclass(frozen=True, slots=True)
class Group:
    """Fields under one title; ``rows`` are tables of a list, the last of them empty. ``is_open``: something is set."""

    name: str
    title: Sentence
    told: str
    entries: tuple[Entry, ...] = ()
    rows: tuple[tuple[Entry, ...], ...] = field(default=())

    @property
    def every(self) -> Iterator[Entry]:
        """Yield its fields, those of its tables too."""
        yield from self.entries
        for row in self.rows:
            yield from row

    @property
    def is_open(self) -> bool:
        """Return whether it is shown unfolded: something in it is set, or wrong."""
        return any(one.is_set or one.mistakes for one in self.every)


@dataclass(frozen=True, slots=True)
class Form:
    """All groups: the common ones, and those that are folded."""

    common: tuple[Group, ...]
    rest: tuple[Group, ...]

    @property
    def every(self) -> Iterator[Entry]:
        """Yield every field once."""
        for group in (*self.common, *self.rest):
            yield from group.every


def names_of(draft: Draft) -> frozenset[str]:
    """Return the names of the fields of a draft's form."""
    return frozenset(one.name for one, _ in every(draft.tree))


def form_of(draft: Draft, mistakes: Mapping[str, list[Mistake]]) -> Form:
    """Return the form of a draft, with the mistakes of each field."""
    entries = {
        one.name: Entry(one, draft.fields.get(one.name, ""), value is not UNSET, tuple(mistakes.get(one.name, ())))
        for one, value in every(draft.tree)
    }
    common = tuple(Group(name, title, told, tuple(entries[key] for key in keys)) for name, title, told, keys in COMMON)
    shown = {key for *_, keys in COMMON for key in keys}
    rest = []
    for name, title in SECTIONS_TITLED.items():
        prefix = f"{name}." if name else ""
        own = tuple(
            one
            for key, one in entries.items()
            if one.field.key not in shown and "[" not in key and key.startswith(prefix) and (name or "." not in key)
        )
        if own:
            rest.append(Group(name or "top", title, _told(SECTIONS[name]) if name else "", own))
    for name, title in LISTS_TITLED.items():
        count = len(tables(draft.tree, name)) + 1
        rows = tuple(tuple(entries[one.name] for one in of_list(name, number)) for number in range(1, count + 1))
        rest.append(Group(name.replace(".", "-"), title, _told(LISTS[name][1]), rows=rows))
    return Form(common, tuple(rest))


def _told(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


def texts() -> set[str]:
    """Return every sentence of the settings that the form says, in English: they are translated as its own are."""
    every_field = (one for one, _ in every({}))
    told = {text for one in every_field for text in (one.known.doc, one.known.unset) if text}
    return told | {_told(kind) for kind in (*SECTIONS.values(), *(kind for _, kind in LISTS.values()))}
