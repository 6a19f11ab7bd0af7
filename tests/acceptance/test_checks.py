"""``links.check_resources``: the files that pages embed are asked for once each, and are no pages."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crawling import HOME, crawl, endings, html, ledger, made_settings

from purlieu.testing.web import FakeWeb, answer, redirect

PARTS = """<img src="pic.png"><img src="no.png" srcset="no2.png 2x, data:image/png;base64,xx 3x"><img src="">
<picture><source srcset="wide.png 800w"></picture><img src="moved.png"><img src="dead.png"><img src="private/p.png">
<video src="film.mp4" poster="no.png"></video><audio><source src="gone.mp3"></audio><object data="paper.pdf"></object>
<img src="http://other.test/x.png"><img src="//[bad"><iframe src="frame"></iframe><input src="no3.png"><a href="pic.png">p</a>
<input type="image" src="button.png"><form action="/post" method="post"></form>"""
HEAD = '<link rel="icon" href="data:,"><link rel="stylesheet" href="s.css"><script src="gone.js"></script>'


def site(**more: Any) -> FakeWeb:
    """Return a site whose pages embed files of every kind."""
    pages = {
        "robots.txt": "User-agent: *\nDisallow: /private\n",
        "": html("b", title="Home", head=HEAD, body=PARTS),
        "b": html(title="B", body='<img src="no.png"><img src="pic.png">'),
        "moved.png": redirect("/pic.png"),
        "dead.png": redirect("/lost.png"),
        "frame": html(title="Frame"),
        **dict.fromkeys(("pic.png", "wide.png", "s.css", "film.mp4", "paper.pdf", "button.png"), "x"),
        **more,
    }
    return FakeWeb({f"{HOME}{name}": made for name, made in pages.items()})


def checking(store: Path, tree: dict[str, Any] | None = None) -> Any:
    """Return settings that have parts of pages checked."""
    return made_settings(store, {"traps": {"soft_404": False}, "links": {"check_resources": True}, **(tree or {})})


EXPECTED = {
    "pic.png": "fetched.ok",
    "wide.png": "fetched.ok",
    "s.css": "fetched.ok",
    "film.mp4": "fetched.ok",
    "paper.pdf": "fetched.ok",
    "button.png": "fetched.ok",
    "no.png": "missing.not_found",
    "no2.png": "missing.not_found",
    "lost.png": "missing.not_found",
    "gone.js": "missing.not_found",
    "gone.mp3": "missing.not_found",
    "moved.png": "redirected.permanent",
    "dead.png": "redirected.permanent",
    "private/p.png": "excluded.robots",
}


def books(store: Path, run: int = 1) -> dict[str, Any]:
    """Return the books of a run."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    ((text,),) = connection.execute("SELECT books FROM run WHERE id = ?", (run,))
    connection.close()
    return dict(json.loads(text))


def told(store: Path, run: int = 1) -> dict[str, str]:
    """Return how the parts of pages ended, by path on the site; those elsewhere by address."""
    return {url.removeprefix(HOME): ended for url, ended in endings(store, run, "check").items()}


def test_each_part_of_a_page_is_asked_for_once_and_is_no_page(tmp_path: Path) -> None:
    """Each embedded file has one row of the purpose check with its kind; one out of scope is refused; books balance."""
    web, store = site(), tmp_path / "a.db"
    crawl(web, checking(store))
    assert told(store) == {**EXPECTED, "http://other.test/x.png": "excluded.scope"}
    assert set(endings(store)) == {f"{HOME}{name}" for name in ("", "b", "frame", "pic.png")}
    rows = ledger(store)
    found_by = {url.removeprefix(HOME): row["found_by"] for (what, url), row in rows.items() if what == "check"}
    assert (found_by["s.css"], found_by["gone.js"], found_by["no.png"]) == ("style", "script", "image")
    assert (found_by["film.mp4"], found_by["gone.mp3"], found_by["lost.png"]) == ("media", "media", "redirect")
    assert (books(store)["balanced"], len(endings(store))) == (True, 4)


