"""Every door is opened by what its owner gave, on real servers, and to that origin alone (R-4.7)."""

from __future__ import annotations

import asyncio
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.doors import SECRET, asks_for_certificate, certificates
from tests.fetching import OPEN, failure, real_fetcher, response, sends

from purlieu import settings as settings_text
from purlieu.errors import SettingsError
from purlieu.fetch import cookie_file, http, secret
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import OriginSettings
from purlieu.settings.door import door
from purlieu.testing.loopback import Loopback, Received, message

NEVER = 0.0
COOKIES = """# Netscape HTTP Cookie File
127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\ts3cr3t-of-the-owner
#HttpOnly_127.0.0.1\tFALSE\t/in\tFALSE\t9999999999\tdeep\td
other.example\tFALSE\t/\tFALSE\t0\tforeign\tf
"""


def echo(received: Received) -> bytes:
    """Answer with the request's headers."""
    return message("\n".join(f"{name}: {value}" for name, value in sorted(received.headers.items())).encode())


def asked(origins: tuple[OriginSettings, ...], *urls: str, **changed: Any) -> list[Response | Failure]:
    """Fetch some addresses one after the other."""

    async def ask() -> list[Response | Failure]:
        async with real_fetcher(OPEN, origins, **changed) as fetcher:
            return [await fetcher.fetch(Request(url)) for url in urls]

    return asyncio.run(ask())


def made(door_name: str, origin: str, folder: Path) -> OriginSettings:
    """Return an origin with one door, its secret in its place."""
    (folder / "cookies.txt").write_text(COOKIES, encoding="ascii")
    doors: dict[str, dict[str, Any]] = {
        "basic": {"user": SECRET, "password": SECRET},
        "bearer": {"auth": "bearer", "token": SECRET},
        "headers": {"headers": (("X-Api-Key", SECRET),)},
        "cookies": {"cookies_file": str(folder / "cookies.txt")},
    }
    plain = settings_text.Settings(origins=(OriginSettings(origin, **doors[door_name]),))
    return secret.resolved(plain, NEVER, {}).origins[0]


@pytest.mark.parametrize("name", ["basic", "bearer", "headers", "cookies"])
def test_a_door_is_opened_at_its_origin_alone(name: str, tmp_path: Path) -> None:
    """R-4.7: what lets in goes to its scheme, host and port, and to no other port or name, nor to one between two asked."""
    with sends(echo, again=True) as mine, sends(echo, again=True) as other:
        owner = made(name, mine.origin, tmp_path)
        assert door(owner) == name
        urls = [f"{mine.origin}/", f"{other.origin}/", f"http://localhost:{mine.port}/", f"{mine.origin}/again"]
        got = [response(one).body.decode() for one in asked((owner,), *urls)]
    told = ("basic czNj" if name == "basic" else SECRET).lower()
    assert [told in body.lower() for body in got] == [True, False, False, True], got


def test_cookies_go_to_their_path(tmp_path: Path) -> None:
    """A cookie of the owner's file is sent to its own domain and path alone."""
    with sends(echo, again=True) as site:
        owner = made("cookies", site.origin, tmp_path)
        top, deep = (
            response(one).body for one in asked((owner,), f"{site.origin}/", f"{site.origin}/in/x", cookies=False)
        )
    assert b"cookie: session=" in top
    assert b"deep=d" not in top
    assert b"deep=d" in deep
    assert b"foreign" not in top + deep


