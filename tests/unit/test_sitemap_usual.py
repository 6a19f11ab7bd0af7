"""Entries of the usual form are read by a path of their own, and mean the same by it; dates and extensions of SM items."""

# one case, one row
from __future__ import annotations

import tracemalloc
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import sitemap
from purlieu.sitemap import moment

NS = "http://www.sitemaps.org/schemas/sitemap/0.9"
URL = "https://example.com/sitemap.xml"
LOCS = ("https://example.com/a?b=1&amp;c=2", " https://example.com/x ", "http://e.test/%C3%BC", "HTTPS://E.test/", "/rel",
        "https://example.com/&#x41;", "https://example.com/&lt;", "", "https://example.com/a b", f"http://e.test/{'x' * 2040}",
        "https://e.test/&bogus;", "https://例え.test/ü")  # fmt: skip
LASTMODS = ("2026", "2026-02", "2026-02-03", "2026-02-30", "2026-02-03T04:05Z", "2026-02-03T04:05:06+09:00",
            "2026-02-03T04:05:06.7Z", "2026-02-03T04:05:60Z", "2026-02-03T04:05:06", "2026-2-3", " 2026-02-03 ", "", "x",
            "2026-02-03T04:05:06.123456789Z", "0000-01-01", "2026-02-03T24:00:00Z", "2026-02-03T04:05Z&amp;")  # fmt: skip
CHANGEFREQS = ("daily", "never", "Daily", "sometimes", "", " weekly ")
PRIORITIES = ("0.0", "0.5", "1.0", "1", "1.1", "0.55", "nan", "-0.1", "", " 0.3 ", ".5")


def urlset(*entries: str) -> str:
    """Return a sitemap with these entries."""
    return f'<urlset xmlns="{NS}">' + "".join(f"<url>{one}</url>" for one in entries) + "</urlset>"


def read(text: str, *, strict: bool = False) -> sitemap.Sitemap:
    """Read a text as the file at URL."""
    return sitemap.read(text.encode(), url=URL, strict=strict)


def fields(values: dict[str, str]) -> list[str]:
    """Return the elements of an entry."""
    return [f"<{name}>{value}</{name}>" for name, value in values.items()]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"loc": st.sampled_from(LOCS)},
            optional={
                "lastmod": st.sampled_from(LASTMODS),
                "changefreq": st.sampled_from(CHANGEFREQS),
                "priority": st.sampled_from(PRIORITIES),
            },
        ),
        max_size=4,
    ),
    st.booleans(),
)
def test_the_usual_order_means_what_any_order_means(entries: list[dict[str, str]], strict: bool) -> None:
    """AMB-SM-6: fields in any order, and among elements that are no fields, give the same entries and problems."""
    usual = read(urlset(*("".join(fields(one)) for one in entries)), strict=strict)
    turned = read(urlset(*("".join(reversed(fields(one))) for one in entries)), strict=strict)
    slow = read(urlset(*(f"<other/>{''.join(fields(one))}" for one in entries)), strict=strict)

    assert usual.entries == turned.entries == slow.entries
    told = [sorted((one.line, one.kind, one.sentence) for one in found.problems) for found in (usual, turned, slow)]
    assert told[0] == told[1] == told[2]


EXTENSIONS = (
    '<xhtml:link rel="alternate" hreflang="ja" href="https://e.test/ja"/>',
    '<xhtml:link rel="alternate" hreflang="ja" href="https://e.test/?a&amp;b" />',
    "<xhtml:link rel='alternate' href='https://e.test/>/' hreflang='fr'></xhtml:link>",
    '<xhtml:link rel="canonical" hreflang="x" href="https://e.test/"/>',
    '<xhtml:link hreflang="x"/>',
    "<image:image><image:loc>https://i.test/1.jpg</image:loc></image:image>",
    "<image:image> <image:loc> https://i.test/&bogus; </image:loc><image:title>a &gt; b</image:title></image:image>",
    "<video:video><video:content_loc>https://v.test/1</video:content_loc><video:tag/></video:video>",
    "<news:news><news:publication><news:name>N</news:name></news:publication><news:title>T</news:title></news:news>",
    "<image:image><image:loc>https://i.test/1.jpg</image:image>",
    "<image:image><loc>https://i.test/no</loc></image:image>",
    "<un:declared/>",
    "<x:y><x:loc>https://x.test/</x:loc></x:y>",
    "<!-- <loc>https://c.test/</loc> -->",
    "<![CDATA[<loc>]]>",
    "<lastmod>2026-02-03</lastmod>",
    "<lastmod>nonsense</lastmod>",
    "<priority>0.3</priority>",
    "<priority>7</priority>",
    "<changefreq>daily</changefreq>",
    "<sm:priority>0.9</sm:priority>",
    "<loc>https://second.test/</loc>",
    "</stray>",
    "text & more",
)
ROOT = (
    f'<urlset xmlns="{NS}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:x="http://x.test/ns" xmlns:sm="{NS}"'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml">'
)