def test_a_part_is_asked_for_by_head_and_by_get_only_where_that_says_no(tmp_path: Path) -> None:
    """HEAD alone where it is answered well; GET has the last word on what HEAD refuses; neither reads a body (R-1.3)."""

    def only_get(request: Any) -> Any:
        return answer("x", url=request.url) if request.method == "GET" else answer(url=request.url, status=405)

    web, store = site(**{"wide.png": only_get}), tmp_path / "a.db"
    crawl(web, checking(store))
    methods: dict[str, list[str]] = {}
    for one in web.asked:
        methods.setdefault(one.url.removeprefix(HOME), []).append(one.request.method)
    assert (methods["s.css"], methods["wide.png"], methods["no.png"]) == (["HEAD"], ["HEAD", "GET"], ["HEAD", "GET"])
    assert told(store)["wide.png"] == "fetched.ok"
    assert "http://other.test/x.png" not in methods


def test_an_address_that_is_page_and_part_is_asked_for_once(tmp_path: Path) -> None:
    """One response serves all purposes of a URL (R-1.3): a linked image is fetched as a page, and that is the check."""
    web, store = site(), tmp_path / "a.db"
    crawl(web, checking(store))
    assert Counter(one.url for one in web.asked)[f"{HOME}pic.png"] == 1
    assert ledger(store)["page", f"{HOME}pic.png"]["reason"] == "content_class"
    assert ledger(store)["check", f"{HOME}pic.png"]["attempts"] == 0


def test_nothing_of_it_happens_unasked(tmp_path: Path) -> None:
    """Without the setting no part of a page is asked for or stands in the ledger."""
    web, store = site(), tmp_path / "a.db"
    crawl(web, made_settings(store, {"traps": {"soft_404": False}}))
    assert told(store) == {}
    assert {one.url for one in web.asked} == {f"{HOME}{name}" for name in ("robots.txt", "", "b", "frame", "pic.png")}


@pytest.mark.parametrize(
    ("tree", "refused"),
    [
        ({"filter": {"exclude": [f"{HOME}no"]}}, {"no.png": "excluded.filter", "no2.png": "excluded.filter"}),
        ({"limits": {"max_depth": 0}}, {}),
    ],
)
def test_what_the_owner_leaves_out_is_not_asked_for(
    tmp_path: Path, tree: dict[str, Any], refused: dict[str, str]
) -> None:
    """The owner's filters hold for the parts of pages; a part is as deep as its page, so no limit of depth drops it."""
    store = tmp_path / "a.db"
    crawl(site(), checking(store, tree))
    assert {name: ended for name, ended in told(store).items() if name in EXPECTED} == {**EXPECTED, **refused}
    assert books(store)["balanced"]


def test_a_revisit_checks_the_parts_of_pages_that_stand_unchanged(tmp_path: Path) -> None:
    """A revisit asks again for the parts of every page, those of pages that answer 304 too (R-2.4)."""
    store = tmp_path / "a.db"
    crawl(site(), checking(store))
    crawl(site(**{"wide.png": 410}), checking(store, {"revisit": True, "history": {"least_interval_seconds": 0}}))
    assert told(store, 2) == {**EXPECTED, "wide.png": "missing.gone", "http://other.test/x.png": "excluded.scope"}
    assert books(store, 2)["balanced"]


@pytest.mark.parametrize("after", range(2, 16, 3))
def test_a_run_that_is_stopped_anywhere_goes_on_to_the_same_ledger(tmp_path: Path, after: int) -> None:
    """Wherever a run is broken off, a resume ends with the same rows and balanced books."""
    store = tmp_path / "a.db"
    crawl(
        site(), checking(store, {"limits": {"max_targets": 2}} if after < 4 else {"limits": {"max_seconds": after / 4}})
    )
    crawl(site(), checking(store), resume=True)
    assert told(store) == {**EXPECTED, "http://other.test/x.png": "excluded.scope"}
    assert books(store)["balanced"]
