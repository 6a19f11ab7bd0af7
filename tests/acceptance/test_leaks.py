"""The hostile site of the leak kit, crawled under every mode: the server's log shows no request that R-3.3 does not allow.

Two judges look at each log: the kit's, and the plain table of hosts below, which knows nothing of ``purlieu.scope``.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from purlieu import settings as settings_text
from purlieu.settings import Settings
from purlieu.testing import bait
from purlieu.testing.leak import HOME, Asked, fitted
from purlieu.testing.sites import Leak, LeakSite, crawled, leaks, rounds

GRANTED: Final = re.compile(r"http://(hop[1-5]|named1|start0|way1)\.test/")
"""The hosts that grants lead to: hops of robots.txt, a named sitemap, and where moved seeds start."""
OTHER: Final = "http://www.example.org/in/"
FOLLOWED: Final = set(bait.LISTS) - {"script", "image", "style", "form", "translation"} | set(bait.ONE_BY_ONE)


def made(**scope: Any) -> Settings:
    """Return an owner's settings."""
    return settings_text.of({"seeds": [HOME], "scope": scope})


def tried(settings: Settings, site: LeakSite, folder: Path) -> list[Leak]:
    """Return the leaks of a crawl of a site."""
    with site:
        return asyncio.run(crawled(settings, site, str(folder / "leak.db")))


def host_is(pattern: str) -> Callable[[str], bool]:
    """Return a test of a URL's host, whatever the port."""
    return lambda url: re.fullmatch(pattern, urlsplit(url).hostname or "") is not None


def of_home(url: str) -> bool:
    """Say whether a URL is on the home's host and its default port."""
    return urlsplit(url).netloc.rstrip(".") == "www.example.com"


def in_folder(url: str) -> bool:
    """Say whether a URL is in the home's folder, or is what robots.txt and its sitemap lines grant."""
    path = urlsplit(url).path
    return of_home(url) and (path.startswith(("/in/", "/map/")) or path in {"/robots.txt", "/moved.xml"})


@dataclass(frozen=True)
class Trial:
    """One crawl: how the scope is set, what the site does, and the URLs that may be asked for besides the granted."""

    scope: dict[str, Any]
    may: Callable[[str], bool]
    site: dict[str, Any] = field(default_factory=dict)


DOMAIN: Final = r"(.+\.)?example\.com\.?"
TRIALS: Final = {
    "same-host": Trial({"mode": "same-host"}, of_home),
    "same-domain": Trial({"mode": "same-domain"}, host_is(DOMAIN), {"robots_hops": 0}),
    "same-dir": Trial({"mode": "same-dir"}, in_folder),
    "same-sld": Trial({"mode": "same-sld"}, host_is(r"(.*\.)?example\.(com|co\.uk|test|github\.io)\.?")),
    "ignore-port": Trial({"mode": "same-host", "ignore_port": True}, host_is(r"www\.example\.com\.?")),
    "one-scheme": Trial({"mode": "same-host", "ignore_scheme": False}, lambda url: of_home(url) and url[:5] == "http:"),
    "www": Trial({"mode": "same-host", "www_equivalent": True}, host_is(r"(www\.)?example\.com\.?")),
    "own-seed": Trial(
        {"mode": "same-host", "judge_against": "own-seed"},
        host_is(r"www\.example\.(com|org)\.?"),
        {"homes": (HOME, OTHER)},
    ),
    "moved-same-dir": Trial({"mode": "same-dir"}, in_folder, {"moved": True}),
    "moved-followed": Trial({"mode": "same-host"}, of_home, {"moved": True}),
    "moved-not-followed": Trial(
        {"mode": "same-host", "follow_redirected_seed": False},
        lambda url: url in {HOME, "http://www.example.com/robots.txt"},
        {"moved": True, "robots_hops": 0},
    ),
    "robots-chain-too-long": Trial({"mode": "same-dir"}, in_folder, {"robots_hops": 7}),
    "list": Trial(
        {"only_seeds": True}, lambda url: url in {HOME, "http://www.example.com/robots.txt"}, {"robots_hops": 2}
    ),
}


