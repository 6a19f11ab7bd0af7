"""Runs are laid out before anybody looks: the latest when the console starts, and each when it ends meanwhile.

Looks at the store now and then; a run that a schedule or a terminal started is met as one that the console did.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from purlieu.console.parts import Parts, warm_up

LOOK_SECONDS: Final = 10.0


@asynccontextmanager
async def laid_out(parts: Parts) -> AsyncIterator[None]:
    """Lay out what ends meanwhile."""
    task = asyncio.create_task(_lay(parts))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _lay(parts: Parts) -> None:
    known: frozenset[tuple[int, float]] | None = None
    while True:
        known = await asyncio.to_thread(warm_up, parts, known)
        await parts.clock.sleep(LOOK_SECONDS)
