"""The search sitemap utility of a run: sections and pages as a tree that is opened, filtered and paged (IB-1 to IB-8).

Knows what is shown of the tree and in which order, page by page, by key. Knows no terminal and no web page; how the
rows come about is ``store.site_tree``'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from purlieu.report.explain import meant
from purlieu.store.site_tree import COUNTS, END, PAGE, SECTION, Health, TreeNode, sections_of
from purlieu.url import parse
from purlieu.value import dataclass, replace

if TYPE_CHECKING:
    from purlieu.settings import ProfileSettings
    from purlieu.store.reader import Reader, RunRow

PAGE_SIZE: Final = 50  # IB-1
MOST_SIZE: Final = 1_000
MOST_PARTS: Final = 10_000  # of one page
NO_PAGES: Final = (
    "There are no pages to show: sections are filtered, and none is selected. Select sections, or turn the filter off.",
    "表示できるページがありません。セクションの絞り込みが有効ですが、何も選択されていません。セクションを選択するか、絞り込みを解除してください。",
    "没有可显示的页面：已启用分区筛选，但未选择任何分区。请选择分区，或关闭筛选。",
)
"""What is said when the filter is on with nothing selected (IB-5): English, Japanese, Chinese."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Filter Portal Sections: off, all is shown (IB-3); on, only the selected sections (IB-4), nothing for none (IB-5).

    ``sections`` are addresses of sections, such as ``https://www.example.com/news/``.
    """

    is_on: bool = False
    sections: frozenset[str] = frozenset()

    @property
    def shows_nothing(self) -> bool:
        """Whether it is on with nothing selected."""
        return self.is_on and not self.sections

    def ranges(self) -> list[tuple[str, str]]:
        """Return what is shown as ranges of keys (from, before), in order; one section in another counts once."""
        if not self.is_on:
            return [("", END)]
        found: list[tuple[str, str]] = []
        for section in sorted(self.sections):
            if not found or not section.startswith(found[-1][0]):
                found.append((section, section + END))
        return found


@dataclass(frozen=True, slots=True)
class View:
    """How the tree is looked at. ``opened`` are the sections that are open, None for all.

    ``size`` is how many entries a page has, pages and parts together; ``locale`` the language of the labels, "" for the
    pages' own; ``with_parts`` shows documents and frames below the pages that hold them.
    """

    filter: Filter = Filter()
    opened: frozenset[str] | None = None
    size: int = PAGE_SIZE
    locale: str = ""
    with_parts: bool = False

    def chosen(self, profile: ProfileSettings) -> ProfileSettings:
        """Return a profile for the sitemap of what the filter shows, and else as it was (IB-6)."""
        return replace(
            profile,
            filter_sections=self.filter.is_on,
            sections=tuple(sorted(self.filter.sections)),
            parts=self.with_parts,
        )


@dataclass(frozen=True, slots=True)
class Node:
    """One line of the tree. ``kind``: section, page or part; ``level`` counts from 0, the host.

    ``leads_to`` is the address that it opens: a part's is the page that holds it (IB-2). ``label_is_own`` marks a label
    that is not in the language asked for. ``ending`` (kind.reason) is "" for a section; ``newest`` a section's newest
    lastmod in seconds since the epoch, ``lastmod`` a page's as written.
    """

    kind: str
    key: str
    level: int
    label: str
    label_is_own: bool
    leads_to: str
    ending: str
    lastmod: str | None
    newest: float | None
    health: Health
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the tree. ``previous`` and ``following`` are what to ask for next, None where there is nothing more.

    ``message`` is NO_PAGES' sentence when the filter lets nothing through (IB-5).
    """

    nodes: tuple[Node, ...]
    previous: str | None
    following: str | None
    message: str = ""


