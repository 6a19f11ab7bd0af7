"""The console without a browser: who may enter, what is shown of a store, and what hostile or stale requests get."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.made_store import STARTED_AT, MadeStore

from purlieu.cli.main import main
from purlieu.console.api import ENDPOINTS
from purlieu.console.app import STATIC, application
from purlieu.console.guard import HEADERS, SESSION_SECONDS, TRIES, Door, Guard
from purlieu.console.keys import Keys, Role, hashed
from purlieu.console.live import MOST_SECONDS
from purlieu.console.parts import Terms
from purlieu.console.speech import preferred
from purlieu.errors import StoreError
from purlieu.report.crawl_result import ZIP_NAME

BASE = "http://127.0.0.1:8760"
NASTY = 'https://a.test/?q="><script>alert(1)</script>'
DAY = 86_400.0
LARGE = (
    ("fetched", "ok", 200),
    ("missing", "not_found", 404),
    ("server_error", "5xx", 503),
    ("redirected", "permanent", 301),
)


class HandClock:
    """A clock that goes on when it is told to, or slept by; the console asks it from several threads."""

    def __init__(self, start: float) -> None:
        """Begin at ``start`` in seconds since the epoch."""
        self._at = start

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._at

    def monotonic(self) -> float:
        """Return the same."""
        return self._at

    async def sleep(self, seconds: float) -> None:
        """Go on by so much."""
        self._at += seconds
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Go on by so much."""
        self._at += seconds


class Started:
    """Remembers what was to be started; what it starts ends at once with ``status``."""

    def __init__(self) -> None:
        """Begin with nothing started."""
        self.words: list[list[str]] = []
        self.status = (0, "")

    async def __call__(self, words: list[str]) -> Started:
        """Remember the words."""
        self.words.append(words)
        return self

    async def wait(self) -> tuple[int, str]:
        """Return the status and the last words."""
        return self.status


class Console:
    """A console over a made store, asked through a client that has come in by the token."""

    def __init__(
        self,
        store: MadeStore,
        clock: HandClock,
        password: str = "",
        keys: Keys | None = None,
        terms: Terms | None = None,
    ) -> None:
        """Build it."""
        self.started = Started()
        self.clock = clock
        keys = keys or Keys({Role.OWNER: (password,)} if password else None)
        self.door = Door(frozenset({"127.0.0.1:8760"}), "purlieu_8760", clock.monotonic, keys)
        self.app: Guard = application(str(store.path), self.door, clock, self.started, terms=terms)
        self.client = self.stranger()
        self.audit = Path(f"{store.path}.audit.jsonl")
        self.client.get("/", params={"token": self.door.token})

    def stranger(self) -> TestClient:
        """Return a client that has not come in."""
        return TestClient(self.app, BASE, raise_server_exceptions=False, follow_redirects=True)

    def page(self, address: str, status: int = 200, language: str = "en") -> str:
        """Return the text of a page."""
        answer = self.client.get(address, headers={"accept-language": language})
        assert answer.status_code == status, answer.text
        return answer.text

    def form_key(self) -> str:
        """Return the key that the forms of the session carry."""
        found = re.search(r'name="form_key" value="([^"]+)"', self.page("/crawls/1"))
        assert found
        return found[1]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MadeStore]:
    """Yield a store with one run of hostile and usual pages."""
    made = MadeStore(tmp_path / "made.db")
    made.page("https://a.test/", title="Home")
    made.page("https://a.test/news/one", title="<img src=x onerror=alert(1)>")
    made.page("https://a.test/news/two", "missing.not_found", 404, title="Lost")
    made.page(NASTY, title="turned \u202e round")
    made.refusal("javascript:alert(1)", "scheme", "scheme")
    made.update_run(books={"balanced": True, "faults": []})
    yield made
    made.close()


@pytest.fixture
def console(store: MadeStore) -> Console:
    """Return a console over that store, a day after its run."""
    return Console(store, HandClock(STARTED_AT + DAY))


# -- the door ----------------------------------------------------------------------------------------------------------


