"""Negotiate and NTLM are spoken to servers of others: Apache with mod_auth_gssapi, a KDC, and gss-ntlmssp (R-4.7)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests import gssapi
from tests.crawling import endings
from tests.doors import SECRET
from tests.fetching import OPEN, failure, real_fetcher, response, sends

from purlieu import settings as settings_text
from purlieu.crawl.clock import RealClock
from purlieu.crawl.parts import with_doors
from purlieu.errors import SettingsError
from purlieu.fetch import http, secret
from purlieu.fetch.ntlm import NtlmFetcher
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import OriginSettings
from purlieu.testing.loopback import Loopback, Received, message

spnego = pytest.importorskip("spnego", reason="pyspnego is not installed")
real_servers = pytest.mark.skipif(bool(gssapi.absent()), reason=f"not installed: {gssapi.absent()}")
PAGES = {
    "index.html": '<title>Home</title><p>inside <a href="b.html">b</a> <a href="c.html">c</a> <a href="d.png">d</a>',
    "b.html": "<title>B</title><p>b",
    "c.html": "<title>C</title><p>c",
    "d.png": "no page",
    "robots.txt": "User-agent: *\nDisallow:\n",
}
USER = "HOUSE\\ann"


def crawled(folder: Path, origin: str, environment: Mapping[str, str], **door: str) -> dict[str, str]:
    """Crawl by the command line in a process of its own, whose environment it is; return each page's ending by path."""
    keys = "\n".join(f"{name} = {json.dumps(value)}" for name, value in door.items())
    (folder / "crawl.toml").write_text(
        f'seeds = ["{origin}/"]\nname = "door"\nstore = "{folder}/s.db"\noutput = "{folder}/out"\nkeep = "body"\n'
        f'[politeness]\ndelay = 0\n[[origin]]\norigin = "{origin}"\n{keys}\n',
        encoding="utf-8",
    )
    command = (sys.executable, "-m", "purlieu", "crawl", "--config", f"{folder}/crawl.toml")
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return {url.removeprefix(origin): ending for url, ending in endings(folder / "s.db").items()}


INSIDE = {"/": "fetched.ok", "/b.html": "fetched.ok", "/c.html": "fetched.ok", "/d.png": "skipped.content_class"}


# Kerberos.


@real_servers
def test_a_crawl_by_kerberos() -> None:
    """With a key to get tickets by, all pages behind Negotiate are fetched, as the user of that key."""
    if not http.negotiates():
        pytest.skip("this libcurl cannot negotiate")
    with gssapi.folder_for_all() as folder, gssapi.realm(folder) as environment:
        with gssapi.apache(folder, PAGES, f"GssapiCredStore keytab:{folder}/http.keytab", {}) as origin:
            assert crawled(folder, origin, environment, auth="negotiate") == INSIDE
        asked = gssapi.asked(folder)
        assert {user for _, status, user, _ in asked if status == 200} == {"ann@EXAMPLE.TEST"}
        assert ("/robots.txt", 200) in {(path, status) for path, status, _, _ in asked}


@real_servers
def test_a_crawl_without_a_ticket_is_let_in_nowhere() -> None:
    """Without a ticket the server's 401 is each page's ending, and nobody else's ticket is taken."""
    if not http.negotiates():
        pytest.skip("this libcurl cannot negotiate")
    with gssapi.folder_for_all() as folder, gssapi.realm(folder) as environment:
        nobody = {**environment, "KRB5_CLIENT_KTNAME": str(folder / "none.keytab")}
        with gssapi.apache(folder, PAGES, f"GssapiCredStore keytab:{folder}/http.keytab", {}) as origin:
            assert crawled(folder, origin, nobody, auth="negotiate") == {"/": "refused.unauthorized"}
        assert {status for _, status, _, _ in gssapi.asked(folder)} == {401}


# NTLM.


@contextmanager
def house(folder: Path, lines: str = "GssapiConnectionBound On") -> Iterator[str]:
    r"""Serve pages to ``HOUSE\ann`` by NTLM."""
    (folder / "users").write_text(f"HOUSE:ann:{SECRET}\n", encoding="ascii")
    (folder / "users").chmod(0o644)
    with gssapi.apache(
        folder, PAGES, f"GssapiAllowedMech ntlmssp\n{lines}", {"NTLM_USER_FILE": f"{folder}/users"}
    ) as origin:
        yield origin


@real_servers
def test_a_crawl_by_ntlm() -> None:
    """NTLM logs in a connection with three messages, and what follows on it needs one request each."""
    with gssapi.folder_for_all() as folder:
        with house(folder) as origin:
            got = crawled(folder, origin, {"DOOR": SECRET}, auth="ntlm", user=USER, password="env:DOOR")
        assert got == INSIDE
        asked = gssapi.asked(folder)
        assert [(path, status, place) for path, status, _, place in asked[:4]] == [
            ("/robots.txt", 401, 0),
            ("/robots.txt", 401, 1),
            ("/robots.txt", 200, 2),
            ("/index.html", 200, 3),
        ]
        assert sum(place == 0 for _, _, _, place in asked) <= 2, "one more connection where a body was cut off"
        files = (path for path in folder.rglob("*") if path.is_file() and path.name != "users")
        assert SECRET.encode() not in b"".join(path.read_bytes() for path in files)


@real_servers
def test_a_wrong_password_by_ntlm_is_sent_as_often_as_the_owner_allows() -> None:
    """A password that NTLM refuses goes out ``tries`` times with the pages, robots.txt among them, and never again."""
    with gssapi.folder_for_all() as folder:
        with house(folder) as origin:
            got = asked_behind(origin, "wr0ng-one", ("/robots.txt", "/", "/b.html", "/c.html", "/d.png"))
        assert [response(one).status for one in got[:3]] == [401] * 3
        assert {failure(one).fault for one in got[3:]} == {Fault.LOGIN_FAILED}
        assert "(ntlm) 3 times with 401" in failure(got[3]).detail
        assert len(gssapi.asked(folder)) == 9, "three messages for each of three tries"


