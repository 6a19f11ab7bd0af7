"""What every test may ask for.

Finds the conformance cases beside the checkout and makes a skipped test fail
where everything must run. Knows nothing of the crawler.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tests.shared import SHARED

from purlieu.page import scan

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

ROOT = Path(__file__).resolve().parent.parent
# A test asserts no time: an example is slow where something else keeps the machine busy.
settings.register_profile("purlieu", deadline=None)
settings.load_profile("purlieu")
# What is started here speaks English, whatever the machine speaks.
os.environ["LC_ALL"] = "C.UTF-8"
IN_CI = os.environ.get("CI", "").lower() in {"1", "true"}


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the checkout's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of shared data beside the checkout (or ``PURLIEU_SHARED``); skip where there is none."""
    if not SHARED.is_dir():
        pytest.skip(f"no shared test data at {SHARED}; set PURLIEU_SHARED to its folder")
    return SHARED


@pytest.fixture(scope="session")
def conformance(shared: Path) -> Path:
    """Return the folder of conformance cases collected from public test suites; skip where there is none."""
    folder = shared / "conformance"
    if not folder.is_dir():
        pytest.skip(f"no conformance cases at {folder}")
    return folder


@pytest.fixture(scope="module", params=("python", "c"))
def scanner(request: pytest.FixtureRequest) -> Iterator[str]:
    """Read pages by the scanner in Python, then by the one in C; skip the latter where it was not built."""
    native = request.param == "c"
    if native and find_spec("purlieu.page._scan") is None:
        pytest.skip("the page scanner in C was not built; see CONTRIBUTING.md")
    with scan.forced(native=native):
        yield request.param


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With ``CI=true`` a skipped test is a failed one: what CI does not run, nobody runs."""
    report = yield
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {item.nodeid}: {call.excinfo.value if call.excinfo else 'no reason'}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """With ``CI=true`` a module that skips itself as a whole is a failure too."""
    report = yield
    if IN_CI and report.outcome == "skipped":
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {collector.nodeid}: {report.longrepr}"
    return report