def test_nobody_enters_without_the_token(console: Console) -> None:
    """Without the token of this start no page and no JSON is given, and a wrong token opens nothing (issue 6)."""
    stranger = console.stranger()
    for address in ("/", "/runs/1", "/api/runs", "/?token=wrong", "/crawls/1/result"):
        answer = stranger.get(address)
        assert answer.status_code == 403, address
        assert "a.test" not in answer.text


def test_the_token_becomes_a_cookie(console: Console) -> None:
    """The token is taken out of the address and stands for a cookie that no script and no other site can use."""
    answer = console.stranger().get(
        "/runs/1", params={"token": console.door.token, "kind": "missing"}, follow_redirects=False
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs/1?kind=missing")
    cookie = answer.headers["set-cookie"].lower()
    assert console.door.token not in cookie
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/"))


def test_a_redirect_leads_nowhere_else(console: Console) -> None:
    """A path of two slashes with the right token, and a way back that is not local, stay on this console."""
    answer = console.stranger().get(f"{BASE}//evil.test/", params={"token": console.door.token}, follow_redirects=False)
    assert answer.headers["location"].startswith("/evil.test/")
    for back in ("//evil.test/", "https://evil.test/", "/\\evil.test"):
        answer = console.client.get("/language", params={"to": "ja", "back": back}, follow_redirects=False)
        assert answer.headers["location"] == "/"


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1:9999", "localhost.evil.test:8760", ""])
def test_a_rebound_name_is_refused(console: Console, host: str) -> None:
    """A request under a name that is not on the list is refused, cookie or not: DNS rebinding."""
    answer = console.client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "made" not in answer.text.partition("<main")[2]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {},
    ],
)
def test_another_site_changes_nothing(console: Console, headers: dict[str, str]) -> None:
    """A change asked for by another origin, or by none that says so, is refused even with cookie and form key."""
    answer = console.client.post("/crawls/1/run", data={"form_key": console.form_key()}, headers=headers)
    assert answer.status_code == 403
    assert console.started.words == []


def test_a_change_needs_the_key_of_its_form(console: Console) -> None:
    """Every address that changes something refuses a form without the key of the session, and GET on it (CSRF)."""
    changing = [route for route in console.app._app.routes if "POST" in (getattr(route, "methods", None) or ())]  # type: ignore[attr-defined]
    paths = [re.sub(r"\{\w+:int\}", "1", route.path) for route in changing]
    shown = [route.path for route in console.app._app.routes if "GET" in (getattr(route, "methods", None) or ())]  # type: ignore[attr-defined]
    assert {"/crawls/1/run", "/runs/1/stop", "/runs/1/resume", "/crawls/1/delete"} <= set(paths)
    for path in set(paths) - {"/login", "/logout"}:
        for data in ({}, {"form_key": "wrong"}, {"form_key": "x" * 100_000}):
            assert console.client.post(path, data=data, headers={"origin": BASE}).status_code == 403
        if path not in {re.sub(r"\{\w+:int\}", "1", one) for one in shown}:  # where a GET shows the form
            assert console.client.get(path).status_code == 405
    assert console.started.words == []
    assert not console.audit.exists()


@pytest.mark.parametrize(
    "address", ["/", "/runs/1", "/runs/99", "/api/runs", "/static/console.css", "/nothing", "/static/../app.py"]
)
def test_every_answer_has_the_headers(console: Console, address: str) -> None:
    """Pages, errors, JSON and files all carry the policy that runs nothing inline and loads nothing from elsewhere."""
    for client in (console.client, console.stranger()):
        answer = client.get(address)
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
        assert "unsafe" not in answer.headers["content-security-policy"]


def test_a_page_needs_nothing_inline(console: Console) -> None:
    """No page has a script, style or handler in it, nor anything from another address (CSP, no CDN)."""
    for address in (
        "/",
        "/crawls/1",
        "/runs/1",
        f"/runs/1/url?u={NASTY}",
        "/runs/1/tree",
        "/runs/1/hosts",
        "/runs/1/map",
        "/compare",
    ):
        text = console.page(address)
        assert not re.search(r"<script(?![^>]*\bsrc=\"/static/)|<style|\sstyle=|\son\w+=\"|href=\"javascript:", text), (
            address
        )
        assert not re.search(r"(src|href)=\"(https?:)?//(?!a\.test)", text), address


