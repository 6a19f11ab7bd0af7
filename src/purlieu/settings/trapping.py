"""The keys that say what looks endless.

As ``key.py``, of which this is a part. What they mean is decided by ``trap.py``.
"""

# ruff: noqa: FBT003  # a default stands beside what is known of its key
from __future__ import annotations

from purlieu.settings.fact import Key, key
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class TrapSettings:
    """What looks like one of an endless series and is not asked for (`excluded.trap`); the report says what and where.

    `limits.repeated_segment` holds for parts of a path that stand again and again, `normalise.session_ids` for
    session ids.
    """

    detect: bool = key(True, Key("Whether traps are looked for. false switches every rule of this table off."))
    allow: tuple[str, ...] = key((), Key("What is never a trap; written as `filter.include`."))
    same_text: int = key(
        300,
        Key(
            "Of so many pages in a row whose URLs differ only in numbers, dates, ids and parameters, and of ten times "
            "as many, at least one in ten must have a text or title of its own, digits aside; else the series is left "
            "alone from there on. 0 switches the test off.",
            least=20,
            most=100_000,
            also=0,
        ),
    )
    years_ahead: int = key(
        5,
        Key(
            "A page of a calendar (its path ends in year and month, or a parameter is a date) so many years ahead of "
            "the run is the last one taken. -1 switches the test off.",
            least=0,
            most=1000,
            also=-1,
        ),
    )
    first_year: int = key(
        1600, Key("The first year of which a page of a calendar is taken. 0 switches the test off.", least=0, most=9999)
    )
    chain: int = key(
        1000,
        Key(
            "A page that is so many links away from a seed is the last one taken of those whose URLs have numbers or "
            "parameters. 0 switches the test off.",
            least=10,
            most=1_000_000,
            also=0,
        ),
    )
    max_segments: int = key(
        32, Key("How many parts a path may have. 0 switches the test off.", least=2, most=4096, also=0)
    )
    max_parameters: int = key(
        50, Key("How many parameters a URL may have. 0 switches the test off.", least=1, most=4096, also=0)
    )
    hosts_per_domain: int = key(
        5000,
        Key(
            "How many hosts of one registrable domain are taken: a site may make up subdomains without end. 0 switches "
            "the test off.",
            least=1,
            also=0,
        ),
    )
    soft_404: bool = key(
        False,
        Key(
            "Whether each host is asked once for a page that cannot be there. Pages with the same text then count as "
            "not found (`missing.soft_404`), whatever their status."
        ),
    )
