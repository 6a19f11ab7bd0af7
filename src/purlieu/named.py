"""Named tuples that cost little to define: to a type checker they are the standard ones, and they behave as those do.

The standard class compiles each annotation and a function, and is made twice: 0.7 million instructions, thirty times
before a crawl has ended. Here an annotation stays a text, and ``__new__`` is compiled when it is called. Knows none of
the classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    def _getter(place: int, told: str) -> Any: ...
else:
    try:
        from _collections import _tuplegetter as _getter  # what the standard class reads a field by
    except ImportError:
        from operator import itemgetter

        def _getter(place: int, told: str) -> property:
            return property(itemgetter(place), doc=told)


__all__ = ["NamedTuple"]
_TOLD: Final = "A field of the row."


class _Row(tuple[Any, ...]):
    """What all rows can do."""

    __slots__ = ()
    _fields: tuple[str, ...] = ()

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        """Return a row of values that come in order."""
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            message = f"Expected {len(cls._fields)} arguments, got {len(made)}"
            raise TypeError(message)
        return made

    def _replace(self, /, **changes: Any) -> Self:
        """Return a copy with other values in some fields."""
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            message = f"Got unexpected field names: {[*changes]!r}"
            raise ValueError(message)
        return made

    def _asdict(self) -> dict[str, Any]:
        """Return the values by the names of their fields."""
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"{self.__class__.__name__}({told})"

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)


class _Maker(type):
    """Makes a class of rows of what stands below ``class Name(NamedTuple)``."""

    def __new__(cls, name: str, _bases: tuple[type, ...], space: dict[str, Any]) -> Any:
        """Return the class, which is no longer of this kind."""
        names = tuple(space["__annotations__"])
        defaults = {one: space.pop(one) for one in names if one in space}
        space |= {"__slots__": (), "_fields": names, "_field_defaults": defaults, "__match_args__": names}
        for place, one in enumerate(names):
            space[one] = _getter(place, _TOLD)
        owners: list[Any] = []

        def later(owner: Any, *given: Any, **named: Any) -> Any:
            made = _written(names, defaults)
            owners[0].__new__ = staticmethod(made)
            return made(owner, *given, **named)

        space.setdefault("__new__", later)
        owners.append(type(name, (_Row,), space))
        return owners[0]


def _written(names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    """Return ``__new__`` for these fields. It is made of names of fields alone, which are Python's identifiers."""
    taken = ", ".join(f"{name}=defaults[{name!r}]" if name in defaults else name for name in names)
    text = f"lambda owner, {taken}: new(owner, ({', '.join(names)},))"
    made = eval(text, {"new": tuple.__new__, "defaults": defaults})  # noqa: S307
    made.__name__ = "__new__"
    return made


if not TYPE_CHECKING:
    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
