"""``purlieu stop``: ask a run that another process makes to stop.

Writes the wish into the store, where the run looks with every batch (R-8.5).
"""

from __future__ import annotations

import argparse
import sys

from purlieu.cli.config import existing_store
from purlieu.cli.report import run_named
from purlieu.cli.words import safe
from purlieu.errors import Mistake, SettingsError
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase, is_held


def run(arguments: argparse.Namespace) -> int:
    """Ask for the stop and return 0; raises SettingsError when the run is not under way."""
    store = existing_store(arguments.store)
    database = SqliteDatabase.beside(store)
    try:
        row = run_named(Reader(database), arguments.run, arguments.store, pruned=True)
        with database.transaction():
            asked = is_held(store) and database.run("request_stop", row.id)
        if not asked:
            remedy = f"run {row.id} is not under way; `purlieu runs` lists the runs"
            raise SettingsError((Mistake("RUN", arguments.run, remedy),))
    finally:
        database.close()
    sys.stdout.write(f"run {row.id} of {safe(row.crawl)} was asked to stop; what is in flight ends first\n")
    return 0
