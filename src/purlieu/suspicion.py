"""Whether a run's result looks wrong, and what to do about it: sums of a run in, findings out (R-8.1, MF-35).

Knows the shares from which a result is suspicious. Reads no store; the sentences stand in ``finding.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from purlieu.finding import Finding, Severity
from purlieu.value import dataclass, field

JUDGED: Final = (
    "under_threshold",
    "fewer_pages",
    "all_links_outside",
    "mostly_one_ending",
    "same_content",
    "same_title",
)
"""Codes of what ``judge`` finds."""
SUSPICIOUS: Final = frozenset({*JUDGED, "one_page_only", "seed_forbidden"})
"""Codes of findings that make a result suspicious; every problem does so too (R-8.2)."""

FEWER: Final = 0.5
"""Of last time's pages, a share below this is suspicious."""
LEAST_BEFORE: Final = 4
LEAST_PAGES: Final = 10
"""A share of fewer pages than this says nothing."""
MOST_ENDINGS: Final = {"redirected": 0.8}
"""So large a share of one kind is suspicious; of any other that is no page, ``MOST_OF_OTHERS``."""
MOST_OF_OTHERS: Final = 0.5
LEAST_ALIKE: Final = 50
SAME_CONTENT: Final = 0.3
SAME_TITLE: Final = 0.9

_PAGES: Final = frozenset({"fetched", "unchanged"})


@dataclass(frozen=True, slots=True)
class Alike:
    """Of so many pages looked at, how many share one value, and one of them."""

    of: int = 0
    count: int = 0
    example: str = ""

    @property
    def share(self) -> float:
        """Return the share, 0 when there are too few pages."""
        return self.count / self.of if self.of >= LEAST_ALIKE else 0.0


@dataclass(frozen=True, slots=True)
class Sums:
    """What a run that has ended sums up to.

    ``endings`` counts its pages by (kind, reason), refused links left out. ``outside`` counts links refused by scope
    where the run has nothing but its seeds, with the host that most of them lead to. ``before``: pages of the last
    finished run, None when there is none. ``is_whole``: it ended because nothing was left to do.
    """

    crawl: str
    is_whole: bool
    endings: Mapping[tuple[str, str], int]
    outside: tuple[int, str] = (0, "")
    before: int | None = None
    threshold: float | None = None
    content: Alike = field(default_factory=Alike)
    title: Alike = field(default_factory=Alike)

    @property
    def pages(self) -> int:
        """Return how many pages the run has."""
        return sum(count for (kind, _), count in self.endings.items() if kind in _PAGES)


def judge(sums: Sums) -> Iterator[Finding]:
    """Yield what looks wrong, each with what to do about it in its sentence."""
    yield from _against_before(sums)
    links, host = sums.outside
    if links and sums.pages:
        yield Finding("all_links_outside", sums.crawl, {"count": links, "host": host})
    total = sum(sums.endings.values())
    if total >= LEAST_PAGES:
        for (kind, reason), count in sorted(sums.endings.items()):
            is_page = kind in _PAGES and reason != "empty"
            if not is_page and count / total > MOST_ENDINGS.get(kind, MOST_OF_OTHERS):
                ending = f"{kind}.{reason}"
                yield Finding("mostly_one_ending", sums.crawl, {"ending": ending, "count": count, "total": total})
    if sums.content.share >= SAME_CONTENT:
        yield Finding("same_content", sums.crawl, _alike(sums.content))
    elif sums.title.share >= SAME_TITLE:
        yield Finding("same_title", sums.crawl, _alike(sums.title))


def _against_before(sums: Sums) -> Iterator[Finding]:
    """Compare with the last finished run: by the owner's share (MF-35), else by half of it."""
    if sums.before is None:
        return
    told = {"pages": sums.pages, "before": sums.before}
    if sums.threshold is not None and sums.pages < sums.threshold * sums.before:
        yield Finding("under_threshold", sums.crawl, told)
    elif sums.is_whole and sums.before >= LEAST_BEFORE and sums.pages < FEWER * sums.before:
        yield Finding("fewer_pages", sums.crawl, told)


def _alike(alike: Alike) -> dict[str, str | int]:
    return {"percent": round(100 * alike.share), "example": alike.example}


def is_suspicious(findings: Iterable[Finding]) -> bool:
    """Return whether a finding says that the result should not be trusted as it is (R-8.1, R-8.2)."""
    return any(one.code in SUSPICIOUS or one.severity is Severity.PROBLEM for one in findings)
