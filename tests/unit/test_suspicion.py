"""What looks wrong with a run, by its sums (R-8.1, MF-35)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.finding import FINDINGS, Finding, Severity
from purlieu.suspicion import JUDGED, SUSPICIOUS, Alike, Sums, is_suspicious, judge

OK = ("fetched", "ok")


def codes(endings: dict[tuple[str, str], int], *, is_whole: bool = True, **more: Any) -> list[str]:
    """Return the codes of what is found."""
    return [one.code for one in judge(Sums("docs", is_whole, endings, **more))]


@pytest.mark.parametrize(
    ("endings", "more", "expected"),
    [
        ({OK: 100}, {}, []),
        ({OK: 100}, {"before": 100}, []),
        ({OK: 50}, {"before": 100}, []),
        ({OK: 49}, {"before": 100}, ["fewer_pages"]),
        ({OK: 1}, {"before": 3}, []),
        ({OK: 49}, {"before": 100, "is_whole": False}, []),
        ({OK: 20, ("unchanged", "not_due"): 40}, {"before": 100}, []),
        ({OK: 80}, {"before": 100, "threshold": 0.8}, []),
        ({OK: 79}, {"before": 100, "threshold": 0.8}, ["under_threshold"]),
        ({OK: 79}, {"before": 100, "threshold": 0.8, "is_whole": False}, ["under_threshold"]),
        ({OK: 79}, {"threshold": 0.8}, []),
        ({OK: 1}, {"outside": (30, "b.test")}, ["all_links_outside"]),
        ({("missing", "not_found"): 1}, {"outside": (30, "b.test")}, []),
        ({OK: 40, ("refused", "forbidden"): 60}, {}, ["mostly_one_ending"]),
        ({OK: 50, ("refused", "forbidden"): 50}, {}, []),
        ({OK: 3, ("refused", "forbidden"): 6}, {}, []),
        ({OK: 40, ("fetched", "empty"): 60}, {}, ["mostly_one_ending"]),
        ({OK: 40, ("excluded", "robots"): 60}, {}, ["mostly_one_ending"]),
        ({OK: 25, ("redirected", "temporary"): 75}, {}, []),
        ({OK: 15, ("redirected", "temporary"): 85}, {}, ["mostly_one_ending"]),
        ({OK: 100}, {"content": Alike(100, 30, "x")}, ["same_content"]),
        ({OK: 100}, {"content": Alike(100, 29, "x")}, []),
        ({OK: 40}, {"content": Alike(40, 40, "x")}, []),
        ({OK: 100}, {"title": Alike(100, 90, "x")}, ["same_title"]),
        ({OK: 100}, {"title": Alike(100, 89, "x")}, []),
        ({OK: 100}, {"content": Alike(100, 99, "x"), "title": Alike(100, 99, "x")}, ["same_content"]),
    ],
)
def test_each_sum_that_looks_wrong_is_named(
    endings: dict[tuple[str, str], int], more: dict[str, Any], expected: list[str]
) -> None:
    """A run is suspicious by shares: of the last run's pages, of one ending, of one content, of links outside.

    The owner's threshold stands instead of the half, and holds for a run that a limit ended too (MF-35).
    """
    assert codes(endings, **more) == expected


@given(
    st.dictionaries(
        st.sampled_from([OK, ("missing", "not_found"), ("redirected", "permanent")]), st.integers(0, 10**7)
    ),
    st.none() | st.integers(0, 10**7),
    st.none() | st.floats(0.01, 1),
)
def test_every_finding_has_its_sentence(
    endings: dict[tuple[str, str], int], before: int | None, threshold: float | None
) -> None:
    """Whatever a run sums up to is judged, and each finding shows all that its sentence needs, in every language."""
    sums = Sums("docs", True, endings, (3, "b.test"), before, threshold, Alike(50, 50, "x"), Alike(50, 50, "x"))
    for one in judge(sums):
        assert one.code in JUDGED
        assert set(one.arguments) == set(FINDINGS[one.code].arguments)
        assert "?" not in one.sentence("en") + one.sentence("ja")


def test_what_makes_a_result_suspicious() -> None:
    """Named suspicions and problems do, notes and other warnings do not (R-8.2)."""
    for code in SUSPICIOUS:
        assert is_suspicious([Finding(code)])
    others = [code for code in FINDINGS if code not in SUSPICIOUS]
    assert [code for code in others if is_suspicious([Finding(code)])] == [
        code for code in others if FINDINGS[code].severity is Severity.PROBLEM
    ]
