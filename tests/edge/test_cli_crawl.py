"""Whole sessions of ``purlieu crawl`` as an owner has them: real processes, real sockets on loopback, a real terminal.

Rules R-1.7, R-4.3, R-8.2. Waiting is for something to be seen, never for time to pass.
"""

from __future__ import annotations

import asyncio
import csv
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.loopback import Loopback, Received, message

PAGES = 30
COMMAND = [sys.executable, "-m", "purlieu"]


class Chain(Loopback):
    """A site of PAGES pages, each linking to the next; from page ``held`` on answers wait until ``released`` is set."""

    def __init__(self, held: int = PAGES + 1) -> None:
        """Hold nothing back unless asked to."""
        self.held = held
        self.reached = Event()
        self.released = Event()
        super().__init__(self._give)

    def __exit__(self, *error: object) -> None:
        """Hold nothing back any longer, and end."""
        self.released.set()
        super().__exit__(*error)

    @property
    def url(self) -> str:
        """Return the first page."""
        return f"{self.origin}/1"

    async def _give(self, received: Received, out: asyncio.StreamWriter) -> bool:
        name = received.path.strip("/")
        if not name.isdecimal() or int(name) > PAGES:
            out.write(message(b"", status=404))
            return True
        if int(name) >= self.held:
            self.reached.set()
            await asyncio.to_thread(self.released.wait)
        links = "".join(f'<a href="/{n}">{n}</a>' for n in (int(name) + 1, 2 * int(name)) if n <= PAGES)
        out.write(message(f"<title>{name}</title>{links}".encode()))
        return True


@pytest.fixture
def site() -> Iterator[Chain]:
    """Return a site that answers at once."""
    with Chain() as served:
        yield served


