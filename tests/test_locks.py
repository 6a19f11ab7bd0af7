"""The lock files: exact, hashed, whole, and without an address of any index."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
LOCKS: Final = ("run", "test", "bench")
PIN: Final = re.compile(r"^([a-z0-9-]+)==(\S+)(?: ; [^\\]+)? \\$")


def lines(lock: str) -> list[str]:
    """Return the lines of a lock file that are no comments."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def pins(lock: str) -> dict[str, str]:
    """Return name to version of what a lock file holds."""
    return {match[1]: match[2] for line in lines(lock) if (match := PIN.match(line))}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_exact_versions_and_hashes_only(lock: str) -> None:
    """Each line pins a version or gives a sha256; there is no option, and so no address of an index."""
    assert [line for line in lines(lock) if not PIN.match(line) and not line.startswith("    --hash=sha256:")] == []
    assert all("://" not in line for line in lines(lock))


def test_tests_run_with_what_a_crawl_runs_with() -> None:
    """The lock for tests holds all of the lock for crawls, in the same versions."""
    assert pins("run").items() <= pins("test").items()


def test_every_dependency_is_locked() -> None:
    """What pyproject.toml asks for is in the lock for crawls, and what its ranges mean is met there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = pins("run")
    for dependency in project["dependencies"]:
        name, least = re.match(r"([A-Za-z0-9-]+)>=([\d.]+)", dependency).groups()  # type: ignore[union-attr]
        wanted, found = ([int(part) for part in text.split(".")] for text in (least, locked[name]))
        assert found >= wanted, dependency
