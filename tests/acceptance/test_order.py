"""The ledger never depends on the order of fetches, seeds or workers (R-2.1)."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.crawling import crawl, html, ledger, made_settings

from purlieu.response import Request, Response
from purlieu.testing.clock import START, FakeClock
from purlieu.testing.web import FakeWeb, Made, answer, redirect

HOSTS = ("http://a.test", "http://b.test", "http://c.test")
URLS = [f"{host}/{path}" for host in HOSTS for path in ("", "1", "2", "3", "4")]

MAPS = [*(f"{host}/map.xml" for host in HOSTS), "http://a.test/deep/map.xml"]
links = st.lists(st.tuples(st.sampled_from([*URLS, *MAPS]), st.booleans()), max_size=5)
pages = st.one_of(
    st.builds(lambda found: ("page", found, None), links),
    st.builds(lambda found, canonical: ("page", found, canonical), links, st.sampled_from(URLS)),
    st.builds(lambda target: ("redirect", target, None), st.sampled_from(URLS)),
    st.just(("missing", None, None)),
)
webs = st.dictionaries(st.sampled_from(URLS), pages, max_size=len(URLS))
ROBOTS = [f"{host}/robots.txt" for host in HOSTS]
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
robots = st.one_of(
    st.builds(lambda target: ("redirect", target, None), st.sampled_from([*ROBOTS, *URLS[:2]])),
    st.builds(
        lambda maps, closed: ("text", "".join(f"Sitemap: {one}\n" for one in maps) + closed, None),
        st.lists(st.sampled_from([*MAPS, URLS[0]]), max_size=2),
        st.sampled_from(["", "User-agent: *\nDisallow: /3\n"]),
    ),
)
maps = st.one_of(
    st.builds(lambda locs: ("urlset", locs, None), st.lists(st.sampled_from(URLS), max_size=3)),
    st.builds(lambda locs: ("index", locs, None), st.lists(st.sampled_from(MAPS), max_size=2)),
    st.builds(lambda target: ("redirect", target, None), st.sampled_from([*MAPS, *URLS[:3]])),
)
specials = st.tuples(
    st.dictionaries(st.sampled_from(ROBOTS), robots, max_size=3),
    st.dictionaries(st.sampled_from(MAPS), maps, max_size=3),
)
seeds = st.lists(st.sampled_from([*URLS, MAPS[0]]), min_size=1, max_size=3, unique=True)
sitemaps = st.fixed_dictionaries({
    "mode": st.sampled_from(["links-and-sitemaps", "sitemaps-only", "links-only"]),
    "location": st.sampled_from(["by-discovery", "by-discovery", "enforce", "warn"]),
})  # fmt: skip


def made(page: tuple[str, Any, Any]) -> Made:
    """Return a page of the drawn web."""
    kind, found, canonical = page
    if kind == "missing":
        return 404
    if kind == "redirect":
        return redirect(found)
    if kind == "text":
        return answer(found, url="/robots.txt")
    if kind == "urlset":
        return answer(
            f"<urlset {XMLNS}>{''.join(f'<url><loc>{loc}</loc></url>' for loc in found)}</urlset>", url="/x.xml"
        )
    if kind == "index":
        entries = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in found)
        return answer(f"<sitemapindex {XMLNS}>{entries}</sitemapindex>", url="/x.xml")
    anchors = "".join(f'<a {"rel=nofollow " if nofollow else ""}href="{url}">x</a>' for url, nofollow in found)
    head = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    head += "".join(f'<link rel="sitemap" href="{url}">' for url, nofollow in found if url in MAPS and not nofollow)
    return html(head=head, body=anchors)


def run(web: dict[str, Any], tree: dict[str, Any], chance: int) -> dict[tuple[str, str], dict[str, Any]]:
    """Crawl the web with latencies, and so an order, drawn by chance; return the ledger."""
    clock = FakeClock()
    dice = random.Random(chance)

    async def reply(request: Request) -> Made:
        await clock.sleep(dice.random() * 10)
        return made(web.get(request.url, ("missing", None, None)))

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s.db"
        result = crawl(FakeWeb(reply, clock), made_settings(store, tree), clock)
        assert result.books_balanced, result.faults
        return ledger(store)


@given(
    web=webs,
    found=seeds,
    mode=st.sampled_from(["same-host", "any"]),
    judge=st.sampled_from(["any-seed", "own-seed"]),
    depth=st.integers(0, 4),
    redirects=st.integers(0, 3),
    canonical=st.booleans(),
    special=specials,
    sitemap=sitemaps,
    chances=st.tuples(st.integers(0, 99), st.integers(100, 199)),
)
@settings(max_examples=60, deadline=None)
def test_the_ledger_does_not_depend_on_the_order(
    web: dict[str, Any],
    found: list[str],
    mode: str,
    judge: str,
    depth: int,
    redirects: int,
    canonical: bool,
    special: tuple[dict[str, Any], dict[str, Any]],
    sitemap: dict[str, str],
    chances: tuple[int, int],
) -> None:
    """Two crawls of one web in two orders, with seeds in two orders, give the same ledger row by row (R-2.1)."""
    tree = {
        "name": "order",
        "scope": {"mode": mode, "judge_against": judge},
        "limits": {"max_depth": depth, "max_redirects": redirects},
        "links": {"canonical": canonical},
        "sitemap": sitemap,
        "politeness": {"connections": 3, "delay": 0.1},
    }
    web = web | special[0] | special[1]
    one = run(web, {**tree, "seeds": found}, chances[0])
    other = run(web, {**tree, "seeds": found[::-1]}, chances[1])
    for ledger_rows in (one, other):
        # An address for several purposes is asked for by one of them: by which is a matter of order, and of nothing else.
        purposes = Counter(url for _, url in ledger_rows)
        for (_, url), row in ledger_rows.items():
            if purposes[url] > 1:
                row.pop("attempts")
    if found != found[::-1]:
        # Sites are numbered by the order of the seeds; their numbers are all that may differ.
        for row in (*one.values(), *other.values()):
            row.pop("site")
    assert other == one


@example(
    web={},
    found=["http://a.test/", "http://a.test/map.xml", "http://c.test/"],
    judge="any-seed",
    special=(
        {"http://c.test/robots.txt": ("text", "Sitemap: http://a.test/map.xml\n", None)},
        {"http://a.test/map.xml": ("urlset", [], None)},
    ),
    sitemap={"mode": "links-and-sitemaps", "location": "by-discovery"},
    validators=False,
    days=0.5,
    chance=0,
)
@given(
    web=webs,
    found=seeds,
    judge=st.sampled_from(["any-seed", "own-seed"]),
    special=specials,
    sitemap=sitemaps,
    validators=st.booleans(),
    days=st.sampled_from([0.5, 2.0]),
    chance=st.integers(0, 99),
)
@settings(max_examples=50, deadline=None)
def test_a_revisit_of_an_unchanged_web_has_the_ledger_of_the_first_run(
    web: dict[str, Any],
    found: list[str],
    judge: str,
    special: tuple[dict[str, Any], dict[str, Any]],
    sitemap: dict[str, str],
    validators: bool,
    days: float,
    chance: int,
) -> None:
    """Whatever is left alone, answered by 304 or fetched again, every row stands but for how it was asked (R-2.4)."""
    web = web | special[0] | special[1]
    clock = FakeClock()
    dice = random.Random(chance)

    async def reply(request: Request) -> Made:
        await clock.sleep(dice.random() * 10)
        given = made(web.get(request.url, ("missing", None, None)))
        given = answer(given, url=request.url) if isinstance(given, str) else given
        if not validators or not isinstance(given, Response) or given.status != 200:
            return given
        tag = (("ETag", '"1"'),)
        if ("If-None-Match", '"1"') in request.headers:
            return answer(status=304, headers=tag)
        return replace(given, headers=(*given.headers, *tag))

    tree = {
        "name": "again", "seeds": found, "scope": {"mode": "any", "judge_against": judge}, "sitemap": sitemap,
        "politeness": {"connections": 3, "delay": 0.1},
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "s.db"
        first = crawl(FakeWeb(reply, clock), made_settings(store, tree), clock)
        clock = FakeClock(START + days * 86_400)
        second = crawl(FakeWeb(reply, clock), made_settings(store, {**tree, "revisit": True}), clock)
        assert first.books_balanced, first.faults
        assert second.books_balanced, second.faults
        one, two = ledger(store, 1), ledger(store, 2)
    for row in (*one.values(), *two.values()):
        for name in ("attempts", "reason", "detail"):
            row.pop(name)
        row["kind"] = "fetched" if row["kind"] == "unchanged" else row["kind"]
    assert one == two


@given(
    before=webs,
    after=webs,
    special=st.tuples(specials, specials),
    changed=st.sets(st.sampled_from([*URLS, *MAPS, *ROBOTS])),
    found=seeds,
    judge=st.sampled_from(["any-seed", "own-seed"]),
    sitemap=sitemaps,
    validators=st.booleans(),
    chance=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_a_revisit_of_a_changed_web_has_the_ledger_of_a_full_crawl(
    before: dict[str, Any],
    after: dict[str, Any],
    special: tuple[Any, Any],
    changed: set[str],
    found: list[str],
    judge: str,
    sitemap: dict[str, str],
    validators: bool,
    chance: int,
) -> None:
    """Where all that would be left alone is asked for, a revisit sees the web of the day as a full crawl does (R-2.4).

    Besides, it has what only the history knows.
    """
    old = before | special[0][0] | special[0][1]
    new = after | special[1][0] | special[1][1]
    now = {href: new.get(href, old[href]) if href in changed else old[href] for href in old}
    now |= {href: page for href, page in new.items() if href in changed}
    dice = random.Random(chance)

    def told(web: dict[str, Any], store: Path, day: int, *, revisit: bool) -> dict[tuple[str, str], dict[str, Any]]:
        clock = FakeClock(START + day * 86_400)

        async def reply(request: Request) -> Made:
            await clock.sleep(dice.random() * 10)
            given = made(web.get(request.url, ("missing", None, None)))
            given = answer(given, url=request.url) if isinstance(given, str) else given
            if not validators or not isinstance(given, Response) or given.status != 200:
                return given
            tag = (("ETag", f'"{crc32(given.body)}"'),)
            if ("If-None-Match", tag[0][1]) in request.headers:
                return answer(status=304, headers=tag)
            return replace(given, headers=(*given.headers, *tag))

        tree = {
            "name": "changed", "seeds": found, "scope": {"mode": "any", "judge_against": judge}, "sitemap": sitemap,
            "politeness": {"connections": 3, "delay": 0.1}, "revisit": revisit,
            "history": {"sample": 1, "gone_after": 9, "retire_after": 9},
        }  # fmt: skip
        result = crawl(FakeWeb(reply, clock), made_settings(store, tree), clock)
        assert result.books_balanced, result.faults
        rows = ledger(store, result.run)
        for row in rows.values():
            row["kind"] = "fetched" if row["kind"] == "unchanged" else row["kind"]
            row["reason"] = "ok" if row["kind"] == "fetched" else row["reason"]
            row.pop("attempts")
        return rows

    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / "again.db"
        told(old, again, 0, revisit=False)
        revisited = told(now, again, 2, revisit=True)
        crawled = told(now, Path(folder) / "full.db", 2, revisit=False)
    assert crawled.keys() <= revisited.keys()
    if not any(row["found_by"] == "history" for row in revisited.values()):
        assert revisited == crawled
