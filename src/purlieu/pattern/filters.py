"""What the owner's rules say of a URL that is in scope: ordered ``+`` and ``-`` lines, then excludes and includes.

Knows the texts of rules and the numbers by which they are named. Never admits what scope refuses: it is asked after
it (EN-20a to EN-20c). The syntax of the lines is that of ``crawl-urlfilter.txt`` (UF-1 to UF-9).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, Self
from urllib.parse import quote

from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.named import NamedTuple
from purlieu.pattern import Patterns, mend
from purlieu.sentence import Sentence
from purlieu.url import host_of, parse

_LINES: Final = r"\r\n|\n|\r"
_SKIPPED: Final = ("", "#", " ")
_USERINFO: Final = "(?:[^/?@]*@)?"  # http://x@host/private/ is what http://host/private/ means
_KEPT: Final = "!#$%&'()*+,-./:;=?@[]_~|^"  # in URLs as they are
_BEGINNING: Final = Sentence(
    "write the beginning of a URL, such as https://example.com/docs/, or of a path, such as /docs/"
)
NO_MATCH: Final = "filter:no-match"


class Refusal(NamedTuple):
    """Why a URL is refused: ``filter`` or ``filter_timeout``, and the rule, such as ``filter:3`` or ``exclude:2``."""

    reason: str
    rule: str


class _Settings(Protocol):
    @property
    def rules(self) -> Sequence[str]: ...
    @property
    def rules_file(self) -> str: ...
    @property
    def include(self) -> Sequence[str]: ...
    @property
    def exclude(self) -> Sequence[str]: ...
    @property
    def unsafe_patterns(self) -> bool: ...


class Filters:
    """The owner's rules, compiled. ``bool`` says whether there are any.

    ``rules``: the first line that matches decides, and if none does the URL is refused (UF-2, UF-3). ``exclude``: no
    item may match. ``include``: one must, if there are any.
    """

    __slots__ = ("_exclude", "_include", "_lines", "_patterns", "_texts")

    def __init__(self, rules: Sequence[str] = (), *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        """Compile rules that ``mistakes`` has nothing to say about."""
        self._texts = (tuple(rules), tuple(include), tuple(exclude))
        self._lines = tuple((number, line[0] == "+") for number, line in _read(rules))
        self._patterns = Patterns([line[1:] for _, line in _read(rules)]) if rules else None
        self._include = Patterns(list(map(as_pattern, include))) if include else None
        self._exclude = Patterns(list(map(as_pattern, exclude))) if exclude else None

    @classmethod
    def of(cls, settings: _Settings) -> Self:
        """Return the filters that ``[filter]`` describes; a ``rules_file`` must have been read into ``rules``."""
        if settings.rules_file:
            remedy = "it has not been read; give its lines as filter.rules (settings.with_rules)"
            raise SettingsError((Mistake("filter.rules_file", settings.rules_file, remedy),))
        return cls(settings.rules, include=settings.include, exclude=settings.exclude)

    def __bool__(self) -> bool:
        return any(self._texts)

    def refuse(self, href: str) -> Refusal | None:
        """Return why a serialised href is refused, None when it is not: one search for each of the three lists."""
        if self._patterns is not None:
            hit = self._patterns.first(href)
            if hit is None:
                return Refusal("filter", NO_MATCH)
            number, admits = self._lines[hit.number]
            if hit.timed_out:
                return Refusal("filter_timeout", f"filter:{number}")
            if not admits:
                return Refusal("filter", f"filter:{number}")
        if self._exclude is not None and (hit := self._exclude.first(href)):
            return Refusal("filter_timeout" if hit.timed_out else "filter", f"exclude:{hit.number + 1}")
        if self._include is not None:
            hit = self._include.first(href)
            if hit is None:
                return Refusal("filter", "include")
            if hit.timed_out:
                return Refusal("filter_timeout", f"include:{hit.number + 1}")
        return None

    def told_by(self, href: str) -> str:
        """Return the rule that decides about a serialised href, also when it admits; "" when there are no rules."""
        refusal = self.refuse(href)
        if refusal:
            return refusal.rule
        if self._include is not None and (hit := self._include.first(href)):
            return f"include:{hit.number + 1}"
        if self._patterns is not None and (hit := self._patterns.first(href)):
            return f"filter:{self._lines[hit.number][0]}"
        return ""

    def line(self, rule: str) -> str:
        """Return the owner's text of a rule by its name, "" for one that names none."""
        kind, _, number = rule.partition(":")
        texts = dict(zip(("filter", "include", "exclude"), self._texts, strict=True)).get(kind, ())
        return texts[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(texts) else ""


def mistakes(settings: _Settings) -> Iterator[tuple[str, str, str]]:
    """Yield (key, value, remedy) for all that is wrong in ``[filter]``."""
    for number, line, remedy in _wrong_lines(settings.rules, unsafe=settings.unsafe_patterns):
        yield f"filter.rules[{number}]", line, remedy
    if settings.rules and settings.rules_file:
        yield (
            "filter.rules_file",
            settings.rules_file,
            Sentence("filter.rules stands here too; write only one of the two"),
        )
    for name in ("include", "exclude"):
        for item in getattr(settings, name):
            if remedy := wrong_item(item, unsafe=settings.unsafe_patterns):
                yield f"filter.{name}", item, remedy


def read_rules(text: str, source: str, *, unsafe: bool = False) -> tuple[str, ...]:
    """Return the lines of a rules file for ``filter.rules``: all of them, so that rules are named by their lines.

    Raises SettingsError with every wrong line of ``source`` (UF-6, UF-7).
    """
    lines = tuple(_plain(line) for line in re.split(_LINES, text.removeprefix("\ufeff")))
    wrong = [
        Mistake(f"line {number}", line, remedy, source) for number, line, remedy in _wrong_lines(lines, unsafe=unsafe)
    ]
    if wrong:
        raise SettingsError(tuple(wrong))
    return lines[:-1] if lines[-1] == "" else lines


def _plain(line: str) -> str:
    """Return a line of a file; what is skipped may hold anything and is kept without control characters (UF-5)."""
    return re.sub(r"[\x00-\x1f\x7f]", " ", line) if line[:1] in _SKIPPED else line


def _read(rules: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each rule with the number of its line; empty lines, comments and indented lines are none (UF-5)."""
    return ((number, line) for number, line in enumerate(rules, 1) if line[:1] not in _SKIPPED)


def _wrong_lines(rules: Sequence[str], *, unsafe: bool) -> Iterator[tuple[int, str, str]]:
    for number, line in _read(rules):
        if line[0] not in "+-":
            yield (
                number,
                line,
                Sentence("Invalid first character: {line}; begin a rule with + or -, a comment with #", line=line),
            )
        elif remedy := mend(line[1:], unsafe=unsafe):
            yield number, line, remedy


def wrong_item(item: str, *, unsafe: bool) -> str:
    """Return what is wrong with an item of include or exclude and what to write instead, "" when nothing is."""
    try:
        return mend(as_pattern(item), unsafe=unsafe)
    except UrlError as error:
        return error.args[0] if error.args and isinstance(error.args[0], Sentence) else str(error)


def as_pattern(item: str) -> str:
    """Return the pattern for an item of include or exclude; raises UrlError, with the remedy, for one that can be none.

    ``prefix:`` is the beginning of a URL, or of its path if it begins with a slash; ``glob:`` is matched against the
    whole of either, ``*`` standing for any characters; ``regex:`` is searched. Without a word before it a URL
    without ``*`` is a prefix and all else a glob.
    """
    kind, colon, text = item.partition(":")
    if not colon or kind not in {"prefix", "glob", "regex"}:
        is_url = item.startswith(("http://", "https://")) and "*" not in item
        kind, text = "prefix" if is_url else "glob", item
    if kind == "regex":
        return text
    return f"^{_prefix(text)}" if kind == "prefix" else f"^{_glob(text)}$"


def _prefix(text: str) -> str:
    if text.startswith("/"):
        return _any_host() + re.escape(quote(text, _KEPT))
    href = parse(text).href
    if not host_of(href):
        raise UrlError(_BEGINNING)
    scheme, _, rest = href.partition("://")
    return f"{scheme}://{_USERINFO}{re.escape(rest)}"


def _glob(text: str) -> str:
    before = ""
    if web := re.match(r"(https?)://([^/?]*)", text, re.IGNORECASE):
        authority = web[2].lower() if "*" in web[2] else parse(f"{web[0]}/").href.split("/")[2]
        before, text = f"{web[1].lower()}://{_USERINFO}", f"{authority}{text[web.end() :] or '/'}"
    elif text.startswith("/"):
        before = _any_host()
    elif not text.startswith("*"):
        told = Sentence(
            'a glob is matched against the whole URL: write "*{text}", or begin it with / or http://', text=text
        )
        raise UrlError(told)
    return before + ".*".join(map(re.escape, re.split(r"\*+", quote(text, _KEPT))))


def _any_host() -> str:
    return "https?://[^/]*"
