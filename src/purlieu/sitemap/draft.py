"""One entry in the making: the texts of its fields to an Entry or a Child.

Knows what each field may hold and what to do when it holds something else (SM-3 to SM-8). Must not know XML.
"""

from __future__ import annotations

import re

from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.sitemap import moment
from purlieu.sitemap.entry import Child, Entry, Kind, News, Notes

_LONGEST_LOC = 2_048  # AMB-SM-1
MOST_EXTRAS = 1_000  # images, videos or alternates kept of one entry (SM-63)
_CHANGEFREQS = ("always", "hourly", "daily", "weekly", "monthly", "yearly", "never")  # SM-5

_PRIORITIES = {None: 0.5, "1.0": 1.0} | {f"0.{digit}": digit / 10 for digit in range(10)}

_ABSOLUTE = re.compile(r"https?://[^\s/?#]", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SPACE = re.compile(r"\s")
_PRIORITY = re.compile(r"\+?\d{0,9}\.?\d{0,20}", re.ASCII)


class Draft:
    """Collects the fields of one entry, and judges them when it is finished."""

    def __init__(self, notes: Notes, url: str) -> None:
        """Begin an entry of the file at ``url``."""
        self._notes = notes
        self._url = url
        self._values: dict[str, str] = {}
        self._extras: dict[str, list[str]] = {}
        self._alternates: list[tuple[str, str]] = []
        self._spoiled = False

    def put(self, name: str, text: str) -> None:
        """Keep the text of a field; the first of a name counts (AMB-SM-6)."""
        if name not in self._values:
            self._values[name] = text
        elif name == "loc":
            self._fault("second-loc", text)

    def has(self, name: str) -> bool:
        """Say whether a field is there already."""
        return name in self._values

    def keep(self, name: str, text: str) -> None:
        """Keep the text of an extension's element (SM-60)."""
        kept = self._extras.setdefault(name, [])
        if text and len(kept) < MOST_EXTRAS:
            kept.append(text)

    def alternate(self, language: str, address: str) -> None:
        """Keep a page in another language, if both are there (SM-61)."""
        if language and address and len(self._alternates) < MOST_EXTRAS:
            self._alternates.append((language, address))

    def finish(self, kind: Kind) -> Entry | Child | None:
        """Return the entry, or None if it has no usable address or strict reading finds fault with it."""
        values = self._values
        loc = self._loc(values.get("loc") or values.get("guid", ""))
        lastmod, lastmod_at = self._lastmod(kind, values.get("lastmod") or values.get("published", ""))
        changefreq = self._changefreq(values.get("changefreq", ""))
        priority = self._priority(values.get("priority", ""))
        if not loc or (self._spoiled and self._notes.strict):
            return None
        if kind == "index":
            return Child(loc, lastmod, lastmod_at)
        if not self._extras and not self._alternates:
            return Entry(loc, lastmod, changefreq, priority, lastmod_at)
        extras = {name: tuple(texts) for name, texts in self._extras.items()}
        first = {name: texts[0] for name, texts in extras.items() if texts}
        told = News(first.get("news name", ""), first.get("news date", ""), first.get("news title", ""))
        return Entry(
            loc, lastmod, changefreq, priority, lastmod_at,
            tuple(self._alternates), extras.get("images", ()), extras.get("videos", ()), told if any(told) else None,
        )  # fmt: skip

    def _fault(self, kind: str, value: str = "") -> None:
        self._notes.add(kind, value)
        self._spoiled = True

    def _loc(self, text: str) -> str:
        if not text:
            self._fault("no-loc")
            return ""
        if not _ABSOLUTE.match(text):
            text = self._joined(text)
        return text if text and fits(text, self._notes) else ""

    def _joined(self, text: str) -> str:
        """Return a relative address joined to the file's own, "" for what is none (SM-4, SM-34)."""
        if not _SCHEME.match(text) and not _SPACE.search(text):
            try:
                whole = urls.parse(text, self._url)
            except UrlError:
                pass
            else:
                if whole.scheme in {"http", "https"}:
                    self._fault("relative-loc", text)
                    return whole.href
        self._fault("bad-loc", text)
        return ""

    def _lastmod(self, kind: Kind, text: str) -> tuple[str | None, float | None]:
        if not text:
            return None, None
        at = moment.of_rss(text) if kind == "rss" else moment.of_w3c(text)
        if at is None or (self._notes.strict and kind != "rss" and not moment.is_exact(text)):
            self._fault("lastmod", text)
        if at is None:
            return None, None
        return (moment.as_w3c(at) if kind == "rss" else text), at

    def _changefreq(self, text: str) -> str | None:
        """Return one of the seven words, found anywhere in the text and in any case (SM-8)."""
        if not text or text in _CHANGEFREQS:
            return text or None
        lower = text.lower()
        word = next((word for word in _CHANGEFREQS if word in lower), None)
        if word is None or self._notes.strict:
            self._fault("changefreq", text)
        return word

    def _priority(self, text: str) -> float:
        """Return the priority, 0.5 where it is missing, no number or out of range (SM-6, SM-8)."""
        if not text:
            return 0.5
        number = float(text) if _PRIORITY.fullmatch(text) and text not in {"+", ".", "+."} else 2.0
        if number > 1:
            self._fault("priority", text)
            return 0.5
        return number


def faultless(loc: str, lastmod: str | None, changefreq: str | None, priority: str | None) -> Entry | None:
    """Return the entry of these texts if nothing at all is wrong with them; else a ``Draft`` has to judge them.

    ``loc`` is an address without white space and references but ``&amp;``, ``lastmod`` has one of the shapes of SM-50,
    ``changefreq`` and ``priority`` may be anything.
    """
    if priority not in _PRIORITIES or (changefreq is not None and changefreq not in _CHANGEFREQS):
        return None
    if "&" in loc:
        loc = loc.replace("&amp;", "&")
    if len(loc) >= _LONGEST_LOC:
        return None
    at = None
    if lastmod is not None and (at := moment.of_exact(lastmod)) is None:
        return None
    values = (loc, lastmod, changefreq, _PRIORITIES[priority], at, (), (), (), None)
    return tuple.__new__(Entry, values)  # in half the time of Entry(...)


def is_address(text: str) -> bool:
    """Say whether a text begins as an http or https address does."""
    return _ABSOLUTE.match(text) is not None


def fits(loc: str, notes: Notes) -> bool:
    """Say whether an address is short enough (SM-4, AMB-SM-1)."""
    if len(loc) >= _LONGEST_LOC:
        notes.add("longest-loc" if len(loc) == _LONGEST_LOC else "long-loc", loc)
    return len(loc) <= _LONGEST_LOC
