"""One sitemap file looked at whole: what is in it, what is wrong with it, in either reading (SM-30 to SM-38).

Knows the reader, the location rule and the limits of both eras. Must not know how the file was fetched; what was
proven about it by robots.txt files is told by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from purlieu import url as urls
from purlieu.errors import UrlError
from purlieu.sentence import Sentence
from purlieu.sitemap.entry import MORE, Child, Entry, Kind, Problem, shown
from purlieu.sitemap.location import in_location
from purlieu.sitemap.reader import Reader
from purlieu.sitemap.unpack import LIMIT_BYTES
from purlieu.value import dataclass, field

LIMIT_BYTES_2007 = 10_485_760  # SM-21
_MOST_OF_A_KIND = 100
_MOST_ORIGINS = 20  # other sites of one file whose robots.txt is worth asking

# Faults that the lenient reading mends: nothing of the file is lost by them.
MENDED = frozenset(
    (
        "late-declaration", "stray-tag", "doctype", "prefix", "namespace", "second-root", "reference", "encoding",
        "second-loc", "relative-loc", "longest-loc", "lastmod", "changefreq", "priority", "by-robots",
    )
)  # fmt: skip
SENTENCES = {
    "location": Sentence('"{value}" does not lie beside or below the sitemap: the entry does not count.', value=""),
    "host": Sentence(
        '"{value}" is on another site, whose robots.txt does not name this sitemap: the entry does not count.', value=""
    ),
    "by-robots": Sentence(
        "{count} entries lie above the sitemap's folder, the first is \"{value}\": they count only because the site's "
        "robots.txt names the sitemap.",
        count="",
        value="",
    ),
    "too-large-2007": Sentence("The file has more than 10,485,760 bytes when unpacked, which was the limit in 2007."),
    "child-host": Sentence('"{value}" is on another site than the index: it is not read.', value=""),
    "index-in-index": Sentence("An index is named by another index: what it names is not read."),
    "loop": Sentence('"{value}" was read already: it is not read again.', value=""),
    "too-many-files": Sentence("The index names more files than are looked at: the rest is not read."),
    "not-fetched": Sentence("The file could not be fetched: {value}.", value=""),
    "status": Sentence("The server answered {value}: there is no sitemap there.", value=""),
    "robots": Sentence("robots.txt forbids this file ({value}): no crawler can read it.", value=""),
    "redirects": Sentence("More than {value} redirects follow one another: they are not followed further.", value=""),
    "cut": Sentence("The file did not arrive whole ({value}): the rest is not read.", value=""),
}


def problem(kind: str, value: str = "", *, count: str = "", line: int = 1) -> Problem:
    """Return a problem of this table."""
    return Problem(line, kind, Sentence(SENTENCES[kind].template, value=shown(value), count=count))


@dataclass(slots=True)
class Inspection:
    """What one file is.

    ``outside`` are its entries that its place does not let it speak for, with their lines; of these, ``rejected`` do
    not count by what robots.txt files say either.
    ``lost`` says that the lenient reading has lost something, ``is_faulty`` that the strict one finds anything wrong;
    ``refused`` that nothing could be read.
    """

    url: str
    kind: Kind = "unknown"
    entries: int = 0
    children: list[Child] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    size_bytes: int = 0
    outside: list[tuple[int, str]] = field(default_factory=list)
    rejected: set[str] = field(default_factory=set)
    lost: bool = False
    is_faulty: bool = False
    refused: bool = False

    @property
    def is_valid(self) -> bool:
        """Whether the lenient reading lost nothing and every entry counts."""
        return not self.lost and all(one.kind in MENDED or one.kind not in SENTENCES for one in self.problems)

    @property
    def is_strictly_valid(self) -> bool:
        """Whether nothing at all is wrong."""
        return not self.is_faulty and all(one.kind not in SENTENCES for one in self.problems)

    @property
    def other_origins(self) -> list[str]:
        """The other sites of its entries, so many that are worth asking (SM-35)."""
        own = _origin(self.url)
        found = dict.fromkeys(_origin(loc) for _, loc in self.outside)
        return [one for one in found if one and one != own][:_MOST_ORIGINS]


def inspect(
    pieces: Callable[[], Iterable[bytes]],
    *,
    url: str,
    strict: bool = False,
    place: str | None = "",
    each: Callable[[Entry], object] | None = None,
    limit_bytes: int = LIMIT_BYTES,
    whole: bool = True,
) -> Inspection:
    """Read a file in both readings; the problems are those of the reading asked for.

    ``place`` is the URL that the location rule is measured by ("" for the file's own, None for no rule). ``each`` gets
    the entries; ``limit_bytes`` and ``whole`` as for ``sitemap.read``. Memory does not grow with the file, but for
    entries outside its place.
    """

    def reading(*, strict: bool) -> Reader:
        return Reader(url, strict=strict, limit_bytes=limit_bytes, whole=whole)

    found = Inspection(url)
    rule = Rule(url if place == "" else place) if place is not None else None
    reader = reading(strict=strict)
    for item in reader.items(pieces()):
        if isinstance(item, Problem):
            found.problems.append(item)
        elif isinstance(item, Child):
            found.children.append(item)
        else:
            found.entries += 1
            if rule and not rule.holds(item.loc):
                found.outside.append((reader.line, item.loc))
            if each:
                each(item)
    found.kind, found.refused, found.size_bytes = reader.kind, reader.refused, reader.size_bytes
    if found.refused and strict:
        found.entries, found.children, found.outside = 0, [], []  # AMB-SM-4
    other = [item.kind for item in reading(strict=not strict).items(pieces()) if isinstance(item, Problem)]
    lenient, strictly = ([one.kind for one in found.problems], other)[:: -1 if strict else 1]
    found.lost, found.is_faulty = any(kind not in MENDED for kind in lenient), bool(strictly)
    return found


class Rule:
    """The location rule of one file (SM-30 to SM-33), asked of many entries."""

    def __init__(self, place: str) -> None:
        """Measure by the file's URL."""
        self._place = place
        path = place.partition("?")[0]
        self._folder = path[: path.rfind("/") + 1]

    def holds(self, loc: str) -> bool:
        """Say whether an entry lies beside or below the file."""
        if loc.startswith(self._folder) and not any(mark in loc for mark in ("/.", "%", "\\")):
            return True  # ten times as fast, and most entries are spelt as their file is
        return in_location(loc, self._place)


def settle(found: Inspection, proven: frozenset[str], *, strict: bool, limit_2007: bool = False) -> None:
    """Add the problems of place to a file's: ``proven`` are the origins whose robots.txt names it (SM-35, SM-36).

    Named by its own site's robots.txt it speaks for the whole site, with one problem for the file; the strict reading
    does not grant that (AMB-SM-7).
    """
    own, above = _origin(found.url), []
    told: dict[str, int] = {}
    for line, loc in found.outside:
        origin = _origin(loc)
        if origin in proven and (origin != own or not strict):
            if origin == own:
                above.append((line, loc))
            continue
        found.rejected.add(loc)
        kind = "location" if origin == own else "host"
        told[kind] = told.get(kind, 0) + 1
        if told[kind] <= _MOST_OF_A_KIND:
            found.problems.append(problem(kind, loc, line=line))
        if strict:
            found.entries -= 1
    found.problems += [
        Problem(1, kind, Sentence(MORE.template, count=f"{count - _MOST_OF_A_KIND:,}"))
        for kind, count in told.items()
        if count > _MOST_OF_A_KIND
    ]
    if above:
        found.problems.append(problem("by-robots", above[0][1], count=f"{len(above):,}", line=above[0][0]))
    if limit_2007 and found.size_bytes > LIMIT_BYTES_2007:
        found.problems.append(problem("too-large-2007"))


def _origin(address: str) -> str:
    try:
        return urls.parse(address).origin
    except UrlError:
        return ""
