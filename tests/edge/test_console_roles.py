"""Who may do what in the console: owners and viewers, their passwords and tokens, what is written down of changes."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.edge.test_console import BASE, DAY, Console, HandClock
from tests.made_store import STARTED_AT, MadeStore

from purlieu.cli.main import main
from purlieu.cli.serve_keys import of_environment
from purlieu.console import grant
from purlieu.console.guard import MOST_TRIES, SESSION_SECONDS, TRIES
from purlieu.console.keys import Keys, Role, hashed, is_hash
from purlieu.console.parts import Terms
from purlieu.errors import SettingsError
from purlieu.settings import read

OWNER, VIEWER, TOKEN = "the owner's password", "the viewer's password", "a-token-of-a-program"
HASHES = Keys({Role.OWNER: (hashed(OWNER),), Role.VIEWER: (hashed(VIEWER), hashed(TOKEN))})
ORIGIN = {"origin": BASE}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with one run."""
    made = MadeStore(tmp_path / "made.db")
    made.page("https://a.test/", title="Home")
    yield made
    made.close()


@pytest.fixture
def console(store: MadeStore) -> Console:
    """Return a console with a password for owners and a password and a token for viewers."""
    return Console(store, HandClock(STARTED_AT + DAY), keys=HASHES)


def signed_in(console: Console, given: str) -> TestClient:
    """Return a client that signed in by the form."""
    client = console.stranger()
    assert client.post("/login", data={"password": given}, headers=ORIGIN).status_code == 200
    return client


def key_of(client: TestClient) -> str:
    """Return the key of the session, as the form to sign out has it."""
    found = re.search(r'name="form_key" value="([^"]+)"', client.get("/").text)
    assert found
    return found[1]


def changing(console: Console) -> list[str]:
    """Return every address that changes something, with 1 for each number."""
    routes = [one for one in console.app._app.routes if isinstance(one, Route)]  # type: ignore[attr-defined]
    paths = {re.sub(r"\{\w+:int\}", "1", one.path) for one in routes if "POST" in (one.methods or ())}
    return sorted(path.replace("{what}", "off") for path in paths - {"/login", "/logout"})


def test_a_viewer_changes_nothing(console: Console) -> None:
    """A viewer sees the pages without a button, and every address that changes something refuses them (issue 6)."""
    viewer = signed_in(console, VIEWER)
    for address in ("/", "/crawls/1", "/crawls/1/settings", "/crawls/1/schedules", "/runs/1", "/runs/1/tree"):
        answer = viewer.get(address)
        assert answer.status_code == 200, address
        forms = re.findall(r"<form[^>]*method=\"post\"[^>]*action=\"([^\"]+)", answer.text)
        assert set(forms) == {"/logout"}, address
        assert "/crawls/new" not in answer.text
        assert "/delete" not in answer.text
    for address in ("/crawls/new", "/crawls/1/delete"):
        assert viewer.get(address).status_code == 403
    paths = changing(console)
    assert {"/crawls/1/run", "/runs/1/stop", "/crawls/1/schedules/add"} <= set(paths)
    for path in paths:
        answer = viewer.post(path, data={"form_key": key_of(viewer)}, headers=ORIGIN)
        assert answer.status_code == 403, path
        assert "You may look, but change nothing" in answer.text
    assert console.started.words == []
    assert viewer.get("/changes").status_code == 404


def test_a_viewer_looks_at_settings(console: Console, store: MadeStore) -> None:
    """A viewer sees the settings with every field locked and a word that says why, and may ask whether a URL is in."""
    store.add_run(toml='seeds = ["https://a.test/"]')
    shown = signed_in(console, VIEWER).get("/crawls/1/settings", params={"try": "https://a.test/x"}).text
    assert "You can look at these settings and not change them" in shown
    assert '<fieldset id="fields" class="looked" disabled' in shown
    assert re.search(r'<textarea id="toml"[^>]* readonly>', shown)
    assert "hx-post" not in shown
    assert 'value="save"' not in shown
    assert "<strong>In</strong>" in shown
    mine = signed_in(console, OWNER).get("/crawls/1/settings").text
    assert "You can look at these" not in mine
    assert "disabled" not in mine


def test_an_owner_changes_what_a_viewer_sees(console: Console) -> None:
    """The owner's password opens what the viewer's does not."""
    owner = signed_in(console, OWNER)
    assert 'action="/crawls/1/run"' in owner.get("/crawls/1").text
    assert owner.post("/crawls/1/run", data={"form_key": key_of(owner)}, headers=ORIGIN).status_code == 200
    assert console.started.words[0][:3] == ["crawl", "--again", "made"]


