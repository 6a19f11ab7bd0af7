"""The leak kit: crawls a site that tempts out of scope, and says which requests no rule of R-3.3 allows.

The verdict looks at the server's log alone and trusts nothing that the crawler says of itself. Knows the rules of
grants; the temptations are ``lure.py``'s and ``bait.py``'s.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Sequence
from typing import Final

from purlieu.crawl.local import Crawl
from purlieu.fetch.address import CLASSES
from purlieu.fetch.door import DoorFetcher
from purlieu.fetch.fetcher import Fetcher
from purlieu.fetch.http import HttpFetcher
from purlieu.normalise import Normaliser
from purlieu.response import Failure, Request, Response
from purlieu.scope import Scope
from purlieu.settings import OriginSettings, Settings
from purlieu.testing.lure import HOME, Asked, LeakSite, met
from purlieu.url import origin_of, parse
from purlieu.value import dataclass, replace

__all__ = ["HOME", "Asked", "Leak", "LeakSite", "betrayed", "crawled", "fitted", "imitated", "leaks", "rounds"]

ROBOTS_HOPS: Final = 5
"""So many redirects of a robots.txt are followed (R-3.3, RFC 9309 2.3.1.2)."""
MOST_HOMES: Final = 3
"""So many of an owner's seeds are imitated."""
TOO_OFTEN: Final = "one HEAD, and one GET where that is refused, are all that a link which is checked may be asked"
_MODES_OF_ADDRESSES: Final = {"same-sld": "same-host"}


@dataclass(frozen=True, slots=True)
class Leak:
    """An address that was asked for although no rule allows it."""

    url: str
    times: int
    why: str


def leaks(log: Sequence[Asked], settings: Settings) -> list[Leak]:
    """Return the addresses of a log that neither the scope of the settings nor a grant of R-3.3 allows.

    Allowed are what is in scope once the seeds have landed, the seeds and the hops of their chains, the robots.txt of
    an origin of which anything else is allowed, the redirects of one of an origin in scope (at most five), and the
    sitemaps that such a one or the owner names. With ``links.check_external`` what pages in scope link to is allowed
    too, each address once by HEAD and, where that is refused, once by GET, and where these redirect.
    """
    answers = {href: asked for asked in log if (href := met(asked.url, asked.url))}
    allowed, scope = _seeds_and_scope(answers, settings)
    only_seeds = settings.scope.only_seeds
    of_seeds = {origin_of(href) for href in allowed if href}
    allowed |= {href for href in answers if not only_seeds and scope.judge(href).accepted}
    if settings.scope.judge_against == "own-seed":
        allowed = {href for href in allowed if _is_of_lineage(href, scope)}
    pages = set(allowed)
    allowed |= {met(file, file) for file in settings.sitemap.files}
    seen: set[str] = set()
    while more := {origin_of(href) for href in allowed if href} - seen:
        seen |= more
        for origin in more:
            allowed.add(own := f"{origin}/robots.txt")
            in_scope = scope.judge(f"{origin}/", "robots").accepted
            if in_scope or origin in of_seeds:
                hops = _chain(own, answers, ROBOTS_HOPS, None)
                allowed |= set(hops)
                named = answers[hops[-1]].sitemaps if in_scope and hops[-1] in answers else ()
                allowed |= set(named) if settings.finds_sitemaps else set()
    methods: dict[str, list[tuple[str, bool]]] = {}
    for asked in log:
        methods.setdefault(met(asked.url, asked.url) or asked.url, []).append((asked.method, asked.succeeded))
    checked = _checked(log, pages, answers, settings) - allowed
    return [
        Leak(href, len(asked), TOO_OFTEN if href in checked else scope.judge(href).reason)
        for href, asked in methods.items()
        if href not in allowed and not _is_check(href, asked, checked)
    ]


def _checked(log: Sequence[Asked], pages: set[str], answers: dict[str, Asked], settings: Settings) -> set[str]:
    """Return what may be asked to learn whether it is there: links of the pages, and where these redirect."""
    if not settings.links.check_external:
        return set()
    linked = {link for asked in log if met(asked.url, asked.url) in pages for link in asked.links}
    normaliser = Normaliser.of(settings.normalise)
    most = settings.limits.max_redirects
    hops = {hop for link in linked for hop in _chain(normaliser.link(link), answers, most, normaliser)}
    return hops | {f"{origin_of(hop)}/robots.txt" for hop in hops if settings.links.external_robots}


def _is_check(href: str, asked: list[tuple[str, bool]], checked: set[str]) -> bool:
    """Return whether these (method, succeeded) are one HEAD of a link, and at most one GET where that did not succeed.

    What goes through a tunnel shows its origin alone.
    """
    if all(method == "CONNECT" for method, _ in asked):
        return any(origin_of(link) == origin_of(href) for link in checked)
    if href not in checked:
        return False
    return asked[0][0] == "HEAD" and (len(asked) == 1 or (len(asked) == 2 and asked[1][0] == "GET" and not asked[0][1]))


def _seeds_and_scope(answers: dict[str, Asked], settings: Settings) -> tuple[set[str], Scope]:
    """Return the seeds with the hops of their chains, and the scope after these have landed."""
    normaliser = Normaliser.of(settings.normalise)
    scope = Scope.of(settings)
    allowed: set[str] = set()
    landings: dict[int, str | None] = {}
    for seed in settings.seeds:
        href = parse(seed).href
        asked = met(normaliser.key(href) if settings.normalise.apply_to_seeds else href, href)
        hops = _chain(asked, answers, settings.limits.max_redirects, normaliser)
        allowed |= set(hops)
        last = answers.get(hops[-1])
        landed = hops[-1] if last is not None and last.succeeded and not last.redirect else None
        landings |= {site.index: landed for site in scope.sites if site.url == href}
    return allowed, scope.all_landed(landings)


