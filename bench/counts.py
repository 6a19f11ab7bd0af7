"""Counts the instructions of the hot functions under callgrind, and compares them with what was recorded (R-9.5).

    python bench/counts.py             counts, beside the record
    python bench/counts.py --gate      the same; status 1 when a function needs over 25 % more (scripts/test does it)
    python bench/counts.py --record    counts, and writes them into bench/counts.json

Knows no clock: a count is the same on a busy machine. What is read is made here by formula, so that a record holds on
every machine of its architecture. Needs valgrind.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
RECORD: Final = HERE / "counts.json"
LOCK: Final = HERE.parent / "requirements" / "run.txt"
MORE_ALLOWED: Final = 0.25
RENEW: Final = "python bench/counts.py --record"
# The hot functions call these: what else is in the lock changes no count.
DEPENDENCIES: Final = ("ada-url", "apsw", "google-re2", "publicsuffixlist", "regex", "url-py")
WARM_UPS: Final = 3


def made_page(sections: int) -> bytes:
    """Return a page such as documentation has: half of it tags, a fifth of its links new."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width"><title>Made &amp; counted</title>\n'
        '<link rel="stylesheet" href="_static/one.css"><link rel="next" href="next.html">'
        '<link rel="canonical" href="https://www.example.com/docs/made.html">\n</head>\n<body>\n'
    )
    body = (
        f'<section id="part-{n}"><h2>Part {n}<a class="headerlink" href="#part-{n}" title="Link">\u00b6</a></h2>\n'
        f'<p>Text of {n} words, as <em>pages</em> have it, and <a class="reference internal" '
        f'href="../part{n % 7}/page{n % 40}.html#n{n}"><span class="pre">page {n}</span></a>; it goes on.</p>\n'
        f'<div class="highlight"><pre><span class="k">def</span> <span class="nf">name{n}</span>'
        f'<span class="p">(</span><span class="n">value</span><span class="p">):</span>\n</pre></div></section>\n'
        for n in range(sections)
    )
    return "".join([head, *body, "<footer><p>2026</p></footer></body></html>\n"]).encode()


def pages(*, native: bool) -> Callable[[], object]:
    """Read a page of 60 kB whole."""
    from purlieu import page
    from purlieu.page import scan

    body = made_page(120)

    def work() -> None:
        with scan.forced(native=native):
            page.read(body, url="https://www.example.com/docs/made.html", content_type="text/html")

    return work


def joins() -> Callable[[], object]:
    """Resolve 500 references of pages, one after the other."""
    from purlieu.url import Joiner

    references = [f"../part{n % 17}/page{n}.html?n={n}" for n in range(500)]
    joiner = Joiner("https://www.example.com/docs/guide/index.html")
    return lambda: [joiner(reference) for reference in references]


def parses() -> Callable[[], object]:
    """Parse 200 addresses."""
    from purlieu import url

    texts = [f"https://www{n % 9}.example.com/a/b{n}/c.html?n={n}" for n in range(200)]
    return lambda: [url.key64(url.parse(text).key) for text in texts]


def accepts() -> Callable[[], object]:
    """Ask a scope of 100 sites about 500 links."""
    from purlieu import settings
    from purlieu.scope import Scope

    seeds = [f"https://www.site{number}.example.com/docs/" for number in range(100)]
    scope = Scope.of(settings.of({"seeds": seeds, "scope": {"mode": "same-dir"}}))
    scope = scope.all_landed({site: scope.seed(site) for site in scope.pending})
    hosts = [f"www.site{n % 120}.example.com" for n in range(500)]
    asked = [(f"https://{host}/docs/part{n % 17}/page{n}.html", host) for n, host in enumerate(hosts)]
    return lambda: [scope.accepts(href, host) for href, host in asked]


def admissions() -> Callable[[], object]:
    """Judge 500 links as the frontier does: scope, 20 filter rules, traps."""
    from purlieu import settings
    from purlieu.admission import Admission
    from purlieu.candidate import Facts, Purpose

    base = "https://www.example.com/docs/"
    tree = {"seeds": [base], "filter": {"rules": [*(f"-/x{n}/" for n in range(19)), "+."]}}
    admission, facts = Admission.of(settings.of(tree)), Facts(1)
    asked = [f"{base}part{n % 17}/page{n}.html" for n in range(500)]
    return lambda: [admission.judge(href, "www.example.com", facts, Purpose.PAGE) for href in asked]


def robots() -> Callable[[], object]:
    """Ask a robots.txt of 60 rules about 200 addresses."""
    from purlieu import robots as robots_txt

    lines = [f"Disallow: /private{n}/*/old{n}$" if n % 3 else f"Allow: /private{n}/new" for n in range(60)]
    rules = robots_txt.read("\n".join(["User-agent: *", *lines]).encode())
    asked = [f"https://www.example.com/private{n % 70}/x/old{n % 50}" for n in range(200)]
    return lambda: [rules.judge("purlieu", url) for url in asked]


def sitemaps() -> Callable[[], object]:
    """Read a sitemap of 500 entries."""
    from purlieu import sitemap

    entries = "".join(
        f"<url><loc>https://www.example.com/part{n % 17}/page{n}.html?a=1&amp;n={n}</loc>"
        f"<lastmod>2026-{n % 12 + 1:02}-{n % 28 + 1:02}</lastmod><priority>0.{n % 10}</priority></url>\n"
        for n in range(500)
    )
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()
    return lambda: sum(1 for _ in sitemap.scan([body], url="https://www.example.com/sitemap.xml"))


