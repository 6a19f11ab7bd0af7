"""What a document says, as far as it is kept; why one says nothing; and both as bytes, for the way between processes.

Knows the bounds. Knows no form of documents.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from purlieu.page.content import MOST_CHARACTERS, MOST_HEADINGS, MOST_TEXT, Content

REASONS: Final = (
    "encrypted", "damaged", "no_text", "old_form", "unknown_form", "too_slow", "too_large", "crashed", "busy",
    "given_up",
)  # fmt: skip
"""Why there is no text of a document; docs/how-to/text.md says what to do."""
# Control characters, and what libraries leave for a hyphen at the end of a line, which is no part of a word.
_NO_TEXT: Final = re.compile("[\ufffe\x02]\\s?|[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\uffff]")
_BREAKS: Final = re.compile("\r\n?|[\x0c\u2028\u2029]")
_BLANKS: Final = re.compile(r"[^\S\n]+")
_FIELDS: Final = ("text", "description", "language", "title", "author", "unread")
_LANGUAGE: Final = re.compile(r"[A-Za-z]{1,8}(?:[-_][A-Za-z0-9]{1,8})*")


class Unread(Exception):
    """There is no text of a document. Its argument is one of ``REASONS``."""


class Enough(Exception):
    """As much has been told as is kept."""


class Telling:
    """Takes what a document says, in order. Raises Enough when no more is kept."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lines: list[str] = []
        self._room = MOST_TEXT
        self._headings: list[tuple[int, str]] = []
        self._first = ""
        self._facts: dict[str, str] = {}

    def take(self, text: str, level: int = 0) -> None:
        """Take a paragraph or more; of a ``level`` above 0 it is a heading as well."""
        text = tidy(text).strip("\n ")
        if not text:
            return
        if level:
            self.head(text, level)
        if level == 1:
            self._first = self._first or _line(text)
        self._lines.append(text[: self._room])
        self._room -= len(text) + 1
        if self._room <= 0:
            raise Enough

    def head(self, text: str, level: int) -> None:
        """Take a heading that the text has not, such as a bookmark."""
        if len(self._headings) < MOST_HEADINGS and (heading := _line(text)):
            self._headings.append((min(level, 6), heading))

    def say(self, name: str, value: str | None) -> None:
        """Take title, author, description or language; the first of each counts."""
        if value and (fact := _line(value)) and (name != "language" or _LANGUAGE.fullmatch(fact)):
            self._facts.setdefault(name, fact)

    def content(self) -> Content:
        """Return all of it. Who names no title has the first heading of the text for one."""
        facts = self._facts
        return Content(
            "\n".join(self._lines)[:MOST_TEXT],
            tuple(self._headings),
            facts.get("description", ""),
            language=facts.get("language", ""),
            title=facts.get("title") or self._first,
            author=facts.get("author", ""),
        )


def tidy(text: str) -> str:
    """Return a text without control characters, its lines ended alike, its blanks single."""
    return _BLANKS.sub(" ", _NO_TEXT.sub("", _BREAKS.sub("\n", text)))


def _line(text: str) -> str:
    return " ".join(tidy(text[: 2 * MOST_CHARACTERS]).split())[:MOST_CHARACTERS]


def unread(reason: str) -> Content:
    """Return the content of a document that there is no text of."""
    return Content("", unread=reason)


def packed(content: Content) -> bytes:
    """Return a content as bytes."""
    told = {name: getattr(content, name) for name in _FIELDS}
    return json.dumps({**told, "headings": content.headings}, ensure_ascii=False).encode("utf-8", "replace")


def unpacked(body: bytes) -> Content:
    """Return the content that bytes are; ``crashed`` where they are none: who sent them has read what is hostile."""
    try:
        told = json.loads(body)
        headings = tuple((int(level), str(text)[:MOST_CHARACTERS]) for level, text in told["headings"][:MOST_HEADINGS])
        values: dict[str, Any] = {name: str(told[name])[:MOST_CHARACTERS] for name in _FIELDS if name != "text"}
        return Content(str(told["text"])[:MOST_TEXT], headings, **values)
    except (ValueError, TypeError, KeyError, RecursionError):
        return unread("crashed")
