"""Scope: modes, landings, and that every way of asking gives the same answer."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from purlieu.errors import UrlError
from purlieu.scope import DOMAIN_SOURCES, GRANT_ROBOTS, GRANT_SEED, GRANT_SEED_REDIRECT, GRANT_SITEMAP, MODES, Scope
from purlieu.settings import ScopeSettings, Settings, SiteSettings
from purlieu.url import host_of, parse

options = st.builds(
    SiteSettings,
    url=strategies.hrefs(),
    mode=st.sampled_from(MODES),
    ignore_port=st.booleans(),
    ignore_scheme=st.booleans(),
    follow_redirected_seed=st.booleans(),
    aliases=st.lists(strategies.hosts, max_size=2).map(tuple),
    www_equivalent=st.booleans(),
    alternative_suffixes=st.sampled_from([(), (), (".com", ".co.uk"), (".example.com", ".com", ".org")]),
    domains=st.sampled_from(DOMAIN_SOURCES),
)


def landed(*seeds: str, **how: Any) -> Scope:
    """Return the scope of these seeds under these options, all landed where they are."""
    scope = Scope.of(Settings(seeds=seeds, scope=replace(ScopeSettings(), **how)))
    for site in scope.pending:
        scope = scope.landed(site, scope.seed(site))
    return scope


def takes(scope: Scope, url: str) -> bool:
    """Return the verdict on a URL, after checking that the hot path agrees."""
    verdict = scope.judge(url)
    href = parse(url).href
    assert scope.accepts(href, host_of(href)) == min(verdict.sites, default=None)
    assert scope.accepting(href, host_of(href)) == verdict.sites
    assert verdict.accepted == bool(verdict.sites)
    return verdict.accepted


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com/", True),
        ("https://example.com/a?b#c", True),
        ("HTTP://EXAMPLE.COM:80/", True),
        ("https://example.com:443/", True),
        ("http://example.com./", True),
        ("http://user:pw@example.com/", True),
        ("http://example.com:8080/", False),
        ("http://www.example.com/", False),
        ("http://com/", False),
        ("http://notexample.com/", False),
        ("http://example.com.evil.net/", False),
        ("http://example.com@evil.net/", False),
        ("http://evil.net/http://example.com/", False),
        ("http://evil.net?example.com", False),
        ("http://evil.net#example.com", False),
        ("http://evil.net\\@example.com/", False),
        ("http://exаmple.com/", False),
        ("ftp://example.com/", False),
        ("mailto:x@example.com", False),
    ],
)
def test_same_host(url: str, expected: bool) -> None:
    """Same-host takes exactly the seed's host (EN-12, BJ-12, AMB-BJ-3, AMB-EN-17), and nothing that looks like it."""
    assert takes(landed("http://example.com/start"), url) is expected


