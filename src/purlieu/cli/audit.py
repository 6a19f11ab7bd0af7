"""``purlieu audit``: what is wrong with the site that a run has crawled.

Reads the store; what is wrong is worked out by ``purlieu.report.audit``. Here it is laid out, and held against what the
owner allows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from purlieu.audit import RULES, is_over
from purlieu.cli.report import opened, run_named
from purlieu.cli.words import safe, speaker, tongue
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.finding import Severity
from purlieu.report import audit, explain
from purlieu.report.audit_files import FORMS
from purlieu.report.whole_file import replacing
from purlieu.store.reader import RunRow

_MOST_IN_FILES = 1_000


def run(arguments: argparse.Namespace) -> int:
    """Print or write the audit of a run; return 1 when more is wrong than the owner allows, else 0."""
    allowed, most, days = _limits(arguments)
    with opened(arguments.store) as reader:
        row = run_named(reader, arguments.run, arguments.store)
        language = tongue(arguments.lang, explain.settings_of(reader, row).language)
        found = audit.faults(reader, row, explain.meant(reader, row), RealClock().now(), days)
        tally = audit.Tally(most).add(found)
    over = is_over(dict(tally.counts), allowed, Severity(arguments.fail_on) if arguments.fail_on else None)
    form = arguments.format or ("json" if arguments.json else "")
    if form:
        text = FORMS[form](row, tally, over, language)
    else:
        text = "".join(f"{line}\n" for line in lines(row, tally, over, language))
    if arguments.output:
        with replacing(Path(arguments.output)) as file:
            file.write(text.encode("utf-8", "replace"))
    else:
        sys.stdout.write(text)
    return 1 if over else 0


def _limits(arguments: argparse.Namespace) -> tuple[dict[str, int], int, int]:
    """Return what each rule may have, how many faults of each are told, and how many days are soon.

    Raises SettingsError.
    """
    mistakes, allowed = [], {}
    for given in arguments.allow or ():
        code, _, number = given.partition("=")
        if code not in RULES or not number.isdecimal():
            remedy = f"write RULE=NUMBER, such as title_duplicate=20; the rules: {', '.join(RULES)}"
            mistakes.append(Mistake("--allow", given, remedy))
        else:
            allowed[code] = int(number)
    most = arguments.most or str(_MOST_IN_FILES if arguments.format or arguments.json else 10)
    if not most.isdecimal() or len(most) > 9:
        mistakes.append(Mistake("--most", most, "write how many faults of each rule are told, such as 100"))
    days = arguments.certificate_days or str(audit.CERTIFICATE_DAYS)
    if not days.isdecimal() or len(days) > 5:
        remedy = "write how many days a certificate must still hold, such as 30"
        mistakes.append(Mistake("--certificate-days", days, remedy))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return allowed, int(most), int(days)


def lines(run: RunRow, tally: audit.Tally, over: list[str], language: str) -> Iterator[str]:
    """Yield an audit for people: each rule with its count, its remedy and the first of its faults."""
    say = speaker(language)
    total = sum(tally.counts.values())
    yield say("Audit of run {run} of {crawl}: {count} faults", run=run.id, crawl=safe(run.crawl), count=f"{total:,}")
    for code in tally.rules():
        rule = RULES[code]
        yield ""
        mark = f" ({say('more than is allowed')})" if code in over else ""
        yield f"{tally.counts[code]:,}  {rule.name(language)}  [{code}, {say(str(rule.severity))}]{mark}"
        yield f"    {rule.remedy(language)}"
        for fault in tally.first[code]:
            yield safe(f"  {fault.url}  {fault.detail}").rstrip()
            if fault.examples:
                shown = "  ".join(fault.examples[:3])
                yield safe(f"      {say('pages: {count}', count=f'{fault.pages:,}')}   {shown}")
        if tally.counts[code] > tally.most:
            yield "  " + say("... and {count} more", count=f"{tally.counts[code] - tally.most:,}")
