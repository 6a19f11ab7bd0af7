"""The frontier: who is due, who may be asked by whom, and what came of it.

Leases are on hosts (R-4.1), so that politeness is a matter of structure; ``finish`` writes
a batch of visits in one transaction or not at all. Decides nothing: rulings come from
``admission.py``, endings from ``decide.py``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from purlieu import robots as robots_txt
from purlieu import url
from purlieu.admission import Ruling
from purlieu.candidate import Candidate, Entry, Facts, FoundBy, Purpose, Standing
from purlieu.conduct import Conduct
from purlieu.decide import Visit
from purlieu.outcome import FAULT_KINDS
from purlieu.revisit import Rhythm
from purlieu.scope import GRANT_SEED
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database, Row, Value
from purlieu.store.harvest import Harvest, HarvestRules
from purlieu.store.history import History
from purlieu.store.intake import Intake
from purlieu.store.landings import Landings
from purlieu.store.lease import Lease, Origin
from purlieu.store.rejudging import Rejudging
from purlieu.store.writes import NUMBERS, PURPOSES
from purlieu.value import dataclass, field, replace

LEASE_SECONDS = 60.0
FORGIVEN_SECONDS = 3600.0
"""After so long without a request a host's failures of old slow nobody down."""
REMEMBERED = 10_000
_NEWEST = 8
_MOST_SHOWN = 300
"""Hosts whose conduct is kept in memory; beyond that the gap between two leases of a host is not measured."""


@dataclass(frozen=True, slots=True)
class FrontierRules(HarvestRules):
    """What a crawl's settings say to the frontier, besides what they say to the harvest."""

    agent: str = "purlieu"
    lease_seconds: float = LEASE_SECONDS
    rhythm: Rhythm = field(default_factory=Rhythm)
    in_groups: bool = False
    """Whether several hosts may be one group (R-4.1); who holds a host then calls ``join`` first."""


