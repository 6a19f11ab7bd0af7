"""Until when the certificates of a site hold: seen by the crawl, told by the audit and the report of politeness."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
from tests.certificates import made_certificate
from tests.crawling import crawl, html, made_settings

from purlieu import settings as settings_text
from purlieu.cli.main import main
from purlieu.crawl.local import Crawl
from purlieu.report import audit
from purlieu.response import Failure, Fault, Request, Response
from purlieu.store.reader import Reader
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import START
from purlieu.testing.loopback import Loopback, Received, message
from purlieu.testing.web import FakeWeb, answer
from purlieu.value import replace

HOME: Final = "https://site.test/"
DAY: Final = 86_400.0


@contextmanager
def audited(store: Path) -> Iterator[Any]:
    """Give what tells the faults of certificates at a moment: (rule, url, detail)."""
    database = SqliteDatabase.reader(str(store))
    reader = Reader(database)
    run = reader.run(1)
    assert run is not None

    def at(now: float, days: int = audit.CERTIFICATE_DAYS) -> list[tuple[str, str, str]]:
        found = audit.faults(reader, run, lambda link: link, now, days)
        return [one[:3] for one in found if one.rule.startswith("certificate")]

    yield at
    database.close()


def certified(body: str, ends_at: float) -> Response:
    """Return a page whose connection showed a certificate that ends at a moment."""
    return replace(answer(body), certificate_ends_at=ends_at)


def test_a_certificate_expires_soon_and_then_has_expired(tmp_path: Path) -> None:
    """By the moment of the audit and the number of days, a certificate is fine, expires soon or has expired."""
    until = START + 10 * DAY
    web: dict[str, Any] = {f"{HOME}robots.txt": certified("", until), HOME: html("/a"), f"{HOME}a": html()}
    result = crawl(FakeWeb(web), made_settings(tmp_path / "s.db", {"seeds": [HOME]}))
    assert result.books_balanced
    with audited(tmp_path / "s.db") as at:
        ((rule, url, day),) = at(START)
        assert (rule, url) == ("certificate_expires_soon", HOME)
        assert day.endswith(" UTC")
        assert at(START, 9) == []
        assert at(until - 21 * DAY - 1) == []
        assert at(until) == [("certificate_expired", HOME, day)]


def test_an_expired_certificate_is_told_though_nothing_could_be_fetched(tmp_path: Path) -> None:
    """What fails because its certificate has expired is told once for its origin, with the end where that was seen."""

    def reply(request: Request) -> Failure:
        why = "SSL certificate OpenSSL verify result: certificate has expired (10)"
        seen = START - DAY if request.url.startswith(HOME) else None
        return Failure(request.url, Fault.TLS, why, 0.0, 0.0, certificate_ends_at=seen)

    tree = {"seeds": [HOME, "https://two.test/"], "robots": {"tries": 1, "obey": False}}
    crawl(FakeWeb(reply), made_settings(tmp_path / "s.db", tree))
    with audited(tmp_path / "s.db") as at:
        told = [(rule, url, bool(day)) for rule, url, day in at(START)]
        assert told == [("certificate_expired", HOME, True), ("certificate_expired", "https://two.test/", False)]


def test_certificates_of_other_sites_are_not_the_owners(tmp_path: Path) -> None:
    """An origin of which only links are checked has its certificate looked at by its own owner."""
    web: dict[str, Any] = {HOME: html("https://far.test/"), "https://far.test/": certified("far", START + DAY)}
    tree = {"seeds": [HOME], "links": {"check_external": True}}
    crawl(FakeWeb(web), made_settings(tmp_path / "s.db", tree))
    with audited(tmp_path / "s.db") as at:
        assert at(START) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_the_certificate_of_a_real_server_is_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], workers: int
) -> None:
    """A crawl over TLS keeps until when the certificate holds; audit and politeness tell it, by the days asked for."""
    certificate = made_certificate(tmp_path / "made", "22000203040506Z")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, certificate.with_name("key.pem"))

    async def give(received: Received, out: asyncio.StreamWriter) -> bool:
        out.write(message(html(*(f"/{number}" for number in range(6))).encode(), with_body=received.method != "HEAD"))
        return True

    async def work(tree: dict[str, Any]) -> None:
        async with Crawl(settings_text.of(tree)) as run:
            await run.run()

    store = str(tmp_path / "s.db")
    with Loopback(give, tls=tls) as server:
        home = f"https://localhost:{server.port}/"
        tree = {"seeds": [home], "store": store, "output": str(tmp_path / "out"), "formats": [], "workers": workers}
        asyncio.run(work({**tree, "fetch": {"ca_file": str(certificate)}}))

    def told(*words: str) -> list[tuple[str, str]]:
        assert main(["audit", "--store", store, "--json", *words]) == 0
        faults = json.loads(capsys.readouterr().out)["faults"]
        return [(one["url"], one["detail"]) for one in faults if one["rule"] == "certificate_expires_soon"]

    assert told() == []
    assert told("--certificate-days", "99999") == [(home, "2200-02-03 04:05 UTC")]
    assert main(["report", "1", "--store", store, "--format", "politeness", "--json"]) == 0
    (host,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert host["certificate_ends_at"] == datetime(2200, 2, 3, 4, 5, 6, tzinfo=UTC).timestamp()


def test_days_that_are_no_number_are_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--certificate-days`` says what was typed and what to write instead."""
    assert main(["audit", "--store", str(tmp_path / "none.db"), "--certificate-days", "soon"]) == 2
    assert '"soon"' in capsys.readouterr().err
