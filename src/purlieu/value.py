"""Dataclasses that cost little to define: to a type checker they are the standard ones, and they behave as those do.

The standard decorator writes and compiles six functions for each class as it is imported, 0.6 ms and more, which was
an eighth of a crawl of 500 pages. Here a method is written when it is needed. Knows none of the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

_MISSING: Final[Any] = object()
__all__ = ["dataclass", "field", "fields", "replace"]
_SELDOM: Final = 12
"""Instances that are filled one by one: to write and compile their class's ``__init__`` takes as long as 30 of them."""
_FIELDS: Final = "__value_fields__"
if TYPE_CHECKING:
    _Writer = Callable[[Any, "dict[str, _Field]"], Callable[..., Any]]


class _Field:
    """What is known of one field, under the standard names."""

    __slots__ = ("compare", "default", "default_factory", "hash", "init", "metadata", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,  # noqa: A002  the standard name
        hash: bool | None = None,  # noqa: A002
        compare: bool = True,
        metadata: Any = None,
    ) -> None:
        self.name = self.type = ""
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = metadata or {}


def _dataclass(*, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[Any], Any]:
    """Return the decorator. ``slots`` is always True, as house.md has it, and said for those who read and check."""
    if not slots:
        message = "without slots take the standard library's dataclass"
        raise ValueError(message)
    return lambda cls: _made(cls, frozen=frozen, eq=eq)


def _made(cls: Any, *, frozen: bool, eq: bool) -> Any:
    """Return the class with slots, and with methods that are written when they are called."""
    inherited: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= base.__dict__.get(_FIELDS, {})
    space = {name: what for name, what in cls.__dict__.items() if name not in {"__dict__", "__weakref__"}}
    fields = dict(inherited)
    for name, kind in cls.__annotations__.items():
        if not str(kind).startswith("ClassVar"):
            given = space.pop(name, _MISSING)
            made = fields[name] = given if isinstance(given, _Field) else _Field(default=given)
            made.name, made.type = name, kind
    space |= {
        "__qualname__": cls.__qualname__,
        "__slots__": tuple(name for name in fields if name not in inherited),
        "__match_args__": tuple(name for name, field in fields.items() if field.init),
        "__dataclass_fields__": _StandardFields(),
        _FIELDS: fields,
    }
    later: dict[str, _Writer] = {"__init__": _init, "__repr__": _repr}
    if eq:
        later["__eq__"] = _eq
        space.setdefault("__hash__", None)
    if eq and frozen and space["__hash__"] is None:
        later["__hash__"] = _hash
    if frozen:
        space |= _FROZEN
    owners: list[Any] = []
    for name, writer in later.items():
        if name not in cls.__dict__ or name == "__hash__":
            space[name] = _written_later(owners, name, writer)
    owners.append(type(cls)(cls.__name__, cls.__bases__, space))
    return owners[0]