class Frontier:
    """One run's frontier on one store."""

    def __init__(self, database: Database, run: Run, intake: Intake, counters: Counters, rules: FrontierRules) -> None:
        """Take over a run; leases that a dead process left are void and their hosts wait once more (R-4.3)."""
        self._database = database
        self._run = run
        self._intake = intake
        self._counters = counters
        self._rules = rules
        self._history = History(database, run, counters, rules.rhythm)
        self._harvest = Harvest(database, run, intake, counters, self._history, rules)
        self._landings = Landings(database, run, intake, self._harvest.sitemaps.follow_host)
        self._leases: dict[int, Lease] = {}
        self._conducts: dict[int, Conduct] = {}
        self._pause_seconds = 0.0
        self.active_seconds = 0.0

    def open(self, now: float, pause_seconds: float) -> None:
        """Void what leases there are; no request starts on their hosts before ``now + pause_seconds`` or their pace.

        The same pause holds for a host whose lease expires later (R-4.3). Which hosts are one group is found out
        anew, as settings and addresses may have changed.
        """
        self._pause_seconds = pause_seconds
        with self._database.transaction():
            self._database.run("void_leases", now, pause_seconds)
            self._database.run("void_group_leases")
            self._database.run("forget_groups")
            self._database.run("due_after_void", self._run.id)
            self._database.run("drop_leases")
            self._landings.open()
            self._write(now)

    def seed(self, candidates: Iterable[Candidate], now: float) -> None:
        """Add the run's entry points."""
        with self._batch():
            for candidate in candidates:
                self._intake.add(candidate)
                if candidate.purpose is Purpose.SITEMAP:
                    self._harvest.sitemaps.owned(candidate.href)
            self._write(now)
            self._landings.open()
            self._write(now)
            self._write_findings()
            self._save_counters()

    def judge_again(self, now: float) -> None:
        """Judge everything that waits or was refused by the settings of today, after a resume with other settings.

        Scope may have become wider or narrower: what waits and is out now is excluded, what was refused and is in
        now is due, and the stored links of every page are added again.
        """
        with self._batch():
            Rejudging(self._database, self._run, self._intake, self._counters).run(now)
            self._harvest.sitemaps.look_at_all_again()
            self._write(now)
            self._save_counters()

    def _write(self, now: float) -> None:
        """Write what was collected, and what follows: robots.txt of newly wanted origins, sitemaps known better."""
        self._intake.write(now)
        while (woken := self._intake.take_woken()) or self._harvest.sitemaps.settle(now):
            for origin in woken:
                self._harvest.wake(origin, now)
            self._intake.write(now)

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """Write all of what happens inside or nothing; what is counted and remembered goes with it."""
        before = self._counters.copy()
        try:
            with self._database.transaction():
                yield
        except BaseException:
            self._counters.restore(before)
            self._intake.forget()
            self._harvest.sitemaps.forget()
            raise
        self._intake.rulings.tell()

    # -- leases ------------------------------------------------------------------------------------

    @property
    def held(self) -> list[Lease]:
        """Return the leases that are out, whoever holds them."""
        return list(self._leases.values())

    def lease(self, now: float, holder: int = 0) -> Lease | None:
        """Return the host that has been due longest and that nobody holds, or None.

        Whoever asks for a host is alive, so what it holds is renewed first.
        """
        for held in self._leases.values():
            if held.holder == holder and held.expires_at - now < self._rules.lease_seconds / 3:
                self.renew(held, now)
        if self._rules.in_groups:
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
            self._database.run("put_lease", host, token, self._run.id, now + self._rules.lease_seconds)
        lease = Lease(host, name, token, now + self._rules.lease_seconds, next_at, smoothed, backoff, failures)
        lease.gap_seconds = lease.kept_gap_seconds = gap
        lease.holder = holder
        if len(self._conducts) > REMEMBERED:
            self._conducts = {number: held.conduct for number, held in self._leases.items()}
        lease.conduct = self._conducts.setdefault(host, lease.conduct)
        self._leases[host] = lease
        return lease

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
        """Hold a host for another minute; False when it is no longer ours."""
        with self._database.transaction():
            held = self._database.run("renew_lease", now + self._rules.lease_seconds, lease.host, lease.token) == 1
        if held:
            lease.expires_at = now + self._rules.lease_seconds
        return held

    def keep_pace(self, lease: Lease) -> None:
        """Write down a slower pace before the request that keeps it: a resume after a kill waits for it (R-4.3)."""
        with self._database.transaction():
            self._set_pace(lease)

    def release(self, lease: Lease) -> None:
        """Give a host back with its pace, and note when it is next worth leasing."""
        self._leases.pop(lease.host, None)
        with self._database.transaction():
            if self._database.run("drop_lease", lease.host, lease.token) == 1:
                self._set_pace(lease)
                self._write_conduct(lease)
                self._database.run("set_host_due", self._next_due(lease.host), self._run.id, lease.host)

    def in_scope(self, href: str) -> bool:
        """Return whether an address lies in the scope as it stands now, grants aside."""
        return self._intake.admission.scope.accepts(href, url.host_of(href)) is not None

    def landed(self) -> dict[str, str]:
        """Return what each seed that has landed is measured by (R-3.2), for a process that judges scope by itself."""
        return dict(self._database.rows("landings", self._run.id))

    def hosts_due(self, most: int) -> int:
        """Return on how many hosts something is due, now or later, held or not; counts no further than ``most``."""
        row = self._database.one("hosts_due", self._run.id, most)
        return int(row[0]) if row else 0

    def next_due(self, now: float) -> float | None:
        """Return when the next host that nobody holds is worth leasing; None: no host has anything left."""
        name = "next_host_due_in_groups" if self._rules.in_groups else "next_host_due"
        row = self._database.one(name, self._run.id, now)
        return row[0] if row else None

    def take(self, lease: Lease, now: float, limit: int) -> list[Entry]:
        """Return up to ``limit`` due entries of a leased host that are not in flight, robots.txt first.

        Pages of an origin wait until its robots.txt is known, in a revisit also for the host's sitemaps, since what
        these say decides what is asked for.
        """
        lease.origins = {origin.id: origin for origin in self._origins(lease.host)}
        delays = [origin.rules.crawl_delay(self._rules.agent) for origin in lease.origins.values() if origin.rules]
        lease.crawl_delay = max((delay for delay in delays if delay is not None), default=None)
        taken: list[Entry] = []
        for origin in lease.origins.values():
            if lease.broken or len(taken) >= limit:
                break
            if origin.state == "wanted":
                rows = self._database.rows("due_robots", self._run.id, origin.id, now)
            elif origin.ended:
                continue
            else:
                rows = self._database.rows("due_entries", self._run.id, origin.id, now, limit + len(lease.in_flight))
            entries = [self._entry(lease, row) for row in _without_twins(rows, lease.in_flight)]
            if entries and self._outdated(origin, now):
                entries = self._ask_robots_again(lease, origin)
            taken += entries[: limit - len(taken)]
        if self._run.revisit:
            taken = self._history.planned(_after_sitemaps(taken, lease.in_flight), now)
        lease.in_flight.update((NUMBERS[entry.purpose], entry.hash) for entry in taken)
        return taken

    def _origins(self, host: int) -> Iterator[Origin]:
        for number, origin, state, body, fetched_at, failed_at, ended in self._database.rows(
            "robots_of_host", self._run.id, host
        ):
            held = self._leases[host].origins.get(number)
            rules = held.rules if held and held.fetched_at == fetched_at else None
            if rules is None and state == "known":
                rules = robots_txt.read(body or b"")
            yield Origin(number, origin, state, rules, fetched_at, failed_at, ended is not None, body)

    def _entry(self, lease: Lease, row: Row) -> Entry:
        number, hashed, href, origin, depth, hops, nofollow, found_by, via, linked, granted, attempts, standing = row
        sites = self._intake.sites_of((lease.host, number, hashed))
        stands = Standing(standing)
        facts = Facts(depth, hops, bool(nofollow), FoundBy(found_by), via, bool(linked), granted, sites, stands)
        return Entry(lease.host, PURPOSES[number], hashed, href, origin, facts, attempts, lease.token)

    def _outdated(self, origin: Origin, now: float) -> bool:
        return (
            origin.state == "known"
            and origin.fetched_at is not None
            and now - origin.fetched_at > self._rules.robots_max_age_seconds
        )

    def _ask_robots_again(self, lease: Lease, origin: Origin) -> list[Entry]:
        """Reopen an origin's robots entry after a day (ST-4) and return it."""
        href, host = f"{origin.origin}/robots.txt", lease.host
        hashed = self._intake.key_of(href, NUMBERS[Purpose.ROBOTS])[1]
        with self._batch():
            old = self._database.one("entry", self._run.id, host, 1, hashed)
            if old is not None and self._database.run("reopen_entry", 0.0, self._run.id, host, 1, hashed):
                self._counters.endings[f"{old[9]}.{old[10]}"] -= 1
            self._database.run("robots_again", origin.id)
        origin.state = "wanted"
        row = self._database.one("due_robots", self._run.id, origin.id, 0.0)
        return [self._entry(lease, row)] if row else []

    def _next_due(self, host: int) -> float | None:
        times = []
        for origin in self._database.rows("robots_of_host", self._run.id, host):
            number, state, ended = origin[0], origin[2], origin[6]
            if state == "wanted":
                row = self._database.one("next_robots_due", self._run.id, host, number)
            elif ended is None:
                row = self._database.one("next_due", self._run.id, number)
            else:
                continue
            if row and row[0] is not None:
                times.append(row[0])
        return min(times, default=None)

    # -- finish ------------------------------------------------------------------------------------

    def finish(self, visits: Sequence[Visit], now: float) -> list[Visit]:
        """Write a batch of visits and what they found, in one transaction; return those that were written.

        A visit whose lease has gone to another writes nothing (R-4.3).
        """
        with self._batch():
            held = {lease.host: lease for lease in self._leases.values() if self._holds(lease)}
            written = [visit for visit in visits if self._is_held(visit, held)]
            self._write_endings(written)
            # Before the links of a landing page are judged.
            self._landings.follow([visit for visit in written if visit.entry.purpose is Purpose.PAGE])
            # Bodies of robots.txt before the redirects that may lead to them.
            for visit in sorted(written, key=_has_robots_hop):
                self._harvest.take_in(visit, now, held[visit.entry.host].in_flight)
            self._landings.follow([visit for visit in written if visit.entry.purpose is not Purpose.PAGE])
            self._write(now)
            ended = (self._spend(written, held, now), self._harvest.took_an_ending(), self._intake.took_a_twin())
            if any(ended) and self._landings.settle_failed():
                self._write(now)
            self._write_findings()
            self._save_counters()
        for visit in written:
            held[visit.entry.host].in_flight.discard((NUMBERS[visit.entry.purpose], visit.entry.hash))
        return written

    def top_up(self, now: float) -> bool:
        """Add pages of earlier runs that this one has not found and whose time has come; return whether any is due.

        For a run that has nothing left to do (R-2.4).
        """
        if not self._run.revisit:
            return False
        admission = self._intake.admission
        with self._batch():
            for candidate in self._history.vanished(now):
                facts = candidate.facts
                if self._intake.normal(candidate.href) != candidate.href:
                    continue  # by today's normalisers it is another page
                if admission.own_seed:
                    sites = admission.scope.accepting(candidate.href, url.host_of(candidate.href))
                    facts = replace(facts, sites=sites)
                self._intake.add(replace(candidate, facts=facts))
            self._write(now)
            self._write_findings()
            self._save_counters()
        return self.next_due(now) is not None

    def settle_history(self, name: str, *, is_whole: bool) -> None:
        """Close the history of a run of the crawl ``name`` (see ``History.settle``) and write what was found.

        Inside the transaction that ends the run.
        """
        for code, subject, arguments in self._history.settle(name, is_whole=is_whole):
            self._intake.note(code, subject, **arguments)
        self._write_findings()

    def note(self, code: str, subject: str, **arguments: str | float) -> None:
        """Write a finding."""
        with self._database.transaction():
            self._intake.note(code, subject, **arguments)
            self._write_findings()

    def noted(self, code: str, *, of_before: bool = False) -> list[str]:
        """Return what findings of a code are about, so that a resume knows it.

        With ``of_before`` a revisit goes on with those of the run before it.
        """
        if of_before and self._run.revisit:
            with self._database.transaction():
                self._database.run("take_over_findings", self._run.id, self._run.crawl, code)
        return [subject for (subject,) in self._database.rows("subjects_of", self._run.id, code)]

    def _write_findings(self) -> None:
        for code, subject, arguments in self._intake.take_findings():
            self._database.run("add_finding", self._run.id, code, subject, json.dumps(arguments, sort_keys=True))

    def save(self, active_seconds: float) -> None:
        """Write what the run has counted so far."""
        self.active_seconds = active_seconds
        with self._database.transaction():
            self._save_counters()

    @staticmethod
    def _is_held(visit: Visit, held: dict[int, Lease]) -> bool:
        lease = held.get(visit.entry.host)
        return lease is not None and lease.token == visit.entry.token

    def _holds(self, lease: Lease) -> bool:
        row = self._database.one("lease_token", lease.host)
        return row is not None and row[0] == lease.token

    def _write_endings(self, visits: Sequence[Visit]) -> None:
        run = self._run.id
        ends: list[tuple[Value, ...]] = []
        retries: list[tuple[Value, ...]] = []
        responses: list[tuple[Value, ...]] = []
        for visit in visits:
            entry = visit.entry
            key = (run, entry.host, NUMBERS[entry.purpose], entry.hash)
            self._counters.requests += visit.requests
            if entry.purpose is Purpose.PAGE and visit.requests and not entry.attempts:
                self._counters.pages_asked += 1
            if visit.outcome is None:
                retries.append((visit.retry_at, visit.requests, *key))
                continue
            reason, rule = visit.outcome.reason, visit.outcome.rule
            self._counters.endings[reason.name] += 1
            if reason.kind == "excluded":
                self._intake.rulings.add(entry.href, entry.purpose, entry.facts, Ruling(reason.code, rule))
            redirect_to = self._intake.normal(visit.redirect_to) if visit.redirect_to else None
            ends.append((reason.kind, reason.code, visit.outcome.detail or None, visit.status, redirect_to,
                         visit.at, rule, rule, visit.requests, *key))  # fmt: skip
            if visit.response is not None:
                self._counters.bytes += visit.bytes
                if not visit.takes_over:
                    responses.append(_response_row(key, visit))
        self._remember(visits)
        self._database.many("end_entry", ends)
        self._database.many("retry_entry", retries)
        self._database.many("put_response", responses)
        self._database.many("put_sketch", _sketch_rows(run, visits))
        self._history.write(visits)

    def _remember(self, visits: Sequence[Visit]) -> None:
        """Keep the last pages that ended, and the last that went wrong, for who looks on."""
        ended = [one for one in reversed(visits) if one.outcome and one.requests and one.entry.purpose is Purpose.PAGE]
        counters = self._counters
        counters.newest = (*map(_newest, ended[:_NEWEST]), *counters.newest)[:_NEWEST]
        faults = [one for one in ended if one.outcome and one.outcome.reason.kind in FAULT_KINDS]
        counters.newest_faults = (*map(_newest, faults[:_NEWEST]), *counters.newest_faults)[:_NEWEST]

    # -- costs -------------------------------------------------------------------------------------

    def _spend(self, visits: Sequence[Visit], held: dict[int, Lease], now: float) -> bool:
        """Write what the batch cost each host, keep its pace (R-4.2); return whether a broken one was given up."""
        given_up = False
        by_host: dict[int, list[Visit]] = defaultdict(list)
        for visit in visits:
            by_host[visit.entry.host].append(visit)
        for host, spent in by_host.items():
            lease = held[host]
            self._database.run(
                "spend_host", sum(visit.requests for visit in spent), sum(visit.against_host for visit in spent),
                lease.failures_in_a_row, sum(visit.seconds for visit in spent), sum(visit.bytes for visit in spent),
                self._run.id, host,
            )  # fmt: skip
            self._set_pace(lease)
            self._write_conduct(lease)
            if lease.broken:
                given_up = self._database.run("give_up_host", self._run.id, host) == 1 or given_up
            if lease.expires_at - now < self._rules.lease_seconds * 2 / 3:
                self._database.run("renew_lease", now + self._rules.lease_seconds, host, lease.token)
                lease.expires_at = now + self._rules.lease_seconds
        return given_up

    def _set_pace(self, lease: Lease) -> None:
        self._database.run(
            "set_pace", lease.next_at, lease.smoothed_seconds, lease.backoff_seconds, lease.gap_seconds, lease.host
        )
        lease.kept_gap_seconds = lease.gap_seconds
        if lease.group is not None:
            self._database.run("set_group_pace", lease.next_at, lease.started_at, lease.ended_at, lease.group)

    def _write_conduct(self, lease: Lease) -> None:
        """Bring the record of how the host was treated up to date (R-4.6)."""
        kept = lease.conduct
        if kept.is_new:
            self._database.run(
                "put_conduct", self._run.id, lease.host, kept.pace.rule, kept.pace.gap_seconds, kept.pace.rest_seconds,
                kept.pace.connections, kept.least_gap, kept.least_rest, kept.least_slack, kept.most_connections,
                kept.retry_afters, kept.longest_retry_after, kept.least_retry_slack, kept.most_backoff,
                kept.robots_retries, kept.given_up, kept.group,
            )  # fmt: skip
            kept.written()

    def _save_counters(self) -> None:
        self._database.run("save_counters", self._counters.text(), self.active_seconds, self._run.id)


