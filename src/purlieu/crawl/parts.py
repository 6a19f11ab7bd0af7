"""Parts that more than one process of a run needs: what asks the web by a crawl's settings.

Decides nothing.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from purlieu import __version__
from purlieu import settings as settings_text
from purlieu.fetch.http import HttpFetcher

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.settings import Settings


def fetcher(settings: Settings, clock: Clock) -> HttpFetcher:
    """Return what asks the web; raises SettingsError for a secret that is not in the environment."""
    resolved = settings_text.resolve(settings, os.environ)
    agent = settings.fetch.user_agent or f"Purlieu/{__version__}"
    coded = settings.keeps_bodies and settings.archive.as_sent
    return HttpFetcher(resolved.fetch, resolved.origins, resolved.hosts, agent, clock.now, coded=coded)
