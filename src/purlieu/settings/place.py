"""Where a run's result files go (R-1.7).

Knows names of folders; makes none.
"""

from __future__ import annotations

from pathlib import PurePath

from purlieu.settings.key import Settings


def result_folder(settings: Settings, crawl: str, run: int) -> PurePath:
    """Return ``OUTPUT/CRAWL/RUN``; what a file system might take amiss in the crawl's name becomes ``_``."""
    folder = "".join(letter if letter.isalnum() or letter in "-_. []:" else "_" for letter in crawl).strip(". ")
    return PurePath(settings.output, folder or "crawl", str(run))
