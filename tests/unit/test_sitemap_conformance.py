"""Sitemaps against files that nobody of this project wrote (../shared/conformance/sitemap, where it is present)."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from tests.shared import CONFORMANCE, SHARED

from purlieu import robots, sitemap
from purlieu import url as urls

zstandard = pytest.importorskip("zstandard", reason="some conformance files are packed with zstd")
CASES = CONFORMANCE / "sitemap"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/conformance/sitemap beside the project")

# One parser's habit: an address without a scheme is given one.
OTHER_HABITS = {"cc:testSitemapTXTfilterUrls"}
# Where one of the scenarios looks for a sitemap that robots.txt does not name.
WELL_KNOWN = ("sitemap.xml", "sitemap_index.xml")


def unpacked(path: Path) -> bytes:
    """Return a file's bytes, unpacked if need be."""
    raw = path.read_bytes()
    return zstandard.ZstdDecompressor().stream_reader(raw).read() if path.suffix == ".zst" else raw


def rows(name: str) -> list[dict[str, Any]]:
    """Read one JSON object a line."""
    return [json.loads(line) for line in unpacked(CASES / name).splitlines()]


def body_of(row: dict[str, Any]) -> bytes:
    """Return a case's bytes."""
    return base64.b64decode(row["content_b64"]) if "content_b64" in row else str(row["content"]).encode()


def locs(found: sitemap.Sitemap) -> list[str]:
    """Return all addresses in order."""
    return [entry.loc for entry in found.entries] + [child.loc for child in found.children]


def faults(row: dict[str, Any]) -> list[str]:
    """Return in what a document comes out otherwise than expected."""
    url = row["sitemap_url"] or "http://www.example.com/sitemap.xml"
    found = sitemap.read(body_of(row), url=url)
    expect, options, reference = row["expect"], row["options"], row["reference"]
    inside = [entry for entry in found.entries if sitemap.in_location(entry.loc, url)]
    counted = inside if options.get("strict_location", True) and expect.get("n_urls") == len(inside) else found.entries
    items: list[sitemap.Entry | sitemap.Child] = [*found.entries, *found.children]
    fields = [
        ("is_index", found.kind == "index"),
        ("n_urls", len(counted)),
        ("n_sitemaps", len(found.children)),
        ("error", bool(found.problems)),
        ("entries", [entry_of(item, one) for item, one in zip(items, expect.get("entries", ()), strict=False)]),
    ]
    wrong = [name for name, value in fields if name in expect and value != expect[name]]
    others = [
        reference["scrapy"].get("locs"),
        [*reference["usp"].get("urls", ()), *reference["usp"].get("sub_sitemaps", ())],
    ]
    if not expect and others[0] == others[1] != locs(found):
        wrong.append("reference")
    return wrong


def entry_of(item: sitemap.Entry | sitemap.Child, like: dict[str, Any]) -> dict[str, Any]:
    """Return an item in the form of an expected one."""
    known = {
        "loc": item.loc,
        "lastmod": item.lastmod or "",
        "changefreq": getattr(item, "changefreq", None),
        "priority": f"{getattr(item, 'priority', 0.5):g}",
        "alternate": [href for _, href in getattr(item, "alternates", ())],
    }
    return {name: known[name] for name in like}


def test_documents() -> None:
    """Each document of the suites has the format, entries and fields that they expect."""
    wrong = {row["group"]: faults(row) for row in rows("sitemap_documents.jsonl") if faults(row)}

    assert set(wrong) == OTHER_HABITS


def test_variants() -> None:
    """Re-encoded and packed, a document lists the same addresses in the same order (SM-2, SM-22)."""
    cases = rows("sitemap_variants.jsonl.zst")
    wrong = [
        row["variant"]
        for row in cases
        if locs(sitemap.read(body_of(row), url=row["sitemap_url"])) != row["expected_locs"]
    ]

    assert len(cases) == 120
    assert wrong == []


