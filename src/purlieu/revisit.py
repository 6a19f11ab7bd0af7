"""What a revisit asks for: everything, only what changed, or nothing this time (SM-64, SM-70 to SM-73, R-2.4).

Turns what earlier runs learnt of a page and what its sitemap says today into a plan, and measures how far such hints
were right. Knows no store and no clock: times come in, and chance is a hash of the page's key and the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from purlieu.value import dataclass

DAY: Final = 86_400.0
CHANGEFREQ_SECONDS: Final = {
    "always": 0.0,
    "hourly": 3600.0,
    "daily": DAY,
    "weekly": 7 * DAY,
    "monthly": 30 * DAY,
    "yearly": 365 * DAY,
    "never": 365 * DAY,  # an occasional check all the same (SM-64)
}
SLOWER, FASTER = 1.5, 0.5
"""What an interval is multiplied with after a visit that found no change, and one that found one."""
EARLY = 0.9
"""A tenth of an interval is forgiven, or a nightly run that comes a minute early would leave all to the next night."""
FADE = 0.5
"""What is left of a run's measurements in the next one."""
HONEST_SHARE = 0.9
"""A hint is trusted as long as it announced at least this share of the changes there were."""
TELLING_CHANGES = 3.0
"""So many announced changes that were true speak for a section whatever its host's other sections are like."""
TELLING_SHARE, TELLING_LEAST = 0.05, 20.0
"""A hint that announced so many changes of which fewer than this share were any says nothing."""
_MASK = 2**64 - 1


class Action(StrEnum):
    """What a run does with an address that it knows."""

    FETCH = "fetch"
    ASK = "ask"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class Rhythm:
    """The owner's bounds: how soon and how late a page is asked for again, in seconds, and when it is given up.

    ``sample`` is the share of what would be left alone that is asked for all the same; ``trust_hints`` false makes
    sitemaps no reason to leave anything alone. ``gone_after``: so many 404 or 410 in a row are believed, and the page
    is asked for ever more rarely; ``retire_after``: so many, and it is not asked for any more.
    """

    least_seconds: float = DAY
    most_seconds: float = 30 * DAY
    sample: float = 0.02
    trust_hints: bool = True
    gone_after: int = 3
    retire_after: int = 8


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier runs know of an address; ``kind`` and ``reason`` are how it ended when it was last asked for.

    ``asked_at`` in seconds since the epoch. ``lastmod`` is what its sitemap said then, as written. ``last_run`` has its
    last response; ``is_whole`` says that this response, with its links, is still stored. ``is_sitemap``: it was read
    as a sitemap file too.
    """

    kind: str
    reason: str
    asked_at: float
    interval_seconds: float
    last_run: int
    etag: str | None = None
    last_modified: str | None = None
    digest: str | None = None
    lastmod: str | None = None
    gone_runs: int = 0
    is_retired: bool = False
    is_whole: bool = True
    is_sitemap: bool = False


@dataclass(frozen=True, slots=True)
class Hint:
    """What a sitemap says of an address today: lastmod as written, the time it names (start, end), changefreq."""

    lastmod: str | None = None
    lastmod_span: tuple[float, float] | None = None
    changefreq: str | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a hint was right: changes announced, of these confirmed; sampled although unchanged, of these missed.

    ``left`` counts what was left alone on the hint's word. Numbers fade from run to run.
    """

    announced: float = 0.0
    confirmed: float = 0.0
    sampled: float = 0.0
    missed: float = 0.0
    left: float = 0.0

    @property
    def honesty(self) -> float:
        """Return which share of the changes there were the hint had announced, as the sample tells; 1.0 unmeasured."""
        if not self.missed:
            return 1.0
        missed = self.missed * (self.left + self.sampled) / self.sampled
        return self.confirmed / (self.confirmed + missed)

    @property
    def is_honest(self) -> bool:
        """Return whether a page may be left alone because the hint says that it has not changed."""
        return self.honesty >= HONEST_SHARE

    def or_of(self, host: Trust) -> Trust:
        """Return this measurement of a section, or its host's where too few changes were seen to judge it by itself.

        A sitemap that lies in one section is likely to lie in the others, whose samples have not shown it yet.
        """
        return self if self.missed or self.confirmed >= TELLING_CHANGES else host

    @property
    def is_telling(self) -> bool:
        """Return whether a change that the hint announces is worth asking for: not where nearly all are none."""
        return self.announced < TELLING_LEAST or self.confirmed >= TELLING_SHARE * self.announced

    def faded(self, other: Trust) -> Trust:
        """Return this measurement with an older one, which counts half."""
        return Trust(*(
            getattr(self, name) + FADE * getattr(other, name)
            for name in ("announced", "confirmed", "sampled", "missed", "left")
        ))  # fmt: skip


