"""``purlieu sitemap build`` as it is typed: from a run, a folder or lists, with robots.txt and submission on request."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu import sitemap
from purlieu.cli.main import main
from purlieu.sitemap import Entry
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import FakeWeb

KEY = "abcdef0123456789"
BASE = "https://docs.example.com/"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(here: Path) -> str:
    """Return the path of a store with one run."""
    crawl(FakeWeb({HOME: html("/a", "/gone"), f"{HOME}a": html()}), made_settings(here / "purlieu.db", {"name": "x"}))
    return "purlieu.db"


def entries(folder: Path | str) -> list[Entry]:
    """Return the entries of a folder's sitemap, file by file in the order of the index, read strictly."""
    index = sitemap.read((Path(folder) / "sitemap.xml").read_bytes(), url=BASE, strict=True)
    assert index.problems == ()
    found: list[Entry] = []
    for child in index.children:
        read = sitemap.read((Path(folder) / child.loc.rpartition("/")[2]).read_bytes(), url=child.loc, strict=True)
        assert read.problems == ()
        found += read.entries
    return found


def locs(folder: Path | str) -> list[str]:
    """Return the addresses of a folder's sitemap."""
    return [entry.loc for entry in entries(folder)]


def told(words: list[str], capsys: pytest.CaptureFixture[str], status: int = 0) -> dict[str, Any]:
    """Return what a build prints with ``--json``."""
    assert main(["sitemap", "build", *words, "--json"]) == status
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    return facts


# -- from a run ------------------------------------------------------------------------------------


