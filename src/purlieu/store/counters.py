"""What a run counts while it works, and which run that is."""

from __future__ import annotations

import json
from collections import Counter

from purlieu.value import dataclass, field, fields, replace

Newest = tuple[tuple[str, str, int, str, float], ...]
"""Pages as (address, kind.reason, status or 0, title, ended_at), the newest first."""


@dataclass(slots=True)
class Counters:
    """What a run has done so far; written with every batch (the first two counts of R-7.1).

    ``newest`` and ``newest_faults`` are for who looks on: to find them in a million rows would take a second.
    """

    admitted: int = 0
    refused: int = 0
    promoted: int = 0
    unlisted: int = 0
    requests: int = 0
    bytes: int = 0
    pages_asked: int = 0
    sampled: int = 0
    missed: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    newest: Newest = ()
    newest_faults: Newest = ()

    def copy(self) -> Counters:
        """Return a copy to go back to."""
        return replace(self, endings=Counter(self.endings))

    def restore(self, before: Counters) -> None:
        """Go back to what was counted before, as a batch that is rolled back does."""
        for one in fields(self):
            setattr(self, one.name, getattr(before, one.name))

    def text(self) -> str:
        """Return them as JSON."""
        return json.dumps({one.name: getattr(self, one.name) for one in fields(self)})


@dataclass(frozen=True, slots=True)
class Run:
    """Which run of which crawl is written to; ``revisit``: it asks only for what may have changed."""

    id: int
    crawl: int
    revisit: bool = False


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """``refusals_per_host`` listed for a foreign host (R-1.4), ``pages_per_host`` admitted (None: no limit).

    ``canonical``: what a page calls its canonical becomes a candidate. ``hosts_per_domain``: so many hosts of one
    registrable domain have pages (0: no limit). ``probes``: each host is asked once for a page that cannot be there.
    ``resources``: what pages embed is checked.
    ``foreign_robots``: links out of scope are checked only where their robots.txt lets them.
    """

    refusals_per_host: int = 10_000
    pages_per_host: int | None = None
    canonical: bool = True
    hosts_per_domain: int = 0
    probes: bool = False
    resources: bool = False
    foreign_robots: bool = False


@dataclass(slots=True)
class HostCount:
    """What a host has in this run: pages admitted, refusals listed."""

    pages: int
    refused: int
