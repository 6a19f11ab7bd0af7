"""What a revisit asks for (R-2.4, SM-64, SM-70 to SM-73)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.revisit import (
    DAY,
    FADE,
    Action,
    Hint,
    Known,
    Plan,
    Rhythm,
    Trust,
    is_vanished_due,
    lot,
    measured,
    plan,
    rarer,
    section_of,
    sitemap_plan,
)
from purlieu.sitemap.moment import period

NOW = 1_800_000_000.0
RHYTHM = Rhythm(sample=0.1)
KNOWN = Known(
    "fetched", "ok", asked_at=NOW - 2 * DAY, interval_seconds=10 * DAY, last_run=1, etag='"e"', lastmod="2026-01-01"
)
OLD = Hint("2026-01-01", period("2026-01-01"))
NEW = Hint("2027-01-14", period("2027-01-14"))
LIES = {"lastmod": Trust(announced=10, confirmed=10, sampled=50, missed=5, left=950)}
TELLS_NOTHING = {"lastmod": Trust(announced=1000, confirmed=1)}


def decide(
    known: Known = KNOWN, hint: Hint | None = None, trust: dict[str, Trust] | None = None, **more: object
) -> Plan:
    """Plan one page that is not in the sample."""
    facts = {"is_wanted": False, "chance": 0.5, "now": NOW} | more
    return plan(known, hint, trust or {}, RHYTHM, **facts)  # type: ignore[arg-type]


# known, hint, trust -> action, ending, hint that speaks
TABLE = [
    ("its own interval has not passed", KNOWN, None, {}, Action.LEAVE, "unchanged.not_due", ""),
    ("its own interval has passed", replace(KNOWN, interval_seconds=DAY), None, {}, Action.ASK, "", ""),
    ("an honest date that has not moved", KNOWN, OLD, {}, Action.LEAVE, "unchanged.sitemap_lastmod", "lastmod"),
    ("the same, although the interval has passed", replace(KNOWN, interval_seconds=DAY), OLD, {}, Action.LEAVE,
     "unchanged.sitemap_lastmod", "lastmod"),
    ("a date that has moved", KNOWN, NEW, {}, Action.ASK, "", "lastmod"),
    ("a date that lies", KNOWN, OLD, LIES, Action.LEAVE, "unchanged.not_due", "lastmod"),
    ("a date that lies, and the interval has passed", replace(KNOWN, interval_seconds=DAY), OLD, LIES, Action.ASK, "",
     "lastmod"),
    ("a date that always moves", KNOWN, NEW, TELLS_NOTHING, Action.LEAVE, "unchanged.not_due", ""),
    ("a date never seen before, later than the visit", replace(KNOWN, lastmod=None), NEW, {}, Action.ASK, "", "lastmod"),
    ("a date never seen before, earlier", replace(KNOWN, lastmod=None), OLD, {}, Action.LEAVE,
     "unchanged.sitemap_lastmod", "lastmod"),
    ("weekly, two days ago", KNOWN, Hint(changefreq="weekly"), {}, Action.LEAVE, "unchanged.not_due", "changefreq"),
    ("daily, two days ago", KNOWN, Hint(changefreq="daily"), {}, Action.ASK, "", "changefreq"),
    ("always", KNOWN, Hint(changefreq="always"), {}, Action.ASK, "", "changefreq"),
    ("never, half a year ago", replace(KNOWN, asked_at=NOW - 180 * DAY), Hint(changefreq="never"), {}, Action.ASK, "",
     "changefreq"),
    ("redirected last time", replace(KNOWN, kind="redirected"), OLD, {}, Action.FETCH, "", ""),
    ("failed last time", replace(KNOWN, kind="server_error"), OLD, {}, Action.FETCH, "", ""),
    ("no longer stored", replace(KNOWN, is_whole=False), OLD, {}, Action.FETCH, "", ""),
    ("gone once", replace(KNOWN, kind="missing", reason="gone", gone_runs=1), None, {}, Action.FETCH, "", ""),
    ("gone often", replace(KNOWN, kind="missing", reason="gone", gone_runs=5), None, {}, Action.LEAVE, "missing.gone", ""),
    ("gone often, long ago", replace(KNOWN, kind="missing", gone_runs=5, asked_at=NOW - 9 * DAY), None, {}, Action.FETCH,
     "", ""),
    ("retired", replace(KNOWN, kind="missing", gone_runs=9, is_retired=True), None, {}, Action.LEAVE, "missing.retired", ""),
    ("retired, and dated anew", replace(KNOWN, kind="missing", gone_runs=9, is_retired=True), NEW, {}, Action.FETCH, "", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("known", "hint", "trust", "action", "ending", "speaks"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_what_is_done_with_a_known_page(
    known: Known, hint: Hint | None, trust: dict[str, Trust], action: Action, ending: str, speaks: str
) -> None:
    """The history and the hints decide, each as far as it has proven right (SM-64, SM-70, SM-71, SM-72)."""
    found = decide(known, hint, trust)
    assert (found.action, found.ending if action is Action.LEAVE else "", found.hint) == (action, ending, speaks)


def test_entry_points_are_always_asked() -> None:
    """A seed is asked conditionally whatever is said of it, and plainly when it was missing (BJ-2)."""
    assert decide(hint=OLD, is_wanted=True).action is Action.ASK
    assert decide(replace(KNOWN, kind="missing", gone_runs=9, is_retired=True), is_wanted=True).action is Action.FETCH


def test_a_share_of_what_would_be_left_alone_is_asked_all_the_same() -> None:
    """The sample is chosen by the page's lot and remembered as such."""
    found = decide(hint=OLD, chance=0.05)
    assert (found.action, found.is_sample, found.rank) == (Action.ASK, True, 2)
    assert decide(hint=NEW).rank == 0


