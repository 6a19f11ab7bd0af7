"""The ledger of one run laid out for looking at it: which rows meet conditions, in an order, from a place on.

Reads the file that ``shelf_making`` has made. Knows no web page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from purlieu.difference import Difference
from purlieu.store.database import Row, statements
from purlieu.store.reader import RunRow
from purlieu.store.sqlite.fault import told
from purlieu.store.sqlite.shelf_making import make, path_of
from purlieu.url import key64
from purlieu.value import dataclass

__all__ = ["CHANGED", "SORTS", "Folder", "Shelf", "ShelfRow", "Wanted", "make", "path_of"]

SMALL: Final = 20_000
"""So many rows are read one by one; more are looked for in the index of facts."""
_SORTS: Final = {
    "url": "id", "kind": "kind", "reason": "reason", "status": "status", "depth": "depth", "bytes": "bytes",
    "seconds": "seconds",
}  # fmt: skip
SORTS: Final = tuple(_SORTS)
"""What a table can be sorted by; "url" is by host first."""
CHANGED: Final = "any"
"""The condition that something has become of a row since the run before."""
_MOST_TRIGRAMS: Final = 60
_MOST_BEGINNINGS: Final = 300
_FIRST_TRY: Final = 1_000
_MOST_TOLD: Final = 300_000
_AT_ONCE: Final = 50_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are asked for and in which order; an empty text, or status 0, is no condition.

    ``text`` stands somewhere in the address or title, in whatever case. ``changed`` is a class of difference from the
    run before, or CHANGED; ``within`` a folder with all below it,
    or where ``is_own`` with what lies in no folder of it. ``after`` is a row's (value, id), behind which the
    page begins; None for the first page.
    """

    kind: str = ""
    reason: str = ""
    section: str = ""
    status: int = 0
    purpose: str = ""
    text: str = ""
    changed: str = ""
    within: str = ""
    is_own: bool = False
    sort: str = "url"
    is_descending: bool = False
    after: tuple[float, int] | None = None


class ShelfRow(NamedTuple):
    """One row of the ledger as a table shows it; ``status`` 0, ``bytes`` and ``seconds`` -1 where nothing answered.

    ``difference`` from the run before is "" where there is none.
    """

    id: int
    href: str
    purpose: str
    kind: str
    reason: str
    status: int
    title: str
    content_type: str
    depth: int
    bytes: int
    seconds: float
    difference: str


class Folder(NamedTuple):
    """A folder of the pages with the numbers of all below it; its ``parent`` is "" for the top of a host.

    ``own`` pages lie in no folder of it. ``first`` and ``last`` are places of rows between which they all lie.
    """

    folder: str
    parent: str
    number: int
    own: int
    kinds: Mapping[str, int]
    differences: Mapping[str, int]
    first: int
    last: int


