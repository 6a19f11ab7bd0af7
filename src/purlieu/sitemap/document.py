"""What the elements of a sitemap mean: which are entries, which their fields (SM-1, SM-9, SM-40, SM-42).

Knows the four XML formats and their namespaces. Must not know bytes, text or how tags are nested.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from purlieu.sentence import Sentence
from purlieu.sitemap import extended
from purlieu.sitemap.draft import Draft, faultless
from purlieu.sitemap.element import START, TEXT, UNDECLARED, Elements
from purlieu.sitemap.entry import Child, Entry, Kind, Notes, shown
from purlieu.sitemap.extended import EXTENSIONS, EXTRAS, FIELDS, KEPT, LONGEST_TEXT
from purlieu.sitemap.markup import Markup, attributes, resolved
from purlieu.value import dataclass

_MOST_NAMESPACES = 100

_EXACT = "http://www.sitemaps.org/schemas/sitemap/0.9"
# SM-11: spellings met in the wild.
_LENIENT = re.compile(
    r"(?:https?://(?:www\.)?(?:sitemaps\.org|google\.com)/schemas/sitemap/0\.(?:84|9|90)/?)?", re.IGNORECASE
)
_USUAL = {UNDECLARED + family: family for family in EXTENSIONS.values()}
_OURS = "ours"
# An entry of the usual form: nothing but known fields, no attributes. Possessive, so each is scanned once.
_PLAIN = {
    "urlset": r"\s*+<url>((?:\s*+<(loc|lastmod|changefreq|priority)>[^<]*+</\2>)*+)\s*+</url>",
    "index": r"\s*+<sitemap>((?:\s*+<(loc|lastmod)>[^<]*+</\2>)*+)\s*+</sitemap>",
}
_PLAIN_ENTRY = {kind: re.compile(pattern) for kind, pattern in _PLAIN.items()}
_PLAIN_FIELD = re.compile(r"<([a-z]++)>([^<]*+)")
# The same in the order that nearly all generators write: six times as fast as by the elements (docs/decisions).
_USUAL_ENTRY = re.compile(
    r"\s*+<url>\s*+<loc>\s*+(https?://[^\s/?#<&](?:[^\s<&]++|&amp;)*+)\s*+</loc>\s*+"
    r"(?:<lastmod>(\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d++)?)?(?:Z|[+-]\d\d:\d\d))?)</lastmod>\s*+)?+"
    r"(?:<changefreq>(always|hourly|daily|weekly|monthly|yearly|never)</changefreq>\s*+)?+(?:<priority>(0\.\d|1\.0)</priority>\s*+)?+</url>",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """One format: the name of an entry's element, and its fields by element."""

    kind: Kind
    entry: str
    fields: dict[str, str]


SHAPES = {
    "urlset": _Shape("urlset", "url", {name: name for name in FIELDS}),
    "sitemapindex": _Shape("index", "sitemap", {"loc": "loc", "lastmod": "lastmod"}),
    "rss": _Shape("rss", "item", {"link": "loc", "pubDate": "lastmod", "guid": "guid"}),
    "feed": _Shape(
        "atom",
        "entry",
        {"updated": "lastmod", "modified": "lastmod", "published": "published", "issued": "published"},
    ),
}


