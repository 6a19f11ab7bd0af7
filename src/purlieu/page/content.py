"""What a page says to its readers, for search and feeds: main text, headings, description and what it says of itself.

Takes text and gives values. Built on a tree of the page, whose maker takes quadratic time on elements nested very deep;
such a page is read without a tree. Knows no store and fetches nothing; no page raises.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from purlieu.page import encoding, markup, scan
from purlieu.page.anchor import Anchors
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
MOST_ABOVE: Final = 8_000_000
"""So is one with more pairs of an element and one that it lies in: to find the main text costs 150 ns for each."""
DEEPEST_DATA: Final = 100
"""A JSON-LD block whose values are nested deeper is left out, for readers have bounds too."""
LONGEST_NUMBER: Final = 300
"""A number in JSON-LD with more digits is null, as one that no reader can hold."""
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Elements that are ended by what follows them, or never have content: these do not nest by themselves.
_FLAT: Final = frozenset((
    "p", "li", "dt", "dd", "td", "th", "tr", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "rp", "rt",
    "html", "body", "head", "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source",
    "track", "wbr",
))  # fmt: skip
# Where a part of interest begins, and what is no markup inside and therefore passed over whole.
_PART: Final = re.compile(r"<(!--|(?:script|style|textarea|title|base|a|h[1-6])(?=[\s/>])[^<>]*>)", re.IGNORECASE)
_ANCHORS: Final = "aAbB"
_ANCHOR_END: Final = re.compile(r"</?a(?=[\s/>])", re.IGNORECASE)
_HEADING_END: Final = re.compile(r"</h[1-6]", re.IGNORECASE)
_ANY_TAG: Final = re.compile(r"<[^<>]*>")
_WHITE: Final = re.compile(r"\s+")
_CRUMBS: Final = (
    "nav[aria-label*=readcrumb] a, nav[aria-label*=readcrumb] [aria-current]",
    "[class*=breadcrumb] a, [class*=breadcrumb] [aria-current]",
)


@dataclass(frozen=True, slots=True)
class Content:
    """What is kept of a page's content, or of a document's.

    ``headings`` are (level, text) in document order; ``open_graph`` maps names without ``og:`` to their first value;
    ``json_ld`` are the values of its blocks; ``breadcrumbs`` go from the home page down. ``title`` is a document's
    own, as a page's stands in ``Page``; ``unread`` says why there is no text of a document, or not all; ``anchors`` are
    (href, text) of a page's links.
    """

    text: str
    headings: tuple[tuple[int, str], ...] = ()
    description: str = ""
    open_graph: tuple[tuple[str, str], ...] = ()
    json_ld: tuple[Any, ...] = ()
    breadcrumbs: tuple[str, ...] = ()
    language: str = ""
    title: str = ""
    author: str = ""
    unread: str = ""
    anchors: tuple[tuple[str, str], ...] = ()


def read(body: bytes, encoding_name: str, url: str = "") -> Content:
    """Return the content of an HTML page in an encoding that ``encoding.py`` names; anchors where its URL is given.

    ``language`` is what its text seems to be written in, "" when that is not sure.
    """
    metas = _Metas()
    headings: list[tuple[int, str]] = []
    blocks: list[str] = []
    main = scan.read(body, encoding_name, frozenset({"meta"}), metas.take)[2] or b""
    html = encoding.decoded(body, encoding_name)
    links = Anchors(url, encoding_name) if url else None
    for start, inner in _parts(html):
        if start[0] in _ANCHORS:
            if links is not None:
                links.take(start, inner)
        elif start[0] != "h":
            blocks.append(inner)
        elif heading := _cut(markup.unescaped(_ANY_TAG.sub(" ", inner))):
            headings.append((int(start[1]), heading))
    data = tuple(_json_ld(blocks))
    text, crumbs = (_spaced(markup.unescaped(main.decode("utf-8", "replace"))), ()) if is_deep(html) else _of_tree(html)
    said = metas.said
    return Content(
        text[:MOST_TEXT],
        tuple(headings),
        said.get("description") or said.get("og:description") or "",
        tuple((name[3:], value) for name, value in said.items() if name.startswith("og:") and value),
        data,
        _listed(data) or crumbs,
        language_of(text),
        author=said.get("author", ""),
        anchors=links.found() if links is not None else (),
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
        found = [_cut(node.text or "") for node in nodes[:MOST_CRUMBS]]
        if any(found):
            return text.strip(), tuple(dict.fromkeys(filter(None, found)))
    return text.strip(), ()


def is_deep(html: str) -> bool:
    """Return whether elements are nested too deep, or too many of them too deep, for a tree, as the tags show it.

    In linear time.
    What is counted too much (a script may hold what looks like tags) costs headings and the like, never the text.
    """
    still_open: dict[str, int] = {}
    at = above = 0
    for found in _TAG.finditer(html):
        name = found[2].lower()
        above += at
        if name in _FLAT:
            continue
        count = still_open.get(name, 0)
        if not found[1]:
            still_open[name] = count + 1
            at += 1
            if at > DEEPEST or above > MOST_ABOVE:
                return True
        elif count:
            still_open[name] = count - 1
            at -= 1
    return False


def _parts(html: str) -> Iterator[tuple[str, str]]:
    """Yield (start tag without ``<``, what it holds) of headings, JSON-LD, links and bases, in order; in linear time.

    Comments and scripts are no markup. Of a heading that does not end, as much is given as is kept of any.
    """
    at = headings = 0
    while start := _PART.search(html, at):
        tag, begin = start[1].lower(), start.end()
        if tag == "!--":
            at = html.find("-->", start.start() + 2)
        elif tag[0] in _ANCHORS:
            at = begin
            end = _ANCHOR_END.search(html, begin, begin + 4 * MOST_CHARACTERS) if tag[0] == "a" else None
            yield start[1], html[begin : end.start()] if end else ""
        elif tag[0] == "h":
            at = begin
            headings += 1
            if headings > MOST_HEADINGS:
                continue
            end = _HEADING_END.search(html, begin, begin + 4 * MOST_CHARACTERS)
            yield tag, html[begin : end.start() if end else begin + MOST_CHARACTERS]
        else:
            at = _end_of(html, re.split(r"[\s/>]", tag, maxsplit=1)[0], begin)
            if at >= 0 and "application/ld+json" in tag:
                yield tag, html[begin:at]
        if at < 0:
            return


def _end_of(html: str, name: str, at: int) -> int:
    """Return where the end tag of an element begins, -1 where it has none."""
    at = html.find("</", at)
    while at >= 0 and html[at + 2 : at + 2 + len(name)].lower() != name:
        at = html.find("</", at + 2)
    return at


def _json_ld(blocks: Iterable[str]) -> Iterator[Any]:
    size = 0
    for block in blocks:
        size += len(block)
        if size > MOST_DATA:
            return
        try:
            value = json.loads(block, parse_int=_whole, parse_float=_real, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
        if _is_within(value, DEEPEST_DATA):
            yield value


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= LONGEST_NUMBER else None


def _real(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _is_within(value: Any, levels: int) -> bool:
    """Return whether values are nested in at most so many levels."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels >= 0 and all(_is_within(one, levels - 1) for one in inner)


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


def language_of(text: str) -> str:
    """Return what a text seems to be written in, "" when that is not sure."""
    from resiliparse.parse.lang import detect_fast

    language, distance = detect_fast(text[:20_000])
    return str(language) if distance < 1_000 and language != "unknown" else ""


def _cut(text: str) -> str:
    return _spaced(text[: 2 * MOST_CHARACTERS])[:MOST_CHARACTERS]


def _spaced(text: str) -> str:
    return _WHITE.sub(" ", text).strip()
