"""Start the runs that are due, each as a process of its own, and record what became of them (R-8.5).

One keeper acts in a store at a time, under a lease. It holds no lock of the store: what it writes are a few small rows
beside the crawl. Which run is due ``schedule.py`` says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from purlieu.crawl.clock import Clock
from purlieu.errors import StoreError
from purlieu.schedule import Action, Decision, following, judge
from purlieu.sentence import Sentence
from purlieu.store import schedules
from purlieu.store.database import Database
from purlieu.store.schedules import Open, Planned

LOG: Final = logging.getLogger(__name__)
LEASE_SECONDS: Final = 120.0
"""Renewed at half its life: each write makes a crawl beside it read its pages anew."""
LOOK_SECONDS: Final = 30.0
"""A keeper looks at least so often: for schedules that are new, and to renew its lease."""
AHEAD_SECONDS: Final = 86_400.0
"""What was seen to so far in the future was written by a clock that was wrong."""
BEGIN_SECONDS: Final = 60.0
"""A run that was started must have begun after so long, else it is taken to have failed."""

SWITCHED_OFF: Final = Sentence("the schedule was switched off or removed")
WINS: Final = Sentence("a run in progress wins")
HELD: Final = Sentence("another crawl held the store for the whole grace period")
NOT_KEPT: Final = Sentence("no keeper ran within the grace period")
NOT_BEGUN: Final = Sentence("no run began")
DETAILS: Final = (SWITCHED_OFF, WINS, HELD, NOT_KEPT, NOT_BEGUN, Sentence("no keeper ran"))
"""What is recorded of a due time besides its state, in English; the end of a run and what a process said besides."""


class Child(Protocol):
    """A run in a process of its own."""

    async def wait(self) -> tuple[int, str]:
        """Return, when it has ended, its exit status and the last it said."""
        ...


Starter = Callable[[list[str]], Awaitable[Child]]
"""Starts ``purlieu`` with these words."""


class Keeper:
    """Keeps the schedules of one store until it is stopped."""

    def __init__(
        self, database: Database, store: str, is_busy: Callable[[], bool], start: Starter, clock: Clock, token: str
    ) -> None:
        """Write through ``database``, beside any crawl. ``is_busy`` says whether some process crawls with the store.

        ``token`` is this keeper's own name.
        """
        self._database = database
        self._store = store
        self._is_busy = is_busy
        self._start = start
        self._clock = clock
        self._token = token
        self._children: dict[tuple[int, float], asyncio.Task[tuple[int, str]]] = {}
        self._stopped = asyncio.Event()
        self._leased_until = 0.0
        self._acts: bool | None = None

    async def run(self) -> None:
        """Keep the schedules until ``stop``. Runs under way go on by themselves then."""
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            while not self._stopped.is_set():
                try:
                    pause = await self.look()
                except StoreError as error:  # full for a moment, or held: the next look may do
                    LOG.warning("%s", error)
                    pause = LOOK_SECONDS
                sleeping = asyncio.create_task(self._clock.sleep(pause))
                working = {child for child in self._children.values() if not child.done()}
                await asyncio.wait({sleeping, stopped, *working}, return_when=asyncio.FIRST_COMPLETED)
                sleeping.cancel()
        finally:
            stopped.cancel()
            if self._leased_until:
                schedules.leave(self._database, self._token)

    def stop(self) -> None:
        """Start nothing more."""
        self._stopped.set()

    async def look(self) -> float:
        """See to what is due now and return in how many seconds to look again."""
        now = self._clock.now()
        if not self._take(now):
            return LOOK_SECONDS
        for event in schedules.opened(self._database):
            if event.state == "started":
                self._follow(event, now)
        next_at = now + LOOK_SECONDS
        for planned in schedules.every(self._database):
            if planned.paused_at is not None:
                continue
            if planned.handled_at > now + AHEAD_SECONDS:
                schedules.anchor(self._database, planned, now)
            decision = judge(planned.schedule, planned.handled_at, now)
            if decision.action is not Action.WAIT:
                self._handle(planned, decision, now)
            coming = following(planned.schedule, now)
            next_at = min(next_at, coming or next_at)
        for event in schedules.opened(self._database):
            if event.state == "waiting":
                await self._begin(event, now)
        return max(next_at - self._clock.now(), 0.001)

    def _take(self, now: float) -> bool:
        """Take or renew the lease; return whether it is ours."""
        if now < self._leased_until - LEASE_SECONDS / 2 <= now + LEASE_SECONDS:
            return True
        taken = schedules.take(self._database, self._token, now, now + LEASE_SECONDS)
        self._leased_until = now + LEASE_SECONDS if taken else 0.0
        if taken != self._acts:
            LOG.info("keeping the schedules" if taken else "another keeper is at work; waiting for it to end")
        self._acts = taken
        return taken

    def _handle(self, planned: Planned, decision: Decision, now: float) -> None:
        """Record a due time: it was missed, a run in progress wins, or it waits for its start."""
        first = following(planned.schedule, planned.handled_at) or decision.due_at
        missed = (first, decision.missed) if decision.missed else None
        state, detail = "waiting", ""
        if decision.action is Action.MISSED:
            state, detail = "missed", NOT_KEPT
        elif planned.crawl in self._crawling():
            state, detail = "overlapped", WINS
        if schedules.handle(self._database, planned, (decision.due_at, state, detail), missed, now):
            self._tell(planned, decision.due_at, state)

    async def _begin(self, event: Open, now: float) -> None:
        """Start what waits, if the store is free; else leave it, until its grace is over."""
        planned, crawling = event.planned, self._crawling()
        if planned.paused_at is not None:
            self._turn(event, "missed", now, detail=SWITCHED_OFF)
        elif planned.crawl in crawling:
            self._turn(event, "overlapped", now, detail=WINS)
        elif now - event.due_at > planned.schedule.grace_seconds:
            self._turn(event, "missed", now, detail=HELD)
        elif not crawling and not self._is_busy() and self._turn(event, "started", now):
            try:
                child = await self._start(words(planned, self._store))
            except OSError as error:
                self._turn(event._replace(state="started"), "failed", now, detail=f"it could not be started: {error}")
                return
            self._children[planned.id, event.due_at] = asyncio.create_task(_ending(child))

    def _follow(self, event: Open, now: float) -> None:
        """Record how a run that was started has ended, if it has; one that another keeper started too."""
        key = (event.planned.id, event.due_at)
        child = self._children.get(key)
        begun = schedules.run_since(self._database, event.planned.crawl, event.at, now)
        if child is not None:
            if not child.done():
                return
            del self._children[key]
            status, said = child.result()
            if begun is None:
                self._turn(event, "failed", now, detail=said or f"exit status {status}")
            else:
                how = "killed" if begun[1] == "running" else begun[1]
                self._turn(event, "ended", now, run=begun[0], detail=f"{how}, exit status {status}")
        elif begun is not None and (begun[1] != "running" or not self._is_busy()):
            self._turn(event, "ended", now, run=begun[0], detail="killed" if begun[1] == "running" else begun[1])
        elif begun is None and now - event.at > BEGIN_SECONDS:
            self._turn(event, "failed", now, detail=NOT_BEGUN)

    def _crawling(self) -> set[str]:
        """Return the crawls of which a run is under way: those started here, and those that hold the store."""
        started = {one.planned.crawl for one in schedules.opened(self._database) if one.state == "started"}
        return started | (schedules.running(self._database) if self._is_busy() else set())

    def _turn(self, event: Open, state: str, now: float, *, run: int | None = None, detail: str = "") -> bool:
        turned = schedules.turn(self._database, event, state, now, run=run, detail=detail)
        if turned:
            self._tell(event.planned, event.due_at, f"{state} {detail}".rstrip())
        return turned

    def _tell(self, planned: Planned, due_at: float, what: str) -> None:
        LOG.info("schedule %d, %s, due %.0f: %s", planned.id, planned.crawl, due_at, what)


async def _ending(child: Child) -> tuple[int, str]:
    return await child.wait()


def words(planned: Planned, store: str) -> list[str]:
    """Return what is typed after ``purlieu`` for a run of a schedule."""
    how = ["-c", planned.config, "--name", planned.crawl] if planned.config else ["--again", planned.crawl]
    closed = ["--public-only"] if planned.schedule.public_only else []
    return ["crawl", *how, *closed, "--store", store, "--quiet"]
