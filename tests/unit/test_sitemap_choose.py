"""Which pages go into a sitemap, what is said of them, and how it is made known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import robots, settings
from purlieu.errors import SettingsError
from purlieu.outcome import KINDS, LANGUAGES
from purlieu.outcome import REASONS as OUTCOMES
from purlieu.settings import PUBLIC, ProfileSettings
from purlieu.sitemap import announce
from purlieu.sitemap.choose import REASONS, Chooser, Place, Priorities, Told, sentence, was_not_asked
from purlieu.sitemap.language import Alternates, agreed
from purlieu.sitemap.rate import LEAST_VISITS, changefreq

HOUR, DAY = 3_600.0, 86_400.0
GOOD = Told("http://a.test/x", "fetched", "ok", 1, 200, "text/html", "")
PLACE = Place("http://a.test/")
MAP = "http://a.test/sitemap.xml"


def judged(profile: ProfileSettings = PUBLIC, place: Place = PLACE, **facts: Any) -> str:
    """Return why a page, good but for these facts, is left out."""
    return Chooser(profile, place).page(GOOD._replace(**facts))


@pytest.mark.parametrize(
    ("ending", "status", "reason"),
    [
        ("fetched.ok", 200, ""),
        ("fetched.ok", 203, "not_200"),
        ("fetched.empty", 204, "not_200"),
        ("fetched.empty", 200, "not_200"),
        ("unchanged.not_modified", 200, ""),
        ("unchanged.not_due", 200, ""),
        ("redirected.permanent", 301, "redirected"),
        ("redirected.meta_refresh", 200, "redirected"),
        ("misdirected.loop", 301, "redirected"),
        ("skipped.content_class", 200, "unwanted_type"),
        ("excluded.robots", None, "robots"),
        ("excluded.scope", None, "excluded"),
        ("missing.not_found", 404, "missing"),
        ("refused.forbidden", 403, "refused"),
        ("server_error.server_error", 503, "server_error"),
        ("unreachable.dns", None, "unreachable"),
        ("unreadable.too_large", 200, "unreadable"),
        ("abandoned.run_limit", None, "not_visited"),
        ("due.due", None, "not_visited"),
        ("crashed.crashed", None, "crashed"),
    ],
)
def test_only_pages_that_are_200_go_in(ending: str, status: int | None, reason: str) -> None:
    """A page that is not 200, or redirects, is left out with its reason (issue 4, IB-6)."""
    kind, _, code = ending.partition(".")
    assert judged(kind=kind, reason=code, status=status) == reason


def test_every_ending_has_a_reason() -> None:
    """No ending of the closed table but a page fetched or unchanged is taken for one that can be listed."""
    for outcome in OUTCOMES.values():
        kept = judged(kind=outcome.kind, reason=outcome.code, status=200) == ""
        assert kept == (outcome.kind in {"fetched", "unchanged"} and outcome.code != "empty"), outcome.name
    assert {outcome.kind for outcome in OUTCOMES.values()} == set(KINDS)


@pytest.mark.parametrize("why", ["noindex", "canonical", "empty"])
def test_pages_that_may_not_be_searched_are_left_out(why: str) -> None:
    """Noindex, a canonical elsewhere and a page without text each keep a page out, by that name."""
    assert judged(index_reason=why) == why


@pytest.mark.parametrize(
    ("href", "reason"),
    [
        ("http://a.test/catalog/", ""),
        ("http://a.test/catalog/show?item=/../x", ""),
        ("http://a.test/catalog", "location"),
        ("http://a.test/image/show", "location"),
        ("https://a.test/catalog/x", "location"),
        ("http://a.test:100/catalog/x", "location"),
        ("http://www.a.test/catalog/x", "location"),
        ("http://a.test/%63atalog/x", ""),
        ("http://a.test/Catalog/x", "location"),
    ],
)
def test_only_what_lies_in_the_folder_goes_in(href: str, reason: str) -> None:
    """A page must have the scheme, host, port and folder of the files (SM-30 to SM-33, AMB-SM-8)."""
    assert judged(place=Place("http://a.test/catalog/"), href=href) == reason


def test_pages_behind_a_login_are_not_public() -> None:
    """What was fetched with credentials, or names them, is left out unless the profile wants it (IB-6)."""
    place = Place("http://a.test/", logins={"http://a.test"})
    assert judged(place=place) == "login"
    assert judged(replace(PUBLIC, with_login=True), place) == ""
    assert judged(href="http://user:secret@a.test/x") == "login"


@pytest.mark.parametrize(
    ("on", "sections", "href", "reason"),
    [
        (False, (), "http://a.test/x", ""),
        (True, (), "http://a.test/x", "section"),
        (True, ("/news/", "/shop"), "http://a.test/news/x", ""),
        (True, ("/news/", "/shop"), "http://a.test/shop", ""),
        (True, ("/news/", "/shop"), "http://a.test/shop?a", ""),
        (True, ("/news/",), "http://a.test/news", ""),
        (True, ("/news",), "http://a.test/newspaper", "section"),
        (True, ("http://a.test/news/",), "http://a.test/news/x", ""),
        (True, ("http://b.test/news/",), "http://a.test/news/x", "section"),
        (True, ("/",), "http://a.test/x", ""),
    ],
)
def test_sections_are_filtered_as_configured(on: bool, sections: tuple[str, ...], href: str, reason: str) -> None:
    """Off shows all, on the selected sections, on without a selection nothing (IB-3, IB-4, IB-5, IB-6)."""
    assert judged(replace(PUBLIC, filter_sections=on, sections=sections), href=href) == reason


def test_a_profile_filters_and_takes_parts() -> None:
    """Patterns leave out, documents go in only when asked for, and a robot's rules count for its own profile (IB-2, IB-6)."""
    assert judged(replace(PUBLIC, exclude=("/x*",))) == "filter"
    assert judged(replace(PUBLIC, include=("/y*",))) == "filter"
    assert judged(content_type="application/pdf") == "document"
    assert judged(replace(PUBLIC, parts=True), content_type="application/pdf") == ""
    rules = robots.read(b"User-agent: abot\nDisallow: /x\n")
    assert judged(place=Place("http://a.test/", forbids=lambda href: not rules.allowed("abot", href))) == "robots"


