"""A verdict: may this URL be crawled, which rule decided, and why in one sentence.

Knows nothing of where it was asked. Every refusal in the crawler is one of these.
"""

from __future__ import annotations

from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of ``scope.judge`` and ``robots.judge``.

    ``rule`` is a stable code such as ``same-host``, ``seed`` or ``robots:12``;
    ``reason`` one sentence for the owner with the values compared; ``notes``
    further lines that the caller may log; ``sites`` the indexes of the sites that accept.
    """

    accepted: bool
    rule: str
    reason: str
    notes: tuple[str, ...] = ()
    sites: frozenset[int] = frozenset()
