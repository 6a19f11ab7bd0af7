"""Real documentation sets, in English and Japanese, against reference crawls that nobody here made."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import zstandard
from tests.crawling import ledger

from purlieu.cli.main import main
from purlieu.testing.serve import ServedFolder

SITES = {
    "python3.11-doc": "/usr/share/doc/python3.11/html",
    "gimp-help-ja": "/usr/share/gimp/2.0/help/ja",
    "sqlite3-doc": "/usr/share/doc/sqlite3",
}


@pytest.mark.parametrize("package", SITES)
def test_a_debian_site_is_crawled_whole(package: str, conformance: Path, tmp_path: Path) -> None:
    """All reachable pages and broken links, no URL twice, books balanced; CSV, JSONL and Parquet agree row by row."""
    root = Path(SITES[package])
    if not root.is_dir():
        pytest.skip(f"the Debian package {package} is not installed")
    packed = (conformance / "sites" / f"{package}.crawl.jsonl.zst").read_bytes()
    text = zstandard.ZstdDecompressor().stream_reader(packed).read().decode()
    reference = [json.loads(line) for line in text.splitlines()]
    store, output = tmp_path / "s.db", tmp_path / "out"
    with ServedFolder(root) as site:
        formats = [word for name in ("crawl_result", "csv", "jsonl", "parquet") for word in ("--format", name)]
        command = ["crawl", f"{site.origin}/index.html", "--store", str(store), "--output", str(output), "-q", *formats]
        assert main(command) == 0
        origin = site.origin
    rows = [row for row in ledger(store).values() if row["purpose"] == "page" and row["url"].startswith(f"{origin}/")]
    titles = {row["url"].removeprefix(origin): _spaced(row["title"]) for row in rows if row["kind"] == "fetched"}
    wanted = {
        row["url"]: _spaced(row["title"]) for row in reference if (row["status"], row.get("type")) == (200, "html")
    }
    others = {row["url"] for row in reference if row["status"] == 200 and row.get("type") != "html"}
    assert titles.keys() - others == wanted.keys()
    # The reference keeps 120 characters of a title.
    assert {url: titles[url][:120].strip() for url in wanted} == wanted
    missing = {row["url"].removeprefix(origin) for row in rows if row["status"] == 404}
    assert missing == {row["url"] for row in reference if row["status"] == 404}
    _formats_agree(output)
    # An audit lists exactly the broken links.
    assert (
        main(["audit", "--store", str(store), "--json", "--most", "100000", "--output", str(tmp_path / "a.json")]) == 0
    )
    faults = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["faults"]
    assert {one["url"].removeprefix(origin) for one in faults if one["rule"] == "broken_link"} == missing


def _spaced(title: str | None) -> str:
    return " ".join((title or "").split())[:120].strip()


def _formats_agree(output: Path) -> None:
    """Read the three forms back to the same rows."""
    (from_csv,) = output.rglob("*.csv")
    (from_jsonl,) = output.rglob("*.jsonl")
    (from_parquet,) = output.rglob("*.parquet")
    with from_csv.open(encoding="utf-8", newline="") as file:
        texts = list(csv.DictReader(file))
    lines = [json.loads(line) for line in from_jsonl.read_text(encoding="utf-8").splitlines()]
    table = pyarrow.parquet.read_table(from_parquet).to_pylist()
    assert lines == table
    assert [{name: _as_text(value) for name, value in row.items()} for row in lines] == texts


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
