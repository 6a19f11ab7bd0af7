"""Does a found URL become an entry, and if not, by which ending of ``excluded``.

Scope is asked first, always (EN-20c); then the owner's filters and their callable, which can only refuse; then
the traps and limits that are known before a URL is fetched. Pure: the same facts give the same ruling, whatever
the order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from purlieu.candidate import Facts, Purpose, Standing
from purlieu.named import NamedTuple
from purlieu.normalise import Normaliser
from purlieu.pattern.filters import Filters
from purlieu.scope import GRANT_FOREIGN, GRANT_SEED, GRANT_SEED_REDIRECT, Scope
from purlieu.settings import Settings
from purlieu.trap import YEAR_SECONDS, TrapRules
from purlieu.value import dataclass, field

Accept = Callable[[str], object]
"""The owner's own filter: given a URL in scope, anything false refuses it (R-3.4)."""
INDEX_IN_INDEX = "index-in-index"
WEB_SCHEMES = ("http://", "https://")
_OF_SEEDS = frozenset({GRANT_SEED, GRANT_SEED_REDIRECT})


class Ruling(NamedTuple):
    """``refused`` is the code of an ``excluded`` ending, or "" when the URL is in; ``rule`` decided it.

    ``detail`` is what an owner's callable said when it failed.
    """

    refused: str
    rule: str
    site: int | None = None
    sites: frozenset[int] = frozenset()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Admission:
    """The rules of one crawl for what is found. ``own_seed``: judge by lineage (R-3.1)."""

    scope: Scope
    max_depth: int | None
    max_redirects: int
    max_url_length: int
    repeated_segment: int
    obey_nofollow: bool
    only_seeds: bool
    own_seed: bool
    filters: Filters | None = None
    filter_seeds: bool = False
    """Whether filters are asked of seeds and of where these redirect to, too (UF-11)."""
    accept: Accept | None = None
    normaliser: Normaliser = field(default_factory=Normaliser)
    traps: TrapRules = field(default_factory=TrapRules)
    sitemaps_only: bool = False
    """Whether pages are taken only where a sitemap names them (SM-77)."""
    checks_external: bool = False
    """Whether links that lead out of scope are asked for, to learn whether they are there."""

    @classmethod
    def of(cls, settings: Settings, accept: Accept | None = None, *, now: float | None = None) -> Self:
        """Return the rules that the settings describe, before any seed has landed.

        ``now`` is when the run began, in seconds since the epoch: calendars are followed a few years from there on.
        """
        limits = settings.limits
        return cls(
            Scope.of(settings),
            limits.max_depth,
            limits.max_redirects,
            limits.max_url_length,
            limits.repeated_segment,
            settings.links.obey_nofollow,
            settings.scope.only_seeds,
            settings.scope.judge_against == "own-seed",
            Filters.of(settings.filter) or None,
            settings.filter.apply_to_seeds,
            accept,
            Normaliser.of(settings.normalise),
            _traps(settings, now),
            settings.sitemap.mode == "sitemaps-only",
            settings.links.check_external,
        )

    def judge(self, href: str, host: str, facts: Facts, purpose: Purpose) -> Ruling:
        """Return whether an absolute http(s) href without fragment is in, and by which rule.

        A grant is named before the scope's own rule, so that the ledger does not depend on which came first. Filters
        are for pages and their parts: a robots.txt or a sitemap is fetched for what it says of them.
        """
        site, sites = self._sites(href, host, facts)
        if facts.grant and facts.hops <= self.max_redirects and (facts.grant != GRANT_FOREIGN or self.checks_external):
            refused = self._filtered(href, purpose) if self.filter_seeds and facts.grant in _OF_SEEDS else None
            return refused or Ruling("", facts.grant, site, sites)
        if self.only_seeds:
            return Ruling("scope", "only-seeds")
        if site is None:
            return Ruling("scope", self._scope_rule(host))
        if refused := self._by_sitemaps(facts, purpose):
            return refused
        if (self.filters is not None or self.accept is not None) and (refused := self._filtered(href, purpose)):
            return refused
        if len(href) > self.max_url_length:
            return Ruling("url_too_long", f"max_url_length={self.max_url_length}")
        if rule := self.trap(href, facts, purpose):
            return Ruling("trap", rule)
        if facts.hops > self.max_redirects:
            return Ruling("depth", f"max_redirects={self.max_redirects}")
        if self.max_depth is not None and facts.depth > self.max_depth:
            return Ruling("depth", f"max_depth={self.max_depth}")
        if facts.nofollow and self.obey_nofollow:
            return Ruling("nofollow", "nofollow")
        if facts.standing is Standing.MISPLACED:  # last, so that it is all that is wrong
            return Ruling("sitemap_location", f"sitemap:{facts.via}"[:200])
        return Ruling("", self.scope.rule(site), site, sites)

    def is_outside(self, href: str, host: str, facts: Facts) -> bool:
        """Return whether a link found in this way leads out of scope, grants and all other rules aside."""
        return self.only_seeds or self._sites(href, host, facts)[0] is None

    def _by_sitemaps(self, facts: Facts, purpose: Purpose) -> Ruling | None:
        """Return how the rules of sitemaps refuse a URL: an index is followed one level, and only what they name."""
        if purpose is Purpose.SITEMAP and facts.depth > 1:
            return Ruling("depth", INDEX_IN_INDEX)
        if self.sitemaps_only and purpose is Purpose.PAGE and facts.standing is Standing.FOUND:
            return Ruling("not_in_sitemap", "sitemap.mode=sitemaps-only")
        return None

    def trap(self, href: str, facts: Facts, purpose: Purpose) -> str:
        """Return the rule by which an address looks endless, "" for none."""
        if self.repeated_segment and repeats(href, self.repeated_segment) and not self.traps.allows(href):
            return f"repeated_segment={self.repeated_segment}"
        return self.traps.told(href, facts.depth) if purpose is Purpose.PAGE else ""

    def _filtered(self, href: str, purpose: Purpose) -> Ruling | None:
        """Return how the owner's filters and then their callable refuse a page."""
        if purpose is Purpose.ROBOTS or purpose is Purpose.SITEMAP:
            return None
        if self.filters is not None and (refusal := self.filters.refuse(href)):
            return Ruling(*refusal)
        if self.accept is None:
            return None
        try:
            return None if self.accept(href) else Ruling("filter", "accept")
        except MemoryError:
            raise  # ends the run
        except Exception as error:  # noqa: BLE001  whatever the owner's code raises, it has not admitted
            return Ruling("filter", f"accept:{type(error).__name__}", detail=_line_of(error))

    def _sites(self, href: str, host: str, facts: Facts) -> tuple[int | None, frozenset[int]]:
        """Return the first site that accepts and, for own-seed, all that accept of the lineage."""
        if not self.own_seed:
            return self.scope.accepts(href, host), frozenset()
        sites = self.scope.accepting(href, host, facts.sites)
        return min(sites, default=None), sites

    def _scope_rule(self, host: str) -> str:
        return f"out-of-scope:{host}"[:200]


