"""The gate of instruction counts: what it holds against which record, and that it fails (R-9.5)."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="module")
def counts(root: Path) -> ModuleType:
    """Return bench/counts.py, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("counts", root / "bench" / "counts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(counts: ModuleType, lock: str | None = None, **numbers: int) -> dict[str, Any]:
    """Return records with one for this Python and architecture."""
    return {counts.key(): {"lock": lock or counts.lock_hash(), "counts": numbers}}


@pytest.mark.parametrize(("now", "passes"), [(500, True), (1250, True), (1251, False), (4000, False)])
def test_a_quarter_more_passes_and_no_more(now: int, passes: bool, counts: ModuleType) -> None:
    """A function that needs over 25 % more instructions than recorded is told by its name, and fails (R-9.5)."""
    found, told = counts.status({"read": now}, record(counts, read=1000))

    assert (found, [line.split(":")[0] for line in told]) == (passes, [] if passes else ["read"])


def test_without_a_record_nothing_is_held_against_it(counts: ModuleType) -> None:
    """Only where a record of this Python and architecture exists is there a gate, and the way to make one is told."""
    passes, told = counts.status({"read": 10**9}, {"other-3.99 vax": {"lock": "x", "counts": {"read": 1}}})

    assert passes
    assert counts.RENEW in told[0]


def test_another_lock_does_not_open_the_gate(counts: ModuleType) -> None:
    """With other dependencies than the record's the counts are still compared, and the failure names the lock."""
    passes, told = counts.status({"read": 2000}, record(counts, lock="older", read=1000))

    assert not passes
    assert "older" in told[-1]
    assert counts.RENEW in told[-1]
    assert counts.status({"read": 1100}, record(counts, lock="older", read=1000)) == (True, [])


def test_what_is_counted_is_recorded(counts: ModuleType) -> None:
    """Each record in the tree has every function that is counted, so that none is forgotten when it is renewed."""
    records = json.loads(counts.RECORD.read_text("utf-8"))

    assert records
    assert {name: sorted(one["counts"]) for name, one in records.items()} == dict.fromkeys(records, sorted(counts.WORK))


def test_every_work_can_be_done_again_and_again(counts: ModuleType) -> None:
    """What is counted runs without valgrind too, more often than it is warmed up."""
    for make in counts.WORK.values():
        if make is counts.WORK["page.read in C"]:
            pytest.importorskip("purlieu.page._scan", reason="the page scanner in C was not built; see CONTRIBUTING.md")
        do = make()
        for _ in range(counts.WARM_UPS + 1):
            do()
