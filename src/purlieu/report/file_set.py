"""Several files of one folder that take the place of former ones, each whole, the one that names the others last.

Knows names, parts and renames. Knows nothing of what is in the files. A reader of the folder, such as a web server,
meets every file either as it was or as it is now.
"""

from __future__ import annotations

import fcntl
import filecmp
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from purlieu.errors import StoreError
from purlieu.report.whole_file import told

_PART = ".part"


class FileSet:
    """New files beside the old ones, in the order in which they were begun."""

    def __init__(self, folder: Path) -> None:
        """Write into a folder; ``replacing_in`` makes one of these."""
        self._folder = folder
        self.changed: list[str] = []
        self.names: list[str] = []

    def put(self, chunks: Iterable[tuple[str, bytes]]) -> list[tuple[str, bool]]:
        """Write the bytes of files, those of one in a row, and return each name with whether it differs from before."""
        begun = len(self.names)
        file: BinaryIO | None = None
        with told(self._folder):
            try:
                for name, data in chunks:
                    if not self.names or self.names[-1] != name:
                        self._end(file)
                        self.names.append(name)
                        file = self._part(name).open("wb")
                    if file is not None:
                        file.write(data)
            finally:
                self._end(file)
        return [(name, self._differs(name)) for name in self.names[begun:]]

    @staticmethod
    def _end(file: BinaryIO | None) -> None:
        if file is not None:
            file.flush()
            os.fsync(file.fileno())
            file.close()

    def _differs(self, name: str) -> bool:
        old, new = self._folder / name, self._part(name)
        with told(new):
            if old.is_file() and filecmp.cmp(old, new, shallow=False):
                new.unlink()
                return False
        self.changed.append(name)
        return True

    def commit(self, surplus: Iterable[str]) -> list[str]:
        """Put what differs in its place, in the order of ``changed``, then remove the surplus; return what went."""
        removed = []
        with told(self._folder):
            for name in self.changed:
                self._part(name).replace(self._folder / name)
            self._sync()
            for name in surplus:
                if name not in self.names and (self._folder / name).is_file():
                    (self._folder / name).unlink()
                    removed.append(name)
            self._sync()
        return removed

    def discard(self) -> None:
        """Remove what was written and not put in place, by this process or by one that was killed."""
        for part in self._folder.glob(f".*{_PART}"):
            part.unlink(missing_ok=True)

    def _part(self, name: str) -> Path:
        return self._folder / f".{name}{_PART}"

    def _sync(self) -> None:
        number = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


@contextmanager
def replacing_in(folder: Path) -> Iterator[FileSet]:
    """Give a set of new files for a folder, made when absent, which no other process may write to meanwhile.

    What is not committed is removed at the end. Raises StoreError when the folder cannot be written to or is in use.
    """
    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        number = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)  # goes with the process, however that ends
        except OSError:
            raise StoreError(f'folder "{folder}": another process writes sitemaps there; wait for it to end') from None
        files = FileSet(folder)
        files.discard()
        try:
            yield files
        finally:
            files.discard()
    finally:
        os.close(number)
