"""The Last-Modified header as the MF3.0 file shows it: RFC 2822 form or nothing (MF-8, AMB-MF-9, AMB-MF-10).

Text in, text out. Guesses nothing: what is no date by the standards' grammar is left out.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from purlieu import late

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "|".join(_MONTHS)
_SHORT = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_LONG = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_CLOCK = r"(\d\d):(\d\d)(?::(\d\d))?"

# RFC 5322 3.3 with the obsolete years and zones of 4.3; an HTTP-date (IMF-fixdate) is one of these (ST-50).
_RFC2822 = late.pattern(
    rf"(?:(?:{_SHORT}),\s*)?(\d\d?)[ \t]+({_MONTH})[ \t]+(\d{{2,4}})[ \t]+{_CLOCK}"
    r"[ \t]+(?:[+-]\d\d[0-5]\d|UT|UTC|GMT|[ECMP][SD]T|[A-IK-Z])(?:[ \t]*\([^()]*\))?",
    re.ASCII | re.IGNORECASE,
)
# RFC 9110 5.6.7: the two obsolete forms of an HTTP-date, always in GMT.
_RFC850 = late.pattern(rf"(?:{_LONG}), (\d\d)-({_MONTH})-(\d\d) {_CLOCK} GMT", re.ASCII | re.IGNORECASE)
_ASCTIME = late.pattern(rf"(?:{_SHORT}) ({_MONTH}) ([ \d]\d) {_CLOCK} (\d{{4}})", re.ASCII | re.IGNORECASE)


def rfc2822(text: str | None, now: float) -> str:
    """Return a Last-Modified value in RFC 2822 form, "" when it is no date.

    A value in that form stays as it is, zone included; RFC 850 and asctime forms are written anew.
    ``now`` (seconds since the epoch) settles the century of an RFC 850 year (RFC 9110 5.6.7).
    """
    text = (text or "").strip(" \t")
    if found := _RFC2822.fullmatch(text):
        day, month, year, *clock = found.groups()
        return text if _moment(_full_year(year), month, day, clock) else ""
    if found := _RFC850.fullmatch(text):
        day, month, year, *clock = found.groups()
        this_year = datetime.fromtimestamp(now, UTC).year
        full = this_year - this_year % 100 + int(year)
        moment = _moment(full - 100 if full > this_year + 50 else full, month, day, clock)
    elif found := _ASCTIME.fullmatch(text):
        month, day, *clock, year = found.groups()
        moment = _moment(int(year), month, day, clock)
    else:
        return ""
    return _written(moment) if moment else ""


def _full_year(year: str) -> int:
    """Read an obsolete year of two or three digits (RFC 5322 4.3)."""
    number = int(year)
    if len(year) == 4:
        return number
    return number + (2000 if len(year) == 2 and number < 50 else 1900)


def _moment(year: int, month: str, day: str, clock: list[str]) -> datetime | None:
    """Return the moment, None when there is no such day or time; a leap second counts as the one before."""
    second = int(clock[2] or 0)
    if second > 60:
        return None
    try:
        of_year = _MONTHS.index(month.lower()) + 1
        return datetime(year, of_year, int(day), int(clock[0]), int(clock[1]), min(second, 59), tzinfo=UTC)
    except ValueError:
        return None


def _written(moment: datetime) -> str:
    """Write an IMF-fixdate in English, whatever the locale."""
    weekday = _SHORT.split("|")[moment.weekday()]
    month = _MONTHS[moment.month - 1].capitalize()
    return f"{weekday}, {moment.day:02} {month} {moment.year:04} {moment:%H:%M:%S} GMT"


def is_older(ended_at: float, now: float, days: int) -> bool:
    """Return whether more than so many days lie between; exactly as many are not older (AMB-MF-12)."""
    return now - ended_at > timedelta(days=days).total_seconds()