def test_owners_may_switch_hints_off() -> None:
    """Without trust in hints the interval alone decides."""
    found = plan(KNOWN, OLD, {}, replace(RHYTHM, trust_hints=False), is_wanted=False, chance=0.5, now=NOW)
    assert found.ending == "unchanged.not_due"


def test_honesty_is_the_share_of_changes_that_were_announced() -> None:
    """50 sampled of 1,000, 5 of them changed: 100 were missed, so 10 announced are a tenth or so of all."""
    assert LIES["lastmod"].honesty == pytest.approx(10 / 110)
    assert not LIES["lastmod"].is_honest
    assert Trust().is_honest
    assert Trust(announced=200, confirmed=200, sampled=400, left=19_400).is_honest


def test_a_liar_wins_trust_back() -> None:
    """Old measurements fade, so that a section which has become honest is believed again."""
    trust, runs = LIES["lastmod"], 0
    honest = Trust(announced=10, confirmed=10, sampled=50, left=950)
    while not trust.is_honest:
        trust, runs = honest.faded(trust), runs + 1
    assert 1 < runs < 20
    assert Trust().faded(Trust(8, 4, 2, 1, 16)) == Trust(*(FADE * one for one in (8, 4, 2, 1, 16)))


def test_a_section_that_shows_nothing_is_judged_by_its_host() -> None:
    """Few changes seen in a section: the host's measurement counts; a lie, or three true announcements, are its own."""
    assert Trust(sampled=40, left=1960).or_of(LIES["lastmod"]) is LIES["lastmod"]
    assert Trust(announced=5, confirmed=5, sampled=40, left=1960).or_of(LIES["lastmod"]).is_honest
    assert not Trust(sampled=40, missed=1, left=1960).or_of(Trust()).is_honest


