"""``purlieu scope leaktest`` as an owner meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from purlieu.cli import leaktest
from purlieu.cli.main import main
from purlieu.testing.leak import Leak, LeakSite

OWNER = """
seeds = ["https://www.example.co.uk:8443/a/b?x=1#f", "https://example.com/"]

[scope]
judge_against = "own-seed"
strict = true

[[site]]
url = "https://www.example.co.uk:8443/a/"
mode = "same-dir"

[[site]]
url = "https://elsewhere.example.net/"
alternative_suffixes = [".net", ".com.cn"]

[filter]
include = ["https://nothing.example.com/"]

[limits]
max_pages = 1

[[origin]]
origin = "https://example.com"
user = "x"
password = "env:A_NAME_THAT_IS_NOT_SET"
"""


def test_settings_are_tried_without_their_limits_filters_and_secrets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The owner's settings are crawled in three rounds, from the owner's hosts over http; without leaks it exits 0."""
    file = tmp_path / "purlieu.toml"
    file.write_text(OWNER, encoding="utf-8")
    assert main(["scope", "leaktest", "-c", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [told["leaks"], len(told["rounds"])] == [0, 3]
    assert told["requests"] == sum(sum(each["hosts"].values()) for each in told["rounds"])
    by_name, moved, by_address = told["rounds"]
    assert by_name["start"] == "http://www.example.co.uk:8443/a/b?x=1"
    assert moved["start"].startswith("http://start0.test/")
    assert by_address["start"].startswith("http://127.0.0.1:")
    assert by_name["hosts"]["www.example.co.uk"] > 100


def test_a_leak_is_told_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    """Each leak has its line with its address, without signs that act on a terminal, and the status is 1."""
    found = [(LeakSite(["http://www.example.com/"]), [Leak("http://evil.test/\x1b[2J", 2, "it is elsewhere")])]
    with found[0][0]:
        assert leaktest.tell(found, as_json=False) == 1
    out = capsys.readouterr().out
    assert "  LEAK http://evil.test/\ufffd[2J (2x): it is elsewhere\n1 leaks.\n" in out


def test_wrong_settings_exit_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mistake in the file is told before anything is served."""
    file = tmp_path / "purlieu.toml"
    file.write_text('seeds = ["nowhere"]\n', encoding="utf-8")
    assert main(["scope", "leaktest", "-c", str(file)]) == 2
    assert "nowhere" in capsys.readouterr().err
