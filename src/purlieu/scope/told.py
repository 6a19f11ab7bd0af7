"""Why a URL is in scope or not, in sentences and as the values compared.

Knows sites and what they compare. Decides nothing: the verdict is ``site.takes``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from purlieu.domain import TldLists, suffix_rule
from purlieu.scope.site import ANY, COMPARED, LISTS, PSL, Site, comparison, path_of, takes, values_of
from purlieu.url import host_of


@dataclass(frozen=True, slots=True)
class Test:
    """One site's test of one URL: what was looked at, what it was and what would have done.

    ``told_by`` names what told the URL's domain or second-level name: a rule of the public suffix list, ``lists``
    or, for one that neither list knew, ``last two labels``; "" where no domain is compared.
    """

    site: int
    seed: str
    measured_from: str
    mode: str
    compares: str
    value: str
    wanted: tuple[str, ...]
    accepted: bool
    told_by: str = ""


def tested(site: Site, lists: TldLists | None, href: str) -> Test:
    """Return a site's test of a serialised http(s) href."""
    host = host_of(href)
    waits = not site.landing and site.mode != ANY
    return Test(
        site.index,
        site.url,
        site.start,
        site.mode,
        "seed" if waits else COMPARED[site.mode],
        href if waits else _shown(site, lists, href),
        (site.url,) if waits else _wanted(site, lists),
        takes(site, lists, href, host),
        "" if waits else _told_by(site, lists, host),
    )


def _told_by(site: Site, lists: TldLists | None, host: str) -> str:
    if site.mode == "same-domain" and site.domains == LISTS:
        return "lists" if (lists or TldLists()).domain(host)[1] else "last two labels"
    if site.mode in {"same-domain", "same-sld"}:
        return suffix_rule(host, private=site.mode == "same-domain" and site.domains == PSL)
    return ""


def _shown(site: Site, lists: TldLists | None, href: str) -> str:
    """Return what a site compares of a URL, for a sentence."""
    value = comparison(site.way, lists)(href, host_of(href))
    return value + path_of(href).partition("?")[0] if site.mode == "same-dir" else value


def _wanted(site: Site, lists: TldLists | None) -> tuple[str, ...]:
    return tuple(value + site.folder for value in values_of(site, lists))


def _measured_from(site: Site) -> str:
    return site.landing if site.landing == site.url else f"{site.landing}, where {site.url} landed"


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(f'"{value}"' for value in values[:5])
    return shown if len(values) <= 5 else f"{shown} and {len(values) - 5} more"


def accepted(site: Site, lists: TldLists | None, href: str) -> str:
    """Return why a site accepts a serialised href."""
    if site.mode == ANY:
        return f'mode "any" takes every host, "{host_of(href)}" too'
    if not site.landing:
        return f"it is the seed {site.url} itself, which has not landed yet"
    wanted = _wanted(site, lists)
    alike = "matches that of" if len(wanted) == 1 else f"is one of {_listed(wanted)}, of"
    return f'its {COMPARED[site.mode]} "{_shown(site, lists, href)}" {alike} {_measured_from(site)}'


def refused(sites: Sequence[Site], lists: TldLists | None, href: str) -> str:
    """Return why none of the sites accepts a serialised href: in the values of the first."""
    site = sites[0]
    others = f"; no other of the {len(sites)} sites accepts it" if len(sites) > 1 else ""
    if not site.landing:
        return f'"{host_of(href)}" waits: until the seed {site.url} has landed, only the seed is in{others}'
    wanted = _wanted(site, lists)
    unlike = f"is not {_listed(wanted)}, that" if len(wanted) == 1 else f"is none of {_listed(wanted)}, those"
    return f'its {COMPARED[site.mode]} "{_shown(site, lists, href)}" {unlike} of {_measured_from(site)}{others}'
