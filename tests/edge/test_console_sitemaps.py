"""The sitemap utility of the console: profiles, files to download or in the allowed folder, and foreign sitemaps."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator
from html import unescape
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from tests.edge.test_console import BASE, DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu.console.parts import Terms
from purlieu.errors import SettingsError
from purlieu.report.sitemap_profiles import text_with, text_without
from purlieu.settings import ProfileSettings, read
from purlieu.sitemap import read as read_sitemap

TOML = '# ours\nseeds = ["https://a.test/"]\n\n[[sitemap.profile]]\nname = "old"\nparts = true\n\n[limits]\nmax_depth = 3\n'
HEAD = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'


class Desk(Console):
    """A console whose forms are sent as a browser sends them."""

    def send(self, path: str, status: int = 200, files: Any = None, **fields: str) -> Any:
        """Send a form and return the page at the end of it, once it is there."""
        data = {"form_key": self.form_key(), **fields}
        answer = self.client.post(path, data=data, files=files, headers={"origin": BASE})
        for _ in range(100):
            if answer.status_code != HTTPStatus.ACCEPTED:
                break
            answer = self.client.get(str(answer.url))
        assert answer.status_code == status, answer.text
        return answer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with pages that may be in a sitemap and some that may not."""
    made = MadeStore(tmp_path / "made.db")
    made.update_run(config="hash of ours")
    made.insert("config", hash="hash of ours", toml=TOML)
    for path in ("", "news/one", "news/two", "shop/"):
        made.page(f"https://a.test/{path}", title="<b>A page</b>")
    made.page("https://a.test/gone", "missing.not_found", 404)
    made.page("https://a.test/hidden", index_reason="noindex")
    yield made
    made.close()


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Return the folder that sitemaps may be written to."""
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def desk(store: MadeStore, served: Path) -> Desk:
    """Return a console that may write there, and open no private network."""
    return Desk(store, HandClock(STARTED_AT + DAY), terms=Terms(private=False, sitemap_folder=str(served)))


def locs(body: bytes) -> set[str]:
    """Return the pages of a sitemap file."""
    return {one.loc.removeprefix("https://a.test/") for one in read_sitemap(body, url="https://a.test/s.xml").entries}


def test_a_sitemap_is_downloaded(desk: Desk) -> None:
    """A small sitemap comes as one XML file with the public pages, and what is left out is told by reason (IB-6)."""
    answer = desk.send("/runs/1/sitemap/make", what="download", name="public", gzip="on", lastmod="content")
    assert "noindex" in answer.text
    sent = desk.client.get(f"{answer.url.path}/file")
    assert 'filename="sitemap.xml"' in sent.headers["content-disposition"]
    assert locs(sent.content) == {"", "news/one", "news/two", "shop/"}
    assert b"expir" not in sent.content  # IB-8
    listed = desk.client.get(f"{answer.url.path}/left-out").text
    assert "https://a.test/hidden,noindex" in listed


def test_the_filter_is_what_goes_in(desk: Desk) -> None:
    """Only the selected sections go in (IB-4); with the filter on and none selected, none does, and that is said (IB-5)."""
    some = desk.send("/runs/1/sitemap/make", what="download", name="public", filter_sections="on", sections="/news/")
    assert locs(desk.client.get(f"{some.url.path}/file").content) == {"news/one", "news/two"}
    none = desk.send("/runs/1/sitemap/make", what="download", name="public", filter_sections="on")
    assert "No pages are available" in none.text
    assert desk.client.get(f"{none.url.path}/file").status_code == HTTPStatus.NOT_FOUND


def test_the_tree_hands_its_filter_on(desk: Desk) -> None:
    """What the tree was filtered by stands in the form that makes its sitemap (IB-6)."""
    tree = desk.page("/runs/1/tree?filter=on&section=https://a.test/news/")
    link = re.search(r'href="(/runs/1/sitemap\?[^"]+)"', tree)
    assert link
    form = desk.page(link[1].replace("&amp;", "&"))
    assert re.search(r'name="filter_sections" value="on" checked', form)
    assert re.search(r'name="sections"[^>]*>https://a\.test/news/', form)


def test_many_files_come_as_one(desk: Desk, store: MadeStore) -> None:
    """A sitemap of several files comes with its index in one archive."""
    store.connection.execute("BEGIN")
    for number in range(50_001):
        store.page(f"https://a.test/all/{number}")
    store.connection.execute("COMMIT")
    answer = desk.send("/runs/1/sitemap/make", what="download", name="public", gzip="on")
    sent = desk.client.get(f"{answer.url.path}/file")
    names = zipfile.ZipFile(io.BytesIO(sent.content)).namelist()
    assert names[-1] == "sitemap.xml"
    assert len(names) == 3


def test_a_sitemap_is_written_to_the_allowed_folder(desk: Desk, served: Path) -> None:
    """Files are put into the folder that was allowed, whole, and an unchanged run touches none of them again."""
    assert str(served) in desk.send("/runs/1/sitemap/make", what="write", name="public").text
    before = {path.name: path.stat().st_mtime_ns for path in served.iterdir()}
    assert "sitemap.xml" in before
    assert "no file was touched" in desk.send("/runs/1/sitemap/make", what="write", name="public").text
    assert {path.name: path.stat().st_mtime_ns for path in served.iterdir()} == before
    assert [json.loads(line)["action"] for line in desk.audit.read_text().splitlines()] == ["sitemap_write"] * 2


def test_no_folder_but_the_allowed_one(store: MadeStore, tmp_path: Path) -> None:
    """Where no folder is allowed nothing is written; a form cannot name one, nor a file outside of it."""
    desk = Desk(store, HandClock(STARTED_AT + DAY))
    assert 'value="write"' not in desk.page("/runs/1/sitemap")
    desk.send("/runs/1/sitemap/make", 403, what="write", name="public", folder=str(tmp_path / "other"))
    assert not (tmp_path / "other").exists()
    desk.send("/runs/1/sitemap/make", 400, what="download", name="public", file="../../evil")


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_a_folder_that_cannot_be_written_keeps_its_files(desk: Desk, served: Path, language: str) -> None:
    """A clear page says that nothing was made, in the reader's language, and the old files stay (issue 6)."""
    desk.client.headers["accept-language"] = language
    desk.send("/runs/1/sitemap/make", what="write", name="public")
    old = (served / "sitemap.xml").read_bytes()
    (served / ".sitemap-1.xml.part").mkdir()  # what stands where a new file would be written
    answer = desk.send("/runs/1/sitemap/make", 409, what="write", name="public", file="sitemap")
    assert {"en": "was not made", "ja": "作られませんでした", "zh": "未生成"}[language] in answer.text
    assert "Traceback" not in answer.text
    assert (served / "sitemap.xml").read_bytes() == old


