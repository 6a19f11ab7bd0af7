"""Crawls as their owner keeps them: made, their settings changed, removed (R-1.1, R-8.4).

Every change is one short transaction beside whatever crawls. Knows no key of the settings: they are a text here.
"""

from __future__ import annotations

from purlieu.digest import blake2b
from purlieu.named import NamedTuple
from purlieu.store.database import Database


class Kept(NamedTuple):
    """The settings that are kept for a crawl, as their owner wrote them, and the hash that names this version."""

    toml: str
    hash: str


class Extent(NamedTuple):
    """What a crawl has: its runs, the pages of its history, its schedules."""

    runs: int
    pages: int
    schedules: int


def kept(database: Database, name: str) -> Kept | None:
    """Return the settings kept for a crawl, None where it goes by those of its last run."""
    row = database.one("kept_settings", name)
    return Kept(*row) if row else None


def add_config(database: Database, toml: str) -> str:
    """Write a settings text, once, and return its hash."""
    number = hash_of(toml)
    database.run("add_config", number, toml)
    return number


def hash_of(toml: str) -> str:
    """Return the hash that names a settings text."""
    return blake2b(toml.encode(errors="replace"), digest_size=16).hexdigest()


def make(database: Database, name: str, toml: str) -> int | None:
    """Make a crawl with these settings and return its number, None when there is one of that name."""
    with database.transaction():
        row = database.one("make_crawl", name, add_config(database, toml))
    return row[0] if row else None


def keep(database: Database, number: int, toml: str, before: str) -> bool:
    """Keep other settings for a crawl; False, and nothing written, when they are not those of hash ``before`` any more.

    "" stands for a crawl for which none are kept.
    """
    with database.transaction():
        return database.run("keep_settings", add_config(database, toml), number, before) == 1


def remove(database: Database, number: int, now: float, *, is_free: bool) -> bool:
    """Remove a crawl with its schedules: nothing shows it from now on, and ``retention.forget`` takes its rows.

    False, and nothing removed, while one of its runs is under way; where nobody crawls in the store (``is_free``), a
    run that is called running was killed.
    """
    with database.transaction():
        done = database.run("remove_crawl", now, number, is_free) == 1
        if done:
            database.run("remove_schedules_of", now, number)
    return done


def extent(database: Database, number: int) -> Extent:
    """Return what would be lost with a crawl."""
    row = database.one("crawl_extent", number)
    return Extent(*row) if row else Extent(0, 0, 0)
