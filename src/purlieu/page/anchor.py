"""What a page's links say: the text that each encloses, with the descriptions of images in it.

Takes start tags and what follows them, as written. Knows no tree; every step is linear. Links to the page itself say
nothing of it and are left out.
"""

from __future__ import annotations

import re
from typing import Final

from purlieu.page import markup
from purlieu.url import Joiner

MOST_LINKS: Final = 2_000
"""Links of a page that are kept: distinct pairs of reference and text."""
MOST_CHARACTERS: Final = 200
"""Characters kept of a text."""
_MOST_HREFS: Final = 4_000_000
"""Characters of all hrefs of a page together: a base may be long, and then each of them is."""
_WINDOW: Final = 4 * MOST_CHARACTERS
_HREF: Final = re.compile(r"(?<![\w-])href\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)
_ALT: Final = re.compile(r"(?<![\w-])alt\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")


class Anchors:
    """Takes the links of one page; they are resolved at the end, as a base may come late."""

    def __init__(self, url: str, encoding_name: str) -> None:
        """``url`` is where the page came from."""
        self._url = url
        self._encoding = encoding_name
        self._base = ""
        self._found: dict[tuple[str, str], None] = {}

    def take(self, tag: str, inner: str) -> None:
        """Take the start tag of a link or base, without ``<``, and what a link encloses."""
        if len(self._found) >= MOST_LINKS or not (href := _value(_HREF, tag)):
            return
        if tag[0] in "bB":
            self._base = self._base or href
        elif text := said(inner):
            self._found[href.strip(), text] = None

    def found(self) -> tuple[tuple[str, str], ...]:
        """Return (absolute href of the web without fragment, text), each pair once, in order."""
        joiner = Joiner(self._url, encoding=self._encoding)
        here = joiner("") or self._url
        based = joiner(self._base) if self._base else None
        if based and based.startswith(("http://", "https://")):
            joiner = Joiner(based, encoding=self._encoding)
        hrefs: dict[str, str | None] = {}
        pairs: dict[tuple[str, str], None] = {}
        room = _MOST_HREFS
        for reference, text in self._found:
            href = hrefs[reference] if reference in hrefs else hrefs.setdefault(reference, joiner(reference))
            if href is None or href == here or not href.startswith(("http://", "https://")):
                continue
            room -= len(href)
            if room < 0:
                break
            pairs[href, text] = None
        return tuple(pairs)


def said(inner: str) -> str:
    """Return the text that a link encloses, an image's description in its place; cut to ``MOST_CHARACTERS``."""
    text = _TAG.sub(_of_image, inner) if "<" in inner else inner
    return " ".join(markup.unescaped(text[:_WINDOW]).split())[:MOST_CHARACTERS]


def _of_image(tag: re.Match[str]) -> str:
    return f" {_value(_ALT, tag[0])} " if tag[0][1:4].lower() == "img" else " "


def _value(pattern: re.Pattern[str], tag: str) -> str:
    found = pattern.search(tag)
    return markup.unescaped(found[found.lastindex or 0]) if found and found.lastindex else ""
