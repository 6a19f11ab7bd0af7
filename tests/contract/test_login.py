"""Login by form on a real server: forms taken over, logins renewed, and no account locked by endless tries."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs

import pytest
from tests.doors import SECRET
from tests.fetching import OPEN, failure, real_fetcher, response, sends

from purlieu.fetch.door import DoorFetcher
from purlieu.page.login_form import read
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import OriginSettings
from purlieu.testing.loopback import Received, message

FORM = """<form action="/search"><input name=q></form>
<form id=in method=post action=/enter><input type=hidden name=csrf value="{csrf}"><input name=user>
<input type=password name=pass><input type=checkbox name=stay checked><button name=go value=in>In</button></form>"""


@dataclass
class Site:
    """An application with a login by form: one session at a time, a new token in each form."""

    lasts: int = 1_000
    forms: int = 0
    posts: list[dict[str, list[str]]] = field(default_factory=list)
    session: int = 0
    left: int = 0
    page: bytes = b""
    goes_to: str = "/welcome"

    def __call__(self, received: Received) -> bytes:
        """Answer one request."""
        path = received.path
        if path == "/login":
            self.forms += 1
            return message(self.page or FORM.format(csrf=f"t{self.forms}").encode())
        if path == "/enter":
            self.posts.append(parse_qs(received.body.decode()))
            given = self.posts[-1]
            if (given.get("pass"), given.get("csrf")) != ([SECRET], [f"t{self.forms}"]):
                return message(FORM.format(csrf="again").encode())
            self.session, self.left = self.session + 1, self.lasts
            cookie = f"session={self.session}; Path=/"
            return message(status=302, headers={"Location": self.goes_to, "Set-Cookie": cookie})
        if path == "/loop":
            return message(status=302, headers={"Location": "/loop"})
        if path == "/robots.txt":
            return message(b"", headers={"Content-Type": "text/plain"})
        self.left -= path != "/welcome"
        if f"session={self.session}" not in received.headers.get("cookie", "") or self.left < 0 or not self.session:
            return message(status=302, headers={"Location": "/login?next=" + path})
        return message(b"inside " + path.encode())


def owner(origin: str, **changed: Any) -> OriginSettings:
    """Return an owner's login by form."""
    plain = OriginSettings(origin, login_page=f"{origin}/login", login_fields=(("user", "ann"), ("pass", SECRET)))
    return replace(plain, **changed)


def asked(
    site: Any, paths: tuple[str, ...] = ("/a",), *, at_once: bool = False, **changed: Any
) -> list[Response | Failure]:
    """Serve a site, and fetch some of its pages with a login."""

    async def pause(_: str) -> None:
        await asyncio.sleep(0)

    async def ask() -> list[Response | Failure]:
        own = owner(server.origin, **{name: _at(value, server.origin) for name, value in changed.items()})
        async with real_fetcher(OPEN, (own,)) as plain:
            fetcher = DoorFetcher(plain, (own,), pause)
            requests = [fetcher.fetch(Request(f"{server.origin}{path}")) for path in paths]
            return list(await asyncio.gather(*requests)) if at_once else [await one for one in requests]

    with sends(site, again=True) as server:
        return asyncio.run(ask())


def _at(value: Any, origin: str) -> Any:
    return value.replace("ORIGIN", origin) if isinstance(value, str) else value


def bodies(got: list[Response | Failure]) -> list[bytes]:
    """Return the bodies of responses."""
    return [response(one).body for one in got]


def test_a_form_is_filled_in_once_for_all_pages() -> None:
    """One login serves a run: hidden fields and what is checked are sent as they stand, and only what is named is filled in."""
    site = Site()
    assert bodies(asked(site, ("/a", "/b", "/c"))) == [b"inside /a", b"inside /b", b"inside /c"]
    assert site.posts == [{"csrf": ["t1"], "user": ["ann"], "pass": [SECRET], "stay": ["on"], "go": ["in"]}]


def test_many_pages_at_once_log_in_once() -> None:
    """Requests that begin together wait for one login."""
    site = Site()
    assert len(bodies(asked(site, tuple(f"/{n}" for n in range(8)), at_once=True))) == 8
    assert len(site.posts) == 1


def test_robots_txt_needs_no_login() -> None:
    """robots.txt is asked for as everybody asks for it, before any login."""
    site = Site()
    response(asked(site, ("/robots.txt",))[0])
    assert (site.forms, site.posts) == (0, [])


