"""Which URLs belong to the crawl: its sites, where their seeds have landed, and the verdict on any URL.

Knows sites, modes and landings, as values. Does not know how a URL was found: what is fetched although it is
outside, and why, is a grant that the caller gives (R-3.3). Nothing here changes; a landing makes a new scope.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple, Protocol, Self

from purlieu.domain import is_public_suffix, registrable, second_level
from purlieu.errors import UrlError
from purlieu.url import Url, host_of, parse
from purlieu.verdict import Verdict

GRANT_SEED = "seed"
GRANT_SEED_REDIRECT = "seed-redirect"
GRANT_ROBOTS = "robots-redirect"
GRANT_SITEMAP = "named-sitemap"

ANY = "any"
_COMPARED = {  # mode -> what it compares, in the words of a reason
    ANY: "everything",
    "same-host": "host",
    "same-domain": "domain",
    "same-sld": "second-level name",
    "same-dir": "folder",
}
MODES = tuple(_COMPARED)


class _Options(Protocol):
    """What ``[scope]`` and ``[[site]]`` both say; ``settings`` lies above this room and is not imported."""

    @property
    def mode(self) -> str: ...
    @property
    def ignore_port(self) -> bool: ...
    @property
    def ignore_scheme(self) -> bool: ...
    @property
    def follow_redirected_seed(self) -> bool: ...


class _SiteOptions(_Options, Protocol):
    @property
    def url(self) -> str: ...


class _Settings(Protocol):
    @property
    def seeds(self) -> Sequence[str]: ...
    @property
    def scope(self) -> _Options: ...
    @property
    def sites(self) -> Sequence[_SiteOptions]: ...


@dataclass(frozen=True, slots=True)
class Site:
    """One part of the scope: ``url`` is its seed's href, ``landing`` the href it is measured from, '' until known."""

    index: int
    url: str
    mode: str = "same-host"
    ignore_port: bool = False
    ignore_scheme: bool = True
    follow_redirected_seed: bool = True
    landing: str = ""


class _Table(NamedTuple):
    """The landed sites that compare alike: by what is compared, the folders that are in and whose they are."""

    compared: Callable[[str, str], str]
    held: dict[str, tuple[tuple[str, int], ...]]


