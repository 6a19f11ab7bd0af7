"""The owner's filters: ordered lines, includes and excludes, and that they only ever refuse."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from purlieu import settings
from purlieu.errors import SettingsError
from purlieu.pattern.filters import Filters, Refusal, read_rules
from purlieu.url import parse

TEMPLATE = (
    "# skip file:, ftp:, & mailto: urls",
    "-^(file|ftp|mailto):",
    "",
    r"-\.(gif|GIF|jpg|JPG|zip|ppt|mpg|xls|gz|rpm|tgz|mov|MOV|exe|jpeg|JPEG|bmp|BMP)$",
    "-[?*!@=]",
    r"-.*(/[^/]+)/[^/]+\1/[^/]+\1/",
    r"+^http://([a-z0-9]*\.)*example.com/",
    "-.",
)


def rule(filters: Filters, url: str) -> str:
    """Return the rule that refuses a URL, "" when none does."""
    refusal = filters.refuse(parse(url).href)
    return refusal.rule if refusal else ""


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("http://www.example.com/a", ""),
        ("http://www.example.com/a.gif", "filter:4"),
        ("http://www.example.com/a.Gif", ""),
        ("http://www.example.com/a?b", "filter:5"),
        ("http://www.example.com/a/b/a/c/a/d", "filter:6"),
        ("http://other.net/", "filter:8"),
        ("http://example.com.evil.net/", "filter:8"),
    ],
)
def test_the_default_template(url: str, refused: str) -> None:
    """The classic file decides line by line; a rule is named by its line, comments counted (UF-1, UF-2, UF-4, UF-5, UF-10)."""
    assert rule(Filters(TEMPLATE), url) == refused


def test_no_match_refuses() -> None:
    """A URL that no line matches is refused, if there are any lines at all (UF-3)."""
    assert rule(Filters(["+^http://a/"]), "http://b/") == "filter:no-match"
    assert rule(Filters(["# nothing"]), "http://b/") == "filter:no-match"
    assert rule(Filters(), "http://b/") == ""


def test_order_matters() -> None:
    """The first line that matches decides, though a later one says otherwise (UF-9)."""
    assert rule(Filters(["+^http://h/", "-^http://h/x/"]), "http://h/x/1") == ""
    assert rule(Filters(["-^http://h/x/", "+^http://h/"]), "http://h/x/1") == "filter:1"


def test_a_trailing_comment_is_pattern() -> None:
    """What follows the sign is the pattern, up to the end of the line (UF-8)."""
    assert rule(Filters(["-x # not y", "+."]), "http://h/x") == ""
    assert rule(Filters(["-x # ?not y|z", "+."]), "http://h/z") == "filter:1"


def test_reading_a_file() -> None:
    """All lines are kept, so that rules have the numbers of the file; other line ends and a mark are taken (UF-5)."""
    lines = read_rules("\ufeff# one\r\n\r\n comment\ttoo\n+a\r-b \n", "f.txt")
    assert lines == ("# one", "", " comment too", "+a", "-b ")
    assert rule(Filters(lines), "http://h/a") == ""
    assert read_rules("", "f.txt") == ()


def test_wrong_lines_are_told_with_the_file() -> None:
    """Every wrong line fails the file, with its number, its text and the remedy (UF-6, UF-7)."""
    with pytest.raises(SettingsError) as caught:
        read_rules("+ok\n*bad\n-(\n\t+tab\n-(a)\\1\n", "rules.txt")
    found = caught.value.mistakes
    assert [(one.file, one.key, one.value) for one in found] == [
        ("rules.txt", "line 2", "*bad"),
        ("rules.txt", "line 3", "-("),
        ("rules.txt", "line 4", "\t+tab"),
        ("rules.txt", "line 5", "-(a)\\1"),
    ]
    assert found[0].remedy.startswith("Invalid first character: *bad")
    assert "repeated_segment" in found[3].remedy
    assert read_rules("-(a)\\1", "rules.txt", unsafe=True) == ("-(a)\\1",)


def test_mistakes_of_settings() -> None:
    """Wrong rules and items of the settings are mistakes of their keys, all in one go."""
    with pytest.raises(SettingsError) as caught:
        settings.of(
            {
                "filter": {
                    "rules": ["# x", "oops", "-("],
                    "exclude": ["regex:(", "example.com/*"],
                    "include": ["prefix:x"],
                }
            }
        )
    assert [(one.key, one.value) for one in caught.value.mistakes] == [
        ("filter.rules[2]", "oops"),
        ("filter.rules[3]", "-("),
        ("filter.include", "prefix:x"),
        ("filter.exclude", "regex:("),
        ("filter.exclude", "example.com/*"),
    ]
    assert 'write "*example.com/*"' in caught.value.mistakes[4].remedy


def test_a_rules_file_is_read_before_it_counts() -> None:
    """A file that nobody has read is no empty list of rules: it is refused until its text is given (UF-3)."""
    made = settings.of({"filter": {"rules_file": "f.txt"}})
    with pytest.raises(SettingsError, match=r"f\.txt"):
        Filters.of(made.filter)
    read = settings.with_rules(made, "+^http://a/\n")
    assert rule(Filters.of(read.filter), "http://b/") == "filter:no-match"
    assert settings.read(settings.dump(read)) == read
    assert rule(Filters.of(settings.with_rules(made, "").filter), "http://b/") == "filter:no-match"
    with pytest.raises(SettingsError, match="only one of the two"):
        settings.of({"filter": {"rules_file": "f.txt", "rules": ["+a"]}})


@pytest.mark.parametrize(
    ("item", "matching", "other"),
    [
        ("https://Example.com", "https://example.com/x", "https://example.com.evil.net/"),
        ("https://example.com/docs", "https://u:p@example.com/docs-old", "http://example.com/docs"),
        ("prefix:/docs/", "http://any.example:81/docs/x", "http://any.example/x/docs/"),
        ("prefix:/日本/", "http://h/%E6%97%A5%E6%9C%AC/x", "http://h/"),
        ("*.pdf", "http://h/a.pdf", "http://h/a.pdf?x"),
        ("*/print/*", "http://h/a/print/b", "http://h/print"),
        ("/private/*", "http://h/private/", "http://h/a/private/"),
        ("/exact", "http://u@h:81/exact", "http://h/exact/"),
        ("/a b/*", "http://h/a%20b/c", "http://h/a"),
        ("/search?*", "http://h/search?q", "http://h/search/x"),
        ("https://*.Example.com/*", "https://a.b.example.com/x", "https://example.com/x"),
        ("https://bücher.example/*", "https://u@xn--bcher-kva.example/x", "https://example/x"),
        ("glob:http://h", "http://h/", "http://h/x"),
        ("http://h/**/x", "http://h/a/b/x", "http://h/x"),
        ("regex:(?i)/LOGIN", "http://h/login", "http://h/log"),
        ("regex:^http://h/$", "http://h/", "http://h/x"),
    ],
)
def test_items(item: str, matching: str, other: str) -> None:
    """Prefix, glob and regex match as documented; a prefix is read as a URL, so that nothing looks like it."""
    exclude, include = Filters(exclude=["*.nothing", item]), Filters(include=["*.nothing", item])
    assert (rule(exclude, matching), rule(exclude, other)) == ("exclude:2", "")
    assert (rule(include, matching), rule(include, other)) == ("", "include")
    assert exclude.line("exclude:2") == include.line("include:2") == item
    assert include.told_by(parse(matching).href) == "include:2"


def test_rules_then_exclude_then_include() -> None:
    """Lines are asked first, then excludes, then includes."""
    filters = Filters(["-a", "+."], include=["*x*"], exclude=["*b*"])
    assert [rule(filters, f"http://h/{path}") for path in ("ab", "bx", "c", "x")] == [
        "filter:1",
        "exclude:1",
        "include",
        "",
    ]
    assert filters.line("filter:1") == "-a"
    assert filters.told_by("http://h/x") == "include:1"
    assert Filters(["-a", "+."]).told_by("http://h/x") == "filter:2"
    assert Filters().told_by("http://h/x") == ""
    assert [filters.line(name) for name in ("filter:9", "filter:no-match", "accept", "")] == [""] * 4


def test_a_timeout_refuses() -> None:
    """A pattern that takes too long refuses the URL by a reason of its own, in lines, excludes and includes (R-3.4)."""
    slow, url = r"(?=h)h(?:a|a|aa)+(?<!z)$", "http://h" + "a" * 60 + "b/"
    assert Filters([f"+{slow}", "+."]).refuse(url) == Refusal("filter_timeout", "filter:1")
    assert Filters(exclude=[f"regex:{slow}"]).refuse(url) == Refusal("filter_timeout", "exclude:1")
    assert Filters(include=[f"regex:{slow}"]).refuse(url) == Refusal("filter_timeout", "include:1")


ITEMS = st.sampled_from(["*.net/*", "/a*", "http://example.com/", "regex:b", "prefix:/abc/", "https://*"])


@given(excludes=st.lists(ITEMS, max_size=3), more=ITEMS, includes=st.lists(ITEMS, max_size=2), url=strategies.hrefs())
def test_an_exclude_never_admits_more(excludes: list[str], more: str, includes: list[str], url: str) -> None:
    """With one more exclude, wherever it stands, what was refused stays refused."""
    href = parse(url).href
    if Filters(exclude=excludes, include=includes).refuse(href):
        assert Filters(exclude=[*excludes, more], include=includes).refuse(href)
        assert Filters(exclude=[more, *excludes], include=includes).refuse(href)


@given(rules=st.lists(st.sampled_from(["+a", "-b", "+.", "-net", "#", "-^https"]), max_size=5), url=strategies.hrefs())
def test_a_rejecting_line_never_admits_more(rules: list[str], url: str) -> None:
    """A "-" line put before all others refuses more or the same, as long as there are lines (UF-2)."""
    href = parse(url).href
    if rules and Filters(rules).refuse(href):
        assert Filters(["-example", *rules]).refuse(href)


@given(text=strategies.junk)
def test_any_item_is_taken_or_told(text: str) -> None:
    """Whatever stands in include or exclude, or as a line, is a mistake or works."""
    for tree in ({"exclude": [text]}, {"include": [text]}, {"rules": [text]}):
        try:
            made = settings.of({"filter": tree})
        except SettingsError:
            continue
        Filters.of(made.filter).refuse("http://example.com/a")


def cases(conformance: Path) -> list[dict[str, Any]]:
    """Return the cases of public test suites that ask an ordered list of patterns."""
    lines = (conformance / "urlfilter" / "urlfilter_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["op"] == "ruleset"]


def test_rulesets_conformance(conformance: Path) -> None:
    """Every case of an ordered list of expressions holds, those with back-references too (UF-1 to UF-4, UF-10).

    Lists in the format of another filter (hosts and paths) and rules bound to one host are no such lists. An
    automaton's expression matches the whole URL: it is written with ^ and $ here.
    """
    rulesets = json.loads((conformance / "urlfilter" / "rulesets.json").read_text(encoding="utf-8"))
    filters: dict[str, Filters] = {}
    for name, ruleset in rulesets.items():
        rules = ruleset.get("rules", [])
        if rules and all(isinstance(one, dict) and one.keys() == {"sign", "regex"} for one in rules):
            whole = "automaton" in ruleset.get("kind", "")
            made = [one["sign"] + (f"^(?:{one['regex']})$" if whole else one["regex"]) for one in rules]
            filters[name] = Filters(read_rules("\n".join(made), name))
    asked: Counter[str] = Counter()
    wrong = []
    for row in cases(conformance):
        if row["ruleset"] in filters:
            asked[row["ruleset"]] += 1
            # What stands in their lists are texts, not always URLs: they are asked as they are.
            if (filters[row["ruleset"]].refuse(row["url"]) is None) is not row["accept"]:
                wrong.append((row["id"], row["ruleset"], row["url"], row["accept"]))
    assert wrong == []
    assert sum(asked.values()) > 300