@pytest.mark.parametrize(("length", "reason"), [(2_047, ""), (2_048, "too_long")])
def test_too_long_addresses_are_left_out(length: int, reason: str) -> None:
    """An address of 2,048 characters or more is left out, counted as it would be written (SM-4)."""
    assert judged(href="http://a.test/".ljust(length, "x")) == reason
    assert judged(href="http://a.test/" + "|" * 700) == "too_long"


def test_every_reason_has_its_sentences() -> None:
    """Each reason is told in every language, in sentences that differ."""
    for language in LANGUAGES:
        told = [sentence(code, language) for code in REASONS]
        assert len(set(told)) == len(told)
        assert all(told)


@pytest.mark.parametrize(
    ("kind", "attempts", "unasked"),
    [
        ("abandoned", 0, True),
        ("due", 2, True),
        ("unreachable", 0, True),
        ("unreachable", 1, False),
        ("missing", 1, False),
    ],
)
def test_what_was_not_asked_for_is_not_judged(kind: str, attempts: int, unasked: bool) -> None:
    """Only what a run asked for says something new of a page; the rest may stay in a sitemap (issue 4)."""
    assert was_not_asked(GOOD._replace(kind=kind, attempts=attempts)) is unasked


def test_priorities_are_the_owners() -> None:
    """The first rule that matches gives the number, and 0.5 holds elsewhere (SM-6)."""
    priorities = Priorities(("/news/old/ 0.1", "/news/ 0.8", "*.pdf 0.3"))
    paths = ("news/old/a", "news/a", "a.pdf", "newspaper", "")
    assert [priorities.of(f"http://a.test/{path}") for path in paths] == [0.1, 0.8, 0.3, 0.5, 0.5]