@dataclass(frozen=True, slots=True)
class Scope:
    """The sites of one crawl as far as their seeds have landed (R-3.1, R-3.2). Made by ``of`` and ``landed``.

    A site accepts by where its seed landed; until that is known it accepts its seed alone, except that a site of
    mode ``any``, to which a landing makes no difference, accepts everything at once (EN-19).
    """

    sites: tuple[Site, ...]
    pending: frozenset[int]
    """The sites whose seed has not landed yet."""
    _waiting: dict[str, tuple[int, ...]]
    _tables: tuple[_Table, ...]

    @classmethod
    def of(cls, settings: _Settings) -> Self:
        """Return the scope that a ``Settings`` describes, before anything is fetched.

        Without ``[[site]]`` each seed is a site with the options of ``[scope]``; with it only those are, and one
        whose URL is no seed counts as landed there, since nobody fetches it. Raises UrlError for what is no http(s)
        URL.
        """
        seeds = dict.fromkeys(_web_href(seed) for seed in settings.seeds)
        given: list[tuple[str, _Options]] = [(_web_href(site.url), site) for site in settings.sites]
        sites = tuple(
            Site(index, href, how.mode, how.ignore_port, how.ignore_scheme, how.follow_redirected_seed)
            for index, (href, how) in enumerate(given or [(href, settings.scope) for href in seeds])
        )
        waiting: dict[str, tuple[int, ...]] = {}
        tables: tuple[_Table, ...] = ()
        for site in sites:
            if site.mode == ANY:
                tables = _with(tables, site)
            waiting[site.url] = (*waiting.get(site.url, ()), site.index)
        scope = cls(sites, frozenset(range(len(sites))), waiting, tables)
        for site in sites:
            if site.url not in seeds:
                scope = scope.landed(site.index, None)
        return scope

    def landed(self, site: int, href: str | None) -> Self:
        """Return the scope after a site's redirect chain has ended at ``href``, or has failed (None).

        Measured from the original instead: a failed chain (AMB-EN-6), ``follow_redirected_seed = false`` (EN-18),
        and a landing outside the web or on a bare public suffix (R-3.2). A site lands once; later calls change
        nothing.
        """
        if site not in self.pending:
            return self
        arrived = replace(self.sites[site], landing=_reference(self.sites[site], href))
        waiting = {**self._waiting, arrived.url: tuple(other for other in self._waiting[arrived.url] if other != site)}
        if not waiting[arrived.url]:
            del waiting[arrived.url]
        return replace(
            self,
            sites=(*self.sites[:site], arrived, *self.sites[site + 1 :]),
            pending=self.pending - {site},
            _waiting=waiting,
            _tables=self._tables if arrived.mode == ANY else _with(self._tables, arrived),
        )

    def seed(self, site: int) -> str:
        """Return the href of a site's seed."""
        return self.sites[site].url

    def rule(self, site: int) -> str:
        """Return the code of the rule by which a site accepts: its mode."""
        return self.sites[site].mode

    def accepts(self, href: str, host: str) -> int | None:
        """Return the first site that accepts a serialised href without fragment and its ``host_of``, None for none.

        Asked once a link: a look-up for each way of comparing that the sites use, usually one.
        """
        if not host:
            return None
        first = None
        for compared, held in self._tables:
            for folder, site in held.get(compared(href, host), ()):
                if (first is None or site < first) and (not folder or _path(href).startswith(folder)):
                    first = site
        for site in self._waiting.get(href, ()) if self._waiting else ():
            if first is None or site < first:
                first = site
        return first

    def accepting(self, href: str, host: str, sites: frozenset[int] | None = None) -> frozenset[int]:
        """Return all sites, of the given ones or of all, that accept a serialised href without fragment."""
        asked = self.sites if sites is None else [self.sites[site] for site in sites]
        return frozenset(site.index for site in asked if _takes(site, href, host))

    def judge(self, url: str | Url, purpose: str = "page", *, sites: frozenset[int] | None = None) -> Verdict:
        """Return whether a URL is in scope, with the sites that accept it, the rule and the values compared.

        ``sites`` judges by these alone (own-seed, R-3.1). A robots.txt is in scope where its host is, whatever
        the folder. Grants are no part of it (R-3.3). Never raises; what is no URL is refused.
        """
        try:
            parsed = parse(url) if isinstance(url, str) else url
        except UrlError as error:
            return Verdict(accepted=False, rule="invalid-url", reason=str(error))
        href, host = parsed.href, host_of(parsed.href)
        if not host:
            reason = f'"{parsed.scheme}" is neither http nor https, the only schemes crawled'
            return Verdict(accepted=False, rule="scheme", reason=reason)
        asked = [site for site in self.sites if sites is None or site.index in sites]
        if not asked:
            return Verdict(accepted=False, rule="no-site", reason="no site was asked that could accept it")
        whole = purpose == "robots"
        accepting = [site for site in asked if _takes(site, href, host, whole_host=whole)]
        rule = "+".join(sorted({site.mode for site in accepting or asked}))
        reason = _accepted(accepting[0], href, host) if accepting else _refused(asked, href, host)
        return Verdict(bool(accepting), rule, reason, sites=frozenset(site.index for site in accepting))


def _web_href(text: str) -> str:
    href = parse(text).href
    if not host_of(href):
        raise UrlError(f'"{href}" is no address of the web: write one that starts with http:// or https://')
    return href


def _reference(site: Site, href: str | None) -> str:
    """Return the href that a site is measured from when its chain has ended at ``href``."""
    host = host_of(href) if href else ""
    if not href or not host or not site.follow_redirected_seed:
        return site.url
    return site.url if host != host_of(site.url) and is_public_suffix(host) else href


