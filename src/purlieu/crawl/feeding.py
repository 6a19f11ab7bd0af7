"""Tells a search engine of changed pages, some at a time: asks again what may go well, and says what was refused.

What is told comes in as values (``feed``); who remembers what was accepted is called after each answer. Nothing is
lost where this ends early: what was not acknowledged is told again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from purlieu.crawl.clock import Clock
from purlieu.errors import FeedError
from purlieu.feed import Asked, Change, Meaning, Target, Verdict, answered, asked, of_task
from purlieu.fetch.fetcher import Fetcher
from purlieu.politeness import retry_after
from purlieu.response import Failure, Request, Response
from purlieu.value import dataclass, field

MOST_AT_ONCE: Final = 500
MOST_BYTES: Final = 4_000_000
"""Told at once; a page that is larger goes alone."""
ATTEMPTS: Final = 5
LONGEST_WAIT: Final = 120.0
"""A server that wants to be left alone longer, in seconds, is told at another time."""
_TASK_SECONDS: Final = 600.0
_HOPELESS: Final = 20
_HINTS: Final = {
    "status 401": "name its credentials with --user or --header",
    "status 403": "name its credentials with --user or --header",
    "status 404": "check its address and --index",
}
_Key = TypeVar("_Key")


@dataclass(slots=True)
class Tally:
    """What became of the changes so far: numbers by what they are, and (change, reason) of those that were refused."""

    accepted: dict[str, int] = field(default_factory=lambda: {"added": 0, "changed": 0, "removed": 0})
    refused: list[tuple[Change, str]] = field(default_factory=list)


class Sender:
    """Tells one target; ``headers`` carry credentials and go to it alone."""

    def __init__(self, target: Target, fetcher: Fetcher, clock: Clock, headers: Sequence[tuple[str, str]] = ()) -> None:
        """Send to ``target`` through a fetcher."""
        self._target = target
        self._fetcher = fetcher
        self._clock = clock
        self._headers = tuple(headers)
        self._alone = 0
        self._has_accepted = False

    async def send(self, changes: Sequence[Change], attempt: int = 0) -> dict[int, str]:
        """Tell of changes and return the places of those that were refused, with reasons.

        Single ones for which the server has no room now are told again, ``ATTEMPTS`` times in all. Raises FeedError
        when the server is down, wants to be left alone, or refuses everything.
        """
        verdict = await self._verdict(changes)
        if verdict.meaning is Meaning.SPLIT and len(changes) > 1:
            half = len(changes) // 2
            first, second = await self.send(changes[:half]), await self.send(changes[half:])
            return first | {place + half: reason for place, reason in second.items()}
        if verdict.meaning is Meaning.SPLIT:
            self._alone += 1
            if self._alone >= _HOPELESS and not self._has_accepted:
                raise self._error(f"it refuses every record: {verdict.told}")
            return {0: verdict.told}
        if verdict.meaning is not Meaning.READ:
            raise self._error(verdict.told)
        refused, busy = dict(verdict.refused or {}), dict(verdict.busy or {})
        if busy and attempt < ATTEMPTS - 1:
            await self._clock.sleep(2.0**attempt)
            places = list(busy)
            late = await self.send([changes[place] for place in places], attempt + 1)
            busy = {places[number]: reason for number, reason in late.items()}
        refused |= busy
        self._has_accepted = self._has_accepted or len(refused) < len(changes)
        return refused

    async def _verdict(self, changes: Sequence[Change]) -> Verdict:
        what = asked(self._target, changes)
        for attempt in range(ATTEMPTS):
            answer = await self._ask(what)
            wait: float | None = None
            if isinstance(answer, Failure):
                why = f"{answer.fault}: {answer.detail}"
            elif answer.fault is not None:
                why = f"its answer was broken off ({answer.fault})"
            else:
                verdict = answered(self._target, changes, answer.status, answer.body)
                if verdict.meaning is Meaning.TASK:
                    return await self._task(verdict.task)
                if verdict.meaning is not Meaning.WAIT:
                    return verdict
                why = verdict.told
                wait = retry_after(answer.header("Retry-After"), self._clock.now())
            if wait is not None and wait > LONGEST_WAIT:
                raise self._error(f"{why}, and it wants to be left alone for {wait:,.0f} s")
            if attempt < ATTEMPTS - 1:
                await self._clock.sleep(2.0**attempt if wait is None else wait)
        raise self._error(f"{why}, {ATTEMPTS} times in a row")

    async def _task(self, number: int) -> Verdict:
        """Wait until Meilisearch has done what it was told."""
        waited, pause = 0.0, 0.05
        while waited < _TASK_SECONDS:
            answer = await self._ask(Asked(f"/tasks/{number}", "", b""))
            if isinstance(answer, Response) and answer.fault is None and answer.status == 200:
                verdict = of_task(self._target, answer.body)
                if verdict.meaning is not Meaning.WAIT:
                    return verdict
            await self._clock.sleep(pause)
            waited, pause = waited + pause, min(pause * 2, 5.0)
        raise self._error(f"it has not ended its task {number} in {_TASK_SECONDS:,.0f} s")

    async def _ask(self, what: Asked) -> Response | Failure:
        # The owner names the address, so it may lie in the owner's own network.
        url, headers = self._target.url + what.path, self._headers
        if not what.content_type:
            return await self._fetcher.fetch(Request(url, headers=headers, opens=True))
        headers = (("Content-Type", what.content_type), *headers)
        return await self._fetcher.fetch(Request(url, headers=headers, method="POST", opens=True, body=what.body))

    def _error(self, why: str) -> FeedError:
        hint = next((text for start, text in _HINTS.items() if why.startswith(start)), "see to it")
        return FeedError(
            f'{self._target.form} at "{self._target.url}": {why}; {hint}, then type the same command again: it goes on '
            "from what the server has acknowledged"
        )


async def feed(
    sender: Sender,
    target: Target,
    some: Iterable[Sequence[tuple[_Key, Change]]],
    accept: Callable[[list[_Key]], None],
    tally: Tally,
) -> None:
    """Tell of changes and have what was accepted written down, an answer at a time. Raises as ``Sender.send``."""
    for lot in some:
        for part in _parts(target, lot):
            refused = await sender.send([change for _, change in part])
            accept([key for place, (key, _) in enumerate(part) if place not in refused])
            for place, (_, change) in enumerate(part):
                if place in refused:
                    tally.refused.append((change, refused[place]))
                else:
                    tally.accepted[change.what] += 1


def _parts(target: Target, lot: Sequence[tuple[_Key, Change]]) -> Iterator[list[tuple[_Key, Change]]]:
    part: list[tuple[_Key, Change]] = []
    size = 0
    for one in lot:
        length = len(asked(target, [one[1]]).body)
        if part and (size + length > MOST_BYTES or len(part) == MOST_AT_ONCE):
            yield part
            part, size = [], 0
        part.append(one)
        size += length
    if part:
        yield part
