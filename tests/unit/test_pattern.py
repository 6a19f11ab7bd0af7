"""The owner's patterns: what may be written, what is refused with which remedy, and that none can hang a crawl."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.pattern import Hit, Patterns, _sets, loop_breaker, mend
from purlieu.pattern.syntax import loops

CLASSIC = (r".*(/[^/]+)/[^/]+\1/[^/]+\1/", r".*(/.+?)/.*?\1/.*?\1/")


@pytest.mark.parametrize(
    ("pattern", "remedy"),
    [
        (r"[a-z&&[^b]]", "cannot intersect"),
        (r"[a-z[0-9]]", r"write \["),
        (r"[[:alpha:]]", "write the characters"),
        (r"\p{Alpha}", "write the characters"),
        (r"[\p{Lower}]", "write the characters"),
        (r"\p{IsGreek}", "write the characters"),
        (r"a++", "possessive"),
        (r"a?+", "possessive"),
        (r"a*+", "possessive"),
        (r"a{2,3}+", "possessive"),
        (r"(?>a)", r'write "(?:"'),
        (r"\h", r"write [ \t]"),
        (r"[\H]", r"write [^ \t]"),
        (r"\R", r"write [\r\n]"),
        (r"a\Z", "write $"),
        (r"\cA", r"\x01"),
        (r"\e", r"\x1b"),
        (r"\u0041", "number"),
        (r"\0101", "hexadecimal"),
        (r"(a)\1", "repeated_segment"),
        (r"(?<n>a)\k<n>", "back-references"),
        (r"(?=a)", "neither ahead nor behind"),
        (r"(?!a)", "neither ahead nor behind"),
        (r"(?<=a)b", "neither ahead nor behind"),
        (r"(?<!:)/{2,}", "collapse_slashes"),
        (r"(?x) a", "flags"),
        (r"(?U)a+", "flags"),
        (r"a{,3}", 'write "{0,3}"'),
        (r"(", "this is no pattern (missing )"),
        (r"[a", "this is no pattern (missing ]"),
        (r"*a", "this is no pattern"),
        (r"a{1,2000}", "this is no pattern"),
    ],
)
def test_what_is_not_taken_has_its_remedy(pattern: str, remedy: str) -> None:
    """Syntax that RE2 lacks or takes otherwise than Java is refused, each with what to write instead (R-3.4, UF-7)."""
    assert remedy in mend(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"a&&b", r"&{2,}", r"[&]&[&]", r"\[\[", r"[]a]", r"[^]&a]", r"[\]\[]", r"\Q(?=a)\1++\E", r"\\h", r"\\\\1", r"(a+)+",
        r"a+?", r"a{2}?", r"(?i)\.(?:gif|jpg)$", r"(?i:a)", r"(?-i)a", r"(?<n>a)", r"(?P<n>a)", r"\pL", r"\p{L}", r"[\d\w-]",
        r"\x41", r"\x{41}", r"\0", r"^https?://([a-z0-9]*\.)*example\.com/", "", *CLASSIC,
    ],
)  # fmt: skip
def test_what_is_taken(pattern: str) -> None:
    """What means the same everywhere is taken, and so are the classic loop breakers (R-3.4, UF-10)."""
    assert mend(pattern) == ""


@pytest.mark.parametrize(
    ("pattern", "is_taken"),
    [
        (r"(a)\1", True), (r"(?=a)", True), (r"(?<!:)//", True), (r"a++", True), (r"(?>a)", True), (r"\h", False),
        (r"[a&&b]", False), (r"\p{Punct}", False), (r"[[:alpha:]]", False), (r"\0101", False), (r"(?U)a", False), (r"(a)\1(", False),
    ],
)  # fmt: skip
def test_unsafe_patterns(pattern: str, is_taken: bool) -> None:
    """With unsafe patterns only what means the same to the slow engine is taken; the rest stays refused (R-3.4)."""
    assert (mend(pattern, unsafe=True) == "") is is_taken
    assert ("unsafe_patterns" in mend(pattern)) is (is_taken or pattern == r"(a)\1(")


def test_the_first_of_several() -> None:
    """Of all patterns that are found the first decides; case counts, and a pattern is searched anywhere (UF-2, UF-4)."""
    patterns = Patterns(["x$", "b", "B", "b+"])
    assert patterns.first("http://h/abb") == Hit(1)
    assert patterns.first("http://h/x") == Hit(0)
    assert patterns.first("http://h/B") == Hit(2)
    assert patterns.first("http://h/") is None
    assert Patterns([]).first("http://h/") is None


def test_engines_keep_the_order() -> None:
    """A pattern of the slow engine and a loop breaker stand in the order of the lines, whatever engine answers."""
    patterns = Patterns([r"^http://h/1", r"(?<=/)2$", CLASSIC[0], r"."])
    assert patterns.first("http://h/12") == Hit(0)
    assert patterns.first("http://h/2") == Hit(1)
    assert patterns.first("http://h/a/b/a/c/a/d") == Hit(2)
    assert patterns.first("http://h/3") == Hit(3)


def test_a_timeout_is_a_hit() -> None:
    """A pattern of the slow engine that takes too long is told as such, and not waited for (R-3.4)."""
    patterns = Patterns([r"(?=h)h(?:a|a|aa)+\1?$".replace(r"\1?", "") + r"(?<!z)", "never"])
    assert patterns.first("http://h" + "a" * 60 + "b") == Hit(0, timed_out=True)


def test_a_big_set_still_answers() -> None:
    """Hundreds of patterns with thousands of states are asked at once, and the first by number decides."""
    patterns = Patterns([rf"x.{{0,200}}y{number}z" for number in range(400)])
    assert patterns.first("http://h/x" + "-" * 100 + "y399z") == Hit(399)
    assert patterns.first("http://h/x" + "-" * 100 + "y7z" + "y399z") == Hit(7)
    assert patterns.first("http://h/") is None


def test_loop_breakers_are_known() -> None:
    """The two classic lines are known with and without their beginning; nothing else is one (UF-10)."""
    assert [loop_breaker(text) for text in CLASSIC] == [1, 2]
    assert [loop_breaker(text.removeprefix(".*")) for text in CLASSIC] == [1, 2]
    assert loop_breaker(r"(a)\1") == 0


@given(st.lists(st.sampled_from(["a", "b", "ab", "", "?", "c"]), max_size=12).map("/".join))
def test_loop_breakers_say_what_their_patterns_say(path: str) -> None:
    """Without back-references the same URLs are taken for endless as with them (UF-10)."""
    for which, pattern in enumerate(CLASSIC, 1):
        href = f"http://h/{path}"
        assert loops(href, which) == bool(re.search(pattern, href))


@given(st.text(st.sampled_from(r"ab\[](){}&+*?|^$:<>=!.,0123QEpPhkxU"), max_size=14))
def test_no_pattern_raises(pattern: str) -> None:
    """Whatever is written as a pattern has a remedy, or compiles and answers, with and without unsafe patterns."""
    for unsafe in (False, True):
        if not mend(pattern, unsafe=unsafe):
            Patterns([pattern]).first("http://h/ab&&b?a=1")


def test_engines_are_loaded_when_used() -> None:
    """A crawl without patterns loads neither engine (R-9.2)."""
    program = """
import sys
from purlieu import settings
from purlieu.admission import Admission
Admission.of(settings.read('seeds = ["http://h/"]'))
sys.exit("re2" in sys.modules or "regex" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_set_without_an_answer_is_asked_one_by_one() -> None:
    """When a set has run out of memory its patterns are asked one by one: nothing is admitted for want of memory (R-3.4)."""
    patterns = Patterns(["b", "c"])
    assert [patterns._one_by_one((0, 1), text) for text in ("http://h/c", "http://h/b", "http://h/")] == [1, 0, 2]


def test_several_sets_keep_the_order() -> None:
    """Patterns that do not fit into one set stand in several, of which the first that answers decides (UF-2)."""
    patterns = Patterns(["b", "c", "b", "d"])
    patterns._sets = (*_sets([(0, "b"), (1, "c")]), *_sets([(2, "b"), (3, "d")]))
    assert [patterns.first(text) for text in ("xb", "xd", "xc", "x")] == [Hit(0), Hit(3), Hit(1), None]
