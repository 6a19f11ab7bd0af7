"""Why one URL is in or out: the tests with their values, and with a run how it was found and how it ended there.

Reads a store and judges by the rules of the crawl; asks no network. The verdict in a run is the ledger's; that judging
anew gives the same is told, or how it differs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any, Final

from purlieu import settings
from purlieu.admission import Ruling, grant_of_hop
from purlieu.candidate import FoundBy, Purpose
from purlieu.errors import SettingsError, UrlError
from purlieu.judgement import ASSUMED, ONLY_IN_A_RUN, Check, Judgement, Rules, of_robots, told_suffix
from purlieu.landing import Landing
from purlieu.outcome import REASONS
from purlieu.scope import GRANT_SEED
from purlieu.sentence import Sentence
from purlieu.settings import Settings
from purlieu.store.reader import FoundRow, Linking, PastRow, Reader, RunRow, UnlistedRow, VisitRow
from purlieu.url import host_of, origin_of, parse
from purlieu.value import dataclass, replace

NOT_ENDED: Final = Sentence("It has not ended yet.")
MOST_LINKING: Final = 20
MOST_SCANNED: Final = 10_000
MOST_SITEMAPS: Final = 20
MOST_STEPS: Final = 100
_NEVER_ASKED: Final = frozenset({"abandoned", "due"})


@dataclass(frozen=True, slots=True)
class RowTold:
    """One row of the ledger and what judging it anew says. ``agrees``: the same verdict by the same rule."""

    purpose: Purpose
    row: FoundRow
    anew: Judgement

    @property
    def accepted(self) -> bool:
        """Return whether the run took the URL in."""
        return self.row.kind != "excluded"

    @property
    def agrees(self) -> bool:
        """Return whether judging anew gives the verdict of the ledger."""
        return (self.accepted, self.row.rule) == (self.anew.accepted, self.anew.rule)

    @property
    def outcome(self) -> str:
        """Return how it ended, ``kind.reason``."""
        return f"{self.row.kind}.{self.row.reason}"

    @property
    def reason(self) -> str:
        """Return why it is in or out, in a sentence."""
        return self.reason_in("en")

    def reason_in(self, language: str) -> str:
        """Return the same: a sentence to be said, or that of its ending in a language."""
        return self.anew.reason if self.agrees else self.sentence(language)

    def sentence(self, language: str = "en") -> str:
        """Return the sentence of its ending; a due one has none."""
        return REASONS[self.outcome].sentence(language) if self.outcome in REASONS else NOT_ENDED


@dataclass(frozen=True, slots=True)
class InRun:
    """What a run knows of a URL. ``found`` is the way from it to a seed, ``chain`` the redirects from it."""

    run: RunRow
    rows: tuple[RowTold, ...]
    robots: Check
    found: tuple[FoundRow, ...]
    chain: tuple[VisitRow, ...]
    landing: Landing[VisitRow] | None
    sitemaps: tuple[tuple[str, str | None], ...]
    linking: Linking
    unlisted: tuple[UnlistedRow, ...]
    past: PastRow | None
    asks_robots: bool
    """Whether it is an address of the web, which has a robots.txt."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a URL is in or out. ``judgement`` has the tests; ``notes`` are further lines for the owner."""

    judgement: Judgement
    notes: tuple[str, ...] = ()
    in_run: InRun | None = None

    @property
    def row(self) -> RowTold | None:
        """Return the row of the ledger that the verdict is about: the page's, if it was found as one."""
        return self.in_run.rows[0] if self.in_run and self.in_run.rows else None

    @property
    def accepted(self) -> bool:
        """Return whether the URL is in."""
        return self.row.accepted if self.row else self.judgement.accepted

    @property
    def rule(self) -> str:
        """Return the rule that decided, as in the ledger."""
        return self.row.row.rule if self.row else self.judgement.rule

    @property
    def reason(self) -> str:
        """Return why, in a sentence."""
        return self.reason_in("en")

    def reason_in(self, language: str) -> str:
        """Return why: a sentence to be said, or that of an ending in a language."""
        return self.row.reason_in(language) if self.row else self.judgement.reason


def settings_of(reader: Reader, run: RunRow) -> Settings:
    """Return the settings that a run was made with, without what is secret: logins, headers, proxy.

    Raises SettingsError when this version does not read them.
    """
    try:
        tree = tomllib.loads(reader.config(run))
    except tomllib.TOMLDecodeError:
        tree = {}
    tree.pop("origin", None)  # its secrets are masked, and a mask is no value
    if isinstance(tree.get("fetch"), dict):
        tree["fetch"].pop("proxy", None)
    return settings.of(tree)


