"""A crawl of everything that misbehaves, on real sockets: each page ends in the right outcome and the crawl goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.crawling import endings

from purlieu import settings as settings_text
from purlieu.crawl.local import Crawl
from purlieu.testing.sites import TIGHT, HostileSite


def test_every_trouble_ends_in_its_outcome(tmp_path: Path) -> None:
    """Never-ending bodies, endless headers, bombs, garbage, resets and drips each have their ending (R-6.1, section 6)."""
    store = tmp_path / "s.db"
    with HostileSite() as site:
        settings = settings_text.of(
            {
                "seeds": [site.url],
                "store": str(store),
                "fetch": TIGHT,
                "politeness": {"retries": 0, "give_up_after": 1000, "max_backoff_seconds": 0},
            }
        )

        async def main() -> None:
            async with Crawl(settings) as crawl:
                await crawl.run()
            assert crawl.result.books_balanced, crawl.result.faults

        asyncio.run(main())
        found = endings(store)
        expected = site.expected
    assert {url: found.get(url) for url in expected} == expected