def test_a_session_behind_a_door_stays_with_its_origin() -> None:
    """R-4.7: a cookie that a server sets for credentials lets in too: no other port of the host gets it."""
    sets = message(b"x", headers={"Set-Cookie": "session=1; Path=/"})
    with sends(sets, again=True) as mine, sends(echo, again=True) as other:
        owner = OriginSettings(mine.origin, user="u", password="p")
        _, got, _ = asked((owner,), f"{mine.origin}/", f"{other.origin}/", f"{mine.origin}/")
        assert mine.log[-1].headers["cookie"] == "session=1"
    assert b"cookie" not in response(got).body


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("127.0.0.1\tFALSE\t/\tFALSE\t0\tname", "line 1 is no cookie"),
        ("# only this\n127.0.0.1 FALSE / FALSE 0 name value", "line 2 is no cookie"),
        ("x.example\tFALSE\t/\tFALSE\t0\tname\tvalue", "no cookie in it is for 127.0.0.1"),
        ("127.0.0.1\tFALSE\t/\tFALSE\t5\tname\tvalue", "all 1 cookies for 127.0.0.1 in it have expired"),
        ("", "no cookie in it is for 127.0.0.1"),
    ],
)
def test_a_wrong_cookie_file_is_told(text: str, words: str) -> None:
    """What is wrong with a file of cookies is told with its line and the remedy, and without a value."""
    with pytest.raises(ValueError, match=words) as caught:
        cookie_file.read(text, "127.0.0.1", 10.0)
    assert "value" not in str(caught.value).replace("name, value", "")


def test_a_domain_cookie_covers_subdomains_as_far_as_it_says() -> None:
    """A cookie belongs to the hosts below its domain only where the file says TRUE, and never to a whole registry."""
    line = ".example.com\tTRUE\t/\tFALSE\t0\tn\tv"
    assert cookie_file.read(line, "www.example.com", 0) == (line,)
    for wrong, host in (
        (line.replace("TRUE", "FALSE"), "www.example.com"),
        (line, "www.badexample.com"),
        (".com\tTRUE\t/\tFALSE\t0\tn\tv", "example.com"),
    ):
        with pytest.raises(ValueError, match="no cookie"):
            cookie_file.read(wrong, host, 0)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_client_certificate(tmp_path: Path) -> None:
    """A server that asks for a certificate gets the owner's; another origin, also after a redirect, is shown none."""
    files = certificates(tmp_path)
    tls = asks_for_certificate(files)
    page = message(b"inside")

    async def give(_: Received, out: asyncio.StreamWriter) -> bool:
        out.write(page)
        return True

    with Loopback(give, tls=tls) as mine, Loopback(give, tls=tls) as other:
        first, second = (f"https://127.0.0.1:{one.port}" for one in (mine, other))
        owner = OriginSettings(first, certificate=str(files["client.pem"]), certificate_key=str(files["client.key"]))
        locked = replace(owner, certificate_key=str(files["locked.key"]), certificate_password=SECRET)
        ca = {"ca_file": str(files["ca.pem"])}
        got = asked((owner,), f"{first}/", f"{second}/", f"{first}/again", **ca)
        assert [response(got[0]).body, response(got[2]).body] == [b"inside"] * 2
        assert failure(got[1]).fault in {Fault.TLS, Fault.RESET}
        assert other.log == []
        assert response(asked((locked,), f"{first}/", **ca)[0]).body == b"inside"
        wrong = failure(asked((replace(locked, certificate_password="wrong"),), f"{first}/", **ca)[0])
    assert "private key" in wrong.detail
    assert SECRET not in wrong.detail


def test_negotiate_without_a_ticket_is_an_answer() -> None:
    """A server that asks for Negotiate, where nobody has a ticket, gives its 401: no exception, no second door tried."""
    if not http.negotiates():
        pytest.skip("this libcurl cannot negotiate")
    with sends(message(b"no", status=401, headers={"WWW-Authenticate": "Negotiate"}), again=True) as site:
        (got,) = asked((OriginSettings(site.origin, auth="negotiate"),), f"{site.origin}/")
        assert all("authorization" not in one.headers for one in site.log)
    assert response(got).status == 401


