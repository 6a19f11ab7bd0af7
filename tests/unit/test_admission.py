"""What becomes an entry and what is refused, and by which rule (section 6 of the rules)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from purlieu import settings as settings_text
from purlieu.admission import Admission, repeats
from purlieu.candidate import Facts, Purpose
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