def test_mistakes_are_told_all_at_once(desk: Desk) -> None:
    """A profile that makes no sense comes back with every mistake, and what was typed is kept."""
    answer = desk.send(
        "/runs/1/sitemap/make", 400, what="keep", name="new", location="nowhere", priority="/a/ 7", include="["
    )
    assert answer.text.count('class="problem"') >= 2
    assert 'value="nowhere"' in answer.text


def test_a_profile_is_kept_chosen_and_removed(desk: Desk, store: MadeStore) -> None:
    """A profile is kept in the crawl's settings beside the others, chosen by name, and removed again (IB-6)."""
    desk.send(
        "/runs/1/sitemap/make", what="keep", name="bot", robot="Examplebot", sections="/news/\n/shop/", changefreq="on"
    )
    ((kept,),) = store.connection.execute("SELECT k.toml FROM crawl AS c JOIN config AS k ON k.hash = c.config")
    assert kept.startswith("# ours\n")
    assert [one.name for one in read(kept).sitemap.profiles] == ["old", "bot"]
    assert 'value="Examplebot"' in desk.page("/runs/1/sitemap?profile=bot")
    assert {one["name"] for one in desk.client.get("/api/runs/1/sitemap-profiles").json()} == {"public", "old", "bot"}
    desk.send("/runs/1/sitemap/make", what="remove", name="bot")
    assert desk.client.get("/runs/1/sitemap?profile=bot").status_code == HTTPStatus.NOT_FOUND