def seeds() -> Callable[[], object]:
    """Take 300 new addresses into a store: merge, judge, write, commit."""
    from purlieu import settings
    from purlieu.admission import Admission
    from purlieu.candidate import Candidate, Facts
    from purlieu.store import runs
    from purlieu.store.counters import IntakeLimits
    from purlieu.store.frontier import Frontier, FrontierRules
    from purlieu.store.intake import Intake
    from purlieu.store.sqlite import SqliteDatabase

    crawl = settings.of({"seeds": ["https://www.example.com/"], "scope": {"mode": "any"}})
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    database = SqliteDatabase.writer(str(Path(folder.name, "counted.db")))
    opened = runs.begin(database, "counted", (settings.dump(crawl), False), "0", 1_000.0)
    intake = Intake(database, opened.run, Admission.of(crawl), IntakeLimits(), opened.counters)
    frontier = Frontier(database, opened.run, intake, opened.counters, FrontierRules())
    frontier.open(1_000.0, 0.25)
    rounds = iter(range(100))

    def work() -> None:
        part = next(rounds)
        hrefs = [f"https://www.example.com/part{part}/page{n}.html" for n in range(300)]
        frontier.seed([Candidate(href, Facts(1)) for href in hrefs], 1_000.0)

    return work


WORK: Final[dict[str, Callable[[], Callable[[], object]]]] = {
    "page.read in C": lambda: pages(native=True),
    "page.read in Python": lambda: pages(native=False),
    "url.Joiner": joins,
    "url.parse and key": parses,
    "scope.accepts": accepts,
    "admission.judge": admissions,
    "robots.judge": robots,
    "sitemap.scan": sitemaps,
    "frontier.seed": seeds,
}


def is_possible() -> bool:
    """Say whether instructions can be counted here."""
    return shutil.which("valgrind") is not None


def status(found: dict[str, int], records: dict[str, Any]) -> tuple[bool, list[str]]:
    """Say whether the counts pass, and what is to be told about it.

    They are held against the record of this Python and architecture. Where the lock has other dependencies than the
    record, they still are, for a gate that opens by itself whenever the lock is written anew would gate nothing.
    """
    record = records.get(key())
    if record is None:
        return True, [f"no record for {key()}, so nothing is held against it; {RENEW} makes one"]
    too_many, lock = grown(found, record), lock_hash()
    told = [f"{name} is not in the record; {RENEW} adds it" for name in found if name not in record["counts"]]
    if too_many and record["lock"] != lock:
        told.append(f"the record is of other dependencies (lock {record['lock']}, now {lock}): if they do it, {RENEW}")
    return not too_many, [*too_many, *told]


def key() -> str:
    """Return under which name this Python, to its last digit, and architecture stand: builds differ by a third."""
    return f"{sys.implementation.name}-{platform.python_version()} {platform.machine()}"


def lock_hash() -> str:
    """Return the hash of what the lock says of the dependencies that hot functions call."""
    lines = [line for line in LOCK.read_text("utf-8").splitlines() if line.startswith(DEPENDENCIES)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def recorded() -> dict[str, Any]:
    """Return all records: by key the hash of the lock they were made with, and the counts."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def count(names: Iterable[str] = WORK) -> dict[str, int]:
    """Return how many instructions each work takes, once it was done a few times before."""
    names = list(names)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        command = [
            *("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--dump-before=getppid", "--quiet"),
            *(sys.executable, str(HERE / "counts.py"), "--work", *names),
        ]
        # The order of sets and dicts is the same each time, and so is where C code looks for a byte.
        environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        dumps = [_instructions(Path(f"{out}.{number}")) for number in range(1, 2 * len(names) + 1)]
    return dict(zip(names, dumps[1::2], strict=True))


def _instructions(dump: Path) -> int:
    found = re.search(r"^(?:totals|summary): (\d+)", dump.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{dump.name} of callgrind has no sum")
    return int(found[1])


def grown(found: dict[str, int], record: dict[str, Any]) -> list[str]:
    """Return a sentence for each work that needs too much more than its record."""
    before: dict[str, int] = record["counts"]
    return [
        f"{name}: {now:,} instructions, {now / before[name] - 1:+.0%} of the recorded {before[name]:,}"
        for name, now in found.items()
        if name in before and now > before[name] * (1 + MORE_ALLOWED)
    ]


def work(names: list[str]) -> None:
    """Do each work, set off by calls of getppid, at which callgrind starts a new sum."""
    gc.disable()
    for name in names:
        do = WORK[name]()
        for _ in range(WARM_UPS):
            do()
        os.getppid()
        do()
        os.getppid()


def main() -> int:
    """Count; with --record, keep what was counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gate", action="store_true", help="fail when a function needs over 25 %% more than recorded")
    parser.add_argument("--record", action="store_true", help="write the counts into bench/counts.json")
    parser.add_argument("--work", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work is not None:
        work(options.work)
        return 0
    if not is_possible():
        print("valgrind is missing: instructions are not counted")
        return int(options.record or os.environ.get("CI", "").lower() in {"1", "true"})
    if options.gate and key() not in recorded():
        print(*status({}, recorded())[1])
        return 0
    found, records = count(), recorded()
    before = records.get(key(), {"counts": {}})["counts"]
    for name, now in found.items():
        print(f"{name:20} {now:12,}" + (f"   {now / before[name] - 1:+.1%}" if name in before else ""))
    if options.record:
        records[key()] = {"lock": lock_hash(), "counts": found}
        RECORD.write_text(json.dumps(records, indent=2, sort_keys=True) + "\n", "utf-8")
        return 0
    passes, told = status(found, records)
    print(*told, sep="\n")
    return 0 if passes or not options.gate else 1


if __name__ == "__main__":
    raise SystemExit(main())