class _Place(NamedTuple):
    """A place in the tree: behind this node and so many of its parts (-1: before the node itself)."""

    key: str
    rank: int
    part: int

    @classmethod
    def of(cls, text: str | None) -> _Place:
        first = cls("", -1, 0)
        try:
            key, rank, part = json.loads(text or "[]")
            str(key).encode()
            place = cls(str(key), int(rank), int(part))
        except (ValueError, TypeError, OverflowError, RecursionError):
            return first  # an address that was typed wrong shows the first page
        return place if place.rank in {-1, SECTION, PAGE} and 0 <= place.part <= MOST_PARTS else first

    def text(self) -> str:
        return json.dumps(list(self))


class SiteTree:
    """The tree of one run, from an open store."""

    def __init__(self, reader: Reader, run: RunRow) -> None:
        """Look at a run; the first look sorts its pages once, which takes seconds for a million of them."""
        self._table = reader.tree(run, meant(reader, run))
        self._reader = reader
        self._run = run

    def listing(self, view: View, at: str | None = None, language: str = "en") -> Listing:
        """Return one page of the tree: the first, or what another page's ``previous`` or ``following`` names."""
        if view.filter.shows_nothing:
            return Listing((), None, None, NO_PAGES[{"ja": 1, "zh": 2}.get(language, 0)])
        size = min(max(view.size, 1), MOST_SIZE)
        start = _Place.of(at)
        nodes: list[Node] = []
        last = start
        more = False
        for node, place in self._from(view, start):
            if len(nodes) >= size:
                more = True
                break
            nodes.append(node)
            last = place
        previous = self._back(view, start, size) if start.rank >= 0 else None
        return Listing(tuple(nodes), previous, last.text() if more else None)

    def sections(self, view: View, depth: int) -> Iterator[Node]:
        """Yield the sections down to a depth (0: the hosts), in order; what is deeper is skipped by key."""
        for low, high in view.filter.ranges():
            key = low
            while node := self._table.section(key, high):
                yield self._node(node, view)
                key = node.key + (END if _level(node.key) >= depth else "\0")

    # -- the order ---------------------------------------------------------------------------------

    def _from(self, view: View, start: _Place) -> Iterator[tuple[Node, _Place]]:
        """Yield what is visible behind a place, with its own place."""
        if start.rank == PAGE and (holder := self._table.node(start.key, PAGE)):
            yield from self._parts(holder, view, start.part)
        shown = next((low for low, high in view.filter.ranges() if low <= start.key < high), "")
        closed = self._closed_above(start.key, view, shown)
        behind = (closed + END, -1) if closed else (start.key, start.rank)
        for low, high in view.filter.ranges():
            if high <= behind[0]:
                continue
            key, rank = max((low, -1), behind)
            while batch := self._table.after(key, rank, high, 100):
                for node in batch:
                    key, rank = node.key, node.rank
                    if _is_part(node):
                        continue
                    yield self._node(node, view), _Place(node.key, node.rank, 0)
                    if node.rank == PAGE:
                        yield from self._parts(node, view, 0)
                    elif not _is_open(node.key, view):
                        key, rank = node.key + END, -1
                        break

    def _back(self, view: View, start: _Place, size: int) -> str | None:
        """Return the place that a page begins behind which ends at ``start``; "" for the first."""
        node = self._table.node(start.key, start.rank)
        count = 1 + start.part
        while node is not None and count <= size:
            node = self._before(view, node.key, node.rank)
            count += 1 + len(self._held(node, view)) if node else 0
        return "" if node is None else _Place(node.key, node.rank, count - size - 1).text()

    def _before(self, view: View, at: str, at_rank: int) -> TreeNode | None:
        """Return the visible node before a place: where a section is closed, that section."""
        for low, high in reversed(view.filter.ranges()):
            if low > at:
                continue
            key, rank = (at, at_rank) if at < high else (high, -1)
            while batch := self._table.before(key, rank, low):
                node = batch[0]
                key, rank = node.key, node.rank
                if _is_part(node):
                    continue
                closed = self._closed_above(node.key if node.rank == PAGE else node.key[:-1], view, low)
                return self._table.node(closed, SECTION) if closed else node
        return None

    def _closed_above(self, key: str, view: View, low: str) -> str | None:
        """Return the outermost closed section that holds an address, None when all are open."""
        if view.opened is None:
            return None
        return next((one for one in sections_of(key) if one.startswith(low) and one not in view.opened), None)

    # -- what is shown -----------------------------------------------------------------------------

    def _node(self, node: TreeNode, view: View) -> Node:
        is_section = node.rank == SECTION
        page = self._table.node(node.key, PAGE) if is_section else node
        label, own = self._label(page, view.locale) if page else ("", bool(view.locale))
        return Node(
            "section" if is_section else "page",
            node.key,
            _level(node.key) + (not is_section),
            label or _name(node.key),
            own,
            node.key,
            "" if is_section else f"{node.kind}.{node.reason}",
            node.lastmod,
            node.newest,
            self._table.health(node),
            is_open=is_section and _is_open(node.key, view),
        )

    def _label(self, page: TreeNode, locale: str) -> tuple[str, bool]:
        """Return a page's label and whether it is its own although another language was asked for (IB-2)."""
        if not locale:
            return page.title or "", False
        _, alternates = self._table.history(page)
        for href in _in_language(alternates, locale):
            there = self._table.node(href, PAGE)
            if there is not None and there.kind in {"fetched", "unchanged"} and there.title:
                return there.title, False
        return page.title or "", True

    def _parts(self, page: TreeNode, view: View, first: int) -> Iterator[tuple[Node, _Place]]:
        """Yield the parts of a page, from the one of that number, each a leaf that leads to the page."""
        for number, (link, there) in enumerate(self._held(page, view)):
            if number < first:
                continue
            label = (there.title if there else None) or _name(link)
            ending = f"{there.kind}.{there.reason}" if there else ""
            health = self._table.health(there) if there else _NOTHING
            shown = Node(
                "part", link, _level(page.key) + 2, label, bool(view.locale), page.key, ending,
                there.lastmod if there else None, None, health,
            )  # fmt: skip
            yield shown, _Place(page.key, PAGE, number + 1)

    def _held(self, page: TreeNode, view: View) -> list[tuple[str, TreeNode | None]]:
        """Return the parts of a page: its frames, and the documents that it links to."""
        if not view.with_parts or page.rank != PAGE:
            return []
        links, _ = self._table.history(page)
        found: dict[str, TreeNode | None] = {}
        for link in links[:MOST_PARTS]:
            href, kind = link[0], link[1]
            if link[3] and href not in found and href != page.key:
                there = self._table.node(href, PAGE)
                if kind in {"frame", "iframe"} or (there is not None and there.is_document):
                    found[href] = there
        return list(found.items())


_NOTHING = Health(*[0] * len(COUNTS))


def _is_part(node: TreeNode) -> bool:
    """Return whether a document is only shown with the pages that link to it; one that nothing links to is a page."""
    return bool(node.is_document and node.is_linked)


def _is_open(section: str, view: View) -> bool:
    return view.opened is None or section in view.opened


def _level(key: str) -> int:
    return len(sections_of(key)) - 1


def _name(key: str) -> str:
    """Return the last part of an address, the host's name for the top of a host."""
    path = key.partition("?")[0]
    name = path.rstrip("/").rpartition("/")[2]
    return (
        parse(key).host if path.count("/") == 3 and path.endswith("/") else f"{name}{'/' if path.endswith('/') else ''}"
    )


def _in_language(alternates: list[tuple[str, str]], locale: str) -> list[str]:
    """Return the addresses of the alternates in a language, the exact ones first (``ja-JP`` serves ``ja``)."""
    wanted = locale.lower().replace("_", "-")
    short = wanted.partition("-")[0]
    found = [(language.lower().replace("_", "-"), href) for language, href in alternates]
    exact = [href for language, href in found if language == wanted]
    return exact + [href for language, href in found if language != wanted and language.partition("-")[0] == short]