def test_no_folder_is_listed(console: Console) -> None:
    """The static files are given by name only, and nothing outside of their folder is."""
    for address in ("/static/", "/static/vendor/", "/static/..%2fapp.py", "/static/%2e%2e/app.py"):
        assert console.client.get(address).status_code == 404


def test_a_password_stands_where_the_token_does_not(store: MadeStore) -> None:
    """With a password the token opens nothing, the right password does, and wrong ones are throttled (R: argon2)."""
    clock = HandClock(STARTED_AT)
    console = Console(store, clock, hashed("a long password"))
    stranger = console.stranger()
    assert 'type="password"' in stranger.get("/runs/1").text
    assert stranger.get("/api/runs").status_code == 403
    for _ in range(TRIES):
        assert stranger.post("/login", data={"password": "wrong"}, headers={"origin": BASE}).status_code == 403
    assert stranger.post("/login", data={"password": "a long password"}, headers={"origin": BASE}).status_code == 429
    clock.advance(61)
    answer = stranger.post("/login", data={"password": "a long password"}, headers={"origin": BASE})
    assert "Home" in stranger.get("/runs/1").text
    assert answer.status_code == 200
    assert [json.loads(line)["action"] for line in console.audit.read_text().splitlines()] == [
        "login_refused"
    ] * TRIES + ["login"]


def test_a_session_ends(console: Console) -> None:
    """A session is over after its time."""
    console.clock.advance(SESSION_SECONDS + 1)
    assert console.client.get("/").status_code == 403


# -- what is shown -----------------------------------------------------------------------------------------------------


def test_hostile_text_is_text(console: Console) -> None:
    """Titles and URLs of the web are shown as text, without what would turn a line round, and never as a link to run."""
    for address in ("/runs/1", "/runs/1?text=script", f"/runs/1/url?u={NASTY}", "/runs/1/tree?all=on", "/runs/1/map"):
        text = console.page(address)
        assert "<img src=x" not in text
        assert "<script>alert" not in text
        assert "\u202e" not in text
    assert 'href="javascript' not in console.page("/runs/1/url?u=javascript:alert(1)")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "stopped by the system"),
        ("ja", "システムによる停止"),
        ("zh", "被系统停止"),
        ("fr", "stopped by the system"),
    ],
)
def test_a_system_stop_is_told_in_each_language(store: MadeStore, language: str, words: str) -> None:
    """The list shows that a run was stopped by the system, and the crawl offers no file of an older run (MF-30, MF-53)."""
    store.add_run(state="failed", stop_reason="system:disk")
    console = Console(store, HandClock(STARTED_AT + DAY))
    assert words in console.page("/", language=language)
    assert "/crawls/1/result" not in console.page("/crawls/1", language=language)
    assert console.client.get("/crawls/1/result").status_code == 409


@pytest.mark.parametrize(("days", "is_there"), [(59, True), (61, False)])
def test_the_result_is_kept_sixty_days(store: MadeStore, days: int, *, is_there: bool) -> None:
    """The result of the latest run is downloaded for sixty days, then there is a message (MF-31, MF-53, MF-1)."""
    console = Console(store, HandClock(STARTED_AT + days * DAY))
    answer = console.client.get("/crawls/1/result")
    assert ("/crawls/1/result" in console.page("/crawls/1")) is is_there
    if is_there:
        assert ZIP_NAME in answer.headers["content-disposition"]
        assert zipfile.ZipFile(io.BytesIO(answer.content)).namelist() == ["crawl_result_detail.csv"]
    else:
        assert answer.status_code == 409
        assert "older than it is kept" in answer.text


