"""Charts as numbers that a template draws: bars and trend lines, with no script and no style in the page.

Knows no colour and no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from purlieu.console.labels import group_of

WIDE: Final = 1000
"""Units across a bar."""
_LEAST: Final = 4
_GROUPS: Final = ("good", "moved", "out", "wait", "bad")


class Bar(NamedTuple):
    """One bar: of what, how many, and how long in ``WIDE`` units."""

    name: str
    number: int
    length: int


class Part(NamedTuple):
    """One part of a stacked bar."""

    group: str
    number: int
    start: int
    length: int


class Trend(NamedTuple):
    """A line: ``points`` as SVG writes them, and where its last one lies."""

    points: str
    area: str
    x: float
    y: float


def bars(numbers: Iterable[tuple[str, int]]) -> list[Bar]:
    """Return a bar for each number; the longest is ``WIDE``, and the least can still be seen."""
    rows = list(numbers)
    most = max((number for _, number in rows), default=0)
    return [Bar(name, number, max(_LEAST, number * WIDE // most) if number else 0) for name, number in rows]


def stacked(kinds: Mapping[str, int], most: int) -> list[Part]:
    """Return the parts of a bar by colour group; ``most`` is what the whole width stands for."""
    sums = dict.fromkeys(_GROUPS, 0)
    for kind, number in kinds.items():
        sums[group_of(kind)] += number
    found, start, whole = [], 0, max(most, 1)
    for group, number in sums.items():
        if number:
            length = max(_LEAST, number * WIDE // whole)
            found.append(Part(group, number, start, length))
            start += length
    return found


class Flow(NamedTuple):
    """A line over time above zero: ``points`` and ``area`` as SVG writes them, its last value, and its highest."""

    points: str
    area: str
    last: float
    top: float


def flow(values: Sequence[float], width: int = 600, height: int = 90) -> Flow | None:
    """Return the line of some values, the oldest first, over a ground of zero; None when there are fewer than two."""
    if len(values) < 2:
        return None
    top = max(values)
    step = width / (len(values) - 1)
    rise = (height - 2) / (top or 1)
    places = " ".join(f"{at * step:.1f},{height - 1 - value * rise:.1f}" for at, value in enumerate(values))
    return Flow(places, f"0,{height} {places} {width},{height}", values[-1], top)


def trend(values: Sequence[float], width: int = 120, height: int = 28) -> Trend | None:
    """Return the line of some values from the oldest to the newest, None when there are fewer than two."""
    if len(values) < 2:
        return None
    low, high, edge = min(values), max(values), 3
    reach = (high - low) or 1
    step = (width - 2 * edge) / (len(values) - 1)
    flat = high == low
    places = [
        (
            round(edge + at * step, 1),
            height / 2 if flat else round(height - edge - (value - low) / reach * (height - 2 * edge), 1),
        )
        for at, value in enumerate(values)
    ]
    points = " ".join(f"{x},{y}" for x, y in places)
    return Trend(points, f"{places[0][0]},{height} {points} {places[-1][0]},{height}", *places[-1])
