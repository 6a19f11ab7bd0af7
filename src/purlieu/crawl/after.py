"""Tell somebody that a run has ended: the owner's command, the owner's webhook.

What is told comes in as bytes. Nothing here fails: what did not work comes back as a sentence.
"""

from __future__ import annotations

import asyncio
from typing import Final

from purlieu.crawl.process import command
from purlieu.fetch.fetcher import Fetcher
from purlieu.response import Failure, Request
from purlieu.settings import AfterSettings

_ANSWER_BYTES: Final = 65_536
_JSON: Final = (("Content-Type", "application/json"),)


async def tell(settings: AfterSettings, body: bytes, fetcher: Fetcher) -> list[tuple[str, str]]:
    """Run the command and send to the webhook, as far as there are any; return (what, why) of each that failed.

    ``settings`` are resolved: no ``env:NAME`` is left in them. ``body`` is the result as JSON.
    """
    failed = []
    if settings.command and (why := await command(settings.command, body, settings.timeout_seconds)):
        failed.append((f"after.command ({settings.command[0]})", why))
    if settings.webhook and (why := await _send(settings, body, fetcher)):
        failed.append(("after.webhook", why))  # without its address, which may be a secret
    return failed


async def _send(settings: AfterSettings, body: bytes, fetcher: Fetcher) -> str:
    # The owner names the address, so it may lie in the owner's own network.
    request = Request(settings.webhook, _ANSWER_BYTES, headers=_JSON, method="POST", opens=True, body=body)
    try:
        async with asyncio.timeout(settings.timeout_seconds):
            answer = await fetcher.fetch(request)
    except TimeoutError:
        return f"it took longer than {settings.timeout_seconds:g} s"
    if isinstance(answer, Failure):
        return f"{answer.fault}: {answer.detail}"
    return "" if 200 <= answer.status < 300 else f"status {answer.status}"
