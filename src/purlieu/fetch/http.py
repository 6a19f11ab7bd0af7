"""The door to libcurl: one hop at a time, driven by the running asyncio loop.

Knows libcurl's options, error codes and callbacks, and nothing of it leaves this file.
Follows no redirect, keeps no pace, judges no scope; what a hop may connect to is asked of ``address.AddressGuard``.

libcurl says which sockets to watch and when to come back (``M_SOCKETFUNCTION``, ``M_TIMERFUNCTION``); both are passed
to the loop. Easy handles are kept and used again: what never changes is set once, what belongs to an origin when the
origin changes, so that the next page of a site sets its URL only.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pycurl

from purlieu.fetch.address import AddressGuard, classify, literal
from purlieu.fetch.answer import Answer
from purlieu.response import Failure, Fault, Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from purlieu.settings import FetchSettings, HostSettings, OriginSettings

LOG: Final = logging.getLogger(__name__)
ORIGINS_KEPT: Final = 512
JARS_KEPT: Final = 1024
CONNECTIONS_KEPT: Final = 256
CODINGS: Final = "gzip, deflate, br" + (", zstd" if pycurl.version_info()[4] & pycurl.VERSION_ZSTD else "")
ACCEPT: Final = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"
_SENT_BY_ALL: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS

# Error codes that older bindings have no name for.
_HTTP2_STREAM, _HTTP3, _SSL_CLIENTCERT, _PROXY, _QUIC, _TOO_LARGE = 92, 95, 98, 97, 96, 100

_TLS: Final = (
    pycurl.E_SSL_CONNECT_ERROR, pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_SSL_CACERT, pycurl.E_SSL_CACERT_BADFILE,
    pycurl.E_SSL_CERTPROBLEM, pycurl.E_SSL_CIPHER, pycurl.E_SSL_CRL_BADFILE, pycurl.E_SSL_ENGINE_INITFAILED,
    pycurl.E_SSL_ENGINE_NOTFOUND, pycurl.E_SSL_ENGINE_SETFAILED, pycurl.E_SSL_INVALIDCERTSTATUS,
    pycurl.E_SSL_ISSUER_ERROR, pycurl.E_SSL_PINNEDPUBKEYNOTMATCH, pycurl.E_SSL_SHUTDOWN_FAILED,
    pycurl.E_USE_SSL_FAILED, _SSL_CLIENTCERT,
)  # fmt: skip

# libcurl's code -> the fault before the first header byte, and after it. A code that is not here is
# ``connect`` before and ``truncated`` after: something between us and the server broke.
FAULTS: Final[dict[int, tuple[Fault, Fault]]] = {
    **dict.fromkeys(_TLS, (Fault.TLS, Fault.TRUNCATED)),
    pycurl.E_COULDNT_RESOLVE_HOST: (Fault.DNS, Fault.DNS),
    pycurl.E_URL_MALFORMAT: (Fault.DNS, Fault.DNS),  # a host name that the standard allows and no resolver would
    pycurl.E_COULDNT_RESOLVE_PROXY: (Fault.PROXY, Fault.PROXY),
    _PROXY: (Fault.PROXY, Fault.PROXY),
    pycurl.E_COULDNT_CONNECT: (Fault.CONNECT, Fault.TRUNCATED),
    pycurl.E_OPERATION_TIMEDOUT: (Fault.TIMEOUT, Fault.TIMEOUT),
    pycurl.E_GOT_NOTHING: (Fault.RESET, Fault.TRUNCATED),
    pycurl.E_SEND_ERROR: (Fault.RESET, Fault.TRUNCATED),
    pycurl.E_RECV_ERROR: (Fault.RESET, Fault.TRUNCATED),
    pycurl.E_PARTIAL_FILE: (Fault.RESET, Fault.TRUNCATED),
    _HTTP2_STREAM: (Fault.RESET, Fault.TRUNCATED),
    _HTTP3: (Fault.RESET, Fault.TRUNCATED),
    _QUIC: (Fault.CONNECT, Fault.TRUNCATED),
    pycurl.E_HTTP2: (Fault.PROTOCOL, Fault.PROTOCOL),
    pycurl.E_FTP_WEIRD_SERVER_REPLY: (Fault.PROTOCOL, Fault.PROTOCOL),  # libcurl calls it WEIRD_SERVER_REPLY today
    pycurl.E_UNSUPPORTED_PROTOCOL: (Fault.PROTOCOL, Fault.PROTOCOL),  # HTTP/0.9 too
    _TOO_LARGE: (Fault.PROTOCOL, Fault.PROTOCOL),
    pycurl.E_BAD_CONTENT_ENCODING: (Fault.PROTOCOL, Fault.DECODING),
}


@dataclass(slots=True, eq=False)
class _Origin:
    """What an origin's requests have in common: cookies of its host, headers and credentials of its owner."""

    host: str
    literal: str | None
    headers: list[bytes]
    cookies: pycurl.CurlShare | None
    credentials: OriginSettings | None
    verify: bool


