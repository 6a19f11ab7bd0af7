"""``purlieu sitemap check``, ``tree`` and ``diff`` as they are typed (house.md, public faces)."""

from __future__ import annotations

import asyncio
import csv
import gzip
import io
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings
from tests.shared import SHARED

from purlieu.cli.main import main
from purlieu.cli.sitemap_diff import Said, Sorter
from purlieu.sitemap import Entry
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import FakeWeb

NS = "http://www.sitemaps.org/schemas/sitemap/0.9"
LISTING_1 = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="{NS}">
  <url><loc>http://www.mycompany.com/</loc><lastmod>2006-08-07</lastmod><changefreq>daily</changefreq><priority>0.7</priority></url>
  <url><loc>http://www.mycompany.com/products/</loc><lastmod>2006-08-01</lastmod><changefreq>weekly</changefreq><priority>0.8</priority></url>
  <url><loc>http://www.mycompany.com/news/</loc><lastmod>2006-08-07</lastmod><changefreq>weekly</changefreq><priority>0.8</priority></url>
  <url><loc>http://www.mycompany.com/archive/</loc><lastmod>2006-05-01</lastmod><changefreq>monthly</changefreq><priority>0.3</priority></url>
</urlset></xml>
"""
SEED = "002_26588bf404edfc4c.txt"


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[Any]]:
    """Run a command and return its status and the JSON objects it printed."""
    status = main(["sitemap", *words])
    return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(name="listing")
def listing_1(tmp_path: Path) -> str:
    """Return the path of the article's listing 1."""
    path = tmp_path / "listing1.xml"
    path.write_text(LISTING_1, encoding="utf-8")
    return str(path)


@pytest.fixture(name="served")
def served_site() -> Iterator[str]:
    """Give the origin of a served site: a sitemap whose entries end in different ways."""

    async def give(received: Received, out: asyncio.StreamWriter) -> bool:
        origin = f"http://{received.headers['host']}"
        listed = ("good", "moved", "gone", "robots-out", "hidden")
        entries = "".join(f"<url><loc>{origin}/{one}</loc></url>" for one in listed)
        pages = {
            "/robots.txt": message(b"User-agent: *\nDisallow: /robots-out", headers={"Content-Type": "text/plain"}),
            "/sitemap.xml": message(f'<urlset xmlns="{NS}">{entries}</urlset>'.encode()),
            "/good": message(b"<title>good</title>words"),
            "/hidden": message(b'<meta name="robots" content="noindex">words'),
            "/moved": message(status=301, headers={"Location": "/good"}),
        }
        out.write(pages.get(received.path) or message(status=404))
        return True

    with Loopback(give) as site:
        yield site.origin


def test_listing_1_reads_leniently_and_fails_strictly(listing: str, capsys: pytest.CaptureFixture[str]) -> None:
    """SM-12, SM-13: the stray tag is one problem and the four entries count; read strictly the file is invalid."""
    status, (told,) = asked(capsys, "check", listing, "--json")
    assert (status, told["entries"], told["valid"]) == (0, 4, True)
    assert [(one["file"], one["line"], one["kind"]) for one in told["problems"]] == [(listing, 7, "stray-tag")]
    assert told["problems"][0]["sentence"] == "</xml> closes nothing: remove it."

    status, (told,) = asked(capsys, "check", listing, "--strict", "--json")
    assert (status, told["entries"], told["valid"]) == (1, 0, False)


@pytest.mark.skipif(not (SHARED / "seeds" / SEED).exists(), reason="the seeds are not beside the checkout")
def test_listing_1_as_the_article_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SM-12: with the white space before the declaration there are two problems, and still four entries."""
    text = (SHARED / "seeds" / SEED).read_text(encoding="utf-8")
    start, end = text.index("<?xml"), text.index("</xml>") + len("</xml>")
    (tmp_path / "as-printed.xml").write_text("\n     " + text[start:end], encoding="utf-8")

    status, (told,) = asked(capsys, "check", str(tmp_path / "as-printed.xml"), "--json")

    assert (status, told["entries"]) == (0, 4)
    assert [one["kind"] for one in told["problems"]] == ["late-declaration", "stray-tag"]


def test_what_only_a_strict_reader_finds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that lenient reading has nothing to say of, and strict reading refuses, says how to learn why."""
    path = tmp_path / "control.xml"
    path.write_text(f'<urlset xmlns="{NS}"><url><loc>http://a.test/\x01</loc></url></urlset>', encoding="utf-8")

    assert main(["sitemap", "check", str(path)]) == 0
    assert capsys.readouterr().out.endswith(
        "Read strictly: not valid.\nWhat is wrong strictly is told with --strict.\n"
    )
    status, (told,) = asked(capsys, "check", str(path), "--strict", "--json")
    assert (status, [one["kind"] for one in told["problems"]]) == (1, ["xml"])


