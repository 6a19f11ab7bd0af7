"""What several processes must share of hosts: cookies, landings, traps; when "auto" starts none; a slow reader."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.acceptance.test_workers import Most, crawl, found
from tests.crawling import endings, html, ledger

from purlieu import settings as settings_text
from purlieu.crawl.local import Crawl

HOSTS, PAGES = 6, 40
Asked = tuple[str, str, str]
"""Host, path and the cookies that were sent."""


class Small:
    """A server of a few hosts of this machine; ``answer`` says status, headers and body of a host's number and path."""

    def __init__(self, answer: Callable[[int, str], tuple[int, dict[str, str], str]], hosts: int = HOSTS) -> None:
        """Serve so many hosts."""
        self.asked: list[Asked] = []
        small = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                host = self.headers["Host"].partition(":")[0]
                small.asked.append((host, self.path, self.headers.get("Cookie", "")))
                missing = self.path.endswith((".txt", ".xml"))
                status, headers, body = (
                    (404, {}, "") if missing else answer(int(host.rpartition(".")[2]) - 1, self.path)
                )
                data = body.encode()
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", "Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.http.daemon_threads = True
        self.homes = [f"http://127.3.0.{1 + number}:{self.http.server_address[1]}/" for number in range(hosts)]
        self.seeds = self.homes


@contextmanager
def serving(small: Small) -> Iterator[Any]:
    """Serve for a while."""
    thread = threading.Thread(target=small.http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield small
    finally:
        small.http.shutdown()
        thread.join()
        small.http.server_close()


def fan(count: int = PAGES, body: str = "words") -> str:
    """Return a page that leads to so many others of its host."""
    return html(*(f"/p/{number}" for number in range(count)), body=body)


def test_cookies_go_with_their_host(tmp_path: Path) -> None:
    """What a host has set is sent with each later request to it, whichever process makes that (R-4.4)."""

    def answer(host: int, path: str) -> tuple[int, dict[str, str], str]:
        return (200, {"Set-Cookie": f"id=of-{host}"}, fan()) if path == "/" else (200, {}, html(body=path))

    most = Most()
    with serving(Small(answer)) as small:
        crawl(small, tmp_path / "w.db", 2, most, politeness={"delay": 0.05, "connections": 1})
    assert most.at_once == 2
    pages = [one for one in small.asked if one[1].startswith("/p/")]
    assert len(pages) == HOSTS * PAGES
    assert {cookie for host, _, cookie in pages if cookie != f"id=of-{int(host.rpartition('.')[2]) - 1}"} == set()


def test_sites_that_land_during_the_run_are_open_to_all(tmp_path: Path) -> None:
    """A seed that is answered late with a redirect opens its site to every process; the ledger is that of one (R-3.2)."""

    def answer(host: int, path: str) -> tuple[int, dict[str, str], str]:
        if path == "/start":
            time.sleep(host / 2)
            return 301, {"Location": "/"}, ""
        return 200, {}, fan() if path == "/" else html(body=path)

    most = Most()
    with serving(Small(answer)) as small:
        small.seeds = [f"{home}start" for home in small.homes]
        crawl(small, tmp_path / "one.db", 1)
        crawl(small, tmp_path / "two.db", 2, most)
    assert most.at_once == 2
    assert ledger(tmp_path / "two.db") == ledger(tmp_path / "one.db")
    asked = Counter(url.split("/")[2] for url, end in endings(tmp_path / "two.db").items() if end == "fetched.ok")
    assert len(asked) == HOSTS
    assert set(asked.values()) == {1 + PAGES}


def test_a_trap_is_found_by_the_pages_of_all(tmp_path: Path) -> None:
    """A series that says the same again and again is a trap in every process, once it is found (``traps.same_text``)."""

    def answer(_: int, path: str) -> tuple[int, dict[str, str], str]:
        if path.startswith("/p/"):
            return 200, {}, html(body=path)
        day = int(path.rpartition("=")[2]) if "day=" in path else 0
        links = [*(f"/p/{number}" for number in range(PAGES))] if path == "/" else []
        return 200, {}, html(*links, f"/calendar?day={day + 1}", body="nothing on this day")

    most = Most()
    tree: dict[str, Any] = {"traps": {"same_text": 20, "allow": ["/p/*"]}}
    with serving(Small(answer, 4)) as small:
        result = crawl(small, tmp_path / "w.db", 2, most, **tree)
    assert most.at_once == 2
    assert (result.state, result.books_balanced) == ("done", True)
    series = [one for one in found(tmp_path / "w.db", "trap_series") if "calendar" in one]
    assert len(series) == 4
    days = Counter(host for host, path, _ in small.asked if "day=" in path)
    assert all(20 <= count <= 20 + 64 for count in days.values()), days


def test_auto_leaves_one_host_to_one_process(tmp_path: Path) -> None:
    """``workers = "auto"`` starts nothing for a single host, however many pages it has (R-9.4)."""
    most = Most()
    with serving(Small(lambda _, path: (200, {}, fan(2_500) if path == "/" else html(body=path)), 1)) as small:
        crawl(small, tmp_path / "w.db", "auto", most, politeness={"delay": 0}, limits={"max_pages": 300})
    assert most.seen == set()


def test_a_slow_reader_holds_every_process_back(tmp_path: Path) -> None:
    """Who reads the visits slowly slows all processes down: what waits for the reader stays within its bound."""
    links = [f"http://elsewhere.test/{number}" for number in range(2_500)]
    page = html(*links)

    def answer(_: int, path: str) -> tuple[int, dict[str, str], str]:
        return 200, {}, fan(60) if path == "/" else page

    async def main() -> tuple[int, int, int, int]:
        most, read, stood, heaviest = Most(), 0, 0, 0
        async with Crawl(made) as run:
            async for _ in run:
                read += 1
                most(run)
                heaviest = max(heaviest, run._outbox._weight)
                if not stood and most.at_once == 2 and run._outbox.is_full:
                    await asyncio.sleep(1.0)  # what is under way may end
                    stood = len(small.asked)
                    await asyncio.sleep(1.0)
                    stood = -1 if len(small.asked) != stood else stood
                elif not stood:
                    await asyncio.sleep(0.05 if most.at_once == 2 else 0)
        return most.at_once, read, stood, heaviest

    with serving(Small(answer)) as small:
        made = settings_text.of({
            "name": "w", "seeds": small.seeds, "store": str(tmp_path / "w.db"), "output": str(tmp_path / "out"),
            "formats": [], "workers": 2, "politeness": {"delay": 0.02, "connections": 2},
        })  # fmt: skip
        at_once, read, stood, heaviest = asyncio.run(main())
    assert at_once == 2
    assert stood > 0, "the processes went on though nobody read, or were never held back"
    assert heaviest < 4_000
    rows = ledger(tmp_path / "w.db")
    assert read == sum(row["attempts"] for row in rows.values())
