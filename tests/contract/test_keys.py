"""Addresses under their keys: looked up one by one or together, with hashes that collide."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.crawling import ledger

from purlieu import settings as settings_text
from purlieu.admission import Admission
from purlieu.candidate import Candidate, Facts
from purlieu.scope import Scope
from purlieu.store import runs
from purlieu.store.counters import IntakeLimits
from purlieu.store.intake import Intake
from purlieu.store.sqlite import SqliteDatabase
from purlieu.url import key64

SETTINGS = settings_text.of({"seeds": ["http://a.test/"], "scope": {"mode": "any"}})
ADMISSION = Admission(Scope.of(SETTINGS), 1, 10, 1000, 3, obey_nofollow=True, only_seeds=False, own_seed=False)
HREFS = [f"http://{host}.test/{path}" for host in "ab" for path in range(8)]


def few(text: str) -> int:
    """Return one of twenty hashes."""
    return key64(text) % 20


def taken_in(rounds: list[list[tuple[str, int]]], hash_of: Callable[[str], int]) -> dict[str, tuple[int, str]]:
    """Take in addresses at their depths, round by round; return depth and kind of each as the ledger has them."""
    with TemporaryDirectory() as folder:
        store = Path(folder) / "s.db"
        database = SqliteDatabase.writer(str(store))
        opened = runs.begin(database, "k", (settings_text.dump(SETTINGS), False), "0", 0.0)
        intake = Intake(database, opened.run, ADMISSION, IntakeLimits(), opened.counters, hash_of)
        for found in rounds:
            with database.transaction():
                for href, depth in found:
                    intake.add(Candidate(href, Facts(depth, via="http://a.test/")))
                intake.write(0.0)
        together = intake.keys.keys_of(HREFS)
        assert together == [intake.keys.key_of(href) for href in HREFS]
        for href, (host, hashed) in zip(HREFS, together, strict=True):
            row = database.one("entry", opened.run.id, host, 0, hashed)
            assert row is None or row[0] == href
        database.close()
        return {url: (row["depth"], row["kind"]) for (purpose, url), row in ledger(store).items() if purpose == "page"}


@pytest.mark.parametrize("seed", [1, 2])
def test_looking_up_together_is_looking_up_each(seed: int) -> None:
    """Addresses that share a hash stand side by side, in one round or another, and nothing else is changed (R-1.2)."""
    chance = random.Random(seed)
    rounds = [[(chance.choice(HREFS), chance.choice((1, 1, 2))) for _ in range(12)] for _ in range(3)]
    known = {href for found in rounds for href, _ in found}
    least = {href: min(depth for found in rounds for one, depth in found if one == href) for href in known}
    assert taken_in(rounds, key64) == {
        href: (depth, "due" if depth == 1 else "excluded") for href, depth in least.items()
    }
    admitted = [[(href, 1) for href, _ in found] for found in rounds]
    assert taken_in(admitted, few) == taken_in(admitted, key64) == dict.fromkeys(known, (1, "due"))
