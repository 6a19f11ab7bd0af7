"""The traps of a made web: pages that lead to ever more pages of no worth.

Each trap numbers its pages from 0, and knows the address of a number, the number of an address, and which numbers a
page leads to. Answers nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final, NamedTuple

_DAY_ONE: Final = date(2000, 1, 1).toordinal()
_LAST_DAY: Final = date.max.toordinal() - _DAY_ONE
_FILTERS: Final = (
    ("colour", ("red", "green", "blue", "black", "white", "grey", "brown", "pink")),
    ("size", ("xs", "s", "m", "l", "xl", "xxl")),
    ("sort", ("price", "name", "new", "rating", "sold")),
    ("view", ("grid", "list", "table", "map")),
    ("per", ("10", "20", "25", "50", "100", "200", "250", "500", "750", "1000")),
)


class Trap(NamedTuple):
    """One kind of trap. ``address`` gives the href of a number, ``number`` that of a path (None: not of this trap)."""

    title: str
    address: Callable[[int], str]
    number: Callable[[str], int | None]
    leads_to: Callable[[int], tuple[int, ...]]


def _three(number: int) -> tuple[int, ...]:
    return tuple(range(3 * number + 1, 3 * number + 4))


def _day(number: int) -> str:
    return date.fromordinal(_DAY_ONE + min(number, _LAST_DAY)).strftime("/calendar/%Y/%m/%d")


def _day_number(path: str) -> int | None:
    found = re.fullmatch(r"/calendar/(\d{4})/(\d\d)/(\d\d)", path, re.ASCII)
    if not found:
        return None
    try:
        return date(*map(int, found.groups())).toordinal() - _DAY_ONE
    except ValueError:
        return None


def _days(number: int) -> tuple[int, ...]:
    return tuple(one for one in (number - 1, number + 1, number + 7, number + 30) if 0 <= one <= _LAST_DAY)


def _numbered(before: str, base: int) -> Callable[[str], int | None]:
    """Return what reads the number after a text."""
    digits = r"[0-9a-f]" if base == 16 else r"\d"
    pattern = re.compile(rf"{re.escape(before)}({digits}{{1,12}})", re.ASCII)

    def number(path: str) -> int | None:
        found = pattern.fullmatch(path)
        return int(found[1], base) if found else None

    return number


def _filtered(number: int) -> str:
    """Return the filter of a number: a value of each parameter, and an order of the parameters."""
    pairs = []
    for name, values in _FILTERS:
        number, which = divmod(number, len(values))
        pairs.append(f"{name}={values[which]}")
    ordered = []
    while pairs:
        number, which = divmod(number, len(pairs))
        ordered.append(pairs.pop(which))
    return f"/list?{'&'.join(ordered)}" + (f"&more={number}" if number else "")


def _filter_number(path: str) -> int | None:
    before, _, query = path.partition("?")
    if before != "/list":
        return None
    pairs = dict(part.partition("=")[::2] for part in query.split("&"))
    more = pairs.pop("more", "0")
    left = [name for name, _ in _FILTERS]
    if set(pairs) != set(left) or not (more.isascii() and more.isdigit() and len(more) < 10):
        return None
    number, factor = 0, 1
    for name, values in _FILTERS:
        if pairs[name] not in values:
            return None
        number, factor = number + factor * values.index(pairs[name]), factor * len(values)
    for name in pairs:
        number, factor = number + factor * left.index(name), factor * len(left)
        left.remove(name)
    return number + factor * int(more)


def _nested_number(path: str) -> int | None:
    return path.count("/") - 2 if re.fullmatch(r"/archive/(?:(?:older|back)/)*", path) else None


TRAPS: Final = {
    "calendar": Trap("Calendar", _day, _day_number, _days),
    "session": Trap("Shop", lambda number: f"/shop?sid=5e55{number:08x}", _numbered("/shop?sid=5e55", 16), _three),
    "parameters": Trap("List", _filtered, _filter_number, _three),
    # Relative, as in life: each page leads one segment deeper.
    "segments": Trap("Archive", lambda number: "older/" if number % 2 else "back/", _nested_number, lambda n: (n + 1,)),
    "subdomains": Trap("Branch", lambda number: f"t{number}", _numbered("t", 10), _three),
    "soft404": Trap("Sorry", lambda number: f"/nothing/{number}", _numbered("/nothing/", 10), _three),
}
