"""``purlieu feed``: search engines are told what changed, and what they have not acknowledged is told again."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import opensearchpy
import pytest
from opensearchpy.helpers import bulk, expand_action
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.cli.main import main
from purlieu.crawl.feeding import LONGEST_WAIT, MOST_BYTES, Sender, Tally, feed
from purlieu.errors import FeedError
from purlieu.feed import FORMS, Change, Target, asked, id_of
from purlieu.response import Request
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.loopback import Loopback, Received, message, reset
from purlieu.testing.web import FakeWeb, Made, answer

Trouble = Callable[[int, Received], bytes | None]


class Engine(Loopback):
    """A server that speaks the bulk form of each engine, keeps what it is told, and records every request.

    ``trouble`` may answer a request instead, by its number; ``bad`` words make a document that is refused.
    """

    def __init__(self, trouble: Trouble | None = None, bad: str = "no such word") -> None:
        """Serve; nothing is refused unless told."""
        super().__init__(self._meet_request)
        self.documents: dict[str, dict[str, Any]] = {}
        self.trouble = trouble
        self.bad = bad
        self.tasks: list[dict[str, Any]] = []

    async def _meet_request(self, received: Received, out: asyncio.StreamWriter) -> bool:
        told = self.trouble(len(self.log), received) if self.trouble else None
        if told == b"reset":
            reset(out)
            return False
        out.write(told if told is not None else self._answered(received))
        return True

    def _answered(self, received: Received) -> bytes:
        path = received.path
        if path.startswith("/tasks/"):
            return said(self.tasks[int(path.removeprefix("/tasks/"))])
        if path == "/_bulk":
            return said(self._bulk(received.body))
        if path.endswith("/delete-batch"):
            for ident in json.loads(received.body):
                self.documents.pop(ident, None)
            return self._task("")
        if path.endswith("/documents"):
            return self._task(self._add(list(map(json.loads, received.body.splitlines()))))
        return self._solr(received.body)

    def _bulk(self, body: bytes) -> dict[str, Any]:
        lines = iter(body.decode().split("\n")[:-1])
        items = []
        for line in lines:
            ((operation, about),) = json.loads(line).items()
            assert set(about) == {"_index", "_id"}
            if operation == "delete":
                status = 200 if self.documents.pop(about["_id"], None) else 404
            else:
                status = 400 if self._add([json.loads(next(lines)) | {"id": about["_id"]}]) else 201
            error = {"type": "mapper_parsing_exception", "reason": "a bad word"} if status == 400 else None
            items.append({operation: {**about, "status": status, **({"error": error} if error else {})}})
        return {"took": 1, "errors": any("error" in one for item in items for one in item.values()), "items": items}

    def _add(self, documents: list[dict[str, Any]]) -> str:
        if any(self.bad in json.dumps(one) for one in documents):
            return "a bad word"
        self.documents |= {one["id"]: one for one in documents}
        return ""

    def _task(self, trouble: str) -> bytes:
        self.tasks.append({"status": "failed", "error": {"message": trouble}} if trouble else {"status": "succeeded"})
        return said({"taskUid": len(self.tasks) - 1, "status": "enqueued"}, status=202)

    def _solr(self, body: bytes) -> bytes:
        commands = json.loads(body, object_pairs_hook=list)
        adds = [dict(value[0][1]) for name, value in commands if name == "add"]
        if trouble := self._add(adds):
            return said({"responseHeader": {"status": 400}, "error": {"msg": trouble, "code": 400}}, status=400)
        for name, value in commands:
            if name == "delete":
                self.documents.pop(value[0][1], None)
        return said({"responseHeader": {"status": 0, "QTime": 1}})


def said(value: object, status: int = 200, **headers: str) -> bytes:
    """Return an answer in JSON."""
    told = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
    return message(json.dumps(value).encode(), status=status, headers=told)


TEXT = {"keep": "text", "name": "shop", "traps": {"soft_404": False}}
LATER = FakeClock(START + 86_400)


def pages(**more: Any) -> FakeWeb:
    """Return a web whose home page links to all pages."""
    made = {f"{HOME}{name}": page for name, page in more.items()}
    return FakeWeb({HOME: html(*more, title="Home", body="home"), **made})


def page(name: str, body: str = "") -> str:
    """Return a page with a title and a text."""
    return html(title=name, body=f"<p>{body or name} is what is said here")


def first_crawl(store: Path) -> dict[str, Any]:
    """Crawl three pages and a home page."""
    web = {name: page(name) for name in ("stays", "changes", "goes")}
    crawl(pages(**web), made_settings(store, TEXT))
    return web


def second_crawl(store: Path, web: dict[str, Any]) -> None:
    """Crawl again, with one page changed, one gone and one new."""
    web |= {"changes": page("changes", "another text"), "goes": 404, "comes": page("comes")}
    crawl(pages(**web), made_settings(store, TEXT), FakeClock(START + 86_400))


def run(store: Path, form: str, *more: str, engine: Engine | None = None) -> int:
    """Type ``purlieu feed`` for the crawl of a store."""
    where = ["--url", engine.origin] if engine else []
    return main(["feed", "shop", "--to", form, "--store", str(store), *where, *more])


def names(engine: Engine) -> set[str]:
    """Return the pages that an engine has."""
    return {one["url"].removeprefix(HOME) for one in engine.documents.values()}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "jsonl"])
def test_an_engine_has_what_the_crawl_has(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first feed tells of all pages, the next of what was added, changed and removed, one more of nothing."""
    store = tmp_path / "s.db"
    web = first_crawl(store)
    with Engine() as engine:
        assert run(store, form, engine=engine) == 0
        assert names(engine) == {"", "stays", "changes", "goes"}
        assert set(engine.documents) == {id_of(one["url"]) for one in engine.documents.values()}
        second_crawl(store, web)
        capsys.readouterr()
        assert run(store, form, "--json", engine=engine) == 0
        told = json.loads(capsys.readouterr().out)
        # The home page has another link, and says "x" for it as well.
        assert (told["added"], told["changed"], told["removed"]) == (1, 2, 1)
        assert names(engine) == {"", "stays", "changes", "comes"}
        assert "another text" in engine.documents[id_of(f"{HOME}changes")]["text"]
        asked_for = len(engine.log)
        assert run(store, form, engine=engine) == 0
        assert len(engine.log) == asked_for
        assert run(store, form, "--full", "--json", engine=engine) == 0
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["changed"] == 4


