"""A treemap as numbers that a template draws: rectangles whose areas are as the numbers, as square as can be.

The way of Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000). Knows no colour and no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

LEAST: Final = 2.0
"""What is narrower is not drawn: nobody could see or hit it."""


class Box(NamedTuple):
    """A rectangle in units of the picture."""

    x: float
    y: float
    width: float
    height: float

    def inside(self, edge: float, top: float) -> Box:
        """Return what is left of it within an edge and below a head."""
        return Box(self.x + edge, self.y + top, max(self.width - 2 * edge, 0), max(self.height - top - edge, 0))


def squarified(numbers: Sequence[float], box: Box) -> list[Box]:
    """Return a rectangle for each number, which are positive and fall, so that together they fill a box."""
    whole = sum(numbers)
    if not whole or box.width < LEAST or box.height < LEAST:
        return [Box(box.x, box.y, 0, 0) for _ in numbers]
    scale = box.width * box.height / whole
    areas = [number * scale for number in numbers]
    found: list[Box] = []
    left, at = box, 0
    while at < len(areas):
        side = min(left.width, left.height)
        end, total = at + 1, areas[at]
        worst = _worst(areas[at], areas[at], total, side)
        while end < len(areas):
            grown = _worst(areas[at], areas[end], total + areas[end], side)
            if grown > worst:
                break
            total, worst, end = total + areas[end], grown, end + 1
        found += _row(areas[at:end], total, left)
        depth = total / side if side else 0
        left = (
            Box(left.x + depth, left.y, max(left.width - depth, 0), left.height)
            if left.width >= left.height
            else Box(left.x, left.y + depth, left.width, max(left.height - depth, 0))
        )
        at = end
    return found


def bands(numbers: Sequence[float], box: Box) -> list[Box]:
    """Return a box cut across its longer side into parts as the numbers."""
    whole, found, start = sum(numbers) or 1, [], 0.0
    for number in numbers:
        share = number / whole
        if box.width >= box.height:
            found.append(Box(box.x + start * box.width, box.y, share * box.width, box.height))
        else:
            found.append(Box(box.x, box.y + start * box.height, box.width, share * box.height))
        start += share
    return found


def _worst(largest: float, least: float, total: float, side: float) -> float:
    """Return the worst ratio of sides in a row of areas along a side."""
    if not least or not side or not total:
        return float("inf")
    return max(side * side * largest / (total * total), total * total / (side * side * least))


def _row(areas: Sequence[float], total: float, left: Box) -> list[Box]:
    found, start = [], 0.0
    is_upright = left.width >= left.height
    side = left.height if is_upright else left.width
    depth = total / side if side else 0
    for area in areas:
        length = area / depth if depth else 0
        found.append(
            Box(left.x, left.y + start, depth, length) if is_upright else Box(left.x + start, left.y, length, depth)
        )
        start += length
    return found