def test_a_token_stands_for_a_password(console: Console) -> None:
    """A program reads with ``Authorization: Bearer``, changes nothing with it, and a wrong one is told as a problem."""
    program = console.stranger()
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert program.get("/api/runs", headers=bearer).json()[0]["run"] == 1
    assert program.get("/runs/1/files/csv", headers=bearer).status_code == 200
    assert "set-cookie" not in program.get("/api/runs", headers=bearer).headers
    assert program.post("/crawls/1/run", headers={**bearer, **ORIGIN}).status_code == 403
    wrong = program.get("/api/runs", headers={"authorization": "Bearer wrong"})
    assert (wrong.status_code, wrong.headers["www-authenticate"]) == (401, "Bearer")
    assert wrong.headers["content-type"] == "application/problem+json"
    assert (wrong.json()["code"], wrong.json()["status"]) == ("token", 401)


def test_wrong_tokens_are_throttled(console: Console) -> None:
    """Wrong tokens and passwords of one caller count together, and the right one that was shown before still passes."""
    program = console.stranger()
    right = {"authorization": f"Bearer {TOKEN}"}
    assert program.get("/api/runs", headers=right).status_code == 200
    for number in range(TRIES):
        assert program.get("/api/runs", headers={"authorization": f"Bearer {number}"}).status_code == 401
    assert program.get("/api/runs", headers={"authorization": "Bearer 99"}).status_code == 429
    assert program.post("/login", data={"password": OWNER}, headers=ORIGIN).status_code == 429
    assert program.get("/api/runs", headers=right).status_code == 200
    console.clock.advance(61)
    assert program.get("/api/runs", headers={"authorization": "Bearer 99"}).status_code == 401


def test_many_callers_are_throttled_together(console: Console) -> None:
    """Guessing from many addresses is slowed down too, and one caller's errors are not another's."""
    door = console.door
    for number in range(TRIES):
        assert door.may_try("192.0.2.1"), number
    assert not door.may_try("192.0.2.1")
    others = [f"192.0.2.{2 + number}" for number in range(MOST_TRIES)]
    assert sum(door.may_try(other) for other in others) == MOST_TRIES - TRIES
    console.clock.advance(61)
    assert door.may_try("192.0.2.1")
    door.was_right("192.0.2.1")
    assert all(door.may_try("192.0.2.1") for _ in range(TRIES))


def test_a_session_is_new_at_each_sign_in(console: Console) -> None:
    """A cookie that somebody else set is not taken, and signing in again ends the session before (session fixation)."""
    keys = ["chosen-by-somebody-else"]
    for given in (VIEWER, OWNER):
        headers = {**ORIGIN, "cookie": f"purlieu_8760={keys[-1]}"}
        answer = console.stranger().post("/login", data={"password": given}, headers=headers, follow_redirects=False)
        assert answer.status_code == 303
        keys.append(answer.cookies["purlieu_8760"])
    assert len(set(keys)) == 3
    first = keys[1]
    thief = console.stranger()
    thief.cookies.set("purlieu_8760", first)
    assert 'type="password"' in thief.get("/").text


def test_signing_out_ends_the_session(console: Console) -> None:
    """After signing out the cookie opens nothing, for viewers too; and a session ends by itself."""
    viewer = signed_in(console, VIEWER)
    cookie = dict(viewer.cookies)["purlieu_8760"]
    viewer.post("/logout", data={"form_key": key_of(viewer)}, headers=ORIGIN)
    viewer.cookies.set("purlieu_8760", cookie)
    assert 'type="password"' in viewer.get("/").text
    owner = signed_in(console, OWNER)
    console.clock.advance(SESSION_SECONDS + 1)
    assert 'type="password"' in owner.get("/").text


@pytest.mark.parametrize(
    "headers",
    [
        {"x-forwarded-host": "evil.test"},
        {"x-forwarded-for": "127.0.0.1"},
        {"authorization": "Basic b3duZXI6eA=="},
        {"cookie": "purlieu_8760=; purlieu_8760=x"},
    ],
)
def test_other_headers_let_nobody_in(console: Console, headers: dict[str, str]) -> None:
    """Nothing but a session, a password or a token lets in, whatever a request says of itself."""
    assert console.stranger().get("/api/runs", headers=headers).status_code == 403


@pytest.mark.parametrize("back", ["/\r\nset-cookie: a=b", "/%0d%0aset-cookie:a=b", "//evil.test", "/\u2028"])
def test_no_header_is_injected(console: Console, back: str) -> None:
    """What comes from an address cannot end a header, neither in the way back nor in a cookie."""
    owner = signed_in(console, OWNER)
    for path, to in (("/language", "ja"), ("/zone", "Asia/Tokyo")):
        answer = owner.get(path, params={"to": to, "back": back}, follow_redirects=False)
        assert answer.status_code == 303
        assert "a=b" not in answer.headers.get("set-cookie", "")
        assert not answer.headers["location"].startswith("//")


