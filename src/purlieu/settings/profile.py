"""The keys of one sitemap that is made: which pages go in, where the files will lie, what they say of a page.

As ``key.py``, of which this is a part. What the keys mean is decided by ``purlieu.sitemap``.
"""

# ruff: noqa: FBT003  # a default stands beside what is known of its key
from __future__ import annotations

from purlieu.settings.fact import Key, key
from purlieu.value import dataclass

LASTMODS = ("content", "server", "none")
LIMITS = ("0.90", "2007")


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """One sitemap that `purlieu sitemap build` makes: there is always one named `public`, of all public pages."""

    name: str = key("public", Key("What `--profile` calls it.", form="name", needed=True))
    robot: str = key(
        "",
        Key(
            "The robot that it is for: pages that robots.txt forbids to it are left out.",
            form="agent",
            unset="no robot in particular",
        ),
    )
    location: str = key(
        "",
        Key(
            "The URL of the folder in which the files will lie; only pages in and below it may be listed.",
            form="url",
            unset="the top of the first seed's host",
        ),
    )
    file: str = key("sitemap", Key("How the files' names begin: `sitemap.xml` is the index.", form="name"))
    filter_sections: bool = key(
        False, Key("Whether only `sections` go in. With none selected nothing does, and the command says so.")
    )
    sections: tuple[str, ...] = key(
        (), Key('The sections to select: paths such as `"/news/"`, or whole URLs, each with all below it.')
    )
    include: tuple[str, ...] = key((), Key("If given, a page must match one of these; written as `filter.include`."))
    exclude: tuple[str, ...] = key((), Key("A page must match none of these; written as `filter.include`."))
    parts: bool = key(False, Key("Whether documents (PDF, office files, plain text) go in beside HTML pages."))
    with_login: bool = key(False, Key("Whether pages of origins that were asked with credentials go in."))
    gzip: bool = key(True, Key("Whether the files are compressed, all but the index."))
    limits: str = key(
        "0.90",
        Key(
            "How large a file may be: 50,000 URLs and 52,428,800 bytes, or 10,485,760 bytes for readers of 2007.",
            choices=LIMITS,
        ),
    )
    hreflang: bool = key(
        True, Key("Whether a page's other languages are listed with it, as far as the pages name each other.")
    )
    lastmod: str = key(
        "content",
        Key(
            "What `<lastmod>` says: `content` is when the main content was seen to change, `server` the Last-Modified "
            "header, `none` leaves it out.",
            choices=LASTMODS,
        ),
    )
    changefreq: bool = key(True, Key("Whether `<changefreq>` is written for pages that were seen at least four times."))
    priority: tuple[str, ...] = key(
        (),
        Key(
            'Rules for `<priority>`, the first that matches decides: a pattern and a number, as in `"/news/ 0.8"`. '
            "A path alone stands for all below it."
        ),
    )


PUBLIC = ProfileSettings()
"""The profile that is always there: public pages are 200, indexable and fetched without credentials (IB-6)."""
