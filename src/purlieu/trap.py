"""Addresses that look like one of an endless series: calendars, loops, permutations, pages that say the same again.

What is told by the address alone is the same in whatever order addresses are found (R-2.1). A series is told by
what its pages say, so it depends on which were asked first; it takes many pages to condemn one.
Knows no clock and no store.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import Final

from purlieu.pattern.filters import Filters
from purlieu.value import dataclass, field

SERIES_REMEMBERED: Final = 1024
"""Series whose pages are counted at the same time; of more the one met longest ago is forgotten."""
SAME_SHARE: Final = 10
"""A series is a trap where its pages have less than one text for so many of them."""
LONGER: Final = 10
"""So many times as long is the window for what varies by month and weekday."""
YEAR_SECONDS: Final = 31_556_952
_PERIODS: Final = range(3, 9)  # one and two are ``repeated_segment``
_SHORTEST_ID: Final = 8
_MONTHS: Final = frozenset(
    "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov "  # noqa: SIM905
    "november dec december".split()
)


@dataclass(frozen=True, slots=True)
class TrapRules:
    """What counts as a trap; 0 or None switches a rule off. ``year`` is the year of the run, None where there is none.

    ``allowed`` are the owner's patterns for what is never one.
    """

    repeated: int = 0
    max_segments: int = 0
    max_parameters: int = 0
    years_ahead: int | None = None
    first_year: int = 0
    chain: int = 0
    year: int | None = None
    allowed: Filters | None = None

    def told(self, href: str, depth: int = 0) -> str:
        """Return the rule by which an http(s) href without fragment is a trap, "" for none.

        A chain is told by its depth, of which the smallest counts: so no order of discovery shows.
        """
        rule = self._told(href, depth)
        return "" if rule and self.allows(href) else rule

    def allows(self, href: str) -> bool:
        """Return whether the owner says that an address is no trap."""
        return self.allowed is not None and self.allowed.refuse(href) is not None

    def _told(self, href: str, depth: int) -> str:
        if self.chain and depth > self.chain and series_of(href):
            return f"chain={self.chain}"
        path, _, query = href.partition("?")
        slashes = path.count("/") - 2
        if self.max_segments and slashes > self.max_segments:
            return f"max_segments={self.max_segments}"
        if self.repeated and slashes >= self.repeated * _PERIODS[0] and _cycles(path.split("/")[3:], self.repeated):
            return f"repeated_path={self.repeated}"
        if query and (rule := self._told_by(query)):
            return rule
        if self.first_year or self.years_ahead is not None:
            return self._out_of_time(href)
        return ""

    def _told_by(self, query: str) -> str:
        pairs = [pair for pair in query.split("&") if pair]
        if self.max_parameters and len(pairs) > self.max_parameters:
            return f"max_parameters={self.max_parameters}"
        if self.repeated and len(pairs) >= self.repeated and max(Counter(pairs).values()) >= self.repeated:
            return f"repeated_parameter={self.repeated}"
        return ""

    def _out_of_time(self, href: str) -> str:
        year = year_of(href)
        if year is None:
            return ""
        if self.first_year and year < self.first_year:
            return f"first_year={self.first_year}"
        if self.years_ahead is not None and self.year is not None and year > self.year + self.years_ahead:
            return f"years_ahead={self.years_ahead}"
        return ""


def _cycles(segments: Sequence[str], times: int) -> bool:
    """Return whether three to eight segments in a row stand so many times one after another."""
    for period in _PERIODS:
        run = 0
        for at in range(period, len(segments)):
            run = run + 1 if segments[at] and segments[at] == segments[at - period] else 0
            if run >= period * (times - 1):
                return True
    return False


@cache
def _dates() -> re.Pattern[str]:
    """Return what finds the year of a calendar's page: the path ends in a date, or a parameter is one."""
    date = r"\d{4}-\d{1,2}(?:-\d{1,2})?"
    return re.compile(
        r"/(?P<path>\d{4})[/-](?:0?[1-9]|1[0-2])(?:[/-](?:0?[1-9]|[12]\d|3[01]))?/?(?:\?|$)"
        r"|[?&;](?:[a-z_-]*year|yr|jahr|annee|y)=(?P<year>\d{1,6})(?:&|;|$)"
        rf"|[?&;](?:[a-z_-]*(?:date|day|month|week|start|from|time|d|m))=(?P<date>(?={date})\d{{4}})",
        re.IGNORECASE,
    )


