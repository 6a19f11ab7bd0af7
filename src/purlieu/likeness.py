"""Which texts are nearly the same: a sketch of each, and groups of sketches that agree (R-9.3).

MinHash of three words (or three characters, where words have no spaces) in a row, digits left out. The only
place that knows the library. Knows no page and no store.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Final

VALUES: Final = 64
"""Numbers of a sketch; the share that agrees in two estimates how much of the texts does (error about 4 % at 0.9)."""
ALIKE: Final = 0.9
"""From here on two texts are nearly the same."""
_BYTES = 4
_BAND = 8 * _BYTES  # 8 bands of 8 numbers: two texts that agree to 0.9 share a band with a chance of 99 %
_SHARED, _COMPARED = 256, 32
_SEED = 1
_WORDS = 20_000
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f"


@cache
def _words() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+")


def sketch(text: str) -> bytes:
    """Return 256 bytes that are alike for texts that are; b"" for a text of fewer than three words."""
    from rensa import RMinHash  # only where the owner wants it

    words = [found[0] for found in islice(_words().finditer(text.lower()), _WORDS)]
    if len(words) < 3:  # three in a row
        return b""
    made = RMinHash(num_perm=VALUES, seed=_SEED)
    made.update([f"{one} {two} {three}" for one, two, three in zip(words, words[1:], words[2:], strict=False)])
    return b"".join(value.to_bytes(_BYTES, "little") for value in made.digest())


def likeness(one: bytes, two: bytes) -> float:
    """Return the estimated share that two sketched texts have in common, 0 to 1."""
    places = range(0, VALUES * _BYTES, _BYTES)
    return sum(one[at : at + _BYTES] == two[at : at + _BYTES] for at in places) / VALUES


def groups(sketches: Iterable[tuple[int, bytes]]) -> Iterator[list[int]]:
    """Yield the numbers of texts that are nearly the same as the first of their group, each group in order.

    The first of a group is the first in order that is like none before it, so that no chain of small changes joins
    texts that have nothing in common. About 1 kB of memory a group, time linear in the texts: of those that share a
    band, as all pages of one template may, so many are looked at that share most, and a band that too many share
    tells nothing.
    """
    leaders: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    kept: dict[int, bytes] = {}
    members: dict[int, list[int]] = {}
    for number, found in sketches:
        bands = [(at, found[at : at + _BAND]) for at in range(0, VALUES * _BYTES, _BAND)]
        near = Counter(leader for band in bands for leader in leaders[band]).most_common(_COMPARED)
        leader = next((one for one, _ in near if likeness(kept[one], found) >= ALIKE), None)
        if leader is not None:
            members[leader].append(number)
            continue
        kept[number], members[number] = found, [number]
        for band in bands:
            if len(leaders[band]) < _SHARED:
                leaders[band].append(number)
    yield from (group for group in members.values() if len(group) > 1)
