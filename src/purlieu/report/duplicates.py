"""Pages of a run that say the same: exactly, by the ledger's digests, and nearly, where sketches were kept (R-9.3).

Exact groups are always there. Near ones need ``ledger.near_duplicates`` and hold one page of each exact group.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from purlieu import likeness
from purlieu.store.reader import Reader, RunRow
from purlieu.value import dataclass

SHOWN: Final = 1000
"""URLs listed of one group."""


@dataclass(frozen=True, slots=True)
class Group:
    """Pages with one text; ``urls`` by address, at most ``SHOWN`` of ``count``."""

    is_exact: bool
    count: int
    urls: tuple[str, ...]


def of_run(reader: Reader, run: RunRow) -> Iterator[Group]:
    """Yield the groups: exact ones first, each kind by size, then by first address."""
    for digest, count in reader.equal_digests(run):
        yield Group(is_exact=True, count=count, urls=tuple(reader.pages_with_digest(run, digest, SHOWN)))
    keys: list[tuple[int, int]] = []

    def sketches() -> Iterator[tuple[int, bytes]]:
        for host, hashed, found in reader.sketches(run):
            keys.append((host, hashed))
            yield len(keys) - 1, found

    near = []
    for group in likeness.groups(sketches()):
        urls = sorted(reader.href_of(run, *keys[number]) for number in group)
        near.append(Group(is_exact=False, count=len(urls), urls=tuple(urls[:SHOWN])))
    yield from sorted(near, key=lambda group: (-group.count, group.urls))


def facts(group: Group) -> dict[str, Any]:
    """Return a group as values for JSON."""
    return {"exact": group.is_exact, "count": group.count, "urls": list(group.urls)}
