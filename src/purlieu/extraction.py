"""What a function of the owner takes out of a page: what it is given, and whether what it gives can be kept.

Pure. Runs no such function, keeps nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from purlieu import jsonl
from purlieu.value import dataclass

if TYPE_CHECKING:
    from purlieu.page import Links

MOST_BYTES: Final = 65_536
"""JSON that is kept of a page at most, in UTF-8."""
MOST_DETAIL: Final = 500
"""Characters that are kept of why a function failed."""
NO_MAPPING, NO_JSON, TOO_LARGE, TOO_SLOW = "no-mapping", "no-json", "too-large", "too-slow"
"""What is wrong with what a function gives; where it raises, that is the exception's name."""


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What is known of a page when a function is given its body.

    ``headers`` as received; ``encoding`` is the WHATWG name, None for what is not HTML, as are ``title`` and ``lang``;
    ``canonical`` is an absolute address; ``depth`` the links from a seed, ``via`` the page that led here, "" for none;
    ``links`` has the page's, each with ``url``, ``kind`` and ``nofollow``.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    encoding: str | None
    title: str | None
    lang: str | None
    canonical: str | None
    noindex: bool
    depth: int
    via: str
    links: Links

    def text(self, body: bytes) -> str:
        """Return a body as text, decoded as browsers do; what is not HTML as UTF-8."""
        from purlieu.page import encoding

        return encoding.decoded(body, self.encoding or "UTF-8")


Extract = Callable[[PageFacts, bytes, str], Mapping[str, Any] | None]
"""The owner's function: facts, body and content type of a page to what is kept of it; None keeps nothing."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a function gave for a page: ``text`` is JSON, "" where it gave nothing or what cannot be kept.

    ``problem`` is then what went wrong, with more in ``detail``.
    """

    text: str = ""
    problem: str = ""
    detail: str = ""

    @property
    def value(self) -> dict[str, Any] | None:
        """Return it as it is read back; None for nothing."""
        return json.loads(self.text) if self.text else None


def checked(given: object) -> Extracted:
    """Return what a function gave as it is kept: a mapping that JSON can hold (RFC 8259), within ``MOST_BYTES``."""
    if given is None:
        return Extracted()
    if not isinstance(given, Mapping):
        return Extracted("", NO_MAPPING, f"{type(given).__name__} instead of dict or None")
    try:
        text = jsonl.encode(dict(given))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:  # a set, a circle, half a surrogate, nested too deep
        return Extracted("", NO_JSON, _cut(str(error)))
    if size > MOST_BYTES:
        return Extracted("", TOO_LARGE, f"{size} bytes of JSON, more than {MOST_BYTES}")
    if any(name in text for name in ("NaN", "Infinity")) and not _is_strict(text):
        return Extracted("", NO_JSON, "a number is not finite, which JSON cannot hold")
    return Extracted(text)


def failed(error: BaseException) -> Extracted:
    """Return what is kept where a function raised."""
    try:
        detail = str(error)
    except Exception:  # noqa: BLE001 - the exception is the owner's, and so is what makes text of it
        detail = ""
    return Extracted("", type(error).__name__, _cut(detail))


def _is_strict(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


def _cut(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode()[:MOST_DETAIL].split())
