"""What a second process gives, and what it costs: R-9.4.

    python bench/workers.py                     one and two processes in turn, three rounds, a table
    python bench/workers.py --section           also writes the section of docs/benchmarks.md

The made web of ``purlieu proof web`` is served by one more process: 500 hosts, 30 links a page, answers after 20 ms,
4 connections to a host. A crawl is the command as its owner would give it, measured from outside: seconds by the clock,
and the CPU seconds of all its processes as the kernel counted them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = Path(__file__).resolve().parent
PAGE: Final = HERE.parent / "docs" / "benchmarks.md"
HEADING: Final = "\n## Several processes\n"
PURLIEU: Final = [sys.executable, "-m", "purlieu"]
GOAL_CPU, GOAL_RATE = 1.1, 1.8


@dataclass(frozen=True)
class Measured:
    """One crawl: requests, seconds by the clock, CPU seconds of all its processes, lost processes."""

    requests: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Return requests a second."""
        return self.requests / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Return CPU milliseconds a request."""
        return self.cpu_seconds * 1000 / self.requests


@contextmanager
def served(hosts: int, pages: int, delay: float, port: int) -> Iterator[None]:
    """Serve the made web."""
    command = [*PURLIEU, "proof", "web", "--hosts", str(hosts), "--port", str(port), "--pages", str(pages)]
    server = subprocess.Popen([*command, "--delay", str(delay), "--seed", "1"], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.1.0.1:{port}/.made/epoch", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait(10)


def measure(workers: int, hosts: int, port: int) -> Measured:
    """Crawl once and return what it took."""
    with tempfile.TemporaryDirectory(prefix="purlieu-workers-") as name:
        folder = Path(name)
        seeds = [f"http://127.1.{host // 254}.{1 + host % 254}:{port}/" for host in range(hosts)]
        (folder / "w.toml").write_text(
            f'name = "w"\nseeds = {json.dumps(seeds)}\nformats = []\nworkers = {workers}\n'
            "[politeness]\nconnections = 4\n",
            encoding="utf-8",
        )
        store = folder / "w.db"
        command = [*PURLIEU, "crawl", "-c", str(folder / "w.toml"), "--store", str(store), "-q"]
        # As installed: what is compiled is kept, and not compiled again by each process.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        began_at = time.monotonic()
        child = os.posix_spawnp(command[0], [*command, "--output", str(folder / "out")], environment, file_actions=[
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
        ])  # fmt: skip
        _, status, usage = os.wait4(child, 0)  # with what it has itself waited for: its other processes
        seconds = time.monotonic() - began_at
        if status:
            sys.exit(f"the crawl ended with status {os.waitstatus_to_exitcode(status)}")
        connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
        (text, books) = next(connection.execute("SELECT counters, books FROM run"))
        connection.close()
        if not json.loads(books)["balanced"]:
            sys.exit("the books do not balance")
        return Measured(json.loads(text)["requests"], seconds, usage.ru_utime + usage.ru_stime)


def table(found: dict[int, list[Measured]]) -> list[str]:
    """Return the medians as lines of Markdown, each with its ratio to one process in the same round."""
    lines = ["| processes that ask | requests/s | of one | CPU ms/request | of one |", "|--:|--:|--:|--:|--:|"]
    for workers, rounds in found.items():
        rates = median(one.rate / first.rate for one, first in zip(rounds, found[1], strict=True))
        cpus = median(one.cpu_ms / first.cpu_ms for one, first in zip(rounds, found[1], strict=True))
        lines.append(
            f"| {workers} | {median(one.rate for one in rounds):.0f} | {rates:.2f} "
            f"| {median(one.cpu_ms for one in rounds):.2f} | {cpus:.2f} |"
        )
    return lines


def section(lines: list[str], arguments: argparse.Namespace, requests: int) -> str:
    """Return the section of docs/benchmarks.md."""
    cores = len(os.sched_getaffinity(0))
    return "\n".join((
        HEADING,
        f"Written by `bench/workers.py` on {datetime.now().astimezone():%Y-%m-%d}.",
        f"A [made web](how-to/made-web.md) of {arguments.hosts} hosts, {requests:,} requests a crawl,",
        f"each answered after {arguments.delay * 1000:.0f} ms; 4 connections to a host, 64 hosts at a time.",
        f"Medians of {arguments.rounds} rounds in turn; the ratios are those within a round.",
        "",
        *lines,
        "",
        f"R-9.4 asks for {GOAL_CPU} times the CPU at most, and {GOAL_RATE} times the rate where two have two cores.",
        f"This machine has {cores} for the server, the process that writes and those that ask together,",
        f"and other work was going on (load {os.getloadavg()[0]:.1f}), so the CPU says more than the rate does.",
        f"{platform.machine()}, Python {platform.python_version()}.",
        "",
    ))  # fmt: skip


def main() -> None:
    """Measure, print, and write the section if it is wished for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, action="append", help="how many processes beside 1 (default: 2)")
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--pages", type=int, default=12, help="pages of each host (default: 12)")
    parser.add_argument("--delay", type=float, default=0.02, help="seconds each answer takes (default: 0.02)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--port", type=int, default=8655)
    parser.add_argument("--section", action="store_true", help="write the section of docs/benchmarks.md")
    arguments = parser.parse_args()
    found: dict[int, list[Measured]] = {one: [] for one in dict.fromkeys([1, *(arguments.workers or [2])])}
    with served(arguments.hosts, arguments.pages, arguments.delay, arguments.port):
        for _ in range(arguments.rounds):
            for workers, rounds in found.items():
                rounds.append(measure(workers, arguments.hosts, arguments.port))
                print(f"{workers}: {rounds[-1].rate:.0f}/s {rounds[-1].cpu_ms:.2f} ms", file=sys.stderr)
    lines = table(found)
    print("\n".join(lines))
    if arguments.section:
        before, _, after = PAGE.read_text(encoding="utf-8").partition(HEADING)
        rest = after[after.index("\n## ") :] if "\n## " in after else ""
        PAGE.write_text(before + section(lines, arguments, found[1][0].requests) + rest, encoding="utf-8")


if __name__ == "__main__":
    main()
