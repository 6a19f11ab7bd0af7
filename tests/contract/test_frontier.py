"""What any frontier must do, as a state machine on the real store (house, section 6; R-4.1, R-4.3)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.crawling import ledger

from purlieu import settings as settings_text
from purlieu.admission import Admission
from purlieu.candidate import Candidate, Entry, Facts, FoundBy, Purpose
from purlieu.decide import RobotsAnswer, Visit
from purlieu.outcome import Outcome, reason
from purlieu.scope import Scope
from purlieu.store import runs
from purlieu.store.counters import IntakeLimits
from purlieu.store.frontier import LEASE_SECONDS, Frontier, FrontierRules
from purlieu.store.intake import Intake
from purlieu.store.lease import Lease
from purlieu.store.settling import Settling
from purlieu.store.sqlite import SqliteDatabase

HOSTS = ("http://a.test", "http://b.test", "http://c.test")
URLS = [f"{host}/{path}" for host in HOSTS for path in range(6)]
SETTINGS = settings_text.of({"seeds": ["http://a.test/0"], "scope": {"mode": "any"}})
ADMISSION = Admission(Scope.of(SETTINGS), None, 10, 1000, 3, obey_nofollow=True, only_seeds=False, own_seed=False)


class FrontierMachine(RuleBasedStateMachine):
    """Workers lease, take, finish late or never, and die; the frontier keeps its promises."""

    groups: Mapping[str, str] = {}
    """The group of each host that is in one (R-4.1)."""

    def __init__(self) -> None:
        """Make an empty store and begin a run."""
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.store = self.folder / "s.db"
        self.now = 1_000.0
        self.held: dict[str, tuple[Lease, list[Entry]]] = {}
        self.stale: list[list[Visit]] = []
        self.found = {"http://a.test/0"}
        self.ended: dict[str, str] = {}
        self.resume = False
        self.quiet_until: dict[str, float] = {}
        self.open()

    def open(self) -> None:
        """Open the store as a new process does."""
        self.database = SqliteDatabase.writer(str(self.store))
        toml = settings_text.dump(SETTINGS)
        if self.resume:
            opened = runs.resume(self.database, "m", toml, self.now)
        else:
            opened = runs.begin(self.database, "m", (toml, False), "0", self.now)
        self.resume = True
        self.counters = opened.counters
        self.run = opened.run
        self.intake = Intake(self.database, self.run, ADMISSION, IntakeLimits(), self.counters)
        rules = FrontierRules(in_groups=bool(self.groups))
        self.frontier = Frontier(self.database, self.run, self.intake, self.counters, rules)
        self.frontier.open(self.now, 0.25)
        self.frontier.seed([Candidate("http://a.test/0", Facts(0, found_by=FoundBy.SEED, grant="seed"))], self.now)

    def teardown(self) -> None:
        """Work off what is left and look at the books."""
        self.now += 10 * LEASE_SECONDS
        self.crash()
        while True:
            self.now += 1
            lease = self.frontier.lease(self.now)
            if lease is None:
                if self.frontier.next_due(self.now) is None:
                    break
                continue
            if lease.name in self.groups and not self.frontier.join(lease, self.groups[lease.name], self.now):
                self.frontier.release(lease)
                continue
            while entries := self.frontier.take(lease, self.now, 100):
                self.write(self.visits(entries, []))
            self.frontier.release(lease)
        assert {url for (purpose, url), row in self.rows().items() if purpose == "page"} == self.found
        runs.end(self.database, self.run, "done", "finished", self.now)
        books = Settling(self.database, self.run, self.intake, self.counters).books(["http://a.test/0"])
        assert books["balanced"], books["faults"]
        assert "due" not in {row["kind"] for row in self.rows().values()}
        self.database.close()
        shutil.rmtree(self.folder)

    def rows(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the ledger as it stands on disk."""
        return ledger(self.store)

    def visits(self, entries: list[Entry], links: list[str]) -> list[Visit]:
        """Return visits that end well and find the links."""
        robots = RobotsAnswer(body=b"")
        return [
            Visit(entry, Outcome(reason("missing.not_found")), self.now, requests=1, robots=robots)
            if entry.purpose is Purpose.ROBOTS
            else Visit(
                entry, Outcome(reason("fetched.ok")), self.now, requests=1,
                links=[(href, "a", False, True) for href in links],
            )
            for entry in entries
        ]  # fmt: skip

    def write(self, visits: list[Visit]) -> None:
        """Finish visits and note what they ended and found."""
        for visit in self.frontier.finish(visits, self.now):
            assert visit.url not in self.ended or visit.entry.purpose is not Purpose.PAGE, "ended twice"
            self.ended[visit.url] = visit.reason
            self.found |= {href for href, *_ in visit.links}

    @initialize()
    def first(self) -> None:
        """The seed is there."""
        assert ("page", "http://a.test/0") in self.rows()

    @rule()
    def lease(self) -> None:
        """A worker asks for a host; nobody else may hold it."""
        lease = self.frontier.lease(self.now)
        if lease is not None:
            live = self.held.get(lease.name)
            assert live is None or live[0].expires_at <= self.now, "a host is leased twice"
            if lease.name in self.groups and not self.join(lease):
                return
            if live is not None:
                self.stale.append(self.visits(live[1], []))
            self.held[lease.name] = (lease, [])

    def join(self, lease: Lease) -> bool:
        """Let a host work for its group, which no two may do at a time; then no sooner than the group's pace allows."""
        group = self.groups[lease.name]
        mates = [name for name in self.held if self.groups.get(name) == group and name != lease.name]
        busy = any(self.held[name][0].expires_at > self.now for name in mates)
        if not self.frontier.join(lease, group, self.now):
            assert busy, "a group is kept back for nobody"
            self.frontier.release(lease)
            return False
        assert not busy, "a group is leased twice"
        assert lease.next_at >= self.quiet_until.get(group, 0.0), "faster than the pace of the group"
        for name in mates:  # expired, and now gone for good
            old, entries = self.held.pop(name)
            self.stale.append(self.visits(entries, []))
            assert not self.frontier.renew(old, self.now)
        return True

    @precondition(lambda self: self.held)
    @rule(data=st.data(), limit=st.integers(1, 4))
    def take(self, data: st.DataObject, limit: int) -> None:
        """A holder takes more due entries before the last ones have come back."""
        lease, entries = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        if lease.expires_at <= self.now:
            return
        taken = self.frontier.take(lease, self.now, limit)
        keys = [(entry.purpose, entry.hash) for entry in entries]
        assert not [entry for entry in taken if (entry.purpose, entry.hash) in keys], "handed out twice"
        assert len(taken) <= limit
        entries += taken

    @precondition(lambda self: self.held)
    @rule(data=st.data(), links=st.lists(st.sampled_from(URLS), max_size=4, unique=True))
    def finish(self, data: st.DataObject, links: list[str]) -> None:
        """A holder writes what came back."""
        lease, entries = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        if lease.expires_at > self.now:
            self.write(self.visits(entries, links))
            entries.clear()

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        """A holder gives its host back; what it had taken becomes late."""
        name = data.draw(st.sampled_from(sorted(self.held)))
        lease, entries = self.held.pop(name)
        if entries:
            self.stale.append(self.visits(entries, []))
        lease.next_at = max(lease.next_at, self.now + 2.0)
        if name in self.groups and lease.expires_at > self.now:
            self.quiet_until[self.groups[name]] = lease.next_at
        self.frontier.release(lease)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def renew(self, data: st.DataObject) -> None:
        """A holder asks for another minute."""
        lease, _ = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        if lease.expires_at > self.now:
            assert self.frontier.renew(lease, self.now)

    @precondition(lambda self: self.stale)
    @rule()
    def finish_late(self) -> None:
        """Visits whose lease is gone write nothing (R-4.3)."""
        before = self.rows()
        assert self.frontier.finish(self.stale.pop(), self.now) == []
        assert self.rows() == before

    @rule(seconds=st.sampled_from([1.0, 30.0, LEASE_SECONDS + 1]))
    def wait(self, seconds: float) -> None:
        """Time passes; leases may expire."""
        self.now += seconds

    @rule()
    def crash(self) -> None:
        """The process dies; its leases are void at once and the next one goes on (R-4.3)."""
        for name in self.groups.keys() & self.held.keys():
            self.quiet_until[self.groups[name]] = max(self.quiet_until.get(self.groups[name], 0.0), self.now + 0.25)
        self.database.close()
        self.held.clear()
        self.stale.clear()
        self.open()

    @invariant()
    def nothing_is_lost(self) -> None:
        """Every URL that was found and written has a row, and an ending stays."""
        rows = self.rows()
        assert {url for purpose, url in rows if purpose == "page"} == self.found
        for url, found in self.ended.items():
            purpose = "robots" if url.endswith("/robots.txt") else "page"
            assert rows[purpose, url]["reason"] == found


FrontierMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestFrontier = FrontierMachine.TestCase


class GroupMachine(FrontierMachine):
    """The same where two of the three hosts are one group."""

    groups: Mapping[str, str] = {"a.test": "list:one", "b.test": "list:one"}


GroupMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
TestGroups = GroupMachine.TestCase


def test_a_voided_lease_waits_for_the_pace_that_was_in_force() -> None:
    """After a crash a host is not asked before its own pace allows, however short the pause of a resume is (R-4.3)."""
    machine = FrontierMachine()
    lease = machine.frontier.lease(machine.now)
    assert lease is not None
    lease.gap_seconds = 20.0
    machine.write(machine.visits(machine.frontier.take(lease, machine.now, 1), []))
    machine.crash()
    assert machine.frontier.lease(machine.now + 19.9) is None
    assert machine.frontier.next_due(machine.now) == machine.now + 20.0
    machine.teardown()


def test_a_host_without_its_row_is_never_waited_for() -> None:
    """A store that lost the row of a host, as a damaged one may, does not keep a worker busy for ever (R-4.1)."""
    machine = FrontierMachine()
    machine.database.run("add_run_host", 1, 99)
    machine.database.run("host_due", 0.0, 1, 99)
    lease = machine.frontier.lease(machine.now)
    assert lease is not None
    assert lease.name == "a.test"
    assert machine.frontier.lease(machine.now) is None
    assert machine.frontier.next_due(machine.now) is None
    machine.teardown()
