"""One visit: ask, parse, have it decided. The only place where the three meet.

Whatever goes wrong in here on our side becomes the outcome ``crashed``; the crawl goes on.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from purlieu import decide
from purlieu.candidate import EMBEDDED, NOT_FOLLOWED, Entry, FoundBy, Purpose
from purlieu.decide import Retry, Visit
from purlieu.errors import ArchiveFull
from purlieu.landing import LANDED_KINDS
from purlieu.response import Failure, Fault, Request, Response, content_class
from purlieu.revisit import Action
from purlieu.scope import GRANT_FOREIGN, GRANT_SEED_REDIRECT
from purlieu.settings import group_of, has_own_delay, politeness_of
from purlieu.url import host_of, origin_of, parse
from purlieu.value import dataclass, replace

if TYPE_CHECKING:
    from purlieu.crawl.clock import Clock
    from purlieu.crawl.documents import DocumentReader
    from purlieu.crawl.extracting import Extractor
    from purlieu.crawl.traps import TrapWatch
    from purlieu.fetch.fetcher import Fetcher
    from purlieu.page import Page
    from purlieu.page.content import Content
    from purlieu.settings import PolitenessSettings, Settings
    from purlieu.sitemap import Sitemap
    from purlieu.store.lease import Origin

LOG = logging.getLogger(__name__)
_DOCUMENTS = frozenset({"PDF", "OFFICE"})
_HEAD_REFUSED = frozenset({405, 501})
_HEAD_MEANT = frozenset({429, 503})
_HEAD_DROPPED = frozenset({Fault.RESET, Fault.PROTOCOL})
HOSTS_REMEMBERED = 10_000
_SITEMAP_LIKE = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex|rss|feed)[\s>]")
_SITEMAP_WORDS = (b"urlset", b"sitemapindex", b"rss", b"feed")


@dataclass(frozen=True, slots=True)
class Outside:
    """What a visit needs of the world: the web, the time, whether an address is in scope right now, where a host is."""

    fetcher: Fetcher
    clock: Clock
    in_scope: Callable[[str], bool]
    address_of: Callable[[str], Awaitable[str]]
    traps: TrapWatch
    note: Callable[..., None] = lambda *_, **__: None
    """Writes a finding: code, subject, arguments."""
    documents: DocumentReader | None = None
    """Reads documents, where the owner wants that."""
    extractor: Extractor | None = None


class Visitor:
    """Visits entries by one crawl's settings."""

    def __init__(self, settings: Settings, outside: Outside) -> None:
        """Prepare what is the same for every visit."""
        self._settings = settings
        self._outside = outside
        self._agent = settings.robots.agent
        self._classes = frozenset(settings.fetch.classes)
        self._kinds = frozenset(settings.links.kinds) | ({"sitemap"} if settings.finds_sitemaps else frozenset())
        if settings.links.check_resources:
            self._kinds |= EMBEDDED | {"form", "post"}
        self.proxied = bool(settings.fetch.proxy) or settings.fetch.proxy_from_environment
        self._seed_hosts = frozenset(host_of(parse(seed).href) for seed in settings.seeds)
        self._retries: dict[str, Retry] = {}
        self._locked_out: set[str] = set()

    def without_asking(self, entry: Entry, origin: Origin | None) -> Visit | None:
        """Return the visit of an entry that is not asked for, None when it is.

        That is what robots.txt forbids, what a revisit leaves alone, and what is of a series that was found a trap.
        """
        obeyed = entry.purpose is not Purpose.ROBOTS and self._settings.robots.obey
        rules = origin.rules if origin is not None and obeyed else None
        if rules is not None and not rules.allowed(self._agent, entry.href):
            verdict = rules.judge(self._agent, entry.href)
            return decide.excluded_by_robots(entry, verdict.rule, self._outside.clock.now())
        if entry.plan is not None and entry.plan.action is Action.LEAVE:
            return decide.left_alone(entry, self._outside.clock.now())
        return self._outside.traps.excluded(entry, self._outside.clock.now())

    def politeness(self, host: str) -> PolitenessSettings:
        """Return the politeness that the owner wants for one host."""
        return politeness_of(self._settings, host)

    def is_exception(self, host: str) -> bool:
        """Return whether the owner said for this host alone how slowly it is asked."""
        return has_own_delay(self._settings, host)

    async def group(self, host: str) -> str:
        """Return the name of the group of hosts that are asked as one with this one, "" for none (R-4.1)."""
        named = group_of(self._settings, host)
        if named or self._settings.politeness.group != "address":
            return named
        address = await self._outside.address_of(host)
        return f"address:{address}" if address else ""

    async def visit(self, entry: Entry, origin: Origin | None, turn: Callable[[], Awaitable[None]]) -> Visit:
        """Ask for one entry and return how that ended; never raises for what the web or our parsing does.

        ``turn`` waits until the host may be asked a second time.
        """
        try:
            if entry.purpose is Purpose.ROBOTS:
                return await self._robots(entry, origin)
            if entry.purpose is Purpose.SITEMAP:
                return await self._sitemap(entry)
            if entry.purpose is Purpose.CHECK:
                return await self._check(entry, turn)
            return await self._page(entry, turn)
        except (MemoryError, ArchiveFull):
            raise  # no fault of this page; it ends the run
        except Exception:
            LOG.exception("the visit to %s crashed", entry.href)
            detail = traceback.format_exc(limit=-5)[-2000:]
            return decide.crashed(entry, detail, self._outside.clock.now(), requests=1)

    async def _page(self, entry: Entry, turn: Callable[[], Awaitable[None]]) -> Visit:
        request = self._request(entry, self._settings.fetch.page_bytes, self._classes)
        requests = 1
        if self._settings.fetch.head_first and not request.headers:
            head = await self._outside.fetcher.fetch(replace(request, method="HEAD"))
            if isinstance(head, Response) and head.status not in _HEAD_REFUSED:
                found = content_class(head.header("content-type"))
                if head.status // 100 == 2 and found not in self._classes:
                    return decide.page(entry, replace(head, cut=True), None, retry=self._retry(entry), at=self._now())
                # Where HEAD said HTML, GET must too (MF-21).
                wanted = frozenset({"HTML"}) if found == "HTML" else self._classes
                request = replace(request, classes=wanted)
            requests = 2
            await turn()
        answer = await self._outside.fetcher.fetch(request)
        self._note_login(entry, answer)
        read = self._read(entry, answer)
        named = self._read_sitemap(entry, answer) if self._settings.finds_sitemaps and _may_be_sitemap(answer) else None
        visit = decide.page(
            entry, answer, read, sitemap=named, retry=self._retry(entry), at=self._now(), requests=requests
        )
        self._outside.traps.look(visit)
        content = self._content(visit, read, answer)
        if content is None and self._outside.documents is not None:
            content = await self._document(visit, answer, self._outside.documents)
        light = _light(visit, read, content)
        if self._settings.links.check_fragments:
            light = self._with_anchors(light, answer)
        return light if self._outside.extractor is None else await self._outside.extractor.of(light, answer)

    async def _check(self, entry: Entry, turn: Callable[[], Awaitable[None]]) -> Visit:
        """Ask by HEAD whether an address is there; where that says no, a GET without its body has the last word."""
        request = self._request(entry, self._settings.fetch.page_bytes, frozenset())
        if entry.facts.grant == GRANT_FOREIGN:  # nothing of the owner's is for strangers
            is_known = host_of(entry.href) in self._seed_hosts
            request = replace(request, plain=True, opens=False, in_scope=is_known)
        answer, requests = await self._outside.fetcher.fetch(replace(request, method="HEAD")), 1
        if _head_says_no(answer):
            await turn()
            answer, requests = await self._outside.fetcher.fetch(request), 2
        self._note_login(entry, answer)
        return _light(
            decide.page(entry, answer, None, retry=self._retry(entry), at=self._now(), requests=requests), None
        )

    def _note_login(self, entry: Entry, answer: Response | Failure) -> None:
        """Write the finding that nobody is logged in at an origin, once."""
        if isinstance(answer, Failure) and answer.fault is Fault.LOGIN_FAILED:
            origin = origin_of(entry.href)
            if origin not in self._locked_out:
                self._locked_out.add(origin)
                self._outside.note("login_failed", origin, why=answer.detail)

    def _read(self, entry: Entry, answer: Response | Failure) -> Page | None:
        """Return what a response says as a page; None when there is no body to read."""
        from purlieu import page as html  # while robots.txt is on its way: 20 ms before the first request

        if not isinstance(answer, Response) or answer.status // 100 != 2 or answer.cut:
            return None
        read = html.read(
            answer.body,
            url=entry.href,
            content_type=answer.header("content-type"),
            headers=answer.headers,
            agent=self._agent,
            kinds=self._kinds,
            sketched=self._settings.ledger.near_duplicates,
        )
        return read if self._kinds.isdisjoint(NOT_FOLLOWED) else _without_nameless(read)

    def _content(self, visit: Visit, read: Page | None, answer: Response | Failure) -> Content | None:
        """Return what an HTML page says to its readers, where the owner keeps that."""
        if not self._settings.keeps_text or read is None or read.encoding is None or not isinstance(answer, Response):
            return None
        if visit.kind not in LANDED_KINDS:
            return None
        from purlieu.page import content

        return content.read(answer.body, read.encoding, visit.entry.href)

    async def _document(self, visit: Visit, answer: Response | Failure, reader: DocumentReader) -> Content | None:
        """Return what a document says, None for what is no whole document."""
        if not isinstance(answer, Response) or not answer.body or visit.kind not in LANDED_KINDS:
            return None
        if content_class(answer.header("content-type")) not in _DOCUMENTS:
            return None
        return await reader.read(host_of(visit.entry.href), answer.body)

    def _with_anchors(self, visit: Visit, answer: Response | Failure) -> Visit:
        """Return a visit to an HTML page with the places that it has and that its links ask for."""
        read = visit.page
        if read is None or read.encoding is None or not isinstance(answer, Response) or visit.kind not in LANDED_KINDS:
            return visit
        from purlieu.page import anchors  # only who checks fragments pays for it

        return replace(visit, anchors=anchors.read(answer.body, read.encoding, visit.url))

    def _read_html(self, entry: Entry, answer: Response | Failure) -> Page | None:
        """Return the page that stands where a robots.txt or sitemap was looked for: it may be linked too (R-1.3)."""
        is_html = isinstance(answer, Response) and content_class(answer.header("content-type")) == "HTML"
        return self._read(entry, answer) if is_html else None

    async def _sitemap(self, entry: Entry) -> Visit:
        most = self._settings.fetch.sitemap_bytes + 1  # one byte more, so that the reader tells what is over the limit
        answer = await self._outside.fetcher.fetch(self._request(entry, most, None))
        self._note_login(entry, answer)
        read, html = self._read_sitemap(entry, answer), self._read_html(entry, answer)
        visit = decide.page(
            entry, answer, html, sitemap=read, digest=_digest(answer), retry=self._retry(entry), at=self._now()
        )
        return _light(visit, html)

    def _read_sitemap(self, entry: Entry, answer: Response | Failure) -> Sitemap | None:
        from purlieu import sitemap as sitemap_file  # as above

        if not isinstance(answer, Response) or answer.status // 100 != 2 or not answer.body:
            return None
        if entry.purpose is Purpose.PAGE and not sitemap_file.looks_like(answer.body, answer.header("content-type")):
            return None
        return sitemap_file.read(
            answer.body,
            url=entry.href,
            strict=self._settings.sitemap.strict,
            limit_bytes=self._settings.fetch.sitemap_bytes,
            whole=answer.fault is None,
        )

    async def _robots(self, entry: Entry, origin: Origin | None) -> Visit:
        answer = await self._outside.fetcher.fetch(self._request(entry, self._settings.fetch.robots_bytes, None))
        robots = self._settings.robots
        visit = decide.robots(
            entry,
            answer,
            retry=replace(self._retry(entry), tries=robots.tries, within_seconds=robots.within_seconds),
            first_failed_at=origin.first_failed_at if origin else None,
            obey=robots.obey,
            allow_403=robots.allow_403,
            agent=self._agent,
            max_crawl_delay=self.politeness(host_of(entry.href)).max_crawl_delay,
            at=self._now(),
        )
        return _light(visit, self._read_html(entry, answer))

    def _request(self, entry: Entry, body_bytes: int, classes: frozenset[str] | None) -> Request:
        host = host_of(entry.href)
        seed = host in self._seed_hosts
        return Request(
            entry.href,
            body_bytes=body_bytes,
            classes=classes,
            headers=decide.conditions(entry),
            opens=seed or entry.facts.found_by is FoundBy.SEED,
            in_scope=seed or self._is_only_seeds_hop(entry) or self._outside.in_scope(entry.href),
            via=entry.facts.via,
        )

    def _is_only_seeds_hop(self, entry: Entry) -> bool:
        """Return whether the crawl's one seed leads here, which is trusted like it; of several, one may lead astray."""
        return len(self._seed_hosts) == 1 and entry.facts.grant == GRANT_SEED_REDIRECT

    def _retry(self, entry: Entry) -> Retry:
        host = host_of(entry.href)
        known = self._retries.get(host)
        if known is None:
            if len(self._retries) > HOSTS_REMEMBERED:
                self._retries.clear()
            politeness = self.politeness(host)
            known = self._retries[host] = Retry(politeness.retries + 1, politeness.retry_seconds)
        return known

    def _now(self) -> float:
        return self._outside.clock.now()


