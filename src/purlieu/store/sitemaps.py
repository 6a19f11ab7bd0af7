"""The sitemaps of one run: which files are asked for, what the files say, and what of that the intake is given.

Runs inside the transaction of ``frontier.finish``. What a file says is stored first and then applied, and applied
again when more is known of who names the file: so it does not matter what came first (R-2.1). Must not know how a
sitemap is read or fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from purlieu import robots as robots_txt
from purlieu import url
from purlieu.admission import grant_of_hop
from purlieu.candidate import Candidate, Facts, FoundBy, Purpose, Standing
from purlieu.decide import Visit
from purlieu.scope import GRANT_SEED, GRANT_SEED_REDIRECT, GRANT_SITEMAP
from purlieu.store.counters import Run
from purlieu.store.database import Database, Value
from purlieu.store.intake import Intake
from purlieu.store.writes import NUMBERS
from purlieu.value import dataclass

if TYPE_CHECKING:
    from purlieu.sitemap.entry import Entry
    from purlieu.sitemap.location import Place

OWNER = "owner"
GUESSES = ("/sitemap.xml", "/sitemap_index.xml")
"""Where a sitemap is looked for when nothing names one; the names that most sites use."""
PROBLEMS_TOLD = 100
"""Problems of one file that are stored; of those after them only the number is."""
EXAMPLES = 3
_SITEMAP = NUMBERS[Purpose.SITEMAP]
_OF_SEEDS = frozenset({GRANT_SEED, GRANT_SEED_REDIRECT})
_SEED_GRANTS = frozenset({GRANT_SEED, GRANT_SEED_REDIRECT})
_AT_ONCE = 5_000
_UNNAMED = 2
"""What ``misplaced`` is until the file is applied: nobody names it as a sitemap yet."""
_OF_THE_PLACE = frozenset({"location", "foreign-child", "nested-index", "loop"})
"""Kinds of problems that follow from who names the file; the others from its bytes alone."""


@dataclass(frozen=True, slots=True)
class SitemapRules:
    """What a crawl's settings say of sitemaps.

    ``read`` follows the Sitemap lines of robots.txt, ``location`` is one of ``purlieu.sitemap.location.RULES``, and
    ``guess`` asks the usual paths where nothing is named.
    """

    read: bool = True
    location: str = "by-discovery"
    guess: bool = False


class Sitemaps:
    """Finds the sitemaps of one run and takes in what they say."""

    def __init__(self, database: Database, run: Run, intake: Intake, rules: SitemapRules) -> None:
        """Work for one run by these rules."""
        self._database = database
        self._run = run
        self._intake = intake
        self._rules = rules
        self._again: dict[str, None] = {}

    # -- discovery ---------------------------------------------------------------------------------

    def follow_lines(self, origin: str, body: bytes, source: str) -> None:
        """Add the sitemaps that an origin's robots.txt names; granted when the origin is in scope (R-3.3)."""
        if not self._rules.read:
            return
        # A robots.txt speaks for its whole host, also where the site is only a folder of it.
        granted = self._intake.admission.scope.holds(origin)
        join, named = url.Joiner(source), robots_txt.read(body).sitemaps if body else ()
        for text in named:
            href = join(text)
            if href is not None and url.host_of(href):
                facts = Facts(
                    0, found_by=FoundBy.ROBOTS, via=source, linked=False, grant=GRANT_SITEMAP if granted else ""
                )
                self._intake.add(Candidate(href, facts, Purpose.SITEMAP))
                self._name(href, (f"robots:{url.host_of(f'{origin}/')}",))
        if self._rules.guess and granted and not named:
            self._guess(origin, source)

    def follow_host(self, host: str) -> None:
        """Add the sitemaps that are named on a host where a site has just landed."""
        if self._rules.read:
            for origin, body, source in list(self._database.rows("robots_known_of_host", self._run.id, host)):
                self.follow_lines(origin, body or b"", source)

    def owned(self, href: str) -> None:
        """Note that the owner names a file."""
        self._name(href, (OWNER,))

    def _guess(self, origin: str, source: str) -> None:
        for path in GUESSES:
            href = f"{origin}{path}"
            if self._intake.admission.scope.accepts(href, url.host_of(href)) is not None:
                facts = Facts(0, found_by=FoundBy.GUESS, via=source, linked=False)
                self._intake.add(Candidate(href, facts, Purpose.SITEMAP))

    def _name(self, href: str, namers: Iterable[str]) -> None:
        """Note by whom a file is named; one that was read says more now."""
        host, hashed = self._intake.keys.key_of(href, _SITEMAP)
        new = [self._database.run("add_sitemap_namer", self._run.id, host, hashed, namer) for namer in namers]
        if any(new):
            self.look_again(href)

    # -- what a file says --------------------------------------------------------------------------

    def take_in(self, visit: Visit, facts: Facts, now: float) -> None:
        """Take in an answer for a sitemap, or for a page that turned out to be one.

        A start address is asked for as a page; where it leads to a sitemap, that counts as named by the owner. Any
        other page is only remembered as a sitemap, in case it is named as one later (R-1.3).
        """
        entry = visit.entry
        if visit.sitemap is not None:
            is_file = entry.purpose is Purpose.SITEMAP
            self._store(visit, self._place(entry.href, entry.host, entry.hash) if is_file else None)
        if entry.purpose is Purpose.SITEMAP:
            self._apply(entry.href, now)
        elif facts.grant in _SEED_GRANTS:
            self._name_by_seed(entry.href, entry.host, entry.hash)

    def _name_by_seed(self, href: str, host: int, hashed: int) -> None:
        """Name a file that a start address is or leads to, whichever purpose it was asked for first (R-1.3)."""
        facts = self._intake.keys.facts_at((host, 0, hashed))
        if facts is None or facts.grant not in _SEED_GRANTS or not self._rules.read:
            return
        if self._database.one("sitemap_read", self._run.id, host, hashed) is not None:
            named = Facts(0, facts.hops, found_by=FoundBy.SEED, via=facts.via, linked=False, grant=facts.grant)
            self._intake.add(Candidate(href, named, Purpose.SITEMAP))
            self.owned(href)

    def look_again(self, href: str) -> None:
        """Apply what a file says, of which more is known now, with the next ``settle``."""
        self._again[href] = None

    def look_at_all_again(self) -> None:
        """Apply what every file says again, after a resume with other settings; what was taken stays taken."""
        for (href,) in self._database.rows("sitemaps_read", self._run.id):
            self.look_again(href)

    def settle(self, now: float) -> bool:
        """Apply again what files say of which more is known since the last call; return whether there were any."""
        again = dict.fromkeys((*self._again, *self._intake.take_sitemaps()))
        self._again = {}
        for href in again:
            self._apply(href, now)
        return bool(again)

    def forget(self) -> None:
        """Forget what waits to be applied, after a batch was rolled back."""
        self._again = {}

    def _store(self, visit: Visit, place: Place | None) -> None:
        """Store what a file says; ``place`` is what it may speak for as far as is known, None where nobody names it."""
        entry, read = visit.entry, visit.sitemap
        if read is None:
            return
        run, join = self._run.id, url.Joiner(entry.href)
        problems: list[list[str | int]] = [[one.line, one.kind, one.sentence] for one in read.problems]
        self._database.run(
            "put_sitemap_read", run, entry.host, entry.hash, entry.href, read.kind, len(read.entries),
            len(read.children), _told(problems),
        )  # fmt: skip
        for start in range(0, len(read.entries), _AT_ONCE):
            told: dict[str, Entry] = {}
            for item in read.entries[start : start + _AT_ONCE]:
                target = join(item.loc)
                if target is not None and url.host_of(target):
                    told[self._intake.normal(target)] = item  # of one address that is listed twice the last counts
            keys = self._intake.keys.keys_of(list(told), 0)
            self._database.many("add_sitemap_entry", [
                (run, *key, entry.href, href, item.lastmod, item.changefreq, item.priority, _misplaced(place, href))
                for key, (href, item) in zip(keys, told.items(), strict=True)
            ])  # fmt: skip
        children: list[tuple[Value, ...]] = []
        for child in read.children:
            target = join(child.loc)
            if target is not None and url.host_of(target):
                children.append((run, *self._intake.keys.key_of(target, _SITEMAP), entry.href, target, child.lastmod))
        if children:
            self._database.many("add_sitemap_child", children)

    def _place(self, href: str, host: int, hashed: int) -> Place | None:
        from purlieu.sitemap.location import Place  # as below

        namers = frozenset(row[0] for row in self._database.rows("sitemap_namers", self._run.id, host, hashed))
        return Place.of(href, namers, self._rules.location) if namers else None

    # -- what of it counts -------------------------------------------------------------------------

    def _apply(self, href: str, now: float) -> None:
        """Give the intake what an admitted file says, as far as it may by who names it; or follow its redirect."""
        from purlieu.sitemap.location import Place  # with the reader: not before the first request

        host, hashed = self._intake.keys.key_of(href, _SITEMAP)
        self._name_by_seed(href, host, hashed)
        row = self._database.one("entry", self._run.id, host, _SITEMAP, hashed)
        if row is None or row[9] is None:
            return
        facts = self._intake.keys.facts_at((host, _SITEMAP, hashed)) or Facts(0)
        namers = frozenset(row[0] for row in self._database.rows("sitemap_namers", self._run.id, host, hashed))
        if row[11]:
            moved = Facts(
                facts.depth, facts.hops + 1, found_by=FoundBy.REDIRECT, via=href, linked=False,
                grant=grant_of_hop(facts.grant),
            )  # fmt: skip
            self._intake.add(Candidate(row[11], moved, Purpose.SITEMAP))
            self._name(row[11], namers)
        read = self._database.one("sitemap_read", self._run.id, host, hashed)
        if read is None or read[0] != href:
            return
        place = Place.of(href, namers, self._rules.location)
        problems = [one for one in json.loads(read[1]) if one[1] not in _OF_THE_PLACE]
        problems += self._apply_entries(place, now)
        problems += self._apply_children(place, namers, facts)
        self._database.run("set_sitemap_problems", _told(problems), self._run.id, host, hashed)

    def _apply_entries(self, place: Place, now: float) -> list[list[str | int]]:
        listed = Facts(1, found_by=FoundBy.SITEMAP, via=place.file, standing=Standing.LISTED)
        misplaced = Facts(1, found_by=FoundBy.SITEMAP, via=place.file, standing=Standing.MISPLACED)
        outside, dropped = _Seen(), _Seen()
        last = (-1, -(2**63))
        while rows := list(self._database.rows("sitemap_entries", self._run.id, place.file, *last)):
            last = (rows[-1][0], rows[-1][1])
            changed: list[tuple[Value, ...]] = []
            for host, hashed, href, was_misplaced in rows:
                is_held = place.holds(href)
                is_allowed = is_held or place.allows(href)
                if not is_held:
                    (outside if is_allowed else dropped).add(href)
                self._intake.add(Candidate(href, listed if is_allowed else misplaced))
                if was_misplaced != (not is_allowed):
                    changed.append((not is_allowed, self._run.id, host, hashed, place.file))
            if changed:
                self._database.many("set_misplaced", changed)
            if len(rows) == _AT_ONCE:
                self._intake.write(now)
        return _place_problems(place, outside, dropped)

    def _apply_children(self, place: Place, namers: frozenset[str], facts: Facts) -> list[list[str | int]]:
        """Add the files that an index names, one level down; those of an index in an index are too deep (AMB-SM-11)."""
        foreign, nested, itself = _Seen(), 0, False
        for _, _, href in list(self._database.rows("sitemap_children", self._run.id, place.file)):
            is_taken = place.takes_file(href)
            standing = Standing.LISTED if is_taken else Standing.MISPLACED
            child = Facts(facts.depth + 1, found_by=FoundBy.SITEMAP, via=place.file, linked=False, standing=standing)
            self._intake.add(Candidate(href, child, Purpose.SITEMAP))
            if not is_taken:
                foreign.add(href)
            elif facts.depth:
                nested += 1
            elif href == place.file:
                itself = True
            else:
                self._name(href, namers)
        problems: list[list[str | int]] = []
        if foreign.count:
            sentence = (
                f"{foreign.count:,} of the files that it lists are on another host, whose robots.txt does not name it, "
                f"and are left out ({foreign.examples()}): list them in an index of their own host."
            )
            problems.append([0, "foreign-child", sentence])
        if nested:
            sentence = (
                f"It is an index inside an index, so the {nested:,} files that it lists are left out: list them in the "
                "outer index, or name this one in robots.txt or in sitemap.files."
            )
            problems.append([0, "nested-index", sentence])
        if itself:
            problems.append([0, "loop", "It is an index that lists itself, which is passed over: take that line out."])
        return problems


