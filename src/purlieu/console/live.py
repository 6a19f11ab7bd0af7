"""A run under way, as it goes: server-sent events that say what the store says, every second, until it ends.

Asks the store read-only and once a second, however many look on; what is shown is a page's own fragment, so that
nothing has to be put together in the browser.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from purlieu.console import chart, zone
from purlieu.console.labels import group_of
from purlieu.console.parts import CountingReader, NotThere, Parts, parts_of, reading, run_of
from purlieu.console.show import text
from purlieu.console.speech import language_of
from purlieu.errors import PurlieuError
from purlieu.store import looking
from purlieu.store.looking import Hosts
from purlieu.store.reader import RunRow
from purlieu.store.sqlite import SqliteDatabase, is_held

PAUSE_SECONDS: Final = 1.0
MOST_SECONDS: Final = 600.0
"""A stream ends after so long; the browser asks again by itself."""
RETRY_MILLISECONDS: Final = 2_000
SAMPLES: Final = 180
"""So many seconds are drawn."""
SMOOTH: Final = 5
"""A rate is told over so many samples: what the crawl writes comes in batches."""
LEAST_FORECAST: Final = 20
"""No end is foretold before so many samples."""
SHOWN_HOSTS: Final = 8
_MOST_RUNS: Final = 16
_GROUPS: Final = ("good", "moved", "out", "wait", "bad")


class Sample(NamedTuple):
    """What a run had done at a moment, in monotonic seconds."""

    at: float
    requests: int
    bytes: int
    ended: int
    admitted: int


class Moment(NamedTuple):
    """What is known of a run under way at one moment; ``number`` counts the moments."""

    number: int
    at: float
    run: RunRow | None
    hosts: Hosts
    is_alive: bool


class Watch:
    """The one reader of a run for all who look on."""

    def __init__(self, parts: Parts, run: int) -> None:
        """Read nothing yet."""
        self._parts = parts
        self._run = run
        self._lock = asyncio.Lock()
        self._moment: Moment | None = None
        self.samples: deque[Sample] = deque(maxlen=SAMPLES)
        self.shown: dict[tuple[str, str], str] = {}

    async def now(self) -> Moment:
        """Return the state of the run, read anew when it is a second old. Raises StoreError."""
        async with self._lock:
            at = self._parts.clock.monotonic()
            if self._moment is None or at - self._moment.at >= PAUSE_SECONDS * 0.9:
                number = self._moment.number + 1 if self._moment else 0
                self._moment = await asyncio.to_thread(self._read, number, at)
                self.shown.clear()
                if self._moment.run is not None:
                    self.samples.append(_sample(self._moment.run, at))
            return self._moment

    def _read(self, number: int, at: float) -> Moment:
        database = SqliteDatabase.reader(self._parts.store)
        try:
            run = CountingReader(database, self._parts.shelves).run(self._run)
            hosts = looking.hosts(database, self._run, self._parts.clock.now(), SHOWN_HOSTS)
        finally:
            database.close()
        return Moment(number, at, run, hosts, is_held(self._parts.store))


class Watches:
    """The runs that somebody looked at lately."""

    def __init__(self, parts: Parts) -> None:
        """Begin with none."""
        self._parts = parts
        self._found: OrderedDict[int, Watch] = OrderedDict()

    def of(self, run: int) -> Watch:
        """Return the watch of a run."""
        watch = self._found.setdefault(run, Watch(self._parts, run))
        self._found.move_to_end(run)
        while len(self._found) > _MOST_RUNS:
            self._found.popitem(last=False)
        return watch


def stream(request: Request) -> Response:
    """Send the state of a run once a second until it has ended."""
    with reading(request) as reader:
        run_of(reader, request)  # an unknown run is told as one
    return StreamingResponse(_events(request), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _events(request: Request) -> AsyncIterator[str]:
    parts = parts_of(request)
    watch: Watch = request.app.state.watches.of(request.path_params["run"])
    clock, session, began, last = parts.clock, request.state.session, parts.clock.monotonic(), -1
    yield f"retry: {RETRY_MILLISECONDS}\n\n"
    while clock.monotonic() - began < MOST_SECONDS and not await request.is_disconnected():
        if session.expires_at < parts.door.now():
            return
        try:
            moment = await watch.now()
        except PurlieuError:  # held for a moment, or gone: the page tells when it is loaded anew
            return
        if moment.run is None or moment.run.state != "running":
            yield "event: ended\ndata: ended\n\n"
            return
        if moment.number != last:
            last = moment.number
            shown = _shown(request, watch, moment)
            yield "event: state\n" + "".join(f"data: {line}\n" for line in shown.splitlines()) + "\n"
        await clock.sleep(PAUSE_SECONDS)


def _shown(request: Request, watch: Watch, moment: Moment) -> str:
    """Return the fragment of a moment, written once for all who see it in the same language and zone."""
    if moment.run is None:
        raise NotThere("")
    key = (language_of(request), zone.name_of(request, parts_of(request).terms.zone))
    if key not in watch.shown:
        values = progress(moment.run, watch.samples)
        watch.shown[key] = text(
            request, "live.html", run=moment.run, hosts=moment.hosts, is_alive=moment.is_alive, **values
        )
    return watch.shown[key]


def progress(run: RunRow, samples: Sequence[Sample]) -> dict[str, Any]:
    """Return what a run under way has done, how fast it is now, and when it may end."""
    counters = run.counters
    endings: Mapping[str, int] = counters.get("endings", {})
    groups = dict.fromkeys(_GROUPS, 0)
    for name, number in endings.items():
        groups[group_of(name.partition(".")[0])] += number
    admitted, ended = counters.get("admitted", 0), sum(endings.values())
    requests = rates([one.requests for one in samples], samples)
    received = rates([one.bytes for one in samples], samples)
    seconds = run.active_seconds or 1.0
    return {
        "groups": groups,
        "requests": counters.get("requests", 0),
        "size": counters.get("bytes", 0),
        "admitted": admitted,
        "waiting": max(0, admitted - ended),
        "rate": requests[-1] if requests else counters.get("requests", 0) / seconds,
        "speed": received[-1] if received else counters.get("bytes", 0) / seconds,
        "rates": chart.flow(requests),
        "speeds": chart.flow(received),
        "span_seconds": samples[-1].at - samples[0].at if samples else 0.0,
        "left_seconds": left_seconds(samples),
        "newest": counters.get("newest", ()),
        "faults": counters.get("newest_faults", ()),
        "group_names": _GROUPS,
    }


def rates(values: Sequence[int], samples: Sequence[Sample]) -> list[float]:
    """Return how much was done in a second at each sample but the first, over the last ``SMOOTH`` samples."""
    found = []
    for place in range(1, len(samples)):
        first = max(0, place - SMOOTH)
        passed = samples[place].at - samples[first].at
        found.append(max(0.0, (values[place] - values[first]) / passed) if passed > 0 else 0.0)
    return found


def left_seconds(samples: Sequence[Sample]) -> float | None:
    """Return when a run may end that goes on as in the last minute, None while it finds nearly as much as it does."""
    lately = list(samples)[-60:]
    if len(lately) < LEAST_FORECAST:
        return None
    first, last = lately[0], lately[-1]
    done, found, passed = last.ended - first.ended, last.admitted - first.admitted, last.at - first.at
    if passed <= 0 or done <= 0 or found * 2 > done:
        return None
    return (last.admitted - last.ended) * passed / (done - found)


def _sample(run: RunRow, at: float) -> Sample:
    counters = run.counters
    ended = sum(counters.get("endings", {}).values())
    return Sample(at, counters.get("requests", 0), counters.get("bytes", 0), ended, counters.get("admitted", 0))
