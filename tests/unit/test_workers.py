"""How many processes a run is worth, and what goes from one to another and comes back."""

from __future__ import annotations

import asyncio
import marshal
import socket
from pathlib import Path
from typing import Any

import pytest

from purlieu import page, settings, sitemap
from purlieu.admission import Admission
from purlieu.candidate import Candidate, Entry, Facts, FoundBy, Purpose, Standing
from purlieu.conduct import Conduct
from purlieu.crawl.desk import PageLimit, RunLimits
from purlieu.crawl.team import parcel
from purlieu.crawl.team.far import UNTAKEN_BATCHES, Backlog
from purlieu.crawl.team.ground import Ground
from purlieu.crawl.team.seat import Seat
from purlieu.crawl.team.size import WORTH_BY_ITSELF, WORTH_STARTING, Size, cores
from purlieu.crawl.team.wire import Wire
from purlieu.decide import RobotsAnswer, Visit
from purlieu.errors import SettingsError
from purlieu.fetch.address import AddressGuard
from purlieu.outcome import REASONS, Outcome
from purlieu.page.content import Content
from purlieu.politeness import Pace
from purlieu.response import Failure, Fault, Response
from purlieu.revisit import Action, Known, Plan
from purlieu.store import runs
from purlieu.store.counters import IntakeLimits
from purlieu.store.frontier import LEASE_SECONDS, Frontier, FrontierRules
from purlieu.store.intake import Intake
from purlieu.store.lease import Lease, Origin
from purlieu.store.outlinks import Link, Packed, pack
from purlieu.store.sqlite import SqliteDatabase
from purlieu.value import replace

HREF = "http://site.test/a?b=%E3%81%82"


def sent(packed: Any) -> Any:
    """Return what comes out at the other end of a wire."""
    return marshal.loads(marshal.dumps(packed, 2))


def entry(purpose: Purpose = Purpose.PAGE, plan: Plan | None = None) -> Entry:
    """Return an entry of which every value is not the usual one."""
    facts = Facts(3, 2, True, FoundBy.SITEMAP, "http://site.test/", False, "seed", frozenset({1, 4}), Standing.LISTED)
    return Entry(7, purpose, -5, HREF, 9, facts, 2, 11, plan)


def response(fault: Fault | None = None) -> Response:
    """Return a response with headers that hold any octet."""
    headers = (("Content-Type", "text/html"), ("X-A", "\xff\x00é"), ("X-A", ""))
    return Response(HREF, 200, "OK", headers, b"", "HTTP/1.1", "127.0.0.1", 1.5, 0.25, 0.125, 77, False, fault)


HTML = b"""<!doctype html><html lang=ja><title>\xe3\x81\x82 &#xD800;</title><link rel=canonical href=/c>
<meta name=robots content=%s><link rel=alternate hreflang=zh href=/zh><meta http-equiv=refresh content="0;url=/r">
<a href=/x>x</a><a href='http://[' rel=nofollow>y</a><a href='mailto:a@b.test'>m</a>words"""


def read(robots: bytes) -> page.Page:
    """Return a page with something in every field."""
    return page.read(HTML % robots, url=HREF, headers=(("content-type", "text/html; charset=utf-8"),), sketched=True)


def visits() -> list[Visit]:
    """Return visits of every kind: each value that a visit can hold is in one of them."""
    followed, unfollowed = read(b"noindex"), read(b"nofollow")
    made = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://site.test/b</loc><lastmod>2026-01-02</lastmod></url><url></url></urlset>'
    ok, away = REASONS["fetched.ok"], REASONS["redirected.permanent"]
    plan = Plan(Action.ASK, Known("fetched", "ok", 1.0, 2.0, 3, etag='"e"'), hint="lastmod", is_sample=True)
    return [
        Visit(entry(), Outcome(ok), 2.0, 1, response(), 4096, followed.raw_links, page=followed, digest=followed.digest),
        Visit(entry(), Outcome(ok, "rule", "detail\ud800"), 2.0, 2, response(Fault.TOO_LARGE), 1,
              [(href, kind, True, parsed) for href, kind, _, parsed in unfollowed.raw_links], page=unfollowed),
        Visit(entry(Purpose.SITEMAP), Outcome(ok), 2.0, 1, response(), 9, sitemap=sitemap.read(made, url=HREF), digest="d"),
        Visit(entry(Purpose.ROBOTS), Outcome(ok), 2.0, 1, response(), robots=RobotsAnswer(b"\xff", "", "")),
        Visit(entry(Purpose.ROBOTS), Outcome(away), 2.0, 1, response(), robots=RobotsAnswer(hop=HREF), redirect_to=HREF),
        Visit(entry(), None, 2.0, 1, failure=Failure(HREF, Fault.TLS, "why", 1.0, 0.5, "::1"), retry_at=9.0,
              pause_seconds=3.0, against_host=True),
        Visit(entry(plan=plan), Outcome(REASONS["unchanged.not_due"]), 2.0),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(7))
