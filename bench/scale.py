"""How much memory a crawl takes, and how fast it is, with many URLs in the frontier: R-9.4 and the targets for memory.

    python bench/scale.py --urls 100000              sitemaps fill the frontier, then pages are fetched for a while
    python bench/scale.py --urls 1000000 --section   also writes the section of docs/benchmarks.md

The made web of ``purlieu proof web`` is served by a process of its own, on a core of its own, with 500 hosts and 30
links a page. The crawl is the command as its owner would give it; it is measured from outside, by the kernel and by
what its store says.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
HEADING: Final = "\n## Many URLs in the frontier\n"
HOSTS, HOSTS_AT_ONCE, CONNECTIONS = 500, 64, 4
FULL: Final = 0.95
"""The share of the URLs that must be known; the last sitemaps are read while pages are fetched."""
SETTLED: Final = 1_000_000
"""Up to so many URLs the crawl is ended in peace, books and all, and the memory of that counts too."""
CRAWLER_CORE, SERVER_CORE = "0", "1"
PURLIEU: Final = [sys.executable, "-m", "purlieu"]


@dataclass
class Measured:
    """One crawl. Rates in pages a second; memory in MB (10^6 bytes), as resident; spans in seconds."""

    urls: int
    frontier: int
    fill_seconds: float
    fill_cpu_seconds: float
    fill_mb: float
    pages: int
    page_seconds: float
    cpu_ms_per_page: float
    peak_mb: float
    store_mb: float

    @property
    def rate(self) -> float:
        """Return pages finished per second, once the frontier was full."""
        return self.pages / self.page_seconds

    @property
    def fill_cpu(self) -> float:
        """Return the microseconds of CPU that a URL took until it waited in the frontier."""
        return self.fill_cpu_seconds / self.frontier * 1e6


def bound(core: str) -> list[str]:
    """Return what stands before a command so that it runs on one core, where it is wished for."""
    return [] if "--unbound" in sys.argv else ["taskset", "-c", core]


@contextmanager
def served(urls: int, delay: float, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Serve the made web on its own core."""
    command = [*bound(SERVER_CORE), *PURLIEU, "proof", "web", "--hosts", str(HOSTS), "--port", str(port)]
    command += ["--pages", str(urls // HOSTS), "--delay", str(delay), "--seed", "1"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.1.0.1:{port}/.made/epoch", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield server
    finally:
        server.terminate()
        server.wait(10)


def settings(folder: Path, port: int, hosts_at_once: int, connections: int) -> Path:
    """Write the settings of the crawl: every host is a seed; no more."""
    seeds = [f"http://127.1.{host // 254}.{1 + host % 254}:{port}/" for host in range(HOSTS)]
    path = folder / f"at-once-{hosts_at_once}.toml"
    path.write_text(
        f'name = "scale"\nseeds = {json.dumps(seeds)}\nformats = []\n'
        f"[politeness]\nconnections = {connections}\nmax_hosts = {hosts_at_once}\n",
        encoding="utf-8",
    )
    return path


def resident_mb(pid: int, what: str = "VmRSS") -> float:
    """Return what a process has in memory now (VmRSS) or had at most (VmHWM)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(what)), 0.0)


def counters(store: Path) -> tuple[int, int]:
    """Return (entries admitted, pages and others ended) as the store has them."""
    try:
        connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
        (text,) = next(connection.execute("SELECT counters FROM run"))
        connection.close()
    except (apsw.Error, StopIteration):
        return 0, 0
    told = json.loads(text)
    return told.get("admitted", 0), sum(told.get("endings", {}).values())


def measure(urls: int, pages: int, delay: float, port: int) -> Measured:
    """Fill the frontier, kill, resume until so many pages have ended, and return what the resumed crawl took."""
    with tempfile.TemporaryDirectory(prefix="purlieu-scale-") as name, served(urls, delay, port):
        folder = Path(name)
        began_at = time.monotonic()
        filled = fill(folder, urls, port)
        process = crawl(folder, port, HOSTS_AT_ONCE, CONNECTIONS, "--resume")
        peak, first, last = 0.0, None, (0.0, 0, 0)
        while process.poll() is None:
            time.sleep(0.5)
            peak = max(peak, resident_mb(process.pid, "VmHWM"))
            admitted, ended = counters(folder / "scale.db")
            if ended == last[1] or process.poll() is not None:
                continue
            last = (time.monotonic(), ended, cpu_ticks(process.pid))
            first = first or (last if last[1] else None)
            show(began_at, admitted, ended, process.pid)
            # The first batches are left out: connections are made in them.
            if first and ended - first[1] >= pages:
                process.send_signal(signal.SIGINT if urls <= SETTLED else signal.SIGKILL)
                process.wait()
        if process.returncode not in {0, 130, -signal.SIGKILL} or first is None:
            sys.exit(f"the crawl ended with status {process.returncode}")
        done = last[1] - first[1]
        return Measured(
            urls, admitted - ended, *filled, done, last[0] - first[0], (last[2] - first[2]) * 10 / done, peak,
            (folder / "scale.db").stat().st_size / 1e6,
        )  # fmt: skip


def crawl(folder: Path, port: int, hosts_at_once: int, connections: int, *more: str) -> subprocess.Popen[bytes]:
    """Start a crawl on its own core."""
    config = settings(folder, port, hosts_at_once, connections)
    places = ["--store", str(folder / "scale.db"), "--output", str(folder / "out")]
    command = [*bound(CRAWLER_CORE), *PURLIEU, "crawl", "-c", str(config), "-q"]
    return subprocess.Popen([*command, *places, *more], stdout=2)


def fill(folder: Path, urls: int, port: int) -> tuple[float, float, float]:
    """Crawl all hosts at once, so that every sitemap is read early, and kill that crawl when nearly all URLs wait.

    Return what that took: seconds, seconds of CPU, and resident MB at most.
    """
    process, began_at = crawl(folder, port, HOSTS, 1), time.monotonic()
    while process.poll() is None:
        time.sleep(1)
        admitted, ended = counters(folder / "scale.db")
        took = (time.monotonic() - began_at, cpu_ticks(process.pid) / 100, resident_mb(process.pid, "VmHWM"))
        show(began_at, admitted, ended, process.pid)
        if admitted >= FULL * urls:
            process.kill()
            process.wait()
            return took
    sys.exit(f"the crawl ended before the frontier held {urls:,} URLs")


def show(began_at: float, admitted: int, ended: int, pid: int) -> None:
    """Print how far it is."""
    seconds = time.monotonic() - began_at
    print(f"{seconds:7.0f} s  {admitted:,} known  {ended:,} ended  {resident_mb(pid):.0f} MB", file=sys.stderr)


def cpu_ticks(pid: int) -> int:
    """Return the CPU time of a process so far, in hundredths of a second."""
    try:
        facts = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0
    return int(facts[11]) + int(facts[12])


def table(found: list[Measured]) -> list[str]:
    """Return the results as lines of Markdown."""
    titles = (
        "URLs in the frontier", "filling: CPU µs/URL", "resident at most, MB",
        "then: CPU ms/page", "pages/s", "resident at most, MB", "store, MB",
    )  # fmt: skip
    lines = [f"| {' | '.join(titles)} |", f"|{'--:|' * len(titles)}"]
    lines += [
        f"| {one.frontier:,} | {one.fill_cpu:.0f} | {one.fill_mb:.0f} | {one.cpu_ms_per_page:.1f} | {one.rate:.0f} | "
        f"{one.peak_mb:.0f} | {one.store_mb:,.0f} |"
        for one in found
    ]
    return lines


def section(found: list[Measured], pages: int, delay: float) -> str:
    """Return the section of docs/benchmarks.md."""
    lines = (
        HEADING,
        f"Written by `bench/scale.py` on {datetime.now().astimezone():%Y-%m-%d}.",
        f"A [made web](how-to/made-web.md) of {HOSTS} hosts with 30 links a page.",
        f"Each answer takes {delay * 1000:.0f} ms.",
        f"First the sitemaps of all {HOSTS} hosts, asked at once, fill the frontier, a file each; then it is killed,",
        f"resumed with {HOSTS_AT_ONCE} hosts at a time (the default) and 4 connections to each, and measured over",
        f"{pages:,} pages finished after the first batch. Memory is the most that the process has held.",
        "",
        *table(found),
        "",
        f"Machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}.",
        "Neither was bound to a core, as other work kept the machine busy: pages per second say little."
        if bound("") == []
        else "The crawler is bound to core 0, the server to core 1.",
        "",
    )
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the section if it is wished for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, action="append", help="how many URLs; may be repeated (default: 100000)")
    parser.add_argument(
        "--pages", type=int, default=5_000, help="how many pages to ask for once it is full (default: 5000)"
    )
    parser.add_argument("--delay", type=float, default=0.02, help="seconds each answer takes (default: 0.02)")
    parser.add_argument("--port", type=int, default=8642)
    parser.add_argument("--unbound", action="store_true", help="bind nothing to a core, on a machine that is busy")
    parser.add_argument("--results", type=Path, help="keep results in this file, and tell those it holds too")
    parser.add_argument("--section", action="store_true", help="write the section of docs/benchmarks.md")
    arguments = parser.parse_args()
    kept = arguments.results
    found = [Measured(**json.loads(line)) for line in kept.read_text().splitlines()] if kept and kept.exists() else []
    for urls in arguments.urls or ([] if found else [100_000]):
        found.append(measure(urls, arguments.pages, arguments.delay, arguments.port))
        if kept:
            kept.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in found))
    print("\n".join(table(found)))
    if arguments.section:
        before, _, after = PAGE.read_text(encoding="utf-8").partition(HEADING)
        rest = after[after.index("\n## ") :] if "\n## " in after else ""
        PAGE.write_text(before + section(found, arguments.pages, arguments.delay) + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
