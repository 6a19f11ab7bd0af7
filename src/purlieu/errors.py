"""What can go wrong with us.

The web's misbehaviour is never an error: it is an outcome (``outcome.py``).
These are the owner's mistakes and our machinery's faults; each message says
what happened, shows the value in quotes and tells what to do.
"""

from __future__ import annotations

from purlieu.value import dataclass


class PurlieuError(Exception):
    """Any fault of ours or of the owner's settings."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing wrong in the owner's settings: where, the value, and what to write instead."""

    key: str
    value: str
    remedy: str
    file: str | None = None

    def __str__(self) -> str:
        """Return one line: ``FILE: KEY = "VALUE": REMEDY``."""
        where = f"{self.file}: " if self.file else ""
        return f'{where}{self.key} = "{self.value}": {self.remedy}'


class SettingsError(PurlieuError):
    """The owner's settings hold mistakes; ``mistakes`` lists every one of them."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        """Keep the mistakes; the message is one line for each."""
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = mistakes


class UrlError(PurlieuError, ValueError):
    """A text is no URL by the WHATWG standard."""


class StoreError(PurlieuError):
    """The store cannot be read or written: full disk, damaged or read-only file.

    ``what`` is what failed, as the run's stop reason names it (R-8.1): store, disk or memory. ``code`` is why, as far
    as it is known: missing, busy, schema, damaged, full, readonly, disk or memory; else store.
    """

    what = "store"
    code = "store"


class OutOfMemory(StoreError):
    """This process got no more memory from the system."""

    what = "memory"
    code = "memory"


class ArchiveFull(StoreError):
    """The disk does not take what is to be kept of the pages."""

    what = "disk"


class StoreBusy(StoreError):
    """Another process holds the store (R-4.3)."""

    code = "busy"


class SchemaMismatch(StoreError):
    """The store was written by another version of the schema."""

    code = "schema"


class FeedError(PurlieuError):
    """A search engine cannot be told of changes: it is down, refuses us, or is none."""


class NothingToResume(PurlieuError):
    """There is no unfinished run to resume."""
