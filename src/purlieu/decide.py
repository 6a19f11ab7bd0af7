"""One visit's facts to its ending: outcome, what was found, and when to try again.

Pure: no clock, no store. ``crawl/visit.py`` does the asking and parsing, ``store/`` writes
what is decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from purlieu import robots as robots_txt
from purlieu import url
from purlieu.candidate import Purpose
from purlieu.errors import UrlError
from purlieu.outcome import REASONS, REDIRECTS, Outcome, Reason, of_status, reason
from purlieu.politeness import retry_after
from purlieu.response import Failure, Fault, Response, content_class
from purlieu.revisit import Action
from purlieu.value import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from purlieu.candidate import Entry
    from purlieu.extraction import Extracted
    from purlieu.page import Page
    from purlieu.page.anchors import Anchors
    from purlieu.page.content import Content
    from purlieu.sitemap import Sitemap

REFRESH_SECONDS = 5.0
_FORBIDDEN = 403
_STATUS_OF_GONE = {"missing.not_found": 404, "missing.gone": 410}
_THERE = frozenset({"skipped.content_class", "unreadable.too_large", "redirected.meta_refresh", "missing.soft_404"})
_UNREACHABLE = frozenset(
    {
        Fault.DNS,
        Fault.CONNECT,
        Fault.TLS,
        Fault.TIMEOUT,
        Fault.RESET,
        Fault.PROXY,
        Fault.ADDRESS_REFUSED,
        Fault.LOGIN_FAILED,
    }
)


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a URL is tried and how long to wait: ``tries`` in all, the wait doubles from ``seconds``."""

    tries: int
    seconds: float
    within_seconds: float = 86_400.0


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """What asking for a robots.txt gave: a body ("" allows everything), the next hop, or neither (unreachable).

    ``ended`` is how the origin's pages end by it, "" when they do not (R-1.6).
    """

    body: bytes | None = None
    hop: str = ""
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit to one entry, as it is written and as a reader of the crawl gets it.

    ``outcome`` is None when the entry is to be tried again at ``retry_at``; ``bytes`` counts the decoded
    body, which ``response`` no longer holds; ``digest`` is the main content's, or of a file's bytes; ``links`` are the
    page's as (href or raw text, kind, nofollow, parsed); ``pause_seconds`` is what the host asked for (Retry-After),
    None when it said nothing. ``content`` is what the page says to its readers, ``anchors`` the places it has and asks
    for, where these are kept; ``extracted`` what the owner's function took out of it, where there is one.
    """

    entry: Entry
    outcome: Outcome | None
    at: float
    requests: int = 0
    response: Response | None = None
    bytes: int = 0
    links: Sequence[tuple[str, str, bool, bool]] = ()
    failure: Failure | None = None
    page: Page | None = None
    sitemap: Sitemap | None = None
    robots: RobotsAnswer | None = None
    redirect_to: str | None = None
    retry_at: float | None = None
    pause_seconds: float | None = None
    against_host: bool = False
    digest: str | None = None
    content: Content | None = None
    extracted: Extracted | None = None
    anchors: Anchors | None = None

    @property
    def takes_over(self) -> bool:
        """Return whether the page stands as the history has it: nothing new of it was read (R-2.4)."""
        return self.kind == "unchanged" and self.reason != "same_content"

    @property
    def url(self) -> str:
        """Return the address that was visited."""
        return self.entry.href

    @property
    def kind(self) -> str:
        """Return the ending's kind, "due" when it is to be tried again."""
        return self.outcome.reason.kind if self.outcome else "due"

    @property
    def reason(self) -> str:
        """Return the ending's reason code, "retry" when it is to be tried again."""
        return self.outcome.reason.code if self.outcome else "retry"

    @property
    def status(self) -> int | None:
        """Return the HTTP status, of what is gone and left alone that of the last time; None where nobody answered."""
        return self.response.status if self.response else _STATUS_OF_GONE.get(f"{self.kind}.{self.reason}")

    @property
    def seconds(self) -> float:
        """Return how long the request took."""
        answer = self.response or self.failure
        return answer.seconds if answer else 0.0

    @property
    def index_reason(self) -> str:
        """Return why the page may not be searched (noindex, canonical, empty), "" when it may (house, section 3)."""
        if self.page is None:
            return ""
        if self.page.noindex:
            return "noindex"
        if self.page.canonical and self.page.canonical != self.entry.href:
            return "canonical"
        return "empty" if self.page.text_empty else ""

    @property
    def title(self) -> str | None:
        """Return the page's title, None for what is not HTML."""
        return self.page.title if self.page else None


