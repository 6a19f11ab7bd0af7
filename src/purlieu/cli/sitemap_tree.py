"""``purlieu sitemap tree``: a sitemap, or what a run found, as sections in the terminal.

Shows; a run's sections are ``purlieu.report.site_tree``'s. Of files it only keeps sums by section, down to the depth
that is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from purlieu.cli import report
from purlieu.cli.sitemap_look import inspections, is_url, settings_of
from purlieu.cli.words import padded, safe, width
from purlieu.errors import Mistake, SettingsError
from purlieu.report.site_tree import Node, SiteTree, View
from purlieu.sitemap import Entry
from purlieu.store.site_tree import sections_of
from purlieu.value import dataclass

_SHOWN = 20
_RUN = re.compile(r"latest|\d+|.+@last(?:-\d+)?", re.ASCII)
_MOST_SECTIONS = 100_000  # kept of files; what lies in more is counted in the host's
_OF_RUN = ("in_sitemap", "unlinked", "unlisted", "redirecting", "excluded", "failing", "problems")
_WORDS = {
    "in_sitemap": "in sitemap", "unlinked": "not linked", "unlisted": "not in sitemap",
}  # fmt: skip


@dataclass(slots=True)
class Section:
    """One section as it is shown; ``counts`` by name, none that is nothing."""

    key: str
    level: int
    entries: int
    newest: float | None
    counts: dict[str, int]


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu sitemap tree`` and return 0; raises SettingsError."""
    if not arguments.depth.isdecimal():
        raise SettingsError((Mistake("--depth", arguments.depth, "write a whole number, such as 2"),))
    depth = int(arguments.depth)
    sections = _of_run(arguments, depth) if is_run(arguments.sitemap) else _of_files(arguments, depth)
    if arguments.json:
        for one in sections:
            sys.stdout.write(json.dumps(_facts(one), ensure_ascii=False) + "\n")
        return 0
    for line in _lines(list(sections), everything=arguments.all):
        sys.stdout.write(f"{line}\n")
    return 0


def is_run(word: str) -> bool:
    """Say whether a word names a run: its number, latest or CRAWL@last, and no file of that name is there."""
    return _RUN.fullmatch(word) is not None and not is_url(word) and not Path(word).exists()


def _of_run(arguments: argparse.Namespace, depth: int) -> Iterator[Section]:
    with report.opened(arguments.store) as reader:
        row = report.run_named(reader, arguments.sitemap, arguments.store)
        for node in SiteTree(reader, row).sections(View(), depth):
            yield _of_node(node)


def _of_node(node: Node) -> Section:
    sums = asdict(node.health)
    counts = {name: sums[name] for name in _OF_RUN if sums[name]}
    return Section(node.key, node.level, node.health.pages, node.newest, counts)


def _of_files(arguments: argparse.Namespace, depth: int) -> Iterable[Section]:
    """Return the sections of a sitemap and its children, by address."""
    sums: dict[str, Section] = {}

    def each(_: str, entry: Entry) -> None:
        for level, key in enumerate(sections_of(entry.loc)[: depth + 1]):
            one = sums.get(key)
            if one is None:
                if level and len(sums) >= _MOST_SECTIONS:
                    return
                one = sums[key] = Section(key, level, 0, None, {})
            one.entries += 1
            if entry.lastmod_at is not None and (one.newest is None or entry.lastmod_at > one.newest):
                one.newest = entry.lastmod_at

    def trouble(address: str, count: int) -> None:
        for key in sections_of(address)[: depth + 1] if is_url(address) else []:
            if count and key in sums:
                sums[key].counts["problems"] = sums[key].counts.get("problems", 0) + count

    async def read() -> int:
        elsewhere = 0
        async with aclosing(inspections(arguments.sitemap, settings_of(arguments), each=each)) as found:
            async for one in found:
                trouble(one.url, len(one.problems))
                elsewhere += 0 if is_url(one.url) else len(one.problems)
        return elsewhere

    untold = asyncio.run(read())
    if untold:
        sys.stderr.write(f"{untold:,} problems; purlieu sitemap check {arguments.sitemap} tells them.\n")
    return [sums[key] for key in sorted(sums)]


def _day(seconds: float | None) -> str:
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return ""


def _facts(one: Section) -> dict[str, object]:
    counts = {name: one.counts.get(name, 0) for name in _OF_RUN}
    return {
        "section": one.key,
        "level": one.level,
        "entries": one.entries,
        "newest": _day(one.newest) or None,
        **counts,
    }


def _lines(sections: list[Section], *, everything: bool) -> Iterator[str]:
    """Yield the tree: each section with its sums, the largest of each section, in the order of their addresses."""
    if not sections:
        yield "There are no entries."
        return
    kept, hidden = _kept(sections, everything=everything)
    shown = [("  " * one.level + safe(one.key if not one.level else _name(one.key)), one) for one in kept]
    first = min(max(width(text) for text, _ in shown), 70)
    yield f"{padded('SECTION', first)}  {'ENTRIES':>9}  {'NEWEST':10}  NOTES"
    for text, one in shown:
        notes = ", ".join(f"{_WORDS.get(name, name)} {count:,}" for name, count in one.counts.items())
        yield f"{padded(text, first)}  {one.entries:>9,}  {_day(one.newest):10}  {notes}".rstrip()
        if more := hidden.get(one.key):
            yield f"{'  ' * (one.level + 1)}... and {more:,} more sections; --all shows them"


def _kept(sections: list[Section], *, everything: bool) -> tuple[list[Section], dict[str, int]]:
    """Return the sections that are shown, and how many of each were left out: all but the largest."""
    children: dict[str, list[Section]] = {}
    for one in sections:
        above = sections_of(one.key[:-1])
        children.setdefault(above[-1] if above else "", []).append(one)
    kept, hidden = [], {}
    waiting = children.get("", [])[::-1]
    while waiting:
        one = waiting.pop()
        kept.append(one)
        below = children.get(one.key, [])
        largest = below if everything else sorted(below, key=lambda section: -section.entries)[:_SHOWN]
        if len(below) > len(largest):
            hidden[one.key] = len(below) - len(largest)
        waiting += sorted(largest, key=lambda section: section.key, reverse=True)
    return kept, hidden


def _name(key: str) -> str:
    return key.rstrip("/").rpartition("/")[2] + "/"
