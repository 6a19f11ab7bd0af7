"""Makes the pictures of the console that the documentation shows: ``python -m tests.browser.pictures``.

Crawls the made village anew, so that the pictures show what the console is now. Writes to ``docs/images/`` alone.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright
from tests.browser import village
from tests.browser.screen import ROOT, Viewer, launched, served

FOLDER: Final = ROOT / "docs" / "images"
SIZE: Final = (1180, 760)
MOST_BYTES: Final = 150_000
RUN: Final = f"/runs/{village.RUNS}"
BREAD: Final = f"{village.HOME}bread/"
PICTURES: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "console-run": (RUN, "en", {}),
    "console-map": (f"{RUN}/map", "en", {}),
    "console-tree-ja": (f"{RUN}/tree?open={village.HOME}&open={BREAD}&locale=ja", "ja", {"is_dark": True}),
}
"""Where each picture is taken, in which language, and how."""


def main() -> int:
    """Write every picture, and say how large it is."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        store = village.crawled(Path(folder) / "village.db")
        with sync_playwright() as playwright, served(store) as console:
            browser = launched(playwright)
            for name, (path, language, how) in PICTURES.items():
                viewer = Viewer(browser, console, language, size=SIZE, **how)
                viewer.open(path)
                size = len(viewer.page.screenshot(path=FOLDER / f"{name}.png"))
                viewer.close()
                sys.stdout.write(f"docs/images/{name}.png: {size:,} bytes\n")
                if size > MOST_BYTES:
                    return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
