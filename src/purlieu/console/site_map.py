"""The map of the site: its folders as a treemap, coloured by outcome or by change, with the same as a table.

Reads the shelf of a run, where the folders are summed up, so that a million pages are drawn as soon as three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console import chart, labels
from purlieu.console.parts import NotThere, parts_of, reading, run_of
from purlieu.console.show import page, safe
from purlieu.console.treemap import LEAST, Box, bands, squarified
from purlieu.report.pruning import refuse
from purlieu.store.reader import RunRow
from purlieu.store.sqlite.shelf import Folder, Shelf
from purlieu.url import host_of

PICTURES: Final = (("broad", 1120, 560), ("narrow", 380, 620))
"""Each picture by its name in the style sheet, and its size: for a desk, and for a phone."""
MOST_TILES: Final = 60
MOST_INNER: Final = 24
MOST_LISTED: Final = 200
WAYS: Final = ("outcome", "change")
_GROUPS: Final = ("good", "moved", "out", "wait", "bad")
_HEAD: Final = 24
_LETTER: Final = 7.4
_MOST_TEXT: Final = 2_000


class Tile(NamedTuple):
    """One rectangle: ``parts`` are its coloured pieces; ``head``, of one that holds others, has no colour.

    ``label`` fits in it, and is "" where none does. ``place`` is the folder, "" for what is too small to stand alone.
    """

    box: Box
    label: str
    number: int
    place: str
    is_map: bool
    parts: tuple[tuple[str, Box], ...] = ()
    head: bool = False


def show(request: Request) -> Response:
    """Show the map of a run, from a folder on."""
    with reading(request) as reader:
        run = refuse(run_of(reader, request))
    told = of_request(request, run)
    pictures = [
        (
            name,
            width,
            height,
            drawn(told["folder"], told["children"], told["inner"], told["by"], Box(0, 0, width, height)),
        )
        for name, width, height in PICTURES
    ]
    return page(request, "map.html", run=run, pictures=pictures, ways=WAYS, name_of=name_of, group_in=group_in, **told)


def of_request(request: Request, run: RunRow) -> dict[str, Any]:
    """Return what a map shows: the folder, its way up, its folders and theirs. Raises NotThere for no such folder."""
    by = "change" if request.query_params.get("by") == "change" else "outcome"
    at = request.query_params.get("at", "")[:_MOST_TEXT]
    with parts_of(request).shelves.opened(run) as shelf:
        is_compared = bool(shelf.differences())
        by = by if is_compared else "outcome"
        here = _here(shelf, at)
        children = shelf.folders(here.folder, MOST_LISTED)
        inner = {
            one.folder: shelf.folders(one.folder, MOST_INNER) for one in children[:MOST_TILES] if one.number > one.own
        }
        way = _way(shelf, here)
    counts = here.kinds if by == "outcome" else here.differences
    most = max((one.number for one in children), default=1)
    return {
        "folder": here, "children": children, "inner": inner, "by": by, "is_compared": is_compared, "way": way,
        "legend": sorted(counts.items(), key=lambda one: -one[1]),
        "bars": {one.folder: stacked(one, by, most) for one in children},
        "unlisted": here.number - here.own - sum(one.number for one in children),
    }  # fmt: skip


def group_in(by: str, name: str) -> str:
    """Return the colour group of an outcome's kind, or of a difference."""
    return labels.change_group(name) if by == "change" else labels.group_of(name)


def name_of(folder: str, above: str = "") -> str:
    """Return what a folder is called below another: its host, or its part of the path as people write it."""
    if not above or not folder.startswith(above):
        return safe(host_of(folder) or folder)
    return safe(unquote(folder[len(above) :], errors="replace"))


def drawn(
    here: Folder, children: Sequence[Folder], inner: Mapping[str, Sequence[Folder]], by: str, box: Box
) -> list[Tile]:
    """Return the tiles of a map: the folders of ``here``, in the larger ones theirs, and what is left."""
    shown = children[:MOST_TILES]
    rest = here.number - here.own - sum(one.number for one in shown)
    items = [(one.number, one) for one in shown] + [(number, None) for number in (rest, here.own) if number > 0]
    items.sort(key=lambda one: -one[0])
    found: list[Tile] = []
    for (number, folder), place in zip(items, squarified([number for number, _ in items], box), strict=True):
        if min(place.width, place.height) < LEAST:
            continue
        if folder is None:
            is_own = number == here.own
            found.append(
                _tile(
                    place,
                    "·" if is_own else "…",
                    number,
                    here.folder if is_own else "",
                    _sums(here, by) if is_own else {},
                    by,
                )
            )
        elif folder.folder in inner and place.width > 110 and place.height > 90:
            found.append(
                Tile(
                    place,
                    _fitting(name_of(folder.folder, here.folder), place),
                    number,
                    folder.folder,
                    is_map=True,
                    head=True,
                )
            )
            found += _within(folder, inner[folder.folder], by, place.inside(3, _HEAD))
        else:
            is_map = number > folder.own
            found.append(
                _tile(
                    place,
                    name_of(folder.folder, here.folder),
                    number,
                    folder.folder,
                    _sums(folder, by),
                    by,
                    is_map=is_map,
                )
            )
    return found


