"""The verdict in the ledger, in the log and from ``explain`` is the same for every URL of a run (issue of scope)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.test_explain import CASES, SEEDS, WEB, run_length
from tests.crawling import HOME, crawl, html, ledger, made_settings

from purlieu.admission import Admission
from purlieu.candidate import Purpose
from purlieu.crawl.local import Crawl
from purlieu.crawl.verdicts import VerdictLog
from purlieu.report import explain
from purlieu.response import Request
from purlieu.settings import Settings
from purlieu.store.counters import Counters, IntakeLimits, Run
from purlieu.store.intake import Intake
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

Lines = list[dict[str, Any]]


@contextmanager
def listening() -> Iterator[Lines]:
    """Give the verdicts that are logged meanwhile."""
    lines: Lines = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(vars(record)["verdict"])
            assert record.getMessage().startswith(("accepted ", "refused "))

    logger, handler = logging.getLogger("purlieu.verdict"), Kept()
    before = (logger.level, logger.propagate)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield lines
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before
        logger.setLevel(before[0])


def last(lines: Lines) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the last line of each URL and purpose."""
    return {(line["purpose"], line["url"]): line for line in lines}


def same_as_explained(store: Path, lines: Lines, run_of: int = 1, longest: int = 8192) -> None:
    """Compare ledger, log and ``explain`` for every row of a run."""
    told, rows = last(lines), ledger(store, run_of)
    assert rows.keys() <= told.keys()
    unlisted = {key for key in told.keys() - rows.keys() if told[key]["accepted"]}
    assert not unlisted, "what is counted only has been refused"
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(run_of)
    assert run is not None
    for (purpose, url), row in rows.items():
        line = told[purpose, url]
        accepted = row["kind"] != "excluded"
        assert (line["accepted"], line["rule"]) == (accepted, row["rule"]), (row, line)
        assert line["outcome"] == (None if accepted else f"excluded.{row['reason']}")
        explained = explain.by_run(reader, run, url).in_run
        assert explained is not None
        (found,) = [one for one in explained.rows if one.purpose is Purpose(purpose)]
        assert (found.accepted, found.row.rule) == (line["accepted"], line["rule"])
        if len(url) < longest:  # a longer one is stored cut and cannot be judged anew
            assert found.reason == line["reason"], (url, purpose)
    database.close()


@pytest.mark.parametrize("case", CASES)
def test_ledger_log_and_explain_say_the_same(case: str, tmp_path: Path) -> None:
    """Each row of a whole crawl has the verdict, rule and reason that its last line in the log has (R-2.1, R-3.1 to R-3.3)."""
    store = tmp_path / "s.db"
    with listening() as lines:
        result = crawl(FakeWeb(WEB), made_settings(store, {"seeds": SEEDS, **CASES[case]}), FakeClock())
    assert result.books_balanced
    same_as_explained(store, lines, longest=run_length(case))


NUMBERS = "".join(f'<a href="/n/{number}">n</a>' for number in range(40))
FURTHER: Mapping[str, Mapping[str, Any]] = {
    "sitemaps alone": {"sitemap": {"mode": "sitemaps-only"}},
    "a sitemap may speak for its folder alone": {"sitemap": {"location": "enforce"}},
    "traps": {"traps": {"same_text": 20, "max_segments": 2, "max_parameters": 2, "first_year": 1990}},
    "no traps": {"traps": {"detect": False}},
    "session ids": {"normalise": {"session_ids": True}},
    "guessed sitemaps": {"sitemap": {"guess": True}},
    "revisit": {"revisit": True},
    "revisit by own seed": {"revisit": True, "scope": {"judge_against": "own-seed"}},
}


