"""The proof that killing loses nothing: whole crawls killed at random moments, resumed, and compared.

Knows how to start, kill and resume crawls as their owner would, from outside, and to lay two ledgers side by side.
What a crawl does inside is none of its business.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from purlieu.crawl.team.far import UNTAKEN_BATCHES
from purlieu.crawl.worker import BATCH
from purlieu.errors import PurlieuError, SchemaMismatch
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.made import Errors, MadeServer, MadeWeb, Sitemaps
from purlieu.testing.made.words import ONE, dice
from purlieu.value import dataclass, field

TIMES: Final = frozenset({"fetched_at", "ended_at", "seconds"})
"""The columns of the ledger that tell when: all others must be those of an undisturbed run."""
CONNECTIONS: Final = 2
_SECONDS_AT_MOST: Final = 300.0
_LOOK_SECONDS: Final = 0.002
_MOST_REQUESTS: Final = 60
_BY_REQUESTS: Final = 0.7

Rows = dict[tuple[str, str], dict[str, str]]


@dataclass(slots=True)
class Proof:
    """What came of it. ``repeated`` requests of ``requests`` were made again after a kill; none without one.

    ``differences`` are sentences; empty when every resumed ledger is that of the undisturbed run.
    """

    kills: int = 0
    workers_killed: int = 0
    rounds: int = 0
    rows: int = 0
    requests: int = 0
    repeated: int = 0
    allowed_per_kill: int = 0
    differences: list[str] = field(default_factory=list)


def made_web(seed: int) -> MadeWeb:
    """Return the web that is crawled: some of everything that ends differently."""
    return MadeWeb(
        hosts=3,
        pages=70,
        seed=seed,
        links=12,
        page_bytes=(800, 2_400),
        extras=True,
        errors=Errors(redirects=0.08, missing=0.06, failing=0.03),
        sitemaps=Sitemaps(per_file=40),
    )


def prove(
    kills: int, seed: int, folder: Path, told: Callable[[Proof], object] = lambda _: None, *, workers: int = 1
) -> Proof:
    """Kill crawls so many times in all, resume each to its end, and compare; stop at the first difference.

    With several ``workers`` one of them is killed as often as the process that writes, which then goes on without a
    resume. ``told`` hears of the state after each kill. Files are written to the folder.
    """
    web = made_web(seed)
    # What is lost with a process is what it had not handed in, and what it had was not yet written.
    batches = 1 if workers == 1 else 1 + UNTAKEN_BATCHES
    proof = Proof(allowed_per_kill=batches * BATCH + web.hosts * CONNECTIONS)
    with MadeServer(web) as server:
        crawls = _Crawls(server, folder, seed, workers)
        whole, seconds = crawls.undisturbed()
        proof.rows = len(whole)
        requests = [(one.host, one.path) for one in server.log]
        if len(set(requests)) != len(requests):
            proof.differences.append("the undisturbed run asked for something twice")
        while proof.kills < kills and not proof.differences:
            crawls.killed_round(proof, kills, seconds, told)
            proof.rounds += 1
            if not proof.differences:
                proof.differences += different(whole, crawls.ledger("killed"))
    return proof


def different(one: Rows, other: Rows) -> Iterator[str]:
    """Yield a sentence for the first row that is missing, is too many, or has another value in some column."""
    for key in sorted(one.keys() | other.keys()):
        name = f"{key[0]} {key[1]}"
        if key not in other:
            yield f"{name} is in the ledger of the undisturbed run alone"
        elif key not in one:
            yield f"{name} is in the ledger of the resumed run alone"
        else:
            yield from (
                f'{name}: {column} is "{one[key][column]}" undisturbed and "{other[key].get(column)}" resumed'
                for column in one[key]
                if column not in TIMES and one[key][column] != other[key].get(column)
            )


class _Crawls:
    """Starts crawls of one server, each in a process of its own."""

    def __init__(self, server: MadeServer, folder: Path, seed: int, workers: int) -> None:
        self._server = server
        self._folder = folder
        self._seed = seed
        self._workers = workers
        self._started = 0
        self._settings = folder / "kill.toml"
        seeds = ", ".join(f'"{url}"' for url in server.seeds)
        self._settings.write_text(
            f'name = "kill"\nseeds = [{seeds}]\nformats = ["csv"]\nworkers = {workers}\n'
            f"[politeness]\nconnections = {CONNECTIONS}\nretries = 0\nmax_backoff_seconds = 0\n",
            encoding="utf-8",
        )

    def _continued(self, name: str) -> subprocess.Popen[bytes]:
        """Do what an owner does after a kill: begin, resume, or write the files of a run that had ended before it."""
        state = self._state(name)
        if state != "done":
            return self._start(name, *(["--resume"] if state else []))
        return _spawned("report", "latest", "--store", str(self._store(name)), "--format", "csv")

    def _start(self, name: str, *more: str) -> subprocess.Popen[bytes]:
        places = ["--store", str(self._store(name)), "--output", str(self._folder / name)]
        return _spawned("crawl", "-c", str(self._settings), *places, "-q", *more)

    def _store(self, name: str) -> Path:
        return self._folder / f"{name}.db"

    def undisturbed(self) -> tuple[Rows, float]:
        """Crawl once to the end; return the ledger and how long it took."""
        began_at = time.monotonic()
        process = self._start("whole")
        _, said = process.communicate(timeout=_SECONDS_AT_MOST)
        if process.returncode:
            message = f"the undisturbed crawl ended with status {process.returncode}: {said.decode(errors='replace')}"
            raise PurlieuError(message)
        return self.ledger("whole"), time.monotonic() - began_at

    def killed_round(self, proof: Proof, kills: int, seconds: float, told: Callable[[Proof], object]) -> None:
        """Crawl a new store, killed until it ends or no kill is left, and count what was asked for twice."""
        self._forget("killed")
        seen: set[tuple[str, str]] = set()
        before, repeated, ended = proof.kills + proof.workers_killed, 0, False
        while not ended:
            first = len(self._server.log)
            process = self._continued("killed")
            ended = self._waited(process, first, seconds if proof.kills < kills else None)
            _, said = process.communicate()
            if ended and process.returncode:
                told_by = said.decode(errors="replace").strip()
                proof.differences.append(
                    f"a resumed run, or its report, ended with status {process.returncode}: {told_by}"
                )
            proof.kills += not ended
            proof.workers_killed += (lost := self._workers_killed)
            asked = [(one.host, one.path) for one in self._server.log[first:]]
            proof.requests += len(asked)
            repeated += sum(key in seen for key in asked)
            proof.differences += [
                f"one process asked {count} times for {host}{path}"
                for (host, path), count in Counter(asked).items()
                if count > 1 and not lost
            ]
            if lost:
                repeated += len(asked) - len(set(asked))
            seen.update(asked)
            told(proof)
        now = proof.kills + proof.workers_killed
        if repeated > (now - before) * proof.allowed_per_kill:
            proof.differences.append(f"{repeated} requests were made again after {now - before} kills")
        proof.repeated += repeated

    def _waited(self, process: subprocess.Popen[bytes], first: int, seconds: float | None) -> bool:
        """Kill a process at a moment that chance chooses, and return False; True when it ended before, or may live."""
        self._workers_killed = 0
        if seconds is None:
            process.wait(_SECONDS_AT_MOST)
            return True
        # A number for each process: a moment that lies beyond the end of a run must not be chosen for ever.
        self._started += 1
        which, when, jitter, *_ = (number / ONE for number in dice(self._seed, "kill", self._started))
        if which < _BY_REQUESTS:  # while it fetches and writes
            most = int(when * _MOST_REQUESTS)
            while process.poll() is None and len(self._server.log) - first < most:
                time.sleep(_LOOK_SECONDS)
            wait = jitter * 0.15
        else:  # at any moment, from its start to its last word
            wait = when * (seconds + 0.5)
        if self._workers > 1:
            self._kill_a_worker(process.pid, after_seconds=wait / 2)
        try:
            process.wait(wait)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self._server.settle()  # else what this one has sent would count as asked for by the next
        return process.returncode >= 0

    def _kill_a_worker(self, process: int, after_seconds: float) -> None:
        """Kill one of the processes that work for this one, if any does by then."""
        time.sleep(after_seconds)
        with suppress(OSError):
            others = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
            if others:
                os.kill(int(others[self._started % len(others)]), signal.SIGKILL)
                self._workers_killed += 1

    def _state(self, name: str) -> str:
        """Return the state of the run, "" when no process lived long enough to begin one."""
        if not self._store(name).exists():
            return ""
        try:
            database = SqliteDatabase.reader(str(self._store(name)))
        except SchemaMismatch:  # killed before the tables were made
            return ""
        try:
            newest = Reader(database).latest()
        finally:
            database.close()
        return newest.state if newest else ""

    def _forget(self, name: str) -> None:
        for path in (*self._folder.glob(f"{name}.db*"), *(self._folder / name).rglob("*.csv")):
            path.unlink()

    def ledger(self, name: str) -> Rows:
        """Return the ledger file of a run by (purpose, URL)."""
        found = sorted((self._folder / name).rglob("*.csv"))
        if len(found) != 1:
            message = f"expected one ledger below {self._folder / name}, found {len(found)}"
            raise PurlieuError(message)
        with found[0].open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        by_key = {(row["purpose"], row["url"]): row for row in rows}
        if len(by_key) != len(rows):
            message = f"{len(rows) - len(by_key)} URLs stand twice in {found[0]}"
            raise PurlieuError(message)
        return by_key


def _spawned(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "purlieu", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603 - ourselves
