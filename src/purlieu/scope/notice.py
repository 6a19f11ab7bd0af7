"""What the owner should know of a scope before the first fetch: allowed, but perhaps not what was meant.

Knows the settings and the domains of hosts; nothing has been fetched yet. What is plainly wrong is a ``mistake``.
"""

from __future__ import annotations

from collections.abc import Iterator

from purlieu.domain import GENERIC, TldLists, public_suffix, second_level
from purlieu.finding import Finding
from purlieu.scope._described import ScopeSettings, SiteOptions
from purlieu.scope.mistake import sites_of, without_domain
from purlieu.scope.site import LISTS
from purlieu.scope.union import Scope, web_href
from purlieu.url import host_of

_MOST = 1000  # more sites and seeds are no scope that somebody wrote by hand, and are not looked at
_NAMED = frozenset({"same-domain", "same-sld"})


def findings(settings: ScopeSettings) -> tuple[Finding, ...]:
    """Return what there is to say, each once, in the order of the settings. Raises UrlError as ``Scope.of`` does."""
    found: dict[tuple[str, str], Finding] = {}
    for finding in _all(settings):
        found.setdefault((finding.code, finding.subject), finding)
    return tuple(found.values())


def _all(settings: ScopeSettings) -> Iterator[Finding]:
    lists = TldLists(settings.domains.generic, settings.domains.additional)
    if {name.strip(".").lower() for name in settings.domains.generic} != GENERIC:
        yield Finding("generic_list_edited", "domains.generic")  # EN-82
    if len(settings.seeds) + len(settings.sites) > _MOST:
        return
    for _, _, url, how in sites_of(settings, lambda how: how.mode in _NAMED):
        yield from _of_domain(url.href, url.host, how, lists)
    yield from _without_seed(settings)
    yield from _alike(settings)


def _of_domain(href: str, host: str, how: SiteOptions, lists: TldLists) -> Iterator[Finding]:
    """Yield what a site's host says of the domain or second-level name that is compared."""
    host = host.removesuffix(".")
    if how.mode == "same-domain" and how.domains == LISTS:
        if finding := _not_listed(href, host, lists):
            yield finding
    elif how.mode == "same-domain" and not how.strict and without_domain(host, how):
        yield Finding("domain_is_host", href, {"host": host})  # BJ-11, AMB-BJ-6
    elif how.mode == "same-sld" and "." in host and public_suffix(host, private=False) == host:
        label = (second_level(host) or ("?", ""))[0]
        yield Finding("second_level_is_suffix", href, {"host": host, "label": label})  # AMB-BJ-7


def of_landing(scope: Scope, number: int) -> Finding | None:
    """Return what is to be said of the domain that a site compares since it has landed elsewhere; None for nothing.

    A domain on neither list opens as much there as it would in the settings (EN-80).
    """
    site = scope.sites[number]
    if site.mode != "same-domain" or site.domains != LISTS or site.start == site.url:
        return None
    return _not_listed(site.start, host_of(site.start).removesuffix("."), scope.lists)


def _not_listed(href: str, host: str, lists: TldLists) -> Finding | None:
    domain, is_known = lists.domain(host)
    if is_known:
        return None
    # EN-80: the owner is told what to add.
    return Finding("domain_not_listed", href, {"domain": domain, "terms": public_suffix(host, private=False) or host})


def _without_seed(settings: ScopeSettings) -> Iterator[Finding]:
    """Yield the sites in which nothing starts: unless another one links there, nothing of them is found."""
    if not settings.sites:
        return
    scope = Scope.of(settings)
    scope = scope.all_landed({site: scope.seed(site) for site in scope.pending})
    reached: set[int] = set()
    for seed in settings.seeds:
        href = web_href(seed)
        reached |= scope.accepting(href, host_of(href))
    for site in scope.sites:
        if site.index not in reached:
            yield Finding("site_without_seed", site.url)


def _alike(settings: ScopeSettings) -> Iterator[Finding]:
    """Yield seeds and sites whose hosts differ by ``www.`` alone, and that no one site takes together."""
    scope = Scope.of(settings)
    scope = scope.all_landed({site: scope.seed(site) for site in scope.pending})
    first: dict[str, str] = {}
    for text in [*settings.seeds, *(site.url for site in settings.sites)]:
        href = web_href(text)
        host = host_of(href).removesuffix(".")
        bare = host.removeprefix("www.")
        other = first.setdefault(bare, href)
        if host_of(other).removesuffix(".") == host:
            continue
        if not scope.accepting(href, host_of(href)) & scope.accepting(other, host_of(other)):
            yield Finding("hosts_look_alike", href, {"other": other})
