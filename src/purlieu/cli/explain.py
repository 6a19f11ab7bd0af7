"""``purlieu explain``: why one URL is in or out, as lines for people or one JSON object.

Reads the settings file or the store; what is said is worked out by ``purlieu.report.explain``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from purlieu.candidate import Purpose
from purlieu.cli import config, report
from purlieu.cli.options import SETTINGS_FILE
from purlieu.cli.words import fitted, moment, padded, safe, speaker, tongue
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.judgement import told_suffix
from purlieu.report import explain
from purlieu.report.explain import Explanation, InRun
from purlieu.sentence import Say, said
from purlieu.store.reader import PastRow

_SHOWN_SITES = 10
_LABEL = 12


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu explain`` and return 0, whatever the verdict; raises SettingsError."""
    if arguments.run and arguments.config:
        remedy = "leave -c or --run out: a run is explained by the settings it was made with"
        raise SettingsError((Mistake("--run", arguments.run, remedy),))
    kept = "en"
    # Who has crawled without a settings file means that run.
    asks_a_run = not arguments.config and not Path(SETTINGS_FILE).is_file() and Path(arguments.store).is_file()
    if named := arguments.run or ("latest" if asks_a_run else ""):
        with report.opened(arguments.store) as reader:
            row = report.run_named(reader, named, arguments.store)
            kept = explain.settings_of(reader, row).language
            told = explain.by_run(reader, row, arguments.url)
    else:
        if not arguments.config and not Path(SETTINGS_FILE).is_file():
            remedy = f"there is neither such a file nor a store {arguments.store}; give -c FILE, or --store FILE"
            raise SettingsError((Mistake("-c", SETTINGS_FILE, remedy),))
        made = config.of_file(arguments.config or SETTINGS_FILE)
        kept = made.language
        told = explain.by_settings(made, arguments.url, RealClock().now())
    if arguments.json:
        sys.stdout.write(json.dumps(explain.facts(told), ensure_ascii=False) + "\n")
        return 0
    for line in fitted((safe(line).rstrip() for line in lines(told, tongue(arguments.lang, kept))), sys.stdout):
        sys.stdout.write(f"{line}\n")
    return 0


def lines(told: Explanation, language: str) -> Iterator[str]:
    """Yield an explanation, one fact a line, in a language."""
    say, judgement = speaker(language), told.judgement
    yield judgement.href
    yield _fact(say("verdict"), say("accepted") if told.accepted else say("refused"))
    yield _fact(say("rule"), told.rule)
    yield _fact(say("reason"), said(told.reason_in(language), say))
    if told.row and told.accepted:  # of what is refused, the reason says how it ended
        yield _fact(say("ending"), f"{told.row.outcome}: {said(told.row.sentence(language), say)}")
    if judgement.href != judgement.url:
        yield _fact(say("given as"), judgement.url)
    yield from (_fact(say("note"), said(note, say)) for note in told.notes)
    if judgement.checks:
        yield from ("", say("Tests, in their order"))
    for check in judgement.checks:
        mark = "-" if check.passed is None else say("passes") if check.passed else say("REFUSES")
        yield f"  {padded(check.name, _LABEL)}{padded(mark, 9)}{said(check.told, say)}"
    yield from _sites(told, say)
    if told.in_run:
        yield from _in_run(told.in_run, language, say)


def _past(past: PastRow, say: Say) -> Iterator[str]:
    seen = {"seen": moment(past.first_seen), "asked": moment(past.asked_at)}
    yield _fact(say("history"), say("first seen {seen}, last asked for {asked}", **seen))
    visits = say("{visits} visits, {changes} changes", visits=f"{past.visits:,}", changes=f"{past.changes:,}")
    changed = say("last changed {at}", at=moment(past.last_changed)) if past.changes else say("never seen to change")
    yield _fact("", f"{visits}, {changed}")
    if past.interval_seconds and not past.retired:
        days = f"{past.interval_seconds / 86_400:.1f}"
        yield _fact("", say("asked for again after {days} days, unless a sitemap says otherwise", days=days))
    if past.missed_runs:
        yield _fact("", say("no link and no sitemap names it any more; it is asked for ever more rarely"))
    if past.gone_runs:
        count = f"{past.gone_runs:,}"
        if past.retired:
            yield _fact("", say("missing {count} times in a row: not asked for any more", count=count))
        else:
            yield _fact("", say("missing {count} times in a row: asked for ever more rarely", count=count))


