"""A page's text cut into what matters: elements with their attributes, the title, the text blocks.

Knows the tokenizer of the HTML Standard (13.2.5) and as much of its tree construction (13.2.6) as decides
whether an element stands in the head, a noscript, a template or foreign content. Builds no tree: that costs
quadratic time and half a kilobyte a node on hostile pages. Linear in the input; knows no URL and no rule of robots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache
from itertools import compress

from purlieu import late
from purlieu.value import dataclass

_W = r"\t\n\f\r "
_WHITE = "\t\n\f\r "
_VALUE = rf"\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^{_W}>\"'][^{_W}>]*+|(?=>)"
_ANY_ATTRIBUTES = rf"(?:[{_W}/]*+[^{_W}/>][^{_W}/>=]*+(?:[{_W}]*+=[{_W}]*+(?:{_VALUE}))?+)*+[{_W}/]*+"
_ATTRIBUTES = rf"(?: [a-z-]++=\"[^\"]*+\")*+(?:(?=>)|{_ANY_ATTRIBUTES})"  # the usual spelling first: an eighth faster
# Inside a script, <!-- opens a section in which a <script> needs a </script> of its own (13.2.5.15 ff.).
_TWICE_ESCAPED = rf"(?:[^<-]++|-(?!->)|<(?!/script[{_W}/>]))*+(?:</script(?=[{_W}/>]))?+"
_ESCAPED = rf"(?:[^<-]++|-(?!->)|<(?!/?script[{_W}/>])|<script(?=[{_W}/>]){_TWICE_ESCAPED})*+(?:-->)?+"
_SCRIPT = rf"(?:[^<]++|<!--(?:-?>|{_ESCAPED})|<(?!/script[{_W}/>]))*+"
_TEXT = rf"[^<]*+(?:<(?!/\1[{_W}/>])[^<]*+)*+"
_RAW = r"(script)|style|title|textarea|xmp|iframe|noembed|noframes"  # elements that hold text only
_TEXT_ONLY = (
    rf"(?=[sStTxXiInNpP])(?:(?ai:({_RAW})(?=[{_W}/>])({_ATTRIBUTES})>((?(2){_SCRIPT}|{_TEXT})))"
    rf"|(?ai:plaintext(?=[{_W}/>]){_ATTRIBUTES}>).*)"
)
_NO_TAG = (
    r"!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
    r"|/?[a-zA-Z].*"  # a tag that does not end: the tokenizer drops it
    r"|[!?/][^>]*+>?"
)
# In the body a run of common tags that decide nothing is one token: nearly half the time.
_COMMON = "span|div|li|code|p|td|tr|em|strong|pre|ul|dt|dd|dl|h[1-6]|br|b|i|ol|th|table|tbody|section|article|button"
# Four of five links are spelled so: their href alone, without fragment, is the token's group. What has a reference
# (&) or a rel is read with its attributes, and so is a space before the #, which is part of the URL.
_PLAIN_A = (
    rf"a(?:[{_W}]++(?!href=|rel=)[a-z-]++=\"[^\"]*+\")*+"
    rf"[{_W}]++href=\"([^\"&#]*+)(?:(?<![\0- ])#[^\"&]*+)?\"(?:[{_W}]++(?!rel=)[a-z-]++=\"[^\"]*+\")*+[{_W}]*+>"
)
_COMMON_TAG = rf"(?:/(?:{_COMMON}|a)>|(?:{_COMMON})(?:>|(?=[{_W}/]){_ATTRIBUTES}>))"
RAW_NAME, RAW_ATTRIBUTES, _CONTENT, _HREF, _NAME, _TAG_ATTRIBUTES, _STRIDE = 1, 3, 4, 5, 6, 7, 8  # groups of a token
_TOKENS_AT_ONCE = 20_000  # so that a page of millions of tags does not hold them all in pieces
_ATTRIBUTE = late.pattern(
    rf"([^{_W}/>][^{_W}/>=]*+)(?:[{_W}]*+=[{_W}]*+(?:\"([^\"]*+)\"?|'([^']*+)'?|([^{_W}>\"'][^{_W}>]*+)|(?=>|\Z)))?+"
)
_REFERENCE = late.pattern(r"&(?:#([0-9]++)|#[xX]([0-9a-fA-F]++)|([a-zA-Z][a-zA-Z0-9]*+))(;?)")
_LONGEST_BARE = 6  # letters of &Aacute, the longest name that needs no semicolon
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_DIGITS = 9  # of a character number; more is no character

_HEAD = frozenset(("html", "head", "base", "basefont", "bgsound", "link", "meta", "noscript", "template"))
_HEAD |= {"script", "style", "title", "noframes"}  # all that stays in the head (13.2.6.4.4)
_LEAVE_HEAD = frozenset(("/body", "/html", "/br"))  # the end tags that do; others are ignored there (13.2.6.4.4)
_FOREIGN = frozenset(("svg", "math"))
_ASIDE = frozenset(("header", "nav", "footer"))
_HEAD_WRITTEN = frozenset(("/head", "body"))  # where the author meant the head to end
_LATE = 1000  # elements of interest between what ended the head and where the author meant it to end
_FRAMING = _HEAD_WRITTEN.union(*((tag, "/" + tag) for tag in ("template", "noscript", *_FOREIGN, *_ASIDE)))


class Place(IntEnum):
    """Where an element stands, as far as its meaning depends on it."""

    HEAD = 0
    BODY = 1
    NOSCRIPT = 2
    FOREIGN = 3


_OF_THE_PAGE = frozenset((Place.HEAD, Place.BODY))


@dataclass(frozen=True, slots=True)
class Markup:
    """What a page's text holds.

    ``title`` is the content of the first title element, references not yet replaced; ``main`` and ``aside`` the text
    outside and inside header, nav and footer in UTF-8: a space for each tag or run of tags, references not replaced.
    """

    title: str | None
    main: bytes
    aside: bytes


Element = tuple[str, dict[str, str], Place]
"""(lower-case name, attributes, place)"""

PlainLinks = dict[str, bool] | int
"""The hrefs, without fragment, of <a> elements that say nothing else of note; every value is False.

