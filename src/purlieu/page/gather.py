"""The elements of a page, or its header fields, sorted into references: links, canonicals, alternates, refresh, rules.

Knows what HTML's elements and link relations mean; references stay as written, to be resolved by the caller,
since the base is known only at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from purlieu.page.encoding import charset_in
from purlieu.page.header import links, refresh
from purlieu.page.markup import EVERYTHING, Element, Heard, Place, PlainLinks
from purlieu.page.srcset import candidates

DEFAULT_KINDS = frozenset(("a", "area", "frame", "iframe", "next", "prev", "alternate", "refresh", "sitemap"))
ALL_KINDS = DEFAULT_KINDS | {"canonical", "image", "script", "style", "media", "form"}

_REFERENCE = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_RELATIONS = {
    "next": "next",
    "prev": "prev",
    "previous": "prev",  # HTML 4.6.8.14
    "alternate": "alternate",
    "sitemap": "sitemap",
    "canonical": "canonical",
    "stylesheet": "style",
    "icon": "image",
    "apple-touch-icon": "image",
}
_IMAGES = {
    "img": ("src",), "input": ("src",), "source": (), "image": ("href", "xlink:href", "src"), "video": ("poster",),
}  # fmt: skip
_MEDIA = {"video": "src", "audio": "src", "source": "src", "track": "src", "embed": "src", "object": "data"}
_ALWAYS = frozenset(("html", "a", "area", "frame", "iframe", "link", "meta", "base"))
_HEAD = Place.HEAD
_OF_THE_PAGE = (_HEAD, Place.BODY)
_MOST_NAMES = 8
_SHORT = 100  # characters of a relation that is worth remembering
_FOR_KIND = {
    "image": frozenset(_IMAGES),
    "media": frozenset(_MEDIA),
    "script": frozenset(("script",)),
    "form": frozenset(("form",)),
    "post": frozenset(("form",)),
}
_PARTS = frozenset(("image", "style"))
_DATA = "data:"


@cache
def elements_for(kinds: frozenset[str]) -> frozenset[str]:
    """Return the names of the elements that matter when these kinds of links are wanted."""
    return _ALWAYS.union(*(names for kind, names in _FOR_KIND.items() if kind in kinds))


@cache
def heard_for(kinds: frozenset[str], agent: str, *, charset: bool) -> Heard:
    """Return what of link and meta elements a ``Gathered`` takes note of; ``charset`` says whether of encodings too."""
    names = agent.lower().split()
    if not names or len(names) > _MOST_NAMES:  # an odd bot; the first is named by every meta without a name
        return EVERYTHING
    relations = {"alternate", "canonical"}.union(word for word, kind in _RELATIONS.items() if kind in kinds)
    return tuple(sorted(relations)), ("robots", *names), ("refresh", "content-type") if charset else ("refresh",)


class Gathered:
    """References as written, by what they are for.

    ``links`` maps (kind, reference without fragment), of kind "a" the reference alone, to whether every occurrence says
    nofollow, in order; a number stands for the plain links up to that one which the scanner in C keeps as ``plain``;
    ``alternates`` holds (hreflang, reference), ``refresh`` (seconds, reference), ``robots`` the contents of robots
    metas, ``charset`` the first encoding label that a meta element declares.
    """

    __slots__ = (
        "agent",
        "alternates",
        "base",
        "canonicals",
        "charset",
        "kinds",
        "lang",
        "links",
        "plain",
        "refresh",
        "robots",
    )

    def __init__(self, kinds: frozenset[str], agent: str) -> None:
        """Gather links of these kinds, and robots rules for this bot."""
        self.kinds = kinds
        self.agent = agent.lower()
        self.links: dict[str | int | tuple[str, str], bool] = {}
        self.plain: object = None
        self.canonicals: list[str] = []
        self.alternates: list[tuple[str, str]] = []
        self.refresh: tuple[int, str] | None = None
        self.robots: list[str] = []
        self.base: str | None = None
        self.lang: str | None = None
        self.charset: str | None = None

    def take(self, elements: Iterable[Element | PlainLinks]) -> None:
        """Take the elements of a page."""
        for element in elements:
            if isinstance(element, dict):
                if "a" in self.kinds:
                    self.links.update(element)
                continue
            if isinstance(element, int):
                if "a" in self.kinds:
                    self.links[element] = False
                continue
            name, found, place = element
            if name in _REFERENCE:
                reference = found.get(_REFERENCE[name])
                if reference is None and place is Place.FOREIGN:
                    reference = found.get("xlink:href")
                if reference is not None:
                    self._link(name, reference, nofollow="rel" in found and "nofollow" in _words(found["rel"]))
            elif name == "link":
                self._related(found.get("rel", ""), found, in_head=place is _HEAD)
            elif name == "meta":
                self._meta(found, place)
            elif name in _IMAGES or name in _MEDIA:
                self._embedded(name, found)
            elif name == "script":
                self._part("script", found.get("src", found.get("xlink:href", "") if place is Place.FOREIGN else ""))
            elif name == "form":
                self._form(found.get("method", "get").lower(), found.get("action", ""))
            elif place in _OF_THE_PAGE:
                self._page(name, found)

    def take_headers(self, fields: dict[str, list[str]]) -> None:
        """Take the Link, Refresh and X-Robots-Tag fields of a response, as ``header.telling`` gives them."""
        for reference, parameters in links(fields.get("link", ())):
            if "anchor" not in parameters:  # about another resource (RFC 8288, 3.2)
                self._related(parameters.get("rel", ""), {**parameters, "href": reference}, in_head=True)
        for content in fields.get("refresh", ()):
            self._refresh(content)
        self.robots += fields.get("x-robots-tag", ())

    def _link(self, kind: str, reference: str, *, nofollow: bool = False) -> None:
        if kind in self.kinds:
            cut = reference.find("#")
            if cut == 0 or (cut > 0 and reference[cut - 1] > " "):  # "a #b" keeps its space when parsed
                reference = reference[:cut]
            key = reference if kind == "a" else (kind, reference)
            self.links[key] = nofollow and self.links.get(key, True)

    def _related(self, relation: str, found: dict[str, str], *, in_head: bool) -> None:
        """Take a link element or a Link field; canonical counts in the head only (HTML 4.2.4, not body-ok)."""
        reference = found.get("href", "")
        if not reference:  # an empty href makes no link here, unlike in <a> (HTML 4.6.7)
            return
        kinds, nofollow = _meant(relation) if len(relation) < _SHORT else _meant.__wrapped__(relation)
        if "canonical" in kinds and in_head:
            self.canonicals.append(reference)
        if "alternate" in kinds and (language := found.get("hreflang", "").strip()):
            self.alternates.append((language, reference))
        for kind in kinds:
            if kind in _PARTS:
                self._part(kind, reference)
            else:
                self._link(kind, reference, nofollow=nofollow)

    def _meta(self, found: dict[str, str], place: Place) -> None:
        content = found.get("content", "")
        pragma = found.get("http-equiv", "").lower()
        if self.charset is None:
            self.charset = found.get("charset") or (charset_in(content) if pragma == "content-type" else None)
        if pragma == "refresh" and place is not Place.NOSCRIPT:
            self._refresh(content)
        if place is _HEAD and found.get("name", "").strip().lower() in {"robots", self.agent}:
            self.robots.append(content)

    def _refresh(self, content: str) -> None:
        """Take the first refresh that is one (HTML 4.2.5.3: later ones change nothing)."""
        if self.refresh is None and (parsed := refresh(content)):
            self.refresh = parsed
            if parsed[1]:
                self._link("refresh", parsed[1])

    def _embedded(self, name: str, found: dict[str, str]) -> None:
        """Take an element that shows a file in its place; an empty address shows none (HTML 4.8.4.3, 4.8.11.5)."""
        if name == "input" and found.get("type", "").lower() != "image":
            return
        for attribute in _IMAGES.get(name, ()):
            self._part("image", found.get(attribute, ""))
        for reference in candidates(found.get("srcset", "")):
            self._part("image", reference)
        if name in _MEDIA:
            self._part("media", found.get(_MEDIA[name], ""))

    def _part(self, kind: str, reference: str) -> None:
        if reference.strip() and reference[:5].lower() != _DATA:  # what is written into the page is there
            self._link(kind, reference)

    def _form(self, method: str, action: str) -> None:
        if method == "post":
            self._link("post", action)
        elif method != "dialog":
            self._link("form", action)

    def _page(self, name: str, found: dict[str, str]) -> None:
        if name == "base" and self.base is None:
            self.base = found.get("href")
        if name == "html" and self.lang is None:
            self.lang = found.get("lang", found.get("xml:lang", "")).strip() or None


@lru_cache(maxsize=64)  # the same few stand on every page
def _meant(relation: str) -> tuple[tuple[str, ...], bool]:
    """Return the kinds of links that a relation makes, and whether it says nofollow."""
    words = _words(relation)
    if "stylesheet" in words:
        words = {"stylesheet"}  # "alternate stylesheet" is no other page
    return tuple(sorted({_RELATIONS[word] for word in words if word in _RELATIONS})), "nofollow" in words


def _words(text: str) -> set[str]:
    return set(text.lower().split())