def test_real_files() -> None:
    """Real files list what two other parsers find in them, images and videos apart."""
    for row in rows("sitemap_realworld.jsonl"):
        reference = row["reference"]
        if reference["scrapy_locs"] != [*reference["usp_urls"], *reference["usp_sub"]]:
            continue
        found = sitemap.read(unpacked(CASES / "realworld" / row["name"]), url="https://example.com/sitemap.xml")
        assert locs(found) == reference["scrapy_locs"]
        assert found.problems == ()
        assert sum(len(entry.images) for entry in found.entries) == reference["extension_elements"]["image:image"]


def test_locations_and_robots_lines() -> None:
    """The location rule, and sitemap lines joined to robots.txt's own address, come out as expected (SM-33, SM-44)."""
    for row in rows("sitemap_misc_cases.jsonl"):
        if row["op"] == "loc_allowed_by_sitemap_location":
            assert sitemap.in_location(row["loc"], row["sitemap_url"]) is row["expected"]
        else:
            named = robots.read(row["robots"].encode()).sitemaps
            assert [urls.parse(line, row["base"]).href.lower() for line in named] == [
                line.lower() for line in row["sitemaps"]
            ]


def pages_of(row: dict[str, Any]) -> list[sitemap.Entry]:
    """Follow a scenario's files from robots.txt and the well-known names; each file is read once."""
    answers = {answer["url"]: answer for answer in row["http"]}
    home = row["homepage"].rstrip("/") + "/"
    waiting = [home + "robots.txt", *(home + name for name in WELL_KNOWN)]
    seen: set[str] = set()
    pages: list[sitemap.Entry] = []
    while waiting:
        url = waiting.pop(0)
        answer = answers.get(url)
        if url in seen or answer is None:
            continue
        seen.add(url)
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        if "location" in headers:
            waiting.insert(0, headers["location"])
            continue
        content = answer["body"]
        body = base64.b64decode(content["b64"]) if "b64" in content else content.get("text", "").encode()
        if url.endswith("robots.txt"):
            waiting[:0] = robots.read(body).sitemaps
        elif answer["status"] == 200:
            found = sitemap.read(body, url=url)
            pages += found.entries
            waiting[:0] = [child.loc for child in found.children]
    return pages


def test_site_scenarios() -> None:
    """Whole sites, with cycles, cut files, bombs of entities and extensions, give exactly the expected pages."""
    checked = 0
    for row in rows("sitemap_site_scenarios.jsonl"):
        pages = pages_of(row) if "http" in row else list(sitemap.read(body_of(row), url="http://x.example/").entries)
        expected = row["expected_pages"]
        assert sorted(page.loc for page in pages) == sorted(page["url"] for page in expected), row["group"]
        found = {page.loc: page for page in pages}
        for page in expected:
            assert found[page["url"]].priority == float(page["priority"])
            assert list(found[page["url"]].images) == page.get("images", [])
        checked += 1

    assert checked == 17


def test_the_sample_of_the_article() -> None:
    """Listing 1 as it was printed: four entries, and one problem for each of its two defects (SM-12, SM-13)."""
    (article,) = (SHARED / "seeds").glob("002_*.txt")
    lines = article.read_text("utf-8").split("\n")
    first = next(number for number, line in enumerate(lines) if line.startswith("<?xml"))
    last = next(number for number, line in enumerate(lines) if "</urlset>" in line)
    body = "\n".join(lines[first - 1 : last + 1]).encode()
    found = sitemap.read(body, url="http://www.mycompany.com/sitemap.xml")

    assert [(entry.loc[24:], entry.lastmod, entry.changefreq, entry.priority) for entry in found.entries] == [
        ("/", "2006-08-07", "daily", 0.7),
        ("/products/", "2006-08-01", "weekly", 0.8),
        ("/news/", "2006-08-07", "weekly", 0.8),
        ("/archive/", "2006-05-01", "monthly", 0.3),
    ]
    assert [problem.kind for problem in found.problems] == ["late-declaration", "stray-tag"]
    assert sitemap.read(body, url="http://www.mycompany.com/sitemap.xml", strict=True).entries == ()
