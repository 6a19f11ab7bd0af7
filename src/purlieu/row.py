"""A visit as one row of plain values under the names of the ledger's columns: for data frames, logs and queues.

Knows what a visit says by itself. What only a whole run knows (where redirects finally lead, which sitemap names a
page) stands in the ledger alone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from purlieu.url import host_of

if TYPE_CHECKING:
    from purlieu.decide import Visit

TYPES: Final[dict[str, type]] = {
    "url": str, "purpose": str, "kind": str, "reason": str, "status": int, "redirect_to": str, "canonical": str,
    "content_type": str, "title": str, "lang": str, "depth": int, "via": str, "found_by": str, "attempts": int,
    "fetched_at": str, "bytes": int, "seconds": float, "indexable": bool, "index_reason": str, "last_modified": str,
    "etag": str, "digest": str, "address": str, "hops": int, "nofollow": bool, "detail": str, "host": str,
    "ended_at": str,
}  # fmt: skip
"""The names of a row's values and their types; any may be None. Types that a data frame library takes as they are."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def of(visit: Visit) -> dict[str, Any]:
    """Return the values of a visit by the names of ``TYPES`` and ``extracted``; None for what is not there or empty.

    Depth and where it was found are as they were known when it was asked for; the ledger has the best that the whole
    run has found.
    """
    entry, page, answer = visit.entry, visit.page, visit.response
    facts = entry.facts
    may = visit.kind == "fetched" or visit.reason == "same_content"
    values = (
        visit.url, entry.purpose.value, visit.kind, visit.reason, visit.status, visit.redirect_to,
        page.canonical if page else None, answer.header("content-type") if answer else None, visit.title,
        page.lang if page else None, facts.depth, facts.via, facts.found_by.value, entry.attempts + visit.requests,
        iso8601(answer.started_at) if answer else None, visit.bytes if answer else None,
        round(answer.seconds, 3) if answer else None, not visit.index_reason if may and page else None,
        visit.index_reason, answer.header("last-modified") if answer else None,
        answer.header("etag") if answer else None, page.digest if page else None, answer.address if answer else None,
        facts.hops, facts.nofollow, visit.outcome.detail if visit.outcome else None, host_of(visit.url),
        iso8601(visit.at),
    )  # fmt: skip
    row: dict[str, Any] = {name: None if value == "" else value for name, value in zip(TYPES, values, strict=True)}
    row["extracted"] = visit.extracted.value if visit.extracted else None
    return row


def iso8601(seconds: float) -> str:
    """Return a time in seconds since the epoch as ISO 8601 in UTC with milliseconds."""
    whole, milliseconds = divmod(round(seconds * 1000), 1000)
    return f"{_second(whole)}.{milliseconds:03}Z"


@lru_cache(maxsize=4096)  # a run has few seconds and many rows
def _second(whole: int) -> str:
    return (_EPOCH + timedelta(seconds=whole)).isoformat()[:-6]
