"""The words of a crawl's newest content, for a search of them: a file beside the store, brought up to date when asked.

It grows some pages at a time, and says whether it has all; lost without harm, and made anew when it is damaged. Where
none can be written it is made in memory. Which pages stand is told by the store, which is only read; what is shown of a
page is not known here.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import apsw

from purlieu.query import folded
from purlieu.store.database import Row, statements
from purlieu.store.sqlite.fault import told

LAYOUT: Final = 1
"""Stands in the names of the files: of another one nothing is read."""
_MOST_TRIGRAMS: Final = 300
AT_ONCE: Final = 500
"""Pages that are taken in together."""
Told = Callable[[int, int], object]
_FILE: Final = re.compile(r"([0-9]+)-[0-9]+\.search(?:-wal|-shm|-journal)?", re.ASCII)
_MADE: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
_DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.SQLError)
_UNWRITABLE: Final = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.FullError, apsw.IOError)
_WAIT_MILLISECONDS: Final = 60_000


class SearchIndex:
    """The words of one crawl. ``open`` makes it and brings it up to date; whoever opened it closes it."""

    def __init__(self, name: str, connection: apsw.Connection) -> None:
        """Hold an open connection; ``name`` stands in faults. ``is_whole``: it has all that stands."""
        self._name = name
        self.is_whole = True
        self._connection = connection
        self._sql = statements()

    @classmethod
    def open(
        cls, store: str, crawl: int, folder: Path | None = None, told: Told | None = None, at_once: int = AT_ONCE
    ) -> SearchIndex:
        """Open the index of a crawl by its number, in a folder (STORE.search). Raises StoreError.

        The first time takes a second for some hundred pages; later it reads only what has changed. ``told`` hears how
        many pages are taken in so far, and of how many; ``at_once`` are taken in in one transaction.
        """
        return cls._opened(store, crawl, folder, lambda made: made.bring_up_to_date(crawl, told, at_once))

    @classmethod
    def as_it_is(cls, store: str, crawl: int, folder: Path | None = None) -> SearchIndex:
        """Open it without taking anything in; ``is_whole`` says whether that was needed. Raises StoreError."""
        return cls._opened(store, crawl, folder, lambda made: made.look(crawl))

    @classmethod
    def _opened(
        cls, store: str, crawl: int, folder: Path | None, prepare: Callable[[SearchIndex], None]
    ) -> SearchIndex:
        path = (folder or Path(f"{store}.search")) / f"{crawl}-{LAYOUT}.search"
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return cls._made(store, str(path), prepare)
        except _DAMAGED:
            for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                with suppress(OSError):
                    name.unlink()
        except _UNWRITABLE:
            pass
        except apsw.Error as error:
            raise told(str(path), error) from None
        try:
            return cls._made(store, ":memory:", prepare)
        except apsw.Error as error:
            raise told(store, error) from None

    @classmethod
    def _made(cls, store: str, name: str, prepare: Callable[[SearchIndex], None]) -> SearchIndex:
        connection = apsw.Connection(name, flags=_MADE)
        try:
            made = cls(name, connection)
            connection.set_busy_timeout(_WAIT_MILLISECONDS)
            connection.execute(made._sql["search_begin"]).fetchall()
            made._attach(store)
            prepare(made)
        except BaseException:
            connection.close(force=True)
            raise
        return made

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def number(self, groups: Sequence[Sequence[str]]) -> int:
        """Return how many pages have one word of each group; a word is folded and has no limits of length."""
        asked = self._asked(groups)
        return int(next(self._rows("search_number", asked))[0]) if asked else 0

    def find(self, groups: Sequence[Sequence[str]], most: int) -> list[int]:
        """Return content.id of those of these pages that are likely the best, at least so many if there are.

        To be weighed by whoever reads them: these are the best by the index's own measure, and the best that have the
        words in their titles.
        """
        asked = self._asked(groups)
        if not asked:
            return []
        questions = (asked, f"{{title}} : ({asked})")
        return list({row[0]: None for one in questions for row in self._rows("search_found", one, most)})

    def size(self) -> tuple[int, float]:
        """Return how many pages there are, and about how many characters each has."""
        return next((row[0], row[1]) for row in self._rows("search_size"))

    def _asked(self, groups: Sequence[Sequence[str]]) -> str:
        """Return the question in the index's language, in which every word is quoted; "" where no page has all."""
        asked = []
        for group in groups:
            parts = [part for word in group for part in self._parts(word)]
            if not parts:
                return ""
            asked.append(" OR ".join(map(_quoted, parts)))
        return " AND ".join(f"({one})" for one in asked)

    def _parts(self, word: str) -> list[str]:
        """Return what the index has of a word: one of fewer than three characters is the beginning of some trigrams."""
        if len(word) > 2:
            return [word]
        rows = self._rows("search_trigrams", word, f"{word}\U0010ffff", _MOST_TRIGRAMS)
        return [row[0] for row in rows]

    def _attach(self, store: str) -> None:
        where = Path(store).resolve().as_uri()
        try:
            self._connection.execute(self._sql["sqlite_attach"], (f"{where}?mode=ro",))
            self._connection.execute(self._sql["search_is_settled"], (0,)).fetchall()
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError) as error:
            log = Path(f"{store}-wal")
            if log.exists() and log.stat().st_size:
                raise told(store, error) from None
            with suppress(apsw.SQLError):
                self._connection.execute(self._sql["search_detach"])
            self._connection.execute(self._sql["sqlite_attach"], (f"{where}?immutable=1",))

    def _stamp(self, crawl: int) -> tuple[int, str]:
        """Return the run whose pages stand, and what says that the index has them all; "" while somebody crawls."""
        run = next(self._rows("search_run", crawl), None)
        changes = list(self._rows("search_changes", crawl))
        is_settled = bool(next(self._rows("search_is_settled", crawl))[0])
        return (run[0] if run else 0), json.dumps([run, changes]) if is_settled else ""

    def look(self, crawl: int) -> None:
        """See whether it has all that stands."""
        _, stamp = self._stamp(crawl)
        self.is_whole = bool(stamp) and next(self._rows("search_stamp"), None) == (stamp,)

    def bring_up_to_date(self, crawl: int, told: Told | None, at_once: int = AT_ONCE) -> None:
        """Take out and take in what differs from what stands."""
        run, stamp = self._stamp(crawl)
        if stamp and next(self._rows("search_stamp"), None) == (stamp,):
            return
        functions: tuple[tuple[str, Callable[..., str]], ...] = (
            ("folded", folded), ("unpacked", _unpacked), ("headings_of", _headings),
        )  # fmt: skip
        for name, function in functions:
            self._connection.create_scalar_function(name, function, 1, deterministic=True)
        self._connection.execute(self._sql["search_stand"], (run, crawl))
        self._together(("forget_words", ()), ("forget", ()), ("put_stamp", ("",)))
        stands, done = next(self._rows("search_progress"))
        while done < stands:  # some at a time, so that others can search what is there
            self._together(("add_words", (at_once,)), ("add", (at_once,)))
            before, (stands, done) = done, next(self._rows("search_progress"))
            if done == before:  # of a page that has gone since
                break
            if told is not None:
                told(done, stands)
        self._together(("put_stamp", (stamp,)))
        self._connection.execute(self._sql["search_end"])

    def _together(self, *steps: tuple[str, tuple[Any, ...]]) -> None:
        """Take some steps in one transaction."""
        execute = self._connection.execute
        execute(self._sql["sqlite_begin"])
        try:
            for name, values in steps:
                execute(self._sql[f"search_{name}"], values)
            execute(self._sql["sqlite_commit"])
        except BaseException:
            if self._connection.in_transaction:
                execute(self._sql["sqlite_rollback"])
            raise

    def _rows(self, name: str, *values: Any) -> Iterator[Row]:
        yield from self._connection.execute(self._sql[name], values)


def sweep(store: str, crawls: Iterable[int]) -> list[str]:
    """Remove the indexes of crawls that are gone; ``crawls`` are those that are there. Returns the files' names."""
    there = {str(number) for number in crawls}
    removed: list[str] = []
    with suppress(OSError):  # there may be no folder; what cannot be removed stays
        for path in list(Path(f"{store}.search").iterdir()):
            found = _FILE.fullmatch(path.name)
            if found is not None and found[1] not in there:
                path.unlink()
                removed.append(path.name)
    return removed


def _quoted(part: str) -> str:
    return '"{}"'.format(part.replace('"', '""'))


def _unpacked(text: bytes) -> str:
    return folded(zlib.decompress(text).decode("utf-8", "replace"))


def _headings(told: str) -> str:
    return " ".join(folded(heading) for _, heading in json.loads(told))
