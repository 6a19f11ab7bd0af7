"""``purlieu report RUN --format politeness``, ``duplicates`` or ``sitemaps``: what is printed of a run alone.

What it holds is made by ``report/``; here it is laid out as a table or as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence

from purlieu.cli import report
from purlieu.cli.options import VIEWS
from purlieu.cli.report import opened, run_named
from purlieu.cli.words import columned, safe, speaker, tongue
from purlieu.errors import Mistake, SettingsError
from purlieu.report import duplicates, politeness, sitemaps
from purlieu.store.reader import Reader, RunRow


def run(arguments: argparse.Namespace) -> int:
    """Print one view of a run, or else write its files, and return 0.

    Raises SettingsError for a view beside files to write.
    """
    if set(VIEWS).isdisjoint(arguments.format or ()):
        return report.run(arguments)
    wanted = list(dict.fromkeys(arguments.format or ()))
    if len(wanted) != 1 or wanted[0] not in VIEWS:
        remedy = f"what is printed goes alone: write --format {' or --format '.join(VIEWS)}"
        raise SettingsError((Mistake("--format", ", ".join(wanted), remedy),))
    with opened(arguments.store) as reader:
        row = run_named(reader, arguments.run, arguments.store)
        show = {"politeness": _politeness, "duplicates": _duplicates, "sitemaps": _sitemaps}[wanted[0]]
        show(reader, row, tongue(arguments.lang), as_json=arguments.json)
    return 0


def _politeness(reader: Reader, run: RunRow, language: str, *, as_json: bool) -> None:
    if as_json:
        _print_json(map(politeness.facts, reader.conduct(run)))
        return
    say = speaker(language)
    hurried = [one.host for one in reader.conduct(run) if not politeness.is_kept(one)]
    _print_table([politeness.HEADS, *politeness.table(reader, run)], politeness.LEAST)
    if hurried:
        told = say("Asked sooner than the rule allowed: {hosts}", hosts=", ".join(hurried[:20]))
    else:
        told = say("No host was asked sooner than its rule and its Retry-After allowed.")
    sys.stdout.write("\n")
    for group, (hosts, requests) in politeness.groups(reader, run).items():
        told_of = {"group": safe(group), "hosts": f"{hosts:,}", "requests": f"{requests:,}"}
        sys.stdout.write(say("Asked as one: {group}, {hosts} hosts, {requests} requests.", **told_of) + "\n")
    sys.stdout.write(f"{safe(told)}\n")


def _duplicates(reader: Reader, run: RunRow, language: str, *, as_json: bool) -> None:
    groups = duplicates.of_run(reader, run)
    if as_json:
        _print_json(map(duplicates.facts, groups))
        return
    say = speaker(language)
    for group in groups:
        count = f"{group.count:,}"
        exact = say("{count} pages with the same text", count=count)
        told = exact if group.is_exact else say("{count} pages with nearly the same text", count=count)
        sys.stdout.write(f"{told}\n")
        for url in group.urls:
            sys.stdout.write(f"  {safe(url)}\n")
        if group.count > len(group.urls):
            sys.stdout.write("  " + say("... and {count} more", count=group.count - len(group.urls)) + "\n")


def _sitemaps(reader: Reader, run: RunRow, language: str, *, as_json: bool) -> None:
    if as_json:
        _print_json(map(sitemaps.facts, reader.sitemaps(run)))
        return
    say = speaker(language)
    _print_table([sitemaps.HEADS, *sitemaps.table(reader, run)])
    empty = 0
    for row in reader.sitemaps(run):
        empty += sitemaps.is_empty_guess(row)
        if row.problems and not sitemaps.is_empty_guess(row):
            sys.stdout.write(f"\n{safe(row.url)}\n")
            for line, kind, sentence in row.problems:
                place = say("line {line}", line=f"{line:,}") + ", " if line else ""
                sys.stdout.write(f"  {place}{kind}: {safe(sentence)}\n")
    if empty:
        told = say("{count} usual addresses were tried and hold no sitemap.", count=f"{empty:,}")
        sys.stdout.write(f"\n{told}\n")


def _print_json(values: Iterable[object]) -> None:
    for one in values:
        sys.stdout.write(json.dumps(one, ensure_ascii=False) + "\n")


def _print_table(rows: Sequence[Sequence[str]], least: Sequence[str] = ()) -> None:
    shown = [[safe(cell) for cell in row] for row in rows]
    sys.stdout.writelines(f"{line}\n" for line in columned(shown, sys.stdout, least))
