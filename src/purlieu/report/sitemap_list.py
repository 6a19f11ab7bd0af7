"""Sitemap files from lists of URLs: several sources merged into one index (SM-75).

Reads CSV and JSON lines. Knows no store; each address is judged by ``sitemap.choose``, and the same lists give the same
files in whatever order they are named.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from purlieu import url as urls
from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.report.sitemap_former import Former
from purlieu.report.sitemap_writing import Built, How, LeftOut, folder_of, form_of, listing, put
from purlieu.settings import ProfileSettings
from purlieu.sitemap import Entry
from purlieu.sitemap.choose import Chooser, Place, Priorities
from purlieu.sitemap.moment import of_w3c

COLUMNS: Final = ("loc", "lastmod", "changefreq", "priority", "source")
"""The columns that count; ``url`` is read as ``loc``. A source that is not named is the list's file name."""
FREQUENCIES: Final = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")
_MOST_MISTAKES: Final = 20


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
                    mistakes.append(Mistake(f"line {number}", str(row.get("loc", ""))[:200], str(error), str(path)))
                continue
            if loc in items:
                items[loc].take(item)
                left.add(loc, "duplicate")
            elif loc:
                items[loc] = item
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return items


def _rows(path: Path, mistakes: list[Mistake]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each line's number and columns, those named as in ``COLUMNS``."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix.lower() in {".jsonl", ".ndjson", ".json"}:
                for number, line in enumerate(file, 1):
                    if line.strip():
                        yield number, _known(json.loads(line))
                return
            rows = csv.DictReader(file)
            if not {"loc", "url"} & {(name or "").strip().lower() for name in rows.fieldnames or ()}:
                remedy = f"the first line names no column loc or url; write such as {','.join(COLUMNS)}"
                mistakes.append(Mistake("line 1", ",".join(rows.fieldnames or ())[:200], remedy, str(path)))
                return
            for row in rows:
                yield rows.line_num, _known(row)
    except UnicodeDecodeError:
        mistakes.append(Mistake("--from-list", str(path), "the file is not UTF-8; save it as UTF-8"))
    except (ValueError, csv.Error) as error:
        mistakes.append(
            Mistake("--from-list", str(path), f"it cannot be read ({error}); write one JSON object a line, or CSV")
        )
    except OSError as error:
        mistakes.append(
            Mistake("--from-list", str(path), f"it cannot be read ({error.strerror}); give a CSV or JSONL file")
        )


def _known(row: object) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        return {"loc": row}
    found = {str(name).strip().lower(): value for name, value in row.items() if name}
    return {"loc": found.get("url"), **{name: found[name] for name in COLUMNS if found.get(name) not in {None, ""}}}


def _item(row: Mapping[str, Any], path: Path) -> tuple[str, _Item]:
    """Return the address of a row and what it says; ValueError with what to write instead."""
    try:
        parsed = urls.parse(str(row.get("loc") or "").strip())
    except UrlError:
        parsed = None
    if parsed is None or parsed.scheme not in {"http", "https"}:
        raise ValueError("write a whole http or https address in the column loc")
    item = _Item(_source(str(row.get("source") or path.stem)))
    if lastmod := str(row.get("lastmod") or "").strip():
        item.lastmod, item.lastmod_at = lastmod, of_w3c(lastmod)
        if item.lastmod_at is None:
            raise ValueError(f'write lastmod as 2026-11-30 or with a time and zone, not "{lastmod[:50]}"')
    if frequency := str(row.get("changefreq") or "").strip().lower():
        if frequency not in FREQUENCIES:
            raise ValueError(f"write changefreq as one of {', '.join(FREQUENCIES)}")
        item.changefreq = frequency
    if (priority := row.get("priority")) is not None:
        try:
            item.priority = float(priority)
        except (TypeError, ValueError):
            item.priority = -1.0
        if not 0 <= item.priority <= 1:
            raise ValueError("write priority as a number from 0.0 to 1.0")
    return parsed.href, item


def _source(text: str) -> str:
    """Return a source's name as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", text).strip("-.")[:50] or "list"
