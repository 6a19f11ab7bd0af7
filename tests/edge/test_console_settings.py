"""The console's crawls: made, edited as a form and as TOML, copied and deleted; what is wrong is told, nothing is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.edge.test_console import BASE, DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu import settings
from purlieu.console import draft
from purlieu.console.parts import Terms
from purlieu.console.titles import LISTS_TITLED, SECTIONS_TITLED, title_of
from purlieu.settings.tree import LISTS, SECTIONS, dotted_keys
from purlieu.store import crawls
from purlieu.store.sqlite import SqliteDatabase

TOML = """# my site
seeds = ["https://a.test/"]

[limits]
max_depth = 3  # near
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with one run of one crawl."""
    made = MadeStore(tmp_path / "made.db")
    made.page("https://a.test/", title="Home")
    yield made
    made.close()


class Editor:
    """A console with a crawl that is edited."""

    def __init__(self, store: MadeStore) -> None:
        """Make the crawl number 2, called "mine"."""
        self.console = Console(store, HandClock(STARTED_AT + DAY))
        self.store = store
        database = SqliteDatabase.beside(str(store.path))
        assert crawls.make(database, "mine", TOML) == 2
        database.close()

    def post(self, path: str, **data: str) -> Any:
        """Send a form of the session's, as a browser does."""
        form = {"form_key": self.console.form_key(), **data}
        return self.console.client.post(path, data=form, headers={"origin": BASE})

    def opened(self, number: int = 2) -> dict[str, str]:
        """Return what the form of the settings holds besides its fields."""
        page = self.console.page(f"/crawls/{number}/settings")
        found = {name: hidden(page, name) for name in ("version", "base")}
        return found | {"toml": text_of(page)}

    def kept(self, name: str = "mine") -> str:
        """Return the settings that the store keeps."""
        database = SqliteDatabase.reader(str(self.store.path))
        found = crawls.kept(database, name)
        database.close()
        return found.toml if found else ""

    def audited(self) -> list[dict[str, Any]]:
        """Return the lines of the file of changes."""
        path = self.console.audit
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.fixture
def editor(store: MadeStore) -> Editor:
    """Return a console with a crawl to edit."""
    return Editor(store)


def hidden(page: str, name: str) -> str:
    """Return what a hidden field of a page holds."""
    found = re.search(rf'<input type="hidden"[^>]* name="{name}" value="([^"]*)"', page)
    assert found, name
    return unescape(found[1])


def text_of(page: str) -> str:
    """Return the TOML of a page."""
    found = re.search(r'<textarea id="toml"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    assert found
    return unescape(found[1])


# -- made, copied, deleted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "name", "seed"),
    [
        ("www.example.com", "www.example.com", "https://www.example.com"),
        ("http://example.com/docs/", "example.com", "http://example.com/docs/"),
        ("localhost:8000", "localhost", "http://localhost:8000"),
        ("192.0.2.7", "192.0.2.7", "http://192.0.2.7"),
        ("日本.example", "xn--wgv71a.example", "https://日本.example"),
    ],
)
def test_an_address_is_enough(editor: Editor, typed: str, name: str, seed: str) -> None:
    """Whoever types an address has a crawl that is named after its host (issue 6)."""
    assert editor.post("/crawls/new", seeds=typed, action="keep").status_code == 200
    assert settings.read(editor.kept(name)).seeds == (seed,)
    assert editor.console.started.words == []
    assert editor.audited()[-1]["action"] == "create"


def test_a_crawl_is_made_and_run(editor: Editor) -> None:
    """Create and run starts it at once, by its kept settings; the reports speak the language of the page."""
    key = editor.console.form_key()
    form = {"form_key": key, "seeds": "www.example.com", "action": "run"}
    editor.console.client.post("/crawls/new", data=form, headers={"origin": BASE, "accept-language": "ja"})
    assert editor.console.started.words[0][:3] == ["crawl", "--again", "www.example.com"]
    assert settings.read(editor.kept("www.example.com")).language == "ja"


