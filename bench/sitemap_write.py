"""How fast sitemap files are written, and in how much memory: 100,000 and 1,000,000 entries, plain and gzipped.

    python bench/sitemap_write.py        one line of JSON for each, on the terminal

Each writing is a process of its own. The bytes are counted and thrown away, so the disk has no part in it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Final

from purlieu import __version__
from purlieu.sitemap import Entry
from purlieu.sitemap.write import Form, urlsets

SIZES: Final = (100_000, 1_000_000)


def entries(number: int) -> Iterator[Entry]:
    """Yield entries with all four fields."""
    for one in range(number):
        loc = f"https://www.example.com/section-{one % 97}/page-{one:07}.html"
        yield Entry(loc, None, "weekly", one % 10 / 10, 1_700_000_000 + one)


def write_once(number: int, *, gzip: bool) -> dict[str, object]:
    """Write so many entries and return what that took: seconds of this process, and its largest size in MiB."""
    written, names, start = 0, set(), time.process_time()
    for name, data in urlsets(entries(number), Form(gzip=gzip)):
        names.add(name)
        written += len(data)
    return {
        "entries": number,
        "gzip": gzip,
        "files": len(names),
        "bytes": written,
        "seconds": round(time.process_time() - start, 2),
        "largest_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "version": __version__,
    }


def main() -> None:
    """Write in this process what is asked for, or all sizes in one process each."""
    if len(sys.argv) == 3:
        print(json.dumps(write_once(int(sys.argv[1]), gzip=sys.argv[2] == "gzip")))
        return
    for number in SIZES:
        for form in ("plain", "gzip"):
            subprocess.run([sys.executable, __file__, str(number), form], check=True)


if __name__ == "__main__":
    main()