@pytest.mark.parametrize(
    ("seed", "how", "url", "expected"),
    [
        ("http://h:8080/", {}, "http://h:8080/x", True),
        ("http://h:8080/", {}, "http://u@h:8080/x", True),
        ("http://h:8080/", {}, "http://h/x", False),
        ("http://h:8080/", {"ignore_port": True}, "http://h/x", True),
        ("http://h:8080/", {"ignore_port": True}, "https://u@h:1/x", True),
        ("http://h/", {"ignore_scheme": False}, "http://h/x", True),
        ("http://h/", {"ignore_scheme": False}, "https://h/x", False),
        ("http://h/", {"ignore_scheme": False, "ignore_port": True}, "http://h:81/", True),
        ("http://h/", {"ignore_scheme": False, "ignore_port": True}, "https://h:81/", False),
        ("http://[::1]:81/", {}, "http://[0::1]:81/", True),
        ("http://[::1]:81/", {}, "http://[::1]/", False),
        ("http://bücher.example/", {}, "http://xn--bcher-kva.example/", True),
        ("http://a.example.com/", {"mode": "same-domain"}, "http://example.com/", True),
        ("http://a.example.com/", {"mode": "same-domain"}, "http://x.y.example.com/", True),
        ("http://a.example.com/", {"mode": "same-domain"}, "http://notexample.com/", False),
        ("http://a.example.com/", {"mode": "same-domain"}, "http://example.com:8080/", False),
        ("http://a.example.com/", {"mode": "same-domain", "ignore_port": True}, "http://example.com:8080/", True),
        ("http://foo.github.io/", {"mode": "same-domain"}, "http://bar.github.io/", False),
        ("http://192.0.2.7/", {"mode": "same-domain"}, "http://192.0.2.7/x", True),
        ("http://192.0.2.7/", {"mode": "same-domain"}, "http://193.0.2.7/", False),
        ("http://intranet/", {"mode": "same-domain"}, "http://intranet/x", True),
        ("http://intranet/", {"mode": "same-domain"}, "http://other/", False),
        ("http://com.cn/", {"mode": "same-domain"}, "http://baidu.com.cn/", False),
        ("http://x.baidu.com/", {"mode": "same-sld"}, "http://x.y.z.baidu.com.cn/", True),
        ("http://x.baidu.com/", {"mode": "same-sld"}, "http://baidu.abc.com/", False),
        ("http://x.baidu.com/", {"mode": "same-sld"}, "http://baidu/", False),
        ("http://x.baidu.com/", {"mode": "same-sld"}, "http://baidu.xxxx/", False),
        ("http://baidu.xxxx/", {"mode": "same-sld"}, "http://x.baidu.xxxx/", True),
        ("http://baidu.xxxx/", {"mode": "same-sld"}, "http://baidu.yyyy/", False),
        ("http://baidu.com/abc/", {"mode": "same-dir"}, "http://baidu.com/abc/def/ghi?x", True),
        ("http://baidu.com/abc/", {"mode": "same-dir"}, "http://baidu.com/abc", False),
        ("http://baidu.com/abc/", {"mode": "same-dir"}, "http://baidu.com/abcd/x", False),
        ("http://baidu.com/abc/", {"mode": "same-dir"}, "http://baidu.com/abc/../x", False),
        ("http://baidu.com/abc/", {"mode": "same-dir"}, "http://x.baidu.com/abc/", False),
        ("http://baidu.com/abc/", {"mode": "same-dir"}, "http://baidu.com/?/abc/", False),
        ("http://baidu.com/abc/x?/y/", {"mode": "same-dir"}, "http://baidu.com/abc/z", True),
        ("http://h/", {"mode": "any"}, "https://anything.example:1/", True),
        ("http://h/", {"mode": "any"}, "ftp://h/", False),
    ],
)
def test_modes(seed: str, how: dict[str, Any], url: str, expected: bool) -> None:
    """Each mode compares what it says, ports and schemes as set (EN-10, EN-11, BJ-10 to BJ-19, BJ-30, AMB-BJ-5, 6, 8)."""
    assert takes(landed(seed, **how), url) is expected


def test_waiting_for_the_seed() -> None:
    """Until its seed has landed a site accepts that seed alone (R-3.2)."""
    scope = Scope.of(Settings(seeds=("http://xyz.com",)))

    assert scope.pending == {0}
    assert scope.seed(0) == "http://xyz.com/"
    assert takes(scope, "http://xyz.com/")
    assert not takes(scope, "http://xyz.com/page")
    assert "has landed" in scope.judge("http://xyz.com/page").reason


