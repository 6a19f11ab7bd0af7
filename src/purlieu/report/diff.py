"""Two runs compared, URL by URL: what became of each page, in counts by section and as a list.

Reads both ledgers in one order and holds one URL at a time. What a pair of endings means is ``difference.py``'s to say;
the command line and the console show what stands here.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from purlieu.difference import FACTS, Difference, Seen, is_told, judge, section_of
from purlieu.report.pruning import refuse
from purlieu.report.whole_file import replacing
from purlieu.store.database import Row
from purlieu.store.reader import Reader, RunRow
from purlieu.value import dataclass, field

MOST_SECTIONS: Final = 10_000
"""Sections counted one by one; pages of any further one count under "(other sections)"."""
OTHER_SECTIONS: Final = "(other sections)"
_NAMES: Final = re.compile(r"^([^:\n]+):", re.MULTILINE)
_TOLD: Final = ("kind", "reason", "status", "title", "canonical", "redirect_to", "digest")
COLUMNS: Final = (
    "url", "section", "difference", "changed", *(f"{fact}_before" for fact in _TOLD),
    *(f"{fact}_after" for fact in _TOLD), "headers_added", "headers_removed",
)  # fmt: skip
"""Columns of a list of differences; ``changed`` and the headers are lists, written with a blank between in CSV."""


class Pair(NamedTuple):
    """One URL in two runs; ``before`` or ``after`` is None where the run did not meet it."""

    url: str
    difference: Difference
    changed: tuple[str, ...]
    before: Seen | None
    after: Seen | None

    @property
    def is_told(self) -> bool:
        """Return whether the list has it: all but what stayed as it was."""
        return is_told(self.difference, self.changed)

    def facts(self) -> dict[str, Any]:
        """Return it as values by ``COLUMNS``."""
        one, two = (set((seen and seen.headers) or ()) for seen in (self.before, self.after))
        both = (
            self.before is not None and self.after is not None and None not in (self.before.headers, self.after.headers)
        )
        return {
            "url": self.url,
            "section": section_of(self.url),
            "difference": str(self.difference),
            "changed": list(self.changed),
            **{f"{fact}_before": getattr(self.before, fact, None) for fact in _TOLD},
            **{f"{fact}_after": getattr(self.after, fact, None) for fact in _TOLD},
            "headers_added": sorted(two - one) if both else [],
            "headers_removed": sorted(one - two) if both else [],
        }


@dataclass(slots=True)
class Tally:
    """Counts of a comparison: by class, by fact that changed, and by section and class."""

    classes: Counter[str] = field(default_factory=Counter)
    facts: Counter[str] = field(default_factory=Counter)
    sections: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, pair: Pair) -> None:
        """Count one URL; what is outside of both runs is in no section."""
        self.classes[pair.difference] += 1
        self.facts.update(pair.changed)
        if pair.difference is Difference.OUTSIDE:
            return
        name = section_of(pair.url)
        if name not in self.sections and len(self.sections) >= MOST_SECTIONS:
            name = OTHER_SECTIONS
        self.sections.setdefault(name, Counter())[pair.difference] += 1

    def as_json(self) -> dict[str, Any]:
        """Return the counts as values, classes and facts in their order, sections by name."""
        return {
            "counts": {one: self.classes[one] for one in Difference},
            "changed_facts": {fact: self.facts[fact] for fact in FACTS},
            "sections": [
                {"section": name, **{one: counts[one] for one in Difference if one is not Difference.OUTSIDE}}
                for name, counts in sorted(self.sections.items())
            ],
        }


def pairs(reader: Reader, before: RunRow, after: RunRow, values_of: Iterable[str] = ()) -> Iterator[Pair]:
    """Yield every page of two runs of one store, by host name and address.

    ``values_of`` names headers of which not the presence alone counts but the value. Raises StoreError for a run
    whose ledger was pruned (R-8.4).
    """
    for run in (before, after):
        refuse(run)
    compared = frozenset(map(str.lower, values_of))
    for href, one, two in reader.seen_in(before, after):
        seen = _seen(one, compared), _seen(two, compared)
        yield Pair(href, *judge(*seen), *seen)


def _seen(row: Row | None, compared: frozenset[str]) -> Seen | None:
    if row is None:
        return None
    headers = row[7]
    if headers is None:
        return Seen(*row[:7])
    names = set(map(str.lower, _NAMES.findall(headers)))
    if compared & names:
        for line in headers.split("\n"):
            name, _, value = line.partition(":")
            if name.lower() in compared:
                names = (names - {name.lower()}) | {f"{name.lower()}: {value.strip()}"}
    return Seen(*(*row[:7], tuple(sorted(names))))


# -- files -------------------------------------------------------------------------------------------------------------


def csv_pieces(told: Iterator[Pair]) -> Iterator[str]:
    """Yield a list of differences as CSV (RFC 4180), header first, some rows at a time."""
    piece = StringIO()
    writer = csv.writer(piece, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    while True:
        yield piece.getvalue()
        piece.seek(0)
        piece.truncate()
        some = [pair.facts() for pair in islice(told, 1_000)]
        if not some:
            return
        writer.writerows([" ".join(cell) if isinstance(cell, list) else cell for cell in row.values()] for row in some)


def jsonl_pieces(told: Iterator[Pair]) -> Iterator[str]:
    """Yield a list of differences as JSON lines."""
    for pair in told:
        yield json.dumps(pair.facts()) + "\n"


FORMATS: Final[dict[str, Callable[[Iterator[Pair]], Iterator[str]]]] = {"csv": csv_pieces, "jsonl": jsonl_pieces}
"""Every form of the list by the name that ``--format`` takes."""


def write(told: Iterator[Pair], form: str, out: TextIO | Path) -> None:
    """Write a list in one of ``FORMATS`` to a stream or, whole or not at all, to a file. Raises StoreError."""
    pieces = FORMATS[form](told)
    if not isinstance(out, Path):
        for piece in pieces:
            out.write(piece)
        return
    with replacing(out) as file:
        for piece in pieces:
            file.write(piece.encode())
