"""Take in what was found: merge it with what is known, judge it, write it (section 2 of the rules).

Everything here runs inside one transaction of ``frontier.finish``. The hot path holds
strings and shared ``Facts``; an object per link is made for no known link.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from purlieu import url
from purlieu.admission import WEB_SCHEMES, Admission, Ruling, grant_of_hop
from purlieu.candidate import EMBEDDED, NOT_FOLLOWED, Candidate, Facts, FoundBy, Purpose, Standing
from purlieu.scope import GRANT_FOREIGN
from purlieu.store.counters import Counters, IntakeLimits, Run
from purlieu.store.database import Database, Row
from purlieu.store.hosts import Hosts
from purlieu.store.keys import Keys, covered_by_row, facts_of
from purlieu.store.outlinks import Link, unpack
from purlieu.store.parts import Parts
from purlieu.store.refusals import Refusals, refused_facts
from purlieu.store.rulings import Rulings
from purlieu.store.writes import NUMBERS, OWN_ROBOTS, PURPOSES, Key, Writes

# robots.txt before everything of its origin, sitemaps before pages.
_ROBOTS, _CHECK = NUMBERS[Purpose.ROBOTS], NUMBERS[Purpose.CHECK]
_DUE_FIRST = {1: 0.0, 2: 1.0}
_SEED_DUE = 0.5
"""Before the sitemaps: until the seeds have landed nothing that a sitemap names is in scope (R-3.2)."""
HEAD_START_SECONDS = 3600.0
"""How much sooner than when it was found a page is due whose sitemap gives it the priority 1.0 (SM-73)."""
RECENT = 100_000
"""Links remembered in memory (R-2.3); about 20 MB when full, then the memory starts afresh."""

GRANT_PROBE = "probe"
"""The grant of a page that cannot be there (``traps.soft_404``)."""


class Intake:
    """Adds candidates to one run. ``admission`` is replaced when a site lands."""

    def __init__(
        self,
        database: Database,
        run: Run,
        admission: Admission,
        limits: IntakeLimits,
        counters: Counters,
        hash_of: Callable[[str], int] = url.key64,
    ) -> None:
        """Keep what adding needs; ``hash_of`` makes the 64-bit key of an address."""
        self.admission = admission
        self._findings: list[tuple[str, str, dict[str, str | float]]] = []
        self._database = database
        self._run = run
        self._limits = limits
        self._counters = counters
        self._recent: dict[str, Facts] = {}
        self.parts = Parts(self.add, self.normal)
        self._found: dict[str, Facts] = {}
        self._found_other: dict[tuple[str, Purpose], Facts] = {}
        self._writes = Writes()
        self._hosts = Hosts(database, run, self._writes)
        self.keys = Keys(database, run, self._writes, self._hosts, self._collided, hash_of)
        self.keys.with_lineage = admission.own_seed
        self._took_twin = False
        self._woken: list[str] = []
        self._sitemaps: dict[str, None] = {}
        self._priorities: dict[int, float | None] = {}
        self.rulings = Rulings()
        self._refusals = Refusals(database, run, limits, counters, self._writes, self._hosts, self.rulings)
        self._normaliser = admission.normaliser

    # -- what pages give ---------------------------------------------------------------------------

    def links(self, links: Iterable[Link], source: str, facts: Facts, *, replayed: bool = False) -> None:
        """Collect a page's links (R-2.2). A replay in the same run counts nothing a second time."""
        deeper = facts.depth + 1
        follow = Facts(deeper, via=source, sites=facts.sites)
        by_nofollow = (follow, Facts(deeper, nofollow=True, via=source, sites=facts.sites))
        recent, found, changes = self._recent, self._found, not self._normaliser.is_identity
        strips = self._normaliser.strips_sessions
        for href, kind, nofollow, parsed in links:
            if parsed and ("@" in href or changes or (strips and "=" in href)):
                href = self.linked(href)  # noqa: PLW2901 - the address that is meant, see there
            found_facts = by_nofollow[nofollow]
            if kind != "a":  # nine of ten are
                if kind == "sitemap" and parsed and href.startswith(WEB_SCHEMES):
                    by_link = Facts(0, found_by=FoundBy.LINK, via=source, linked=False)
                    self.add(Candidate(href, by_link, Purpose.SITEMAP))
                    continue
                sort = _SAME_DEPTH.get(kind)
                if (sort is not None and href == source) or kind in NOT_FOLLOWED:  # as in ``moved``
                    if self._limits.resources and kind in EMBEDDED and parsed and href.startswith(WEB_SCHEMES):
                        self.parts.take(href, kind, source, facts)
                    continue
                if sort is not None:
                    found_facts = facts.of_target(sort, source)
            known = recent.get(href)
            if known is not None and known.covers(found_facts):
                continue
            if not parsed or not href.startswith(WEB_SCHEMES):
                if not replayed:
                    hashed = self.keys.hash_of(href)
                    self._refusals.not_of_the_web(href, found_facts, hashed, self.admission, parsed=parsed)
                continue
            waiting = found.get(href)
            if waiting is None or not waiting.covers(found_facts):
                found[href] = found_facts if waiting is None else waiting.merged(found_facts)

    def moved(self, target: str, source: str, facts: Facts, found_by: FoundBy, grant: str = "") -> None:
        """Collect the target of a redirect or canonical: same depth, one hop more (R-2.2).

        A grant is not passed on beyond the limit of redirects.
        """
        if facts.hops >= self.admission.max_redirects:
            grant = ""
        href = self.normal(target)
        if href != source:  # nothing is found by itself: of a page that has vanished it would look so
            self.add(Candidate(href, facts.of_target(found_by, source, grant)))

    def normal(self, href: str) -> str:
        """Return the address under which a found href stands: the owner's normalisers hold (R-3.5).

        A login in a link is never sent, so it names no other page.
        """
        return self._normaliser.key(url.without_login(href)) if href.startswith(WEB_SCHEMES) else href

    def linked(self, href: str) -> str:
        """Return the address that a link means: as ``normal``, and without session ids."""
        normaliser = self._normaliser
        if "@" not in href and normaliser.is_identity and not (normaliser.strips_sessions and "=" in href):
            return href
        return self._normaliser.link(url.without_login(href)) if href.startswith(WEB_SCHEMES) else href

    def canonical(self, target: str, source: str, facts: Facts) -> None:
        """Collect the canonical of a page, when the owner wants canonicals."""
        if self._limits.canonical:
            self.moved(target, source, facts, FoundBy.CANONICAL)

    def take_woken(self) -> list[str]:
        """Return the origins that are wanted since the last call and whose robots.txt was read for another before."""
        woken, self._woken = self._woken, []
        return woken

    def took_a_twin(self) -> bool:
        """Return whether a page was added that had already ended (R-1.3), since the last call."""
        took, self._took_twin = self._took_twin, False
        return took

    def take_sitemaps(self) -> list[str]:
        """Return the ended sitemaps since the last call that were added, or of which better facts are known now."""
        files, self._sitemaps = list(self._sitemaps), {}
        return files

    @property
    def checks_parts(self) -> bool:
        """Return whether it is asked of what pages embed whether it is there."""
        return self._limits.resources

    def forget(self) -> None:
        """Forget all that is remembered of the store, after a batch was rolled back."""
        for memory in (self._recent, self._found, self._found_other):
            memory.clear()
        self.parts.forget()
        self._findings = []
        self._woken = []
        self._sitemaps = {}
        self.rulings.forget()
        self._writes.forget()
        self._hosts.forget()
        self.keys.forget()

    def add(self, candidate: Candidate) -> None:
        """Collect one candidate of any purpose."""
        href, facts = candidate.href, candidate.facts
        if candidate.purpose is Purpose.PAGE:
            known = self._recent.get(href)
            if known is None or not known.covers(facts):
                waiting = self._found.get(href)
                self._found[href] = waiting.merged(facts) if waiting else facts
        else:
            key = (href, candidate.purpose)
            other = self._found_other.get(key)
            self._found_other[key] = other.merged(facts) if other else facts

    # -- the round ---------------------------------------------------------------------------------

    def write(self, now: float) -> None:
        """Judge and write what was collected, and what follows from it, to the fixpoint (R-2.1)."""
        self.keys.forget()
        while self._found or self._found_other:
            if len(self._recent) > RECENT:
                self._recent.clear()
            pages, others = self._found, self._found_other
            self._found, self._found_other = {}, {}
            number, host_of = self._hosts.number, url.host_of
            batch = [(number(name := host_of(href)), 0, name, href, facts) for href, facts in pages.items()]
            batch += [
                (number(name := host_of(href)), NUMBERS[purpose], name, href, facts)
                for (href, purpose), facts in others.items()
            ]
            # In key order, so that one host's rows are met together.
            batch.sort(key=_host_and_purpose)
            for _, group in groupby(batch, key=_host_and_purpose):
                self._take_in_together(list(group), now)
            self._writes.flush(self._database, self._run.id, now)
        # What is only counted comes without a round of its own.
        self._writes.flush(self._database, self._run.id, now)

    def _take_in_together(self, group: list[_Found], now: float) -> None:
        """Take in what was found of one host for one purpose; what is known of each is looked up together."""
        host, number = group[0][:2]
        rows = self.keys.look_up(host, number, [found[3] for found in group])
        unknown = [hashed for hashed, row in rows if row is None]
        refused = self._refusals.known(host, number, unknown) if number != _ROBOTS else {}
        if number == 0:
            listed = [hashed for (hashed, row), found in zip(rows, group, strict=True) if _is_listed_now(found[4], row)]
            self._priorities = dict(self._database.rows_of("priorities", listed, self._run.id, host))
        recent, plain = self._recent, number == 0 and not self.keys.with_lineage
        for (hashed, row), found in zip(rows, group, strict=True):
            if plain and row is not None and covered_by_row(row, found[4]):
                recent[found[3]] = found[4]  # what they cover, the better facts in the store cover too
            else:
                self._take_in(found, hashed, row, refused.get(hashed), now)

    def _head_start(self, key: Key) -> float:
        """Return how much earlier than others a page is due, by the priority that sitemaps give it (SM-73)."""
        return (self._priorities.get(key[2]) or 0.0) * HEAD_START_SECONDS

    def _take_in(self, found: _Found, hashed: int, row: Row | None, refusal: Row | None, now: float) -> None:
        host, number, name, href, facts = found
        purpose = PURPOSES[number]
        if row is None and not self.keys.is_free((host, number, hashed), href):
            hashed, row = self.keys.find(host, number, href)
            refusal = self._refusals.known(host, number, [hashed]).get(hashed)
        key = (host, number, hashed)
        if row is not None:
            self._merge(key, href, facts_of(row, self.keys.sites_of(key)), facts, row)
            return
        if refusal is not None:
            facts = refused_facts(refusal).merged(facts)
        ruling = self.admission.judge(href, name, facts, purpose)
        if not ruling.refused and number == 0:
            ruling = self._limited(host, name, href, facts) or ruling
        if number == 0 and (
            not ruling.refused or self._refusals.is_listed(host, ruling, self.admission, known=refusal is not None)
        ):
            self._recent[href] = facts
        if not ruling.refused:
            self._admit(key, href, facts, ruling, now)
            self._counters.promoted += refusal is not None
            return
        if ruling.refused == "sitemap_location":
            # The robots.txt of its host may name the sitemap too, which proves that it may speak for it (SM-35).
            self._origin(url.origin_of(href), host, wants_robots=True)
        if ruling.detail:
            subject = ruling.rule.partition(":")[2]
            self.note("accept_failed", subject, detail=ruling.detail, url=href[: self.admission.max_url_length])
        if number != _ROBOTS:
            self._refusals.refuse(key, href, facts, ruling, self.admission, known=refusal is not None)

    def _limited(self, host: int, name: str, href: str, facts: Facts) -> Ruling | None:
        """Return how a page is refused for there being enough of its host, or enough hosts of its domain."""
        most = self._limits.pages_per_host
        if most is not None and self._hosts.count(host).pages >= most:
            return Ruling("host_limit", f"pages_per_host={most}")
        most = self._limits.hosts_per_domain
        if most and not facts.grant and not self.admission.traps.allows(href):
            return None if self._hosts.may_take(host, name, most) else Ruling("trap", f"hosts_per_domain={most}")
        return None

    def _admit(self, key: Key, href: str, facts: Facts, ruling: Ruling, now: float) -> None:
        host, number, _ = key
        if facts.grant == GRANT_FOREIGN and not self._limits.foreign_robots:
            origin = self._hosts.unruled(url.origin_of(href), host)
        else:
            origin = self._origin(url.origin_of(href), host, wants_robots=number != 1)
        self._counters.admitted += 1
        sites = ruling.sites if self.admission.own_seed else facts.sites
        self.rulings.add(href, PURPOSES[number], facts.with_sites(sites), ruling)
        self._writes.new[key] = href
        self._writes.sites += [(self._run.id, *key, site) for site in sites]
        values = (
            self._run.id, *key, href, origin, facts.depth, facts.hops, facts.nofollow, facts.found_by, facts.via,
            facts.linked, facts.grant, ruling.site, ruling.rule, facts.standing,
        )  # fmt: skip
        if number == 0:
            if self._limits.probes and ruling.site is not None and not self._hosts.count(host).pages:
                self._probe(url.origin_of(href))
            self._writes.pages[host] += 1
            self._hosts.count(host).pages += 1
        twin = self.keys.take_twin(key, href) if number != _ROBOTS else None
        if twin is not None:
            self._counters.endings[f"{twin[0]}.{twin[1]}"] += 1
            self._writes.ended.append((*values, *twin, now))
            if facts.grant and number != _CHECK:
                self._sitemaps[href] = None
            if number == 0:
                self._took_twin = True
                self._replay(key, href, facts, twin[4], refreshed=twin[1] == "meta_refresh", is_first=True)
            elif number == _CHECK:
                self.parts.lead_on(twin[4], href, facts)
            else:
                self._sitemaps[href] = None
            return
        if number == 0 and facts.grant:
            due = _SEED_DUE
        elif number == 0 and facts.standing is Standing.LISTED:
            due = now - self._head_start(key)
        else:
            due = _DUE_FIRST.get(number, now)
        self._writes.entries.append((*values, due))
        self._writes.due.add(host)

    def _probe(self, origin: str) -> None:
        """Collect an address that no site has: what a host says of it, it says of every page that is not there."""
        name = f"{self.keys.hash_of(f'{origin} {self._run.id}') & 0xFFFFFFFFFFFF:012x}"
        facts = Facts(0, found_by=FoundBy.OWNER, linked=False, grant=GRANT_PROBE)
        self.add(Candidate(f"{origin}/purlieu-{name}-is-not-there", facts))

    def _merge(self, key: Key, href: str, old: Facts, facts: Facts, row: Row) -> None:
        """Better facts of a known entry; an ended one passes them on to what it led to."""
        merged = old.merged(facts)
        if self.admission.own_seed:
            judged = self.admission.judge(href, url.host_of(href), merged, PURPOSES[key[1]])
            merged = merged.with_sites(judged.sites | old.sites)
        if key[1] == 0:
            self._recent[href] = merged
        if merged == old:
            return
        if not key[1] and not self.rulings.wanted and merged.judged_as(old):
            self._writes.found.append((merged.found_by, merged.via, merged.linked, self._run.id, *key))
            return
        self._writes.sites += [(self._run.id, *key, site) for site in merged.sites - old.sites]
        ruling = self.admission.judge(href, url.host_of(href), merged, PURPOSES[key[1]])
        self._writes.merged.append((
            merged.depth, merged.hops, merged.nofollow, merged.found_by, merged.via, merged.linked, merged.grant,
            merged.standing, ruling.site, ruling.rule or ruling.refused, self._run.id, *key,
        ))  # fmt: skip
        if row[9] != "excluded":
            self.rulings.add(href, PURPOSES[key[1]], merged, Ruling("", ruling.rule or ruling.refused))
        if key[1] == 0 and merged.standing > old.standing and row[9] is None:
            self._database.run("come_forward", self._head_start(key), self._run.id, key[0], key[2])
        passes_on = (merged.depth, merged.hops, merged.sites, merged.grant, merged.standing) != (
            old.depth, old.hops, old.sites, old.grant, old.standing,
        )  # fmt: skip
        if key[1] == _ROBOTS and row[9] is not None and merged.grant != old.grant:
            self._woken.append(url.origin_of(href))
            return
        if passes_on and row[9] is not None and (key[1] == NUMBERS[Purpose.SITEMAP] or merged.grant != old.grant):
            self._sitemaps[href] = None
        if passes_on and key[1] == _CHECK:
            self.parts.lead_on(row[11], href, merged)
        if passes_on and row[9] is not None and key[1] == 0:
            self._replay(key, href, merged, redirect_to=row[11], refreshed=row[10] == "meta_refresh")

    def replay(self, key: Key, href: str, redirect_to: str | None) -> None:
        """Collect what an ended page led to whose response came for another purpose of its address (R-1.3)."""
        facts = self.keys.facts_at(key)
        if facts is not None:
            self._replay(key, href, facts, redirect_to, refreshed=False, is_first=True)

    def _replay(
        self, key: Key, href: str, facts: Facts, redirect_to: str | None, *, refreshed: bool, is_first: bool = False
    ) -> None:
        """Add an ended entry's outlinks again with better facts; nothing is fetched (R-2.1).

        ``is_first``: they came for another purpose of the address, and count now as the page's.
        """
        host, _, hashed = key
        stored = self._database.one("outlinks", self._run.crawl, host, hashed, self._run.id)
        if stored:
            self.links(unpack(stored[0]), href, facts, replayed=not is_first)
        if redirect_to:
            found_by = FoundBy.REFRESH if refreshed else FoundBy.REDIRECT
            self.moved(redirect_to, href, facts, found_by, grant_of_hop(facts.grant))
        canonical = self._database.one("canonical", self._run.id, host, hashed)
        if canonical and canonical[0]:
            self.canonical(canonical[0], href, facts)

    # -- refusals, findings ------------------------------------------------------------------------

    def judge_again(self, hosts: Iterable[str] | None = None, *, everything: bool = False) -> None:
        """Collect what the scope no longer refuses; see ``Refusals.reopened``."""
        for candidate in self._refusals.reopened(self.admission, hosts, everything=everything):
            self._recent.pop(candidate.href, None)
            self.add(candidate)

    def _collided(self, href: str) -> None:
        self.note("hash_collision", href)

    def note(self, code: str, subject: str, **arguments: str | float) -> None:
        """Remember a finding until the batch is written."""
        self._findings.append((code, subject, arguments))

    def take_findings(self) -> list[tuple[str, str, dict[str, str | float]]]:
        """Return the findings (code, subject, arguments) since the last call."""
        findings, self._findings = self._findings, []
        return findings

    def host_id(self, name: str) -> int:
        """Return the number of a host."""
        return self._hosts.number(name)

    def _origin(self, origin: str, host: int, *, wants_robots: bool) -> int:
        """Return the number of an origin's robots.txt; its entry is added with the first page."""
        number = self._hosts.origin(origin, host)
        if wants_robots and number not in self._writes.asked_robots:
            self._writes.asked_robots.add(number)
            self.add(Candidate(f"{origin}/robots.txt", _ROBOTS_FACTS, Purpose.ROBOTS))
        return number


_SAME_DEPTH = {"refresh": FoundBy.REFRESH, "canonical": FoundBy.CANONICAL}
_ROBOTS_FACTS = Facts(0, found_by=FoundBy.ROBOTS, linked=False, grant=OWN_ROBOTS)


_Found = tuple[int, int, str, str, Facts]
"""host, purpose, name of the host, href, facts"""


def _host_and_purpose(found: _Found) -> tuple[int, int]:
    return found[:2]


def _is_listed_now(facts: Facts, row: Row | None) -> bool:
    """Return whether a page is found in a sitemap for the first time, so that its priority counts."""
    return facts.standing is Standing.LISTED and (row is None or row[14] < Standing.LISTED)
