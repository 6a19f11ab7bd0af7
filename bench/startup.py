"""How long Purlieu takes to start: to print its version, and from process start to its first request (R-9.2).

Starts processes one after the other and listens on loopback for their first connection; prints medians. Run it on a
quiet machine: ``python bench/startup.py --rounds 21``.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

AIMS = {"purlieu --version": 0.15, "first request": 0.2}
"""Seconds (R-9.2)."""
ANSWER = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def version(python: str) -> float:
    """Return the seconds that ``purlieu --version`` takes, from start to exit."""
    started = time.perf_counter()
    subprocess.run([python, "-P", "-m", "purlieu", "--version"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def first_request(python: str, listener: socket.socket) -> tuple[float, float]:
    """Return the seconds, and the CPU seconds, from the start of ``purlieu crawl`` until its first request is there."""
    seed = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with tempfile.TemporaryDirectory(prefix="bench-startup-") as folder:
        places = ["--store", str(Path(folder, "purlieu.db")), "--output", str(Path(folder, "out"))]
        started = time.perf_counter()
        crawl = subprocess.Popen(
            [python, "-P", "-m", "purlieu", "crawl", seed, "--quiet", "--max-pages", "1", *places],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        seconds = cpu = 0.0
        while crawl.poll() is None:
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection:
                connection.settimeout(5)
                if connection.recv(65_536):
                    if not seconds:
                        seconds, cpu = time.perf_counter() - started, _cpu_seconds(crawl.pid)
                    connection.sendall(ANSWER)
    if not seconds:
        sys.exit("the crawl ended without a request")
    return seconds, cpu


def _cpu_seconds(process: int) -> float:
    """Return what a process has had of the CPU so far, to a hundredth."""
    told = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the median, the least and the most of both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the Python that Purlieu is installed in")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled; the first start compiles this
    version(options.python)
    seconds: dict[str, list[float]] = {name: [] for name in AIMS}
    used: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        first_request(options.python, listener)
        for _ in range(options.rounds):
            seconds["purlieu --version"].append(version(options.python))
            wall, cpu = first_request(options.python, listener)
            seconds["first request"].append(wall)
            used.append(cpu)
    for name, taken in seconds.items():
        print(f"{name:20} {median(taken):.3f} s ({min(taken):.3f}–{max(taken):.3f}), wanted: under {AIMS[name]} s")
    print(f"{'CPU to first request':20} {median(used):.2f} s ({min(used):.2f}–{max(used):.2f})")


if __name__ == "__main__":
    main()
