"""What a revisit saved: requests not sent, and what a sample says of the changes that were missed by it (R-2.4).

Reads the counters of a run. Decides nothing.
"""

from __future__ import annotations

from typing import Final

from purlieu.store.reader import RunRow
from purlieu.value import dataclass

_LEFT_ALONE: Final = ("unchanged.sitemap_lastmod", "unchanged.not_due", "missing.retired")


@dataclass(frozen=True, slots=True)
class Savings:
    """``left_alone`` addresses were not asked for; of ``sampled`` that would have been, ``missed`` had changed."""

    left_alone: int = 0
    sampled: int = 0
    missed: int = 0


NOTHING_SAVED: Final = Savings()


def of_run(run: RunRow) -> Savings:
    """Return what a run saved; nothing in a run that asks for everything."""
    endings = run.counters.get("endings", {})
    left_alone = sum(endings.get(name, 0) for name in _LEFT_ALONE)
    return Savings(left_alone, run.counters.get("sampled", 0), run.counters.get("missed", 0))
