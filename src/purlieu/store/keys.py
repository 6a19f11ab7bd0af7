"""Under which keys addresses stand in a run, and what stands there.

The key has a 64-bit hash of the address; of two addresses with one hash the second stands under another (R-1.2). What
comes together is looked up together, a host at a time. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from purlieu import url
from purlieu.candidate import FOUND_BY_RANK, Entry, Facts, FoundBy, Purpose, Standing
from purlieu.decide import for_check
from purlieu.outcome import REASONS
from purlieu.store.counters import Run
from purlieu.store.database import Database, Row
from purlieu.store.hosts import Hosts
from purlieu.store.writes import NUMBERS, Key, Writes


class Keys:
    """Looks up the entries of one run."""

    def __init__(
        self,
        database: Database,
        run: Run,
        writes: Writes,
        hosts: Hosts,
        collided: Callable[[str], None],
        hash_of: Callable[[str], int],
    ) -> None:
        """Look up by ``hash_of``; ``collided`` is told an address that shares its hash with another."""
        self._database = database
        self._run = run
        self._writes = writes
        self._hosts = hosts
        self._collided = collided
        self._hash_of = hash_of
        self.with_lineage = False
        self._ahead: dict[Key, Facts] = {}

    def hash_of(self, text: str) -> int:
        """Return the hash of a text that is no address, and so has no other under its key."""
        return self._hash_of(text)

    def key_of(self, href: str, purpose: int = 0) -> tuple[int, int]:
        """Return (host, hash) of an address as it stands, or would stand, in the store."""
        host = self._hosts.number(url.host_of(href))
        return host, self.find(host, purpose, href)[0]

    def keys_of(self, hrefs: Sequence[str], purpose: int = 0) -> list[tuple[int, int]]:
        """Return the keys of several addresses, in their order; looked up together where they are of one host."""
        numbered = [self._hosts.number(url.host_of(href)) for href in hrefs]
        found: list[tuple[int, int]] = []
        for host, group in groupby(zip(numbered, hrefs, strict=True), key=_first):
            looked_up = self.look_up(host, purpose, [href for _, href in group], "addresses")
            found += [(host, hashed) for hashed, _ in looked_up]
        return found

    def find(self, host: int, number: int, href: str) -> tuple[int, Row | None]:
        """Return the hash under which an address stands or will stand, and its row.

        Another address under the same hash is a finding, and the next salt is tried (R-1.2).
        """
        salt = 0
        empty = self._is_empty(host, number)
        while True:
            hashed = self._hash_of(f"{href}\x00{salt}" if salt else href)
            row = None if empty else self._database.one("entry", self._run.id, host, number, hashed)
            if row is None:
                if self._writes.new.get((host, number, hashed), href) == href:
                    return hashed, None
            elif row[0] == href:
                return hashed, row
            self._collided(href)
            salt += 1

    def look_up(
        self, host: int, number: int, hrefs: Sequence[str], statement: str = "entries"
    ) -> list[tuple[int, Row | None]]:
        """Return what ``find`` does of several addresses of a host; ``addresses`` as the statement gives less of a row.

        What is new in the round at hand may still take a key that is free by the store.
        """
        hashes = list(map(self._hash_of, hrefs))
        if self._is_empty(host, number):
            rows: dict[int, Row] = {}
        else:
            there = self._database.rows_of(statement, hashes, self._run.id, host, number)
            rows = {row[-1]: row for row in there}
        new = self._writes.new
        if not rows and not new:
            return [(hashed, None) for hashed in hashes]
        found: list[tuple[int, Row | None]] = []
        for href, hashed in zip(hrefs, hashes, strict=True):
            row = rows.get(hashed)
            if (new.get((host, number, hashed), href) if row is None else row[0]) == href:
                found.append((hashed, row))
            else:
                found.append(self.find(host, number, href))
        return found

    def is_free(self, key: Key, href: str) -> bool:
        """Return whether no other address has come to stand under a key in the round at hand."""
        return self._writes.new.get(key, href) == href

    def _is_empty(self, host: int, number: int) -> bool:
        """Return whether a host has no page, as foreign ones have none, and need not be asked for one."""
        return number == 0 and not self._hosts.count(host).pages

    def take_twin(self, key: Key, href: str) -> Row | None:
        """Return the ending of the same address for another purpose, where its response serves this one too (R-1.3).

        A robots.txt or sitemap serves the page. A page serves the sitemap if it is HTML and so names nothing, or was
        read as a sitemap too, or gave no body at all. The response is copied.
        """
        host, number, hashed = key
        if number == NUMBERS[Purpose.CHECK]:
            return self._page_there(key, href)
        if number == 0:
            if not (href.endswith("/robots.txt") or (host, hashed) in self._writes.special):
                return None
            others: tuple[int, ...] = (1, 2)
        else:
            others = (0,) if self._database.one("serves_sitemap", self._run.id, host, hashed) else ()
        for other in others:
            row = self._database.one("entry", self._run.id, host, other, hashed)
            if row is not None and row[0] == href and row[9] is not None:
                self._database.run("copy_response", number, self._run.id, host, other, hashed)
                return (row[9], row[10], row[13], row[12], row[11])
        return None

    def _page_there(self, key: Key, href: str) -> Row | None:
        """Return how a check ends whose address has been asked for as a page; a page may not end by a check."""
        row = self._database.one("entry", self._run.id, key[0], 0, key[2])
        if row is None or row[0] != href or row[9] is None:
            return None
        self._database.run("copy_response", key[1], self._run.id, key[0], 0, key[2])
        ended = REASONS[f"{row[9]}.{row[10]}"]
        is_same = (ending := for_check(ended)) is ended
        return (ending.kind, ending.code, row[13] if is_same else None, row[12], row[11] if is_same else None)

    # -- facts -------------------------------------------------------------------------------------

    def read_ahead(self, entries: Iterable[Entry]) -> None:
        """Look up the facts of several entries together; they hold until ``forget``, before anything is written."""
        keys = sorted((entry.host, NUMBERS[entry.purpose], entry.hash) for entry in entries)
        for (host, number), group in groupby(keys, key=_without_hash):
            for row in self._database.rows_of("entries", [key[2] for key in group], self._run.id, host, number):
                key = (host, number, row[-1])
                self._ahead[key] = facts_of(row, self.sites_of(key))

    def forget(self) -> None:
        """Forget what was looked up ahead."""
        self._ahead.clear()

    def facts(self, entry: Entry) -> Facts:
        """Return the facts of an entry as they stand in the store now."""
        return self.facts_at((entry.host, NUMBERS[entry.purpose], entry.hash)) or entry.facts

    def facts_at(self, key: Key) -> Facts | None:
        """Return the facts of the entry under a key, None when there is none."""
        if key in self._ahead:
            return self._ahead[key]
        row = self._database.one("entry", self._run.id, *key)
        return facts_of(row, self.sites_of(key)) if row else None

    def sites_of(self, key: Key) -> frozenset[int]:
        """Return an entry's lineage, empty when the crawl judges by any seed."""
        if not self.with_lineage:
            return frozenset()
        return frozenset(row[0] for row in self._database.rows("sites_of", self._run.id, *key))


def covered_by_row(row: Row, facts: Facts) -> bool:
    """Return whether a row of the statement ``entry`` surely covers facts of no lineage, without making its own of it.

    Most links of a large crawl are such: known, and found by no better way. False says nothing.
    """
    depth = row[1]
    if depth > facts.depth or row[2] > facts.hops or row[3] > facts.nofollow or row[6] < facts.linked or facts.grant:
        return False
    if not facts.standing or row[14] < facts.standing:
        return False
    # The same order as ``Facts.rank``.
    return bool(depth < facts.depth or (FOUND_BY_RANK[row[4]], row[5]) <= (FOUND_BY_RANK[facts.found_by], facts.via))


def facts_of(row: Row, sites: frozenset[int]) -> Facts:
    """Return the facts of a row of the statement ``entry``."""
    return Facts(row[1], row[2], bool(row[3]), FoundBy(row[4]), row[5], bool(row[6]), row[7], sites, Standing(row[14]))


def _first(item: tuple[int, str]) -> int:
    return item[0]


def _without_hash(item: tuple[int, int, object]) -> tuple[int, int]:
    return item[0], item[1]
