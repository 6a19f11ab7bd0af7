"""How a sitemap is made known: lines of robots.txt, a ping, IndexNow (SM-44, SM-45, SM-78).

Knows what is written and asked. Asks nobody itself, and nothing here happens unless the owner wants it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final
from urllib.parse import quote

from purlieu import url as urls
from purlieu.response import Request

INDEXNOW_URLS: Final = 10_000
"""Addresses that one IndexNow request may carry."""
INDEXNOW_KEY: Final = re.compile(r"[A-Za-z0-9-]{8,128}", re.ASCII)
_BOM: Final = b"\xef\xbb\xbf"
_READ_BYTES: Final = 512_000  # RFC 9309 2.5, R-8.3
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?")
_SITEMAP: Final = re.compile(rb"[ \t]*sitemap[ \t]*:[ \t]*([^\r\n#]*)", re.IGNORECASE)
_PLACE: Final = "{sitemap}"


def robots_txt(body: bytes, named: Sequence[str], gone: Sequence[str] = ()) -> bytes:
    """Return a robots.txt that names these sitemaps and no longer those gone; all else stays byte for byte.

    A body that does so already is returned as it is. New lines go to the end, since a Sitemap line belongs to no group,
    in the file's own line ending; to the beginning of a file so large that robots do not read its end.
    """
    out, there = bytearray(), set()
    for line in _LINE.findall(body):
        found = _SITEMAP.match(line.removeprefix(_BOM))
        address = found[1].strip().decode("utf-8", "replace") if found else ""
        if address in gone and address not in named:
            continue
        there.add(address)
        out += line
    missing = [address for address in dict.fromkeys(named) if address not in there]
    if missing:
        ending = b"\r\n" if b"\r\n" in body else b"\n"
        lines = b"".join(f"Sitemap: {address}".encode() + ending for address in missing)
        if len(out) + len(lines) > _READ_BYTES:
            begin = len(_BOM) if out.startswith(_BOM) else 0
            return bytes(out[:begin] + lines + out[begin:])
        if out and not out.endswith((b"\n", b"\r")):
            out += ending
        out += lines
    return bytes(out)


def ping(address: str, sitemap: str) -> Request:
    """Return the request that tells an address of a sitemap (SM-45): in place of ``{sitemap}``, else as a query."""
    told = quote(sitemap, safe="")
    if _PLACE in address:
        return Request(address.replace(_PLACE, told), opens=True)
    return Request(f"{address}{'&' if '?' in address else '?'}sitemap={told}", opens=True)


def indexnow(endpoint: str, key: str, key_file: str, hrefs: Iterable[str]) -> Iterator[Request]:
    """Yield the IndexNow requests that tell of changed addresses, 10,000 in each; ``key_file`` is where that lies."""
    left = iter(hrefs)
    while batch := list(islice(left, INDEXNOW_URLS)):
        told = {"host": urls.parse(key_file).host, "key": key, "keyLocation": key_file, "urlList": batch}
        body = json.dumps(told, ensure_ascii=False).encode()
        headers = (("Content-Type", "application/json; charset=utf-8"),)
        yield Request(endpoint, method="POST", headers=headers, body=body, opens=True)