From the scanner in C a number: how many it has noted so far, from the first on.
"""

Take = Callable[[list[Element | PlainLinks]], None]

Heard = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""(relations of link elements, names and pragmas of meta elements) that tell the caller something; in lower case.

A pragma beside ``refresh`` says that encodings do. Elements that surely name none of them may be left out.
"""

EVERYTHING: Heard = ((), (), ())


def read(text: str, wanted: frozenset[str], take: Take) -> Markup:
    """Return the title and text of a page, and hand its elements of the wanted names to ``take`` in document order.

    Elements in templates are left out. ``take`` is called with some at once, so that none need be kept.
    """
    reader = _Reader(wanted)
    text = without_cdata(text.replace("\0", "\ufffd"))
    rest = text[reader.take_head(text) :]
    token = _body_token(wanted)
    while True:
        parts = token.split(rest, _TOKENS_AT_ONCE)
        is_last = len(parts) <= _TOKENS_AT_ONCE * _STRIDE
        if not is_last:
            rest, parts[-1] = parts[-1], ""
        reader.take_body(parts)
        if is_last or reader.is_past_head():
            take(reader.elements)
            reader.elements = []
        if is_last:
            return reader.markup()


@cache
def any_token(passed_over: str = "") -> re.Pattern[str]:
    """Return the expression for any token; made when first needed, since that takes 10 ms.

    ``passed_over`` matches tags up to the < of the next, any number, that are of no interest before one that may be.
    """
    return re.compile(
        rf"<(?=[a-zA-Z/!?]){passed_over}"
        rf"(?:{_TEXT_ONLY}|(?P<name>/?[a-zA-Z][^{_W}/>]*+)(?P<attributes>{_ATTRIBUTES})>|{_NO_TAG})",
        re.DOTALL,
    )


@cache
def _body_token(wanted: frozenset[str]) -> re.Pattern[str]:
    """Return the expression for a body's tokens, whose groups are filled only for elements that matter."""
    names = "|".join(sorted(wanted | _FRAMING, key=len, reverse=True))
    return re.compile(
        rf"<(?=[a-zA-Z/!?])(?:(?!a[{_W}]){_COMMON_TAG}(?:[{_W}]*+<{_COMMON_TAG})*+"
        rf"|{_TEXT_ONLY}|{_PLAIN_A}|(?ai:({names})(?=[{_W}/>])({_ATTRIBUTES})>)|/?[a-zA-Z][^{_W}/>]*+{_ATTRIBUTES}>|{_NO_TAG})",
        re.DOTALL,
    )


