"""Whole crawls behind doors: what the ledger, findings, archive, sitemap and log then say, and that no secret is in any.

The doors are R-4.7's; where secrets may go is judged by the servers' logs alone.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.crawling import endings, html
from tests.doors import SECRET
from tests.fetching import sends

from purlieu import settings as settings_text
from purlieu.cli.main import main
from purlieu.crawl.local import Crawl
from purlieu.crawl.result import Result
from purlieu.report import books
from purlieu.report import findings as derived
from purlieu.settings import OriginSettings
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.leak import HOME, LeakSite, betrayed, crawled
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.lure import SESSION

COOKIE = "session-that-lets-in"


def site(received: Received) -> bytes:
    """Serve a login by form, three pages behind it, and one that only Basic opens."""
    path = received.path
    if path == "/robots.txt":
        return message(b"User-agent: *\nDisallow:\n", headers={"Content-Type": "text/plain"})
    if path == "/login":
        return message(
            b"<form method=post action=/enter><input type=hidden name=t value=1><input name=u><input name=p></form>"
        )
    if path == "/enter":
        if SECRET.encode() not in received.body:
            return message(b"<form method=post action=/enter><input name=u><input name=p></form>")
        return message(b"welcome", headers={"Set-Cookie": f"s={COOKIE}; Path=/"})
    if COOKIE not in received.headers.get("cookie", "") and "authorization" not in received.headers:
        return message(status=302, headers={"Location": "/login"})
    cookie = {"Set-Cookie": f"s={COOKIE}; Path=/", "Content-Type": "text/html"}
    return message(html("/a", "/b", title=path).encode(), headers=cookie)


def crawl(server: Loopback, folder: Path, **door: Any) -> Result:
    """Crawl a server with one door, as the command line does."""
    made = settings_text.of({
        "seeds": [f"{server.origin}/"], "name": "doors", "store": str(folder / "s.db"), "output": str(folder / "out"),
        "politeness": {"delay": 0, "adaptive": False}, "keep": "body", "robots": {"agent": "purlieu"},
        "origin": [{"origin": server.origin, **door}],
    })  # fmt: skip

    async def run() -> Result:
        async with Crawl(made) as crawl:
            await crawl.run()
        return crawl.result

    return asyncio.run(run())


def login(server: Loopback, password: str = "env:DOOR") -> dict[str, Any]:
    """Return the keys of a login by form."""
    return {"login_page": f"{server.origin}/login", "login_fields": {"u": "ann", "p": password}}


def told(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what a command prints."""
    main([*words, "--store", str(folder / "s.db")])
    return capsys.readouterr().out


def findings(store: Path) -> list[tuple[str, str]]:
    """Return code and arguments of each finding of the first run, by code."""
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READONLY)
    rows = list(connection.execute("SELECT code, arguments FROM finding WHERE run = 1 ORDER BY code"))
    connection.close()
    return rows


def everything(folder: Path) -> bytes:
    """Return the bytes of every file of a folder, unpacked where they are packed."""
    found = b""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            body = path.read_bytes()
            found += gzip.decompress(body) if path.suffix == ".gz" else body
    return found


def test_a_crawl_behind_a_login(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Pages behind a form are fetched and marked; no secret or session is in store, archive, log, report or sitemap."""
    monkeypatch.setenv("DOOR", SECRET)
    with sends(site, again=True) as server, caplog.at_level(logging.DEBUG, "purlieu"):
        result = crawl(server, tmp_path, **login(server))
        assert {f"{server.origin}/{path}" for path in ("", "a", "b")} == {
            url for url, ending in endings(tmp_path / "s.db").items() if ending == "fetched.ok"
        }
        assert result.counts["fetched.ok"] >= 3
        assert sum(one.path == "/enter" for one in server.log) == 1
    told(tmp_path, capsys, "report", "1", "--format", "jsonl", "-o", str(tmp_path / "rows"))
    rows = [json.loads(line) for path in (tmp_path / "rows").iterdir() for line in path.read_text().splitlines()]
    assert {row["door"] for row in rows if row["purpose"] == "page"} == {"login"}
    place = ["sitemap", "build", "1", "-o", str(tmp_path / "map")]
    said = told(tmp_path, capsys, *place)
    assert "login" in said
    assert not list((tmp_path / "map").glob("*.gz"))
    shown = told(tmp_path, capsys, *place, "--with-doors")
    assert "3 pages" in shown
    for secret in (SECRET, COOKIE):
        assert secret.encode() not in everything(tmp_path)
        assert secret not in caplog.text + said + shown + json.dumps(rows)
    assert b"WARC/1.1" in everything(tmp_path)


def test_a_login_that_fails_is_one_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Wrong credentials are sent once; each page has its reason, and one finding says what to mend, without the secret."""
    with sends(site, again=True) as server, caplog.at_level(logging.DEBUG, "purlieu"):
        crawl(server, tmp_path, **login(server, "wr0ng-one"))
        assert sum(one.path == "/enter" for one in server.log) == 1
        assert set(endings(tmp_path / "s.db").values()) == {"unreachable.login_failed"}
    said = told(tmp_path, capsys, "report", "1")
    found = [(code, json.loads(arguments)) for code, arguments in findings(tmp_path / "s.db")]
    assert [code for code, _ in found if code in {"login_failed", "secret_in_clear"}] == [
        "login_failed",
        "secret_in_clear",
    ]
    database = SqliteDatabase.reader(str(tmp_path / "s.db"))
    reader = Reader(database)
    run = reader.latest()
    assert run is not None
    shown = [one.code for one in derived.of_run(reader, run, books.of_run(reader, run))]
    database.close()
    assert "login_failed" in shown
    assert not {"seed_failed", "seed_forbidden"} & set(shown)
    assert dict(found)["secret_in_clear"] == {"key": "login_fields"}
    assert "mend the user or the password" in dict(found)["login_failed"]["why"]
    assert b"wr0ng-one" not in everything(tmp_path)
    assert "wr0ng-one" not in said + caplog.text


ORIGIN = "http://www.example.com"
DOORS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "bearer": ({"auth": "bearer", "token": f"{SECRET}-0"}, (f"{SECRET}-0",)),
    "all others": (
        {
            "user": "ann",
            "password": f"{SECRET}-1",
            "headers": (("X-Api-Key", f"{SECRET}-2"),),
            "cookies_file": f"www.example.com\tFALSE\t/\tFALSE\t0\ts\t{SECRET}-3",
            "login_page": f"{ORIGIN}/login",
            "login_fields": (("user", "ann"), ("pass", f"{SECRET}-4")),
        },
        (f"ann:{SECRET}-1", f"{SECRET}-2", f"{SECRET}-3", f"{SECRET}-4", SESSION),
    ),
}


@pytest.mark.parametrize("name", DOORS)
def test_no_temptation_gets_a_secret(name: str, tmp_path: Path) -> None:
    """R-4.7: of all that the leak kit leads to by links, redirects and sitemaps, only the door's origin is sent a secret."""
    keys, secrets = DOORS[name]
    kit = LeakSite()
    with kit:
        settings = settings_text.of({"seeds": [HOME], "scope": {"mode": "any"}, "limits": {"max_depth": 2}})
        asyncio.run(crawled(settings, kit, str(tmp_path / "leak.db"), (OriginSettings(ORIGIN, **keys),)))
    for secret in secrets:
        assert betrayed(kit.log, [secret], "http://none.test"), "the door's own origin was sent none"
    assert len([one for one in kit.log if not one.url.startswith(f"{ORIGIN}/")]) > 20
    assert betrayed(kit.log, secrets, ORIGIN) == []
