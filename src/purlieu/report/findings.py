"""What the owner should know of a run: what was noted while it ran, and what its rows show.

Derives as much as it can, as a fact that follows from rows cannot be forgotten when they are written.
The words stand in ``finding.py``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from purlieu.domain import registrable
from purlieu.finding import Finding, Severity
from purlieu.landing import LandingKind
from purlieu.outcome import GOOD_KINDS
from purlieu.report import sitemaps
from purlieu.report.books import Books
from purlieu.report.destination import Destinations
from purlieu.store.reader import Reader, RunRow
from purlieu.url import host_of, origin_of

_SEEDS = 100  # looked at; a list of a million seeds is its own ledger
_FAULTS = 3
_OF_SEEDS = frozenset({"seed_failed", "seed_forbidden"})


def of_run(reader: Reader, run: RunRow, books: Books) -> list[Finding]:
    """Return the findings of a run, the weightiest first, then by code and subject; none stands twice."""
    found = {(one.code, one.subject): one for one in _derived(reader, run, books)}
    # What was noted at the time knows more than what is derived.
    found |= {(one.code, one.subject): one for one in reader.findings(run)}
    if any(code == "all_links_outside" for code, _ in found):  # says the same, and where the links lead
        found = {key: one for key, one in found.items() if key[0] != "one_page_only"}
    # Its finding says what to do; a start page behind it would only say that once more.
    locked = {subject for code, subject in found if code == "login_failed"}
    found = {key: one for key, one in found.items() if key[0] not in _OF_SEEDS or origin_of(key[1]) not in locked}
    weights = list(Severity)
    return sorted(found.values(), key=lambda one: (-weights.index(one.severity), one.code, one.subject))


def _derived(reader: Reader, run: RunRow, books: Books) -> Iterator[Finding]:
    if books.balanced is False:
        yield Finding("books_unbalanced", run.crawl, {"faults": "; ".join(books.faults[:_FAULTS]) or "?"})
    # A limit ends a run before its links are checked.
    if (run.stop_reason or "").startswith("limit:") and "check_external = true" in reader.config(run):
        yield Finding("links_not_checked", run.crawl)
    for origin, ended in reader.ended_origins(run):
        yield Finding(ended.partition(".")[2], origin)
    for host in reader.hosts(run):
        if host.is_given_up:
            yield Finding("host_given_up", host.name)
    for name, rule, count, example in reader.traps(run):
        yield Finding("trap", f"{name}, {rule}", {"count": count, "example": example})
    counted: Counter[str] = Counter()
    for row in reader.unlisted(run):
        if row.reason == "scope":  # links that are not of the web are never listed, and no setting would
            counted[row.host] += row.count
    yield from (Finding("refusals_not_listed", host, {"count": count}) for host, count in counted.items())
    if run.state != "running" and run.pruned_at is None:  # of a pruned run they were noted before its rows went
        yield from _of_pages(reader, run, books)


def _of_pages(reader: Reader, run: RunRow, books: Books) -> Iterator[Finding]:
    """Yield what an ended run's pages and sitemaps show."""
    mode = "sitemaps-only"
    # Looked for first: to parse a run's settings takes as long as the rest of the findings.
    is_only = mode in reader.config(run) and reader.sitemap_mode(run) == mode
    yield from sitemaps.findings(reader, run, is_only=is_only)
    seeds = reader.seeds(run)
    destinations = Destinations(reader, run)
    for seed in seeds[:_SEEDS]:
        landing = destinations.landing(seed)
        if landing.row is None:
            continue
        if landing.kind is not LandingKind.LANDED and landing.row.kind not in {"abandoned", "due"}:
            if landing.row.status in {401, 403}:
                yield Finding("seed_forbidden", seed, {"status": landing.row.status})
            else:
                yield Finding("seed_failed", seed, {"ending": f"{landing.row.kind}.{landing.row.reason}"})
        if not _is_same_domain(seed, landing.href):
            yield Finding("seed_landed_elsewhere", seed, {"landing": landing.href})
    if not sum(map(books.of_kind, GOOD_KINDS)):
        yield Finding("nothing_fetched", run.crawl)
    elif len(seeds) == 1 and books.total() - books.of_kind("excluded") == 1 and books.of_kind("fetched") == 1:
        yield Finding("one_page_only", seeds[0])


def _is_same_domain(href: str, other: str) -> bool:
    """Return whether two addresses have one host or one registrable domain; the suffix list is read only if need be."""
    one, two = host_of(href), host_of(other)
    if one == two:
        return True
    domain = registrable(one)
    return domain is not None and domain == registrable(two)
