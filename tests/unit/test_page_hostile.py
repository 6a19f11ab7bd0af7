"""Pages made to be slow: the time to read each grows with its size and no faster."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from purlieu import page

pytestmark = pytest.mark.usefixtures("scanner")

FLOODS: dict[str, Callable[[int], bytes]] = {
    "less-than signs": lambda n: b"<" * n,
    "nested div": lambda n: b"<div>" * n,
    "nested b that a p opens again": lambda n: b"<p>" + b"".join(b"<b a%d>" % one for one in range(n)) + b"<p>x" * n,
    "attributes": lambda n: b"<a " + b" ".join(b"a%d=1" % one for one in range(n)) + b" href=x>",
    "spaces in a tag": lambda n: b"<a" + b" " * n + b"href=x" + b" " * n + b">",
    "equals signs": lambda n: b"<a" + b" =" * n,
    "slashes in a tag": lambda n: b"<a" + b"/" * n + b">",
    "tags that do not end": lambda n: b"<meta " * n,
    "quotes that do not end": lambda n: b"<a href='" * n,
    "comments that do not end": lambda n: b"<!--" * n,
    "almost ends of a comment": lambda n: b"<!--" + b"--!" * n,
    "scripts in a script comment": lambda n: b"<script><!--" + b"<script>" * n,
    "almost ends of a title": lambda n: b"<title>" + b"</titl" * n,
    "CDATA": lambda n: b"<svg>" + b"<![CDATA[" * n,
    "CDATA after svg": lambda n: b"<svg><![CDATA[]]></svg>" * n,
    "templates": lambda n: b"<template>" * n,
    "navs": lambda n: b"<nav>x" * n + b"</nav>" * n,
    "noscripts": lambda n: b"<noscript><a href=x></noscript>" * n,
    "NUL": lambda n: b"\0" * n,
    "ampersands": lambda n: b"<title>" + b"&" * n,
    "a long number": lambda n: b"<title>&#" + b"1" * n + b";&#x" + b"f" * n + b";",
    "a long refresh": lambda n: b"<meta http-equiv=refresh content='" + b"1" * n + b" '>",
    "robots rules": lambda n: b"<meta name=robots content='" + b"a:," * n + b"'>",
    "canonicals": lambda n: b"<div>" + b"<link rel=canonical href=x>" * n + b"</head>",
    "srcset": lambda n: b"<img srcset='" + b"a (" * n + b"'>",
    "a prescan in quotes": lambda n: b"<meta a='" * 100 + b"x" * n,
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
def test_a_flood_is_read_to_its_end(flood: Callable[[int], bytes]) -> None:
    """A hundred thousand of anything are read; a reader that is not linear would meet the suite's time-out first."""
    read = page.read(flood(100_000), url="http://example.com/", content_type="text/html", kinds=page.ALL_KINDS)

    assert read.encoding is not None


@pytest.mark.parametrize("depth", [10_000])
def test_deep_nesting_is_read(depth: int) -> None:
    """A page nested ten thousand deep is read like any other."""
    body = b"<div>" * depth + b"<a href=x>text</a>" + b"</div>" * depth

    assert [link.url for link in page.read(body, url="http://example.com/").links] == ["http://example.com/x"]


def test_conformance_floods_are_read_right() -> None:
    """Ten thousands of unfinished tags hide a refresh as they do in a browser, and repeated attributes do not."""
    unfinished = b"<meta " * 80_001 + b'http-equiv="refresh" content="3; url=http://example.org/next/">'
    repeated = b"<meta" + b" http-equiv refresh" * 50_000 + b' content="3;url=http://example.org/next/">'

    assert page.read(unfinished, url="http://example.com/").refresh == (3, "http://example.org/next/")
    assert page.read(repeated, url="http://example.com/").refresh is None


def test_many_headers() -> None:
    """Long header fields are read up to a limit, in linear time."""
    headers = [
        ("Link", '<a>; rel="canonical"'),
        ("Link", "<a>;" * 100_000),
        ("X-Robots-Tag", "a:" * 100_000),
        ("Content-Type", 'text/html;"\\' * 100_000),
    ]

    assert page.read(b"", url="http://example.com/", headers=headers).canonical == "http://example.com/a"
