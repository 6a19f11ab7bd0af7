"""robots.txt against cases that nobody of this project wrote (../shared/conformance/robots, where it is present)."""

from __future__ import annotations

import base64
import json
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.shared import CONFORMANCE

from purlieu import robots

zstandard = pytest.importorskip("zstandard", reason="the conformance files are packed with zstd")
CASES = CONFORMANCE / "robots"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/conformance/robots beside the project")

# Lines which lie beyond the 512,000 bytes that are read; both reference parsers have no limit.
BEYOND_THE_LIMIT = {("docs.oracle.com.txt", "https://example.com/html/E52999_01/")}
# Other parsers' habits: a whole User-Agent header for a token, and markup for lines.
OTHER_HABITS = {"o0110", "o0410", "o0422", "o0393"}


def rows(name: str) -> list[dict[str, Any]]:
    """Read one JSON object a line, unpacked if need be."""
    path = CASES / name
    raw = path.read_bytes()
    if path.suffix == ".zst":
        raw = zstandard.ZstdDecompressor().stream_reader(raw).read()
    return [json.loads(line) for line in raw.splitlines()]


@cache
def corpus() -> dict[str, bytes]:
    """Unpack the corpus: file name to bytes."""
    with (CASES / "robots_corpus.tar.zst").open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            return {Path(one.name).name: tar.extractfile(one).read() for one in tar if one.isfile()}  # type: ignore[union-attr]


def body_of(row: dict[str, Any]) -> bytes:
    """Return a case's bytes."""
    return base64.b64decode(row["robots_b64"]) if "robots_b64" in row else str(row["robots"]).encode()


def test_every_strict_verdict() -> None:
    """Each case in which the suites and the reference parser agree comes out the same (ST-6 to ST-11)."""
    strict = [row for row in rows("robots_cases.jsonl") if row.get("strict")]
    wrong = [
        row["id"] for row in strict if robots.read(body_of(row)).allowed(row["agent"], row["url"]) != row["allowed"]
    ]

    assert strict
    assert wrong == []


def test_every_crawl_delay_and_sitemap() -> None:
    """Delays and sitemap lines are found as the suites expect (ST-11, ST-12)."""
    wrong = set()
    for row in rows("robots_cases.jsonl"):
        read = robots.read(body_of(row))
        if row["kind"] == "crawl_delay" and read.crawl_delay(row["agent"]) != row["crawl_delay"]:
            wrong.add(row["id"])
        if row["kind"] == "sitemaps" and list(read.sitemaps) != row["sitemaps"]:
            wrong.add(row["id"])

    assert wrong == OTHER_HABITS


def test_the_reference_parsers_facts() -> None:
    """Lines are counted and byte order marks skipped as the reference parser does."""
    wrong = []
    for row in rows("google_aux_cases.jsonl"):
        if row["kind"] == "stats" and row["what"] == "valid_directives" and "AnyValue" in str(body_of(row)):
            understood = robots.read(body_of(row) + b"\nDisallow: /").allowed("foo", "/AnyValue")
            known = robots.read(body_of(row) + b"\nDisallow: /").group("foo") is not None
            if (row["value"] == 2) != (understood and known):
                wrong.append(row)
        if row["kind"] == "stats" and row["what"] == "last_line_seen":
            rule = robots.read(body_of(row)).judge("bar", "/x").rule
            if rule != f"robots:{row['value']}":
                wrong.append(row)

    assert wrong == []


def test_status_codes() -> None:
    """A status means what RFC 9309 says it does, except 429 (ST-2, ST-3, ST-14)."""
    cases = json.loads((CASES / "robots_status_codes.json").read_text())["cases"]
    said = {"parse": "parse", "allow": "allow_all", "disallow": "disallow_all"}
    wrong = {
        case["status"]
        for case in cases
        if case["rfc9309"] and said[robots.of_status(case["status"])] != case["rfc9309"]
    }

    assert {429} == wrong


def test_the_corpus_is_read() -> None:
    """Each real file is read without an error, and gives rules or nothing."""
    read = {name: robots.read(body) for name, body in corpus().items()}

    assert len(read) == 2480
    assert all(isinstance(one.allowed("purlieu", "https://example.com/"), bool) for one in read.values())


def test_every_corpus_verdict_that_two_parsers_share() -> None:
    """Where two independent parsers agree on a real file, so do we, within the first 512,000 bytes (R-8.3)."""
    read = {name: robots.read(body) for name, body in corpus().items()}
    agreed = [row for row in rows("robots_corpus_verdicts.jsonl.zst") if row["agree"]]
    wrong = {
        (row["file"], row["url"])
        for row in agreed
        if read[row["file"]].allowed(row["agent"], row["url"]) != row["google"]
    }

    assert len(agreed) > 15_000
    assert wrong == BEYOND_THE_LIMIT
