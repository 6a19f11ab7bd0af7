"""One person before a browser, and the console they look at.

Knows how a console is started and entered, and notes whatever a browser complains of: scripts that fail, policies that
are broken, dialogs that open, requests to anywhere else. Knows no page of the console.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Playwright, Request

ROOT: Final = Path(__file__).resolve().parents[2]
PICTURES: Final = ROOT / "build" / "screenshots"
LOCALES: Final = {"en": "en-GB", "ja": "ja-JP", "zh": "zh-CN"}
DESK: Final = (1280, 900)
PHONE: Final = (390, 844)
ZONE: Final = "purlieu_browser_zone"
"""The cookie by which a page tells the console the browser's time zone."""
FLAGS: Final = (
    "--no-sandbox",  # the pages are our own, and as root in a container there is no sandbox
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str:
    """Return the path of Chromium, "" where there is none; ``PURLIEU_CHROMIUM`` names another."""
    return os.environ.get("PURLIEU_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""


@dataclass(frozen=True, slots=True)
class Console:
    """A console that is being served: ``url`` lets in, ``origin`` is where its pages are."""

    url: str
    store: Path

    @property
    def origin(self) -> str:
        """Return scheme, address and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@contextmanager
def served(store: Path) -> Iterator[Console]:
    """Serve a console of a store, on a port of the system's choice, as its owner does: by ``purlieu serve``."""
    words = [sys.executable, "-P", "-m", "purlieu", "serve", "--port", "0", "--store", str(store)]
    log = store.with_suffix(".serve.log")
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        try:
            line = process.stdout.readline().strip()
            assert line, log.read_text()
            yield Console(line, store)
        finally:
            process.send_signal(signal.SIGINT)
            process.stdout.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    told = log.read_text()
    assert "Traceback" not in told, told


class Viewer:
    """One person at one browser, with a language, a taste for light or dark, and a size of screen."""

    def __init__(
        self,
        browser: Browser,
        console: Console,
        language: str = "en",
        *,
        size: tuple[int, int] = DESK,
        is_dark: bool = False,
        with_scripts: bool = True,
        zone: str = "UTC",
    ) -> None:
        """Open a window, and enter."""
        self.console = console
        self.language = language
        self.complaints: list[str] = []
        self.context: BrowserContext = browser.new_context(
            locale=LOCALES[language],
            color_scheme="dark" if is_dark else "light",
            reduced_motion="reduce",
            viewport={"width": size[0], "height": size[1]},
            has_touch=size == PHONE,
            is_mobile=size == PHONE,
            java_script_enabled=with_scripts,
            timezone_id=zone,
            device_scale_factor=1,
        )
        self.context.set_default_timeout(20_000)
        if zone == "UTC":  # as if this were not the first visit: on that a page is loaded anew for its times
            self.context.add_cookies([{"name": ZONE, "value": zone, "url": console.origin}])
        self.page: Page = self.context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("request", self._requested)
        self.page.goto(console.url)

    def open(self, path: str, status: int = 200) -> Page:
        """Go to a page of the console by its path, and return it."""
        answer = self.page.goto(self.console.origin + path)
        assert answer
        assert answer.status == status, f"{path}: {answer.status}"
        return self.page

    def close(self) -> None:
        """Close the window; whatever the browser complained of is a failure."""
        self.context.close()
        assert self.complaints == []

    def picture(self, name: str) -> Path:
        """Keep a picture of the whole page under ``build/screenshots``, and return its path."""
        path = PICTURES / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=path, full_page=True, animations="disabled")
        return path

    def _heard(self, message: ConsoleMessage) -> None:
        # A page that answers 404 or 409 on purpose is told as an error too: its status is tested by ``open``.
        is_answer = re.match(r"Failed to load resource: the server responded with a status of 4", message.text)
        if message.type in {"error", "warning"} and not is_answer:
            self.complaints.append(f"{message.type}: {message.text}")

    def _asked(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _requested(self, request: Request) -> None:
        if not request.url.startswith((self.console.origin + "/", "data:")):
            self.complaints.append(f"request to {request.url}")


def launched(playwright: Playwright) -> Browser:
    """Start Chromium."""
    return playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS), headless=True)
