"""``MadeWeb``: a whole web from a formula, answered one request at a time, and the truth about it.

The same plan, seed, epoch and second give the same bytes. Holds no state and opens no socket: ``made.server`` serves
it on loopback, ``fake`` puts it behind a ``Fetcher``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate, parsedate_to_datetime
from functools import cached_property, lru_cache
from math import ceil
from typing import Final, NamedTuple
from zlib import crc32

from purlieu.testing.made import paper
from purlieu.testing.made.formula import Fate, Formula
from purlieu.testing.made.name import LOOPBACK, MOST_HOSTS, host_name, host_number
from purlieu.testing.made.plan import Changes, Errors, Sitemaps, Traps
from purlieu.testing.made.trap import TRAPS
from purlieu.testing.made.words import Validators

START: Final = 1_767_225_600
"""2026-01-01 00:00 UTC: the moment of epoch 0."""
_PLAIN: Final = (("Content-Type", "text/plain; charset=utf-8"),)
_XML: Final = (("Content-Type", "application/xml"),)
_GZIP: Final = (("Content-Type", "application/gzip"),)
_HTML: Final = ("Content-Type", "text/html; charset=utf-8")
_NOT_HERE: Final = b"<!doctype html><title>Not here</title><main><p>There is no such page.</p></main>"
_STATUS: Final = {"missing": 404, "unborn": 404, "gone": 404, "left": 410, "failing": 500}


class Answer(NamedTuple):
    """What the web says to one request.

    ``after_seconds`` is how long the server takes; ``fault`` is "" or how it breaks off: reset, hang, close (before a
    word), truncated (half of the body) or garbage (no HTTP).
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    after_seconds: float = 0.0
    fault: str = ""


