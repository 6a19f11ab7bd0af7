"""``purlieu scope``: a scope tried out on URLs, without a crawl.

Reads settings files and lists of URLs; the verdicts are those of ``purlieu.judgement``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from purlieu.cli import config, report
from purlieu.cli.summary import table
from purlieu.cli.words import padded, safe, speaker, tongue, width
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.judgement import ASSUMED, Judgement, Rules
from purlieu.report.whatif import Change, WhatIf
from purlieu.sentence import Say, said
from purlieu.store.reader import UnlistedRow

_LONGEST = 80
_RULES = 20
_WAYS = ("enters", "leaves", "stays_in", "stays_out", "not_known")


def run(arguments: argparse.Namespace, stdin: TextIO | None = None) -> int:
    """Do ``purlieu scope``; ``check`` returns 1 if any URL is refused (R-8.2). Raises SettingsError.

    ``stdin`` stands in for the terminal's.
    """
    if arguments.what == "whatif":
        return _whatif(arguments)
    made = config.of_file(arguments.config)
    rules = Rules.of(made, now=RealClock().now())
    urls = list(_urls(arguments.urls, stdin or sys.stdin))
    if not urls:
        raise SettingsError((Mistake("URL", "", "nothing to check; give a URL, a file with one a line, or -"),))
    told = [rules.judge(url) for url in urls]
    if arguments.json:
        for one in told:
            sys.stdout.write(json.dumps(one.facts(), ensure_ascii=False) + "\n")
    else:
        for line in _lines(told, speaker(tongue(arguments.lang, made.language))):
            sys.stdout.write(f"{line}\n")
    return 0 if all(one.accepted for one in told) else 1


def _whatif(arguments: argparse.Namespace) -> int:
    """Tell what other settings would make of a run, and return 0."""
    other = config.of_file(arguments.config)
    with report.opened(arguments.store) as reader:
        asked = WhatIf.of(reader, report.run_named(reader, arguments.run, arguments.store), other)
        sums: Counter[str] = Counter()
        by_rule: Counter[tuple[str, str, str]] = Counter()
        for change in asked.changes():
            sums[_way(change)] += 1
            if change.after is None or not (change.enters or change.leaves):
                continue
            by_rule[_way(change), change.was, change.after.rule] += 1
            if arguments.list:
                told = {"change": _way(change), "was": change.was, **change.after.facts()}
                line = f"{_way(change)}  {safe(change.url)}  {safe(change.was)} -> {safe(change.after.rule)}"
                sys.stdout.write((json.dumps(told, ensure_ascii=False) if arguments.json else line) + "\n")
        unlisted = asked.unlisted()
    if arguments.json:
        facts = {
            "run": asked.run.id,
            "crawl": asked.run.crawl,
            **{way: sums[way] for way in _WAYS},
            "by_rule": [
                {"change": way, "was": was, "rule": rule, "count": count}
                for (way, was, rule), count in _ranked(by_rule)
            ],
            "not_listed": [
                {"host": one.host, "reason": one.reason, "rule": one.rule, "count": one.count} for one in unlisted
            ],
            "notes": asked.notes(),
        }
        sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
        return 0
    if arguments.list and by_rule:
        sys.stdout.write("\n")
    for line in _told(asked, (sums, by_rule), unlisted, speaker(tongue(arguments.lang, other.language))):
        sys.stdout.write(f"{line}\n")
    return 0


def _way(change: Change) -> str:
    """Return what would become of a page: one of ``_WAYS``."""
    if change.after is None:
        return "not_known"
    if change.enters or change.leaves:
        return "enters" if change.enters else "leaves"
    return "stays_in" if change.was_in else "stays_out"


def _ranked(by_rule: Counter[tuple[str, str, str]]) -> list[tuple[tuple[str, str, str], int]]:
    """Return the counts, the largest first, equal ones by name."""
    return sorted(by_rule.items(), key=lambda item: (-item[1], item[0]))


def _words(say: Say) -> dict[str, str]:
    """Return what becomes of pages, in words."""
    return {
        "enters": say("enters"),
        "leaves": say("leaves"),
        "stays_in": say("stays in"),
        "stays_out": say("stays out"),
        "not_known": say("not known"),
    }


def _told(
    asked: WhatIf,
    counts: tuple[Counter[str], Counter[tuple[str, str, str]]],
    unlisted: list[UnlistedRow],
    say: Say,
) -> Iterator[str]:
    sums, by_rule = counts
    titles = {
        "enters": say("Enters, by the rule that decided and the one that would"),
        "leaves": say("Leaves, by the rule that decided and the one that would"),
    }
    crawl = safe(asked.run.crawl)
    yield say("Run {run} of {crawl}, its pages judged by the other settings", run=asked.run.id, crawl=crawl)
    for way, word in _words(say).items():
        if sums[way] or way != "not_known":
            yield f"  {padded(word, 10)}{padded(f'{sums[way]:,}', 12, right=True)}"
    for way, title in titles.items():
        ranked = [(names, count) for names, count in _ranked(by_rule) if names[0] == way]
        if ranked:
            yield from ("", title)
        yield from table(
            (f"{safe(was)} -> {safe(rule)}", f"{count:,}", "") for (_, was, rule), count in ranked[:_RULES]
        )
        if len(ranked) > _RULES:
            yield "  " + say("... and {count} more; --json has all", count=f"{len(ranked) - _RULES:,}")
    if unlisted:
        count = f"{sum(one.count for one in unlisted):,}"
        yield from ("", say("Not listed, so it is not known whether they would enter: {count} finds", count=count))
        largest = sorted(unlisted, key=lambda one: (-one.count, one.host))[:_RULES]
        yield from table((safe(one.host), f"{one.count:,}", f"excluded.{one.reason}") for one in largest)
    yield ""
    for note in asked.notes():
        text = said(note, say)
        stop = "" if text.endswith("。") else "." if text[-1].isascii() else "。"
        yield f"{text[0].upper()}{text[1:]}{stop}"


def _lines(told: list[Judgement], say: Say) -> Iterator[str]:
    """Yield a line for each URL, in columns, and the sum."""
    shown = [safe(one.url) for one in told]
    first = min(max(map(width, shown)), _LONGEST)
    second = min(max(width(one.rule) for one in told), _LONGEST // 2)
    verdicts = {True: say("accepted"), False: say("refused")}
    for one, url in zip(told, shown, strict=True):
        reason = safe(said(one.reason, say))
        yield f"{padded(verdicts[one.accepted], 8)}  {padded(url, first)}  {padded(safe(one.rule), second)}  {reason}"
    refused = sum(not one.accepted for one in told)
    counts = {"accepted": f"{len(told) - refused:,}", "refused": f"{refused:,}", "assumed": said(ASSUMED, say)}
    yield say("{accepted} accepted, {refused} refused, {assumed}.", **counts)


def _urls(words: list[str], stdin: TextIO) -> Iterator[str]:
    """Yield the URLs of what was typed: a word with :// is one, any other is a file with one a line, - is stdin."""
    for word in words:
        if "://" in word:
            yield word
            continue
        remedy = "write a URL with http:// or https://, the path of a file with one URL a line, or -"
        text = config.text_of(word, "URL", remedy, stdin if word == "-" else None)
        lines = (line.strip() for line in text.removeprefix("\ufeff").splitlines())
        yield from (line for line in lines if line and not line.startswith("#"))
