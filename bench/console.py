"""How soon the console answers over a store with a million ledger rows: each screen, and each filter of the table.

    python bench/console.py                          a store of 100,000 rows, made in a folder that is thrown away
    python bench/console.py --rows 1000000 --section also writes the section of docs/benchmarks.md
    python bench/console.py --store /tmp/big.db      keeps the store, and takes it again

The store is made by formula through the schema: an earlier run of a third of the rows, then the run that is looked at.
The console is `purlieu serve` in a process of its own; what is measured is the time to the first byte of each answer.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

import apsw

from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import key64

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
HEADING: Final = "\n## Looking at a million rows\n"
STARTED_AT: Final = 1_790_000_000.0
ASKED: Final = 3
"""Times that each address is asked for; the slowest counts."""
WORDS: Final = (
    "harbour", "meadow", "village", "timber", "copper", "orchard", "lantern", "granite", "willow", "sitemap", "robots",
    "policy", "frontier", "ledger", "crawler",
)  # fmt: skip
TITLES: Final = (
    "お知らせ一覧", "製品情報", "採用情報", "会社概要", "技術資料", "检索结果", "产品中心",
    "新闻动态",
    "技术支持", "Support", "News", "Products",
)  # fmt: skip
# How many of a hundred pages end so: kind, reason, status.
ENDINGS: Final = (
    (74, "fetched", "ok", 200), (6, "unchanged", "not_modified", 304), (5, "redirected", "permanent", 301),
    (6, "missing", "not_found", 404), (1, "missing", "gone", 410), (2, "server_error", "5xx", 503),
    (1, "unreachable", "timeout", None), (5, "excluded", "robots", None),
)  # fmt: skip
HOSTS, SECTIONS = 5, 240


class Page(NamedTuple):
    """One page of the formula."""

    host: int
    href: str
    ending: tuple[int, str, str, int | None]
    digest: str
    title: str


def page(number: int, rows: int, run: int) -> Page:
    """Return a page; a third of the run's pages have changed since the run before."""
    mixed = number * 2_654_435_761 % 2**32
    section = number * SECTIONS // rows
    host = section * HOSTS // SECTIONS
    left = mixed % 100
    ending: tuple[int, str, str, int | None] = ENDINGS[0]
    for ending in ENDINGS:
        left -= ending[0]
        if left < 0:
            break
    words = (WORDS[mixed % 15], WORDS[(mixed >> 8) % 15], WORDS[(mixed >> 16) % 15])
    href = f"https://www{host}.example.com/{WORDS[section % 15]}-{section}/{words[0]}/{words[1]}-{number}.html"
    digest = f"{mixed:x}-{run if mixed % 3 == 0 else 0}"
    return Page(host, href, ending, digest, f"{TITLES[mixed % 12]} {words[2]} {number}")


