"""Where what a crawl logs goes: to the terminal, and with ``--log`` to a file.

Knows the records of ``logging``; what is logged is said where it happens.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from purlieu.errors import Mistake, SettingsError

_ROOM = "purlieu"


def show(say: Callable[[str], object], verbose: int) -> None:
    """Show warnings, more with -v and -vv, as ``say`` does."""

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            say(f"{record.levelname} {record.name}: {record.getMessage()}")

    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    handler = Shown(level)  # its own level, since a file may ask for more than is shown
    logging.basicConfig(level=level, handlers=[handler])


@contextmanager
def to_file(path: str | None) -> Iterator[None]:
    """Add all that is logged meanwhile to a file, one JSON object a line; raises SettingsError when it cannot be."""
    if not path:
        yield
        return
    try:
        handler = _File(Path(path))
    except OSError as error:
        remedy = f"no log can be written there ({error.strerror or error}); name a file that can be written"
        raise SettingsError((Mistake("--log", path, remedy),)) from None
    logger = logging.getLogger(_ROOM)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        handler.close()


class _File(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes records as JSON; a verdict's values stand instead of its message. A full disk ends the log, told once."""

    def __init__(self, path: Path) -> None:
        # Addresses may hold halves of characters, which become escapes of JSON.
        super().__init__(path.open("a", 1, encoding="utf-8", errors="backslashreplace"))
        self._path = path
        self._broken = False

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = vars(record).get("verdict") or {"message": record.getMessage()}
        if record.exc_info:
            told = {**told, "traceback": logging.Formatter().formatException(record.exc_info)}
        return json.dumps({"at": at, "level": record.levelname, "logger": record.name, **told}, ensure_ascii=False)

    def emit(self, record: logging.LogRecord) -> None:
        if not self._broken:
            super().emit(record)

    def flush(self) -> None:
        """Do nothing: each line is written when it is whole."""

    def handleError(self, _record: logging.LogRecord) -> None:  # noqa: N802  the library's name
        self._broken = True
        sys.stderr.write(f'purlieu: the log "{self._path}" cannot be written to ({sys.exc_info()[1]}); it ends here\n')

    def close(self) -> None:
        try:
            self.stream.close()
        except OSError:
            if not self._broken:
                self.handleError(logging.makeLogRecord({}))
        super().close()
