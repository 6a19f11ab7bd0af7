"""What becomes an entry and what is refused, and by which rule (section 6 of the rules)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from purlieu import settings as settings_text
from purlieu.admission import Admission, repeats
from purlieu.candidate import Facts, Purpose
from purlieu.outcome import REASONS
from purlieu.scope import Scope

SEED = "http://site.test/"
ADMISSION = Admission(
    Scope.of(settings_text.of({"seeds": [SEED]})).landed(0, SEED),
    max_depth=5,
    max_redirects=10,
    max_url_length=200,
    repeated_segment=3,
    obey_nofollow=True,
    only_seeds=False,
    own_seed=False,
)


@pytest.mark.parametrize(
    ("href", "facts", "refused", "rule"),
    [
        ("http://site.test/a", Facts(1), "", "same-host"),
        ("http://other.test/a", Facts(1), "scope", "out-of-scope:other.test"),
        ("http://other.test/a", Facts(0, grant="seed"), "", "seed"),
        ("http://site.test/a", Facts(0, grant="seed"), "", "seed"),
        ("http://site.test/a", Facts(5), "", "same-host"),
        ("http://site.test/a", Facts(6), "depth", "max_depth=5"),
        ("http://site.test/a", Facts(1, hops=10), "", "same-host"),
        ("http://site.test/a", Facts(1, hops=11), "depth", "max_redirects=10"),
        ("http://site.test/a", Facts(1, nofollow=True), "nofollow", "nofollow"),
        ("http://site.test/" + "a" * 200, Facts(1), "url_too_long", "max_url_length=200"),
        ("http://site.test/a/b/a/b/a/b", Facts(1), "trap", "repeated_segment=3"),
        # Scope is asked before everything else (EN-20c).
        ("http://other.test/" + "a" * 200, Facts(9, nofollow=True), "scope", "out-of-scope:other.test"),
    ],
)
def test_rulings(href: str, facts: Facts, refused: str, rule: str) -> None:
    """Scope first, then length, traps, redirects, depth and nofollow; a grant is named before the scope's rule (R-3.3)."""
    ruling = ADMISSION.judge(href, href.split("/")[2], facts, Purpose.PAGE)
    assert (ruling.refused, ruling.rule) == (refused, rule)


def test_nofollow_can_be_overruled() -> None:
    """``links.obey_nofollow = false`` follows all the same."""
    ruling = replace(ADMISSION, obey_nofollow=False).judge(
        f"{SEED}a", "site.test", Facts(1, nofollow=True), Purpose.PAGE
    )
    assert not ruling.refused


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("a/a/a/", True),
        ("a/b/a/b/a/b", True),
        ("a/x/a/y/a/z", True),
        ("a/a/b", False),
        ("a/x/y/a/x/y/a", False),
        ("a/x/a/y/a", False),  # the third stands at the end: it may be the page itself
        ("2001/01/01/a-new-year", False),
        ("//a//b//c", False),
        ("x?q=/a/a/a/a/", False),
    ],
)
def test_repeated_segments_are_a_trap(path: str, trap: bool) -> None:
    """A segment that stands three times with at most one between, as the classic loop breaker has it (UF-10, R-3.4)."""
    assert repeats(f"http://h/{path}", 3) is trap


def ruled(tree: dict[str, Any], href: str, facts: Facts, purpose: Purpose = Purpose.PAGE, accept: Any = None) -> str:
    """Return ``refused rule`` of a URL under these settings, all seeds landed where they are."""
    admission = Admission.of(settings_text.of({"seeds": [SEED], **tree}), accept)
    scope = admission.scope.all_landed({site: admission.scope.seed(site) for site in admission.scope.pending})
    ruling = replace(admission, scope=scope).judge(href, href.split("/")[2], facts, purpose)
    return f"{ruling.refused} {ruling.rule}".strip()


SEEDED, HOPPED = Facts(0, grant="seed"), Facts(0, hops=1, grant="seed-redirect")
NO_A = {"filter": {"rules": ["-/a", "+."]}}


@pytest.mark.parametrize(
    ("href", "ruling"),
    [
        ("http://other.test/b", "scope out-of-scope:other.test"),
        ("http://other.test/a", "scope out-of-scope:other.test"),
        ("http://site.test/a", "filter filter:1"),
        ("http://site.test/b", "same-host"),
    ],
)
def test_filters_come_after_scope(href: str, ruling: str) -> None:
    """A "+" line admits nothing that is out of scope, and a "-" line refuses what is in (EN-20a, EN-20b, EN-20c)."""
    assert ruled(NO_A, href, Facts(1)) == ruling


@pytest.mark.parametrize(
    ("facts", "applies", "ruling"),
    [
        (SEEDED, False, "seed"),
        (SEEDED, True, "filter filter:1"),
        (HOPPED, False, "seed-redirect"),
        (HOPPED, True, "filter filter:1"),
        (Facts(0, grant="named-sitemap"), True, "named-sitemap"),
    ],
)
def test_filters_and_seeds(facts: Facts, applies: bool, ruling: str) -> None:
    """A seed that a "-" line matches is fetched all the same, unless filters are to hold for seeds (UF-11, BJ-2)."""
    tree = {"filter": {**NO_A["filter"], "apply_to_seeds": applies}}
    assert ruled(tree, "http://site.test/a", facts) == ruling


