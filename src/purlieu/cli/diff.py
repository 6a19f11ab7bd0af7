"""``purlieu diff``: what changed between two runs.

Reads the store; what is compared is ``purlieu.report.diff``. Here it is only laid out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from purlieu.cli.report import known_crawl, opened, run_named
from purlieu.cli.summary import table
from purlieu.cli.words import safe, speaker, tongue
from purlieu.difference import FACTS, MEANINGS, Difference
from purlieu.errors import Mistake, SettingsError
from purlieu.report import diff
from purlieu.store.reader import Reader, RunRow

_SHOWN = 20
_QUIET = frozenset({Difference.UNCHANGED, Difference.OUTSIDE})


def run(arguments: argparse.Namespace) -> int:
    """Print or write what changed from one run to another, and return 0."""
    with opened(arguments.store) as reader:
        before, after = _runs(arguments, reader)
        every = diff.pairs(reader, before, after, arguments.header or ())
        if arguments.format:
            told = (pair for pair in every if pair.is_told)
            diff.write(told, arguments.format, Path(arguments.output) if arguments.output else sys.stdout)
            return 0
        tally, first = diff.Tally(), list[diff.Pair]()
        for pair in every:
            tally.add(pair)
            if not pair.is_told:
                continue
            if arguments.list:
                sys.stdout.write((json.dumps(pair.facts()) if arguments.json else line(pair)) + "\n")
            elif len(first) <= _SHOWN:
                first.append(pair)
    if arguments.json:
        head = {"before": _named(before), "after": _named(after)}
        sys.stdout.write(json.dumps({**head, **tally.as_json()}, ensure_ascii=False) + "\n")
        return 0
    if arguments.list:
        sys.stdout.write("\n")
    for text in _lines(before, after, tally, first, tongue(arguments.lang)):
        sys.stdout.write(f"{text}\n")
    return 0


def _runs(arguments: argparse.Namespace, reader: Reader) -> tuple[RunRow, RunRow]:
    """Return the two runs that were named, the earlier first as typed."""
    named = list(arguments.runs)
    if arguments.last:
        if named:
            raise SettingsError((Mistake("--last", arguments.last, "name two runs, or --last CRAWL, not both"),))
        runs = known_crawl(reader, "--last", arguments.last, arguments.store)
        if sum(one.crawl == arguments.last for one in runs) < 2:
            remedy = "it has one run so far; crawl it again, or name two runs"
            raise SettingsError((Mistake("--last", arguments.last, remedy),))
        named = [f"{arguments.last}@last-1", f"{arguments.last}@last"]
    if len(named) != 2:
        remedy = "name two runs, the earlier first, or --last CRAWL for the last two of a crawl"
        raise SettingsError((Mistake("RUN", " ".join(named), remedy),))
    one, two = (run_named(reader, name, arguments.store) for name in named)
    return one, two


def _named(run: RunRow) -> dict[str, Any]:
    return {"run": run.id, "crawl": run.crawl, "state": run.state, "started_at": run.started_at}


def line(pair: diff.Pair) -> str:
    """Return one line of the list: class, URL, and each fact as it was and is."""
    facts = pair.facts()
    told = []
    for fact in pair.changed:
        if fact == "headers":
            told += [f"+{name}" for name in facts["headers_added"]] + [f"-{name}" for name in facts["headers_removed"]]
        elif fact == "content":
            told.append("content")
        elif fact != "outcome":
            one, two = (_fact(seen, fact) for seen in (pair.before, pair.after))
            told.append(f"{fact} {one} -> {two}")
    if not pair.changed and (seen := pair.after or pair.before):
        told.append(f"{seen.kind}.{seen.reason}")
    return safe(f"{pair.difference:9}  {pair.url}  {'; '.join(told)}".rstrip())


def _fact(seen: object, fact: str) -> str:
    value = getattr(seen, fact, None)
    if fact == "reason":
        return f"{getattr(seen, 'kind', '')}.{value}"
    return "none" if value is None else f'"{value}"' if fact == "title" else str(value)


def _lines(before: RunRow, after: RunRow, tally: diff.Tally, first: list[diff.Pair], language: str) -> Iterator[str]:
    say = speaker(language)
    yield say("From run {before} of {one} to run {after} of {two}", before=before.id, one=safe(before.crawl),
              after=after.id, two=safe(after.crawl))  # fmt: skip
    yield from table((str(one), f"{tally.classes[one]:,}", say(MEANINGS[one])) for one in Difference)
    changed = [(fact, f"{tally.facts[fact]:,}", "") for fact in FACTS if tally.facts[fact]]
    if changed:
        yield from ("", say("Facts that changed of pages in both"))
        yield from table(changed)
    moved = {
        name: told
        for name, counts in tally.sections.items()
        if (told := ", ".join(f"{one} {counts[one]:,}" for one in Difference if counts[one] and one not in _QUIET))
    }
    if moved:
        yield from ("", say("By section"))
        ranked = sorted(moved, key=lambda name: (-sum(_loud(tally.sections[name]).values()), name))
        yield from table((safe(name), "", moved[name]) for name in ranked[:_SHOWN])
        if len(ranked) > _SHOWN:
            yield "  " + say("... and {count} more", count=len(ranked) - _SHOWN)
    if first:
        yield ""
        yield from (f"  {line(pair)}" for pair in first[:_SHOWN])
        if len(first) > _SHOWN:
            yield "  " + say("... and more; --list shows all")


def _loud(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name not in _QUIET}
