"""``purlieu proof``: claims of ours put to the proof on a made web, and that web for crawlers of others.

Reads what was typed and tells what came of it. The web is ``purlieu.testing.made``'s, the killing
``purlieu.testing.kill``'s.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from purlieu.errors import Mistake, PurlieuError, SettingsError
from purlieu.testing.kill import Proof, prove
from purlieu.testing.made import Changes, Errors, MadeServer, MadeWeb, Sitemaps, Traps
from purlieu.testing.made.server import Logged
from purlieu.value import replace

_SHOWN = 20
_MOST_PORTS = 65_535
_MOST_WORKERS = 64
_ERRORS = [item.name for item in fields(Errors) if item.type == "float"]


def run(arguments: argparse.Namespace) -> int:
    """Do ``purlieu proof kill`` or ``purlieu proof web`` and return the exit status; raises SettingsError."""
    return kill(arguments) if arguments.what == "kill" else web(arguments)


# -- kill --------------------------------------------------------------------------------------------


def kill(arguments: argparse.Namespace) -> int:
    """Kill and resume crawls, and return 0, or 1 at the first difference."""
    typed = _Typed(arguments)
    kills, seed, workers = typed.whole("kills", 20), typed.whole("seed", 0), typed.whole("workers", 1)
    if not 1 <= workers <= _MOST_WORKERS:
        typed.wrong("workers", str(workers), f"a whole number from 1 to {_MOST_WORKERS}")
    typed.check()
    with tempfile.TemporaryDirectory(prefix="purlieu-kill-") as folder:
        proof = prove(kills, seed, Path(folder), _show, workers=workers)
    if arguments.json:
        sys.stdout.write(json.dumps(asdict(proof), ensure_ascii=False) + "\n")
    else:
        _clear()
        sys.stdout.writelines(f"{line}\n" for line in _lines(proof))
    return 1 if proof.differences else 0


def _show(proof: Proof) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{proof.kills} kills, {proof.rounds} runs compared\x1b[K")
        sys.stderr.flush()


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def _lines(proof: Proof) -> list[str]:
    others = f", and {proof.workers_killed:,} of single worker processes," if proof.workers_killed else ""
    counts = (
        f"{proof.kills:,} kills{others} in {proof.rounds:,} runs of {proof.rows:,} ledger rows each; "
        f"of {proof.requests:,} requests {proof.repeated:,} were made again "
        f"(allowed: the batch in flight, {proof.allowed_per_kill} for each kill)."
    )
    if not proof.differences:
        return [counts, "Every resumed ledger is that of an undisturbed run, column by column."]
    shown = [f"  {difference}" for difference in proof.differences[:_SHOWN]]
    more = len(proof.differences) - len(shown)
    return [counts, "NOT the same as undisturbed:", *shown, *([f"  and {more:,} more"] if more else [])]


# -- web ---------------------------------------------------------------------------------------------


def web(arguments: argparse.Namespace) -> int:
    """Serve a made web until it is interrupted, and return 0."""
    typed = _Typed(arguments)
    made = _made(typed)
    port, epoch, epoch_seconds = typed.whole("port", 8000), typed.whole("epoch", 0), typed.number("epoch_seconds", 0.0)
    if port > _MOST_PORTS:
        typed.wrong("port", str(port), f"a number up to {_MOST_PORTS}")
    typed.check()
    if made is None:
        return 1
    log = Path(arguments.log).open("w", 1, encoding="utf-8") if arguments.log else None  # noqa: SIM115 - to the end
    server = MadeServer(made, port=port, epoch=epoch, epoch_seconds=epoch_seconds, told=_teller(log))

    is_open = False

    def say() -> None:
        nonlocal is_open
        is_open = True
        first, last = made.origin(0, server.port), made.origin(made.hosts - 1, server.port)
        sys.stdout.write(
            f"{made.hosts:,} hosts with {made.pages:,} pages each, from {first}/ to {last}/; Ctrl-C ends\n"
        )
        sys.stdout.flush()

    try:
        server.serve(say)
    except OSError as error:
        if is_open:
            raise
        remedy = f"it cannot be opened ({os.strerror(error.errno or 0)}); write another that is free"
        raise SettingsError((Mistake("--port", str(port), remedy),)) from None
    finally:
        if log is not None:
            log.close()
    return 0


def _made(typed: _Typed) -> MadeWeb | None:
    """Return the web that was typed; None when there are mistakes."""
    hosts, pages, seed = typed.whole("hosts", 1), typed.whole("pages", 1_000), typed.whole("seed", 0)
    links, cross_links = typed.whole("links", 30), typed.whole("cross_links", 0)
    usual = Errors()
    errors = {name: typed.number(name, getattr(usual, name)) for name in _ERRORS}
    changes = Changes(
        tuple(typed.schedule()),
        typed.number("appear", 0.0),
        typed.number("vanish", 0.0),
        typed.number("move", 0.0),
        dated=typed.arguments.dated,
    )
    traps = Traps(tuple(typed.arguments.trap or ()), typed.whole("trap_pages", 100_000))
    files = typed.whole("per_file", 50_000)
    crawl_delay, delay = typed.number("crawl_delay", -1.0), typed.number("delay", 0.0)
    if typed.mistakes:
        return None
    try:
        return MadeWeb(
            hosts,
            pages,
            seed,
            links,
            cross_links,
            naming=typed.arguments.naming,
            crawl_delay=None if crawl_delay < 0 else crawl_delay,
            delay_seconds=delay,
            extras=typed.arguments.extras,
            errors=replace(usual, **errors),  # type: ignore[arg-type]
            changes=changes,
            sitemaps=Sitemaps(typed.arguments.lastmod, changefreq=True, priority=True, per_file=files),
            traps=traps,
        )
    except ValueError as error:
        raise PurlieuError(str(error)) from None


def _teller(log: Any) -> Callable[[Logged], object]:
    """Return what writes a request's line: monotonic seconds, status, host and path, with tabs between."""
    if log is None:
        return lambda _: None
    return lambda one: log.write(f"{one.at:.6f}\t{one.status}\t{one.host}\t{one.path}\n")


class _Typed:
    """Reads numbers from what was typed; collects every mistake."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.mistakes: list[Mistake] = []

    def whole(self, name: str, default: int) -> int:
        text = getattr(self.arguments, name)
        if text is None:
            return default
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
        self.wrong(name, text, "a whole number, at least 0")
        return default

    def number(self, name: str, default: float) -> float:
        text = getattr(self.arguments, name)
        if text is None:
            return default
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if 0 <= value < 1e9:
            return value
        self.wrong(name, text, "a number, at least 0")
        return default

    def schedule(self) -> list[tuple[float, int]]:
        """Return the shares of pages that change, each with the epochs between two changes."""
        found = []
        for text in self.arguments.change or ():
            share, _, every = text.partition(":")
            try:
                found.append((float(share), int(every or 1)))
            except ValueError:
                self.wrong("change", text, "SHARE:EPOCHS, such as 0.01:1")
        if any(every < 1 or not 0 <= share <= 1 for share, every in found):
            self.wrong("change", " ".join(self.arguments.change), "shares from 0 to 1, epochs from 1")
        return found

    def wrong(self, name: str, text: str, wanted: str) -> None:
        self.mistakes.append(Mistake(f"--{name.replace('_', '-')}", text, f"write {wanted}"))

    def check(self) -> None:
        """Raise SettingsError if there was any mistake."""
        if self.mistakes:
            raise SettingsError(tuple(self.mistakes))
