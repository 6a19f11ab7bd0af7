"""Reads made and mutated pages by both scanners and stops at the first difference: bench/page_fuzz.py --seconds 600.

Run it by hand after a change to ``page/_scan.c`` or ``page/markup.py``; docs/testing.md says how to run it under the
compiler's sanitizers.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for tests.tag_soup

from tests.tag_soup import TYPES, mutated, soup

from purlieu import page
from purlieu.page import scan


def made_page(chance: random.Random, real: list[bytes]) -> bytes:
    """Make a page of pieces, or cut one from a real page, and change it."""
    if real and chance.random() < 0.3:
        whole = chance.choice(real)
        at = chance.randrange(max(1, len(whole)))
        return mutated(chance, whole[at : at + chance.choice((100, 500, 2000))])
    pieces = [mutated(chance, soup(chance)) for _ in range(chance.choice((1, 1, 2, 5)))]
    return b"".join(pieces) + b"long " * (100 * (len(pieces) > 1))  # only of what is not short blocks are read


def compare(body: bytes, content_type: str, kinds: frozenset[str], *, sketched: bool) -> list[str]:
    """Return the names of the fields in which the two scanners differ."""
    pages = []
    for native in (False, True):
        with scan.forced(native=native):
            pages.append(
                page.read(body, url="http://h.test/d/p", content_type=content_type, kinds=kinds, sketched=sketched)
            )
    return [name for name in page.Page.__slots__ if len({repr(getattr(one, name)) for one in pages}) > 1]


def main() -> int:
    """Compare until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--pages", type=Path, action="append", default=[], help="a folder of *.html to cut pages from")
    options = parser.parse_args()
    seed = time.time_ns() if options.seed is None else options.seed
    chance = random.Random(seed)
    files = sorted(file for folder in options.pages for file in folder.rglob("*.html"))
    real = [file.read_bytes() for file in chance.sample(files, min(len(files), 300))]
    end, seen = time.monotonic() + options.seconds, 0
    while time.monotonic() < end:
        body, content_type = made_page(chance, real), chance.choice(TYPES)
        kinds = chance.choice((page.DEFAULT_KINDS, page.ALL_KINDS, frozenset(("image",))))
        seen += 1
        if wrong := compare(body, content_type, kinds, sketched=chance.random() < 0.02):
            print(f"seed {seed}, page {seen}: {wrong} differ for {content_type}, {sorted(kinds)}:\n{body!r}")
            return 1
    print(f"seed {seed}: {seen} pages, no difference")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
