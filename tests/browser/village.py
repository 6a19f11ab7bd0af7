"""A made site that is good to look at: a village bakery over several weeks, crawled on a made clock into one store.

Gives the screens something of everything: sections, languages, redirects, errors, rules, sitemaps, changes from run to
run. The names are reserved ones and nothing is fetched.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.crawling import crawl, html

from purlieu import settings as settings_text
from purlieu.response import Fault
from purlieu.schedule import Schedule
from purlieu.store import schedules
from purlieu.store.sqlite import SqliteDatabase
from purlieu.testing.clock import FakeClock
from purlieu.testing.web import Entry, FakeWeb, redirect

NAME: Final = "Hedgerow Bakery"
HOME: Final = "https://www.hedgerow.example/"
SHOP: Final = "https://shop.hedgerow.example/"
WEEK: Final = 7 * 86_400.0
RUNS: Final = 6
_BREADS: Final = ("Rye", "Spelt", "White tin", "Baguette", "Walnut", "Potato", "Seeded", "Brioche", "Soda", "Sourdough")
_MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
_SETTINGS: Final = """
seeds = ["{home}", "{shop}"]
name = "{name}"
store = "{store}"
output = "{output}"
keep = "text"

[politeness]
delay = 0.5

[filter]
exclude = ["/basket*"]
"""


def village(week: int) -> dict[str, Entry]:
    """Return the site as it is in a week, by URL."""
    pages: dict[str, Entry] = dict(_pages(week))
    urls = [url for url in pages if url.startswith(HOME) and "/kitchen" not in url]
    days = [f"<lastmod>2026-{week + 1:02}-{number % 28 + 1:02}</lastmod>" for number in range(len(urls))]
    listed = "".join(f"<url><loc>{url}</loc>{day}</url>" for url, day in zip(urls, days, strict=True))
    pages[f"{HOME}robots.txt"] = f"User-agent: *\nDisallow: /kitchen/\nSitemap: {HOME}sitemap.xml\n"
    pages[f"{HOME}sitemap.xml"] = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{listed}</urlset>'
    pages[f"{SHOP}robots.txt"] = 404
    pages[f"{HOME}old-menu"] = redirect("/bread/")
    pages[f"{HOME}summer"] = redirect("/news/")
    pages[f"{HOME}news/letter"] = Fault.TIMEOUT if week % 2 else html(title="Our letter to you")
    pages[f"{HOME}jobs/baker"] = 500 if week == RUNS - 1 else html(title="We look for a baker")
    return pages


@cache
def titles() -> tuple[str, ...]:
    """Return the titles of all pages and the name of the crawl, the longest first."""
    made = {found[1] for page in village(RUNS).values() if (found := re.search("<title>(.*?)</title>", str(page)))}
    return tuple(sorted({NAME, *made}, key=len, reverse=True))


def _pages(week: int) -> Iterator[tuple[str, Entry]]:
    tongues = '<link rel="alternate" hreflang="ja" href="/ja/"><link rel="alternate" hreflang="zh" href="/zh/">'
    breads = [name.lower().replace(" ", "-") for name in _BREADS[: 5 + week]]
    yield HOME, html("/bread/", "/news/", "/recipes/", "/ja/", "/zh/", "/jobs/", "/old-menu", "/kitchen/rota", SHOP, "https://mill.example/", title="Hedgerow Bakery", head=tongues)  # fmt: skip
    yield f"{HOME}bread/", html(*breads, "cinnamon", title="Our bread")
    for name, slug in zip(_BREADS, breads, strict=False):
        yield f"{HOME}bread/{slug}", html("./", f"/recipes/{slug}", title=f"{name} bread", body=f"{name} {week // 2}")
        yield f"{HOME}recipes/{slug}", html(f"/bread/{slug}", title=f"How to bake {name.lower()} bread", body=name * 3)
    yield f"{HOME}recipes/", html(*breads, "sponge?print=1", title="Recipes")
    yield f"{HOME}recipes/sponge?print=1", html(title="Sponge", head='<meta name="robots" content="noindex">', body="p")
    yield f"{HOME}news/", html(*(f"2026/{name.lower()}" for name in _MONTHS), "letter", "/summer", title="News")
    for name in _MONTHS[week // 2 :]:
        yield f"{HOME}news/2026/{name.lower()}", html("../", title=f"News of {name}", body=f"{name} news")
    yield f"{HOME}jobs/", html("baker", "driver", title="Work with us", body="jobs")
    yield f"{HOME}kitchen/rota", html(title="Staff rota")
    yield f"{HOME}ja/", html("pan", "shokupan", "omise", title="生け垣のパン屋", body="パン")
    for slug, name in (("pan", "パンの種類"), ("shokupan", "食パンの作り方"), ("omise", "お店のご案内")):
        yield f"{HOME}ja/{slug}", html("./", title=name, body=name)
    yield f"{HOME}zh/", html("mianbao", "xinwen", title="树篱面包店", body="面包")
    for slug, name in (("mianbao", "面包种类"), ("xinwen", "新闻")):
        yield f"{HOME}zh/{slug}", html("./", title=name, body=name)
    shelf = [f"item/{number}" for number in range(1, 30 + 4 * week)]
    yield SHOP, html(*shelf, "basket", title="Shop", body="Buy bread")
    for number, path in enumerate(shelf, 1):
        name = _BREADS[number % len(_BREADS)]
        same = '<link rel="canonical" href="/item/1">' if number % 9 == 0 else ""
        yield f"{SHOP}{path}", 404 if number == 13 else html("/", "/basket?add", title=f"{name} loaf, no. {number}", head=same, body=f"{name} {number}")  # fmt: skip


def crawled(store: Path, name: str = NAME) -> Path:
    """Crawl the site once a week until today, and return the store."""
    text = _SETTINGS.format(home=HOME, shop=SHOP, name=name, store=store, output=store.parent / "out")
    made = settings_text.read(text)
    for week in range(RUNS):
        clock = FakeClock(time.time() - 3600 - (RUNS - 1 - week) * WEEK)
        crawl(FakeWeb(village(week), clock, 0.12), made, clock)
    database = SqliteDatabase.writer(str(store))
    planned = schedules.add(database, name, Schedule("0 3 * * mon-fri", "Asia/Tokyo"), None, time.time())
    schedules.switch(
        database, planned, time.time(), on=False
    )  # the console keeps schedules: nothing may start by itself
    database.close()
    return store


def hostile(store: Path) -> Path:
    """Crawl a site whose titles, addresses, headers and robots.txt would run as scripts if they were taken for HTML."""
    home = "https://evil.example/"
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    path = "x?q=%22%3E%3Cscript%3Ealert(3)%3C/script%3E&'onmouseover=alert(4)"
    pages: dict[str, Entry] = {
        home: html("javascript:alert(5)", path.replace("&", "&amp;"), "data:text/html,<script>alert(6)</script>", title=evil.replace("<", "&lt;")),
        f"{home}robots.txt": f"User-agent: *\nDisallow: /{evil}\nSitemap: {home}{evil}\n",
    }  # fmt: skip
    clock = FakeClock(time.time() - 3600)
    web = FakeWeb(pages, clock, lacking=html(title=f"&lt;/title&gt;{evil}".replace("<", "&lt;") + "\u202egnp.exe"))
    made = settings_text.of(
        {"seeds": [home], "name": "hostile", "store": str(store), "output": str(store.parent / "evil")}
    )
    crawl(web, made, clock)
    return store