def test_a_visit_arrives_as_it_was(number: int) -> None:
    """What a visit found, and how it ended, is the same in the process that writes it, value by value (R-2.1)."""
    visit = visits()[number]
    packed = sent(parcel.pack_visit(visit))
    assert packed[:3] == (visit.entry.host, parcel.NUMBERS[visit.entry.purpose], visit.entry.hash)
    again = parcel.unpack_visit(packed, visit.entry)
    assert list(again.links) == list(visit.links)
    for name in Visit.__dataclass_fields__:
        if name != "links":
            assert getattr(again, name) == getattr(visit, name), name


def test_an_entry_arrives_as_it_was() -> None:
    """A process that asks gets each entry with all its facts and what a revisit wants of it."""
    plan = Plan(Action.LEAVE, Known("missing", "gone", 1.0, 2.0, 3), ending="missing.retired")
    lease = Lease(7, "site.test", 11, 0.0, 0.0, 0.0, 0.0, 0)
    for one in (entry(), entry(Purpose.SITEMAP, plan)):
        assert parcel.unpack_entry(sent(parcel.pack_entry(one)), lease) == one


def test_a_lease_goes_out_and_what_was_learnt_comes_back() -> None:
    """The pace of a host and how it was treated go with it from process to process; nothing is counted twice (R-4.2, R-4.6)."""
    lease = Lease(7, "site.test", 11, 60.0, 5.0, 0.5, 2.0, 3, gap_seconds=0.75, kept_gap_seconds=0.5)
    lease.conduct = Conduct(Pace(1.0, 2.0, 3, "delay"), least_gap=0.5, group="g")
    lease.conduct.began(4.0, lease.conduct.pace)
    lease.conduct.ended(4.5)
    lease.conduct.written()
    far = parcel.unpack_lease(sent(parcel.pack_lease(lease)))
    assert far == Lease(
        7, "site.test", 11, 60.0, 5.0, 0.5, 2.0, 3, gap_seconds=0.75, kept_gap_seconds=0.5, conduct=lease.conduct
    )
    for _ in range(2):
        far.started_at, far.ended_at, far.broken, far.loopback = 8.0, 9.0, True, True
        far.conduct.told_to_wait(9.0, 30.0)
        parcel.unpack_state(sent(parcel.pack_state(far)), lease)
    assert (lease.started_at, lease.ended_at, lease.broken, lease.loopback) == (8.0, 9.0, True, True)
    assert (lease.conduct.retry_afters, lease.conduct.longest_retry_after, far.conduct.retry_afters) == (2, 30.0, 0)


def test_robots_rules_are_sent_once() -> None:
    """A process gets the rules of an origin when they are new, and keeps those that it has (ST-4)."""
    origin = Origin(1, "http://site.test", "known", None, 5.0, None, False, b"User-agent: *\nDisallow: /p\n")
    first = sent(parcel.pack_origin(origin, None))
    far = parcel.unpack_origin(first, None)
    assert far.rules is not None
    assert not far.rules.allowed("purlieu", "http://site.test/p")
    again = sent(parcel.pack_origin(origin, 5.0))
    assert again[-1] is None
    assert parcel.unpack_origin(again, far).rules is far.rules
    assert sent(parcel.pack_origin(origin, 4.0))[-1] == origin.body


