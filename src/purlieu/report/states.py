"""What the list of runs says of each: its state in words, its pages, and how they compare with the run before (R-8.1).

One table for the command line and the console. Reads rows of runs; judges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from purlieu.outcome import KINDS, LANGUAGES
from purlieu.store.reader import Reader, RunRow
from purlieu.suspicion import SUSPICIOUS
from purlieu.value import dataclass

PAGES: Final = ("fetched", "unchanged")
"""Kinds that count as pages of a run."""


class State(StrEnum):
    """How a run stands, as its owner sees it."""

    RUNNING = "running"
    DONE = "done"
    LIMIT = "limit"
    UNDER_THRESHOLD = "under_threshold"
    SUSPICIOUS = "suspicious"
    STOPPED = "stopped"
    SYSTEM = "system"

    def words(self, language: str = "en") -> str:
        """Return the state in ``en``, ``ja`` or ``zh`` (MF-30: a stop by the system is told as such)."""
        return _WORDS[self][LANGUAGES.index(language) if language in LANGUAGES else 0]


_WORDS: Final = {
    State.RUNNING: ("running", "実行中", "运行中"),
    State.DONE: ("done", "完了", "完成"),
    State.LIMIT: ("done", "完了", "完成"),
    State.UNDER_THRESHOLD: ("done, under threshold", "完了（結果がしきい値未満）", "完成（结果低于阈值）"),
    State.SUSPICIOUS: ("done, suspicious", "完了（要確認）", "完成（可疑）"),
    State.STOPPED: ("stopped by its owner", "手動による停止", "由用户停止"),
    State.SYSTEM: ("stopped by the system", "システムによる停止", "被系统停止"),
}


def state_of(run: RunRow, codes: frozenset[str] = frozenset()) -> State:
    """Return how a run stands; ``codes`` are those of its findings (R-8.1)."""
    if run.state == "running":
        return State.RUNNING
    if run.state == "failed":
        return State.SYSTEM
    if run.state == "stopped":
        return State.STOPPED
    if "under_threshold" in codes:
        return State.UNDER_THRESHOLD
    if codes & SUSPICIOUS:
        return State.SUSPICIOUS
    return State.LIMIT if (run.stop_reason or "").startswith("limit:") else State.DONE


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in the list. ``kinds`` counts its pages by ending, ``marks`` are codes of findings that make it suspicious.

    ``trend``: how many pages more or fewer than the finished run of its crawl before it, None when there is none.
    """

    run: RunRow
    state: State
    kinds: Mapping[str, int]
    marks: tuple[str, ...]
    trend: int | None

    @property
    def pages(self) -> int:
        """Return how many pages it has."""
        return sum(self.kinds.get(kind, 0) for kind in PAGES)


def listed(reader: Reader, crawl: str | None = None) -> Iterator[Listed]:
    """Yield the runs of a store, or of one crawl, the newest first."""
    runs = [run for run in reader.runs() if crawl is None or run.crawl == crawl]
    kinds = {run.id: _kinds(reader, run) for run in runs}
    pages = {run.id: sum(kinds[run.id].get(kind, 0) for kind in PAGES) for run in runs}
    for place, run in enumerate(runs):
        codes = frozenset(one.code for one in reader.findings(run))
        before = next((one for one in runs[place + 1 :] if one.crawl == run.crawl and one.state == "done"), None)
        trend = pages[run.id] - pages[before.id] if before and run.state != "running" else None
        yield Listed(run, state_of(run, codes), kinds[run.id], tuple(sorted(codes & SUSPICIOUS)), trend)


def _kinds(reader: Reader, run: RunRow) -> dict[str, int]:
    """Return how many pages ended in each kind, in the order of the table of outcomes."""
    counts: dict[str, int] = {}
    for (purpose, kind, _), n in reader.totals(run).items():
        if purpose == "page":
            counts[kind] = counts.get(kind, 0) + n
    order = [*KINDS, *sorted(counts.keys() - set(KINDS))]
    return {kind: counts[kind] for kind in order if kind in counts}
