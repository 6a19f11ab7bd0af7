"""What the owner's function took out of pages: one record a page and run, written with the visit.

Knows the rows and the finding for what could not be kept. Runs inside the transaction of ``frontier.finish``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from purlieu.decide import Visit
from purlieu.store.database import Database


def write(database: Database, run: int, visits: Sequence[Visit]) -> None:
    """Write what was taken out of pages; what went wrong is counted in a finding for each sort, with the first page."""
    wrong: Counter[str] = Counter()
    first: dict[str, tuple[str, str]] = {}
    kept = []
    for visit in visits:
        made = visit.extracted
        if made is not None and made.problem:
            wrong[made.problem] += 1
            first.setdefault(made.problem, (visit.url, made.detail))
        elif made is not None and made.text:
            kept.append((run, visit.entry.host, visit.entry.hash, made.text))
    database.many("put_extract", kept)
    for problem, count in wrong.items():
        url, detail = first[problem]
        told = json.dumps({"count": count, "detail": detail, "url": url}, sort_keys=True)
        database.run("count_finding", run, "extract_failed", problem, told)
