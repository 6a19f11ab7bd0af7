"""What a run refuses: a row for each address, or only a count where a host has too many (R-1.4).

Runs inside the transaction of ``frontier.finish``. Judges nothing: rulings come from the intake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from purlieu import url
from purlieu.admission import Admission, Ruling
from purlieu.candidate import Candidate, Facts, FoundBy, Purpose, Standing
from purlieu.store.writes import FIRST, PURPOSES, Key, Writes

if TYPE_CHECKING:
    from purlieu.store.counters import Counters, IntakeLimits, Run
    from purlieu.store.database import Database, Row
    from purlieu.store.hosts import Hosts
    from purlieu.store.rulings import Rulings

# Schemes that are counted and not listed, since a site has one for every contact line.
COUNTED_SCHEMES = frozenset({"mailto", "tel", "javascript", "data", "sms", "callto", "about", "blob"})
_CUT_SHORT = frozenset({"scope", "invalid_url", "scheme", "not_in_sitemap", "sitemap_location"})


class Refusals:
    """The refusals of one run."""

    def __init__(
        self, database: Database, run: Run, limits: IntakeLimits, counters: Counters, writes: Writes, hosts: Hosts,
        rulings: Rulings,
    ) -> None:  # fmt: skip
        """Write through ``writes``, count in ``counters`` and ``hosts``."""
        self._database = database
        self._run = run
        self._limits = limits
        self._counters = counters
        self._writes = writes
        self._hosts = hosts
        self._rulings = rulings

    def known(self, host: int, number: int, hashes: list[int]) -> dict[int, Row]:
        """Return the rows of the refused among several addresses of a host, by their hash."""
        if not hashes or not self._hosts.count(host).refused:
            return {}
        return {row[-1]: row for row in self._database.rows_of("refusals", hashes, self._run.id, host, number)}

    def refuse(self, key: Key, href: str, facts: Facts, ruling: Ruling, admission: Admission, *, known: bool) -> None:
        """Collect a refused address, listed or counted; ``known``: it has a row already."""
        host = key[0]
        text = href if len(href) <= admission.max_url_length else href[: admission.max_url_length]
        self._rulings.add(text, PURPOSES[key[1]], facts, ruling)
        if not self.is_listed(host, ruling, admission, known=known):
            self._counters.unlisted += 1
            self._writes.unlisted[host, ruling.refused, ruling.rule] += 1
            return
        if not known:
            self._counters.refused += 1
            self._writes.refused[host] += 1
            self._hosts.count(host).refused += 1
        self._writes.refusals.append((
            self._run.id, *key, text, facts.depth, facts.hops, facts.nofollow, facts.found_by, facts.via,
            facts.linked, ",".join(map(str, sorted(facts.sites))), facts.grant, ruling.refused, ruling.rule,
            facts.standing,
        ))  # fmt: skip

    def is_listed(self, host: int, ruling: Ruling, admission: Admission, *, known: bool) -> bool:
        """Only a host that no site accepts is cut short, and not while a seed may still land there (R-1.4, R-3.2)."""
        if known or ruling.refused not in _CUT_SHORT:
            return True
        if ruling.refused == "scope" and admission.scope.pending and not admission.only_seeds:
            return True
        return self._hosts.count(host).refused < self._limits.refusals_per_host

    def not_of_the_web(self, text: str, facts: Facts, hashed: int, admission: Admission, *, parsed: bool) -> None:
        """Count or list what is no http(s) address; its row is written at once, as it may come again in a moment."""
        scheme = text.partition(":")[0].lower() if parsed else ""
        if scheme in COUNTED_SCHEMES:
            self._counters.unlisted += 1
            self._writes.unlisted[0, "scheme", scheme] += 1
            self._rulings.add(text, Purpose.PAGE, facts, Ruling("scheme", scheme))
            return
        ruling = Ruling("scheme", scheme[:40]) if parsed else Ruling("invalid_url", "invalid-url")
        row = self._database.one("refusal", self._run.id, 0, 0, hashed)
        merged = refused_facts(row).merged(facts) if row else facts
        if row is None or merged != refused_facts(row):
            self.refuse((0, 0, hashed), text, merged, ruling, admission, known=row is not None)
            self._writes.flush_refusals(self._database)

    def reopened(self, admission: Admission, hosts: Iterable[str] | None, *, everything: bool) -> Iterator[Candidate]:
        """Yield what the scope no longer refuses after a site has landed (R-3.2); another rule may refuse it now.

        ``hosts`` are all that the landing can have opened, None when that is not known. ``everything`` yields
        refusals of every reason, as a resume with other settings asks for.
        """
        if everything or hosts is None:
            yield from self._reopened(
                "all_refusals" if everything else "scope_refusals", (), admission, everything=everything
            )
            return
        for host in hosts:
            yield from self._reopened(
                "scope_refusals_of_host", (self._hosts.number(host),), admission, everything=everything
            )

    def _reopened(
        self, name: str, where: tuple[int, ...], admission: Admission, *, everything: bool
    ) -> Iterator[Candidate]:
        first = FIRST[len(where) :]
        last = first
        while rows := list(self._database.rows(name, self._run.id, *where, *last)):
            last = tuple(rows[-1][3 - len(first) : 3])
            for host_number, number, _, href, *rest in rows:
                facts, purpose, host = refused_facts((href, *rest)), PURPOSES[number], url.host_of(href)
                # What is no address stands under no host, although it may look as if it had one ("http://[").
                if host_number and (everything or admission.judge(href, host, facts, purpose).refused != "scope"):
                    yield Candidate(href, facts, purpose)


def refused_facts(row: Row) -> Facts:
    """Return the facts of a row of the statement ``refusal``."""
    sites = frozenset(map(int, row[7].split(","))) if row[7] else frozenset()
    return Facts(row[1], row[2], bool(row[3]), FoundBy(row[4]), row[5], bool(row[6]), row[8], sites, Standing(row[10]))
