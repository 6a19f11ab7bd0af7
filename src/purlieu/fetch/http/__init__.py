"""The door to libcurl: one hop at a time, driven by the running asyncio loop.

Knows libcurl's options and its loop, ``transfer`` its handles and error codes; nothing of it leaves this folder.
Follows no redirect, keeps no pace, judges no scope; what a hop may connect to is asked of ``address.AddressGuard``.

libcurl says which sockets to watch and when to come back (``M_SOCKETFUNCTION``, ``M_TIMERFUNCTION``); both are passed
to the loop. Easy handles are kept and used again: what never changes is set once, what belongs to an origin when the
origin changes, so that the next page of a site sets its URL only.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Any, Final

import pycurl

from purlieu.fetch.address import AddressGuard
from purlieu.fetch.http.transfer import Ending, Transfer
from purlieu.fetch.origin import (
    Jar,
    Origin,
    Origins,
    certificate_end,
    header_lines,
    without_sessions,
    without_user,
)
from purlieu.fetch.watch import Watch
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import FetchSettings, HostSettings, OriginSettings
from purlieu.value import replace

LOG: Final = logging.getLogger(__name__)
CONNECTIONS_KEPT: Final = 256
LOOK_SECONDS: Final = 0.5
"""How often it is looked whether a silent server is waited for in vain."""
CODINGS: Final = "gzip, deflate, br" + (", zstd" if pycurl.version_info()[4] & pycurl.VERSION_ZSTD else "")
CODED_CODINGS: Final = "gzip, deflate"
"""What is asked for where bodies are kept as they were sent: what every reader of archives takes apart."""
_WEB_ONLY: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS

_SUPPRESS_CONNECT_HEADERS: Final = 265  # the bindings have no name for it
_AUTHS: Final = {
    "basic": pycurl.HTTPAUTH_BASIC,
    "digest": pycurl.HTTPAUTH_DIGEST,
    "negotiate": pycurl.HTTPAUTH_NEGOTIATE,  # without a user libcurl takes the ticket of whoever runs the crawl
}


def negotiates() -> bool:
    """Return whether this build of libcurl can log in by Kerberos (``origin.auth = "negotiate"``)."""
    return bool(pycurl.version_info()[4] & (pycurl.VERSION_GSSAPI | pycurl.VERSION_SSPI))


class HttpFetcher:
    """Asks the web through libcurl; a ``Fetcher``. Bound to the loop of its first ``fetch``."""

    def __init__(
        self,
        settings: FetchSettings,
        origins: Sequence[OriginSettings],
        hosts: Sequence[HostSettings],
        user_agent: str,
        now: Callable[[], float],
        *,
        coded: bool = False,
    ) -> None:
        """Take ``[fetch]``, the ``[[origin]]`` and ``[[host]]`` exceptions and the whole User-Agent.

        ``now`` (a ``Clock.now``) stamps the answers with seconds since the epoch. ``coded``: bodies are given as they
        were sent, in codings that ``CODED_CODINGS`` names.
        """
        self._settings = settings
        self._coded = coded
        self._user_agent = user_agent
        self._now = now
        self._guard = AddressGuard(settings.allow_addresses, public_only=settings.public_only)
        self._origins = Origins(settings, origins, hosts, _new_cookies)
        self._idle: list[Transfer] = []
        self._plain: list[Transfer] = []
        self._certified: dict[str, list[Transfer]] = {}
        self._busy: set[Transfer] = set()
        self._loop: asyncio.AbstractEventLoop
        self._multi: Any = None
        self._watch: Watch | None = None
        self._looks_at = 0.0
        if settings.proxy:
            LOG.info("behind a proxy only literal addresses are checked: names are resolved by the proxy")

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop and return what came back or why nothing did; a cancelled call drops the transfer."""
        watch = self._watch or self._start()
        started_at = self._now()
        origin = self._origins.of(request.url, plain=request.plain)
        if origin is None:
            return Failure(request.url, Fault.PROTOCOL, f'"{request.url}" is no http or https address', started_at, 0.0)
        idle = self._idle
        if origin.owner and origin.certificate:
            # A certificate cannot be taken from a handle again, so such a handle serves its origin alone.
            idle = self._certified.setdefault(origin.owner.origin, [])
        elif request.plain:  # a handle that has had cookies once goes on to keep them
            idle = self._plain
        transfer = idle.pop() if idle else self._transfer(origin)
        transfer.begin(request)
        is_spoilt = False
        try:
            self._aim(transfer, origin)
            if origin.proxy and origin.address is not None and not transfer.admitted(origin.address):
                return transfer.outcome(_DONE, started_at)
            ending = await self._run(transfer, watch)
            answer = transfer.outcome(ending, started_at)
            if origin.wants_certificate and (ends_at := certificate_end(transfer.curl.getinfo(pycurl.INFO_CERTINFO))):
                origin.wants_certificate = False
                answer = replace(answer, certificate_ends_at=ends_at)
            if isinstance(answer, Response) and answer.status == _UNAUTHORIZED:
                is_spoilt = origin.owner is not None and origin.owner.auth == "digest"
            return without_sessions(answer) if origin.is_door and isinstance(answer, Response) else answer
        except (pycurl.error, UnicodeError) as error:
            self._end(transfer, None)
            return Failure(request.url, Fault.PROTOCOL, str(error), started_at, 0.0)
        except BaseException:  # cancelled, most likely
            self._end(transfer, None)
            raise
        finally:
            if is_spoilt:
                # Its next request would send what was refused twice: for the old challenge, then for a new one.
                transfer.curl.close()
            else:
                idle.append(transfer)

    async def address_of(self, host: str) -> str:
        """Return the IP address that a host's name leads to, the first by text of several; "" when it leads nowhere."""
        if f".{host}".endswith(".localhost"):  # libcurl asks no resolver for these (RFC 6761 section 6.3)
            return "127.0.0.1"
        looking = asyncio.get_running_loop().getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
        try:
            found = await asyncio.wait_for(looking, self._settings.connect_timeout_seconds)
        except (OSError, UnicodeError):  # TimeoutError is an OSError
            return ""
        return min((str(one[4][0]) for one in found), default="")

    # What goes with a host when another process asks it.

    @property
    def guard(self) -> AddressGuard:
        """Return what says which addresses may be connected to."""
        return self._guard

    def cookies(self, host: str) -> list[bytes]:
        """Return a host's cookies as libcurl writes them, for ``keep_cookies`` in another process."""
        jar = self._origins.jar_of(host)
        if jar is None or not jar.received_bytes:
            return []
        curl = _opened(jar)
        lines: list[bytes] = curl.getinfo_raw(pycurl.INFO_COOKIELIST)
        curl.close()
        return lines

    def keep_cookies(self, host: str, lines: Sequence[bytes]) -> None:
        """Have these cookies of a host and no others."""
        jar = self._origins.jar_of(host, new=bool(lines))
        if jar is None or not (lines or jar.received_bytes):
            return
        curl = _opened(jar)
        for line in ("ALL", *lines):
            curl.setopt(pycurl.COOKIELIST, line)
        curl.close()
        jar.received_bytes = sum(map(len, lines))

    async def close(self) -> None:
        """Release connections; a fetch in flight gives a Failure."""
        for transfer in tuple(self._busy):
            self._end(transfer, Ending(pycurl.E_RECV_ERROR, "the fetcher was closed"))
        await asyncio.sleep(0)  # those waiting take their ending and give their handle back
        for idle in (self._idle, self._plain, *self._certified.values()):
            for transfer in idle:
                transfer.curl.close()
            idle.clear()
        if self._multi is not None:
            self._multi.close()
        if self._watch is not None:
            self._watch.close()
        self._multi = self._watch = None

    # What is asked for.

    def _transfer(self, origin: Origin) -> Transfer:
        """Make a handle, set what never changes, and aim it at a first origin."""
        settings = self._settings
        transfer = Transfer(settings.header_bytes, self._guard, origin)
        version = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
        options = [
            (pycurl.PROTOCOLS, _WEB_ONLY),
            (pycurl.REDIR_PROTOCOLS, _WEB_ONLY),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.NOSIGNAL, 1),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.HTTP_VERSION, version),
            (pycurl.ACCEPT_ENCODING, CODED_CODINGS if self._coded else CODINGS),
            (pycurl.HTTP_CONTENT_DECODING, 0 if self._coded else 1),
            (pycurl.USERAGENT, self._user_agent),
            (pycurl.CONNECTTIMEOUT_MS, int(settings.connect_timeout_seconds * 1000)),
            (pycurl.TIMEOUT_MS, int(settings.timeout_seconds * 1000)),
            (pycurl.LOW_SPEED_LIMIT, settings.low_speed_bytes),
            (pycurl.LOW_SPEED_TIME, max(1, round(settings.low_speed_seconds))),
            (_SUPPRESS_CONNECT_HEADERS, 1),  # a proxy's answer must not pass for the server's
            (pycurl.NOPROXY, ""),  # which origin has a proxy is said for each; the environment is not asked
            (pycurl.BUFFERSIZE, 131_072),
            (pycurl.HEADERFUNCTION, transfer.answer.lines.append),
            (pycurl.WRITEFUNCTION, transfer.answer.body),
            (pycurl.OPENSOCKETFUNCTION, transfer.open_socket),
            (pycurl.PREREQFUNCTION, transfer.about_to_ask),
        ]
        authorities = ssl.get_default_verify_paths()
        if settings.ca_file:  # in addition to the system's: an intranet's authority must not close the public web
            options += [(pycurl.CAINFO, settings.ca_file)]
            options += [(pycurl.CAPATH, authorities.capath)] if authorities.capath else []
        elif authorities.cafile:
            options += [(pycurl.CAINFO, authorities.cafile)]
        for option, value in options:
            transfer.curl.setopt(option, value)
        self._aim_at_origin(transfer.curl, origin)
        return transfer

    def _aim(self, transfer: Transfer, origin: Origin) -> None:
        """Set what this hop needs and the last one had otherwise."""
        curl = transfer.curl
        request = transfer.request
        if transfer.origin is not origin:
            self._aim_at_origin(curl, origin)
            transfer.origin = origin
            transfer.headers = None
        if transfer.headers != request.headers:
            curl.setopt(pycurl.HTTPHEADER, [*origin.lines, *header_lines(request.headers)])
            transfer.headers = request.headers
        if transfer.method != request.method:
            curl.setopt(pycurl.NOBODY, request.method == "HEAD")
            if request.method == "GET":
                curl.setopt(pycurl.HTTPGET, 1)
            transfer.method = request.method
        if request.method == "POST":
            curl.setopt(pycurl.POST, 1)
            curl.setopt(pycurl.COPYPOSTFIELDS, request.body)
        curl.setopt(pycurl.URL, without_user(request.url) if "@" in request.url else request.url)

    def _aim_at_origin(self, curl: Any, origin: Origin) -> None:
        if origin.jar is not None:
            curl.unsetopt(pycurl.SHARE)  # the bindings refuse to go from one jar to another at once
            curl.setopt(pycurl.SHARE, origin.jar.cookies)
            curl.setopt(pycurl.COOKIEFILE, "")
        curl.setopt(pycurl.PROXY, origin.proxy)
        curl.setopt(pycurl.OPT_CERTINFO, int(origin.wants_certificate))
        curl.setopt(pycurl.SSL_VERIFYPEER, int(origin.verify))
        curl.setopt(pycurl.SSL_VERIFYHOST, 2 if origin.verify else 0)
        owner = origin.owner
        if origin.jar is not None and origin.cookies and not origin.jar.is_filled:
            origin.jar.is_filled = True
            for line in origin.cookies:
                curl.setopt(pycurl.COOKIELIST, line)
        if owner is not None and owner.certificate:
            curl.setopt(pycurl.SSLCERT, owner.certificate)
            curl.setopt(pycurl.SSLKEY, owner.certificate_key or owner.certificate)
            if owner.certificate_password:
                curl.setopt(pycurl.KEYPASSWD, owner.certificate_password)
        if owner is None or owner.auth == "ntlm" or not (owner.user or owner.auth == "negotiate"):
            curl.unsetopt(pycurl.USERPWD)
            curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_BASIC)
            return
        curl.setopt(pycurl.HTTPAUTH, _AUTHS.get(owner.auth, pycurl.HTTPAUTH_BASIC))
        curl.setopt(pycurl.USERNAME, owner.user.encode())
        curl.setopt(pycurl.PASSWORD, owner.password.encode())

    # libcurl on the loop.

    def _start(self) -> Watch:
        self._loop = asyncio.get_running_loop()
        self._multi = pycurl.CurlMulti()
        self._watch = watch = Watch(self._loop, self._multi.socket_action, self._collect, self._look_around)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, watch.socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, watch.timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, CONNECTIONS_KEPT)
        return watch

    def _run(self, transfer: Transfer, watch: Watch) -> asyncio.Future[Ending]:
        """Send the request out now, which spares one round of the loop, and return what its ending comes by."""
        waiting: asyncio.Future[Ending] = self._loop.create_future()
        transfer.waiting = waiting
        self._busy.add(transfer)
        watch.comes_by_itself = True
        try:
            self._multi.add_handle(transfer.curl)
        finally:
            watch.comes_by_itself = False
        self._come_back()
        return waiting

    def _end(self, transfer: Transfer, ending: Ending | None) -> None:
        if transfer not in self._busy:
            return
        self._busy.discard(transfer)
        self._multi.remove_handle(transfer.curl)
        waiting, transfer.waiting = transfer.waiting, None
        if ending is not None and waiting is not None and not waiting.done():
            waiting.set_result(ending)

    def _look_around(self) -> None:
        """Come back at a moment of libcurl's, each second of silence; what is waited for in vain is ended."""
        now = self._loop.time()
        if now >= self._looks_at:
            self._looks_at = now + LOOK_SECONDS
            for transfer in [one for one in self._busy if one.answer.is_unwanted()]:
                self._end(transfer, _DONE)
        self._come_back()

    def _come_back(self) -> None:
        _, running = self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        if running < len(self._busy):
            self._collect()

    def _collect(self) -> None:
        more = 1
        while more:
            more, good, bad = self._multi.info_read(64)
            for curl in good:
                self._end(curl.transfer, _DONE)
            for curl, code, words in bad:
                self._end(curl.transfer, Ending(code, words))


_UNAUTHORIZED: Final = 401
_DONE: Final = Ending(0, "")


def _opened(jar: Jar) -> Any:
    """Return a handle that sees a jar."""
    curl = pycurl.Curl()
    curl.setopt(pycurl.SHARE, jar.cookies)
    curl.setopt(pycurl.COOKIEFILE, "")
    return curl


def _new_cookies() -> pycurl.CurlShare:
    jar = pycurl.CurlShare()
    jar.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
    return jar
