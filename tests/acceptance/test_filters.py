"""What the owner's filters, normalisers and callable do to a whole crawl (issue of scope; UF-*, R-3.4, R-3.5)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.crawl.local import Crawl
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, redirect


def test_filters_come_after_scope_and_seeds_pass_them(tmp_path: Path) -> None:
    """The first matching rule decides, none rejects, what is out of scope stays out, seeds are fetched (UF-2, UF-3, UF-11, EN-20a)."""
    web = FakeWeb({HOME: html("/a.html", "/b.pdf", "/c.html?q", "http://other.test/a.html"), f"{HOME}a.html": html()})
    store = tmp_path / "s.db"
    result = crawl(web, made_settings(store, {"filter": {"rules": ["-[?]", "+[.]html$"]}}))
    assert result.books_balanced, result.faults
    found = endings(store)
    assert found[HOME] == "fetched.ok"
    assert found[f"{HOME}a.html"] == "fetched.ok"
    assert found[f"{HOME}b.pdf"] == "excluded.filter"
    assert found[f"{HOME}c.html?q"] == "excluded.filter"
    assert found["http://other.test/a.html"] == "excluded.scope"
    assert ledger(store)["page", f"{HOME}c.html?q"]["rule"] == "filter:1"


def test_normalisers_make_one_entry_of_many_addresses(tmp_path: Path) -> None:
    """Session ids are stripped before anything is asked for, in links and in redirects (UF-24, UF-26, R-3.5)."""
    web = FakeWeb({HOME: html("/a?sid=1", "/a?sid=2", "/r"), f"{HOME}a": html(), f"{HOME}r": redirect("/a?sid=3")})
    store = tmp_path / "s.db"
    tree = {"normalise": {"rule": [{"pattern": "[?]sid=[0-9]+$", "replace": ""}]}}
    result = crawl(web, made_settings(store, tree))
    assert result.books_balanced, result.faults
    assert web.urls.count(f"{HOME}a") == 1
    assert not [url for url in web.urls if "sid" in url]
    assert endings(store)[f"{HOME}r"] == "redirected.permanent"


def test_a_callable_can_only_refuse(tmp_path: Path) -> None:
    """``accept`` is asked of what is left, and admits nothing that scope refuses (R-3.4)."""
    asked: list[str] = []

    def accept(url: str) -> bool:
        asked.append(url)
        return not url.endswith("/no")

    async def main() -> None:
        web = FakeWeb({HOME: html("/yes", "/no", "http://other.test/")})
        async with Crawl(made_settings(tmp_path / "s.db"), accept=accept, fetcher=web, clock=FakeClock()) as run:
            await run.run()
        assert run.result.books_balanced, run.result.faults

    asyncio.run(main())
    found = endings(tmp_path / "s.db")
    assert found[f"{HOME}no"] == "excluded.filter"
    assert found[f"{HOME}yes"] == "missing.not_found"
    assert "http://other.test/" not in asked
