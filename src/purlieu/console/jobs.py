"""What an owner has asked for and takes a while: begun at once, shown when done, kept until newer ones push it out.

Knows nothing of what is done.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from threading import Lock
from typing import Any, Final, Protocol

from purlieu.console.waiting import PATIENCE_SECONDS, NotThere, Preparing

KEPT: Final = 24


class Done(Protocol):
    """What came of a job; ``discard`` gives back what it holds on the disk."""

    def discard(self) -> None:
        """Give it back."""
        ...


class Jobs:
    """The last few jobs, by a number that nobody can guess. Two are done at a time."""

    def __init__(self, kept: int = KEPT) -> None:
        """Keep so many."""
        self._kept = kept
        self._doer = ThreadPoolExecutor(2, thread_name_prefix="job")
        self._jobs: OrderedDict[str, Future[Any]] = OrderedDict()
        self._lock = Lock()

    def begin(self, do: Callable[[], Done]) -> str:
        """Begin a job and return its name."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._jobs[name] = self._doer.submit(do)
            pushed = [self._jobs.popitem(last=False)[1] for _ in range(len(self._jobs) - self._kept)]
        for job in pushed:
            job.add_done_callback(_discard)
        return name

    def result(self, name: str, kind: type[Any]) -> Any:
        """Return what came of a job of a kind. Raises NotThere for one that is not kept, Preparing while it is done."""
        with self._lock:
            job = self._jobs.get(name)
        if job is None:
            raise NotThere(name)
        try:
            done = job.result(PATIENCE_SECONDS)
        except NotYet:
            raise Preparing(name) from None
        if not isinstance(done, kind):
            raise NotThere(name)
        return done

    def close(self) -> None:
        """Begin no more, and give back what is held."""
        self._doer.shutdown(wait=False, cancel_futures=True)
        for job in self._jobs.values():
            job.add_done_callback(_discard)


def _discard(job: Future[Done]) -> None:
    if not job.cancelled() and job.exception() is None:
        job.result().discard()
