"""A disk that fills up, or breaks, after so many writes: a VFS of SQLite under everything that is opened meanwhile.

Knows nothing of the store. Only writes and syncs fail; what was written before stays readable.
"""

from __future__ import annotations

from itertools import count
from types import TracebackType
from typing import Any, Self

import apsw

_NUMBERS = count()


class FailingDisk:
    """While it is entered, SQLite's writes fail from the ``after``-th on, until ``mended``."""

    def __init__(self, after: int, fault: type[apsw.Error] = apsw.FullError) -> None:
        """Let so many writes succeed; then each raises ``fault``."""
        self.left = after
        self.failed = False
        self.mended = False
        self._fault = fault

    def __enter__(self) -> Self:
        """Put the disk under SQLite."""
        self._vfs = _Vfs(f"failing-{next(_NUMBERS)}", self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take it away again; what is still open on it works on."""
        self.mended = True
        self._vfs.unregister()

    def write(self) -> None:
        """Count one write; raise when the disk is full."""
        self.left -= 1
        if self.left < 0 and not self.mended:
            self.failed = True
            raise self._fault("made by the test")


class _Vfs(apsw.VFS):
    def __init__(self, name: str, disk: FailingDisk) -> None:
        self._disk = disk
        self._base = apsw.vfs_names()[0]
        super().__init__(name, self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return _File(self._base, name, flags, self._disk)


class _File(apsw.VFSFile):
    def __init__(self, base: str, name: Any, flags: list[int], disk: FailingDisk) -> None:
        self._disk = disk
        super().__init__(base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._disk.write()
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._disk.write()
        super().xTruncate(size)
