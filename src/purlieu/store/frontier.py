"""The frontier: who is due, who may be asked by whom, and what came of it.

Leases are on hosts (R-4.1), so that politeness is a matter of structure; ``finish`` writes
a batch of visits in one transaction or not at all. Decides nothing: rulings come from
``admission.py``, endings from ``decide.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

from purlieu import url
from purlieu.admission import Ruling
from purlieu.candidate import Candidate, Entry, Purpose
from purlieu.decide import Visit
from purlieu.outcome import FAULT_KINDS
from purlieu.revisit import Rhythm
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database, Value
from purlieu.store.due import Due
from purlieu.store.harvest import Harvest, HarvestRules
from purlieu.store.history import History
from purlieu.store.intake import Intake
from purlieu.store.landings import Landings
from purlieu.store.lease import Lease
from purlieu.store.leases import Leases
from purlieu.store.rejudging import Rejudging
from purlieu.store.writes import NUMBERS
from purlieu.value import dataclass, field, replace

LEASE_SECONDS = 60.0
_NEWEST, _MOST_SHOWN = 8, 300
"""Pages kept for who looks on, and characters of their addresses and titles."""


@dataclass(frozen=True, slots=True)
class FrontierRules(HarvestRules):
    """What a crawl's settings say to the frontier, besides what they say to the harvest."""

    agent: str = "purlieu"
    lease_seconds: float = LEASE_SECONDS
    rhythm: Rhythm = field(default_factory=Rhythm)
    foreign_kinds: frozenset[str] = frozenset()
    """The kinds of links that are checked where they lead out of scope (``links.check_external``)."""
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
        self._history = History(database, run, counters, rules.rhythm)
        self._harvest = Harvest(database, run, intake, counters, self._history, rules)
        self._landings = Landings(database, run, intake, self._harvest.sitemaps.follow_host)
        self._leases = Leases(database, run, rules.lease_seconds, in_groups=rules.in_groups)
        self._due = Due(database, run, intake.keys, counters, self._history, rules)
        self._foreign_kinds = rules.foreign_kinds
        self.active_seconds = 0.0

    def open(self, now: float, pause_seconds: float) -> None:
        """Void what leases there are, as ``Leases.void`` does, and take up what is stored of the seeds' landings."""
        with self._database.transaction():
            self._leases.void(now, pause_seconds)
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

    def together(self) -> AbstractContextManager[None]:
        """Write all of what is asked of the frontier inside in one transaction, or nothing of it."""
        return self._batch()

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
        return self._leases.held

    def lease(self, now: float, holder: int = 0) -> Lease | None:
        """Return the host that has been due longest and that nobody holds, or None; what is held is renewed."""
        return self._leases.take(now, holder)

    def join(self, lease: Lease, group: str, now: float) -> bool:
        """Let a leased host work for a group; False while another of its hosts does, and the lease must be released."""
        return self._leases.join(lease, group, now)

    def is_current(self, lease: Lease) -> bool:
        """Return whether a lease is the one that is out on its host."""
        return self._leases.is_current(lease)

    def renew(self, lease: Lease, now: float) -> bool:
        """Hold a host for another while; False when it is no longer ours."""
        return self._leases.renew(lease, now)

    def keep_pace(self, lease: Lease) -> None:
        """Write down a slower pace before the request that keeps it: a resume after a kill waits for it (R-4.3)."""
        self._leases.keep_pace(lease)

    def release(self, lease: Lease) -> None:
        """Give a host back with its pace, and note when it is next worth leasing."""
        self._leases.release(lease, self._due.next_at(lease.host))

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
        return self._leases.next_due(now)

    def take(self, lease: Lease, now: float, limit: int) -> list[Entry]:
        """Return up to ``limit`` due entries of a leased host that are not in flight, robots.txt first.

        Pages of an origin wait until its robots.txt is known, in a revisit also for the host's sitemaps, since what
        these say decides what is asked for.
        """
        return self._due.take(lease, now, limit, self._batch)

    # -- finish ------------------------------------------------------------------------------------

    def finish(self, visits: Sequence[Visit], now: float) -> list[Visit]:
        """Write a batch of visits and what they found, in one transaction; return those that were written.

        A visit whose lease has gone to another writes nothing (R-4.3).
        """
        with self._batch():
            held = self._leases.of(visits)
            written = [visit for visit in visits if self._is_held(visit, held)]
            self._write_endings(written)
            self._intake.keys.read_ahead(visit.entry for visit in written)
            # Before the links of a landing page are judged.
            self._landings.follow([visit for visit in written if visit.entry.purpose is Purpose.PAGE])
            # Bodies of robots.txt before the redirects that may lead to them.
            for visit in sorted(written, key=_has_robots_hop):
                self._harvest.take_in(visit, now, held[visit.entry.host].in_flight)
            self._landings.follow([visit for visit in written if visit.entry.purpose is not Purpose.PAGE])
            self._write(now)
            ended = (self._leases.spend(written, held, now), self._harvest.took_an_ending(), self._intake.took_a_twin())
            if any(ended) and self._landings.settle_failed():
                self._write(now)
            self._write_findings()
            self._save_counters()
        for visit in written:
            held[visit.entry.host].in_flight.discard((NUMBERS[visit.entry.purpose], visit.entry.hash))
        return written

    def top_up(self, now: float) -> bool:
        """Add what a run asks for that has nothing left to do (R-2.4); return whether any of it is due.

        Pages of earlier runs that this one has not found and whose time has come; after them, once, the links that
        lead out of scope, where these are checked.
        """
        if self._run.revisit:
            self._add_vanished(now)
        if self._foreign_kinds and self.next_due(now) is None:
            self._add_foreign(now)
        return self.next_due(now) is not None

    def _add_foreign(self, now: float) -> None:
        from purlieu.store.foreign import Foreign  # only who checks links pays for it

        kinds, self._foreign_kinds = self._foreign_kinds, frozenset()
        for candidates in Foreign(self._database, self._run, self._intake, kinds).found():
            with self._batch():
                for candidate in candidates:
                    self._intake.add(candidate)
                self._write(now)
                self._save_counters()

    def _add_vanished(self, now: float) -> None:
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

    def _write_endings(self, visits: Sequence[Visit]) -> None:
        run = self._run.id
        ends: list[tuple[Value, ...]] = []
        retries: list[tuple[Value, ...]] = []
        responses: list[tuple[Value, ...]] = []
        certificates: list[tuple[Value, ...]] = []
        for visit in visits:
            entry, answer = visit.entry, visit.response or visit.failure
            if answer is not None and answer.certificate_ends_at is not None:
                certificates.append((answer.certificate_ends_at, entry.origin))
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
        self._database.many("set_certificate", certificates)
        self._database.many("put_sketch", _sketch_rows(run, visits))
        self._history.write(visits)

    def _remember(self, visits: Sequence[Visit]) -> None:
        """Keep the last pages that ended, and the last that went wrong, for who looks on."""
        ended = [one for one in reversed(visits) if one.outcome and one.requests and one.entry.purpose is Purpose.PAGE]
        counters = self._counters
        counters.newest = (*map(_newest, ended[:_NEWEST]), *counters.newest)[:_NEWEST]
        faults = [one for one in ended if one.outcome and one.outcome.reason.kind in FAULT_KINDS]
        counters.newest_faults = (*map(_newest, faults[:_NEWEST]), *counters.newest_faults)[:_NEWEST]

    def _save_counters(self) -> None:
        self._database.run("save_counters", self._counters.text(), self.active_seconds, self._run.id)


def _has_robots_hop(visit: Visit) -> bool:
    return visit.robots is not None and bool(visit.robots.hop)


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