class Challenger:
    """A server of our own for what Apache does not do; the acceptor is pyspnego's. ``scheme`` is what it asks for."""

    def __init__(self, scheme: str, *, forgets: bool = False, closes: bool = False, garbled: str = "") -> None:
        """``forgets``: each request logs in anew; ``closes``: in mid-login; ``garbled``: what it sends as a challenge."""
        self.scheme = scheme
        self.forgets = forgets
        self.closes = closes
        self.garbled = garbled
        self.contexts: dict[asyncio.StreamWriter, Any] = {}
        self.known: set[asyncio.StreamWriter] = set()

    async def give(self, received: Received, out: asyncio.StreamWriter) -> bool:
        """Answer one request."""
        scheme, _, token = received.headers.get("authorization", "").partition(" ")
        if out in self.known:
            out.write(message(b"inside"))
            return True
        if not token:
            out.write(message(b"no", status=401, headers={"WWW-Authenticate": self.scheme}))
            return True
        assert scheme == self.scheme
        context = self.contexts.setdefault(
            out, spnego.server(protocol=self.scheme.lower(), options=spnego.NegotiateOptions.use_ntlm)
        )
        reply = context.step(b64decode(token))
        if context.complete:
            del self.contexts[out]
            self.known |= set() if self.forgets else {out}
            out.write(message(b"inside"))
            return True
        challenge = self.garbled or b64encode(reply).decode()
        headers = {"WWW-Authenticate": f"{self.scheme} {challenge}"} | ({"Connection": "close"} if self.closes else {})
        out.write(message(b"go on", status=401, headers=headers))
        return not self.closes


@pytest.fixture
def _users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    r"""Let pyspnego's acceptor know ``HOUSE\ann``."""
    (tmp_path / "users").write_text(f"HOUSE:ann:{SECRET}\n", encoding="ascii")
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "users"))


@pytest.mark.usefixtures("_users")
@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("scheme", ["NTLM", "Negotiate"])
def test_ntlm_is_spoken_as_it_is_asked_for(scheme: str, *, forgets: bool) -> None:
    """NTLM goes bare or within SPNEGO as the server asks; one that forgets who a connection is is told each time."""
    with Loopback(Challenger(scheme, forgets=forgets).give) as site:
        got = asked_behind(site.origin, SECRET, ("/", "/a", "/b"))
        assert [response(one).body for one in got] == [b"inside"] * 3
        assert len(site.log) == (9 if forgets else 5)
        assert site.connections == 1


@pytest.mark.usefixtures("_users")
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"closes": True}, "closes the connection in mid-login"),
        ({"garbled": "TlRMTVNTUAACAAAA"}, "its challenge is no NTLM"),
        ({"garbled": "%%%"}, "its challenge is no NTLM"),
        ({"garbled": " "}, "it sends no challenge"),
    ],
    ids=["closes", "short", "base64", "none"],
)
def test_what_ntlm_cannot_go_on_with_is_told(wrong: dict[str, Any], words: str) -> None:
    """A server that breaks off the three messages is told of in words, nothing is raised, and no password was sent."""
    with Loopback(Challenger("NTLM", **wrong).give) as site:
        (got,) = asked_behind(site.origin, SECRET, ("/",))
        assert len(site.log) == 2
    assert failure(got).fault is Fault.LOGIN_FAILED
    assert words in failure(got).detail


def test_other_origins_are_asked_without_ntlm() -> None:
    """R-4.7: a server elsewhere that asks for NTLM too gets no message of it, nor does another port of the host."""
    refuses = message(b"no", status=401, headers={"WWW-Authenticate": "NTLM"})
    with sends(refuses, again=True) as mine, sends(refuses, again=True) as other:
        own = OriginSettings(mine.origin, auth="ntlm", user=USER, password=SECRET)

        async def ask() -> Response | Failure:
            async with real_fetcher(OPEN, (own,)) as plain, real_fetcher(OPEN, (own,)) as one:
                return await NtlmFetcher(plain, (own,), lambda: one).fetch(Request(f"{other.origin}/"))

        assert response(asyncio.run(ask())).status == 401
        assert mine.log == []
        assert [one.headers.get("authorization") for one in other.log] == [None]


def test_ntlm_without_its_library_is_a_mistake() -> None:
    """What NTLM needs and is not installed is told before the first request, with what to install."""
    made = settings_text.Settings(origins=(OriginSettings("http://a", user="u", password="p", auth="ntlm"),))
    with pytest.raises(SettingsError, match=r"pip install purlieu\[ntlm\].*http://a"):
        secret.resolved(made, 0.0, {}, lambda auth: auth != "ntlm")


def asked_behind(origin: str, password: str, paths: tuple[str, ...], user: str = USER) -> list[Response | Failure]:
    """Fetch addresses one after the other as a crawl does, logging in by NTLM."""
    made = settings_text.of({
        "seeds": [origin], "fetch": {"allow_addresses": ["loopback"]},
        "origin": [{"origin": origin, "auth": "ntlm", "user": user, "password": password}],
    })  # fmt: skip

    async def ask() -> list[Response | Failure]:
        fetcher = with_doors(made, RealClock())
        try:
            return [await fetcher.fetch(Request(f"{origin}{path}")) for path in paths]
        finally:
            await fetcher.close()

    return asyncio.run(ask())
