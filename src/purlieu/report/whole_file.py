"""Files that are there whole or not at all.

Knows how to put a new file in an old one's place. Knows nothing of what is in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from purlieu.errors import StoreError


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Raise what the disk says as a StoreError with a remedy."""
    try:
        yield
    except OSError as error:
        message = (
            f'report "{path}": it cannot be written ({error.strerror or error}): free some space, '
            "or name another folder with --output; the run's store is not touched"
        )
        raise StoreError(message) from None


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Give a new file to write to; it takes the place of ``path`` at the end, and is removed when that fails.

    Raises StoreError when the disk is full or the folder cannot be written to.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:
                yield file
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def remove(path: Path) -> None:
    """Remove a file if it is there. Raises StoreError."""
    with told(path):
        path.unlink(missing_ok=True)
