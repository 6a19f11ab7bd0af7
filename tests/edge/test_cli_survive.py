"""What the command line says and returns when the machine lets a crawl down, and ``purlieu store`` (R-8.1, R-8.2)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tests.crawling import html, ledger
from tests.edge.test_cli_crawl import COMMAND, Chain, every_page, fetched, run, start

from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.serve import ServedFolder

PAGES = 120


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedFolder]:
    """Serve pages that link to each other."""
    folder = tmp_path_factory.mktemp("site")
    for number in range(PAGES):
        links = [f"/{(number * 7 + step) % PAGES}.html" for step in range(1, 20)]
        (folder / f"{number}.html").write_text(html(*links, title="page " + "x" * 900), encoding="utf-8")
    with ServedFolder(folder) as served:
        yield served


def states(store: Path) -> list[tuple[str, str | None]]:
    """Return the state and stop reason of every run."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    found = [(row[0], row[1]) for row in connection.execute("SELECT state, stop_reason FROM run ORDER BY id")]
    connection.close()
    return found


@pytest.fixture
def hangups() -> Iterator[None]:
    """Have hang-ups end what is started, as in a terminal, though these tests may run under nohup themselves."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangups")
@pytest.mark.parametrize(("number", "why"), [(signal.SIGTERM, "shutdown"), (signal.SIGHUP, "hangup")])
def test_the_system_stops_a_crawl_and_resume_goes_on(tmp_path: Path, number: signal.Signals, why: str) -> None:
    """A shutdown, or a terminal that is closed, ends the run as failed, without MF3.0 file and with status 1 (R-8.1, MF-30)."""
    with Chain(held=10) as served:
        process = start(tmp_path, "crawl", served.url, "--output", "out")
        assert served.reached.wait(30)
        process.send_signal(number)
        served.released.set()
        out, err = process.communicate(timeout=30)
        assert process.returncode == 1, out + err
        assert states(tmp_path / "purlieu.db") == [("failed", f"system:{why}")]
        assert "To go on: purlieu crawl" in out
        assert not list((tmp_path / "out").rglob("*.zip"))
        run(tmp_path, "crawl", "--resume")
        assert fetched(tmp_path) == every_page()


def test_a_crawl_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    """Where hang-ups are ignored, as under nohup, they stay ignored."""
    with Chain(held=10) as served:
        process = subprocess.Popen(
            ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *COMMAND, "crawl", served.url],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert served.reached.wait(30)
        process.send_signal(signal.SIGHUP)
        served.released.set()
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, out + err
    assert fetched(tmp_path) == every_page()


def test_a_disk_without_room_ends_the_crawl_and_resume_goes_on(site: ServedFolder, tmp_path: Path) -> None:
    """When files may grow no more, the run ends with status 1 and a remedy; with room ``--resume`` ends as ever (R-8.1)."""
    whole, limited = tmp_path / "whole", tmp_path / "limited"
    whole.mkdir()
    limited.mkdir()
    crawl = ("crawl", f"{site.url}0.html", "-q", "--name", "made")
    run(whole, *crawl)
    words = ["sh", "-c", 'ulimit -f 800; exec "$@"', "sh", *COMMAND, *crawl]
    done = subprocess.run(words, cwd=limited, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "store" in line]
    assert "disk" in line
    assert "then resume" in line
    assert "Traceback" not in done.stderr
    assert run(limited, "store", "check").startswith("purlieu.db is sound.")
    run(limited, "crawl", "--resume", "-q")
    one, other = ledger(whole / "purlieu.db"), ledger(limited / "purlieu.db")
    for row in (*one.values(), *other.values()):
        row.pop("attempts")
    assert one == other
    assert len(one) > PAGES


def test_result_files_without_room_are_whole_or_not_there(site: ServedFolder, tmp_path: Path) -> None:
    """A report that does not fit on the disk ends with status 1 and a sentence, and leaves no half file."""
    run(tmp_path, "crawl", f"{site.url}0.html", "-q")
    for form in ("csv", "jsonl", "parquet", "crawl_result"):
        words = ["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *COMMAND, "report", "1", "--format", form, "-o", form]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert "Traceback" not in done.stderr, done.stderr
        if form != "crawl_result":  # compressed it may fit
            assert done.returncode == 1, form
            assert list((tmp_path / form).iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("more", [("--json",), ("-q",)])
def test_an_output_without_room_loses_nothing(site: ServedFolder, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Where what is printed goes to a full disk, the exit status says so, and the run goes on or can be resumed."""
    with Path("/dev/full").open("w") as full:
        words = [*COMMAND, "crawl", f"{site.url}0.html", "--name", "made", *more]
        done = subprocess.run(
            words, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr, done.stderr
    store = tmp_path / "purlieu.db"
    if not store.exists():  # not a word could be said, so nothing was begun
        run(tmp_path, "crawl", f"{site.url}0.html", "--name", "made", "-q")
    elif states(store) != [("done", "finished")]:
        run(tmp_path, "crawl", "--resume", "-q")
    pages = [url for purpose, url in ledger(tmp_path / "purlieu.db") if purpose == "page"]
    assert len(pages) == PAGES


def test_two_crawls_of_one_name_at_once(tmp_path: Path) -> None:
    """Of two crawls started at once one works, and the other is told so with status 2 (R-4.3, R-8.2)."""
    with Chain(held=10) as served:
        both = [start(tmp_path, "crawl", served.url, "--name", "made") for _ in range(2)]
        assert served.reached.wait(30)
        served.released.set()
        told = [one.communicate(timeout=60) for one in both]
    status = sorted(one.returncode for one in both)
    if status == [0, 2]:
        (err,) = [text for (_, text), one in zip(told, both, strict=True) if one.returncode == 2]
        assert "another process is crawling with it" in err
    else:  # the second began when the first had finished
        assert status == [0, 0]
    assert fetched(tmp_path) == every_page()


def test_an_older_store_is_upgraded_by_hand(tmp_path: Path) -> None:
    """``store upgrade`` brings a store up to date and names the copy; reading commands say that it is needed (R-8.2)."""
    text = (Path(__file__).resolve().parent.parent / "corpus" / "store" / "schema-1.sql").read_text(encoding="utf-8")
    connection = apsw.Connection(str(tmp_path / "purlieu.db"))
    connection.execute(text)
    connection.pragma("user_version", 1)
    connection.close()
    done = subprocess.run([*COMMAND, "runs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "purlieu store upgrade purlieu.db" in done.stderr
    assert "purlieu.db.version-1" in run(tmp_path, "store", "upgrade")
    assert run(tmp_path, "store", "upgrade") == "purlieu.db is up to date.\n"
    run(tmp_path, "runs")


def test_an_older_store_is_upgraded_without_a_copy(tmp_path: Path) -> None:
    """With ``--no-copy`` nothing is kept beside the store."""
    text = (Path(__file__).resolve().parent.parent / "corpus" / "store" / "schema-1.sql").read_text(encoding="utf-8")
    connection = apsw.Connection(str(tmp_path / "s.db"))
    connection.execute(text)
    connection.pragma("user_version", 1)
    connection.close()
    run(tmp_path, "store", "upgrade", "s.db", "--no-copy")
    assert {path.name for path in tmp_path.iterdir()} == {"s.db", "s.db.lock"}


def test_a_damaged_store_is_checked_and_repaired(site: ServedFolder, tmp_path: Path) -> None:
    """``check`` says what is wrong with status 1 and what can be read; ``repair`` writes a new file that is sound."""
    run(tmp_path, "crawl", f"{site.url}0.html", "-q")
    store = tmp_path / "purlieu.db"
    assert run(tmp_path, "store", "check") == "purlieu.db is sound.\n"
    assert run(tmp_path, "store", "repair", "purlieu.db") == "purlieu.db is sound: there is nothing to repair.\n"
    data = bytearray(store.read_bytes())
    for page in range(len(data) // 4096 // 2, len(data) // 4096 // 2 + 4):
        data[page * 4096 : page * 4096 + 2000] = os.urandom(2000)
    store.write_bytes(data)
    told = run(tmp_path, "store", "check", status=1)
    assert told.startswith("purlieu.db is not sound:\n  the file is damaged: ")
    assert "What can still be read: " in told
    assert "purlieu store repair purlieu.db" in told
    assert "破損" in run(tmp_path, "store", "check", "--lang", "ja", status=1)
    facts = json.loads(run(tmp_path, "store", "check", "--json", status=1))
    assert facts["sound"] is False
    assert facts["readable"]["entry"] > 10
    told = run(tmp_path, "store", "repair", "purlieu.db", "-o", "new.db")
    assert "What could be read is saved in new.db; purlieu.db was not touched." in told
    assert "Run 1 of" in told
    assert store.read_bytes() == data
    run(tmp_path, "runs", "--store", "new.db")
    run(tmp_path, "store", "repair", "purlieu.db", "-o", "new.db", status=1)


def test_a_store_in_use_is_not_repaired(tmp_path: Path) -> None:
    """While a crawl works on a store ``check`` says so, and ``repair`` leaves it alone (R-4.3)."""
    database = SqliteDatabase.writer(str(tmp_path / "purlieu.db"))
    assert "A crawl is working on it now." in run(tmp_path, "store", "check")
    done = subprocess.run(
        [sys.executable, "-m", "purlieu", "store", "repair", "purlieu.db"], cwd=tmp_path, capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 2
    assert "another process" in done.stderr
    database.close()
