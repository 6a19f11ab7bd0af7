"""The owner's patterns: what may be written, and several of them asked of one URL in linear time (R-3.4).

Knows patterns and texts. Knows no scope and no settings: what a match means is decided by ``filters`` and
``normalise``. Patterns run on RE2, which is loaded when the first one is compiled; what it cannot express runs on a
slower engine, with a limit of time, if the owner wants that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from purlieu.named import NamedTuple
from purlieu.pattern.syntax import foreign, loop_breaker, loops
from purlieu.sentence import Sentence

__all__ = ["TIMEOUT_SECONDS", "Hit", "Patterns", "compiled", "loop_breaker", "mend"]

TIMEOUT_SECONDS: Final = 0.010
"""How long the slow engine may search one URL for one pattern (R-3.4)."""
_SET_BYTES: Final = 64 * 1024 * 1024


class Hit(NamedTuple):
    """Which of several patterns was found first in a text, or came to its limit of time there."""

    number: int
    timed_out: bool = False


def mend(text: str, *, unsafe: bool = False, offers: bool = True) -> str:
    """Return what is wrong with a pattern and what to write instead; "" when it can be run.

    ``unsafe``: look-around, back-references, atomic groups and possessive quantifiers may be used (R-3.4).
    ``offers``: that setting is told as a way out.
    """
    if loop_breaker(text):
        return ""
    strange = foreign(text)
    if strange and not (unsafe and strange.is_known_elsewhere):
        has_way = offers and strange.is_known_elsewhere
        instead = Sentence("; or set filter.unsafe_patterns = true") if has_way else ""
        told = {"piece": strange.piece, "remedy": strange.remedy, "instead": instead}
        return Sentence('"{piece}" cannot be used: {remedy}{instead}', **told)
    why = _refused_by_regex(text) if strange else _refused_by_re2(text)
    return Sentence("this is no pattern ({why}); mend it", why=why) if why else ""


def _refused_by_re2(text: str) -> str:
    import re2

    try:
        compiled(text)
    except re2.error as error:
        return _words(error)
    return ""


def _refused_by_regex(text: str) -> str:
    import regex

    try:
        _slow(text)
    except (regex.error, RecursionError) as error:
        return _words(error)
    return ""


def _words(error: Exception) -> str:
    """Return an engine's own words: RE2 gives bytes."""
    first = error.args[0] if error.args else "too complex"
    return first.decode("utf-8", "replace") if isinstance(first, bytes) else str(first)


@lru_cache(maxsize=4096)
def compiled(text: str) -> Any:
    """Return a pattern compiled by RE2; raises ``re2.error`` for one that ``mend`` has something to say about."""
    import re2

    return re2.compile(text, _options())


@lru_cache(maxsize=1)
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _SET_BYTES
    return options


@lru_cache(maxsize=256)
def _slow(text: str) -> Any:
    import regex  # 100 ms: only for owners who asked for it

    return regex.compile(text, regex.VERSION0 | regex.ASCII)


class Patterns:
    """Patterns in order, all of them asked of a text at once. Each must be one that ``mend`` has nothing to say about.

    A pattern is searched anywhere in the text, and case counts (UF-4).
    """

    __slots__ = ("_sets", "_tests", "_texts")

    def __init__(self, texts: Sequence[str]) -> None:
        """Compile the patterns; those that RE2 cannot express are compiled for the slow engine."""
        self._texts = tuple(texts)
        self._tests = tuple((number, test) for number, text in enumerate(texts) if (test := _test(text)))
        apart = {number for number, _ in self._tests}
        self._sets = tuple(_sets([(number, text) for number, text in enumerate(texts) if number not in apart]))

    def first(self, text: str) -> Hit | None:
        """Return which pattern is the first to be found in a text, None when none is."""
        best = len(self._texts)
        for one, numbers in self._sets:
            found = one.Match(text)
            least = min(found) if found else self._one_by_one(numbers, text)
            if least < len(numbers):
                best = numbers[least]
                break
        for number, test in self._tests:
            if number > best:
                break
            try:
                if test(text):
                    return Hit(number)
            except TimeoutError:
                return Hit(number, timed_out=True)
        return Hit(best) if best < len(self._texts) else None

    def _one_by_one(self, numbers: tuple[int, ...], text: str) -> int:
        """Return which of a set's patterns is found first, their number for none.

        The empty pattern stands last in every set and is always found: a set without an answer has run out of memory.
        """
        asked = (place for place, number in enumerate(numbers) if compiled(self._texts[number]).search(text))
        return next(asked, len(numbers))


def _test(text: str) -> Callable[[str], object] | None:
    """Return the test for a pattern that RE2 cannot express, None for one that it can."""
    if which := loop_breaker(text):
        return lambda href: loops(href, which)
    if foreign(text):
        search = _slow(text).search
        return lambda href: search(href, timeout=TIMEOUT_SECONDS)
    return None


def _sets(numbered: list[tuple[int, str]]) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Yield the patterns as sets with their numbers, in order: one, or as many as are needed for its memory."""
    if not numbered:
        return
    import re2

    one = re2.Set.SearchSet(_options())
    for _, text in numbered:
        one.Add(text)
    one.Add("")
    try:
        one.Compile()
    except re2.error:
        if len(numbered) == 1:
            raise
        half = len(numbered) // 2
        yield from _sets(numbered[:half])
        yield from _sets(numbered[half:])
        return
    yield one, tuple(number for number, _ in numbered)
