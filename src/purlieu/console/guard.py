"""Who may ask the console at all: the right host name and origin, and a session begun with the token or password.

Stands before every page. Loopback is no protection by itself: other users of the machine and pages that rebind their
name to it reach it too. Knows no page but the two that it sends to.
"""

from __future__ import annotations

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
"""Wrong passwords in a minute, over all callers: further ones are not looked at until it has passed."""
TRY_SECONDS: Final = 60.0


@dataclass(slots=True)
class Session:
    """Who is in: until when, and the secret that each form of theirs carries."""

    expires_at: float
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(24))


@dataclass(slots=True)
class Door:
    """What lets in: the token of this start, or the owner's password by its argon2 hash; held in memory alone.

    ``hosts`` are the names, with port, under which the console may be asked. Times are monotonic seconds.
    """

    hosts: frozenset[str]
    cookie: str
    now: Callable[[], float]
    password: str = ""
    is_secure: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    _failed: list[float] = field(default_factory=list)

    def session(self, request: Request) -> Session | None:
        """Return the session of a request, None when there is none or it is over."""
        key = request.cookies.get(self.cookie, "")
        found = self._sessions.get(key)
        if found is not None and found.expires_at < self.now():
            del self._sessions[key]
            return None
        return found

    def let_in(self, answer: Response) -> None:
        """Begin a session, and put its cookie on an answer."""
        key = secrets.token_urlsafe(32)
        self._sessions[key] = Session(self.now() + SESSION_SECONDS)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        answer.set_cookie(self.cookie, key, httponly=True, samesite="strict", secure=self.is_secure, path="/")

    def let_out(self, request: Request) -> None:
        """End the session of a request."""
        self._sessions.pop(request.cookies.get(self.cookie, ""), None)

    def is_token(self, given: str) -> bool:
        """Return whether it is the token of this start; with a password there is none."""
        return not self.password and secrets.compare_digest(given.encode(), self.token.encode())

    def is_throttled(self) -> bool:
        """Return whether so many passwords were wrong that no further one is looked at."""
        now = self.now()
        self._failed = [at for at in self._failed if at > now - TRY_SECONDS]
        return len(self._failed) >= TRIES

    def is_password(self, given: str) -> bool:
        """Return whether it is the owner's password; takes the time that argon2 takes."""
        from argon2 import PasswordHasher
        from argon2.exceptions import InvalidHashError, VerificationError

        try:
            PasswordHasher().verify(self.password, given)
        except (VerificationError, InvalidHashError):
            self._failed.append(self.now())
            return False
        return True


def hashed(password: str) -> str:
    """Return the argon2 hash of a password; one that is a hash already stays as it is."""
    from argon2 import PasswordHasher

    return password if password.startswith("$argon2") else PasswordHasher().hash(password)


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

        await (answer or self._app)(scope, receive, guarded)

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
        given = request.query_params.get("token")
        if given is not None and request.method == "GET" and self._door.is_token(given):
            rest = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
            # One slash only: "//elsewhere" would lead away.
            answer = RedirectResponse(
                f"/{path.lstrip('/')}{f'?{urlencode(rest)}' if rest else ''}", HTTPStatus.SEE_OTHER
            )
            self._door.let_in(answer)
            return answer
        session = self._door.session(request)
        if session is None:
            if self._door.password and path == LOGIN:
                return None
            if self._door.password and request.method == "GET" and not path.startswith("/api"):
                return RedirectResponse(LOGIN, HTTPStatus.SEE_OTHER)
            return self._refuse(request, HTTPStatus.FORBIDDEN, "session")
        request.state.session = session
        return None


def _is_own(request: Request) -> bool:
    """Return whether a request comes from a page of ours, or from none; one that changes anything must say so."""
    own = request.headers["host"].lower()
    origin = request.headers.get("origin")
    site = request.headers.get("sec-fetch-site")
    if origin is not None and origin.lower() not in {f"http://{own}", f"https://{own}"}:
        return False
    if request.method in {"GET", "HEAD"}:
        # A link from elsewhere may open a page, in a window of its own; nothing of ours is loaded into another's.
        return site not in {"cross-site", "same-site"} or request.headers.get("sec-fetch-dest") == "document"
    return origin is not None or site == "same-origin"