def test_two_crawls_of_one_host_have_two_names(editor: Editor) -> None:
    """A name made from a host that is taken gets a number; one that was typed is refused with what was typed kept."""
    for _ in range(2):
        editor.post("/crawls/new", seeds="www.example.com", action="keep")
    assert editor.kept("www.example.com-2")
    answer = editor.post("/crawls/new", seeds="b.example", name="mine", action="keep")
    assert answer.status_code == 422
    assert "there is a crawl of this name already" in answer.text
    assert ">\nb.example</textarea>" in answer.text
    assert editor.kept() == TOML


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"seeds": ""}, "write at least one address"),
        ({"seeds": "ftp://a.example/"}, "only http and https can be crawled"),
        ({"seeds": "a.example\nhttp://"}, "this is no URL"),
        ({"seeds": "a.example", "name": "a/b"}, "write a shorter name"),
        ({"seeds": "a.example", "toml": "seeds = ["}, "line 1"),
        ({"toml": 'seeds = ["https://a.example/"]\n[limits]\nmax_depht = 2'}, "did you mean"),
    ],
)
def test_no_crawl_is_made_of_what_is_wrong(editor: Editor, form: dict[str, str], told: str) -> None:
    """What was typed wrong is told beside what was typed, and no crawl is made."""
    answer = editor.post("/crawls/new", **form, action="run")
    assert answer.status_code == 422
    assert told in unescape(answer.text)
    assert editor.console.started.words == []
    assert 'href="/crawls/3"' not in editor.console.page("/")


def test_a_copy_has_the_same_settings(editor: Editor) -> None:
    """A copy has the settings with their comments under another name, and nothing of the runs."""
    assert 'value="mine-2"' in editor.console.page("/crawls/new?copy=2")
    editor.post("/crawls/new", copy="2", name="mine-2", action="keep")
    assert editor.kept("mine-2").startswith("# my site\n")
    assert settings.read(editor.kept("mine-2")).limits.max_depth == 3
    for stale in ("99", "x", "9" * 30):
        assert editor.console.client.get(f"/crawls/new?copy={stale}").status_code == 404
        assert editor.post("/crawls/new", copy=stale, action="keep").status_code == 404


def test_what_is_lost_is_said_before(editor: Editor) -> None:
    """Deleting asks first and names what goes; then the crawl and its run are gone, and no other is."""
    page = editor.console.page("/crawls/1/delete")
    assert "1 runs" in page
    assert editor.console.page("/crawls/1")
    assert editor.post("/crawls/1/delete").status_code == 200
    for stale in ("/crawls/1", "/runs/1", "/crawls/1/settings", "/crawls/1/delete", "/api/runs/1", "/runs/1/tree"):
        answer = editor.console.client.get(stale)
        assert answer.status_code == 404, stale
        assert "Traceback" not in answer.text
    assert 'href="/crawls/2"' in editor.console.client.get("/").text
    assert editor.audited()[-1] | {"at": ""} == {
        "at": "", "from": "testclient", "role": "owner", "action": "delete", "crawl": "made", "runs": 1, "pages": 0, "schedules": 0,
    }  # fmt: skip


def test_a_crawl_with_a_run_under_way_is_not_deleted(editor: Editor, store: MadeStore) -> None:
    """While a run is under way the crawl stays, with a page that says so and offers to stop it."""
    store.update_run(state="running", ended_at=None)
    page = editor.console.page("/crawls/1/delete", language="zh")
    assert "/runs/1/stop" in page
    assert "Delete for good" not in page
    answer = editor.console.client.post(
        "/crawls/1/delete",
        data={"form_key": hidden(page, "form_key")},
        headers={"origin": BASE, "accept-language": "zh"},
    )
    assert answer.status_code == 409
    assert "请先停止" in answer.text
    assert editor.console.page("/runs/1")
    assert editor.audited() == []


# -- the form and the text ---------------------------------------------------------------------------------------------


