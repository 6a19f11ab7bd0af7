"""Other programs: a run in a process of its own, and the owner's command after a run.

The only place that starts any. Knows nothing of why.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Final

TAIL_BYTES: Final = 2_000


class RunProcess:
    """``purlieu`` in a process of its own, which outlives the one that started it."""

    def __init__(self, process: asyncio.subprocess.Process, said: IO[bytes]) -> None:
        """Watch a process that writes what goes wrong into a file."""
        self._process = process
        self._said = said

    @classmethod
    async def start(cls, words: list[str]) -> RunProcess:
        """Start ``purlieu`` with these words. Raises OSError."""
        said = tempfile.TemporaryFile()  # not a pipe: when we end, it must go on  # noqa: SIM115
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "purlieu", *words),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=said,
            start_new_session=True,  # a Ctrl-C for us is none for the run
        )
        return cls(process, said)

    async def wait(self) -> tuple[int, str]:
        """Return the exit status and the last line that went to standard error."""
        status = await self._process.wait()
        with self._said as said:
            said.seek(0, 2)
            said.seek(max(0, said.tell() - TAIL_BYTES))
            lines = said.read().decode(errors="replace").strip().splitlines()
        return status, lines[-1] if lines else ""


async def command(words: Sequence[str], given: bytes, timeout_seconds: float) -> str:
    """Run a program without a shell, give it a text to read, and return "" or what went wrong."""
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return str(error)
    try:
        async with asyncio.timeout(timeout_seconds):
            await process.communicate(given)
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with whatever it has started
        await process.wait()
        return f"it took longer than {timeout_seconds:g} s and was ended"
    return f"exit status {process.returncode}" if process.returncode else ""
