"""Who may ask the console at all: the right host name and origin, and a session begun with the token or password.

Stands before every page. Loopback is no protection by itself: other users of the machine and pages that rebind their
name to it reach it too. Knows no page but the two that it sends to.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from purlieu.console.keys import Keys, Role
from purlieu.value import dataclass, field

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "same-origin",  # with none at all a browser gives the origin of our own forms as "null"
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""What every answer carries; nothing inline is ever run, and nothing from elsewhere is loaded."""
LOGIN: Final = "/login"
OPEN: Final = ("/static/",)
SESSION_SECONDS: Final = 12 * 3600.0
MOST_SESSIONS: Final = 1_000
TRIES: Final = 5
"""Wrong passwords and tokens in a minute from one caller: further ones are not looked at until it has passed."""
MOST_TRIES: Final = 30
"""The same over all callers, of whom a proxy makes one."""
TRY_SECONDS: Final = 60.0
LEAVES: Final = ("/logout",)
"""What a viewer may ask for although it changes something: their own session."""
_OWNERS: Final = re.compile(r"/crawls/(new|[0-9]+/delete)")
"""Pages that only ask what to change."""
_SAFE: Final = frozenset({"GET", "HEAD"})


@dataclass(slots=True)
class Session:
    """Who is in: until when, as what, and the secret that each form of theirs carries."""

    expires_at: float
    role: Role = Role.OWNER
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))


@dataclass(slots=True)
class Door:
    """What lets in: the token of this start, or the passwords and tokens of owner and viewer; held in memory alone.

    ``hosts`` are the names, with port, under which the console may be asked. Times are monotonic seconds.
    """

    hosts: frozenset[str]
    cookie: str
    now: Callable[[], float]
    keys: Keys = field(default_factory=Keys)
    is_secure: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    _tried: list[tuple[float, str]] = field(default_factory=list)

    def session(self, request: Request) -> Session | None:
        """Return the session of a request, None when there is none or it is over."""
        key = request.cookies.get(self.cookie, "")
        found = self._sessions.get(key)
        if found is not None and found.expires_at < self.now():
            del self._sessions[key]
            return None
        return found

    def let_in(self, request: Request, answer: Response, role: Role = Role.OWNER) -> Session:
        """Begin a session under a new key, and put its cookie on an answer; one that there was before is over."""
        self.let_out(request)
        key = secrets.token_urlsafe(32)
        session = self._sessions[key] = Session(self.now() + SESSION_SECONDS, role)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        answer.set_cookie(self.cookie, key, httponly=True, samesite="strict", secure=self.is_secure, path="/")
        return session

    def let_out(self, request: Request) -> None:
        """End the session of a request, and with it what is still sent to it."""
        session = self._sessions.pop(request.cookies.get(self.cookie, ""), None)
        if session is not None:
            session.expires_at = float("-inf")

    def is_token(self, given: str) -> bool:
        """Return whether it is the token of this start; with a password or token of the owner's there is none."""
        return not self.keys and secrets.compare_digest(given.encode(), self.token.encode())

    def may_try(self, caller: str) -> bool:
        """Count a try of a caller's and return whether it may be looked at; ``was_right`` takes it back."""
        now = self.now()
        self._tried = [(at, who) for at, who in self._tried if at > now - TRY_SECONDS]
        if len(self._tried) >= MOST_TRIES or sum(who == caller for _, who in self._tried) >= TRIES:
            return False
        self._tried.append((now, caller))  # before it is looked at: many at the same time are no way round
        return True

    def was_right(self, caller: str) -> None:
        """Take back the last try of a caller's."""
        for place in range(len(self._tried) - 1, -1, -1):
            if self._tried[place][1] == caller:
                del self._tried[place]
                return


def caller_of(request: Request) -> str:
    """Return the address that a request comes from."""
    return request.client.host if request.client else ""


class Guard:
    """The application behind its door."""

    def __init__(self, app: ASGIApp, door: Door, refuse: Callable[[Request, int, str], Response]) -> None:
        """Let through to ``app``; ``refuse`` makes the page of a status and a code."""
        self._app = app
        self._door = door
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope, receive)
        answer = self._answer(request)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not request.url.path.startswith(OPEN):
                    headers["Cache-Control"] = "no-store"
            await send(message)

        if answer is None and (given := _bearer(request)) is not None and not request.url.path.startswith(OPEN):
            answer = await self._by_token(request, given)
        await (answer or self._app)(scope, receive, guarded)

    async def _by_token(self, request: Request, given: str) -> Response | None:
        """Let a request pass that carries a token, and refuse one that carries a wrong one."""
        door, caller = self._door, caller_of(request)
        role = Role.OWNER if door.is_token(given) else None
        if role is None and door.keys:
            if not door.keys.knows(given) and not door.may_try(caller):
                return self._refuse(request, HTTPStatus.TOO_MANY_REQUESTS, "throttled")
            is_known = door.keys.knows(given)
            role = await asyncio.to_thread(door.keys.role_of, given)
            if role is not None and not is_known:
                door.was_right(caller)
        if role is None:
            return self._refuse(request, HTTPStatus.UNAUTHORIZED, "token")
        request.state.session = Session(door.now() + SESSION_SECONDS, role)
        return None

    def _answer(self, request: Request) -> Response | None:
        """Return the answer of the door, None when the request may pass."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._door.hosts:
            return self._refuse(request, HTTPStatus.MISDIRECTED_REQUEST, "host")
        if not _is_own(request):
            return self._refuse(request, HTTPStatus.FORBIDDEN, "origin")
        path = request.url.path
        if path.startswith(OPEN):
            return None
        if _bearer(request) is not None:
            return None if request.method in _SAFE else self._refuse(request, HTTPStatus.FORBIDDEN, "token")
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and self._door.is_token(given):
            rest = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
            # One slash only: "//elsewhere" would lead away.
            answer = RedirectResponse(
                f"/{path.lstrip('/')}{f'?{urlencode(rest)}' if rest else ''}", HTTPStatus.SEE_OTHER
            )
            self._door.let_in(request, answer)
            return answer
        session = self._door.session(request)
        if session is None:
            if self._door.keys and path == LOGIN:
                return None
            if self._door.keys and request.method == "GET" and not path.startswith("/api"):
                return RedirectResponse(LOGIN, HTTPStatus.SEE_OTHER)
            return self._refuse(request, HTTPStatus.FORBIDDEN, "session")
        request.state.session = session
        changes = (request.method not in _SAFE and path not in {LOGIN, *LEAVES}) or _OWNERS.fullmatch(path)
        if session.role is not Role.OWNER and changes:
            return self._refuse(request, HTTPStatus.FORBIDDEN, "viewer")
        return None


def _bearer(request: Request) -> str | None:
    """Return the token of a program's request, None when it carries none (RFC 6750)."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


def _is_own(request: Request) -> bool:
    """Return whether a request comes from a page of ours, or from none; one that changes anything must say so."""
    own = request.headers["host"].lower()
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    if origin is not None and origin.lower() not in {f"http://{own}", f"https://{own}"}:
        return False
    if request.method in _SAFE:
        # A link from elsewhere may open a page, in a window of its own; nothing of ours is loaded into another's.
        return site not in {"cross-site", "same-site"} or request.headers.get("sec-fetch-dest") == "document"
    return origin is not None or site == "same-origin"