def test_what_libcurl_cannot_do_is_a_mistake() -> None:
    """A way to log in that this build of libcurl has not is told before the first request, with what to do."""
    own = settings_text.Settings(origins=(OriginSettings("http://a", auth="negotiate"),))
    if http.negotiates():
        assert secret.resolved(own, NEVER, {}).origins
    with pytest.raises(SettingsError, match=r'origin\.auth = "negotiate".*libcurl.*cannot do it for http://a'):
        secret.resolved(own, NEVER, {}, lambda auth: auth != "negotiate")


# Where secrets come from.


def of_reference(reference: str, environment: dict[str, str] | None = None) -> OriginSettings:
    """Return an origin whose password is a reference, resolved."""
    own = settings_text.of({"origin": [{"origin": "http://a", "user": "u", "password": reference}]})
    assert SECRET not in settings_text.dump(own)
    assert settings_text.read(settings_text.dump(own)).origins == own.origins
    return secret.resolved(own, NEVER, environment or {}).origins[0]


def test_secrets_come_from_environment_file_and_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret is taken from a variable, a file's one line, or the keyring, and the settings as stored keep its name."""
    (tmp_path / "secret").write_text(f"{SECRET}\n", encoding="utf-8")
    ring = ModuleType("keyring")
    ring.get_password = lambda service, user: SECRET if (service, user) == ("crawl", "ann") else None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", ring)
    for reference in ("env:DOOR", f"file:{tmp_path / 'secret'}", "keyring:crawl/ann"):
        assert of_reference(reference, {"DOOR": SECRET}).password == SECRET
    with pytest.raises(SettingsError, match="there is nothing in it"):
        of_reference("keyring:crawl/bob")
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(SettingsError, match="keyring is not installed"):
        of_reference("keyring:crawl/ann")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "cannot be read"),
        (b"", "nothing in it"),
        (b"a\nb", "one line"),
        (b"\xff", "UTF-8"),
        (b"x" * 70_000, "larger"),
    ],
    ids=["absent", "empty", "lines", "bytes", "large"],
)
def test_a_file_without_a_secret_is_a_mistake(body: bytes | None, words: str, tmp_path: Path) -> None:
    """A file that holds no secret is told with its path and what to do, before the first request."""
    if body is not None:
        (tmp_path / "secret").write_bytes(body)
    with pytest.raises(SettingsError, match=words) as caught:
        of_reference(f"file:{tmp_path / 'secret'}")
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"auth": "bearer"}, "origin[1].token", "write the token"),
        ({"token": SECRET}, "origin[1].auth", "take the token out"),
        ({"certificate_key": "k"}, "origin[1].certificate", "goes with a certificate"),
        ({"certificate": "c.pem"}, "origin[1].certificate", "only https"),
        ({"login_page": "http://a/login"}, "origin[1].login_fields", "fields"),
        ({"login_fields": {"p": SECRET}}, "origin[1].login_page", "the page with the form"),
        ({"login_page": "http://b/login", "login_fields": {"p": "env:P"}}, "origin[1].login_page", "own origin alone"),
        ({"passwort": SECRET}, "origin[1].passwort", "password"),
        ({"login_fields": [SECRET]}, "origin[1].login_fields", "table of texts"),
        ({"auth": "bearer", "token": "env:"}, "origin[1].token", "env:NAME, file:PATH or keyring"),
    ],
)
def test_what_does_not_go_together_is_a_mistake(keys: dict[str, Any], key: str, words: str) -> None:
    """A door that lacks a part is refused with what to write, and no mistake shows a secret."""
    with pytest.raises(SettingsError) as caught:
        settings_text.of({"origin": [{"origin": "http://a", **keys}]})
    found = {one.key: one.remedy for one in caught.value.mistakes}
    assert words in found[key], found
    assert SECRET not in str(caught.value)


def test_an_origin_stands_once() -> None:
    """An origin that is given twice is refused, whatever its spelling."""
    with pytest.raises(SettingsError, match="it stands here twice"):
        settings_text.of({"origin": [{"origin": "https://a.example"}, {"origin": "https://A.example:443"}]})
