"""Read one sitemap file with one of the peers, all fields included, and tell how long that took.

    sitemap_reader.py scrapy|usp FILE

Prints JSON: entries, seconds of CPU (the best of five readings), version.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib.metadata import version
from pathlib import Path

NAME, FILE = sys.argv[1:3]
BODY = Path(FILE).read_bytes()


def scrapy() -> int:
    """Read as Scrapy's SitemapSpider does; its entries are dictionaries of all fields."""
    from scrapy.utils.sitemap import Sitemap

    return len(list(Sitemap(BODY)))


def usp() -> int:
    """Read as ultimate-sitemap-parser does; its pages are objects with all fields."""
    from usp.tree import sitemap_from_str

    return len(list(sitemap_from_str(BODY.decode()).all_pages()))


logging.disable(logging.CRITICAL)
READ = {"scrapy": scrapy, "usp": usp}[NAME]
times = []
for _ in range(5 if NAME == "scrapy" else 3):
    before = time.process_time()
    entries = READ()
    times.append(time.process_time() - before)
package = {"usp": "ultimate-sitemap-parser"}.get(NAME, NAME)
print(json.dumps({"entries": entries, "seconds": min(times), "version": version(package)}))
