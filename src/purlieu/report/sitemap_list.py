"""Sitemap files from lists of URLs: several sources merged into one index (SM-75).

Reads CSV and JSON lines. Knows no store; each address is judged by ``sitemap.choose``, and the same lists give the same
files in whatever order they are named.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TextIO

from purlieu import url as urls
from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.report.sitemap_former import Former
from purlieu.report.sitemap_writing import Built, How, LeftOut, folder_of, form_of, listing, put
from purlieu.settings import ProfileSettings
from purlieu.sitemap import Entry
from purlieu.sitemap.choose import Chooser, Place, Priorities
from purlieu.sitemap.moment import of_w3c
from purlieu.value import dataclass

COLUMNS: Final = ("loc", "lastmod", "changefreq", "priority", "source")
"""The columns that count; ``url`` is read as ``loc``. A source that is not named is the list's file name.

A ``.txt`` file has one address a line."""
FREQUENCIES: Final = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
_MOST_MISTAKES: Final = 20
_LINES: Final = frozenset((".jsonl", ".ndjson", ".json"))
_DELIMITERS: Final = ",;\t|"
_OF_JSON: Final = "write one JSON object a line"
_OF_CSV: Final = (
    f"name a column loc or url in the first line, such as {','.join(COLUMNS)}, and write no more values than columns: "
    "put a value that has the delimiter in it in quotes"
)


@dataclass(slots=True)
class _Item:
    """One address, with the best that the sources say of it."""

    source: str
    lastmod: str | None = None
    lastmod_at: float | None = None
    changefreq: str | None = None
    priority: float | None = None

    def take(self, other: _Item) -> None:
        """Merge: the first source by name, the newest lastmod, the most frequent changefreq, the highest priority."""
        self.source = min(self.source, other.source)
        if (other.lastmod_at or float("-inf"), other.lastmod or "") > (
            self.lastmod_at or float("-inf"),
            self.lastmod or "",
        ):
            self.lastmod, self.lastmod_at = other.lastmod, other.lastmod_at
        told = [word for word in (self.changefreq, other.changefreq) if word]
        self.changefreq = min(told, key=FREQUENCIES.index) if told else None
        ranked = [number for number in (self.priority, other.priority) if number is not None]
        self.priority = max(ranked) if ranked else None


def build(lists: Sequence[Path], profile: ProfileSettings, folder: Path, how: How) -> Built:
    """Write one sitemap of several lists, each source in files of its own, and return what was made.

    An address that stands twice is written once (``_Item.take``) and listed as ``duplicate``. Without a location the
    files are taken to lie at the top of the first address's host. Raises SettingsError with every wrong line.
    """
    with listing(how) as left:
        items = _read(lists, left)
        location = how.location or profile.location or next((f"{urls.origin_of(loc)}/" for loc in sorted(items)), "")
        if not location:
            raise SettingsError((Mistake("--from-list", ", ".join(map(str, lists)), "there is no URL in it"),))
        location = folder_of(location, "location")
        former = Former.of(folder, form_of(profile), location)
        groups = _groups(items, profile, Chooser(profile, Place(location)), left)
        return put(groups, former.form, former, left, how)


def _groups(
    items: Mapping[str, _Item], profile: ProfileSettings, chooser: Chooser, left: LeftOut
) -> Iterator[tuple[str, Iterator[Entry]]]:
    """Yield each source's entries, by name and address."""
    by_source: defaultdict[str, list[str]] = defaultdict(list)
    for loc, item in items.items():
        if reason := chooser.placed(loc):
            left.add(loc, reason)
        else:
            by_source[item.source].append(loc)
    priorities = Priorities(profile.priority)

    def entry(loc: str) -> Entry:
        item = items[loc]
        dated = profile.lastmod != "none"
        return Entry(
            loc,
            lastmod=item.lastmod if dated else None,
            lastmod_at=item.lastmod_at if dated else None,
            changefreq=item.changefreq if profile.changefreq else None,
            priority=priorities.of(loc) if item.priority is None else item.priority,
        )

    for source in sorted(by_source):
        yield source, (entry(loc) for loc in sorted(by_source[source]))