def test_packed_links_are_the_links() -> None:
    """Links that come packed read as they were found, with the blob that is stored; what is no URL comes as written (R-1.5)."""
    good: list[Link] = [(HREF, "a", False, True), ("http://b.test/\ud800", "next", True, True)]
    packed = parcel.unpack_links(sent(parcel.pack_links(good)))
    assert isinstance(packed, Packed)
    assert packed.blob == pack(good)
    assert (list(packed), packed[1], packed[:1], len(packed)) == (good, good[1], good[:1], 2)
    bad: list[Link] = [*good, ("http://[\n", "a", True, False)]
    assert parcel.unpack_links(sent(parcel.pack_links(bad))) == tuple(bad)
    assert parcel.unpack_links(sent(parcel.pack_links(()))) == ()


def test_what_a_page_says_goes_along() -> None:
    """The content of a page, where it is kept, comes with the visit of another process."""
    said = Content(
        "words", ((1, "h"),), "about", (("title", "t"),), ({"@type": "Thing", "n": [1, None]},), ("Home",), "en"
    )
    visit = replace(visits()[0], content=said)
    assert parcel.unpack_visit(sent(parcel.pack_visit(visit)), visit.entry) == visit


class Place:
    """What a seat needs of its process: a time that is set by hand, no cookies, a wire that notes what is said."""

    def __init__(self) -> None:
        """Begin in the year 2001."""
        self.time = 1e9
        self.guard = AddressGuard()
        self.said: list[Any] = []

    def now(self) -> float:
        """Return the time."""
        return self.time

    def cookies(self, _: str) -> list[bytes]:
        """Return none."""
        return []

    def send(self, *message: Any) -> None:
        """Note a message."""
        self.said.append(message)


def test_a_process_that_hangs_loses_its_hosts(tmp_path: Path) -> None:
    """Who says nothing for as long as a lease lasts has lost its hosts to others; what it hands in later is not written (R-4.3)."""
    href, place = "http://a.test/", Place()
    made, limits = settings.of({"seeds": [href]}), RunLimits()
    database = SqliteDatabase.writer(str(tmp_path / "s.db"))
    opened = runs.begin(database, "m", (settings.dump(made), False), "0", place.now())
    intake = Intake(database, opened.run, Admission.of(made), IntakeLimits(), opened.counters)
    frontier = Frontier(database, opened.run, intake, opened.counters, FrontierRules())
    frontier.open(place.now(), 0.25)
    frontier.seed([Candidate(href, Facts(0, found_by=FoundBy.SEED, grant="seed"))], place.now())
    written: list[Visit] = []
    anything: Any = place
    ground = Ground(frontier, anything, PageLimit(limits), anything, lambda: 0.0, taken=written.extend)
    seats = [Seat(1, ground), Seat(2, ground)]
    for seat in seats:
        seat.wire = anything

    def lease(seat: Seat) -> list[Any]:
        seat.answer("lease", 1, 8, 16)
        given: list[Any] = place.said.pop()[2][0]
        return given

    def finish(seat: Seat, given: Any) -> int:
        held = parcel.unpack_lease(given[0])
        entries = [parcel.unpack_entry(one, held) for one in given[2][0]]
        ends = [
            Visit(one, Outcome(REASONS["missing.not_found"]), place.now(), 1, robots=RobotsAnswer(b""))
            for one in entries
        ]
        assert ends
        before = len(written)
        seat.answer("finish", 0, [parcel.pack_visit(visit) for visit in ends], [])
        return len(written) - before

    (first,) = lease(seats[0])
    assert lease(seats[1]) == []
    place.time += LEASE_SECONDS + 1
    (second,) = lease(seats[1])
    assert (finish(seats[0], first), finish(seats[1], second)) == (0, 1)
    database.close()


