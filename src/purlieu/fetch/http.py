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
from collections.abc import Callable, Sequence
from typing import Any, Final

import pycurl

from purlieu.fetch.address import AddressGuard, classify
from purlieu.fetch.answer import Answer
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
from purlieu.named import NamedTuple
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import FetchSettings, HostSettings, OriginSettings
from purlieu.value import replace

LOG: Final = logging.getLogger(__name__)
CONNECTIONS_KEPT: Final = 256
JAR_BYTES: Final = 65_536
LOOK_SECONDS: Final = 0.5
"""How often it is looked whether a silent server is waited for in vain."""
CODINGS: Final = "gzip, deflate, br" + (", zstd" if pycurl.version_info()[4] & pycurl.VERSION_ZSTD else "")
CODED_CODINGS: Final = "gzip, deflate"
"""What is asked for where bodies are kept as they were sent: what every reader of archives takes apart."""
_WEB_ONLY: Final = pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS

_SUPPRESS_CONNECT_HEADERS: Final = 265  # the bindings have no name for it
# Error codes for which they have none.
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


_AUTHS: Final = {
    "basic": pycurl.HTTPAUTH_BASIC,
    "digest": pycurl.HTTPAUTH_DIGEST,
    "negotiate": pycurl.HTTPAUTH_NEGOTIATE,  # without a user libcurl takes the ticket of whoever runs the crawl
}


def negotiates() -> bool:
    """Return whether this build of libcurl can log in by Kerberos (``origin.auth = "negotiate"``)."""
    return bool(pycurl.version_info()[4] & (pycurl.VERSION_GSSAPI | pycurl.VERSION_SSPI))


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

    __slots__ = ("address", "answer", "curl", "guard", "headers", "method", "origin", "refused", "request", "tried",
                 "waiting")  # fmt: skip

    def __init__(self, header_bytes: int, guard: AddressGuard, origin: Origin) -> None:
        self.curl: Any = pycurl.Curl()  # Any: the bindings carry no types
        self.curl.transfer = self
        self.answer = Answer(header_bytes)
        self.guard = guard
        self.origin = origin
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
        if not self.origin.proxy and not self.admitted(host):
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
        if self.answer.lines:  # the challenge of an authentication
            self.answer.restart()
        if self.origin.proxy or self.admitted(remote):
            return int(pycurl.PREREQFUNC_OK)
        self.tried = False
        return int(pycurl.PREREQFUNC_ABORT)

    def admitted(self, address: str) -> bool:
        """Ask the guard, and remember a refusal."""
        request = self.request
        if self.guard.admit(address, self.origin.host, opens=request.opens, in_scope=request.in_scope):
            return True
        self.refused = address
        return False

    def outcome(self, ending: _Ending, started_at: float) -> Response | Failure:
        """Return what the hop gave."""
        get = self.curl.getinfo
        answer = self.answer
        answer.look()
        refused = self.refused and not self.tried
        fault = answer.fault
        if fault is None and ending.code and not answer.enough and not answer.complete():
            fault = _fault(ending, begun=answer.start is not None)
        if answer.cookie_bytes:
            self.tidy_cookies()
        if answer.start is not None and not refused:
            times = (get(pycurl.STARTTRANSFER_TIME), get(pycurl.TOTAL_TIME))
            return answer.response(fault, self.address, started_at, times, get(pycurl.SIZE_DOWNLOAD_T))
        detail = answer.trouble or ending.words or "no answer"
        if refused:
            fault, self.address = Fault.ADDRESS_REFUSED, self.refused
            detail = f'address "{self.refused}" is {classify(self.refused)}'
        elif self.origin.proxy and (fault is Fault.CONNECT or get(pycurl.HTTP_CONNECTCODE) not in {0, 200}):
            fault = Fault.PROXY
        seconds = get(pycurl.TOTAL_TIME)
        return Failure(self.request.url, fault or Fault.PROTOCOL, detail, started_at, seconds, self.address)

    def tidy_cookies(self) -> None:
        """Empty the host's jar when it has grown past all sense: a server may send new cookies with every page."""
        jar = self.origin.jar
        if jar is None:
            return
        jar.received_bytes += self.answer.cookie_bytes
        if jar.received_bytes > JAR_BYTES:
            jar.received_bytes = sum(map(len, self.curl.getinfo(pycurl.INFO_COOKIELIST)))
            if jar.received_bytes > JAR_BYTES // 2:
                self.curl.setopt(pycurl.COOKIELIST, "ALL")
                for line in self.origin.cookies:
                    self.curl.setopt(pycurl.COOKIELIST, line)
                jar.received_bytes = 0


def _fault(ending: _Ending, *, begun: bool) -> Fault:
    before, after = FAULTS.get(ending.code, (Fault.CONNECT, Fault.TRUNCATED))
    if ending.code == pycurl.E_RECV_ERROR and ending.words.startswith("chunk "):
        after = Fault.PROTOCOL  # a damaged chunk size, for which libcurl has no code of its own
    return after if begun else before


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
        self._idle: list[_Transfer] = []
        self._plain: list[_Transfer] = []
        self._certified: dict[str, list[_Transfer]] = {}
        self._busy: set[_Transfer] = set()
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
            self._end(transfer, _Ending(pycurl.E_RECV_ERROR, "the fetcher was closed"))
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

    def _transfer(self, origin: Origin) -> _Transfer:
        """Make a handle, set what never changes, and aim it at a first origin."""
        settings = self._settings
        transfer = _Transfer(settings.header_bytes, self._guard, origin)
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

    def _aim(self, transfer: _Transfer, origin: Origin) -> None:
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

    def _run(self, transfer: _Transfer, watch: Watch) -> asyncio.Future[_Ending]:
        """Send the request out now, which spares one round of the loop, and return what its ending comes by."""
        waiting: asyncio.Future[_Ending] = self._loop.create_future()
        transfer.waiting = waiting
        self._busy.add(transfer)
        watch.comes_by_itself = True
        try:
            self._multi.add_handle(transfer.curl)
        finally:
            watch.comes_by_itself = False
        self._come_back()
        return waiting

    def _end(self, transfer: _Transfer, ending: _Ending | None) -> None:
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
                self._end(curl.transfer, _Ending(code, words))


_UNAUTHORIZED: Final = 401
_DONE: Final = _Ending(0, "")


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