@dataclass(frozen=True)
class MadeWeb:
    """A made web of ``hosts`` with ``pages`` each.

    ``links`` a page at most, ``cross_links`` (at most 8) of them to other hosts. ``page_bytes`` is the least and the
    most of a page's size, roughly. ``naming`` is ``127`` for addresses of loopback, or a pattern such as
    ``h{}.localhost``. ``crawl_delay`` stands in every robots.txt, ``delay_seconds`` passes before every answer.
    ``validators``: which of ETag and Last-Modified are sent and honoured; ``ignored`` sends both and never says 304.
    With ``extras`` every tenth page also links to a page that robots.txt forbids, to another site, to a mail address,
    and has a nofollow link.
    """

    hosts: int = 1
    pages: int = 100
    seed: int = 0
    links: int = 30
    cross_links: int = 0
    page_bytes: tuple[int, int] = (3_000, 9_000)
    naming: str = LOOPBACK
    crawl_delay: float | None = None
    delay_seconds: float = 0.0
    validators: Validators = "both"
    extras: bool = False
    errors: Errors = field(default_factory=Errors)
    changes: Changes = field(default_factory=Changes)
    sitemaps: Sitemaps | None = field(default_factory=Sitemaps)
    traps: Traps = field(default_factory=Traps)

    def __post_init__(self) -> None:
        """Refuse a plan that makes no web; raises ValueError."""
        if not 1 <= self.hosts <= MOST_HOSTS or self.pages < 1:
            message = f"a made web has 1 to {MOST_HOSTS:,} hosts and at least 1 page; not {self.hosts}, {self.pages}"
            raise ValueError(message)
        if self.hosts > 1 and self.naming != LOOPBACK and "{}" not in self.naming:
            message = f'the naming "{self.naming}" has no {{}} for the number of the host'
            raise ValueError(message)

    @cached_property
    def formula(self) -> Formula:
        """Return the numbers behind the pages."""
        return Formula(
            self.hosts, self.pages, self.seed, self.links, min(self.cross_links, 8), self.errors, self.changes
        )

    # -- addresses ---------------------------------------------------------------------------------

    def origin(self, host: int, port: int | None = None) -> str:
        """Return where a host is, such as ``http://127.1.0.1:8000``."""
        return f"http://{host_name(self.naming, host)}{f':{port}' if port else ''}"

    def seeds(self, port: int | None = None) -> list[str]:
        """Return the root of every host; with ``cross_links`` the first leads to all."""
        return [f"{self.origin(host, port)}/" for host in range(self.hosts)]

    # -- answers -----------------------------------------------------------------------------------

    def answer(
        self, host: str, path: str, headers: Mapping[str, str] | None = None, epoch: int = 0, second: float = 0.0
    ) -> Answer:
        """Answer a request: ``host`` as in its Host header, ``path`` with its query, ``headers`` in lower case.

        ``epoch`` is how far the web has changed; ``second`` is the server's clock, which times its bursts of 429.
        """
        name, _, port = host.partition(":")
        met = host_number(self.naming, name)
        if met is None or met[0] >= self.hosts:
            return Answer(404, (_HTML,), _NOT_HERE, self.delay_seconds)
        number, label = met
        formula = self.formula
        after = self.delay_seconds + (self.errors.slow_seconds if formula.is_slow(number) else 0.0)
        broken = formula.broken(number)
        if broken == "503":
            return Answer(503, (_HTML,), _NOT_HERE, after)
        busy = formula.busy_seconds(number, second)
        if busy:
            return Answer(429, self._retry_after(busy, epoch, second), b"", after)
        given = self._given(number, label, port, path, epoch)
        if headers and given.status == 200 and self._is_unchanged(given, headers):
            kept = tuple(pair for pair in given.headers if pair[0] != "Content-Type")
            given = Answer(304, kept)
        return given._replace(after_seconds=after, fault=broken)

    def _given(self, host: int, label: str, port: str, path: str, epoch: int) -> Answer:
        if label:
            return self._trapped(host, port, "subdomains", TRAPS["subdomains"].number(label))
        page = paper.page_number(path)
        if page is not None and page < self.pages:
            return self._page(host, page, port, epoch)
        if path == "/robots.txt":
            return Answer(200, _PLAIN, self._robots(host, port))
        if path.startswith("/sitemap") and self.sitemaps:
            return self._sitemap(host, port, path, epoch)
        if path.startswith("/moved/"):
            fate = self._moved(host, path, epoch)
            return Answer(301, (("Location", paper.page_path(fate.target)),)) if fate else Answer(404, (_HTML,))
        if path.startswith("/private/"):
            return Answer(200, (_HTML,), b"<!doctype html><title>Private</title><p>Not for crawlers.</p>")
        for kind in self.traps.kinds:
            number = TRAPS[kind].number(path) if kind != "subdomains" else None
            if number is not None:
                return self._trapped(host, port, kind, number)
        if "soft404" in self.traps.kinds:
            return self._trapped(host, port, "soft404", 0)
        return Answer(404, (_HTML,), _NOT_HERE)

    def _page(self, host: int, page: int, port: str, epoch: int) -> Answer:
        formula = self.formula
        fate = formula.fate(host, page, epoch)
        if fate.what == "redirect":
            two_hops = page % 3 == 0
            target = f"/moved/{page}" if two_hops else paper.page_path(fate.target)
            return Answer(302 if two_hops else 301, (("Location", target),))
        if fate.what != "page":
            return Answer(_STATUS[fate.what], (_HTML,), _NOT_HERE)
        own, far = formula.own_links(host, page), formula.far_links(host, page)
        hrefs = [paper.page_path(one) for one in own if formula.is_linked(host, one, epoch)]
        hrefs += [
            f"{self._other(to, port)}{paper.page_path(one)}" for to, one in far if formula.is_linked(to, one, epoch)
        ]
        hrefs += [self._snare(kind, host, port) for kind in self.traps.kinds]
        places = len(own) + len(far) + len(self.traps.kinds)  # a link that goes leaves the main text alone
        day = self._moment(epoch) if self.changes.dated else None
        facts = paper.Facts(host, page, fate.version, self.seed, host * self.pages + page)
        body = paper.page(facts, hrefs, places, self.page_bytes, day, extras=self.extras and page % 10 == 0)
        return Answer(200, self._validated(body, host, page, fate, epoch), body)

    def _validated(self, body: bytes, host: int, page: int, fate: Fate, epoch: int) -> tuple[tuple[str, str], ...]:
        """Return the headers of a page. Where more than the main text changes, its date is that of the epoch."""
        found = [_HTML]
        if self.validators in {"both", "etag", "ignored"}:
            found.append(("ETag", f'"{crc32(body):08x}{len(body):x}"'))
        if self.validators in {"both", "date", "ignored"}:
            changes = self.changes
            whole = changes.dated or changes.appear or changes.vanish
            at = self._moment(epoch) if whole else self._changed_at(host, page, fate)
            found.append(("Last-Modified", _http_date(at)))
        return tuple(found)

    def _is_unchanged(self, given: Answer, headers: Mapping[str, str]) -> bool:
        """If-None-Match counts, and only without it If-Modified-Since (RFC 9110, section 13.2.2)."""
        if self.validators in {"ignored", "none"}:
            return False
        own = dict(given.headers)
        asked = headers.get("if-none-match")
        if asked is not None and "ETag" in own:
            return own["ETag"] in {tag.strip().removeprefix("W/") for tag in asked.split(",")}
        since = headers.get("if-modified-since")
        if since is None or "Last-Modified" not in own:
            return False
        try:
            return parsedate_to_datetime(own["Last-Modified"]) <= parsedate_to_datetime(since)
        except (TypeError, ValueError):
            return False

    def _retry_after(self, seconds: float, epoch: int, second: float) -> tuple[tuple[str, str], ...]:
        whole = ceil(seconds)
        if self.errors.retry_after == "none":
            return ()
        if self.errors.retry_after == "seconds":
            return (("Retry-After", str(whole)),)
        # Relative to this answer's own Date, so that no two clocks have to agree.
        now = self._moment(epoch) + second
        return (("Date", _http_date(int(now))), ("Retry-After", _http_date(int(now) + whole)))

    def _moved(self, host: int, path: str, epoch: int) -> Fate | None:
        digits = path.removeprefix("/moved/")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 12):
            return None
        fate = self.formula.fate(host, int(digits), epoch)
        return fate if fate.what == "redirect" and int(digits) % 3 == 0 else None

    # -- robots.txt, sitemaps, traps ---------------------------------------------------------------

    def _other(self, host: int, port: str) -> str:
        return f"http://{host_name(self.naming, host)}{f':{port}' if port else ''}"

    def _robots(self, host: int, port: str) -> bytes:
        delay = "" if self.crawl_delay is None else f"Crawl-delay: {self.crawl_delay:g}\n"
        named = f"\nSitemap: {self._other(host, port)}/sitemap.xml\n" if self.sitemaps else ""
        return f"User-agent: *\nDisallow: /private/\n{delay}{named}".encode()

    def _sitemap(self, host: int, port: str, path: str, epoch: int) -> Answer:
        plan = self.sitemaps
        if plan is None:
            return Answer(404, (_HTML,), _NOT_HERE)
        files = -(-self.pages // plan.per_file)
        number = paper.sitemap_number(path, gzipped=plan.gzip)
        origin = self._other(host, port)
        if path == "/sitemap.xml" and files > 1:
            listed = (
                (f"{origin}{paper.sitemap_path(one, gzipped=plan.gzip)}", self._listed_at(plan, host, one, epoch))
                for one in range(files)
            )
            return Answer(200, _XML, paper.sitemap_index(listed))
        if path == "/sitemap.xml":
            return Answer(200, _XML, paper.sitemap(self._entries(plan, origin, host, 0, epoch), plan))
        if number is None or number >= files or files == 1:
            return Answer(404, (_HTML,), _NOT_HERE)
        body = paper.sitemap(self._entries(plan, origin, host, number, epoch), plan)
        return Answer(200, _GZIP, paper.gzipped(body)) if plan.gzip else Answer(200, _XML, body)

    def _entries(self, plan: Sitemaps, origin: str, host: int, part: int, epoch: int) -> Iterator[paper.Entry]:
        for page in range(part * plan.per_file, min((part + 1) * plan.per_file, self.pages)):
            fate = self.formula.fate(host, page, epoch)
            if fate.what == "page":
                lastmod = self._said_at(plan, host, page, fate, epoch)
                yield paper.Entry(f"{origin}{paper.page_path(page)}", lastmod, page)

    def _said_at(self, plan: Sitemaps, host: int, page: int, fate: Fate, epoch: int) -> int | None:
        """Return the lastmod that a sitemap claims for a page."""
        match plan.lastmod:
            case "honest":
                return self._changed_at(host, page, fate)
            case "fresh":
                return self._moment(epoch)
            case "stale":
                return self._changed_at(host, page, Fate("page"))
            case "random":
                return self._moment(epoch) - crc32(b"%d %d %d" % (host, page, epoch)) % 31_536_000
            case _:
                return None

    def _listed_at(self, plan: Sitemaps, host: int, part: int, epoch: int) -> int | None:
        entries = self._entries(plan, "", host, part, epoch)
        return max((entry.lastmod for entry in entries if entry.lastmod is not None), default=None)

    def _snare(self, kind: str, host: int, port: str) -> str:
        """Return the link that leads into a trap."""
        if kind == "subdomains":
            return f"http://t0.{self._other(host, port).removeprefix('http://')}/"
        return "/archive/" if kind == "segments" else TRAPS[kind].address(0)

    def _trapped(self, host: int, port: str, kind: str, number: int | None) -> Answer:
        trap = TRAPS[kind]
        if number is None or kind not in self.traps.kinds or not 0 <= number < self.traps.pages:
            return Answer(404, (_HTML,), _NOT_HERE)
        hrefs = [trap.address(one) for one in trap.leads_to(number) if one < self.traps.pages]
        if kind == "subdomains":
            own = self._other(host, port).removeprefix("http://")
            hrefs = [f"http://{href}.{own}/" for href in hrefs]
        return Answer(200, (_HTML,), paper.trap_page(trap.title, hrefs))

    # -- the truth ---------------------------------------------------------------------------------

    def _moment(self, epoch: int) -> int:
        return START + epoch * self.changes.epoch_seconds

    def _changed_at(self, host: int, page: int, fate: Fate) -> int:
        """Return when the main text last changed; what never did was written some day of the three years before."""
        if fate.changed is not None:
            return self._moment(fate.changed)
        return START - 86_400 * (1 + crc32(b"%d %d %d" % (self.seed, host, page)) % 1_000)

    def pages_at(self, epoch: int = 0, port: int | None = None) -> Iterator[tuple[str, str]]:
        """Yield (URL, what it is) of every page that a crawl of all hosts is to find; traps and extras left out.

        What it is: page, redirect, missing (404), failing (500) or left (410). Of a broken host there is nothing.
        """
        for host in range(self.hosts):
            if not self.formula.broken(host):
                origin = self.origin(host, port)
                yield from (
                    (f"{origin}{paper.page_path(page)}", fate.what) for page, fate in self.formula.standing(host, epoch)
                )

    def changed(self, before: int, after: int, port: int | None = None) -> Iterator[tuple[str, str]]:
        """Yield (URL, how) of every page that is not the same at both epochs: changed, new, gone or moved."""
        formula = self.formula
        for host in range(self.hosts):
            origin = self.origin(host, port)
            for page in range(self.pages):
                how = _difference(formula.fate(host, page, before), formula.fate(host, page, after))
                if how:
                    yield f"{origin}{paper.page_path(page)}", how


def _difference(one: Fate, other: Fate) -> str:
    absent = {"unborn", "gone", "left"}
    if one.what in absent or other.what in absent:
        return "" if one.what in absent and other.what in absent else "new" if one.what in absent else "gone"
    if one.what != other.what:
        return "moved"
    return "changed" if one.version != other.version else ""


@lru_cache(maxsize=4_096)
def _http_date(at: int) -> str:
    return formatdate(at, usegmt=True)
