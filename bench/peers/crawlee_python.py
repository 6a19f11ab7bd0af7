"""Crawlee for Python as its introduction has it: a ParselCrawler that enqueues a page's links and stores one item.

Kept in memory instead of in one file per request, which is to its advantage.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

SEED, OUTPUT = sys.argv[1:3]


async def main() -> None:
    """Crawl the seed's host and write one line a page."""
    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=8, desired_concurrency=8, max_concurrency=8),
        respect_robots_txt_file=True,
        configure_logging=False,
    )
    logging.basicConfig(level=logging.WARNING)

    items: list[str] = []

    @crawler.router.default_handler
    async def page(context: ParselCrawlingContext) -> None:
        title = context.selector.css("title::text").get()
        status = context.http_response.status_code
        items.append(json.dumps({"url": context.request.url, "status": status, "title": title}))
        await context.enqueue_links()

    await crawler.run([SEED])
    Path(OUTPUT).write_text("\n".join(items), encoding="utf-8")  # noqa: ASYNC240  nothing else runs any more


asyncio.run(main())