BAIT = (
    '<a href="/a">a</a><a href="http://other.test/a">a</a><iframe src="http://other.test/f"></iframe>'
    '<frame src="//notsite.test/f"><link rel="next" href="http://site.test.evil.test/n"><area href="ftp://site.test/x">'
    '<a href="http://user@site.test/u">u</a><a href="http://site.test@evil.test/">x</a><a href="/off/r">r</a>'
    '<link rel="alternate" hreflang="de" href="http://de.test/">'
)
BAITED: Mapping[str, Made] = {
    HOME: html(
        "/a",
        body=BAIT,
        head='<link rel="canonical" href="http://canon.test/"><meta http-equiv="refresh" content="0;url=http://ref.test/">',
    ),
    f"{HOME}robots.txt": redirect("http://robots.test/r.txt"),
    "http://robots.test/r.txt": answer("Sitemap: http://maps.test/s.xml\nUser-agent: *\nDisallow: /no\n", url="/r.txt"),
    "http://maps.test/s.xml": answer(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://site.test/in</loc></url>'
        "<url><loc>http://maps.test/out</loc></url></urlset>",
        url="/s.xml",
    ),
    f"{HOME}off/r": redirect("http://other.test/r"),
}


@pytest.mark.parametrize("case", [*CASES, *FURTHER])
def test_nothing_is_fetched_without_a_verdict_that_lets_it_in(case: str, tmp_path: Path) -> None:
    """Every request, of whatever purpose and found in whatever way, has been let in by the one judgement before (R-3.3)."""
    asked: list[str] = []
    with listening() as lines:

        def answering(request: Request) -> Made:
            asked.append(request.url)
            told = [line["accepted"] for (_, url), line in last(lines).items() if url == request.url]
            assert any(told), f"{request.url} was fetched, and no verdict lets it in"
            return {**WEB, **BAITED}.get(request.url, 404)

        for number in (1, 2):  # a revisit asks for what it knows, too
            lines.clear()
            clock = FakeClock(1_780_000_000.0 + number * 2_000_000)
            tree = {"seeds": SEEDS, **{**CASES, **FURTHER}[case]}
            crawl(FakeWeb(answering), made_settings(tmp_path / "s.db", tree), clock)
    assert len(asked) > 1


def test_what_is_counted_only_is_logged_too(tmp_path: Path) -> None:
    """A refusal that the ledger counts without a row has its line in the log (R-1.4)."""
    store = tmp_path / "s.db"
    web = FakeWeb({HOME: html("mailto:me@site.test", *(f"http://o.test/{n}" for n in range(5)))})
    with listening() as lines:
        crawl(web, made_settings(store, {"ledger": {"refusals_per_host": 2}}))
    told = last(lines)
    assert told["page", "mailto:me@site.test"]["rule"] == "mailto"
    refused = [key for key, line in told.items() if line["rule"] == "out-of-scope:o.test"]
    assert len(refused) == 5
    assert len([row for row in ledger(store).values() if row["rule"] == "out-of-scope:o.test"]) == 2


def test_a_domain_on_no_list_is_noted(tmp_path: Path) -> None:
    """The line of a URL whose domain neither list told carries the message of EN-29, word for word."""
    with listening() as lines:
        crawl(
            FakeWeb({HOME: html()}),
            made_settings(tmp_path / "s.db", {"scope": {"mode": "same-domain", "domains": "lists"}}),
        )
    assert last(lines)["page", HOME]["notes"] == [
        f"Failed to get the domain name for url: {HOME}\nusing site.test as the default domain name"
    ]


def test_a_failing_callable_is_told(tmp_path: Path) -> None:
    """What an owner's callable raises refuses the page; its text stands in the log and in a finding (R-3.4)."""
    store = tmp_path / "s.db"

    def fails(url: str) -> bool:
        if url.endswith("/bad"):
            message = "no such\nkey"
            raise KeyError(message)
        return True

    async def main() -> None:
        web = FakeWeb({HOME: html("/good", "/bad")})
        async with Crawl(made_settings(store), accept=fails, fetcher=web, clock=FakeClock()) as run:
            await run.run()

    with listening() as lines:
        asyncio.run(main())
    line = last(lines)["page", f"{HOME}bad"]
    assert (line["accepted"], line["rule"]) == (False, "accept:KeyError")
    assert line["reason"] == "the owner's callable raised KeyError"
    assert line["notes"] == ["'no such\\nkey'"]
    same_as_explained(store, lines)
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None
    (finding,) = [one for one in reader.findings(run) if one.code == "accept_failed"]
    database.close()
    assert (finding.subject, finding.arguments["url"]) == ("KeyError", f"{HOME}bad")
    assert "no such" in finding.sentence()


