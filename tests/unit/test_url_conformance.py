"""URLs: the standard's own test suites."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from purlieu import url
from purlieu.errors import UrlError


def rows(file: Path) -> list[dict[str, Any]]:
    """Return the cases of a JSON or JSON Lines file."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines()]


def parts(text: str, base: str | None) -> tuple[object, ...] | None:
    """Return what the suites compare, None for a refusal."""
    try:
        got = url.parse(text, base)
    except UrlError:
        return None
    return got.href, got.fragment or "", got.scheme, got.host, got.port, got.path, got.query or ""


def expected_parts(row: dict[str, Any]) -> tuple[object, ...] | None:
    """Return the same of a case."""
    if row.get("failure"):
        return None
    return (
        row["href"].partition("#")[0],
        row["hash"][1:],
        row["protocol"][:-1],
        row["hostname"],
        int(row["port"]) if row["port"] else None,
        row["pathname"],
        row["search"][1:],
    )


@pytest.mark.parametrize("name", ["urltestdata.json", "ada_extra_urltestdata.json"])
def test_urltestdata(conformance: Path, name: str) -> None:
    """Every case of the standard's suite, of any scheme, parses into the parts it lists or is refused as it says."""
    cases = rows(conformance / "url" / name)

    wrong = [row for row in cases if parts(row["input"], row.get("base")) != expected_parts(row)]

    assert cases
    assert wrong == []


def test_urltestdata_joined(conformance: Path) -> None:
    """Every case with a base gives the same href through the Joiner, the hot path."""
    cases = [row for row in rows(conformance / "url" / "urltestdata.json") if row.get("base")]

    wrong = []
    for row in cases:
        expected = None if row.get("failure") else row["href"].partition("#")[0]
        try:
            got = url.Joiner(row["base"])(row["input"])
        except UrlError:
            got = None
        if expected != got:
            wrong.append((row, got))

    assert cases
    assert wrong == []


def test_origins(conformance: Path) -> None:
    """The origin of every case that is not a blob (whose origin is its inner URL's) is as listed."""
    cases = [row for row in rows(conformance / "url" / "urltestdata.json") if "origin" in row]

    wrong = [
        row
        for row in cases
        if row["protocol"] != "blob:" and row["origin"] != url.parse(row["input"], row.get("base")).origin
    ]

    assert cases
    assert wrong == []


@pytest.mark.parametrize("name", ["toascii.json", "IdnaTestV2.json"])
def test_domain_to_ascii(conformance: Path, name: str) -> None:
    """Every host of the UTS 46 suites becomes the ASCII host listed, or is refused."""
    cases = [row for row in rows(conformance / "url" / name) if row["input"]]  # an empty host is dropped, not refused
    joiner = url.Joiner("https://base.example/")

    wrong = []
    for row in cases:
        expected = f"https://{row['output']}/x" if row["output"] else None
        if expected != joiner(f"https://{row['input']}/x"):
            wrong.append(row)

    assert cases
    assert wrong == []


def test_percent_encoding(conformance: Path) -> None:
    """A query is percent-encoded in the page's encoding as listed."""
    cases = rows(conformance / "url" / "percent-encoding.json")

    wrong = [
        (row["input"], encoding)
        for row in cases
        for encoding, output in row["output"].items()
        if f"http://h/?{output}" != url.Joiner("http://h/", encoding)(f"?{row['input']}")
    ]

    assert cases
    assert wrong == []


def test_canonical(conformance: Path) -> None:
    """Where other canonicalisers agree with the standard, so do we."""
    cases = [row for row in rows(conformance / "canonical" / "canonical_cases.jsonl") if row.get("same_as_whatwg")]

    wrong = []
    for row in cases:
        text = row.get("input", row.get("ref", (row.get("args") or [""])[0]))
        got = parts(text, row.get("base") or None)
        if (row["whatwg"] and row["whatwg"].partition("#")[0]) != (got and got[0]):
            wrong.append((row, got))

    assert cases
    assert wrong == []