def test_a_login_that_expires_is_renewed() -> None:
    """A page that leads to the login page is asked for again after a new login, and no page is lost."""
    site = Site(lasts=2)
    paths = tuple(f"/{n}" for n in range(7))
    assert bodies(asked(site, paths)) == [f"inside {path}".encode() for path in paths]
    assert len(site.posts) == 4


def test_a_logged_out_text_is_heard() -> None:
    """A page that holds the owner's words for "logged out" counts so, although its status is 200."""
    seen: list[str] = []

    def polite(received: Received) -> bytes:
        if received.path == "/a" and len(seen) < 1:
            seen.append(received.path)
            return message(b"<p>Please sign in</p>")
        return site(received)

    site = Site()
    assert bodies(asked(polite, ("/a",), logged_out="Please sign in")) == [b"inside /a"]
    assert len(site.posts) == 2


def test_wrong_credentials_are_sent_once() -> None:
    """Credentials that a form refuses are sent once in a run, and every page says why it was not asked for."""
    site = Site()
    got = asked(site, tuple(f"/{n}" for n in range(20)), login_fields=(("user", "ann"), ("pass", "wr0ng-one")))
    assert {failure(one).fault for one in got} == {Fault.LOGIN_FAILED}
    assert {failure(one).detail.partition("failed: ")[2] for one in got} == {
        "the server shows the form again; mend the user or the password"
    }
    assert len(site.posts) == 1
    assert "wr0ng-one" not in repr(got)


@pytest.mark.parametrize("status", [403, 500])
def test_a_form_that_is_answered_by_an_error_is_no_login(status: int) -> None:
    """An answer to the form that is no success is told with its status, and the form is not sent again."""
    site = Site()

    def refusing(received: Received) -> bytes:
        answer = site(received)
        return message(b"no", status=status) if received.path == "/enter" else answer

    got = asked(refusing, ("/a", "/b"))
    assert f"the server answered {status} to the form" in failure(got[0]).detail
    assert (len(site.posts), failure(got[1]).fault) == (1, Fault.LOGIN_FAILED)


TROUBLES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "gone": ({}, {"login_page": "ORIGIN/enter-here"}, "redirects in a loop"),
    "absent": ({}, {"login_page": "ORIGIN/missing"}, "it answered 404; mend origin.login_page"),
    "loop": ({}, {"login_page": "ORIGIN/loop"}, "the page redirects in a loop, or more than 10 times, at last to"),
    "loop-after": ({"goes_to": "/loop"}, {}, "the form redirects in a loop"),
    "no-form": ({"page": b"<p>x"}, {}, "there is no form in it"),
    "no-field": ({}, {"login_fields": (("usr", "a"), ("pass", SECRET))}, 'has no field "usr" (origin.login_fields); it has: csrf, pass, q'),
    "no-such-form": ({}, {"login_form": "out"}, 'no form is called "out" (origin.login_form); there is: in'),
    "elsewhere": ({"page": b"<form method=post action=http://evil.test/><input name=user><input name=pass></form>"}, {}, "sent to http://evil.test/, and credentials go to"),
    "get": ({"page": b"<form action=/enter><input name=user><input name=pass></form>"}, {}, "sent by GET"),
    "success": ({}, {"login_success": "Hello, Ann"}, '"Hello, Ann" (origin.login_success) stands nowhere in'),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in TROUBLES if name != "gone"])
def test_what_goes_wrong_at_a_login_is_told(name: str) -> None:
    """Each trouble at a login ends the origin's pages with what happened, the value and the remedy, and no secret in it."""
    made, changed, words = TROUBLES[name]
    site = Site(**made)

    def served(received: Received) -> bytes:
        return message(b"no", status=404) if received.path == "/missing" else site(received)

    got = asked(served, ("/a", "/b"), **changed)
    for one in got:
        assert failure(one).fault is Fault.LOGIN_FAILED
        assert words in failure(one).detail
        assert SECRET not in failure(one).detail
    assert len(site.posts) <= 1


def test_a_success_text_is_looked_for() -> None:
    """A login counts where the owner's text stands in the page, or in the address, that it leads to."""
    for text in ("inside /welcome", "/welcome"):
        assert bodies(asked(Site(), login_success=text)) == [b"inside /a"]


def test_a_page_that_always_looks_logged_out_costs_few_logins() -> None:
    """Pages that look logged out right after a login end alone, after a few renewals without any more, and others go on."""
    site = Site()

    def odd(received: Received) -> bytes:
        if received.path.startswith("/odd"):
            return message(b"sign in", status=401)
        return site(received)

    got = asked(odd, (*(f"/odd{n}" for n in range(9)), "/a"))
    assert {failure(one).fault for one in got[:9]} == {Fault.LOGIN_FAILED}
    assert response(got[9]).body == b"inside /a"
    assert len(site.posts) == 4


