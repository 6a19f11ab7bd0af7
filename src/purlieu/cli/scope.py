"""``purlieu scope``: a scope tried out on URLs, without a crawl.

Reads settings files and lists of URLs; the verdicts are those of ``purlieu.report.judgement``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TextIO

from purlieu.cli import config
from purlieu.cli.words import padded, safe, width
from purlieu.errors import Mistake, SettingsError
from purlieu.report.judgement import ASSUMED, Judgement, Rules

_LONGEST = 80


def run(arguments: argparse.Namespace, stdin: TextIO | None = None) -> int:
    """Do ``purlieu scope check`` and return 1 if any URL is refused (R-8.2); raises SettingsError.

    ``stdin`` stands in for the terminal's.
    """
    rules = Rules.of(config.of_file(arguments.config))
    urls = list(_urls(arguments.urls, stdin or sys.stdin))
    if not urls:
        raise SettingsError((Mistake("URL", "", "nothing to check; give a URL, a file with one a line, or -"),))
    told = [rules.judge(url) for url in urls]
    if arguments.json:
        for one in told:
            sys.stdout.write(json.dumps(one.facts(), ensure_ascii=False) + "\n")
    else:
        for line in _lines(told):
            sys.stdout.write(f"{line}\n")
    return 0 if all(one.accepted for one in told) else 1


def _lines(told: list[Judgement]) -> Iterator[str]:
    """Yield a line for each URL, in columns, and the sum."""
    shown = [safe(one.url) for one in told]
    first = min(max(map(width, shown)), _LONGEST)
    second = min(max(width(one.rule) for one in told), _LONGEST // 2)
    for one, url in zip(told, shown, strict=True):
        verdict = "accepted" if one.accepted else "refused"
        yield f"{padded(verdict, 8)}  {padded(url, first)}  {padded(safe(one.rule), second)}  {safe(one.reason)}"
    refused = sum(not one.accepted for one in told)
    yield f"{len(told) - refused:,} accepted, {refused:,} refused, {ASSUMED}."


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
