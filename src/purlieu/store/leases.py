"""Who may ask a host now, how slowly, and what it cost (R-4.1 to R-4.3, R-4.6).

A lease is on a host, or on the group that it is asked with; its token makes a late finish write nothing. Knows no
entries. What writes several hosts' figures runs inside the transaction of ``frontier.finish``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from purlieu.conduct import Conduct
from purlieu.decide import Visit
from purlieu.store.counters import Run
from purlieu.store.database import Database, Value
from purlieu.store.lease import Lease

REMEMBERED = 10_000
"""Hosts whose conduct is kept in memory; beyond that the gap between two leases of a host is not measured."""
FORGIVEN_SECONDS = 3600.0
"""After so long without a request a host's failures of old slow nobody down."""


class Leases:
    """The leases that one run holds on one store."""

    def __init__(self, database: Database, run: Run, lease_seconds: float, *, in_groups: bool) -> None:
        """Hold none; ``in_groups``: several hosts may be one group, and who holds a host then calls ``join`` first."""
        self._database = database
        self._run = run
        self._lease_seconds = lease_seconds
        self._in_groups = in_groups
        self._pause_seconds = 0.0
        self._held: dict[int, Lease] = {}
        self._conducts: dict[int, Conduct] = {}

    def void(self, now: float, pause_seconds: float) -> None:
        """Void what leases there are; no request starts on their hosts before ``now + pause_seconds`` or their pace.

        The same pause holds for a host whose lease expires later (R-4.3). Which hosts are one group is found out
        anew, as settings and addresses may have changed.
        """
        self._pause_seconds = pause_seconds
        self._database.run("void_leases", now, pause_seconds)
        self._database.run("void_group_leases")
        self._database.run("forget_groups")
        self._database.run("due_after_void", self._run.id)
        self._database.run("drop_leases")

    @property
    def held(self) -> list[Lease]:
        """Return the leases that are out, whoever holds them."""
        return list(self._held.values())

    def is_current(self, lease: Lease) -> bool:
        """Return whether a lease is the one that is out on its host."""
        return self._held.get(lease.host) is lease

    def take(self, now: float, holder: int = 0) -> Lease | None:
        """Return the host that has been due longest and that nobody holds, or None.

        Whoever asks for a host is alive, so what it holds is renewed first.
        """
        for held in self._held.values():
            if held.holder == holder and held.expires_at - now < self._lease_seconds / 3:
                self.renew(held, now)
        if self._in_groups:
            row = self._database.one("host_to_lease_in_groups", self._run.id, now)
        else:
            row = self._database.one("host_to_lease", self._run.id, now, now)
        if row is None:
            return None
        host, name, next_at, smoothed, backoff, failures, gap = row
        if now - next_at > FORGIVEN_SECONDS:
            backoff = 0.0
        with self._database.transaction():
            if self._database.one("lease_token", host) is not None:
                next_at = max(next_at, now + max(self._pause_seconds, gap))
            last = self._database.one("last_token")
            token = int(last[0]) + 1 if last else 1
            self._database.run("set_last_token", str(token))
            self._database.run("put_lease", host, token, self._run.id, now + self._lease_seconds)
        lease = Lease(host, name, token, now + self._lease_seconds, next_at, smoothed, backoff, failures)
        lease.gap_seconds = lease.kept_gap_seconds = gap
        lease.holder = holder
        if len(self._conducts) > REMEMBERED:
            self._conducts = {number: held.conduct for number, held in self._held.items()}
        lease.conduct = self._conducts.setdefault(host, lease.conduct)
        self._held[host] = lease
        return lease

    def next_due(self, now: float) -> float | None:
        """Return when the next host that nobody holds is worth leasing; None: no host has anything left."""
        name = "next_host_due_in_groups" if self._in_groups else "next_host_due"
        row = self._database.one(name, self._run.id, now)
        return row[0] if row else None

    def join(self, lease: Lease, group: str, now: float) -> bool:
        """Let a leased host work for a group; False while another of its hosts does, and the lease must be released.

        The group's pauses, and when it was last asked, go over to the lease.
        """
        with self._database.transaction():
            row = self._database.one("host_group", group) or self._database.one("add_host_group", group)
            if row is None:
                message = "a group was written and is not there"
                raise AssertionError(message)
            number, next_at, started_at, ended_at = row
            self._database.run("set_member", number, lease.host)
            mates = list(self._database.rows("leases_of_group", number, lease.host))
            if any(expires_at > now for _, _, expires_at, _ in mates):
                return False
            for host, token, _, gap in mates:  # expired: whoever held it writes nothing any more
                self._database.run("drop_lease", host, token)
                next_at = max(next_at, now + max(self._pause_seconds, gap))
        lease.group, lease.next_at = number, max(lease.next_at, next_at)
        lease.started_at, lease.ended_at = started_at, ended_at
        return True

    def renew(self, lease: Lease, now: float) -> bool:
        """Hold a host for another while; False when it is no longer ours."""
        with self._database.transaction():
            held = self._database.run("renew_lease", now + self._lease_seconds, lease.host, lease.token) == 1
        if held:
            lease.expires_at = now + self._lease_seconds
        return held

    def keep_pace(self, lease: Lease) -> None:
        """Write down a slower pace before the request that keeps it: a resume after a kill waits for it (R-4.3)."""
        with self._database.transaction():
            self._set_paces([lease])

    def release(self, lease: Lease, next_at: float | None) -> None:
        """Give a host back with its pace, and note when it is next worth leasing, None for never."""
        if self.is_current(lease):
            del self._held[lease.host]
            self._conducts[lease.host] = lease.conduct
        with self._database.transaction():
            if self._database.run("drop_lease", lease.host, lease.token) == 1:
                self._set_paces([lease])
                self._write_conducts([lease])
                self._database.run("set_host_due", next_at, self._run.id, lease.host)

    def of(self, visits: Sequence[Visit]) -> dict[int, Lease]:
        """Return the leases of the visits' hosts that are still ours, by host."""
        hosts = list({visit.entry.host for visit in visits})
        tokens: dict[int, int] = dict(self._database.rows_of("lease_tokens", hosts))
        return {host: lease for host, lease in self._held.items() if tokens.get(host) == lease.token}

    def spend(self, visits: Sequence[Visit], held: dict[int, Lease], now: float) -> bool:
        """Write what a batch cost each host, keep its pace (R-4.2); return whether a broken one was given up."""
        by_host: dict[int, list[Visit]] = defaultdict(list)
        for visit in visits:
            by_host[visit.entry.host].append(visit)
        costs: list[tuple[Value, ...]] = []
        given_up = False
        for host, spent in by_host.items():
            lease = held[host]
            costs.append((
                sum(visit.requests for visit in spent), sum(visit.against_host for visit in spent),
                lease.failures_in_a_row, sum(visit.seconds for visit in spent), sum(visit.bytes for visit in spent),
                self._run.id, host,
            ))  # fmt: skip
            if lease.broken:
                given_up = self._database.run("give_up_host", self._run.id, host) == 1 or given_up
            if lease.expires_at - now < self._lease_seconds * 2 / 3:
                self._database.run("renew_lease", now + self._lease_seconds, host, lease.token)
                lease.expires_at = now + self._lease_seconds
        self._database.many("spend_host", costs)
        self._set_paces([held[host] for host in by_host])
        self._write_conducts([held[host] for host in by_host])
        return given_up

    def _set_paces(self, leases: Sequence[Lease]) -> None:
        self._database.many("set_pace", [
            (lease.next_at, lease.smoothed_seconds, lease.backoff_seconds, lease.gap_seconds, lease.host)
            for lease in leases
        ])  # fmt: skip
        for lease in leases:
            lease.kept_gap_seconds = lease.gap_seconds
            if lease.group is not None:
                self._database.run("set_group_pace", lease.next_at, lease.started_at, lease.ended_at, lease.group)

    def _write_conducts(self, leases: Sequence[Lease]) -> None:
        """Bring the record of how hosts were treated up to date (R-4.6)."""
        rows: list[tuple[Value, ...]] = []
        for lease in leases:
            kept = lease.conduct
            if kept.is_new:
                rows.append((
                    self._run.id, lease.host, kept.pace.rule, kept.pace.gap_seconds, kept.pace.rest_seconds,
                    kept.pace.connections, kept.least_gap, kept.least_rest, kept.least_slack, kept.most_connections,
                    kept.retry_afters, kept.longest_retry_after, kept.least_retry_slack, kept.most_backoff,
                    kept.robots_retries, kept.given_up, kept.group,
                ))  # fmt: skip
                kept.written()
        self._database.many("put_conduct", rows)