def year_of(href: str) -> int | None:
    """Return the year of a calendar's page, None for any other: a path with more after the date is an article."""
    # The usual address has neither a parameter nor a date at its end.
    if "=" not in href and not href[-2:].strip("/")[-1:].isdigit() and "?" not in href:
        return None
    found = _dates().search(href, 8)
    if found is None:
        return None
    if found["year"] is not None:
        year = int(found["year"])
        # A short number is no year but, say, a row of a table.
        return year if len(found["year"]) >= 4 else None
    return int(found["path"] or found["date"])


@cache
def _tokens() -> re.Pattern[str]:
    """Return what finds ids with hyphens, and words and numbers; linear in any text."""
    return re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9A-Za-z]++")


@cache
def _digits() -> re.Pattern[str]:
    return re.compile(r"\d++")


def _masked(token: re.Match[str]) -> str:
    """Return what of a word names the series: nothing of an id or a month, all but its digits of another."""
    word = token[0]
    if word.isalpha():
        return "*" if word.lower() in _MONTHS else word
    if len(word) >= _SHORTEST_ID and not word.lower().strip("0123456789abcdef-"):
        return "*"
    return _digits().sub("*", word)


def series_of(href: str) -> str:
    """Return the series that an address is of: numbers, dates and ids are ``*``, parameters their names in order.

    "" for an address in which nothing varies.
    """
    path, mark, query = href.partition("?")
    scheme, _, rest = path.partition("://")
    host, slash, path = rest.partition("/")
    path = slash + path
    masked = _tokens().sub(_masked, path)
    if masked == path and not query:
        return ""
    names = sorted({_tokens().sub(_masked, pair.partition("=")[0]) for pair in query.split("&")}) if query else []
    return f"{scheme}://{host}{masked}{mark}{'&'.join(f'{name}=*' for name in names)}"


@dataclass(slots=True)
class _Window:
    """The pages of a series since the last look: how many, and their texts as far as they matter (as hashes)."""

    size: int
    pages: int = 0
    texts: set[int] = field(default_factory=set)

    def is_same(self, text: int) -> bool:
        """Take in a page's text; return whether the window is full and says too little."""
        few = max(1, self.size // SAME_SHARE)
        self.pages += 1
        if len(self.texts) <= few:
            self.texts.add(text)
        if self.pages < self.size:
            return False
        found = len(self.texts) <= few
        self.pages = 0
        self.texts = set()
        return found


class Series:
    """Watches the pages of series; memory is bounded by ``SERIES_REMEMBERED`` and ``pages``.

    Of each ``pages`` pages of a series (0: nothing is watched), and of ten times as many, there must be one text,
    digits aside, for every ``SAME_SHARE`` of them; else the series is a trap, and stays one. The longer window is for
    pages that differ in the names of months and weekdays.
    """

    def __init__(self, pages: int, trapped: Sequence[str] = ()) -> None:
        """Begin with the series that are known as traps."""
        self._pages = pages
        self._trapped = set(trapped)
        self._windows: OrderedDict[str, tuple[_Window, _Window]] = OrderedDict()

    @property
    def known(self) -> list[str]:
        """Return the series that are known as traps."""
        return sorted(self._trapped)

    @property
    def rule(self) -> str:
        """Return the name of the rule."""
        return f"same_text={self._pages}"

    def met(self, href: str, text: str) -> str:
        """Take in what a page says; return its series if that has just become a trap, "" else."""
        series = series_of(href) if self._pages else ""
        if not series or series in self._trapped:
            return ""
        windows = self._windows.get(series)
        if windows is None:
            windows = self._windows[series] = (_Window(self._pages), _Window(self._pages * LONGER))
            if len(self._windows) > SERIES_REMEMBERED:
                self._windows.popitem(last=False)
        self._windows.move_to_end(series)
        said = hash(text)  # within this process alone
        if not [window for window in windows if window.is_same(said)]:
            return ""
        del self._windows[series]
        self._trapped.add(series)
        return series

    def condemn(self, series: str) -> None:
        """Take a series for a trap that somebody else has found."""
        self._trapped.add(series)

    def trapped(self, href: str) -> str:
        """Return the series of an address if that is a trap, "" else."""
        if not self._trapped:
            return ""
        series = series_of(href)
        return series if series in self._trapped else ""
