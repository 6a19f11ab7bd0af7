"""A run under way, in a real browser: seen as it goes, stopped and gone on with, its result compared with the next one's."""

from __future__ import annotations

import asyncio
import hashlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.screen import Console, Viewer, served
from tests.crawling import html

from purlieu.testing.loopback import Loopback, Received, message

LONG = 60_000.0
"""Milliseconds in which a run of some hundred pages ends on a busy machine."""


class Growing(Loopback):
    """A site whose pages lead to ever more pages for as long as ``is_endless``; each takes a moment."""

    def __init__(self) -> None:
        """Begin endless."""
        super().__init__(self._give)
        self.is_endless = True
        self.asked = threading.Event()

    async def _give(self, received: Received, out: asyncio.StreamWriter) -> bool:
        self.asked.set()
        if received.path == "/robots.txt":
            out.write(message(status=404))
            return True
        await asyncio.sleep(0.1)
        number = 0 if received.path == "/" else int(received.path.rpartition("-")[2])
        following = (2 * number + 1, 2 * number + 2) if self.is_endless else ()
        links = [f"/{hashlib.sha256(b'%d' % one).hexdigest()[:6]}-{one}" for one in following]
        page = html(*links, title=f"Page {number}", body=f"Text {number}")
        out.write(message(page.encode()))
        return True


@pytest.fixture
def site() -> Iterator[Growing]:
    """Yield a site without an end."""
    with Growing() as growing:
        yield growing


@pytest.fixture
def crawling(site: Growing, tmp_path: Path) -> Iterator[Path]:
    """Yield the store of a crawl of that site which was started in a terminal and is under way."""
    store = tmp_path / "live.db"
    words = ["crawl", f"{site.origin}/", "--store", str(store), "--output", str(tmp_path / "out"), "--quiet"]
    process = subprocess.Popen([sys.executable, "-P", "-m", "purlieu", *words], cwd=tmp_path)
    try:
        assert site.asked.wait(60), process.poll()
        yield store
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def console(crawling: Path) -> Iterator[Console]:
    """Yield a console over that store."""
    with served(crawling) as console:
        yield console


def test_a_run_is_followed_stopped_and_resumed(site: Growing, console: Console, look: Callable[..., Viewer]) -> None:
    """Numbers of a run grow without reloading; a stop ends it and shows the books; a resumed one goes on to its end."""
    viewer = look(console)
    page = viewer.open("/runs/1")
    page.evaluate("window.is_first = true")
    requests = page.locator(".live dd").nth(3)
    expect(requests).to_have_text(re.compile("[1-9]"))
    seen = requests.inner_text()
    expect(requests).not_to_have_text(seen)
    viewer.picture("live")
    assert page.evaluate("window.is_first") is True
    page.locator("main form[action$='/stop'] button").click()
    expect(page.locator("h1 .badge")).to_have_text("stopped by its owner", timeout=LONG)
    expect(page.locator(".live")).to_have_count(0)
    pages = page.locator(".facts dd").first
    stopped_at = pages.inner_text()
    site.is_endless = False
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("h1 .badge")).to_have_text(re.compile("^done"), timeout=LONG)
    expect(pages).not_to_have_text(stopped_at)
    expect(page.locator(".facts .up").last).to_contain_text("balance")