def _with(tables: tuple[_Table, ...], site: Site) -> tuple[_Table, ...]:
    """Return the tables with one site more in the table of its way to compare."""
    compared = _comparison(site.mode, site.ignore_port, site.ignore_scheme)
    start = site.landing or site.url
    value, folder = compared(start, host_of(start)), _folder(site)
    held = next((table.held for table in tables if table.compared is compared), {})
    known = dict(held.get(value, ()))
    known[folder] = min(site.index, known.get(folder, site.index))
    others = tuple(table for table in tables if table.compared is not compared)
    return (*others, _Table(compared, {**held, value: tuple(known.items())}))


@cache
def _comparison(mode: str, ignore_port: bool, ignore_scheme: bool) -> Callable[[str, str], str]:  # noqa: FBT001  the cache's key
    """Return what two URLs (each a href and its host) must have alike under a mode.

    The port is part of it in every mode unless ignored (BJ-30). A serialised URL has no default port, so http and
    https agree unless one names another (AMB-BJ-3). Hosts are compared without trailing dot (EN-30, AMB-BJ-14).
    """
    name = {"same-domain": _domain, "same-sld": _second_level}.get(mode)

    def compared(href: str, host: str) -> str:
        value = name(host) if name else host.removesuffix(".")
        if not ignore_port:
            authority = href.split("/", 3)[2]
            if len(authority) != len(host):
                value += authority.rpartition("@")[2][len(host) :]
        return value if ignore_scheme else f"{href[: href.index(':')]}://{value}"

    return (lambda _href, _host: "") if mode == ANY else compared


@lru_cache(maxsize=65_536)
def _domain(host: str) -> str:
    """Return the registrable domain; for a host without one the host, as if the mode were same-host (AMB-BJ-6)."""
    return registrable(host) or host.removesuffix(".")


@lru_cache(maxsize=65_536)
def _second_level(host: str) -> str:
    """Return the second-level label, of an unlisted TLD with that; for a host without one what matches it alone."""
    label, tld = second_level(host) or (f"host {host.removesuffix('.')}", "")
    return f"{label} under {tld}" if tld else label


def _path(href: str) -> str:
    """Return the path of a serialised http(s) href, query included: no folder holds a question mark."""
    return "/" + href.split("/", 3)[3]


def _folder(site: Site) -> str:
    """Return the folder that a same-dir site is bound to: its path to the last slash (BJ-13); '' in other modes."""
    path = _path(site.landing or site.url).partition("?")[0] if site.mode == "same-dir" else ""
    return path[: path.rfind("/") + 1]


def _takes(site: Site, href: str, host: str, *, whole_host: bool = False) -> bool:
    """Say whether one site accepts: the same answer as the tables give, for one site and without them."""
    if not host:
        return False
    if site.mode == ANY:
        return True
    if not site.landing:
        return href == site.url
    compared = _comparison(site.mode, site.ignore_port, site.ignore_scheme)
    alike = compared(href, host) == compared(site.landing, host_of(site.landing))
    return alike and (whole_host or not (folder := _folder(site)) or _path(href).startswith(folder))


def _shown(site: Site, href: str) -> str:
    """Return what a site compares of a URL, for a sentence."""
    value = _comparison(site.mode, site.ignore_port, site.ignore_scheme)(href, host_of(href))
    return value + _path(href).partition("?")[0] if site.mode == "same-dir" else value


def _measured_from(site: Site) -> str:
    return site.landing if site.landing == site.url else f"{site.landing}, where {site.url} landed"


def _accepted(site: Site, href: str, host: str) -> str:
    if site.mode == ANY:
        return f'mode "any" takes every host, "{host}" too'
    if not site.landing:
        return f"it is the seed {site.url} itself, which has not landed yet"
    return f'its {_COMPARED[site.mode]} "{_shown(site, href)}" matches that of {_measured_from(site)}'


def _refused(sites: list[Site], href: str, host: str) -> str:
    site = sites[0]
    others = f"; no other of the {len(sites)} sites accepts it" if len(sites) > 1 else ""
    if not site.landing:
        return f'"{host}" waits: until the seed {site.url} has landed, only the seed is in{others}'
    compared = f'its {_COMPARED[site.mode]} "{_shown(site, href)}" is not "{_shown(site, site.landing)}"'
    return f"{compared}, that of {_measured_from(site)}{others}"
