"""SQLite behind the database seam: one file, one writing process (R-4.3, R-4.4).

The writer holds an operating-system lock on ``FILE.lock`` for as long as it lives, so
that a killed process frees it at once; readers open the file read-only beside it.
Should the lock file be deleted, a mark in the store tells the older writer that it has
been superseded, and it writes nothing more.
"""

from __future__ import annotations

import fcntl
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from weakref import WeakSet

import apsw

from purlieu.errors import StoreBusy, StoreError
from purlieu.store.database import SCHEMA_VERSION, Row, Value, statements
from purlieu.store.sqlite.fault import told
from purlieu.store.sqlite.upgrade import check_version, prepare, version_of

_UNCHANGING = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_FAULTS = (apsw.Error, UnicodeDecodeError)
_OPEN: WeakSet[SqliteDatabase] = WeakSet()
"""The writers of this process, whose locks no forked child may keep."""


class SqliteDatabase:
    """A store in one file. ``writer()`` and ``reader()`` make it."""

    def __init__(self, path: str, connection: apsw.Connection, lock: int | None = None) -> None:
        """Hold an open connection and, for the writer, the descriptor of the lock file."""
        self._path = path
        self._connection = connection
        self._lock = lock
        self._sql = statements()
        self._process = os.getpid()
        self._mark = os.urandom(8).hex()
        self._seen: int | None = None
        self.kept: Path | None = None
        """The copy that was made of an older store before it was upgraded."""

    @classmethod
    def writer(cls, path: str, *, copy: bool = True) -> SqliteDatabase:
        """Open a file for writing; make it when absent, upgrade it when an older schema made it.

        ``copy=False`` upgrades without keeping the old store beside the new one. Raises StoreBusy when another
        process writes to it, SchemaMismatch when a newer schema made it, StoreError for any other fault.
        """
        lock = _lock(path)
        try:
            connection = _connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
            try:
                kept = prepare(path, connection, copy=copy)
                database = cls(path, connection, lock)
                database.kept = kept
                database._take_over()
            except apsw.Error as error:
                with suppress(apsw.Error):  # a disk that is full is so for the log that closing takes in, too
                    connection.close(force=True)
                raise told(path, error) from None
            except BaseException:
                with suppress(apsw.Error):
                    connection.close(force=True)
                raise
        except BaseException:
            os.close(lock)
            raise
        return database

    @classmethod
    def beside(cls, path: str) -> SqliteDatabase:
        """Open a file to write a few rows beside a crawl: schedules, findings, a wish to stop; never a run's own rows.

        Takes no lock; each transaction must be short, as the crawl waits for it. A file that is absent, or that an
        older schema made, is opened by ``writer`` for a moment first. Raises as ``writer`` does.
        """
        if not Path(path).is_file():
            cls.writer(path).close()
        connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
        try:
            if version_of(connection) < SCHEMA_VERSION:
                cls.writer(path).close()
            check_version(path, version_of(connection))
            connection.execute(statements()["sqlite_beside"])
        except apsw.Error as error:
            connection.close(force=True)
            raise told(path, error) from None
        except BaseException:
            connection.close(force=True)
            raise
        return cls(path, connection)

    @classmethod
    def reader(cls, path: str) -> SqliteDatabase:
        """Open a file read-only, beside a writer or alone, also where nothing can be written: a full or read-only disk.

        A run that is called running while nobody writes to the store was killed, and is shown as such (R-8.1).
        Raises StoreError, and SchemaMismatch for another schema.
        """
        if not Path(path).is_file():
            message = f'store "{path}": there is no such file; name the store of a crawl with --store'
            missing = StoreError(message)
            missing.code = "missing"
            raise missing
        connection = _connect(path, apsw.SQLITE_OPEN_READONLY)
        try:
            version = version_of(connection)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError) as error:
            connection.close(force=True)
            # The log needs a file of shared memory beside it; where there is no log, the store can do without.
            log = Path(f"{path}-wal")
            if log.exists() and log.stat().st_size:
                raise told(path, error) from None
            connection = _connect(f"{Path(path).resolve().as_uri()}?immutable=1", _UNCHANGING)
            version = None
        except apsw.Error as error:
            connection.close(force=True)
            raise told(path, error) from None
        try:
            check_version(path, version_of(connection) if version is None else version)
            connection.execute(statements()["sqlite_reader"])
            _show_the_dead(path, connection)
        except apsw.Error as error:
            connection.close(force=True)
            raise told(path, error) from None
        except BaseException:
            connection.close(force=True)
            raise
        return cls(path, connection)

    def rows(self, name: str, *values: Value) -> Iterator[Row]:
        """Run a statement and yield its rows."""
        try:
            yield from self._connection.execute(self._sql[name], values)
        except _FAULTS as error:
            raise told(self._path, error) from None

    def rows_of(self, name: str, numbers: Sequence[int], *values: Value) -> Iterator[Row]:
        """Run a statement whose first placeholder stands for a list of numbers, and yield its rows."""
        if not numbers:
            return
        try:
            yield from self._connection.execute(self._sql[name], (apsw.carray(array("q", numbers)), *values))
        except _FAULTS as error:
            raise told(self._path, error) from None

    def one(self, name: str, *values: Value) -> Row | None:
        """Run a statement and return its first row, or None."""
        try:
            return self._connection.execute(self._sql[name], values).fetchone()
        except _FAULTS as error:
            raise told(self._path, error) from None

    def run(self, name: str, *values: Value) -> int:
        """Run a statement and return how many rows it changed."""
        try:
            self._connection.execute(self._sql[name], values)
            return self._connection.changes()
        except apsw.Error as error:
            raise told(self._path, error) from None

    def many(self, name: str, rows: Iterable[tuple[Value, ...]]) -> None:
        """Run a statement once for each row of values."""
        try:
            self._connection.executemany(self._sql[name], rows)
        except apsw.Error as error:
            raise told(self._path, error) from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of what happens inside, or nothing when it raises; inside another it is part of that.

        Raises StoreBusy when another process has become the writer meanwhile.
        """
        if os.getpid() != self._process:
            message = f'store "{self._path}": it was opened before this process was forked; open it in the new process'
            raise StoreError(message)
        is_inside = self._connection.in_transaction
        if is_inside:
            yield
            return
        try:
            self._connection.execute(self._sql["sqlite_begin"])
        except apsw.Error as error:
            raise told(self._path, error) from None
        try:
            self._check_mark()
            yield
            self._connection.execute(self._sql["sqlite_commit"])
            self._seen = self._connection.data_version()
        except BaseException as error:
            # SQLite has rolled back by itself after a full disk; a disk that fails may fail here too.
            if self._connection.in_transaction:
                with suppress(apsw.Error):
                    self._connection.execute(self._sql["sqlite_rollback"])
            if isinstance(error, apsw.Error):
                raise told(self._path, error) from None
            raise

    def close(self) -> None:
        """Close the file and free the lock."""
        try:
            self._connection.close()
        except apsw.Error as error:
            raise told(self._path, error) from None
        finally:
            self.leave_lock()

    def leave_lock(self) -> None:
        """Give up the lock file alone."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take_over(self) -> None:
        """Leave this writer's mark in the store."""
        with self._connection:
            self._connection.execute(self._sql["sqlite_mark"], (self._mark,))
        _OPEN.add(self)

    def _check_mark(self) -> None:
        # Only when another process has written since: 0.2 µs for each transaction instead of 4.4.
        if self._lock is None or self._connection.data_version() == self._seen:
            return
        if self._connection.execute(self._sql["sqlite_marked"]).fetchone() != (self._mark,):
            message = (
                f'store "{self._path}": another process has taken it over, as "{self._path}.lock" was deleted while '
                "this one worked; nothing of what it wrote is lost, and the other one goes on"
            )
            raise StoreBusy(message)