class Document:
    """One XML sitemap. ``kind`` is known with the first element."""

    def __init__(self, elements: Elements, notes: Notes, url: str) -> None:
        """Read the file at ``url`` from ``elements``; tell ``notes`` what is wrong."""
        self.kind: Kind = "unknown"
        self._elements = elements
        self._notes = notes
        self._url = url
        self._shape: _Shape | None = None
        self._families: dict[str, str] = {}
        self._draft: Draft | None = None
        self._foreign = 0  # open elements, inside an entry, that are not its fields
        self._field = ""  # the field, or the extra, whose text is being kept
        self._text: list[str] = []
        self._length = 0

    def items(self) -> Iterator[Entry | Child]:
        """Yield the entries, or of an index the children."""
        notes = self._notes
        for mark, namespace, name, raw in self._elements.events():
            if mark is TEXT:
                if self._length < LONGEST_TEXT:
                    self._text.append(namespace)
                    self._length += len(namespace)
                continue
            if self._shape is None:
                self._root(namespace, name)
            else:
                step = self._start if mark is START else self._end
                if item := step(self._families.get(namespace) or self._family(namespace), name, raw):
                    yield item
            if self._draft is None:
                yield from self._plain()
            if notes.ended:
                return
        if self._shape is None:
            notes.add("not-a-sitemap", Sentence("it has no element"))
        if item := self._finished():
            # The file breaks off inside an entry whose address is whole.
            yield item

    def _plain(self) -> Iterator[Entry | Child]:
        """Yield the entries of the usual form that follow: three times as fast as by their elements."""
        pattern, markup, notes = _PLAIN_ENTRY.get(self.kind), self._elements.wholes(), self._notes
        usual = _USUAL_ENTRY if self.kind == "urlset" else None
        while pattern and markup:
            if usual and (found := markup.whole(usual)):
                if entry := faultless(*found.groups()):
                    yield entry
                    continue
            elif not (found := markup.whole(pattern)):
                if usual and (entry := self._common(markup)):
                    yield entry
                    continue
                draft = self._extended(markup) if usual else None
                if draft is None:
                    return
                if item := draft.finish(self.kind):
                    yield item
                continue
            draft = Draft(notes, self._url)
            for name, text in _PLAIN_FIELD.findall(found[0]):
                if name in FIELDS:
                    draft.put(name, resolved(text, notes).strip()[:LONGEST_TEXT])
            if item := draft.finish(self.kind):
                yield item

    def _common(self, markup: Markup) -> Entry | None:
        """Return the entry with the commonest extensions that is next, None if it is not quite so."""
        found = markup.peek(extended.COMMON)
        entry = extended.common(found[1], found[2]) if found else None
        if found and entry and self._all_declared(entry):
            markup.accept(found)
            return entry
        return None

    def _all_declared(self, entry: Entry) -> bool:
        """Return whether the prefixes that an entry used are declared and have their usual meaning."""
        return (not entry.alternates or self._declared("xhtml") == "xhtml") and (
            not entry.images or self._declared("image") == "image"
        )

    def _extended(self, markup: Markup) -> Draft | None:
        """Return what the entry with extensions holds that is next, None if it has to be read tag by tag."""
        found = markup.peek(extended.ENTRY)
        told = extended.steps(found[1], self._declared) if found else None
        if found is None or told is None:
            return None
        markup.accept(found)
        draft = Draft(self._notes, self._url)
        extended.tell(draft, told, self._notes)
        return draft

    def _declared(self, prefix: str) -> str | None:
        """Return the family of a declared prefix that is an extension's."""
        namespace = self._elements.namespace(prefix)
        if namespace is None:
            return None
        family = self._families.get(namespace) or self._family(namespace)
        return None if family is _OURS else family

    def _root(self, namespace: str, name: str) -> None:
        shape = SHAPES.get(name)
        if shape is None:
            self._notes.add("not-a-sitemap", Sentence("its first element is <{name}>", name=shown(name[:40])))
            return
        self._shape, self.kind = shape, shape.kind
        self._families[namespace] = _OURS
        of_sitemaps = shape.kind in {"urlset", "index"}
        if of_sitemaps and namespace != _EXACT and (self._notes.strict or not _LENIENT.fullmatch(namespace)):
            self._notes.add("namespace", namespace)

    def _family(self, namespace: str) -> str:
        """Return what a namespace stands for; a sitemap's own is the root's, in any spelling, or none (SM-11)."""
        family = _USUAL.get(namespace) or next((one for part, one in EXTENSIONS.items() if part in namespace), "other")
        if _LENIENT.fullmatch(namespace):
            family = _OURS
        if len(self._families) < _MOST_NAMESPACES:
            self._families[namespace] = family
        return family

    def _start(self, family: str, name: str, raw: str) -> Entry | Child | None:
        shape, draft, item = self._shape, self._draft, None
        if shape is None:
            return None
        if family is _OURS and name == shape.entry:
            if draft:
                self._notes.add("unclosed", name)
                item = self._finished()
            self._draft, self._foreign = Draft(self._notes, self._url), 0
        elif draft is None:
            if name in SHAPES:
                self._notes.add("second-root", name)
        elif family is _OURS and name in shape.fields and not self._foreign:
            if self._field:
                # A field holds no other: its end tag is missing.
                self._notes.add("unclosed", self._field)
                self._put(draft)
            self._listen(shape.fields[name])
            if name == "guid" and attributes(raw).get("isPermaLink", "true").strip().lower() != "true":
                self._field = "id"
        else:
            self._inside(draft, family, name, raw)
        return item

    def _inside(self, draft: Draft, family: str, name: str, raw: str) -> None:
        """Handle an element of an entry that is none of its fields."""
        self._foreign += 1
        if (family, name) in EXTRAS and not self._field:
            self._listen(EXTRAS[family, name])
        elif name == "link" and (family == "xhtml" or (family is _OURS and self.kind == "atom")):
            if family == "xhtml":
                extended.link(draft, raw, self._notes)
                return
            found = {key: resolved(value, self._notes).strip() for key, value in attributes(raw).items()}
            is_alternate = found.get("rel", "alternate").lower() == "alternate"
            if is_alternate and self._foreign == 1 and not draft.has("loc"):
                draft.put("loc", found.get("href", ""))

    def _end(self, family: str, name: str, _: str) -> Entry | Child | None:
        shape, draft = self._shape, self._draft
        if shape is None or draft is None:
            return None
        if family is _OURS and name == shape.entry:
            return self._finished()
        if family is _OURS and name in shape.fields and not self._foreign:
            if self._field in {shape.fields[name], "id"}:
                self._put(draft)
        elif self._foreign:
            self._foreign -= 1
            if self._field and EXTRAS.get((family, name)) == self._field:
                self._put(draft)
        return None

    def _listen(self, name: str) -> None:
        self._field, self._elements.listening = name, True
        self._text.clear()
        self._length = 0

    def _put(self, draft: Draft) -> None:
        text = resolved("".join(self._text), self._notes).strip()
        if self._field in KEPT:
            draft.keep(self._field, text)
        else:
            draft.put(self._field, text)
        self._field, self._elements.listening = "", False

    def _finished(self) -> Entry | Child | None:
        draft, self._draft = self._draft, None
        self._field, self._elements.listening = "", False
        return draft.finish(self.kind) if draft else None