@given(
    st.lists(st.tuples(st.sampled_from(LOCS), st.lists(st.sampled_from(EXTENSIONS), max_size=4)), max_size=3),
    st.booleans(),
    st.sampled_from(["", " xmlns:image='http://x.test/ns'"]),
)
def test_entries_with_extensions_mean_the_same_tag_by_tag(
    entries: list[tuple[str, list[str]]],
    strict: bool,
    declared: str,
) -> None:
    """SM-9, SM-60: read as one or tag by tag, an entry with extensions gives the same, and the same problems."""

    def found(before: str) -> sitemap.Sitemap:
        told = "".join(f"<url{declared}>{before}<loc>{loc}</loc>{''.join(inside)}</url>" for loc, inside in entries)
        return read(f"{ROOT}{told}</urlset>", strict=strict)

    as_one, by_tags = found(""), found("<other/>")

    assert as_one.entries == by_tags.entries
    assert sorted(one.kind for one in as_one.problems) == sorted(one.kind for one in by_tags.problems)


@pytest.mark.parametrize("order", list(permutations(("loc", "lastmod", "changefreq", "priority"))))
def test_elements_stand_in_any_order(order: tuple[str, ...]) -> None:
    """SM-13, AMB-SM-6: an entry of the article's listing is the same in every order of its elements."""
    values = {
        "loc": "http://www.mycompany.com/archive/",
        "lastmod": "2006-05-01",
        "changefreq": "monthly",
        "priority": "0.3",
    }
    (entry,) = read(urlset("".join(fields({name: values[name] for name in order})))).entries

    assert (entry.loc, entry.lastmod, entry.changefreq, entry.priority) == (*list(values.values())[:3], 0.3)


def test_a_time_without_a_zone_is_utc() -> None:
    """SM-51: a time without zone is not valid by the note; leniently it is UTC, strictly the entry is left out."""
    text = urlset("<loc>https://example.com/</loc><lastmod>2026-02-03T04:05:06</lastmod>")

    assert [one.lastmod_at for one in read(text).entries] == [moment.of_w3c("2026-02-03T04:05:06Z")]
    assert read(text, strict=True).entries == ()
    assert [one.kind for one in read(text, strict=True).problems] == ["lastmod"]


@pytest.mark.parametrize("lastmod", ["2026", "2026-02", "2026-02-03T04:05Z"])
@pytest.mark.parametrize("strict", [False, True])
def test_what_the_schema_refuses_and_the_note_allows_is_read(lastmod: str, strict: bool) -> None:
    """SM-52, AMB-SM-2: year, month and minute precision are W3C Datetime, which the schema's types are not; both take it."""
    found = read(urlset(f"<loc>https://example.com/</loc><lastmod>{lastmod}</lastmod>"), strict=strict)

    assert [one.lastmod for one in found.entries] == [lastmod]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("prefix", "namespace", "inside", "field", "expected"),
    [
        ("image", "http://www.google.com/schemas/sitemap-image/1.1", "<image:image><image:loc>{}</image:loc></image:image>", "images", ("http://i.test/1",)),
        ("video", "http://www.google.com/schemas/sitemap-video/1.1", "<video:video><video:content_loc>{}</video:content_loc></video:video>", "videos", ("http://i.test/1",)),
        ("news", "http://www.google.com/schemas/sitemap-news/0.9", "<news:news><news:title>{}</news:title></news:news>", "news", ("", "", "http://i.test/1")),
        ("mobile", "http://www.google.com/schemas/sitemap-mobile/1.0", "<mobile:mobile/>", "images", ()),
        ("pagemap", "http://www.google.com/schemas/sitemap-pagemap/1.0", "<pagemap:PageMap><pagemap:loc>{}</pagemap:loc></pagemap:PageMap>", "images", ()),
        ("xhtml", "http://www.w3.org/1999/xhtml", '<xhtml:link rel="alternate" hreflang="ja" href="{}"/>', "alternates", (("ja", "http://i.test/1"),)),
        ("own", "http://example.com/schemas/own/1", "<own:thing><own:loc>{}</own:loc></own:thing>", "images", ()),
    ],
)  # fmt: skip
def test_extensions(prefix: str, namespace: str, inside: str, field: str, expected: object) -> None:
    """SM-60, SM-65: each namespace of an extension is known or passed over, and is never the page's address."""
    body = f"<loc>https://example.com/page</loc>{inside.format('http://i.test/1')}"
    text = urlset(body).replace("<urlset", f'<urlset xmlns:{prefix}="{namespace}"')
    found = read(text, strict=True)

    assert [one.loc for one in found.entries] == ["https://example.com/page"]
    assert getattr(found.entries[0], field) == expected
    assert found.problems == ()


def test_the_position_in_a_file_has_no_meaning() -> None:
    """SM-46: entries turned about are the same set."""
    entries = [f"<loc>https://example.com/{n}</loc>" for n in range(5)]

    assert set(read(urlset(*entries)).entries) == set(read(urlset(*reversed(entries))).entries)


def test_a_whole_file_of_50000_entries_fits_into_60_mb() -> None:
    """SM-20: the largest file that the protocol allows, all its fields read and kept, takes under 60 MB."""
    body = urlset(
        *(
            f"<loc>https://example.com/section/{n:06}?a=b&amp;n={n}</loc><lastmod>2026-01-01T{n % 24:02}:{n % 60:02}:00Z</lastmod>"
            "<changefreq>daily</changefreq><priority>0.7</priority>"
            for n in range(50_000)
        )
    ).encode()

    tracemalloc.start()
    found = sitemap.read(body, url=URL)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(found.entries) == 50_000
    assert found.problems == ()
    assert peak < 60_000_000