def _read(lists: Sequence[Path], left: LeftOut) -> dict[str, _Item]:
    """Return the addresses of all lists; raises SettingsError that names the wrong lines, at most 20 of them."""
    items: dict[str, _Item] = {}
    mistakes: list[Mistake] = []
    for path in lists:
        for number, row in _rows(path, mistakes):
            try:
                loc, item = _item(row, path)
            except ValueError as error:
                if len(mistakes) < _MOST_MISTAKES:
                    mistakes.append(Mistake(f"line {number}", str(_shown(row))[:200], str(error), str(path)))
                continue
            if loc in items:
                items[loc].take(item)
                left.add(loc, "duplicate")
            else:
                items[loc] = item
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return items


_Row = Mapping[str, Any] | str


def _rows(path: Path, mistakes: list[Mistake]) -> Iterator[tuple[int, _Row]]:
    """Yield each line's number, and its values by ``COLUMNS``, or the line itself where it holds none."""
    try:
        with path.open("rb") as start:
            encoding = "utf-16" if start.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE} else "utf-8-sig"
        with path.open(encoding=encoding, newline="") as file:
            if path.suffix.lower() in _LINES:
                yield from ((number, _of_json(line)) for number, line in enumerate(file, 1) if line.strip())
            elif path.suffix.lower() == ".txt":
                yield from ((number, {"loc": line}) for number, line in enumerate(file, 1) if line.strip())
            else:
                yield from _table(file)
    except UnicodeError:
        mistakes.append(Mistake("--from-list", str(path), "the file is not UTF-8; save it as UTF-8"))
    except csv.Error as error:
        mistakes.append(Mistake("--from-list", str(path), f"it cannot be read ({error}); write CSV or JSON lines"))
    except OSError as error:
        mistakes.append(
            Mistake("--from-list", str(path), f"it cannot be read ({error.strerror}); give a CSV or JSONL file")
        )


def _table(file: TextIO) -> Iterator[tuple[int, _Row]]:
    """Yield the lines of a CSV file with whatever delimiter its first line has; with one column lines are not split."""
    head = file.readline()
    delimiter = max(_DELIMITERS, key=head.count)
    delimiter = delimiter if delimiter in head else "\x1f"
    names = [name.strip().lower() for name in next(csv.reader([head], delimiter=delimiter), [])]
    places = {name: names.index(name) for name in COLUMNS if name in names}
    if "url" in names:
        places.setdefault("loc", names.index("url"))
    if "loc" not in places:
        yield 1, head.strip()
        return
    rows = csv.reader(file, delimiter=delimiter)
    for cells in rows:
        if any(cells[len(names) :]):
            yield rows.line_num + 1, delimiter.join(cells)
        elif any(cells):
            yield rows.line_num + 1, {name: cells[at] for name, at in places.items() if at < len(cells)}


def _of_json(line: str) -> _Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return line.strip()
    if isinstance(row, str):
        return {"loc": row}
    if not isinstance(row, dict):
        return line.strip()
    found = {name.strip().lower(): value for name, value in row.items() if value != ""}
    return {"loc": found.get("url")} | found


def _shown(row: _Row) -> object:
    return row if isinstance(row, str) else row.get("loc") or ""


def _item(row: _Row, path: Path) -> tuple[str, _Item]:
    """Return the address of a row and what it says; ValueError with what to write instead."""
    if isinstance(row, str):
        raise ValueError(_OF_JSON if path.suffix.lower() in _LINES else _OF_CSV)  # noqa: TRY004 - the owner's mistake
    try:
        parsed = urls.parse(_text(row, "loc"))
    except UrlError:
        parsed = None
    if parsed is None or parsed.scheme not in {"http", "https"}:
        raise ValueError("write a whole http or https address in the column loc")
    item = _Item(_source(_text(row, "source") or path.stem))
    if lastmod := _text(row, "lastmod"):
        item.lastmod, item.lastmod_at = lastmod, _moment(lastmod)
        if item.lastmod_at is None:
            raise ValueError(f'write lastmod as 2026-11-30 or with a time and zone, not "{lastmod[:50]}"')
    if frequency := _text(row, "changefreq").lower():
        if frequency not in FREQUENCIES:
            raise ValueError(f"write changefreq as one of {', '.join(FREQUENCIES)}")
        item.changefreq = frequency
    if priority := _text(row, "priority"):
        try:
            item.priority = float(priority)
        except ValueError:
            item.priority = -1.0
        if not 0 <= item.priority <= 1:
            raise ValueError("write priority as a number from 0.0 to 1.0")
    return parsed.href, item


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()


_moment = lru_cache(maxsize=4096)(of_w3c)


@lru_cache(maxsize=4096)
def _source(text: str) -> str:
    """Return a source's name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")[:50] or "list"
