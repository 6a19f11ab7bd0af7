"""Watches a run for series of pages that say the same again and again, and tells when one is found.

Between ``trap.py``, which decides, and the frontier, which remembers. Asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from purlieu import decide
from purlieu.candidate import Purpose

if TYPE_CHECKING:
    from purlieu.candidate import Entry
    from purlieu.decide import Visit
    from purlieu.trap import Series, TrapRules

CODE = "trap_series"
"""The finding under which a series that was found is remembered."""
_DIGITS = dict.fromkeys(map(ord, "0123456789"))


class TrapWatch:
    """One run's watch. ``note`` writes a finding: code, subject, rule and an example."""

    def __init__(self, series: Series, rules: TrapRules, note: Callable[..., None]) -> None:
        """Watch with the series that are known."""
        self._series = series
        self._rules = rules
        self._note = note
        self.found: list[str] = []
        """The series that were found by this watch, in order."""

    @property
    def known(self) -> list[str]:
        """Return the series that are known as traps."""
        return self._series.known

    def excluded(self, entry: Entry, now: float) -> Visit | None:
        """Return the visit of a page that is of a trap; None for any other, and for one that the owner named.

        What earlier runs asked for, before they knew, a revisit asks for by its plan.
        """
        if entry.purpose is not Purpose.PAGE or entry.facts.grant or entry.plan is not None:
            return None
        series = self._series.trapped(entry.href)
        if not series or self._rules.allows(entry.href):
            return None
        return decide.excluded_as_trap(entry, self._series.rule, series, now)

    def look(self, visit: Visit) -> None:
        """Take in how a page's visit ended; a series that has become a trap is written down."""
        page = visit.page
        # A page without any text is made by a script, and says nothing of its series.
        if page is None or page.text_empty or visit.kind != "fetched" or self._rules.allows(visit.url):
            return
        said = page.digest + (page.title or "").translate(_DIGITS)
        if series := self._series.met(visit.url, said):
            self.found.append(series)
            self._note(CODE, series, rule=self._series.rule, example=visit.url)


class HeedingWatch(TrapWatch):
    """The watch of a process that is told which series are traps and finds none itself."""

    def look(self, visit: Visit) -> None:
        """Leave it to the process that has the store, which sees the pages of all."""