def _misplaced(place: Place | None, href: str) -> int:
    """Return 0 for an address that a file may speak for, 1 for another, 2 while nobody names the file."""
    if place is None:
        return _UNNAMED
    return int(not (place.holds(href) or place.allows(href)))


class _Seen:
    """Counts addresses and remembers the first few in the order of the alphabet."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[str] = []

    def add(self, href: str) -> None:
        self.count += 1
        if len(self._first) < EXAMPLES or href < self._first[-1]:
            self._first = sorted((*self._first, href))[:EXAMPLES]

    def examples(self) -> str:
        return ", ".join(self._first) + (", ..." if self.count > len(self._first) else "")


def _place_problems(place: Place, outside: _Seen, dropped: _Seen) -> list[list[str | int]]:
    """Return one problem for what lies outside and is taken all the same, and one for what is left out (AMB-SM-7)."""
    problems: list[list[str | int]] = []
    if outside.count and place.rule != "off":
        sentence = (
            f"{outside.count:,} addresses lie outside {place.folder}, of which alone this file may speak by the "
            f"protocol; other robots leave them out ({outside.examples()}): put the file into a folder above them all."
        )
        problems.append([0, "location", sentence])
    if dropped.count:
        sentence = (
            f"{dropped.count:,} addresses are left out, as they lie outside {place.folder} and no robots.txt of their "
            f"host names this file ({dropped.examples()}): name it there, or in sitemap.files."
        )
        problems.append([0, "location", sentence])
    return problems


def _told(problems: list[list[str | int]]) -> str:
    """Return problems as the store holds them, cut to so many; those of the place are told in any case."""
    mine = [one for one in problems if one[1] in _OF_THE_PLACE]
    others = list(islice((one for one in problems if one[1] not in _OF_THE_PLACE), PROBLEMS_TOLD - len(mine)))
    return json.dumps([*others, *mine], ensure_ascii=False)
