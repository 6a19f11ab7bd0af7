"""A crawl by plain function call: from a script, a notebook, a task of a scheduler, in whatever thread.

Knows that somebody else's event loop may run already, and installs no signal handler. Decides nothing; ``Crawl`` runs.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, Self, TypedDict, TypeVar, Unpack

from purlieu import settings as settings_text
from purlieu.crawl.local import Crawl

if TYPE_CHECKING:
    from purlieu.admission import Accept
    from purlieu.crawl.clock import Clock
    from purlieu.extraction import Extract
    from purlieu.fetch.fetcher import Fetcher
    from purlieu.settings import Settings

    Given = Settings | str | Mapping[str, Any]

ROWS: Final = 1000
"""Rows of a batch, unless another number is wanted."""
LOOK_SECONDS: Final = 0.2
"""An interrupt that the system gives to another thread is noticed after so long."""
T = TypeVar("T")


class Options(TypedDict, total=False):
    """What may be said besides the settings; ``Crawl`` says what each means."""

    resume: bool
    accept: Accept | None
    extract: Extract | None
    extract_seconds: float
    fetcher: Fetcher | None
    clock: Clock | None


def run(settings: Given, **options: Unpack[Options]) -> dict[str, Any]:
    """Crawl to the end and return what became of it, as plain values that JSON can hold.

    ``settings`` are ``Settings``, a TOML text, or its tables as a mapping. The keys are those of ``Result``, and
    ``store``. Works in any thread, and where an event loop is running already (in a notebook), which it holds up until
    the crawl has ended; ``run_async`` does not. An interrupt stops the crawl cleanly, and ``resume=True`` goes on.
    Raises SettingsError for mistakes of the owner, StoreError when the machine fails; what the web does is in
    ``counts``.
    """
    work = run_async(settings, **options)
    if _has_loop():
        with Apart() as apart:
            return apart.do(work)
    with asyncio.Runner(loop_factory=_fast_loop()) as runner:
        return runner.run(work)


async def run_async(settings: Given, **options: Unpack[Options]) -> dict[str, Any]:
    """Do what ``run`` does, on the loop that is running."""
    read = _read(settings)
    async with Crawl(read, **options) as crawl:
        await crawl.run()
    return _told(crawl, read)


def batches(settings: Given, size: int = ROWS, **options: Unpack[Options]) -> Batches:
    """Crawl, and return an iterator over the endings while it goes on: lists of rows (``purlieu.row``).

    Works and raises as ``run`` does.
    """
    read = _read(settings)
    return Batches(Crawl(read, **options), read, size)


class Batches:
    """The endings of a crawl as lists of rows, at most so many at a time.

    The crawl begins with the first, in a thread of its own, and waits while they are not taken, so that memory is
    bounded. ``close`` stops it cleanly before its end, as does the end of a ``with`` block.
    """

    def __init__(self, crawl: Crawl, settings: Settings, size: int) -> None:
        """Start nothing yet."""
        self._apart = Apart()
        self._crawl = crawl
        self._settings = settings
        self._given = crawl.batches(size)
        self._is_open: bool | None = None
        # Who is left standing when the interpreter ends, which kills the thread, is closed before that.
        weakref.finalize(self, self._apart.close)

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        """Return itself."""
        return self

    def __next__(self) -> list[dict[str, Any]]:
        """Return the next rows."""
        if self._is_open is None:
            self._apart.__enter__()
            self._is_open = True
        if not self._is_open:
            raise StopIteration
        try:
            rows = self._apart.do(self._next())
        except BaseException:
            self.close()
            raise
        if rows is None:
            self.close()
            raise StopIteration
        return rows

    async def _next(self) -> list[dict[str, Any]] | None:
        if (
            self._apart.at_end is None
        ):  # in one go with the first rows: what is written before there is a reader is lost
            crawl = await self._crawl.__aenter__()
            self._apart.at_end = lambda: crawl.__aexit__(None, None, None)
        return await anext(self._given, None)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the crawl if it goes on."""
        self.close()

    def close(self) -> None:
        """Stop the crawl if it goes on, and wait until all is written."""
        self._is_open = False
        self._apart.close()

    @property
    def result(self) -> dict[str, Any]:
        """Return what became of the crawl, as ``run`` does; only after its end."""
        return _told(self._crawl, self._settings)


def _told(crawl: Crawl, settings: Settings) -> dict[str, Any]:
    result = crawl.result
    return {
        "run": result.run, "crawl": result.crawl, "state": result.state, "stop_reason": result.stop_reason,
        "books_balanced": result.books_balanced, "faults": list(result.faults), "good": result.good,
        "counts": dict(result.counts), "seconds": result.seconds, "folder": str(result.folder), "store": settings.store,
    }  # fmt: skip


def _read(settings: Given) -> Settings:
    if isinstance(settings, str):
        return settings_text.read(settings)
    return settings_text.of(settings) if isinstance(settings, Mapping) else settings


def _has_loop() -> bool:
    with suppress(RuntimeError):
        return asyncio.get_running_loop() is not None
    return False


def _fast_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        from uvloop import new_event_loop
    except ImportError:
        return None
    return new_event_loop


class Apart:
    """An event loop in a thread of its own, for who has none or must not hold up the one that runs."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self.at_end: Callable[[], Coroutine[Any, Any, object]] | None = None
        """What is done before the loop ends."""
        self._loop: asyncio.AbstractEventLoop | None = None
        # A thread that is waited for at the interpreter's end would wait for ever for who does not go on reading.
        self._thread = threading.Thread(target=copy_context().run, args=(self._work,), name="purlieu", daemon=True)
        self._began = threading.Event()
        self._ending = asyncio.Event()

    def __enter__(self) -> Self:
        """Start the thread."""
        self._thread.start()
        self._began.wait()
        return self

    def __exit__(self, *_: object) -> None:
        """Do what is to be done at the end, and wait for the thread."""
        self.close()

    def close(self) -> None:
        """End the loop, after what is to be done at the end; once."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        if threading.current_thread() is self._thread:  # it was forgotten there, and cannot wait for itself
            self._ending.set()
            return
        try:
            if self.at_end is not None:
                self._do(loop, self.at_end())
        finally:
            loop.call_soon_threadsafe(self._ending.set)
            self._thread.join()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a coroutine returns there. An interrupt cancels it, and is raised once it has come to its end."""
        if self._loop is None:
            message = "the loop has ended"
            raise RuntimeError(message)
        return self._do(self._loop, work)

    @staticmethod
    def _do(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
        done: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        def begin() -> None:
            tasks.append(loop.create_task(work))
            tasks[0].add_done_callback(end)

        def end(task: asyncio.Task[T]) -> None:
            if task.cancelled():
                done.cancel()
                done.set_running_or_notify_cancel()
            elif (error := task.exception()) is not None:
                done.set_exception(error)
            else:
                done.set_result(task.result())

        def stop() -> None:
            tasks[0].cancel()  # it has begun, as what is called so keeps its order

        loop.call_soon_threadsafe(begin)
        try:
            while not wait([done], LOOK_SECONDS).done:
                pass
        except BaseException:
            loop.call_soon_threadsafe(stop)
            wait([done])
            raise
        return done.result()

    def _work(self) -> None:
        with asyncio.Runner(loop_factory=_fast_loop()) as runner:
            self._loop = runner.get_loop()
            self._began.set()
            runner.run(self._until_ending())

    async def _until_ending(self) -> None:
        await self._ending.wait()
