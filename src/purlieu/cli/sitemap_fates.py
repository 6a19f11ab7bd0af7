"""How every entry of a sitemap ends when it is asked for: a crawl of exactly these, in a store that is thrown away.

Builds the crawl; what an ending means is the table of outcomes'.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

from purlieu import settings
from purlieu.crawl.local import Crawl
from purlieu.errors import UrlError
from purlieu.report import column
from purlieu.settings import Settings
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import parse

_TOLD = ("url", "kind", "reason", "status", "redirect_to", "last_url", "index_reason", "content_type")


def of(locs: Iterable[str], rejected: Container[str], made: Settings) -> list[dict[str, Any]]:
    """Return the fate of each entry, in order: the columns of the ledger in ``_TOLD``.

    The entries are asked for as a list is (``purlieu crawl --list``): nothing else is, redirects excepted. Those that
    do not count by the location rule are not asked for: a file of the web's must not lead into the owner's network.
    """
    wanted: dict[str, str] = {}
    fates: dict[str, dict[str, Any]] = {}
    for loc in locs:
        if loc in rejected:
            fates[loc] = dict.fromkeys(_TOLD) | {"url": loc, "kind": "excluded", "reason": "sitemap_location"}
            continue
        try:
            wanted[loc] = parse(loc).href
        except UrlError:
            fates[loc] = dict.fromkeys(_TOLD) | {"url": loc, "kind": "excluded", "reason": "invalid_url"}
    with tempfile.TemporaryDirectory(prefix="purlieu-sitemap-") as folder:
        tree = {
            "seeds": list(dict.fromkeys(wanted.values())), "scope.only_seeds": True, "name": "sitemap",
            "store": str(Path(folder, "check.db")), "output": folder, "formats": [],
        }  # fmt: skip
        ended = _crawled(settings.read(settings.dump(made), overrides=tree)) if wanted else {}
    return [fates.get(loc) or {**ended[wanted[loc]], "url": loc} for loc in locs]


def _crawled(made: Settings) -> dict[str, dict[str, Any]]:
    async def crawl() -> int:
        async with Crawl(made) as run:
            await run.run()
        return run.result.run

    number = asyncio.run(crawl())
    database = SqliteDatabase.reader(made.store)
    try:
        reader = Reader(database)
        row = reader.run(number)
        assert row is not None  # noqa: S101 - the run that has just ended
        rows = (dict(zip(column.NAMES, one, strict=False)) for one in column.rows(reader, row))
        return {one["url"]: {name: one[name] for name in _TOLD} for one in rows if one["purpose"] == "page"}
    finally:
        database.close()
