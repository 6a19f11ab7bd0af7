"""The screens that every general test looks at, and what axe-core and a reader of texts find on one."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from playwright.sync_api import Page
from tests.browser import village

SCREENS: Final = {
    "crawls": "/",
    "new": "/crawls/new",
    "crawl": "/crawls/1",
    "settings": "/crawls/1/settings",
    "delete": "/crawls/1/delete",
    "search": "/crawls/1/search?q=bread",
    "run": f"/runs/{village.RUNS}",
    "ledger": f"/runs/{village.RUNS}?kind=missing&sort=status",
    "url": f"/runs/{village.RUNS}/url?u={village.HOME}bread/",
    "url-refused": f"/runs/{village.RUNS}/url?u={village.HOME}kitchen/rota",
    "url-redirected": f"/runs/{village.RUNS}/url?u={village.HOME}old-menu",
    "map": f"/runs/{village.RUNS}/map",
    "hosts": f"/runs/{village.RUNS}/hosts?u={village.HOME}kitchen/rota",
    "tree": f"/runs/{village.RUNS}/tree?all=on&size=25",
    "tree-filtered": f"/runs/{village.RUNS}/tree?filter=on",
    "sitemap": f"/runs/{village.RUNS}/sitemap",
    "sitemaps": "/sitemaps",
    "schedules": "/crawls/1/schedules",
    "zone": "/zone",
    "changes": "/changes",
    "compare": f"/compare?before={village.RUNS - 1}&after={village.RUNS}&class=failed",
}
"""The screens of a store that nobody changes, by name: where each is."""
STANDARDS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


@cache
def _axe() -> str:
    # Read from the package and run by the browser's own debugger: the policy of our pages would let in no script.
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def barriers(page: Page, *, only_colours: bool = False) -> list[str]:
    """Return what axe-core finds against WCAG 2.2 A and AA on the page as it stands: rule, place and why."""
    page.evaluate(_axe())
    asked = {"type": "rule", "values": ["color-contrast"]} if only_colours else {"type": "tag", "values": STANDARDS}
    found: dict[str, Any] = page.evaluate(
        "asked => axe.run(document, {runOnly: asked, resultTypes: ['violations']})", asked
    )
    return [
        f"{rule['id']}: {node['html'][:200]}: {node['failureSummary']}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]


def overflow(page: Page) -> list[str]:
    """Return what makes a page wider than its window: nothing, or the elements that reach out and do not scroll."""
    found: list[str] = page.evaluate(
        """() => {
            const most = document.documentElement.clientWidth;
            if (document.documentElement.scrollWidth <= most) return [];
            const scrolls = (one) => { for (let p = one.parentElement; p && p !== document.body; p = p.parentElement)
                if (getComputedStyle(p).overflowX !== 'visible') return true; return false; };
            return [`${document.documentElement.scrollWidth} of ${most}`,
                ...[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > most + 1
                    && !scrolls(one)).map(one => one.outerHTML.slice(0, 160))];
        }"""
    )
    return found


NAMES: Final = frozenset(
    {
        "Purlieu", "API", "URL", "CSV", "JSONL", "JSON", "TOML", "Parquet", "Web", "HTML", "PDF", "Webhook", "UTC", "kB", "MB",
        "robots.txt", "nofollow", "canonical", "refresh", "lastmod", "priority", "Retry-After", "Content-Type", "Location", "crawl_result_detail.csv.zip",
    }
)  # fmt: skip
"""What is called the same in every language."""
_OURS: Final = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]")
_DATA: Final = re.compile(
    r"[A-Z][a-z]+/[A-Z]\w+|https?://[^\s」”）)》]+|[\w.]+\.example|/[^\s」”）)》]*|\d{4}-\d\d-\d\dT[\d:+]+|text/html; charset=utf-8|item/"
)


def untranslated(page: Page) -> set[str]:
    """Return the texts of a Japanese or Chinese page that are English: what is said, not addresses, titles, codes, names."""
    texts: list[str] = page.evaluate(
        """() => {
            const data = "textarea, .profiles a, .map text, #settings option, #settings .pick b, #settings .picks label, " +
                ".url, code, pre, script, .what, .title, .reason, .reasons a, select[name=reason] option, .headers, [lang]:not(html), [translate=no]";
            const found = [document.title];
            const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) if (!walk.currentNode.parentElement.closest(data)) found.push(walk.currentNode.textContent);
            for (const name of ["title", "aria-label", "alt"])
                for (const one of document.querySelectorAll(`[${name}]`)) if (!one.closest(data)) found.push(one.getAttribute(name));
            return found;
        }"""
    )
    data = village.titles()
    found = set()
    for text in texts:
        said = _DATA.sub(" ", text)
        for one in data:
            said = said.replace(one, " ")
        if not _OURS.search(said) and set(_WORD.findall(said)) - NAMES:
            found.add(text.strip())
    return found
