"""A worker: hold hosts, keep their connections full at their pace, write what comes back in batches.

A lease is a stream: while it is held, more due entries are taken before the last ones have
come back (house, section 2). The cluster's workers run the same loop. Knows no SQL and no socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from purlieu.candidate import Entry, Purpose
from purlieu.crawl.desk import RunLimits
from purlieu.crawl.lane import Lane
from purlieu.crawl.load import Load

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.crawl.desk import Desk
    from purlieu.crawl.outbox import Outbox
    from purlieu.crawl.visit import Visitor
    from purlieu.decide import Visit

BATCH, BATCH_FOUND = 64, 10_000
"""Visits written in one transaction at most, and addresses found that are enough: 64 sitemaps would outlast a lease."""
TAKE, TAKE_IN_ALL, TAKE_LEAST = 256, 16_384, 16
"""Entries in memory: of a host at most, of all, of a host at least. Without a bound for all, 49,000 took 29 MB."""
PARK_SECONDS = 10.0
"""A host that wants a longer pause is given back meanwhile, so that another can be asked."""
TURN_SECONDS = 20.0
"""A host of a group gives the group back after so long, so that the others have their turn."""
LAST_SECONDS = 60.0
"""A page that a reached limit has let through is waited for so long, though its host wants a pause."""
_OF_PAGES = frozenset({"limit:pages", "limit:targets"})


def taken_at_once(hosts: int) -> int:
    """Return how many due entries a host takes at once when so many hosts are asked at the same time."""
    return max(TAKE_LEAST, min(TAKE, TAKE_IN_ALL // max(1, hosts)))


class Worker:
    """Works a run until nothing is left, a limit is reached or somebody stops it."""

    def __init__(
        self,
        desk: Desk,
        visitor: Visitor,
        clock: Clock,
        limits: RunLimits,
        outbox: Outbox,
        stop_requested: Callable[[], bool],
    ) -> None:
        """``desk`` gives hosts and takes visits; ``outbox`` gets every batch and may hold the worker back.

        ``stop_requested`` is read each batch.
        """
        self._desk = desk
        self._visitor = visitor
        self._clock = clock
        self._limits = limits
        self._outbox = outbox
        self._stop_requested = stop_requested
        self._lanes: dict[int, asyncio.Task[None]] = {}
        self._open: dict[int, Lane] = {}
        self._load = Load()
        self._pending: list[Visit] = []
        self._found = 0
        self._in_flight = 0
        self._stopping = asyncio.Event()
        self._written = asyncio.Event()
        self._changed = asyncio.Event()
        self._some = asyncio.Event()
        self._fault: BaseException | None = None
        self.stop_reason = ""

    def stop(self, reason: str = "interrupted") -> None:
        """Start nothing more; what is in flight ends and is written."""
        if not self._stopping.is_set():
            self.stop_reason = reason
            self._stopping.set()
            self._changed.set()
            self._load.open()
            self._signal_written()

    def wake(self) -> None:
        """Look again whether there is a host to ask: somebody else has changed what is due."""
        self._changed.set()

    def spare(self, hosts: int) -> None:
        """Give so many hosts back as soon as what is under way there has ended: somebody else is idle."""
        lanes = [lane for lane in self._open.values() if not lane.parked]
        for lane in lanes[:hosts]:
            lane.parked = True
        self._signal_written()

    def fail(self, fault: BaseException) -> None:
        """Stop by a fault of the store, or of ours; ``run`` raises it."""
        # Whoever waits for a batch must not wait for ever.
        self._fault = self._fault or fault
        self.stop("system:store")

    @property
    def fault(self) -> BaseException | None:
        """Return what it has failed by, None while all is well."""
        return self._fault

    async def stopping(self) -> str:
        """Wait until nothing more is started, and return why."""
        await self._stopping.wait()
        return self.stop_reason

    async def run(self) -> str:
        """Work to the end and return why it ended: finished, interrupted or limit:WHICH."""
        helpers = [asyncio.create_task(self._write_in_time())]
        if self._limits.max_seconds is not None:
            helpers.append(asyncio.create_task(self._stop_in_time(self._limits.max_seconds)))
        try:
            await self._work()
        finally:
            for task in (*helpers, *self._lanes.values()):
                task.cancel()
            await asyncio.gather(*helpers, *self._lanes.values(), return_exceptions=True)
        if self._fault is not None:
            raise self._fault
        return self.stop_reason or "finished"

    async def _work(self) -> None:
        while True:
            self._changed.clear()
            self._reap()
            now = self._clock.now()
            while not self._stopping.is_set() and (room := self._limits.max_hosts - len(self._lanes)) > 0:
                lease = await self._desk.lease(now, room)
                if lease is None:
                    break
                self._lanes[lease.host] = asyncio.create_task(self._lane(Lane(lease)))
            if self._stopping.is_set() and not self._lanes:
                break
            full = len(self._lanes) >= self._limits.max_hosts
            due = None if full else await self._desk.next_due(now)
            if due is None and not self._lanes:
                if not self._stopping.is_set() and await self._desk.top_up(now):
                    continue
                break
            wait = None if due is None or self._stopping.is_set() else max(due - now, 0.001)
            await self._event(self._changed, wait)
        self._write()

    def _reap(self) -> None:
        """Forget lanes that have ended; a fault in one (the store's or ours) ends the run."""
        for host, task in list(self._lanes.items()):
            if task.done():
                del self._lanes[host]
                task.result()

    # -- one host ----------------------------------------------------------------------------------

    async def _lane(self, lane: Lane) -> None:
        try:
            self._open[lane.lease.host] = lane
            if await self._joined(lane):
                self._set_pace(lane)
            while lane.slots:
                done, _ = await asyncio.wait(lane.slots, return_when=asyncio.FIRST_COMPLETED)
                lane.slots -= done
                for task in done:
                    task.result()
        finally:
            for task in lane.slots:
                task.cancel()
            await asyncio.gather(*lane.slots, return_exceptions=True)
            del self._open[lane.lease.host]
            self._changed.set()
        if lane.unwritten:
            self._write()
        lane.lease.next_at = max(lane.lease.next_at, lane.free_at())
        if self._fault is None:
            self._desk.release(lane.lease)

    async def _joined(self, lane: Lane) -> bool:
        """Prepare a lane; False while another host of its group is at work, which goes first."""
        lease = lane.lease
        lane.began_at = self._clock.now()
        lane.politeness = self._visitor.politeness(lease.name)
        lane.is_exception = self._visitor.is_exception(lease.name)
        group = await self._visitor.group(lease.name)
        if group and not await self._desk.join(lease, group, self._clock.now()):
            return False
        lease.conduct.group, lease.loopback = group, lease.conduct.loopback
        lease.conduct.resumed(lease.started_at, lease.ended_at)
        return True

    def _set_pace(self, lane: Lane) -> None:
        """Work out the host's pace and open as many slots as it allows; each is one connection kept busy."""
        lane.set_pace()
        for _ in range(lane.pace.connections - len(lane.slots)):
            lane.slots.add(asyncio.create_task(self._slot(lane)))

    async def _slot(self, lane: Lane) -> None:
        while (entry := await self._next(lane)) is not None:
            origin = lane.lease.origins.get(entry.origin)
            visit = self._visitor.without_asking(entry, origin)
            if visit is None:
                if entry.purpose is Purpose.SITEMAP:
                    await self._load.begin((entry.host, entry.hash))
                if not await self._may_start(lane, entry):
                    self._load.gone((entry.host, entry.hash))
                    lane.queue.appendleft(entry)
                    return
                lane.running += 1
                self._in_flight += 1
                began_at = self._clock.now()
                visit = await self._visitor.visit(entry, origin, lambda: self._turn(lane))
                lane.running -= 1
                self._in_flight -= 1
                lane.learn(visit, began_at, self._clock.now(), proxied=self._visitor.proxied)
                self._set_pace(lane)
                if entry.purpose is Purpose.SITEMAP:
                    self._load.came((entry.host, entry.hash), visit.bytes)
            await self._hand_over(lane, visit)
            del visit  # a slot may wait long for its next entry, and a visit may hold 50,000 addresses

    async def _next(self, lane: Lane) -> Entry | None:
        """Return the lane's next entry; None when it has none left, or nothing more is to be started."""
        while not self._stopping.is_set() and not lane.parked:
            if lane.queue:
                return lane.queue.popleft()
            now = self._clock.now()
            lane.queue.extend(await self._desk.take(lane.lease, now, taken_at_once(len(self._lanes))))
            if lane.crawl_delay != lane.lease.crawl_delay:
                self._set_pace(lane)
            if lane.queue:
                continue
            if not lane.running and not lane.unwritten:
                return None
            if self._pending and not self._in_flight:
                self._write()
            else:
                await self._written.wait()
        return None

    async def _may_start(self, lane: Lane, entry: Entry) -> bool:
        """Wait for the host's turn; False when the entry must wait for another time.

        Whatever was waited for, all is looked at again: another connection to the host may have begun meanwhile.
        """
        lease, counted = lane.lease, False
        counts = entry.purpose is Purpose.PAGE and not entry.attempts
        while True:
            now = self._clock.now()
            wait = lane.free_at() - now
            # What the limit of pages has let through is asked for, though another was refused meanwhile: no other page
            # takes its place any more.
            goes_on = counted and self.stop_reason in _OF_PAGES and wait <= LAST_SECONDS
            if wait > PARK_SECONDS or (lease.group is not None and now - lane.began_at > TURN_SECONDS):
                lane.parked = lane.parked or not goes_on
            if ((self._stopping.is_set() or lane.parked) and not goes_on) or lease.broken:
                break
            if wait > 0:
                await (self._clock.sleep(wait) if goes_on else self._event(self._stopping, wait))
            elif counts and not counted:
                if not await self._count():
                    return False
                counted = True
            elif lease.expires_at - now < self._limits.timeout_seconds:
                if not await self._desk.renew(lease, now):
                    break
            elif lane.is_slower():
                await self._desk.keep_pace(lease)
            else:
                lane.begin(now)
                return True
        if counted:
            self._desk.give_page_back()
        return False

    async def _count(self) -> bool:
        """Count a page that is asked for the first time; a limit that is reached stops the run softly."""
        limit = await self._desk.count_page()
        if limit:
            self.stop(f"limit:{limit}")
        return not limit

    async def _turn(self, lane: Lane) -> None:
        """Wait until the host may be asked once more for the same entry."""
        lane.lease.ended_at = self._clock.now()
        lane.lease.conduct.ended(lane.lease.ended_at)
        while not self._stopping.is_set():
            wait = lane.free_at() - self._clock.now()
            if wait > 0:
                await self._event(self._stopping, wait)
            elif lane.is_slower():
                await self._desk.keep_pace(lane.lease)
            else:
                break
        lane.begin(self._clock.now())

    # -- writing -----------------------------------------------------------------------------------

    async def _hand_over(self, lane: Lane, visit: Visit) -> None:
        lane.unwritten += 1
        self._pending.append(visit)
        self._some.set()
        self._found += len(visit.links) + (len(visit.sitemap.entries) if visit.sitemap else 0)
        if len(self._pending) >= BATCH or self._found >= BATCH_FOUND:
            self._write()
        await self._outbox.room()

    def _write(self) -> None:
        """Write what has come back, in one transaction, and wake whoever waits for what it brought."""
        if not self._pending or self._fault is not None:
            return
        visits, self._pending, self._found = self._pending, [], 0
        self._some.clear()
        try:
            written = self._desk.finish(visits, self._clock.now())
        except BaseException as fault:  # noqa: BLE001 - kept and raised by ``run``
            self.fail(fault)
            return
        for visit in visits:
            if visit.entry.purpose is Purpose.SITEMAP:
                self._load.gone((visit.entry.host, visit.entry.hash))
            lane = self._open.get(visit.entry.host)
            if lane is not None:
                lane.unwritten -= 1
        self._outbox.put(written)
        if self._stop_requested():
            self.stop()
        self._signal_written()
        self._changed.set()

    def _signal_written(self) -> None:
        self._written.set()
        self._written = asyncio.Event()

    async def _write_in_time(self) -> None:
        while True:
            await self._some.wait()
            await self._clock.sleep(self._limits.write_seconds)
            self._write()

    async def _stop_in_time(self, seconds: float) -> None:
        await self._clock.sleep(max(0.0, seconds - self._limits.active_seconds))
        self.stop("limit:seconds")

    async def _event(self, event: asyncio.Event, seconds: float | None) -> None:
        """Wait for an event, at most so long by the crawl's clock."""
        if seconds is None:
            await event.wait()
            return
        tasks = [asyncio.create_task(event.wait()), asyncio.create_task(self._clock.sleep(seconds))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
