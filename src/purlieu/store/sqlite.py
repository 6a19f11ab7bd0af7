"""SQLite behind the database seam: one file, one writing process (R-4.3, R-4.4).

The writer holds an operating-system lock on ``FILE.lock`` for as long as it lives, so
that a killed process frees it at once; readers open the file read-only beside it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from purlieu.errors import SchemaMismatch, StoreBusy, StoreError
from purlieu.store.database import SCHEMA_VERSION, Row, Value, schema, statements

_REMEDIES: tuple[tuple[type[Exception], str], ...] = (
    (apsw.FullError, "the disk is full: free some space, then resume; nothing stored is lost"),
    (apsw.ReadOnlyError, "the file or its folder is read-only: make it writable, or name another store"),
    (apsw.NotADBError, "the file is no store of ours: name another file"),
    (apsw.CorruptError, "the file is damaged: copy it away, then name another store or restore a copy"),
    (apsw.CantOpenError, "the file cannot be opened: check that its folder exists and may be written"),
    (apsw.BusyError, "another program holds the file: end it, or name another store"),
    (apsw.LockedError, "another program holds the file: end it, or name another store"),
    (apsw.IOError, "the disk gave an error: check the disk and its free space, then resume"),
    (apsw.PermissionsError, "the file may not be used: check its rights"),
)


def _fault(path: str, error: apsw.Error) -> StoreError:
    remedy = next((text for kind, text in _REMEDIES if isinstance(error, kind)), str(error))
    return StoreError(f'store "{path}": {remedy} ({error})')


class SqliteDatabase:
    """A store in one file. ``writer()`` and ``reader()`` make it."""

    def __init__(self, path: str, connection: apsw.Connection, lock: int | None = None) -> None:
        """Hold an open connection and, for the writer, the descriptor of the lock file."""
        self._path = path
        self._connection = connection
        self._lock = lock
        self._sql = statements()

    @classmethod
    def writer(cls, path: str) -> SqliteDatabase:
        """Open a file for writing and make it when absent.

        Raises StoreBusy when another process writes to it, SchemaMismatch when another
        version made it, StoreError for any other fault.
        """
        lock = _lock(path)
        try:
            connection = _connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, "sqlite_writer")
            try:
                _prepare(path, connection)
            except apsw.Error as error:
                connection.close()
                raise _fault(path, error) from None
        except BaseException:
            os.close(lock)
            raise
        return cls(path, connection, lock)

    @classmethod
    def reader(cls, path: str) -> SqliteDatabase:
        """Open a file read-only, beside a writer or alone. Raises StoreError and SchemaMismatch."""
        if not Path(path).is_file():
            message = f'store "{path}": there is no such file; name the store of a crawl with --store'
            raise StoreError(message)
        connection = _connect(path, apsw.SQLITE_OPEN_READONLY, "sqlite_reader")
        try:
            _check_version(path, connection)
        except apsw.Error as error:
            raise _fault(path, error) from None
        return cls(path, connection)

    def rows(self, name: str, *values: Value) -> Iterator[Row]:
        """Run a statement and yield its rows."""
        try:
            yield from self._connection.execute(self._sql[name], values)
        except apsw.Error as error:
            raise _fault(self._path, error) from None

    def one(self, name: str, *values: Value) -> Row | None:
        """Run a statement and return its first row, or None."""
        try:
            return self._connection.execute(self._sql[name], values).fetchone()
        except apsw.Error as error:
            raise _fault(self._path, error) from None

    def run(self, name: str, *values: Value) -> int:
        """Run a statement and return how many rows it changed."""
        try:
            self._connection.execute(self._sql[name], values)
            return self._connection.changes()
        except apsw.Error as error:
            raise _fault(self._path, error) from None

    def many(self, name: str, rows: Iterable[tuple[Value, ...]]) -> None:
        """Run a statement once for each row of values."""
        try:
            self._connection.executemany(self._sql[name], rows)
        except apsw.Error as error:
            raise _fault(self._path, error) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of what happens inside, or nothing when it raises."""
        try:
            self._connection.execute(self._sql["sqlite_begin"])
        except apsw.Error as error:
            raise _fault(self._path, error) from None
        try:
            yield
            self._connection.execute(self._sql["sqlite_commit"])
        except BaseException as error:
            # SQLite has rolled back by itself after a full disk.
            if self._connection.in_transaction:
                self._connection.execute(self._sql["sqlite_rollback"])
            if isinstance(error, apsw.Error):
                raise _fault(self._path, error) from None
            raise

    def close(self) -> None:
        """Close the file and free the lock."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _lock(path: str) -> int:
    if not path:
        message = 'store "": name a file with --store'
        raise StoreError(message)
    try:
        Path(path).resolve().parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        message = f'store "{path}": its folder cannot be written ({error.strerror}): name another with --store'
        raise StoreError(message) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        message = f'store "{path}": another process is crawling with it; wait for it, stop it, or name another store'
        raise StoreBusy(message) from None
    return descriptor


def _connect(path: str, flags: int, setting_up: str) -> apsw.Connection:
    try:
        connection = apsw.Connection(path, flags=flags)
        connection.set_busy_timeout(5_000)
        # Else this SQLite (built with STAT4) plans a join anew each time its placeholders are bound: 54 µs against 5.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        connection.execute(statements()[setting_up])
    except apsw.Error as error:
        raise _fault(path, error) from None
    return connection


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))


def _check_version(path: str, connection: apsw.Connection) -> None:
    version = _version(connection)
    if version != SCHEMA_VERSION:
        message = (
            f'store "{path}": its schema is version "{version}" and this program writes "{SCHEMA_VERSION}"; '
            "use the program that made it, or name another store"
        )
        raise SchemaMismatch(message)


def _prepare(path: str, connection: apsw.Connection) -> None:
    """Make an empty file a store; refuse one that something else made."""
    if _version(connection) == 0:
        if connection.execute(statements()["sqlite_tables"]).fetchone() != (0,):
            message = f'store "{path}": the file is a database of another program; name another file'
            raise SchemaMismatch(message)
        with connection:
            connection.execute(schema())
            connection.pragma("user_version", SCHEMA_VERSION)
    _check_version(path, connection)
