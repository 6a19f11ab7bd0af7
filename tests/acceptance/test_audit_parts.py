"""What ``purlieu audit`` tells of the files, frames and places that pages embed or point to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.crawling import crawl, html, made_settings

from purlieu.audit import RULES
from purlieu.cli.main import main
from purlieu.testing.web import FakeWeb, redirect

HOME = "https://site.test/"
HEAD = '<link rel="icon" href="i.ico"><link rel="stylesheet" href="no.css"><script src="no.js"></script>'
PARTS = """<img src="no.png"><img src="ok.png"><img srcset="no-small.png 1x, ok.png 2x"><img src="dead.png">
<img src="moved.png"><img src="round.png"><img src="shut/p.png"><video src="no.mp4" poster="ok.png"></video>
<iframe src="no-frame"></iframe><iframe src="frame"></iframe><iframe src="dead-frame"></iframe>"""
PLAIN = """<img src="http://site.test/plain.png"><script src="http://other.test/s.js"></script>
<iframe src="http://other.test/f"></iframe><img src="http://localhost/p.png"><form action="http://site.test/post" method="post">
</form><form action="http://site.test/get"></form><a href="http://other.test/">fine</a><audio src="http://site.test/a.mp3"></audio>"""
PAGES: dict[str, Any] = {
    "robots.txt": "User-agent: *\nDisallow: /shut\n",
    "": html("b", "no-frame", "plain", title="Home", head=HEAD, body=PARTS),
    "b": html(title="B", body='<img src="no.png"><img src="no.png">'),
    "plain": html(title="Plain", body=PLAIN),
    "frame": html(title="Frame"),
    "dead-frame": redirect("/no-page"),
    "dead.png": redirect("/lost.png"),
    "moved.png": redirect("/ok.png"),
    "round.png": redirect("/round2.png"),
    "round2.png": redirect("/round.png"),
    **dict.fromkeys(("ok.png", "i.ico"), "x"),
}
EXPECTED = {
    "broken_link": {"no-frame": 1},
    "broken_image": {"dead.png": 1, "no-small.png": 1, "no.png": 2, "round.png": 1},
    "broken_script": {"no.js": 1},
    "broken_style": {"no.css": 1},
    "broken_frame": {"dead-frame": 1, "no-frame": 1},
    "broken_media": {"no.mp4": 1},
    "mixed_content": {"http://other.test/f": 1, "http://other.test/s.js": 1},
    "mixed_content_passive": {"http://site.test/a.mp3": 1, "http://site.test/plain.png": 1},
    "insecure_form": {"http://site.test/get": 1, "http://site.test/post": 1},
}


def audited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], links: dict[str, Any], pages: dict[str, Any] | None = None
) -> dict[str, dict[str, int]]:
    """Return what an audit tells of a crawl of the pages: by rule, address and number of pages."""
    store = tmp_path / "audit.db"
    given = PAGES if pages is None else pages
    made = {name if name.startswith("https:") else f"{HOME}{name}": page for name, page in given.items()}
    web = FakeWeb({"http://site.test/plain.png": "x", "http://site.test/a.mp3": "x", **made})
    crawl(web, made_settings(store, {"seeds": [HOME], "traps": {"soft_404": False}, "links": links}))
    assert main(["audit", "--store", str(store), "--json"]) == 0
    found: dict[str, dict[str, int]] = {}
    for fault in json.loads(capsys.readouterr().out)["faults"]:
        found.setdefault(fault["rule"], {})[fault["url"].removeprefix(HOME)] = fault["pages"]
    return found


def test_each_broken_part_is_told_under_the_rule_of_its_kind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Images, scripts, styles, frames and media that cannot be had, and what comes unencrypted; nothing that is fine."""
    assert audited(tmp_path, capsys, {"check_resources": True}) == EXPECTED


