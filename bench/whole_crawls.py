"""Whole crawls of one local site, Purlieu beside its peers, in one run.

Knows how to serve the site, start each crawler on its own core, take its time, CPU and memory from the kernel, and
read from the server's log what it fetched. A round counts only when all fetched the same pages (R-9.1).
Must not know how any crawler works inside. Started by scripts/bench.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import sites

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sites import Site

HERE = Path(__file__).resolve().parent
CRAWLER_CORE, SERVER_CORE = "0", "1"
SECONDS_AT_MOST = 600
WGET2_GOOD = (0, 8)  # 8: the server answered some URL with an error status
SITE = "python3-doc"
OTHER = "## Whole crawls of "
"""The beginning of the heading of what the page says of a further site."""

NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types; default_type application/octet-stream; sendfile on; keepalive_requests 100000;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    log_format pages '$request_method $status $sent_http_content_type $request_uri';
    access_log {folder}/access.log pages;
    server {{ listen 127.0.0.1:{port}; root {site}; }}
}}
"""


@dataclass(frozen=True)
class Peer:
    """One column of the table: a name, its version, and the command for (seed, working folder)."""

    name: str
    version: str
    command: Callable[[str, Path], list[str]]
    note: str
    good: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Result:
    """One crawl: wall and CPU seconds, peak memory in MiB, what the server's log says it asked for."""

    status: int
    seconds: float
    cpu_seconds: float
    peak_mib: float
    pages: Counter[str]
    requests: int


def output_of(*command: str) -> str:
    """Return the first line a command prints, or "" when it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except OSError:
        return ""
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def installed(python: str, package: str) -> str:
    """Return the version of a package in another Python's environment."""
    return output_of(python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))")


def peers(python: str, peers_python: str) -> dict[str, Peer]:
    """Return every column by its short name."""
    wget2 = ["wget2", "--recursive", "--level=inf", "--quiet", "--no-host-directories"]
    wget2_version = output_of("wget2", "--version").split(" - ")[0].removeprefix("GNU Wget2 ")

    def by_script(script: str) -> Callable[[str, Path], list[str]]:
        return lambda seed, work: [peers_python, str(HERE / "peers" / script), seed, str(work / "items.jsonl")]

    def purlieu(seed: str, work: Path) -> list[str]:
        places = ["--store", str(work / "purlieu.db"), "--output", str(work / "out")]
        return [python, "-P", "-m", "purlieu", "crawl", seed, "--quiet", *places]

    stock = "`CrawlSpider` with the stock `LinkExtractor`"
    tuned = "links made unique before requests are made of them"
    parsel = "`ParselCrawler`, storage in memory, concurrency 8"
    scrapy, crawlee = installed(peers_python, "scrapy"), installed(peers_python, "crawlee")
    node_modules = Path(peers_python).parent.parent / "node_modules"
    spider = node_modules / "@spider-rs" / "spider-rs" / "package.json"
    columns = {
        "purlieu": Peer("Purlieu", installed(python, "purlieu"), purlieu, "as installed; its store and files on disk"),
        "wget2-w1": Peer(
            "wget2 (W1)",
            wget2_version,
            lambda seed, work: [*wget2, f"--directory-prefix={work}", seed],
            "writes its files to memory (tmpfs)",
            good=WGET2_GOOD,
        ),
        "wget2-w2": Peer(
            "wget2 (W2)",
            wget2_version,
            lambda seed, work: [*wget2, "--delete-after", f"--directory-prefix={work}", seed],
            "`--delete-after`",
            good=WGET2_GOOD,
        ),
        "scrapy-tuned": Peer("Scrapy, tuned", scrapy, by_script("scrapy_tuned.py"), tuned),
        "scrapy": Peer("Scrapy, stock", scrapy, by_script("scrapy_stock.py"), stock),
        "crawlee": Peer("Crawlee for Python", crawlee, by_script("crawlee_python.py"), parsel),
    }
    if spider.is_file():
        columns["spider"] = Peer(
            "spider (Rust, from node)",
            json.loads(spider.read_text(encoding="utf-8"))["version"],
            lambda seed, _: ["env", f"NODE_PATH={node_modules}", "node", str(HERE / "peers" / "spider.cjs"), seed],
            "the npm package with its prebuilt binary; pages are given to a callback and not kept",
        )
    return columns