@pytest.mark.parametrize("name", TRIALS)
def test_nothing_but_grants_leaves_the_scope(name: str, tmp_path: Path) -> None:
    """Not one request but those of R-3.3 goes out of scope, by the kit's judgement and by the hosts of the log."""
    trial = TRIALS[name]
    site = LeakSite(**trial.site)
    assert tried(made(**trial.scope), site, tmp_path) == []
    asked = [one.url for one in site.log]
    assert [url for url in asked if not trial.may(url) and not GRANTED.match(url)] == []
    assert [url for url in asked if "evil" in (urlsplit(url).hostname or "") and name != "same-domain"
            and "example" not in url] == []  # fmt: skip


def test_every_bait_was_offered(tmp_path: Path) -> None:
    """The crawl meets every carrier with every spelling, so that no leaks means none, and not that nothing tempted."""
    site = LeakSite()
    tried(made(mode="same-host"), site, tmp_path)
    asked = {urlsplit(one.url).path for one in site.log}
    singles = {f"/in/bait/{name}/{number}" for name in bait.ONE_BY_ONE for number in range(len(bait.SPELLINGS))}
    lists = {f"/in/bait/{name}" for name in bait.LISTS if name not in bait.OF_SITEMAPS}
    assert singles | lists | {f"/map/{name}" for name in bait.OF_SITEMAPS} <= asked


@pytest.mark.parametrize("scope", [{"mode": "same-host", "ignore_port": True}, {"mode": "same-dir"}], ids=str)
def test_no_other_address_of_loopback_is_asked(scope: dict[str, Any], tmp_path: Path) -> None:
    """Without a proxy, other spellings, addresses and ports of loopback are out of scope too."""
    site = LeakSite(by_address=True, robots_hops=0)
    assert tried(made(**scope), site, tmp_path) == []
    foreign = [one.url for one in site.log if (urlsplit(one.url).hostname or "").rstrip(".") != "127.0.0.1"]
    assert {urlsplit(url).path for url in foreign} <= {"/named.xml", "/robots.txt"}
    assert len(site.log) > 500


def test_any_takes_every_host_and_no_other_scheme(tmp_path: Path) -> None:
    """The mode any takes all of the web, which the kit calls no leak; and whoever takes all is caught by narrower rules.

    So the kit does catch: the same log, held against same-host, shows a leak by every carrier that is followed.
    """
    site = LeakSite()
    assert tried(made(mode="any"), site, tmp_path) == []
    assert {urlsplit(one.url).scheme for one in site.log} <= {"http", "https"}
    found = leaks(site.log, made(mode="same-host"))
    carriers = {match[1] for leak in found if (match := re.search(r"/leak/([a-z-]+)-\d+", leak.url))}
    assert carriers >= FOLLOWED
    assert carriers.isdisjoint({"script", "image", "style", "form"})
    assert "http://evil.test/robots.txt" in {leak.url for leak in found}
    assert "http://mapped2.test/leak/moved-sitemap.xml" in {leak.url for leak in found}


def test_the_robots_txt_of_a_granted_host_grants_nothing(tmp_path: Path) -> None:
    """Only the robots.txt of an origin in scope may redirect elsewhere (R-3.3), not that of a named sitemap's host."""
    assert tried(made(mode="same-host"), LeakSite(granted_robots_move=True), tmp_path) == []


def log(*answers: tuple[str, str] | str) -> list[Asked]:
    """Return a log of URLs, some with where they redirect to."""
    return [Asked(one) if isinstance(one, str) else Asked(one[0], one[1], succeeded=False) for one in answers]


ROBOTS: Final = "http://www.example.com/robots.txt"
HOPS: Final = [f"http://hop{number}.test/r" for number in range(1, 8)]
LONG: Final = [HOME, *(f"http://hop{number}.test/s" for number in range(1, 14))]


