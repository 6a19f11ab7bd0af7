"""What a page says to its readers, for search and feeds: main text, headings, description and what it says of itself.

Takes text and gives values. Built on a tree of the page, whose maker takes quadratic time on elements nested very deep;
such a page is read without a tree. Knows no store and fetches nothing; no page raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from purlieu.page import encoding, markup, scan
from purlieu.value import dataclass

MOST_TEXT: Final = 1_000_000
"""Characters kept of a page's text."""
MOST_HEADINGS: Final = 500
MOST_FACTS: Final = 100
MOST_CRUMBS: Final = 20
MOST_CHARACTERS: Final = 2_000
"""Characters kept of a heading, a description or a property."""
MOST_DATA: Final = 65_536
"""A JSON-LD block that is longer, in characters, is left out."""
DEEPEST: Final = 512
"""A page whose elements are nested deeper is read without a tree."""
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Elements that are ended by what follows them, or never have content: these do not nest by themselves.
_FLAT: Final = frozenset((
    "p", "li", "dt", "dd", "td", "th", "tr", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "rp", "rt",
    "html", "body", "head", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
    "track", "wbr",
))  # fmt: skip
_HEADING: Final = re.compile(r"<h([1-6])(?=[\s/>])[^<>]*>", re.IGNORECASE)
_ANY_TAG: Final = re.compile(r"<[^<>]*>")
_DATA: Final = re.compile(r"<script\b[^<>]*\bapplication/ld\+json\b[^<>]*>", re.IGNORECASE)
_WHITE: Final = re.compile(r"\s+")
_CRUMBS: Final = (
    "nav[aria-label*=readcrumb] a, nav[aria-label*=readcrumb] [aria-current]",
    "[class*=breadcrumb] a, [class*=breadcrumb] [aria-current]",
)


@dataclass(frozen=True, slots=True)
class Content:
    """What is kept of a page's content.

    ``headings`` are (level, text) in document order; ``open_graph`` maps names without ``og:`` to their first value;
    ``json_ld`` are the values of its blocks; ``breadcrumbs`` go from the home page down.
    """

    text: str
    headings: tuple[tuple[int, str], ...] = ()
    description: str = ""
    open_graph: tuple[tuple[str, str], ...] = ()
    json_ld: tuple[Any, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    language: str = ""


def read(body: bytes, encoding_name: str) -> Content:
    """Return the content of an HTML page in an encoding that ``encoding.py`` names.

    ``language`` is what its text seems to be written in, "" when that is not sure.
    """
    metas = _Metas()
    main = scan.read(body, encoding_name, frozenset({"meta"}), metas.take).main
    html = encoding.decoded(body, encoding_name)
    data = tuple(_json_ld(html))
    text, crumbs = (_spaced(markup.unescaped(main.decode("utf-8", "replace"))), ()) if is_deep(html) else _of_tree(html)
    said = metas.said
    return Content(
        text[:MOST_TEXT],
        tuple(_headings(html)),
        said.get("description") or said.get("og:description") or "",
        tuple((name[3:], value) for name, value in said.items() if name.startswith("og:") and value),
        data,
        _listed(data) or crumbs,
        _language(text),
    )


class _Metas:
    """Takes what meta elements say, the first of each name."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def take(self, elements: Iterable[Any]) -> None:
        for element in elements:
            if isinstance(element, dict):
                continue
            found = element[1]
            name = _cut(found.get("property") or found.get("name") or "").lower()
            if name and len(self.said) < MOST_FACTS:
                self.said.setdefault(name, _cut(found.get("content", "")))


def _of_tree(html: str) -> tuple[str, tuple[str, ...]]:
    """Return the main text, without what frames it, and the breadcrumbs that links show."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(html)
    if tree.document is None:
        return "", ()
    text = extract_plain_text(tree, main_content=True, links=False, alt_texts=False, noscript=False)
    for selector in _CRUMBS:
        nodes = tree.document.query_selector_all(selector)
        found = [_cut(nodes[place].text or "") for place in range(min(len(nodes), MOST_CRUMBS))]
        if any(found):
            return text.strip(), tuple(dict.fromkeys(filter(None, found)))
    return text.strip(), ()


def is_deep(html: str) -> bool:
    """Return whether more elements are open at once than a tree is made of, as the tags show it; in linear time.

    What is counted too much (a script may hold what looks like tags) costs headings and the like, never the text.
    """
    still_open: dict[str, int] = {}
    at = 0
    for found in _TAG.finditer(html):
        name = found[2].lower()
        if name in _FLAT:
            continue
        count = still_open.get(name, 0)
        if not found[1]:
            still_open[name] = count + 1
            at += 1
            if at > DEEPEST:
                return True
        elif count:
            still_open[name] = count - 1
            at -= 1
    return False


def _headings(html: str) -> Iterator[tuple[int, str]]:
    """Yield the headings; of one that does not end, as much as is kept of any."""
    for start in islice(_HEADING.finditer(html), MOST_HEADINGS):
        end = html.find(f"</{start[0][1:3]}", start.end(), start.end() + 4 * MOST_CHARACTERS)
        inner = html[start.end() : end if end >= 0 else start.end() + MOST_CHARACTERS]
        text = _cut(markup.unescaped(_ANY_TAG.sub(" ", inner)))
        if text:
            yield int(start[1]), text


def _json_ld(html: str) -> Iterator[Any]:
    size = at = 0
    while start := _DATA.search(html, at):
        end = html.find("</", start.end())
        while end >= 0 and html[end + 2 : end + 8].lower() != "script":
            end = html.find("</", end + 2)
        if end < 0:
            return
        at = end
        size += end - start.end()
        if size > MOST_DATA:
            return
        try:
            yield json.loads(html[start.end() : end])
        except (ValueError, RecursionError):
            continue


def _listed(data: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of the first BreadcrumbList in JSON-LD."""
    for block in data:
        graph = block.get("@graph", [block]) if isinstance(block, dict) else block
        for item in graph if isinstance(graph, list) else ():
            if isinstance(item, dict) and item.get("@type") == "BreadcrumbList":
                listed = item.get("itemListElement")
                if isinstance(listed, list):
                    return tuple(filter(None, map(_crumb, listed[:MOST_FACTS])))
    return ()


def _crumb(listed: Any) -> str:
    if not isinstance(listed, dict):
        return ""
    item = listed.get("item")
    name = listed.get("name") or (item.get("name") if isinstance(item, dict) else "")
    return _cut(name) if isinstance(name, str) else ""


def _language(text: str) -> str:
    from resiliparse.parse.lang import detect_fast

    language, distance = detect_fast(text[:20_000])
    return str(language) if distance < 1_000 and language != "unknown" else ""


def _cut(text: str) -> str:
    return _spaced(text[: 2 * MOST_CHARACTERS])[:MOST_CHARACTERS]


def _spaced(text: str) -> str:
    return _WHITE.sub(" ", text).strip()
