"""What is shown while a crawl runs, and what Ctrl-C does.

Fakes stand for the crawl and for waiting; nothing here takes time.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from purlieu.candidate import Entry, Facts, Purpose
from purlieu.cli import crawl as command
from purlieu.cli import options
from purlieu.cli.progress import Json, Lines, Live, Quiet, figures, told
from purlieu.cli.words import speaker
from purlieu.crawl.result import Progress
from purlieu.decide import Visit
from purlieu.outcome import Outcome, reason

SAY = speaker("en")


def progress(seconds: float = 10.0, requests: int = 100, **more: Any) -> Progress:
    """Return a snapshot."""
    facts: dict[str, Any] = {
        "run": 1,
        "seconds": seconds,
        "admitted": 500,
        "ended": 120,
        "due": 380,
        "requests": requests,
        "bytes": 5_000_000,
        "by_kind": {"fetched": 90, "redirected": 10, "missing": 5, "unreachable": 2, "excluded": 13},
        "hosts_active": 3,
        "newest": "http://a.example/new",
    }
    return Progress(**(facts | more))


def test_figures_count_good_and_failed_pages() -> None:
    """Good is what ended fetched, unchanged or redirected (R-8.2); refusals by scope or robots are no failures."""
    shown = figures(progress(), None)
    assert (shown.good, shown.failed, shown.due, shown.hosts) == ("100", "7", "380", "3")
    assert (shown.elapsed, shown.rate, shown.speed) == ("0:00:10", "10.0", "500 kB")


def test_rates_are_since_the_snapshot_before() -> None:
    """A rate tells what happened since the last look, not since the start."""
    shown = figures(progress(12.0, 150, bytes=6_000_000), progress(10.0, 100))
    assert (shown.rate, shown.speed) == ("25.0", "500 kB")


def test_no_time_gives_no_rate() -> None:
    """Two snapshots at one moment divide nothing by zero."""
    assert figures(progress(), progress()).rate == "0"


def test_what_the_web_sends_cannot_act_on_the_terminal() -> None:
    """Control characters in a URL or a detail are replaced before they are shown."""
    evil = "http://a.example/\x1b[2J\x07\u202e"
    assert figures(progress(newest=evil), None).newest == "http://a.example/\ufffd[2J\ufffd\ufffd"
    assert "\x1b" not in told({"url": evil, "kind": "fetched", "reason": "ok", "status": 200, "detail": "\x1b]0;x"})


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_lines_are_whole_lines(language: str) -> None:
    """Where there is no terminal each snapshot is one line with figures and the newest URL, in the owner's language."""
    out = io.StringIO()
    display = Lines(out, speaker(language))
    display.show(progress())
    display.show(progress(15.0, 200))
    first, second = out.getvalue().splitlines()
    assert first.startswith("0:00:10  ")
    assert second.startswith("0:00:15  ")
    assert "20.0" in second
    assert second.endswith("  http://a.example/new")


def test_json_lines_are_objects() -> None:
    """With --json everything is one object a line: messages, snapshots, visits."""
    out = io.StringIO()
    display = Json(out)
    display.say("Hello")
    display.show(progress())
    display.ended({"url": "http://a.example/", "kind": "fetched", "reason": "ok", "status": 200, "detail": ""})
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [event["event"] for event in events] == ["message", "progress", "visit"]
    assert events[1]["by_kind"] == progress().by_kind
    assert events[1]["due"] == 380


def test_quiet_says_nothing() -> None:
    """With -q nothing is asked of the crawl while it runs."""
    assert Quiet().every_seconds == 0


