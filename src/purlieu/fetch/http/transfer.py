"""One transfer of libcurl: a handle, what it calls back, and what came of the hop.

Knows libcurl's error codes and what fault each is. Knows no loop, no other transfer and no settings: what a hop may
connect to is asked of ``address.AddressGuard``, what has come is kept by ``answer.Answer``.
"""

from __future__ import annotations

import asyncio
import os
import socket
from typing import Any, Final

import pycurl

from purlieu.fetch.address import AddressGuard, classify
from purlieu.fetch.answer import Answer
from purlieu.fetch.origin import Origin
from purlieu.named import NamedTuple
from purlieu.response import Failure, Fault, Request, Response

JAR_BYTES: Final = 65_536
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


class Ending(NamedTuple):
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


class Transfer:
    """One easy handle, kept for many hops, with the callbacks that libcurl calls for it."""

    __slots__ = ("address", "answer", "curl", "guard", "headers", "method", "origin", "refused", "request", "tried",
                 "waiting")  # fmt: skip

    def __init__(self, header_bytes: int, guard: AddressGuard, origin: Origin) -> None:
        """Open a handle that serves an origin, and whichever ``origin`` it is given later."""
        self.curl: Any = pycurl.Curl()  # Any: the bindings carry no types
        self.curl.transfer = self
        self.answer = Answer(header_bytes)
        self.guard = guard
        self.origin = origin
        self.headers: tuple[tuple[str, str], ...] | None = None
        self.method = "GET"
        self.waiting: asyncio.Future[Ending] | None = None

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

    def outcome(self, ending: Ending, started_at: float) -> Response | Failure:
        """Return what the hop gave."""
        get = self.curl.getinfo
        answer = self.answer
        answer.look()
        refused = self.refused and not self.tried
        fault = answer.fault
        if fault is None and ending.code and not answer.enough and not answer.complete():
            fault = fault_of(ending, begun=answer.start is not None)
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


def fault_of(ending: Ending, *, begun: bool) -> Fault:
    """Return the fault that libcurl's code means before and after the answer has begun (R-6.1)."""
    before, after = FAULTS.get(ending.code, (Fault.CONNECT, Fault.TRUNCATED))
    if ending.code == pycurl.E_RECV_ERROR and ending.words.startswith("chunk "):
        after = Fault.PROTOCOL  # a damaged chunk size, for which libcurl has no code of its own
    return after if begun else before
