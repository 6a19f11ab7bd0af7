"""Sitemap files from a run's ledger: which pages go in, what is said of them, and what stays of the former files.

Reads the store and the folder's files; each page is judged by ``sitemap.choose``. Knows no terminal and asks no server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from heapq import merge
from operator import itemgetter
from pathlib import Path

from purlieu import robots
from purlieu import url as urls
from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.report.column import doors_of
from purlieu.report.sitemap_former import Former
from purlieu.report.sitemap_writing import Built, How, LeftOut, folder_of, form_of, listing, put
from purlieu.settings import ProfileSettings
from purlieu.sitemap import Entry
from purlieu.sitemap.choose import Chooser, Place, Priorities, Told, was_not_asked
from purlieu.sitemap.language import Alternates, agreed
from purlieu.sitemap.moment import of_rss
from purlieu.sitemap.rate import changefreq
from purlieu.sitemap.write import read_back, written
from purlieu.store.reader import MadeRow, Reader, RunRow
from purlieu.value import replace

"""Names of headers that let in whoever sends them."""


def profile_of(reader: Reader, run: RunRow, name: str) -> ProfileSettings:
    """Return a profile of the run's crawl (``sitemap_profiles.of_run``). Raises SettingsError."""
    from purlieu.report.sitemap_profiles import of_run

    found = of_run(reader, run)
    if name in found:
        return found[name]
    known = ", ".join(sorted(found))
    raise SettingsError(
        (Mistake("--profile", name, f"the crawl's settings have no such profile; write one of: {known}"),)
    )


def build(reader: Reader, run: RunRow, profile: ProfileSettings, folder: Path, how: How) -> Built:
    """Write the sitemap of a run into a folder and return what was made.

    Former files there are replaced whole, the index last; when the run did not look at everything, what they list and
    it did not visit stays (``how.keep``). The same ledger over the same folder writes nothing anew. Raises
    SettingsError for a location that is no folder, StoreError for a folder that cannot be written to.
    """
    location = folder_of(how.location or profile.location or _top(reader, run), "location")
    former = Former.of(folder, form_of(profile), location)
    with listing(how) as left:
        made = _Making(reader, run, profile, location, left)
        built = put([("", made.entries(former, how.keep))], former.form, former, left, how)
        return replace(built, kept=made.kept)


_Item = tuple[str, int, MadeRow | Entry]


