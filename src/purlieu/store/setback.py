"""A clock that was set back since the store was last written: waiting times go back with it.

Within a process ``SteadyClock`` sees to it that time never goes back; between two processes the
store remembers when it was written. Else what is due "in ten years" would be waited for.
"""

from __future__ import annotations

import logging

from purlieu.store.database import Database

LOG = logging.getLogger(__name__)
NOTED_SECONDS = 60.0
"""A smaller step is put right without a word."""


def undo(database: Database, run: int | None, now: float) -> float:
    """Move the times of the hosts, and of a run that goes on, back by as much as the clock was; return those seconds.

    0.0 when it was not set back. Call it inside a transaction, before anything is written with ``now``. Pauses stay as
    long as they were; who has been asked at a time that is now in the future was asked just now.
    """
    row = database.one("last_written")
    back = (row[0] or 0.0) - now if row else 0.0
    if back <= 0:
        return 0.0
    database.run("set_back_hosts", back, now)
    database.run("set_back_groups", back, now)
    if run is not None:
        for name in ("set_back_run_hosts", "set_back_entries", "set_back_robots"):
            database.run(name, back, now, run)
    database.run("set_back_pages", now)
    database.run("set_back_runs", now)
    if back > NOTED_SECONDS:
        LOG.warning("the clock was set back by %.0f s since the store was last written; waiting times went along", back)
    return back