def by_settings(made: Settings, url: str, now: float | None = None) -> Explanation:
    """Return why a URL would be in or out, now, assuming no seed redirects (R-3.7)."""
    rules = Rules.of(made, now=now)
    judgement = rules.judge(url)
    notes = [ASSUMED, *rules.notes(judgement.href, rules.assumed(judgement.href))]
    if made.robots.obey and judgement.accepted:
        notes.append(Sentence("robots.txt was not asked: it stands on the web, or in a run (--run)"))
    if judgement.href in rules.sitemaps:
        notes.append(Sentence("it is fetched as a sitemap, too: sitemap.files names it"))
    return Explanation(judgement, tuple(notes))


def by_run(reader: Reader, run: RunRow, url: str) -> Explanation:
    """Return why a URL was taken in or refused in a run, and all that the run knows of it."""
    made = settings_of(reader, run)
    rules = Rules.of(made, reader.landings(run), now=run.started_at)
    href = _met_as(reader, run, rules, url)
    asked = _robots(reader, run, made, href)
    rows = tuple(
        RowTold(purpose, row, _anew(rules, granted(reader, run, rules, row), purpose, href, url, asked))
        for purpose in (Purpose.PAGE, Purpose.SITEMAP, Purpose.ROBOTS, Purpose.CHECK)
        if (row := reader.found(run, href, purpose)) is not None
    )
    judgement = rows[0].anew if rows else rules.judge(url)
    if not rows and judgement.accepted and asked.passed is False:
        judgement = _by_robots(judgement, asked)
    chain = reader.chain(run, href, rules.admission.max_redirects) if rows else []
    linking = reader.linking(run, href, rules.meant, MOST_LINKING, MOST_SCANNED)
    host = "" if judgement.refused in {"invalid_url", "scheme"} else host_of(href)
    told = InRun(
        run,
        rows,
        asked._replace(name="robots.txt"),
        _way(reader, run, rows[0].row) if rows else (),
        tuple(chain),
        reader.landing(run, href, rules.admission.max_redirects) if chain and chain[0].redirect_to else None,
        tuple(reader.naming_sitemaps(run, href, MOST_SITEMAPS)),
        linking,
        () if rows else _unlisted(reader, run, judgement, host),
        reader.past(run, href) if host else None,
        bool(host),
    )
    return Explanation(judgement, tuple(_notes(told)), told)


def meant(reader: Reader, run: RunRow) -> Callable[[str], str]:
    """Return what gives the address that a link means by the owner's normalisers, as the run's settings say."""
    try:
        return Rules.of(settings_of(reader, run)).meant
    except SettingsError:  # of another version
        return lambda link: link


def _met_as(reader: Reader, run: RunRow, rules: Rules, url: str) -> str:
    """Return the href under which a run met a URL: as it stands, or by the owner's normalisers."""
    try:
        href = parse(url).href
    except UrlError:
        return url
    normal = rules.normal(href)
    if href != normal and any(reader.found(run, href, purpose) for purpose in Purpose):
        return href
    return normal


def granted(reader: Reader, run: RunRow, rules: Rules, row: FoundRow) -> FoundRow:
    """Return a row with the grant of seeds and their hops, which a refusal does not keep: filters may refuse these."""
    facts = row.facts
    if row.kind != "excluded" or facts.grant or not rules.admission.filter_seeds:
        return row
    if facts.found_by is FoundBy.SEED:
        return row._replace(facts=replace(facts, grant=GRANT_SEED))
    source = reader.found(run, facts.via) if facts.via else None
    if source is None or not source.redirect_to or rules.meant(source.redirect_to) != row.href:
        return row
    within = source.facts.hops < rules.admission.max_redirects
    return row._replace(facts=replace(facts, grant=grant_of_hop(source.facts.grant) if within else ""))


def _anew(rules: Rules, row: FoundRow, purpose: Purpose, href: str, url: str, asked: Check) -> Judgement:
    """Return the verdict on a row's URL from the facts with which it was found."""
    judgement = rules.judge_href(href, row.facts, purpose, url=url)
    if not judgement.accepted:
        return judgement
    # Only the run can tell these: its count of a host's pages, and what its owner's callable said.
    if row.rule.startswith(ONLY_IN_A_RUN):
        told = rules.reason(href, row.facts, purpose, Ruling(row.reason, row.rule))
        return replace(judgement, refused=row.reason, rule=row.rule, reason=told)
    never_asked = row.kind in _NEVER_ASKED or row.reason == "robots_unreachable"
    if purpose is Purpose.ROBOTS or never_asked or asked.passed is not False:
        return judgement
    return _by_robots(judgement, asked)


def _by_robots(judgement: Judgement, asked: Check) -> Judgement:
    return replace(judgement, refused="robots", rule=asked.name, reason=asked.told)


def _robots(reader: Reader, run: RunRow, made: Settings, href: str) -> Check:
    """Return what the robots.txt that the run read says; its rule is the name."""
    if not made.robots.obey:
        return Check("robots", None, Sentence("robots.obey is false: robots.txt was not obeyed"))
    row = reader.robots(run, origin_of(href)) if host_of(href) else None
    if row is None:
        return Check("robots", None, Sentence("the run never asked this origin for its robots.txt"))
    if row.body is None or row.state != "known":
        if row.state == "known":
            told = Sentence("it was not asked for: links to this origin are checked, and none is followed")
        elif row.ended:
            told = Sentence("it could not be had, so nothing of the origin may be fetched")
        else:
            told = Sentence("the run has not read it")
        return Check("robots", None, told)
    return of_robots(row.body, row.source, made.robots.agent, href)


