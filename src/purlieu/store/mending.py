"""Makes the rows that were saved from a damaged store hold together again.

What lost its parent gets one, what waits is due, what was counted is counted anew; and every run
says how much of it was lost. Knows no file and no page; invents no URL and no ending.
"""

from __future__ import annotations

import json
import tomllib
import zlib
from typing import Any, Final

from purlieu.store.database import Database
from purlieu.store.outlinks import lines
from purlieu.store.soundness import DAY_SECONDS, YEAR_SECONDS
from purlieu.url import host_of, key64, origin_of
from purlieu.value import dataclass

LOST_CRAWL: Final = "damaged"
"""The name of a crawl whose own was lost, before its number."""
_AGAIN: Final = "\n# The store was repaired: what it holds is judged again.\n"
_FIRST: Final = (-1, -1, -(2**63))


@dataclass(frozen=True, slots=True)
class MendedRun:
    """One run after the repair: the entries it had counted, and those that are there.

    ``can_go_on``: a resume takes it up.
    """

    run: int
    crawl: str
    state: str
    counted: int
    entries: int
    can_go_on: bool

    @property
    def lost(self) -> int:
        """Return how many entries are gone, of those the run had counted."""
        return max(0, self.counted - self.entries)


def mend(database: Database, now: float) -> list[MendedRun]:
    """Put a saved store in order, in one transaction, and return its runs."""
    with database.transaction():
        _parents(database)
        _outlinks(database)
        database.run("mend_responses")
        database.run("mend_dates_entries", now, now + YEAR_SECONDS)
        database.run("mend_dates_hosts", now, now + YEAR_SECONDS)
        database.run("mend_dates_pages", now + DAY_SECONDS)
        database.run("mend_dates_runs")
        database.run("mend_leases")
        unfinished = {row[0] for row in database.rows("sound_unfinished")}
        return [
            _run(database, row, now, can_go_on=row[0] in unfinished) for row in list(database.rows("mend_run_list"))
        ]


def _parents(database: Database) -> None:
    """Give back to every row what it belongs to."""
    for (crawl,) in list(database.rows("mend_crawls")):
        row = database.one("mend_crawl_settings", crawl)
        name = _name(row[0] if row else "")
        if not (name and database.run("mend_add_crawl", crawl, name)):
            database.run("mend_add_crawl", crawl, f"{LOST_CRAWL}-{crawl}")
    if orphans := list(database.rows("mend_runs")):
        crawls = [row[0] for row in database.rows("mend_crawl_ids")]
        (owner,) = crawls if len(crawls) == 1 else (database.one("add_crawl", LOST_CRAWL) or (0,))
        for run, began_at in orphans:
            database.run("mend_add_run", run, owner, LOST_CRAWL, began_at)
    database.run("mend_configs")
    for host, href in list(database.rows("mend_hosts")):
        if not database.run("mend_add_host", host, host_of(href)):
            # The host stands under another number: this one is noise.
            database.run("mend_move_host", host, host_of(href))
            for name in ("mend_drop_entries", "mend_drop_refusals", "mend_drop_pages"):
                database.run(name, host)
    for run, number, host, href in list(database.rows("mend_origins")):
        if not database.run("mend_add_robots", number, run, host, origin_of(href)):
            database.run("mend_new_robots", run, host, origin_of(href))
            database.run("mend_move_origin", run, number, origin_of(href))
    database.run("mend_run_hosts")
    database.run("mend_no_hosts")


def _name(toml: str) -> str:
    """Return the name of the crawl that has these settings, "" when they cannot be read."""
    try:
        told = tomllib.loads(toml)
        return str(told.get("name") or host_of(str(told["seeds"][0])))
    except (tomllib.TOMLDecodeError, KeyError, IndexError, TypeError):
        return ""


def _outlinks(database: Database) -> None:
    """Forget links that cannot be read; without digest and validators the page is asked for in full next time."""
    last = _FIRST
    while rows := list(database.rows("sound_outlinks", *last)):
        last = rows[-1][:3]
        for crawl, host, hashed, _, blob, _ in rows:
            try:
                lines(blob)
            except (zlib.error, UnicodeDecodeError, TypeError):
                database.run("mend_outlinks", crawl, host, hashed)


def _run(database: Database, row: tuple[Any, ...], now: float, *, can_go_on: bool) -> MendedRun:
    run, crawl, state, _, counters, books, pruned = row
    told: dict[str, Any] = json.loads(counters)
    kept = json.loads(books) if books else None
    counted = int(told.get("admitted", 0))
    entries = int((database.one("mend_count", run) or (0,))[0])
    mended = MendedRun(run, crawl, state, counted, entries, can_go_on)
    if pruned:
        return mended
    if can_go_on:
        if mended.lost or not counted:
            database.run("mend_ask_again", run, now)
            database.run("mend_judge_again", run, f"repaired-{run}", _AGAIN)
            database.run("mend_set_config", f"repaired-{run}", run)
        for _, number, host, origin in [one for one in database.rows("mend_robots_asked") if one[0] == run]:
            href = f"{origin}/robots.txt"
            database.run("mend_ask_robots", run, host, key64(href), href, number, now)
        database.run("mend_due", run)
    elif mended.lost and kept is not None:
        fault = f"entries: {mended.lost} were lost with the damaged store"
        kept = {**kept, "balanced": False, "faults": [fault, *kept.get("faults", [])]}
    database.run("mend_save", _counters(database, run, told), json.dumps(kept, sort_keys=True) if kept else None, run)
    return mended


def _counters(database: Database, run: int, told: dict[str, Any]) -> str:
    """Return a run's counters as its rows have them."""
    entries, refused, unlisted, requests, asked = database.one("mend_count", run) or (0, 0, 0, 0, 0)
    endings: dict[str, int] = dict(database.rows("mend_endings", run))
    made = {"admitted": entries, "refused": refused, "promoted": 0, "unlisted": unlisted, "requests": requests}
    return json.dumps({"bytes": 0, **told, **made, "pages_asked": asked, "endings": endings})
