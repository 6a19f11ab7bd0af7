"""What a run says of itself: where it stands, and how it ended. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from purlieu.value import dataclass

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment. Numbers since its beginning, resumed or not; ``due`` waits in the frontier."""

    run: int
    seconds: float
    admitted: int
    ended: int
    due: int
    requests: int
    bytes: int
    by_kind: dict[str, int]
    hosts_active: int
    newest: str


@dataclass(frozen=True, slots=True)
class Result:
    """How a run ended. ``good`` counts pages that ended fetched, unchanged or redirected; ``counts`` by kind.reason."""

    run: int
    crawl: str
    state: str
    stop_reason: str
    books_balanced: bool
    faults: tuple[str, ...]
    good: int
    counts: dict[str, int]
    seconds: float
    folder: Path
