"""Which hosts were slowest and which failed most.

Chooses among what the store counted; keeps only the few it gives back. Knows no terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest

from purlieu.store.reader import HostRow


def slowest(hosts: Iterable[HostRow], number: int = 5) -> list[HostRow]:
    """Return the hosts that took longest a request on the average, the slowest first; equal ones by name."""
    asked = (host for host in hosts if host.requests)
    return nlargest(number, asked, key=lambda host: (host.mean_seconds, _last_first(host.name)))


def most_failing(hosts: Iterable[HostRow], number: int = 5) -> list[HostRow]:
    """Return the hosts that were given up or failed, those given up first, then by failures; equal ones by name."""
    failed = (host for host in hosts if host.failures or host.is_given_up)
    return nlargest(number, failed, key=lambda host: (host.is_given_up, host.failures, _last_first(host.name)))


def _last_first(name: str) -> tuple[int, ...]:
    """Turn the order of names round, as the largest is chosen first; a name ends before it goes on."""
    return (*(-ord(char) for char in name), 1)