def test_filters_are_for_pages() -> None:
    """A robots.txt or sitemap in scope is fetched, whatever filters say of pages."""
    refuse_all = {"filter": {"rules": ["-."]}}
    for purpose in (Purpose.ROBOTS, Purpose.SITEMAP):
        assert ruled(refuse_all, "http://site.test/x", Facts(1), purpose) == "same-host"
    assert ruled(refuse_all, "http://site.test/x", Facts(1)) == "filter filter:1"


def test_the_order_of_refusals() -> None:
    """Lines, excludes, includes, the callable, length, trap, depth, nofollow: the first that refuses is named (EN-20c)."""
    href = "http://site.test/" + "a/" * 150
    tree: dict[str, Any] = {
        "filter": {"rules": ["-/a"], "exclude": ["*/a/*"], "include": ["*.html"]},
        "limits": {"max_url_length": 100, "max_depth": 1},
        "traps": {"max_segments": 0},
    }
    facts = Facts(2, nofollow=True)
    found: list[str] = []
    for relent in (
        lambda: tree["filter"].pop("rules"),
        lambda: tree["filter"].pop("exclude"),
        lambda: tree["filter"].pop("include"),
        lambda: None,
        lambda: tree["limits"].pop("max_url_length"),
        lambda: tree["limits"].update(repeated_segment=0),
        lambda: tree["limits"].pop("max_depth"),
    ):
        found.append(ruled(tree, href, facts, accept=lambda _href: len(found) > 3))
        relent()
    assert found == [
        "filter filter:1", "filter exclude:1", "filter include", "filter accept", "url_too_long max_url_length=100",
        "trap repeated_segment=3", "depth max_depth=1",
    ]  # fmt: skip
    assert ruled(tree, href, facts) == "nofollow nofollow"


def test_the_callable_only_refuses() -> None:
    """What is out of scope or filtered stays out whatever the callable says; when it raises, it has refused (R-3.4)."""

    def fails(_href: str) -> bool:
        raise ValueError

    assert ruled({}, "http://other.test/", Facts(1), accept=lambda _: True) == "scope out-of-scope:other.test"
    assert ruled(NO_A, "http://site.test/a", Facts(1), accept=lambda _: True) == "filter filter:1"
    assert ruled({}, "http://site.test/", Facts(1), accept=lambda href: href.endswith("x")) == "filter accept"
    assert ruled({}, "http://site.test/x", Facts(1), accept=lambda href: href.endswith("x")) == "same-host"
    assert ruled({}, "http://site.test/x", Facts(1), accept=fails) == "filter accept:ValueError"
    assert ruled({}, SEED, SEEDED, accept=lambda _: False) == "seed"


def test_a_timeout_has_a_reason_of_its_own() -> None:
    """A pattern that takes too long refuses as filter_timeout (R-3.4)."""
    tree = {"filter": {"rules": [r"+(?=h)h(?:a|a|aa)+(?<!z)$"], "unsafe_patterns": True}, "scope": {"mode": "any"}}
    assert ruled(tree, "http://h" + "a" * 60 + "b/", Facts(1)) == "filter_timeout filter:1"
    assert {"excluded.filter", "excluded.filter_timeout"} <= REASONS.keys()


def test_seeds_add_no_scope_beside_sites() -> None:
    """A seed outside of every site is fetched, and its links are judged by the sites alone (BJ-3, AMB-BJ-12, R-3.1)."""
    tree = {"seeds": ["http://other.test/", SEED], "site": [{"url": SEED}]}
    assert ruled(tree, "http://other.test/", SEEDED) == "seed"
    assert ruled(tree, "http://other.test/x", Facts(1)) == "scope out-of-scope:other.test"
    assert ruled(tree, "http://site.test/x", Facts(1)) == "same-host"


def test_own_seed_judges_by_lineage() -> None:
    """A link is tested against the sites its page descends from (EN-20d, AMB-EN-4, AMB-EN-5)."""
    tree = {"seeds": [SEED, "http://b.test/"], "scope": {"judge_against": "own-seed"}}
    assert ruled(tree, "http://b.test/x", Facts(1, sites=frozenset({0}))) == "scope out-of-scope:b.test"
    assert ruled(tree, "http://b.test/x", Facts(1, sites=frozenset({0, 1}))) == "same-host"


def test_the_normaliser_comes_along() -> None:
    """The rules of a crawl know its normaliser; without rules it is the identity (UF-12, R-3.5)."""
    assert Admission.of(settings_text.of({"seeds": [SEED]})).normaliser.is_identity
    made = Admission.of(settings_text.of({"seeds": [SEED], "normalise": {"collapse_slashes": True}}))
    assert made.normaliser.key("http://site.test//a") == "http://site.test/a"
