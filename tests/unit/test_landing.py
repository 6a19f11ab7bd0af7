"""Where redirect chains end (R-2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.landing import LandingKind, walk


@dataclass(frozen=True)
class Row:
    """A row of a made ledger."""

    kind: str
    redirect_to: str | None = None


def _chain(length: int, end: Row | None) -> dict[str, Row | None]:
    rows: dict[str, Row | None] = {str(n): Row("redirected", str(n + 1)) for n in range(length)}
    return rows | {str(length): end}


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (Row("fetched"), LandingKind.LANDED),
        (Row("unchanged"), LandingKind.LANDED),
        (Row("missing"), LandingKind.FAILED),
        (Row("skipped"), LandingKind.FAILED),
        (Row("abandoned"), LandingKind.FAILED),
        (Row("misdirected"), LandingKind.FAILED),
        (Row("due"), LandingKind.FAILED),
        (Row("excluded"), LandingKind.OUT_OF_SCOPE),
        (None, LandingKind.OUT_OF_SCOPE),
    ],
)
def test_end_of_a_chain(end: Row | None, expected: LandingKind) -> None:
    """A chain ends as its last row did; a row that was not admitted, or excluded later, is out of scope (R-2.5)."""
    landing = walk("0", _chain(3, end).get)

    assert (landing.kind, landing.href, landing.hops) == (expected, "3", 3)


@pytest.mark.parametrize(("redirects", "expected"), [(10, LandingKind.LANDED), (11, LandingKind.TOO_MANY)])
def test_redirect_after_the_limit(redirects: int, expected: LandingKind) -> None:
    """Ten redirects land, the eleventh is too many (AMB-MF-5)."""
    landing = walk("0", _chain(redirects, Row("fetched")).get, 10)

    assert (landing.kind, landing.href, landing.hops) == (expected, "10", 10)


@pytest.mark.parametrize("back_to", [0, 2, 4])
def test_loop(back_to: int) -> None:
    """A chain that comes back to any of its addresses, itself included, is a loop, not too many (R-2.5)."""
    landing = walk("0", _chain(4, Row("redirected", str(back_to))).get)

    assert (landing.kind, landing.href) == (LandingKind.LOOP, "4")


def test_row_of_what_was_asked_last() -> None:
    """Out of scope the row is the one that redirected there, as the target was never asked."""
    rows = _chain(2, None)

    assert walk("0", rows.get).row is rows["1"]
    assert walk("2", rows.get).row is None


@given(st.dictionaries(st.integers(0, 20), st.integers(0, 20)), st.integers(0, 12))
def test_always_ends(redirects: dict[int, int], limit: int) -> None:
    """Whatever redirects to whatever, the walk ends within the limit and asks each address at most once."""
    asked: list[str] = []

    def row_of(href: str) -> Row:
        asked.append(href)
        target = redirects.get(int(href))
        return Row("fetched") if target is None else Row("redirected", str(target))

    landing = walk("0", row_of, limit)

    assert landing.hops <= limit
    assert len(asked) == len(set(asked)) == landing.hops + 1
