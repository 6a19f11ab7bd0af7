"""Our named tuples and late patterns behave as the standard ones, for all that the package makes use of (R-9.2)."""

from __future__ import annotations

import copy
import hashlib
import pickle
import re
import typing
from typing import Any

import pytest

from purlieu import digest, feed, late, named
from purlieu.cli.content_options import FORMS


class Kept(named.NamedTuple):
    """A row that is pickled."""

    name: str
    size_bytes: int = 0

    @property
    def is_big(self) -> bool:
        """Return whether it is."""
        return self.size_bytes > 9


class Standard(typing.NamedTuple):
    """The same in the standard way."""

    name: str
    size_bytes: int = 0

    @property
    def is_big(self) -> bool:
        """Return whether it is."""
        return self.size_bytes > 9


def told(kind: Any) -> list[Any]:
    """Return what rows of a class show of themselves."""
    one, other = kind("a"), kind(size_bytes=10, name="b")
    return [
        repr(one), one == ("a", 0), other == kind("b", 10), hash(one) == hash(("a", 0)), [*other], other.name, other[1],
        other.is_big, one._asdict(), one._replace(size_bytes=3), kind._make(["c", 4]), kind._fields, kind.__match_args__,
        kind._field_defaults, copy.deepcopy(other), isinstance(one, tuple), hasattr(one, "__dict__"), kind.__doc__ != "",
    ]  # fmt: skip


def test_rows_are_as_the_standard_librarys() -> None:
    """Text, equality, order of arguments, fields, copies and defaults are those of ``typing.NamedTuple``."""
    assert [str(one).replace("Standard", "Kept") for one in told(Standard)] == [str(one) for one in told(Kept)]


def test_a_row_can_be_pickled() -> None:
    """A row goes to another process and comes back equal."""
    assert pickle.loads(pickle.dumps(Kept("a", 3))) == Kept("a", 3)


@pytest.mark.parametrize("call", [(), ("a", 1, 2)], ids=["too few", "too many"])
def test_wrong_values_are_refused(call: tuple[Any, ...]) -> None:
    """What the standard class does not take, ours does not take either."""
    for kind in (Kept, Standard):
        with pytest.raises(TypeError):
            kind(*call)
        with pytest.raises(TypeError):
            kind._make(call)
    changes: dict[str, Any] = {"size": 2}
    with pytest.raises(ValueError, match="size"):
        Kept("a")._replace(**changes)


def test_a_late_pattern_is_the_pattern() -> None:
    """A pattern that is compiled late finds, and shows of itself, what the pattern does."""
    ours, standard = late.pattern(r"(a)b", re.IGNORECASE), re.compile(r"(a)b", re.IGNORECASE)
    for _ in range(2):
        assert [found[1] for found in ours.finditer("abAB")] == [found[1] for found in standard.finditer("abAB")]
    assert (ours.pattern, ours.flags, ours.fullmatch("a")) == (standard.pattern, standard.flags, None)


def test_the_hash_is_the_standard_librarys() -> None:
    """BLAKE2b is the function that ``hashlib`` has."""
    assert digest.blake2b is hashlib.blake2b


def test_every_engine_can_be_typed() -> None:
    """The options of ``feed`` name every form that changes can be told in, and no other."""
    assert FORMS == feed.FORMS