def test_a_wire_puts_the_pieces_together() -> None:
    """Messages arrive whole and in order, however they are cut, a large one too; the end is told once, to each side."""
    big = ("big", b"x" * 3_000_000)
    heard: list[Any] = []
    lost: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        one, other = Wire(lambda _: None, lambda: lost.append("one")), Wire(heard.append, lambda: lost.append("other"))
        ours, theirs = socket.socketpair()
        await loop.create_unix_connection(lambda: one, sock=ours)
        await loop.create_unix_connection(lambda: other, sock=theirs)
        for number in range(100):
            one.send("n", number)
        one.send(*big)
        await one.room()
        while len(heard) < 101:  # noqa: ASYNC110 - the far end has no event of its own
            await asyncio.sleep(0)
        one.close()
        while len(lost) < 2:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0)
        one.send("after the end")

    asyncio.run(asyncio.wait_for(main(), 30))
    assert heard == [*(("n", number) for number in range(100)), big]
    assert sorted(lost) == ["one", "other"]


def test_an_opened_address_is_opened_everywhere() -> None:
    """What a seed opens in one process is open in the others, and its host stays pinned to its first class (R-5.1)."""
    one, other = AddressGuard(), AddressGuard()
    assert one.admit("10.0.0.1", "intra.test", opens=True, in_scope=True)
    assert not other.admit("10.0.0.2", "wiki.test", opens=False, in_scope=True)
    other.open_too(*sent(one.opened))
    assert other.admit("10.0.0.2", "wiki.test", opens=False, in_scope=True)
    assert not other.admit("127.0.0.1", "intra.test", opens=True, in_scope=True)


def test_how_many_processes_a_run_is_worth() -> None:
    """One for few pages or one host; never more than hosts are asked at a time; what the owner says stands (R-9.4)."""
    size = Size(3, 64)
    assert [size.wanted(due, hosts) for due, hosts in ((WORTH_STARTING - 1, 9), (WORTH_STARTING, 1))] == [1, 1]
    assert [size.wanted(WORTH_STARTING, hosts) for hosts in (2, 3, 9)] == [2, 3, 3]
    assert Size(8, 2).most == 2
    assert Size(1, 64).most == 1
    itself = Size("auto", 64)
    assert itself.most == max(1, min(cores(), 4))
    assert itself.wanted(WORTH_BY_ITSELF - 1, 9) == 1
    assert itself.wanted(WORTH_BY_ITSELF, 9) == 1, "nothing is known yet of how busy this process is"


@pytest.mark.parametrize("value", [0, -1, 65, 1.5, True, "many", "2 workers", ""])
def test_a_wrong_number_of_processes_is_told(value: object) -> None:
    """What can be no number of processes is the owner's mistake: the value, and what may stand there."""
    with pytest.raises(SettingsError, match="workers") as caught:
        settings.of({"seeds": ["http://a.example/"], "workers": value})
    assert 'from 1 to 64, or "auto"' in str(caught.value)


@pytest.mark.parametrize("value", [1, 64, "auto"])
def test_a_number_of_processes_is_read(value: object) -> None:
    """A whole number or "auto" is taken, and stands so in the settings as text."""
    made = settings.of({"seeds": ["http://a.example/"], "workers": value})
    assert settings.read(settings.dump(made)).workers == made.workers == value


def test_a_message_that_is_cut_is_not_heard() -> None:
    """What a process had sent half of when it died is nothing: no batch is taken in by halves (R-4.3)."""
    whole = marshal.dumps(("finish", 0, [1, 2, 3]), 2)
    heard: list[Any] = []
    lost: list[bool] = []
    wire = Wire(heard.append, lambda: lost.append(True))
    frame = len(whole).to_bytes(8) + whole
    for piece in (frame[:5], frame[5:20], frame[20:], frame[:-1]):
        wire.data_received(piece)
    wire.connection_lost(None)
    assert (heard, lost) == ([("finish", 0, [1, 2, 3])], [True])


def test_a_slow_writer_holds_its_workers_back() -> None:
    """A worker hands in so many batches before one is written, and then waits: nothing piles up on the way."""

    async def main() -> list[bool]:
        wire = Wire(lambda _: None, lambda: None)
        wire.is_open = True
        backlog = Backlog(wire)
        waits = []
        for _ in range(UNTAKEN_BATCHES + 1):
            backlog.put([])
            waiting = asyncio.ensure_future(backlog.room())
            await asyncio.sleep(0)
            waits.append(not waiting.done())
        backlog.written()
        await waiting
        return waits

    assert asyncio.run(main()) == [*[False] * UNTAKEN_BATCHES, True]
