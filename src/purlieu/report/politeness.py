"""How politely each host was asked in a run: the rule in force, the gaps kept, what it asked for and got (R-4.6).

Reads what was measured while the run went on; measures nothing itself. Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from purlieu.store.reader import ConductRow, Reader, RunRow

TOLERANCE_SECONDS: Final = 1e-6
"""Times are floating point: a span that is short by less was kept."""
HEADS: Final = (
    "HOST", "RULE", "PACE", "CONNECTIONS", "REQUESTS", "LEAST GAP", "LEAST REST", "SLACK", "RETRY-AFTER", "BACK-OFF",
    "ROBOTS RETRIES", "ERRORS", "GIVEN UP", "CERTIFICATE UNTIL",
)  # fmt: skip

LEAST: Final = ("HOST", "RULE", "PACE", "REQUESTS", "LEAST GAP", "SLACK", "GIVEN UP")
"""The heads that a narrow terminal shows."""


def is_kept(row: ConductRow) -> bool:
    """Return whether no request to the host came sooner than its rule and every Retry-After allowed."""
    return all(slack is None or slack >= -TOLERANCE_SECONDS for slack in (row.least_slack, row.least_retry_slack))


def facts(row: ConductRow) -> dict[str, Any]:
    """Return one host as values for JSON; spans in seconds to the microsecond, None where there was none."""
    told = {name: round(value, 6) if isinstance(value, float) else value for name, value in row._asdict().items()}
    return {**told, "kept": is_kept(row)}


def groups(reader: Reader, run: RunRow) -> dict[str, tuple[int, int]]:
    """Return the groups of hosts that were asked as one, by name: how many hosts, and how many requests to them."""
    found: dict[str, tuple[int, int]] = {}
    for row in reader.conduct(run):
        if row.group:
            hosts, requests = found.get(row.group, (0, 0))
            found[row.group] = hosts + 1, requests + row.requests
    return dict(sorted(found.items()))


def table(reader: Reader, run: RunRow) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table of ``HEADS``, a host each, by name."""
    for row in reader.conduct(run):
        told = "-"
        if row.retry_afters:
            slack = "not asked again" if row.least_retry_slack is None else f"kept {row.least_retry_slack:+.3f} s"
            told = f"{row.retry_afters}, longest {row.longest_retry_after or 0:.3f} s, {slack}"
        yield (
            row.host, row.rule or "-", f"{row.gap_seconds:.3f} s", f"{row.most_connections} of {row.connections}",
            f"{row.requests:,}", _span(row.least_gap), _span(row.least_rest), _span(row.least_slack, "+"), told,
            f"{row.most_backoff:.3f} s" if row.most_backoff else "-", f"{row.robots_retries}", f"{row.errors:,}",
            row.given_up or "-", _day(row.certificate_ends_at),
        )  # fmt: skip


def _day(at: float | None) -> str:
    return "-" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def _span(seconds: float | None, sign: str = "") -> str:
    return "-" if seconds is None else f"{seconds:{sign}.3f} s"
