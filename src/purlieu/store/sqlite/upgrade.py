"""Makes a store of an older schema one of today's, or a new file a store.

All steps are one transaction, after a copy of the file was made beside it: a kill or a full
disk at any moment leaves the old store as it was. What each step does stands in
``migrations/NNNN.sql``; nothing here knows a table.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Final

import apsw

from purlieu.errors import SchemaMismatch, StoreError
from purlieu.store.database import SCHEMA_VERSION, migration, schema, statements

LOG = logging.getLogger(__name__)
OLDEST: Final = 1
"""The first schema that was released; every one since can be upgraded."""


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version that a file says it has, 0 for one that is no store yet."""
    return int(connection.pragma("user_version"))


def is_blank(connection: apsw.Connection) -> bool:
    """Return whether a file has no tables at all."""
    return bool(connection.execute(statements()["sqlite_tables"]).fetchone() == (0,))


def check_version(path: str, version: int) -> None:
    """Raise SchemaMismatch, with what to do, unless the version is today's."""
    if version == SCHEMA_VERSION:
        return
    if version > SCHEMA_VERSION:
        remedy = "a newer Purlieu wrote it: install that one (or a newer), or name another store"
    elif version >= OLDEST:
        remedy = f'an older Purlieu wrote it: "purlieu store upgrade {path}" makes it new, and so does the next crawl'
    else:
        remedy = "it holds nothing yet, or another program wrote it: name the store of a crawl"
    message = (
        f'store "{path}": its schema is version "{version}" and this program\'s is "{SCHEMA_VERSION}"; {remedy}; '
        "nothing was changed"
    )
    raise SchemaMismatch(message)


def prepare(path: str, connection: apsw.Connection, *, copy: bool = True) -> Path | None:
    """Make an empty file a store, and an older store one of today's; return the copy made of the latter.

    ``copy=False`` makes none. Raises SchemaMismatch for a newer store and for a database of another program,
    StoreError when there is no room for the copy.
    """
    version = version_of(connection)
    if version == 0:
        if not is_blank(connection):
            message = f'store "{path}": the file is a database of another program; name another file'
            raise SchemaMismatch(message)
        connection.execute(statements()["sqlite_writer"])
        with connection:
            connection.execute(schema())
            connection.pragma("user_version", SCHEMA_VERSION)
        return None
    if not OLDEST <= version <= SCHEMA_VERSION:
        check_version(path, version)
    # Not before: a file that is not ours, or newer, is left as it is.
    connection.execute(statements()["sqlite_writer"])
    return _upgrade(path, connection, version, copy=copy) if version < SCHEMA_VERSION else None


def _upgrade(path: str, connection: apsw.Connection, version: int, *, copy: bool) -> Path | None:
    kept = _copy(path, connection, version) if copy else None
    sql = statements()
    connection.execute(sql["sqlite_begin"])
    try:
        # Views hold no rows, and a change of their tables may not find them in its way.
        for (name,) in list(connection.execute(sql["sqlite_views"])):
            connection.execute(sql["sqlite_drop_view"].replace(":name", f'"{name}"'))
        for step in range(version + 1, SCHEMA_VERSION + 1):
            connection.execute(migration(step))
        for text in _views():
            connection.execute(text)
        connection.pragma("user_version", SCHEMA_VERSION)
        connection.execute(sql["sqlite_commit"])
    except BaseException:
        if connection.in_transaction:
            connection.execute(sql["sqlite_rollback"])
        raise
    LOG.warning(
        'store "%s": upgraded from schema version %d to %d%s', path, version, SCHEMA_VERSION,
        f'; "{kept}" is the store as it was' if kept else "",
    )  # fmt: skip
    return kept


def _views() -> list[str]:
    """Return the statements that make today's views."""
    fresh = apsw.Connection(":memory:")
    try:
        fresh.execute(schema())
        return [text for _, text in fresh.execute(statements()["sqlite_view_texts"])]
    finally:
        fresh.close()


def _copy(path: str, connection: apsw.Connection, version: int) -> Path:
    """Copy the store as it stands, its log included, beside it; the copy is whole or not there."""
    kept = _free_name(Path(f"{path}.version-{version}"))
    part = Path(f"{kept}.part")
    _clear(part)
    try:
        connection.execute(statements()["sqlite_copy"], (str(part),))
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.rename(kept)
    except (apsw.Error, OSError) as error:
        _clear(part)
        message = (
            f'store "{path}": before its upgrade from schema version {version} a copy "{kept}" is made, which failed '
            f'({error}): free as much space as the store takes, or keep a copy elsewhere and use "purlieu store '
            f'upgrade {path} --no-copy"; nothing was changed'
        )
        raise StoreError(message) from None
    return kept


def _clear(part: Path) -> None:
    for end in ("", "-journal"):
        Path(f"{part}{end}").unlink(missing_ok=True)


def _free_name(wanted: Path) -> Path:
    name, number = wanted, 1
    while name.exists():
        number += 1
        name = Path(f"{wanted}.{number}")
    return name
