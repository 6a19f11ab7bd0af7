"""The language of a page: chosen on the page, else by the browser; texts come from the catalogues of the command line.

Knows no page. A text stands in English where it is said.
"""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from purlieu.outcome import LANGUAGES

COOKIE: Final = "purlieu_language"
NAMES: Final = {"en": "English", "ja": "日本語", "zh": "简体中文"}
"""What each language calls itself."""
_MOST_CHOICES: Final = 20


def language_of(request: Request) -> str:
    """Return the language of a request: what was chosen on a page, else what the browser likes best, else English."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else preferred(request.headers.get("accept-language", ""))


def preferred(header: str) -> str:
    """Return the language of ours that an Accept-Language header wants most (RFC 9110, 12.5.4)."""
    wanted: list[tuple[float, int, str]] = []
    for place, choice in enumerate(header.split(",")[:_MOST_CHOICES]):
        name, _, quality = choice.partition(";")
        short = name.strip().lower().partition("-")[0]
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality else 1.0
        except ValueError:
            weight = 0.0
        if short in LANGUAGES and weight > 0:
            wanted.append((-weight, place, short))
    return min(wanted)[2] if wanted else "en"
