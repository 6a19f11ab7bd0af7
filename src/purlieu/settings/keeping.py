"""Keys of what is kept of what was fetched: how archives are written, whether documents are read.

As ``key.py``, of which this is a part. Knows nothing of how a document is read.
"""

# ruff: noqa: FBT003  # a default stands beside what is known of its key
from __future__ import annotations

from purlieu.settings.fact import Key, key
from purlieu.value import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ArchiveSettings:
    """How WARC files are written, where `keep = "body"`."""

    file_bytes: int = key(
        1024 * MIB,
        Key("A file that has become so large is ended, and the next one begun.", least=65_536, unit="bytes"),
    )
    as_sent: bool = key(
        False,
        Key(
            "Whether bodies are kept as they were sent, gzip or deflate and all. Else they are kept decoded, and "
            "headers that spoke of the coding are renamed to `X-Archive-Orig-...`."
        ),
    )


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """Whether what documents say is kept as well, where `keep = "text"`.

    A document is read in a process of its own, which is ended when it takes more than is said here.
    """

    read: bool = key(
        False,
        Key(
            "Whether PDF, Word, PowerPoint, Excel and OpenDocument files are read. Needs "
            "`pip install 'purlieu[documents]'`, and that `fetch.classes` lets them in."
        ),
    )
    timeout_seconds: float = key(
        20.0, Key("How long reading one document may take, in computing time.", least=1, most=600, unit="seconds")
    )
    memory_bytes: int = key(
        512 * MIB,
        Key("How much memory reading one document may take.", least=64 * MIB, most=65_536 * MIB, unit="bytes"),
    )
