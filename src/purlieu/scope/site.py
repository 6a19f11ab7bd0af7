"""One site of a scope: what it is measured from, which hosts count as its own, and what it compares.

Knows one site's options and the domains of hosts. Knows nothing of other sites, and not how a URL was found.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from purlieu.domain import TldLists, is_address, is_public_suffix, registrable, second_level
from purlieu.named import NamedTuple
from purlieu.sentence import Sentence
from purlieu.url import host_of
from purlieu.value import dataclass

ANY: Final = "any"
COMPARED: Final = {  # mode -> what it compares, in the words of a reason
    ANY: Sentence("everything"),
    "same-host": Sentence("host"),
    "same-domain": Sentence("domain"),
    "same-sld": Sentence("second-level name"),
    "same-dir": Sentence("folder"),
}
MODES: Final = tuple(COMPARED)
PSL, PSL_ICANN, LISTS = "psl", "psl-icann", "lists"
DOMAIN_SOURCES: Final = (PSL, PSL_ICANN, LISTS)


@dataclass(frozen=True, slots=True)
class Site:
    """One part of the scope: ``url`` is its seed's href, ``landing`` the href it is measured from, '' until known.

    ``aliases`` are hosts that count as its host, ``alternative_suffixes`` make more of them (BJ-31), and with
    ``www_equivalent`` each counts with ``www.`` and without.
    """

    index: int
    url: str
    mode: str = "same-host"
    ignore_port: bool = False
    ignore_scheme: bool = True
    follow_redirected_seed: bool = True
    aliases: tuple[str, ...] = ()
    www_equivalent: bool = False
    alternative_suffixes: tuple[str, ...] = ()
    domains: str = PSL
    landing: str = ""

    @property
    def start(self) -> str:
        """Return the href that the site is measured from, now."""
        return self.landing or self.url

    @property
    def way(self) -> Way:
        """Return how the site compares."""
        return Way(self.mode, self.ignore_port, self.ignore_scheme, self.domains)

    @property
    def folder(self) -> str:
        """Return the folder that a same-dir site is bound to: its path to the last slash (BJ-13); '' in other modes."""
        path = path_of(self.start).partition("?")[0] if self.mode == "same-dir" else ""
        return path[: path.rfind("/") + 1]

    def reference(self, href: str | None) -> str:
        """Return what the site is measured from when its redirect chain has ended at ``href``, or has failed (None).

        From the original: a failed chain (AMB-EN-6), ``follow_redirected_seed = false`` (EN-18), and a landing
        outside the web or on a bare public suffix (R-3.2).
        """
        host = host_of(href) if href else ""
        if not href or not host or not self.follow_redirected_seed:
            return self.url
        return self.url if host != host_of(self.url) and is_public_suffix(host) else href


class Way(NamedTuple):
    """How a site compares: sites of one way share a table."""

    mode: str
    ignore_port: bool
    ignore_scheme: bool
    domains: str

    @property
    def names(self) -> str:
        """Return what of a host is compared: everything, host, domain or sld."""
        return {"same-dir": "same-host"}.get(self.mode, self.mode)


def path_of(href: str) -> str:
    """Return the path of a serialised http(s) href, query included: no folder holds a question mark."""
    return "/" + href.split("/", 3)[3]


def hosts_of(site: Site) -> tuple[str, ...]:
    """Return the hosts that count as a site's: where it is measured from, and what is declared equal to that.

    The longest fitting suffix is exchanged for each of the list (BJ-34, AMB-BJ-9); one that fits nothing, after a
    landing elsewhere, makes no further host.
    """
    host = host_of(site.start).removesuffix(".")
    suffixes = [one for one in site.alternative_suffixes if host.endswith(one)]
    stem = host.removesuffix(max(suffixes, key=len)) if suffixes else ""
    hosts = [host, *(f"{stem}{suffix}" for suffix in (site.alternative_suffixes if stem else ())), *site.aliases]
    if site.www_equivalent:
        hosts += [other for one in hosts if (other := _with_or_without_www(one))]
    return tuple(dict.fromkeys(hosts))


def _with_or_without_www(host: str) -> str:
    """Return the host with ``www.`` or without; "" for addresses and bare names, and where it would be a suffix."""
    bare = host.removeprefix("www.")
    if is_address(host) or "." not in bare or is_public_suffix(bare):
        return ""
    return bare if bare != host else f"www.{host}"


@lru_cache(maxsize=4096)
def values_of(site: Site, lists: TldLists | None) -> tuple[str, ...]:
    """Return what a URL must have to be a site's, any of these; folders apart."""
    scheme, port = _around(site.way, site.start, host_of(site.start))
    name = _name_of(site.way, lists)
    return tuple(dict.fromkeys(f"{scheme}{name(host)}{port}" for host in hosts_of(site)))


@lru_cache(maxsize=256)
def comparison(way: Way, lists: TldLists | None) -> Callable[[str, str], str]:
    """Return what is looked at in a URL (its href and host); only its scheme, host and port play a part.

    The port is part of it in every mode unless ignored (BJ-30). A serialised URL has no default port, so http and
    https agree unless one names another (AMB-BJ-3).
    """
    name = _name_of(way, lists)
    if way.mode == ANY:
        return lambda _href, _host: ""

    def compared(href: str, host: str) -> str:
        scheme, port = _around(way, href, host)
        return f"{scheme}{name(host)}{port}"

    return compared


def _around(way: Way, href: str, host: str) -> tuple[str, str]:
    """Return the scheme and the port as far as they count."""
    if way.mode == ANY:
        return "", ""
    port = "" if way.ignore_port else href.split("/", 3)[2].rpartition("@")[2][len(host) :]
    return "" if way.ignore_scheme else f"{href[: href.index(':')]}://", port


@lru_cache(maxsize=256)
def _name_of(way: Way, lists: TldLists | None) -> Callable[[str], str]:
    """Return what names a host under a way. Hosts count without trailing dot (EN-30, AMB-BJ-14)."""
    if way.mode == ANY:
        return lambda _host: ""
    if way.names == "same-sld":
        return _second_level
    if way.names != "same-domain":
        return _bare
    if way.domains == LISTS:
        known = lists or TldLists()
        return lru_cache(maxsize=65_536)(lambda host: known.domain(host)[0])
    return _domain if way.domains == PSL else _icann_domain


def _bare(host: str) -> str:
    return host.removesuffix(".")


@lru_cache(maxsize=65_536)
def _domain(host: str) -> str:
    """Return the registrable domain; for a host without one the host, as if the mode were same-host (AMB-BJ-6)."""
    return registrable(host) or host.removesuffix(".")


@lru_cache(maxsize=65_536)
def _icann_domain(host: str) -> str:
    return registrable(host, private=False) or host.removesuffix(".")


@lru_cache(maxsize=65_536)
def _second_level(host: str) -> str:
    """Return the second-level label, of an unlisted TLD with that; for a host without one what matches it alone."""
    label, tld = second_level(host) or (f"host {host.removesuffix('.')}", "")
    return f"{label} under {tld}" if tld else label


def takes(site: Site, lists: TldLists | None, href: str, host: str, *, whole_host: bool = False) -> bool:
    """Say whether one site accepts: the plain definition, to which the tables of ``Scope`` give the same answer.

    ``whole_host``: whatever the folder.
    """
    if not host:
        return False
    if site.mode == ANY:
        return True
    if not site.landing:
        return href == site.url
    alike = comparison(site.way, lists)(href, host) in values_of(site, lists)
    return alike and (whole_host or path_of(href).startswith(site.folder or "/"))