def attributes(written: str) -> dict[str, str]:
    """Return attributes by lower-case name, references replaced; of two with one name the first counts."""
    found: dict[str, str] = {}
    for name, double, single, bare in _ATTRIBUTE.findall(written):
        value = double or single or bare
        found.setdefault(_lower(name), unescaped(value, in_attribute=True) if "&" in value else value)
    return found


def _lower(name: str) -> str:
    """Return a name in lower case, as the tokenizer has it: letters of ASCII alone (13.2.5.8, 13.2.5.33)."""
    return name.lower() if name.isascii() else name.translate(_LOWER)


def unescaped(text: str, *, in_attribute: bool = False) -> str:
    """Replace character references as the standard does (13.2.5.72 ff.)."""

    def character(match: re.Match[str]) -> str:
        decimal, hexadecimal, name, semicolon = match.groups()
        if name:
            return _named(match, name + semicolon, in_attribute=in_attribute)
        digits = (decimal or hexadecimal).lstrip("0")
        return _numbered(int(digits or "0", 10 if decimal else 16)) if len(digits) <= _DIGITS else "\ufffd"

    return _REFERENCE.sub(character, text)


def _numbered(code: int) -> str:
    """Return the character of a numeric reference; 0x80 to 0x9F mean those of windows-1252 (13.2.5.80)."""
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if 0x80 <= code <= 0x9F:
        return bytes([code]).decode("cp1252", "ignore") or chr(code)
    return chr(code)


@cache
def _html5() -> Mapping[str, str]:
    from html.entities import html5  # 7 million instructions; a page without names in its title needs none

    return html5


def _named(match: re.Match[str], name: str, *, in_attribute: bool) -> str:
    html5 = _html5()
    if name in html5 and name.endswith(";"):
        return html5[name]
    for length in range(min(_LONGEST_BARE, len(name)), 1, -1):
        if name[:length] in html5:
            after = name[length:] or match.string[match.end() : match.end() + 1]
            if in_attribute and (after[:1] == "=" or after[:1].isalnum()):
                break  # &copy=1 in a link is a parameter (13.2.5.73)
            return html5[name[:length]] + name[length:]
    return match[0]


def without_cdata(text: str) -> str:
    """Turn CDATA sections of foreign content into text; elsewhere they are comments up to the first > (13.2.5.42)."""
    before, *sections = text.split("<![CDATA[")
    if not sections:
        return text
    kept, depth = [before], _foreign_depth(before, 0)
    inside = False
    for section in sections:
        if not (inside or depth):
            kept.append("<![CDATA[")
            after = section
        else:
            content, end, after = section.partition("]]>")
            kept.append(content.replace("<", "&lt;"))
            inside = not end
        kept.append(after)
        depth = _foreign_depth(after, depth)
    return "".join(kept)


def _foreign_depth(text: str, depth: int) -> int:
    lower = text.lower()
    return max(0, depth + sum(lower.count("<" + name) - lower.count("</" + name) for name in _FOREIGN))