def _has_robots_hop(visit: Visit) -> bool:
    return visit.robots is not None and bool(visit.robots.hop)


def _without_twins(rows: Iterable[Row], in_flight: set[tuple[int, int]]) -> list[Row]:
    """Leave out what is in flight, and pages whose address is at hand for another purpose: it serves both (R-1.3)."""
    rows = list(rows)
    special = {hashed for number, hashed in in_flight if number} | {row[1] for row in rows if row[0]}
    return [row for row in rows if (row[0], row[1]) not in in_flight and (row[0] or row[1] not in special)]


def _after_sitemaps(entries: list[Entry], in_flight: set[tuple[int, int]]) -> list[Entry]:
    """Return what may be asked for now: while a sitemap is asked for the first time, no pages but the seeds."""
    number = NUMBERS[Purpose.SITEMAP]
    waits = any(one == number for one, _ in in_flight) or any(
        entry.purpose is Purpose.SITEMAP and not entry.attempts for entry in entries
    )
    if not waits:
        return entries
    return [entry for entry in entries if entry.purpose is not Purpose.PAGE or entry.facts.grant == GRANT_SEED]


def _sketch_rows(run: int, visits: Sequence[Visit]) -> Iterator[tuple[Value, ...]]:
    for visit in visits:
        if visit.outcome is not None and visit.page is not None and visit.page.sketch:
            yield run, visit.entry.host, visit.entry.hash, visit.page.sketch


def _newest(visit: Visit) -> tuple[str, str, int, str, float]:
    name = visit.outcome.reason.name if visit.outcome else ""
    title = (visit.page.title or "") if visit.page else ""
    return visit.entry.href[:_MOST_SHOWN], name, visit.status or 0, title[:_MOST_SHOWN], visit.at


def _response_row(key: tuple[int, int, int, int], visit: Visit) -> tuple[Value, ...]:
    response, page = visit.response, visit.page
    if response is None:
        message = "a visit without response has no response row"
        raise ValueError(message)
    headers = "".join([f"{name}: {value}\n" for name, value in response.headers])
    return (
        *key, response.status, headers, response.header("content-type"),
        page.title if page else None, page.canonical if page else None, page.lang if page else None,
        visit.index_reason, response.header("last-modified"), response.header("etag"),
        page.digest if page else None, response.address, response.started_at, visit.bytes, response.seconds,
    )  # fmt: skip
