"""What an audit says of the files and frames that pages embed: which cannot be had, and which come without encryption.

Reads how the checks of a run ended (``links.check_resources``); what a secure page loads or sends by http shows in its
links alone. Holds what is wrong, not what is fine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from purlieu.audit import Fault
from purlieu.candidate import Purpose
from purlieu.landing import LandingKind
from purlieu.report.destination import Destinations
from purlieu.report.foreign import is_open
from purlieu.store.audit import AuditRows
from purlieu.store.outlinks import LETTERS
from purlieu.url import host_of

EXAMPLES: Final = 5
"""Addresses told of pages that share a fault."""
_BROKEN: Final = {"image": "broken_image", "script": "broken_script", "style": "broken_style", "media": "broken_media"}
_ACTIVE: Final = ("script", "style", "frame", "iframe")
_PASSIVE: Final = ("image", "media")
_FORMS: Final = ("form", "post")
_RULES: Final = {LETTERS[kind]: rule for kind, rule in _BROKEN.items()}
_MIXED: Final = {
    **dict.fromkeys((LETTERS[kind] for kind in _ACTIVE), "mixed_content"),
    **dict.fromkeys((LETTERS[kind] for kind in _PASSIVE), "mixed_content_passive"),
    **dict.fromkeys((LETTERS[kind] for kind in _FORMS), "insecure_form"),
}
_LETTERS: Final = "".join(_MIXED)
MARKS: Final = frozenset(_LETTERS + _LETTERS.upper())
"""Marks of ``outlinks.py`` of what this looks at."""
FRAMES: Final = frozenset(mark for kind in ("frame", "iframe") for mark in (LETTERS[kind], LETTERS[kind].upper()))
"""Those of them that are links too, as they lead to pages."""
_OF_THIS_MACHINE: Final = ("localhost", "127.0.0.1", "[::1]")
_REDIRECTING: Final = frozenset({"redirected", "misdirected"})
_NOT_ASKED: Final = frozenset({"due", "abandoned", "excluded"})


class Parts:
    """Gathers what is wrong with the parts of one run's pages."""

    def __init__(self, rows: AuditRows, destinations: Destinations, normal: Callable[[str], str]) -> None:
        """Look up how the checks ended; ``normal`` gives the address that a link means."""
        self._normal = normal
        self._broken = dict(_broken(rows, destinations))
        self._found: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}

    def take(self, page: str, links: Iterable[str]) -> None:
        """Take the links of a page whose mark is one of ``MARKS``, as lines of ``outlinks.py``."""
        is_secure = page.startswith("https:")
        found: dict[tuple[str, str], None] = {}
        for line in links:
            letter, href = line[0].lower(), self._normal(line[1:])
            if letter in _RULES and href in self._broken:
                found[_RULES[letter], href] = None
            if is_secure and href.startswith("http:") and not _is_of_this_machine(href):
                found[_MIXED[letter], href] = None
        for key in found:
            count, first = self._found.get(key, (0, ()))
            self._found[key] = (count + 1, (*first, page) if count < EXAMPLES else first)

    def faults(self) -> Iterator[Fault]:
        """Yield a fault for each address that is wrong, with the pages that embed it."""
        for (rule, href), (count, first) in sorted(self._found.items()):
            detail = self._broken[href] if rule in _BROKEN.values() else ""
            yield Fault(rule, href, detail, count, tuple(sorted(first)))


def _is_of_this_machine(href: str) -> bool:
    """Return whether browsers take an address for safe without encryption (Secure Contexts, 3.1)."""
    host = host_of(href)
    return host in _OF_THIS_MACHINE or host.endswith(".localhost") or host.startswith("127.")


def _broken(rows: AuditRows, destinations: Destinations) -> Iterator[tuple[str, str]]:
    """Yield the checked addresses that cannot be had, each with what it did; of foreign ones, what surely cannot."""
    for href, kind, reason, status, is_foreign in rows.checks_ended_badly():
        if kind not in _REDIRECTING:
            if not (is_foreign and is_open(kind, reason, status)):
                yield href, f"{kind}.{reason}" + (f" {status}" if status else "")
            continue
        landing = destinations.landing(href, Purpose.CHECK)
        row = landing.row
        if landing.kind is LandingKind.FAILED and row is not None and row.kind not in _NOT_ASKED:
            if not (is_foreign and is_open(row.kind, row.reason, row.status or 0)):
                yield href, f"{landing.href} {row.kind}.{row.reason}"
        elif (landing.kind in {LandingKind.LOOP, LandingKind.TOO_MANY} and not is_foreign) or kind == "misdirected":
            yield href, f"{landing.href} {landing.kind}"
