"""What tests in a real browser may ask for: the browser, windows in it, and consoles over made stores.

Skips with a word where there is no Chromium. Playwright keeps an event loop running in the thread while it is open, so
it is opened for a module and closed after it: other tests of the same process have loops of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.browser import village
from tests.browser.screen import Console, Viewer, chromium, launched, served

ABSENT: Final = (
    "no Chromium: on Debian and Ubuntu `apt-get install chromium fonts-noto-cjk`, or PURLIEU_CHROMIUM=/path/to/it"
)


@pytest.fixture(scope="session")
def is_there() -> None:
    """Skip where there is no Chromium, before anything is made for it."""
    if not chromium():
        pytest.skip(ABSENT)


@pytest.fixture(scope="module")
def browser(is_there: None) -> Iterator[Browser]:
    """Yield Chromium."""
    with sync_playwright() as opened:
        started = launched(opened)
        yield started
        started.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Viewer]]:
    """Return what opens windows; each must have been quiet by the end of the test."""
    with ExitStack() as windows:

        def opened(console: Console, language: str = "en", **how: Any) -> Viewer:
            viewer = Viewer(browser, console, language, **how)
            windows.callback(viewer.close)
            return viewer

        yield opened


@pytest.fixture(scope="session")
def shown(is_there: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Yield a console over six weekly runs of a made site, which nobody changes."""
    store = tmp_path_factory.mktemp("shown") / "village.db"
    in_thread(lambda: village.crawled(store))
    with served(store) as console:
        yield console


@pytest.fixture(scope="session")
def hostile(is_there: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """Yield a console over a run of a site that tries to be taken for HTML everywhere."""
    store = tmp_path_factory.mktemp("hostile") / "hostile.db"
    in_thread(lambda: village.hostile(store))
    with served(store) as console:
        yield console


def in_thread(work: Callable[[], Path]) -> None:
    """Do work that runs an event loop of its own, while Playwright's is running in this thread."""
    faults: list[BaseException] = []

    def tried() -> None:
        try:
            work()
        except BaseException as fault:  # noqa: BLE001 - told in the thread that waits
            faults.append(fault)

    thread = threading.Thread(target=tried)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