@pytest.mark.parametrize("name", ["csv", "jsonl", "csv-spreadsheet", "crawl_result"])
def test_every_file_of_a_run_can_be_had(console: Console, name: str) -> None:
    """A run's files are downloaded by number and name, and by nothing else."""
    answer = console.client.get(f"/runs/1/files/{name}")
    assert answer.status_code == 200
    assert "attachment" in answer.headers["content-disposition"]
    assert len(answer.content) > 100
    for wrong in ("passwd", "..%2f..%2fetc%2fpasswd", "ledger.csv"):
        assert console.client.get(f"/runs/1/files/{wrong}").status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "/runs/99",
        "/crawls/99",
        "/runs/9999999999999999999999",
        "/runs/x",
        "/compare?after=99",
        "/runs/99/tree",
        "/runs/99/map",
        "/runs/1/map?at=https://elsewhere.test/",
        "/runs/1/url",
        "/api/runs/99",
    ],
)
def test_what_is_not_there_is_told(console: Console, address: str) -> None:
    """An unknown number or a stale link is a page that says so, with no traceback."""
    answer = console.client.get(address)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "after=[",
        "after=[null,1]",
        "after=[1e999,1]",
        "status=99999",
        "kind='--",
        "sort=x;y",
        "size=-1",
        "text=%00%ff",
        "section=" + "x" * 5000,
    ],
)
def test_what_was_typed_wrong_is_no_condition(console: Console, query: str) -> None:
    """A query that makes no sense shows a table all the same."""
    assert 'id="table"' in console.page(f"/runs/1?{query}")


def test_a_fault_shows_no_traceback(console: Console, store: MadeStore) -> None:
    """When the store is gone the page says what is wrong, and no more than that."""
    store.close()
    store.path.unlink()
    answer = console.client.get("/")
    assert answer.status_code == 503
    assert "The store is gone" in answer.text
    assert "Traceback" not in answer.text
    assert StoreError.__name__ not in answer.text


def test_a_bar_filters_the_table(console: Console) -> None:
    """Each bar of the outcomes is a link to the rows of its kind, which the table then shows alone."""
    assert 'href="?kind=missing#table-top"' in console.page("/runs/1")
    text = console.page("/runs/1?kind=missing")
    table = text[text.index('id="table"') :]
    assert "/news/two" in table
    assert "/news/one" not in table.partition("<tbody>")[2]


def test_the_table_alone_is_sent_where_it_alone_is_asked_for(console: Console) -> None:
    """What htmx asks for is the table without the page around it."""
    text = console.client.get("/runs/1?kind=missing", headers={"hx-target": "table"}).text
    assert text.lstrip().startswith('<div id="table"')
    assert "<html" not in text


def test_the_filter_with_nothing_selected_shows_its_message(console: Console) -> None:
    """The sitemap utility with the filter on and no section shows the message and no page (IB-5); off, all (IB-3)."""
    assert "There are no pages to show" in console.page("/runs/1/tree?filter=on")
    assert "表示できるページがありません" in console.page("/runs/1/tree?filter=on", language="ja")
    assert "/news/one" in console.page("/runs/1/tree?all=on")
    chosen = console.page("/runs/1/tree?all=on&filter=on&section=https://a.test/news/")
    assert "/news/one" in chosen
    assert "Home" not in chosen.partition("<tbody>")[2]


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("ja", "ja"),
        ("zh-TW,en;q=0.5", "zh"),
        ("fr,de", "en"),
        ("en;q=0.2,ja;q=0.9", "ja"),
        ("", "en"),
        ("ja;q=0,zh", "zh"),
        ("x" * 9999, "en"),
        ("ja;q=abc", "en"),
    ],
)
def test_the_browser_chooses_the_language(header: str, language: str) -> None:
    """Accept-Language is read by its weights (RFC 9110, 12.5.4)."""
    assert preferred(header) == language


def test_a_chosen_language_stands_over_the_browser(console: Console) -> None:
    """A language chosen on a page holds from then on."""
    console.client.get("/language", params={"to": "zh", "back": "/"})
    assert '<html lang="zh-Hans">' in console.page("/", language="ja")


# -- what is done ------------------------------------------------------------------------------------------------------


def test_a_run_is_started_as_a_process(console: Console) -> None:
    """Run now starts the command line with the settings of the last run, and leaves an audit line."""
    answer = console.client.post("/crawls/1/run", data={"form_key": console.form_key()}, headers={"origin": BASE})
    assert answer.status_code == 200
    assert console.started.words[0][:3] == ["crawl", "--again", "made"]
    (line,) = map(json.loads, console.audit.read_text().splitlines())
    assert (line["action"], line["crawl"]) == ("run", "made")


