"""The screens that every general test looks at, and what axe-core and a reader of texts find on one."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final

from playwright.sync_api import Page
from tests.browser import village

SCREENS: Final = {
    "crawls": "/",
    "crawl": "/crawls/1",
    "run": f"/runs/{village.RUNS}",
    "ledger": f"/runs/{village.RUNS}?kind=missing&sort=status",
    "url": f"/runs/{village.RUNS}/url?u={village.HOME}bread/",
    "url-refused": f"/runs/{village.RUNS}/url?u={village.HOME}kitchen/rota",
    "url-redirected": f"/runs/{village.RUNS}/url?u={village.HOME}old-menu",
    "hosts": f"/runs/{village.RUNS}/hosts?u={village.HOME}kitchen/rota",
    "tree": f"/runs/{village.RUNS}/tree?all=on",
    "tree-filtered": f"/runs/{village.RUNS}/tree?filter=on",
    "compare": f"/compare?before={village.RUNS - 1}&after={village.RUNS}&class=failed",
}
"""The screens of a store that nobody changes, by name: where each is."""
STANDARDS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


@cache
def _axe() -> str:
    # Read from the package and run by the browser's own debugger: the policy of our pages would let in no script.
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def barriers(page: Page) -> list[str]:
    """Return what axe-core finds against WCAG 2.2 A and AA on the page as it stands: rule, place and why."""
    page.evaluate(_axe())
    found: dict[str, Any] = page.evaluate(
        "(tags) => axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})",
        list(STANDARDS),
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
