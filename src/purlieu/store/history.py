"""The history of a crawl's pages and sitemap files over its runs, and what a revisit takes over from it (R-2.4).

Runs inside the transactions of the frontier. What is to be asked for is decided in ``revisit.py``; here it is looked up
and written down.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from purlieu import revisit
from purlieu.candidate import Candidate, Entry, Facts, FoundBy, Purpose
from purlieu.decide import Visit
from purlieu.revisit import FASTER, SLOWER, Hint, Known, Plan, Rhythm, Trust
from purlieu.scope import GRANT_SEED
from purlieu.settings.reading import OF_FILES, OF_PAGES, keeps_more, reads_alike
from purlieu.store import content
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database, Row, Value
from purlieu.store.outlinks import Link, pack, unpack
from purlieu.store.writes import NUMBERS
from purlieu.value import replace

_REMEMBERED = 10_000
MOST_ALTERNATES = 1_000
_FIRST = (-1, -(2**63))
_PAGE_HINTS = ("lastmod", "changefreq")
_TELLING = frozenset({"unchanged", "fetched", "redirected", "misdirected", "skipped", "missing"})
"""Kinds of endings that tell whether a page has changed; a failure does not."""
_WHOLE = frozenset({"fetched", "unchanged"})
"""Kinds of endings after which a file may be asked for conditionally; what was cut off is asked for as a whole."""
_TAKEN = (
    "take_over_response", "take_over_status", "take_over_sketch", "take_over_anchor", "take_over_extract",
    "page_left_alone",
)  # fmt: skip
"""What is written of all that stands unchanged in a batch, in this order."""
_HAS = {"sketch": "has_sketches", "anchor": "has_anchors", "extract": "has_extracts"}
"""What is kept of pages beside their responses, where the owner wants it."""
_TrustKey = tuple[int, str, str]


class History:
    """What is known of the pages of one run's crawl from the runs before."""

    def __init__(self, database: Database, run: Run, counters: Counters, rhythm: Rhythm) -> None:
        """Work for one run; plans are made only where it is a revisit."""
        self._database = database
        self._run = run
        self._counters = counters
        self._rhythm = rhythm
        self._trusted: dict[_TrustKey, Trust] = {}
        self._other_readers: dict[Purpose, frozenset[int]] | None = None
        self._has: dict[tuple[str, int], bool] = {}

    # -- plans -------------------------------------------------------------------------------------

    def planned(self, entries: Sequence[Entry], now: float) -> list[Entry]:
        """Return the entries with what a revisit wants of each, announced changes first and samples last."""
        found = [self._planned(entry, now) for entry in entries]
        return sorted(found, key=lambda entry: entry.plan.rank if entry.plan else 1)

    def _planned(self, entry: Entry, now: float) -> Entry:
        if entry.purpose is Purpose.PAGE:
            return replace(entry, plan=self._page_plan(entry, now))
        return replace(entry, plan=self._sitemap_plan(entry, now)) if entry.purpose is Purpose.SITEMAP else entry

    def _page_plan(self, entry: Entry, now: float) -> Plan | None:
        row = self._database.one("known_page", self._run.crawl, entry.host, entry.hash)
        # Another address of the same hash, or asked for in this run already.
        if row is None or row[0] != entry.href or row[5] == self._run.id:
            return None
        _, kind, reason, asked_at, interval, last_run, etag, modified, digest, lastmod, gone, retired, whole, file = row
        known = Known(
            kind, reason, asked_at, interval or self._rhythm.least_seconds, last_run, etag, modified, digest, lastmod,
            gone, bool(retired), bool(whole) and last_run not in self._read_otherwise(Purpose.PAGE), bool(file),
        )  # fmt: skip
        hint = self._hint(entry)
        section = revisit.section_of(entry.href)
        trust_of = {name: self._trust((entry.host, section, name)) for name in _PAGE_HINTS} if hint else {}
        return revisit.plan(
            known, hint, trust_of, self._rhythm,
            is_wanted=entry.facts.grant == GRANT_SEED or entry.facts.found_by is FoundBy.HISTORY,
            chance=revisit.lot(entry.hash, self._run.id), now=now,
        )  # fmt: skip

    def _hint(self, entry: Entry) -> Hint | None:
        """Return what the sitemaps say of a page: the latest date, and the shortest frequency, of all that name it."""
        rows = list(self._database.rows("hints", self._run.id, entry.host, entry.hash, entry.href))
        if not rows:
            return None
        lastmod = max((row[0] for row in rows if row[0]), default=None)
        frequencies = [row[1] for row in rows if row[1] in revisit.CHANGEFREQ_SECONDS]
        changefreq = min(frequencies, key=revisit.CHANGEFREQ_SECONDS.__getitem__, default=None)
        from purlieu.sitemap.moment import period  # with the reader of sitemaps: only where one is read

        return Hint(lastmod, period(lastmod) if lastmod else None, changefreq)

    def _sitemap_plan(self, entry: Entry, now: float) -> Plan | None:
        row = self._database.one("known_sitemap", self._run.crawl, entry.host, entry.hash)
        if row is None or row[0] != entry.href or row[6] == self._run.id:
            return None
        _, lastmod, etag, last_modified, digest, asked_at, last_run, whole = row
        is_whole = bool(whole) and last_run not in self._read_otherwise(Purpose.SITEMAP)
        known = Known("fetched", "ok", asked_at, 0.0, last_run, etag, last_modified, digest, lastmod, is_whole=is_whole)
        trust = self._trust((entry.host, "", "index"))
        chance = revisit.lot(entry.hash, self._run.id)
        return revisit.sitemap_plan(known, self._index_lastmod(entry), trust, self._rhythm, chance=chance, now=now)

    def _index_lastmod(self, entry: Entry) -> str | None:
        row = self._database.one("index_lastmod", self._run.id, entry.host, entry.hash, entry.href)
        return row[0] if row else None

    def _read_otherwise(self, purpose: Purpose) -> frozenset[int]:
        """Return the earlier runs whose answers are not enough: by their settings they read other things, or kept less.

        What stands unchanged is a run's own, so that of a page only the run before it needs to be asked about.
        """
        if self._other_readers is None:
            (_, mine), *others = self._database.rows("settings_of_runs", self._run.crawl, self._run.id)
            self._other_readers = {
                purpose: frozenset(
                    run for run, text in others if not reads_alike(mine, text, keys) or keeps_more(mine, text, *kept)
                )
                for purpose, keys, kept in (
                    (Purpose.PAGE, OF_PAGES, ("text", "body")),
                    (Purpose.SITEMAP, OF_FILES, ("body",)),
                )
            }
        return self._other_readers[purpose]

    def _trust(self, key: _TrustKey) -> Trust:
        """Return how far a hint was right in the runs before; what this run measures counts from the next on."""
        known = self._trusted.get(key)
        if known is None:
            host, _, hint = key
            own = _faded(self._database.rows("trust", self._run.crawl, *key, self._run.id))
            known = own.or_of(_faded(self._database.rows("trust_of_host", self._run.crawl, host, hint, self._run.id)))
            if len(self._trusted) > _REMEMBERED:
                self._trusted.clear()
            self._trusted[key] = known
        return known

    # -- what a batch of visits says ---------------------------------------------------------------

    def write(self, visits: Sequence[Visit]) -> None:
        """Write a batch into the history, and take over for this run what stands unchanged; endings are written."""
        pages: list[tuple[Value, ...]] = []
        failed: list[tuple[Value, ...]] = []
        taken: defaultdict[str, list[tuple[Value, ...]]] = defaultdict(list)
        measured: defaultdict[_TrustKey, list[float]] = defaultdict(lambda: [0.0] * 5)
        for visit in visits:
            if visit.outcome is None:
                continue
            if visit.entry.plan is not None:
                self._measure(visit, measured)
            if visit.takes_over:
                self._take_over(visit, taken)
                continue
            if visit.sitemap is not None and visit.kind in _WHOLE:
                self._put_sitemap(visit)
            if visit.page is not None:
                pages.append(self._page_row(visit))
            elif visit.entry.purpose is Purpose.PAGE:
                self._other(visit, failed)
        for name in _TAKEN:
            self._database.many(name, taken[name])
        self._database.many("put_page", pages)
        self._database.many("put_failed_page", failed)
        content.write(self._database, self._run.crawl, self._run.id, visits)
        if any(visit.extracted is not None for visit in visits):
            from purlieu.store import extracts  # only who extracts pays for it

            extracts.write(self._database, self._run.id, visits)
        self._database.many("put_anchor", [
            (self._run.id, visit.entry.host, visit.entry.hash, *visit.anchors) for visit in visits if visit.anchors
        ])  # fmt: skip
        self._database.many("add_trust", [
            (self._run.crawl, *key, self._run.id, *numbers) for key, numbers in measured.items()
        ])  # fmt: skip

    def _measure(self, visit: Visit, measured: defaultdict[_TrustKey, list[float]]) -> None:
        plan, kind = visit.entry.plan, visit.kind
        if plan is None or kind not in _TELLING:
            return
        # An empty page is ``fetched.empty`` each time.
        is_same = kind == "fetched" and visit.digest is not None and visit.digest == plan.known.digest
        is_changed = kind != "unchanged" and not is_same
        if plan.is_sample:
            self._counters.sampled += 1
            self._counters.missed += is_changed
        if plan.hint:
            section = "" if plan.hint == "index" else revisit.section_of(visit.entry.href)
            numbers = measured[visit.entry.host, section, plan.hint]
            one = revisit.measured(plan, is_changed=is_changed)
            said = (one.announced, one.confirmed, one.sampled, one.missed, one.left)
            numbers[:] = [so_far + number for so_far, number in zip(numbers, said, strict=True)]

    def _page_row(self, visit: Visit) -> tuple[Value, ...]:
        response, entry = visit.response, visit.entry
        etag = response.header("etag") if response else None
        last_modified = response.header("last-modified") if response else None
        alternates = visit.page.alternates if visit.page else ()
        return (
            self._run.crawl, entry.host, entry.hash, entry.href, visit.at, etag, last_modified, visit.digest,
            self._run.id, pack(visit.links), visit.kind, visit.reason, entry.facts.depth, self._seen(entry),
            self._rhythm.least_seconds, self._rhythm.most_seconds, SLOWER, FASTER,
            json.dumps(alternates[:MOST_ALTERNATES]) if alternates else None,
        )  # fmt: skip

    def _seen(self, entry: Entry) -> int:
        """Return the run in which a page was found: not this one where only the history names it."""
        is_found = entry.purpose is Purpose.PAGE and entry.facts.found_by is not FoundBy.HISTORY
        return self._run.id if is_found else 0

    def _other(self, visit: Visit, failed: list[tuple[Value, ...]]) -> None:
        """Note a visit that gave no page; one that asked for nothing only shows that the address is still found."""
        entry = visit.entry
        if visit.requests:
            failed.append((
                self._run.crawl, entry.host, entry.hash, entry.href, visit.at, self._run.id, visit.kind, visit.reason,
                entry.facts.depth, self._seen(entry), self._rhythm.retire_after,
            ))  # fmt: skip
        elif entry.plan is not None:
            self._database.run("page_still_found", self._seen(entry), self._run.crawl, entry.host, entry.hash)

    def _put_sitemap(self, visit: Visit) -> None:
        response, entry = visit.response, visit.entry
        self._database.run(
            "put_sitemap_file", self._run.crawl, entry.host, entry.hash, entry.href, self._index_lastmod(entry),
            response.header("etag") if response else None, response.header("last-modified") if response else None,
            visit.digest, visit.at, self._run.id,
        )  # fmt: skip

    # -- what stands unchanged ---------------------------------------------------------------------

    def _take_over(self, visit: Visit, taken: defaultdict[str, list[tuple[Value, ...]]]) -> None:
        entry, plan = visit.entry, visit.entry.plan
        if plan is None:
            return
        run, crawl, old, number = self._run.id, self._run.crawl, plan.known.last_run, NUMBERS[entry.purpose]
        taken["take_over_response"].append((run, old, entry.host, number, entry.hash))
        taken["take_over_status"].append((run, entry.host, number, entry.hash))
        may_be = entry.purpose is Purpose.SITEMAP or plan.known.is_sitemap
        file = self._database.one("known_sitemap", crawl, entry.host, entry.hash) if may_be else None
        if file is not None and file[0] == entry.href and file[6] != run:
            old = file[6]  # a page may be known from another run than the sitemap of its address
            asked_at = visit.at if visit.requests else 0.0
            self._database.run("take_over_sitemap_read", run, old, entry.host, entry.hash)
            self._database.run("take_over_sitemap_entries", run, old, entry.href)
            self._database.run("take_over_sitemap_children", run, old, entry.href)
            lastmod = self._index_lastmod(entry)
            self._database.run("sitemap_taken_over", lastmod, asked_at, run, crawl, entry.host, entry.hash)
        if entry.purpose is Purpose.SITEMAP:
            asked_at = visit.at if visit.requests else 0.0
            self._database.run("page_of_file", run, asked_at, crawl, entry.host, entry.hash, old)
            return
        for kept in _HAS:
            if self._kept(kept, plan.known.last_run):
                taken[f"take_over_{kept}"].append((run, plan.known.last_run, entry.host, entry.hash))
        if visit.requests:
            self._database.run(
                "page_not_modified", visit.at, self._rhythm.least_seconds, self._rhythm.most_seconds, SLOWER, run,
                self._seen(entry), crawl, entry.host, entry.hash,
            )  # fmt: skip
        else:
            taken["page_left_alone"].append((run, run, crawl, entry.host, entry.hash))

    def _kept(self, what: str, run: int) -> bool:
        """Return whether an earlier run kept such a thing at all; most do not."""
        key = (what, run)
        if key not in self._has:
            self._has[key] = self._database.one(_HAS[what], run) is not None
        return self._has[key]

    def links(self, visit: Visit) -> Sequence[Link]:
        """Return the links that a visit brought, or that stand unchanged since an earlier one."""
        if not visit.takes_over or visit.entry.purpose is not Purpose.PAGE:
            return visit.links
        row = self._database.one("taken_over_outlinks", self._run.crawl, visit.entry.host, visit.entry.hash)
        return [*unpack(row[0])] if row else ()

    # -- what has vanished -------------------------------------------------------------------------

    def vanished(self, now: float) -> Iterator[Candidate]:
        """Yield known pages that this run has not found and whose time has come to be asked for all the same."""
        last = _FIRST
        while rows := list(self._database.rows("vanished", self._run.crawl, self._run.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            for _, _, href, depth, asked_at, missed_runs in rows:
                if revisit.is_vanished_due(asked_at, missed_runs, self._rhythm, now):
                    yield Candidate(href, Facts(depth, found_by=FoundBy.HISTORY, linked=False))

    def settle(self, name: str, *, is_whole: bool) -> Iterator[tuple[str, str, dict[str, str | float]]]:
        """Close a run's history: dates that sitemaps gave, and pages missed when it found all there is (``is_whole``).

        Yield the findings: code, subject, arguments. Runs inside the caller's transaction, so that a run which is
        killed and resumed at its end counts once.
        """
        self._database.run("remember_lastmods", self._run.crawl, self._run.id)
        yield from self._dishonest()
        if not is_whole or self._database.one("has_history", self._run.crawl, self._run.id) is None:
            return
        row = self._database.one("count_vanished", self._run.crawl, self._run.id)
        self._database.run("count_missed", self._run.crawl, self._run.id)
        if row and row[0]:
            yield "pages_vanished", name, {"count": row[0], "example": row[1]}

    def _dishonest(self) -> Iterator[tuple[str, str, dict[str, str | float]]]:
        """Yield a finding for each hint that is no longer believed after what this run has measured."""
        for host, host_name, section, hint, *numbers in list(self._database.rows("trust_of_run", self._run.id)):
            before = _faded(self._database.rows("trust", self._run.crawl, host, section, hint, self._run.id))
            trust = Trust(*numbers).faded(before)
            if not trust.is_honest:
                yield "hint_not_honest", f"{host_name}{section}", {"hint": hint, "share": round(100 * trust.honesty)}
            elif not trust.is_telling:
                yield "hint_says_nothing", f"{host_name}{section}", {"hint": hint, "count": round(trust.announced)}


def _faded(rows: Iterable[Row]) -> Trust:
    """Return the measurements of several runs, the newest first, as one."""
    known = Trust()
    for row in reversed(list(rows)):
        known = Trust(*row).faded(known)
    return known
