"""What reports get of the store: a row of each kind, as ``reader.py`` gives it.

Values alone. Knows no statement and no database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from purlieu.candidate import Facts
from purlieu.named import NamedTuple
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. ``state`` is running, done, stopped or failed; times are seconds since the epoch.

    ``counters`` are kept while it runs, ``books`` are written at its end (None until then), both as the
    store has them. ``config`` is the hash of its settings. ``pruned_at``: when its rows were removed (R-8.4).
    """

    id: int
    crawl: str
    version: str
    state: str
    stop_reason: str | None
    started_at: float
    ended_at: float | None
    active_seconds: float
    config: str
    pruned_at: float | None
    counters: Mapping[str, Any]
    books: Mapping[str, Any] | None


class VisitRow(NamedTuple):
    """How one entry ended and what its response said; the response's part is None where there is none."""

    href: str
    kind: str
    reason: str
    attempts: int
    redirect_to: str | None
    status: int | None
    headers: str | None
    content_type: str | None
    title: str | None
    canonical: str | None
    last_modified: str | None
    fetched_at: float | None


class FoundRow(NamedTuple):
    """One row of the ledger as it was found and judged; ``rule`` decided it, last of all robots.txt."""

    href: str
    facts: Facts
    rule: str
    kind: str
    reason: str
    detail: str
    status: int | None
    redirect_to: str | None
    attempts: int


class MadeRow(NamedTuple):
    """One page as a sitemap is made from it: how it ended, what the answer that stands said, and its history.

    Times are seconds since the epoch; what lies in the history is None for a page that never gave content.
    ``alternates`` is JSON: [[hreflang, href], ...].
    """

    href: str
    kind: str
    reason: str
    attempts: int
    status: int | None
    content_type: str | None
    index_reason: str
    last_modified: str | None
    first_seen: float | None
    last_fetched: float | None
    last_changed: float | None
    visits: int | None
    changes: int | None
    alternates: str | None


class PastRow(NamedTuple):
    """What the history of a crawl knows of a page; times are seconds since the epoch, 0 for never.

    ``asked_at`` is when it was last asked for; ``missed_runs`` how often in a row it was asked for and named by
    nothing; ``retired``: it is not asked for any more.
    """

    first_seen: float
    asked_at: float
    last_changed: float
    visits: int
    changes: int
    interval_seconds: float | None
    gone_runs: int
    missed_runs: int
    retired: int


class RobotsRow(NamedTuple):
    """What a run knows of an origin's robots.txt: ``body`` None until it was read, ``ended`` its pages' ending."""

    state: str
    body: bytes | None
    source: str | None
    ended: str | None


class SitemapRow(NamedTuple):
    """One sitemap file of a run; ``format`` is "" where none was read, ``problems`` are (line, kind, sentence)."""

    url: str
    kind: str
    reason: str
    found_by: str
    via: str
    rule: str
    format: str
    entries: int
    children: int
    problems: tuple[tuple[int, str, str], ...]


class Linking(NamedTuple):
    """Which pages link to an address: (page, kind, nofollow). ``cut``: there are more than the ``scanned`` pages."""

    found: tuple[tuple[str, str, bool], ...]
    scanned: int
    cut: bool


class HostRow(NamedTuple):
    """What one host cost in a run; ``seconds`` and ``size_bytes`` are sums over its requests."""

    name: str
    requests: int
    failures: int
    seconds: float
    size_bytes: int
    pages: int
    is_given_up: bool

    @property
    def mean_seconds(self) -> float:
        """Return the seconds that a request took on the average, 0 when there was none."""
        return self.seconds / self.requests if self.requests else 0.0


class ConductRow(NamedTuple):
    """How one host was treated in a run; see ``conduct.py`` for the spans, which are in seconds.

    ``rule`` set the pace that was last in force, one of ``politeness.RULES``; ``group`` is the group of hosts that it
    is asked with, "" for none; ``errors`` are requests that count against it. ``certificate_ends_at`` is until when its
    certificate holds, in seconds since the epoch; None where none was seen.
    """

    host: str
    group: str
    rule: str
    gap_seconds: float
    rest_seconds: float
    connections: int
    most_connections: int
    requests: int
    least_gap: float | None
    least_rest: float | None
    least_slack: float | None
    retry_afters: int
    longest_retry_after: float | None
    least_retry_slack: float | None
    most_backoff: float
    robots_retries: int
    errors: int
    given_up: str
    certificate_ends_at: float | None = None


@dataclass(frozen=True, slots=True)
class UnlistedRow:
    """Refusals that are counted only (R-1.4); ``host`` is "" for what has none."""

    host: str
    reason: str
    rule: str
    count: int