def test_a_login_page_that_cannot_be_had_is_tried_again() -> None:
    """A login page that fails is asked for three times; then the origin is left alone, and no credentials were sent."""
    site, seen = Site(), []

    def failing(received: Received) -> bytes:
        seen.append(received.path)
        return message(b"down", status=503) if len(seen) < 3 else site(received)

    assert bodies(asked(failing)) == [b"inside /a"]
    got = asked(lambda _: message(b"down", status=503), ("/a", "/b"))
    assert "it answered 503" in failure(got[1]).detail


@pytest.mark.parametrize("auth", ["basic", "digest", "bearer"])
@pytest.mark.parametrize("at_once", [False, True])
def test_refused_credentials_are_not_tried_without_end(auth: str, at_once: bool) -> None:
    """At most ``tries`` requests carry credentials that a server refuses, also when many are under way at once."""
    challenge = {"basic": 'Basic realm="r"', "digest": 'Digest realm="r", nonce="n", qop="auth"', "bearer": "Bearer"}[
        auth
    ]

    def closed(received: Received) -> bytes:
        if received.path == "/open":
            return message(b"for all")
        return message(b"no", status=401, headers={"WWW-Authenticate": challenge})

    async def pause(_: str) -> None:
        pass

    async def ask() -> list[Response | Failure]:
        keys = {"token": "wrong"} if auth == "bearer" else {"user": "ann", "password": "wrong"}
        own = OriginSettings(server.origin, auth=auth, **keys)  # type: ignore[arg-type]
        async with real_fetcher(OPEN, (own,)) as plain:
            fetcher = DoorFetcher(plain, (own,), pause)
            paths = [path for n in range(10) for path in (f"/{n}", "/open")]
            requests = [fetcher.fetch(Request(f"{server.origin}{path}")) for path in paths]
            return list(await asyncio.gather(*requests)) if at_once else [await one for one in requests]

    with sends(closed, again=True) as server:
        got = asyncio.run(ask())
        tried = [one for one in server.log if "authorization" in one.headers and one.path != "/open"]
    assert len(tried) == 3
    refused = [one for one in got if isinstance(one, Failure)]
    assert refused
    assert {one.fault for one in refused} == {Fault.LOGIN_FAILED}
    assert "3 times with 401" in refused[0].detail


# What a form sends.


def test_fields_as_a_browser_sends_them() -> None:
    """HTML 4.10.21.4: selected options, checked boxes, text areas, the first button, and fields elsewhere in the page."""
    page = b"""<base href="https://a.example/x/"><form id=f method=POST action=go>
      <select name=s><option value=1>one<option selected>two </select><textarea name=t>long text</textarea>
      <input type=radio name=r value=no><input type=radio name=r value=yes checked>
      <input type=submit name=first value=1><input type=submit name=second><input type=file name=file>
      <input name=off disabled value=x></form><input form=f name=far value="a b">"""
    (form,) = read(page, "https://b.example/", "text/html; charset=utf-8")
    assert (form.action, form.method, form.names) == ("https://a.example/x/go", "post", ("f",))
    header, body = form.filled({"t": "caf\u00e9 & co"})
    assert header[1] == "application/x-www-form-urlencoded"
    assert body == b"s=two&r=yes&far=a+b&first=1&t=caf%C3%A9+%26+co"


def test_a_form_of_parts() -> None:
    """A form that wants multipart/form-data gets it."""
    page = b'<form method=post enctype="multipart/form-data"><input name=u><input name=p></form>'
    (form,) = read(page, "http://a/login", None)
    header, body = form.filled({"u": "ann", "p": "x"})
    boundary = header[1].partition("boundary=")[2]
    assert body.decode().count(boundary) == 3
    assert 'name="u"\r\n\r\nann\r\n' in body.decode()


@pytest.mark.parametrize(
    "body", [b"", b"\xff\xfe", b"<form" * 50_000, b"<div>" * 100_000 + b"<form>", b"<form><input name='" + b"x" * 100_000],
    ids=["empty", "mark", "open", "deep", "cut"],
)  # fmt: skip
def test_no_page_raises(body: bytes) -> None:
    """Whatever a login page holds, reading its forms gives a list."""
    assert isinstance(read(body, "http://a/", None), list)
