"""How fast a sitemap is read, as a ratio to Scrapy's reader and to ultimate-sitemap-parser, and in how much memory.

    python bench/sitemap.py --peers-python .venv-bench/bin/python     writes the section of docs/benchmarks.md
    python bench/sitemap.py                                          Purlieu alone, on the terminal

Files are made here: 50,000 entries with four fields each, and 2.6 million entries in 75 files. Each reading is a
process of its own, the peers' turn about with ours.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
HEADING: Final = "\n## Reading sitemaps\n"
URL: Final = "https://www.example.com/sitemap.xml"
ENTRIES, FILES, ENTRIES_OF_EACH, ROUNDS = 50_000, 75, 34_667, 5


def text(entries: int, first: int = 0) -> str:
    """Return a sitemap of so many entries with all four fields."""
    made = ['<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n']
    made += [
        f"<url><loc>https://www.example.com/section-{n % 97}/page-{n:07}.html?ref=a&amp;n={n % 7}</loc>"
        f"<lastmod>2026-{n % 12 + 1:02}-{n % 28 + 1:02}T{n % 24:02}:{n % 60:02}:00+00:00</lastmod>"
        f"<changefreq>{('daily', 'weekly', 'monthly')[n % 3]}</changefreq><priority>0.{n % 10}</priority></url>\n"
        for n in range(first, first + entries)
    ]
    return "".join([*made, "</urlset>\n"])


def extended_text(entries: int) -> str:
    """Return a sitemap whose entries name three languages and an image each."""
    image = "http://www.google.com/schemas/sitemap-image/1.1"
    root = f'xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:image="{image}"'
    made = [f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {root}>\n']
    for n in range(entries):
        links = "".join(
            f'<xhtml:link rel="alternate" hreflang="{language}" href="https://www.example.com/{language}/{n}"/>'
            for language in ("en", "ja", "zh")
        )
        image = f"<image:image><image:loc>https://img.example.com/{n}.jpg</image:loc></image:image>"
        made.append(
            f"<url><loc>https://www.example.com/en/{n}</loc><lastmod>2026-11-30</lastmod>{links}{image}</url>\n"
        )
    return "".join([*made, "</urlset>\n"])


def read_once(file: str) -> dict[str, Any]:
    """Read a file five times; what the largest reading added to the process, and the best time of the CPU."""
    from purlieu import __version__, sitemap

    body = Path(file).read_bytes()
    sitemap.read(b"<urlset/>", url=URL)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times, entries, added = [], 0, 0.0
    for _ in range(5):
        start = time.process_time()
        read = sitemap.read(body, url=URL)
        times.append(time.process_time() - start)
        entries = len(read.entries)
        added = added or (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        del read
    return {"entries": entries, "seconds": min(times), "added_mib": added, "version": __version__}


def read_many(folder: str) -> dict[str, Any]:
    """Scan every file of a folder, one piece at a time, and tell the peak after the first and after the last."""
    from purlieu import sitemap

    entries, peaks, start = 0, [], time.process_time()
    for file in sorted(Path(folder).glob("*.xml")):
        with file.open("rb") as opened:
            pieces = iter(lambda opened=opened: opened.read(65_536), b"")
            entries += sum(isinstance(item, sitemap.Entry) for item in sitemap.scan(pieces, url=URL))
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return {
        "entries": entries,
        "files": len(peaks),
        "seconds": time.process_time() - start,
        "first_mib": peaks[0],
        "last_mib": peaks[-1],
    }


def asked(*command: str) -> dict[str, Any]:
    """Run a process that prints one JSON object."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measured(peers_python: str | None) -> dict[str, Any]:
    """Return all that is measured, with the ratios of each round."""
    with tempfile.TemporaryDirectory(prefix="purlieu-bench-") as work:
        file = Path(work, "one.xml")
        file.write_text(text(ENTRIES), encoding="utf-8")
        found: dict[str, Any] = {"bytes": file.stat().st_size, "rounds": []}
        for _ in range(ROUNDS):
            row = {"purlieu": asked(sys.executable, __file__, "--one", str(file))}
            for name in ("scrapy", "usp") if peers_python else ():
                row[name] = asked(str(peers_python), str(HERE / "peers" / "sitemap_reader.py"), name, str(file))
            found["rounds"].append(row)
        extended = Path(work, "extended.xml")
        extended.write_text(extended_text(ENTRIES), encoding="utf-8")
        found["extended"] = []
        for _ in range(ROUNDS if peers_python else 0):
            row = {"purlieu": asked(sys.executable, __file__, "--one", str(extended))}
            reader = str(HERE / "peers" / "sitemap_reader.py")
            row["scrapy"] = asked(str(peers_python), reader, "scrapy", str(extended))
            row["usp"] = asked(str(peers_python), reader, "usp", str(extended))
            found["extended"].append(row)
        many = Path(work, "many")
        many.mkdir()
        for number in range(FILES):
            made = text(ENTRIES_OF_EACH, number * ENTRIES_OF_EACH)
            (many / f"{number:03}.xml").write_text(made, encoding="utf-8")
        found["many"] = asked(sys.executable, __file__, "--many", str(many))
        return found


