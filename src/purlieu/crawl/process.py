"""Other programs: a run in a process of its own, more processes at one run, what reads documents, the owner's command.

The only place that starts any. Knows nothing of why.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from purlieu.crawl.team.wire import Wire

TAIL_BYTES: Final = 2_000
LEAVING_SECONDS: Final = 5.0
"""A process that has hung up has so long to end."""
LOOK_SECONDS: Final = 0.01
MOST_ANSWER: Final = 32 * 1024 * 1024
"""So many bytes of what a document says are taken."""
_HARMLESS: Final = ("PATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
MOST_LOOK_SECONDS: Final = 0.2
"""Who waits for a program looks after so long whether it has ended, at first and at last."""


class RunProcess:
    """``purlieu`` in a process of its own, which outlives the one that started it."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        """Watch a process that writes what goes wrong into a file."""
        self._process = process
        self._said = said

    @classmethod
    async def start(cls, words: list[str]) -> RunProcess:
        """Start ``purlieu`` with these words. Raises OSError."""
        said = tempfile.TemporaryFile()  # not a pipe: when we end, it must go on  # noqa: SIM115
        return cls(_started([sys.executable, "-m", "purlieu", *words], subprocess.DEVNULL, said), said)

    async def wait(self) -> tuple[int, str]:
        """Return the exit status and the last line that went to standard error."""
        return await _ended(self._process), _last_line(self._said)


def _started(words: Sequence[str], given: int | IO[bytes], said: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program that reads ``given``; a Ctrl-C for us is none for it. Raises OSError and ValueError.

    Not the loop's way to start one: uvloop's leaves every connection to a server open in the child.
    """
    return subprocess.Popen(  # noqa: S603 - ours, or what the owner wants run; without a shell
        words, stdin=given, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
    )


async def _ended(process: subprocess.Popen[bytes]) -> int:
    """Wait until a program has ended and return its exit status, below 0 for a signal."""
    seconds = LOOK_SECONDS
    while (status := process.poll()) is None:
        await asyncio.sleep(seconds)
        seconds = min(2 * seconds, MOST_LOOK_SECONDS)
    return status


def _last_line(file: IO[bytes]) -> str:
    """Return the last line that was written to a file, and close it."""
    with file as said:
        said.seek(0, 2)
        said.seek(max(0, said.tell() - TAIL_BYTES))
        lines = said.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


class WorkerProcess:
    """Another process at this process's run. Its standard input is the wire; it ends when that is cut."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._socket: socket.socket | None = None
        self._hung_up = asyncio.Event()

    async def start(self, wire: Wire) -> None:
        """Start it, with a wire to it. Raises OSError."""
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._said = tempfile.TemporaryFile()  # not a pipe, which nobody would empty  # noqa: SIM115
            # Not the loop's way to start one: uvloop's leaves every connection to a server open in the child.
            self._process = subprocess.Popen(  # noqa: ASYNC220 - takes milliseconds
                [sys.executable, "-P", "-m", "purlieu.crawl.team"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._said,
                start_new_session=True,  # a Ctrl-C is for us, who then tell it
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)},
            )
        await asyncio.get_running_loop().create_unix_connection(lambda: wire, sock=self._socket)

    @property
    def id(self) -> int:
        """Return the process's id, 0 before it is started."""
        return self._process.pid if self._process is not None else 0

    def hung_up(self) -> None:
        """Note that the wire is cut."""
        self._hung_up.set()

    async def ended(self) -> str:
        """Wait until it has ended and all it said was heard; return what it ended with."""
        process, said = self._process, self._said
        if process is None or said is None:
            return "not started"
        await self._hung_up.wait()
        looks = int(LEAVING_SECONDS / LOOK_SECONDS)
        while process.poll() is None:
            if not looks:
                process.kill()
            looks -= 1
            await asyncio.sleep(LOOK_SECONDS)
        line, status = _last_line(said), process.returncode
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return f"{how}: {line}" if line else how

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()


class DocumentProcess:
    """A process that reads documents: each goes in by a socket, and what it says comes out."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: subprocess.Popen[bytes] | None = None
        self._wire: socket.socket | None = None

    @property
    def id(self) -> int:
        """Return the process's id, 0 before it is started."""
        return self._process.pid if self._process is not None else 0

    @property
    def is_started(self) -> bool:
        """Return whether there is a process."""
        return self._process is not None

    def start(self, seconds: float, memory_bytes: int) -> None:
        """Start it; it ends by itself when a document takes longer or more. Raises OSError."""
        self._wire, theirs = socket.socketpair()
        self._wire.setblocking(False)  # noqa: FBT003  socket's own signature
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - ours
                [sys.executable, "-P", "-m", "purlieu.document", str(seconds), str(memory_bytes)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                # What it reads is hostile; the owner's secrets stand in the environment.
                env={
                    **{name: os.environ[name] for name in _HARMLESS if name in os.environ},
                    "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path),
                },
            )

    async def ask(self, body: bytes) -> bytes | None:
        """Return what it answers, None when it has ended. Raises OSError."""
        wire, loop = self._wire, asyncio.get_running_loop()
        if wire is None:
            return None
        try:
            await loop.sock_sendall(wire, len(body).to_bytes(8))
            await loop.sock_sendall(wire, body)
            size = int.from_bytes(await self._take(wire, 8))
            return await self._take(wire, size) if 0 < size <= MOST_ANSWER else None
        except (ConnectionError, EOFError):
            return None

    @staticmethod
    async def _take(wire: socket.socket, size: int) -> bytes:
        came = bytearray()
        while len(came) < size:
            piece = await asyncio.get_running_loop().sock_recv(wire, min(size - len(came), 1 << 20))
            if not piece:
                raise EOFError
            came += piece
        return bytes(came)

    def kill(self) -> bool:
        """End it at once; return whether its own time had run out before."""
        if self._wire is not None:
            self._wire.close()
        if self._process is None:
            return False
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LOOK_SECONDS)  # who hung up by itself is about to end
        self._process.kill()
        return self._process.wait() == -signal.SIGPROF


async def command(words: Sequence[str], given: bytes, timeout_seconds: float) -> str:
    """Run a program without a shell, give it a text to read, and return "" or what went wrong."""
    with tempfile.TemporaryFile() as text:  # not a pipe, which would have to be filled while it reads
        text.write(given)
        text.seek(0)
        try:
            process = _started(words, text, subprocess.DEVNULL)
        except (OSError, ValueError) as error:
            return str(error)
    try:
        async with asyncio.timeout(timeout_seconds):
            status = await _ended(process)
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with whatever it has started
        await _ended(process)
        return f"it took longer than {timeout_seconds:g} s and was ended"
    return f"exit status {status}" if status else ""
