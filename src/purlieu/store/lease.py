"""A host held by one worker, and what is known of its origins. Values with figures that the holder keeps."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from purlieu.conduct import Conduct
from purlieu.robots import Robots
from purlieu.robots import read as read_robots
from purlieu.value import dataclass, field

SMALL_FILE: Final = 4_096
"""Octets of a robots.txt whose rules are remembered from one lease of its host to the next."""
_rules_of_small = lru_cache(maxsize=512)(read_robots)


def rules_of(body: bytes) -> Robots:
    """Return the rules of a robots.txt; hosts are leased again and again, and most files are small."""
    return _rules_of_small(body) if len(body) <= SMALL_FILE else read_robots(body)


@dataclass(slots=True)
class Origin:
    """An origin of a leased host: its robots.txt when known, and whether its pages have ended by it.

    ``body`` is the file as it is stored, for a holder in another process.
    """

    id: int
    origin: str
    state: str
    rules: Robots | None
    fetched_at: float | None
    first_failed_at: float | None
    ended: bool
    body: bytes | None = None


@dataclass(slots=True)
class Lease:
    """A host held by one worker, with its pace so far; the holder keeps the figures up to date (R-4.1 to R-4.3).

    ``broken`` says that the holder gives the host up; ``in_flight`` are the keys handed out and not yet
    finished; ``token`` makes a late finish write nothing. ``group`` is the number of the group that it works for, if
    that is more than the host; ``started_at`` and ``ended_at`` are when the last request to the group began and ended.
    ``gap_seconds`` is the pace in force, ``kept_gap_seconds`` the one that the store knows, should the holder die.
    ``holder`` is the number of the process that holds it, 0 for the one that has the store.
    """

    host: int
    name: str
    token: int
    expires_at: float
    next_at: float
    smoothed_seconds: float
    backoff_seconds: float
    failures_in_a_row: int
    crawl_delay: float | None = None
    loopback: bool = False
    broken: bool = False
    group: int | None = None
    started_at: float = 0.0
    ended_at: float = 0.0
    gap_seconds: float = 0.0
    kept_gap_seconds: float = 0.0
    holder: int = 0
    conduct: Conduct = field(default_factory=Conduct)
    origins: dict[int, Origin] = field(default_factory=dict)
    in_flight: set[tuple[int, int]] = field(default_factory=set)
