"""Parts that more than one process of a run needs: what asks the web by a crawl's settings.

Decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purlieu import __version__
from purlieu.fetch import secret
from purlieu.fetch.http import HttpFetcher
from purlieu.settings import politeness_of

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.fetch.fetcher import Fetcher
    from purlieu.settings import Settings


def fetcher(settings: Settings, clock: Clock) -> HttpFetcher:
    """Return what asks the web; raises SettingsError for a secret that cannot be had."""
    resolved = secret.resolved(settings, clock.now())
    agent = settings.fetch.user_agent or f"Purlieu/{__version__}"
    coded = settings.keeps_bodies and settings.archive.as_sent
    return HttpFetcher(resolved.fetch, resolved.origins, resolved.hosts, agent, clock.now, coded=coded)


def with_doors(settings: Settings, clock: Clock) -> Fetcher:
    """Return ``fetcher``, which logs in where an origin wants that.

    What counts refusals must see every request of a run, so that such a run has one process (``local.Crawl``).
    """
    made = secret.resolved(settings, clock.now())
    plain = fetcher(settings, clock)
    if not any(one.login_page or one.user or one.token or one.auth == "negotiate" for one in made.origins):
        return plain
    from purlieu.fetch.door import DoorFetcher  # only who logs in pays for it

    async def pause(host: str) -> None:
        await clock.sleep(politeness_of(settings, host).delay or 0.0)

    return DoorFetcher(plain, made.origins, pause)
