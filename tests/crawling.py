"""Whole crawls of a made web on a made clock, for tests of what the ledger then says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import apsw

from purlieu import settings as settings_text
from purlieu.crawl.clock import Clock
from purlieu.crawl.local import Crawl
from purlieu.crawl.result import Result
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb

HOME: Final = "http://site.test/"
COLUMNS: Final = [
    "url",
    "purpose",
    "kind",
    "reason",
    "detail",
    "status",
    "redirect_to",
    "depth",
    "hops",
    "via",
    "found_by",
    "linked",
    "site",
    "rule",
    "attempts",
    "title",
]


def made_settings(store: Path, tree: Mapping[str, Any] | None = None) -> settings_text.Settings:
    """Return settings for ``HOME`` with a store at the path; ``tree`` as nested tables."""
    return settings_text.of({"seeds": [HOME], **(tree or {}), "store": str(store), "output": str(store.parent / "out")})


def crawl(
    web: FakeWeb, settings: settings_text.Settings, clock: Clock | None = None, *, resume: bool = False
) -> Result:
    """Crawl to the end and return the result; no visit may have crashed."""

    async def main() -> Result:
        async with Crawl(settings, fetcher=web, clock=clock or FakeClock(), resume=resume) as run:
            await run.run()
        return run.result

    result = asyncio.run(main())
    assert "crashed.crashed" not in result.counts, ledger(Path(settings.store))
    return result


def ledger(store: Path, run: int = 1) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the ledger of a run by (purpose, url)."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    rows = list(connection.execute(f"SELECT {', '.join(COLUMNS)} FROM ledger WHERE run = ?", (run,)))
    connection.close()
    found = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    by_key = {(row["purpose"], row["url"]): row for row in found}
    assert len(by_key) == len(found), "a URL stands twice"
    return by_key


def endings(store: Path, run: int = 1, purpose: str = "page") -> dict[str, str]:
    """Return ``kind.reason`` of each URL of a run."""
    return {url: f"{row['kind']}.{row['reason']}" for (what, url), row in ledger(store, run).items() if what == purpose}


def html(*links: str, title: str = "t", head: str = "", body: str = "words") -> str:
    """Return a page with these links."""
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}{anchors}</body></html>"
