"""Leases, entries and visits as tuples of plain values and back, for the way from one process of a run to another.

What is large and seldom (a sitemap, the plan of a revisit) is pickled. Knows no socket and no store.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from purlieu.candidate import Entry, Facts, FoundBy, Purpose, Standing
from purlieu.conduct import Conduct
from purlieu.decide import RobotsAnswer, Visit
from purlieu.extraction import Extracted
from purlieu.outcome import Outcome, reason
from purlieu.page import Page
from purlieu.politeness import Pace
from purlieu.response import Failure, Fault, Response
from purlieu.store.lease import Lease, Origin, rules_of
from purlieu.store.outlinks import Link, Packed, blob_of, text_of
from purlieu.value import fields

if TYPE_CHECKING:
    from purlieu.page.anchors import Anchors

Plain = tuple[Any, ...]
PURPOSES: Final = tuple(Purpose)
NUMBERS: Final = {purpose: number for number, purpose in enumerate(PURPOSES)}


def _values_of(kind: type, but: str = "") -> tuple[attrgetter[Plain], int]:
    """Return what gives the values of a dataclass but one, in order, and where that one stands."""
    names = [one.name for one in fields(kind)]
    return attrgetter(*(name for name in names if name != but)), names.index(but) if but else 0


_PACE: Final = _values_of(Pace)[0]
_CONDUCT, _PACE_AT = _values_of(Conduct, "pace")
_PAGE, _LINKS_AT = _values_of(Page, "raw_links")
_RESPONSE, _FAULT_AT = _values_of(Response, "fault")
_FAILURE, _FAILED_AT = _values_of(Failure, "fault")
_EXTRACTED: Final = _values_of(Extracted)[0]
_LEASE: Final = attrgetter(
    "host", "name", "token", "expires_at", "next_at", "smoothed_seconds", "backoff_seconds", "failures_in_a_row",
    "gap_seconds", "kept_gap_seconds",
)  # fmt: skip
_STATE: Final = (
    "next_at", "smoothed_seconds", "backoff_seconds", "failures_in_a_row", "broken", "started_at", "ended_at",
    "gap_seconds", "loopback",
)  # fmt: skip
"""What a holder learns of a host."""
_STATE_OF: Final = attrgetter(*_STATE)


def pack_conduct(conduct: Conduct) -> Plain:
    """Return a conduct's figures; what is added up in the store begins anew, as they are about to be written."""
    packed = (_PACE(conduct.pace), _CONDUCT(conduct))
    conduct.written()
    return packed


def unpack_conduct(packed: Plain) -> Conduct:
    """Return the conduct of its figures."""
    return Conduct(*_with(packed[1], _PACE_AT, Pace(*packed[0])))


def _with(values: Plain, at: int, value: Any) -> Plain:
    return (*values[:at], value, *values[at:])


def pack_lease(lease: Lease) -> Plain:
    """Return a lease that goes to its holder."""
    return (*_LEASE(lease), (_PACE(lease.conduct.pace), _CONDUCT(lease.conduct)))


def unpack_lease(packed: Plain) -> Lease:
    """Return the lease as its holder keeps it."""
    *values, gap, kept, conduct = packed
    lease = Lease(*values)
    lease.gap_seconds, lease.kept_gap_seconds = gap, kept
    lease.conduct = unpack_conduct(conduct)
    return lease


def pack_state(lease: Lease) -> Plain:
    """Return what its holder has learnt of a host."""
    return (lease.host, lease.token, _STATE_OF(lease), pack_conduct(lease.conduct))


def unpack_state(packed: Plain, lease: Lease) -> None:
    """Take what its holder has learnt of a host into the lease as the store's process keeps it."""
    for name, value in zip(_STATE, packed[2], strict=True):
        setattr(lease, name, value)
    before, lease.conduct = lease.conduct, unpack_conduct(packed[3])
    # What was handed in and is not yet written; else there is nothing to add.
    lease.conduct.retry_afters += before.retry_afters
    lease.conduct.robots_retries += before.robots_retries
    lease.conduct.is_new = lease.conduct.is_new or before.is_new


def pack_origin(origin: Origin, known: float | None) -> Plain:
    """Return an origin; its robots.txt is left out where the holder has the one of the time ``known``."""
    body = None if known is not None and known == origin.fetched_at else origin.body or b""
    times = (origin.fetched_at, origin.first_failed_at)
    return (origin.id, origin.origin, origin.state, *times, origin.ended, body if origin.state == "known" else b"")


def unpack_origin(packed: Plain, held: Origin | None) -> Origin:
    """Return the origin; ``held`` is what its holder has of it."""
    number, origin, state, fetched_at, failed_at, ended, body = packed
    rules = None
    if state == "known":
        rules = held.rules if body is None and held is not None else rules_of(body or b"")
    return Origin(number, origin, state, rules, fetched_at, failed_at, ended)


