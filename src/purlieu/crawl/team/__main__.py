"""A process that works at another's run: ``python -m purlieu.crawl.team``, started by that one and by nobody else.

Its standard input is the wire. When that is cut, the other has gone, and this process ends at once (R-8.1): whatever it
was doing is asked for again by whoever resumes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

from purlieu.admission import Admission
from purlieu.crawl import parts
from purlieu.crawl.clock import RealClock, SteadyClock
from purlieu.crawl.team.far import Backlog, FarDesk
from purlieu.crawl.team.wire import Wire
from purlieu.crawl.traps import HeedingWatch
from purlieu.crawl.visit import Outside, Visitor
from purlieu.crawl.worker import Worker
from purlieu.errors import ArchiveFull
from purlieu.trap import Series
from purlieu.url import host_of
from purlieu.value import replace

if TYPE_CHECKING:
    from purlieu.crawl.team.team import Begin
    from purlieu.fetch.fetcher import Fetcher
    from purlieu.fetch.http import HttpFetcher


class _Far:
    """This process's end of the wire."""

    def __init__(self) -> None:
        self.wire = Wire(self.heard, self.lost)
        self.gone = asyncio.Event()
        self._admission: Admission
        self._fetcher: HttpFetcher
        self._asking: Fetcher
        """The same, or what keeps all that it gives."""
        self._landed: dict[str, str] = {}
        """What has landed and is not yet part of the scope."""
        self._has_begun = asyncio.Event()
        self._is_leaving = False

    def heard(self, message: tuple[Any, ...]) -> None:
        """Do what the other process says."""
        what, *told = message
        if what == "answer":
            self._desk.answered(*told)
        elif what == "written":
            self._backlog.written()
        elif what == "begin":
            self._open(pickle.loads(told[0]))  # noqa: S301 - by our own other process
        elif what == "stop":
            self._worker.stop(*told)
        elif what == "wake":
            self._desk.woken()
            self._worker.wake()
        elif what == "spare":
            self._worker.spare(*told)
        elif what == "landed":
            self._landed.update(*told)
        elif what == "opened":
            self._fetcher.guard.open_too(*told)
        elif what == "trapped":
            self._series.condemn(*told)

    def lost(self) -> None:
        """End with the process that has the store."""
        if not self._is_leaving:
            os._exit(1)
        self.gone.set()

    def _in_scope(self, href: str) -> bool:
        if self._landed:  # many sites land one after another, and most requests need not know
            scope, landed, self._landed = self._admission.scope, self._landed, {}
            sites = {site: landed[scope.seed(site)] for site in scope.pending if scope.seed(site) in landed}
            self._admission = replace(self._admission, scope=scope.all_landed(sites))
        return self._admission.scope.accepts(href, host_of(href)) is not None

    def _open(self, begin: Begin) -> None:
        """Build the parts of a worker, before the next message that is for them."""
        _log_to(self.wire, begin.log_level)
        settings = begin.settings
        clock = SteadyClock(RealClock(), begin.offset)
        self._asking = self._fetcher = parts.fetcher(settings, clock)
        if begin.archive is not None:
            from purlieu.crawl import archiving  # only who keeps pays for it

            self._asking = archiving.keeping(self._fetcher, settings, *begin.archive, coded=settings.archive.as_sent)
        self._fetcher.guard.open_too(*begin.opened)
        self._admission = Admission.of(settings)
        self._landed = dict(begin.landed)
        self._series = Series(settings.traps.same_text if settings.traps.detect else 0, begin.trapped)
        watch = HeedingWatch(self._series, self._admission.traps, lambda *_, **__: None)
        self._documents = parts.documents(settings)
        outside = Outside(
            self._asking, clock, self._in_scope, self._fetcher.address_of, watch, documents=self._documents
        )
        if begin.extract is not None:
            from purlieu.crawl import extracting  # only who extracts pays for it

            outside = replace(outside, extractor=extracting.found(*begin.extract))
        self._desk = FarDesk(self.wire, self._fetcher, counts=begin.counts_pages)
        self._backlog = Backlog(self.wire)
        self._worker = Worker(self._desk, Visitor(settings, outside), clock, begin.limits, self._backlog, lambda: False)
        self._has_begun.set()

    async def work(self) -> None:
        """Work until the other process says that it is enough."""
        await self._has_begun.wait()
        self.wire.send("ready", 0)
        try:
            await self._worker.run()
        finally:
            await self._asking.close()
            if self._documents is not None:
                await self._documents.close()
        self._is_leaving = True
        self.wire.send("bye", 0)
        self.wire.close()
        await self.gone.wait()


class _LogWire(logging.Handler):
    """Passes what is logged on to the other process, which knows where it goes."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def emit(self, record: logging.LogRecord) -> None:
        self._wire.send("log", 0, record.name, record.levelno, self.format(record))


def _log_to(wire: Wire, level: int) -> None:
    log = logging.getLogger("purlieu")
    log.setLevel(level)
    log.addHandler(_LogWire(wire))
    log.propagate = False


async def _work() -> None:
    far, ours = _Far(), socket.socket(fileno=0)
    await asyncio.get_running_loop().create_unix_connection(lambda: far.wire, sock=ours)
    try:
        await far.work()
    except BaseException as error:
        what, words = ("full", "") if isinstance(error, ArchiveFull) else ("fault", f"{type(error).__name__}: ")
        far.wire.send(what, 0, f"{words}{error}")
        far.wire.flush()
        raise


def main() -> int:
    """Work, and return the exit status."""
    for number in (signal.SIGINT, signal.SIGHUP):  # the other process hears them and says what to do
        signal.signal(number, signal.SIG_IGN)
    try:
        from uvloop import new_event_loop
    except ImportError:
        loop = None
    else:
        loop = new_event_loop
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(_work())
    return 0


if __name__ == "__main__":
    sys.exit(main())
