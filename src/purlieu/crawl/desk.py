"""Where a worker gets its hosts and hands in its visits: what it sees of a run.

``Desk`` is what any worker needs; ``OwnDesk`` serves one in the process that has the store. Knows no SQL and no socket.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol

from purlieu.value import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from purlieu.candidate import Entry
    from purlieu.decide import Visit
    from purlieu.store.frontier import Frontier
    from purlieu.store.lease import Lease

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The owner's limits (R-8.1, BJ-41); None: none. ``active_seconds`` and ``pages`` were spent before a resume.

    A visit waits at most ``write_seconds`` to be written, or sent to who writes.
    """

    max_pages: int | None = None
    max_targets: int | None = None
    max_seconds: float | None = None
    max_hosts: int = 64
    timeout_seconds: float = 30.0
    active_seconds: float = 0.0
    pages: int = 0
    write_seconds: float = 0.1


class Desk(Protocol):
    """What a worker asks for and hands in; ``store.frontier.Frontier`` says of each what it does.

    What needs an answer is awaited, as the store may be another process's. What needs none is not, and is done in the
    order in which it was handed in.
    """

    async def lease(self, now: float, room: int) -> Lease | None:
        """Return a host to ask, or None; ``room`` is how many would be taken now."""
        ...

    async def next_due(self, now: float) -> float | None:
        """Return when it is worth asking for a host again; None: the run has nothing left."""
        ...

    async def top_up(self, now: float) -> bool:
        """Return whether more was found to do."""
        ...

    async def join(self, lease: Lease, group: str, now: float) -> bool:
        """Return whether a host may be asked now as one of a group."""
        ...

    async def take(self, lease: Lease, now: float, limit: int) -> list[Entry]:
        """Return due entries of a host."""
        ...

    async def renew(self, lease: Lease, now: float) -> bool:
        """Return whether a host is still held."""
        ...

    async def keep_pace(self, lease: Lease) -> None:
        """Return once the pace of a host is stored."""
        ...

    async def count_page(self) -> str:
        """Count a page that is asked for the first time; return the name of the limit that forbids it, "" for none."""
        ...

    def give_page_back(self) -> None:
        """Take back a page that was counted and is not asked for now."""
        ...

    def finish(self, visits: Sequence[Visit], now: float) -> Sequence[Visit]:
        """Hand in a batch."""
        ...

    def release(self, lease: Lease) -> None:
        """Give a host back."""
        ...


class PageLimit:
    """Counts the pages that a run asks for, whichever process asks."""

    def __init__(self, limits: RunLimits) -> None:
        """Begin with what was asked for before a resume."""
        self._most = [
            (most, name)
            for name, most in (("pages", limits.max_pages), ("targets", limits.max_targets))
            if most is not None
        ]
        self._asked = limits.pages
        self._told = False

    @property
    def is_set(self) -> bool:
        """Return whether there is a limit at all."""
        return bool(self._most)

    def count(self) -> str:
        """Count one more; return the name of the limit that forbids it, "" for none."""
        for most, name in self._most:
            if self._asked >= most:
                if not self._told:
                    LOG.info("URL limit reached, starting shutdown.")  # EN-62
                self._told = True
                return name
        self._asked += 1
        return ""

    def give_back(self) -> None:
        """Take one back that is not asked for now."""
        self._asked -= 1


class OwnDesk:
    """The desk of a worker in the process that has the store."""

    def __init__(self, frontier: Frontier, pages: PageLimit, active_seconds: Callable[[], float]) -> None:
        """``active_seconds`` says how long the run has been active, for what is written with each batch."""
        self._frontier = frontier
        self._pages = pages
        self._active_seconds = active_seconds

    async def lease(self, now: float, room: int) -> Lease | None:  # noqa: ARG002 - asking costs nothing here
        """As ``Frontier.lease``."""
        return self._frontier.lease(now)

    async def next_due(self, now: float) -> float | None:
        """As ``Frontier.next_due``."""
        return self._frontier.next_due(now)

    async def top_up(self, now: float) -> bool:
        """As ``Frontier.top_up``."""
        return self._frontier.top_up(now)

    async def join(self, lease: Lease, group: str, now: float) -> bool:
        """As ``Frontier.join``."""
        return self._frontier.join(lease, group, now)

    async def take(self, lease: Lease, now: float, limit: int) -> list[Entry]:
        """As ``Frontier.take``."""
        return self._frontier.take(lease, now, limit)

    async def renew(self, lease: Lease, now: float) -> bool:
        """As ``Frontier.renew``."""
        return self._frontier.renew(lease, now)

    async def keep_pace(self, lease: Lease) -> None:
        """As ``Frontier.keep_pace``."""
        self._frontier.keep_pace(lease)

    async def count_page(self) -> str:
        """As ``PageLimit.count``."""
        return self._pages.count()

    def give_page_back(self) -> None:
        """As ``PageLimit.give_back``."""
        self._pages.give_back()

    def finish(self, visits: Sequence[Visit], now: float) -> Sequence[Visit]:
        """As ``Frontier.finish``."""
        self._frontier.active_seconds = self._active_seconds()
        return self._frontier.finish(visits, now)

    def release(self, lease: Lease) -> None:
        """As ``Frontier.release``."""
        self._frontier.release(lease)