def test_without_checks_only_what_the_links_show_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Frames are pages, and are told without the setting; so is what a secure page frames without encryption."""
    found = audited(tmp_path, capsys, {})
    assert found == {
        "broken_link": {"no-frame": 1},
        "broken_frame": {"dead-frame": 1, "no-frame": 1},
        "mixed_content": {"http://other.test/f": 1},
    }


PLACES: dict[str, Any] = {
    "": html(
        "b#here", "b#gone", "b#gone", "b#%E6%97%A5", "b#", "b#TOP", "b#gone:~:text=a", "b#:~:text=a", "paper.pdf#page=2",
        "old#x", "missing#x", "#start", "#nowhere", "http://other.test/#x", "c#!/route",
        title="Home", body='<h1 id="start">Home</h1>',
    ),
    "b": html("/#start", "/#end", "c#gone", "b#gone", title="B", body='<p id="here"><a name="日"></a>'),
    "c": html("b#gone", "b#here", title="C", body="<template><p id=gone></template>"),
    "old": redirect("/b"),
    "paper.pdf": "x",
}  # fmt: skip
GONE = {"#end": 1, "#nowhere": 1, "b#gone": 3, "c#gone": 1}


def test_links_to_places_that_pages_do_not_have_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A fragment that no id or name of its HTML page answers is told once with the pages that ask for it, and no other."""
    assert audited(tmp_path, capsys, {"check_fragments": True}, PLACES)["broken_fragment"] == GONE


def test_places_are_compared_only_where_that_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the setting nothing is kept of places, and nothing told."""
    assert "broken_fragment" not in audited(tmp_path, capsys, {}, PLACES)


@pytest.mark.parametrize(("seconds", "gone"), [(86_400, GONE), (0, {"#end": 1, "#nowhere": 1, "c#gone": 1})])
def test_a_revisit_compares_the_places_of_pages_that_stand_unchanged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: int, gone: dict[str, int]
) -> None:
    """What pages that are left alone have and ask for is taken over (R-2.4); one that is asked for is read anew."""
    store, tree = tmp_path / "audit.db", {"seeds": [HOME], "traps": {"soft_404": False}}
    tree |= {"links": {"check_fragments": True}, "history": {"least_interval_seconds": seconds}}
    crawl(FakeWeb({f"{HOME}{name}": made for name, made in PLACES.items()}), made_settings(store, tree))
    later = html(
        "/#start", "/#end", "c#gone", "b#gone", title="B", body='<p id="here"><p id="gone"><a name="日"></a>',
    )  # fmt: skip
    web = FakeWeb({f"{HOME}{name}": made for name, made in {**PLACES, "b": later}.items()})
    crawl(web, made_settings(store, {**tree, "revisit": True}))
    assert main(["audit", "--store", str(store), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["faults"]
    found = {fault["url"].removeprefix(HOME): fault["pages"] for fault in told if fault["rule"] == "broken_fragment"}
    assert found == gone


def test_parts_from_other_sites_are_told_only_where_links_to_them_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A part out of scope is asked for with both settings; what its server refuses to programs is not called broken."""
    images = "".join(f'<img src="https://other.test/{name}.png">' for name in ("there", "gone", "shut"))
    pages: dict[str, Any] = {
        "": html(title="Home", body=images),
        "https://other.test/there.png": "x",
        "https://other.test/shut.png": 403,
    }
    assert "broken_image" not in audited(tmp_path, capsys, {"check_resources": True}, pages)
    found = audited(tmp_path, capsys, {"check_resources": True, "check_external": True}, pages)
    assert found["broken_image"] == {"https://other.test/gone.png": 1}


@pytest.mark.parametrize("form", ["html", "sarif", "junit"])
@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_every_form_names_the_rules_in_the_owners_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, language: str
) -> None:
    """HTML and SARIF have the name of each broken rule in the owner's language, JUnit its remedy."""
    audited(tmp_path, capsys, {"check_resources": True})
    main(["audit", "--store", str(tmp_path / "audit.db"), "--format", form, "--lang", language])
    out = capsys.readouterr().out
    for code in EXPECTED:
        assert (RULES[code].remedy(language) if form == "junit" else RULES[code].name(language)) in out
