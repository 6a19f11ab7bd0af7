"""The sitemap files of a run: by whom each was named, how it ended, what it holds and what is wrong with it.

Reads what the run stored. What is wrong with a file is decided by ``sitemap/`` and by the location rule, not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from purlieu.finding import Finding
from purlieu.store.reader import Reader, RunRow, SitemapRow

HEADS: Final = ("SITEMAP", "NAMED BY", "ENDING", "KIND", "ENTRIES", "FILES", "PROBLEMS")
MOST_FINDINGS: Final = 20
"""Files of which a finding is told; more are in the list."""
_GUESS: Final = "guess"
_SAID_NOTHING: Final = frozenset({"missing", "refused", "server_error", "unreachable", "unreadable", "misdirected"})


def is_empty_guess(row: SitemapRow) -> bool:
    """Return whether a file is only an address at which one was looked for, and there was none."""
    return row.found_by == _GUESS and (not row.format or row.format == "unknown")


def facts(row: SitemapRow) -> dict[str, Any]:
    """Return one file as values for JSON; ``line`` of a problem is 0 where it is of no one line."""
    problems = [{"line": line, "kind": kind, "sentence": sentence} for line, kind, sentence in row.problems]
    return {**row._asdict(), "problems": problems}


def table(reader: Reader, run: RunRow) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table of ``HEADS``, a file each, by address; guesses that hold none are left out."""
    for row in reader.sitemaps(run):
        if not is_empty_guess(row):
            yield (
                row.url, row.found_by, f"{row.kind}.{row.reason}", row.format or "-", f"{row.entries:,}",
                f"{row.children:,}", f"{len(row.problems):,}",
            )  # fmt: skip


def findings(reader: Reader, run: RunRow, *, is_only: bool) -> Iterator[Finding]:
    """Yield what the owner should know of a run's sitemaps: named ones that could not be had, and faulty ones.

    ``is_only``: the crawl takes what sitemaps name and nothing else.
    """
    told, is_any = 0, False
    for row in reader.sitemaps(run):
        is_any = is_any or bool(row.entries or row.children)
        if is_empty_guess(row) or told >= MOST_FINDINGS:
            continue
        if row.kind in _SAID_NOTHING:
            told += 1
            yield Finding("sitemap_failed", row.url, {"ending": f"{row.kind}.{row.reason}"})
        elif row.problems:
            told += 1
            yield Finding("sitemap_faulty", row.url, {"count": len(row.problems), "first": row.problems[0][2]})
    if is_only and not is_any:
        yield Finding("no_sitemap", run.crawl)
