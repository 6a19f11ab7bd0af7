"""The schedules of a crawl: several, each on or off, with what becomes of its due times, and a form that checks itself.

Shows and writes what ``schedule.py`` means; the keeper acts. Times are told in the zone of the page.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from itertools import islice
from typing import Any, Final, TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from purlieu.console import action, grant, labels, zone
from purlieu.console.audit import audit
from purlieu.console.parts import CountingReader, NotThere, crawl_of, parts_of, reading
from purlieu.console.show import page
from purlieu.crawl.keeper import DETAILS
from purlieu.schedule import GRACE_SECONDS, Schedule, mistake, times
from purlieu.sentence import Sentence
from purlieu.store import schedules
from purlieu.store.database import Database
from purlieu.store.reader import RunRow
from purlieu.store.schedules import Event, Planned
from purlieu.store.sqlite import SqliteDatabase
from purlieu.timetable import overlaps, words

NEXT: Final = 5
EVENTS: Final = 20
MOST_SCHEDULES: Final = 50
PRESETS: Final = (
    ("0 3 * * *", Sentence("every night")),
    ("0 3 * * mon-fri", Sentence("working days")),
    ("0 3 * * sun", Sentence("once a week")),
    ("0 3 1 * *", Sentence("once a month")),
    ("0 */6 * * *", Sentence("four times a day")),
)
NO_SUCH = Sentence("This schedule was removed meanwhile, or it is so already. Load the page anew.")
TOO_MANY = Sentence("A crawl has at most {most} schedules. Remove one first.", most=MOST_SCHEDULES)
_EXIT: Final = re.compile(r"(\w+), exit status (-?\d{1,4})")
_MOST_TEXT: Final = 200
_MOST_PROCESS: Final = 2**31
_WRONG: Final = {
    "--cron": Sentence("Write minute, hour, day, month and weekday, as in a crontab: 0 3 * * * is three every night."),
    "--zone": Sentence("Write the name of a time zone, such as Asia/Tokyo or UTC."),
}
Made = TypeVar("Made")


def routes() -> list[Route]:
    """Return the addresses of schedules."""
    return [
        Route("/crawls/{crawl:int}/schedules", show),
        Route("/crawls/{crawl:int}/schedules/add", add, methods=["POST"]),
        Route("/crawls/{crawl:int}/schedules/check", check),
        Route("/crawls/{crawl:int}/schedules/{schedule:int}/{what}", change, methods=["POST"]),
    ]


def show(request: Request) -> Response:
    """Show the schedules of a crawl, what is expected of them and what became of them."""
    return _page(request, HTTPStatus.OK, {"cron": "0 3 * * *", "zone": _zone_of(request)})


def check(request: Request) -> Response:
    """Tell of a schedule that is being typed what it means and when it is due, or what is wrong with it."""
    given = {name: request.query_params.get(name, "")[:_MOST_TEXT].strip() for name in ("cron", "zone")}
    with reading(request) as reader:
        name = crawl_of(reader, request)
        told = _checked(request, reader, name, given)
    return page(request, "schedule_check.html", **told)


async def add(request: Request) -> Response:
    """Plan runs of a crawl."""
    if refusal := await action.refused(request):
        return refusal
    form = await action.form_of(request)
    given = {name: form.get(name, "")[:_MOST_TEXT].strip() for name in ("cron", "zone")}
    parts = parts_of(request)
    with reading(request) as reader:
        name = crawl_of(reader, request)
        planned = [one for one in schedules.every(reader.database) if one.crawl == name]
        config = action.settings_of(request, name)
    if mistake(given["cron"], given["zone"]) is not None:
        return _page(request, HTTPStatus.BAD_REQUEST, given)
    if len(planned) >= MOST_SCHEDULES:
        return action.no(request, TOO_MANY)
    if (wrong := grant.of_text(config, parts.terms)) is not None:
        return action.no(request, wrong, HTTPStatus.FORBIDDEN)
    made = Schedule(" ".join(given["cron"].split()), given["zone"], GRACE_SECONDS, not parts.terms.private)
    audit(request, "schedule_add", {"crawl": name}, before="", after=_text(made))
    await _write(request, lambda database: schedules.add(database, name, made, None, parts.clock.now()))
    return _back(request)


async def change(request: Request) -> Response:
    """Switch a schedule on or off, or remove it."""
    if refusal := await action.refused(request):
        return refusal
    number, what = request.path_params["schedule"], request.path_params["what"]
    with reading(request) as reader:
        name = crawl_of(reader, request)
        found = [one for one in schedules.every(reader.database) if one.crawl == name and one.id == number]
    if what not in {"on", "off", "remove"}:
        raise NotThere(what)
    if not found:
        return action.no(request, NO_SUCH)
    now = parts_of(request).clock.now()
    state = "on" if found[0].paused_at is None else "off"
    before = _text(found[0].schedule, state)
    after = "" if what == "remove" else _text(found[0].schedule, what)
    audit(request, f"schedule_{what}", {"crawl": name, "schedule": number}, before=before, after=after)

    def write(database: Database) -> bool:
        if what == "remove":
            return schedules.remove(database, number, now)
        return schedules.switch(database, number, now, on=what == "on")

    return _back(request) if await _write(request, write) else action.no(request, NO_SUCH)


def events_of(reader: CountingReader, planned: Planned, most: int = EVENTS) -> list[dict[str, Any]]:
    """Return what became of a schedule's last due times, in words, and which run won where one overlapped."""
    runs = [run for run in reader.runs() if run.crawl == planned.crawl]
    found = []
    for event in schedules.events(reader.database, planned.id, most):
        winner = next((run for run in runs if _covers(run, event)), None) if event.state == "overlapped" else None
        found.append({"event": event, "winner": winner, "detail": _detail(event)})
    return found


