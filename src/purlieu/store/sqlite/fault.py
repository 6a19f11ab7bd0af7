"""SQLite's faults as the owner is told them: what happened, and what to do.

Knows the driver's exceptions; no exception of the driver leaves the store.
"""

from __future__ import annotations

from typing import Final

import apsw

from purlieu.errors import OutOfMemory, StoreError

_REMEDIES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (apsw.FullError, "the disk is full: free some space, then resume; nothing stored is lost"),
    (apsw.ReadOnlyError, "the file or its folder is read-only: make it writable, or name another store"),
    (apsw.NotADBError, 'the file is no store of ours, or its beginning is damaged: try "purlieu store repair {path}"'),
    (apsw.CorruptError, 'the file is damaged: "purlieu store repair {path}" saves what can be read into a new file'),
    (UnicodeDecodeError, 'the file is damaged: "purlieu store repair {path}" saves what can be read into a new file'),
    (apsw.CantOpenError, "the file cannot be opened: check that its folder exists and may be written"),
    (apsw.BusyError, "another program holds the file: end it, or name another store"),
    (apsw.LockedError, "another program holds the file: end it, or name another store"),
    (apsw.IOError, "the disk gave an error: check the disk and its free space, then resume; nothing stored is lost"),
    (apsw.PermissionsError, "the file may not be used: check its rights"),
    (apsw.NoMemError, "there is no memory left: end other programs, then resume; nothing stored is lost"),
)
_CODES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (apsw.FullError, "full"),
    (apsw.ReadOnlyError, "readonly"),
    (apsw.PermissionsError, "readonly"),
    (apsw.NotADBError, "damaged"),
    (apsw.CorruptError, "damaged"),
    (UnicodeDecodeError, "damaged"),
    (apsw.BusyError, "busy"),
    (apsw.LockedError, "busy"),
    (apsw.CantOpenError, "missing"),
    (apsw.IOError, "disk"),
    (apsw.NoMemError, "memory"),
)
_OF_THE_DISK: Final = (apsw.FullError, apsw.ReadOnlyError, apsw.IOError)


def told(path: str, error: Exception) -> StoreError:
    """Return a fault of the driver as ours, with its remedy. Text that is no text is a damaged file too."""
    remedy = next((text for kind, text in _REMEDIES if isinstance(error, kind)), str(error))
    kind = OutOfMemory if isinstance(error, apsw.NoMemError) else StoreError
    fault = kind(f'store "{path}": {remedy.format(path=path)} ({error})')
    fault.code = next((code for kind, code in _CODES if isinstance(error, kind)), fault.code)
    if isinstance(error, _OF_THE_DISK):
        fault.what = "disk"
    return fault