def test_a_check_speaks_the_language_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong and the sums are said in the language of --lang, else in that of the settings; codes stay."""
    (tmp_path / "s.xml").write_text(f'<urlset xmlns="{NS}"><url><priority>9</priority></url></urlset>', "utf-8")
    (tmp_path / "p.toml").write_text('language = "zh"', "utf-8")
    assert main(["sitemap", "check", str(tmp_path / "s.xml"), "--lang", "ja"]) == 1
    told = capsys.readouterr().out
    assert "行目: no-loc: <loc> のないエントリがあります。" in told
    assert "寛容な読み方" in told
    main(["sitemap", "check", str(tmp_path / "s.xml"), "-c", str(tmp_path / "p.toml")])
    assert "某条目没有 <loc>" in capsys.readouterr().out
    _, (facts,) = asked(capsys, "check", str(tmp_path / "s.xml"), "--json", "--lang", "ja")
    assert facts["problems"][0]["sentence"].startswith("<loc> のない")


def test_where_a_file_will_stand(listing: str, capsys: pytest.CaptureFixture[str]) -> None:
    """SM-30: with --url the location rule is asked of a file too; without there is no place to measure by."""
    status, (told,) = asked(capsys, "check", listing, "--url", "http://www.mycompany.com/news/s.xml", "--json")

    assert status == 1
    assert [one["kind"] for one in told["problems"]] == ["stray-tag", "location", "location", "location"]


def test_stdin_and_gzip(
    listing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dash is stdin, and gzip is known by its first bytes."""
    packed = gzip.compress(Path(listing).read_bytes())
    (tmp_path / "packed.xml.gz").write_bytes(packed)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))

    assert asked(capsys, "check", "-", "--json")[1][0]["entries"] == 4
    assert asked(capsys, "check", str(tmp_path / "packed.xml.gz"), "--json")[1][0]["entries"] == 4