def _covers(run: RunRow, event: Event) -> bool:
    return run.started_at <= event.at and (run.ended_at is None or run.ended_at >= event.due_at)


def _detail(event: Event) -> str:
    """Return what is recorded of a due time as a sentence that can be said in any language, where it is one of ours."""
    known = next((one for one in DETAILS if one == event.detail), None)
    if known is not None:
        return known
    found = _EXIT.fullmatch(event.detail)
    return labels.ENDED.get(found[1] if found else event.detail, event.detail)


def _page(request: Request, status: int, given: dict[str, str]) -> Response:
    now = parts_of(request).clock.now()
    with reading(request) as reader:
        name = crawl_of(reader, request)
        every = [one for one in schedules.every(reader.database) if one.crawl == name]
        rows = [
            {
                "planned": one,
                "words": words(one.schedule.cron),
                "next": [] if one.paused_at else list(islice(times(one.schedule, now), NEXT)),
                "events": events_of(reader, one),
            }
            for one in every
        ]
        seconds = _usual_seconds(reader, name)
        on = [(one.id, one.schedule) for one in every if one.paused_at is None]
        told = _checked(request, reader, name, given)
        held = schedules.keeper(reader.database, now)
        shown = {
            "is_kept": held is not None,
            "killed_until": held[1] if held is not None and not _is_alive(held[0]) else None,
            "has_run": action.settings_of(request, name) is not None,
            "overlaps": overlaps(on, seconds, now) if seconds else [],
        }
    return page(
        request, "schedules.html", status, name=name, number=request.path_params["crawl"], rows=rows, given=given,
        seconds=seconds, zones=zone.names(), presets=PRESETS, **shown, **told,
    )  # fmt: skip


def _is_alive(token: str) -> bool:
    """Return whether the process of a keeper goes on, which its name begins with; one of another form is believed."""
    number = token.partition("-")[0]
    if not number.isdecimal() or not 0 < int(number[:12]) < _MOST_PROCESS:
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _checked(request: Request, reader: CountingReader, name: str, given: dict[str, str]) -> dict[str, Any]:
    """Return what a schedule that is typed means: its words, its next times, and where it would overlap."""
    wrong = mistake(given["cron"], given["zone"])
    if wrong is not None:
        return {"wrong": _WRONG[wrong[0]], "why": wrong[2], "words": "", "next_times": (), "would_overlap": ()}
    now = parts_of(request).clock.now()
    made = Schedule(" ".join(given["cron"].split()), given["zone"])
    seconds = _usual_seconds(reader, name)
    others = [one for one in schedules.every(reader.database) if one.crawl == name and one.paused_at is None]
    plans = [*((one.id, one.schedule) for one in others), (0, made)]
    return {
        "wrong": "",
        "why": "",
        "words": words(made.cron),
        "next_times": list(islice(times(made, now), NEXT)),
        "would_overlap": [one for one in overlaps(plans, seconds, now) if 0 in {one.schedule, one.other}][:2],
    }


def _usual_seconds(reader: CountingReader, name: str) -> float:
    """Return how long the last run of a crawl that ended took, 0.0 where none has."""
    ended = (run for run in reader.runs() if run.crawl == name and run.ended_at is not None)
    return next((max(0.0, (run.ended_at or 0.0) - run.started_at) for run in ended), 0.0)


def _zone_of(request: Request) -> str:
    """Return the zone that a new schedule is offered in: that of the page, else that of the machine."""
    own = zone.name_of(request, parts_of(request).terms.zone)
    here = getattr(datetime.now().astimezone().tzinfo, "key", "")
    return own or (here if zone.is_zone(here) else "UTC")


def _text(schedule: Schedule, state: str = "on") -> str:
    return f"{schedule.cron} {schedule.zone} {state}"


async def _write(request: Request, write: Callable[[Database], Made]) -> Made:
    """Write beside any crawl, away from the event loop."""

    def written() -> Made:
        database = SqliteDatabase.beside(parts_of(request).store)
        try:
            return write(database)
        finally:
            database.close()

    return await asyncio.to_thread(written)


def _back(request: Request) -> Response:
    return RedirectResponse(f"/crawls/{request.path_params['crawl']}/schedules", HTTPStatus.SEE_OTHER)