class _Reader:
    """Walks the tokens once and keeps what of the open elements matters for the next."""

    __slots__ = (
        "_aside",
        "_asides",
        "_foreign",
        "_head_end",
        "_in_head",
        "_index",
        "_late",
        "_mains",
        "_noscript",
        "_place",
        "_since",
        "_template",
        "_texts",
        "_title",
        "_wanted",
        "elements",
    )

    def __init__(self, wanted: frozenset[str]) -> None:
        self._title: str | None = None
        self._mains: list[str] = []
        self._asides: list[str] = []
        self.elements: list[Element | PlainLinks] = []
        self._wanted = wanted
        self._in_head, self._noscript = True, False
        self._template = self._foreign = self._aside = self._since = self._late = 0
        self._place = Place.HEAD
        self._texts: list[str] = []
        self._index = 0
        self._head_end: int | None = 0  # how many elements the head has; None once the author's end of it was seen

    def markup(self) -> Markup:
        """Return the title and the text taken so far."""
        main, aside = (" ".join(texts).encode("utf-8", "replace") for texts in (self._mains, self._asides))
        return Markup(self._title, main, aside)

    def is_past_head(self) -> bool:
        """Say whether no element taken so far can still turn out to stand in the head."""
        if self._late > _LATE:
            self._head_end = None
        return self._head_end is None

    def take_head(self, text: str) -> int:
        """Take the tokens that stand in the head; return where the first that does not begins."""
        end = 0
        for token in any_token().finditer(text):
            between, name = text[end : token.start()], token["name"] or token[RAW_NAME]
            if not self._stays_in_head(name, between):
                break
            if self._noscript:
                self._mains.append(between)
            if name:
                self._take(_lower(name), token["attributes"] or token[RAW_ATTRIBUTES] or "", token[_CONTENT])
            end = token.end()
        self._in_head = False
        if self._head_end is not None:
            self._head_end = len(self.elements)
        self._settle()
        return end

    def take_body(self, parts: list[str]) -> None:
        """Take the next tokens, split as text, groups of a token, text, …, text."""
        self._texts, self._since = parts[::_STRIDE], 0
        hrefs, since = parts[_HREF::_STRIDE], 0
        every = range(len(hrefs))
        for index in sorted((*compress(every, parts[_NAME::_STRIDE]), *compress(every, parts[RAW_NAME::_STRIDE]))):
            self._take_plain(hrefs[since:index])
            since = index
            at = index * _STRIDE
            self._index = index
            if tag := parts[at + _NAME]:
                self._take(tag.lower(), parts[at + _TAG_ATTRIBUTES], None)
            else:
                self._take(parts[at + RAW_NAME].lower(), parts[at + RAW_ATTRIBUTES], parts[at + _CONTENT])
        self._take_plain(hrefs[since:])
        self._keep_text(len(self._texts))

    def _take_plain(self, hrefs: list[str]) -> None:
        """Take the plain links between two elements that matter; tokens of other kinds have None."""
        if not self._template and (found := dict.fromkeys(hrefs, False)):
            self._late += len(hrefs) - hrefs.count(None)  # type: ignore[arg-type]
            found.pop(None, None)  # type: ignore[call-overload]
            if found:
                self.elements.append(found)

    def _stays_in_head(self, name: str | None, text: str) -> bool:
        if self._template or self._noscript:
            return True
        if text.strip(_WHITE):
            return False
        low = _lower(name) if name else ""
        return not low or low in _HEAD or (low[0] == "/" and low not in _LEAVE_HEAD)

    def _take(self, name: str, written: str, content: str | None) -> None:
        if name in _FRAMING:
            self._frame(name, written)
        elif not self._template:
            if name in self._wanted:
                self._late += not self._in_head
                self.elements.append((name, attributes(written), self._place))
            elif name == "title" and self._title is None and self._place in _OF_THE_PAGE:
                self._title = content

    def _frame(self, name: str, written: str) -> None:
        """Enter or leave an element that changes the meaning of those inside."""
        if name in _HEAD_WRITTEN:
            self._end_written_head()
            return
        tag, step = (name[1:], -1) if name[0] == "/" else (name, 1)
        if tag == "template":
            self._template = max(0, self._template + step)
        elif tag == "noscript":
            self._noscript = step > 0
            self._settle()
        elif tag in _FOREIGN:
            if step < 0 or not written.endswith("/"):
                self._foreign = max(0, self._foreign + step)
                self._settle()
        elif self._aside + step >= 0:
            if not self._aside or self._aside + step == 0:
                self._keep_text(self._index + 1)
            self._aside += step

    def _end_written_head(self) -> None:
        """Count as head what the author wrote there after an element that ends it (a stray div, an image)."""
        if self._template or self._head_end is None:
            return
        if not self._in_head and self._late <= _LATE:
            late = self.elements[self._head_end :]
            self.elements[self._head_end :] = [
                (*one[:2], Place.HEAD if one[2] is Place.BODY else one[2]) if isinstance(one, tuple) else one
                for one in late
            ]
        self._head_end = None

    def _settle(self) -> None:
        """Note where the next element stands."""
        if self._noscript:
            self._place = Place.NOSCRIPT
        elif self._foreign:
            self._place = Place.FOREIGN
        else:
            self._place = Place.HEAD if self._in_head else Place.BODY

    def _keep_text(self, end: int) -> None:
        kept = self._asides if self._aside else self._mains
        kept += self._texts[self._since : end]
        self._since = end