@contextmanager
def served(site: Path, folder: Path, port: int) -> Iterator[tuple[str, Path]]:
    """Serve a folder with nginx on its own core; give the seed and the access log."""
    user = "user root;" if os.geteuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, site=site, user=user), encoding="utf-8")
    nginx = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "nginx"
    server = subprocess.Popen(["taskset", "-c", SERVER_CORE, nginx, "-p", str(folder), "-c", str(config)])
    seed = f"http://127.0.0.1:{port}/index.html"
    try:
        for _ in range(50):
            if server.poll() is not None:
                sys.exit(f"nginx ended at once; is port {port} in use? --port takes another")
            try:
                # A connection alone: a request would stand in the log, and be taken for the first crawler's.
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield seed, folder / "access.log"
    finally:
        server.terminate()
        server.wait(10)


def crawl(peer: Peer, seed: str, log: Path, work: Path) -> Result:
    """Run one crawl from process start to exit and read its log lines."""
    offset = log.stat().st_size
    measured = [sys.executable, "-I", "-S", str(HERE / "measured.py"), str(work / "measured.json")]
    pinned = ["taskset", "-c", CRAWLER_CORE, "timeout", str(SECONDS_AT_MOST)]
    with (work / "output.txt").open("w") as output:
        subprocess.run(
            [*measured, *pinned, *peer.command(seed, work)],
            cwd=work, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=True,
        )  # fmt: skip
    numbers = json.loads((work / "measured.json").read_text(encoding="utf-8"))
    with log.open(encoding="utf-8") as lines:
        lines.seek(offset)
        asked = [line.rstrip("\n").split(" ", 2) for line in lines]
    pages: Counter[str] = Counter()
    for method, code, rest in asked:
        kind, _, uri = rest.rpartition(" ")
        if method == "GET" and code == "200" and kind.startswith("text/html"):
            pages[uri] += 1
    return Result(**numbers, pages=pages, requests=len(asked))


def ledger_pages(python: str, work: Path) -> set[str]:
    """Return the paths of all HTML pages that Purlieu's ledger has as fetched."""
    asked = ["report", "latest", "--store", str(work / "purlieu.db"), "--output", str(work), "--format", "jsonl"]
    done = subprocess.run([python, "-P", "-m", "purlieu", *asked], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"purlieu report failed ({done.returncode}): {done.stderr or done.stdout}")
    rows = [json.loads(line) for line in (work / "ledger.jsonl").read_text(encoding="utf-8").splitlines()]
    return {
        "/" + row["url"].split("/", 3)[3]
        for row in rows
        if row.get("kind") == "fetched" and (row.get("content_type") or "").startswith("text/html")
    }


def one_round(
    order: list[str], columns: dict[str, Peer], seed: str, log: Path, *, python: str, disk: Path
) -> dict[str, Result]:
    """Crawl once with each, in this order; Purlieu keeps its store on disk, the others write to memory."""
    results = {}
    for name in order:
        place = disk if name == "purlieu" else Path("/dev/shm")
        with tempfile.TemporaryDirectory(prefix="bench-", dir=place) as folder:
            work = Path(folder)
            result = crawl(columns[name], seed, log, work)
            if result.status not in columns[name].good:
                print((work / "output.txt").read_text(encoding="utf-8", errors="replace")[-2000:])
                sys.exit(f"{columns[name].name} ended with status {result.status}")
            print(
                f"  {columns[name].name:20} {result.seconds:7.2f} s  {len(result.pages)} pages"
                f"  {result.requests} requests  {result.peak_mib:.0f} MiB",
                flush=True,
            )
            if name == "purlieu" and (wrong := ledger_pages(python, work) ^ result.pages.keys()):
                sys.exit(f"ledger and server log differ by {len(wrong)} pages, such as {sorted(wrong)[:5]}")
        results[name] = result
    return results


