"""``purlieu search``: the words of what pages say, found and kept up to date."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.cli.main import main
from purlieu.report import pruning
from purlieu.report.search import Found, crawls, prepare, search
from purlieu.store import crawls as crawl_store
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.serve import ServedFolder
from purlieu.testing.web import FakeWeb


def look(store: Path, text: str, most: int = 10) -> Found:
    """Return what is found in the crawl of a store that ran last."""
    database = SqliteDatabase.reader(str(store))
    try:
        return search(database, str(store), crawls(database)[0][0], text, most)
    finally:
        database.close()


def found(store: Path, text: str) -> list[str]:
    """Return the names of the pages that are found, by name."""
    return sorted(hit.url.removeprefix(HOME) for hit in look(store, text).hits)


def site(**pages: Any) -> FakeWeb:
    """Return a web of pages and a home page that links to them."""
    made = {f"{HOME}{name}": page for name, page in pages.items()}
    return FakeWeb({HOME: html(*pages, title="Home", body="the home page"), **made})


TEXT = {"keep": "text", "traps": {"soft_404": False}}
LONG = "words of no interest to anybody who reads this page at all, "


def test_pages_are_found_by_words_of_any_length_and_script(tmp_path: Path) -> None:
    """All words must stand in a page; one and two characters, Japanese, Chinese and full-width letters are found."""
    store = tmp_path / "s.db"
    pages = {
        "one": html(title="Alpha", body=f"<p>{LONG}the os module"),
        "two": html(title="レイヤー", body="<p>選択範囲を作成する。背景色"),
        "three": html(title="图像", body="<p>编辑图像的软件 ＲＧＢ"),
    }
    crawl(site(**pages), made_settings(store, TEXT))
    assert found(store, "alpha module") == ["one"]
    assert found(store, "os") == ["one"]
    assert found(store, "選択範囲") == found(store, "色") == found(store, "作成 選択") == ["two"]
    assert found(store, "图像") == found(store, "rgb") == ["three"]
    assert found(store, '"the os"') == ["one"]
    assert found(store, "alpha 図形") == ["one"]
    assert not look(store, "alpha 図形").has_all
    assert found(store, "zzz") == found(store, "") == []


HOSTILE = ['"', "'; DROP TABLE page", "title:alpha*", "a" * 1000, "NOT", "(" * 900, "\x00", "\udce9 x", "-alpha", '" OR "',
           "色" * 1000, " ".join("abcdefghij" * 9)]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_question_is_taken_for_syntax(tmp_path: Path, text: str) -> None:
    """What has a meaning to the index is looked for as text, and raises nothing."""
    store = tmp_path / "s.db"
    crawl(site(one=html(title="Alpha")), made_settings(store, TEXT))
    assert look(store, text).number <= 2


def test_the_words_follow_the_crawl(tmp_path: Path) -> None:
    """What changed is found by its new words, what is gone or may no longer be searched is not found."""
    store = tmp_path / "s.db"
    closed = html(title="zeta", body="closed", head='<meta name="robots" content="noindex">')
    pages: dict[str, Any] = {
        name: html(title=name, body=f"<p>{name} oldwords") for name in ("stays", "changes", "goes", "closes")
    }
    settings = made_settings(store, TEXT)
    crawl(site(**pages, never=closed), settings)
    assert found(store, "oldwords") == ["changes", "closes", "goes", "stays"]
    assert found(store, "zeta") == []
    pages |= {"changes": html(title="changes", body="<p>newwords"), "goes": 404, "closes": closed}
    pages["comes"] = html(title="comes", body="<p>newwords")
    crawl(site(**pages), settings, FakeClock(START + 86_400))
    assert found(store, "newwords") == ["changes", "comes"]
    assert found(store, "oldwords") == ["stays"]
    # As a search that has no index yet.
    for file in (tmp_path / "s.db.search").iterdir():
        file.unlink()
    assert found(store, "newwords") == ["changes", "comes"]
    assert found(store, "oldwords") == ["stays"]


def test_words_are_taken_in_some_at_a_time(tmp_path: Path) -> None:
    """What is taken in so far can be searched and says that it is not whole; one that was broken off is gone on with."""
    store = tmp_path / "s.db"
    crawl(site(**{f"p{n}": html(title=f"p{n}", body="<p>meanwhile") for n in range(7)}), made_settings(store, TEXT))
    database = SqliteDatabase.reader(str(store))
    seen: list[tuple[int, int, bool, int]] = []

    def told(done: int, stands: int) -> None:
        so_far = search(database, str(store), 1, "meanwhile", 10, as_it_is=True)
        seen.append((done, stands, so_far.is_whole, so_far.pages))
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(str(store), 1, told=told, at_once=3)
    assert seen == [(3, 8, False, 3), (6, 8, False, 6)]
    prepare(str(store), 1, told=lambda done, stands: seen.append((done, stands, False, 0)))
    assert seen[2:] == [(8, 8, False, 0)]
    whole = search(database, str(store), 1, "meanwhile", 10, as_it_is=True)
    database.close()
    assert (whole.is_whole, whole.number) == (True, 7)


@pytest.mark.parametrize("how", ["prune", "forget"])
def test_a_removed_crawl_leaves_no_words(how: str, tmp_path: Path) -> None:
    """R-8.4: with a crawl that its owner removed goes what was made for searches of it, and nothing else."""
    store = tmp_path / "s.db"
    for name in ("goes", "stays"):
        crawl(site(one=html(title="Alpha")), made_settings(store, TEXT | {"name": name}))
        prepare(str(store), {"goes": 1, "stays": 2}[name])
    database = SqliteDatabase.writer(str(store))
    assert crawl_store.remove(database, 1, START, is_free=True)
    database.close()
    folder = tmp_path / "s.db.search"
    (folder / "notes.txt").write_text("not ours", encoding="utf-8")
    pruning.prune(str(store), START) if how == "prune" else pruning.forget(str(store))
    assert sorted(path.name for path in folder.iterdir()) == ["2-1.search", "notes.txt"]


@pytest.mark.parametrize("damage", ["no index", "no folder"])
def test_an_index_that_cannot_be_used_does_no_harm(tmp_path: Path, damage: str) -> None:
    """A damaged file is made anew; where none can be written, the words lie in memory."""
    store = tmp_path / "s.db"
    crawl(site(one=html(title="Alpha")), made_settings(store, TEXT))
    folder = tmp_path / "s.db.search"
    if damage == "no folder":
        folder.write_bytes(b"a file")
        assert found(store, "alpha") == ["one"]
        return
    assert found(store, "alpha") == ["one"]
    for file in list(folder.iterdir()):
        file.write_bytes(b"damaged" * 2_000)
    assert found(store, "alpha") == ["one"]
    assert found(store, "alpha") == ["one"]


def test_the_command_tells_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object a page with its marks; no escape of a page's own reaches the terminal; nothing found is status 1."""
    store = tmp_path / "s.db"
    crawl(site(one=html(title="Alpha \x1b[31mred", body="<p>the alpha of it")), made_settings(store, TEXT))
    assert main(["search", "ALPHA", "--store", str(store), "--json"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["url"] == f"{HOME}one"
    assert [row["excerpt"][start:end] for start, end in row["marks"]] == ["alpha"]
    assert [row["title"][start:end] for start, end in row["title_marks"]] == ["Alpha"]
    assert main(["search", "alpha", "--store", str(store)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 of 2 pages of ")
    assert "\x1b" not in out
    assert main(["search", "zzz", "--store", str(store), "--lang", "ja"]) == 1
    assert "ページはありません" in capsys.readouterr().out


MISTAKES = {
    "nothing": [""],
    "stops": ["?!..."],
    "long": ["word " * 2_000],
    "most": ["alpha", "--most", "0"],
    "crawl": ["alpha", "--crawl", "none"],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_cannot_be_looked_for_is_a_sentence(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No words, too many characters, a wrong number or crawl: one line with a remedy, status 2."""
    store = tmp_path / "s.db"
    crawl(site(one=html(title="Alpha")), made_settings(store, TEXT))
    assert main(["search", *MISTAKES[name], "--store", str(store)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("purlieu: ")


def test_a_crawl_that_keeps_no_text_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The owner is told how to keep what pages say."""
    store = tmp_path / "s.db"
    crawl(site(one=html(title="Alpha")), made_settings(store))
    assert main(["search", "alpha", "--store", str(store)]) == 2
    assert "--keep text" in capsys.readouterr().err


FIRST = {
    "/usr/share/doc/python3.11/html": {
        "asyncio event loop": ["asyncio-eventloop.html", "asyncio-dev.html"],
        "argparse": ["argparse.html", "argparse.html"],
        "os": ["os.html", "os.path.html"],
    },
    "/usr/share/gimp/2.0/help/ja": {
        "選択範囲の作成": ["gimp-using-selections.html"],
        "レイヤーグループ": ["gimp-layer-groups.html"],
        "選択": ["key-reference-select.html", "gimp-tools-selection.html"],
    },
}


@pytest.mark.parametrize("root", FIRST)
def test_a_manual_answers_sensibly(root: str, tmp_path: Path) -> None:
    """The first pages for a question are those about it, in English and in Japanese."""
    if not Path(root).is_dir():
        pytest.skip(f"the Debian package of {root} is not installed")
    store = tmp_path / "s.db"
    with ServedFolder(root, charset="utf-8") as served:
        command = ["crawl", f"{served.url}index.html", "--store", str(store), "--keep", "text", "-q"]
        assert main([*command, "--output", str(tmp_path / "out")]) == 0
    for question, wanted in FIRST[root].items():
        hits = [hit.url.rpartition("/")[2] for hit in look(store, question, len(wanted)).hits]
        assert hits == wanted, question
    # Every one of the first pages about レイヤー has it in its title.
    if "gimp" in root:
        assert all("レイヤー" in hit.title.text for hit in look(store, "レイヤー", 10).hits)
