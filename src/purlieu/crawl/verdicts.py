"""The log of verdicts: a line for each URL that a run has judged, and another when its verdict changes.

Written to the logger ``purlieu.verdict`` at DEBUG, and only asked for where somebody listens. Decides nothing: the
rulings come from the store after they were written, the sentences from ``judgement``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from purlieu.admission import Admission, Ruling
from purlieu.candidate import Purpose
from purlieu.judgement import Rules, of_robots
from purlieu.store.database import Database
from purlieu.store.intake import Intake
from purlieu.store.reader import Reader
from purlieu.store.rulings import Ruled
from purlieu.url import origin_of

LOG: Final = logging.getLogger("purlieu.verdict")
_MOST_EARLY: Final = 100_000


class VerdictLog:
    """Tells the rulings of one run; each record's ``verdict`` has the values: url, purpose, accepted, rule ..."""

    def __init__(self, database: Database, run: int, intake: Intake, agent: str, most_early: int = _MOST_EARLY) -> None:
        """Listen to an intake. ``agent`` is the name by which robots.txt is asked.

        So many lines are remembered that seeds may still change by landing.
        """
        self._database = database
        self._run = run
        self._intake = intake
        self._agent = agent
        self._early: dict[tuple[str, Purpose], tuple[Ruled, str]] = {}
        self._most_early = most_early
        self._too_many = False
        intake.rulings.listen(self._tell)

    def settle(self) -> None:
        """Tell again what was told while seeds had not landed, where its sentence is another now (R-3.2)."""
        self._intake.rulings.tell()
        early, self._early = self._early, {}
        rules = _rules(self._intake.admission)
        for one, told in early.values():
            if self._reason(rules, one) != told:
                self._line(rules, one)
        if self._too_many:
            for one in self._pages():
                self._line(rules, one)

    def _pages(self) -> Iterator[Ruled]:
        """Yield every page of the ledger, where more were told early than are remembered."""
        reader = Reader(self._database)
        run = reader.run(self._run)
        for row in reader.found_pages(run) if run else ():
            refused = row.reason if row.kind == "excluded" else ""
            yield Ruled(row.href, Purpose.PAGE, row.facts, Ruling(refused, row.rule))

    def _tell(self, ruled: list[Ruled]) -> None:
        rules, waits = _rules(self._intake.admission), bool(self._intake.admission.scope.pending)
        for one in {(one.href, one.purpose): one for one in ruled}.values():
            reason = self._line(rules, one)
            self._early.pop((one.href, one.purpose), None)
            if waits and len(self._early) < self._most_early:
                self._early[one.href, one.purpose] = (one, reason)
            elif waits:
                self._too_many = True

    def _line(self, rules: Rules, one: Ruled) -> str:
        """Write one line and return its reason."""
        reason, accepted = self._reason(rules, one), not one.ruling.refused
        verdict = {
            "url": one.href,
            "purpose": one.purpose.value,
            "accepted": accepted,
            "rule": one.ruling.rule,
            "reason": reason,
            "outcome": None if accepted else f"excluded.{one.ruling.refused}",
            "notes": [*rules.notes(one.href, one.facts), *([one.ruling.detail] if one.ruling.detail else [])],
        }
        word = "accepted" if accepted else "refused"
        LOG.debug("%s %s (%s) by %s: %s", word, one.href, one.purpose.value, one.ruling.rule, reason,
                  extra={"verdict": verdict})  # fmt: skip
        return reason

    def _reason(self, rules: Rules, one: Ruled) -> str:
        if one.ruling.refused != "robots":
            return rules.reason(one.href, one.facts, one.purpose, one.ruling)
        row = self._database.one("report_robots", self._run, origin_of(one.href))
        return of_robots(row[1] or b"", row[2], self._agent, one.href).told if row else ""


def _rules(admission: Admission) -> Rules:
    return Rules(admission, frozenset(), frozenset())
