"""Looks at sitemaps that belong to no crawl, with a fetcher of its own; for the command line and the console alike.

Builds the parts; what is wrong with a file is ``purlieu.sitemap``'s to say.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from purlieu import __version__
from purlieu.crawl.clock import RealClock, SteadyClock
from purlieu.crawl.sitemap_walk import SitemapWalk, WalkRules
from purlieu.settings import Settings


@asynccontextmanager
async def looking(made: Settings, rules: WalkRules) -> AsyncGenerator[SitemapWalk]:
    """Give what looks at sitemaps as the settings say: they may close private networks (``fetch.public_only``)."""
    from purlieu.fetch import secret
    from purlieu.fetch.http import HttpFetcher

    clock = SteadyClock(RealClock())
    resolved = secret.resolved(made, clock.now())
    agent = made.fetch.user_agent or f"Purlieu/{__version__}"
    fetcher = HttpFetcher(resolved.fetch, resolved.origins, resolved.hosts, agent, clock.now)
    try:
        yield SitemapWalk(made, fetcher, clock, rules)
    finally:
        await fetcher.close()
