"""A sitemap looked at by itself, without a run: the file, and what its index names, each asked for politely.

Knows the web through the seam, one host's pace, robots.txt, and where to stop. What is wrong with a file is
``sitemap.inspection``'s to say; nothing is remembered.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TYPE_CHECKING

from purlieu import robots as robots_txt
from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.politeness import Wish, pace
from purlieu.response import Failure, Fault, Request, Response
from purlieu.settings import Settings, politeness_of
from purlieu.sitemap import Entry
from purlieu.sitemap.entry import Child
from purlieu.sitemap.inspection import Inspection, inspect, problem, settle
from purlieu.value import dataclass, field

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.fetch.fetcher import Fetcher

MOST_FILES = 50_000  # SM-23
_TRIES = 3
_RETRY_SECONDS = 1.0
_LOOPBACK = ("127.", "::1", "[::1]")


@dataclass(frozen=True, slots=True)
class WalkRules:
    """How files are judged. ``beside`` gives the bytes of a child that stands beside a local index, or None."""

    strict: bool = False
    limit_2007: bool = False
    most_files: int = MOST_FILES
    each: Callable[[str, Entry], object] | None = None
    beside: Callable[[str], Callable[[], Iterable[bytes]] | None] = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class _Got:
    """What asking for a file gave: its last address and body, or why there is none."""

    url: str
    body: bytes | None
    found: Inspection


class SitemapWalk:
    """Looks at one sitemap and its children. Never raises for what the web does."""

    def __init__(self, settings: Settings, fetcher: Fetcher, clock: Clock, rules: WalkRules) -> None:
        """Ask by the owner's settings."""
        self._settings = settings
        self._fetcher = fetcher
        self._clock = clock
        self._rules = rules
        self._robots: dict[str, robots_txt.Robots] = {}
        self._next_at: dict[str, float] = {}
        self._seen: set[str] = set()
        self._first_host = ""

    async def of_url(self, url: str) -> AsyncGenerator[Inspection]:
        """Yield what the file at a URL is, then each child of it."""
        href = urls.parse(url).href
        self._first_host = urls.host_of(href)
        self._seen.add(href)
        got = await self._got(href)
        first = got.found
        if got.body is not None:
            first = await self._inspected(got.body, got.url, whole=not got.found.problems)
            first.problems += got.found.problems
        async for one in self._all(first, measured=True):
            yield one

    async def of_bytes(
        self, pieces: Callable[[], Iterable[bytes]], name: str, place: str | None
    ) -> AsyncGenerator[Inspection]:
        """Yield what given bytes are, then each child; ``place`` is the URL they will stand at, None if unknown."""
        if place:
            self._seen.add(urls.parse(place).href)
            self._first_host = urls.host_of(urls.parse(place).href)
        first = self._read(pieces, place or name, place)
        settle(first, frozenset(), strict=self._rules.strict, limit_2007=self._rules.limit_2007)
        first.url = name
        async for one in self._all(first, measured=place is not None):
            yield one

    # -- one file ----------------------------------------------------------------------------------

    def _read(
        self, pieces: Callable[[], Iterable[bytes]], url: str, place: str | None, *, whole: bool = True
    ) -> Inspection:
        each = self._rules.each
        return inspect(
            pieces,
            url=url,
            strict=self._rules.strict,
            place=place,
            each=(lambda entry: each(url, entry)) if each else None,
            limit_bytes=self._settings.fetch.sitemap_bytes,
            whole=whole,
        )

    async def _inspected(self, body: bytes, url: str, *, whole: bool) -> Inspection:
        """Return what a fetched file is; who may speak for whom is asked of the sites' robots.txt (SM-35, AMB-SM-7)."""
        found = self._read(lambda: (body,), url, url, whole=whole)
        proven = set()
        asked = [urls.origin_of(url), *found.other_origins] if found.outside else []
        for origin in asked:
            if _names(await self._robots_of(origin), origin, found.url):
                proven.add(origin)
        settle(found, frozenset(proven), strict=self._rules.strict, limit_2007=self._rules.limit_2007)
        return found

    # -- children ----------------------------------------------------------------------------------

    async def _all(self, first: Inspection, *, measured: bool) -> AsyncGenerator[Inspection]:
        children, first.children = first.children, []
        index_host = self._first_host
        wanted: list[Child] = []
        for child in children:
            try:
                href = urls.parse(child.loc).href
            except UrlError:
                continue  # the reader has told it
            if href in self._seen:
                first.problems.append(problem("loop", child.loc))
            elif measured and urls.host_of(href) != index_host and not await self._is_named(first, href):
                first.problems.append(problem("child-host", child.loc))  # SM-37
            elif len(wanted) >= self._rules.most_files:
                first.problems.append(problem("too-many-files"))
                break
            else:
                self._seen.add(href)
                wanted.append(Child(href, child.lastmod, child.lastmod_at))
        first.children = wanted
        yield first
        for child in wanted:
            yield await self._child(child.loc, measured=measured)

    async def _is_named(self, index: Inspection, href: str) -> bool:
        """Say whether the robots.txt of the index's own site names a file on another one."""
        origin = urls.origin_of(index.url) if "://" in index.url else ""
        return bool(origin) and _names(await self._robots_of(origin), origin, href)

    async def _child(self, href: str, *, measured: bool) -> Inspection:
        if pieces := self._rules.beside(href):
            found = self._read(pieces, href, href if measured else None)
            settle(found, frozenset(), strict=self._rules.strict, limit_2007=self._rules.limit_2007)
        else:
            got = await self._got(href)
            found = got.found
            if got.body is not None:
                found = await self._inspected(got.body, got.url, whole=not got.found.problems)
                found.url = href
                found.problems += got.found.problems
        if found.kind == "index":
            found.problems.append(problem("index-in-index"))  # SM-38, AMB-SM-11
        found.children = []
        return found

    # -- the web -----------------------------------------------------------------------------------

    async def _got(self, href: str) -> _Got:
        """Ask for a file and follow its redirects; robots.txt is obeyed at each."""
        found, at = Inspection(href), href
        for _ in range(self._settings.limits.max_redirects + 1):
            if self._settings.robots.obey:
                robots = await self._robots_of(urls.origin_of(at))
                agent = self._settings.robots.agent
                if robots and not robots.allowed(agent, at):
                    found.problems.append(problem("robots", robots.judge(agent, at).rule))
                    return _Got(at, None, found)
            answer = await self._asked(at, self._settings.fetch.sitemap_bytes + 1)  # the reader tells what is over it
            if isinstance(answer, Failure):
                found.problems.append(problem("not-fetched", f"{answer.fault.value} {answer.detail}".strip()))
                return _Got(at, None, found)
            target = _target(answer, at)
            if target is None:
                if answer.status // 100 != 2:
                    found.problems.append(problem("status", f"{answer.status} {answer.reason}".strip()))
                    return _Got(at, None, found)
                if answer.fault and answer.fault is not Fault.TOO_LARGE:
                    found.problems.append(problem("cut", answer.fault.value))
                return _Got(at, answer.body, found)
            at = target
        found.problems.append(problem("redirects", str(self._settings.limits.max_redirects)))
        return _Got(at, None, found)

    async def _robots_of(self, origin: str) -> robots_txt.Robots | None:
        """Return the rules of an origin, asked for once; None where there are none."""
        if origin not in self._robots:
            at = f"{origin}/robots.txt"
            body = b""
            for _ in range(6):  # RFC 9309 2.3.1.2
                answer = await self._asked(at, self._settings.fetch.robots_bytes)
                if isinstance(answer, Failure):
                    break
                target = _target(answer, at)
                if target is None:
                    body = answer.body if answer.status // 100 == 2 else b""
                    break
                at = target
            self._robots[origin] = robots_txt.read(body)
        return self._robots[origin]

    async def _asked(self, href: str, body_bytes: int) -> Response | Failure:
        """Ask once the host may be asked, again after a passing fault."""
        host = urls.host_of(href)
        own = host == self._first_host
        for left in range(_TRIES - 1, -1, -1):
            wait = self._next_at.get(host, 0.0) - self._clock.monotonic()
            if wait > 0:
                await self._clock.sleep(wait)
            answer = await self._fetcher.fetch(Request(href, body_bytes=body_bytes, opens=own, in_scope=own))
            self._pause(href, host, answer)
            passing = isinstance(answer, Failure) or answer.status in {429, 500, 502, 503, 504}
            if not passing or not left:
                break
            self._next_at[host] = self._clock.monotonic() + _RETRY_SECONDS * 2 ** (_TRIES - 1 - left)
        return answer

    def _pause(self, href: str, host: str, answer: Response | Failure) -> None:
        wanted = politeness_of(self._settings, host)
        robots = self._robots.get(urls.origin_of(href))
        delay = robots.crawl_delay(self._settings.robots.agent) if robots and self._settings.robots.obey else None
        wish = Wish(wanted.delay, 1, delay, adaptive=True)
        loopback = answer.address.startswith(_LOOPBACK)
        gap = pace(wish, loopback=loopback, smoothed_seconds=answer.seconds, backoff_seconds=0.0).gap_seconds
        self._next_at[host] = self._clock.monotonic() + gap


def _target(answer: Response, at: str) -> str | None:
    """Return where a redirect leads, None for what is none."""
    location = answer.header("location")
    if answer.status not in {301, 302, 303, 307, 308} or not location:
        return None
    href = urls.Joiner(at)(location)
    return href if href and href.startswith(("http://", "https://")) else None


def _names(robots: robots_txt.Robots | None, origin: str, file: str) -> bool:
    """Say whether a robots.txt names a sitemap file."""
    join = urls.Joiner(f"{origin}/robots.txt")
    return robots is not None and any(join(named) == file for named in robots.sitemaps)
