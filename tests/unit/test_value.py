"""Our dataclasses behave as the standard ones, for all that the package makes use of (R-9.2, house.md section 5)."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

from purlieu import value


def made_by(decorator: Any, field: Any) -> tuple[Any, Any, Any]:
    """Return a frozen class, one that inherits from it, and one that can be changed."""

    @decorator(frozen=True, slots=True)
    class Point:
        """A point."""

        kinds: ClassVar[int] = 2
        x: int
        y: int = 3
        tags: list[str] = field(default_factory=list, hash=False)
        note: str = field(default="", compare=False, repr=False)

        def sum(self) -> int:
            """Return the sum."""
            return self.x + self.y

    @decorator(frozen=True, slots=True)
    class Solid(Point):
        """A point in space."""

        z: int = 9

    @decorator(slots=True)
    class Count:
        """A count that grows."""

        at: int = 0
        double: int = field(init=False)

        def __post_init__(self) -> None:
            """Fill what is made of the rest."""
            self.double = 2 * self.at

    return Point, Solid, Count


OURS = made_by(value.dataclass, value.field)
STANDARD = made_by(dataclasses.dataclass, dataclasses.field)
Point, Solid, Count = OURS


@value.dataclass(frozen=True, slots=True)
class Kept:
    """A value that is pickled."""

    name: str
    size_bytes: int = 0


def told(classes: tuple[Any, Any, Any]) -> list[Any]:
    """Return what instances of the classes show of themselves."""
    point, solid, count = classes
    one, same, deep, grown = point(1, note="a"), point(1, note="b"), solid(1, z=4), count(5)
    grown.at = 6
    return [
        repr(one), repr(deep), repr(grown), one.sum(),
        one == same, one == point(2), one == deep, deep == solid(1, z=4), one == "1", grown == count(5),
        hash(one) == hash(same), len({one, same, point(2)}), hash(one) == hash(point(1, 3, ["t"])),
        count.__hash__, point.__match_args__, solid.__match_args__, count.__match_args__, solid.__slots__,
        dataclasses.asdict(deep), dataclasses.astuple(grown), dataclasses.replace(deep, y=0),
        [(item.name, item.type, item.repr, item.compare) for item in dataclasses.fields(solid)],
        copy.copy(one), copy.deepcopy(deep), one.tags is point(1).tags, point.kinds, hasattr(one, "__dict__"),
    ]  # fmt: skip


def test_values_are_as_the_standard_librarys() -> None:
    """Text, equality, hash, order of arguments, fields, copies and slots are those of ``dataclasses``."""
    ours, standard = told(OURS), told(STANDARD)
    assert [str(one) for one in ours] == [str(one) for one in standard]


@pytest.mark.parametrize("call", [{}, {"x": 1, "w": 2}, {"y": 1}], ids=["nothing", "unknown", "missing"])
def test_wrong_arguments_are_refused(call: dict[str, int]) -> None:
    """What the standard library's class does not take, ours does not take, the first time and later."""
    for point in (made_by(value.dataclass, value.field)[0], STANDARD[0], OURS[0]):
        with pytest.raises(TypeError):
            point(**call)


def test_a_frozen_value_stays_as_it_is() -> None:
    """Setting and deleting a field, or anything else, raises the standard error."""
    one = Point(1)
    for name in ("x", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x
    assert one.x == 1


def test_a_copy_with_changes_is_made_of_ours_and_of_the_standard_ones() -> None:
    """``replace`` changes the named fields alone, and refuses names that are none."""
    for point in (OURS[0], STANDARD[0]):
        assert value.replace(point(1, 2, ["a"]), y=5) == point(1, 5, ["a"])
        with pytest.raises(TypeError):
            value.replace(point(1), w=5)


def test_a_value_can_be_pickled() -> None:
    """A value goes to another process and comes back equal."""
    assert pickle.loads(pickle.dumps(Kept("a", 3))) == Kept("a", 3)


def test_slots_are_not_left_out() -> None:
    """Who wants no slots is told to take the standard decorator."""
    with pytest.raises(ValueError, match="standard library"):
        value.dataclass(slots=False)


def test_a_method_is_written_once() -> None:
    """A class that is used often has a written ``__init__``, which stays; both ways make equal values."""
    seldom = Kept("a", 1)
    for _ in range(20):
        often = Kept("a", size_bytes=1)
    first = Kept.__init__
    assert often == seldom
    assert Kept.__init__ is first
    assert first.__qualname__ == "Kept.__init__"
