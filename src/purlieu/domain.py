"""Which domain a host belongs to: by the public suffix list, by its second-level label, by Endeca's two TLD lists.

Knows hosts as ``url`` serialises them (lower case, ASCII, IPv6 in brackets) and takes others too. Knows nothing
of scopes: whether two hosts belong together is asked of ``scope``. The list comes with its package and is read
when first asked for, since most crawls never ask.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from purlieu.errors import UrlError
from purlieu.url import parse

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

# The list that the product shipped is not public. This reconstruction is the generic TLDs delegated while it was
# current, which is also what its ancestor used (semantics 1.3); owners may replace it.
GENERIC_IN_ORDER = tuple(
    "aero asia biz cat com coop edu gov info int jobs mil mobi museum name net org pro tel travel".split()  # noqa: SIM905  as owners write it
)
GENERIC = frozenset(GENERIC_IN_ORDER)


_UNHEARD = "q--q"  # a label that no rule names


def is_address(host: str) -> bool:
    """Say whether a host is an IP address: IPv6, or its last label a number (URL Standard 3.5, ends in a number)."""
    last = host.removesuffix(".").rpartition(".")[2]
    return ":" in host or (last.isascii() and last.isdigit())


def has_empty_label(host: str) -> bool:
    """Say whether a host is no name of the DNS, since two dots stand together or one in front (RFC 1035, 2.3.1)."""
    return ".." in host or host.startswith(".")


def registrable(host: str, *, private: bool = True) -> str | None:
    """Return the public suffix of a host and the one label in front of it, in lower case, without trailing dot.

    None for addresses, single labels and what is itself a public suffix. An unlisted TLD counts as a suffix (the
    list's implicit rule). ``private``: the suffixes that companies lent out (``github.io``) count too (AMB-BJ-2).
    """
    return None if is_address(host) else _suffixes(private).privatesuffix(host)


def public_suffix(host: str, *, private: bool = True) -> str | None:
    """Return the part of a host under which names are given to strangers; None for an address or no host at all."""
    return None if is_address(host) else _suffixes(private).publicsuffix(host)


def is_public_suffix(host: str) -> bool:
    """Say whether a host is itself listed as a public suffix, so that whoever is under it is a stranger (R-3.2).

    A bare name of an intranet is not listed, and none.
    """
    return not is_address(host) and _suffixes(private=True).publicsuffix(host, accept_unknown=False) == host


def suffix_rule(host: str, *, private: bool = True) -> str:
    """Return the rule of the list that tells a host's public suffix: ``co.uk``, ``*.ck``, ``!www.ck``.

    ``*`` is the list's implicit rule for an unlisted TLD (BJ-21); "" stands for an address, which no rule tells.
    """
    suffix = public_suffix(host, private=private)
    if suffix is None:
        return ""
    known = _suffixes(private)
    if known.publicsuffix(host, accept_unknown=False) is None:
        return "*"
    parent = suffix.partition(".")[2]
    if parent and known.publicsuffix(f"{_UNHEARD}.{parent}") == f"{_UNHEARD}.{parent}":
        return f"*.{parent}"
    # Whatever stands before the suffix would be part of it, if this host were no exception.
    if known.publicsuffix(f"{_UNHEARD}.{suffix}") == f"{_UNHEARD}.{suffix}":
        return f"!{registrable(host, private=private)}"
    return suffix


def suffix_list_version() -> str:
    """Return the version of the package that brings the list; its last part is the list's date."""
    from importlib.metadata import version

    return version("publicsuffixlist")


def second_level(host: str) -> tuple[str, str] | None:
    """Return what two hosts must have alike to be of one second-level name (BJ-16 to BJ-22): the label and ''.

    Where the list (ICANN only) tells no label, because the TLD is unlisted or the host is itself a suffix, the
    second-to-last label and the TLD (BJ-19, AMB-BJ-7), so that such hosts match only under one TLD. None for
    addresses, hosts without a dot (BJ-18, BJ-20) and what is no name at all.
    """
    name, host = host, host.lower().removesuffix(".")
    if "." not in host or is_address(host) or has_empty_label(name):
        return None
    listed = _suffixes(private=False).privatesuffix(host, accept_unknown=False)
    if listed is not None:
        return listed.partition(".")[0], ""
    front, _, tld = host.rpartition(".")
    return front.rpartition(".")[2], tld


@cache
def _suffixes(private: bool) -> PublicSuffixList:  # noqa: FBT001  one flag, the cache's key
    from publicsuffixlist import PublicSuffixList  # 15 ms, and each list 70 ms: only for the modes that need it

    return PublicSuffixList(only_icann=not private)


class TldLists:
    """Endeca's way from a host to its domain: a list of generic TLDs and one of additional ones (EN-16).

    Each list is a text of names parted by white space, or the names; a leading dot and case do not count
    (AMB-EN-13).
    """

    __slots__ = ("_additional", "_generic", "_most_labels")

    def __init__(self, generic: str | Iterable[str] = GENERIC, additional: str | Iterable[str] = ()) -> None:
        """Keep the names of both lists."""
        self._generic = _names(generic)
        self._additional = _names(additional)
        self._most_labels = max((name.count(".") + 1 for name in self._additional), default=0)

    def domain(self, host: str) -> tuple[str, bool]:
        """Return the domain of a host, and whether a list told it (EN-21 to EN-34); if not, see ``not_found``.

        1. Last label generic: the last two labels. 2. The longest suffix on the additional list and one label more.
        3. The last two labels, found by neither. Addresses and single labels are their own domain.
        """
        name, host = host, host.lower().removesuffix(".")
        if is_address(host) or has_empty_label(name):
            return host, True
        labels = host.split(".")
        if labels[-1] in self._generic:
            return ".".join(labels[-2:]), True
        for first in range(max(0, len(labels) - self._most_labels), len(labels)):
            if ".".join(labels[first:]) in self._additional:
                return ".".join(labels[max(0, first - 1) :]), True
        return ".".join(labels[-2:]), False


def not_found(url: str, domain: str) -> str:
    """Return the DEBUG message of EN-29 for a URL whose domain neither list told."""
    return f"Failed to get the domain name for url: {url}\nusing {domain} as the default domain name"


def _names(names: str | Iterable[str]) -> frozenset[str]:
    listed = names.split() if isinstance(names, str) else names
    return frozenset(_ascii(name.strip().strip(".").lower()) for name in listed) - {""}


def _ascii(name: str) -> str:
    """Return a listed name as hosts are written (AMB-BJ-14); a name that cannot be a host stays, and matches none."""
    if name.isascii():
        return name
    try:
        return parse(f"http://{name}/").host
    except UrlError:
        return name
