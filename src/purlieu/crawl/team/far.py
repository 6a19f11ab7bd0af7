"""The desk of a worker in a process without a store: every question goes over the wire.

What needs no answer is sent and forgotten, as the wire keeps its order: who asks for more after a batch gets what the
batch brought. Knows no store and no settings.
"""

# ruff: noqa: ARG002  # the process that has the store has its own time
from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

from purlieu.crawl.outbox import Outbox
from purlieu.crawl.team import parcel
from purlieu.crawl.team.ground import newly
from purlieu.crawl.worker import taken_at_once

if TYPE_CHECKING:
    from purlieu.candidate import Entry
    from purlieu.crawl.team.ground import Jars
    from purlieu.crawl.team.wire import Wire
    from purlieu.decide import Visit
    from purlieu.store.lease import Lease

UNTAKEN_BATCHES = 4
"""So many batches are sent before the first is written; then the worker waits, and nothing piles up."""
LOOK_SECONDS = 1.0
"""A host of which nothing was due is asked about again after so long, or when something of it was handed in."""


class Backlog(Outbox):
    """Holds the worker back while the batches that it has sent are not written."""

    def __init__(self, wire: Wire) -> None:
        """Begin with none."""
        super().__init__()
        self._wire = wire
        self._sent = 0
        self._written = asyncio.Event()

    def put(self, visits: Sequence[Visit]) -> None:
        """Count a batch that was sent."""
        self._sent += 1

    def written(self) -> None:
        """Count one that was written."""
        self._sent -= 1
        self._written.set()

    async def room(self) -> None:
        """Wait until little enough is on its way."""
        await self._wire.room()
        while self._sent > UNTAKEN_BATCHES and self._wire.is_open:
            self._written.clear()
            await self._written.wait()


class FarDesk:
    """Asks the process that has the store; ``crawl.desk.Desk`` says of each question what it is for."""

    def __init__(self, wire: Wire, jars: Jars, *, counts: bool) -> None:
        """``jars`` is the fetcher; ``counts`` says whether pages are counted at all."""
        self._wire = wire
        self._jars = jars
        self._counts = counts
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._leases: dict[int, Lease] = {}
        self._taking: dict[int, asyncio.Future[None]] = {}
        self._opened = jars.guard.opened
        self._given: deque[Any] = deque()
        """Hosts that were given and not yet begun."""
        self._first: dict[int, Any] = {}
        """What came with a host as due on it."""
        self._empty: dict[int, float] = {}
        """Hosts of which nothing was due, and until when that is believed."""
        self._woken = False
        self._due: float | None = None
        """When to ask for hosts again; None: at once."""

    def answered(self, number: int, value: Any) -> None:
        """Give an answer to who asked."""
        waiting = self._waiting.pop(number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(value)

    async def _ask(self, what: str, *told: Any) -> Any:
        number = next(self._numbers)
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._wire.send(what, number, *told)
        return await waiting

    def _tell(self, what: str, *told: Any) -> None:
        self._wire.send(what, 0, *told)

    def woken(self) -> None:
        """Hear that there may be a host to ask."""
        self._woken, self._due = True, None

    async def lease(self, now: float, room: int) -> Lease | None:
        """Return a host to ask, with what other processes know of it, or None; several come in one answer."""
        if not self._given and (self._due is None or self._due <= now):
            self._woken = False
            given, due = await self._ask("lease", room, taken_at_once(len(self._leases) + room))
            self._given.extend(given)
            self._due = None if self._woken else due  # it may be woken before this task goes on
        if not self._given:
            return None
        packed, cookies, first = self._given.popleft()
        lease = parcel.unpack_lease(packed)
        if cookies is not None:
            self._jars.keep_cookies(lease.name, cookies)
        self._leases[lease.host] = lease
        self._first[lease.host] = first
        return lease

    async def next_due(self, now: float) -> float | None:
        """Return when it is worth asking for a host again; never None, as this process does not end the run."""
        return now if self._due is None else self._due

    async def top_up(self, now: float) -> bool:
        """Return False: the process that has the store does that."""
        return False

    async def join(self, lease: Lease, group: str, now: float) -> bool:
        """Return whether a host may be asked now as one of a group."""
        joined = await self._ask("join", lease.host, lease.token, group)
        if joined is None:
            return False
        lease.group, lease.next_at, lease.started_at, lease.ended_at = joined
        return True

    async def take(self, lease: Lease, now: float, limit: int) -> list[Entry]:
        """Return due entries of a host; of several connections that ask at once one asks and the others wait."""
        first = self._first.pop(lease.host, None)
        if first is not None:
            return self._unpacked(lease, first, now)
        if self._empty.get(lease.host, 0.0) > now:
            return []
        asking = self._taking.get(lease.host)
        if asking is not None:
            await asyncio.shield(asking)
            return []
        asking = self._taking[lease.host] = asyncio.get_running_loop().create_future()
        try:
            known = [(origin.id, origin.fetched_at) for origin in lease.origins.values() if origin.rules is not None]
            packed = await self._ask("take", lease.host, lease.token, limit, known)
        finally:
            del self._taking[lease.host]
            asking.set_result(None)
        if packed is None:  # another has the host
            lease.broken = True
            return []
        return self._unpacked(lease, packed, now)

    def _unpacked(self, lease: Lease, packed: Any, now: float) -> list[Entry]:
        entries, origins, lease.crawl_delay = packed
        lease.origins = {one[0]: parcel.unpack_origin(one, lease.origins.get(one[0])) for one in origins}
        if not entries:
            self._empty[lease.host] = now + LOOK_SECONDS
        return [parcel.unpack_entry(entry, lease) for entry in entries]

    async def renew(self, lease: Lease, now: float) -> bool:
        """Return whether a host is still held."""
        expires_at = await self._ask("renew", lease.host, lease.token)
        if expires_at is None:
            return False
        lease.expires_at = expires_at
        return True

    async def keep_pace(self, lease: Lease) -> None:
        """Return once the pace of a host is stored."""
        await self._ask("keep_pace", parcel.pack_state(lease))
        lease.kept_gap_seconds = lease.gap_seconds

    async def count_page(self) -> str:
        """Count a page; return the name of the limit that forbids it, "" for none."""
        limit: str = await self._ask("count_page") if self._counts else ""
        return limit

    def give_page_back(self) -> None:
        """Take back a page that was counted and is not asked for now."""
        if self._counts:
            self._tell("give_page_back")

    def finish(self, visits: Sequence[Visit], now: float) -> Sequence[Visit]:
        """Hand in a batch, with what was learnt of its hosts."""
        self._tell_opened()
        hosts = {visit.entry.host for visit in visits}
        for host in hosts:
            self._empty.pop(host, None)
        states = [parcel.pack_state(lease) for host in hosts if (lease := self._leases.get(host)) is not None]
        self._tell("finish", [parcel.pack_visit(visit) for visit in visits], states)
        return visits

    def release(self, lease: Lease) -> None:
        """Give a host back, and its cookies with it."""
        self._tell_opened()
        for known in (self._leases, self._first, self._empty):
            known.pop(lease.host, None)
        self._tell("release", parcel.pack_state(lease), self._jars.cookies(lease.name))

    def _tell_opened(self) -> None:
        """Tell which addresses have been opened: another process may be led there next (R-5.1)."""
        opened = self._jars.guard.opened
        if opened != self._opened:
            self._tell("opened", *newly(opened, self._opened))
            self._opened = opened