def make(path: Path, rows: int) -> None:
    """Make the store."""
    SqliteDatabase.writer(str(path)).close()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA synchronous = OFF; BEGIN")
    connection.execute("INSERT INTO crawl (id, name) VALUES (1, 'large')")
    connection.execute("INSERT INTO config VALUES ('large', 'seeds = [\"https://www0.example.com/\"]')")
    for host in range(HOSTS):
        connection.execute("INSERT INTO host (id, name) VALUES (?, ?)", (host + 1, f"www{host}.example.com"))
    for run, number in ((1, rows // 3), (2, rows)):
        _run(connection, run)
        connection.executemany(
            "INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked,"
            " rule, site, attempts, kind, reason, status, ended_at) VALUES (?, ?, 0, ?, ?, ?, ?, 0, 0, 'link', '', 1,"
            " 'same-host', 0, 1, ?, ?, ?, ?)",
            _entries(run, number, rows),
        )
        connection.executemany(
            "INSERT INTO response (run, host, purpose, hash, status, headers, content_type, title, index_reason,"
            " digest, address, fetched_at, bytes, seconds) VALUES (?, ?, 0, ?, ?, 'Content-Type: text/html\n',"
            " 'text/html', ?, '', ?, '192.0.2.7', ?, ?, ?)",
            _responses(run, number, rows),
        )
    connection.execute("COMMIT")
    connection.close()


def _run(connection: apsw.Connection, run: int) -> None:
    began = STARTED_AT + run * 86_400
    connection.execute(
        "INSERT INTO run (id, crawl, config, state, stop_reason, version, started_at, ended_at, books)"
        ""
        " VALUES (?, 1, 'large', 'done', 'finished', '0', ?, ?, ?)",
        (run, began, began + 3600, json.dumps({"balanced": True, "faults": []})),
    )
    for host in range(1, HOSTS + 1):
        connection.execute("INSERT INTO run_host (run, host, requests, pages) VALUES (?, ?, 200, 200)", (run, host))
        connection.execute(
            "INSERT INTO robots (id, run, host, origin, state) VALUES (?, ?, ?, ?, 'known')",
            (run * 100 + host, run, host, f"https://www{host - 1}.example.com"),
        )


def _entries(run: int, number: int, rows: int) -> Iterator[tuple[object, ...]]:
    for at in range(number):
        one = page(at, rows, run)
        _, kind, reason, status = one.ending
        yield (
            run,
            one.host + 1,
            key64(one.href),
            one.href,
            run * 100 + one.host + 1,
            at % 9,
            kind,
            reason,
            status,
            1.0,
        )


def _responses(run: int, number: int, rows: int) -> Iterator[tuple[object, ...]]:
    for at in range(number):
        one = page(at, rows, run)
        if one.ending[1] in {"fetched", "missing"}:
            size, seconds = at * 7919 % 300_000, at % 997 / 500
            key = (run, one.host + 1, key64(one.href))
            yield (*key, one.ending[3], one.title, one.digest, STARTED_AT, size, seconds)


# -- asking ---------------------------------------------------------------------------------------------------------


def screens(rows: int) -> list[tuple[str, str]]:
    """Return every screen and filter: what it is, and its address."""
    last = page(rows - 1, rows, 2)
    section = quote(f"{last.href.rsplit('/', 2)[0]}/", safe="")
    run = "/runs/2"
    base = [
        ("Crawls", "/"),
        ("A crawl", "/crawls/1"),
        ("A run with its table", run),
        ("One URL", f"{run}/url?u={quote(last.href, safe='')}"),
        ("Hosts", f"{run}/hosts"),
        ("Map by outcome", f"{run}/map"),
        ("Map by change", f"{run}/map?by=change"),
        ("Map of a folder", f"{run}/map?at={section}"),
        ("Sitemap utility", f"{run}/tree"),
        ("Sitemap utility, all open", f"{run}/tree?all=on"),
        ("Sitemap utility, filtered", f"{run}/tree?filter=on&section={section}"),
        ("Making a sitemap", f"{run}/sitemap"),
        ("Checking a sitemap", "/sitemaps"),
        ("Compare", "/compare?before=1&after=2"),
        ("Compare, far behind", "/compare?before=1&after=2&class=new&at=after.400000"),
    ]
    filters = {
        "kind": "kind=missing",
        "kind and reason": "kind=missing&reason=gone",
        "kind of most": "kind=fetched",
        "status": "status=503",
        "section": f"section={section}",
        "section and kind": f"section={section}&kind=missing",
        "changed": "changed=changed",
        "any change": "changed=any",
        "purpose": "purpose=page",
        "what nothing meets": "kind=unreachable&status=404",
        "text of many": "text=lantern",
        "text of few": f"text={rows - 1}.html",
        "text of none": "text=zzzzz",
        "text of all": "text=https://www",
        "text in Japanese": f"text={quote('採用情報')}",
        "two characters": f"text={quote('検索')}",
        "two letters": "text=zq",
        "text, kind and section": f"text=lantern&kind=missing&section={section}",
        "text where none meets it": f"text={quote('製品')}&status=503&section={section}",
        "text whose parts are everywhere": "text=lant-sitem",
    }
    found = [*base, *((f"Table: {name}", f"{run}?{query}") for name, query in filters.items())]
    sorts = ("url", "kind", "reason", "status", "depth", "bytes", "seconds")
    found += [(f"Table by {one}, {way}", f"{run}?sort={one}&order={way}") for one in sorts for way in ("asc", "desc")]
    found += [
        ("Table by size, text of many", f"{run}?sort=bytes&text=lantern"),
        ("Table by time, kind of most", f"{run}?sort=seconds&kind=fetched"),
        ("Table, far behind", f"{run}?after=%5B{rows - 100}%2C{rows - 100}%5D"),
        ("Table by size, far behind", f"{run}?sort=bytes&after=%5B290000%2C{rows // 2}%5D"),
    ]
    return found


class Client:
    """A browser of the console: one connection, with the cookie of its session."""

    def __init__(self, address: str) -> None:
        """Come in by the address that was printed."""
        parts = urlsplit(address)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=600)
        self._connection.request("GET", f"/?{parts.query}")
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = (answer.getheader("set-cookie") or "").partition(";")[0]

    def ask(self, path: str) -> tuple[int, float]:
        """Return the status of an answer and the milliseconds to its first byte."""
        began = time.perf_counter()
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        answer.read(1)
        took = (time.perf_counter() - began) * 1000
        answer.read()
        return answer.status, took


class Measured(NamedTuple):
    """One screen: the most milliseconds of some tries, and what the server worked for one on average."""

    name: str
    most: float
    worked: float


def cpu_ms(pid: int) -> float:
    """Return the CPU time of a process so far."""
    facts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(facts[11]) + int(facts[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measure(store: Path, rows: int, patience: float, without: list[str]) -> list[Measured]:
    """Return each screen, once what it needs is laid out; one that is not after so many seconds is left out."""
    command = [sys.executable, "-m", "purlieu", "serve", "--port", "0", "--store", str(store)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout
        client = Client(server.stdout.readline().strip())
        found: list[Measured] = []
        for name, path in screens(rows):
            if name.startswith(tuple(without)):
                continue
            began = time.monotonic()
            while (status := client.ask(path)[0]) == 202 and time.monotonic() - began < patience:
                time.sleep(1)
            waited = time.monotonic() - began
            if waited > 5:
                print(f"{name}: laid out in {waited:.0f} s", file=sys.stderr)
            if status != 200:
                print(f"{name}: {status}, not measured", file=sys.stderr)
                continue
            before = cpu_ms(server.pid)
            took = max(client.ask(path)[1] for _ in range(ASKED))
            found.append(Measured(name, took, (cpu_ms(server.pid) - before) / ASKED))
            print(f"{took:7.0f} ms, {found[-1].worked:.0f} ms of work  {name}", file=sys.stderr)
        return found
    finally:
        server.terminate()
        server.wait(20)


def section(found: list[Measured], rows: int, made: str) -> str:
    """Return the section of docs/benchmarks.md."""
    lines = (
        HEADING,
        f"Written by `bench/console.py` on {datetime.now().astimezone():%Y-%m-%d}.",
        f"A store with {rows:,} ledger rows, made by formula, on {HOSTS} hosts with {SECTIONS} sections; {made}.",
        f"The time to the first byte of each screen of `purlieu serve`, the slowest of {ASKED} tries,",
        "once its rows are laid out.",
        "",
        "| screen | ms, slowest | CPU ms |", "|---|--:|--:|",
        *(f"| {one.name} | {one.most:.0f} | {one.worked:.0f} |" for one in found),
        "",
        f"Machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}.",
        f"Other work went on beside it: {os.getloadavg()[1]:.0f} processes wanted to run.",
        "",
    )  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the section if it is wished for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rows", type=int, default=100_000, help="ledger rows of the run that is looked at (default: 100000)"
    )
    parser.add_argument("--store", type=Path, help="keep the store here; one that is there is taken")
    parser.add_argument("--patience", type=float, default=1_800, help="seconds to wait until rows are laid out")
    parser.add_argument("--without", action="append", default=[], help="leave out screens whose name begins so")
    parser.add_argument("--make-only", action="store_true", help="make the store and end")
    parser.add_argument("--section", action="store_true", help="write the section of docs/benchmarks.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="purlieu-console-") as folder:
        store = arguments.store or Path(folder, "large.db")
        if not store.exists():
            began = time.monotonic()
            make(store, arguments.rows)
            print(f"store made in {time.monotonic() - began:.0f} s", file=sys.stderr)
        if arguments.make_only:
            return
        found = measure(store, arguments.rows, arguments.patience, arguments.without)
        print(f"slowest: {max(one.most for one in found):.0f} ms")
        if arguments.section:
            before, _, after = PAGE.read_text(encoding="utf-8").partition(HEADING)
            rest = after[after.index("\n## ") :] if "\n## " in after else ""
            made = f"{store.stat().st_size / 1e6:,.0f} MB"
            PAGE.write_text(before + section(found, arguments.rows, made) + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