def pack_entry(entry: Entry) -> Plain:
    """Return an entry of a leased host."""
    facts = entry.facts
    told = (
        facts.depth, facts.hops, facts.nofollow, facts.found_by.value, facts.via, facts.linked, facts.grant,
        facts.sites, int(facts.standing),
    )  # fmt: skip
    plan = pickle.dumps(entry.plan) if entry.plan is not None else None
    return (NUMBERS[entry.purpose], entry.hash, entry.href, entry.origin, told, entry.attempts, plan)


def unpack_entry(packed: Plain, lease: Lease) -> Entry:
    """Return the entry."""
    number, hashed, href, origin, told, attempts, plan = packed
    depth, hops, nofollow, found_by, via, linked, grant, sites, standing = told
    facts = Facts(depth, hops, nofollow, FoundBy(found_by), via, linked, grant, sites, Standing(standing))
    read = pickle.loads(plan) if plan else None  # noqa: S301 - by our own other process
    return Entry(lease.host, PURPOSES[number], hashed, href, origin, facts, attempts, lease.token, read)


def pack_links(links: Sequence[Link]) -> Plain:
    """Return a page's links with the blob that is stored, so that the process that writes need not make it (R-1.5)."""
    if links and all(link[3] for link in links):
        text = text_of(links)
        return text, blob_of(text)
    return tuple(links)  # what is no URL is kept in the blob as it can be read, not as it was written


def unpack_links(packed: Plain) -> Sequence[Link]:
    """Return the links."""
    return Packed(*packed) if packed and isinstance(packed[0], bytes) else packed


def pack_visit(visit: Visit) -> Plain:
    """Return a visit without its entry, of which the store's process has its own."""
    entry, page, outcome = visit.entry, visit.page, visit.outcome
    response, failure, robots = visit.response, visit.failure, visit.robots
    read: Plain | None = None
    if page is not None:
        # The links of a page stand in the visit too, and mostly are the same.
        read = (_PAGE(page), None if page.raw_links is visit.links else pack_links(page.raw_links))
    return (
        entry.host, NUMBERS[entry.purpose], entry.hash,
        None if outcome is None else (outcome.reason.name, outcome.rule, outcome.detail),
        visit.at, visit.requests,
        None if response is None else (_RESPONSE(response), response.fault and response.fault.value),
        visit.bytes, pack_links(visit.links),
        None if failure is None else (failure.fault.value, _FAILURE(failure)),
        read,
        None if visit.sitemap is None else pickle.dumps(visit.sitemap),
        None if robots is None else (robots.body, robots.hop, robots.ended),
        visit.redirect_to, visit.retry_at, visit.pause_seconds, visit.against_host, visit.digest,
        None if visit.content is None else pickle.dumps(visit.content),
        None if visit.extracted is None else _EXTRACTED(visit.extracted),
        visit.anchors and tuple(visit.anchors),
    )  # fmt: skip


def unpack_visit(packed: Plain, entry: Entry) -> Visit:
    """Return the visit to this entry."""
    (_, _, _, outcome, at, requests, answered, size, links, failed, read, sitemap, robots, redirect_to, retry_at, pause,
     against_host, digest, content, extracted, places) = packed  # fmt: skip
    page, links = None, unpack_links(links)
    if read is not None:
        page = Page(*_with(read[0], _LINKS_AT, links if read[1] is None else unpack_links(read[1])))
    response = failure = None
    if answered is not None:
        response = Response(*_with(answered[0], _FAULT_AT, Fault(answered[1]) if answered[1] else None))
    if failed is not None:
        failure = Failure(*_with(failed[1], _FAILED_AT, Fault(failed[0])))
    return Visit(
        entry,
        None if outcome is None else Outcome(reason(outcome[0]), *outcome[1:]),
        at,
        requests=requests,
        response=response,
        bytes=size,
        links=links,
        failure=failure,
        page=page,
        sitemap=pickle.loads(sitemap) if sitemap else None,  # noqa: S301 - by our own other process
        robots=None if robots is None else RobotsAnswer(*robots),
        redirect_to=redirect_to,
        retry_at=retry_at,
        pause_seconds=pause,
        against_host=against_host,
        digest=digest,
        content=pickle.loads(content) if content else None,  # noqa: S301 - by our own other process
        extracted=None if extracted is None else Extracted(*extracted),
        anchors=_anchors(places),
    )


def _anchors(places: Plain | None) -> Anchors | None:
    if places is None:
        return None
    from purlieu.page.anchors import Anchors  # as in ``Visitor._with_anchors``

    return Anchors(*places)
