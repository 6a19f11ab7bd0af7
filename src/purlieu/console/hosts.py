"""The hosts of a run: how politely each was asked, what it cost, and what its robots.txt says of a typed URL."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from purlieu.console.parts import reading, run_of
from purlieu.console.show import page
from purlieu.errors import SettingsError, UrlError
from purlieu.judgement import Check, of_robots
from purlieu.report import politeness
from purlieu.report.explain import settings_of
from purlieu.sentence import Sentence
from purlieu.store.reader import ConductRow, Reader, RobotsRow, RunRow
from purlieu.url import parse

MOST: Final = 500
_SHOWN_ROBOTS = 64_000


def show(request: Request) -> Response:
    """Show how the hosts of a run were treated, and the robots.txt of a typed URL with the rule that decides it."""
    with reading(request) as reader:
        run = run_of(reader, request)
        rows: list[tuple[ConductRow, bool]] = []
        more = 0
        for row in reader.conduct(run):
            if len(rows) < MOST:
                rows.append((row, politeness.is_kept(row)))
            else:
                more += 1
        url = request.query_params.get("u", "").strip()[:2_000]
        robots, check = _robots(reader, run, url) if url else (None, None)
        body = robots.body[:_SHOWN_ROBOTS].decode(errors="replace") if robots and robots.body else ""
        return page(
            request, "hosts.html", run=run, rows=rows, more=more, url=url, robots=robots, check=check, body=body
        )


def _robots(reader: Reader, run: RunRow, url: str) -> tuple[RobotsRow | None, Check]:
    try:
        parsed = parse(url)
    except UrlError:
        return None, Check(
            "robots", None, Sentence("This is no URL; write it whole, such as https://www.example.com/a")
        )
    row = reader.robots(run, parsed.origin) if parsed.host else None
    if row is None or row.body is None:
        return row, Check("robots", None, Sentence("The run has not read the robots.txt of this origin."))
    try:
        agent = settings_of(reader, run).robots.agent
    except SettingsError:  # of another version
        agent = "purlieu"
    return row, of_robots(row.body, row.source, agent, parsed.href)
