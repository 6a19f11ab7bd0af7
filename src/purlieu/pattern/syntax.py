"""What of a pattern's syntax RE2 lacks, or takes otherwise than the engines that patterns are copied from (R-3.4).

Knows texts of patterns and the remedies for their owners. Compiles and matches nothing.
"""

from __future__ import annotations

import re
from typing import Final

from purlieu import late
from purlieu.named import NamedTuple
from purlieu.sentence import Sentence

_LOOK = Sentence("RE2 looks neither ahead nor behind: write two rules, the one for the exception first")
_BACK = Sentence("RE2 has no back-references; against endless paths write limits.repeated_segment = 3")
_POSSESSIVE = Sentence('take the "+" after the quantifier out: RE2 never tries again, so none has to be possessive')
_ATOMIC = Sentence('write "(?:" instead of "(?>": RE2 never tries again, so no group has to be atomic')
_SLASHES = Sentence(
    "RE2 looks neither ahead nor behind; to make one of several slashes write normalise.collapse_slashes = true"
)
_POSIX = Sentence(
    "write the characters, such as {some}, or a category, such as {category}", some="[A-Za-z]", category=r"\pL"
)

_HEXADECIMAL = Sentence("write the character's number in hexadecimal, such as {text}", text=r"\x41")
_INTERSECT = Sentence("RE2 cannot intersect classes: write out the characters, or {text} for the sign", text=r"\&")
_ONE_CLASS = Sentence("write {text}, or one class of all", text=r"\[")


class Foreign(NamedTuple):
    """A piece of syntax that RE2 does not share; ``is_known_elsewhere``: the slow engine takes it as it is meant."""

    piece: str
    remedy: str
    is_known_elsewhere: bool = False


# Escapes that RE2 refuses or that mean something else to it, and what to write instead.
_ESCAPES: Final = {
    **{
        letter: Sentence("write {text}", text=text)
        for letter, text in {
            "h": r"[ \t]",
            "H": r"[^ \t]",
            "R": r"[\r\n]",
            "X": ".",
            "Z": "$",
            "C": ".",
            "e": r"\x1b",
            "V": r"[^\n\x0b\f\r]",
        }.items()
    },
    "G": Sentence("take it out: a pattern is searched once in each URL"),
    "c": Sentence("write the control character's number, such as {text}", text=r"\x01"),
    "u": Sentence("write {text} with the character's number", text=r"\x{...}"),
    "N": Sentence("write {text} with the character's number", text=r"\x{...}"),
}
_POSIX_NAMES: Final = late.pattern(
    r"\\[pP]\{\^?(?:Lower|Upper|ASCII|Alpha|Digit|Alnum|Punct|Graph|Print|Blank|Cntrl|XDigit|Space|java\w*|Is\w+|In\w+)\}"
)
_CLASS_TOKEN: Final = late.pattern(r"\\[pP]\{[^}]*\}|\\.|&&|.", re.DOTALL)
_TOKEN: Final = late.pattern(
    r"(?P<quoted>\\Q.*?(?:\\E|$))|(?P<escape>\\[pP]\{[^}]*\}|\\.)|(?P<open>\[\^?\]?)"
    r"|(?P<look>\(\?<?[=!])|(?P<atomic>\(\?>)|(?P<flags>\(\?[A-Za-z]*-?[A-Za-z]*(?=[:)]))"
    r"|(?P<quantifier>[*+?]|\{\d+(?:,\d*)?\})|(?P<upto>\{,\d+\})|(?P<other>.)",
    re.DOTALL,
)
_LOOP_BREAKERS: Final = ("(/[^/]+)/[^/]+\\1/[^/]+\\1/", "(/.+?)/.*?\\1/.*?\\1/")


def foreign(text: str) -> Foreign | None:
    """Return the first piece of a pattern that RE2 lacks or takes otherwise; None when there is none. Linear."""
    place, after = 0, ""
    while token := _TOKEN.match(text, place):
        kind, piece, place = str(token.lastgroup), token[0], token.end()
        found = None
        if kind == "escape":
            found = _escape(piece, text[place : place + 1])
        elif kind == "open":
            found, place = _in_class(text, place)
        elif kind == "look":
            found = Foreign(piece, _SLASHES if text == "(?<!:)/{2,}" else _LOOK, is_known_elsewhere=True)
        elif kind == "atomic":
            found = Foreign(piece, _ATOMIC, is_known_elsewhere=True)
        elif kind == "flags" and set(piece[2:]) & set("duxU"):
            found = Foreign(piece, Sentence('of the flags write only "i", "s" and "m"'))
        elif kind == "upto":
            found = Foreign(piece, Sentence("write {text}", text=f'"{{0{piece[1:]}"'))
        elif kind == "quantifier" and piece == "+" and after == "quantifier":
            found = Foreign("+", _POSSESSIVE, is_known_elsewhere=True)
        if found:
            return found
        # After a?+ or a+? no further sign belongs to the quantifier.
        after = "" if kind == "quantifier" and after == "quantifier" else kind
    return None


def _escape(piece: str, following: str) -> Foreign | None:
    letter = piece[1]
    if letter in "123456789":
        return Foreign(piece, _BACK, is_known_elsewhere=True)
    if letter == "k":
        return Foreign(piece, _BACK)
    if letter == "0" and following.isdigit():
        return Foreign(piece, _HEXADECIMAL)
    if letter in "pP" and _POSIX_NAMES.match(piece):
        return Foreign(piece, _POSIX)
    remedy = _ESCAPES.get(letter)
    return Foreign(piece, remedy) if remedy else None


def _in_class(text: str, place: int) -> tuple[Foreign | None, int]:
    """Return what is foreign in a class whose inside begins at ``place``, and where the class ends."""
    while token := _CLASS_TOKEN.match(text, place):
        piece, place = token[0], token.end()
        if piece == "]":
            break
        if piece == "&&":
            return Foreign(piece, _INTERSECT), place
        if piece == "[":
            posix = text.startswith(":", place)
            return Foreign("[:" if posix else "[", _POSIX if posix else _ONE_CLASS), place
        if len(piece) > 1 and (found := _escape(piece, text[place : place + 1])):
            return found, place
    return None, place


def loop_breaker(text: str) -> int:
    """Return 1 or 2 for the two classic patterns against endless paths, which need a back-reference; else 0 (UF-10)."""
    bare = text.removeprefix("^").removeprefix(".*")
    return _LOOP_BREAKERS.index(bare) + 1 if bare in _LOOP_BREAKERS else 0


def loops(href: str, which: int) -> bool:
    """Return what the loop breaker of that number says of a URL: the same answer, in linear time and without RE2."""
    if href.count("/") < 7:  # the second of the scheme, and six
        return False
    parts = href.split("/")
    if which == 1:
        return any(
            one and one == parts[at + 2] == parts[at + 4] and parts[at + 1] and parts[at + 3]
            for at, one in enumerate(parts[1:-5], 1)
        )
    if href.count("///") > 2:
        return True
    seen: dict[str, tuple[int, int]] = {}
    for at, one in enumerate(parts[1:-1]):
        last, count = seen.get(one, (-2, 0))
        if one and at - last >= 2:  # /a/a/ holds /a/ once: the two share a slash
            if count == 2:
                return True
            seen[one] = (at, count + 1)
    return False