def _way(reader: Reader, run: RunRow, row: FoundRow) -> tuple[FoundRow, ...]:
    """Return the rows from a URL to the seed, sitemap or robots.txt that began its way, each found on the next."""
    way, seen = [row], {row.href}
    while (via := way[-1].facts.via) and via not in seen and len(way) < MOST_STEPS:
        seen.add(via)
        found = (reader.found(run, via, purpose) for purpose in (Purpose.PAGE, Purpose.SITEMAP, Purpose.ROBOTS))
        before = next((one for one in found if one is not None), None)
        if before is None:
            break
        way.append(before)
    return tuple(way)


def _unlisted(reader: Reader, run: RunRow, judgement: Judgement, host: str) -> tuple[UnlistedRow, ...]:
    """Return what of its host, or else of its scheme, is counted and not listed."""
    return tuple(one for one in reader.unlisted(run) if one.host == host and (host or one.rule == judgement.rule))


def _finds(count: int) -> Sentence:
    return Sentence("1 find") if count == 1 else Sentence("{count} finds", count=f"{count:,}")


def _notes(told: InRun) -> list[str]:
    number, notes = told.run.id, list[str]()
    if told.run.state == "running":
        notes.append(Sentence("run {run} has not ended: what is said here may change", run=number))
    if not told.rows:
        notes.append(Sentence("run {run} has no row of it: it was not found, or is counted and not listed", run=number))
    for one in told.unlisted:
        values = {"finds": _finds(one.count), "ending": f"excluded.{one.reason}", "rule": one.rule}
        if one.host:
            notes.append(Sentence("not listed: {finds} of its host ended {ending} ({rule})", **values))
        else:
            notes.append(Sentence("not listed: {finds} of its scheme ended {ending} ({rule})", **values))
    notes += [
        Sentence(
            "the ledger's verdict ({purpose}) stands; judged anew by the run's settings the rule is {rule}",
            purpose=one.purpose.value, rule=one.anew.rule,
        )
        for one in told.rows
        if not one.agrees
    ]  # fmt: skip
    if told.linking.cut:
        scanned = f"{told.linking.scanned:,}"
        notes.append(Sentence("the search for links to it ended after {count} pages: there may be more", count=scanned))
    return notes


def facts(told: Explanation) -> dict[str, Any]:
    """Return an explanation as values for JSON."""
    judgement = told.judgement
    made: dict[str, Any] = {
        **judgement.facts(),
        "accepted": told.accepted,
        "rule": told.rule,
        "reason": told.reason,
        "notes": list(told.notes),
        "checks": [check._asdict() for check in judgement.checks],
        "sites": [
            {
                "site": test.site,
                "seed": test.seed,
                "measured_from": test.measured_from,
                "mode": test.mode,
                "compares": test.compares,
                "value": test.value,
                "wanted": list(test.wanted),
                "accepted": test.accepted,
                "told_by": told_suffix(test),
            }
            for test in judgement.tests
        ],
    }
    return made if told.in_run is None else made | _facts_in_run(told.in_run)


def _facts_in_run(told: InRun) -> dict[str, Any]:
    first = told.rows[0] if told.rows else None
    landing = told.landing
    return {
        "outcome": first.outcome if first else None,
        "run": told.run.id,
        "crawl": told.run.crawl,
        "rows": [
            {
                "purpose": one.purpose.value,
                "accepted": one.accepted,
                "outcome": one.outcome,
                "rule": one.row.rule,
                "reason": one.reason,
                "sentence": one.sentence(),
                "status": one.row.status,
                "depth": one.row.facts.depth,
                "hops": one.row.facts.hops,
                "found_by": one.row.facts.found_by.value,
                "via": one.row.facts.via,
                "attempts": one.row.attempts,
                "agrees": one.agrees,
            }
            for one in told.rows
        ],
        "robots": told.robots.told if told.asks_robots else None,
        "found": [{"url": one.href, "found_by": one.facts.found_by.value} for one in told.found],
        "redirects": [{"url": one.href, "status": one.status} for one in told.chain] if landing else [],
        "landing": {"kind": landing.kind.value, "url": landing.href, "hops": landing.hops} if landing else None,
        "sitemaps": [{"url": file, "lastmod": lastmod} for file, lastmod in told.sitemaps],
        "linked_from": [{"url": url, "kind": kind, "nofollow": nofollow} for url, kind, nofollow in told.linking.found],
        "history": told.past._asdict() if told.past else None,
        "pages_searched": told.linking.scanned,
        "all_pages_searched": not told.linking.cut,
    }