def test_a_local_index_finds_its_files_beside_it(
    listing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SM-75: of an index that lies in a folder the files beside it are read, in the index's order."""
    children = "".join(
        f"<sitemap><loc>http://www.mycompany.com/{name}</loc></sitemap>" for name in ("listing1.xml", "b.xml")
    )
    (tmp_path / "b.xml").write_text(f'<urlset xmlns="{NS}"><url><loc>http://www.mycompany.com/b</loc></url></urlset>')
    (tmp_path / "index.xml").write_text(f'<sitemapindex xmlns="{NS}">{children}</sitemapindex>', encoding="utf-8")

    status, (told,) = asked(capsys, "check", str(tmp_path / "index.xml"), "--json")

    assert (status, told["entries"]) == (0, 5)
    assert [one["kind"] for one in told["files"]] == ["index", "urlset", "urlset"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere.xml"], 'SITEMAP = "nowhere.xml": the file cannot be read'),
        (["ftp://a.test/"], 'SITEMAP = "ftp://a.test/": write a whole URL'),
        (["-", "--url", "a.test"], '--url = "a.test": write a whole URL'),
    ],
)
def test_the_owners_mistakes(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be read or asked for is the owner's mistake: status 2, and what to write instead."""
    assert main(["sitemap", "check", *words]) == 2
    assert says in capsys.readouterr().err


def test_check_by_url_tells_every_fate(served: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With --crawl every entry is asked for and tells how it ended, robots.txt obeyed."""
    status, (told,) = asked(capsys, "check", f"{served}/sitemap.xml", "--crawl", "--json")

    assert (status, told["entries"], told["problems"]) == (0, 5, [])
    fates = {one["url"].removeprefix(served): f"{one['kind']}.{one['reason']}" for one in told["fates"]}
    assert fates["/good"] == fates["/hidden"] == "fetched.ok"
    assert fates["/moved"].startswith("redirected.")
    assert fates["/gone"].startswith("missing.")
    assert fates["/robots-out"] == "excluded.robots"
    assert [one["index_reason"] for one in told["fates"] if one["url"].endswith("/hidden")] == ["noindex"]

    assert main(["sitemap", "check", f"{served}/sitemap.xml", "--crawl"]) == 0
    text = capsys.readouterr().out
    assert "5 entries in 1 file, 0 problems." in text
    assert f"{served}/gone" in text
    assert f"  {served}/good" not in text


def test_entries_that_do_not_count_are_not_asked_for(
    served: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SM-30: what the location rule leaves out is told as such and never asked for, so no file leads elsewhere."""
    (tmp_path / "s.xml").write_text(
        f'<urlset xmlns="{NS}"><url><loc>{served}/good</loc></url></urlset>', encoding="utf-8"
    )

    words = ["check", str(tmp_path / "s.xml"), "--url", "http://else.test/s.xml", "--crawl", "--json"]
    _, (told,) = asked(capsys, *words)

    assert [(one["kind"], one["reason"]) for one in told["fates"]] == [("excluded", "sitemap_location")]


def test_tree_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file is shown as sections with their entries and newest lastmod, down to the depth asked for."""
    entries = "".join(
        f"<url><loc>https://a.test/{path}</loc><lastmod>2026-0{n + 1}-05</lastmod></url>"
        for n, path in enumerate(("news/x", "news/2026/y", "shop/z", ""))
    )
    (tmp_path / "s.xml").write_text(f'<urlset xmlns="{NS}">{entries}</urlset>', encoding="utf-8")

    assert main(["sitemap", "tree", str(tmp_path / "s.xml"), "--depth", "1"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].split() == ["SECTION", "ENTRIES", "NEWEST", "NOTES"]
    assert [line.split() for line in lines[1:]] == [
        ["https://a.test/", "4", "2026-04-05"], ["news/", "2", "2026-02-05"], ["shop/", "1", "2026-03-05"],
    ]  # fmt: skip


def test_tree_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run tells of each section what is in the sitemap and not linked, the other way round, redirecting or failing."""
    listed = "".join(f"<url><loc>{HOME}{path}</loc></url>" for path in ("", "a/1", "a/lost", "b/gone"))
    web = FakeWeb(
        {
            f"{HOME}robots.txt": f"Sitemap: {HOME}s.xml",
            f"{HOME}s.xml": f'<urlset xmlns="{NS}">{listed}</urlset>',
            HOME: html("/a/1", "/c/2"),
            **{f"{HOME}{path}": html() for path in ("a/1", "a/lost", "c/2")},
        }
    )
    crawl(web, made_settings(tmp_path / "s.db"))

    _, told = asked(capsys, "tree", "latest", "--store", str(tmp_path / "s.db"), "--json")
    by_section = {one["section"].removeprefix(HOME): one for one in told}

    assert list(by_section) == ["", "a/", "b/", "c/"]
    assert (by_section[""]["entries"], by_section[""]["in_sitemap"], by_section[""]["unlinked"]) == (5, 4, 2)
    assert (by_section["a/"]["unlinked"], by_section["b/"]["failing"], by_section["c/"]["unlisted"]) == (1, 1, 1)


def test_diff(listing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was added, removed or changed in lastmod, changefreq or priority, as text, JSON and CSV."""
    text = LISTING_1.replace("2006-05-01", "2007-05-01").replace("0.3", "0.0").replace("/news/", "/neu/")
    (tmp_path / "b.xml").write_text(text, encoding="utf-8")
    words = ["diff", listing, str(tmp_path / "b.xml")]

    assert main(["sitemap", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[0] == "changed  http://www.mycompany.com/archive/  lastmod 2006-05-01 -> 2007-05-01, priority 0.3 -> 0.0"
    )
    assert lines[1:] == [
        "added    http://www.mycompany.com/neu/", "removed  http://www.mycompany.com/news/", "1 added, 1 removed, 1 changed.",
    ]  # fmt: skip

    _, told = asked(capsys, *words, "--json")
    assert [one["change"] for one in told[:-1]] == ["changed", "added", "removed"]
    assert told[-1] == {"added": 1, "removed": 1, "changed": 1}
    main(["sitemap", *words, "--csv"])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (rows[0]["lastmod_before"], rows[0]["lastmod_after"]) == ("2006-05-01", "2007-05-01")


def test_diff_of_more_than_fits_into_memory() -> None:
    """What is sorted in several parts on disk comes out as what is sorted in memory; of one address the first counts."""
    locs = [f"http://a.test/{n * 7 % 10}" for n in range(12)]

    def rows(most: int) -> list[Said]:
        with ExitStack() as held:
            sorter = Sorter(held, normal=False, most=most)
            for number, loc in enumerate(locs):
                sorter.add(Entry(loc, lastmod=str(number)))
            return list(sorter.rows())

    assert rows(3) == rows(100)
    assert [said.url for said in rows(3)] == sorted(set(locs))
    assert next(said.lastmod for said in rows(3) if said.url == locs[0]) == "0"


def test_diff_of_a_run_and_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run stands for what its sitemaps said; addresses of a file are then written as a run writes them."""
    before = "".join(f"<url><loc>{HOME}{path}</loc><lastmod>2026-01-01</lastmod></url>" for path in ("a", "ü", "old"))
    after = "".join(
        f"<url><loc>HTTP://SITE.test:80/{path}</loc><lastmod>2026-01-01</lastmod></url>" for path in ("a", "ü", "new")
    )
    pages = {
        f"{HOME}robots.txt": f"Sitemap: {HOME}s.xml",
        f"{HOME}s.xml": f'<urlset xmlns="{NS}">{before}</urlset>',
        HOME: html(),
    }
    crawl(FakeWeb(pages), made_settings(tmp_path / "s.db"))
    (tmp_path / "after.xml").write_text(f'<urlset xmlns="{NS}">{after}</urlset>', encoding="utf-8")

    words = ["site.test@last", str(tmp_path / "after.xml"), "--store", str(tmp_path / "s.db"), "--json"]
    _, told = asked(capsys, "diff", *words)

    assert [(one["change"], one["url"]) for one in told[:-1]] == [("added", f"{HOME}new"), ("removed", f"{HOME}old")]