def _digest(answer: Response | Failure) -> str | None:
    """Return what a file is compared by: every byte of it counts."""
    from purlieu.page import digest_of  # as in ``Visitor._read``

    return digest_of(answer.body) if isinstance(answer, Response) and answer.body else None


def _head_says_no(answer: Response | Failure) -> bool:
    """Return whether a GET may be answered otherwise: many servers refuse HEAD, some by dropping the connection."""
    if isinstance(answer, Failure):
        return answer.fault in _HEAD_DROPPED
    return answer.status >= 400 and answer.status not in _HEAD_MEANT


def _may_be_sitemap(answer: Response | Failure) -> bool:
    """Return whether what came for a page is whole and may be a sitemap; of HTML only its first bytes are looked at."""
    if not isinstance(answer, Response) or not answer.body or answer.fault is not None or answer.cut:
        return False
    if content_class(answer.header("content-type")) != "HTML":
        return True
    head = answer.body[:2048]
    # Each page is asked: most have none of the words, which is seen at a glance.
    return any(word in head for word in _SITEMAP_WORDS) and _SITEMAP_LIKE.search(head) is not None


def _without_nameless(page: Page) -> Page:
    """Drop references that are no URLs of what is not followed: nothing comes of them, and no row could name them."""
    kept = tuple(link for link in page.raw_links if link[3] or link[1] not in NOT_FOLLOWED)
    return page if len(kept) == len(page.raw_links) else replace(page, raw_links=kept)


def _light(visit: Visit, page: Page | None, content: Content | None = None) -> Visit:
    """Drop the body, which nobody needs once it is parsed, keep its size, and add what was read."""
    response = visit.response
    if response is None:
        return visit
    links: Sequence[tuple[str, str, bool, bool]] = page.raw_links if page else ()
    if page is not None and page.nofollow:
        links = [(href, kind, True, parsed) for href, kind, _, parsed in links]
    light = replace(response, body=b"")
    return replace(visit, response=light, bytes=len(response.body), page=page, links=links, content=content)
