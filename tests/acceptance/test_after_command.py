"""The owner's command after a run, as a process (``crawl/process.py``)."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from purlieu.crawl.process import command

STARTS_ANOTHER = """
import pathlib, subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(other.pid))
time.sleep(600)
"""


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(tmp_path: Path) -> None:
    """Whatever the command has started ends with it, lest it pile up run after run."""
    told = tmp_path / "pid"

    async def main() -> str:
        return await command([sys.executable, "-c", STARTS_ANOTHER, str(told)], b"{}", 6.0)

    assert asyncio.run(main()) == "it took longer than 6 s and was ended"
    assert told.exists(), "the command had six seconds to start the other and did not"
    end = time.monotonic() + 60
    while is_alive(told.read_text()) and time.monotonic() < end:
        time.sleep(0.05)  # a signal may take a moment to arrive
    assert not is_alive(told.read_text())


def is_alive(process: str) -> bool:
    """Return whether a process of this number runs; one that waits to be noticed as dead does not."""
    try:
        return "State:\tZ" not in (Path("/proc") / process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
