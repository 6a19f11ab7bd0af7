"""Cookies that the owner gives: a file in Netscape's format, held to the host that they are given for.

Takes a text, gives lines for libcurl. Sends nothing, reads no file.
"""

from __future__ import annotations

from typing import Final

FIELDS: Final = 7
_HTTP_ONLY: Final = "#HttpOnly_"
_REMEDY: Final = (
    "write seven fields with tabs between them: domain, TRUE or FALSE, path, TRUE or FALSE, expiry, name, value"
)


def read(text: str, host: str, now: float) -> tuple[str, ...]:
    """Return the lines of a file that belong to a host and have not expired at ``now`` (seconds since the epoch).

    Raises ValueError with the remedy, and no value, where a line is no cookie or none is left for the host.
    """
    lines, expired = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or (line.startswith("#") and not line.startswith(_HTTP_ONLY)):
            continue
        parts = line.removeprefix(_HTTP_ONLY).split("\t")
        if len(parts) != FIELDS or {parts[1], parts[3]} - {"TRUE", "FALSE"} or not _whole(parts[4]) or not parts[5]:
            message = f"line {number} is no cookie; {_REMEDY}"
            raise ValueError(message)
        if not _belongs(parts[0].lower(), host, with_subdomains=parts[1] == "TRUE"):
            continue
        if 0 < float(parts[4]) <= now:
            expired += 1
            continue
        lines.append(line)
    if not lines and expired:
        message = f"all {expired} cookies for {host} in it have expired; log in with a browser and write it anew"
        raise ValueError(message)
    if not lines:
        message = f"no cookie in it is for {host}; write one, or take the file out"
        raise ValueError(message)
    return tuple(lines)


def _whole(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < FIELDS * 3


def _belongs(domain: str, host: str, *, with_subdomains: bool) -> bool:
    bare = domain.removeprefix(".")
    return host == bare or (with_subdomains and "." in bare and host.endswith(f".{bare}"))