@pytest.mark.parametrize(
    ("how", "landing", "accepted", "refused"),
    [
        ({}, "http://xyz.go.com/home", "http://xyz.go.com/x", "http://xyz.com/"),
        ({"follow_redirected_seed": False}, "http://xyz.go.com/home", "http://xyz.com/x", "http://xyz.go.com/"),
        ({"mode": "same-domain"}, "http://xyz.go.com/home", "http://abc.go.com/x", "http://xyz.com/"),
        ({}, None, "http://xyz.com/x", "http://xyz.go.com/"),
        ({}, "http://github.io/", "http://xyz.com/x", "http://github.io/"),
        ({"mode": "same-domain"}, "http://co.uk/", "http://xyz.com/x", "http://co.uk/"),
        ({}, "http://intranet/", "http://intranet/x", "http://xyz.com/x"),
        ({}, "mailto:x@y", "http://xyz.com/x", "http://h/"),
        ({}, "https://xyz.com:8443/", "https://xyz.com:8443/x", "http://xyz.com/x"),
        ({"mode": "same-dir"}, "http://xyz.com/en/home", "http://xyz.com/en/x", "http://xyz.com/x"),
    ],
)
def test_landing(how: dict[str, Any], landing: str | None, accepted: str, refused: str) -> None:
    """After its seed has landed a site is measured from there, or from the original (EN-13, EN-17, EN-18, EN-81, R-3.2)."""
    scope = Scope.of(Settings(seeds=("http://xyz.com/",), scope=replace(ScopeSettings(), **how))).landed(0, landing)

    assert not scope.pending
    assert takes(scope, accepted)
    assert not takes(scope, refused)


def test_landing_on_the_seeds_own_host() -> None:
    """A seed that is itself on a bare suffix may land there, and is measured from there: the owner named it (R-3.2)."""
    scope = Scope.of(Settings(seeds=("http://github.io/",), scope=ScopeSettings(mode="same-dir")))
    scope = scope.landed(0, "http://github.io/en/")

    assert takes(scope, "http://github.io/en/x")
    assert not takes(scope, "http://github.io/x")


def test_same_host_reads_no_suffix_list() -> None:
    """A same-host crawl whose seeds land on their own hosts never reads the suffix list (R-9.2)."""
    program = """
import sys
from purlieu.scope import Scope
from purlieu.settings import Settings
scope = Scope.of(Settings(seeds=("http://a.example/",))).landed(0, "http://a.example/x")
assert scope.accepts("http://a.example/y", "a.example") == 0
sys.exit("publicsuffixlist" in sys.modules)
"""

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_landing_makes_no_difference_to_any() -> None:
    """A site of mode any accepts everything before and after its seed lands (EN-19)."""
    scope = Scope.of(Settings(seeds=("http://xyz.com/",), scope=ScopeSettings(mode="any")))

    assert scope.pending == {0}
    for now in (scope, scope.landed(0, "http://xyz.go.com/")):
        assert takes(now, "http://anything.example/")


def test_a_landing_makes_a_new_scope_once() -> None:
    """A landing leaves the old scope as it was, and a second landing of a site changes nothing."""
    scope = Scope.of(Settings(seeds=("http://a/", "http://b/")))
    after = scope.landed(0, "http://c/")

    assert scope.pending == {0, 1}
    assert not takes(scope, "http://c/x")
    assert after.pending == {1}
    assert after.landed(0, "http://d/") is after
    assert takes(after, "http://b/")
    assert not takes(after, "http://b/x")


def test_sites_instead_of_seeds() -> None:
    """With sites the seeds add no scope, and a site that is no seed has landed, since nobody fetches it (R-3.1)."""
    scope = Scope.of(
        Settings(
            seeds=("http://a/", "http://b/"),
            sites=(SiteSettings(url="http://b"), SiteSettings(url="http://c/x", mode="same-dir")),
        )
    )

    assert scope.pending == {0}
    assert not takes(scope, "http://a/")
    assert takes(scope, "http://b/")
    assert not takes(scope, "http://b/x")
    assert takes(scope, "http://c/y")
    assert scope.rule(1) == "same-dir"


def test_two_sites_of_one_seed_wait_apart() -> None:
    """Two sites may have the same seed; when one has landed the other still waits for it."""
    site = SiteSettings(url="http://a/")
    scope = Scope.of(Settings(seeds=("http://a/",), sites=(site, replace(site, mode="same-domain"))))

    assert scope.judge("http://a/").sites == {0, 1}
    scope = scope.landed(0, "http://b/")
    assert scope.pending == {1}
    assert scope.judge("http://a/").sites == {1}


