"""The search sitemap utility: sections and pages as a tree that is opened, filtered and paged (IB-1 to IB-5)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from threading import Lock
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console.keys import Role
from purlieu.console.labels import SECTION_COLUMNS
from purlieu.console.parts import Parts, parts_of, reading, run_of
from purlieu.console.show import page
from purlieu.console.speech import language_of
from purlieu.report.pruning import refuse
from purlieu.report.site_tree import PAGE_SIZE, Filter, Listing, SiteTree, View
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase
from purlieu.value import dataclass, field, replace

SIZES: Final = (25, 50, 100, 200, 500)
MOST_SECTIONS: Final = 200
"""Sections offered to select, two folders deep; any other can be typed into the address."""
_MOST_OPEN: Final = 300
_MOST_TEXT: Final = 2_000


@dataclass(slots=True)
class Planted:
    """The tree of a run on a connection of its own, for one request at a time."""

    tree: SiteTree
    database: SqliteDatabase
    lock: Lock = field(default_factory=Lock)


def show(request: Request) -> Response:
    """Show one page of the tree as it is opened and filtered."""
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
    view = view_of(request)
    planted = _planted(parts_of(request), run)
    with planted.lock:
        offered = list(islice(planted.tree.sections(View(), 1), MOST_SECTIONS))
    hosts = [one.key for one in offered if not one.level]
    if "open" not in request.query_params and len(hosts) == 1:
        view = replace(view, opened=None if view.opened is None else frozenset(hosts))
    shown = listing(request, run, view)
    return page(
        request, "tree.html", run=run, view=view, listing=shown, offered=offered, sizes=SIZES, columns=SECTION_COLUMNS,
        link=_linking(view), usual=PAGE_SIZE, making=_making(view),
    )  # fmt: skip


def listing(request: Request, run: RunRow, view: View) -> Listing:
    """Return one page of the tree, from the place that the query names."""
    planted = _planted(parts_of(request), run)
    with planted.lock:
        return planted.tree.listing(view, request.query_params.get("at"), language_of(request))


def _planted(parts: Parts, run: RunRow) -> Planted:
    """Return the tree of a run. Raises Preparing while it is made: 17 s of CPU for a million pages."""
    return parts.workshop.get(("tree", run.id, run.state, run.ended_at), lambda: _plant(parts, run))


def view_of(request: Request) -> View:
    """Return how the tree is looked at, as the query says; only owners change the size of its pages (IB-1)."""
    given = request.query_params
    may_change = request.state.session.role is Role.OWNER
    size = given.get("size", "")
    sections = [one[:_MOST_TEXT] for one in given.getlist("section")[:_MOST_OPEN]]
    opened = frozenset(one[:_MOST_TEXT] for one in given.getlist("open")[:_MOST_OPEN])
    return View(
        Filter(given.get("filter") == "on", frozenset(sections)),
        None if given.get("all") == "on" else opened,
        int(size) if may_change and size.isdecimal() and int(size[:4]) in SIZES else PAGE_SIZE,
        given.get("locale", "")[:20],
        given.get("parts") == "on",
    )


def _linking(view: View) -> Callable[..., list[tuple[str, str]]]:
    """Return what gives the query of this view with one section opened or closed, or another place."""

    def link(*, toggle: str = "", at: str | None = None, **changed: Any) -> list[tuple[str, str]]:
        opened = None if view.opened is None else set(view.opened) ^ ({toggle} if toggle else set())
        pairs = [
            ("filter", "on" if view.filter.is_on else ""),
            *(("section", one) for one in sorted(view.filter.sections)),
        ]
        pairs += [("all", "on")] if opened is None else [("open", one) for one in sorted(opened) or [""]]
        pairs += [("size", "" if view.size == PAGE_SIZE else str(view.size)), ("locale", view.locale)]
        pairs += [("parts", "on" if view.with_parts else ""), ("at", at or "")]
        return [(name, changed.get(name, value)) for name, value in pairs if changed.get(name, value) or name == "open"]

    return link


def _making(view: View) -> list[tuple[str, str]]:
    """Return the query that makes a sitemap of what the filter shows (IB-6)."""
    sections = [("section", one) for one in sorted(view.filter.sections)]
    return [("filter", "on" if view.filter.is_on else "off"), *sections, ("parts", "on" if view.with_parts else "off")]


def _plant(parts: Parts, run: RunRow) -> Planted:
    database = SqliteDatabase.reader(parts.store)
    return Planted(SiteTree(Reader(database), run), database)
