"""Entries with extensions, read as one: the text between ``<url>`` and ``</url>`` to what a ``Draft`` is told.

Knows the elements of extensions that are kept. Says None wherever anything is not as generators write it: then the
entry is read tag by tag, which mends what is wrong and tells it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from purlieu.sitemap.draft import MOST_EXTRAS, Draft, faultless
from purlieu.sitemap.entry import Entry, Notes
from purlieu.sitemap.markup import attributes, resolved
from purlieu.sitemap.moment import is_exact

LONGEST_TEXT = 8_192
"""Characters kept of one element."""
# SM-60. A prefix that is not declared is taken by its usual meaning.
EXTENSIONS = {
    "schemas/sitemap-image": "image",
    "schemas/sitemap-video": "video",
    "schemas/sitemap-news": "news",
    "www.w3.org/1999/xhtml": "xhtml",
}
# Elements of extensions whose text is kept, and as what. An image's or video's address is never the page's (SM-9).
EXTRAS = {
    ("image", "loc"): "images",
    ("video", "content_loc"): "videos",
    ("video", "player_loc"): "videos",
    ("news", "name"): "news name",
    ("news", "publication_date"): "news date",
    ("news", "title"): "news title",
}
KEPT = frozenset(EXTRAS.values())
FIELDS = frozenset(("loc", "lastmod", "changefreq", "priority"))

_START = r"[^\s<>/!?]++(?:[^<>\"'/]++|/(?!>)|\"[^<\"]*+\"|'[^<']*+')*+/?+>"
# Possessive throughout: each character is looked at once.
ENTRY = re.compile(rf"\s*+<url>((?:[^<]++|<(?!/url>)(?:/[^\s<>/]++>|{_START}))*+)</url>")
_TAG = re.compile(r"<(/?+)([^\s<>/]++)((?:[^<>\"'/]++|/(?!>)|\"[^<\"]*+\"|'[^<']*+')*+)(/?+)>([^<]*+)")
# The commonest of all: fields, links to other languages and images, each written as the documentation of these has it.
# Prefixes stand for their usual meaning; the caller knows whether they do.
COMMON = re.compile(
    r"\s*+<url>\s*+<loc>\s*+(https?://[^\s/?#<&](?:[^\s<&]++|&amp;)*+)\s*+</loc>\s*+((?:<(?:"
    r"lastmod>[^\s<&]++</lastmod|changefreq>[a-z]++</changefreq|priority>[\d.]++</priority"
    r"|xhtml:link\s++rel=\"alternate\"\s++hreflang=\"[^\s\"<>&]++\"\s++href=\"[^\s\"<>&]++\"\s*+/"
    r"|image:image>\s*+<image:loc>[^\s<&]++</image:loc>\s*+</image:image"
    r")>\s*+)++)</url>",
    re.ASCII,
)
_COMMON_LINKS = re.compile(r"hreflang=\"([^\"]*+)\"\s++href=\"([^\"]*+)\"")
_COMMON_IMAGES = re.compile(r"<image:loc>([^<]*+)")
_COMMON_FIELDS = re.compile(r"<(lastmod|changefreq|priority)>([^<]*+)")
# The attributes of a link as most generators write them.
_LINK = re.compile(r"\s++rel=\"alternate\"\s++hreflang=\"([^\s\"<&]*+)\"\s++href=\"([^\s\"<&]*+)\"\s*+")

Step = tuple[str, str, str]
"""A field or extra with its name and text, or ``link`` with its attributes."""


def steps(body: str, family_of: Callable[[str], str | None]) -> list[Step] | None:
    """Return what an entry's text tells, in order; None if it has to be read tag by tag.

    ``family_of`` gives the family of a declared prefix, None for any other.
    """
    found: list[Step] = []
    open_: list[str] = []
    listening = ""
    for closing, name, raw, empty, text in _TAG.findall(body):
        if closing:
            if not open_ or open_.pop() != name:
                return None
            listening = ""
            continue
        if listening or "xmlns" in raw:
            return None
        prefix, colon, local = name.rpartition(":")
        if not colon:
            if name not in FIELDS or open_ or raw or empty:
                return None
            found.append(("field", name, text))
            listening = name
        else:
            family = family_of(prefix)
            if family is None:
                return None
            if family == "xhtml" and local == "link":
                found.append(("link", "", raw))
            elif kept := EXTRAS.get((family, local)):
                if empty:
                    return None
                found.append(("extra", kept, text))
                listening = name
        if not empty:
            open_.append(name)
    return None if open_ else found


def common(loc: str, body: str) -> Entry | None:
    """Return the entry of what ``COMMON`` matched if nothing is wrong with it, None if that has to be judged."""
    fields: dict[str, str] = {}
    for name, text in _COMMON_FIELDS.findall(body):
        if name in fields:
            return None
        fields[name] = text
    lastmod = fields.get("lastmod")
    if lastmod is not None and not is_exact(lastmod):
        return None
    entry = faultless(loc, lastmod, fields.get("changefreq"), fields.get("priority"))
    links, images = _COMMON_LINKS.findall(body), _COMMON_IMAGES.findall(body)
    if entry is None or len(links) > MOST_EXTRAS or len(images) > MOST_EXTRAS:
        return None
    return tuple.__new__(Entry, (*entry[:5], tuple(links), tuple(images), (), None))


def tell(draft: Draft, told: list[Step], notes: Notes) -> None:
    """Tell a draft what an entry holds."""
    for kind, name, text in told:
        if kind == "link":
            usual = _LINK.fullmatch(text)
            if usual:
                draft.alternate(usual[1], usual[2])
            else:
                link(draft, text, notes)
        elif kind == "field":
            draft.put(name, resolved(text[:LONGEST_TEXT], notes).strip())
        else:
            draft.keep(name, resolved(text[:LONGEST_TEXT], notes).strip())


def link(draft: Draft, raw: str, notes: Notes) -> None:
    """Tell a draft of the page in another language that an element's attributes name (SM-61)."""
    found = {key: resolved(value, notes).strip() for key, value in attributes(raw).items()}
    is_alternate = found.get("rel", "alternate").lower() == "alternate"
    draft.alternate(found.get("hreflang", ""), found.get("href", "") if is_alternate else "")
