"""The keeper inside the console: the runs that are due are started while the console is up (R-8.5).

One keeper acts in a store, wherever it runs: here or in ``purlieu keep``. What a fault of the store stops begins again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from purlieu.console.parts import Parts
from purlieu.crawl.keeper import Keeper
from purlieu.errors import PurlieuError
from purlieu.store.sqlite import SqliteDatabase, is_held

LOG: Final = logging.getLogger(__name__)
AGAIN_SECONDS: Final = 30.0


@asynccontextmanager
async def kept(parts: Parts) -> AsyncIterator[None]:
    """Keep the schedules of the store meanwhile, if the console is to; runs under way outlive it."""
    keepers: list[Keeper] = []
    task = asyncio.create_task(_keep(parts, keepers)) if parts.terms.keeps else None
    try:
        yield
    finally:
        if task is not None:
            for keeper in keepers:
                keeper.stop()
            if not keepers:
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _keep(parts: Parts, keepers: list[Keeper]) -> None:
    while True:
        try:
            database = SqliteDatabase.beside(parts.store)
        except PurlieuError as error:
            LOG.warning("schedules are not kept: %s", error)
            await parts.clock.sleep(AGAIN_SECONDS)
            continue
        break
    token = f"{os.getpid()}-{secrets.token_hex(4)}"
    try:
        keeper = Keeper(database, parts.store, lambda: is_held(parts.store), parts.start, parts.clock, token)
        keepers.append(keeper)
        await keeper.run()
    except PurlieuError as error:
        LOG.warning("schedules are not kept any more: %s", error)
    finally:
        database.close()