def test_same_seed_twice_is_one_site() -> None:
    """A seed given twice, in whatever spelling, is one site."""
    assert len(Scope.of(Settings(seeds=("http://a", "HTTP://A:80/#x"))).sites) == 1


@pytest.mark.parametrize("seed", ["nothing", "mailto:x@y", "file:///x", "http://"])
def test_bad_seeds(seed: str) -> None:
    """A seed that is no address of the web is an error of the owner's, with the value and the remedy."""
    with pytest.raises(UrlError, match="http"):
        Scope.of(Settings(seeds=(seed,)))


def test_verdicts_explain_themselves() -> None:
    """A verdict names the rule and the values compared."""
    scope = Scope.of(Settings(seeds=("http://example.com/",))).landed(0, "http://www.example.com/")

    yes, no = scope.judge("https://www.example.com/a"), scope.judge("http://other.example:81/")
    assert (yes.accepted, yes.rule) == (True, "same-host")
    assert yes.reason == (
        'its host "www.example.com" matches that of http://www.example.com/, where http://example.com/ landed'
    )
    assert (no.accepted, no.rule) == (False, "same-host")
    assert no.reason.startswith('its host "other.example:81" is not "www.example.com", that of http://www.example.com/')
    assert scope.judge("tel:1").rule == "scheme"
    assert scope.judge("nothing").rule == "invalid-url"
    assert scope.judge("http://www.example.com/", sites=frozenset()).rule == "no-site"


def test_own_seed() -> None:
    """Judged by some sites only, a URL is in if one of these accepts it (AMB-EN-4)."""
    scope = landed("http://a/", "http://b/")

    assert scope.judge("http://b/x", sites=frozenset({1})).sites == {1}
    assert not scope.judge("http://b/x", sites=frozenset({0})).accepted
    assert scope.accepting("http://b/x", "b", frozenset({0, 1})) == {1}


def test_robots_of_a_folder() -> None:
    """A robots.txt is in scope where its host is, though it lies outside the folder of the site (ST-15)."""
    scope = landed("http://h/abc/", mode="same-dir")

    assert scope.judge("http://h/robots.txt", "robots").accepted
    assert not scope.judge("http://h/robots.txt").accepted
    assert not scope.judge("http://i/robots.txt", "robots").accepted


def test_grants_are_different_rules() -> None:
    """Every grant outside scope has its own name in the ledger (R-3.3)."""
    assert len({GRANT_SEED, GRANT_SEED_REDIRECT, GRANT_ROBOTS, GRANT_SITEMAP, *MODES}) == 4 + len(MODES)


def ready(sites: list[SiteSettings], landings: list[str | None]) -> Scope:
    """Return a scope of these sites, whose seeds land as listed; those beyond the list still wait."""
    scope = Scope.of(Settings(seeds=tuple(site.url for site in sites), sites=tuple(sites)))
    for site, landing in zip(range(len(sites)), landings, strict=False):
        scope = scope.landed(site, landing and parse(landing).href)
    return scope


@given(
    sites=st.lists(options, min_size=1, max_size=4),
    landings=st.lists(st.none() | strategies.hrefs(), max_size=4),
    url=strategies.hrefs(),
)
def test_every_way_of_asking_agrees(sites: list[SiteSettings], landings: list[str | None], url: str) -> None:
    """The hot path, the set of sites and the explained verdict agree; a union of sites accepts what any member does."""
    scope = ready(sites, landings)
    verdict = takes(scope, url)

    members = [scope.judge(url, sites=frozenset({site})).accepted for site in range(len(sites))]
    assert verdict == any(members)
    alone = [
        ready([site], [landing]) if landing != "waits" else ready([site], [])
        for site, landing in itertools.zip_longest(sites, landings[: len(sites)], fillvalue="waits")
        if isinstance(site, SiteSettings)
    ]
    assert members == [takes(one, url) for one in alone]


