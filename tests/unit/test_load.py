"""What is under way of large files at the same time."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from purlieu.crawl.load import LEAST_BYTES, MOST_BYTES, Load

SIZES = st.lists(st.integers(1, 3 * MOST_BYTES), min_size=1, max_size=60)


def asked(sizes: list[int]) -> tuple[list[int], list[int]]:
    """Ask for files of these sizes as fast as there is room; return what was under way at each begin, and before it."""
    before: list[int] = []
    after: list[int] = []

    async def main() -> None:
        load = Load()
        under_way: list[tuple[int, int]] = []
        for number, size in enumerate(sizes):
            waiting = asyncio.ensure_future(load.begin(number))
            await asyncio.sleep(0)
            while not waiting.done():
                done, its_size = under_way.pop(0)
                load.came(done, its_size)
                load.gone(done)
                await asyncio.sleep(0)
            before.append(len(under_way))
            under_way.append((number, size))
            after.append(load.bytes)

    asyncio.run(main())
    return before, after


@settings(max_examples=30)
@given(SIZES)
def test_files_under_way_have_a_bound(sizes: list[int]) -> None:
    """What is awaited or waits for the writer stays under the bound by what is known of it; one goes in any case."""
    for others, weight in zip(*asked(sizes), strict=True):
        assert others == 0 or weight <= MOST_BYTES


def test_small_files_do_not_wait_for_each_other() -> None:
    """As many small files as hosts are asked at once by default are under way together."""
    assert max(asked([1_000] * 300)[0]) + 1 == MOST_BYTES // LEAST_BYTES == 64


def test_after_a_large_file_few_are_asked_for() -> None:
    """A file as large as the protocol allows lets fewer be under way until smaller ones have come."""
    before, _ = asked([1_000] * 200 + [50 * 1024 * 1024] + [1_000] * 300)
    assert min(before[150:200]) > 60
    assert min(before[200:300]) < 20
    assert max(before[-100:]) > 60


def test_nobody_waits_when_nothing_more_is_asked_for() -> None:
    """Whoever waits for room goes on when the crawl stops, so that it can end."""

    async def main() -> bool:
        load = Load(1)
        await load.begin("one")
        waiting = asyncio.ensure_future(load.begin("two"))
        await asyncio.sleep(0)
        had_to_wait = not waiting.done()
        load.open()
        await waiting
        return had_to_wait

    assert asyncio.run(main())