class _Ending(NamedTuple):
    """How libcurl ended a transfer: 0 or its error code, and its words."""

    code: int
    words: str


class _Descriptor:
    """A socket's number, for the bindings to duplicate: a socket left unclosed would warn, and only they know when."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        return self._number

    def __del__(self) -> None:
        os.close(self._number)


class _Transfer:
    """One easy handle, kept for many hops, with the callbacks that libcurl calls for it."""

    __slots__ = ("address", "answer", "curl", "guard", "headers", "method", "origin", "proxied", "refused", "request",
                 "tried", "waiting")  # fmt: skip

    def __init__(self, header_bytes: int, guard: AddressGuard, *, proxied: bool) -> None:
        self.curl: Any = pycurl.Curl()  # Any: the bindings carry no types
        self.curl.transfer = self
        self.answer = Answer(header_bytes)
        self.guard = guard
        self.proxied = proxied
        self.origin: _Origin | None = None
        self.headers: tuple[tuple[str, str], ...] | None = None
        self.method = "GET"
        self.waiting: asyncio.Future[_Ending] | None = None

    def begin(self, request: Request) -> None:
        """Forget the last hop."""
        self.request = request
        self.address = ""
        self.refused = ""
        self.tried = False
        self.answer.begin(request)

    def open_socket(self, _purpose: int, target: Any) -> _Descriptor | int:
        """Give libcurl a socket for this address, or refuse it (R-5.1). No DNS trick gets round this."""
        family, kind, protocol, address = target
        host = address[0] if isinstance(address, tuple) else ""  # anything else is a unix socket
        if not self.proxied and not self.admitted(host):
            return int(pycurl.SOCKET_BAD)
        try:
            opened = _Descriptor(socket.socket(family, kind, protocol).detach())
        except OSError:  # no more file descriptors, or a family that this machine has not
            return int(pycurl.SOCKET_BAD)
        self.tried = True
        return opened

    def about_to_ask(self, remote: str, _local: str, _remote_port: int, _local_port: int) -> int:
        """Look at the connection chosen, a kept one too, before the request goes out on it."""
        self.address = remote
        self.answer.restart()
        if self.proxied or self.admitted(remote):
            return int(pycurl.PREREQFUNC_OK)
        self.tried = False
        return int(pycurl.PREREQFUNC_ABORT)

    def admitted(self, address: str) -> bool:
        """Ask the guard, and remember a refusal."""
        request = self.request
        origin = self.origin
        host = origin.host if origin else ""
        if self.guard.admit(address, host, opens=request.opens, in_scope=request.in_scope):
            return True
        self.refused = address
        return False

    def outcome(self, ending: _Ending, started_at: float) -> Response | Failure:
        """Return what the hop gave."""
        get = self.curl.getinfo
        answer = self.answer
        code = ending.code
        seconds = get(pycurl.TOTAL_TIME)
        refused = self.refused and not self.tried
        fault = answer.fault
        if fault is None and code and not answer.enough and not answer.complete():
            before, after = FAULTS.get(code, (Fault.CONNECT, Fault.TRUNCATED))
            if "chunked-encoding" in ending.words:  # libcurl has no code of its own for a damaged chunk size
                after = Fault.PROTOCOL
            fault = after if answer.started else before
        if answer.started and not refused:
            return answer.response(
                fault,
                address=self.address,
                started_at=started_at,
                seconds=seconds,
                first_byte_seconds=get(pycurl.STARTTRANSFER_TIME),
                wire_bytes=get(pycurl.SIZE_DOWNLOAD_T),
            )
        detail = answer.trouble or ending.words or "no answer"
        if refused:
            fault, self.address = Fault.ADDRESS_REFUSED, self.refused
            detail = f'address "{self.refused}" is {classify(self.refused)}'
        elif self.proxied and (fault is Fault.CONNECT or get(pycurl.HTTP_CONNECTCODE) not in {0, 200}):
            fault = Fault.PROXY
        return Failure(self.request.url, fault or Fault.PROTOCOL, detail, started_at, seconds, self.address)


class HttpFetcher:
    """Asks the web through libcurl; a ``Fetcher``. Bound to the loop of its first ``fetch``."""

    def __init__(
        self,
        settings: FetchSettings,
        origins: Sequence[OriginSettings] = (),
        hosts: Sequence[HostSettings] = (),
        user_agent: str = "",
        now: Callable[[], float] | None = None,
    ) -> None:
        """Take ``[fetch]``, the ``[[origin]]`` and ``[[host]]`` exceptions and the user agent.

        ``now`` (a ``Clock.now``) stamps the answers with seconds since the epoch.
        """
        self._settings = settings
        self._user_agent = user_agent or settings.user_agent or "Purlieu"
        self._now = now or _epoch
        self._unverified = frozenset(host.name.lower() for host in hosts if not host.verify)
        self._owned = {origin.origin.rstrip("/").lower(): origin for origin in origins}
        self._proxied = bool(settings.proxy) or settings.proxy_from_environment
        self._guard = AddressGuard(settings.allow_addresses)
        self._origins: OrderedDict[str, _Origin] = OrderedDict()
        self._jars: OrderedDict[str, pycurl.CurlShare] = OrderedDict()
        self._idle: list[_Transfer] = []
        self._busy: set[_Transfer] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._multi: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._due_at = 0.0
        self._wakes_at = 0.0
        self._adding = False
        self._at_once = False
        self._watched: dict[int, int] = {}
        if self._proxied:
            LOG.info("behind a proxy only literal addresses are checked: names are resolved by the proxy")

    async def fetch(self, request: Request) -> Response | Failure:
        """Ask for one hop and return what came back or why nothing did; a cancelled call drops the transfer."""
        if self._loop is None:
            self._start()
        started_at = self._now()
        origin = self._origin(request.url)
        if origin is None:
            return Failure(request.url, Fault.PROTOCOL, f'"{request.url}" is no http or https address', started_at, 0.0)
        transfer = self._idle.pop() if self._idle else self._transfer()
        transfer.begin(request)
        try:
            self._aim(transfer, origin)
            if self._proxied and origin.literal is not None and not transfer.admitted(origin.literal):
                return transfer.outcome(_DONE, started_at)
            ending = await self._run(transfer)
            return transfer.outcome(ending, started_at)
        except (pycurl.error, UnicodeError) as error:
            return Failure(request.url, Fault.PROTOCOL, str(error), started_at, 0.0)
        finally:
            self._idle.append(transfer)

    async def close(self) -> None:
        """Release connections; a fetch in flight gives a Failure."""
        for transfer in tuple(self._busy):
            self._end(transfer, _Ending(pycurl.E_RECV_ERROR, "the fetcher was closed"))
        await asyncio.sleep(0)  # those waiting take their ending and give their handle back
        for transfer in self._idle:
            transfer.curl.close()
        self._idle.clear()
        if self._timer is not None:
            self._timer.cancel()
        if self._multi is not None:
            self._multi.close()
            self._multi = None
        for fd in tuple(self._watched):
            self._watch(pycurl.POLL_REMOVE, fd, None, None)
        self._loop = None

    # What is asked for.

    def _origin(self, url: str) -> _Origin | None:
        scheme, _, rest = url.partition("://")
        prefix = f"{scheme}://{rest.partition('/')[0]}"
        origin = self._origins.get(prefix)
        if origin is None:
            if scheme not in {"http", "https"} or len(prefix) == len(scheme) + 3:
                return None
            origin = self._make_origin(prefix)
            self._origins[prefix] = origin
            if len(self._origins) > ORIGINS_KEPT:
                self._origins.popitem(last=False)
        return origin

    def _make_origin(self, prefix: str) -> _Origin:
        scheme, _, authority = prefix.lower().partition("://")
        authority = authority.partition("?")[0].partition("#")[0].rpartition("@")[2]
        host = authority if authority.endswith("]") else authority.rpartition(":")[0] or authority
        owned = self._owned.get(f"{scheme}://{authority}")
        headers = [("Accept", ACCEPT)]
        if self._settings.accept_language:
            headers.append(("Accept-Language", self._settings.accept_language))
        if owned:
            headers.extend(owned.headers)
        return _Origin(
            host=host,
            literal=literal(host),
            headers=[_line(name, value) for name, value in headers],
            cookies=self._jar(host) if self._settings.cookies else None,
            credentials=owned if owned and owned.user else None,
            verify=host not in self._unverified,
        )

    def _jar(self, host: str) -> pycurl.CurlShare:
        """Return the host's own cookies: a jar apart, so that no ``Domain=`` carries one to another host (R-4.7)."""
        jar = self._jars.get(host)
        if jar is None:
            jar = self._jars[host] = pycurl.CurlShare()
            jar.setopt(pycurl.SH_SHARE, pycurl.LOCK_DATA_COOKIE)
            if len(self._jars) > JARS_KEPT:
                self._jars.popitem(last=False)
        self._jars.move_to_end(host)
        return jar

    def _transfer(self) -> _Transfer:
        """Make a handle and set what never changes."""
        settings = self._settings
        transfer = _Transfer(settings.header_bytes, self._guard, proxied=self._proxied)
        version = pycurl.CURL_HTTP_VERSION_2TLS if settings.http2 else pycurl.CURL_HTTP_VERSION_1_1
        options = [
            (pycurl.PROTOCOLS, _SENT_BY_ALL),
            (pycurl.REDIR_PROTOCOLS, _SENT_BY_ALL),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.NOSIGNAL, 1),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.HTTP_VERSION, version),
            (pycurl.ACCEPT_ENCODING, CODINGS),
            (pycurl.USERAGENT, self._user_agent),
            (pycurl.CONNECTTIMEOUT_MS, int(settings.connect_timeout_seconds * 1000)),
            (pycurl.TIMEOUT_MS, int(settings.timeout_seconds * 1000)),
            (pycurl.LOW_SPEED_LIMIT, settings.low_speed_bytes),
            (pycurl.LOW_SPEED_TIME, max(1, round(settings.low_speed_seconds))),
            (pycurl.BUFFERSIZE, 131_072),
            (pycurl.HEADERFUNCTION, transfer.answer.header),
            (pycurl.WRITEFUNCTION, transfer.answer.body),
            (pycurl.OPENSOCKETFUNCTION, transfer.open_socket),
            (pycurl.PREREQFUNCTION, transfer.about_to_ask),
        ]
        if not settings.proxy_from_environment:
            options += [(pycurl.PROXY, settings.proxy), (pycurl.NOPROXY, "")]
        authorities = ssl.get_default_verify_paths()
        if settings.ca_file:  # in addition to the system's: an intranet's authority must not close the public web
            options += [(pycurl.CAINFO, settings.ca_file)]
            options += [(pycurl.CAPATH, authorities.capath)] if authorities.capath else []
        elif authorities.cafile:
            options += [(pycurl.CAINFO, authorities.cafile)]
        for option, value in options:
            transfer.curl.setopt(option, value)
        return transfer

    def _aim(self, transfer: _Transfer, origin: _Origin) -> None:
        """Set what this hop needs and the last one had otherwise."""
        curl = transfer.curl
        request = transfer.request
        if transfer.origin is not origin:
            self._aim_at_origin(curl, origin)
            transfer.origin = origin
            transfer.headers = None
        if transfer.headers != request.headers:
            curl.setopt(pycurl.HTTPHEADER, [*origin.headers, *(_line(name, value) for name, value in request.headers)])
            transfer.headers = request.headers
        if transfer.method != request.method:
            curl.setopt(pycurl.NOBODY, request.method == "HEAD")
            if request.method == "GET":
                curl.setopt(pycurl.HTTPGET, 1)
            transfer.method = request.method
        curl.setopt(pycurl.URL, _without_userinfo(request.url) if "@" in request.url else request.url)

    def _aim_at_origin(self, curl: Any, origin: _Origin) -> None:
        if origin.cookies is not None:
            curl.setopt(pycurl.SHARE, origin.cookies)
            curl.setopt(pycurl.COOKIEFILE, "")
        curl.setopt(pycurl.SSL_VERIFYPEER, int(origin.verify))
        curl.setopt(pycurl.SSL_VERIFYHOST, 2 if origin.verify else 0)
        if origin.credentials is None:
            curl.unsetopt(pycurl.USERPWD)
            return
        digest = origin.credentials.auth == "digest"
        curl.setopt(pycurl.HTTPAUTH, pycurl.HTTPAUTH_DIGEST if digest else pycurl.HTTPAUTH_BASIC)
        curl.setopt(pycurl.USERNAME, origin.credentials.user.encode())
        curl.setopt(pycurl.PASSWORD, origin.credentials.password.encode())

    # libcurl on the loop.

    def _start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, CONNECTIONS_KEPT)

    async def _run(self, transfer: _Transfer) -> _Ending:
        waiting: asyncio.Future[_Ending] = asyncio.get_running_loop().create_future()
        transfer.waiting = waiting
        self._busy.add(transfer)
        self._adding = True
        self._multi.add_handle(transfer.curl)
        self._adding = False
        if self._at_once:  # spares one round of the loop: the request goes out now
            self._act(pycurl.SOCKET_TIMEOUT, 0)
        try:
            return await waiting
        except asyncio.CancelledError:
            self._end(transfer, None)
            raise

    def _end(self, transfer: _Transfer, ending: _Ending | None) -> None:
        if transfer not in self._busy:
            return
        self._busy.discard(transfer)
        self._multi.remove_handle(transfer.curl)
        waiting, transfer.waiting = transfer.waiting, None
        if ending is not None and waiting is not None and not waiting.done():
            waiting.set_result(ending)

    def _act(self, fd: int, events: int) -> None:
        self._at_once = False
        _, running = self._multi.socket_action(fd, events)
        if running < len(self._busy):
            self._collect()

    def _collect(self) -> None:
        more = 1
        while more:
            more, good, bad = self._multi.info_read(64)
            for curl in good:
                self._end(curl.transfer, _DONE)
            for curl, code, words in bad:
                self._end(curl.transfer, _Ending(code, words))

    def _watch(self, what: int, fd: int, _multi: object, _data: object) -> None:
        """Watch a socket as libcurl says (``M_SOCKETFUNCTION``)."""
        loop = self._loop
        before = self._watched.get(fd, 0)
        after = 0 if what == pycurl.POLL_REMOVE else what
        if loop is None or before == after:
            return
        if after & pycurl.POLL_IN and not before & pycurl.POLL_IN:
            loop.add_reader(fd, self._act, fd, pycurl.CSELECT_IN)
        elif before & pycurl.POLL_IN and not after & pycurl.POLL_IN:
            loop.remove_reader(fd)
        if after & pycurl.POLL_OUT and not before & pycurl.POLL_OUT:
            loop.add_writer(fd, self._act, fd, pycurl.CSELECT_OUT)
        elif before & pycurl.POLL_OUT and not after & pycurl.POLL_OUT:
            loop.remove_writer(fd)
        if after:
            self._watched[fd] = after
        else:
            del self._watched[fd]

    def _set_timer(self, milliseconds: int) -> None:
        """Come back after so long (``M_TIMERFUNCTION``); only plans, since libcurl may not be called from here.

        Every transfer moves the time of its limit forward, so a timer that is already set for an earlier moment is left
        standing and looks again when it fires: that spares setting and cancelling one for each page.
        """
        loop = self._loop
        if loop is None or milliseconds < 0:
            self._due_at = 0.0
            return
        if milliseconds == 0 and self._adding:
            self._at_once = True
            return
        self._due_at = due_at = loop.time() + milliseconds / 1000
        if self._timer is None or due_at < self._wakes_at:
            self._plan(loop, due_at)

    def _plan(self, loop: asyncio.AbstractEventLoop, due_at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._wakes_at = due_at
        self._timer = loop.call_at(due_at, self._timer_fired)

    def _timer_fired(self) -> None:
        self._timer = None
        loop = self._loop
        if loop is None or not self._due_at:
            return
        if loop.time() + 0.001 < self._due_at:
            self._plan(loop, self._due_at)
        else:
            self._act(pycurl.SOCKET_TIMEOUT, 0)


_DONE: Final = _Ending(0, "")


def _line(name: str, value: str) -> bytes:
    """Return a request header line; line ends and NUL become spaces, so that no value can add a header."""
    return f"{name}: {value}".translate(_BREAKS).encode("latin-1", "replace")


def _epoch() -> float:
    return datetime.now(UTC).timestamp()


_BREAKS: Final = {0: " ", 10: " ", 13: " "}


def _without_userinfo(url: str) -> str:
    """Return a URL without ``user:password@``: a link brings no credentials, only the owner does."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