def test_every_key_has_its_field(editor: Editor) -> None:
    """Each key stands in the form with a label and a help that it is tied to, and a place for what is wrong with it."""
    page = editor.console.page("/crawls/2/settings")
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for key in ("limits.max_pages", "scope.aliases", "fetch.http2", "origin[1].headers", "sitemap.profile[1].name"):
        assert f'name="{key}"' in page
    for target in re.findall(r'\sfor="([^"]+)"|aria-labelledby="([^"]+)"', page):
        assert "".join(target) in ids
    for told in re.findall(r'aria-describedby="([^"]+)"', page):
        assert set(told.split()) <= set(ids)
    fields = set(re.findall(r'<(?:input|select|textarea)[^>]*\sid="([^"]+)"', page)) - {"base"}
    picks = set(re.findall(r'<label class="pick"><input[^>]*\sid="([^"]+)"|<label><input[^>]*\sid="([^"]+)"', page))
    labelled = set(re.findall(r'\sfor="([^"]+)"', page)) | {"".join(pick) for pick in picks}
    assert fields <= labelled


def test_every_key_has_a_title() -> None:
    """Each key and each table of the settings is called something in the form; a new one needs its line in titles.py."""
    assert {*SECTIONS, ""} == set(SECTIONS_TITLED)
    assert set(LISTS) == set(LISTS_TITLED)
    left_out = {"name", "store", "output", "filter.rules_file"}
    assert [key for key in dotted_keys() if title_of(key) == key and key not in left_out] == []


def test_what_is_typed_into_the_form_stands_in_the_text(editor: Editor) -> None:
    """A value from the form is written into the text, whose comments and order stay."""
    form = editor.opened() | {"limits.max_depth": "5", "scope.mode": "same-domain", "limits.max_seconds": "5 min"}
    answer = editor.post("/crawls/2/settings", **form, action="save")
    assert answer.status_code == 200
    kept = editor.kept()
    assert kept.startswith(TOML.replace("3  #", "5  #"))
    made = settings.read(kept)
    assert (made.limits.max_depth, made.scope.mode, made.limits.max_seconds) == (5, "same-domain", 300.0)
    assert editor.audited()[-1]["keys"] == ["limits.max_depth", "limits.max_seconds", "scope.mode"]


def test_what_is_written_into_the_text_stands_in_the_form(editor: Editor) -> None:
    """The text wins where it alone was edited; where both were, each has what was typed into it."""
    form = editor.opened() | {"limits.max_depth": "3", "scope.mode": "same-domain"}
    form["toml"] += 'max_pages = 7\n\n[robots]\nobey = false\n\n[[site]]\nurl = "https://b.test/"\n'
    answer = editor.post("/crawls/2/settings", **form, action="check")
    assert 'name="limits.max_pages" value="7"' in answer.text
    assert 'name="site[1].url" value="https://b.test/"' in answer.text
    assert 'name="site[2].url" value=""' in answer.text
    assert settings.read(text_of(answer.text)).scope.mode == "same-domain"
    assert editor.kept() == TOML


@pytest.mark.parametrize("typed_in", ["fields", "text", "try", "more"])
def test_what_is_being_typed_is_left_alone(editor: Editor, typed_in: str) -> None:
    """The answer to typing brings the other side of the form, and never the one that is typed in (live checking)."""
    form = editor.opened() | {"form_key": editor.console.form_key(), "limits.max_depth": "near"}
    if typed_in == "text":
        form = {name: form[name] for name in ("form_key", "version", "base", "toml")}
        form["toml"] = form["toml"].replace("3", '"near"')
    answer = editor.console.client.post(
        "/crawls/2/settings/check", data=form, headers={"origin": BASE, "hx-trigger": typed_in}
    ).text
    assert "<html" not in answer
    assert ('<textarea id="toml"' in answer) is (typed_in != "text")
    assert ('id="fields"' in answer) is (typed_in in {"text", "more"})
    slot = answer[answer.index('id="e-limits-max_depth"') :]
    assert "“near”" not in slot  # quotes are the style's
    assert "<q>near</q> write a number of at least 0" in slot.partition("</div>")[0]