def test_live_shows_figures_and_leaves_the_terminal_clean() -> None:
    """On a terminal a few lines stay in place; at the end they are gone and the cursor is back."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    display = Live(out, SAY)
    display.say("Crawling")
    display.show(progress())
    display.say("Stopping")
    display.show(progress(11.0, 120))
    display.close()
    display.close()
    text = out.getvalue()
    assert text.startswith("Crawling\n")
    assert all(part in text for part in ("100", "380", "http://a.example/new", "Stopping"))
    if "\x1b[?25l" in text:
        assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")


class FakeCrawl:
    """A crawl that has all its visits at once, or runs until it is asked to stop."""

    def __init__(
        self, visits: tuple[Visit, ...] = (), *, endless: bool = False, fault: Exception | None = None
    ) -> None:
        """End at once, or with ``endless`` when asked to stop; then raise the fault."""
        self.visits = visits
        self.stops = 0
        self.looks = 0
        self._fault = fault
        self._ended = asyncio.Event()
        if not endless:
            self._ended.set()

    async def run(self) -> None:
        """Wait for the end."""
        await self._ended.wait()
        if self._fault:
            raise self._fault

    async def __aiter__(self) -> AsyncIterator[Visit]:
        """Give the visits."""
        for visit in self.visits:
            yield visit

    def stop(self) -> None:
        """Note the wish and end."""
        self.stops += 1
        self._ended.set()

    def progress(self) -> Progress:
        """Count the looks."""
        self.looks += 1
        return progress(float(self.looks))


class FakeDisplay:
    """Keeps what it was asked to show."""

    def __init__(self, every_seconds: float = 1.0) -> None:
        """Want a snapshot so often."""
        self.every_seconds = every_seconds
        self.said: list[str] = []
        self.shown: list[Progress] = []
        self.visits: list[Mapping[str, Any]] = []
        self.closed = 0

    def say(self, text: str) -> None:
        """Keep a sentence."""
        self.said.append(text)

    def show(self, now: Progress) -> None:
        """Keep a snapshot."""
        self.shown.append(now)

    def ended(self, facts: Mapping[str, Any]) -> None:
        """Keep a visit."""
        self.visits.append(facts)

    def close(self) -> None:
        """Count."""
        self.closed += 1


def test_a_running_crawl_is_looked_at_as_often_as_the_display_wants() -> None:
    """A snapshot is shown after each pause; the last pause ends with the crawl, and the display is closed."""
    crawl, display = FakeCrawl(endless=True), FakeDisplay(2.5)
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 4:
            crawl.stop()
            await asyncio.Event().wait()

    asyncio.run(command.attend(crawl, display, visits=False, sleep=sleep))
    assert pauses == [2.5] * 4
    assert [one.seconds for one in display.shown] == [1.0, 2.0, 3.0]
    assert display.closed == 1


def test_a_quiet_display_is_never_shown_anything() -> None:
    """A display that wants no snapshots gets none."""
    crawl, display = FakeCrawl(), FakeDisplay(0)
    asyncio.run(command.attend(crawl, display, visits=False))
    assert (crawl.looks, display.closed) == (0, 1)


def test_a_fault_closes_the_display_first() -> None:
    """When the machine fails the terminal is put right before the fault is told."""
    display = FakeDisplay()
    with pytest.raises(OSError, match="disk"):
        asyncio.run(command.attend(FakeCrawl(fault=OSError("disk")), display, visits=False))
    assert display.closed == 1


def visit(ending: str | None) -> Visit:
    """Return a visit that ended so, or that is to be tried again."""
    entry = Entry(1, Purpose.PAGE, 1, "http://a.example/", 1, Facts(0))
    return Visit(entry, Outcome(reason(ending), detail="line one\nline two") if ending else None, 0.0)


def test_each_visit_is_told_when_asked_for() -> None:
    """With -v each visit is shown as it ends, with the first line of its detail; a retry is no end but is told too."""
    display = FakeDisplay(0)
    visits = (visit("unreachable.dns"), visit(None))
    asyncio.run(command.attend(FakeCrawl(visits), display, visits=True))
    assert [(one["kind"], one["reason"], one["detail"]) for one in display.visits] == [
        ("unreachable", "dns", "line one"),
        ("due", "retry", ""),
    ]
    assert told(display.visits[0]) == "--- unreachable.dns            http://a.example/ line one"


def test_ctrl_c_stops_cleanly_and_then_at_once() -> None:
    """The first press asks for a clean stop and says so; the second leaves with 130 and puts the terminal right (R-8.2)."""
    crawl, display = FakeCrawl(), FakeDisplay()
    left: list[int] = []
    stopping = command.Stopping(crawl, display, SAY, left.append)
    stopping.press()
    assert (crawl.stops, left, len(display.said)) == (1, [], 1)
    stopping.press()
    assert (crawl.stops, left, display.closed) == (1, [130], 1)
    assert "--resume" in display.said[-1]


@pytest.mark.parametrize(
    ("words", "terminal", "kind"),
    [
        ([], True, Live),
        ([], False, Lines),
        (["-v"], True, Live),
        (["-q"], True, Quiet),
        (["--json"], True, Json),
        (["-q", "--json"], False, Quiet),
    ],
)
def test_the_display_fits_where_the_output_goes(words: list[str], terminal: bool, kind: type) -> None:
    """A terminal gets live figures, a file or pipe plain lines, unless the owner asked otherwise."""

    class Out(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    assert type(command.display_of(options.parse(["crawl", *words]), Out(), SAY)) is kind


def test_the_way_to_resume_is_what_was_typed() -> None:
    """The hint repeats the command with --resume, quoted for a shell."""
    assert command.resuming(["crawl", "http://a.example/?a=1&b"]) == "purlieu crawl 'http://a.example/?a=1&b' --resume"
    assert command.resuming(["crawl", "--resume"]) == "purlieu crawl --resume"
