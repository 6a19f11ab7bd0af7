"""One visit's facts to its ending (sections 5.4 of the semantics, 6 of the rules)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from purlieu import decide
from purlieu import page as html
from purlieu.candidate import Entry, Facts, Purpose
from purlieu.decide import Retry, Visit
from purlieu.response import Failure, Fault, Response
from purlieu.revisit import Action, Known, Plan
from purlieu.testing.web import answer

HREF = "http://site.test/dir/page"
ENTRY = Entry(1, Purpose.PAGE, 1, HREF, 1, Facts(0))
ROBOTS = Entry(1, Purpose.ROBOTS, 1, "http://site.test/robots.txt", 1, Facts(0))
NOW = 1_700_000_000.0
ONCE = Retry(1, 5.0)


def page(got: Response | Failure, retry: Retry = ONCE, entry: Entry = ENTRY) -> Visit:
    """Decide a visit to the page."""
    read = html.read(got.body, url=HREF, headers=got.headers) if isinstance(got, Response) else None
    return decide.page(entry, got, read, retry=retry, at=NOW)


def robots(
    got: Response | Failure, *, obey: bool = True, most: float = 30.0, tries: int = 1, allow_403: bool = True
) -> Visit:
    """Decide a visit to the robots.txt."""
    return decide.robots(
        ROBOTS, got, retry=Retry(tries, 5.0, 600.0), first_failed_at=None, obey=obey, allow_403=allow_403,
        agent="purlieu", max_crawl_delay=most, at=NOW,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "http://site.test/x"),
        ("x#f", "http://site.test/dir/x"),
        ("  //other.test ", "http://other.test/"),
        ("https://site.test/é", "https://site.test/%C3%A9"),
        ("/\u00c3\u00a9", "http://site.test/%C3%A9"),  # UTF-8 octets as a header gives them
    ],
)
def test_a_location_is_resolved(location: str, target: str) -> None:
    """A relative Location is resolved and loses its fragment (ST-42)."""
    visit = page(answer(status=301, headers={"Location": location}))
    assert (visit.kind, visit.reason, visit.redirect_to) == ("redirected", "permanent", target)


@pytest.mark.parametrize("location", ["", "file:///etc/passwd", "javascript:alert(1)", "http://[", "mailto:a@b"])
def test_a_location_must_be_of_the_web(location: str) -> None:
    """Redirects to no http(s) address are misdirected.bad_location."""
    visit = page(answer(status=302, headers={"Location": location} if location else {}))
    assert (visit.kind, visit.reason, visit.redirect_to) == ("misdirected", "bad_location", None)


@pytest.mark.parametrize(
    ("refresh", "name"),
    [
        ("0; url=/next", "redirected.meta_refresh"),
        ("5; url=/next", "redirected.meta_refresh"),
        ("6; url=/next", "fetched.ok"),
        ("0; url=/dir/page", "fetched.ok"),
        ("0", "fetched.ok"),
        ("0; url=javascript:x", "fetched.ok"),
    ],
)
def test_a_quick_refresh_elsewhere_is_a_redirect(refresh: str, name: str) -> None:
    """Meta refresh of at most 5 s to another target counts as a redirect (section 6)."""
    visit = page(answer(f'<meta http-equiv=refresh content="{refresh}">x'))
    assert f"{visit.kind}.{visit.reason}" == name


@pytest.mark.parametrize("fault", [Fault.DNS, Fault.CONNECT, Fault.TLS, Fault.TIMEOUT, Fault.RESET, Fault.PROXY])
def test_no_header_byte_is_unreachable(fault: Fault) -> None:
    """Before the first header byte a fault is ``unreachable`` (R-6.1)."""
    visit = page(Failure(HREF, fault, "why", NOW, 1.0))
    assert (visit.kind, visit.reason) == ("unreachable", fault)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.TOO_LARGE, "too_large"),
        (Fault.TRUNCATED, "truncated"),
        (Fault.DECODING, "decoding"),
        (Fault.PROTOCOL, "protocol"),
        (Fault.TIMEOUT, "truncated"),
        (Fault.RESET, "truncated"),
    ],
)
def test_after_the_first_header_byte_it_is_unreadable(fault: Fault, reason: str) -> None:
    """After it a fault is ``unreadable`` (R-6.1)."""
    visit = page(answer("<p>x", fault=fault))
    assert (visit.kind, visit.reason) == ("unreadable", reason)


def test_no_body_is_empty() -> None:
    """204, 205 and no body at all are ``fetched.empty`` (section 6)."""
    assert page(answer(b"", headers={"Content-Type": "text/html"})).reason == "empty"
    assert page(answer(status=204)).reason == "empty"


def test_an_unwanted_class_is_skipped() -> None:
    """A body cut off for its class is ``skipped.content_class`` with the class (MF-20, AMB-MF-6)."""
    visit = page(replace(answer(headers={"Content-Type": "image/png"}), cut=True))
    assert visit.outcome is not None
    assert (visit.kind, visit.reason, visit.outcome.detail) == ("skipped", "content_class", "IMAGE")


def test_a_retry_waits_longer_each_time_and_obeys_retry_after() -> None:
    """The wait doubles; Retry-After counts where it is longer (ST-40)."""
    thrice = Retry(3, 5.0)
    assert page(answer(status=503), thrice).retry_at == NOW + 5
    assert page(answer(status=503), thrice, replace(ENTRY, attempts=1)).retry_at == NOW + 10
    assert page(answer(status=503), thrice, replace(ENTRY, attempts=2)).retry_at is None
    visit = page(answer(status=429, headers={"Retry-After": "120"}), thrice)
    assert (visit.retry_at, visit.pause_seconds, visit.outcome) == (NOW + 120, 120.0, None)
    assert page(answer(status=404), thrice).retry_at is None


def test_noindex_canonical_and_emptiness_are_a_second_verdict() -> None:
    """Whether a page may be searched is no outcome (house, section 3)."""
    assert page(answer("<meta name=robots content=noindex>x")).index_reason == "noindex"
    assert page(answer('<link rel=canonical href="/other">x')).index_reason == "canonical"
    assert page(answer(f'<link rel=canonical href="{HREF}">x')).index_reason == ""
    assert page(answer("<title>t</title>")).index_reason == "empty"


@pytest.mark.parametrize("status", [200, 206])
def test_a_robots_txt_is_read(status: int) -> None:
    """2xx gives rules."""
    found = robots(answer("User-agent: *\nDisallow: /\n", status=status)).robots
    assert found is not None
    assert found.body == b"User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize("status", [100, 300, 304, 400, 401, 403, 404, 410, 451])
def test_an_unavailable_robots_txt_allows_everything(status: int) -> None:
    """4xx, 1xx and 3xx without Location: no rules (ST-2, R-4.5)."""
    found = robots(answer(status=status)).robots
    assert found is not None
    assert (found.body, found.ended, found.hop) == (b"", "", "")


@pytest.mark.parametrize(
    ("status", "obey", "body", "ended"),
    [
        (403, True, None, "unreachable.robots_unreachable"),
        (403, False, b"", ""),
        (401, True, b"", ""),
        (404, True, b"", ""),
    ],
)
def test_a_forbidden_robots_txt_forbids_everything_where_the_owner_says_so(
    status: int, obey: bool, body: bytes | None, ended: str
) -> None:
    """EN-41: with ``robots.allow_403 = false`` an answer of 403, and no other 4xx, forbids the whole origin."""
    found = robots(answer(status=status), obey=obey, allow_403=False).robots
    assert found is not None
    assert (found.body, found.ended) == (body, ended)


@pytest.mark.parametrize(
    "got",
    [
        answer(status=500),
        answer(status=503),
        answer(status=429),
        Failure(HREF, Fault.DNS, "", NOW, 0.0),
        Failure(HREF, Fault.TLS, "", NOW, 0.0),
        answer("User-agent: *", fault=Fault.TRUNCATED),
        answer("User-agent: *", fault=Fault.DECODING),
    ],
)
def test_an_unreachable_robots_txt_forbids_everything(got: Response | Failure) -> None:
    """5xx, 429 and network errors: complete disallow (ST-3, ST-14, AMB-ST-2), unless the owner does not obey."""
    found = robots(got).robots
    assert found is not None
    assert (found.body, found.ended) == (None, "unreachable.robots_unreachable")
    overruled = robots(got, obey=False).robots
    assert overruled is not None
    assert (overruled.body, overruled.ended) == (b"", "")
    assert robots(got, tries=2).retry_at == NOW + 5


def test_a_robots_txt_over_the_limit_loses_the_rule_that_was_cut() -> None:
    """The rest is ignored without error, and half a rule is none (ST-5, R-8.3)."""
    visit = robots(answer("User-agent: *\nDisallow: /private", fault=Fault.TOO_LARGE))
    assert visit.robots is not None
    assert (visit.robots.body, visit.kind) == (b"User-agent: *\n", "fetched")


@pytest.mark.parametrize(
    ("delay", "most", "ended"),
    [
        ("30", 30.0, ""),
        ("30.5", 30.0, "abandoned.delay_too_long"),
        ("900", -1.0, ""),
        ("1", 0.0, "abandoned.delay_too_long"),
    ],
)
def test_the_largest_crawl_delay(delay: str, most: float, ended: str) -> None:
    """Longer than the maximum drops the origin (EN-51), as long is obeyed (EN-54), -1 obeys any (EN-52)."""
    found = robots(answer(f"User-agent: *\nCrawl-delay: {delay}\n"), most=most).robots
    assert found is not None
    assert found.ended == ended


@pytest.mark.parametrize(
    ("etag", "last_modified", "said"),
    [
        ('"e"', "Mon, 05 Jan 2026 00:00:00 GMT",
         (("If-None-Match", '"e"'), ("If-Modified-Since", "Mon, 05 Jan 2026 00:00:00 GMT"))),
        (None, "Mon, 05 Jan 2026 00:00:00 GMT", (("If-Modified-Since", "Mon, 05 Jan 2026 00:00:00 GMT"),)),
        ('W/"e"', None, (("If-None-Match", 'W/"e"'),)),
        (None, None, ()),
    ],
)  # fmt: skip
def test_a_conditional_request_says_what_is_known(
    etag: str | None, last_modified: str | None, said: tuple[tuple[str, str], ...]
) -> None:
    """Both validators are sent as they were received, the server ignores the date; 304 then keeps the page (ST-41)."""
    known = Known("fetched", "ok", NOW - 90.0, 60.0, 1, etag=etag, last_modified=last_modified)
    asked = replace(ENTRY, plan=Plan(Action.ASK, known))
    assert decide.conditions(asked) == said
    assert decide.conditions(ENTRY) == decide.conditions(replace(ENTRY, plan=Plan(Action.FETCH, known))) == ()
    ending = page(answer(status=304), entry=asked).outcome
    assert ending is not None
    assert (ending.reason.name == "unchanged.not_modified") is bool(said)
