"""The owner's function at work on pages: in a thread of its own, one page at a time, each within its time.

Knows when it has hung, and how another process of the run finds it. Whatever it does, the visit ends well. What it
gives is judged by ``extraction.py``.
"""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from importlib import import_module
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, cast

from purlieu.candidate import Purpose
from purlieu.errors import Mistake, SettingsError
from purlieu.extraction import TOO_SLOW, Extract, Extracted, PageFacts, checked, failed
from purlieu.response import Failure, Response
from purlieu.value import replace

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.decide import Visit
    from purlieu.page import Page

LOG: Final = logging.getLogger(__name__)
SECONDS: Final = 10.0
"""A page may take so long, unless the owner says otherwise."""
MOST_HUNG: Final = 8
"""Threads that do not come back; with so many, the function is not called any more."""


Place = tuple[str, str]
"""A function's module and its name there."""


def taken(function: Extract, seconds: float, workers: int | str, clock: Clock) -> Extractor:
    """Return what calls the owner's function; raises SettingsError for one that cannot work."""
    mistakes, given = [], cast("object", function)  # not every owner has types checked
    name = getattr(function, "__qualname__", type(function).__qualname__)
    if not callable(given) or inspect.iscoroutinefunction(given):
        mistakes.append(Mistake("extract", name, "give a plain function (def), of page facts, body and content type"))
    if not seconds > 0:
        mistakes.append(Mistake("extract_seconds", str(seconds), "write a number above 0"))
    place = _place(function)
    if place is None and isinstance(workers, int) and workers > 1:
        remedy = (
            f"with workers = {workers} other processes must be able to import it: define it at the top of a module "
            "(not in a script, notebook or function), or write workers = 1"
        )
        mistakes.append(Mistake("extract", name, remedy))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return Extractor(function, seconds, place, getattr(clock, "held", nullcontext))


def found(place: Place, seconds: float) -> Extractor:
    """Return what calls the function in another process of the run."""
    function: Any = import_module(place[0])
    for name in place[1].split("."):
        function = getattr(function, name)
    return Extractor(function, seconds, place)


def _place(function: object) -> Place | None:
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    there: Any = sys.modules.get(module) if module and module != "__main__" else None
    for part in name.split("."):
        there = getattr(there, part, None)
    return (module, name) if module and there is function else None


class _Overdue(BaseException):
    """Raised inside a function that has had its time; none of the exceptions that it may catch."""


class _Hand:
    """A thread that calls the function, one page at a time."""

    def __init__(self, function: Extract) -> None:
        self._function = function
        self._work: SimpleQueue[tuple[tuple[PageFacts, bytes, str], Callable[[Extracted], None]] | None] = SimpleQueue()
        # A function that never comes back must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name="purlieu-extract", daemon=True)
        self._thread.start()

    @property
    def is_there(self) -> bool:
        return self._thread.is_alive()

    def do(self, given: tuple[PageFacts, bytes, str], told: Callable[[Extracted], None]) -> None:
        self._work.put((given, told))

    def leave(self, *, at_once: bool = False) -> None:
        """End when idle; or as soon as the function runs Python again."""
        self._work.put(None)
        if at_once:
            number = ctypes.c_ulong(self._thread.ident or 0)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(_Overdue))

    def _run(self) -> None:
        with suppress(_Overdue, RuntimeError):  # the loop that wanted to know may have ended
            while (work := self._work.get()) is not None:
                given, told = work
                try:
                    made = checked(self._function(*given))
                except _Overdue:
                    return
                except BaseException as error:  # noqa: BLE001 - even sys.exit() ends no crawl
                    made = failed(error)
                told(made)
                del work, given, made  # a page must not stay in memory until the next


class Extractor:
    """Has the owner's function look at the pages of a run."""

    def __init__(
        self,
        function: Extract,
        seconds: float,
        place: Place | None,
        held: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """``held`` keeps a made clock from moving while the thread works, which it cannot see."""
        self._function = function
        self._seconds = seconds
        self.elsewhere = (place, seconds) if place is not None else None
        """What ``found`` takes in another process; None where no other can import the function."""
        self._held = held
        self._hand: _Hand | None = None
        self._hung: list[_Hand] = []
        self._turn = asyncio.Lock()

    async def of(self, visit: Visit, answer: Response | Failure) -> Visit:
        """Return a visit with what the function takes out of the page, if it is one that was fetched whole."""
        is_page = visit.entry.purpose is Purpose.PAGE and (visit.kind == "fetched" or visit.reason == "same_content")
        if not is_page or visit.page is None or not isinstance(answer, Response) or not answer.body:
            return visit
        made = await self._called(_facts(visit, visit.page, answer), answer.body)
        if made.problem:
            LOG.info("extract: %s on %s: %s", made.problem, visit.url, made.detail)
        return replace(visit, extracted=made)

    async def _called(self, facts: PageFacts, body: bytes) -> Extracted:
        content_type = next((value for name, value in facts.headers if name.lower() == "content-type"), "")
        loop = asyncio.get_running_loop()
        async with self._turn:
            self._hung = [hand for hand in self._hung if hand.is_there]
            if len(self._hung) >= MOST_HUNG:
                detail = f"not called any more: {MOST_HUNG} earlier calls have not come back"
                return Extracted("", TOO_SLOW, detail)
            hand = self._hand = self._hand or _Hand(self._function)
            made: asyncio.Future[Extracted] = loop.create_future()

            def told(extracted: Extracted) -> None:
                loop.call_soon_threadsafe(_give, made, extracted)

            with self._held():
                hand.do((facts, body, content_type), told)
                await asyncio.wait([made], timeout=self._seconds)
            if made.done():
                return made.result()
            self._hand = None
            self._hung.append(hand)
            hand.leave(at_once=True)
            return Extracted("", TOO_SLOW, f"more than {self._seconds:g} s")

    def close(self) -> None:
        """Let the thread end."""
        if self._hand is not None:
            self._hand.leave()
            self._hand = None


def _give(made: asyncio.Future[Extracted], extracted: Extracted) -> None:
    if not made.done():  # nobody waits any longer
        made.set_result(extracted)


def _facts(visit: Visit, page: Page, answer: Response) -> PageFacts:
    facts = visit.entry.facts
    return PageFacts(
        visit.url, answer.status, answer.headers, page.encoding, page.title, page.lang, page.canonical, page.noindex,
        facts.depth, facts.via, page.links,
    )  # fmt: skip
