"""``purlieu crawl``: run a crawl, show it, tell its end.

Builds the crawl and its display; how a crawl runs is ``purlieu.crawl``, what is said
is ``progress.py`` and ``summary.py``. What is not needed for the first request is
imported after it (R-9.2).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Protocol, TextIO

from purlieu.cli import config, log
from purlieu.cli.progress import Display, Json, Lines, Live, Quiet
from purlieu.cli.words import Say, fitted, safe, speaker, tongue
from purlieu.crawl.local import Crawl
from purlieu.crawl.result import Progress, Result
from purlieu.decide import Visit
from purlieu.errors import Mistake, SettingsError, StoreError
from purlieu.settings import Settings
from purlieu.settings.advice import findings

INTERRUPTED = 130


class Running(Protocol):
    """A crawl that can be run and watched: ``crawl.local.Crawl`` is one."""

    async def run(self) -> object:
        """Run to the end."""
        ...

    def __aiter__(self) -> AsyncIterator[Visit]:
        """Run to the end, giving each visit."""
        ...

    def stop(self) -> None:
        """Ask for a clean stop."""
        ...

    def progress(self) -> Progress:
        """Return a snapshot."""
        ...


class Stopping:
    """What Ctrl-C does: the first press asks for a clean stop, the second leaves at once."""

    def __init__(self, crawl: Running, display: Display, say: Say, leave: Callable[[int], object] = os._exit) -> None:
        """Stop this crawl; ``leave`` ends the process without another step."""
        self._crawl = crawl
        self._display = display
        self._say = say
        self._leave = leave
        self._presses = 0
        self._signals = 0

    def press_from_outside(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take a press in a signal handler: the first is left to the loop, the second acts at once."""
        self._signals += 1
        if self._signals == 1:
            loop.call_soon_threadsafe(self.press)
        else:
            self._presses = max(self._presses, 1)
            self.press()

    def press(self) -> None:
        """Take one press."""
        self._presses += 1
        if self._presses == 1:
            say = self._say
            self._display.say(say("Stopping: requests under way are finished first. Ctrl-C again stops at once."))
            self._crawl.stop()
        else:
            self._display.close()
            self._display.say(self._say("Stopped at once. What is stored stays; --resume goes on from there."))
            self._leave(INTERRUPTED)


