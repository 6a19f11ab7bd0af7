"""Dates of sitemaps and feeds: text to seconds since the epoch.

Knows W3C Datetime and the dates of RSS. Must not know the present time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache

# SM-50: exactly six shapes.
_DATE = len("YYYY-MM-DD")
_EXACT = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?)?)?", re.ASCII)
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:[Tt ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,20}))?)? ?([Zz]|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)
_RSS = re.compile(
    r"(?:[A-Za-z]{3,9},? )? ?(\d\d?)[ -]([A-Za-z]{3})[a-z]{0,6}[ -](\d{4}|\d\d)"
    r"(?: (\d\d?):(\d\d)(?::(\d\d))?(?: ([A-Za-z]{1,3}|[+-]\d\d:?\d\d))?)?",
    re.ASCII,
)
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_ZONES = {"edt": -4, "est": -5, "cdt": -5, "cst": -6, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8}  # RFC 5322, 4.3


_LENGTHS = {1: 366 * 86_400.0, 2: 31 * 86_400.0, 3: 1.5 * 86_400.0}


def is_exact(text: str) -> bool:
    """Say whether a text has one of the six shapes of W3C Datetime (SM-50)."""
    return _EXACT.fullmatch(text) is not None


def of_w3c(text: str) -> float | None:
    """Return the start of the period that a W3C Datetime names (SM-53), None if it names none.

    Slips that leave no doubt are read too: a space for the T, no colon in the zone, one digit, no zone for UTC (SM-51).
    """
    return of_exact(text) if _EXACT.fullmatch(text) else _of_shapes(text)


def of_exact(text: str) -> float | None:
    """Return the same of a text that has one of the six shapes."""
    if len(text) > _DATE:
        try:
            return datetime.fromisoformat(text).timestamp()
        except ValueError:  # what it does not take, such as a leap second, is looked at below
            pass
    return _of_shapes(text)


@lru_cache(maxsize=1_024)  # many entries have the same date
def _of_shapes(text: str) -> float | None:
    match = _W3C.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    return _seconds(
        (int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0)),
        float(f"0.{fraction or 0}"),
        zone,
    )


def period(text: str) -> tuple[float, float] | None:
    """Return the start and the end of the time that a W3C Datetime names, None if it names none (SM-53).

    A date has no zone, so that its day may end half a day later than in UTC.
    """
    start = of_w3c(text)
    if start is None:
        return None
    digits = len(text.partition("T")[0].partition(" ")[0])
    return start, start + (0.0 if ":" in text else _LENGTHS[min(max(digits - 1, 3), 9) // 3])


def of_rss(text: str) -> float | None:
    """Return the moment of an RFC 822 date (SM-42, ST-50): two-digit years from 80 are 19xx, no zone is UTC."""
    match = _RSS.fullmatch(" ".join(text.split()))
    if match is None or match[2].lower() not in _MONTHS:
        return of_w3c(text)
    day, month, year, hour, minute, second, zone = match.groups()
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 80 else 2000)
    parts = (full, _MONTHS[month.lower()], int(day), int(hour or 0), int(minute or 0), int(second or 0))
    return _seconds(parts, 0.0, zone)


def as_w3c(seconds: float) -> str:
    """Return a moment as a whole W3C Datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _seconds(parts: tuple[int, int, int, int, int, int], fraction: float, zone: str | None) -> float | None:
    year, month, day, hour, minute, second = parts
    try:
        start = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return start + fraction - _offset(zone)


def _offset(zone: str | None) -> int:
    if not zone or zone[0] not in "+-":
        return 3600 * _ZONES.get((zone or "").lower(), 0)
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds
