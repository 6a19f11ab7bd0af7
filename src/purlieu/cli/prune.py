"""``purlieu store prune``: remove the ledgers of old runs.

Says what ``purlieu.report.pruning`` did.
"""

from __future__ import annotations

import argparse
import json
import sys

from purlieu.cli.config import existing_store
from purlieu.cli.report import known_crawl, opened
from purlieu.cli.words import safe
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.report.pruning import prune


def run(arguments: argparse.Namespace) -> int:
    """Prune and tell which runs lost their rows; return 0."""
    keep = arguments.keep
    if keep is not None and not (keep.isdecimal() and int(keep[:18])):
        raise SettingsError((Mistake("--keep", keep, "write a whole number of at least 1"),))
    store = existing_store(arguments.store)
    number = int(keep[:18]) if keep else None
    if arguments.crawl:
        with opened(store) as reader:
            known_crawl(reader, "--crawl", arguments.crawl, store)
    done = prune(store, RealClock().now(), keep=number, crawl=arguments.crawl, compact=arguments.compact)
    for one in done:
        told = f"run {one.run} of {safe(one.crawl)}: {one.rows:,} rows removed"
        sys.stdout.write(f"{json.dumps(one._asdict()) if arguments.json else told}\n")
    if not done and not arguments.json:
        sys.stdout.write("nothing to prune; set retention.ledger_runs, or say how many runs to --keep\n")
    return 0