async def attend(
    crawl: Running, display: Display, *, visits: bool, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """Run a crawl to its end and show it: snapshots as often as the display wants, and each visit if asked for."""

    async def watch() -> None:
        while True:
            await sleep(display.every_seconds)
            display.show(crawl.progress())

    watching = asyncio.create_task(watch()) if display.every_seconds else None
    try:
        if visits:
            async for visit in crawl:
                display.ended(visit_facts(visit))
        else:
            await crawl.run()
    finally:
        if watching:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        display.close()


def visit_facts(visit: Visit) -> dict[str, Any]:
    """Return what is shown of a visit."""
    detail = visit.outcome.detail if visit.outcome else ""
    return {
        "url": visit.url,
        "kind": visit.kind,
        "reason": visit.reason,
        "status": visit.status,
        "detail": detail.partition("\n")[0],
    }


def display_of(arguments: argparse.Namespace, out: TextIO, say: Say) -> Display:
    """Return the display that was asked for, or that fits where the output goes."""
    if arguments.quiet:
        return Quiet()
    if arguments.json:
        return Json(out)
    if out.isatty() and os.environ.get("TERM") != "dumb":
        return Live(out, say)
    return Lines(out, say)


def run(arguments: argparse.Namespace, words: Sequence[str]) -> int:
    """Do ``purlieu crawl`` and return the exit status (R-8.2); ``words`` are what was typed, for the hint to resume."""
    if arguments.demo and (arguments.urls or arguments.list or arguments.config):
        raise SettingsError((Mistake("--demo", "", "leave URL, --list and -c out: the demo brings its own site"),))
    with _demo(arguments) as demo:
        if demo:
            arguments.urls, arguments.name = [demo], arguments.name or "demo"
        made = _settings(arguments)
        say = speaker(tongue(arguments.lang, made.language))
        display = display_of(arguments, sys.stdout, say)
        log.show(lambda text: display.say(safe(text)), arguments.verbose)
        with log.to_file(arguments.log), asyncio.Runner(loop_factory=_loop()) as runner:
            result = runner.run(_crawl(made, arguments, display, say))
    return _end(made, arguments, result, words)


def _settings(arguments: argparse.Namespace) -> Settings:
    """Return the settings to run with; a bare ``--resume`` takes those of the last unfinished run of the store."""
    if arguments.endeca or arguments.benjamin:
        from purlieu.cli import adopt

        return config.of_crawl(arguments, sys.stdin, adopt.for_crawl(arguments))
    if arguments.again:
        return config.of_crawl(arguments, sys.stdin, _again(arguments))
    if not arguments.resume or arguments.urls or arguments.list or arguments.config:
        return config.of_crawl(arguments, sys.stdin)
    from purlieu.store.runs import last_unfinished
    from purlieu.store.sqlite import SqliteDatabase

    store = config.existing_store(arguments.store or Settings().store)
    database = SqliteDatabase.reader(store)
    try:
        name, text = last_unfinished(database)
    finally:
        database.close()
    arguments.name, arguments.store = arguments.name or name, store  # wherever the file has moved to
    return config.of_crawl(arguments, sys.stdin, (text, f'{store}, crawl "{name}"'))


def _again(arguments: argparse.Namespace) -> tuple[str, str]:
    """Return the settings kept for the crawl to be crawled again, else its last run's, and where they come from."""
    if arguments.urls or arguments.list or arguments.config:
        remedy = "leave URL, --list and -c out: the settings are those that are kept for the crawl"
        raise SettingsError((Mistake("--again", arguments.again, remedy),))
    store = config.existing_store(arguments.store or Settings().store)
    text, where = config.kept_text(arguments.again, store, "--again")
    arguments.name, arguments.store = arguments.name or arguments.again, store
    return text, where


async def _crawl(made: Settings, arguments: argparse.Namespace, display: Display, say: Say) -> Result:
    """Run a crawl under the display and return its result."""
    named = made.seeds[0] + (f" (+{len(made.seeds) - 1:,})" if len(made.seeds) > 1 else "")
    display.say(say("Crawling {seeds}. Ctrl-C stops cleanly.", seeds=named))
    for finding in findings(made):  # before the first request, while there is time to stop (EN-80)
        display.say(finding.sentence(tongue(arguments.lang, made.language)))
    crawl = Crawl(made, resume=arguments.resume)
    stopping = Stopping(crawl, display, say)
    loop = asyncio.get_running_loop()
    # Not the loop's own handler: a second press must end the process also while a long write keeps the loop busy.
    signal.signal(signal.SIGINT, lambda *_: stopping.press_from_outside(loop))
    # The machine's stop, not the owner's; a crawl under nohup outlives its terminal.
    for number, what in ((signal.SIGTERM, "shutdown"), (signal.SIGHUP, "hangup")):
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, crawl.stop, f"system:{what}")
    async with crawl:
        if not gc.isenabled():  # put off by the entrance; what stands here stays to the end, and is not gone over again
            gc.freeze()
            gc.enable()
        await attend(crawl, display, visits=arguments.verbose > 0)
    # What follows has no crawl to stop: a press ends the process.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return crawl.result


def _loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _demo(arguments: argparse.Namespace) -> AbstractContextManager[str]:
    if not arguments.demo:
        return nullcontext("")
    from purlieu.testing import demo

    return demo.serve(demo.PORT)


def _end(made: Settings, arguments: argparse.Namespace, result: Result, words: Sequence[str]) -> int:
    """Write the result files, tell the end, and return the exit status."""
    from purlieu import report
    from purlieu.cli import summary
    from purlieu.store.reader import Reader
    from purlieu.store.sqlite import SqliteDatabase

    fault: Exception | None = None
    files: tuple[str, ...] = ()
    try:
        files = tuple(map(str, report.write(made.store, result.run, result.folder, made.formats, made.language)))
    except (StoreError, OSError) as error:  # told after the books: the run itself is whole
        fault = error
    database = SqliteDatabase.reader(made.store)
    try:
        reader = Reader(database)
        row = reader.run(result.run)
        assert row is not None  # noqa: S101 - the run that has just ended
        resume = resuming(words) if row.state != "done" else ""
        told = summary.of_run(reader, row, files, resume)
    finally:
        database.close()
    if arguments.json:
        Json(sys.stdout).write("end", summary.facts(told))
    else:
        lines = summary.lines(told, tongue(arguments.lang, made.language))
        sys.stdout.writelines(f"{line}\n" for line in fitted(lines, sys.stdout))
    if made.retention.ledger_runs or made.after.command or made.after.webhook:
        from purlieu.cli.after import after

        sys.stdout.flush()
        status = summary.status(told, strict=arguments.strict)
        after(made, row, {**summary.facts(told), "exit_status": 1 if fault else status})
    if fault:
        elsewhere = f'the run is kept: "purlieu report {result.run} -o FOLDER" writes its files elsewhere'
        raise StoreError(f"the result files could not be written: {fault}; {elsewhere}") from fault
    return summary.status(told, strict=arguments.strict)


def resuming(words: Sequence[str]) -> str:
    """Return the command that goes on with what was typed."""
    return shlex.join(["purlieu", *words, *(() if "--resume" in words else ("--resume",))])
