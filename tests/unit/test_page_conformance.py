"""Pages against cases that nobody of this project wrote (../shared/conformance/html, where it is present).

What each suite expects beyond the standard is listed with its reason; everything else must be equal.
"""

from __future__ import annotations

import base64
import html
import json
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest
from tests.shared import CONFORMANCE

from purlieu import page, url
from purlieu.page import content, encoding, header, markup, scan, srcset
from purlieu.page.label import LABELS

zstandard = pytest.importorskip("zstandard", reason="the conformance files are packed with zstd")
CASES = CONFORMANCE / "html"
pytestmark = [
    pytest.mark.skipif(not CASES.is_dir(), reason="no ../shared/conformance/html beside the project"),
    pytest.mark.usefixtures("scanner"),
]

# w3lib reads a tag that does not end, and takes a refresh of the page itself for none; the standard does neither.
REFRESH_HABITS = {"o0004", "o0014"}
# The encoding after a script has run; this crawler's pages run none.
SCRIPTED = {"o0000"}
# What each link extractor does beyond the standard.
LINK_HABITS = {
    "heritrix3": {
        "o0021": "data-* attributes",
        "o0022": "data-* attributes",
        "o0023": "data-* attributes",
        "o0025": "og:video and the like",
        "o0026": "robots rules in the body, and nofollow drops the links at once",
        "o0029": "data-* attributes",
        "o0042": "fills forms in",
    },
    "nutch": {"o0047": "media sources"},
    "scrapy": {
        "o0059": "attrs=None",
        "o0073": "a callable reads scripts",
        "o0079": "tags=None",
        "o0085": "href on any element",
        "o0086": "any attribute",
        "o0087": "any attribute",
        "o0088": "href on any element",
    },
}
FILTERS = {"allow", "deny", "allow_domains", "deny_domains", "restrict_css", "restrict_xpaths"}  # scope's business
SCRAPY_KINDS = {"a": "a", "area": "area", "img": "image"}


def rows(name: str) -> list[dict[str, Any]]:
    """Read one JSON object a line, unpacked if need be."""
    raw = (CASES / name).read_bytes()
    if name.endswith(".zst"):
        raw = zstandard.ZstdDecompressor().stream_reader(raw).read()
    return [json.loads(line) for line in raw.splitlines()]


def body_of(row: dict[str, Any], field: str = "html") -> bytes:
    """Return a case's bytes."""
    if f"{field}_b64" in row:
        return base64.b64decode(row[f"{field}_b64"])
    return str(row.get(field, "")).encode(row.get("encoding") or "utf-8", "xmlcharrefreplace")


def read(row: dict[str, Any], address: str, **more: Any) -> page.Page:
    """Read a case's page in the encoding the case is in."""
    return page.read(
        body_of(row), url=address, content_type=f"text/html; charset={row.get('encoding') or 'utf-8'}", **more
    )


