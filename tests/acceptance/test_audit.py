"""``purlieu audit``: what is wrong with a site, told from the ledger of a crawl of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.audit import RULES, is_language, is_over
from purlieu.cli.main import main
from purlieu.finding import Severity
from purlieu.testing.web import FakeWeb, answer, redirect

TITLE = "<script>alert(1)</script>]]>&\x0b"
OTHERS = '<link rel="alternate" hreflang="{code}" href="{href}">'
SITEMAP = f"""<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{"".join(f"<url><loc>{HOME}{name}</loc></url>" for name in ("alone", "gone", "hop", "hidden", "fine"))}</urlset>"""

PAGES: dict[str, Any] = {
    "": html("gone", "missing", "hop", "chain", "dead", "loop", "canon", "lang", "twin1", "untitled", "lies", "fine", "copy1",
             "hidden", title="Home", body="start"),
    "missing": html("gone", title="A page that links", body="one"),
    "gone": 404,
    "hop": redirect("/fine"),
    "chain": redirect("/chain2"),
    "chain2": redirect("/fine"),
    "dead": redirect("/gone"),
    "loop": redirect("/loop2"),
    "loop2": redirect("/loop"),
    "fine": html(title="Fine", body="two", head=OTHERS.format(code="en", href="/fine")),
    "canon": html("canon2", title="Canon", body="three", head='<link rel="canonical" href="/gone">'),
    "canon2": html(title="Canon 2", body="four", head='<link rel="canonical" href="/hop">'),
    "lang": html(title="Lang", body="five", head=OTHERS.format(code="english", href="/fine")
                 + OTHERS.format(code="ja", href="/fine") + OTHERS.format(code="zh", href="/gone")),
    "twin1": html("twin2", title=TITLE, body="six"),
    "twin2": html(title=TITLE, body="seven"),
    "copy1": html("copy2", title="Copy 1", body="the very same words"),
    "copy2": html("copy1", title="Copy 2", body="the very same words"),
    "untitled": html(title="", body="eight"),
    "lies": answer(html(title="文字", body="fifteen").encode("cp932"), headers={"Content-Type": "text/html; charset=utf-8"}),
    "hidden": html(title="Hidden", body="nine", head='<meta name="robots" content="noindex">'),
    "alone": html(title="Alone", body="ten"),
}  # fmt: skip


SITE: dict[str, Any] = {
    f"{HOME}robots.txt": f"Sitemap: {HOME}sitemap.xml\n",
    f"{HOME}sitemap.xml": SITEMAP,
    **{f"{HOME}{name}": made for name, made in PAGES.items()},
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one crawl of that site."""
    path = tmp_path_factory.mktemp("audit") / "audit.db"
    crawl(FakeWeb(SITE), made_settings(path, {"traps": {"soft_404": False}}))
    return path


