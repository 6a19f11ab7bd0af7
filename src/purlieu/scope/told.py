"""Why a URL is in scope or not, in sentences and as the values compared.

Knows sites and what they compare. Decides nothing: the verdict is ``site.takes``.
"""

from __future__ import annotations

from collections.abc import Sequence

from purlieu.domain import TldLists, suffix_rule
from purlieu.scope.site import ANY, COMPARED, LISTS, PSL, Site, comparison, path_of, takes, values_of
from purlieu.sentence import Sentence
from purlieu.url import host_of
from purlieu.value import dataclass


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
        Sentence("seed") if waits else COMPARED[site.mode],
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


def _measured(site: Site) -> str:
    if site.landing == site.url:
        return site.landing
    return Sentence("{landing}, where {seed} landed", landing=site.landing, seed=site.url)


def _listed(values: Sequence[str]) -> str:
    shown = ", ".join(f'"{value}"' for value in values[:5])
    return shown if len(values) <= 5 else Sentence("{shown} and {count} more", shown=shown, count=len(values) - 5)


def accepted(site: Site, lists: TldLists | None, href: str) -> Sentence:
    """Return why a site accepts a serialised href."""
    if site.mode == ANY:
        return Sentence('mode "any" takes every host, "{host}" too', host=host_of(href))
    if not site.landing:
        return Sentence("it is the seed {seed} itself, which has not landed yet", seed=site.url)
    wanted, what, value = _wanted(site, lists), COMPARED[site.mode], _shown(site, lists, href)
    if len(wanted) == 1:
        return Sentence('its {what} "{value}" matches that of {start}', what=what, value=value, start=_measured(site))
    return Sentence(
        'its {what} "{value}" is one of {wanted}, of {start}',
        what=what, value=value, wanted=_listed(wanted), start=_measured(site),
    )  # fmt: skip


def refused(sites: Sequence[Site], lists: TldLists | None, href: str) -> Sentence:
    """Return why none of the sites accepts a serialised href: in the values of the first."""
    why = _refused_by(sites[0], lists, href)
    if len(sites) == 1:
        return why
    return Sentence("{why}; no other of the {count} sites accepts it", why=why, count=len(sites))


def _refused_by(site: Site, lists: TldLists | None, href: str) -> Sentence:
    if not site.landing:
        return Sentence(
            '"{host}" waits: until the seed {seed} has landed, only the seed is in', host=host_of(href), seed=site.url
        )
    wanted = _wanted(site, lists)
    values = {
        "what": COMPARED[site.mode],
        "value": _shown(site, lists, href),
        "wanted": _listed(wanted),
        "start": _measured(site),
    }
    if len(wanted) == 1:
        return Sentence('its {what} "{value}" is not {wanted}, that of {start}', **values)
    return Sentence('its {what} "{value}" is none of {wanted}, those of {start}', **values)
