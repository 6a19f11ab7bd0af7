"""Scrapy as its tutorial has it: a CrawlSpider with the stock link extractor, one item a page."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

SEED, OUTPUT = sys.argv[1:3]


class Pages(CrawlSpider):
    """Follow every link of the seed's host."""

    name = "pages"
    start_urls = (SEED,)
    allowed_domains = (urlsplit(SEED).hostname,)
    rules = (Rule(LinkExtractor(), callback="page", follow=True),)

    def parse_start_url(self, response: Response, **_: Any) -> Iterator[dict[str, object]]:
        """Keep the seed like any other page."""
        return self.page(response)

    def page(self, response: Response) -> Iterator[dict[str, object]]:
        """Give one small item, as a ledger would hold."""
        title = response.css("title::text").get() if "html" in str(response.headers.get("Content-Type")) else None
        yield {"url": response.url, "status": response.status, "title": title}


process = CrawlerProcess(
    {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
        "FEEDS": {OUTPUT: {"format": "jsonlines", "overwrite": True}},
    }
)
process.crawl(Pages)
process.start()