def differences(results: dict[str, Result], columns: dict[str, Peer]) -> list[str]:
    """Return one line for each crawler whose set of pages is not everybody's; nothing when the round counts."""
    found = {name: {_file_of(uri) for uri in result.pages} for name, result in results.items()}
    everything = set().union(*found.values())
    return [
        f"{columns[name].name} missed {len(missed)} pages, such as {' '.join(missed[:3])}"
        for name, mine in found.items()
        if (missed := sorted(everything - mine))
    ]


def _file_of(uri: str) -> str:
    """Return the file behind a URI: a folder and its index.html are one page, of which wget2 asks for one."""
    return f"{uri}index.html" if uri.endswith("/") else uri


def machine() -> str:
    """Return one sentence that says what the numbers were measured on."""
    cpu = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores of {cpu}, {memory:.0f} GiB of memory, Linux {platform.release()},"
        f" Python {platform.python_version()}, {output_of('/usr/sbin/nginx', '-v').rpartition(' ')[2]}."
    )


def spread(values: list[float], digits: int = 2) -> str:
    """Return the median, with the least and the most where there are several."""
    middle = f"{median(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def table(rounds: list[dict[str, Result]], columns: dict[str, Peer]) -> str:
    """Return the results as a Markdown table, fastest first."""
    head = ("crawler", "version", "seconds", "pages/s", "CPU ms/page", "peak MiB", "pages", "fetched twice", "requests")
    lines = [f"| {' | '.join(head)} |", "|---|---|--:|--:|--:|--:|--:|--:|--:|"]
    for name in sorted(rounds[0], key=lambda name: median(results[name].seconds for results in rounds)):
        mine = [results[name] for results in rounds]
        count = len(mine[-1].pages)
        seconds = median(result.seconds for result in mine)
        cells = [
            columns[name].name,
            columns[name].version,
            spread([result.seconds for result in mine]),
            f"{count / seconds:.0f}",
            f"{median(result.cpu_seconds for result in mine) / count * 1000:.2f}",
            f"{max(result.peak_mib for result in mine):.0f}",
            str(count),
            str(max(result.pages.total() - len(result.pages) for result in mine)),
            str(max(result.requests for result in mine)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ratios(rounds: list[dict[str, Result]], columns: dict[str, Peer]) -> str:
    """Return one sentence with Purlieu's speed as a multiple of each peer's: the median of the rounds' ratios."""
    if "purlieu" not in rounds[0]:
        return ""
    told = (
        f"{columns[name].name} {median(results[name].seconds / results['purlieu'].seconds for results in rounds):.2f}"
        for name in rounds[0]
        if name != "purlieu"
    )
    return f"\n\nPurlieu's pages per second, as a multiple of each peer's, the rounds' median: {', '.join(told)}."


def section(name: str, rounds: list[dict[str, Result]], void: int, columns: dict[str, Peer], site: Site) -> str:
    """Return what the page says of a further site."""
    return f"""{OTHER}{name}

Written by `scripts/bench --site {name}` on {datetime.now().astimezone().date().isoformat()}; measured as above.
The site: {site.told}; {len(rounds)} alternating rounds (void: {void}).

{table(rounds, columns)}{ratios(rounds, columns)}
"""


def page(rounds: list[dict[str, Result]], void: int, columns: dict[str, Peer], site: Site) -> str:
    """Return docs/benchmarks.md."""
    notes = "\n".join(f"- **{columns[name].name}**: {columns[name].note}." for name in rounds[0])
    return f"""# Benchmarks

Written by `scripts/bench` on {datetime.now().astimezone().date().isoformat()}.
Run it to have the numbers of your own machine.
One local site, crawled whole by each program, one after the other, {len(rounds)} alternating rounds (void: {void}).

{table(rounds, columns)}{ratios(rounds, columns)}

Seconds are the median, with the least and the most in brackets.
Memory is that of the largest single process, the most of all rounds.

## How it is measured

- Site: {site.told}.
  It is served by nginx on loopback.
- Machine: {machine()}
- The crawler is bound to core {CRAWLER_CORE}, the server to core {SERVER_CORE}.
- Time is the whole process from start to exit, CPU and memory are what the kernel counted for it.
- A page is a URL that the server's log has as answered with 200 and `text/html`.
  A round counts only when every crawler fetched exactly the same set of pages; a folder and its `index.html`
  are one, of which wget2 asks for one alone.
- Requests are all that the server saw.
  Programs differ in what else they take along: images, style sheets, source texts.
- Purlieu's ledger is compared with the server's log after each crawl, outside the time.

{notes}
"""


def main() -> None:
    """Run the rounds, print them, write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the Python that Purlieu is installed in")
    parser.add_argument("--peers-python", required=True, help="the Python that Scrapy and Crawlee are installed in")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="columns, with commas, such as purlieu,wget2-w1,scrapy-tuned")
    known = ", ".join([*sites.PACKAGED, *sites.MADE])
    parser.add_argument(
        "--site", default=SITE, help=f"one of {known}, or a folder with an index.html (default: {SITE})"
    )
    parser.add_argument("--port", type=int, default=18181)
    parser.add_argument("--disk", type=Path, default=Path.cwd(), help="where Purlieu's store lies (default: here)")
    parser.add_argument("--dry-run", action="store_true", help="print the page instead of writing docs/benchmarks.md")
    options = parser.parse_args()

    columns = peers(options.python, options.peers_python)
    names = options.only.split(",") if options.only else list(columns)
    if unknown := set(names) - set(columns):
        parser.error(f"no such column: {', '.join(sorted(unknown))}; there are {', '.join(columns)}")
    valid: list[dict[str, Result]] = []
    with ExitStack() as held:
        folders = [held.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir="/dev/shm")) for _ in range(2)]
        site = sites.site(options.site, Path(folders[0]))
        seed, log = held.enter_context(served(site.folder, Path(folders[1]), options.port))
        for number in range(options.rounds):
            print(f"round {number + 1}", flush=True)
            turn = number % len(names)
            order = names[turn:] + names[:turn]
            results = one_round(order, columns, seed, log, python=options.python, disk=options.disk)
            wrong = differences(results, columns)
            print("".join(f"  void: {line}\n" for line in wrong), end="", flush=True)
            if not wrong:
                valid.append({name: results[name] for name in names})
    if not valid:
        sys.exit("no round counts, so there is nothing to compare")
    void = options.rounds - len(valid)
    is_first = options.site == SITE
    text = page(valid, void, columns, site) if is_first else section(options.site, valid, void, columns, site)
    if options.dry_run:
        print(text)
        return
    file = HERE.parent / "docs" / "benchmarks.md"
    file.write_text(put(file.read_text(encoding="utf-8"), text, "" if is_first else options.site), encoding="utf-8")
    print("written: docs/benchmarks.md")


def put(whole: str, text: str, name: str) -> str:
    """Return the page with what it says of one site in the place of what it said before ("" for the first site)."""
    parts = re.split(r"^(?=## )", whole, flags=re.MULTILINE)
    of_first = [number for number, part in enumerate(parts) if number == 0 or part.startswith("## How it is measured")]
    old = of_first if not name else [n for n, part in enumerate(parts) if part.startswith(f"{OTHER}{name}\n")]
    place = old[0] if old else next(n for n, part in enumerate(parts) if part.startswith("## Reading sitemaps"))
    kept = [part for number, part in enumerate(parts) if number not in old]
    return "".join([*kept[:place], text.rstrip("\n") + "\n\n", *kept[place:]])


if __name__ == "__main__":
    main()
