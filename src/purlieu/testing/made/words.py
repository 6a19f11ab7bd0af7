"""What a made web's names, dice and sentences are made of: the same for the same seed, everywhere and always.

Knows no web and no page.
"""

from __future__ import annotations

import struct
from functools import cache
from hashlib import blake2b
from itertools import accumulate
from typing import Final, Literal

Lastmod = Literal["honest", "fresh", "stale", "random", "none"]
RetryAfter = Literal["seconds", "date", "none"]
Snare = Literal["calendar", "session", "parameters", "segments", "subdomains", "soft404"]
Validators = Literal["both", "etag", "date", "none", "ignored"]

ONE: Final = 2.0**32
_SIXTEEN: Final = struct.Struct("<16I")
_WORDS: Final = tuple(
    (  # noqa: SIM905  # words read best as a sentence
        "the of a in with and to from by at on for under over near old new small great long short early late warm cold "
        "quiet busy river mill bread garden hedge stone road field market harbour letter winter summer morning evening "
        "village school bridge forest meadow window kitchen baker miller teacher sailor farmer painter carries keeps "
        "mends paints grows finds writes opens closes remembers"
    ).split()
)
_SENTENCES: Final = 256


def dice(seed: int, what: str, host: int, page: int = 0) -> tuple[int, ...]:
    """Return sixteen numbers of 32 bits, by chance but always the same."""
    return _SIXTEEN.unpack(blake2b(b"%d %b %d %d" % (seed, what.encode(), host, page)).digest())


def letters(number: int) -> str:
    """Return a number in letters: digits are no part of a digest (R-9.3)."""
    text = ""
    while True:
        number, rest = divmod(number, 26)
        text += chr(97 + rest)
        if not number:
            return text


@cache
def _book() -> tuple[str, tuple[int, ...]]:
    """Return all sentences twice over, each a paragraph of some eighty characters, and where each begins."""
    made = []
    for number in range(_SENTENCES):
        words = [_WORDS[one % len(_WORDS)] for one in dice(0, "sentence", number)[:14]]
        made.append(f"<p>{' '.join(words).capitalize()}.</p>\n")
    made *= 2
    return "".join(made), tuple(accumulate(map(len, made), initial=0))


def prose(chosen: int, count: int) -> str:
    """Return so many paragraphs, chosen by a number of 32 bits: four runs, each from another place."""
    text, starts = _book()
    runs = []
    for turn in range(4):
        length = min((count + turn) // 4, _SENTENCES)
        first = (chosen >> 8 * turn) % _SENTENCES
        runs.append(text[starts[first] : starts[first + length]])
    return "".join(runs)
