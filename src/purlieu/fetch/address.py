"""Which addresses may be connected to: section 5 of the rules.

Knows the special address blocks (IANA's IPv4 and IPv6 special-purpose registries)
and which classes this run has opened. Resolves and connects nothing: it judges
addresses that someone else is about to speak to.
"""

from __future__ import annotations

from functools import lru_cache
from socket import AF_INET, AF_INET6, inet_pton
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

CLASSES: Final = ("public", "private", "loopback", "link-local", "metadata", "cgnat", "special")
OPENABLE: Final = frozenset({"private", "loopback"})
"""What an entry point may open by itself (R-5.1); every other class takes an owner's setting."""

_METADATA: Final = frozenset(
    {
        "169.254.169.254",  # most clouds
        "169.254.169.253",  # AWS resolver
        "169.254.169.123",  # AWS time
        "169.254.170.2",  # AWS container credentials
        "169.254.170.23",  # AWS pod identity
        "169.254.0.23",  # Tencent
        "169.254.42.42",  # Scaleway
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure, although the block is public
        "192.0.0.192",  # Oracle classic
        "fd00:ec2::254",
        "fd00:ec2::253",
        "fd00:ec2::123",
        "fd00:ec2::23",
        "fd20:ce::254",  # Google
        "fd00:42::42",  # Scaleway
    },
)

# Narrow blocks before the wide ones that hold them: the first match decides.
_BLOCKS_4: Final = (
    ("0.0.0.0", 8, "special"),  # noqa: S104
    ("10.0.0.0", 8, "private"),
    ("100.64.0.0", 10, "cgnat"),
    ("127.0.0.0", 8, "loopback"),
    ("169.254.0.0", 16, "link-local"),
    ("172.16.0.0", 12, "private"),
    ("192.0.0.9", 32, "public"),  # PCP and TURN anycast, globally reachable
    ("192.0.0.10", 32, "public"),
    ("192.0.0.0", 24, "special"),
    ("192.0.2.0", 24, "special"),
    ("192.88.99.0", 24, "special"),
    ("192.168.0.0", 16, "private"),
    ("198.18.0.0", 15, "special"),
    ("198.51.100.0", 24, "special"),
    ("203.0.113.0", 24, "special"),
    ("224.0.0.0", 3, "special"),  # multicast, reserved and broadcast
)
_BLOCKS_6: Final = (
    ("::1", 128, "loopback"),
    ("::", 128, "special"),
    ("fe80::", 10, "link-local"),
    ("fc00::", 7, "private"),
    ("2001:db8::", 32, "special"),
    ("3fff::", 20, "special"),
    ("2001::", 23, "special"),  # IETF protocol assignments: ORCHID, benchmarking; Teredo is looked into before
    ("5f00::", 16, "special"),
    ("2000::", 3, "public"),
    ("::", 0, "special"),  # outside global unicast nothing is assigned
)
# Blocks whose addresses hold an IPv4 address, with the bits below it, and whether a relay stands between.
_EMBEDDING: Final = (
    ("::ffff:0:0", 96, 0, False),  # IPv4-mapped (RFC 4291)
    ("::ffff:0:0:0", 96, 0, False),  # IPv4-translated (RFC 2765)
    ("::", 96, 0, False),  # IPv4-compatible (RFC 4291); :: and ::1 are asked first
    ("64:ff9b::", 96, 0, True),  # NAT64 (RFC 6052)
    ("2002::", 16, 80, True),  # 6to4 (RFC 3056)
)


def _number(address: str) -> int:
    return int.from_bytes(inet_pton(AF_INET6 if ":" in address else AF_INET, address))


def _table(blocks: tuple[tuple[str, int, str], ...], bits: int) -> tuple[tuple[int, int, str], ...]:
    return tuple((_number(base) >> bits - length, bits - length, name) for base, length, name in blocks)


_TABLE_4: Final = _table(_BLOCKS_4, 32)
_TABLE_6: Final = _table(_BLOCKS_6, 128)
_INNER: Final = tuple(
    (_number(base) >> 128 - length, 128 - length, shift, is_relayed) for base, length, shift, is_relayed in _EMBEDDING
)
_METADATA_4: Final = frozenset(_number(address) for address in _METADATA if ":" not in address)
_METADATA_6: Final = frozenset(_number(address) for address in _METADATA if ":" in address)
_TEREDO: Final = _number("2001::") >> 96
_LOCAL_NAT64: Final = _number("64:ff9b:1::") >> 80


