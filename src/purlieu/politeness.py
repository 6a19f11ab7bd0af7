"""How slowly a host is asked (section 4 of the rules).

Turns the owner's wishes, robots.txt and how the host has behaved into a pace.
Knows no clock and no socket: times come in, times go out.
"""

from __future__ import annotations

from purlieu.value import dataclass

LOOPBACK_CONNECTIONS = 8
DELAY_SECONDS = 0.25
SMOOTHING = 0.2
BACKOFF_FIRST_SECONDS = 1.0

RULES = {
    "delay": "the owner's `politeness.delay`",
    "host": "the owner's exception for this host (`[[host]]`)",
    "default": "the pause that holds where nothing is said (0.25 s)",
    "crawl-delay": "the Crawl-delay of its robots.txt",
    "response-time": "its usual response time (`politeness.adaptive`)",
    "back-off": "the extra pause after failures",
    "loopback": "this machine's own address: no pause",
}
"""What can set a host's pace; of equal ones the first."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What a host is granted: the smallest gap between request starts and how many connections (R-4.2).

    ``rest_seconds`` is the pause after the last response ended; it counts with one connection only.
    ``rule`` is what asked for the gap, one of ``RULES``.
    """

    gap_seconds: float
    rest_seconds: float
    connections: int
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the owner and robots.txt ask for one host; None where nothing was said.

    ``is_exception``: the delay is said for this host alone.
    """

    delay: float | None
    connections: int | None
    crawl_delay: float | None
    adaptive: bool
    is_exception: bool = False


def pace(wish: Wish, *, loopback: bool, smoothed_seconds: float, backoff_seconds: float) -> Pace:
    """Return the pace of a host now (R-4.2, AMB-ST-3: the largest delay that anyone asks for).

    Without a word from the owner it is one connection and a pause of at least 0.25 s and of the
    smoothed response time; on loopback eight connections and none.
    """
    delay = wish.delay if wish.delay is not None else 0.0 if loopback else DELAY_SECONDS
    connections = wish.connections if wish.connections is not None else LOOPBACK_CONNECTIONS if loopback else 1
    adaptive = smoothed_seconds if wish.adaptive and not loopback else 0.0
    said = "host" if wish.is_exception else "delay"
    asked = {
        ("loopback" if loopback else "default") if wish.delay is None else said: delay,
        "crawl-delay": wish.crawl_delay or 0.0,
        "response-time": adaptive,
        "back-off": backoff_seconds,
    }
    rule = max(asked, key=asked.__getitem__)
    rest = max(delay, wish.crawl_delay or 0.0, backoff_seconds)
    return Pace(asked[rule], rest if connections == 1 else 0.0, connections, rule)


def smoothed(old_seconds: float, seconds: float) -> float:
    """Return the response time smoothed over about the last five answers; the first counts whole."""
    return seconds if old_seconds == 0.0 else old_seconds + SMOOTHING * (seconds - old_seconds)


def backoff(old_seconds: float, most_seconds: float, *, failed: bool) -> float:
    """Return the extra pause after a failure (from 1 s, doubles up to the most) or a success (halves, then goes)."""
    if failed:
        return min(max(old_seconds * 2, BACKOFF_FIRST_SECONDS), most_seconds)
    return old_seconds / 2 if old_seconds > BACKOFF_FIRST_SECONDS else 0.0


def retry_after(value: str | None, now: float) -> float | None:
    """Return for how many seconds a Retry-After asks us to wait; a past date is 0, nonsense None (ST-40)."""
    text = (value or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    from datetime import UTC
    from email.utils import parsedate_to_datetime

    try:
        date = parsedate_to_datetime(text)
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
