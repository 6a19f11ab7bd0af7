"""What follows a run of ``purlieu crawl``: old runs are pruned, and who wants to know is told.

Builds what that needs. Nothing here changes how the run ended: what fails is logged, and noted as a finding.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any, Final

from purlieu import __version__
from purlieu.crawl.clock import RealClock
from purlieu.errors import PurlieuError, StoreError
from purlieu.finding import Finding
from purlieu.settings import Settings
from purlieu.store.reader import RunRow
from purlieu.value import replace

LOG: Final = logging.getLogger(__name__)


def after(made: Settings, run: RunRow, facts: dict[str, Any]) -> None:
    """Prune as ``retention`` says and tell as ``after`` says; ``facts`` are what is told of the run."""
    if made.retention.ledger_runs is not None:
        from purlieu.report.pruning import prune

        try:
            for gone in prune(made.store, RealClock().now(), keep=made.retention.ledger_runs, crawl=run.crawl):
                LOG.info("run %d: pruned (retention.ledger_runs), %d rows", gone.run, gone.rows)
        except StoreError as error:
            LOG.warning("old runs were not pruned: %s", error)
    if not made.after.command and not made.after.webhook:
        return
    failed = asyncio.run(_tell(made, facts))
    findings = [Finding("after_failed", what, {"what": what, "why": why}) for what, why in failed]
    for one in findings:
        LOG.warning(one.sentence(made.language))
    if findings:
        with suppress(StoreError):
            _note(made.store, run.id, findings)


async def _tell(made: Settings, facts: dict[str, Any]) -> list[tuple[str, str]]:
    from purlieu.crawl.after import tell
    from purlieu.fetch import secret
    from purlieu.fetch.http import HttpFetcher

    try:
        known = secret.resolved(made, RealClock().now())
    except PurlieuError as error:
        return [("after", str(error))]
    fetch = replace(known.fetch, timeout_seconds=known.after.timeout_seconds)
    agent = made.fetch.user_agent or f"Purlieu/{__version__}"
    fetcher = HttpFetcher(fetch, known.origins, known.hosts, agent, RealClock().now)
    try:
        return await tell(known.after, json.dumps(facts, ensure_ascii=False).encode(), fetcher)
    finally:
        await fetcher.close()


def _note(store: str, run: int, findings: list[Finding]) -> None:
    from purlieu.store.sqlite import SqliteDatabase

    database = SqliteDatabase.beside(store)
    try:
        with database.transaction():
            rows = [(run, one.code, one.subject, json.dumps(dict(one.arguments))) for one in findings]
            database.many("add_finding", rows)
    finally:
        database.close()