def noted(store: Path) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the findings of the first run by code and subject."""
    database = SqliteDatabase.reader(str(store))
    found = {(one.code, one.subject): one.arguments for one in Reader(database).findings(_run(database))}
    database.close()
    return found


@pytest.mark.parametrize(("additional", "told"), [([], True), (["co.uk"], False)])
def test_a_landing_on_no_list_is_a_finding(additional: list[str], told: bool, tmp_path: Path) -> None:
    """A seed that lands where neither list tells the domain is told with the terms to add, like a seed there (EN-80)."""
    store, landed = tmp_path / "s.db", "http://www.xyz.co.uk/"
    web = FakeWeb({"http://xyz.com/": redirect(landed), landed: html("http://any.co.uk/")})
    how = {"seeds": ["http://xyz.com/"], "scope": {"mode": "same-domain", "domains": "lists"}}
    crawl(web, made_settings(store, {**how, "domains": {"additional": additional}}))
    expected = {("domain_not_listed", landed): {"domain": "co.uk", "terms": "co.uk"}}
    assert {key: value for key, value in noted(store).items() if key[0] == "domain_not_listed"} == (
        expected if told else {}
    )


@pytest.mark.parametrize(("tree", "ending"), [({}, "fetched.ok"), ({"robots": {"allow_403": False}}, "")])
def test_a_robots_txt_that_is_forbidden(tree: Mapping[str, Any], ending: str, tmp_path: Path) -> None:
    """EN-41: an answer of 403 forbids nothing, or the whole host where ``robots.allow_403`` is false; explain says so."""
    store = tmp_path / "s.db"
    web = FakeWeb({HOME: html("/a"), f"{HOME}robots.txt": answer(status=403), f"{HOME}a": html()})
    with listening() as lines:
        crawl(web, made_settings(store, tree))
    row = ledger(store)["page", HOME]
    assert f"{row['kind']}.{row['reason']}" == (ending or "unreachable.robots_unreachable")
    same_as_explained(store, lines)


def stopped_and_resumed(store: Path, first: Mapping[str, Any], second: Mapping[str, Any]) -> Lines:
    """Stop a crawl after its first pages, go on with other settings, and return all that was logged."""
    with listening() as lines:
        crawl(FakeWeb(WEB), made_settings(store, {"seeds": SEEDS, "limits": {"max_pages": 2}, **first}))
        store_run(store)
        crawl(FakeWeb(WEB), made_settings(store, {"seeds": SEEDS, **second}), resume=True)
    return lines


def store_run(store: Path) -> None:
    """Mark the run as unfinished, as a killed process leaves it."""
    import apsw

    connection = apsw.Connection(str(store))
    connection.execute("UPDATE run SET state = 'running', ended_at = NULL")
    connection.close()


@pytest.mark.parametrize("wider", [True, False])
def test_a_resume_with_other_settings_logs_what_it_changes(wider: bool, tmp_path: Path) -> None:
    """What a resume judges otherwise gets a new line: ledger and log agree afterwards (R-3.1)."""
    narrow: dict[str, Any] = {"filter": {"exclude": ["/a*", "/r*"]}}
    first, second = (narrow, {}) if wider else ({}, narrow)
    lines = stopped_and_resumed(tmp_path / "s.db", first, second)
    told = last(lines)
    for key, row in ledger(tmp_path / "s.db").items():
        accepted = row["kind"] != "excluded"
        assert (told[key]["accepted"], told[key]["rule"]) == (accepted, row["rule"]), row


def test_a_resume_that_obeys_no_robots_txt_takes_what_it_forbade(tmp_path: Path) -> None:
    """What robots.txt forbade is judged again by a resume with other settings, and asked for if it is not obeyed (R-3.1)."""
    store = tmp_path / "s.db"
    web = FakeWeb(
        {HOME: html("/no", "/yes"), f"{HOME}robots.txt": "User-agent: *\nDisallow: /no\n", f"{HOME}no": html()}
    )
    crawl(web, made_settings(store))
    for obey, rule, kind in ((True, "robots:2", "excluded"), (False, "same-host", "fetched")):
        store_run(store)
        with listening() as lines:
            limits = {"max_depth": 5 + obey}
            result = crawl(web, made_settings(store, {"robots": {"obey": obey}, "limits": limits}), resume=True)
        assert result.books_balanced, result.faults
        row = ledger(store)["page", f"{HOME}no"]
        assert (row["rule"], row["kind"]) == (rule, kind)
        assert last(lines)["page", f"{HOME}no"]["rule"] == rule


def test_nobody_listening_costs_nothing_and_keeps_nothing(tmp_path: Path) -> None:
    """Without a listener no ruling is kept and no line is made: the log is silent as it comes."""
    assert not logging.getLogger("purlieu.verdict").isEnabledFor(logging.DEBUG)
    kept: list[int] = []

    async def main() -> None:
        settings = made_settings(tmp_path / "s.db")
        async with Crawl(settings, fetcher=FakeWeb({HOME: html("/a")}), clock=FakeClock()) as run:
            await run.run()
            kept.append(run._verdicts is None)

    asyncio.run(main())
    assert kept == [True]


def test_many_early_lines_are_told_again_from_the_ledger(tmp_path: Path) -> None:
    """Where more was judged before the seeds landed than is remembered, the end tells every page once more (R-3.2)."""
    store = tmp_path / "s.db"
    settings = made_settings(store, {"seeds": SEEDS})
    crawl(FakeWeb(WEB), settings)
    made: Callable[[Settings], Admission] = Admission.of
    database = SqliteDatabase.writer(str(store))
    intake = Intake(database, Run(1, 1), made(settings), IntakeLimits(), Counters())
    with listening() as lines:
        log = VerdictLog(database, 1, intake, "purlieu", most_early=0)
        facts = next(Reader(database).found_pages(_run(database))).facts
        intake.rulings.add(HOME, Purpose.PAGE, facts, intake.admission.judge(HOME, "site.test", facts, Purpose.PAGE))
        log.settle()
    database.close()
    assert {key for key in last(lines) if key[0] == "page"} == {key for key in ledger(store) if key[0] == "page"}


def _run(database: SqliteDatabase) -> Any:
    run = Reader(database).run(1)
    assert run is not None
    return run


@pytest.mark.parametrize("case", FURTHER)
def test_ledger_log_and_explain_say_the_same_in_later_runs(case: str, tmp_path: Path) -> None:
    """What sitemaps, traps and earlier runs decide is told alike by ledger, log and explain, in two runs (R-2.1, R-2.4)."""
    store = tmp_path / "s.db"
    deep = html(
        "/1/2/3/4",
        "/q?a=1&b=2&c=3",
        "/cal/1970/01",
        "/cal/1999/01",
        "/s?PHPSESSID=0123456789abcdef0123456789abcdef",
        body=NUMBERS,
    )
    pages = {**WEB, f"{HOME}c": deep, **{f"{HOME}n/{number}": html(body="the same") for number in range(40)}}
    for number in (1, 2):
        with listening() as lines:
            clock = FakeClock(1_780_000_000.0 + number * 200_000)
            result = crawl(FakeWeb(pages), made_settings(store, {"seeds": SEEDS, **FURTHER[case]}), clock)
        assert result.books_balanced
        same_as_explained(store, lines, number)
