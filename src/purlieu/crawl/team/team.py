"""The other processes of a run: when they are started, what goes to all of them, and what becomes of their work.

Lives in the process that has the store. That one asks the web itself until the first of the others is ready, and again
when none is left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from purlieu.crawl.desk import OwnDesk
from purlieu.crawl.team.ground import LOOK_SECONDS, Ground, newly
from purlieu.errors import ArchiveFull
from purlieu.value import dataclass, replace

if TYPE_CHECKING:
    from purlieu.crawl.clock import SteadyClock
    from purlieu.crawl.desk import RunLimits
    from purlieu.crawl.outbox import Outbox
    from purlieu.crawl.process import WorkerProcess
    from purlieu.crawl.team.seat import Seat
    from purlieu.crawl.team.size import Size
    from purlieu.crawl.traps import TrapWatch
    from purlieu.crawl.worker import Worker
    from purlieu.decide import Visit
    from purlieu.scope import Scope
    from purlieu.settings import Settings
    from purlieu.store.frontier import Frontier
    from purlieu.store.lease import Lease

LOG: Final = logging.getLogger(__name__)
REPLACED: Final = 3
"""So many processes that were lost are replaced for each that is wanted; then the rest go on alone."""
ENDING_SECONDS: Final = 15.0
"""Beyond the time that a request may take, a process that was told to end has so long to do it."""
START_SECONDS: Final = 30.0
"""A process that is not ready after so long is given up."""
WRITE_SECONDS: Final = 0.4
"""A visit waits at most so long to be sent to the process that writes."""
SOON_SECONDS: Final = 0.5
"""Who has nothing to do waits so long for a host that nobody holds before one is taken from another process."""
LOST: Final = "worker_lost"
"""The finding that a process was lost."""


@dataclass(frozen=True, slots=True)
class Begin:
    """What another process is told at its start."""

    settings: Settings
    number: int
    offset: float
    limits: RunLimits
    counts_pages: bool
    log_level: int
    landed: dict[str, str]
    trapped: tuple[str, ...]
    opened: tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
    archive: tuple[Path, str] | None
    extract: tuple[tuple[str, str], float] | None = None
    """Where the owner's function is, and how long a page may take."""


@dataclass(slots=True)
class Run:
    """What the team needs of the run that it works for; ``archive``: where it keeps bodies, and in which files."""

    settings: Settings
    limits: RunLimits
    frontier: Frontier
    traps: TrapWatch
    scope: Callable[[], Scope]
    due: Callable[[], int]
    stop_requested: Callable[[], bool]
    archive: tuple[Path, str] | None = None
    extract: tuple[tuple[str, str], float] | None = None


@dataclass(slots=True)
class _Member:
    """One other process."""

    seat: Seat
    process: WorkerProcess
    attending: asyncio.Task[None] | None = None
    is_ready: bool = False
    is_leaving: bool = False