def _forget_locks() -> None:
    """Free in a forked child what its parent holds, lest the store stay locked when the parent has gone."""
    for database in list(_OPEN):
        database.leave_lock()


os.register_at_fork(after_in_child=_forget_locks)


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


def is_held(path: str) -> bool:
    """Return whether a living process writes to a store; True also where that cannot be found out."""
    try:
        lock = os.open(f"{path}.lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        # Held for microseconds; who wants to write at this very moment is told to try again, and may.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _show_the_dead(path: str, connection: apsw.Connection) -> None:
    """Let a reader see a run that was killed as one that has failed, until the next writer writes that down."""
    sql = statements()
    if connection.execute(sql["sqlite_unended"]).fetchone() is None or is_held(path):
        return
    views = [text for _, text in connection.execute(sql["sqlite_view_texts"])]
    connection.execute(sql["sqlite_dead"])
    for text in views:  # anew, since one that stands in the file looks at the file's tables alone
        connection.execute(text.replace("CREATE VIEW", "CREATE TEMP VIEW", 1))


def _connect(path: str, flags: int) -> apsw.Connection:
    try:
        connection = apsw.Connection(path, flags=flags)
        connection.set_busy_timeout(5_000)
        # Else this SQLite (built with STAT4) plans a join anew each time its placeholders are bound: 54 µs against 5.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except apsw.Error as error:
        raise told(path, error) from None
    return connection
