"""JSON lines: one value, one line, whatever is in it.

Knows which characters readers take for the end of a line although JSON allows them in a text. Writes nothing.
"""

from __future__ import annotations

import json
from typing import Final

_ENDS: Final = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Returns a value as compact JSON; give it to ``whole`` before it is written as a line."""


def whole(text: str) -> str:
    """Return JSON, of one value or of several lines, in which only line feeds end a line."""
    return text if text.isascii() else text.translate(_ENDS)


def line(value: object) -> str:
    """Return a value as JSON on one line, without a line feed at its end."""
    return whole(encode(value))
