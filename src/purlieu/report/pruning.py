"""Old runs pruned by the owner's retention (R-8.4): their rows go, their totals and findings stay.

Takes what a run tells before its rows go; what goes and what must stay is ``store/retention.py``'s to know.
"""

from __future__ import annotations

from purlieu.errors import StoreError
from purlieu.named import NamedTuple
from purlieu.report import books, findings
from purlieu.row import iso8601
from purlieu.settings.reading import tables
from purlieu.store import retention
from purlieu.store.reader import Reader, RunRow
from purlieu.store.sqlite import SqliteDatabase, search


class Pruned(NamedTuple):
    """A run that was pruned, and how many rows went."""

    run: int
    crawl: str
    rows: int


def sentence(run: RunRow) -> str:
    """Return what is told of a pruned run where its rows are asked for."""
    return (
        f'the ledger of run "{run.id}" of {run.crawl} was pruned on {iso8601(run.pruned_at or 0)[:10]} '
        "(retention.ledger_runs); its totals and findings are kept, its rows are not: name a later run"
    )


def refuse(run: RunRow) -> RunRow:
    """Return the run; raises StoreError when its rows were pruned."""
    if run.pruned_at is not None:
        raise StoreError(sentence(run))
    return run


def kept_runs(reader: Reader, run: RunRow) -> int | None:
    """Return of how many runs the ledger is kept by the settings of a run, None for all."""
    try:
        kept = tables(reader.config(run))["retention"]["ledger_runs"]
    except (KeyError, TypeError):
        return None
    return kept if isinstance(kept, int) and kept > 0 else None


def forget(store_path: str) -> int:
    """Remove what is left of crawls that their owner removed, and return how many there were.

    Raises StoreBusy while a crawl is at work, StoreError for any other fault.
    """
    database = SqliteDatabase.writer(store_path)
    try:
        number = retention.forget(database)
        _sweep(store_path, database)
        return number
    finally:
        database.close()


def prune(
    store_path: str, now: float, *, keep: int | None = None, crawl: str | None = None, compact: bool = False
) -> list[Pruned]:
    """Prune the old runs of a crawl, or of every crawl, and return those of which rows went, the oldest first.

    ``keep`` stands instead of what the settings of each crawl's newest run say. ``compact`` gives the freed room back
    to the disk, else later runs use it. What removed crawls left goes too. Raises StoreBusy while a crawl is at work,
    StoreError for any other fault.
    """
    database = SqliteDatabase.writer(store_path)
    try:
        retention.forget(database)
        _sweep(store_path, database)
        reader = Reader(database)
        newest: dict[str, RunRow] = {}
        for run in reader.runs():
            newest.setdefault(run.crawl, run)
        done = []
        for name in sorted(newest) if crawl is None else [crawl] if crawl in newest else []:
            kept = keep or kept_runs(reader, newest[name])
            number = reader.crawl_number(name)
            for one in retention.prunable(database, number, kept) if kept and number else ():
                if (old := reader.run(one)) is not None:
                    told = () if old.pruned_at is not None else findings.of_run(reader, old, books.of_run(reader, old))
                    rows = retention.prune(database, (one, number or 0), reader.counts(old), told, now)
                    done += [Pruned(one, name, rows)] if rows else []
        if compact:
            database.run("vacuum")
        return done
    finally:
        database.close()


def _sweep(store_path: str, database: SqliteDatabase) -> None:
    """Remove what a search of removed crawls left beside the store."""
    search.sweep(store_path, (number for number, _ in Reader(database).crawls()))