class Team:
    """Starts the other processes of a run when they are worth it, and sees to it that none is left at its end."""

    def __init__(self, run: Run, size: Size, ground: Ground, outbox: Outbox, clock: SteadyClock) -> None:
        """Work for this run; ``attend`` begins."""
        self._run = run
        self._size = size
        self._ground = ground
        self._outbox = outbox
        self._clock = clock
        self._worker: Worker | None = None
        self._members: dict[int, _Member] = {}
        self._started = 0
        self._lost = 0
        self._at_start = 0
        self._scope = run.scope()
        self._opened = ground.jars.guard.opened
        self._trapped = len(run.traps.found)
        self._closing = self._killing = False
        self._starting: set[asyncio.Task[None]] = set()
        self.desk = TeamDesk(self, ground)
        ground.taken, ground.changed, ground.limited = self._taken, self._changed, self._limited
        ground.seats = lambda: sum(member.is_ready for member in self._members.values())

    @property
    def has_taken_over(self) -> bool:
        """Return whether others ask the web now, and this process writes alone."""
        return any(member.is_ready for member in self._members.values())

    @property
    def processes(self) -> list[int]:
        """Return the ids of the processes that are at work."""
        return [member.process.id for member in self._members.values() if member.is_ready]

    async def work(self, worker: Worker) -> str:
        """Work the run to its end with this process's worker, and end all the others; return why it ended."""
        self._worker = worker
        telling = asyncio.create_task(self._tell_stop(worker))
        try:
            reason = await worker.run()
            await self._close(kill=False)
        except BaseException:
            await self._close(kill=True)
            raise
        finally:
            telling.cancel()
        if worker.fault is not None:  # while the others were ending
            raise worker.fault
        return worker.stop_reason or reason

    async def _tell_stop(self, worker: Worker) -> None:
        self._tell("stop", await worker.stopping())

    def _tell(self, *message: Any) -> None:
        for member in self._members.values():
            member.seat.send(*message)

    # -- who is there ------------------------------------------------------------------------------

    def consider(self) -> None:
        """Start more processes if they are worth it now."""
        missing = self._size.most - len(self._members)
        if missing <= 0 or self._closing or self._lost >= REPLACED * self._size.most or self._at_start > 1:
            return
        if self._worker is None or self._worker.stop_reason:
            return
        hosts = self._run.frontier.hosts_due(self._size.most)
        wanted = min(hosts, self._size.most) if self.has_taken_over else self._size.wanted(self._run.due(), hosts)
        if wanted < 2:
            return
        from purlieu.crawl.process import WorkerProcess  # only a run that needs more processes loads what they need
        from purlieu.crawl.team.seat import Seat

        for _ in range(wanted - len(self._members)):
            self._started += 1
            seat = Seat(self._started, self._ground)
            starting = asyncio.create_task(self._start(seat))
            self._members[seat.number] = _Member(seat, WorkerProcess(), starting)

    async def _start(self, seat: Seat) -> None:
        """Start one process and see it to its end."""
        import pickle

        from purlieu.crawl.team.wire import Wire

        member = self._members[seat.number]
        wire = Wire(lambda message: self._heard(member, *message), member.process.hung_up, self._together)
        why = ""
        try:
            await member.process.start(wire)
            seat.wire = wire
            if self._closing:
                member.process.kill()
            seat.send("begin", pickle.dumps(self._begin(seat.number)))
            if self._worker is not None and self._worker.stop_reason:
                seat.send("stop", self._worker.stop_reason)
            late = asyncio.get_running_loop().call_later(START_SECONDS, self._give_up, member)
            why = await member.process.ended()
            late.cancel()
        except Exception as error:  # noqa: BLE001 - the run goes on without it
            member.process.kill()
            why = f"{type(error).__name__}: {error}"
        except BaseException:
            member.process.kill()
            raise
        finally:
            self._gone(member, why)

    @staticmethod
    def _give_up(member: _Member) -> None:
        """End a process that has not come to work."""
        if not member.is_ready:
            member.process.kill()

    def _begin(self, number: int) -> Begin:
        run, level = self._run, logging.getLogger("purlieu").getEffectiveLevel()
        share = -(-run.limits.max_hosts // self._size.most)
        # As many batches as from one alone: each costs the process that writes a transaction, however small it is.
        wait = run.limits.write_seconds * self._size.most
        limits = replace(run.limits, max_seconds=None, max_hosts=share, write_seconds=min(wait, WRITE_SECONDS))
        return Begin(
            run.settings, number, self._clock.offset, limits, self._ground.pages.is_set, level,
            run.frontier.landed(), tuple(run.traps.known), self._ground.jars.guard.opened,
            run.archive,
            run.extract,
        )  # fmt: skip

    def _gone(self, member: _Member, why: str) -> None:
        """Take back what a process that has ended still held."""
        del self._members[member.seat.number]
        if self._worker is None or self._worker.fault is not None or self._killing:
            return
        try:
            hosts = member.seat.empty()
            if not member.is_leaving:
                self._lost += 1
                self._at_start += not member.is_ready
                LOG.warning("worker process %d was lost (%s); others take over its %d hosts",
                            member.seat.number, why, hosts)  # fmt: skip
                self._run.frontier.note(LOST, str(member.seat.number), why=why, hosts=hosts)
            self._changed()
            self.consider()
        except BaseException as fault:  # noqa: BLE001 - ``Worker.run`` raises it
            self._worker.fail(fault)

    async def _close(self, *, kill: bool) -> None:
        """End every process: let it finish what is under way, or at once."""
        self._closing, self._killing = True, kill
        seconds = 0.0 if kill else self._run.limits.timeout_seconds + ENDING_SECONDS
        tasks = [member.attending for member in self._members.values() if member.attending is not None]
        self._tell("stop", "finished")
        for member in self._members.values():
            if kill or not member.is_ready:
                member.is_leaving = True
                member.process.kill()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds or None)
            if late:
                for member in self._members.values():
                    member.process.kill()
                await asyncio.wait(late)

    # -- what they say -----------------------------------------------------------------------------

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Write what was heard at once in one transaction, before it is answered; a fault of the store ends the run."""
        worker = self._worker
        if worker is None or worker.fault is not None:
            yield
            return
        try:
            with self._run.frontier.together():
                yield
        except BaseException as fault:  # noqa: BLE001 - ``Worker.run`` raises it
            for member in self._members.values():
                if member.seat.wire is not None:
                    member.seat.wire.unsay()
            worker.fail(fault)

    def _heard(self, member: _Member, what: str, number: int, *told: Any) -> None:
        """Take one message."""
        worker = self._worker
        if worker is None or worker.fault is not None:
            return
        if member.seat.knows(what):
            member.seat.answer(what, number, *told)
        elif what == "ready":
            member.is_ready = True
            self._at_start = 0
            worker.spare(self._run.limits.max_hosts)
        elif what == "bye":
            member.is_leaving = True
        elif what == "log":
            name, level, text = told
            logging.getLogger(name).log(level, "%s", text)
        elif what == "full":  # the disk, which is the others' too
            worker.fail(ArchiveFull(*told))
        elif what == "fault":
            LOG.error("worker process %d: %s", member.seat.number, told[0])

    def _taken(self, visits: list[Visit]) -> None:
        """Tell what a batch of another process brought to whoever must know."""
        for visit in visits:
            self._run.traps.look(visit)
        self._outbox.put(visits)
        self._hold_back()
        if self._worker is not None and self._run.stop_requested():
            self._worker.stop()
        self.has_written()

    def _hold_back(self) -> None:
        """Hear nothing more from the others while whoever reads the visits is slower than they are."""
        full = self._outbox.is_full
        for member in self._members.values():
            if member.seat.wire is not None:
                member.seat.wire.pause(paused=full)
        if full:
            waiting = asyncio.create_task(self._until_room())
            self._starting.add(waiting)
            waiting.add_done_callback(self._starting.discard)

    async def _until_room(self) -> None:
        await self._outbox.room()
        self._hold_back()

    def has_written(self) -> None:
        """Tell the others what has changed with a batch: scope, open addresses, traps."""
        scope, opened, found = self._run.scope(), self._ground.jars.guard.opened, self._run.traps.found
        if scope is not self._scope and self._members:
            seeds = {scope.seed(site) for site in self._scope.pending - scope.pending}
            landed = self._run.frontier.landed()
            self._tell("landed", {seed: landed[seed] for seed in seeds if seed in landed})
        if opened != self._opened:
            self._tell("opened", *newly(opened, self._opened))
        self._scope, self._opened = scope, opened
        for series in found[self._trapped :]:
            self._tell("trapped", series)
        self._trapped = len(found)
        self.consider()

    def _limited(self, limit: str) -> None:
        if self._worker is not None:
            self._worker.stop(f"limit:{limit}")

    # -- who waits ---------------------------------------------------------------------------------

    def _changed(self) -> None:
        """Wake who has nothing to do, if there may be something now; let who has much give to who has nothing."""
        if self._worker is None:
            return
        now, frontier = self._clock.now(), self._run.frontier
        idle = [member.seat for member in self._members.values() if member.seat.told_due is not None]
        due = frontier.next_due(now) if idle or not frontier.held else None
        for seat in idle:
            if due is not None and seat.told_due is not None and (due <= now or due < seat.told_due):
                seat.told_due = None
                seat.send("wake")
            elif due is None or due > now + SOON_SECONDS:
                self._share(seat)
        if not self.has_taken_over or (due is None and not frontier.held):
            self._worker.wake()

    def _share(self, poor: Seat) -> None:
        rich = max((member.seat for member in self._members.values()), key=lambda seat: len(seat.leases))
        spare = (len(rich.leases) - len(poor.leases)) // 2
        if spare > 0 and not rich.asked_to_spare:
            rich.asked_to_spare = spare
            rich.send("spare", spare)


class TeamDesk(OwnDesk):
    """The desk of the worker in the process that has the store, as long as it has any hosts."""

    def __init__(self, team: Team, ground: Ground) -> None:
        """Serve it for this team."""
        super().__init__(ground.frontier, ground.pages, ground.active_seconds)
        self._team = team
        self._ground = ground

    async def lease(self, now: float, room: int) -> Lease | None:  # noqa: ARG002 - as ``OwnDesk``
        """Return a host to ask; None while others ask the web."""
        lease = None if self._team.has_taken_over else self._frontier.lease(now)
        if lease is not None:
            holder, lines = self._ground.cookies.pop(lease.name, (0, []))
            if holder:
                self._ground.jars.keep_cookies(lease.name, lines)
        return lease

    async def next_due(self, now: float) -> float | None:
        """Return when to look again; None when neither this process nor another has anything left."""
        due = self._frontier.next_due(now)
        if due is None and not self._frontier.held:
            return None
        waits = now + LOOK_SECONDS
        return waits if due is None or self._team.has_taken_over else min(due, waits)

    async def top_up(self, now: float) -> bool:
        """As ``Frontier.top_up``; the others hear of it."""
        found = self._frontier.top_up(now)
        self._ground.changed()
        return found

    def finish(self, visits: Sequence[Visit], now: float) -> Sequence[Visit]:
        """As ``Frontier.finish``; the others hear of it."""
        written = super().finish(visits, now)
        self._team.has_written()
        self._ground.changed()
        return written

    def release(self, lease: Lease) -> None:
        """As ``Frontier.release``; the others hear of it."""
        super().release(lease)
        self._ground.changed()