@pytest.mark.parametrize(
    ("asked", "leaking"),
    [
        (log(HOME, ROBOTS, "http://www.example.com/a"), []),
        (log(HOME, "http://www.example.com:81/a"), ["http://www.example.com:81/a"]),
        (log((HOME, "http://a.test/"), "http://a.test/", "http://a.test/b", "http://a.test/robots.txt"), []),
        (log((HOME, "http://a.test/"), "http://a.test/", "http://www.example.com/b"), ["http://www.example.com/b"]),
        (log(HOME, (ROBOTS, HOPS[0]), *pairwise(HOPS), HOPS[6]), HOPS[5:]),
        (log(*pairwise(LONG)), LONG[11:13]),
        ([*log(HOME), Asked(ROBOTS, sitemaps=("http://a.test/s",)), *log("http://a.test/s")], []),
        ([*log(HOME), Asked(ROBOTS, sitemaps=("http://a.test/s",)), *log("http://a.test/t")], ["http://a.test/t"]),
        (
            [
                *log(HOME),
                Asked(ROBOTS, sitemaps=("http://a.test/s",)),
                Asked("http://a.test/robots.txt", sitemaps=("http://b.test/s",)),
                *log(("http://a.test/s", "http://c.test/s"), "http://b.test/s", "http://c.test/s"),
            ],
            ["http://b.test/s", "http://c.test/s"],
        ),
        ([*log(HOME), Asked("https://a.test/")], ["https://a.test/"]),
    ],
    ids=["scope", "port", "landing", "left", "robots", "chain", "named", "unnamed", "granted-grants-nothing", "https"],
)
def test_what_a_leak_is(asked: list[Asked], leaking: list[str]) -> None:
    """A log is judged by R-3.3: scope, seeds and their hops, five robots hops, named sitemaps; their contents gain none."""
    assert [leak.url for leak in leaks(asked, made(mode="same-host"))] == leaking


def test_a_page_of_another_seeds_site_leaks_under_own_seed() -> None:
    """Under own-seed what only one home links to must be of that home's site (R-3.1)."""
    settings = settings_text.of({"seeds": [HOME, OTHER], "scope": {"judge_against": "own-seed"}})
    asked = log(HOME, OTHER, "http://www.example.org/in/only-from-0", "http://www.example.com/in/only-from-0")
    assert [leak.url for leak in leaks(asked, settings)] == ["http://www.example.org/in/only-from-0"]


def test_an_owners_hosts_are_imitated() -> None:
    """The rounds start from the owner's own seeds, over http, and do without for none."""
    settings = settings_text.of({"seeds": ["https://shop.example.net/a/b?c#d"]})
    named, moved, by_address = rounds(settings)
    with named, moved, by_address:
        assert named.url == "http://shop.example.net/a/b?c"
        assert moved.url == "http://start0.test/go/0/1/"
        assert by_address.url.startswith("http://127.0.0.1:")
    assert rounds(Settings())[0]._wanted == (HOME,)


CHECKING: Final = {"by-name": ("same-dir", False), "by-address": ("same-host", True)}


@pytest.mark.parametrize("name", CHECKING)
def test_links_that_are_checked_are_asked_once_and_nothing_else_is(tmp_path: Path, name: str) -> None:
    """R-3.3 with ``links.check_external``: hosts out of scope get a HEAD, or a GET after it, for what pages link to.

    Nothing is asked of what these link to, nor for their robots.txt.
    """
    mode, by_address = CHECKING[name]
    settings = settings_text.of({"seeds": [HOME], "scope": {"mode": mode}, "links": {"check_external": True}})
    site = LeakSite((HOME,), by_address=by_address)
    assert tried(settings, site, tmp_path) == []
    asked = {leak.url for leak in leaks(site.log, fitted(made(mode=mode), site, "none.db"))}
    assert len(asked) > 20
    assert not any("/followed" in url or url.endswith("/robots.txt") for url in asked)


def test_a_check_that_is_asked_twice_or_followed_is_a_leak() -> None:
    """The kit sees what checks may not do: GET without HEAD, twice the same, links of what was checked, its robots.txt."""
    settings = settings_text.of({"seeds": [HOME], "links": {"check_external": True}})
    far, page = "http://far.test/a", Asked(HOME, links=("http://far.test/a",))
    head = Asked(far, method="HEAD", succeeded=False)
    deeper = Asked("http://far.test/b", method="HEAD")
    for log, found in {
        (page, head): set(),
        (page, head, Asked(far)): set(),
        (page, Asked(far)): {far},
        (page, head, head, head): {far},
        (page, Asked(far, method="HEAD"), Asked(far)): {far},
        (page, Asked(far, method="HEAD", links=("http://far.test/b",)), deeper): {"http://far.test/b"},
        (page, head, Asked("http://far.test/robots.txt")): {"http://far.test/robots.txt"},
    }.items():
        assert {leak.url for leak in leaks(log, settings)} == found