def test_wrong_profiles_are_told_at_once() -> None:
    """Every mistake of a profile is told in one go, with its key and what to write instead."""
    text = """
[[sitemap.profile]]
name = "a"
sections = ["news"]
include = ["x"]
priority = ["/a/", "/a/ 2", "/a/ nan"]
location = "here"
"""
    with pytest.raises(SettingsError) as wrong:
        settings.read(text)
    keys = [mistake.key for mistake in wrong.value.mistakes]
    prefix = "sitemap.profile[1]"
    assert keys == [f"{prefix}.location", f"{prefix}.sections", f"{prefix}.include", *[f"{prefix}.priority"] * 3]


def test_profiles_are_kept_with_the_settings() -> None:
    """What a profile says is written and read again (R-1.1: a run keeps the settings it was made with)."""
    made = settings.read('[[sitemap.profile]]\nname = "news"\nsections = ["/news/"]\npriority = ["/news/ 0.8"]\n')
    assert settings.read(settings.dump(made)) == settings.checked(made) == made


@pytest.mark.parametrize(
    ("days", "visits", "changes", "word"),
    [
        (30, LEAST_VISITS - 1, 1, None),
        (0, 10, 5, None),
        (1, 25, 20, "hourly"),
        (30, 31, 25, "daily"),
        (140, 21, 15, "weekly"),
        (600, 21, 15, "monthly"),
        (3_000, 21, 5, "yearly"),
        (365, 13, 0, "yearly"),
        (10, 11, 0, "monthly"),
        (100_000, 4, 0, "yearly"),
    ],
)
def test_the_frequency_is_the_measured_rate(days: float, visits: int, changes: int, word: str | None) -> None:
    """The word is the nearest to the rate that was seen, and none is said after too few visits (SM-5, SM-72)."""
    assert changefreq(0.0, days * DAY, visits, changes) == word


@given(st.floats(0, 1e10), st.integers(0, 10_000), st.integers(-5, 20_000))
def test_any_history_gives_a_word_or_none(seconds: float, visits: int, changes: int) -> None:
    """No counts raise, and the promises always and never are not made (SM-5)."""
    assert changefreq(0.0, seconds, visits, changes) in {"hourly", "daily", "weekly", "monthly", "yearly", None}


EN, DE, FR = (f"http://a.test/{language}" for language in ("en", "de", "fr"))


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ({EN: [("en", EN), ("de", DE)], DE: [("en", EN), ("de", DE)]}, {EN: ["de", "en"], DE: ["de", "en"]}),
        ({EN: [("de", DE)], DE: []}, {EN: [], DE: []}),
        ({EN: [("en", EN), ("de", DE)]}, {EN: []}),
        ({EN: [("de", DE)], DE: [("en", EN)]}, {EN: ["de", "en"], DE: ["de", "en"]}),
        (
            {EN: [("en", EN), ("de", DE), ("fr", FR)], DE: [("de", DE), ("en", EN)], FR: [("fr", FR), ("en", EN)]},
            {EN: ["de", "en", "fr"], DE: ["de", "en", "fr"], FR: ["de", "en", "fr"]},
        ),
        (
            {EN: [("en", EN), ("x-default", EN), ("de", DE), ("klingon!", DE)], DE: [("en", EN), ("de", DE)]},
            {EN: ["de", "en", "x-default"], DE: ["de", "en", "x-default"]},
        ),
    ],
)
def test_languages_are_listed_when_all_agree(pages: dict[str, Alternates], expected: dict[str, list[str]]) -> None:
    """Pages of a set list each other and themselves, all the same pairs; one that is not named back stays alone (SM-61)."""
    found = {href: agreed(href, pages.get) for href in pages}
    assert {href: sorted(language for language, _ in pairs) for href, pairs in found.items()} == expected


