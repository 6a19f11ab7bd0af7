"""Killed processes lose nothing: the resumed ledger is that of an undisturbed run (R-1.6, R-4.3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from purlieu.cli.main import main
from purlieu.testing.kill import different, prove

KILLS = 20


def test_killed_runs_end_like_an_undisturbed_one(tmp_path: Path) -> None:
    """``kill -9`` at random moments, then ``--resume``: the same ledger, column by column; at most the batch in flight again."""
    proof = prove(KILLS, 7, tmp_path)
    assert proof.differences == []
    assert proof.kills == KILLS
    assert proof.rounds >= 2
    assert proof.rows > 250
    assert proof.repeated <= KILLS * proof.allowed_per_kill


def test_what_differs_is_told() -> None:
    """A row too few, a row too many and a value in any column but the times are differences, each with its name."""
    row = {"purpose": "page", "url": "u", "kind": "fetched", "attempts": "1", "ended_at": "1"}
    key, other = ("page", "u"), ("page", "v")
    assert list(different({key: row}, {key: {**row, "ended_at": "2"}})) == []
    assert list(different({key: row}, {key: {**row, "attempts": "2"}})) == [
        'page u: attempts is "1" undisturbed and "2" resumed'
    ]
    assert list(different({key: row}, {})) == ["page u is in the ledger of the undisturbed run alone"]
    assert list(different({key: row}, {key: row, other: row})) == ["page v is in the ledger of the resumed run alone"]


def test_the_command_tells_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu proof kill``: the counts, and status 0 for no difference; a mistake in a number is the owner's (status 2)."""
    assert main(["proof", "kill", "--kills", "1", "--seed", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kills"], told["differences"]) == (1, [])
    assert main(["proof", "kill", "--kills", "some"]) == 2
    assert '"some"' in capsys.readouterr().err
