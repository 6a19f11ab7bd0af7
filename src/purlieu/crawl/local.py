"""``Crawl``: one run on this machine, from settings to balanced books.

The place where the parts are built and handed to each other. Nothing is decided here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from purlieu import __version__
from purlieu import settings as settings_text
from purlieu.admission import Accept, Admission
from purlieu.crawl import parts, wishes
from purlieu.crawl.clock import Clock, RealClock, SteadyClock
from purlieu.crawl.desk import OwnDesk, PageLimit
from purlieu.crawl.outbox import Outbox, in_batches
from purlieu.crawl.result import Progress, Result
from purlieu.crawl.traps import CODE, TrapWatch
from purlieu.crawl.visit import Outside, Visitor
from purlieu.crawl.worker import Worker
from purlieu.errors import OutOfMemory, StoreError
from purlieu.fetch.http import HttpFetcher
from purlieu.settings import advice
from purlieu.store import runs, suspects
from purlieu.store.frontier import Frontier
from purlieu.store.intake import Intake
from purlieu.store.settling import Settling
from purlieu.store.sqlite import SqliteDatabase
from purlieu.trap import Series
from purlieu.url import parse

if TYPE_CHECKING:
    from types import TracebackType

    from purlieu.crawl.desk import RunLimits
    from purlieu.crawl.extracting import Extractor
    from purlieu.crawl.team.team import Team
    from purlieu.crawl.verdicts import VerdictLog
    from purlieu.decide import Visit
    from purlieu.extraction import Extract
    from purlieu.fetch.fetcher import Fetcher
    from purlieu.settings import Settings

_STATES = {"interrupted": "stopped", "system": "failed"}
LOG = logging.getLogger(__name__)
RESUME_PAUSE_SECONDS = 0.25


class Crawl:
    """One run of a crawl: an async context manager, and an iterator of visits.

    A visit is given after it was written, at least once; a slow reader slows the crawl. Who wants no
    visits awaits ``run``. After the context has closed, ``result`` says how it ended.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        resume: bool = False,
        accept: Accept | None = None,
        extract: Extract | None = None,
        extract_seconds: float = 10.0,
        fetcher: Fetcher | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Take settings. ``accept`` is asked of each page that scope and filters let in, and can only refuse (R-3.4).

        ``extract`` is given facts (``extraction.PageFacts``), body and content type of each page that was fetched; what
        it returns, a mapping or None, is kept with the page. It may take ``extract_seconds`` for one.
        ``fetcher`` and ``clock`` stand in for the real web and time. Raises SettingsError.
        """
        self._settings = settings_text.checked(settings)
        self._resume = resume
        self._accept = accept
        self._clock = SteadyClock(clock or RealClock())
        self._extractor: Extractor | None = None
        if extract is not None:
            from purlieu.crawl import extracting  # only who extracts pays for it

            self._extractor = extracting.taken(extract, extract_seconds, settings.workers, self._clock.real)
        self._given_fetcher = fetcher
        self._name = settings.name or wishes.first_host(settings)
        self._task: asyncio.Task[None] | None = None
        self._result: Result | None = None

    # -- life --------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        """Open the store, begin or resume the run, and start to work."""
        self._database = SqliteDatabase.writer(self._settings.store)
        try:
            self._open()
        except BaseException:
            self._database.close()
            raise
        self._task = asyncio.create_task(self._work())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop what still runs, write the ending and the books, and release everything."""
        self._outbox.leave()
        self.stop()
        try:
            if self._task is not None:
                await self._task
        finally:
            try:
                if self._extractor is not None:
                    self._extractor.close()
                await self._fetcher.close()
                if self._documents is not None:
                    await self._documents.close()
                if self._settings.keeps_bodies:
                    from purlieu.crawl import archiving

                    archiving.finish(self._archive_folder(), lost=self._team is not None)
            finally:
                self._database.close()

    async def run(self) -> None:
        """Work to the end. Raises StoreError when the machine fails."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def __aiter__(self) -> AsyncIterator[Visit]:
        """Yield the visits as they are written."""
        self._outbox.attach()
        while (visit := await self._outbox.get()) is not None:
            yield visit
        await self.run()

    def batches(self, size: int = 1000) -> AsyncIterator[list[dict[str, Any]]]:
        """Iterate over the endings as they are written, as rows of plain values (``row.py``), ``size`` at a time."""
        return in_batches(self, size)

    def stop(self, reason: str = "interrupted") -> None:
        """Start nothing more; what is in flight ends, everything is written.

        A ``reason`` that begins with ``system:`` makes it a stop by the system: the run has failed and has no
        MF3.0 file (R-8.1, MF-30).
        """
        if self._task is not None and not self._task.done():
            self._worker.stop(reason)

    @property
    def result(self) -> Result:
        """Return how the run ended; only after it has."""
        if self._result is None:
            message = "the run has not ended"
            raise RuntimeError(message)
        return self._result

    def progress(self) -> Progress:
        """Return where the run stands now; cheap."""
        counters = self._counters
        ended = sum(counters.endings.values())
        by_kind: dict[str, int] = {}
        for name, count in counters.endings.items():
            kind = name.partition(".")[0]
            by_kind[kind] = by_kind.get(kind, 0) + count
        return Progress(
            self._run.id,
            self._active_seconds(),
            counters.admitted,
            ended,
            counters.admitted - ended,
            counters.requests,
            counters.bytes,
            by_kind,
            len(self._frontier.held),
            self._outbox.newest,
        )

    # -- parts -------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Build the parts and hand them to each other."""
        settings, database, clock = self._settings, self._database, self._clock
        # Before the run begins: a secret that is not there is the owner's mistake, not a failed run.
        self._documents = parts.documents(settings)  # so is what is not installed
        self._fetcher = self._given_fetcher or parts.with_doors(settings, clock)
        toml = settings_text.dump(settings)
        now = clock.now()
        if self._resume:
            opened = runs.resume(database, self._name, toml, now)
        else:
            opened = runs.begin(database, self._name, (toml, settings.revisit), __version__, now)
        self._run, self._counters, self._before = opened.run, opened.counters, opened.active_seconds
        asking = self._fetcher
        if settings.keeps_bodies:
            from purlieu.crawl import archiving  # only who keeps pays for it

            archiving.begin(self._archive_folder())
            coded = settings.archive.as_sent and self._given_fetcher is None
            self._fetcher = archiving.keeping(asking, settings, *self._archive(), coded=coded)
        self._began_at = clock.monotonic()
        intake = self._intake = Intake(
            database,
            self._run,
            Admission.of(settings, self._accept, now=now),
            wishes.intake_limits(settings),
            self._counters,
        )
        self._verdicts = self._verdict_log()
        self._frontier = Frontier(database, self._run, intake, self._counters, wishes.frontier_rules(settings))
        self._settling = Settling(database, self._run, intake, self._counters)
        self._frontier.open(now, RESUME_PAUSE_SECONDS)
        if opened.changed:
            self._frontier.judge_again(now)
        self._seeds = [self._entry_point(seed) for seed in settings.seeds]
        self._frontier.seed(wishes.entry_points(settings, self._seeds), now)
        self._note_settings()
        self._outbox = Outbox()
        limits = wishes.run_limits(settings, self._before, self._counters.pages_asked)
        outside = self._outside()
        pages = PageLimit(limits)
        self._team = self._made_team(asking, limits, pages, outside)
        own = OwnDesk(self._frontier, pages, self._active_seconds)
        self._worker = Worker(
            self._team.desk if self._team else own,
            Visitor(settings, outside),
            clock,
            limits,
            self._outbox,
            lambda: runs.stop_requested(database, self._run),
        )

    def _outside(self) -> Outside:
        """Return what a visit needs of the world."""
        traps = self._settings.traps
        known = self._frontier.noted(CODE, of_before=traps.detect)
        series = Series(traps.same_text if traps.detect else 0, known)
        watch = TrapWatch(series, self._intake.admission.traps, self._frontier.note)
        return Outside(
            self._fetcher, self._clock, self._frontier.in_scope, self._fetcher.address_of, watch, self._frontier.note,
            self._documents,
            self._extractor,
        )  # fmt: skip

    def _made_team(self, fetcher: Fetcher, limits: RunLimits, pages: PageLimit, outside: Outside) -> Team | None:
        """Return what starts more processes, if there may be any: they ask the real web at the real time."""
        own = self._settings
        if own.workers == 1 or not isinstance(fetcher, HttpFetcher) or not isinstance(self._clock.real, RealClock):
            return None
        extract = self._extractor.elsewhere if self._extractor is not None else None
        if extract is None and self._extractor is not None:
            return None
        from purlieu.crawl.team.size import Size

        size = Size(own.workers, limits.max_hosts)
        if size.most < 2:
            return None
        from purlieu.crawl.team.ground import Ground
        from purlieu.crawl.team.team import Run, Team

        counters, database, run = self._counters, self._database, self._run
        ground = Ground(self._frontier, self._clock, pages, fetcher, self._active_seconds)
        work = Run(
            own, limits, self._frontier, outside.traps,
            scope=lambda: self._intake.admission.scope,
            due=lambda: counters.admitted - sum(counters.endings.values()),
            stop_requested=lambda: runs.stop_requested(database, run),
            archive=self._archive() if own.keeps_bodies else None,
            extract=extract,
        )  # fmt: skip
        return Team(work, size, ground, self._outbox, self._clock)

    def _verdict_log(self) -> VerdictLog | None:
        """Return the log of verdicts, if anyone listens to it."""
        if not logging.getLogger("purlieu.verdict").isEnabledFor(logging.DEBUG):
            return None
        from purlieu.crawl.verdicts import VerdictLog  # 10 ms that a crawl without it need not wait for

        return VerdictLog(self._database, self._run.id, self._intake, self._settings.robots.agent)

    def _archive(self) -> tuple[Path, str]:
        """Return the folder of the archive, and what the names of its files begin with."""
        return self._archive_folder(), f"{self._name}-{self._run.id}"

    def _archive_folder(self) -> Path:
        return Path(settings_text.result_folder(self._settings, self._name, self._run.id)) / "archive"

    def _entry_point(self, seed: str) -> str:
        """Return a seed's address; the owner's normalisers are for what is found, unless the owner says otherwise."""
        href = parse(seed).href
        return self._intake.normal(href) if self._settings.normalise.apply_to_seeds else href

    def _note_settings(self) -> None:
        """Write the findings that follow from the settings alone (EN-80, EN-82)."""
        # Each seed against all sites: of ten thousand that takes minutes, so only where somebody listens.
        for seed in self._seeds if LOG.isEnabledFor(logging.DEBUG) else ():
            for note in self._intake.admission.scope.judge(seed).notes:
                LOG.debug(note)  # EN-29
        for finding in advice.findings(self._settings):
            self._frontier.note(finding.code, finding.subject, **finding.arguments)
        if not self._settings.robots.obey:
            self._frontier.note("robots_ignored", self._name)
        for host in self._settings.hosts:
            if not host.verify:
                self._frontier.note("tls_not_verified", host.name)

    async def _work(self) -> None:
        try:
            reason = await (self._team.work(self._worker) if self._team else self._worker.run())
            self._end(_STATES.get(reason.partition(":")[0], "done"), reason)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self._fail(error)
            if isinstance(error, MemoryError):
                raise OutOfMemory(_no_memory(self._run.id, self._settings.politeness.max_hosts)) from error
            raise
        finally:
            self._outbox.close()

    def _fail(self, error: BaseException) -> None:
        """End the run as stopped by the system; store or memory may be what failed, so what can be written is."""
        what = error.what if isinstance(error, StoreError) else type(error).__name__
        why = "system:memory" if isinstance(error, MemoryError) else f"system:{what}"
        try:
            self._end("failed", why)
        except (StoreError, MemoryError):
            with suppress(StoreError, MemoryError), self._database.transaction():  # there may be room for one row
                runs.end(self._database, self._run, "failed", why, self._clock.now())

    def _end(self, state: str, reason: str) -> None:
        """Settle redirects, end the run, audit the books (R-2.5, R-7.1)."""
        self._settling.redirects(self._settings.limits.max_redirects)
        if state == "done":  # else it would be said of what a resume will say it of again, at length
            self._settling.rules()
        if self._settings.traps.soft_404:
            self._settling.soft_404()
        if self._verdicts is not None:
            self._verdicts.settle()
        self._frontier.save(self._active_seconds())
        # Together, so that a run which is killed here is resumed, and never ended without books.
        with self._database.transaction():
            self._frontier.settle_history(self._name, is_whole=reason == "finished")
            runs.end(self._database, self._run, state, reason, self._clock.now())
            books = self._settling.books(self._seeds)
            runs.save_books(self._database, self._run, books)
            if self._settings.keeps_text:
                self._settling.contents(is_done=state == "done")
            if state == "done":
                suspects.note(
                    self._database,
                    self._run,
                    self._name,
                    is_whole=reason == "finished",
                    threshold=self._settings.limits.threshold,
                    only_seeds=self._settings.scope.only_seeds,
                )
        self._result = self._told(state, reason, books)
        if state == "done":
            LOG.info("Crawl complete.")  # EN-69, AMB-EN-9

    def _told(self, state: str, reason: str, books: dict[str, Any]) -> Result:
        return Result(
            self._run.id,
            self._name,
            state,
            reason,
            books["balanced"],
            tuple(books["faults"]),
            self._settling.good_pages(),
            books["ended"],
            self._active_seconds(),
            Path(settings_text.result_folder(self._settings, self._name, self._run.id)),
        )

    def _active_seconds(self) -> float:
        return self._before + self._clock.monotonic() - self._began_at


def _no_memory(run: int, hosts: int) -> str:
    return (
        f'run {run}: this process got no more memory: end other programs, or ask fewer hosts at once than "{hosts}" '
        "(politeness.max_hosts), then resume; nothing stored is lost"
    )
