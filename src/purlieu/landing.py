"""Where a redirect chain ends (R-2.5).

Walks from one address to the next as a caller's lookup tells them; knows the
kinds of endings and the limit, and neither store nor network.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from purlieu.value import dataclass

LANDED_KINDS = frozenset({"fetched", "unchanged"})
MAX_REDIRECTS = 10


class LandingKind(StrEnum):
    """How a chain can end."""

    LANDED = "landed"
    LOOP = "loop"
    TOO_MANY = "too_many"
    OUT_OF_SCOPE = "out_of_scope"
    FAILED = "failed"


class Stop(Protocol):
    """What the walk asks of a row: how its address ended, and where it sent us, if it did."""

    @property
    def kind(self) -> str:
        """The kind of ending, as in ``outcome.KINDS``, or "due"."""
        ...

    @property
    def redirect_to(self) -> str | None:
        """The absolute href it redirects to, None when it does not."""
        ...


RowT = TypeVar("RowT", bound=Stop)


@dataclass(frozen=True, slots=True)
class Landing(Generic[RowT]):
    """The end of a chain after ``hops`` redirects.

    ``href`` is where it landed or failed, the target that is out of scope, or the last address asked
    before the limit or the loop. ``row`` is the last row that was asked for: the one of ``href``, or,
    out of scope, the one that redirected there; None only when the first address has no row.
    """

    kind: LandingKind
    href: str
    hops: int
    row: RowT | None


def walk(href: str, row_of: Callable[[str], RowT | None], max_redirects: int = MAX_REDIRECTS) -> Landing[RowT]:
    """Return where ``href`` lands.

    ``row_of`` gives the row of an address, None when it was not admitted. The redirect after the
    ``max_redirects``-th is too many (AMB-MF-5); a loop is seen when an address comes up again.
    """
    seen = {href}
    last: RowT | None = None
    hops = 0
    while True:
        row = row_of(href)
        if row is None or row.kind == "excluded":
            return Landing(LandingKind.OUT_OF_SCOPE, href, hops, last)
        target = row.redirect_to
        if not target:
            kind = LandingKind.LANDED if row.kind in LANDED_KINDS else LandingKind.FAILED
            return Landing(kind, href, hops, row)
        if target in seen:
            return Landing(LandingKind.LOOP, href, hops, row)
        if hops >= max_redirects:
            return Landing(LandingKind.TOO_MANY, href, hops, row)
        seen.add(target)
        last, href, hops = row, target, hops + 1