def test_every_mistake_is_told_at_once(editor: Editor) -> None:
    """All mistakes stand in one answer, each beside its field with value and remedy, and nothing is saved."""
    form = editor.opened() | {"limits.max_pages": "0", "filter.exclude": "(", "seeds": "ftp://a.test/\nhttps://b.test/"}
    form["toml"] += "max_dept = 2\n"
    answer = editor.post("/crawls/2/settings", **form, action="save")
    assert answer.status_code == 422
    assert "<strong>4 mistakes</strong>" in answer.text
    for field, told in (("limits-max_pages", "at least 1"), ("filter-exclude", "a glob"), ("seeds", "only http and")):
        slot = answer.text[answer.text.index(f'id="e-{field}"') :].partition("</div>")[0]
        assert told in slot, field
    assert 'did you mean "max_depth"' in unescape(answer.text)
    assert editor.kept() == TOML


@pytest.mark.parametrize(("language", "told"), [("ja", "以上"), ("zh", "不小于")])
def test_mistakes_are_told_in_the_language_of_the_page(editor: Editor, language: str, told: str) -> None:
    """Titles, helps and remedies of the form are in the user's language."""
    form = {**editor.opened(), "form_key": editor.console.form_key(), "limits.max_depth": "-1"}
    answer = editor.console.client.post(
        "/crawls/2/settings", data=form, headers={"origin": BASE, "accept-language": language}
    ).text
    assert told in answer[answer.index('id="e-limits-max_depth"') :].partition("</div>")[0]
    for english in ("How far", "Whether ", "The run ends", "Most pages", "write a number"):
        assert english not in answer


@pytest.mark.parametrize(
    "text",
    ["seeds = [\n", "\x00", "= 1", "a = 1\na = 2", "[" * 3000, "[limits]\nmax_depth = 1\n[limits]\n", "x" * 100_000],
)
def test_a_text_that_is_no_toml_stays_in_its_box(editor: Editor, text: str) -> None:
    """A corrupt text is told with its line and kept as it was typed, beside the form as it was last right."""
    form = editor.opened() | {"toml": text, "limits.max_pages": "9"}
    for action in ("save", "check", "run"):
        answer = editor.post("/crawls/2/settings", **form, action=action)
        assert answer.status_code == (200 if action == "check" else 422)
        assert "no TOML" in answer.text or "nested too deeply" in answer.text
        assert text_of(answer.text).strip("\n") == text.strip("\n").replace("\x00", "\x00")
        assert 'name="limits.max_pages" value="9"' in answer.text
    back = editor.post("/crawls/2/settings", **form, action="back")
    assert text_of(back.text) == TOML
    assert editor.kept() == TOML
    assert editor.console.started.words == []


def test_the_second_editor_is_told(editor: Editor) -> None:
    """Who saves after another did is told what differs, loses nothing, and may save over it knowingly (issue 6)."""
    mine = editor.opened() | {"limits.max_depth": "9"}
    theirs = editor.opened() | {"limits.max_depth": "4", "limits.max_pages": "100"}
    assert editor.post("/crawls/2/settings", **theirs, action="save").status_code == 200
    answer = editor.post("/crawls/2/settings", **mine, action="save")
    assert answer.status_code == 409
    rows = [re.sub(r"<[^>]+>", " ", row).split() for row in re.findall(r"<tr><th.*?</tr>", answer.text)][1:]
    assert ["limits.max_depth", "3", "4", "9"] in rows
    assert ["limits.max_pages", "–", "100", "–"] in rows
    assert "max_depth = 9" in text_of(answer.text)
    assert settings.read(editor.kept()).limits.max_depth == 4
    mine["theirs"] = hidden(answer.text, "theirs")
    third = editor.opened() | {"limits.max_depth": "6"}
    assert editor.post("/crawls/2/settings", **third, action="save").status_code == 200
    assert editor.post("/crawls/2/settings", **mine, action="over").status_code == 409  # a third one was there
    mine["theirs"] = hidden(editor.post("/crawls/2/settings", **mine, action="save").text, "theirs")
    assert editor.post("/crawls/2/settings", **mine, action="over").status_code == 200
    assert settings.read(editor.kept()).limits.max_depth == 9


