"""The rows that one round of the intake writes, kept until they are written together."""

from __future__ import annotations

from collections import Counter

from purlieu.candidate import Purpose
from purlieu.store.database import Database, Value

PURPOSES = (Purpose.PAGE, Purpose.ROBOTS, Purpose.SITEMAP, Purpose.CHECK)
NUMBERS = {purpose: number for number, purpose in enumerate(PURPOSES)}
"""Purposes as the store numbers them."""
_FILES = (NUMBERS[Purpose.ROBOTS], NUMBERS[Purpose.SITEMAP])

FIRST = (-1, -1, -(2**63))
"""Before every key (host, purpose, hash)."""
OWN_ROBOTS = "robots"
"""The grant of an origin's own robots.txt, which its first page asks for."""

Key = tuple[int, int, int]
"""host, purpose, hash"""


class Writes:
    """Rows of one round, written together; grouped by host because the round is sorted."""

    def __init__(self) -> None:
        """Start an empty round."""
        self.new: dict[Key, str] = {}
        self.merged: list[tuple[Value, ...]] = []
        self.found: list[tuple[Value, ...]] = []
        self.entries: list[tuple[Value, ...]] = []
        self.ended: list[tuple[Value, ...]] = []
        self.refusals: list[tuple[Value, ...]] = []
        self.sites: list[tuple[int, int, int, int, int]] = []
        self.unlisted: Counter[tuple[int, str, str]] = Counter()
        self.pages: Counter[int] = Counter()
        self.refused: Counter[int] = Counter()
        self.due: set[int] = set()
        self.asked_robots: set[int] = set()
        self.special: set[tuple[int, int]] = set()

    def forget(self) -> None:
        """Forget everything, written or not."""
        self.__init__()  # type: ignore[misc]

    def flush_refusals(self, database: Database) -> None:
        """Write the refusals alone, so that they can be looked up."""
        if self.refusals:
            database.many("put_refusal", self.refusals)
            self.refusals = []

    def flush(self, database: Database, run: int, now: float) -> None:
        """Write the round and forget it."""
        hosts = self.pages.keys() | self.refused.keys()
        self.flush_refusals(database)
        for name, rows in (
            ("merge_entry", self.merged),
            ("merge_found", self.found),
            ("add_entry", self.entries),
            ("add_ended_entry", self.ended),
            ("add_site_of", self.sites),
            ("count_refusal", [(run, *key, count) for key, count in self.unlisted.items()]),
            ("count_host", [(self.pages[host], self.refused[host], run, host) for host in hosts]),
            ("host_due", [(now, run, host) for host in self.due]),
        ):
            if rows:
                database.many(name, rows)
        # (host, hash) of the special files but each host's own robots.txt: a page may be one of them.
        self.special |= {
            (int(str(row[1])), int(str(row[3])))
            for row in (*self.entries, *self.ended)
            if row[2] in _FILES and row[12] != OWN_ROBOTS
        }
        self.new.clear()
        self.merged, self.found, self.entries, self.ended, self.sites = [], [], [], [], []
        self.unlisted.clear()
        self.pages.clear()
        self.refused.clear()
        self.due.clear()