def _classify_4(number: int) -> str:
    if number in _METADATA_4:
        return "metadata"
    return next((name for base, shift, name in _TABLE_4 if number >> shift == base), "public")


def _classify_6(number: int) -> str:
    if number in _METADATA_6:
        return "metadata"
    if number > 1:
        for base, shift, below, is_relayed in _INNER:
            if number >> shift == base:
                inner = _classify_4(number >> below & 0xFFFFFFFF)
                # Nobody's own loopback or private network is reached through a relay.
                return "special" if is_relayed and inner in OPENABLE else inner
        if number >> 96 == _TEREDO:  # the client's address is stored inverted (RFC 4380)
            return _worse(_classify_4(~number & 0xFFFFFFFF), _classify_4(number >> 64 & 0xFFFFFFFF))
        if number >> 80 == _LOCAL_NAT64:  # RFC 8215: where the inner address stands depends on the network's prefix
            return _worse(_classify_4(number & 0xFFFFFFFF), "private")
    return next(name for base, shift, name in _TABLE_6 if number >> shift == base)


def _worse(one: str, other: str) -> str:
    return max(one, other, key=_RANK.__getitem__)


_RANK: Final = {"public": 0, "cgnat": 1, "private": 2, "loopback": 3, "link-local": 4, "special": 5, "metadata": 6}


@lru_cache(maxsize=8192)
def classify(address: str) -> str:
    """Return the class of an IP address: one of ``CLASSES``.

    An IPv6 address that carries an IPv4 one (mapped, compatible, translated, NAT64, 6to4, Teredo) has the class of
    the inner address, but a relayed one (NAT64, 6to4) that is private or loopback inside is ``special``: no entry
    point may open it. A zone (``%eth0``) is ignored. What is no address at all is ``special``, since it may not be
    spoken to.
    """
    text = address.partition("%")[0]
    try:
        return _classify_6(_number(text)) if ":" in text else _classify_4(_number(text))
    except (OSError, ValueError):  # ValueError: a NUL inside
        return "special"


def literal(host: str) -> str | None:
    """Return the address when a URL's host is one, without its brackets; None when it is a name."""
    text = host[1:-1] if host.startswith("[") else host
    try:
        _number(text.partition("%")[0])
    except (OSError, ValueError):
        return None
    return text


class AddressGuard:
    """Which address classes a run may connect to.

    Public addresses are open. The owner's classes, and those that an entry point's host resolved to at first contact,
    are open to requests in scope; all else is closed (R-5.1).
    """

    def __init__(self, allowed: Iterable[str] = (), *, public_only: bool = False) -> None:
        """Open the owner's classes (``fetch.allow_addresses``), or public addresses alone and for good."""
        self._public_only = public_only
        self._open = {"public", *(() if public_only else allowed)}
        self._pinned: dict[str, str] = {}

    @property
    def opened(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """Return the classes that are open, and the (host, class) that are pinned, for a guard in another process."""
        return tuple(sorted(self._open)), tuple(self._pinned.items())

    def open_too(self, classes: Iterable[str], pinned: Iterable[tuple[str, str]]) -> None:
        """Take in what another guard of the run has opened and pinned; what is pinned here stays."""
        self._open.update(classes)
        for host, kind in pinned:
            self._pinned.setdefault(host, kind)

    def admit(self, address: str, host: str, *, opens: bool, in_scope: bool) -> bool:
        """Say whether this address may be spoken to for that host.

        ``opens`` marks an entry point: the class of the first address tried for its host is pinned for the run and,
        if it is private or loopback, opened. A host that shows another class later opens nothing more.
        """
        kind = classify(address)
        if self._public_only:
            return kind == "public"
        if kind == "public" and not opens:
            return True
        if opens and in_scope and self._pinned.setdefault(host, kind) == kind and kind in OPENABLE:
            self._open.add(kind)
        return kind in self._open if in_scope else kind == "public"
