"""What the owner's settings mean to the parts of a run: their limits, their rules, their entry points.

Turns settings into values. Knows no store, no socket and no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purlieu import settings as settings_text
from purlieu.candidate import EMBEDDED, NOT_FOLLOWED, Candidate, Facts, FoundBy, Purpose
from purlieu.crawl.desk import RunLimits
from purlieu.revisit import Rhythm
from purlieu.scope import GRANT_SEED, GRANT_SITEMAP, Scope
from purlieu.store.counters import IntakeLimits
from purlieu.store.frontier import LEASE_SECONDS, FrontierRules
from purlieu.store.sitemaps import SitemapRules
from purlieu.url import host_of, parse

if TYPE_CHECKING:
    from purlieu.settings import Settings


def intake_limits(settings: Settings) -> IntakeLimits:
    """Return what bounds the taking in of what is found."""
    return IntakeLimits(
        settings.ledger.refusals_per_host,
        settings.limits.pages_per_host,
        canonical=settings.links.canonical,
        hosts_per_domain=settings.traps.hosts_per_domain if settings.traps.detect else 0,
        probes=settings.traps.soft_404,
        resources=settings.links.check_resources,
        foreign_robots=settings.links.external_robots,
    )


def frontier_rules(settings: Settings) -> FrontierRules:
    """Return what the frontier goes by."""
    return FrontierRules(
        robots_max_age_seconds=settings.robots.max_age_seconds,
        sitemaps=_sitemap_rules(settings),
        agent=settings.robots.agent,
        lease_seconds=max(LEASE_SECONDS, 2 * _visit_seconds(settings)),
        rhythm=_rhythm(settings),
        checks=settings.links.check_resources,
        in_groups=settings_text.is_grouped(settings),
        foreign_kinds=_foreign_kinds(settings),
    )


def _visit_seconds(settings: Settings) -> float:
    """Return how long a visit may take: its request, and the reading of its document."""
    if not settings.reads_documents:
        return settings.fetch.timeout_seconds
    from purlieu.crawl.documents import visit_seconds  # only who reads any pays for it

    return settings.fetch.timeout_seconds + visit_seconds(settings.documents.timeout_seconds)


def _foreign_kinds(settings: Settings) -> frozenset[str]:
    """Return the kinds of links that are checked where they lead out of scope, none where nothing is."""
    links = settings.links
    if not links.check_external:
        return frozenset()
    return frozenset(links.kinds) - NOT_FOLLOWED - {"sitemap"} | (EMBEDDED if links.check_resources else frozenset())


def _rhythm(settings: Settings) -> Rhythm:
    own = settings.history
    return Rhythm(
        own.least_interval_seconds,
        max(own.least_interval_seconds, own.most_interval_seconds),
        own.sample,
        trust_hints=own.trust_sitemaps and settings.sitemap.use,
        gone_after=own.gone_after,
        retire_after=max(own.gone_after, own.retire_after),
    )


def _sitemap_rules(settings: Settings) -> SitemapRules:
    sitemap = settings.sitemap
    strictly = sitemap.strict and sitemap.location == "by-discovery"
    return SitemapRules(
        read=settings.finds_sitemaps, location="enforce" if strictly else sitemap.location, guess=sitemap.guess
    )


def run_limits(settings: Settings, active_seconds: float, pages: int) -> RunLimits:
    """Return the limits of a run that has been active for so many seconds and has asked for so many pages."""
    limits = settings.limits
    return RunLimits(
        limits.max_pages,
        limits.max_targets,
        limits.max_seconds,
        settings.politeness.max_hosts,
        _visit_seconds(settings),
        active_seconds,
        pages,
    )


def entry_points(settings: Settings, seeds: list[str]) -> list[Candidate]:
    """Seeds are always fetched (R-3.3); each is its own lineage. Sitemaps that the owner names are granted too."""
    scope = Scope.of(settings)
    own_seed = settings.scope.judge_against == "own-seed"
    points = [
        Candidate(
            href,
            Facts(
                0,
                found_by=FoundBy.SEED,
                grant=GRANT_SEED,
                sites=scope.accepting(href, host_of(href)) if own_seed else frozenset(),
            ),
        )
        for href in seeds
    ]
    points += [
        Candidate(
            parse(file).href, Facts(0, found_by=FoundBy.OWNER, linked=False, grant=GRANT_SITEMAP), Purpose.SITEMAP
        )
        for file in settings.sitemap.files
    ]
    return points


def first_host(settings: Settings) -> str:
    """Return the name of a crawl that was given none: its first seed's host (R-1.7)."""
    return host_of(parse(settings.seeds[0]).href) if settings.seeds else "crawl"
