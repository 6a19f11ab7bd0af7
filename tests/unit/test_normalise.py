"""The owner's normalisers: what becomes one URL, what a replacement may hold, and that a bad result changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from purlieu import settings
from purlieu.errors import SettingsError
from purlieu.normalise import Normaliser
from purlieu.pattern import mend
from purlieu.url import parse

SESSION = (r"(?i)(;?\b_?(l|j|bv_)?(sid|phpsessid|sessionid)=.*?)(\?|&|#|$)", "$4")
SAMPLE = (SESSION, (r"\?&", r"\?"), (r"&{2,}", "&"), (r"[\?&\.]$", ""))


def test_nothing_is_identity() -> None:
    """Without rules an href is its own key, the same object, and nobody need ask (R-3.5)."""
    href, normaliser = "http://h//a?sid=1", Normaliser()
    assert normaliser.is_identity
    assert normaliser.key(href) is href
    assert not Normaliser(collapse_slashes=True).is_identity
    assert not Normaliser([SESSION]).is_identity


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("  HTTP://XYZ.com:80/index.html ", "http://xyz.com/index.html"),
        ("http://xyz.com/about.html#history", "http://xyz.com/about.html"),
        ("http://xyz.com/aa/bb/../../cc/../foo.html", "http://xyz.com/foo.html"),
        ("http://xyz.com/../a", "http://xyz.com/a"),
        ("http://xyz.com", "http://xyz.com/"),
        ("http://xyz.com/Price List.html", "http://xyz.com/Price%20List.html"),
    ],
)
def test_the_standard_form_comes_first(text: str, href: str) -> None:
    """What the basic normaliser and the documented example do, the standard form of a URL has done (UF-21, UF-22, UF-25)."""
    assert parse(text).href == href


@pytest.mark.parametrize(
    ("href", "key"),
    [
        ("http://h//a///b//", "http://h/a/b/"),
        ("http://h/a//b?c=//d", "http://h/a/b?c=//d"),
        ("http://u:p@h:81//", "http://u:p@h:81/"),
        ("https://h/?//", "https://h/?//"),
        ("https://h//?//", "https://h/?//"),
        ("http://h/a", "http://h/a"),
    ],
)
def test_slashes_are_collapsed_in_paths(href: str, key: str) -> None:
    """Runs of slashes in the path become one, for https as for http; the query stays (UF-23)."""
    assert Normaliser(collapse_slashes=True).key(href) == key


@pytest.mark.parametrize(
    ("href", "key"),
    [
        ("http://h/a?sid=123&b=1", "http://h/a?b=1"),
        ("http://h/a;jsessionid=12?b=1", "http://h/a?b=1"),
        ("http://h/a?b=1&PHPSESSID=5", "http://h/a?b=1"),
        ("http://h/a?NewsId=5", "http://h/a?NewsId=5"),
        ("http://h/a?b=1&&c=2", "http://h/a?b=1&c=2"),
        ("http://h/a?", "http://h/a"),
        ("http://h/a.", "http://h/a"),
    ],
)
def test_the_sample_rules(href: str, key: str) -> None:
    """The sample rules strip session ids and what is left over (UF-26)."""
    assert Normaliser(SAMPLE).key(href) == key


@pytest.mark.parametrize(
    ("pattern", "replace", "key"),
    [
        ("/(a)/(b)", "/$2/$1", "http://h/b/a/c1"),
        ("/(a)/(x)?b", "/$2$1", "http://h/a/c1"),
        ("/(a)", "/$10", "http://h/a0/b/c1"),
        ("/(?<one>a)", "/${one}${one}", "http://h/aa/b/c1"),
        ("a", r"\$1", "http://h/$1/b/c1"),
        ("a", r"\\", "http://h///b/c1"),
        ("c1$", "", "http://h/a/b/"),
        ("[ab]", "$0$0", "http://h/aa/bb/c1"),
        ("A", "x", "http://h/a/b/c1"),
        ("a", "\u00e9 ", "http://h/%C3%A9%20/b/c1"),
    ],
)
def test_replacements(pattern: str, replace: str, key: str) -> None:
    r"""``$n`` is a group, of several digits as many as make one, ``\`` takes a sign as it is, all is replaced (UF-24)."""
    assert Normaliser([(pattern, replace)]).key("http://h/a/b/c1") == key


@pytest.mark.parametrize("replace", ["", "mailto:x@y", "http://", "http://h:99999/", "ftp://h/", "x" * 70_000])
def test_a_result_that_is_no_web_address_is_not_applied(replace: str) -> None:
    """What would be no http or https URL, or far too long, leaves the URL as it was."""
    assert Normaliser([("^.*$", replace)]).key("http://h/a") == "http://h/a"


def test_rules_are_applied_in_order_and_as_often_as_said() -> None:
    """Each rule sees what the one before it made; all of it is repeated up to ``loops`` times (UF-20, UF-24)."""
    rules = [("a", "b"), ("bb", "a")]
    assert Normaliser(rules).key("http://h/aa") == "http://h/a"
    assert Normaliser(rules, loops=2).key("http://h/aa") == "http://h/b"
    assert Normaliser([("a$", "")], loops=10).key("http://h/aaa") == "http://h/"


def test_growth_is_bounded() -> None:
    """Rules that double a URL again and again stop at a length that can be stored."""
    rules = [("a", "aaaaaaaaaa")] * 10
    assert len(Normaliser(rules, loops=10).key("http://h/a")) <= 65_536
    long = "http://h/" + "a" * 1_000_000
    assert Normaliser(rules).key(long) == long


@given(strategies.hrefs(), st.booleans())
def test_normalising_twice_changes_nothing(url: str, collapse: bool) -> None:
    """The key of a key is the key: of the standard form, with single slashes, and of rules at rest."""
    normaliser = Normaliser(SAMPLE, collapse_slashes=collapse, loops=10)
    href = parse(url).href
    for one in (Normaliser(), Normaliser(collapse_slashes=True), normaliser):
        key = one.key(href)
        assert one.key(key) == key == parse(key).href


@given(strategies.junk)
def test_any_url_has_a_key(text: str) -> None:
    """Whatever the web links to, its key is a whole web address."""
    href = parse("http://h/").href + parse("http://h/x?" + text.replace("#", "")).href[9:]
    assert parse(Normaliser(SAMPLE, collapse_slashes=True).key(href)).scheme == "http"


def test_mistakes_of_rules() -> None:
    """Wrong patterns and groups that are not there are mistakes, each with its number, all in one go (UF-7, UF-24)."""
    with pytest.raises(SettingsError) as caught:
        settings.of(
            {
                "normalise": {
                    "rule": [
                        {"pattern": "(", "replace": ""},
                        {"pattern": "(?<!:)/{2,}", "replace": "/"},
                        {"pattern": "(a)", "replace": "$2"},
                        {"pattern": "(a)", "replace": "${x}"},
                        {"pattern": "a", "replace": "$"},
                        {"pattern": r".*(/[^/]+)/[^/]+\1/[^/]+\1/", "replace": ""},
                        {"pattern": "a"},
                    ]
                }
            }
        )
    found = [(one.key, one.remedy) for one in caught.value.mistakes]
    assert [key for key, _ in found] == [
        "normalise.rule[1].pattern",
        "normalise.rule[2].pattern",
        "normalise.rule[3].replace",
        "normalise.rule[4].replace",
        "normalise.rule[5].replace",
        "normalise.rule[6].pattern",
    ]
    assert "collapse_slashes" in found[1][1]
    assert "unsafe" not in found[1][1]
    assert "$0 to $1" in found[2][1]


def test_rules_are_read_and_dumped() -> None:
    """Rules are tables of the file, in order, and may begin alike; the dump gives them back."""
    text = """
    [normalise]
    collapse_slashes = true
    loops = 2
    [[normalise.rule]]
    pattern = "a"
    replace = "b"
    [[normalise.rule]]
    pattern = "a"
    """
    made = settings.read(text)
    assert [(rule.pattern, rule.replace) for rule in made.normalise.rules] == [("a", "b"), ("a", "")]
    assert settings.read(settings.dump(made)) == made == settings.checked(made)
    assert Normaliser.of(made.normalise).key("http://h//a") == "http://h/b"


def test_regex_normalize_conformance(conformance: Path) -> None:
    """The cases of the regex normaliser hold; the one rule that looks behind is ``collapse_slashes`` here (UF-24, UF-26)."""
    folder = conformance / "canonical"
    rulesets = json.loads((folder / "nutch_regex_normalize_rules.json").read_text(encoding="utf-8"))
    lines = (folder / "canonical_cases.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["op"] == "regex_normalize"]
    refused = {name: [one for one, _ in rules if mend(one)] for name, rules in rulesets.items()}
    assert refused == {"default": ["(?<!:)/{2,}"], "scope1": []}
    ways = {
        name: Normaliser([(one, text) for one, text in rules if not mend(one)], collapse_slashes=bool(refused[name]))
        for name, rules in rulesets.items()
    }
    assert rows
    assert [row for row in rows if ways[row["options"]["rules_ref"]].key(row["input"]) != row["expected"]] == []
