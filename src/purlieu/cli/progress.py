"""How a running crawl is shown: on a terminal, in plain lines, as JSON, or not at all.

Each display takes snapshots of the crawl and says so much of them; what is said at the
end is ``summary.py``. Knows nothing of how a crawl runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol, TextIO

from purlieu.cli.words import Say, clock, safe, size
from purlieu.crawl.result import Progress
from purlieu.outcome import GOOD_KINDS
from purlieu.value import dataclass

FAILED_KINDS = frozenset({"misdirected", "missing", "refused", "server_error", "unreachable", "unreadable", "crashed"})


@dataclass(frozen=True, slots=True)
class Figures:
    """What is shown of a snapshot; rates are since the snapshot before."""

    elapsed: str
    good: str
    failed: str
    due: str
    rate: str
    speed: str
    hosts: str
    newest: str


def figures(now: Progress, before: Progress | None) -> Figures:
    """Return what to show of a snapshot, with rates since the one before (since the start without one)."""
    seconds = now.seconds - (before.seconds if before else 0)
    asked = now.requests - (before.requests if before else 0)
    read = now.bytes - (before.bytes if before else 0)
    return Figures(
        elapsed=clock(now.seconds),
        good=f"{sum(n for kind, n in now.by_kind.items() if kind in GOOD_KINDS):,}",
        failed=f"{sum(n for kind, n in now.by_kind.items() if kind in FAILED_KINDS):,}",
        due=f"{now.due:,}",
        rate=f"{asked / seconds:,.1f}" if seconds > 0 else "0",
        speed=size(read / seconds) if seconds > 0 else size(0),
        hosts=f"{now.hosts_active:,}",
        newest=safe(now.newest),
    )


class Display(Protocol):
    """Shows a running crawl. ``every_seconds`` is how often it wants a snapshot, 0 for never."""

    every_seconds: float

    def say(self, text: str) -> None:
        """Show one sentence."""
        ...

    def show(self, now: Progress) -> None:
        """Show a snapshot."""
        ...

    def ended(self, facts: Mapping[str, Any]) -> None:
        """Show how one URL ended."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was found."""
        ...


class Quiet:
    """Shows nothing."""

    every_seconds = 0.0

    def say(self, text: str) -> None:
        """Show nothing."""

    def show(self, now: Progress) -> None:
        """Show nothing."""

    def ended(self, facts: Mapping[str, Any]) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Do nothing."""


class Lines:
    """Plain lines, for files and pipes."""

    every_seconds = 5.0

    def __init__(self, out: TextIO, say: Say) -> None:
        """Write to ``out`` in the language of ``say``."""
        self._out = out
        self._words = say
        self._before: Progress | None = None

    def say(self, text: str) -> None:
        """Write a line."""
        self._out.write(f"{text}\n")
        self._out.flush()

    def show(self, now: Progress) -> None:
        """Write a line with the figures."""
        shown = figures(now, self._before)
        self._before = now
        self.say(
            self._words(
                "{elapsed}  {good} fetched, {failed} failed, {due} waiting, {rate} and {speed} a second, {hosts} hosts",
                elapsed=shown.elapsed,
                good=shown.good,
                failed=shown.failed,
                due=shown.due,
                rate=shown.rate,
                speed=shown.speed,
                hosts=shown.hosts,
            )
            + f"  {shown.newest}"
        )

    def ended(self, facts: Mapping[str, Any]) -> None:
        """Write a line for a URL."""
        self.say(told(facts))

    def close(self) -> None:
        """Do nothing."""


class Json:
    """One JSON object a line."""

    every_seconds = 5.0

    def __init__(self, out: TextIO) -> None:
        """Write to ``out``."""
        self._out = out

    def write(self, event: str, facts: Mapping[str, Any]) -> None:
        """Write one object."""
        self._out.write(json.dumps({"event": event, **facts}, ensure_ascii=False) + "\n")
        self._out.flush()

    def say(self, text: str) -> None:
        """Write a sentence as an object."""
        self.write("message", {"text": text})

    def show(self, now: Progress) -> None:
        """Write a snapshot as an object."""
        self.write(
            "progress",
            {
                "run": now.run,
                "seconds": round(now.seconds, 3),
                "ended": now.ended,
                "due": now.due,
                "requests": now.requests,
                "bytes": now.bytes,
                "by_kind": dict(now.by_kind),
                "hosts_active": now.hosts_active,
                "newest": now.newest,
            },
        )

    def ended(self, facts: Mapping[str, Any]) -> None:
        """Write a URL's ending as an object."""
        self.write("visit", facts)

    def close(self) -> None:
        """Do nothing."""


class Live:
    """A few lines that stay in place at the foot of a terminal."""

    every_seconds = 0.5

    def __init__(self, out: TextIO, say: Say) -> None:
        """Show on the terminal ``out`` in the language of ``say``; rich is imported with the first snapshot."""
        self._out = out
        self._words = say
        self._live: Any = None
        self._before: list[Progress] = []

    def say(self, text: str) -> None:
        """Print a sentence above the lines."""
        if self._live:
            self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            self._out.write(f"{text}\n")
            self._out.flush()

    def ended(self, facts: Mapping[str, Any]) -> None:
        """Print a URL's ending above the lines."""
        self.say(told(facts))

    def show(self, now: Progress) -> None:
        """Renew the lines; rates are over the last three seconds."""
        if self._live is None:
            from rich.console import Console
            from rich.live import Live as RichLive

            # Transient: the end says all of it again. Without a thread of its own: it would take turns with the crawl.
            self._live = RichLive(console=Console(file=self._out), auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(self._drawn(figures(now, self._before[0] if self._before else None)), refresh=True)
        self._before = [*self._before[-5:], now]

    def _drawn(self, shown: Figures) -> Any:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        say = self._words
        grid = Table.grid(padding=(0, 3))
        for _ in range(4):
            grid.add_column(no_wrap=True)
        grid.add_row(
            _figure(shown.good, say("fetched"), "green"),
            _figure(shown.failed, say("failed"), "red" if shown.failed != "0" else "dim"),
            _figure(shown.due, say("waiting"), "cyan"),
            _figure(shown.hosts, say("hosts"), "default"),
        )
        grid.add_row(
            _figure(shown.rate, say("a second"), "default"),
            _figure(f"{shown.speed}/s", "", "default"),
            _figure(shown.elapsed, "", "default"),
            "",
        )
        newest = Text(shown.newest, style="dim", no_wrap=True, overflow="ellipsis")
        return Group(Text(), grid, newest)

    def close(self) -> None:
        """Take the lines away and show the cursor again."""
        if self._live:
            self._live.stop()
            self._live = None


def _figure(number: str, label: str, style: str) -> Any:
    from rich.text import Text

    return Text.assemble((number, f"bold {style}"), " ", (label, "dim"))


def told(facts: Mapping[str, Any]) -> str:
    """Return one URL's ending as a line: status, ending, URL, detail."""
    status, detail = facts.get("status") or "---", facts.get("detail") or ""
    ending = f"{facts.get('kind', '')}.{facts.get('reason', '')}"
    return safe(f"{status} {ending:<26} {facts.get('url', '')} {detail}".rstrip())