def audited(store: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """Return exit status and output of ``purlieu audit``."""
    status = main(["audit", "--store", str(store), *more])
    return status, capsys.readouterr().out


EXPECTED = {
    "broken_link": ["gone"],
    "redirect_broken": ["dead", "loop"],
    "redirect_chain": ["chain"],
    "redirect_link": ["hop"],
    "title_missing": ["untitled"],
    "title_garbled": ["lies"],
    "title_duplicate": ["twin1"],
    "text_duplicate": ["copy1"],
    "canonical_broken": ["canon"],
    "canonical_redirects": ["canon2"],
    "language_code": ["lang"],
    "language_broken": ["lang"],
    "language_one_way": ["lang"],
    "sitemap_broken": ["gone"],
    "sitemap_redirects": ["hop"],
    "sitemap_not_indexable": ["hidden"],
    "orphan_page": ["alone"],
}


def test_each_fault_of_a_site_is_told_once_under_its_rule(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Links, redirects, titles, texts, canonicals, languages and sitemap entries: each fault made is told, no other."""
    status, out = audited(store, capsys, "--json")
    told: dict[str, list[str]] = {}
    for fault in json.loads(out)["faults"]:
        told.setdefault(fault["rule"], []).append(fault["url"].removeprefix(HOME))
    assert (status, told) == (0, EXPECTED)


def test_a_broken_link_names_the_pages_that_have_it(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fault says how many pages link there and names some, so that the owner can mend them."""
    _, out = audited(store, capsys, "--json")
    (fault,) = [one for one in json.loads(out)["faults"] if one["rule"] == "broken_link"]
    assert (fault["pages"], fault["examples"], fault["detail"]) == (
        3, [HOME, f"{HOME}lang", f"{HOME}missing"], "missing.not_found 404",
    )  # fmt: skip


def test_thresholds_set_the_exit_status(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--fail-on`` fails from a weight on, ``--allow`` gives a rule its own number; without both nothing fails."""
    assert audited(store, capsys)[0] == 0
    assert audited(store, capsys, "--fail-on", "problem")[0] == 1
    problems = [code for code, rule in RULES.items() if rule.severity is Severity.PROBLEM]
    allowed = [word for code in problems for word in ("--allow", f"{code}=2")]
    assert audited(store, capsys, "--fail-on", "problem", *allowed)[0] == 0
    assert audited(store, capsys, "--allow", "title_duplicate=0")[0] == 1
    assert is_over({"broken_link": 3}, {"broken_link": 3}, Severity.NOTE) == []


def test_mistakes_are_told_all_at_once(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A threshold of no rule and a number that is none give exit status 2, each with its value and what to write."""
    assert main(["audit", "--store", str(store), "--allow", "broken=1", "--most", "many"]) == 2
    told = capsys.readouterr().err
    assert '"broken=1"' in told
    assert '"many"' in told
    assert "broken_link" in told


def test_sarif_and_junit_are_what_their_readers_expect(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SARIF 2.1.0 has a rule for each result; JUnit has a case for each rule and fails where a threshold is passed."""
    _, out = audited(store, capsys, "--format", "sarif")
    (log,) = json.loads(out)["runs"]
    rules = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    assert [rules[one["ruleIndex"]] for one in log["results"]] == [one["ruleId"] for one in log["results"]]
    assert {one["level"] for one in log["results"]} == {"note", "warning", "error"}
    status, out = audited(store, capsys, "--format", "junit", "--fail-on", "problem")
    suite = ET.fromstring(out)
    failing = [case.get("name") for case in suite if case.find("failure") is not None]
    problems = [code for code in EXPECTED if RULES[code].severity is Severity.PROBLEM]
    assert (status, failing, suite.get("failures")) == (1, problems, str(len(problems)))


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_page_stands_alone_and_shows_what_was_fetched_as_text(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    """One HTML file, in the owner's language, with a picture, no script, nothing fetched; a hostile title is text."""
    file = tmp_path / "audit.html"
    assert audited(store, capsys, "--format", "html", "--output", str(file), "--lang", language) == (0, "")
    text = file.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<svg" in text
    assert "src=" not in text
    assert RULES["broken_link"].name(language) in text
    assert ("pages: 2" in text) == (language == "en")


@pytest.mark.parametrize(
    ("code", "is_one"),
    [("en", True), ("zh-Hant-TW", True), ("es-419", True), ("X-Default", True), ("english", False), ("en_GB", False),
     ("", False), ("en-", False)],
)  # fmt: skip
def test_what_counts_as_a_language(code: str, is_one: bool) -> None:
    """A language, with script and region at will, or x-default."""
    assert is_language(code) is is_one


def test_every_rule_has_words_and_a_remedy_in_three_languages() -> None:
    """No sentence of the table is empty, nor the same in two languages."""
    for rule in RULES.values():
        assert len(set(rule.names)) == len(set(rule.remedies)) == 3
        assert all((*rule.names, *rule.remedies))


def test_a_language_link_is_returned_by_its_whole_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``/a`` is not named by who names ``/ab``; with a fragment it is."""
    pages = {
        "": html("a", "ab", "b", title="Home", body="0"),
        "a": html(title="A", body="1", head=OTHERS.format(code="ja", href="/b") + OTHERS.format(code="zh", href="/ab")),
        "b": html(title="B", body="2", head=OTHERS.format(code="en", href="/ab")),
        "ab": html(title="AB", body="3", head=OTHERS.format(code="en", href="/a#top")
                   + OTHERS.format(code="ja", href="/b")),
    }  # fmt: skip
    crawl(FakeWeb({f"{HOME}{name}": made for name, made in pages.items()}), made_settings(tmp_path / "s.db", {}))
    _, out = audited(tmp_path / "s.db", capsys, "--json")
    told = [(one["url"], one["detail"]) for one in json.loads(out)["faults"] if one["rule"] == "language_one_way"]
    assert told == [(f"{HOME}a", f"{HOME}b")]


@pytest.mark.parametrize("form", [[], *(["--format", form] for form in ("html", "json", "junit", "sarif"))])
def test_an_audit_may_tell_no_fault_at_all(store: Path, capsys: pytest.CaptureFixture[str], form: list[str]) -> None:
    """With ``--most 0`` the counts are told alone, in every form; no control character comes out."""
    status, out = audited(store, capsys, "--most", "0", *form)
    assert status == 0
    assert TITLE[:20] not in out
    _, whole = audited(store, capsys, *form)
    assert "\x0b" not in whole
