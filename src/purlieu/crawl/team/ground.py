"""What the process that has the store shares with all the others of a run.

Stands apart from what goes to and fro between them, which a run of one process need not load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from purlieu.value import dataclass, field

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.crawl.desk import PageLimit
    from purlieu.decide import Visit
    from purlieu.fetch.address import AddressGuard
    from purlieu.store.frontier import Frontier

LOOK_SECONDS: Final = 5.0
"""An idle process asks again after so long at most; a lease of one that hangs may have expired meanwhile."""

Opened = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]
"""What ``AddressGuard.opened`` tells."""


def newly(opened: Opened, before: Opened) -> Opened:
    """Return what has been opened and pinned since, so that of many seeds each is told once."""
    return tuple(set(opened[0]) - set(before[0])), opened[1][len(before[1]) :]


class Jars(Protocol):
    """What a fetcher remembers that must go with a host or a run to another process."""

    @property
    def guard(self) -> AddressGuard:
        """Return which addresses may be connected to."""
        ...

    def cookies(self, host: str) -> list[bytes]:
        """Return a host's cookies."""
        ...

    def keep_cookies(self, host: str, lines: Sequence[bytes]) -> None:
        """Have these cookies of a host."""
        ...


def _nothing(*_: object) -> None:
    """Hear of nothing, before there is a team."""


@dataclass(slots=True)
class Ground:
    """What all seats of a run share: the run, the time, whom the cookies of a host were left by.

    ``taken`` hears of every written batch, ``changed`` that something may be due for another, ``limited`` of a limit
    that is reached; ``seats`` says how many processes ask.
    """

    frontier: Frontier
    clock: Clock
    pages: PageLimit
    jars: Jars
    active_seconds: Callable[[], float]
    taken: Callable[[list[Visit]], None] = _nothing
    changed: Callable[[], None] = _nothing
    limited: Callable[[str], None] = _nothing
    seats: Callable[[], int] = lambda: 1
    cookies: dict[str, tuple[int, list[bytes]]] = field(default_factory=dict)