def _fact(label: str, text: str) -> str:
    return f"  {padded(f'{label} ', _LABEL)}{text}"  # a wide label still has a space behind it


def _sites(told: Explanation, say: Say) -> Iterator[str]:
    tests = told.judgement.tests
    if tests:
        yield from ("", say("Sites"))
    taken, every = {True: say("takes it"), False: say("does not take it")}, say("all")
    labels = [padded(label, _LABEL) for label in (say("wanted"), say("measured"), say("told by"))]
    for test in tests[:_SHOWN_SITES]:
        yield f"  {test.seed} ({test.mode}): {taken[test.accepted]}"
        yield f"    {padded(said(test.compares, say), _LABEL)}{test.value or every}"
        yield f"    {labels[0]}{', '.join(test.wanted[:5]) or every}"
        if test.measured_from != test.seed:
            landed = say("from {url}, where the seed landed", url=test.measured_from)
            yield f"    {labels[1]}{landed}"
        if suffix := told_suffix(test):
            yield f"    {labels[2]}{said(suffix, say)}"
    if len(tests) > _SHOWN_SITES:
        yield "  " + say("... and {count} more; --json has all", count=f"{len(tests) - _SHOWN_SITES:,}")


def _in_run(told: InRun, language: str, say: Say) -> Iterator[str]:
    yield from ("", say("Run {run} of {crawl}", run=told.run.id, crawl=told.run.crawl))
    for one in told.rows:
        facts = one.row.facts
        yield _fact(one.purpose.value, f"{one.outcome}: {said(one.sentence(language), say)}")
        asked = say("1 request") if one.row.attempts == 1 else say("{count} requests", count=f"{one.row.attempts:,}")
        way = say("depth {depth}, {hops} redirects before it", depth=facts.depth, hops=facts.hops)
        status = [say("status {status}", status=one.row.status)] if one.row.status else []
        yield _fact("", ", ".join([way, asked, *status]))
        if one.purpose is Purpose.CHECK:
            yield _fact("", f"{one.row.rule}: {said(one.reason_in(language), say)}")
        if one.row.detail:
            yield _fact(say("detail"), one.row.detail.splitlines()[-1])
    if told.asks_robots:
        yield _fact("robots.txt", said(told.robots.told, say))
    for step, row in enumerate(told.found):
        how = row.facts.found_by.value
        way = say("by {how} on {url}", how=how, url=row.facts.via) if row.facts.via else say("by {how}", how=how)
        yield _fact("" if step else say("found"), way)
    yield from _beyond(told, say)


def _beyond(told: InRun, say: Say) -> Iterator[str]:
    """Yield where a URL leads to, and what names it."""
    if told.landing:
        never = say("not asked")
        for step, hop in enumerate(told.chain):
            yield _fact("" if step else say("redirects"), f"{hop.href} ({hop.status or never})")
        yield _fact(say("landing"), f"{told.landing.kind.value}: {told.landing.href}")
    for step, (file, lastmod) in enumerate(told.sitemaps):
        yield _fact("" if step else say("sitemaps"), f"{file}{f', lastmod {lastmod}' if lastmod else ''}")
    if not told.sitemaps:
        yield _fact(say("sitemaps"), say("none that was read names it"))
    if told.past:
        yield from _past(told.past, say)
    for step, (page, kind, nofollow) in enumerate(told.linking.found):
        yield _fact("" if step else say("linked from"), f"{page} ({kind}{', nofollow' if nofollow else ''})")
    if not told.linking.found:
        count = f"{told.linking.scanned:,}"
        yield _fact(say("linked from"), say("none of the {count} pages whose links this run keeps", count=count))