def stacked(folder: Folder, by: str, most: int) -> list[chart.Part]:
    """Return the parts of a folder's bar in the table."""
    sums = _grouped(_sums(folder, by), by)
    found, start = [], 0
    for group, number in sums.items():
        if number:
            length = max(4, number * chart.WIDE // max(most, 1))
            found.append(chart.Part(group, number, start, length))
            start += length
    return found


def _within(folder: Folder, inner: Sequence[Folder], by: str, box: Box) -> list[Tile]:
    """Return the tiles of the folders of a folder; what lies in it itself, or in a further one, is one tile."""
    left = folder.number - sum(one.number for one in inner)
    kinds = Counter(_sums(folder, by))
    for one in inner:
        kinds.subtract(_sums(one, by))
    items: list[tuple[int, Folder | None]] = [(one.number, one) for one in inner]
    items += [(left, None)] if left > 0 else []
    items.sort(key=lambda one: -one[0])
    found = []
    for (number, lower), place in zip(items, squarified([number for number, _ in items], box), strict=True):
        if min(place.width, place.height) < LEAST:
            continue
        if lower is None:
            found.append(_tile(place, "·", number, folder.folder, kinds, by, is_map=len(inner) >= MOST_INNER))
        else:
            name = name_of(lower.folder, folder.folder)
            found.append(
                _tile(place, name, number, lower.folder, _sums(lower, by), by, is_map=lower.number > lower.own)
            )
    return found


def _tile(
    box: Box, label: str, number: int, place: str, sums: Mapping[str, int], by: str, *, is_map: bool = False
) -> Tile:
    groups = {group: count for group, count in _grouped(sums, by).items() if count > 0} or {"out": 1}
    inside = Box(box.x + 0.75, box.y + 0.75, max(box.width - 1.5, 0.5), max(box.height - 1.5, 0.5))
    parts = tuple(zip(groups, bands(list(groups.values()), inside), strict=True))
    return Tile(box, _fitting(label, box), number, place, is_map, parts)


def _sums(folder: Folder, by: str) -> Mapping[str, int]:
    return folder.differences if by == "change" else folder.kinds


def _grouped(sums: Mapping[str, int], by: str) -> dict[str, int]:
    found = dict.fromkeys(_GROUPS, 0)
    for name, number in sums.items():
        found[group_in(by, name)] += number
    return found


def _fitting(label: str, box: Box) -> str:
    """Return a label as far as it fits into a box, "" where nothing of it does."""
    room = int((box.width - 12) / _LETTER)
    if label in {"·", "…"}:
        return label
    if box.height < 20 or room < 3:
        return ""
    wide = 0
    for at, letter in enumerate(label):
        wide += 1 if ord(letter) < 0x1100 else 2
        if wide > room:
            return f"{label[: max(at - 1, 1)]}…"
    return label


def _here(shelf: Shelf, at: str) -> Folder:
    """Return the folder that is looked at: all hosts together where none is named, the only host where there is one."""
    if at:
        named = shelf.folder(at)
        if named is None:
            raise NotThere(at)
        return named
    hosts = shelf.folders("", MOST_LISTED)
    if len(hosts) == 1:
        return hosts[0]
    kinds: Counter[str] = Counter()
    differences: Counter[str] = Counter()
    for one in hosts:
        kinds.update(one.kinds)
        differences.update(one.differences)
    return Folder("", "", sum(kinds.values()), 0, kinds, differences, 0, 0)


def _way(shelf: Shelf, here: Folder) -> list[Folder]:
    """Return the folders that hold a folder, the host first."""
    found: list[Folder] = []
    above = here
    while above.parent and (folder := shelf.folder(above.parent)):
        found.append(folder)
        above = folder
    return found[::-1]
