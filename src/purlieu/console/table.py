"""The ledger as a table: which rows, in which order, from which place on; a million rows are no slower than ten.

Reads a shelf. What was typed wrong is no condition.
"""

from __future__ import annotations

import json
from typing import Any, Final

from starlette.requests import Request

from purlieu.console.parts import parts_of
from purlieu.difference import Difference
from purlieu.outcome import KINDS, REASONS
from purlieu.sentence import Sentence
from purlieu.store.reader import RunRow
from purlieu.store.sqlite.shelf import CHANGED, SORTS, Shelf, ShelfRow, Wanted

COLUMNS: Final = {
    "kind": Sentence("Ending"),
    "reason": Sentence("Reason"),
    "change": Sentence("Change"),
    "status": Sentence("Status"),
    "depth": Sentence("Depth"),
    "type": Sentence("Content type"),
    "bytes": Sentence("Size"),
    "seconds": Sentence("Time"),
}
"""The columns that can be shown beside the address, in their order."""
USUAL: Final = ("kind", "change", "status", "bytes", "seconds")
_SORTABLE: Final = {name: name for name in ("kind", "reason", "status", "depth", "bytes", "seconds")}
_NUMBERS: Final = frozenset({"status", "depth", "bytes", "seconds"})
_NAMED: Final = {"url": Sentence("URL"), **{name: COLUMNS[name] for name in _SORTABLE}}
SIZES: Final = (25, 50, 100, 200)
SIZE: Final = 50
PURPOSES: Final = ("page", "robots", "sitemap", "check")
_ENDINGS: Final = (*KINDS, "due")
_MOST_TEXT: Final = 500


def of_request(request: Request, run: RunRow) -> dict[str, Any]:
    """Return what the table of a run shows: rows, conditions, choices, and the place of the next page.

    Nothing is shown of a pruned run.
    """
    wanted, size = asked(request)
    given = conditions(wanted, size)
    shown, given["cols"] = columns(request)
    if run.pruned_at is not None:
        return {"rows": [], "given": given, "following": None, "choices": {}, "is_first": True}
    with parts_of(request).shelves.opened(run) as shelf:
        rows, following = some(shelf, wanted, size)
        choices = {
            "kinds": [one for one in _ENDINGS if any(kind == one for _, kind, _ in shelf.counts())],
            "reasons": sorted({reason for _, kind, reason in shelf.counts() if wanted.kind in {"", kind}}),
            "changes": [one for one in Difference if one in shelf.differences()],
            "statuses": [status for status, _ in shelf.statuses()],
            "sections": list(shelf.sections(200)),
            "purposes": PURPOSES,
            "sizes": SIZES,
        }
        met = None if wanted.text or wanted.within else shelf.number(wanted)
    if not choices["changes"]:
        shown = [one for one in shown if one != "change"]
    return {
        "rows": rows, "given": given, "following": following, "choices": choices, "is_first": wanted.after is None,
        "met": met, "shown": shown, "columns": tuple(COLUMNS.items()), "sorts": tuple(_NAMED.items()),
        "sortable": _SORTABLE, "numbers": _NUMBERS,
    }  # fmt: skip


def columns(request: Request) -> tuple[list[str], str]:
    """Return the columns that a query asks for, and what asks for them; the usual ones where it asks for none."""
    given = request.query_params.getlist("cols")
    if not given:
        return list(USUAL), ""
    wanted = {one for text in given for one in text[:_MOST_TEXT].split(",")}
    shown = [name for name in COLUMNS if name in wanted]
    return shown, "" if tuple(shown) == USUAL else ",".join(shown) or "-"


def some(shelf: Shelf, wanted: Wanted, size: int) -> tuple[list[ShelfRow], str | None]:
    """Return one page of rows, and the place behind it where there are more."""
    rows = shelf.rows(wanted, size + 1)
    if len(rows) <= size:
        return rows, None
    last = rows[size - 1]
    return rows[:size], json.dumps([shelf.value_of(last, wanted.sort), last.id], separators=(",", ":"))


def asked(request: Request) -> tuple[Wanted, int]:
    """Return the rows that a query asks for, and how many a page has."""
    given = request.query_params
    kind, _, reason = given.get("kind", "").partition(".")
    status, size = given.get("status", ""), given.get("size", "")
    sort, purpose, changed = (given.get(name, "") for name in ("sort", "purpose", "changed"))
    wanted = Wanted(
        kind=kind if kind in _ENDINGS else "",
        reason=_reason(given.get("reason", "") or reason),
        section=given.get("section", "")[:_MOST_TEXT],
        status=int(status) if status.isdecimal() and len(status) <= 3 else 0,
        changed=changed if changed in _CHANGES else "",
        within=given.get("within", "")[:_MOST_TEXT],
        is_own=given.get("own", "") == "on",
        purpose=purpose if purpose in PURPOSES else "",
        text=given.get("text", "").strip()[:_MOST_TEXT],
        sort=sort if sort in SORTS else "url",
        is_descending=given.get("order") == "desc",
        after=_place(given.get("after", "")),
    )
    return wanted, int(size) if size.isdecimal() and int(size[:4]) in SIZES else SIZE


def conditions(wanted: Wanted, size: int) -> dict[str, Any]:
    """Return what was asked for as the query that asks for it, without the place."""
    return {
        "kind": wanted.kind,
        "reason": wanted.reason,
        "section": wanted.section,
        "status": wanted.status or "",
        "purpose": wanted.purpose,
        "changed": wanted.changed,
        "within": wanted.within,
        "own": "on" if wanted.within and wanted.is_own else "",
        "text": wanted.text,
        "sort": "" if wanted.sort == "url" else wanted.sort,
        "order": "desc" if wanted.is_descending else "",
        "size": "" if size == SIZE else size,
    }


def _reason(given: str) -> str:
    return given if given in _REASONS else ""


_REASONS: Final = frozenset(name.partition(".")[2] for name in REASONS) | {"due"}
_CHANGES: Final = frozenset({CHANGED, *map(str, Difference)})


def _place(text: str) -> tuple[float, int] | None:
    try:
        value, number = json.loads(text)
        return float(value), int(number)
    except (ValueError, TypeError, OverflowError):
        return None  # an address that was typed wrong shows the first page
