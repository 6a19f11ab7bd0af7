"""What may come of asking for something: that it is not there, or not yet."""

from __future__ import annotations

from typing import Final

from purlieu.errors import PurlieuError

PATIENCE_SECONDS: Final = 1.5
"""So long a page waits for what is being made; then it says so and asks again by itself."""


class NotThere(PurlieuError):
    """What was asked for is not in the store: a stale link, or a number that was typed."""


class Preparing(PurlieuError):
    """The rows of a run are being laid out; the page asks again by itself."""
