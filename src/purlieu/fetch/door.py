"""Origins with credentials: logs in by form before the first page, again when a login has expired, and stops in time.

A ``Fetcher`` around another one, which sends what belongs to each origin. Knows when credentials count as refused, so
that no account is locked by endless tries. Reads no settings file, no clock; names no secret in anything it gives back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from purlieu import url
from purlieu.errors import UrlError
from purlieu.fetch.fetcher import Fetcher
from purlieu.fetch.origin import host_of
from purlieu.outcome import REDIRECTS
from purlieu.page.login_form import Form, read
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import OriginSettings
from purlieu.value import dataclass, replace

HOPS: Final = 10
"""So many redirects in a row are followed while logging in."""
ANSWER_BYTES: Final = 1_000_000
UNAUTHORIZED: Final = 401
_AGAIN: Final = 3
"""How often a login page that cannot be had is asked for, and how many new logins in a row may change nothing."""
_SENT_AS_IT_WAS: Final = (307, 308)


class _No(Exception):
    """Why nobody is logged in; the words hold no secret."""


@dataclass(slots=True, eq=False)
class _Door:
    """One origin: ``logins`` counts those that held, ``shut`` says why nothing more is asked.

    ``tries`` are the refusals that are left: a request holds one while it is under way, so that many at once are not
    refused more often either.
    """

    owner: OriginSettings
    turn: asyncio.Lock
    tries: asyncio.Semaphore
    logins: int = 0
    refused: int = 0
    futile: int = 0
    shut: str = ""


class DoorFetcher:
    """A ``Fetcher`` that keeps the owner's doors open as long as it may."""

    def __init__(
        self, fetcher: Fetcher, origins: Sequence[OriginSettings], pause: Callable[[str], Awaitable[None]]
    ) -> None:
        """Ask ``fetcher``; ``pause`` waits as long as the owner wants between two requests to a host."""
        self._fetcher = fetcher
        self._pause = pause
        self._doors = {
            one.origin: _Door(one, asyncio.Lock(), asyncio.Semaphore(one.tries))
            for one in origins
            if one.login_page or one.user or one.token or one.auth == "negotiate"
        }

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop, logged in where its origin wants it.

        A Failure with ``Fault.LOGIN_FAILED`` says why nothing was asked for. robots.txt needs no login by form.
        """
        door = self._doors.get(url.origin_of(request.url))
        if (
            door is None
            or request.plain
            or (door.owner.login_page and request.url == f"{door.owner.origin}/robots.txt")
        ):
            return await self._fetcher.fetch(request)
        if door.owner.login_page and not door.logins and (failed := await self._enter(door, request, 0)):
            return failed
        if not door.owner.login_page:
            return await self._tried(door, request)
        known = door.logins
        answer = await self._fetcher.fetch(request)
        if isinstance(answer, Response) and _is_logged_out(door.owner, request.url, answer):
            return await self._again(door, request, known)
        return answer

    async def address_of(self, host: str) -> str:
        """Return what the other fetcher says."""
        return await self._fetcher.address_of(host)

    async def close(self) -> None:
        """Release connections."""
        await self._fetcher.close()

    async def _tried(self, door: _Door, request: Request) -> Response | Failure:
        """Ask with credentials, while refusals are left."""
        await door.tries.acquire()
        is_refused = False
        try:
            if door.shut:
                return _failure(request, door.shut)
            answer = await self._fetcher.fetch(request)
            is_refused = isinstance(answer, Response) and answer.status == UNAUTHORIZED
            return answer
        finally:
            door.refused += is_refused
            if is_refused and door.refused >= door.owner.tries:
                mend = "get a ticket (kinit)" if door.owner.auth == "negotiate" else "mend them"
                door.shut = (
                    f"it refused the credentials ({door.owner.auth}) {door.refused} times with 401; {mend}, or "
                    "raise origin.tries where single pages answer so"
                )
            if door.shut or not is_refused:
                door.tries.release()

    async def _again(self, door: _Door, request: Request, known: int) -> Response | Failure:
        """Log in anew and ask once more; what then still looks logged out is given up."""
        if door.futile < _AGAIN:
            if failed := await self._enter(door, request, known):
                return failed
            await self._pause(host_of(door.owner.origin))
            answer = await self._fetcher.fetch(request)
            if not isinstance(answer, Response) or not _is_logged_out(door.owner, request.url, answer):
                door.futile = 0
                return answer
            door.futile += 1
        return _failure(request, "it looks logged out right after a login; look at it, and mend origin.logged_out")

    async def _enter(self, door: _Door, request: Request, known: int) -> Failure | None:
        """Log in, unless somebody has since ``known`` logins; return why that failed."""
        async with door.turn:
            if door.shut:
                return _failure(request, door.shut)
            if door.logins > known:
                return None
            try:
                await self._log_in(door.owner, request)
            except _No as no:
                door.shut = f"the login by {door.owner.login_page} failed: {no}"
                return _failure(request, door.shut)
            door.logins += 1
            return None

    async def _log_in(self, owner: OriginSettings, request: Request) -> None:
        """Fetch the form, send it once, and look at what came. Raises ``_No``."""
        page = await self._page(owner, request)
        form = _chosen(read(page.body, page.url, page.header("content-type")), owner)
        header, body = form.filled(dict(owner.login_fields))
        answer = await self._sent(
            owner, replace(request, url=form.action, method="POST", body=body, headers=(header,)), "the form"
        )
        said = owner.login_success
        if said:
            if said not in answer.url and said not in _text(answer):
                raise _No(
                    f'after it was sent, "{said}" (origin.login_success) stands nowhere in {answer.url} '
                    f"(status {answer.status}); mend the fields or that text"
                )
        elif answer.status // 100 != 2 and answer.status not in REDIRECTS:
            raise _No(f"the server answered {answer.status} to the form; mend the user, the password or the fields")
        elif any(_has(one, owner) for one in read(answer.body, answer.url, answer.header("content-type"))):
            raise _No("the server shows the form again; mend the user or the password")

    async def _page(self, owner: OriginSettings, request: Request) -> Response:
        """Return the page with the form, asked for again while it cannot be had."""
        plain = replace(request, url=owner.login_page, method="GET", headers=(), body=b"")
        for left in reversed(range(_AGAIN)):
            try:
                answer = await self._sent(owner, plain, "the page")
                if answer.status // 100 == 2:
                    return answer
                why = f"it answered {answer.status}; mend origin.login_page"
                if answer.status < 500:
                    break
            except TimeoutError as error:
                why = str(error)
            if left:
                await self._pause(host_of(owner.origin))
        raise _No(why)

    async def _sent(self, owner: OriginSettings, request: Request, what: str) -> Response:
        """Ask, and follow redirects within the origin; TimeoutError where nobody answers. Raises ``_No``."""
        if url.origin_of(request.url) != owner.origin:
            raise _No(f"the form is sent to {request.url[:200]}, and credentials go to {owner.origin} alone")
        request = replace(request, classes=None, body_bytes=ANSWER_BYTES)
        for _ in range(HOPS + 1):
            answer = await self._fetcher.fetch(request)
            if isinstance(answer, Failure):
                if request.method == "POST":  # whether it was taken nobody knows, and it is not sent twice
                    raise _No(f"no answer came to the form ({answer.fault}: {answer.detail[:200]})")
                raise TimeoutError(f"it could not be had ({answer.fault}: {answer.detail[:200]})")
            target = _target(answer)
            if not target:
                return answer
            if url.origin_of(target) != owner.origin:
                if what == "the form":
                    return replace(answer, url=target, body=b"")  # it leads away, and nobody follows with a login
                raise _No(
                    f"it redirects to {target[:200]}, another origin; name that origin's page under its own [[origin]]"
                )
            kept = answer.status in _SENT_AS_IT_WAS
            request = replace(request, url=target) if kept else replace(
                request, url=target, method="GET", headers=(), body=b""
            )  # fmt: skip
            await self._pause(host_of(owner.origin))
        raise _No(f"{what} redirects in a loop, or more than {HOPS} times, at last to {request.url[:200]}")


def _failure(request: Request, why: str) -> Failure:
    return Failure(request.url, Fault.LOGIN_FAILED, why, 0.0, 0.0)


def _target(answer: Response) -> str:
    """Return where a redirect leads, "" for what is none."""
    location = answer.header("location") if answer.status in REDIRECTS else None
    try:
        return url.parse(location, answer.url).href if location else ""
    except UrlError:
        return ""


def _text(answer: Response) -> str:
    return answer.body.decode("utf-8", "replace")


def _is_logged_out(owner: OriginSettings, asked: str, answer: Response) -> bool:
    """Return whether an answer is what somebody gets who is not logged in."""
    target = _target(answer)
    if owner.logged_out and (owner.logged_out in target or owner.logged_out.encode() in answer.body):
        return True
    if answer.status == UNAUTHORIZED:
        return True
    login, _, _ = owner.login_page.partition("?")
    return bool(target) and target.partition("?")[0] == login != asked.partition("?")[0]


def _has(form: Form, owner: OriginSettings) -> bool:
    named = not owner.login_form or owner.login_form in form.names
    return named and {name for name, _ in owner.login_fields} <= set(form.offered)


def _chosen(forms: list[Form], owner: OriginSettings) -> Form:
    """Return the form to fill in. Raises ``_No`` with what the page has instead."""
    if not forms:
        raise _No("there is no form in it; mend origin.login_page")
    found = next((form for form in forms if _has(form, owner)), None)
    if found is not None:
        if found.method != "post":
            raise _No("its form is sent by GET, which would write the password into an address")
        return found
    named = [form for form in forms if owner.login_form in form.names] if owner.login_form else forms
    if not named:
        names = ", ".join(name for form in forms for name in form.names)[:200]
        raise _No(
            f'no form is called "{owner.login_form}" (origin.login_form); there is: {names or "none with a name"}'
        )
    offered = {name for form in named for name in form.offered}
    lacking = ", ".join(f'"{name}"' for name, _ in owner.login_fields if name not in offered)
    known = ", ".join(sorted(offered))[:200] or "none"
    raise _No(f"its form has no field {lacking or 'of all these'} (origin.login_fields); it has: {known}")
