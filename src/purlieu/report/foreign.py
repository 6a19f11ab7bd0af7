"""What an audit says of links that lead out of the site: broken, redirected, or not to be verified.

Reads how the checks of a run ended (``links.check_external``). A server that turns programs away says nothing of the
link: that has a rule of its own, so that nobody takes a good link out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from purlieu.audit import Fault
from purlieu.candidate import NOT_FOLLOWED, Purpose
from purlieu.landing import LandingKind
from purlieu.store.audit import AuditRows
from purlieu.store.outlinks import LETTERS
from purlieu.store.reader import Reader, RunRow

EXAMPLES: Final = 5
UNVERIFIED: Final = frozenset({401, 403, 405, 406, 407, 408, 425, 429, 451, 503, 999})
"""Statuses by which servers turn away programs, strangers, countries or hurry; 999 is one social network's own."""
_ALIVE: Final = frozenset({"fetched", "unchanged", "skipped"})
_UNVERIFIED_KINDS: Final = frozenset({"excluded", "abandoned", "crashed"})
_UNVERIFIED_REASONS: Final = frozenset({"address_refused", "proxy", "robots_unreachable"})
_REDIRECTING: Final = frozenset({"redirected", "misdirected"})
_MARKS: Final = frozenset(
    mark
    for kind, letter in LETTERS.items()
    if kind not in {*NOT_FOLLOWED, "canonical"}
    for mark in (letter, letter.upper())
)
"""Of lines of outlinks that a visitor may follow, a nofollow one (upper case) too."""


def faults(rows: AuditRows, reader: Reader, run: RunRow, normal: Callable[[str], str]) -> Iterator[Fault]:
    """Yield a fault for each foreign link that is not simply there, with the pages that have it."""
    wrong: dict[str, tuple[str, str]] = {}
    for href, kind, reason, status, robots in rows.foreign():
        if told := _told(reader, run, href, (kind, reason, status, robots)):
            wrong[href] = told
    if not wrong:
        return
    linking = dict.fromkeys(wrong, (0, ()))  # type: dict[str, tuple[int, tuple[str, ...]]]
    for page, stored in rows.links():
        for href in {normal(line[1:]) for line in stored if line[0] in _MARKS} & wrong.keys():
            count, first = linking[href]
            linking[href] = (count + 1, (*first, page) if count < EXAMPLES else first)
    for href, (rule, detail) in wrong.items():
        count, first = linking[href]
        yield Fault(rule, href, detail, count, tuple(sorted(first)))


def _told(reader: Reader, run: RunRow, href: str, ending: tuple[str, str, int, str]) -> tuple[str, str] | None:
    """Return the rule that a link to such an address breaks, and what the address did; None where it is there."""
    kind, reason, status, robots = ending
    if kind == "due" or (kind == "abandoned" and reason in {"stopped", "run_limit"}):
        return None
    if reason == "robots_unreachable" and robots:
        kind, _, reason = robots.partition(".")
    if kind not in _REDIRECTING:
        rule = _rule(kind, reason, status)
        return (rule, _ended(kind, reason, status)) if rule else None
    landing = reader.landing(run, href, reader.max_redirects(run), Purpose.CHECK)
    row = landing.row
    if landing.kind is LandingKind.LANDED or row is None:
        return "external_redirect", landing.href
    if landing.kind is LandingKind.FAILED:
        rule = _rule(row.kind, row.reason, row.status or 0)
        told = f"{landing.href} {_ended(row.kind, row.reason, row.status or 0)}"
        return (rule, told) if rule else ("external_redirect", landing.href)
    # A loop that a cookie would end, too many hops, or a target that robots.txt forbids.
    return "external_unverified", f"{landing.href} {landing.kind}"


def is_open(kind: str, reason: str, status: int) -> bool:
    """Return whether an ending leaves open if a visitor would have the address: its server may only shun programs."""
    return kind in _UNVERIFIED_KINDS or reason in _UNVERIFIED_REASONS or status in UNVERIFIED


def _rule(kind: str, reason: str, status: int) -> str:
    if kind in _ALIVE:
        return ""
    return "external_unverified" if is_open(kind, reason, status) else "broken_external_link"


def _ended(kind: str, reason: str, status: int) -> str:
    return f"{kind}.{reason}" + (f" {status}" if status else "")
