"""CDXJ: which record of which WARC file answers for an address at a time, in lines that are sorted by address.

Knows the lines and how files of them are sorted and merged in bounded memory. Reads no WARC file.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

LINES_AT_ONCE: Final = 100_000
"""Lines sorted in memory at a time: about 30 MB."""
FILES_AT_ONCE: Final = 100
"""Files that are open while they are merged; systems allow a process few."""
_WWW: Final = re.compile(r"www\d*\.")
_PORTS: Final = {"http": 80, "https": 443}


class Captured(NamedTuple):
    """What a line says of one record; ``length`` and ``offset`` are bytes of the file as it lies on disk."""

    url: str
    timestamp: str
    mime: str
    status: int
    digest: str
    length: int
    offset: int
    filename: str


def key(url: str) -> str:
    """Return the sort key of an address: host reversed, no scheme, ``www.`` or default port; lower case, query sorted.

    >>> key("https://www.Example.com/A/?b=2&a=1")
    'com,example)/a?a=1&b=2'
    """
    parts = urlsplit(url.lower())
    host = _WWW.sub("", parts.hostname or "", count=1)
    labels = [host] if ":" in host or host.replace(".", "").isdigit() else host.split(".")[::-1]
    try:
        port = parts.port
    except ValueError:
        port = None
    at = f":{port}" if port and port != _PORTS.get(parts.scheme) else ""
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    return f"{','.join(labels)}{at}){parts.path.rstrip('/') or '/'}{'?' if query else ''}{query}"


def line(captured: Captured) -> str:
    """Return the line of a record, with its line end."""
    facts: dict[str, Any] = captured._asdict()
    timestamp = facts.pop("timestamp")
    facts |= {name: str(facts[name]) for name in ("status", "length", "offset")}
    return f"{key(captured.url)} {timestamp} {json.dumps(facts)}\n"


def read(text: str) -> Captured:
    """Return what a line says."""
    _, timestamp, told = text.split(" ", 2)
    facts = json.loads(told)
    numbers = {name: int(facts[name]) for name in ("status", "length", "offset")}
    return Captured(**{**facts, **numbers, "timestamp": timestamp})


def sort(source: Path, target: Path) -> None:
    """Write the lines of a file sorted into another, a bounded number at a time."""
    parts: list[Path] = []
    with source.open(encoding="utf-8") as lines:
        while some := sorted(islice(lines, LINES_AT_ONCE)):
            part = target.with_name(f"{target.name}.{len(parts)}")
            part.write_text("".join(some), encoding="utf-8")
            parts.append(part)
    merge(parts, target)
    for part in parts:
        part.unlink()


def merge(sources: Iterable[Path], target: Path) -> None:
    """Write the lines of sorted files, sorted, into one; it takes the place of an older one whole or not at all."""
    fresh = target.with_name(f"{target.name}.part")
    rest = list(sources)
    groups: list[Path] = []
    while len(rest) > FILES_AT_ONCE:
        group = target.with_name(f"{target.name}.group{len(groups)}")
        merge(rest[:FILES_AT_ONCE], group)
        groups.append(group)
        rest = [*rest[FILES_AT_ONCE:], group]
    with ExitStack() as stack, fresh.open("w", encoding="utf-8") as out:
        out.writelines(heapq.merge(*(stack.enter_context(path.open(encoding="utf-8")) for path in rest)))
    fresh.replace(target)
    for group in groups:
        group.unlink()


def find(index: Path, url: str) -> Iterator[Captured]:
    """Yield the records of an address, the oldest first, by halving the sorted index."""
    wanted = f"{key(url)} ".encode()
    with index.open("rb") as file:
        low, high = 0, index.stat().st_size
        while low < high:  # the first line that begins after ``low`` and does not sort before what is wanted
            middle = (low + high) // 2
            file.seek(middle)
            file.readline()
            found = file.readline()
            if found and found < wanted:
                low = middle + 1
            else:
                high = middle
        file.seek(low)
        if low:
            file.readline()
        for told in file:
            if told.startswith(wanted):
                yield read(told.decode())
            elif told > wanted:
                return
