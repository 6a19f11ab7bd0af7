"""The read side of the store: runs, ledger, landings, hosts, counts.

Gives rows and small values, always in the same order and never more than a few at
a time in memory. Writes nothing; knows no file format and no terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from purlieu.candidate import Facts, FoundBy, Purpose, Standing
from purlieu.errors import UrlError
from purlieu.finding import Finding
from purlieu.landing import MAX_REDIRECTS, Landing, walk
from purlieu.settings.reading import tables
from purlieu.store.crawls import Kept, kept
from purlieu.store.database import Database, Row
from purlieu.store.outlinks import lines, read
from purlieu.store.rows import (
    ConductRow,
    FoundRow,
    HostRow,
    Linking,
    MadeRow,
    PastRow,
    RobotsRow,
    RunRow,
    SitemapRow,
    UnlistedRow,
    VisitRow,
)
from purlieu.url import host_of, key64, parse

if TYPE_CHECKING:
    from purlieu.store.audit import AuditRows
    from purlieu.store.content import ContentRow
    from purlieu.store.site_tree import SiteTable

__all__ = [
    "PURPOSE_NUMBER",
    "ConductRow",
    "FoundRow",
    "HostRow",
    "Linking",
    "MadeRow",
    "PastRow",
    "Reader",
    "RobotsRow",
    "RunRow",
    "SitemapRow",
    "UnlistedRow",
    "VisitRow",
]

PURPOSE_NUMBER = {Purpose.PAGE: 0, Purpose.ROBOTS: 1, Purpose.SITEMAP: 2, Purpose.CHECK: 3}


class Reader:
    """Answers questions about runs. Holds an open database; whoever opened it closes it."""

    def __init__(self, database: Database, hash_of: Callable[[str], int] = key64) -> None:
        """Read from ``database``, in which addresses stand under their ``hash_of``."""
        self._database = database
        self._hash_of = hash_of

    def runs(self) -> list[RunRow]:
        """Return every run, the newest first."""
        return [_run(row) for row in self._database.rows("report_runs")]

    def run(self, number: int) -> RunRow | None:
        """Return a run, None when there is none of that number."""
        row = self._database.one("report_run", number)
        return _run(row) if row else None

    def crawls(self) -> list[tuple[int, str]]:
        """Return every crawl as (number, name), by name; one that is only planned has no run."""
        return [(number, name) for number, name in self._database.rows("report_crawls")]

    def latest(self, crawl: str | None = None) -> RunRow | None:
        """Return the newest run of a crawl (of any crawl when none is named), None when there is none."""
        if crawl is None:
            row = self._database.one("report_latest_of_any")
        else:
            row = self._database.one("report_latest", crawl)
        return None if row is None or row[0] is None else self.run(row[0])

    def config(self, run: RunRow) -> str:
        """Return the settings a run was made with, as TOML."""
        row = self._database.one("report_config", run.config)
        return "" if row is None else str(row[0])

    def kept_settings(self, crawl: str) -> Kept | None:
        """Return the settings that are kept for a crawl, None where it goes by those of its last run."""
        return kept(self._database, crawl)

    def max_redirects(self, run: RunRow) -> int:
        """Return how many redirects in a row a run followed: ``limits.max_redirects`` of its settings."""
        try:
            limit = tables(self.config(run))["limits"]["max_redirects"]
        except (KeyError, TypeError):
            return MAX_REDIRECTS
        return limit if isinstance(limit, int) else MAX_REDIRECTS

    def sitemap_mode(self, run: RunRow) -> str:
        """Return ``sitemap.mode`` of a run's settings, "" where it is not known."""
        try:
            return str(tables(self.config(run))["sitemap"]["mode"])
        except (KeyError, TypeError):
            return ""

    def seeds(self, run: RunRow) -> list[str]:
        """Return the hrefs that a run started from, sites first, as its settings name them."""
        settings = tables(self.config(run))
        texts = [site.get("url", "") for site in settings.get("site", [])] + settings.get("seeds", [])
        hrefs = []
        for text in texts:
            with suppress(UrlError):
                hrefs.append(parse(text).href)
        return list(dict.fromkeys(hrefs))

    def ledger(self, run: RunRow) -> Iterator[Row]:
        """Yield the ledger by host name, purpose and url: the columns of ``report_ledger_of_host``, in their order."""
        hosts = self._database.rows("report_hosts_of_ledger", run.id, run.id, run.id)
        for host, _ in hosts:
            yield from self._database.rows("report_ledger_of_host", run.version, run.id, host)

    def asked_pages(self, run: RunRow) -> Iterator[VisitRow]:
        """Yield the pages that may have a row in the MF3.0 file (R-6.2), by host name and url."""
        for host, _ in self._database.rows("report_hosts_of_entries", run.id, run.id):
            yield from map(VisitRow._make, self._database.rows("report_asked_pages_of_host", run.id, host))

    def visit(self, run: RunRow, href: str, purpose: Purpose = Purpose.PAGE) -> VisitRow | None:
        """Return the entry of an href, None when it was not admitted in the run."""
        salt = 0
        while True:
            hashed = self._hash_of(f"{href}\x00{salt}" if salt else href)
            row = self._database.one("report_visit", run.id, PURPOSE_NUMBER[purpose], hashed, host_of(href))
            if row is None or row[0] == href:
                return None if row is None else VisitRow._make(row)
            salt += 1  # another address has this hash; intake.py put ours under the next salt

    def made_pages(self, run: RunRow, first: str = "") -> Iterator[MadeRow]:
        """Yield the admitted pages of a run with their history, by host name and url; the first host's before."""
        hosts = self._database.rows("report_hosts_of_entries", run.id, run.id)
        for host, _ in sorted(hosts, key=lambda row: row[1] != first):
            yield from map(MadeRow._make, self._database.rows("making_pages_of_host", run.id, host))

    def made_page(self, run: RunRow, href: str) -> MadeRow | None:
        """Return one of these pages, None when it was not admitted in the run."""
        salt = 0
        while True:
            hashed = self._hash_of(f"{href}\x00{salt}" if salt else href)
            row = self._database.one("making_page", run.id, hashed, host_of(href))
            if row is None or row[0] == href:
                return None if row is None else MadeRow._make(row)
            salt += 1  # as in ``visit``

    def refused_pages(self, run: RunRow, host: str) -> Iterator[str]:
        """Yield the pages of a host that a run refused by its own rules, by url; one too long is cut (R-1.4)."""
        for (href,) in self._database.rows("making_refused_of_host", run.id, host):
            yield href

    def is_whole(self, run: RunRow) -> bool:
        """Return whether a run looked at everything: it finished without a limit, and was no revisit."""
        row = self._database.one("making_whole", run.id)
        return bool(row and row[0])

    def found(self, run: RunRow, href: str, purpose: Purpose = Purpose.PAGE) -> FoundRow | None:
        """Return an address as a run found it, admitted or refused; None when it was not met or is not listed."""
        salt, host, number = 0, host_of(href), PURPOSE_NUMBER[purpose]
        while True:
            hashed = self._hash_of(f"{href}\x00{salt}" if salt else href)
            entry = self._database.one("report_found", run.id, number, hashed, host)
            if entry is None or entry[0] == href:
                break
            salt += 1  # as in ``visit``
        row = (
            entry
            or self._database.one("report_found_refused", run.id, number, hashed, host)
            or self._database.one("report_found_cut", run.id, number, href, host)
        )
        return _found(row) if row else None

    def found_pages(self, run: RunRow) -> Iterator[FoundRow]:
        """Yield every page of the ledger as it was found, by host name and address."""
        for host, _ in self._database.rows("report_hosts_of_ledger", run.id, run.id, run.id):
            yield from map(_found, self._database.rows("report_found_pages_of_host", run.id, host))

    def seen_in(self, one: RunRow, two: RunRow) -> Iterator[tuple[str, Row | None, Row | None]]:
        """Yield the pages that one of two runs has, by host name and address, each with what both know of it.

        That is kind, reason, status, title, canonical, redirect_to, digest and headers; None: the run has not met it.
        """
        crawls = {run.id: self._database.one("report_crawl_of", run.id) for run in (one, two)}
        hosts = {row for run in (one, two) for row in self._database.rows("report_hosts_of_ledger", *[run.id] * 3)}
        for host, _ in sorted(hosts, key=lambda row: (row[1], row[0])):
            last = None
            for href, hashed in self._database.rows("report_pages_of_either", one.id, two.id, host):
                if hashed != last:  # a refused address may be stored cut, and stands beside the whole one
                    yield href, *(self._seen(run, crawls[run.id], host, hashed) for run in (one, two))
                last = hashed

    def _seen(self, run: RunRow, crawl: Row | None, host: int, hashed: int) -> Row | None:
        row = self._database.one("report_seen", run.id, host, hashed, *(crawl or (0,)))
        if row is None:
            return self._database.one("report_refusal_reason", run.id, host, hashed)
        if row[0] is None:
            ending = self._database.one("hop", run.id, host, hashed)
            return (*(ending or ("due", "due"))[:2], *row[2:])
        return row

    def landings(self, run: RunRow) -> dict[str, str]:
        """Return where the seeds of sites have landed, by the seed's href (R-3.2)."""
        return dict(self._database.rows("landings", run.id))

    def past(self, run: RunRow, href: str) -> PastRow | None:
        """Return what the runs of a crawl have learnt of a page up to now, None when it was never asked for."""
        row = self._database.one("report_past", run.id, host_of(href), self._hash_of(href), href)
        return PastRow._make(row) if row else None

    def robots(self, run: RunRow, origin: str) -> RobotsRow | None:
        """Return what a run knows of the robots.txt of an origin, None when it never came there."""
        row = self._database.one("report_robots", run.id, origin)
        return RobotsRow._make(row) if row else None

    def sitemaps(self, run: RunRow) -> Iterator[SitemapRow]:
        """Yield the sitemap files of a run, admitted or refused, by address."""
        for *row, problems in self._database.rows("report_sitemaps", run.id):
            yield SitemapRow._make((*row, tuple((line, kind, told) for line, kind, told in json.loads(problems))))

    def naming_sitemaps(self, run: RunRow, href: str, most: int) -> list[tuple[str, str | None]]:
        """Return at most so many sitemap files that name an address, by name, each with its lastmod."""
        rows = self._database.rows("report_naming_sitemaps", run.id, host_of(href), self._hash_of(href), href, most)
        return [(file, lastmod) for file, lastmod in rows]

    def linking(self, run: RunRow, href: str, normal: Callable[[str], str], most: int, most_scanned: int) -> Linking:
        """Return which pages of a run link to an address, in key order, from the stored links.

        ``normal`` gives the address that a link means. Ends after so many were found or scanned.
        """
        found: list[tuple[str, str, bool]] = []
        scanned, last = 0, (-1, -(2**63))
        while rows := list(self._database.rows("report_outlinks", run.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            for _, _, page, blob in rows:
                if len(found) >= most or scanned >= most_scanned:
                    return Linking(tuple(found), scanned, cut=True)
                scanned += 1
                told = next((line for line in lines(blob) if normal(line[1:]) == href), None)
                if told is not None:
                    _, kind, nofollow, _ = read(told)
                    found.append((page, kind, nofollow))
        return Linking(tuple(found), scanned, cut=False)

    def landing(
        self, run: RunRow, href: str, max_redirects: int = MAX_REDIRECTS, purpose: Purpose = Purpose.PAGE
    ) -> Landing[VisitRow]:
        """Return where the redirects from an href end (R-2.5)."""
        return walk(href, lambda step: self.visit(run, step, purpose), max_redirects)

    def chain(self, run: RunRow, href: str, max_redirects: int = MAX_REDIRECTS) -> list[VisitRow]:
        """Return the rows met from an href to its landing, both included; empty when the href was not admitted."""
        met: list[VisitRow] = []

        def step(at: str) -> VisitRow | None:
            row = self.visit(run, at)
            if row is not None:
                met.append(row)
            return row

        walk(href, step, max_redirects)
        return met

    def entry_count(self, run: RunRow) -> int:
        """Return how many entries a run has, of every purpose."""
        row = self._database.one("report_entry_count", run.id)
        return 0 if row is None else int(row[0])

    def counts(self, run: RunRow) -> dict[tuple[str, str, str], int]:
        """Return how many rows of the ledger ended how: (purpose, kind, reason) to number.

        Refusals are pages, but those of what would only be checked.
        """
        if run.pruned_at is not None:
            return self._totals(run) or {}
        counts = {(row[0], row[1], row[2]): int(row[3]) for row in self._database.rows("report_counts", run.id)}
        for purpose, reason, n in self._database.rows("report_refused", run.id):
            key = (purpose, "excluded", reason)
            counts[key] = counts.get(key, 0) + n
        return counts

    def totals(self, run: RunRow) -> dict[tuple[str, str, str], int]:
        """Return the same as it was written down at the run's end, else counted: for lists of many runs."""
        kept = None if run.state == "running" else self._totals(run)
        return self.counts(run) if kept is None else kept

    def _totals(self, run: RunRow) -> dict[tuple[str, str, str], int] | None:
        row = self._database.one("report_totals", run.id)
        told = json.loads(row[0]) if row and row[0] else None
        return None if told is None else {(purpose, kind, reason): count for purpose, kind, reason, count in told}

    def crawl_number(self, crawl: str) -> int | None:
        """Return the number of a crawl, None when there is none of that name."""
        row = self._database.one("crawl_id", crawl)
        return None if row is None else int(row[0])

    def hosts(self, run: RunRow) -> Iterator[HostRow]:
        """Yield the hosts that were asked for anything or given up, by name."""
        for row in self._database.rows("report_asked_hosts", run.id):
            yield HostRow._make((*row[:-1], bool(row[-1])))

    def conduct(self, run: RunRow) -> Iterator[ConductRow]:
        """Yield how each host was treated that was asked for anything, by name."""
        yield from map(ConductRow._make, self._database.rows("report_conduct", run.id))

    def equal_digests(self, run: RunRow) -> Iterator[tuple[str, int]]:
        """Yield the digests that several pages have, with how many do, the most first, then by their first address."""
        for digest, count, _ in self._database.rows("report_equal_digests", run.id):
            yield digest, count

    def pages_with_digest(self, run: RunRow, digest: str, most: int) -> list[str]:
        """Return at most so many pages with a digest, by address."""
        return [href for (href,) in self._database.rows("report_pages_with_digest", run.id, digest, most)]

    def sketches(self, run: RunRow) -> Iterator[tuple[int, int, bytes]]:
        """Yield the sketch of one page of each digest as (host, hash, sketch), in key order (likeness.py)."""
        yield from self._database.rows("report_sketches", run.id)

    def href_of(self, run: RunRow, host: int, hashed: int) -> str:
        """Return the address of a page by its key."""
        row = self._database.one("report_href_of", run.id, host, hashed)
        return "" if row is None else str(row[0])

    def traps(self, run: RunRow) -> Iterator[tuple[str, str, int, str]]:
        """Yield (host, rule, number, first address) of what was not asked for because it looks endless."""
        yield from self._database.rows("report_traps", run.id, run.id)

    def unlisted(self, run: RunRow) -> Iterator[UnlistedRow]:
        """Yield what is counted but not listed, by host, reason and rule."""
        for row in self._database.rows("report_unlisted", run.id):
            yield UnlistedRow(*row)

    def ended_origins(self, run: RunRow) -> Iterator[tuple[str, str]]:
        """Yield the origins whose robots.txt ended their pages, by name, each with that ending (R-1.6)."""
        yield from self._database.rows("report_ended_origins", run.id)

    def tree(self, run: RunRow, normal: Callable[[str], str]) -> SiteTable:
        """Return the pages of a run with their sections; ``normal`` gives the address that a link means."""
        from purlieu.store.site_tree import SiteTable

        return SiteTable(self._database, run.id, normal, is_over=run.state != "running")

    def contents(self, run: RunRow) -> Iterator[ContentRow]:
        """Yield what the pages of a run say to their readers, where that was kept."""
        from purlieu.store.content import rows

        return rows(self._database, run.id)

    def audited(self, run: RunRow) -> AuditRows:
        """Return what an audit asks of a run."""
        from purlieu.store.audit import AuditRows

        return AuditRows(self._database, run.id, self._hash_of)

    def sitemap_entries(self, run: RunRow) -> Iterator[tuple[str, str | None, str | None, float | None]]:
        """Yield (href, lastmod, changefreq, priority) of what the sitemaps of a run name, by address."""
        yield from self._database.rows("tree_sitemap_entries", run.id)

    def findings(self, run: RunRow) -> list[Finding]:
        """Return what was noted while a run went on, by code and subject."""
        rows = self._database.rows("report_findings", run.id)
        return [Finding(code, subject, json.loads(arguments)) for code, subject, arguments in rows]


def _found(row: Row) -> FoundRow:
    depth, hops, nofollow, found_by, via, linked, grant, sites, standing = row[1:10]
    lineage = frozenset(map(int, sites.split(","))) if sites else frozenset()
    facts = Facts(depth, hops, bool(nofollow), FoundBy(found_by), via, bool(linked), grant, lineage, Standing(standing))
    return FoundRow(row[0], facts, *row[10:])


def _run(row: Row) -> RunRow:
    counters, books = json.loads(row[-2]), json.loads(row[-1]) if row[-1] else None
    return RunRow(*(*row[:-2], counters, books))
