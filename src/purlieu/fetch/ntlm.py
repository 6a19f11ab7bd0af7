"""Origins that want NTLM: its three messages over one connection, which then is logged in.

A ``Fetcher`` around another one. The messages are pyspnego's; what keeps one connection to such an origin is the
fetcher that ``connection`` makes for it, asked for one hop at a time. Counts no refusals: that is ``door.py``'s.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Final

import spnego

from purlieu import url
from purlieu.fetch.fetcher import Fetcher
from purlieu.fetch.origin import host_of
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import OriginSettings
from purlieu.value import dataclass, replace

UNAUTHORIZED: Final = 401
_SCHEMES: Final = {"ntlm": "ntlm", "negotiate": "negotiate"}
"""What a server may ask for, in order of choice -> what pyspnego calls it: bare NTLM, and NTLM within SPNEGO."""


@dataclass(slots=True, eq=False)
class _Room:
    """One origin and its connection, which has one request at a time."""

    owner: OriginSettings
    fetcher: Fetcher
    turn: asyncio.Lock


class NtlmFetcher:
    """A ``Fetcher`` that logs in by NTLM where a server answers 401 and asks for it."""

    def __init__(self, fetcher: Fetcher, origins: Sequence[OriginSettings], connection: Callable[[], Fetcher]) -> None:
        """Ask ``fetcher``, but for the origins of ``auth = "ntlm"``: each has a fetcher of its own (HTTP/1.1)."""
        self._fetcher = fetcher
        self._rooms = {
            one.origin: _Room(one, connection(), asyncio.Lock()) for one in origins if one.auth == "ntlm" and one.user
        }

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop; a password that is refused (401) was sent once."""
        room = self._rooms.get(url.origin_of(request.url))
        if room is None or request.plain:
            return await self._fetcher.fetch(request)
        async with room.turn:
            answer = await room.fetcher.fetch(request)
            if scheme := _asked_for(answer):
                answer = await _logged_in(room, request, scheme)
                if not isinstance(answer, Response) or answer.status == UNAUTHORIZED:
                    await room.fetcher.close()  # servers leave such a connection unable to try again
            return answer

    async def address_of(self, host: str) -> str:
        """Return what the other fetcher says."""
        return await self._fetcher.address_of(host)

    async def close(self) -> None:
        """Release connections."""
        for room in self._rooms.values():
            await room.fetcher.close()
        await self._fetcher.close()


async def _logged_in(room: _Room, request: Request, scheme: str) -> Response | Failure:
    """Ask again with the first message, and with the answer to the server's challenge ([MS-NLMP] 1.3.1.1)."""
    owner = room.owner
    context = spnego.client(
        owner.user,
        owner.password,
        hostname=host_of(owner.origin).strip("[]"),
        service="HTTP",
        protocol=_SCHEMES[scheme],
        options=spnego.NegotiateOptions.use_ntlm,  # in Python, whatever a system's library may have
    )
    # A body that is cut off would close the connection, and the challenge is for this one.
    answer = await room.fetcher.fetch(_with(replace(request, classes=None), scheme, context.step()))
    if not isinstance(answer, Response) or answer.status != UNAUTHORIZED:
        return answer
    challenge = _challenge(answer, scheme)
    if not challenge:
        return _failure(request, f"to the first message of NTLM it sends no challenge ({scheme}); look at its settings")
    if answer.http_version == "1.0" or "close" in (answer.header("connection") or "").lower():
        return _failure(
            request, "it closes the connection in mid-login, and NTLM needs it kept; look at the server and at proxies"
        )
    try:
        token = context.step(challenge)
    except Exception as error:  # noqa: BLE001  the challenge is the web's, and the library has many errors for it
        return _failure(request, f"its challenge is no NTLM ({type(error).__name__}); look at the server's settings")
    return await room.fetcher.fetch(_with(request, scheme, token))


def _with(request: Request, scheme: str, token: bytes | None) -> Request:
    line = (
        "Authorization",
        f"{scheme.upper() if scheme == 'ntlm' else 'Negotiate'} {b64encode(token or b'').decode()}",
    )
    return replace(request, headers=(*request.headers, line))


def _asked_for(answer: Response | Failure) -> str:
    """Return the scheme by which a server asks for NTLM, "" where it asks for none."""
    if not isinstance(answer, Response) or answer.status != UNAUTHORIZED:
        return ""
    asked = {value.strip().lower() for value in answer.all("www-authenticate")}
    return next((scheme for scheme in _SCHEMES if scheme in asked), "")


def _challenge(answer: Response, scheme: str) -> bytes:
    for value in answer.all("www-authenticate"):
        name, _, token = value.strip().partition(" ")
        if name.lower() == scheme and token:
            try:
                return b64decode(token.strip(), validate=True)
            except binascii.Error:
                return b"?"  # it is no message of NTLM, and is told so
    return b""


def _failure(request: Request, why: str) -> Failure:
    return Failure(request.url, Fault.LOGIN_FAILED, why, 0.0, 0.0)