def test_a_crawl_deleted_while_it_is_edited(editor: Editor) -> None:
    """Who saves into a crawl that another has deleted meanwhile sees a page that says that it is not there."""
    form = editor.opened()
    editor.post("/crawls/2/delete")
    for path in ("/crawls/2/settings", "/crawls/2/settings/check"):
        answer = editor.post(path, **form, action="save")
        assert answer.status_code == 404
        assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("url", "verdict", "told"),
    [
        ("https://a.test/news", "In", "its host"),
        ("a.test/news", "In", "its host"),
        ("/news", "In", "its host"),
        ("https://b.test/", "Out", "b.test"),
        ("/private/x", "Out", "filter.exclude"),
        ("javascript:alert(1)", "Out", "neither http nor https"),
        ("http://[", "Out", "is no URL"),
        ("<script>alert(1)</script>", "Out", "is no URL"),
    ],
)
def test_the_box_says_in_or_out_and_why(editor: Editor, url: str, verdict: str, told: str) -> None:
    """A typed URL is judged by the settings as they stand in the form, unsaved, assuming no seed redirects (R-3.7)."""
    form = editor.opened() | {"filter.exclude": "/private/*", "try": url, "form_key": editor.console.form_key()}
    answer = editor.console.client.post(
        "/crawls/2/settings/check", data=form, headers={"origin": BASE, "hx-trigger": "try"}
    ).text
    said = answer[answer.index('id="verdict"') :]
    assert f"<strong>{verdict}</strong>" in said
    assert told in unescape(said)
    assert "assuming no seed redirects" in said
    assert "<script>" not in answer
    assert editor.kept() == TOML


@pytest.mark.parametrize(
    ("toml", "key"),
    [
        ('[[origin]]\norigin = "https://a.test"\nuser = "me"\npassword = "secret-word"\n', "origin-1-password"),
        ('[[origin]]\norigin = "https://a.test"\nheaders = { X-Key = "secret-word" }\n', "origin-1-headers"),
        ('[fetch]\nproxy = "http://me:secret-word@proxy.test:1"\n', "fetch-proxy"),
    ],
)
def test_no_secret_goes_into_the_store(editor: Editor, toml: str, key: str) -> None:
    """A password, header or proxy's password is not kept: env:NAME is, and the remedy says so."""
    form = editor.opened() | {"toml": f'seeds = ["https://a.test/"]\n{toml}'}
    answer = editor.post("/crawls/2/settings", **form, action="save")
    assert answer.status_code == 422
    assert "env:NAME" in answer.text[answer.text.index(f'id="e-{key}"') :].partition("</div>")[0]
    assert b"secret-word" not in Path(f"{editor.store.path}-wal").read_bytes()


def test_a_crawl_of_the_command_line_begins_with_its_last_run(editor: Editor, store: MadeStore) -> None:
    """A crawl without kept settings shows what its last run says otherwise than usual, and keeps what is saved."""
    made = settings.of({"seeds": ["https://a.test/"], "name": "made", "limits": {"max_depth": 2}})
    store.add_run(toml=settings.dump(made))
    form = editor.opened(1)
    assert form["toml"] == 'seeds = ["https://a.test/"]\n\n[limits]\nmax_depth = 2\n'
    assert form["version"] == ""
    assert editor.post("/crawls/1/settings", **form, **{"limits.max_depth": "1"}, action="run").status_code == 200
    assert settings.read(editor.kept("made")).limits.max_depth == 1
    assert editor.console.started.words[0][:3] == ["crawl", "--again", "made"]


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "日本語", "a" * 200, "x\u202ey"])
def test_hostile_names_are_text(editor: Editor, name: str) -> None:
    """A crawl's name and a value of its settings are shown as text on each page, and in a header as a safe name."""
    database = SqliteDatabase.beside(str(editor.store.path))
    number = crawls.make(database, name, f'seeds = ["https://a.test/"]\n[links]\nkinds = [{json.dumps(name)}]\n')
    database.close()
    for path in ("/", f"/crawls/{number}", f"/crawls/{number}/settings", f"/crawls/{number}/delete"):
        page = editor.console.page(path)
        assert "<img src=x" not in page
    answer = editor.console.client.get(f"/crawls/{number}/settings.toml")
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9._-]+\.toml"', answer.headers["content-disposition"])
    assert json.dumps(name) in answer.text


