"""``purlieu sitemap diff``: what two sitemaps, files, or runs say differently.

Sorts what does not fit into memory on disk; shows added, removed and changed entries by address.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import heapq
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, aclosing, suppress
from typing import IO, NamedTuple

from purlieu.cli import report
from purlieu.cli.sitemap_look import inspections, settings_of
from purlieu.cli.sitemap_tree import is_run
from purlieu.cli.words import safe
from purlieu.errors import UrlError
from purlieu.sitemap import Entry
from purlieu.url import parse

_FIELDS = ("lastmod", "changefreq", "priority")
_IN_MEMORY = 200_000  # entries sorted at a time


class Said(NamedTuple):
    """What one sitemap says of an address; None where it says nothing."""

    url: str
    lastmod: str | None
    changefreq: str | None
    priority: float | None


class Change(NamedTuple):
    """One difference: ``added``, ``removed`` or ``changed``, with what was said before and after."""

    change: str
    before: Said | None
    after: Said | None

    @property
    def url(self) -> str:
        """The address that it is about."""
        said = self.after or self.before
        return said.url if said else ""

    @property
    def fields(self) -> list[str]:
        """The fields that have changed."""
        before, after = self.before, self.after
        return [name for name in _FIELDS if before and after and getattr(before, name) != getattr(after, name)]


class Sorter:
    """Entries in the order of their addresses, however many there are; of several for one address the first counts."""

    def __init__(self, held: ExitStack, *, normal: bool, most: int = _IN_MEMORY) -> None:
        """Keep what does not fit in files that go away with ``held``; ``normal`` writes addresses as a run does.

        ``most`` are sorted in memory at a time.
        """
        self._held = held
        self._normal = normal
        self._most = most
        self._files: list[IO[str]] = []
        self._rows: list[Said] = []

    def add(self, entry: Entry) -> None:
        """Take in one entry."""
        loc = entry.loc
        if self._normal:
            with suppress(UrlError):
                loc = parse(loc).href
        self._rows.append(Said(loc, entry.lastmod, entry.changefreq, entry.priority))
        if len(self._rows) >= self._most:
            self._rows.sort(key=lambda said: said.url)
            file = self._held.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))  # noqa: SIM115 - held
            file.writelines(json.dumps(row) + "\n" for row in self._rows)
            file.seek(0)
            self._files.append(file)
            self._rows = []

    def rows(self) -> Iterator[Said]:
        """Yield each address once, in order."""
        self._rows.sort(key=lambda said: said.url)
        kept = [(Said(*json.loads(line)) for line in file) for file in self._files]
        last = None
        for said in heapq.merge(*kept, iter(self._rows), key=lambda said: said.url):
            if said.url != last:
                yield said
            last = said.url


def run(arguments: argparse.Namespace) -> int:
    """Tell the differences and return 0; raises SettingsError."""
    with ExitStack() as held:
        before, after = (_said(word, arguments, held) for word in (arguments.before, arguments.after))
        counts: Counter[str] = Counter()
        table = csv.writer(sys.stdout, lineterminator="\n") if arguments.csv else None
        if table:
            table.writerow(["change", "url", *(f"{name}_{when}" for name in _FIELDS for when in ("before", "after"))])
        for change in compared(before, after):
            counts[change.change] += 1
            if table:
                table.writerow([change.change, change.url, *_values(change)])
            elif arguments.json:
                sys.stdout.write(json.dumps(_facts(change), ensure_ascii=False) + "\n")
            else:
                sys.stdout.write(_line(change) + "\n")
    sums = {name: counts[name] for name in ("added", "removed", "changed")}
    if arguments.json:
        sys.stdout.write(json.dumps(sums) + "\n")
    elif not table:
        sys.stdout.write(", ".join(f"{count:,} {name}" for name, count in sums.items()) + ".\n")
    return 0


def compared(before: Iterator[Said], after: Iterator[Said]) -> Iterator[Change]:
    """Yield the differences of two sorted sequences, by address."""
    old, new = next(before, None), next(after, None)
    while old or new:
        if new is None or (old is not None and old.url < new.url):
            yield Change("removed", old, None)
            old = next(before, None)
        elif old is None or new.url < old.url:
            yield Change("added", None, new)
            new = next(after, None)
        else:
            if old != new:
                yield Change("changed", old, new)
            old, new = next(before, None), next(after, None)


def _said(word: str, arguments: argparse.Namespace, held: ExitStack) -> Iterator[Said]:
    """Return what a sitemap with its children says, or the sitemaps of a run, by address."""
    if is_run(word):
        reader = held.enter_context(report.opened(arguments.store))
        row = report.run_named(reader, word, arguments.store)
        return (Said(*found) for found in reader.sitemap_entries(row))
    sorter = Sorter(held, normal=is_run(arguments.before) or is_run(arguments.after))

    async def read() -> None:
        found = inspections(word, settings_of(arguments), each=lambda _, entry: sorter.add(entry))
        async with aclosing(found):
            async for one in found:
                if not one.is_valid:
                    sys.stderr.write(f"{safe(one.url)}: has problems; purlieu sitemap check tells them\n")

    asyncio.run(read())
    return sorter.rows()


def _values(change: Change) -> list[str | float]:
    sides = (change.before, change.after)
    values = (getattr(side, name) if side else None for name in _FIELDS for side in sides)
    return ["" if value is None else value for value in values]


def _facts(change: Change) -> dict[str, object]:
    sides = {"before": change.before, "after": change.after}
    told = {when: {name: getattr(side, name) for name in _FIELDS} if side else None for when, side in sides.items()}
    return {"change": change.change, "url": change.url, "fields": change.fields, **told}


def _word(value: str | float | None) -> str:
    return "none" if value is None else str(value)


def _line(change: Change) -> str:
    moved = (
        f"{name} {_word(getattr(change.before, name))} -> {_word(getattr(change.after, name))}"
        for name in change.fields
    )
    return f"{change.change:7}  {safe(change.url)}  {safe(', '.join(moved))}".rstrip()