def test_what_a_process_says_is_shown(console: Console) -> None:
    """A process that refuses its settings is quoted, as text."""
    console.started.status = (2, "seeds = <b>")
    answer = console.client.post("/crawls/1/run", data={"form_key": console.form_key()}, headers={"origin": BASE})
    assert answer.status_code == 409
    assert "seeds = &lt;b&gt;" in answer.text


def test_a_run_under_way_is_asked_to_stop(console: Console, store: MadeStore) -> None:
    """Stop writes the wish into the store (R-8.5); a run that has ended cannot be stopped."""
    form = {"data": {"form_key": console.form_key()}, "headers": {"origin": BASE}}
    assert console.client.post("/runs/1/stop", **form).status_code == 409  # type: ignore[arg-type]
    store.update_run(state="running", ended_at=None)
    assert console.client.post("/runs/1/stop", **form).status_code == 200  # type: ignore[arg-type]
    assert list(store.connection.execute("SELECT stop_requested FROM run")) == [(1,)]


def test_a_finished_run_cannot_be_resumed(console: Console, store: MadeStore) -> None:
    """Resume goes on with a stopped run, by a process, and with no other."""
    form = {"data": {"form_key": console.form_key()}, "headers": {"origin": BASE}}
    assert console.client.post("/runs/1/resume", **form).status_code == 409  # type: ignore[arg-type]
    store.update_run(state="stopped", stop_reason="interrupted")
    assert console.client.post("/runs/1/resume", **form).status_code == 200  # type: ignore[arg-type]
    assert console.started.words == [["crawl", "--again", "made", "--resume", "--store", str(store.path), "--quiet"]]


def test_a_live_view_ends_with_its_run(console: Console) -> None:
    """The stream of a run that has ended says so at once."""
    answer = console.client.get("/runs/1/live")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "event: ended" in answer.text


def test_a_live_view_says_what_the_store_says(console: Console, store: MadeStore) -> None:
    """A run under way tells its counts once a second, and a stream is not for ever."""
    endings = {"fetched.ok": 30, "missing.gone": 4}
    counters = {"admitted": 50, "requests": 41, "bytes": 9_000, "endings": endings}
    store.update_run(state="running", ended_at=None, counters=counters, active_seconds=10)
    text = console.client.get("/runs/1/live").text
    assert text.count("event: state") == MOST_SECONDS
    first = text.split("event: state")[1]
    assert "event: ended" not in text
    assert all(f"<dd>{number}</dd>" in first for number in (30, 4, 16, 41))


# -- the API and the files of others -----------------------------------------------------------------------------------


def test_the_api_is_described(console: Console) -> None:
    """Each address of the API is in its OpenAPI description and answers JSON."""
    paths = console.client.get("/api/openapi.json").json()["paths"]
    assert set(paths) == {one.path for one in ENDPOINTS}
    for path in paths:
        query = {"u": "https://a.test/"} if path.endswith("/url") else {"before": "1", "after": "1"}
        if "get" not in paths[path] or "{job}" in path:
            continue
        answer = console.client.get(path.replace("{run}", "1").replace("{crawl}", "1"), params=query)
        assert answer.status_code == 200, path
        answer.json()


def test_every_route_of_the_api_is_described(console: Console) -> None:
    """What answers under /api is in the OpenAPI description with its method and the numbers in its path, but itself."""
    described = console.client.get("/api/openapi.json").json()["paths"]
    routes = [one for one in console.app._app.routes if isinstance(one, Route) and one.path.startswith("/api")]  # type: ignore[attr-defined]
    found = {
        (re.sub(r":\w+\}", "}", one.path), method.lower())
        for one in routes
        for method in (one.methods or set()) - {"HEAD"}
    }
    told = {(path, method) for path, methods in described.items() for method in methods}
    assert found - told == {("/api/openapi.json", "get")}
    assert told <= found
    for path, methods in described.items():
        for one in methods.values():
            named = {each["name"] for each in one.get("parameters", ()) if each["in"] == "path"}
            assert named == set(re.findall(r"\{(\w+)\}", path)), path


