"""What the requests to one origin have in common: its owner's headers and credentials, its host's cookies, its checks.

Knows the owner's ``[[origin]]`` and ``[[host]]`` exceptions and gives each to the origin it is bound to, and to no
other (R-4.7). Knows no libcurl: a cookie jar is whatever it was told to make.
"""

from __future__ import annotations

import ssl
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

from purlieu.fetch.address import literal
from purlieu.response import Response
from purlieu.settings import FetchSettings, HostSettings, OriginSettings
from purlieu.settings.door import door
from purlieu.settings.secret import MASK
from purlieu.value import dataclass, replace

ORIGINS_KEPT: Final = 512
JARS_KEPT: Final = 1024
ACCEPT: Final = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"
_PORTS: Final = {"http": ":80", "https": ":443"}
_BREAKS: Final = {0: " ", 10: " ", 13: " "}


@dataclass(slots=True, eq=False)
class Jar:
    """The cookies of one host; ``received_bytes`` grows with each Set-Cookie until the jar is looked into.

    ``is_filled``: the owner's cookies are in it.
    """

    cookies: Any
    received_bytes: int = 0
    is_filled: bool = False


@dataclass(slots=True, eq=False)
class Origin:
    """One origin; ``address`` is its host when that is a literal address, ``lines`` its request header lines.

    ``proxy`` is "" where the server is asked directly; ``is_door``: it is sent something that lets in;
    ``wants_certificate``: until when its certificate holds is not known yet.
    """

    host: str
    address: str | None
    lines: list[bytes]
    jar: Jar | None
    owner: OriginSettings | None
    proxy: str
    verify: bool
    is_door: bool = False
    wants_certificate: bool = False

    @property
    def cookies(self) -> tuple[str, ...]:
        """Return the owner's cookies for it: the lines that ``secret.resolved`` puts in their file's place."""
        return tuple(self.owner.cookies_file.splitlines()) if self.owner else ()

    @property
    def certificate(self) -> str:
        """Return the path of the certificate that the server is shown, "" for none."""
        return self.owner.certificate if self.owner else ""


class Origins:
    """The origins met lately, by ``scheme://authority``."""

    def __init__(
        self,
        settings: FetchSettings,
        owned: Sequence[OriginSettings],
        hosts: Sequence[HostSettings],
        new_cookies: Callable[[], Any],
    ) -> None:
        """Take the owner's exceptions, and what makes an empty store of cookies."""
        self._accept_language = settings.accept_language
        self._with_cookies = settings.cookies
        self._new_cookies = new_cookies
        self._proxy = settings.proxy
        self._proxy_from_environment = settings.proxy_from_environment and not settings.proxy
        self._unverified = frozenset(host.name.lower() for host in hosts if not host.verify)
        self._owned = {_bare(one.origin): one for one in owned}
        self._known: OrderedDict[str, Origin] = OrderedDict()
        self._plain: OrderedDict[str, Origin] = OrderedDict()
        self._jars: OrderedDict[str, Jar] = OrderedDict()
        self._doors: dict[str, Jar] = {}

    def of(self, url: str, *, plain: bool = False) -> Origin | None:
        """Return the origin of an absolute URL; None when it is neither http nor https, or has no host.

        ``plain``: as a stranger asks it, without headers of the owner's, credentials and cookies.
        """
        scheme, _, rest = url.partition("://")
        authority = rest.partition("/")[0]
        prefix = f"{scheme}://{authority}"
        known = self._plain if plain else self._known
        origin = known.get(prefix)
        if origin is None and authority and scheme in _PORTS:
            origin = known[prefix] = self._make(scheme, authority, plain=plain)
            if len(known) > ORIGINS_KEPT:
                known.popitem(last=False)
        return origin

    def _make(self, scheme: str, authority: str, *, plain: bool) -> Origin:
        bare = _bare(f"{scheme}://{authority}")
        host = host_of(bare)
        owner = None if plain else self._owned.get(bare)
        is_door = owner is not None and bool(door(owner))
        headers = [("Accept", ACCEPT)]
        if self._accept_language:
            headers.append(("Accept-Language", self._accept_language))
        if owner and owner.auth == "bearer":
            headers.append(("Authorization", f"Bearer {owner.token}"))
        jar = None
        if is_door and (self._with_cookies or (owner and (owner.cookies_file or owner.login_page))):
            # One apart from its host's: a cookie that credentials brought is one itself, and knows no port or scheme.
            jar = self._doors.get(bare) or self._doors.setdefault(bare, Jar(self._new_cookies()))
        elif self._with_cookies and not plain:
            jar = self._jar(host)
        return Origin(
            host=host,
            address=literal(host),
            lines=header_lines((*headers, *(owner.headers if owner else ()))),
            jar=jar,
            owner=owner,
            proxy=_environment_proxy(scheme, host) if self._proxy_from_environment else self._proxy,
            verify=host not in self._unverified,
            is_door=is_door,
            wants_certificate=scheme == "https",
        )

    def jar_of(self, host: str, *, new: bool = False) -> Jar | None:
        """Return a host's jar, None where it has none and no ``new`` one is wanted, or cookies are off."""
        if not self._with_cookies:
            return None
        return self._jar(host) if new else self._jars.get(host)

    def _jar(self, host: str) -> Jar:
        """Return the host's own jar: one apart for each, so that no ``Domain=`` carries a cookie to another host."""
        jar = self._jars.get(host)
        if jar is None:
            jar = self._jars[host] = Jar(self._new_cookies())
            if len(self._jars) > JARS_KEPT:
                self._jars.popitem(last=False)
        self._jars.move_to_end(host)
        return jar


