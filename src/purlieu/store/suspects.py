"""What a run sums up to at its end, and what ``suspicion.py`` finds wrong with that (R-8.1).

Holds a bounded sample of pages, whatever the size of the run.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

from purlieu.store.counters import Run
from purlieu.store.database import Database
from purlieu.suspicion import JUDGED, Alike, Sums, judge

SAMPLE: Final = 50_000
"""About so many pages are compared by content and title."""
_PAGES: Final = frozenset({"fetched", "unchanged"})


def note(
    database: Database, run: Run, crawl: str, *, is_whole: bool, threshold: float | None, only_seeds: bool
) -> list[str]:
    """Write what looks wrong with a run as findings and return their codes; what an earlier end said goes.

    ``only_seeds``: the owner wants nothing but the seeds. Belongs into the transaction that ends the run.
    """
    for code in JUDGED:
        database.run("forget_finding", run.id, code)
    endings = _endings(database, run.id)
    pages = sum(count for (kind, _), count in endings.items() if kind in _PAGES)
    content, title = _alike(database, run.id, pages)
    outside = (0, "") if only_seeds else _outside(database, run.id)
    sums = Sums(crawl, is_whole, endings, outside, _before(database, run), threshold, content, title)
    found = list(judge(sums))
    for one in found:
        database.run("add_finding", run.id, one.code, one.subject, json.dumps(dict(one.arguments), sort_keys=True))
    return [one.code for one in found]


def _endings(database: Database, run: int) -> dict[tuple[str, str], int]:
    return {(kind, reason): count for kind, reason, count in database.rows("count_page_endings", run)}


def _outside(database: Database, run: int) -> tuple[int, str]:
    """Return how many links were refused by scope, and where most lead; (0, "") when any link was in scope."""
    if database.one("has_more_than_seeds", run):
        return 0, ""
    hosts = list(database.rows("outside_hosts", run))
    return (sum(count for _, count in hosts), hosts[0][0]) if hosts else (0, "")


def _before(database: Database, run: Run) -> int | None:
    """Return how many pages the last finished run has."""
    row = database.one("finished_before", run.crawl, run.id)
    if row is None:
        return None
    if row[1] is not None:
        totals = json.loads(row[1])
        return sum(int(count) for purpose, kind, _, count in totals if purpose == "page" and kind in _PAGES)
    return sum(count for (kind, _), count in _endings(database, row[0]).items() if kind in _PAGES)


def _alike(database: Database, run: int, pages: int) -> tuple[Alike, Alike]:
    """Return which content and which title most of the pages looked at share."""
    mask = 0
    while pages / (mask + 1) > SAMPLE:
        mask = mask * 2 + 1
    of = 0
    contents: Counter[str] = Counter()
    titles: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for href, digest, title in database.rows("sampled_responses", run, mask):
        of += 1
        for value, counted in ((digest, contents), (title, titles)):
            if value:
                counted[value] += 1
                examples[value] = min(href, examples.get(value, href))
    return _most(of, contents, examples), _most(of, titles, examples)


def _most(of: int, counted: Counter[str], examples: dict[str, str]) -> Alike:
    value, count = max(counted.items(), key=lambda one: (one[1], one[0]), default=("", 0))
    return Alike(of, count, examples.get(value, ""))
