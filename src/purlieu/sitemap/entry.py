"""What a sitemap holds, as values, and the closed table of what can be wrong with one.

Knows the names of the faults and their sentences. Must not know how a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from purlieu.sentence import Sentence
from purlieu.value import dataclass

Kind = Literal["urlset", "index", "text", "rss", "atom", "unknown"]
_MOST_OF_A_KIND = 100  # problems of one kind that are told one by one
_MOST = 10_000  # problems after which reading on is not worth its time,
_MORE = 20  # and how many more each entry is worth: a fault in every entry ends nothing
_SHOWN = 120  # characters of the web's text that a sentence quotes


class News(NamedTuple):
    """A news entry's own metadata, each "" where it is missing (SM-62)."""

    publication: str
    published: str
    title: str


class Entry(NamedTuple):  # no dataclass: a file has 50,000 of them, and a tuple is made in a fifth of the time
    """One page of a sitemap or feed.

    ``loc`` as written, or joined to the file's URL where it was relative. ``lastmod`` is a W3C Datetime as written (of
    RSS: converted), None when missing or unreadable; ``lastmod_at`` its start in seconds since the epoch (SM-53).
    ``alternates`` are (hreflang, href); ``images`` and ``videos`` their addresses; none of them is ever the ``loc``.
    """

    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: float = 0.5
    lastmod_at: float | None = None
    alternates: tuple[tuple[str, str], ...] = ()
    images: tuple[str, ...] = ()
    videos: tuple[str, ...] = ()
    news: News | None = None


@dataclass(frozen=True, slots=True)
class Child:
    """One file of a sitemap index; ``lastmod`` is the file's own (SM-40)."""

    loc: str
    lastmod: str | None = None
    lastmod_at: float | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong: the line it was noticed on (from 1), its stable kind, and a sentence for the owner.

    ``sentence`` is English; one that this package has made can be said in other languages (``sentence.said``).
    """

    line: int
    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap read whole."""

    kind: Kind
    entries: tuple[Entry, ...]
    children: tuple[Child, ...]
    problems: tuple[Problem, ...]


# Faults of one entry: strict reading leaves the entry out.
_OF_AN_ENTRY = {
    "no-loc": Sentence("An entry has no <loc>: give each entry the address of its page."),
    "second-loc": Sentence('An entry has a second <loc>, "{value}": only the first is used.', value=""),
    "bad-loc": Sentence('"{value}" is no http or https address: the entry is left out.', value=""),
    "relative-loc": Sentence('"{value}" is relative: write the whole address, beginning with its scheme.', value=""),
    "long-loc": Sentence('The address "{value}" has more than 2,048 characters: the entry is left out.', value=""),
    "longest-loc": Sentence('The address "{value}" has 2,048 characters: some readers take only fewer.', value=""),
    "lastmod": Sentence('<lastmod> "{value}" is no W3C Datetime, such as 2026-11-30: it is ignored.', value=""),
    "changefreq": Sentence(
        '<changefreq> "{value}" is not one of always, hourly, daily, weekly, monthly, yearly and never.', value=""
    ),
    "priority": Sentence('<priority> "{value}" is no number from 0.0 to 1.0: 0.5 is used.', value=""),
    "line": Sentence('The line "{value}" is no http or https address: it is left out.', value=""),
}
# Faults of the file: strict reading refuses it.
_OF_THE_FILE = {
    "late-declaration": Sentence(
        "<?xml stands behind something else, such as white space: it has to be the very first."
    ),
    "stray-tag": Sentence("</{value}> closes nothing: remove it.", value=""),
    "nesting": Sentence("</{value}> closes an element inside which others are still open.", value=""),
    "unclosed": Sentence("<{value}> is not closed.", value=""),
    "markup": Sentence('"{value}" is no complete tag: write &lt; for a < in text.', value=""),
    "reference": Sentence('"{value}" is no reference that a sitemap may hold: write &amp; for a & in text.', value=""),
    "doctype": Sentence("The file has a document type, which a sitemap does not: it is ignored."),
    "dtd": Sentence("The file declares entities or elements of its own, which is never read: the file is given up."),
    "prefix": Sentence('The prefix of "{value}" is not declared.', value=""),
    "namespace": Sentence('The namespace "{value}" is not http://www.sitemaps.org/schemas/sitemap/0.9.', value=""),
    "second-root": Sentence("<{value}> stands behind the end of the document.", value=""),
    "not-a-sitemap": Sentence("This is no sitemap: {value}.", value=""),
    "encoding": Sentence('The encoding is "{value}", and a sitemap has to be UTF-8.', value=""),
    "bytes": Sentence("Some bytes are not {value}.", value=""),
    "gzip": Sentence("The gzip data are damaged: {value}.", value=""),
    "xml": Sentence("The file is not well-formed XML: {value}.", value=""),
}
# Files over a limit: what is within it counts in either reading (AMB-SM-10).
_OF_THE_LIMITS = {
    "too-large": Sentence("The file has more than {value} bytes when unpacked: the rest is not read.", value=""),
    "too-many": Sentence("The file has more than 50,000 addresses: the rest is not read."),
    "too-faulty": Sentence("The file has too many faults for the entries it holds: the rest is not read."),
    "too-full": Sentence("The file has more than 2,000,000 elements: the rest is not read."),
}
MORE = Sentence("{count} more problems of this kind are not shown.", count="")
SENTENCES = _OF_AN_ENTRY | _OF_THE_FILE | _OF_THE_LIMITS
_GIVEN_UP = frozenset({"dtd", "not-a-sitemap"})  # lenient reading cannot go on here either
_BY_THE_CUT = frozenset({"unclosed", "markup", "xml", "no-loc"})  # no faults where the rest was never read