def _line_of(error: Exception) -> str:
    """Return what an exception says, in one short line; "" where it cannot even say that."""
    try:
        return " ".join(str(error).split())[:200]
    except Exception:  # noqa: BLE001  the owner's code once more
        return ""


def _traps(settings: Settings, now: float | None) -> TrapRules:
    traps = settings.traps
    allowed = Filters(exclude=traps.allow) if traps.allow else None
    if not traps.detect:
        return TrapRules(allowed=allowed)
    return TrapRules(
        settings.limits.repeated_segment,
        traps.max_segments,
        traps.max_parameters,
        None if traps.years_ahead < 0 else traps.years_ahead,
        traps.first_year,
        traps.chain,
        None if now is None else 1970 + int(now // YEAR_SECONDS),
        allowed,
    )


def grant_of_hop(grant: str) -> str:
    """Return the grant that a redirect's target has from its source: the hops of a seed's chain are fetched (R-3.3).

    So are those from a foreign link that is checked, to learn where it ends.
    """
    if grant == GRANT_FOREIGN:
        return grant
    return GRANT_SEED_REDIRECT if grant in {GRANT_SEED, GRANT_SEED_REDIRECT} else ""


def repeats(href: str, times: int) -> bool:
    """Return whether a path segment stands ``times`` times with at most one other between (UF-10, R-3.4).

    The classic loop breaker of crawlers without its back-reference; linear in the length.
    """
    if href.count("/") < times + 3:
        return False
    segments = href.partition("?")[0].split("/")[3:]
    runs: dict[str, tuple[int, int]] = {}
    for position, segment in enumerate(segments):
        last, count = runs.get(segment, (-9, 0))
        count = count + 1 if segment and position - last <= 2 else 1
        if count >= times and position < len(segments) - 1:
            return True
        runs[segment] = (position, count)
    return False