def _written_later(owners: list[Any], name: str, writer: _Writer) -> Callable[..., Any]:
    """Return a method that puts the written one in its own place when it is called, ``__init__`` when it is so often.

    ``owners`` holds the class, which does not exist yet.
    """
    left = _SELDOM if name == "__init__" else 0

    def later(self: Any, *given: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        owner = owners[0]
        fields = getattr(owner, _FIELDS)
        if left >= 0 and _filled(self, fields, given, named):
            return None
        written = writer(owner, fields)
        written.__qualname__ = f"{owner.__qualname__}.{name}"
        setattr(owner, name, written)
        return written(self, *given, **named)

    return later


def _filled(made: Any, fields: dict[str, _Field], given: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Fill an instance as its ``__init__`` would; False, and nothing done, where that would raise TypeError."""
    places = made.__match_args__
    values = dict(zip(places, given, strict=False))
    if len(given) > len(places) or values.keys() & named or not named.keys() <= set(places):
        return False
    values |= named
    for name, field in fields.items():
        if name not in values:
            if field.default_factory is not _MISSING:
                values[name] = field.default_factory()
            elif field.default is not _MISSING:
                values[name] = field.default
            elif field.init:
                return False
    for name, value in values.items():
        object.__setattr__(made, name, value)
    if hasattr(made, "__post_init__"):
        made.__post_init__()
    return True


def _compiled(text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Return the function that a text defines. It is made of names of fields alone, which are Python's identifiers."""
    exec(text, names)  # noqa: S102
    function: Callable[..., Any] = names["method"]
    return function


def _init(owner: Any, fields: dict[str, _Field]) -> Callable[..., Any]:
    # A slot's own setter passes a frozen class by, and is quicker than object.__setattr__.
    frozen = owner.__setattr__ is _refuse_to_set
    names: dict[str, Any] = {"missing": _MISSING}
    taken, lines = ["self"], []
    for name, field in fields.items():
        value = name
        if field.default_factory is not _MISSING:
            names[f"make_{name}"], names[f"or_{name}"] = field.default_factory, _MISSING
            value = f"make_{name}() if {name} is missing else {name}" if field.init else f"make_{name}()"
        elif field.default is not _MISSING:
            names[f"or_{name}"] = field.default
            value = name if field.init else f"or_{name}"
        elif not field.init:
            continue
        if field.init:
            taken.append(f"{name}=or_{name}" if f"or_{name}" in names else name)
        names[f"set_{name}"] = getattr(owner, name).__set__
        lines.append(f"set_{name}(self, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    return _compiled(f"def method({', '.join(taken)}):\n " + "\n ".join(lines or ["pass"]), names)


def _eq(_owner: Any, fields: dict[str, _Field]) -> Callable[..., Any]:
    compared = [name for name, field in fields.items() if field.compare]
    mine, theirs = (f"({''.join(f'{one}.{name}, ' for name in compared)})" for one in ("self", "other"))
    same = f"{mine} == {theirs} if other.__class__ is self.__class__ else NotImplemented"
    return _compiled(f"def method(self, other):\n return {same}", {})


def _hash(_owner: Any, fields: dict[str, _Field]) -> Callable[..., Any]:
    counts = {name: field.compare if field.hash is None else field.hash for name, field in fields.items()}
    counted = "".join(f"self.{name}, " for name in fields if counts[name])
    return _compiled(f"def method(self):\n return hash(({counted}))", {})


def _repr(_owner: Any, fields: dict[str, _Field]) -> Callable[..., Any]:
    shown = tuple(name for name, field in fields.items() if field.repr)

    def method(self: Any) -> str:
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{self.__class__.__qualname__}({values})"

    return method


def _refuse_to_set(_self: Any, name: str, _value: Any) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(self, _FIELDS)]


def _setstate(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(self, _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)


_FROZEN: Final = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _getstate,
    "__setstate__": _setstate,
}


class _StandardFields:
    """``__dataclass_fields__``, made when ``dataclasses.fields``, ``asdict`` or ``replace`` first looks for it."""

    __slots__ = ()

    def __get__(self, _instance: object, owner: Any) -> Any:
        """Return what the standard library makes of the same fields."""
        from dataclasses import MISSING, field, make_dataclass

        fields: dict[str, _Field] = getattr(owner, _FIELDS)
        told: dict[str, Any] = {}
        for name, one in fields.items():
            default: Any = MISSING if one.default is _MISSING else one.default
            factory: Any = MISSING if one.default_factory is _MISSING else one.default_factory
            told[name] = field(
                default=default,
                default_factory=factory,
                init=one.init,
                repr=one.repr,
                hash=one.hash,
                compare=one.compare,
                metadata=one.metadata,
            )
        specified = [(name, fields[name].type, given) for name, given in told.items()]
        named = {"__doc__": "Its fields alone."}  # without one it would work out a signature
        standard = make_dataclass(owner.__name__, specified, init=False, repr=False, eq=False, namespace=named)
        owner.__dataclass_fields__ = standard.__dataclass_fields__  # type: ignore[attr-defined]
        return owner.__dataclass_fields__


def _replace(value: Any, /, **changes: Any) -> Any:
    """Return a copy with other values in some fields; a sixth of the standard one's time."""
    owner = value.__class__
    known = _READERS.get(owner)
    if known is None:
        names = owner.__match_args__
        read = attrgetter(*names) if len(names) > 1 else lambda one: tuple([getattr(one, name) for name in names])
        known = _READERS[owner] = read, {name: place for place, name in enumerate(names)}
    read, places = known
    values = [*read(value)]
    for name, changed in changes.items():
        if name not in places:
            message = f"{owner.__qualname__} has no field {name!r} to be given"
            raise TypeError(message)
        values[places[name]] = changed
    return owner(*values)


def _fields(of: Any) -> tuple[_Field, ...]:
    """Return the fields of a class or an instance of ours; the standard ones are told by its own ``fields``."""
    known: dict[str, _Field] = getattr(of, _FIELDS)
    return tuple(known.values())


_READERS: Final[dict[Any, tuple[Callable[[Any], tuple[Any, ...]], dict[str, int]]]] = {}
"""How the fields of a class are read at once, and where each stands."""


if TYPE_CHECKING:
    from dataclasses import dataclass, field, fields, replace
else:
    dataclass, field, fields, replace = _dataclass, _Field, _fields, _replace