def test_a_run_is_built_into_the_crawls_folder(store: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The files lie in OUTPUT/CRAWL/sitemap, the same for every run, and the list of what is left out beside them."""
    facts = told(["latest"], capsys)
    folder = here / "out" / "x" / "sitemap"
    assert Path(facts["folder"]) == folder
    assert locs(folder) == [HOME, f"{HOME}a"]
    assert (facts["entries"], facts["left_out"]) == (2, {"missing": 1})
    assert facts["files"] == facts["changed"] == ["sitemap-1.xml.gz", "sitemap.xml"]
    assert facts["sitemaps"] == [f"{HOME}sitemap.xml"]
    assert Path(facts["left_out_list"]) == here / "out" / "x" / "sitemap-left-out.csv"
    assert f"{HOME}gone,missing," in Path(facts["left_out_list"]).read_text(encoding="utf-8")


def test_the_terminal_tells_in_the_owners_language(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers, the index's address, and each reason with its sentence are shown."""
    assert main(["sitemap", "build", "1", "-o", "map"]) == 0
    out = capsys.readouterr().out
    assert "2 pages in 2 files in map" in out
    assert f"  {HOME}sitemap.xml" in out
    assert "missing  1  The server has no such page (404, 410)." in out
    assert main(["sitemap", "build", "1", "-o", "map", "--lang", "ja"]) == 0
    assert "ページがありません" in capsys.readouterr().out


def test_a_settings_file_brings_profiles(store: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A profile of ``-c`` is used for a run that was made without it; nothing selected writes nothing, with status 1 (IB-5)."""
    (here / "maps.toml").write_text('[[sitemap.profile]]\nname = "none"\nfilter_sections = true\n')
    facts = told(["1", "-c", "maps.toml", "--profile", "none"], capsys, status=1)
    assert (facts["entries"], facts["files"]) == (0, [])
    assert main(["sitemap", "build", "1", "-c", "maps.toml", "--profile", "none"]) == 1
    assert "No pages are available" in capsys.readouterr().out
    assert main(["sitemap", "build", "1", "--profile", "none"]) == 2


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ([], "RUN"),
        (["1", "--from-files", "."], "RUN"),
        (["--from-files", "."], "--base"),
        (["--from-files", "nowhere", "--base", BASE], "--from-files"),
        (["--from-list", "nowhere.csv"], "--from-list"),
        (["1", "--base", "docs.example.com"], "--base"),
        (["1", "--base", f"{BASE}?a=b"], "location"),
        (["1", "--ping", "nowhere"], "--ping"),
        (["1", "--indexnow", BASE], "--key"),
        (["1", "--indexnow", BASE, "--key", "../../x"], "--key"),
    ],
)
def test_mistakes_are_the_owners(store: str, words: list[str], key: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong in what was typed is told with its option and a remedy, with status 2, and nothing is written."""
    assert main(["sitemap", "build", *words]) == 2
    assert capsys.readouterr().err.startswith(f"purlieu: {key} = ")
    assert not Path("out").exists()


# -- robots.txt and submission ---------------------------------------------------------------------


def test_robots_txt_is_printed_or_updated(store: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--robots -`` prints the line; a file gets it once and keeps all else byte for byte (SM-44)."""
    assert main(["sitemap", "build", "1", "-o", "map", "--robots", "-"]) == 0
    assert capsys.readouterr().out.endswith(f"Sitemap: {HOME}sitemap.xml\n")
    assert told(["1", "-o", "map", "--robots", "-"], capsys)["sitemaps"] == [f"{HOME}sitemap.xml"]  # JSON alone
    before = b"User-agent: *\r\nDisallow: /x\r\n# \xff"
    (here / "robots.txt").write_bytes(before)
    for _ in range(2):
        assert main(["sitemap", "build", "1", "-o", "map", "--robots", "robots.txt"]) == 0
        assert (here / "robots.txt").read_bytes() == before + f"\r\nSitemap: {HOME}sitemap.xml\r\n".encode()
    assert main(["sitemap", "build", "1", "-o", "map", "--robots", "new.txt"]) == 0
    assert (here / "new.txt").read_bytes() == f"Sitemap: {HOME}sitemap.xml\n".encode()


@pytest.fixture
def engine() -> Iterator[Loopback]:
    """Give a server that records what is submitted; it takes all but /refuse."""

    async def answer(received: Received, out: asyncio.StreamWriter) -> bool:
        out.write(message(b"ok", status=403 if received.path == "/refuse" else 200))
        return True

    with Loopback(answer) as server:
        yield server


def test_nothing_is_submitted_by_default(store: str, engine: Loopback) -> None:
    """Only what the owner asks for is asked (SM-45, SM-74)."""
    assert main(["sitemap", "build", "1", "-o", "map"]) == 0
    assert engine.log == []


def test_an_address_is_pinged(store: str, engine: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    """A ping is one GET with the sitemap's address; 200 means received (SM-45)."""
    facts = told(["1", "-o", "map", "--ping", f"{engine.origin}/ping"], capsys)
    assert [(one.method, one.target) for one in engine.log] == [
        ("GET", "/ping?sitemap=http%3A%2F%2Fsite.test%2Fsitemap.xml")
    ]
    assert [(one["status"], one["taken"]) for one in facts["submitted"]] == [(200, True)]


def test_indexnow_is_told_what_moved(
    store: str, here: Path, engine: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """IndexNow gets new, changed and gone addresses in a POST, the key file is written, and nothing new asks nothing."""
    words = ["latest", "-o", "map", "--indexnow", f"{engine.origin}/indexnow", "--key", KEY]
    told(words, capsys)
    (asked,) = engine.log
    assert (asked.method, asked.target) == ("POST", "/indexnow")
    assert asked.headers["content-type"] == "application/json; charset=utf-8"
    assert json.loads(asked.body) == {
        "host": "site.test",
        "key": KEY,
        "keyLocation": f"{HOME}{KEY}.txt",
        "urlList": [HOME, f"{HOME}a"],
    }
    assert (here / "map" / f"{KEY}.txt").read_text() == KEY
    told(words, capsys)
    assert len(engine.log) == 1
    crawl(FakeWeb({HOME: html("/b"), f"{HOME}b": html()}), made_settings(here / "purlieu.db", {"name": "x"}))
    told(words, capsys)
    assert set(json.loads(engine.log[1].body)["urlList"]) == {f"{HOME}a", f"{HOME}b"}


def test_a_refused_submission_is_told(store: str, engine: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    """What is not taken gives status 1, that address is asked no more, and the files stand all the same."""
    pings = [word for path in ("refuse?a", "refuse?b", "ping") for word in ("--ping", f"{engine.origin}/{path}")]
    facts = told(["1", "-o", "map", *pings], capsys, status=1)
    assert [(one["status"], one["taken"]) for one in facts["submitted"]] == [(403, False), (200, True)]
    assert [one.path for one in engine.log] == ["/refuse", "/ping"]
    assert locs("map") == [HOME, f"{HOME}a"]


# -- from a folder ---------------------------------------------------------------------------------


def site(folder: Path) -> Path:
    """Write a small site of files."""
    pages = {
        "index.html": html(title="Home"),
        "guide/index.html": html(),
        "guide/über uns.html": html(),
        "guide/old.html": html(head='<meta http-equiv="refresh" content="0; url=/guide/">'),
        "copy.html": html(head=f'<link rel="canonical" href="{BASE}">'),
        "private/secret.html": html(head='<meta name="robots" content="noindex">'),
        "en.htm": html(head='<link rel="alternate" hreflang="en" href="en.htm"><link rel="alternate" hreflang="de" href="de/">'),
        "de/index.htm": html(head='<link rel="alternate" hreflang="en" href="../en.htm">'
                                  '<link rel="alternate" hreflang="de" href="./">'),
        "paper.pdf": "%PDF",
        "style.css": "",
        ".git/index.html": html(),
        "robots.txt": "User-agent: abot\nDisallow: /guide/\n",
    }  # fmt: skip
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (folder / "link.html").symlink_to(folder / "index.html")
    return folder


def test_a_folder_of_files_becomes_a_sitemap(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files are listed by the URL that serves them, index.html by its folder's, dated by their own time (issue 4)."""
    facts = told(["--from-files", str(site(here / "www")), "--base", BASE, "-o", "map"], capsys)
    found = entries("map")
    assert {entry.loc for entry in found} == {
        BASE, f"{BASE}guide/", f"{BASE}guide/%C3%BCber%20uns.html", f"{BASE}en.htm", f"{BASE}de/",
    }  # fmt: skip
    assert {entry.lastmod_at for entry in found} == {1_700_000_000}
    assert facts["left_out"] == {"redirected": 1, "canonical": 1, "noindex": 1, "document": 1}
    both = {("de", f"{BASE}de/"), ("en", f"{BASE}en.htm")}
    assert {entry.loc: set(entry.alternates) for entry in found if entry.alternates} == {
        f"{BASE}de/": both,
        f"{BASE}en.htm": both,
    }


def test_odd_names_of_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file's name is encoded byte by byte as a server is asked for it; pipes and loops of links are passed over."""
    folder = here / "www"
    folder.mkdir()
    for name in (b"\xff.html", b"a%20b.html", b"new\nline.html", b"#?.html", b'quote".html'):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(html(), encoding="utf-8")
    os.mkfifo(folder / "pipe.html")
    (folder / "loop").symlink_to(folder)
    told(["--from-files", str(folder), "--base", BASE, "-o", "map"], capsys)
    names = ("%FF.html", "a%2520b.html", "new%0Aline.html", "%23%3F.html", "quote%22.html")
    assert set(locs("map")) == {f"{BASE}{name}" for name in names}


def test_a_folder_is_built_by_a_profile(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A robot's profile heeds the folder's robots.txt, and parts and lastmod are the profile's (IB-6)."""
    (here / "maps.toml").write_text('[[sitemap.profile]]\nname = "a"\nrobot = "abot"\nparts = true\nlastmod = "none"\n')
    words = ["--from-files", str(site(here / "www")), "--base", BASE, "-o", "map", "-c", "maps.toml", "--profile", "a"]
    facts = told(words, capsys)
    assert set(locs("map")) == {BASE, f"{BASE}en.htm", f"{BASE}de/", f"{BASE}paper.pdf"}
    assert facts["left_out"]["robots"] == 2
    assert {entry.lastmod for entry in entries("map")} == {None}


# -- from lists ------------------------------------------------------------------------------------

SHOP = f"""url,lastmod,changefreq,priority,source
{BASE}a,2026-01-01,weekly,0.3,shop
{BASE}b,,,,shop
{BASE}both,2026-01-01,yearly,0.2,shop
"""
BLOG = [
    {"loc": f"{BASE}both", "lastmod": "2026-02-02T00:00:00Z", "changefreq": "daily", "priority": 0.9, "source": "blog"},
    {"loc": f"{BASE}c?x=1&y=2", "title": "not for sitemaps"},
    {"loc": "https://elsewhere.example/"},
]


def test_lists_of_several_sources_become_one_index(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each source has its files in one index; what two sources list is written once, whatever their order (SM-75)."""
    (here / "shop.csv").write_text(SHOP, encoding="utf-8-sig")
    (here / "my blog.jsonl").write_text("".join(json.dumps(row) + "\n" for row in BLOG), encoding="utf-8")
    (here / "more.csv").write_text(f"loc,priority\n{BASE}both,0.1\n")
    results = []
    for names in permutations(("shop.csv", "my blog.jsonl", "more.csv")):
        words = [word for name in names for word in ("--from-list", name)]
        facts = told([*words, "-o", "map", "--base", BASE], capsys)
        results.append(
            (
                {path.name: path.read_bytes() for path in Path("map").iterdir() if path.suffix == ".gz"},
                facts["left_out"],
            )
        )
    assert all(result == results[0] for result in results)
    assert set(results[0][0]) == {"sitemap-blog-1.xml.gz", "sitemap-my-blog-1.xml.gz", "sitemap-shop-1.xml.gz"}
    assert results[0][1] == {"duplicate": 2, "location": 1}
    found = {entry.loc: (entry.lastmod, entry.changefreq, entry.priority) for entry in entries("map")}
    assert found == {
        f"{BASE}both": ("2026-02-02T00:00:00Z", "daily", 0.9),
        f"{BASE}c?x=1&y=2": (None, None, 0.5),
        f"{BASE}a": ("2026-01-01", "weekly", 0.3),
        f"{BASE}b": (None, None, 0.5),
    }


def test_every_wrong_line_of_a_list_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong in a list is the owner's: each line with its number and what to write, and nothing is made."""
    (here / "a.csv").write_text(
        f"loc,lastmod,changefreq,priority\nnowhere,,,\n{BASE},soon,,\n{BASE},,often,\n{BASE},,,2\n"
    )
    (here / "b.csv").write_text("address\nx\n")
    (here / "c.jsonl").write_text("{\n[1]\n" + '{"loc": ["x"], "lastmod": {}}\n')
    words = [word for name in "abc" for word in ("--from-list", f"{name}.{'jsonl' if name == 'c' else 'csv'}")]
    assert main(["sitemap", "build", *words, "-o", "map"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" = ")[0] for line in lines] == [
        *(f"purlieu: a.csv: line {number}" for number in (2, 3, 4, 5)),
        "purlieu: b.csv: line 1",
        *(f"purlieu: c.jsonl: line {number}" for number in (1, 2, 3)),
    ]
    assert not Path("map").exists()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.csv", "url;priority\n{0}a,b;0.5\n", ["a,b"]),
        ("a.csv", "title\tloc\nx\t{0}a\n\t\n", ["a"]),
        ("a.csv", 'loc\n{0}a,b;c\n"{0}d"\n', ["a,b;c", "d"]),
        ("a.csv", 'loc,title\n{0}a,"x\n{0}y"\n{0}b,,\n', ["a", "b"]),
        ("a.txt", "\ufeff{0}a,b\r\n\r\n{0}c\r\n", ["a,b", "c"]),
        ("a.jsonl", '"{0}a"\n{{"URL": "{0}b"}}\n', ["a", "b"]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lists_as_programs_write_them(
    name: str, text: str, expected: list[str], encoding: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A list has any usual delimiter and byte order mark, and no address is cut at a comma (SM-75)."""
    (here / name).write_bytes(text.format(BASE).replace("\ufeff", "").encode(encoding))
    told(["--from-list", name, "-o", "map"], capsys)
    assert locs("map") == [f"{BASE}{path}" for path in expected]


def test_a_line_with_more_values_than_columns_is_a_mistake(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An address with a comma and without quotes is not taken for a shorter one: the line is told."""
    (here / "a.csv").write_text(f"loc,lastmod\n{BASE}a,b,2026-01-01\n")
    assert main(["sitemap", "build", "--from-list", "a.csv", "-o", "map"]) == 2
    assert "a.csv: line 2" in capsys.readouterr().err
    assert not Path("map").exists()
