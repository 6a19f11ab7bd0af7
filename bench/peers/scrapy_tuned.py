"""Scrapy by someone who has measured it: links are made unique, and known ones dropped, before they are requests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

SEED, OUTPUT = sys.argv[1:3]
HOST = urlsplit(SEED).netloc


class Pages(scrapy.Spider):
    """Follow every link of the seed's host once."""

    name = "pages"
    start_urls = (SEED,)

    def __init__(self) -> None:
        """Start with nothing but the seed known."""
        super().__init__()
        self.known = {SEED}

    def parse(self, response: Response) -> Iterator[dict[str, object] | scrapy.Request]:
        """Give one small item, then a request for each URL not met before."""
        if "html" not in str(response.headers.get("Content-Type")):
            yield {"url": response.url, "status": response.status, "title": None}
            return
        yield {"url": response.url, "status": response.status, "title": response.css("title::text").get()}
        links = {href.partition("#")[0] for href in response.xpath("//a/@href | //area/@href").getall()}
        for url in {urljoin(response.url, link) for link in links}:
            # Asked anew for each one: other pages are parsed between two yields.
            if url not in self.known and urlsplit(url).netloc == HOST:
                self.known.add(url)
                yield scrapy.Request(url, dont_filter=True)


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
