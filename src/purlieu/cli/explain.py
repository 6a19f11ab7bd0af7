"""``purlieu explain``: why one URL is in or out, as lines for people or one JSON object.

Reads the settings file or the store; what is said is worked out by ``purlieu.report.explain``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from purlieu.cli import config, report
from purlieu.cli.options import SETTINGS_FILE
from purlieu.cli.words import moment, padded, safe
from purlieu.errors import Mistake, SettingsError
from purlieu.judgement import told_suffix
from purlieu.report import explain
from purlieu.report.explain import Explanation, InRun
from purlieu.store.reader import PastRow

_SHOWN_SITES = 10
_LABEL = 12


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu explain`` and return 0, whatever the verdict; raises SettingsError."""
    if arguments.run and arguments.config:
        remedy = "leave -c or --run out: a run is explained by the settings it was made with"
        raise SettingsError((Mistake("--run", arguments.run, remedy),))
    language = arguments.lang
    if arguments.run:
        with report.opened(arguments.store) as reader:
            row = report.run_named(reader, arguments.run, arguments.store)
            language = language or explain.settings_of(reader, row).language
            told = explain.by_run(reader, row, arguments.url)
    else:
        told = explain.by_settings(config.of_file(arguments.config or SETTINGS_FILE), arguments.url)
    if arguments.json:
        sys.stdout.write(json.dumps(explain.facts(told), ensure_ascii=False) + "\n")
        return 0
    for line in lines(told, language or "en"):
        sys.stdout.write(f"{safe(line).rstrip()}\n")
    return 0


def lines(told: Explanation, language: str) -> Iterator[str]:
    """Yield an explanation, one fact a line."""
    judgement = told.judgement
    yield judgement.href
    yield _fact("verdict", "accepted" if told.accepted else "refused")
    yield _fact("rule", told.rule)
    yield _fact("reason", told.reason)
    if judgement.href != judgement.url:
        yield _fact("given as", judgement.url)
    yield from (_fact("note", note) for note in told.notes)
    if judgement.checks:
        yield from ("", "Tests, in their order")
    for check in judgement.checks:
        mark = {True: "passes", False: "REFUSES", None: "-"}[check.passed]
        yield f"  {padded(check.name, _LABEL)}{padded(mark, 9)}{check.told}"
    yield from _sites(told)
    if told.in_run:
        yield from _in_run(told.in_run, language)


def _past(past: PastRow) -> Iterator[str]:
    yield _fact("history", f"first seen {moment(past.first_seen)}, last asked for {moment(past.asked_at)}")
    changed = f"last changed {moment(past.last_changed)}" if past.changes else "never seen to change"
    yield _fact("", f"{past.visits:,} visits, {past.changes:,} changes, {changed}")
    if past.interval_seconds and not past.retired:
        days = f"{past.interval_seconds / 86_400:.1f} days"
        yield _fact("", f"asked for again after {days}, unless a sitemap says otherwise")
    if past.missed_runs:
        yield _fact("", "no link and no sitemap names it any more; it is asked for ever more rarely")
    if past.gone_runs:
        end = "not asked for any more" if past.retired else "asked for ever more rarely"
        yield _fact("", f"missing {past.gone_runs:,} times in a row: {end}")


def _fact(label: str, text: str) -> str:
    return f"  {padded(label, _LABEL)}{text}"


def _sites(told: Explanation) -> Iterator[str]:
    tests = told.judgement.tests
    if tests:
        yield from ("", "Sites")
    for test in tests[:_SHOWN_SITES]:
        yield f"  {test.seed} ({test.mode}): {'takes it' if test.accepted else 'does not take it'}"
        yield f"    {padded(test.compares, _LABEL)}{test.value or 'all'}"
        yield f"    {padded('wanted', _LABEL)}{', '.join(test.wanted[:5]) or 'all'}"
        if test.measured_from != test.seed:
            yield f"    {padded('measured', _LABEL)}from {test.measured_from}, where the seed landed"
        if suffix := told_suffix(test):
            yield f"    {padded('told by', _LABEL)}{suffix}"
    if len(tests) > _SHOWN_SITES:
        yield f"  ... and {len(tests) - _SHOWN_SITES:,} more; --json has all"


def _in_run(told: InRun, language: str) -> Iterator[str]:
    yield from ("", f"Run {told.run.id} of {told.run.crawl}")
    for one in told.rows:
        facts = one.row.facts
        yield _fact(one.purpose.value, f"{one.outcome}: {one.sentence(language)}")
        asked = f"{one.row.attempts:,} requests" if one.row.attempts != 1 else "1 request"
        status = f", status {one.row.status}" if one.row.status else ""
        yield _fact("", f"depth {facts.depth}, {facts.hops} redirects before it, {asked}{status}")
        if one.row.detail:
            yield _fact("detail", one.row.detail.splitlines()[-1])
    if told.asks_robots:
        yield _fact("robots.txt", told.robots.told)
    for step, row in enumerate(told.found):
        way = f"by {row.facts.found_by.value}{f' on {row.facts.via}' if row.facts.via else ''}"
        yield _fact("found" if not step else "", way)
    if told.landing:
        for step, hop in enumerate(told.chain):
            yield _fact("redirects" if not step else "", f"{hop.href} ({hop.status or 'not asked'})")
        yield _fact("landing", f"{told.landing.kind.value}: {told.landing.href}")
    for step, (file, lastmod) in enumerate(told.sitemaps):
        yield _fact("sitemaps" if not step else "", f"{file}{f', lastmod {lastmod}' if lastmod else ''}")
    if not told.sitemaps:
        yield _fact("sitemaps", "none that was read names it")
    if told.past:
        yield from _past(told.past)
    for step, (page, kind, nofollow) in enumerate(told.linking.found):
        yield _fact("linked from" if not step else "", f"{page} ({kind}{', nofollow' if nofollow else ''})")
    if not told.linking.found:
        yield _fact("linked from", f"none of the {told.linking.scanned:,} pages whose links this run keeps")