def _environment_proxy(scheme: str, host: str) -> str:
    """Return the proxy that the environment names for such an origin, "" when ``no_proxy`` or nothing speaks of it."""
    from urllib.request import getproxies, proxy_bypass  # slow to import, seldom needed

    proxies = getproxies()
    return "" if proxy_bypass(host.strip("[]")) else proxies.get(scheme, proxies.get("all", ""))


def _bare(origin: str) -> str:
    """Return ``scheme://host[:port]`` in lower case, without user, path and the scheme's own port."""
    scheme, _, rest = origin.lower().partition("://")
    for mark in "/?#\\":
        rest = rest.partition(mark)[0]
    return f"{scheme}://{rest.rpartition('@')[2].removesuffix(_PORTS.get(scheme, ''))}"


def host_of(origin: str) -> str:
    """Return the host of ``scheme://host[:port]``; a literal IPv6 address keeps its brackets."""
    authority = origin.partition("://")[2]
    head, colon, port = authority.rpartition(":")
    return head if colon and not port.endswith("]") else authority


def header_lines(headers: Sequence[tuple[str, str]]) -> list[bytes]:
    """Return request header lines; line ends and NUL become spaces, so that no value can add a header.

    A value goes out as the octets it came in with (latin-1), or as UTF-8 where it has other characters.
    """
    lines = []
    for name, value in headers:
        line = f"{name}: {value}".translate(_BREAKS)
        try:
            lines.append(line.encode("latin-1"))
        except UnicodeEncodeError:
            lines.append(line.encode("utf-8", "replace"))
    return lines


def certificate_end(chain: list[list[tuple[str, str]]]) -> float | None:
    """Return until when a server's certificate holds, in seconds since the epoch; None where libcurl does not tell."""
    for name, value in chain[0] if chain else ():
        if name == "Expire date":
            try:
                return float(ssl.cert_time_to_seconds(value))
            except ValueError:  # whoever made the certificate wrote it
                return None
    return None


_LETS_IN: Final = frozenset({"set-cookie", "set-cookie2", "authentication-info"})


def without_sessions(answer: Response) -> Response:
    """Return an answer to credentials with its cookies masked: whoever has them is let in, and headers are stored."""
    if not any(name.lower() in _LETS_IN for name, _ in answer.headers):
        return answer
    pairs = ((name, MASK if name.lower() in _LETS_IN else value) for name, value in answer.headers)
    return replace(answer, headers=tuple(pairs))


def without_user(url: str) -> str:
    """Return a URL without ``user:password@``: a link brings no credentials, only the owner does."""
    scheme, _, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority.rpartition('@')[2]}{slash}{path}"
