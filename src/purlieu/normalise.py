"""The owner's normalisers: rules that make several spellings of a URL one, after the standard form (UF-20 to UF-26).

Knows serialised hrefs and the owner's rules. Knows no scope: what comes out is judged, and fetched, in place of what
went in. The same href always gives the same key, whatever came before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol, Self

from purlieu.errors import UrlError
from purlieu.pattern import Patterns, compiled, mend
from purlieu.url import host_of, parse

LONGEST: Final = 65_536
"""A URL that is, or would become, longer stays as it is."""
_TEMPLATE: Final = r"\\(.?)|\$(?:(\d+)|\{(\w+)\})|\$|[^\\$]+"


class _Rule(Protocol):
    @property
    def pattern(self) -> str: ...
    @property
    def replace(self) -> str: ...


class _Settings(Protocol):
    @property
    def rules(self) -> Sequence[_Rule]: ...
    @property
    def collapse_slashes(self) -> bool: ...
    @property
    def loops(self) -> int: ...


class Normaliser:
    """The rules in order; each replaces all that it finds (UF-24). ``is_identity``: nobody need ask."""

    __slots__ = ("_any", "_collapse", "_loops", "_rules", "is_identity")

    def __init__(
        self, rules: Sequence[tuple[str, str]] = (), *, collapse_slashes: bool = False, loops: int = 1
    ) -> None:
        """Compile rules that ``mistakes`` has nothing to say about."""
        self._rules = tuple((compiled(pattern), _template(pattern, text)) for pattern, text in rules)
        self._any = Patterns([pattern for pattern, _ in rules])
        self._collapse = collapse_slashes
        self._loops = loops
        self.is_identity = not rules and not collapse_slashes

    @classmethod
    def of(cls, settings: _Settings) -> Self:
        """Return the normaliser that ``[normalise]`` describes."""
        rules = [(rule.pattern, rule.replace) for rule in settings.rules]
        return cls(rules, collapse_slashes=settings.collapse_slashes, loops=settings.loops)

    def key(self, href: str) -> str:
        """Return what a serialised http(s) href without fragment becomes; two with one key are one entry (R-1.2).

        It is a serialised href itself. What the rules would make no http(s) URL stays as it was.
        """
        if self.is_identity:
            return href
        for _ in range(self._loops):
            before, href = href, self._once(href)
            if href == before:
                break
        return href

    def _once(self, href: str) -> str:
        if self._collapse:
            href = _with_single_slashes(href)
        if not self._rules or len(href) > LONGEST or self._any.first(href) is None:
            return href
        text = href
        for pattern, replacement in self._rules:
            text = pattern.sub(replacement, text)
            if len(text) > LONGEST:
                return href
        if text == href:
            return href
        try:
            made = parse(text).href
        except UrlError:
            return href
        return made if host_of(made) else href


def mistakes(settings: _Settings) -> Iterator[tuple[str, str, str]]:
    """Yield (key, value, remedy) for all that is wrong in the rules of ``[normalise]``."""
    for number, rule in enumerate(settings.rules, 1):
        remedy = mend(rule.pattern).partition("; or set filter.unsafe")[0]  # there is no such way out here
        if not remedy and r"\1" in rule.pattern:
            remedy = "RE2 has no back-references"
        if remedy:
            yield f"normalise.rule[{number}].pattern", rule.pattern, remedy
            continue
        try:
            _template(rule.pattern, rule.replace)
        except (ValueError, KeyError):
            most = compiled(rule.pattern).groups
            remedy = f"the pattern has {most} groups: write $0 to ${most}, and \\$ for the sign itself"
            yield f"normalise.rule[{number}].replace", rule.replace, remedy


def _with_single_slashes(href: str) -> str:
    """Return the href with each run of slashes in its path as one (UF-23); the query stays."""
    if "//" not in href[8:]:
        return href
    before, mark, query = href.partition("?")
    scheme, host, path = before.split("/", 3)[0], before.split("/", 3)[2], before.split("/", 3)[3]
    return f"{scheme}//{host}{re.sub('/+', '/', f'/{path}')}{mark}{query}"


def _template(pattern: str, text: str) -> Callable[[Any], str]:
    r"""Return what makes the replacement of a match. ``$n`` and ``${name}`` are groups, ``\`` takes a sign as it is.

    Of several digits as many count as make a group that there is. A group that took no part is empty. Raises
    ValueError or KeyError for one that is not there.
    """
    known, names = compiled(pattern).groups, compiled(pattern).groupindex
    parts: list[str | int] = []
    for piece in re.finditer(_TEMPLATE, text, re.DOTALL):
        escaped, digits, name = piece.groups()
        if escaped is not None:
            parts.append(escaped)
        elif digits is not None:
            length = max((size for size in range(1, len(digits) + 1) if int(digits[:size]) <= known), default=0)
            if not length:
                raise ValueError(text)
            parts += [int(digits[:length]), digits[length:]]
        elif name is not None:
            parts.append(names[name])
        elif piece[0] == "$":
            raise ValueError(text)
        else:
            parts.append(piece[0])
    return lambda match: "".join(part if isinstance(part, str) else match.group(part) or "" for part in parts)