@given(
    st.dictionaries(
        st.sampled_from((EN, DE, FR)),
        st.lists(st.tuples(st.sampled_from(("en", "de", "x-default")), st.sampled_from((EN, DE, FR))), max_size=6),
    )
)
def test_every_alternate_lists_all(pages: dict[str, Alternates]) -> None:
    """Whatever pages declare, every page that one lists has the same list, with itself in it (SM-61)."""
    for href in pages:
        pairs = agreed(href, pages.get)
        assert all(agreed(there, pages.get) == pairs for _, there in pairs)
        assert not pairs or href in {there for _, there in pairs}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"Sitemap: http://a.test/sitemap.xml\n"),
        (b"User-agent: *\nDisallow: /x", b"User-agent: *\nDisallow: /x\nSitemap: http://a.test/sitemap.xml\n"),
        (b"User-agent: *\r\n", b"User-agent: *\r\nSitemap: http://a.test/sitemap.xml\r\n"),
        (b"sitemap :http://a.test/sitemap.xml # ours\nX\xff: y", None),
        (b"\xef\xbb\xbfSitemap: http://a.test/sitemap.xml", None),
        (
            b"Sitemap: http://a.test/old.xml\nSitemap: http://b.test/other.xml\n",
            b"Sitemap: http://b.test/other.xml\nSitemap: http://a.test/sitemap.xml\n",
        ),
    ],
)
def test_a_robots_txt_names_the_sitemap(before: bytes, after: bytes | None) -> None:
    """The line is there once, lines of files that are gone go, and every other byte stays (SM-44)."""
    found = announce.robots_txt(before, [MAP], ["http://a.test/old.xml"])
    assert found == (before if after is None else after)


@given(st.binary(max_size=60))
def test_naming_it_twice_changes_nothing(body: bytes) -> None:
    """Any robots.txt is kept byte for byte before what is added, and a second time nothing is added (SM-44)."""
    once = announce.robots_txt(body, [MAP])
    assert announce.robots_txt(once, [MAP]) == once
    assert once.startswith(body)


def test_the_line_is_where_robots_read_it() -> None:
    """Of a robots.txt of which robots read only the beginning (R-8.3) the line goes there, behind a byte order mark."""
    body = b"\xef\xbb\xbfUser-agent: *\r\n" + b"Disallow: /a\r\n" * 50_000
    after = announce.robots_txt(body, [MAP])
    assert after == body[:3] + f"Sitemap: {MAP}\r\n".encode() + body[3:]
    assert announce.robots_txt(after, [MAP]) == after


def test_a_ping_carries_the_sitemap() -> None:
    """An address is asked with the sitemap's URL, percent-encoded, as a query or where the owner wants it (SM-45)."""
    told = "http%3A%2F%2Fa.test%2Fsitemap.xml"
    assert announce.ping("http://e.test/ping", MAP).url == f"http://e.test/ping?sitemap={told}"
    assert announce.ping("http://e.test/ping?a=b", MAP).url == f"http://e.test/ping?a=b&sitemap={told}"
    assert announce.ping("http://e.test/{sitemap}/x", MAP).url == f"http://e.test/{told}/x"


@pytest.mark.parametrize(("number", "sizes"), [(0, []), (10_000, [10_000]), (10_001, [10_000, 1])])
def test_indexnow_is_told_in_batches(number: int, sizes: list[int]) -> None:
    """At most 10,000 addresses go in one POST of JSON, with the key and where its file lies (issue 4)."""
    hrefs = [f"http://a.test/{one}" for one in range(number)]
    asked = list(announce.indexnow("http://e.test/indexnow", "k" * 8, "http://a.test/kkkkkkkk.txt", hrefs))
    bodies = [json.loads(request.body) for request in asked]
    assert [len(body["urlList"]) for body in bodies] == sizes
    assert all(request.method == "POST" for request in asked)
    assert all(body["host"] == "a.test" and body["keyLocation"] == "http://a.test/kkkkkkkk.txt" for body in bodies)