# -- what is written down ----------------------------------------------------------------------------------------------


def test_each_change_is_written_down(console: Console) -> None:
    """A line says when, from where, who, what, and what it was before and after; owners see them, the newest first."""
    owner = signed_in(console, OWNER)
    form = {"form_key": key_of(owner), "cron": "0 3 * * *", "zone": "Asia/Tokyo"}
    owner.post("/crawls/1/schedules/add", data=form, headers=ORIGIN)
    owner.post("/crawls/1/schedules/1/remove", data=form, headers=ORIGIN)
    lines = [json.loads(line) for line in console.audit.read_text().splitlines()]
    assert [(line["action"], line["role"]) for line in lines] == [
        ("login", "owner"), ("schedule_add", "owner"), ("schedule_remove", "owner")
    ]  # fmt: skip
    assert lines[1]["after"] == lines[2]["before"] != lines[1]["before"]
    assert stat.S_IMODE(console.audit.stat().st_mode) == 0o600
    assert OWNER not in console.audit.read_text()
    shown = owner.get("/changes").text
    assert shown.index("removed a schedule") < shown.index("added a schedule") < shown.index("signed in")


def test_a_change_that_cannot_be_written_down_is_not_made(console: Console) -> None:
    """Where the file of changes cannot be written nothing is changed, and the page says what to do."""
    owner = signed_in(console, OWNER)
    key = key_of(owner)
    console.audit.unlink()
    console.audit.mkdir()
    answer = owner.post("/crawls/1/run", data={"form_key": key}, headers=ORIGIN)
    assert answer.status_code == 500
    assert "A file or folder cannot be used" in answer.text
    assert "Traceback" not in answer.text
    assert console.started.words == []


def test_a_long_file_of_changes_is_read_from_its_end(console: Console) -> None:
    """A hundred lines at a time are shown, whatever else stands in the file, each once."""
    owner = signed_in(console, OWNER)
    filler = "x" * 900
    with console.audit.open("a") as file:
        for number in range(250):
            file.write(json.dumps({"at": "2026-01-01T00:00:00Z", "action": f"did {number}", "why": filler}) + "\n")
        file.write("no json\n[1]\n")
    found: list[str] = []
    address = "/changes"
    for _ in range(5):
        text = owner.get(address).text
        found += re.findall(r"did \d+", text)
        following = re.search(r'rel="next" href="(\?[^"]+)"', text)
        if following is None:
            break
        address = f"/changes{following[1]}"
    assert found == [f"did {number}" for number in reversed(range(250))]


# -- keys from the environment -----------------------------------------------------------------------------------------


def test_keys_come_from_variables_and_files(tmp_path: Path) -> None:
    """A variable has a password or its hash, a file its hash alone; each proves its own role."""
    file = tmp_path / "viewer"
    file.write_text(hashed(VIEWER) + "\n")
    keys = of_environment({"PURLIEU_CONSOLE_PASSWORD": OWNER, "PURLIEU_CONSOLE_VIEWER_TOKEN_FILE": str(file)})
    assert (keys.role_of(OWNER), keys.role_of(VIEWER), keys.role_of("other")) == (Role.OWNER, Role.VIEWER, None)
    assert not of_environment({})


def test_every_mistake_of_keys_is_told_at_once(tmp_path: Path) -> None:
    """A short password, part of a hash, a file in clear and one that is not there are refused, and none is shown."""
    clear = tmp_path / "clear"
    clear.write_text("a secret in clear")
    with pytest.raises(SettingsError) as told:
        of_environment(
            {
                "PURLIEU_CONSOLE_PASSWORD": "short",
                "PURLIEU_CONSOLE_TOKEN": "$argon2id$v=19$m=65536",
                "PURLIEU_CONSOLE_VIEWER_PASSWORD_FILE": str(clear),
                "PURLIEU_CONSOLE_VIEWER_TOKEN_FILE": str(tmp_path / "none"),
            }
        )
    assert len(told.value.mistakes) == 4
    assert "a secret in clear" not in str(told.value)
    assert "short" not in str(told.value)


def test_a_hash_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """``purlieu serve --hash`` reads a password and prints its hash, which proves it; a short one is refused."""
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(OWNER + "\n"))
    assert main(["serve", "--hash"]) == 0
    printed = capsys.readouterr().out.strip()
    assert is_hash(printed)
    assert Keys({Role.OWNER: (printed,)}).role_of(OWNER) is Role.OWNER
    monkeypatch.setattr("sys.stdin", io.StringIO("short\n"))
    assert main(["serve", "--hash"]) == 2


