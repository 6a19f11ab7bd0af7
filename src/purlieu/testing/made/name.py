"""How the hosts of a made web are named, and back: addresses of loopback, or names by a pattern.

Every address of 127/8 is this machine on Linux, so that thousands of hosts need no DNS. Elsewhere ``h{}.localhost``
does (RFC 6761): libcurl, browsers and most resolvers take such names for loopback.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final

LOOPBACK: Final = "127"
"""The naming by address; any other is a pattern with ``{}`` for the number of the host."""
MOST_HOSTS: Final = 254 * 256 * 254
_ADDRESS: Final = re.compile(r"127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})", re.ASCII)


def host_name(naming: str, number: int) -> str:
    """Return the name of a host by its number."""
    if naming != LOOPBACK:
        return naming.replace("{}", str(number))
    rest, last = divmod(number, 254)
    return f"127.{1 + rest // 256}.{rest % 256}.{1 + last}"


@lru_cache(maxsize=100_000)
def host_number(naming: str, name: str) -> tuple[int, str] | None:
    """Return the number of a host by its name, and the label that stands before it; None for no host of this web."""
    if naming == LOOPBACK:
        found = _ADDRESS.fullmatch(name)
        if not found:
            return None
        second, third, last = map(int, found.groups())
        return (((second - 1) * 256 + third) * 254 + last - 1, "") if second and 1 <= last <= 254 else None
    named = _pattern(naming).fullmatch(name)
    return (int(named["number"] or 0), named["before"] or "") if named else None


@cache
def _pattern(naming: str) -> re.Pattern[str]:
    before, _, after = (re.escape(part) for part in naming.partition("{}"))
    number = r"(?P<number>\d{1,9})" if "{}" in naming else "(?P<number>)"
    return re.compile(rf"(?:(?P<before>[a-z0-9-]+)\.)?{before}{number}{after}", re.ASCII)
