"""How two sets of facts about one URL merge (R-2.1)."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from purlieu.candidate import Facts, FoundBy, Standing

facts = st.builds(
    Facts,
    depth=st.integers(0, 3),
    hops=st.integers(0, 3),
    nofollow=st.booleans(),
    found_by=st.sampled_from(FoundBy),
    via=st.sampled_from(["", "http://a/", "http://b/"]),
    linked=st.booleans(),
    grant=st.sampled_from(["", "seed", "named-sitemap"]),
    sites=st.frozensets(st.integers(0, 3), max_size=3),
    standing=st.sampled_from(Standing),
)
placed = facts.filter(lambda one: one.standing is not Standing.MISPLACED)


@given(facts, facts, facts)
def test_merging_is_a_semilattice(one: Facts, two: Facts, three: Facts) -> None:
    """Order and repetition of merging never show, so the ledger cannot depend on them (R-2.1)."""
    assert one.merged(two) == two.merged(one)
    assert one.merged(two).merged(three) == one.merged(two.merged(three))
    assert one.merged(one) == one


@given(facts, facts)
def test_covering_means_that_merging_changes_nothing(one: Facts, two: Facts) -> None:
    """``covers`` is the cheap form of ``merged(other) == self`` (R-2.3)."""
    assert one.covers(two) == (one.merged(two) == one)


@given(placed, placed)
def test_the_better_of_each_is_kept(one: Facts, two: Facts) -> None:
    """Depth = min, hops = min, nofollow = and, linked = or, sites = union (R-2.1, R-6.2)."""
    merged = one.merged(two)
    assert merged.depth == min(one.depth, two.depth)
    assert merged.hops == min(one.hops, two.hops)
    assert merged.nofollow == (one.nofollow and two.nofollow)
    assert merged.linked == (one.linked or two.linked)
    assert merged.sites == one.sites | two.sites
    assert merged.standing == max(one.standing, two.standing)


@given(placed, facts)
def test_a_misplaced_mention_adds_nothing(one: Facts, other: Facts) -> None:
    """SM-34: a sitemap that may not speak for an address betters nothing of how it was found elsewhere."""
    misplaced = replace(other, standing=Standing.MISPLACED)
    assert one.merged(misplaced) == misplaced.merged(one) == one