def test_the_api_gives_the_ledger_page_by_page(console: Console) -> None:
    """The rows of the API are those of the ledger, each once, by the place that the last answer gave."""
    found, after = [], ""
    while True:
        told = console.client.get("/api/runs/1/ledger", params={"size": "25", "after": after}).json()
        found += [row["href"] for row in told["rows"]]
        after = told["after"]
        if not after:
            break
    assert len(found) == len(set(found)) == 5


def test_a_hundred_thousand_rows_are_paged_by_key(tmp_path: Path) -> None:
    """Every row of a large ledger comes once, in each order and with each filter, and the last page is the end."""
    made = MadeStore(tmp_path / "large.db")
    host, origin = made.host("a.test"), made.origin("https://a.test/")
    rows = [
        (made.run, host, n * 2_654_435_761 % 2**32, f"https://a.test/{n % 7}/{n}", origin, *LARGE[n % len(LARGE)])
        for n in range(100_000)
    ]
    made.connection.execute("BEGIN")
    made.connection.executemany(
        "INSERT INTO entry (run, host, purpose, hash, href, origin, depth, hops, nofollow, found_by, via, linked, rule, kind, reason,"
        " status, ended_at) VALUES (?, ?, 0, ?, ?, ?, 0, 0, 0, 'link', '', 1, 'same-host', ?, ?, ?, 1)", rows,
    )  # fmt: skip
    made.connection.execute("COMMIT")
    made.close()
    console = Console(made, HandClock(STARTED_AT + DAY))

    def counted(**query: str) -> int:
        found: set[str] = set()
        after: str | None = ""
        number = 0
        while after is not None:
            told = console.client.get("/api/runs/1/ledger", params={"size": "200", "after": after, **query})
            if told.status_code == 202:  # being laid out
                continue
            number += len(told.json()["rows"])
            found |= {row["href"] for row in told.json()["rows"]}
            after = told.json()["after"]
        assert len(found) == number
        return number

    assert counted(kind="missing", sort="status", order="desc") == 25_000
    assert counted(kind="missing", section="https://a.test/3/") == sum(1 for n in range(3, 100_000, 7) if n % 4 == 1)
    assert counted(text="/99") == sum(1 for n in range(100_000) if "/99" in f"/{n % 7}/{n}")
    assert counted(text="1/99999") == counted(text="ne/") == 0
    assert counted(text="T/4/9", sort="bytes", order="desc") == sum(1 for n in range(4, 100_000, 7) if str(n)[0] == "9")
    assert counted(changed="any") == counted(within="https://a.test/none/") == counted(text="zq") == 0
    assert counted(within="https://a.test/3/", kind="missing", sort="depth") == counted(
        kind="missing", section="https://a.test/3/"
    )
    assert counted(sort="kind", order="desc") == counted(sort="reason") == 100_000
    assert counted(text='"') == counted(text="%") == 0
    assert counted(status="503", sort="bytes") == 25_000
    assert 'rel="next"' in console.page("/runs/1")


def test_vendored_files_are_what_they_say() -> None:
    """Each file of others has its version, licence and sum in the list beside it, and the sum is right."""
    vendor = STATIC / "vendor"
    listed = dict(re.findall(r"^\| `([^`]+)` .*`([0-9a-f]{64})` \|$", (vendor / "README.md").read_text(), re.MULTILINE))
    kept = {path.name for path in vendor.iterdir()} - {"README.md"}
    assert kept == set(listed) | {"htmx.LICENSE"}
    for name, told in listed.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "set a password"),
        (["--host", "::"], "set a password"),
        (["--host", "crawler.example.com"], "write an address of this machine"),
        (["--port", "http"], "write a number"),
    ],
)
def test_it_listens_elsewhere_only_with_a_password(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where others could reach it the console does not start without a password, and says what to do."""
    assert main(["serve", "--store", str(tmp_path / "none.db"), *words]) == 2
    assert told in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_version_is_told_without_the_console() -> None:
    """``purlieu --version`` imports neither the web framework nor the templates (R-9.2)."""
    asked = "import sys; from purlieu.cli.main import main; main(['--version']); print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert {"starlette", "jinja2", "uvicorn", "argon2"}.isdisjoint(told.split())
