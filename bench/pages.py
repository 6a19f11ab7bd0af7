"""How fast pages are read, by the scanner in C and by the one in Python: prints the table of docs/benchmarks.md.

    taskset -c 0 .venv/bin/python bench/pages.py

Each fifth page of three documentation sets as Debian packages them; CPU time, the best of seven rounds in one process.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from purlieu import page
from purlieu.page import scan
from purlieu.page.gather import Gathered, elements_for

SITES: Final = {
    "python3-doc": "/usr/share/doc/python3.11/html",
    "sqlite3-doc": "/usr/share/doc/sqlite3",
    "gimp-help-ja": "/usr/share/gimp/2.0/help/ja",
}
ROUNDS: Final = 7
SHORT: Final = 256  # as page.read has it: of what is longer the masked text is enough


def scanned(body: bytes, _url: str) -> None:
    """Cut a page up, and do nothing with the elements."""
    scan.read(body, "UTF-8", elements_for(page.DEFAULT_KINDS), lambda _: None, most_short=SHORT)


def gathered(body: bytes, _url: str) -> None:
    """Cut a page up and sort its elements."""
    scan.read(
        body, "UTF-8", elements_for(page.DEFAULT_KINDS), Gathered(page.DEFAULT_KINDS, "purlieu").take, most_short=SHORT
    )


def read(body: bytes, url: str) -> None:
    """Read a page whole: encoding, links resolved, digest."""
    page.read(body, url=url, content_type="text/html")


def best(work: Callable[[bytes, str], None], pages: list[tuple[bytes, str]]) -> float:
    """Return the seconds of CPU that the pages take, at best."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for body, url in pages:
            work(body, url)
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Measure every site with every scanner that there is."""
    print("| site | kB a page | work | Python µs | MB/s | C µs | MB/s | times |\n|---|--:|---|--:|--:|--:|--:|--:|")
    for site, root in SITES.items():
        files = sorted(Path(root).rglob("*.html"))[::5]
        pages = [(file.read_bytes(), f"http://localhost/{file.relative_to(root)}") for file in files]
        size = sum(len(body) for body, _ in pages)
        for name, work in {"cut up": scanned, "elements sorted": gathered, "`page.read`": read}.items():
            seconds = []
            for native in (False, True):
                with scan.forced(native=native):
                    seconds.append(best(work, pages))
            cells = [f"{one / len(pages) * 1e6:,.0f} | {size / one / 1e6:.0f}" for one in seconds]
            row = (site, f"{size / len(pages) / 1e3:.1f}", name, *cells, f"{seconds[0] / seconds[1]:.1f}")
            print(f"| {' | '.join(row)} |")
    print(f"\nMachine: {platform.system()} {platform.release()}, Python {platform.python_version()}.")


if __name__ == "__main__":
    main()
