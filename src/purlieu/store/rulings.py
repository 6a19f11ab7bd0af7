"""The rulings of a batch, for whoever wants to hear of them once the batch is written.

Nobody does as a rule, and then nothing is kept. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from purlieu.admission import Ruling
from purlieu.candidate import Facts, Purpose
from purlieu.named import NamedTuple


class Ruled(NamedTuple):
    """A ruling on one address as it was written; a later one of the same address and purpose replaces it."""

    href: str
    purpose: Purpose
    facts: Facts
    ruling: Ruling


class Rulings:
    """What one run has ruled and not yet told."""

    def __init__(self) -> None:
        """Start without a listener."""
        self._listener: Callable[[list[Ruled]], None] | None = None
        self._kept: list[Ruled] = []

    def listen(self, listener: Callable[[list[Ruled]], None]) -> None:
        """Have every ruling from now on told to a listener, batch by batch."""
        self._listener = listener

    @property
    def wanted(self) -> bool:
        """Return whether anyone listens."""
        return self._listener is not None

    def add(self, href: str, purpose: Purpose, facts: Facts, ruling: Ruling) -> None:
        """Keep a ruling, if anyone listens."""
        if self._listener is not None:
            self._kept.append(Ruled(href, purpose, facts, ruling))

    def tell(self) -> None:
        """Tell what was kept; call it when that is written."""
        if self._listener is not None and self._kept:
            kept, self._kept = self._kept, []
            self._listener(kept)

    def forget(self) -> None:
        """Forget what was kept, after a batch was rolled back."""
        self._kept = []
