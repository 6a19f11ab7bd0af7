"""What became of a URL between two runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.difference import FACTS, MEANINGS, Difference, Seen, is_told, judge, section_of
from purlieu.outcome import KINDS

PAGE = Seen("fetched", "ok", 200, "A", "https://a.test/", None, "d1", ("content-type",))
MOVED = Seen("redirected", "permanent", 301, redirect_to="https://a.test/x")
LOST = Seen("missing", "not_found", 404)
BROKEN = Seen("server_error", "server_error", 503)
WAITING = Seen("abandoned", "run_limit")
OUT = Seen("excluded", "scope")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, PAGE, "new"),
        (OUT, PAGE, "new"),
        (WAITING, PAGE, "new"),
        (None, MOVED, "new"),
        (None, LOST, "failed"),
        (None, BROKEN, "failed"),
        (PAGE, PAGE, "unchanged"),
        (PAGE, Seen("fetched", "ok", 200, "B", digest="d2"), "changed"),
        (PAGE, Seen("unchanged", "not_modified", 200, "A", "https://a.test/", None, "d1", ("etag",)), "unchanged"),
        (PAGE, Seen("unchanged", "not_due"), "unchanged"),
        (PAGE, MOVED, "moved"),
        (MOVED, MOVED, "unchanged"),
        (MOVED, Seen("redirected", "permanent", 301, redirect_to="https://a.test/y"), "moved"),
        (MOVED, PAGE, "changed"),
        (PAGE, LOST, "gone"),
        (PAGE, None, "gone"),
        (PAGE, OUT, "gone"),
        (PAGE, BROKEN, "failed"),
        (PAGE, WAITING, "unasked"),
        (LOST, PAGE, "back"),
        (BROKEN, PAGE, "back"),
        (BROKEN, BROKEN, "unchanged"),
        (BROKEN, LOST, "gone"),
        (LOST, LOST, "unchanged"),
        (OUT, OUT, "outside"),
        (OUT, None, "outside"),
    ],
)
def test_each_pair_of_endings_has_one_class(before: Seen | None, after: Seen | None, expected: str) -> None:
    """New, changed, unchanged, moved, gone and what else may become of a URL follow from its two endings alone."""
    assert judge(before, after)[0] == expected


@pytest.mark.parametrize(
    ("after", "facts"),
    [
        (PAGE, ()),
        (Seen("fetched", "ok", 200, "B", "https://a.test/", None, "d1", ("content-type",)), ("title",)),
        (Seen("fetched", "ok", 203, "A", None, None, "d1", ("content-type",)), ("status", "canonical")),
        (
            Seen("fetched", "ok", 200, "A", "https://a.test/", None, "d2", ("age", "content-type")),
            ("content", "headers"),
        ),
        (Seen("fetched", "empty", 200, "A", "https://a.test/", None, "d1", ("content-type",)), ("reason",)),
        (LOST, ("outcome", "reason", "status")),
        (MOVED, ("outcome", "reason", "status", "redirect_to")),
        (Seen("unchanged", "not_due"), ()),
        (Seen("unchanged", "not_modified", 200, "A", "https://a.test/", None, "d1", ("content-type",)), ()),
    ],
)
def test_every_fact_that_changed_is_named(after: Seen, facts: tuple[str, ...]) -> None:
    """Every change of outcome, reason, status, title, canonical, target, content and header set is told.

    That a revisit did not ask for a page again, or was answered 304, is none.
    """
    assert judge(PAGE, after)[1] == facts


def test_what_is_gone_and_was_left_alone_is_no_news() -> None:
    """A 404 that a revisit knows and does not ask for has no status, which is no change, now or when it is asked."""
    alone = Seen("missing", "not_found")
    assert judge(LOST, alone) == judge(alone, LOST) == (Difference.UNCHANGED, ())
    assert judge(alone, Seen("missing", "gone", 410)) == (Difference.UNCHANGED, ("reason",))


def test_a_reason_that_changed_outside_is_told() -> None:
    """A URL that both runs kept out is listed only where the reason is another one."""
    assert not is_told(*judge(OUT, OUT))
    assert is_told(*judge(OUT, Seen("excluded", "robots")))


@given(st.sampled_from(KINDS), st.sampled_from(KINDS))
def test_every_pair_of_kinds_is_judged(before: str, after: str) -> None:
    """No ending is without a class, each class has its meaning, and facts come in their order."""
    found, changed = judge(Seen(before, "x"), Seen(after, "y"))
    assert found in MEANINGS
    assert changed == tuple(fact for fact in FACTS if fact in changed)
    assert judge(Seen(before, "x"), Seen(before, "x")) in {
        (one, ()) for one in (Difference.UNCHANGED, Difference.OUTSIDE)
    }


@pytest.mark.parametrize(
    ("href", "section"),
    [
        ("https://a.test/", "https://a.test/"),
        ("https://a.test/x.html", "https://a.test/"),
        ("https://a.test/docs/", "https://a.test/docs/"),
        ("https://a.test/docs/a/b?c=/d", "https://a.test/docs/"),
        ("https://a.test/?next=/docs/", "https://a.test/"),
    ],
)
def test_a_section_is_the_first_folder(href: str, section: str) -> None:
    """A section is a path prefix: the origin and the first folder."""
    assert section_of(href) == section