class Shelf:
    """The rows of one run. ``open`` makes it; whoever opened it closes it."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Hold an open connection."""
        self._path = path
        self._connection = connection
        self._sql = statements()
        self._words: dict[int, str] = dict(self._rows(self._sql["shelf_words"]))
        self._codes = {word: code for code, word in self._words.items()}

    @classmethod
    def open(cls, store: str, run: RunRow, folder: Path) -> Shelf:
        """Open the shelf of a run, made first where it is not there: a minute for a million rows. Raises StoreError.

        One of a run under way holds what had ended when it was made; ``make`` makes it anew.
        """
        path = path_of(folder, run)
        if not path.is_file():
            make(store, run, folder)
        try:
            connection = apsw.Connection(
                f"{path.resolve().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
            return cls(path, connection)
        except apsw.Error as error:
            raise told(str(path), error) from None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def counts(self) -> dict[tuple[str, str, str], int]:
        """Return how many rows ended how: (purpose, kind, reason) to number."""
        return {
            (self._words[row[0]], self._words[row[1]], self._words[row[2]]): row[3]
            for row in self._rows(self._sql["shelf_counts"])
        }

    def differences(self) -> dict[str, int]:
        """Return how many rows have which difference from the run before; empty where there is none."""
        found = {self._words[code]: number for code, number in self._rows(self._sql["shelf_differences"])}
        return {name: number for name, number in found.items() if name}

    def statuses(self) -> list[tuple[int, int]]:
        """Return the statuses that there are with their numbers, by status."""
        return [(row[0], row[1]) for row in self._rows(self._sql["shelf_statuses"])]

    def sections(self, most: int) -> dict[str, dict[str, int]]:
        """Return the largest sections with their pages by kind, by name."""
        found: dict[str, dict[str, int]] = {}
        for section, kind, number in self._rows(self._sql["shelf_sections"], most):
            found.setdefault(section, {})[self._words[kind]] = number
        return found

    def folder(self, name: str) -> Folder | None:
        """Return a folder, None when no page lies in it."""
        return next((_folder(row) for row in self._rows(self._sql["shelf_folder"], name)), None)

    def folders(self, parent: str, most: int) -> list[Folder]:
        """Return the largest folders of a folder, at most so many; "" has the tops of the hosts."""
        return [_folder(row) for row in self._rows(self._sql["shelf_folders"], parent, most)]

    def number(self, wanted: Wanted) -> int:
        """Return how many rows meet all conditions but ``text`` and ``within``, from what was counted."""
        named, values = self._facts(wanted)
        if named is None:
            return 0
        sql = self._sql["shelf_number"].replace(":from", "cell" if "section" in named else "tally")
        return int(next(self._rows(sql.replace(":where", self._where(named)), values))[0])

    def rows(self, wanted: Wanted, most: int) -> list[ShelfRow]:
        """Return one page of the table, at most so many rows."""
        search = self._search(wanted, most)
        if search is None:
            return []
        found: list[ShelfRow] = []
        text = wanted.text.lower()
        while True:
            places = search.some()
            for value, place in places:
                row = self._row(place)
                search.after = (value, place)
                if not text or text in row.href.lower() or text in row.title.lower():
                    found.append(row)
                    if len(found) == most:
                        return found
            if len(places) < search.limit:
                return found
            search.widen()

    def value_of(self, row: ShelfRow, sort: str) -> float:
        """Return what a row is sorted by: with its id the place behind which the next page begins."""
        value = row.id if sort == "url" else getattr(row, sort)
        return self._codes[value] if isinstance(value, str) else value

    def rows_of(self, sql: str, values: Mapping[str, Any]) -> list[Row]:
        """Return the rows of a question that ``_Search`` has put together."""
        return list(self._rows(sql, values))

    # -- how it is looked for ----------------------------------------------------------------------

    def _search(self, wanted: Wanted, most: int) -> _Search | None:
        """Return how rows are looked for, None where nothing can be found."""
        named, values = self._facts(wanted)
        if named is None:
            return None
        number = self.number(wanted)
        span = number
        if wanted.within:
            folder = self.folder(wanted.within)
            if folder is None:
                return None
            named.append("own" if wanted.is_own else "within")
            values |= {"first": folder.first, "last": folder.last}
            span = folder.last - folder.first + 1
            if wanted.is_own:
                own = self._own(folder)
                values["own"], span = json.dumps(own), len(own)
        trigrams, likely = self._likely(wanted.text) if wanted.text else ("", -1)
        if not number or (wanted.text and not likely):
            return None
        search = _Search(self, wanted, self._where(named), self._by(named, values, wanted, span), values, most)
        if wanted.text:
            search.limit = max(most, _FIRST_TRY)
            search.values["trigrams"] = trigrams
            if trigrams and likely <= SMALL:
                search.is_told, search.limit, search.by = True, SMALL + 1, "NOT INDEXED"
            elif trigrams and min(number, span) > SMALL:
                search.follows_text = wanted.sort == "url"
                search.can_tell = likely <= _MOST_TOLD
        return search

    def _by(self, named: list[str], values: Mapping[str, Any], wanted: Wanted, span: int) -> str:
        """Return what is read: rows where they are few or in order, else the index that has every fact."""
        if wanted.within and span <= SMALL:
            return "NOT INDEXED"
        if wanted.sort == "url" and set(named) <= {"within", "own"}:
            return "NOT INDEXED"
        if "section" in named and self._section_number(values["section"]) <= SMALL:
            return "INDEXED BY row_section"
        return "INDEXED BY row_facts"

    def _own(self, folder: Folder) -> list[int]:
        """Return the places of a folder that lie in none of its folders, whose rows follow one another."""
        found: list[int] = []
        place = folder.first
        for first, last in self._rows(self._sql["shelf_spans"], folder.folder):
            found += range(place, first)
            place = max(place, last + 1)
        return [*found, *range(place, folder.last + 1)]

    def _section_number(self, code: int) -> int:
        return next((int(row[0]) for row in self._rows(self._sql["shelf_section_number"], code)), 0)

    def _facts(self, wanted: Wanted) -> tuple[list[str] | None, dict[str, Any]]:
        """Return the conditions that are counted, by name, and their values; None for one that nothing meets."""
        values: dict[str, Any] = {}
        for name, word in (
            ("kind", wanted.kind), ("reason", wanted.reason), ("purpose", wanted.purpose),
            ("difference", "" if wanted.changed == CHANGED else wanted.changed),
        ):  # fmt: skip
            if word:
                if word not in self._codes:
                    return None, {}
                values[name] = self._codes[word]
        if wanted.section:
            values["section"] = key64(wanted.section)
        if wanted.status:
            values["status"] = wanted.status
        named = list(values)
        if wanted.changed == CHANGED:
            named.append("changed")
            values |= {
                "nothing": self._codes.get(""), "unchanged": self._codes.get(Difference.UNCHANGED),
                "outside": self._codes.get(Difference.OUTSIDE),
            }  # fmt: skip
        return named, values

    def _where(self, named: list[str]) -> str:
        return " AND ".join(self._sql[f"shelf_where_{name}"] for name in named or ["any"])

    def _likely(self, text: str) -> tuple[str, int]:
        """Return the question for rows that may have a text, and at most how many these are.

        They have all trigrams of it; a shorter text is the beginning of some. "" where too many begin so.
        """
        folded = text.lower()
        if len(folded) < 3:
            rows = list(self._rows(self._sql["shelf_trigrams_from"], folded, f"{folded}\U0010ffff", _MOST_BEGINNINGS))
            number = sum(row[1] for row in rows)
            if len(rows) == _MOST_BEGINNINGS:
                return "", SMALL + 1
            return (" OR ".join(map(_quoted, (row[0] for row in rows))) if number <= SMALL else ""), number
        parts = dict.fromkeys(folded[at : at + 3] for at in range(min(len(folded), _MOST_TRIGRAMS) - 2))
        if any("\0" in part for part in parts):
            return "", 0
        numbers = [next((row[0] for row in self._rows(self._sql["shelf_trigram"], part)), 0) for part in parts]
        return " AND ".join(map(_quoted, parts)), min(numbers)

    def _row(self, place: int) -> ShelfRow:
        row = list(next(self._rows(self._sql["shelf_row"], place)))
        for at in (2, 3, 4, 11):
            row[at] = self._words[row[at]]
        return ShelfRow._make(row)

    def _rows(self, sql: str, *values: Any) -> Iterator[Row]:
        bound = values[0] if values and isinstance(values[0], dict) else values
        try:
            yield from self._connection.execute(sql, bound)
        except apsw.Error as error:
            raise told(str(self._path), error) from None


@dataclass(slots=True)
class _Search:
    """One question, asked for some places at a time.

    ``is_told``: only what may have the text, all of it at once. ``follows_text``: the same in the order of the rows.
    """

    shelf: Shelf
    wanted: Wanted
    where: str
    by: str
    values: dict[str, Any]
    limit: int
    after: tuple[float, int] | None = None
    is_told: bool = False
    can_tell: bool = False
    follows_text: bool = False

    def __post_init__(self) -> None:
        self.after = self.wanted.after

    def widen(self) -> None:
        """Look at more places in one go: few of the last ones had the text."""
        self.is_told = self.is_told or (self.can_tell and not self.follows_text)
        self.limit = min(self.limit * 8, _AT_ONCE)

    def some(self) -> list[tuple[float, int]]:
        """Return the next places with their values in the order."""
        sql, way = statements(), "DESC" if self.wanted.is_descending else "ASC"
        column = _SORTS[self.wanted.sort]
        where = [self.where]
        values = dict(self.values)
        if self.after is not None:
            where.append(sql["shelf_before_place" if self.wanted.is_descending else "shelf_behind"])
            values |= {"value": self.after[0], "place": self.after[1]}
        if self.is_told:
            where.append(sql["shelf_where_told"])
        if self.follows_text:
            low, high = values.get("first", 0), values.get("last", 2**62)
            place = self.after[1] if self.after else None
            descends = self.wanted.is_descending
            values["low"] = low if place is None or descends else place + 1
            values["high"] = high if place is None or not descends else place - 1
        asked = sql["shelf_told" if self.follows_text else "shelf_places"]
        order = f"{column} {way}" if column == "id" else f"{column} {way}, id {way}"
        asked = asked.replace(":where", " AND ".join(where)).replace(":by", self.by).replace(":order", order)
        asked = asked.replace(":way", way).replace(":most", str(self.limit)).replace(":column", column)
        return [(row[0], row[1]) for row in self.shelf.rows_of(asked, values)]


def _quoted(part: str) -> str:
    return '"{}"'.format(part.replace('"', '""'))


def _folder(row: Row) -> Folder:
    return Folder._make((*row[:4], json.loads(row[4]), json.loads(row[5]), *row[6:]))
