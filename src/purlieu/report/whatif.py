"""Which pages of a run other settings would take in or leave out, judged one by one as the run found them.

Reads a store and asks no network: what a page that enters would lead to is not known, and what the run only counted
cannot be judged. Both are said, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from purlieu import robots
from purlieu.candidate import Facts, FoundBy
from purlieu.errors import UrlError
from purlieu.judgement import Judgement, Rules
from purlieu.landing import LandingKind
from purlieu.report.explain import settings_of
from purlieu.robots import Robots
from purlieu.scope import GRANT_SEED, GRANT_SEED_REDIRECT, Scope
from purlieu.sentence import Sentence
from purlieu.settings import Settings
from purlieu.store.reader import FoundRow, Reader, RunRow, UnlistedRow
from purlieu.url import host_of, origin_of, parse
from purlieu.value import dataclass, field, replace

_KEPT = 1_000
NOT_MET = "not met"
"""Stands as the rule of a seed that the run never met."""
TOO_LONG = Sentence("it is longer than limits.max_url_length")
AS_IN_RUN = Sentence("as in the run, which alone can tell")
FOUND_SO = Sentence("each page is judged by the way the run found it; what pages that enter would link to is not known")
NO_LINEAGE = Sentence("the run kept no lineage: each page is taken to descend from every site")


class Change(NamedTuple):
    """One page of a run by other settings. ``after`` is None where that cannot be told: the address is stored cut."""

    url: str
    was_in: bool
    was: str
    after: Judgement | None

    @property
    def enters(self) -> bool:
        """Return whether it was out and would be in."""
        return self.after is not None and self.after.accepted and not self.was_in

    @property
    def leaves(self) -> bool:
        """Return whether it was in and would be out."""
        return self.after is not None and not self.after.accepted and self.was_in


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A run and the rules of other settings, with the landings that the run knows.

    ``hops`` are the addresses that the seeds of these settings redirect to in the run, with their place in the chain.
    """

    reader: Reader
    run: RunRow
    other: Settings
    rules: Rules
    made: Rules
    hops: dict[str, int]
    _robots: dict[str, Robots | None] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, reader: Reader, run: RunRow, other: Settings) -> WhatIf:
        """Return what asks a run by other settings; raises SettingsError when its own cannot be read."""
        made = Rules.of(settings_of(reader, run), reader.landings(run), now=run.started_at)
        known = reader.landings(run)
        scope = Scope.of(other)
        landings = {
            seed: known[seed] if seed in known else _landing(reader, run, seed, other.limits.max_redirects)
            for seed in map(scope.seed, scope.pending)
        }
        rules = Rules.of(other, landings, now=run.started_at)
        hops: dict[str, int] = {}
        for seed in sorted(rules.seeds):
            for place, row in enumerate(reader.chain(run, seed, other.limits.max_redirects), 1):
                if row.redirect_to and place <= other.limits.max_redirects:
                    href = rules.meant(row.redirect_to)
                    hops[href] = min(place, hops.get(href, place))
        return cls(reader, run, other, rules, made, hops)

    def changes(self) -> Iterator[Change]:
        """Yield every page of the ledger, by host and address, then the seeds that the run never met."""
        met: set[str] = set()
        for row in self.reader.found_pages(self.run):
            href = self._meant(row.href)
            if href in self.rules.seeds:
                met.add(href)
            yield Change(row.href, row.kind != "excluded", row.rule, self._judged(row, href))
        for seed in sorted(self.rules.seeds - met):
            yield Change(
                seed, was_in=False, was=NOT_MET, after=self.rules.judge_briefly(seed, self.rules.assumed(seed))
            )

    def unlisted(self) -> list[UnlistedRow]:
        """Return what of hosts the run refused and counted only: whether it would enter cannot be told (R-1.4)."""
        return [one for one in self.reader.unlisted(self.run) if one.host]

    def _meant(self, href: str) -> str:
        try:
            return self.rules.normal(href)
        except UrlError:
            return href

    def _judged(self, row: FoundRow, href: str) -> Judgement | None:
        """Return the verdict of the other settings on a row, None where the run's row does not hold enough."""
        most = self.made.admission.max_url_length
        if not row.attempts and row.reason == "url_too_long" and len(row.href) >= most:
            if self.rules.admission.max_url_length > most:
                return None
            return Judgement(row.href, href, row.reason, row.rule, TOO_LONG)
        after = self.rules.judge_briefly(href, self._facts(row, href), url=row.href)
        if not after.accepted:
            return after
        if self._stands(row):
            return replace(after, refused=row.reason, rule=row.rule, reason=AS_IN_RUN)
        rules = self._robots_of(origin_of(href)) if self.other.robots.obey else None
        verdict = rules.judge(self.other.robots.agent, href) if rules else None
        if verdict is None or verdict.accepted:
            return after
        return replace(after, refused="robots", rule=verdict.rule, reason=verdict.reason)

    def _stands(self, row: FoundRow) -> bool:
        """Return whether a refusal is one that only a run can tell, and that the other settings have too.

        The owner's callable is no setting; pages of a host, and what a series of them says, are met in a crawl.
        """
        traps = self.other.traps
        has_series = traps.detect and traps.same_text > 0
        return (
            row.rule.startswith("accept")
            or (row.reason == "host_limit" and self.other.limits.pages_per_host is not None)
            or (row.rule.startswith("same_text=") and has_series)
            or (row.rule.startswith("hosts_per_domain=") and traps.detect and traps.hosts_per_domain > 0)
        )

    def _facts(self, row: FoundRow, href: str) -> Facts:
        """Return how a row was found, as the other settings' seeds and sites have it."""
        if href in self.rules.seeds:
            return self.rules.assumed(href)
        facts = replace(row.facts, sites=self._lineage(row.facts))
        if href in self.hops:
            return replace(facts, depth=0, hops=self.hops[href], nofollow=False, grant=GRANT_SEED_REDIRECT)
        if facts.grant in {GRANT_SEED, GRANT_SEED_REDIRECT}:
            return replace(facts, grant="", found_by=FoundBy.LINK)
        return facts

    def _lineage(self, facts: Facts) -> frozenset[int]:
        """Return the sites a row descends from; all of them where the run kept no lineage."""
        if not self.rules.admission.own_seed:
            return frozenset()
        sites = self.rules.admission.scope.sites
        if not self.made.admission.own_seed:
            return frozenset(site.index for site in sites)
        urls = {self.made.admission.scope.seed(site) for site in facts.sites}
        return frozenset(site.index for site in sites if site.url in urls)

    def _robots_of(self, origin: str) -> Robots | None:
        """Return the rules that the run read of an origin, None when it did not."""
        if origin not in self._robots:
            if len(self._robots) >= _KEPT:
                self._robots.clear()
            row = self.reader.robots(self.run, origin)
            self._robots[origin] = robots.read(row.body) if row and row.body is not None else None
        return self._robots[origin]

    def notes(self) -> list[Sentence]:
        """Return what is assumed, for the owner."""
        told = [FOUND_SO]
        if self.run.state == "running":
            told.append(Sentence("run {run} has not ended: it may find more", run=self.run.id))
        if self.rules.admission.own_seed and not self.made.admission.own_seed:
            told.append(NO_LINEAGE)
        if self.other.limits.pages_per_host:
            told.append(Sentence("limits.pages_per_host is not counted again"))
        return told


def _landing(reader: Reader, run: RunRow, seed: str, max_redirects: int) -> str | None:
    """Return where a seed landed in a run, None when it did not or was never asked for."""
    href = parse(seed).href
    landing = reader.landing(run, href, max_redirects) if host_of(href) else None
    return landing.href if landing and landing.kind is LandingKind.LANDED else None