def section(found: dict[str, Any]) -> str:
    """Return the section of docs/benchmarks.md."""
    rounds, many = found["rounds"], found["many"]
    titles = {"purlieu": "Purlieu", "scrapy": "Scrapy", "usp": "ultimate-sitemap-parser"}
    lines = [
        HEADING,
        f"Written by `bench/sitemap.py` on {datetime.now().astimezone():%Y-%m-%d}, {ROUNDS} alternating rounds.",
        f"One file of {ENTRIES:,} entries with `loc`, `lastmod`, `changefreq` and `priority`,",
        f"{found['bytes'] / 1e6:.1f} MB; every reader gives all four fields of every entry.",
        "",
        "| reader | version | CPU seconds | Purlieu is faster by |",
        "|---|---|--:|--:|",
    ]
    for name in rounds[0]:
        times = [row[name]["seconds"] for row in rounds]
        ratio = median(row[name]["seconds"] / row["purlieu"]["seconds"] for row in rounds)
        told = f"{ratio:.1f}x" if name != "purlieu" else ""
        spread = f"{median(times):.2f} ({min(times):.2f}–{max(times):.2f})"
        lines.append(f"| {titles[name]} | {rounds[0][name]['version']} | {spread} | {told} |")
    if found["extended"]:
        of = {
            name: median(row[name]["seconds"] / row["purlieu"]["seconds"] for row in found["extended"])
            for name in ("scrapy", "usp")
        }
        lines += [
            "",
            f"With three links to other languages and an image in each of the {ENTRIES:,} entries, Purlieu is",
            f"{of['scrapy']:.1f}x as fast as Scrapy, which leaves the images out, and {of['usp']:.1f}x as fast as",
            "ultimate-sitemap-parser.",
        ]
    added = max(row["purlieu"]["added_mib"] for row in rounds)
    lines += [
        "",
        f"Reading that file whole adds {added:.0f} MiB to the process.",
        f"{many['entries']:,} entries in {many['files']} files, scanned one after the other, take",
        f"{many['seconds']:.0f} s of CPU; the process's peak is {many['first_mib']:.0f} MiB after the first file and",
        f"{many['last_mib']:.0f} MiB after the last.",
        f"Machine: Linux {platform.release()}, Python {platform.python_version()}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peers-python", help="the interpreter that has scrapy and ultimate-sitemap-parser")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--many", help=argparse.SUPPRESS)
    asked_for = parser.parse_args()
    if asked_for.one or asked_for.many:
        print(json.dumps(read_once(asked_for.one) if asked_for.one else read_many(asked_for.many)))
        return
    told = section(measured(asked_for.peers_python))
    print(told)
    if asked_for.peers_python:
        page = PAGE.read_text(encoding="utf-8")
        before, _, after = page.partition(HEADING)
        _, heading, rest = after.partition("\n## ")  # other sections follow
        PAGE.write_text(before.rstrip("\n") + "\n" + told.rstrip("\n") + "\n" + heading + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
