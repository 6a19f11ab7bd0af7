"""The files that the console keeps beside the store, of runs laid out and of comparisons: which of them go, and when.

Whatever goes is made anew when somebody asks for it. Touches nothing in the folder that bears no name of ours.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from purlieu.store.reader import RunRow
from purlieu.store.sqlite import contrast
from purlieu.store.sqlite.shelf import path_of

LOG: Final = logging.getLogger(__name__)
MOST_BYTES: Final = 4 * 1024**3
"""What all files may take together: a run of a million rows takes 328 MB. What was not used for longest goes first."""
PART_SECONDS: Final = 86_400.0
"""A file that was begun so long ago and is not done was left by a process that was killed."""
_RUN: Final = re.compile(r"[0-9]+-[0-9a-f]+-(?:[0-9a-f]+|live)-[0-9]+\.(?:shelf|json)", re.ASCII)
_PAIRS: Final = re.compile(r"([0-9]+-[0-9a-f]+-[0-9a-f]+)-([0-9]+-[0-9a-f]+-[0-9a-f]+)\.pairs", re.ASCII)
_PART: Final = re.compile(r"[0-9a-f-]+(?:-live-[0-9]+)?\.[0-9]+-[0-9a-f]{8}\.part(?:-journal)?", re.ASCII)


def sweep(folder: Path, runs: Iterable[RunRow], now: float, most_bytes: int = MOST_BYTES) -> list[str]:
    """Remove files of runs that are gone, pruned, or went on since; then the ones used least lately over the bound.

    Returns the names of what was removed. What cannot be removed stays.
    """
    there = [run for run in runs if run.pruned_at is None]
    wanted = {path_of(folder, run).with_suffix(suffix).name for run in there for suffix in (".shelf", ".json")}
    ends = {contrast.stem_of(run) for run in there}
    removed: list[str] = []
    kept: list[tuple[float, int, Path]] = []
    for path, used_at, size in _ours(folder):
        found = _PAIRS.fullmatch(path.name)
        is_old = now - used_at > PART_SECONDS if _PART.fullmatch(path.name) else path.name not in wanted
        if found is not None:
            is_old = not {found[1], found[2]} <= ends
        if is_old:
            removed += _removed(path)
        else:
            kept.append((used_at, size, path))
    kept.sort()
    total = sum(size for _, size, _ in kept)
    for _, size, path in kept[:-1]:  # what was used last may be what somebody waits for
        if total <= most_bytes:
            break
        if path.suffix in {".shelf", ".pairs"}:
            removed += _removed(path)
            total -= size
    return removed


def _ours(folder: Path) -> Iterator[tuple[Path, float, int]]:
    """Yield each file of ours with when it was last used and its size."""
    with suppress(OSError):
        for path in folder.iterdir():
            if any(one.fullmatch(path.name) for one in (_RUN, _PAIRS, _PART)):
                with suppress(OSError):
                    facts = path.stat()
                    yield path, facts.st_mtime, facts.st_size


def _removed(path: Path) -> list[str]:
    try:
        path.unlink()
    except OSError as error:
        LOG.info("%s stays: %s", path, error)
        return []
    return [path.name]
