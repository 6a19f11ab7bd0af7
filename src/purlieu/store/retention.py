"""Remove the rows of old runs, a piece at a time (R-8.4): the only deleter.

Knows what must stay: history, totals, findings, the newest run, and what a later run takes over. Which runs are to go
is the owner's setting; what a run's totals and findings are, others say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Final

from purlieu.finding import Finding
from purlieu.store.database import Database
from purlieu.store.writes import PURPOSES

ROWS_AT_ONCE: Final = 20_000
"""About so many rows go in one transaction, so that neither the log grows without bound nor a reader waits long."""
_HASHES: Final = 2**64
_LOWEST: Final = -(2**63)
_NO_CRAWL: Final = -1
"""Takes over nothing."""
_OF_RUN: Final = (
    "erase_entry", "erase_refusal", "erase_site_of", "erase_response", "erase_sketch", "erase_anchor", "erase_extract",
    "erase_sitemap_entry", "erase_sitemap_child", "erase_sitemap_read", "erase_sitemap_namer", "erase_refusal_count",
    "erase_landing", "erase_finding", "erase_conduct", "erase_robots", "erase_run_host", "erase_run",
)  # fmt: skip
_OF_CRAWL: Final = (
    "erase_sitemap_files", "erase_trust", "erase_schedule_events", "erase_schedules", "erase_crawl",
)  # fmt: skip
_BY_PURPOSE: Final = ("prune_entries", "prune_refusals", "prune_lineage")
_BY_HASH: Final = ("prune_sitemap_entries", "prune_sitemap_children", "prune_sitemaps", "prune_sitemap_namers")


def prunable(database: Database, crawl: int, keep: int) -> list[int]:
    """Return the runs of a crawl whose rows go when those of its ``keep`` newest finished runs stay, the oldest first.

    Runs between those that stay are among them, whatever became of them; so is the newest run. One that was pruned
    before is in the list too: it may have been broken off.
    """
    return [row[0] for row in database.rows("prunable_runs", crawl, keep)]


def prune(
    database: Database,
    run: tuple[int, int],
    totals: Mapping[tuple[str, str, str], int],
    findings: Iterable[Finding],
    now: float,
) -> int:
    """Remove the rows of a run, (its number, its crawl's), and return how many went. May be broken off and done again.

    ``totals`` are its counts by purpose, kind and reason, which stand from now on; ``findings`` what it told.
    """
    number, crawl = run
    with database.transaction():
        text = json.dumps([[*key, count] for key, count in sorted(totals.items())])
        is_new = database.run("mark_pruned", now, text, number) == 1
        if is_new:
            kept = [(number, one.code, one.subject, json.dumps(dict(one.arguments))) for one in findings]
            database.many("add_finding", kept)
    if not is_new and database.one("has_prunable_rows", number) is None:
        return 0
    removed = _empty(database, number, crawl)
    with database.transaction():
        database.run("prune_robots", number)
    return removed


def forget(database: Database) -> int:
    """Remove all that is left of crawls whose owner removed them, and return how many there were.

    May be broken off and done again.
    """
    crawls = [row[0] for row in database.rows("removed_crawls")]
    for crawl in crawls:
        for (run,) in list(database.rows("runs_of_removed", crawl)):
            _empty(database, run, _NO_CRAWL)
            with database.transaction():
                for name in _OF_RUN:
                    database.run(name, run)
        for name in ("erase_pages", "erase_contents", "erase_feeds"):
            more = ROWS_AT_ONCE
            while more == ROWS_AT_ONCE:
                with database.transaction():
                    more = database.run(name, crawl, ROWS_AT_ONCE)
        with database.transaction():
            for name in _OF_CRAWL:
                database.run(name, crawl)
            database.run("erase_configs")
    return len(crawls)


def _empty(database: Database, run: int, crawl: int) -> int:
    """Remove the rows of a run but those that later runs of a crawl take over, a piece at a time."""
    removed = 0
    waiting: list[tuple[int, int, int]] = []
    rows = 0
    for host, count in list(database.rows("prunable_hosts", run)):
        pieces = list(_pieces(count))
        for first, last in pieces:
            waiting.append((host, first, last))
            rows += count // len(pieces) + 1
            if rows >= ROWS_AT_ONCE:
                removed += _remove(database, run, crawl, waiting)
                waiting, rows = [], 0
    return removed + _remove(database, run, crawl, waiting)


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of hashes that hold about ``ROWS_AT_ONCE`` of so many rows each; hashes are spread evenly."""
    parts = count // ROWS_AT_ONCE + 1
    edges = [_LOWEST + _HASHES * part // parts for part in range(parts + 1)]
    yield from ((first, last - 1) for first, last in pairwise(edges))


def _remove(database: Database, run: int, crawl: int, waiting: list[tuple[int, int, int]]) -> int:
    removed = 0
    with database.transaction():
        for host, first, last in waiting:
            for purpose in range(len(PURPOSES)):
                removed += sum(database.run(name, run, host, purpose, first, last) for name in _BY_PURPOSE)
                removed += database.run("prune_responses", run, host, purpose, first, last, crawl)
            for name in ("prune_sketches", "prune_anchors", "prune_extracts"):
                removed += database.run(name, run, host, first, last, crawl)
            removed += sum(database.run(name, run, host, first, last, crawl) for name in _BY_HASH)
    return removed