def shown(value: str) -> str:
    """Return what a file says as it is shown in a sentence: not too long, and without what is not seen."""
    if isinstance(value, Sentence):
        return value
    return "".join(letter if letter.isprintable() else " " for letter in value[:_SHOWN].strip())


class Notes:
    """Collects the problems of one file, so many of each kind, until the reader hands them on.

    ``line`` is asked which line has been reached; who knows it puts itself there. ``ended`` tells all who read to stop,
    ``refused`` that the file does not count either; ``cut`` that what came last broke off, by no fault of the file's.
    """

    def __init__(self, *, strict: bool) -> None:
        """Start with none."""
        self.strict = strict
        self.refused = False
        self.ended = False
        self.size_bytes = 0  # unpacked, as far as it was read
        self.found: list[Problem] = []
        self.line: Callable[[], int] = lambda: 1
        self._count: dict[str, int] = {}
        self.cut = False
        self._left = _MOST

    def add(self, kind: str, value: str = "", *, line: int | None = None) -> None:
        """Note a problem; in strict reading one of the file refuses it whole."""
        if self.ended or (self.cut and kind in _BY_THE_CUT):
            return
        self.cut = self.cut or kind in {"too-large", "gzip"}
        count = self._count[kind] = self._count.get(kind, 0) + 1
        if count <= _MOST_OF_A_KIND:
            told = Sentence(SENTENCES[kind].template, value=shown(value))
            self.found.append(Problem(line or self.line(), kind, told))
        if kind in _GIVEN_UP or (self.strict and kind in _OF_THE_FILE):
            self.refused = self.ended = True
        self._left -= 1
        if self._left < 0:
            self._left = _MORE
            self.end("too-faulty")

    def allow(self) -> None:
        """Allow more problems, since an entry was found."""
        self._left += _MORE

    def end(self, kind: str) -> None:
        """Note that the file is over a limit, and stop reading it."""
        self.add(kind)
        self.ended = True

    def drain(self) -> tuple[Problem, ...]:
        """Hand over what has been found since the last time."""
        found = tuple(self.found)
        self.found.clear()
        return found

    def rest(self) -> Iterator[Problem]:
        """Yield one problem for each kind of which not all were told."""
        for kind, told in self._count.items():
            if told > _MOST_OF_A_KIND:
                yield Problem(self.line(), kind, Sentence(MORE.template, count=f"{told - _MOST_OF_A_KIND:,}"))