@pytest.mark.parametrize("form", [form for form in FORMS if form != "jsonl"])
def test_a_refused_record_is_told_and_offered_again(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One bad record keeps no other out; it is listed with its reason, and told again until it is taken."""
    store = tmp_path / "s.db"
    first_crawl(store)
    with Engine(bad="goes is") as engine:
        assert run(store, form, engine=engine) == 1
        assert names(engine) == {"", "stays", "changes"}
        out = capsys.readouterr().out
        assert f"{HOME}goes" in out
        assert "a bad word" in out
        engine.bad = "no such word"
        assert run(store, form, "--json", engine=engine) == 0
        assert json.loads(capsys.readouterr().out)["added"] == 1
        assert names(engine) == {"", "stays", "changes", "goes"}


TROUBLES: dict[str, Trouble] = {
    "429": lambda number, _: said({}, status=429, Retry_After="0") if number == 1 else None,
    "503": lambda number, _: said({}, status=503, Retry_After="0") if number < 4 else None,
    "reset": lambda number, _: b"reset" if number == 1 else None,
    "cut": lambda number, _: said({"items": []})[:-4] + b"" if number == 0 else None,
    "413": lambda _, received: said({}, status=413) if len(received.body.splitlines()) > 2 else None,
}


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_that_passes_costs_nothing(name: str, tmp_path: Path) -> None:
    """429 and 503 with Retry-After, a connection that breaks and a body that is too large: all is told in the end."""
    store = tmp_path / "s.db"
    first_crawl(store)
    with Engine(TROUBLES[name]) as engine:
        assert run(store, "opensearch", engine=engine) == 0
        assert names(engine) == {"", "stays", "changes", "goes"}


def test_a_server_that_is_down_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Words with a remedy and status 1; the next feed tells of all that was not acknowledged."""
    store = tmp_path / "s.db"
    first_crawl(store)
    with Engine(lambda *_: said({"error": "who are you"}, status=401)) as engine:
        assert run(store, "opensearch", engine=engine) == 1
        assert "status 401: who are you; name its credentials" in capsys.readouterr().err
        engine.trouble = lambda *_: said({}, status=503, Retry_After="86400")
        assert run(store, "opensearch", engine=engine) == 1
        assert "left alone for 86,400 s" in capsys.readouterr().err
        engine.trouble = lambda *_: said({"items": [1]})
        assert run(store, "opensearch", engine=engine) == 1
        engine.trouble = None
        assert run(store, "opensearch", engine=engine) == 0
        assert names(engine) == {"", "stays", "changes", "goes"}


def test_a_page_that_could_not_be_had_once_stays(tmp_path: Path) -> None:
    """An error of the site's server removes nothing, noindex does."""
    store = tmp_path / "s.db"
    web = first_crawl(store)
    closed = html(title="goes", head='<meta name="robots" content="noindex">')
    with Engine() as engine:
        assert run(store, "opensearch", engine=engine) == 0
        crawl(pages(**web | {"stays": 500, "goes": closed}), made_settings(store, TEXT), FakeClock(START + 86_400))
        assert run(store, "opensearch", engine=engine) == 0
        assert names(engine) == {"", "stays", "changes"}


CHANGES = [Change("added", id_of(f"u{n}"), f"u{n}", {"id": id_of(f"u{n}"), "url": f"u{n}", "text": "x\u2028" * 10})
           for n in range(9)]  # fmt: skip
REMOVED = [Change("removed", id_of(f"u{n}"), f"u{n}") for n in range(3)]


def send(web: Callable[[Request], Made], changes: list[Change], form: str = "opensearch") -> tuple[Tally, list[int]]:
    """Return what became of changes that are told to a made server, and the keys that were written down."""
    kept: list[int] = []
    tally = Tally()
    target = Target(form, "http://search.test:9200", "shop")

    async def told() -> None:
        sender = Sender(target, FakeWeb(web), FakeClock(), [("Authorization", "secret")])
        await feed(sender, target, [list(enumerate(changes))], kept.extend, tally)

    try:
        asyncio.run(told())
    except FeedError:
        kept.append(-1)
    return tally, kept


def taken(request: Request) -> Made:
    """Return the answer of a server that takes all."""
    lines = request.body.decode().split("\n")
    operations = [json.loads(line) for line in lines if '"_id"' in line]
    items = [{name: {"status": 200} for name in one} for one in operations]
    return answer(json.dumps({"errors": False, "items": items}), url=request.url)


def test_the_state_moves_on_with_each_answer() -> None:
    """What was acknowledged before a server goes down is not told again; large records are told apart."""
    large = [Change("added", f"{n}", f"u{n}", {"text": "x" * (MOST_BYTES - 100)}) for n in range(3)]
    asked_for: list[Request] = []

    def web(request: Request) -> Made:
        asked_for.append(request)
        return taken(request) if len(asked_for) < 3 else answer("", status=500, url=request.url)

    tally, kept = send(web, large)
    assert kept == [0, 1, -1]
    assert tally.accepted["added"] == 2
    assert all(("Authorization", "secret") in request.headers and request.opens for request in asked_for)


@pytest.mark.parametrize("times", [1, 4, 9])
def test_single_records_that_find_no_room_are_told_again(times: int) -> None:
    """A bulk answer may have 429 for some of its records alone: they are told again by themselves, five times in all."""
    told: Counter[str] = Counter()
    full = {CHANGES[1].id, CHANGES[4].id}

    def web(request: Request) -> Made:
        items = []
        for line in request.body.decode().split("\n"):
            if '"_id"' in line:
                ident = json.loads(line)["index"]["_id"]
                told[ident] += 1
                is_full = ident in full and told[ident] <= times
                error = (
                    {"error": {"type": "es_rejected_execution_exception", "reason": "queue full"}} if is_full else {}
                )
                items.append({"index": {"_id": ident, "status": 429 if is_full else 201, **error}})
        return answer(json.dumps({"errors": True, "items": items}), url=request.url)

    tally, kept = send(web, CHANGES)
    is_taken = times < 5
    assert {change.id: reason for change, reason in tally.refused} == (
        {} if is_taken else dict.fromkeys(full, "status 429: es_rejected_execution_exception: queue full")
    )
    assert kept == [n for n in range(9) if is_taken or n not in {1, 4}]
    assert told == Counter({change.id: min(times + 1, 5) if change.id in full else 1 for change in CHANGES})


def test_a_server_that_refuses_every_record_is_not_asked_for_ever() -> None:
    """Twenty records refused one by one and none taken: it is told to the owner instead."""
    count = 0

    def web(request: Request) -> Made:
        nonlocal count
        count += 1
        return answer('{"error": "no"}', status=400, url=request.url)

    _, kept = send(web, [Change("added", f"{n}", f"u{n}", {"id": n}) for n in range(500)])
    assert kept == [-1]
    assert count < 100


@pytest.mark.parametrize(
    "body", ["", "[", "[]", "{}", '{"items": 3}', '{"items": [null]}', "[" * 100_000, '{"taskUid": "x"}']
)
@pytest.mark.parametrize("form", ["opensearch", "meilisearch", "solr"])
def test_a_server_that_is_no_search_engine_is_told_of(form: str, body: str) -> None:
    """Whatever answers 200 without saying what became of the records has taken none of them."""
    tally, kept = send(lambda request: answer(body, url=request.url), [CHANGES[0]], form)
    assert [key for key in kept if key >= 0] == []
    assert sum(tally.accepted.values()) == 0


@pytest.mark.parametrize("wait", [LONGEST_WAIT, LONGEST_WAIT + 1])
def test_a_wait_has_its_bounds(wait: float) -> None:
    """A Retry-After is kept to, up to two minutes."""
    asked_for = []

    def web(request: Request) -> Made:
        asked_for.append(request)
        busy = len(asked_for) == 1
        return (
            answer("", status=429, url=request.url, headers={"Retry-After": str(int(wait))}) if busy else taken(request)
        )

    _, kept = send(web, CHANGES)
    assert kept == ([-1] if wait > LONGEST_WAIT else list(range(9)))


def test_the_bulk_form_is_that_of_the_client_library(tmp_path: Path) -> None:
    """opensearch-py makes the same lines of the same records, and takes ours as they are."""
    changes = [*CHANGES, *REMOVED]
    body = asked(Target("opensearch", "", "shop"), changes).body
    serializer = opensearchpy.serializer.JSONSerializer()
    theirs: list[Any] = []
    for change in changes:
        operation = "index" if change.document is not None else "delete"
        action = {"_op_type": operation, "_index": "shop", "_id": change.id}
        told, document = expand_action(action | ({"_source": dict(change.document)} if change.document else {}))
        theirs += [told] if document is None else [told, document]
    ours = list(map(serializer.loads, body.decode().split("\n")[:-1]))
    assert ours == theirs
    with Engine() as engine:
        client = opensearchpy.OpenSearch(engine.origin)
        answered = client.bulk(body=body.decode())
        assert not answered["errors"]
        (ours_received,) = [one for one in engine.log if one.path == "/_bulk"]
        actions = [
            {"_op_type": "index", "_index": "shop", "_id": one.id, "_source": dict(one.document or {})}
            for one in CHANGES
        ]
        assert bulk(client, actions)[0] == len(CHANGES)
        theirs_received = engine.log[-1]
        assert ours_received.body.splitlines()[: 2 * len(CHANGES)]
        read = [
            [json.loads(line) for line in one.body.decode().split("\n") if line]
            for one in (ours_received, theirs_received)
        ]
        assert read[0][: 2 * len(CHANGES)] == read[1]
        client.close()


def test_a_file_is_told_as_a_server_is(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Each file holds what changed since the last; Meilisearch's removals stand in one beside it."""
    store = tmp_path / "s.db"
    web = first_crawl(store)
    files = {form: tmp_path / form for form in FORMS}
    for form, path in files.items():
        assert run(store, form, "-o", str(path)) == 0
    second_crawl(store, web)
    for form, path in files.items():
        assert run(store, form, "-o", str(path)) == 0
    lines = [json.loads(line) for line in files["jsonl"].read_text(encoding="utf-8").splitlines()]
    assert {(one["change"], one["url"].removeprefix(HOME)) for one in lines} == {
        ("changed", ""), ("changed", "changes"), ("added", "comes"), ("removed", "goes"),
    }  # fmt: skip
    gone = id_of(f"{HOME}goes")
    assert json.loads((tmp_path / "meilisearch.removed.json").read_text(encoding="utf-8")) == [gone]
    assert {"delete": {"_index": "shop", "_id": gone}} in map(
        json.loads, files["opensearch"].read_text(encoding="utf-8").splitlines()
    )
    assert json.loads(files["solr"].read_text(encoding="utf-8"))["delete"] == {"id": gone}
    capsysbinary.readouterr()
    assert run(store, "jsonl", "--index", "other") == 0
    assert len(capsysbinary.readouterr().out.splitlines()) == 4


def test_records_have_the_names_of_endeca_on_request(tmp_path: Path) -> None:
    """EN-73: type, id, address, host, headers, status, seed, linking page and text; new names make every record new."""
    store, path = tmp_path / "s.db", tmp_path / "f"
    first_crawl(store)
    assert run(store, "jsonl", "-o", str(path)) == 0
    assert run(store, "jsonl", "-o", str(path), "--field-names", "endeca") == 0
    rows = {row["url"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    assert len(rows) == 4
    row = rows[f"{HOME}stays"]
    assert row["Endeca.SourceType"] == "Web"
    assert row["Endeca.Id"] == row["Endeca.Web.URL"] == f"{HOME}stays"
    assert row["Endeca.Web.Host"] == "site.test"
    assert row["Endeca.Web.HTTP.Status"] == 200
    assert row["Endeca.Web.SeedUrl"] == row["Endeca.Web.LinkedFromUrl"] == HOME
    assert row["Endeca.Web.Content-Type"].startswith("text/html")
    assert "stays is what is said here" in row["Endeca.Document.Text"]
    assert row["Endeca.Web.LinkedFromUrl.LinkText"] == ["x"]


MISTAKES = {
    "nobody": ([], "--to"),
    "scheme": (["--to", "solr", "--url", "ftp://x"], "--url"),
    "user in the address": (["--to", "solr", "--url", "http://me:hush@x"], "--user"),
    "typed secret": (["--to", "solr", "--url", "http://x", "--header", "Authorization: hush"], "env:VARIABLE"),
    "unset": (["--to", "solr", "--url", "http://x", "--user", "env:PURLIEU_NOT_SET"], "set this variable"),
    "index": (["--to", "solr", "--url", "http://x", "--index", "a/b"], "--index"),
    "both": (["--to", "solr", "--url", "http://x", "-o", "f"], "--output"),
    "no file": (["--to", "meilisearch"], "-o"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_sentences(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was typed wrong is said with a remedy and status 2, and no secret is repeated."""
    store = tmp_path / "s.db"
    first_crawl(store)
    words, wanted = MISTAKES[name]
    assert main(["feed", "shop", "--store", str(store), *words]) == 2
    told = capsys.readouterr().err
    assert wanted in told
    assert "hush" not in told


def test_credentials_come_from_the_environment_and_stay_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are sent to the server, and stand in no row of the store."""
    monkeypatch.setenv("PURLIEU_FEED", "me:very-secret-word")
    store = tmp_path / "s.db"
    first_crawl(store)
    with Engine() as engine:
        header = ["--header", "X-Key: env:PURLIEU_FEED"]
        assert run(store, "opensearch", "--user", "env:PURLIEU_FEED", *header, engine=engine) == 0
        assert engine.log[0].headers["authorization"] == "Basic bWU6dmVyeS1zZWNyZXQtd29yZA=="
        assert engine.log[0].headers["x-key"] == "me:very-secret-word"
    assert not any(b"very-secret" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_a_run_is_fed_when_it_is_the_newest_that_finished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The store has the newest content alone, so an older run, and a crawl without text, cannot be fed."""
    store = tmp_path / "s.db"
    second_crawl(store, first_crawl(store))
    command = ["--to", "jsonl", "--store", str(store), "-o", str(tmp_path / "f")]
    assert main(["feed", "1", *command]) == 2
    assert "write shop, or 2" in capsys.readouterr().err
    assert main(["feed", "2", *command]) == 0
    assert main(["feed", "shop@last", *command]) == 0
    bare = tmp_path / "bare.db"
    crawl(pages(), made_settings(bare, {"name": "bare"}))
    assert main(["feed", "bare", "--to", "jsonl", "--store", str(bare)]) == 2
    assert "--keep text" in capsys.readouterr().err
