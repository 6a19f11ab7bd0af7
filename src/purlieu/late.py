"""Patterns that are compiled when they are first used.

A crawl imports eighty patterns and uses a third of them; to compile one takes as long as to read a small page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, AnyStr

__all__ = ["pattern"]


class _Late:
    """Stands for a pattern, and keeps each of its methods once it was asked for."""

    def __init__(self, text: Any, flags: int = 0) -> None:
        self._what = text, flags

    def __getattr__(self, name: str) -> Any:
        asked = getattr(re.compile(*self._what), name)  # ``re`` remembers what it has compiled
        setattr(self, name, asked)
        return asked


if TYPE_CHECKING:

    def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
        """Return what can be used as the compiled pattern."""
        ...
else:
    pattern = _Late
