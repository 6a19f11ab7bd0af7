"""Makes the file in which a run is laid out for looking at it (``shelf``): from the store, which is only read.

Whole or not at all; lost without harm. What the rows mean is not judged here, but for their difference from the run
before, which is ``difference``'s to say.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import apsw

from purlieu.difference import Difference, Seen, judge, section_of
from purlieu.outcome import KINDS, REASONS
from purlieu.store.database import statements
from purlieu.store.reader import RunRow
from purlieu.store.sqlite.fault import told
from purlieu.url import key64
from purlieu.value import dataclass, field

LAYOUT: Final = 2
"""Stands in the names of the files: of another one nothing is read."""
DEEPEST: Final = 8
"""Folders below a host that are told apart; what is deeper counts in the last of them."""
_MADE: Final = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI


def path_of(folder: Path, run: RunRow) -> Path:
    """Return the file of a run's shelf. Its name changes with a resume, and with a store that was made anew."""
    ended = "live" if run.state == "running" else f"{int((run.ended_at or 0) * 1000):x}"
    return folder / f"{run.id}-{int(run.started_at * 1000):x}-{ended}-{LAYOUT}.shelf"


def make(store: str, run: RunRow, folder: Path) -> None:
    """Make the shelf of a run. Raises StoreError."""
    path = path_of(folder, run)
    made = path.with_suffix(f".{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        connection = apsw.Connection(str(made), flags=_MADE)
        try:
            _fill(connection, store, run)
        finally:
            connection.close()
        made.replace(path)
    except apsw.Error as error:
        raise told(str(made), error) from None
    finally:
        with suppress(OSError):
            made.unlink()


def _fill(connection: apsw.Connection, store: str, run: RunRow) -> None:
    sql = statements()
    words = _Words()
    functions: tuple[tuple[str, Callable[..., Any], int], ...] = (
        ("code_of", words.code, 1), ("section_of", section_of, 1), ("folder_of", folder_of, 1),
        ("section_code_of", lambda href: key64(section_of(href)), 1), ("difference_of", _difference, 6),
    )  # fmt: skip
    for name, function, number in functions:
        connection.create_scalar_function(name, function, number, deterministic=True)
    # Before the store is attached, whose journal is not ours to set.
    connection.execute(sql["shelf_begin"]).fetchall()
    connection.execute(sql["sqlite_attach"], (f"{Path(store).resolve().as_uri()}?mode=ro",))
    connection.execute(sql["sqlite_begin"])
    ((before,),) = connection.execute(sql["shelf_before"], (run.id,))
    connection.execute(sql["shelf_fill"], (run.id, before))
    connection.executemany(sql["shelf_add_word"], [(code, word) for word, code in words.codes.items()])
    connection.execute(sql["shelf_end"])
    names = {code: word for word, code in words.codes.items()}
    connection.executemany(
        sql["shelf_add_folder"],
        _folders(
            (folder, names[kind], names[difference], number, first, last)
            for folder, kind, difference, number, first, last in connection.execute(sql["shelf_leaves"])
        ),
    )
    connection.execute(sql["shelf_folders_end"])
    connection.execute(sql["sqlite_commit"])


class _Words:
    """Numbers for the words of the ledger, in their order, so that what is sorted by number is sorted by word."""

    def __init__(self) -> None:
        known = {*KINDS, "due", "page", "robots", "sitemap", "", *map(str, Difference)}
        known |= {name.partition(".")[2] for name in REASONS}
        self.codes = {word: code for code, word in enumerate(sorted(known))}

    def code(self, word: str) -> int:
        """Return the number of a word; one of another version comes last."""
        return self.codes.setdefault(word, len(self.codes))


def _difference(
    kind: str | None,
    digest: str | None,
    leads_to: str | None,
    now: str,
    digest_now: str | None,
    leads_to_now: str | None,
) -> str:
    before = None if kind is None else Seen(kind, "", digest=digest, redirect_to=leads_to)
    return str(judge(before, Seen(now, "", digest=digest_now, redirect_to=leads_to_now))[0])


def folder_of(href: str) -> str:
    """Return the folder that a page is shown in: one whose path ends in a slash lies in the folder above.

    "" for what is no address of the web; at most ``DEEPEST`` folders below the host.
    """
    if not href.startswith(("http://", "https://")):
        return ""
    path, mark, _ = href.partition("?")
    if path.endswith("/") and not mark and path.count("/") > 3:
        path = path[:-1]
    parts = path.split("/")[:-1]
    return "/".join(parts[: 3 + DEEPEST]) + "/"


@dataclass(slots=True)
class _Open:
    """A folder whose pages are going by."""

    folder: str
    first: int
    last: int = 0
    own: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    differences: Counter[str] = field(default_factory=Counter)

    def row(self, parent: str) -> tuple[str | int, ...]:
        number = sum(self.kinds.values())
        kinds, differences = json.dumps(self.kinds), json.dumps(self.differences)
        return (self.folder, parent, number, self.own, kinds, differences, self.first, self.last)


def _folders(leaves: Iterator[tuple[str, str, str, int, int, int]]) -> Iterator[tuple[str | int, ...]]:
    """Yield the folders with all below them, from the leaves in order; only the open ones are held."""
    open_: list[_Open] = []

    def close() -> tuple[str | int, ...]:
        done = open_.pop()
        above = open_[-1] if open_ else None
        if above:
            above.kinds.update(done.kinds)
            above.differences.update(done.differences)
            above.first, above.last = min(above.first, done.first), max(above.last, done.last)
        return done.row(above.folder if above else "")

    for folder, kind, difference, number, first, last in leaves:
        if not folder:
            continue
        while open_ and not folder.startswith(open_[-1].folder):
            yield close()
        held = open_[-1].folder if open_ else ""
        if folder != held:
            parts = folder.split("/")
            for depth in range(max(held.count("/"), 3), folder.count("/") + 1):
                name = "/".join(parts[:depth]) + "/"
                if name != held:
                    open_.append(_Open(name, first))
        here = open_[-1]
        here.kinds[kind] += number
        here.own += number
        if difference:
            here.differences[difference] += number
        here.first, here.last = min(here.first, first), max(here.last, last)
    while open_:
        yield close()
