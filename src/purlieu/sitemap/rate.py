"""How often a page changes, by what was seen of it: visits and changes to one of the seven words (SM-5, SM-72).

Knows numbers only. Must not know the present time, nor where the numbers are kept.
"""

from __future__ import annotations

from itertools import pairwise
from math import log, sqrt
from typing import Final

LEAST_VISITS: Final = 4
"""Fewer visits say too little to be told to others."""
_HOUR, _DAY = 3_600.0, 86_400.0
# The seconds between two changes that each word stands for; a word holds up to the geometric middle to the next.
_PERIODS: Final = (
    ("hourly", _HOUR),
    ("daily", _DAY),
    ("weekly", 7 * _DAY),
    ("monthly", 30 * _DAY),
    ("yearly", 365 * _DAY),
)
_UP_TO: Final = tuple((word, sqrt(period * longer)) for (word, period), (_, longer) in pairwise(_PERIODS))


def changefreq(first_seen: float, last_fetched: float, visits: int, changes: int) -> str | None:
    """Return the word for how often a page changes, None while it was seen too rarely to tell.

    Times in seconds since the epoch; ``changes`` of ``visits - 1`` looks again. The rate is the estimator of Cho and
    Garcia-Molina ("Estimating frequency of change", 2003), which counts that a look sees several changes as one. Of a
    page that never changed half a change is supposed. ``always`` and ``never`` are promises that no count supports.
    """
    looks, seen_seconds = visits - 1, last_fetched - first_seen
    if visits < LEAST_VISITS or seen_seconds <= 0:
        return None
    changes = min(max(changes, 0), looks)
    expected = -log((looks - changes + 0.5) / (looks + 0.5)) * looks if changes else 0.5
    return next((word for word, up_to in _UP_TO if seen_seconds / expected <= up_to), _PERIODS[-1][0])
