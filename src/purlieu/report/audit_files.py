"""An audit as files: JSON, SARIF 2.1.0 and JUnit XML for an owner's CI, and one HTML page for people.

Lays out what ``audit.py`` counted; decides nothing. The page stands alone: style and picture lie in it, and nothing is
fetched or run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final
from xml.etree import ElementTree as ET

from purlieu.audit import RULES
from purlieu.finding import Severity
from purlieu.report.audit import Tally, facts
from purlieu.sentence import speaker
from purlieu.store.reader import RunRow

_LEVELS: Final = {Severity.NOTE: "note", Severity.WARNING: "warning", Severity.PROBLEM: "error"}
_COLOURS: Final = {Severity.PROBLEM: "#c43d2f", Severity.WARNING: "#b7791f", Severity.NOTE: "#4a6fa5"}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_NO_XML: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(55296, 57344), 65534, 65535), "�")


def as_json(run: RunRow, tally: Tally, over: list[str], language: str) -> str:
    """Return one JSON object: run, crawl, counts by rule, what is over its threshold, and the faults that are told."""
    told = {
        "run": run.id,
        "crawl": run.crawl,
        "counts": {code: tally.counts[code] for code in RULES},
        "over": over,
        "rules": {
            code: {
                "severity": str(RULES[code].severity),
                "name": RULES[code].name(language),
                "remedy": RULES[code].remedy(language),
            }
            for code in tally.rules()
        },
        "faults": [facts(fault) for code in tally.rules() for fault in tally.first[code]],
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def as_sarif(run: RunRow, tally: Tally, over: list[str], language: str) -> str:  # noqa: ARG001 - one form for all
    """Return a SARIF 2.1.0 log: a result for each fault that is told, at the address it is about."""
    codes = tally.rules()
    driver = {
        "name": "Purlieu",
        "version": run.version,
        "rules": [
            {
                "id": code,
                "shortDescription": {"text": RULES[code].name(language)},
                "help": {"text": RULES[code].remedy(language)},
                "defaultConfiguration": {"level": _LEVELS[RULES[code].severity]},
            }
            for code in codes
        ],
    }
    results: list[dict[str, Any]] = [
        {
            "ruleId": code,
            "ruleIndex": number,
            "level": _LEVELS[RULES[code].severity],
            "message": {"text": f"{RULES[code].name(language)}: {fault.url} {fault.detail}".rstrip()},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": fault.url}}}],
            "relatedLocations": [
                {"id": place, "physicalLocation": {"artifactLocation": {"uri": href}}}
                for place, href in enumerate(fault.examples)
            ],
            "occurrenceCount": max(fault.pages, 1),
        }
        for number, code in enumerate(codes)
        for fault in tally.first[code]
    ]
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def as_junit(run: RunRow, tally: Tally, over: list[str], language: str) -> str:
    """Return JUnit XML: each rule is a test case, which fails where more was found than is allowed."""
    suite = ET.Element(
        "testsuite",
        name=f"purlieu audit: {run.crawl}".translate(_NO_XML),
        tests=str(len(RULES)),
        failures=str(len(over)),
    )
    for code, rule in RULES.items():
        case = ET.SubElement(suite, "testcase", classname="purlieu.audit", name=code)
        lines = [" ".join((fault.url, fault.detail, *fault.examples)).strip() for fault in tally.first.get(code, ())]
        text = "\n".join((rule.remedy(language), *lines)).translate(_NO_XML)
        if code in over:
            message = f"{rule.name(language)}: {tally.counts[code]}"
            ET.SubElement(case, "failure", message=message, type=str(rule.severity)).text = text
        elif lines:
            ET.SubElement(case, "system-out").text = text
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def as_html(run: RunRow, tally: Tally, over: list[str], language: str) -> str:
    """Return one HTML page with a bar for each rule and the faults that are told; what was fetched is text in it."""
    from jinja2 import Environment, PackageLoader

    kept = Environment(loader=PackageLoader("purlieu.report", "pages"), autoescape=True, trim_blocks=True)
    kept.filters["number"] = lambda count: f"{count:,}"
    most = max(tally.counts.values(), default=1) or 1
    rules = [
        {
            "code": code,
            "severity": str(RULES[code].severity),
            "colour": _COLOURS[RULES[code].severity],
            "name": RULES[code].name(language),
            "remedy": RULES[code].remedy(language),
            "count": tally.counts[code],
            "width": max(2, round(360 * tally.counts[code] / most)),
            "faults": tally.first[code],
            "is_over": code in over,
        }
        for code in tally.rules()
    ]
    say = speaker(language)
    page = kept.get_template("audit.html").render(run=run, rules=rules, most=tally.most, language=language, say=say)
    return page.translate(_NO_XML)


FORMS: Final[dict[str, Callable[[RunRow, Tally, list[str], str], str]]] = {
    "html": as_html,
    "json": as_json,
    "junit": as_junit,
    "sarif": as_sarif,
}
"""Every form of an audit by the name that ``--format`` takes."""