def test_the_rest_of_the_text_stays() -> None:
    """Keeping and removing a profile changes nothing else in the settings text, comments neither."""
    one = ProfileSettings(name="old", robot="bot", include=('/a"b\\/',), priority=("/x/ 0.5",))
    changed = text_with(TOML, one)
    assert read(changed).sitemap.profiles == (one,)
    assert "# ours" in changed
    assert "[limits]\nmax_depth = 3" in changed
    assert text_without(TOML, "old") == TOML.replace('[[sitemap.profile]]\nname = "old"\nparts = true\n\n', "")
    with pytest.raises(SettingsError):
        text_with('seeds = ["https://a.test/"]\nsitemap.profile = [{name = "old"}]\n', one)


def test_only_owners_change_the_size_of_a_page(desk: Desk, store: MadeStore) -> None:
    """Fifty entries to a page is the usual; an owner may change that, a viewer's wish is no condition (IB-1)."""
    for number in range(60):
        store.page(f"https://a.test/{number}")
    assert desk.page("/runs/1/tree?all=on&size=25").count("<tr ") == 25
    for session in desk.door._sessions.values():
        session.role = "viewer"  # type: ignore[assignment]
    text = desk.page("/runs/1/tree?all=on&size=25")
    assert text.count("<tr ") == 50
    assert 'name="size"' not in text


# -- sitemaps of others --------------------------------------------------------------------------------------------------


def test_a_file_that_is_sent_is_checked(desk: Desk) -> None:
    """A sitemap that is sent is told with its problems and numbers, and how its pages ended in a run."""
    body = f"{HEAD}<url><loc>https://a.test/</loc></url><url><loc>https://a.test/gone</loc></url><url><loc>https://a.test/new</loc><priority>7</priority></url></urlset>"
    answer = desk.send("/sitemaps/check", files={"file": ("<b>.xml", body.encode())}, run="1")
    facts = desk.client.get(f"/api{answer.url.path}").json()
    assert (facts["entries"], facts["fates"]) == (3, {"fetched.ok": 1, "missing.not_found": 1, "": 1})
    assert [one["kind"] for one in facts["problems"]] == ["priority"]
    assert "&lt;b&gt;.xml" in answer.text
    assert "<b>.xml" not in answer.text


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "This is no sitemap: it has no element."), ("ja", "要素がありません"), ("zh", "没有任何元素")],
)
def test_problems_are_told_in_the_readers_language(desk: Desk, language: str, told: str) -> None:
    """What is wrong with a sitemap is said in the language of the page, the reason within it too; in JSON as well."""
    desk.client.headers["accept-language"] = language
    answer = desk.send("/sitemaps/check", files={"file": ("s.xml", b"<?xml version='1.0'?>")})
    assert told in unescape(answer.text)
    (problem,) = desk.client.get(f"/api{answer.url.path}").json()["problems"]
    assert told in problem["sentence"]


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(HEAD.encode() + b" " * 80_000_000),
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><urlset>&b;</urlset>',
        os.urandom(5_000),
        b"",
        (HEAD + "<url>" * 20_000).encode(),
    ],
    ids=["bomb", "entities", "noise", "nothing", "deep"],
)
def test_a_bomb_is_a_sitemap_with_problems(desk: Desk, body: bytes) -> None:
    """Whatever is sent is answered with a page that says what is wrong, and no traceback (SM-20)."""
    answer = desk.send("/sitemaps/check", 200 if body else 400, files={"file": ("s.xml.gz", body)})
    assert "Traceback" not in answer.text
    if body:
        assert not desk.client.get(f"/api{answer.url.path}").json()["valid"]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/s.xml", "http://localhost:9/s.xml", "http://[::1]:9/s.xml", "http://2130706433:9/"]
)
def test_a_private_network_is_not_asked(desk: Desk, url: str) -> None:
    """A console that may open no private network fetches no sitemap from one, whatever its name (R-5.1)."""
    answer = desk.send("/sitemaps/check", url=url)
    assert "not-fetched" in answer.text
    assert "address_refused" in answer.text


def test_what_cannot_be_checked_is_told(desk: Desk) -> None:
    """An address that is none, a file that is too large and a check that is not there each have their page."""
    assert "whole address" in desk.send("/sitemaps/check", 400, url="javascript:alert(1)").text
    large = {"content-length": "60000000", "origin": BASE}
    assert desk.client.post("/sitemaps/check", content=b"x", headers=large).status_code == 413
    assert desk.client.get("/sitemaps/checks/nothing").status_code == HTTPStatus.NOT_FOUND
    assert desk.client.get("/runs/1/sitemap/made/nothing").status_code == HTTPStatus.NOT_FOUND