UNMEASURED: Final = Trust()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do with a known address, and why.

    ``ending`` is how it ends when it is left alone. ``hint`` is what was believed or is measured ("lastmod",
    "changefreq", "index", "" for none), ``is_announced`` whether it announced a change, ``is_sample`` whether the page
    is asked for only to see whether leaving it alone would have missed a change. ``known`` as it was then.
    """

    action: Action
    known: Known
    ending: str = ""
    hint: str = ""
    is_announced: bool = False
    is_sample: bool = False

    @property
    def rank(self) -> int:
        """Return the order of asking: announced changes first, samples last."""
        return 0 if self.is_announced else 2 if self.is_sample else 1


def plan(
    known: Known,
    hint: Hint | None,
    trust_of: Mapping[str, Trust],
    rhythm: Rhythm,
    *,
    is_wanted: bool,
    chance: float,
    now: float,
) -> Plan:
    """Return what to do with a page that was asked for before (SM-64, SM-71, SM-72).

    ``trust_of`` gives the measured trust by hint, ``chance`` is the page's lot in [0, 1) (see ``lot``). ``is_wanted``:
    an entry point, or a page whose time has come although nothing names it; these are asked in any case. Only what was
    fetched last time is left alone or asked conditionally; what failed or redirected is asked plainly, except what is
    gone for good. A time in the future (the clock was wrong then, or is now) says nothing: the page is asked for.
    """
    if known.kind == "missing" and not is_wanted:
        return _of_missing(known, hint, rhythm, now)
    if known.kind not in {"fetched", "unchanged"} or not known.is_whole:
        return Plan(Action.FETCH, known)
    if is_wanted or known.asked_at > now:
        return Plan(Action.ASK, known)
    name, is_announced, due_at = _said(known, hint, trust_of, rhythm, now)
    if is_announced:
        return Plan(Action.ASK, known, hint=name, is_announced=True)
    believed = bool(name) and trust_of.get(name, UNMEASURED).is_honest
    if not believed:
        due_at = known.asked_at + EARLY * known.interval_seconds
    if now >= due_at:
        # A hint that is not believed is measured by what is asked for anyway.
        return Plan(Action.ASK, known, hint="" if believed else name)
    ending = "unchanged.sitemap_lastmod" if believed and name == "lastmod" else "unchanged.not_due"
    if chance < rhythm.sample:
        return Plan(Action.ASK, known, ending, name, is_sample=True)
    return Plan(Action.LEAVE, known, ending, name)


def _said(
    known: Known, hint: Hint | None, trust_of: Mapping[str, Trust], rhythm: Rhythm, now: float
) -> tuple[str, bool, float]:
    """Return the hint that speaks ("" for none), whether it announces a change, and until when its silence counts."""
    latest = known.asked_at + rhythm.most_seconds
    if hint is None or not rhythm.trust_hints:
        return "", False, latest
    if hint.lastmod is not None and hint.lastmod_span is not None:
        start, end = hint.lastmod_span
        moved = hint.lastmod != known.lastmod if known.lastmod is not None else start > known.asked_at
        if moved:
            is_telling = trust_of.get("lastmod", UNMEASURED).is_telling
            return ("lastmod", True, latest) if is_telling else ("", False, latest)
        # Asked for within the very day that it names, so that it says nothing of the rest of that day.
        return ("", False, latest) if end > known.asked_at else ("lastmod", False, latest)
    if hint.changefreq in CHANGEFREQ_SECONDS:
        due_at = min(known.asked_at + EARLY * CHANGEFREQ_SECONDS[hint.changefreq], latest)
        if now < due_at:
            return "changefreq", False, due_at
        if trust_of.get("changefreq", UNMEASURED).is_telling:
            return "changefreq", True, due_at
    return "", False, latest


def _of_missing(known: Known, hint: Hint | None, rhythm: Rhythm, now: float) -> Plan:
    """Return what to do with a page that was 404 or 410: asked ever more rarely, and in the end no more."""
    is_back = bool(hint and hint.lastmod_span is not None and hint.lastmod_span[0] > known.asked_at)
    if known.gone_runs < rhythm.gone_after or is_back or (known.asked_at > now and not known.is_retired):
        return Plan(Action.FETCH, known)
    if known.is_retired:
        return Plan(Action.LEAVE, known, "missing.retired")
    if now >= known.asked_at + EARLY * rarer(rhythm, known.gone_runs - rhythm.gone_after):
        return Plan(Action.FETCH, known)
    return Plan(Action.LEAVE, known, f"missing.{known.reason}")


def sitemap_plan(
    known: Known, index_lastmod: str | None, trust: Trust, rhythm: Rhythm, *, chance: float, now: float
) -> Plan:
    """Return what to do with a sitemap file: left alone when its index says that it has not moved (R-2.4).

    ``index_lastmod`` is what the index that names it says today, None without one. A file that nobody dates is asked
    conditionally each time. A tenth of what would be left alone is asked for all the same: a file hides many pages.
    """
    if known.kind not in {"fetched", "unchanged"} or not known.is_whole:
        return Plan(Action.FETCH, known)
    if index_lastmod is None or known.lastmod is None or not rhythm.trust_hints or known.asked_at > now:
        return Plan(Action.ASK, known)
    if index_lastmod != known.lastmod:
        return Plan(Action.ASK, known, hint="index", is_announced=True)
    if not trust.is_honest or now >= known.asked_at + rhythm.most_seconds:
        return Plan(Action.ASK, known, hint="index")
    if chance < max(rhythm.sample, 0.1 if rhythm.sample else 0.0):
        return Plan(Action.ASK, known, "unchanged.sitemap_lastmod", "index", is_sample=True)
    return Plan(Action.LEAVE, known, "unchanged.sitemap_lastmod", "index")


def measured(plan: Plan, *, is_changed: bool) -> Trust:
    """Return what one visit, or one page left alone, says of the hint that its plan followed."""
    if plan.action is Action.LEAVE:
        return Trust(left=1.0)
    if plan.is_announced:
        return Trust(announced=1.0, confirmed=float(is_changed))
    return Trust(sampled=1.0, missed=float(is_changed))


def rarer(rhythm: Rhythm, times: int) -> float:
    """Return how long to wait after so many visits in vain: the least interval, doubled each time, up to the most."""
    return min(rhythm.least_seconds * 2.0 ** min(max(times, 0), 30), rhythm.most_seconds)


def is_vanished_due(asked_at: float, missed_runs: int, rhythm: Rhythm, now: float) -> bool:
    """Return whether a known address that this run did not find is asked for: at once, then ever more rarely."""
    return missed_runs == 0 or asked_at > now or now >= asked_at + EARLY * rarer(rhythm, missed_runs - 1)


def section_of(href: str) -> str:
    """Return the section that an address's hints are measured with: the first folder of its path, "/" at the root."""
    # By hand: with urlsplit this was a tenth of what a page costs that is left alone.
    _, _, path = href.partition("//")[2].partition("/")
    first, slash, _ = path.partition("?")[0].lstrip("/").partition("/")
    return f"/{first}/" if slash and first else "/"


def lot(hashed: int, run: int) -> float:
    """Return a page's lot in a run, evenly spread in [0, 1) and different in each run (splitmix64 of both)."""
    mixed = (hashed + run * 0x9E3779B97F4A7C15) & _MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
    return float((mixed ^ (mixed >> 31)) >> 11) / 2.0**53