def test_a_form_may_send_anything(editor: Editor) -> None:
    """Fields that are none, of a table that is none or far beyond the last change nothing and break nothing."""
    odd = {"site[200].url": "https://z.test/", "site[999].url": "x", "nope": "1", "limits": "2", "limits.": "3", "": "4",
           "site[0].url": "x", "group[1].name": "\udcff", "name": "other", "store": "/etc/passwd"}  # fmt: skip
    sent = {name: value.encode("utf-8", "replace").decode() for name, value in odd.items()}
    answer = editor.post("/crawls/2/settings", **editor.opened(), **sent, action="check")
    assert answer.status_code == 200
    made = draft.tree_of(text_of(answer.text))
    assert made is not None
    assert "store" not in made
    assert "name" not in made
    assert len(made["site"]) == 1


@pytest.mark.parametrize("path", ["/crawls/99/settings", "/crawls/99/delete", "/crawls/99/settings.toml"])
def test_a_crawl_that_is_not_there(editor: Editor, path: str) -> None:
    """A stale link is a page that says so."""
    assert editor.console.client.get(path).status_code == 404


# -- as JSON -----------------------------------------------------------------------------------------------------------


def asked(editor: Editor, method: str, path: str, key: str | None = None, **given: Any) -> Any:
    """Send a JSON object as a script does that has come in; return the answer."""
    key = editor.console.client.get("/api/session").json()["form_key"] if key is None else key
    headers = {"origin": BASE, "x-form-key": key, "accept-language": "en"}
    return editor.console.client.request(method, path, json=given, headers=headers)


def test_a_crawl_is_made_changed_run_and_deleted_by_json(editor: Editor) -> None:
    """What the pages do stands under /api too, by the same rules and with the same lines in the file of changes."""
    made = asked(editor, "POST", "/api/crawls", seeds=["www.example.com"], run=True)
    assert (made.status_code, made.json()["name"]) == (201, "www.example.com")
    number = made.json()["crawl"]
    told = editor.console.client.get(f"/api/crawls/{number}").json()
    assert told["version"] == made.json()["version"]
    toml = told["toml"] + "[limits]\nmax_pages = 5\n"
    changed = asked(editor, "PUT", f"/api/crawls/{number}", toml=toml, version=told["version"])
    assert changed.status_code == 200
    late = asked(editor, "PUT", f"/api/crawls/{number}", toml=told["toml"], version=told["version"])
    assert (late.status_code, late.json()["toml"], late.json()["version"]) == (409, toml, changed.json()["version"])
    assert asked(editor, "POST", f"/api/crawls/{number}/run").status_code == 202
    assert [words[:3] for words in editor.console.started.words] == [["crawl", "--again", "www.example.com"]] * 2
    assert asked(editor, "DELETE", f"/api/crawls/{number}").status_code == 202
    assert editor.console.client.get(f"/api/crawls/{number}").status_code == 404
    assert [line["action"] for line in editor.audited()] == ["create", "run", "settings", "run", "delete"]


@pytest.mark.parametrize(
    ("method", "path", "given", "status"),
    [
        ("POST", "/api/crawls", {"seeds": "ftp://a.example/"}, 422),
        ("POST", "/api/crawls", {"seeds": "a.example", "name": "mine"}, 422),
        ("POST", "/api/crawls", {"copy": "99"}, 404),
        ("PUT", "/api/crawls/2", {"toml": "seeds = ["}, 422),
        ("PUT", "/api/crawls/2", {"toml": TOML, "version": "other"}, 409),
        ("PUT", "/api/crawls/99", {"toml": TOML}, 404),
        ("DELETE", "/api/crawls/99", {}, 404),
        ("POST", "/api/crawls/99/run", {}, 404),
    ],
)
def test_json_that_is_wrong_changes_nothing(
    editor: Editor, method: str, path: str, given: dict[str, Any], status: int
) -> None:
    """A wrong change is told with its mistakes, and nothing is written."""
    answer = asked(editor, method, path, **given)
    assert answer.status_code == status
    assert answer.json()["code"]
    assert editor.kept() == TOML
    assert editor.audited() == []


