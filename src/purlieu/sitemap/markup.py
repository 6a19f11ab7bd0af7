"""XML as owners write it: text to tags, going on after whatever is wrong.

Knows tags, comments, CDATA and references; keeps one piece of text at a time, and every step is linear. Reads no
DTD and expands no entity but the five (SM-14). Must not know what an element means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

from purlieu.sitemap.entry import Notes

# (text before, end tag's name, start tag's name, start tag's attributes with a last "/" if it is empty)
Token = tuple[str, str | None, str | None, str | None]

_TAG_LIMIT = 65_536  # characters of one tag
# Possessive throughout: no part is ever tried twice.
_TOKEN = re.compile(r"([^<]*+)<(?:/([^\s<>/]++)[^<>]*+>|([^\s<>/!?]++)((?:[^<>\"']++|\"[^<\"]*+\"|'[^<']*+')*+)>)")
_ATTRIBUTE = re.compile(r"(?<![^\s\"'])([^\s=\"'<>/]++)\s*+=\s*+(?:\"([^<\"]*+)\"|'([^<']*+)')")
_REFERENCE = re.compile(r"&(#[0-9]{1,9}+|#[xX][0-9A-Fa-f]{1,8}+|[A-Za-z]\w{0,30}+)?(;?)")
_FIVE = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SKIPPED = (("<!--", "-->"), ("<?", "?>"))
_CDATA, _CDATA_END = "<![CDATA[", "]]>"


class Markup:
    """The tokens of a text that comes in pieces, and the line that the last one ended on."""

    def __init__(self, texts: Iterator[str], notes: Notes) -> None:
        """Read from ``texts``; tell ``notes`` what is wrong."""
        self._texts = texts
        self._notes = notes
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._before = 0  # characters that have left the buffer
        notes.line = self.line

    def line(self) -> int:
        """Return the line that has been reached, from 1."""
        return self._line + self._buffer.count("\n", 0, self._at)

    def whole(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Get past what ``pattern`` matches just here and return the match; None, if it does not match.

        For constructs that are common, and faster as one than as tokens; the tokens go on behind it.
        """
        found = self.peek(pattern)
        if found is not None:
            self._at = found.end()
        return found

    def peek(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what ``pattern`` matches just here, without getting past it: ``accept`` does."""
        return pattern.match(self._buffer, self._at)

    def accept(self, found: re.Match[str]) -> None:
        """Get past what was just looked at."""
        self._at = found.end()

    def tokens(self) -> Iterator[Token]:
        """Yield tags, each with the text before it; text may come in several parts."""
        match = _TOKEN.match
        while True:
            while found := match(self._buffer, self._at):
                self._at = found.end()
                yield found.groups()  # type: ignore[misc]  # four groups, the first never None
            start = self._buffer.find("<", self._at)
            text = self._buffer[self._at : None if start < 0 else start]
            if text:
                yield text, None, None, None
            self._at += len(text)
            if start < 0:
                if not self._more():
                    return
                continue
            step = self._special()
            if step is None or self._notes.ended:
                return
            for part in step:
                yield part, None, None, None

    def _more(self) -> bool:
        """Put the next piece behind what is not read yet; False at the end."""
        piece = next(self._texts, None)
        if piece is None:
            return False
        self._line += self._buffer.count("\n", 0, self._at)
        self._before += self._at
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0
        return True

    def _special(self) -> Iterator[str] | None:
        """Get past a ``<`` that opens no whole tag here; return the text found there, None to give the file up."""
        if len(self._buffer) - self._at < len(_CDATA) and self._more():
            return iter(())
        buffer, at = self._buffer, self._at
        if buffer.startswith(_CDATA, at):
            return self._cdata()
        for opening, closing in _SKIPPED:
            if buffer.startswith(opening, at):
                if buffer.startswith("<?xml", at) and buffer[at + 5 : at + 6].isspace() and self._before + at:
                    self._notes.add("late-declaration")
                return self._skipped(opening, closing)
        if buffer[at : at + len(_CDATA)].upper() == "<!DOCTYPE":
            return self._doctype()
        end = buffer.find("<", at + 1)
        if end < 0 and len(buffer) - at < _TAG_LIMIT and self._more():
            return iter(())
        end = len(buffer) if end < 0 else end
        self._notes.add("markup", buffer[at : at + 80])
        self._at = end
        return iter(())

    def _until(self, closing: str) -> Iterator[str]:
        """Yield what stands before ``closing``, and get past that."""
        while True:
            end = self._buffer.find(closing, self._at)
            if end >= 0:
                part, self._at = self._buffer[self._at : end], end + len(closing)
                yield part
                return
            end = max(self._at, len(self._buffer) - len(closing) + 1)
            part, self._at = self._buffer[self._at : end], end
            yield part
            if not self._more():
                self._notes.add("unclosed", closing)
                self._at = len(self._buffer)
                return

    def _cdata(self) -> Iterator[str]:
        self._at += len(_CDATA)
        for part in self._until(_CDATA_END):
            yield part.replace("&", "&amp;")  # so that all text can be read alike

    def _skipped(self, opening: str, closing: str) -> Iterator[str]:
        self._at += len(opening)
        for _ in self._until(closing):
            pass
        return iter(())

    def _doctype(self) -> Iterator[str] | None:
        while (end := self._buffer.find(">", self._at)) < 0 and len(self._buffer) - self._at < _TAG_LIMIT:
            if not self._more():
                break
        self._notes.add("doctype")
        if end < 0 or "[" in self._buffer[self._at : end]:
            self._notes.add("dtd")
            return None
        self._at = end + 1
        return iter(())


def attributes(raw: str) -> dict[str, str]:
    """Return a start tag's attributes by name, as written."""
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(raw)}


def resolved(text: str, notes: Notes) -> str:
    """Return a text with the five entities and character references resolved, anything else left as it is."""
    if "&" not in text:
        return text
    if text.count("&") == text.count("&amp;"):
        return text.replace("&amp;", "&")

    def one(found: re.Match[str]) -> str:
        name, end = found[1] or "", found[2]
        letter = _FIVE.get(name) if end else None
        if letter is None and end and name.startswith("#"):
            number = int(f"0{name[1:]}", 16) if name[1] in "xX" else int(name[1:])
            if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000:
                letter = chr(number)
        if letter is None:
            notes.add("reference", found[0])
        return found[0] if letter is None else letter

    return _REFERENCE.sub(one, text)


class _DoctypeError(Exception):
    """Stops expat before it reads an internal subset, let alone expands anything."""


def judged(texts: Iterator[str], notes: Notes) -> Iterator[str]:
    """Pass pieces on as long as they are well-formed XML without a document type: the judge of strict reading."""

    def stop(*found: object) -> None:
        raise _DoctypeError("dtd" if found[-1] else "doctype")

    parser = expat.ParserCreate("utf-8")
    parser.StartDoctypeDeclHandler = stop
    try:
        for text in texts:
            parser.Parse(text.encode("utf-8", "replace"))
            yield text
        parser.Parse(b"", True)  # noqa: FBT003 - expat takes it by position only
    except _DoctypeError as found:
        notes.add(str(found), line=parser.CurrentLineNumber)
    except expat.ExpatError as error:
        notes.add("xml", expat.ErrorString(error.code), line=error.lineno)