@given(sites=st.lists(options, min_size=1, max_size=4), url=strategies.hrefs(), data=st.data())
def test_order_of_seeds_and_landings_does_not_matter(sites: list[SiteSettings], url: str, data: st.DataObject) -> None:
    """The verdict, its rule and the sites behind it are the same in whatever order sites stand and land (R-2.1)."""
    order = data.draw(st.permutations(range(len(sites))))
    landings = data.draw(st.lists(strategies.hrefs(), min_size=len(sites), max_size=len(sites)))
    one = ready(sites, list(landings))
    other = Scope.of(Settings(seeds=tuple(site.url for site in sites), sites=tuple(sites[site] for site in order)))
    for place in data.draw(st.permutations(range(len(order)))):
        other = other.landed(place, parse(landings[order[place]]).href)

    first, second = one.judge(url), other.judge(url)
    assert (first.accepted, first.rule) == (second.accepted, second.rule)
    assert first.sites == {order[place] for place in second.sites}


@given(
    sites=st.lists(options, min_size=1, max_size=4),
    landings=st.lists(st.none() | strategies.hrefs(), max_size=4),
    url=strategies.hrefs(),
    data=st.data(),
)
def test_own_seed_never_admits_what_any_seed_refuses(
    sites: list[SiteSettings], landings: list[str | None], url: str, data: st.DataObject
) -> None:
    """Whatever sites a page descends from, a link that these accept is accepted by the union of all (AMB-EN-4)."""
    scope = ready(sites, landings)
    lineage = frozenset(data.draw(st.sets(st.sampled_from(range(len(sites))))))
    own, every = scope.judge(url, sites=lineage), scope.judge(url)
    assert own.sites == every.sites & lineage
    assert every.accepted or not own.accepted


@given(sites=st.lists(options, min_size=1, max_size=3), more=options, url=strategies.hrefs())
def test_one_more_site_refuses_nothing(sites: list[SiteSettings], more: SiteSettings, url: str) -> None:
    """Adding a site never takes a URL out of scope."""
    if ready(sites, [None] * 3).judge(url).accepted:
        assert ready([*sites, more], [None] * 4).judge(url).accepted


@given(url=strategies.junk)
def test_any_text_is_judged(url: str) -> None:
    """No text makes a judgement raise, and none that is no web address is accepted, in any mode."""
    for mode in MODES:
        verdict = landed("http://example.com/a/", mode=mode).judge(url)
        assert verdict.reason
        if verdict.accepted:
            assert parse(url).scheme in {"http", "https"}


def test_a_landing_is_seen_by_who_asked_before() -> None:
    """What was answered before a landing is not remembered after it, in the new scope; the old one stays (R-3.2)."""
    before = Scope.of(Settings(seeds=("http://a/", "http://b/")))
    assert before.accepts("http://c/x", "c") is None
    after = before.landed(0, "http://c/")
    assert after.accepts("http://c/x", "c") == 0
    assert before.accepts("http://c/x", "c") is None


@pytest.mark.parametrize("others", [0, 20])
def test_the_first_of_nested_folders(others: int) -> None:
    """Of several folders that hold a URL the first site by number is named, few or many, in whatever order they landed."""
    folders = ["/a/b/", "/a/", "/a/b/", "/", "/a/"] + [f"/x{number}/" for number in range(others)]
    sites = tuple(SiteSettings(url=f"http://h{folder}", mode="same-dir") for folder in folders)
    scope = Scope.of(Settings(seeds=tuple(site.url for site in sites), sites=sites))
    for site in reversed(range(len(sites))):
        scope = scope.landed(site, scope.seed(site))
    for path, expected in (("/a/b/c", {0, 1, 2, 3, 4}), ("/a/c", {1, 3, 4}), ("/c", {3})):
        assert scope.accepting(f"http://h{path}", "h") == expected
        assert scope.accepts(f"http://h{path}", "h") == min(expected)
