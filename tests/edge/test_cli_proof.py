"""``purlieu proof web`` as its user meets it: started, asked, interrupted."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from purlieu.cli.main import main


def test_a_made_web_is_served_until_it_is_interrupted(tmp_path: Path) -> None:
    """The first line says where the hosts are, each answers there, the log has every request, Ctrl-C is status 0."""
    log = tmp_path / "log"
    command = [sys.executable, "-m", "purlieu", "proof", "web", "--hosts", "300", "--pages", "5", "--port", "0"]
    with subprocess.Popen([*command, "--log", str(log)], stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            found = re.fullmatch(r"300 hosts with 5 pages each, from (\S+) to (\S+); Ctrl-C ends\n", line)
            assert found, line
            for url in found.groups():
                with urllib.request.urlopen(url, timeout=10) as answer:
                    assert b"<main>" in answer.read()
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    asked = [entry.split("\t")[1:] for entry in log.read_text(encoding="utf-8").splitlines()]
    assert [[status, path] for status, _, path in asked] == [["200", "/"], ["200", "/"]]
    assert [host for _, host, _ in asked] == [url.removeprefix("http://").rstrip("/") for url in found.groups()]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["--pages", "many", "--missing", "-1", "--change", "all"], 2),
        (["--change", "2:1"], 2),
        (["--hosts", "0"], 1),
        (["--hosts", "2", "--naming", "one.test"], 1),
        (["--port", "70000"], 2),
    ],
)
def test_a_wrong_web_is_told(words: list[str], status: int, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be a web is told with the value, all mistakes in one go, and nothing is served."""
    assert main(["proof", "web", *words]) == status
    said = capsys.readouterr().err
    assert all(f'"{value}"' in said for value in words[1::2]) if status == 2 else words[-1] in said


def test_a_port_that_is_taken_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A port that cannot be opened is the owner's mistake, told with a remedy (R-8.2)."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert main(["proof", "web", "--naming", "h{}.localhost", "--port", port]) == 2
    assert f'--port = "{port}": it cannot be opened (' in capsys.readouterr().err