def run(folder: Path, *words: str, status: int = 0, text: str | None = None) -> str:
    """Run a command to its end in a folder and return its stdout; its exit status must be as said."""
    done = subprocess.run([*COMMAND, *words], cwd=folder, capture_output=True, text=True, input=text, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command in a folder."""
    return subprocess.Popen(
        [*COMMAND, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def fetched(folder: Path, run: int = 1) -> list[str]:
    """Return the paths of the pages that a run fetched, by its CSV ledger, sorted."""
    command = [*COMMAND, "report", str(run), "--format", "csv", "-o", str(folder / "ledger")]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    with (folder / "ledger" / "ledger.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return sorted(
        row["url"].rpartition("/")[2] for row in rows if row["purpose"] == "page" and row["kind"] == "fetched"
    )


def every_page() -> list[str]:
    """Return the paths of all pages, sorted as texts."""
    return sorted(str(number) for number in range(1, PAGES + 1))


def test_a_crawl_leaves_store_and_files_where_they_belong(site: Chain, tmp_path: Path) -> None:
    """Without options the store is ./purlieu.db and the result ./purlieu-out/CRAWL/RUN/ (R-1.7); the books are told."""
    out = run(tmp_path, "crawl", site.url)
    zip_file = tmp_path / "purlieu-out" / "127.0.0.1" / "1" / "crawl_result_detail.csv.zip"
    assert zip_file.is_file()
    assert (tmp_path / "purlieu.db").is_file()
    assert str(zip_file.relative_to(tmp_path)) in out
    assert "The books balance" in out
    assert fetched(tmp_path) == every_page()


def test_each_page_is_asked_once(site: Chain, tmp_path: Path) -> None:
    """The server sees every page once, and robots.txt first."""
    run(tmp_path, "crawl", site.url, "-q")
    asked = [received.path for received in site.log]
    assert asked[0] == "/robots.txt"
    assert sorted(asked[1:]) == sorted(f"/{page}" for page in every_page())


def test_options_reach_the_crawl(site: Chain, tmp_path: Path) -> None:
    """Limits, name, places, formats and user agent are taken from the command line."""
    run(
        tmp_path, "crawl", site.url, "--max-pages", "3", "--name", "mine", "--store", "s.db", "--output", "o",
        "--format", "csv", "--format", "jsonl", "--user-agent", "Tester/1",
    )  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "o" / "mine" / "1").iterdir()) == ["ledger.csv", "ledger.jsonl"]
    assert {received.headers["user-agent"] for received in site.log} == {"Tester/1"}
    assert len([received for received in site.log if received.path != "/robots.txt"]) == 3
    assert "done (limit:pages)" in run(tmp_path, "runs", "--store", "s.db")


def test_a_list_from_stdin_is_fetched_exactly(site: Chain, tmp_path: Path) -> None:
    """List mode fetches the given URLs and nothing they link to."""
    run(tmp_path, "crawl", "--list", "-", text=f"{site.origin}/5\n{site.origin}/7\n")
    assert fetched(tmp_path) == ["5", "7"]


def test_the_demo_needs_nothing(tmp_path: Path) -> None:
    """``--demo`` crawls a site that the package serves itself, with books that balance."""
    out = run(tmp_path, "crawl", "--demo")
    assert "Run 1 of demo is done." in out
    assert "The books balance" in out
    assert "redirected.permanent" in out


def test_json_is_one_object_a_line(site: Chain, tmp_path: Path) -> None:
    """With --json every line is an object and the last one is the end, with the books."""
    events = [json.loads(line) for line in run(tmp_path, "crawl", site.url, "--json", "-v").splitlines()]
    visits = [event for event in events if event["event"] == "visit"]
    assert len(visits) == PAGES + 1
    assert (events[-1]["event"], events[-1]["balanced"], events[-1]["state"]) == ("end", True, "done")
    assert sum(row["count"] for row in events[-1]["endings"] if row["purpose"] == "page") == PAGES


def test_quiet_says_the_end_alone(site: Chain, tmp_path: Path) -> None:
    """With -q the first line is how the run ended."""
    assert run(tmp_path, "crawl", site.url, "-q").startswith("Run 1 of 127.0.0.1 is done.")


def test_verbose_tells_each_url(site: Chain, tmp_path: Path) -> None:
    """With -v each URL stands on a line with its status and ending."""
    lines = run(tmp_path, "crawl", site.url, "-v").splitlines()
    assert len([line for line in lines if line.startswith("200 fetched.ok ")]) == PAGES


def test_ctrl_c_stops_cleanly_and_resume_goes_on(tmp_path: Path) -> None:
    """The first Ctrl-C lets what is under way finish, ends with 130 and says how to resume; resuming fetches the rest once."""
    with Chain(held=10) as site:
        process = start(tmp_path, "crawl", site.url)
        assert site.reached.wait(30)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert "Crawling" in process.stdout.readline()
        assert "Stopping" in process.stdout.readline()
        site.released.set()
        out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (130, "")
        assert f"To go on: purlieu crawl {site.url} --resume" in out
        assert "abandoned.stopped" in out
        assert "The books balance" in out
        before = fetched(tmp_path)
        assert 0 < len(before) < PAGES
        run(tmp_path, "crawl", "--resume")
        assert fetched(tmp_path) == every_page()
        pages = [received.path for received in site.log if received.path != "/robots.txt"]
        assert len(pages) == len(set(pages))


def test_a_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    """The second Ctrl-C does not wait for what is under way; what is stored stays and is resumed from."""
    with Chain(held=10) as site:
        process = start(tmp_path, "crawl", site.url)
        assert site.reached.wait(30)
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert "Stopping" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)  # the site still holds its answers
        assert (process.returncode, err) == (130, "")
        assert "Stopped at once" in out
        site.released.set()
        run(tmp_path, "crawl", site.url, "--resume")
        assert fetched(tmp_path) == every_page()


def test_a_killed_crawl_is_resumed(tmp_path: Path) -> None:
    """After kill -9 ``--resume`` ends with the same pages as an undisturbed run."""
    with Chain(held=10) as site:
        process = start(tmp_path, "crawl", site.url)
        assert site.reached.wait(30)
        process.kill()
        process.communicate(timeout=30)
        site.released.set()
        run(tmp_path, "crawl", "--resume")
        assert fetched(tmp_path) == every_page()


def test_two_processes_do_not_share_a_store(tmp_path: Path) -> None:
    """A second crawl on a store in use ends with status 2 and says what to do; the first is not disturbed (R-4.3)."""
    with Chain(held=10) as site:
        first = start(tmp_path, "crawl", site.url)
        assert site.reached.wait(30)
        second = start(tmp_path, "crawl", site.url)
        out, err = second.communicate(timeout=30)
        assert second.returncode == 2
        assert "purlieu.db" in err
        assert "Traceback" not in err
        site.released.set()
        out, err = first.communicate(timeout=30)
        assert first.returncode == 0, err
        assert "The books balance" in out


def test_a_store_of_another_version_is_refused(site: Chain, tmp_path: Path) -> None:
    """A store that another version wrote ends with status 2 and a sentence, and is left as it was."""
    store = tmp_path / "purlieu.db"
    database = SqliteDatabase.writer(str(store))
    database.close()
    damaged = bytearray(store.read_bytes())
    damaged[60:64] = (99).to_bytes(4, "big")  # the file format's place for the application's schema version
    store.write_bytes(damaged)
    done = subprocess.run([*COMMAND, "crawl", site.url], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert done.stderr.startswith("purlieu: ")
    assert store.read_bytes() == damaged
    assert site.log == []


@pytest.mark.parametrize("store", ["taken/purlieu.db", "."])
def test_a_store_that_cannot_be_opened_is_told(site: Chain, tmp_path: Path, store: str) -> None:
    """A store that lies below a file, or that is a folder, ends with status 1 and a sentence."""
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "crawl", site.url, "--store", store], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert done.stderr.startswith("purlieu: ")


def test_an_output_folder_that_cannot_be_made_loses_nothing(site: Chain, tmp_path: Path) -> None:
    """When the result cannot be written the books are told all the same, and ``report`` writes it elsewhere."""
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    done = subprocess.run(
        [*COMMAND, "crawl", site.url, "--output", "taken"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "The books balance" in done.stdout
    (line,) = done.stderr.splitlines()
    assert "purlieu report 1 -o FOLDER" in line
    assert fetched(tmp_path) == every_page()


def test_nothing_to_resume_is_a_mistake(site: Chain, tmp_path: Path) -> None:
    """``--resume`` without an unfinished run ends with status 2."""
    run(tmp_path, "crawl", "--resume", status=2)
    run(tmp_path, "crawl", site.url)
    run(tmp_path, "crawl", "--resume", status=2)


def test_a_site_that_cannot_be_had_is_status_1(tmp_path: Path) -> None:
    """A run in which not one page could be fetched ends with status 1, with the reason in its books (R-8.2)."""
    with Chain() as site:
        url = site.url
    text = "[politeness]\nretries = 0\n[robots]\ntries = 1\n"
    (tmp_path / "p.toml").write_text(text, encoding="utf-8")
    out = run(tmp_path, "crawl", url, "-c", "p.toml", status=1)
    assert "unreachable." in out


def test_a_terminal_gets_live_figures(tmp_path: Path) -> None:
    """On a terminal figures are drawn in place while the crawl runs, and the cursor is back at the end."""
    with Chain(held=10) as site:
        ours, theirs = pty.openpty()
        environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
        process = subprocess.Popen(
            [*COMMAND, "crawl", site.url], cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
        os.close(theirs)
        seen = b""
        while b"\x1b[?25l" not in seen or seen.count(b"fetched") < 2:  # drawn twice: then the answers may come
            seen += os.read(ours, 65_536)
        site.released.set()
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux says so when the other end is closed
                break
            if not part:
                break
            seen += part
        assert process.wait(30) == 0
        os.close(ours)
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")
    assert b"waiting" in seen
    assert b"The books balance" in seen[seen.rindex(b"\x1b[?25h") :]


def test_what_may_not_be_meant_is_told_before_the_first_request(site: Chain, tmp_path: Path) -> None:
    """A domain that neither list tells, and two hosts that differ by www. alone, are told at once (EN-80, AMB-EN-2)."""
    seed = site.url.replace("127.0.0.1", "localhost")
    (tmp_path / "purlieu.toml").write_text(
        f'seeds = ["{seed}"]\n[scope]\nmode = "same-domain"\ndomains = "lists"\n', encoding="utf-8"
    )
    told = run(tmp_path, "crawl", "-c", "purlieu.toml", "-v", "--max-pages", "1").splitlines()
    finding = next(number for number, line in enumerate(told) if "domains.additional" in line)
    fetched = next(number for number, line in enumerate(told) if seed in line and "fetched" in line)
    assert finding < fetched
