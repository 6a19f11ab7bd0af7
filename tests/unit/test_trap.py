"""What looks like one of an endless series (trap.py)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.admission import Admission
from purlieu.candidate import Facts, Purpose
from purlieu.normalise import Normaliser, without_session
from purlieu.settings import of
from purlieu.trap import SERIES_REMEMBERED, Series, series_of, year_of

NOW = 1_790_000_000.0
"""In 2026."""


def made(traps: dict[str, object]) -> Admission:
    """Return the rules of a crawl whose seed has landed."""
    admission = Admission.of(of({"seeds": ["http://h/"], "traps": traps}), now=NOW)
    return replace(admission, scope=admission.scope.landed(0, "http://h/"))


def ruled(path: str, depth: int = 1, **traps: object) -> str:
    """Return why a page of the site is refused, "" when it is in."""
    admission = made(traps)
    ruling = admission.judge(f"http://h{path}", "h", Facts(depth), Purpose.PAGE)
    return f"{ruling.refused} {ruling.rule}".strip() if ruling.refused else ""


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("/a/b/a/b/a/b/", "repeated_segment=3"),
        ("/a/b/c/a/b/c/a/b/c/x", "repeated_path=3"),
        ("/a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/a/b/c/d/e/f/g/h/", "repeated_path=3"),
        ("/l?p=1&q=2&p=1&p=1", "repeated_parameter=3"),
        ("/" + "/".join(map(str, range(40))), "max_segments=32"),
        ("/l?" + "&".join(f"p{n}=1" for n in range(60)), "max_parameters=50"),
        ("/cal/2032/01/", "years_ahead=5"),
        ("/cal/2032/01/15", "years_ahead=5"),
        ("/cal/2032-01", "years_ahead=5"),
        ("/cal?year=2032&month=1", "years_ahead=5"),
        ("/cal?date=2032-01-15", "years_ahead=5"),
        ("/cal?year=12026", "years_ahead=5"),
        ("/cal?year=1599", "first_year=1600"),
        ("/cal/1599/12/", "first_year=1600"),
    ],
)
def test_what_an_address_alone_tells(path: str, rule: str) -> None:
    """Each rule on the address alone refuses with its name as ``excluded.trap``."""
    assert ruled(path) == f"trap {rule}"


@pytest.mark.parametrize(
    "path",
    [
        "/cal/2031/12/",
        "/cal/1890/05/12/",
        "/2032/05/a-title-of-an-article",
        "/report/2050/",
        "/2050",
        "/plan-2050.html",
        "/p/2099/13/",
        "/l?y=7",
        "/l?f[]=1&f[]=2&f[]=3&f[]=4",
        "/a/b/c/a/b/c/x",
        "/library/os.html",
        "/docs/en/en/index.html",
    ],
)
def test_what_is_no_trap(path: str) -> None:
    """Articles under a date, near dates, arrays in a query and paths that repeat twice are real pages."""
    assert ruled(path) == ""


def test_a_chain_is_told_by_its_depth() -> None:
    """Of addresses with numbers or parameters those too far from a seed are refused, and in when a nearer way is found."""
    assert ruled("/page/1001", 1001) == "trap chain=1000"
    assert ruled("/page/1001", 1000) == ""
    assert ruled("/about/us", 5000) == ""


def test_the_owner_overrules() -> None:
    """A pattern of ``traps.allow`` is never a trap; every rule can be switched off by itself, and all at once."""
    assert ruled("/cal/2040/01/", allow=["/cal/*"]) == ""
    assert ruled("/a/b/a/b/a/b/", allow=["/a/*"]) == ""
    assert ruled("/cal/2040/01/", allow=["/other/*"]) == "trap years_ahead=5"
    assert ruled("/cal/2040/01/", years_ahead=-1) == ""
    assert ruled("/cal?year=1599", first_year=0) == ""
    assert ruled("/page/1", 9999, chain=0) == ""
    assert ruled("/cal/2040/01/", detect=False) == ""


def test_only_pages_are_traps() -> None:
    """A sitemap of the year 2040 is read (R-3.3)."""
    assert not made({}).judge("http://h/sitemap/2040/01/", "h", Facts(1), Purpose.SITEMAP).refused


@pytest.mark.parametrize(
    ("href", "series"),
    [
        ("http://h/about", ""),
        ("http://h/p/123", "http://h/p/*"),
        ("http://h:80/p-12-x/3.html", "http://h:80/p-*-x/*.html"),
        ("http://h/cal/2030/may/", "http://h/cal/*/*/"),
        ("http://h/may/be", "http://h/*/be"),
        ("http://h/i/0f8fad5b-d9cb-469f-a165-70867728950e", "http://h/i/*"),
        ("http://h/l?b=2&a=x&b=3", "http://h/l?a=*&b=*"),
        ("http://h2/decade", ""),
    ],
)
def test_the_series_of_an_address(href: str, series: str) -> None:
    """Numbers, months and ids vary, and so do all values of parameters; the host and all else name the series."""
    assert series_of(href) == series


def test_a_series_that_says_the_same_is_a_trap() -> None:
    """Of 300 pages fewer than one in ten has a text of its own: no more of them; one in nine: go on."""
    trap, real = Series(300), Series(300)
    told = [trap.met(f"http://h/{number}", f"text {number % 12}") for number in range(400)]
    assert [number for number, series in enumerate(told) if series] == [299]
    assert trap.trapped("http://h/9999") == "http://h/*"
    assert not trap.trapped("http://h/about")
    assert not any(real.met(f"http://h/{number}", f"text {number // 9}") for number in range(3000))


def test_a_series_may_become_a_trap_late() -> None:
    """A calendar whose first thousand pages are real is left after the next window of empty ones."""
    series = Series(300)
    assert not any(series.met(f"http://h/?d={number}", f"text {number}") for number in range(1000))
    told = [series.met(f"http://h/?d={number}", "empty") for number in range(600)]
    assert sum(map(bool, told)) == 1


def test_a_calendar_with_weekdays_is_a_trap() -> None:
    """Texts that vary by month and weekday are few of ten times as many pages."""
    series = Series(300)
    told = [bool(series.met(f"http://h/?d={number}", f"{number % 7} {number % 12}")) for number in range(4000)]
    assert told.index(True) == 2999


def test_a_resume_knows_the_traps() -> None:
    """Series that were found before are traps from the start."""
    assert Series(300, ["http://h/*"]).trapped("http://h/1") == "http://h/*"
    assert not Series(0).met("http://h/1", "x")


def test_the_memory_of_series_is_bounded() -> None:
    """However many series a site makes up, only so many are watched."""
    series = Series(300)
    for number in range(SERIES_REMEMBERED + 500):
        series.met(f"http://h/{'x' * (number % 97)}y{'z' * (number // 97)}/1", "text")
    assert len(series._windows) == SERIES_REMEMBERED


@pytest.mark.parametrize(
    ("href", "without"),
    [
        ("http://h/a;jsessionid=0123?x=1", "http://h/a?x=1"),
        ("http://h/a;jsessionid=0123/b", "http://h/a/b"),
        ("http://h/a?PHPSESSID=abc", "http://h/a"),
        ("http://h/a?x=1&PHPSESSID=abc&y=2", "http://h/a?x=1&y=2"),
        ("http://h/a?sid=0123456789abcdef&x=1", "http://h/a?x=1"),
        ("http://h/a?ASPSESSIONIDQQ=x", "http://h/a"),
        ("http://h/a?sid=7", "http://h/a?sid=7"),
        ("http://h/a?session=keynote-speakers-of", "http://h/a?session=keynote-speakers-of"),
        ("http://h/a?inside=0123456789abcdef", "http://h/a?inside=0123456789abcdef"),
        ("http://h/a?x=", "http://h/a?x="),
        ("http://h/a?", "http://h/a?"),
    ],
)
def test_session_ids_are_taken_out(href: str, without: str) -> None:
    """A name that means nothing but a session goes; one that may mean more only with a long value that has digits."""
    assert without_session(href) == without


def test_links_alone_lose_their_session() -> None:
    """A redirect keeps its session id, since its server may send back whoever comes without."""
    normaliser = Normaliser(sessions=True)
    assert normaliser.is_identity
    assert normaliser.link("http://h/?PHPSESSID=1") == "http://h/"
    assert normaliser.key("http://h/?PHPSESSID=1") == "http://h/?PHPSESSID=1"


def test_parameters_in_order() -> None:
    """Where the owner says so the same parameters in another order are one address, and named ones are dropped."""
    made = Normaliser.of(of({"normalise": {"sort_parameters": True, "drop_parameters": ["utm_*", "FBCLID"]}}).normalise)
    assert made.key("http://h/l?b=2&utm_source=x&a=1&fbclid=9") == "http://h/l?a=1&b=2"
    assert made.key("http://h/l?utm_source=x") == "http://h/l"
    assert Normaliser().key("http://h/l?b=2&a=1") == "http://h/l?b=2&a=1"


@given(st.text(max_size=200))
def test_no_address_raises(text: str) -> None:
    """Whatever an address holds, a year, a series and a rule come back, and taking sessions out twice changes nothing."""
    href = f"http://h/{text}"
    assert year_of(href) is None or isinstance(year_of(href), int)
    series_of(href)
    once = without_session(href)
    assert without_session(once) == once


@pytest.mark.parametrize(
    "piece", ["-", "a-", "f", "1/", "year-", "&year", "date=", ";sid=", "&sid=0", "/01", "0a", "?"]
)
def test_long_addresses_are_done_at_once(piece: str) -> None:
    """Every test is linear: on 60,000 signs a quadratic one would run into the time-out of the suite."""
    href = "http://h/?" + piece * (60_000 // len(piece))
    path = href.replace("?", "", 1)
    assert series_of(href).startswith("http://h/")
    assert series_of(path) == series_of(path)
    assert year_of(href) is None or year_of(href) == 0
    assert len(without_session(href)) <= len(href)
    assert len(without_session(path)) <= len(path)
    assert ruled(href.removeprefix("http://h")) == "url_too_long max_url_length=8192"
