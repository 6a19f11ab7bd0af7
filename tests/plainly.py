"""Sites that are crawled by plain call, and such a call: for tests that start a process, which then imports little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.crawling import HOME, html, made_settings

import purlieu
from purlieu.testing import FakeClock, FakeWeb
from purlieu.testing.web import redirect

SITE: dict[str, Any] = {
    f"{HOME}robots.txt": "User-agent: *\nDisallow: /secret\n",
    HOME: html("/a", "/b", "/moved", "/missing", "/secret", "/paper.pdf", "http://other.test/"),
    f"{HOME}a": html("/b", title="日本", head='<link rel="canonical" href="/b"><meta name="robots" content="noindex">'),
    f"{HOME}b": "",
    f"{HOME}moved": redirect("/a"),
    f"{HOME}paper.pdf": b"%PDF-1.7",
}
QUICK = {"traps": {"detect": False}, "politeness": {"delay": 0, "connections": 8}}
"""For sites whose pages say the same, on a clock that takes its time to move."""


def many(pages: int) -> FakeWeb:
    """Return a site of so many pages."""
    return FakeWeb({HOME: html(*[f"/{n}" for n in range(pages)]), **{f"{HOME}{n}": html() for n in range(pages)}})


def by_call(store: str) -> dict[str, Any]:
    """Crawl by a plain call and return the summary, as a task of a scheduler does."""
    made = made_settings(Path(store))
    return purlieu.run(made, fetcher=FakeWeb(SITE), clock=FakeClock())