def test_json_needs_the_key_of_the_session(editor: Editor) -> None:
    """A change by JSON without the key, or from another origin, is refused (CSRF)."""
    for method, path in (("POST", "/api/crawls"), ("PUT", "/api/crawls/2"), ("DELETE", "/api/crawls/2")):
        assert asked(editor, method, path, key="wrong", toml=TOML).status_code == 403
        key = editor.console.client.get("/api/session").json()["form_key"]
        headers = {"origin": "http://evil.test", "x-form-key": key}
        assert editor.console.client.request(method, path, json={}, headers=headers).status_code == 403
    assert editor.kept() == TOML


@pytest.mark.parametrize("body", [b"[]", b"{", b"\xff", b"[" * 100_000, b'"x"'], ids=range(5))
def test_a_body_that_is_no_object(editor: Editor, body: bytes) -> None:
    """What is no JSON object is told as that."""
    key = editor.console.client.get("/api/session").json()["form_key"]
    headers = {"origin": BASE, "x-form-key": key}
    answer = editor.console.client.post("/api/settings/check", content=body, headers=headers)
    assert answer.status_code == 400


def test_settings_are_checked_by_json(editor: Editor) -> None:
    """A text is checked with a URL, without being kept: for editors and scripts."""
    told = asked(editor, "POST", "/api/settings/check", toml=TOML, url="https://b.test/").json()
    assert told["mistakes"] == []
    assert told["verdict"]["accepted"] is False
    told = asked(editor, "POST", "/api/settings/check", toml="seeds = 3\n[limits]\nmax_depth = -1").json()
    assert [one["key"] for one in told["mistakes"]] == ["seeds", "limits.max_depth"]
    assert told["verdict"] is None


# -- from another machine ----------------------------------------------------------------------------------------------


def test_who_comes_from_elsewhere_opens_no_private_network(editor: Editor) -> None:
    """A console that others can reach keeps no settings that reach into its networks or start programs (R-5.1)."""
    inner: Any = editor.console.app._app
    inner.state.parts = replace(inner.state.parts, terms=Terms(private=False))
    for toml in (
        'seeds = ["http://192.168.0.1/"]',
        'seeds = ["https://a.test/"]\n[after]\ncommand = ["rm", "-r"]',
        'seeds = ["https://a.test/"]\n[fetch]\nca_file = "/etc/passwd"',
    ):
        assert editor.post("/crawls/new", toml=toml, action="run").status_code == 422
        answer = editor.post("/crawls/2/settings", **(editor.opened() | {"toml": toml}), action="save")
        assert answer.status_code == 422
    assert editor.kept() == TOML
    assert editor.console.started.words == []
    assert editor.post("/crawls/new", seeds="public.example", action="run").status_code == 200
    assert "--public-only" in editor.console.started.words[0]


def test_a_run_of_other_settings_is_told(editor: Editor, store: MadeStore) -> None:
    """The settings say when the last run had others, with what differs; they do not where both are the same."""
    told = "had other settings than those that stand here"
    store.add_run(toml='seeds = ["https://a.test/"]')
    assert told not in editor.console.page("/crawls/1/settings")
    form = editor.opened(1)
    text = form["toml"] + "\n[limits]\nmax_depth = 7\n"
    assert editor.post("/crawls/1/settings", **form | {"toml": text, "action": "save"}).status_code == 200
    page = editor.console.page("/crawls/1/settings")
    assert told in page
    assert re.search(r"<li><code>limits.max_depth</code>: [^<]* → 7</li>", page)
    assert page.count("<li><code>") == 1
    assert told not in editor.console.page("/crawls/2/settings")
