"""The place of one other process with the one that has the store: answers its questions, takes what it hands in.

Keeps what that process holds, so that nothing is lost with it. Starts and ends no process; ``team.py`` does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from purlieu.crawl.team import parcel
from purlieu.crawl.team.ground import LOOK_SECONDS

if TYPE_CHECKING:
    from purlieu.candidate import Entry
    from purlieu.crawl.team.ground import Ground
    from purlieu.crawl.team.wire import Wire
    from purlieu.store.lease import Lease

PAUSE_SECONDS: Final = 0.25
"""A host that was held by a process that is lost waits at least so long, as after a resume (R-4.3)."""
COOKIES_KEPT: Final = 1024
"""Hosts whose cookies are kept on their way from one process to another."""


LEASES_AT_ONCE: Final = 8
"""Hosts given in one answer at most, so that who asks next finds some too."""


class Seat:
    """One other process as the store's process sees it. ``number`` is its holder's number, from 1."""

    def __init__(self, number: int, ground: Ground) -> None:
        """Begin with nothing held."""
        self.number = number
        self.wire: Wire | None = None
        self.told_due: float | None = None
        """When the process was told to ask again; None while it does not wait."""
        self.asked_to_spare = 0
        self.leases: dict[int, Lease] = {}
        self._ground = ground
        self._entries: dict[int, dict[tuple[int, int], Entry]] = {}
        self._answers: dict[str, Callable[..., Any]] = {
            "lease": self._lease,
            "join": self._join,
            "take": self._take,
            "renew": self._renew,
            "keep_pace": self._keep_pace,
            "count_page": self._count_page,
            "give_page_back": ground.pages.give_back,
            "opened": ground.jars.guard.open_too,
            "finish": self._finish,
            "release": self._release,
        }

    def send(self, *message: Any) -> None:
        """Tell the process something."""
        if self.wire is not None:
            self.wire.send(*message)

    def knows(self, what: str) -> bool:
        """Return whether a message is one of those that are answered here."""
        return what in self._answers

    def answer(self, what: str, number: int, *told: Any) -> None:
        """Do what a message asks for, and answer it if it has a number."""
        value = self._answers[what](*told)
        if number:
            self.send("answer", number, value)

    def empty(self) -> int:
        """Take back everything that the process held, as it has gone; return how many hosts that was.

        Nobody knows what it has asked for last, so each host waits as after a resume (R-4.3).
        """
        ground, now = self._ground, self._ground.clock.now()
        leases, self.leases = list(self.leases.values()), {}
        self._entries.clear()
        for lease in leases:
            if ground.frontier.is_current(lease):
                lease.next_at = max(lease.next_at, now + max(PAUSE_SECONDS, lease.gap_seconds))
                lease.started_at = lease.ended_at = now
                ground.frontier.release(lease)
        return len(leases)

    def _held(self, host: int, token: int) -> Lease | None:
        """Return what the process holds, unless it has expired and gone to another."""
        lease = self.leases.get(host)
        return lease if lease is not None and lease.token == token and self._ground.frontier.is_current(lease) else None

    # -- hosts -------------------------------------------------------------------------------------

    def _lease(self, room: int, limit: int) -> tuple[Any, ...]:
        """Return hosts, each with its cookies and what is due on it first; and when to ask again, None for at once."""
        frontier, now = self._ground.frontier, self._ground.clock.now()
        self.told_due = None
        given: list[tuple[Any, ...]] = []
        share = self._share(room)
        while len(given) < share and (lease := frontier.lease(now, self.number)) is not None:
            self.leases[lease.host] = lease
            first = self._take(lease.host, lease.token, limit, [])
            given.append((parcel.pack_lease(lease), self._cookies(lease), first))
        return given, None if len(given) == share else self._next_due()

    def _share(self, room: int) -> int:
        """Return how many hosts are given at once: no more than leaves every process its part of what is due."""
        seats = max(1, self._ground.seats())
        due = self._ground.frontier.hosts_due(seats * (len(self.leases) + LEASES_AT_ONCE))
        return max(1, min(room, LEASES_AT_ONCE, -(-due // seats) - len(self.leases)))

    def _cookies(self, lease: Lease) -> list[bytes] | None:
        """Return the cookies of a host, None where the process has them already, or there are none."""
        holder, lines = self._ground.cookies.get(lease.name, (0, []))
        if holder == 0:
            lines = self._ground.jars.cookies(lease.name)
        return None if holder == self.number else lines or None

    def _next_due(self) -> float:
        ground, now = self._ground, self._ground.clock.now()
        due = ground.frontier.next_due(now)
        self.told_due = now + LOOK_SECONDS if due is None else min(due, now + LOOK_SECONDS)
        ground.changed()
        return self.told_due

    def _join(self, host: int, token: int, group: str) -> tuple[Any, ...] | None:
        lease = self._held(host, token)
        if lease is None or not self._ground.frontier.join(lease, group, self._ground.clock.now()):
            return None
        return lease.group, lease.next_at, lease.started_at, lease.ended_at

    def _take(self, host: int, token: int, limit: int, known: list[tuple[int, float]]) -> tuple[Any, ...] | None:
        lease, times = self._held(host, token), dict(known)
        if lease is None:
            return None
        entries = self._ground.frontier.take(lease, self._ground.clock.now(), limit)
        self._entries.setdefault(host, {}).update({(parcel.NUMBERS[one.purpose], one.hash): one for one in entries})
        origins = [parcel.pack_origin(origin, times.get(origin.id)) for origin in lease.origins.values()]
        return [parcel.pack_entry(entry) for entry in entries], origins, lease.crawl_delay

    def _renew(self, host: int, token: int) -> float | None:
        lease = self._held(host, token)
        if lease is None or not self._ground.frontier.renew(lease, self._ground.clock.now()):
            return None
        return lease.expires_at

    def _keep_pace(self, state: tuple[Any, ...]) -> None:
        lease = self._held(state[0], state[1])
        if lease is not None:
            parcel.unpack_state(state, lease)
            self._ground.frontier.keep_pace(lease)

    def _release(self, state: tuple[Any, ...], cookies: list[bytes]) -> None:
        ground = self._ground
        lease = self._held(state[0], state[1])
        mine = self.leases.get(state[0])
        if mine is not None and mine.token == state[1]:
            del self.leases[state[0]]
            self._entries.pop(state[0], None)
        self.asked_to_spare = max(0, min(self.asked_to_spare - 1, len(self.leases)))
        if lease is not None:
            parcel.unpack_state(state, lease)
            ground.cookies.pop(lease.name, None)
            ground.cookies[lease.name] = (self.number, cookies)
            if len(ground.cookies) > COOKIES_KEPT:
                del ground.cookies[next(iter(ground.cookies))]
            ground.frontier.release(lease)
        ground.changed()

    # -- visits ------------------------------------------------------------------------------------

    def _count_page(self) -> str:
        limit = self._ground.pages.count()
        if limit:
            self._ground.limited(limit)
        return limit

    def _finish(self, packed: list[tuple[Any, ...]], states: list[tuple[Any, ...]]) -> None:
        ground = self._ground
        for state in states:
            lease = self._held(state[0], state[1])
            if lease is not None:
                parcel.unpack_state(state, lease)
        visits = []
        for one in packed:
            entry = self._entries.get(one[0], {}).pop(one[1:3], None)
            if entry is not None:
                visits.append(parcel.unpack_visit(one, entry))
        ground.frontier.active_seconds = ground.active_seconds()
        ground.taken(ground.frontier.finish(visits, ground.clock.now()))
        self.send("written")
        ground.changed()