# -- what may be opened from elsewhere ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('seeds = ["http://127.0.0.1/"]', "seeds"),
        ('seeds = ["http://10.1.2.3/"]', "seeds"),
        ('seeds = ["http://[::1]/"]', "seeds"),
        ('seeds = ["http://169.254.169.254/latest/"]', "seeds"),
        ('seeds = ["http://localhost:9200/"]', "seeds"),
        ('seeds = ["http://intranet/"]', "seeds"),
        ('seeds = ["https://a.test/"]\n[fetch]\nallow_addresses = ["private"]', "fetch.allow_addresses"),
        ('seeds = ["https://a.test/"]\n[fetch]\nproxy = "http://127.0.0.1:6379"', "fetch.proxy"),
        ('seeds = ["https://a.test/"]\n[after]\ncommand = ["rm", "-r"]', "after.command"),
        ('seeds = ["https://a.test/"]\n[sitemap]\nfiles = ["http://192.168.0.1/s.xml"]', "sitemap.files"),
        ('seeds = ["https://a.test/"]\n[[site]]\nurl = "http://172.16.0.1/"', "site.url"),
        ('seeds = ["https://a.test/"]\n[fetch]\nca_file = "/etc/shadow"', "fetch.ca_file"),
        ('seeds = ["https://a.test/"]\noutput = "/var/www"', "output"),
    ],
)
def test_settings_from_elsewhere_open_nothing_here(text: str, key: str) -> None:
    """Settings saved from another machine open no network, program, file or secret of this one (R-5.1)."""
    assert [one.key for one in grant.mistakes(read(text))] == [key]


def test_usual_settings_may_be_saved_from_elsewhere() -> None:
    """A crawl of the public web is nobody's harm, and what the machine's owner set before may stand as it stood."""
    assert grant.mistakes(read('seeds = ["https://www.example.com/"]')) == ()
    owned = read('seeds = ["https://a.test/"]\n[after]\ncommand = ["notify"]')
    assert grant.mistakes(owned, owned) == ()
    other = read('seeds = ["https://a.test/"]\n[after]\ncommand = ["notify", "-x"]')
    assert [one.key for one in grant.mistakes(other, owned)] == ["after.command"]
    private = read('seeds = ["http://10.0.0.1/"]')
    assert [one.key for one in grant.mistakes(private, private)] == ["seeds"]


def test_settings_kept_from_elsewhere_stay_public() -> None:
    """Settings that are kept from elsewhere say that they open nothing private, whoever runs them later (R-5.1)."""
    text = '# mine\nseeds = ["https://a.test/"]\n'
    kept = grant.closed(text, Terms(private=False))
    assert read(kept).fetch.public_only
    assert kept.startswith(text)
    assert grant.closed(text, Terms()) == text


@pytest.mark.parametrize(("private", "words"), [(False, ["--public-only"]), (True, [])])
def test_a_run_from_elsewhere_stays_public(store: MadeStore, words: list[str], *, private: bool) -> None:
    """A run started from a console that others reach connects to no private address, unless it may (R-5.1)."""
    console = Console(store, HandClock(STARTED_AT + DAY), terms=Terms(private=private))
    form = {"form_key": console.form_key(), "cron": "0 3 * * *", "zone": "UTC"}
    console.client.post("/crawls/1/run", data=form, headers=ORIGIN)
    assert console.started.words == [["crawl", "--again", "made", *words, "--store", str(store.path), "--quiet"]]
    console.client.post("/crawls/1/schedules/add", data=form, headers=ORIGIN)
    assert list(store.connection.execute("SELECT public_only FROM schedule")) == [(not private,)]


def test_a_private_crawl_is_not_run_from_elsewhere(tmp_path: Path) -> None:
    """A crawl of this machine's network is neither run, resumed nor planned from elsewhere, and the page says why."""
    store = MadeStore(tmp_path / "private.db")
    number = store.add_run("inside", toml='seeds = ["http://10.0.0.1/"]', state="stopped", stop_reason="interrupted")
    console = Console(store, HandClock(STARTED_AT + DAY), terms=Terms(private=False))
    ((crawl,),) = store.connection.execute("SELECT id FROM crawl WHERE name = 'inside'")
    form = {"form_key": console.form_key(), "cron": "0 3 * * *", "zone": "UTC"}
    for path in (f"/crawls/{crawl}/run", f"/runs/{number}/resume", f"/crawls/{crawl}/schedules/add"):
        answer = console.client.post(path, data=form, headers=ORIGIN)
        assert answer.status_code == 403, path
        assert "--allow-private" in answer.text
    assert console.started.words == []
    store.close()