def pages() -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield what others found in each real page, and the page."""
    with (CASES / "pages.tar.zst").open("rb") as packed:
        stream = zstandard.ZstdDecompressor().stream_reader(packed)
        with tarfile.open(fileobj=stream, mode="r|") as tar:
            bodies = {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}  # type: ignore[union-attr]
    for row in rows("pages_reference.jsonl.zst"):
        yield row, bodies[f"pages/{row['file']}"]


def test_real_pages_have_the_same_links() -> None:
    """339 real pages give the links that an HTML parser with a tree finds in them."""
    wrong = {}
    for row, body in pages():
        found = page.read(body, url=row["url"])
        links = {link.url for link in found.links if link.kind in {"a", "area"} and link.url.startswith("http")}
        if odd := (links ^ set(row["links"])) - set(row["html5lib_missing"]) - set(row["html5lib_extra"]):
            wrong[row["file"]] = odd
        facts = row["facts"]
        if found.encoding == encoding.named(row["encoding"]) and facts["title"] is not None:
            assert (found.title or "").split() == facts["title"].split()
        if facts["lang"]:
            assert found.lang == facts["lang"].strip()

    assert wrong == {}


def test_link_extraction() -> None:
    """The link extractors of three crawlers agree, but for what is their habit or their filter."""
    seen = 0
    for row in rows("link_extraction.jsonl"):
        options, expect = row.get("options") or {}, row["expect"]
        habits = LINK_HABITS.get(row["source"])
        if habits is None or row["id"] in habits or FILTERS & options.keys():
            continue
        kinds = page.DEFAULT_KINDS if row["source"] == "scrapy" else page.ALL_KINDS
        tags = options.get("tags")
        if row["source"] == "scrapy" and tags and tags != "*":
            kinds = frozenset(
                SCRAPY_KINDS[tag] for tag in ([tags] if isinstance(tags, str) else tags) if tag in SCRAPY_KINDS
            )
        found = read(row, row["base"], kinds=kinds)
        links = [link.url for link in found.links if not (link.nofollow and options.get("rel_nofollow_skipped"))]
        links = [link for link in links if not link.startswith("data:")]
        wanted = [url.parse(link).href for link in expect.get("links", expect.get("contains", []))]
        if expect.get("exact"):
            assert links == list(dict.fromkeys(wanted)), row["id"]
        elif "count" in expect:
            assert len(links) == expect["count"], row["id"]
        assert set(wanted) <= set(links), row["id"]
        assert all(any(part in link for link in links) for part in expect.get("some_contains", [])), row["id"]
        if "title" in expect:
            assert (found.title or "") == expect["title"], row["id"]
        seen += 1

    assert seen > 40


def test_base_url() -> None:
    """The base of every case is the one expected (HTML 4.2.3)."""
    for row in rows("base_url.jsonl"):
        address = row["page_url"] or "http://none.test/"
        found = read({**row, "html": "<a href=''></a>" + row["html"]}, address)

        assert next(iter(found.links)).url == url.parse(row["expected_base"] or address).href, row["id"]


def test_meta_refresh() -> None:
    """Every case of the standard's suite is read as it says; w3lib's but for two habits (HTML 4.2.5.3)."""
    join = url.Joiner("http://example.com/dir/")
    for row in rows("meta_refresh.jsonl"):
        expected = row["expected"]
        if row["source"] == "wpt":
            got = header.refresh(row["content"])
            assert (got is None) == (expected is None), row["id"]
            if got:
                target = join(expected["url"]) if expected["url"] is not None else None
                assert (got[0], join(got[1]) if got[1] else None) == (expected["seconds"], target), row["id"]
        elif row["id"] not in REFRESH_HABITS:
            pair = (int(expected["seconds"]), expected["url_resolved"]) if expected else None
            assert read(row, row["page_url"]).refresh == pair, row["id"]


def test_encoding() -> None:
    """Pages of the html5lib and Nutch suites are in the encoding expected, and their titles come out right."""
    for row in rows("encoding.jsonl"):
        if "op" in row or row["id"] in SCRIPTED:
            continue
        found = page.read(body_of(row, "data"), url="http://example.com/")
        assert found.encoding == encoding.named(row["expected_encoding"]), row["id"]
        assert "expected_title" not in row or found.title == row["expected_title"], row["id"]


def test_kept_text_has_the_characters_of_its_page() -> None:
    """``keep = "text"``: no character of a real page's text is one that the page, decoded by Python, has not."""
    wrong = {}
    for row, body in pages():
        kept = content.read(body, page.read(body, url=row["url"]).encoding or "UTF-8")
        has = {*html.unescape(body.decode(row["encoding"], "replace")), *" \n\t•"}
        if odd := set(kept.text) - has:
            wrong[row["file"]] = odd

    assert wrong == {"readability/qq.html": {"€"}}, "0x80 is that in the standard's GBK"


def test_encoding_labels() -> None:
    """Every label means the encoding that the standard says."""
    expected = json.loads((CASES / "encoding_labels.json").read_bytes())

    assert {label: LABELS.get(label) for label in expected} == expected


def test_content_type() -> None:
    """Content types parse, and several fields combine, as Fetch says."""
    for row in rows("content_type.jsonl"):
        if "headers" in row:
            essence, charset = page.content_type_of([("Content-Type", value) for value in row["headers"]])
            expected = row["mime"]
        else:
            essence, charset = header.mime_type(row["input"]) or (None, None)
            expected = row["output"]
        assert essence == (expected.partition(";")[0] if expected else None), row["id"]
        assert encoding.named(charset) == encoding.named(row.get("encoding")), row["id"]


def test_robots_meta() -> None:
    """Robots rules in pages and headers come out as two other crawlers read them (ST-20)."""
    for row in rows("robots_meta.jsonl"):
        headers = [("X-Robots-Tag", value) for value in row.get("x_robots_tag", [])]
        found = read(row, row.get("page_url") or "http://example.com/", headers=headers)

        assert (found.noindex, found.nofollow) == (row["expected"]["noindex"], row["expected"]["nofollow"]), row["id"]


def test_srcset() -> None:
    """The first valid candidate of a srcset is the one the standard's suite expects."""
    for row in rows("srcset.jsonl"):
        assert [*srcset.candidates(row["srcset"]), ""][0].strip() == row["expected_src"].strip(), row["id"]


def test_tokens_and_references() -> None:
    """Attributes and character references of the html5lib suite come out as expected."""
    seen = 0
    for row in rows("tokenizer_entities.jsonl"):
        output = row.get("output")
        if row.get("initialStates") or not isinstance(output, list):
            continue
        if "<" not in row["input"] and all(token[0] == "Character" for token in output):
            assert markup.unescaped(row["input"]) == "".join(token[1] for token in output), row["id"]
            seen += 1
        elif [token[0] for token in output] == ["StartTag"]:
            found: list[markup.Element | markup.PlainLinks] = []
            plain = scan.read(row["input"].encode(), "UTF-8", frozenset((output[0][1],)), found.extend)[-1]
            (element,) = found
            if isinstance(element, int):
                ((href, *_),) = scan.native().resolve("", {element: False}, lambda written: written, 0, 99, plain)
                told: object = "a", {"href": href}
            else:
                told = ("a", {"href": next(iter(element))}) if isinstance(element, dict) else element[:2]
            assert told == (output[0][1], output[0][2]), row["id"]
            seen += 1

    assert seen > 200
