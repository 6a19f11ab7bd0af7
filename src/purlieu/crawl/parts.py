"""Parts that more than one process of a run needs: what asks the web by a crawl's settings.

Decides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purlieu import __version__
from purlieu.errors import SettingsError
from purlieu.fetch import secret
from purlieu.fetch.http import HttpFetcher
from purlieu.settings import politeness_of
from purlieu.value import replace

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.crawl.documents import DocumentReader
    from purlieu.fetch.fetcher import Fetcher
    from purlieu.settings import Settings


def fetcher(settings: Settings, clock: Clock) -> HttpFetcher:
    """Return what asks the web; raises SettingsError for a secret that cannot be had."""
    return _asking(secret.resolved(settings, clock.now()), clock)


def _asking(resolved: Settings, clock: Clock) -> HttpFetcher:
    agent = resolved.fetch.user_agent or f"Purlieu/{__version__}"
    coded = resolved.keeps_bodies and resolved.archive.as_sent
    return HttpFetcher(resolved.fetch, resolved.origins, resolved.hosts, agent, clock.now, coded=coded)


def documents(settings: Settings) -> DocumentReader | None:
    """Return what reads documents, None where the owner wants none; raises SettingsError where it is not installed."""
    if not settings.reads_documents:
        return None
    from purlieu.crawl.documents import DocumentReader  # only who reads any pays for it
    from purlieu.document import lacking

    if mistakes := lacking(settings):
        raise SettingsError(mistakes)
    return DocumentReader(settings.documents.timeout_seconds, settings.documents.memory_bytes)


def with_doors(settings: Settings, clock: Clock) -> Fetcher:
    """Return ``fetcher``, which logs in where an origin wants that.

    What counts refusals must see every request of a run, so that such a run has one process (``local.Crawl``).
    """
    made = secret.resolved(settings, clock.now())
    plain: Fetcher = _asking(made, clock)
    if not any(one.login_page or one.user or one.token or one.auth == "negotiate" for one in made.origins):
        return plain
    from purlieu.fetch.door import DoorFetcher  # only who logs in pays for it

    if any(one.auth == "ntlm" for one in made.origins):
        from purlieu.fetch.ntlm import NtlmFetcher

        slower = replace(made, fetch=replace(made.fetch, http2=False))  # NTLM logs in a connection of HTTP/1.1
        plain = NtlmFetcher(plain, made.origins, lambda: _asking(slower, clock))

    async def pause(host: str) -> None:
        await clock.sleep(politeness_of(settings, host).delay or 0.0)

    return DoorFetcher(plain, made.origins, pause)
