"""The table of decided cases in docs/reference/scope.md: every row is judged as it says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

from purlieu import settings
from purlieu.scope import MODES, Scope
from purlieu.url import host_of, parse

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "scope.md"
ROW: Final = re.compile(r"^\| `(\S+)` \| (?:`(.+)`)? ?\| `(\S+)` \| (in|out) \| .+ \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str, bool]]:
    """Return (site, options, URL, whether it is in) of every row."""
    text = PAGE.read_text(encoding="utf-8").partition("## Decided cases")[2].partition("## Grants")[0]
    found = [(site, options, url, verdict == "in") for site, options, url, verdict in ROW.findall(text)]
    assert len(found) == text.count("\n| `"), "a row of the table is not read"
    return found


@pytest.mark.parametrize(("site", "options", "url", "is_in"), rows())
def test_decided_cases(site: str, options: str, url: str, is_in: bool) -> None:
    """Hot path, verdict and explained test agree with the page on every case.

    EN-30 to EN-34, BJ-10 to BJ-36, AMB-BJ-3 to AMB-BJ-9, AMB-BJ-14, AMB-EN-11, AMB-EN-12, AMB-EN-15, AMB-EN-17.
    """
    tree = {"seeds": [site], "scope": tomllib.loads(f"scope = {{ {options} }}")["scope"]}
    scope = Scope.of(settings.of(tree)).landed(0, parse(site).href)
    verdict = scope.judge(url)
    href = parse(url).href

    assert verdict.accepted is is_in, verdict.reason
    assert scope.accepts(href, host_of(href)) == (0 if is_in else None)
    if host_of(href):
        (test,) = scope.tests(url)
        assert test.accepted is is_in
        assert test.value in verdict.reason or test.mode == "any"


def test_the_table_has_both_verdicts_of_every_mode() -> None:
    """Each mode has a case that is in and one that is out."""
    found: dict[str, set[bool]] = {mode: set() for mode in MODES}
    for _, options, _, is_in in rows():
        found[(re.findall(r'mode = "([a-z-]+)"', options) or ["same-host"])[0]].add(is_in)
    assert found == {mode: {True, False} for mode in MODES}