def test_a_visit_measures_the_hint_that_its_plan_followed() -> None:
    """Announced or sampled or left alone, each counted once."""
    assert measured(decide(hint=NEW), is_changed=True) == Trust(announced=1, confirmed=1)
    assert measured(decide(hint=OLD, chance=0.0), is_changed=True) == Trust(sampled=1, missed=1)
    assert measured(decide(hint=OLD), is_changed=False) == Trust(left=1)


def test_a_file_is_left_alone_when_its_index_has_not_moved() -> None:
    """The index's lastmod is of the file (SM-40); a file that nobody dates is asked conditionally."""

    def of(lastmod: str | None, trust: Trust = Trust(), chance: float = 0.5) -> Action:  # noqa: B008 - a value
        return sitemap_plan(KNOWN, lastmod, trust, RHYTHM, chance=chance, now=NOW).action

    assert of("2026-01-01") is Action.LEAVE
    assert of("2026-01-02") is Action.ASK
    assert of(None) is Action.ASK
    assert of("2026-01-01", chance=0.01) is Action.ASK
    assert of("2026-01-01", LIES["lastmod"]) is Action.ASK


def test_the_section_is_the_first_folder() -> None:
    """Hints are measured per section, a path prefix (glossary)."""
    hrefs = ("http://a.test/", "http://a.test/x", "http://a.test/x/", "http://a.test/x/y/z", "http://a.test/x/y?q=/")
    assert [section_of(href) for href in hrefs] == ["/", "/", "/x/", "/x/", "/x/"]


@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 10_000))
def test_lots_are_shares(hashed: int, run: int) -> None:
    """A lot lies in [0, 1) and is the same each time."""
    assert 0.0 <= lot(hashed, run) < 1.0
    assert lot(hashed, run) == lot(hashed, run)


def test_lots_are_even_and_new_in_each_run() -> None:
    """About one in fifty of keys, evenly spread or in a row, and others in the next run."""
    for keys in ([i * 7_919_777 - 2**40 for i in range(20_000)], list(range(20_000))):
        first = {key for key in keys if lot(key, 7) < 0.02}
        second = {key for key in keys if lot(key, 8) < 0.02}
        assert 320 < len(first) < 480
        assert len(first & second) < 40


@given(st.integers(0, 500))
def test_what_is_rarer_is_never_rarer_than_the_bound(times: int) -> None:
    """Waiting doubles and ends at the most interval."""
    assert RHYTHM.least_seconds <= rarer(RHYTHM, times) <= RHYTHM.most_seconds
    assert rarer(RHYTHM, times) <= rarer(RHYTHM, times + 1)


def test_a_vanished_page_is_asked_at_once_and_then_more_rarely() -> None:
    """The first run that misses it asks; the next ones wait (R-2.4)."""
    assert is_vanished_due(NOW - 60, 0, RHYTHM, NOW)
    assert not is_vanished_due(NOW - 60, 1, RHYTHM, NOW)
    assert is_vanished_due(NOW - 2 * DAY, 1, RHYTHM, NOW)
    assert not is_vanished_due(NOW - 2 * DAY, 3, RHYTHM, NOW)


@given(
    chance=st.floats(0, 0.999),
    interval=st.floats(0, 1e7),
    asked=st.floats(0, 1e8),
    lastmod=st.sampled_from([None, "2026", "2027-01-14", "nonsense"]),
    changefreq=st.sampled_from([None, "daily", "never", "often"]),
)
def test_no_page_is_left_alone_for_ever(
    chance: float, interval: float, asked: float, lastmod: str | None, changefreq: str | None
) -> None:
    """Whatever is said of a page, after the longer of its interval and the most interval it is asked for (SM-64)."""
    known = replace(KNOWN, asked_at=NOW - asked, interval_seconds=min(interval, RHYTHM.most_seconds))
    hint = Hint(lastmod, period(lastmod) if lastmod else None, changefreq)
    found = decide(known, hint, chance=chance)
    if asked > RHYTHM.most_seconds:
        assert found.action is Action.ASK