class _Making:
    """One pass over a run's pages and the former entries."""

    def __init__(self, reader: Reader, run: RunRow, profile: ProfileSettings, location: str, left: LeftOut) -> None:
        self._reader = reader
        self._run = run
        self._profile = profile
        self._left = left
        place = Place(location, doors_of(reader, run), _forbids(reader, run, profile.robot, location))
        self._host = urls.host_of(location)
        self._location = location
        self._chooser = Chooser(profile, place)
        self._priorities = Priorities(profile.priority)
        self._ranks = bool(profile.priority)
        self._declared = lru_cache(maxsize=10_000)(self._declares)
        self._unasked = 0
        self._waiting: set[str] = set()  # pages not asked for that the former files list
        self._settled: set[str] = set()  # former entries that are listed as left out
        self.kept = 0

    def entries(self, former: Former, keep: str) -> Iterator[Entry]:
        """Yield what goes in, by address: the run's pages, and what stays of the former files.

        Both come in the order of their addresses, so they are walked side by side: where a former entry meets its page
        nothing has to be looked up. Where files that are not ours have another order, it is.
        """
        keeps = not self._reader.is_whole(self._run) if keep == "auto" else keep == "all"
        rows: Iterator[_Item] = ((row.href, 0, row) for row in self._reader.made_pages(self._run, self._host))
        before: Iterator[_Item] = (
            ((href, 1, entry) for href, entry in self._addressed(former)) if keep != "none" else iter(())
        )
        met: MadeRow | None = None
        last = ""
        for href, _, item in merge(rows, before, key=itemgetter(0, 1)):
            if isinstance(item, MadeRow):
                met = item
                yield from self._of_run(item)
            elif href != last:  # files that are not ours may name one twice
                last = href
                row = met if met and met.href == href else self._row(href)
                yield from self._of_former(href, item, row, keeps=keeps)
        for href in self._reader.refused_pages(self._run, self._host):
            if href.startswith(self._location) and href not in self._settled:
                self._left.add(href, "excluded")
        if self._unasked > len(self._waiting):
            for row in self._reader.made_pages(self._run):
                if was_not_asked(_told(row)) and row.href not in self._waiting:
                    self._left.add(row.href, "not_visited")

    def _of_run(self, row: MadeRow) -> Iterator[Entry]:
        told = _told(row)
        if was_not_asked(told):
            self._unasked += 1
        elif reason := self._chooser.page(told):
            self._left.add(row.href, reason)
        else:
            yield self._entry(row)

    def _of_former(self, href: str, entry: Entry, row: MadeRow | None, *, keeps: bool) -> Iterator[Entry]:
        """Yield a former entry if it stays: the run did not ask for it, and the profile still takes it."""
        if row is not None:
            if not was_not_asked(_told(row)):
                return  # judged as the run's
            href = row.href
            self._waiting.add(href)
        reason = self._chooser.placed(href, login=True)
        if row is None and not reason:
            reason = "excluded" if self._reader.found(self._run, href) else "" if keeps else "vanished"
        if reason:
            self._left.add(href, reason)
            self._settled.add(href)
            return
        self.kept += 1
        yield entry._replace(loc=href, priority=self._priorities.of(href) if self._ranks else entry.priority)

    def _addressed(self, former: Former) -> Iterator[tuple[str, Entry]]:
        """Yield the former entries with their addresses as the URL Standard serialises them."""
        for entry in former.entries():
            try:
                yield read_back(urls.parse(entry.loc).href), entry
            except UrlError:
                self._left.add(entry.loc, "not_a_url")

    def _row(self, href: str) -> MadeRow | None:
        row = self._reader.made_page(self._run, href)
        if row is None and (other := written(href)) != href:  # the site itself may write what we would encode
            return self._reader.made_page(self._run, other)
        return row

    def _entry(self, row: MadeRow) -> Entry:
        """Return what is said of a page."""
        profile = self._profile
        frequency = None
        if profile.changefreq and row.first_seen is not None and row.last_fetched is not None:
            frequency = changefreq(row.first_seen, row.last_fetched, row.visits or 0, row.changes or 0)
        alternates = agreed(row.href, self._declared) if profile.hreflang and row.alternates else ()
        return Entry(
            row.href,
            changefreq=frequency,
            priority=self._priorities.of(row.href),
            lastmod_at=None if profile.lastmod == "none" else self._changed_at(row),
            alternates=alternates,
        )

    def _changed_at(self, row: MadeRow) -> float | None:
        """Return when the main content changed, or what the server says if that is wanted and not in the future."""
        said = of_rss(row.last_modified) if self._profile.lastmod == "server" and row.last_modified else None
        if said is not None and (row.last_fetched is None or said <= row.last_fetched):
            return said
        return row.last_changed

    def _declares(self, href: str) -> Alternates | None:
        row = self._reader.made_page(self._run, href)
        if row is None or not row.alternates or self._chooser.answered(_told(row)):
            return None
        return tuple((language, there) for language, there in json.loads(row.alternates))


def _told(row: MadeRow) -> Told:
    return Told(row.href, row.kind, row.reason, row.attempts, row.status, row.content_type, row.index_reason)


def _top(reader: Reader, run: RunRow) -> str:
    """Return the top of the host on which the run's first seed has landed."""
    seeds = reader.seeds(run)
    if not seeds:
        raise SettingsError((Mistake("location", "", "the run has no seed; name the folder's URL with --base"),))
    return urls.origin_of(reader.landing(run, seeds[0], reader.max_redirects(run)).href) + "/"


def _forbids(reader: Reader, run: RunRow, robot: str, location: str) -> Callable[[str], bool]:
    """Return what says whether a robot may not fetch a page, by the robots.txt that the run read."""
    row = reader.robots(run, urls.origin_of(location)) if robot else None
    if row is None or not row.body:
        return lambda _: False
    rules = robots.read(row.body)
    return lambda href: not rules.allowed(robot, href)
