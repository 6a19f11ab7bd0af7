"""What is done once at the end of a run: resolve redirect chains, then audit the books (R-2.5, R-7.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from purlieu import url
from purlieu.admission import WEB_SCHEMES
from purlieu.candidate import EMBEDDED, NOT_FOLLOWED, Facts, FoundBy, Purpose, Standing
from purlieu.landing import LandingKind, walk
from purlieu.outcome import GOOD_KINDS, REDIRECTS
from purlieu.store.counters import Counters, Run
from purlieu.store.database import Database
from purlieu.store.intake import Intake
from purlieu.store.landings import Step
from purlieu.store.outlinks import LETTERS, Link, lines, read
from purlieu.store.refusals import COUNTED_SCHEMES
from purlieu.store.writes import NUMBERS
from purlieu.value import dataclass

_MISDIRECTED = {
    LandingKind.OUT_OF_SCOPE: "misdirected.out_of_scope",
    LandingKind.TOO_MANY: "misdirected.too_many",
    LandingKind.LOOP: "misdirected.loop",
}
_FIRST = (-1, -(2**63))
_CUT_SHORT = ("scope", "not_in_sitemap", "sitemap_location")
"""Why links of the web may be counted without being listed."""
_SEVERAL = 2
_AT_ONCE = 2_000
"""Addresses looked up together."""
_SITEMAP, _CHECK = NUMBERS[Purpose.SITEMAP], NUMBERS[Purpose.CHECK]
_OF_PAGES = frozenset(
    letter for kind in LETTERS.keys() - NOT_FOLLOWED - {"sitemap"} for letter in (LETTERS[kind], LETTERS[kind].upper())
)
"""The letters of links that lead to pages."""
_CHECKED = 200_000
"""Addresses remembered as checked; then the memory starts afresh, so that it stays bounded."""


@dataclass(frozen=True, slots=True)
class Settling:
    """The end of one run on one store."""

    database: Database
    run: Run
    intake: Intake
    counters: Counters

    def contents(self, *, is_done: bool) -> None:
        """Note which documents there is no text of; of a run that is done, gather what links to its pages say."""
        from purlieu.store import anchors, content  # only who keeps text pays for it

        content.note_unread(self.database, self.run.crawl, self.run.id)
        if is_done:  # else a resume will do it for more of them
            anchors.gather(self.database, self.run.crawl, self.run.id, self.intake.linked)

    def redirects(self, max_redirects: int) -> None:
        """Give each redirecting page its final ending: misdirected when its chain leads out, round or on and on.

        Right also for a run that was settled before and then resumed.
        """
        last = _FIRST
        while rows := list(self.database.rows("redirecting_entries", self.run.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            with self.database.transaction():
                for host, hashed, href, kind, reason, status in rows:
                    landing = walk(href, self._step, max_redirects)
                    right = _MISDIRECTED.get(landing.kind) or REDIRECTS.get(status, "redirected.meta_refresh")
                    if landing.kind is LandingKind.OUT_OF_SCOPE and self._is_too_far(landing.href):
                        right = "misdirected.too_many"
                    if right != f"{kind}.{reason}":
                        new_kind, _, new_reason = right.partition(".")
                        self.database.run("set_ending", new_kind, new_reason, landing.href, self.run.id, host, hashed)
                        self.counters.endings[f"{kind}.{reason}"] -= 1
                        self.counters.endings[right] += 1
                # Together with what they count: a kill between the two would leave books that never balance.
                self.database.run("keep_counters", self.counters.text(), self.run.id)

    def soft_404(self) -> None:
        """End pages as not found that say what their host says of a page that cannot be there.

        At the end, so that it does not matter which was asked first (R-2.1).
        """
        with self.database.transaction():
            found = list(self.database.rows("soft_404_counts", self.run.id))
            for kind, code, number in found:
                self.counters.endings[f"{kind}.{code}"] -= number
                self.counters.endings["missing.soft_404"] += number
            if found:
                self.database.run("end_soft_404", self.run.id)
                self.database.run("keep_counters", self.counters.text(), self.run.id)

    def rules(self) -> None:
        """Name each page's site and rule by the scope at the end: which site landed first must not show."""
        if len(self.intake.admission.scope.sites) < _SEVERAL:
            return
        last = _FIRST
        while rows := list(self.database.rows("entry_rules", self.run.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            with self.database.transaction():
                for (
                    host,
                    hashed,
                    href,
                    site,
                    rule,
                    depth,
                    hops,
                    nofollow,
                    found_by,
                    via,
                    linked,
                    granted,
                    standing,
                ) in rows:
                    sites, stands = self.intake.keys.sites_of((host, 0, hashed)), Standing(standing)
                    facts = Facts(
                        depth, hops, bool(nofollow), FoundBy(found_by), via, bool(linked), granted, sites, stands
                    )
                    ruling = self.intake.admission.judge(href, url.host_of(href), facts, Purpose.PAGE)
                    if not ruling.refused and (ruling.site, ruling.rule) != (site, rule):
                        self.database.run("set_entry_rule", ruling.site, ruling.rule, self.run.id, host, 0, hashed)
                        self.intake.rulings.add(href, Purpose.PAGE, facts, ruling)

    def _is_too_far(self, href: str) -> bool:
        """Return whether a redirect target was refused because there were too many hops before it."""
        host, hashed = self.intake.keys.key_of(href)
        row = self.database.one("refusal", self.run.id, host, 0, hashed)
        return row is not None and row[9] == "depth"

    def good_pages(self) -> int:
        """Return how many pages ended fetched, unchanged or redirected."""
        found = self.database.rows("count_page_endings", self.run.id)
        return sum(n for kind, _, n in found if kind in GOOD_KINDS)

    def books(self, seeds: Iterable[str]) -> dict[str, Any]:
        """Count three times, independently, and return the books with every disagreement as a sentence (R-7.1)."""
        run, counters = self.run.id, self.counters
        entries, attempts, written = self._row("count_entries", run)
        refusals, unlisted = self._row("count_refusals", run)[0], self._row("count_unlisted", run)[0]
        stored = Counter({f"{kind}.{code}": n for kind, code, n in self.database.rows("count_written", run)})
        derived = Counter({f"{kind}.{code}": n for kind, code, n in self.database.rows("count_derived", run)})
        kept = Counter({name: n for name, n in counters.endings.items() if n})
        checks = (
            ("entries admitted", counters.admitted, entries),
            ("refusals written", counters.refused - counters.promoted, refusals),
            ("refusals counted but not listed", counters.unlisted, unlisted),
            ("endings written", sum(kept.values()), written),
            ("entries with an ending", sum(kept.values()) + sum(derived.values()), counters.admitted),
            ("requests sent", counters.requests, attempts),
        )
        faults = [f"{what}: counted {one}, found {other}" for what, one, other in checks if one != other]
        faults += [
            f"ending {name}: counted {kept[name]}, found {stored[name]}"
            for name in sorted(kept.keys() | stored.keys())
            if kept[name] != stored[name]
        ]
        faults += [f"{what} has no row: {href}" for what, href in self._missing(seeds)]
        return {
            "balanced": not faults,
            "added": {
                "admitted": counters.admitted,
                "refused": counters.refused - counters.promoted,
                "unlisted": counters.unlisted,
            },
            "ended": dict(sorted((kept + derived).items())),
            "scan": {
                "entries": entries,
                "refusals": refusals,
                "requests": counters.requests,
                "attempts": attempts,
                "unlisted": unlisted,
            },
            "faults": faults[:100],
        }

    def _missing(self, seeds: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield what was found and has no row, and is not among what is counted without being listed."""
        capped = {(host, reason) for host, reason, _, _ in self.database.rows("unlisted", self.run.id)}
        for batch in self._found(seeds):
            for line, what in self._without_row(batch):
                href, kind, _, parsed = link = read(line)
                web = parsed and href.startswith(WEB_SCHEMES)
                if self._is_passed_over(link) or (parsed and href.partition(":")[0] in COUNTED_SCHEMES):
                    continue
                host, hashed = self.intake.keys.key_of(self._meant(what, href)) if web else (0, url.key64(href))
                reasons = _CUT_SHORT if web else ("scheme" if parsed else "invalid_url",)
                if any((host, reason) in capped for reason in reasons):
                    continue
                if self.database.one("has_row", self.run.id, host, _number(kind), hashed) is None:
                    yield what, href

    def _is_passed_over(self, link: Link) -> bool:
        """Return whether nothing becomes of a link of this kind: it is only kept with its page."""
        href, kind, _, parsed = link
        if kind not in NOT_FOLLOWED:
            return False
        is_part = self.intake.checks_parts and kind in EMBEDDED
        return not (is_part and parsed and href.startswith(WEB_SCHEMES))

    def _meant(self, what: str, href: str) -> str:
        """Return the address under which what was found stands; a seed stands as it is."""
        if what == "seed":
            return href
        return self.intake.linked(href) if what.startswith("link of") else self.intake.normal(href)

    def _without_row(self, batch: dict[str, str]) -> Iterator[tuple[str, str]]:
        """Yield what is not found when all addresses of a host are looked up together: next to nothing, as a rule.

        Takes and yields lines as ``outlinks.lines`` has them, each with what it is; only pages of the web stay away.
        """
        by_host: defaultdict[str, dict[int, str]] = defaultdict(dict)
        lines_of: dict[str, str] = {}
        hash_of, host_of, meant_of = self.intake.keys.hash_of, url.host_of, self._meant
        for line, what in batch.items():
            if line[0] in _OF_PAGES and line.startswith(WEB_SCHEMES, 1):
                meant = meant_of(what, line[1:])
                by_host[host_of(meant)][hash_of(meant)] = meant
                lines_of[meant] = line
            else:
                yield line, what
        for name, by_hash in by_host.items():
            host = self.intake.host_id(name)
            for hashed, href in self.database.rows_of("rows_there", list(by_hash), self.run.id, host, 0):
                # A refused address may be stored cut.
                if by_hash[hashed].startswith(href):
                    lines_of.pop(by_hash[hashed], None)
        yield from ((line, batch[line]) for line in lines_of.values())

    def _found(self, seeds: Iterable[str]) -> Iterator[dict[str, str]]:
        """Yield every address that the run has found, most of them once: lines of outlinks, each with what it is.

        Of one sort at a time, since a seed and a link of one text may mean two addresses.
        """
        seeds = iter(seeds)
        while batch := dict.fromkeys([f"a{href}" for href in islice(seeds, _AT_ONCE)], "seed"):
            yield batch
        checked: set[str] = set()
        for source, blob in self._pages():
            # As sets of lines, so that what was checked before costs next to nothing.
            fresh = set(lines(blob)) - checked
            checked |= fresh
            batch.update(dict.fromkeys(fresh, f"link of {source}"))
            if len(batch) >= _AT_ONCE:
                yield batch
                batch = {}
            if len(checked) > _CHECKED:
                checked.clear()
        yield batch
        for what, name in (("redirect target", "redirect_targets"), ("sitemap entry", "sitemap_targets")):
            last = _FIRST
            while rows := list(self.database.rows(name, self.run.id, *last)):
                last = (rows[-1][0], rows[-1][1])
                yield dict.fromkeys([f"a{row[2]}" for row in rows], what)

    def _pages(self) -> Iterator[tuple[str, bytes]]:
        last = _FIRST
        while rows := list(self.database.rows("pages_with_outlinks", self.run.crawl, self.run.id, *last)):
            last = (rows[-1][0], rows[-1][1])
            yield from ((row[2], row[3]) for row in rows)

    def _row(self, name: str, run: int) -> tuple[int, ...]:
        row = self.database.one(name, run)
        if row is None:
            message = f"the count {name} gave no row"
            raise AssertionError(message)
        return row

    def _step(self, href: str) -> Step | None:
        row = self.database.one("hop", self.run.id, *self.intake.keys.key_of(href))
        return Step(row[0], row[2]) if row else None


def _number(kind: str) -> int:
    """Return the purpose, as the store numbers it, for which a link of a kind is asked for."""
    return _SITEMAP if kind == "sitemap" else _CHECK if kind in EMBEDDED else 0
