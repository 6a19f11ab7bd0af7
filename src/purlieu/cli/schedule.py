"""``purlieu schedule`` and ``purlieu keep``: plan runs, and start them when they are due.

Builds the keeper and hands it what it needs; what it does is ``purlieu.crawl.keeper``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from purlieu import schedule as scheduling
from purlieu.cli import config
from purlieu.cli.words import padded, safe
from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.schedule import Schedule
from purlieu.settings.check import check
from purlieu.settings.fact import Key
from purlieu.store import schedules
from purlieu.store.reader import Reader
from purlieu.store.schedules import Planned
from purlieu.store.sqlite import SqliteDatabase, is_held

_EVENTS = 5
_GRACE = Key("", least=0, most=30 * 86_400, unit="seconds")


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu schedule`` and return the exit status."""
    return {"add": add, "list": show, "remove": remove, "on": switch, "off": switch}[arguments.what](arguments)


def add(arguments: argparse.Namespace) -> int:
    """Plan runs of a crawl; every mistake is told before anything is written."""
    wrong = [scheduling.mistake(arguments.cron or "", zone) for zone in (arguments.zone, "UTC")]
    mistakes = [Mistake(*one) for one in dict.fromkeys(wrong) if one]  # by UTC: a wrong zone hides no wrong cron
    grace, wrongs = check(_number(arguments.grace), "float", _GRACE)
    mistakes += [Mistake("--grace", str(one.value), one.remedy) for one in wrongs]
    file = str(Path(arguments.config).resolve()) if arguments.config else None
    if file:
        try:
            config.of_file(file)
        except SettingsError as error:
            mistakes += error.mistakes
    if mistakes:
        raise SettingsError(tuple(mistakes))
    now = RealClock().now()
    planned = Schedule(" ".join(arguments.cron.split()), arguments.zone, grace)
    database = SqliteDatabase.beside(arguments.store)
    try:
        number = schedules.add(database, arguments.crawl, planned, file, now)
        has_settings = file is not None or Reader(database).latest(arguments.crawl) is not None
    finally:
        database.close()
    kept_by = "it starts while `purlieu keep` or `purlieu serve` runs"
    sys.stdout.write(f"schedule {number}: next run {_next(planned, now)}; {kept_by}\n")
    if not has_settings:
        name = safe(arguments.crawl)
        sys.stderr.write(
            f"purlieu: {name} has no run yet, whose settings would be taken: crawl it once with --name {name}, "
            "or give the schedule -c FILE\n"
        )
    return 0


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _next(planned: Schedule, now: float) -> str:
    at = scheduling.following(planned, now)
    return "never" if at is None else _time(at)


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def show(arguments: argparse.Namespace) -> int:
    """Print the schedules of a store, each with what became of its last due times."""
    now = RealClock().now()
    database = SqliteDatabase.reader(config.existing_store(arguments.store))
    try:
        found = schedules.every(database)
        if not found and not arguments.json:
            sys.stdout.write("no schedules; `purlieu schedule add` plans runs\n")
        for planned in found:
            events = schedules.events(database, planned.id, _EVENTS)
            if arguments.json:
                facts = {**_facts(planned, now), "events": [one._asdict() for one in events]}
                sys.stdout.write(json.dumps(facts, ensure_ascii=False) + "\n")
                continue
            source = planned.config or "settings of the last run"
            sys.stdout.write(
                f"{planned.id}  {safe(planned.crawl)}  {planned.schedule.cron}  {planned.schedule.zone}  "
                f"{'off' if planned.paused_at else f'next {_next(planned.schedule, now)}'}  {safe(source)}\n"
            )
            for one in events:
                told = f"{one.state}{f' x {one.times}' if one.times > 1 else ''}"
                number = f"run {one.run} " if one.run else ""
                line = f"   {_time(one.due_at)}  {padded(told, 12)}{number}{safe(one.detail)}"
                sys.stdout.write(line.rstrip() + "\n")
    finally:
        database.close()
    return 0


def _facts(planned: Planned, now: float) -> dict[str, object]:
    return {
        "schedule": planned.id,
        "crawl": planned.crawl,
        "cron": planned.schedule.cron,
        "zone": planned.schedule.zone,
        "grace_seconds": planned.schedule.grace_seconds,
        "config": planned.config,
        "public_only": planned.schedule.public_only,
        "paused_at": planned.paused_at,
        "next_at": None if planned.paused_at else scheduling.following(planned.schedule, now),
    }


def remove(arguments: argparse.Namespace) -> int:
    """Plan no more runs by a schedule."""
    database = SqliteDatabase.beside(config.existing_store(arguments.store))
    try:
        known = ", ".join(str(one.id) for one in schedules.every(database)) or "none"
        number = arguments.schedule
        if not number.isdecimal() or not schedules.remove(database, int(number[:18]), RealClock().now()):
            raise SettingsError((Mistake("SCHEDULE", number, f"there is no such schedule; write one of: {known}"),))
    finally:
        database.close()
    sys.stdout.write(f"schedule {number} is removed\n")
    return 0


def switch(arguments: argparse.Namespace) -> int:
    """Switch a schedule on or off."""
    on = arguments.what == "on"
    database = SqliteDatabase.beside(config.existing_store(arguments.store))
    try:
        known = [one for one in schedules.every(database) if (one.paused_at is not None) == on]
        number = arguments.schedule
        if not number.isdecimal() or not schedules.switch(database, int(number[:18]), RealClock().now(), on=on):
            listed = ", ".join(str(one.id) for one in known) or "none"
            remedy = f"there is no such schedule that is {'off' if on else 'on'}; write one of: {listed}"
            raise SettingsError((Mistake("SCHEDULE", number, remedy),))
    finally:
        database.close()
    sys.stdout.write(f"schedule {number} is {arguments.what}\n")
    return 0


def keep(arguments: argparse.Namespace) -> int:
    """Do ``purlieu keep``: start the runs that are due until it is stopped, and return 0."""
    from purlieu.crawl.keeper import Keeper
    from purlieu.crawl.process import RunProcess

    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    if not Path(arguments.store).is_file():
        remedy = "there is no such file; plan a run first: `purlieu schedule add`"
        raise SettingsError((Mistake("--store", arguments.store, remedy),))
    store = str(Path(arguments.store).resolve())
    database = SqliteDatabase.beside(store)

    async def main() -> None:
        token = f"{os.getpid()}-{os.urandom(4).hex()}"
        keeper = Keeper(database, store, lambda: is_held(store), RunProcess.start, RealClock(), token)
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, keeper.stop)
        await keeper.run()

    try:
        asyncio.run(main())
    finally:
        database.close()
    return 0