def excluded_by_robots(entry: Entry, rule: str, at: float) -> Visit:
    """Return the visit of a URL that robots.txt forbids: no request was sent."""
    return Visit(entry, Outcome(reason("excluded.robots"), rule), at)


def left_alone(entry: Entry, at: float) -> Visit:
    """Return the visit of an address that a revisit does not ask for this time."""
    ending = reason(entry.plan.ending) if entry.plan else reason("unchanged.not_due")
    detail = "" if ending.kind == "unchanged" or ending.code == "retired" else "not asked for this time"
    return Visit(entry, Outcome(ending, detail=detail), at)


def excluded_as_trap(entry: Entry, rule: str, series: str, at: float) -> Visit:
    """Return the visit of a URL whose series says the same again and again: no request was sent."""
    return Visit(entry, Outcome(reason("excluded.trap"), rule, series), at)


def crashed(entry: Entry, detail: str, at: float, requests: int) -> Visit:
    """Return the visit in which our own code failed (R-6, 00204); ``detail`` is the traceback."""
    robots = RobotsAnswer(ended="unreachable.robots_unreachable") if entry.purpose is Purpose.ROBOTS else None
    return Visit(entry, Outcome(reason("crashed.crashed"), detail=detail), at, requests=requests, robots=robots)


def page(  # noqa: PLR0913 - the facts of one visit
    entry: Entry,
    answer: Response | Failure,
    read: Page | None,
    *,
    sitemap: Sitemap | None = None,
    digest: str | None = None,
    retry: Retry,
    at: float,
    requests: int = 1,
) -> Visit:
    """Return how a visit to a page or sitemap file ends (section 6 of the rules)."""
    ending, detail, redirect_to = _ending(entry, answer, read)
    digest = read.digest if read else digest
    if ending.name == "fetched.ok" and entry.plan and digest and digest == entry.plan.known.digest:
        ending = reason("unchanged.same_content")
    response = answer if isinstance(answer, Response) else None
    pause = _pause(response, at)
    # A visit may take two requests (HEAD, GET), and counts as one try.
    retry_at = _retry_at(ending, entry.attempts // requests + 1, retry, at, pause)
    sets_cookie = response is not None and bool(response.all("set-cookie"))
    if redirect_to == entry.href and sets_cookie and not entry.attempts:
        retry_at = at  # once more, with the cookie
    return Visit(
        entry,
        None if retry_at is not None else Outcome(ending, detail=detail),
        at,
        requests=requests,
        response=response,
        failure=answer if isinstance(answer, Failure) else None,
        page=read,
        sitemap=sitemap,
        redirect_to=redirect_to if retry_at is None else None,
        retry_at=retry_at,
        pause_seconds=pause,
        against_host=ending.against_host,
        digest=digest,
    )


def for_check(ending: Reason) -> Reason:
    """Return how a check ends whose address was asked for as a page: what is there is there, wanted or not (R-1.3)."""
    return reason("fetched.ok") if ending.name in _THERE else ending


def conditions(entry: Entry) -> tuple[tuple[str, str], ...]:
    """Return the headers that ask for an address only if it has changed (RFC 9110 13.1.2, 13.1.3), none to fetch it."""
    if entry.plan is None or entry.plan.action is not Action.ASK:
        return ()
    known = entry.plan.known
    said = (("If-None-Match", known.etag), ("If-Modified-Since", known.last_modified))
    return tuple((name, value) for name, value in said if value)


def robots(  # noqa: PLR0913 - the facts of one visit
    entry: Entry,
    answer: Response | Failure,
    *,
    retry: Retry,
    first_failed_at: float | None,
    obey: bool,
    allow_403: bool,
    agent: str,
    max_crawl_delay: float,
    at: float,
) -> Visit:
    """Return how a visit to a robots.txt ends and what holds for its origin (RFC 9309 2.3.1, ST-1 to ST-3, R-4.5)."""
    ending, detail, redirect_to = _ending(entry, answer, None)
    response = answer if isinstance(answer, Response) else None
    pause = _pause(response, at)
    retry_at = None
    if response is None or ending.retried or (ending.kind in {"server_error", "unreadable"} and response.fault):
        retry_at = _retry_at(ending, entry.attempts + 1, retry, at, pause, always=ending.code != "address_refused")
        if retry_at is not None and retry_at - (first_failed_at or at) > retry.within_seconds:
            retry_at = None
        # An address that may not be entered is what its pages suffer from too, whatever robots.txt would say.
        ended = ending.name if ending.code == "address_refused" else "unreachable.robots_unreachable"
        found = RobotsAnswer(ended=ended) if obey else RobotsAnswer(body=b"")
    elif redirect_to:
        found = RobotsAnswer(hop=redirect_to)
    elif response.status == _FORBIDDEN and obey and not allow_403:
        found = RobotsAnswer(ended="unreachable.robots_unreachable")  # EN-41
    else:
        # 2xx is read; 4xx, 1xx and redirects that name nothing: no rules (ST-2, R-4.5).
        body = _whole_lines(response) if response.status // 100 == 2 else b""
        found = RobotsAnswer(body=body, ended=_too_slow(body, agent, max_crawl_delay) if obey else "")
    return Visit(
        entry,
        None if retry_at is not None else Outcome(ending, detail=detail),
        at,
        requests=1,
        response=response,
        failure=answer if isinstance(answer, Failure) else None,
        robots=None if retry_at is not None else found,
        redirect_to=redirect_to if retry_at is None else None,
        retry_at=retry_at,
        pause_seconds=pause,
        against_host=ending.against_host,
    )


def _whole_lines(response: Response) -> bytes:
    """Return a robots.txt without the line that the size limit cut in half (ST-5)."""
    cut = response.fault is Fault.TOO_LARGE
    return response.body[: response.body.rfind(b"\n") + 1] if cut else response.body


def _too_slow(body: bytes, agent: str, most: float) -> str:
    """Return how an origin's pages end by a longer Crawl-delay than the owner allows, "" else (EN-51, EN-52, EN-54)."""
    delay = robots_txt.read(body).crawl_delay(agent) if body else None
    return "abandoned.delay_too_long" if delay is not None and 0 <= most < delay else ""


def _ending(entry: Entry, answer: Response | Failure, read: Page | None) -> tuple[Reason, str, str | None]:
    """Return the ending, a detail and the redirect's target (absolute, without fragment)."""
    if isinstance(answer, Failure):
        kind = "unreachable" if answer.fault in _UNREACHABLE else "unreadable"
        return reason(f"{kind}.{answer.fault}"), answer.detail, None
    if answer.status in REDIRECTS:
        return _redirect(entry, answer)
    if answer.status == 304 and conditions(entry):
        return reason("unchanged.not_modified"), "", None
    ending = of_status(answer.status)
    if ending.kind != "fetched":
        return ending, "", None
    if answer.cut and entry.purpose is not Purpose.CHECK:
        found = content_class(answer.header("content-type"))
        return reason("skipped.content_class"), found, None
    # What is over the limit of a robots.txt or sitemap is ignored without error.
    if answer.fault is not None and (entry.purpose is Purpose.PAGE or answer.fault is not Fault.TOO_LARGE):
        return _broken(answer.fault)
    if read is not None:
        target = _refresh(entry, read)
        if target is not None:
            return reason("redirected.meta_refresh"), "", target
    if not answer.body and entry.purpose is Purpose.PAGE:
        return reason("fetched.empty"), "", None
    return ending, "", None


def _redirect(entry: Entry, answer: Response) -> tuple[Reason, str, str | None]:
    """Return the ending of a redirect; without an http(s) target it is misdirected.bad_location (ST-42)."""
    location = (answer.header("location") or "").strip()
    bad = reason("misdirected.bad_location")
    if not location:
        return bad, "no Location header", None
    try:
        target = url.parse(_as_utf8(location), entry.href)
    except UrlError:
        return bad, location[:2048], None
    if target.scheme not in {"http", "https"}:
        return bad, location[:2048], None
    return REASONS[REDIRECTS[answer.status]], "", target.href


def _as_utf8(location: str) -> str:
    """Read the raw octets of a header as UTF-8 where they are, as browsers do for Location."""
    if location.isascii():
        return location
    try:
        return location.encode("latin-1").decode("utf-8")
    except (UnicodeDecodeError, UnicodeEncodeError):
        return location


def _broken(fault: Fault) -> tuple[Reason, str, str | None]:
    """After the first header byte a fault is unreadable (R-6.1); a timeout or reset there cut the body."""
    name = f"unreadable.{fault}"
    return REASONS.get(name) or reason("unreadable.truncated"), str(fault), None


def _refresh(entry: Entry, read: Page) -> str | None:
    if read.refresh is None:
        return None
    seconds, target = read.refresh
    if target is None or seconds > REFRESH_SECONDS or target == entry.href:
        return None
    return target if target.startswith(("http://", "https://")) else None


def _pause(response: Response | None, at: float) -> float | None:
    """Retry-After counts with 429 and 503 (ST-40)."""
    if response is None or response.status not in {429, 503}:
        return None
    return retry_after(response.header("retry-after"), at)


def _retry_at(
    ending: Reason, tried: int, retry: Retry, at: float, pause: float | None, *, always: bool = False
) -> float | None:
    if not (ending.retried or always) or tried >= retry.tries:
        return None
    return at + max(pause or 0.0, retry.seconds * 2.0 ** (tried - 1))