def _chain(href: str, answers: dict[str, Asked], most: int, normaliser: Normaliser | None) -> list[str]:
    """Return an address and where its redirects lead, at most so many."""
    hops = [href]
    while len(hops) <= most and (asked := answers.get(hops[-1])) and asked.redirect:
        target = normaliser.key(asked.redirect) if normaliser else asked.redirect
        if target in hops:
            break
        hops.append(target)
    return hops


def _is_of_lineage(href: str, scope: Scope) -> bool:
    """Return whether an address that only one home links to is of that home's own site."""
    _, found, index = href.rpartition("/only-from-")
    own = frozenset({int(index)}) if found and index.isdigit() else None
    return own is None or scope.judge(href, sites=own).accepted


# -- a crawl of it -------------------------------------------------------------------------------------


def betrayed(log: Sequence[Asked], secrets: Sequence[str], origin: str) -> list[str]:
    """Return the addresses outside an origin whose request carried one of its secrets, plain or as Basic sends it."""
    coded = [b64encode(one.encode()).decode().rstrip("=")[:-1] for one in secrets]
    return [
        one.url
        for one in log
        if origin_of(met(one.url, one.url) or one.url) != origin
        and any(secret.lower() in f"{one.url}\n{one.carried}".lower() for secret in (*secrets, *coded))
    ]


class _Unguarded:
    """A fetcher that goes wherever it is sent: the guard of addresses must not hide that a scope leaks."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def fetch(self, request: Request) -> Response | Failure:
        return await self._fetcher.fetch(replace(request, opens=True, in_scope=True))

    async def address_of(self, host: str) -> str:
        return await self._fetcher.address_of(host)

    async def close(self) -> None:
        await self._fetcher.close()


def fitted(settings: Settings, site: LeakSite, store: str) -> Settings:
    """Return an owner's settings for a crawl of the kit.

    Seeds and sites lie on the kit, nothing waits, and nothing that could hide a leak is left: limits, filters, and
    robots.txt stays as the owner has it. Logins and exceptions for hosts are left out, so that no secret is needed.
    """
    plain = Settings()
    sites = tuple(replace(one, url=_on_kit(one.url, site), strict=False) for one in settings.sites)
    scope = replace(settings.scope, strict=False)
    if site.seeds != site.homes or not site.proxy:  # the suffixes of the owner's hosts fit no other
        sites = tuple(replace(one, alternative_suffixes=()) for one in sites)
        scope = replace(scope, alternative_suffixes=())
    if not site.proxy:  # an address has no second-level name
        sites = tuple(replace(one, mode=_MODES_OF_ADDRESSES.get(one.mode, one.mode)) for one in sites)
        scope = replace(scope, mode=_MODES_OF_ADDRESSES.get(scope.mode, scope.mode))
    return replace(
        settings,
        seeds=site.seeds,
        name="leaktest",
        store=store,
        sites=tuple({(one.url, one.mode): one for one in sites}.values()),
        scope=scope,
        filter=plain.filter,
        limits=replace(plain.limits, max_redirects=settings.limits.max_redirects),
        fetch=replace(
            plain.fetch, proxy=site.proxy, allow_addresses=CLASSES[1:], timeout_seconds=10.0, http2=False,
            classes=settings.fetch.classes, head_first=settings.fetch.head_first,
        ),
        politeness=replace(
            plain.politeness, delay=0.0, connections=16, adaptive=False, retries=0, max_backoff_seconds=0.0,
            give_up_after=1_000_000,
        ),
        robots=replace(settings.robots, tries=1),
        sitemap=replace(settings.sitemap, files=()),
        hosts=(),
        origins=(),
    )  # fmt: skip


def _on_kit(url: str, site: LeakSite) -> str:
    home = site.homes[0]
    return imitated(url) if site.proxy else home[: home.rfind("/") + 1]


def imitated(url: str) -> str:
    """Return an owner's address as the kit imitates it: over http, since nobody's certificate is at hand."""
    href = met(url, url)
    return f"http:{href.removeprefix('https:')}" if href.startswith("https:") else href


def rounds(settings: Settings) -> tuple[LeakSite, ...]:
    """Return the sites to crawl: the owner's hosts imitated, the same with seeds that redirect there, and addresses."""
    homes = tuple(dict.fromkeys(map(imitated, settings.seeds[:MOST_HOMES]))) or (HOME,)
    return LeakSite(homes), LeakSite(homes, moved=True), LeakSite(homes, by_address=True)


async def crawled(settings: Settings, site: LeakSite, store: str, doors: Sequence[OriginSettings] = ()) -> list[Leak]:
    """Crawl a site that is being served, by an owner's settings, and return the leaks. ``store`` is a new file.

    ``doors`` are credentials for homes of the site, secrets in their place; ``betrayed`` says where they went.
    """
    made = fitted(settings, site, store)
    loop_time = asyncio.get_running_loop().time

    async def pause(_: str) -> None:
        await asyncio.sleep(0)

    plain = HttpFetcher(made.fetch, doors, (), "Purlieu leaktest", loop_time)
    fetcher = _Unguarded(DoorFetcher(plain, doors, pause) if doors else plain)
    async with Crawl(made, fetcher=fetcher) as crawl:
        await crawl.run()
    return leaks(site.log, made)
