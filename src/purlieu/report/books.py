"""The books of a run: how many URLs ended how, and whether the counts agree (R-7.1).

Counts and compares nothing itself: the audit at the end of the run did that. Knows no terminal;
the command line and the console show what ``text`` gives.
"""

from __future__ import annotations

from collections.abc import Mapping

from purlieu.outcome import REASONS
from purlieu.store.reader import Reader, RunRow
from purlieu.value import dataclass

PURPOSES = ("page", "robots", "sitemap", "check")
UNLISTED = "unlisted"

Counts = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class Books:
    """The books of one run.

    ``pages``, ``robots``, ``sitemaps`` and ``checks`` count rows of the ledger by (kind, reason); refused URLs are
    pages that ended ``excluded``. ``unlisted`` counts sightings by (kind, reason) that have no row (R-1.4).
    ``balanced`` is None for a run that was not audited, as it has not ended; ``faults`` are the audit's sentences.
    """

    run: RunRow
    pages: Counts
    robots: Counts
    sitemaps: Counts
    checks: Counts
    unlisted: Counts
    balanced: bool | None
    faults: tuple[str, ...]

    def total(self, purpose: str = "page") -> int:
        """Return how many rows of a purpose there are."""
        return sum(self.of_purpose(purpose).values())

    def of_kind(self, kind: str) -> int:
        """Return how many pages ended as a kind."""
        return sum(number for (its_kind, _), number in self.pages.items() if its_kind == kind)

    def of_purpose(self, purpose: str) -> Counts:
        """Return the counts of page, robots, sitemap, check or unlisted."""
        return {
            "page": self.pages,
            "robots": self.robots,
            "sitemap": self.sitemaps,
            "check": self.checks,
            UNLISTED: self.unlisted,
        }[purpose]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the books; ``purpose`` is page, robots, sitemap, check or unlisted."""

    purpose: str
    kind: str
    reason: str
    count: int
    sentence: str


def of_run(reader: Reader, run: RunRow) -> Books:
    """Return the books of a run."""
    parts: dict[str, dict[tuple[str, str], int]] = {purpose: {} for purpose in PURPOSES}
    for (purpose, kind, reason), number in reader.counts(run).items():
        parts[purpose][kind, reason] = number
    unlisted: dict[tuple[str, str], int] = {}
    for row in reader.unlisted(run):
        unlisted["excluded", row.reason] = unlisted.get(("excluded", row.reason), 0) + row.count
    audit = run.books
    return Books(
        run,
        parts["page"],
        parts["robots"],
        parts["sitemap"],
        parts["check"],
        unlisted,
        None if audit is None else bool(audit.get("balanced")),
        () if audit is None else tuple(map(str, audit.get("faults", ()))),
    )


def text(books: Books, language: str = "en") -> list[Line]:
    """Return the lines of the books: pages, robots.txt files, sitemaps, what was only checked, then what is not listed.

    Within each in the order of the table of outcomes. ``sentence`` is the owner's, in en, ja or zh; "" for a URL
    that is still due.
    """
    lines: list[Line] = []
    for purpose in (*PURPOSES, UNLISTED):
        counts = books.of_purpose(purpose)
        for kind, reason in sorted(counts, key=_place):
            ending = REASONS.get(f"{kind}.{reason}")
            lines.append(Line(purpose, kind, reason, counts[kind, reason], ending.sentence(language) if ending else ""))
    return lines


_ORDER = {name: place for place, name in enumerate(REASONS)}


def _place(ending: tuple[str, str]) -> tuple[int, str]:
    return _ORDER.get(".".join(ending), len(_ORDER)), ending[1]
