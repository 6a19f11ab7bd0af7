"""The owner's normalisers: rules that make several spellings of a URL one, after the standard form (UF-20 to UF-26).

Knows serialised hrefs and the owner's rules. Knows no scope: what comes out is judged, and fetched, in place of what
went in. The same href always gives the same key, whatever came before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, Protocol, Self

from purlieu.errors import UrlError
from purlieu.pattern import Patterns, compiled, mend
from purlieu.sentence import Sentence
from purlieu.url import host_of, parse

LONGEST: Final = 65_536
"""A URL that is, or would become, longer stays as it is."""
_TEMPLATE: Final = r"\\(.?)|\$(?:(\d+)|\{(\w+)\})|\$|[^\\$]+"


class _Rule(Protocol):
    @property
    def pattern(self) -> str: ...
    @property
    def replace(self) -> str: ...


class _Rules(Protocol):
    @property
    def rules(self) -> Sequence[_Rule]: ...


class _Settings(_Rules, Protocol):
    @property
    def collapse_slashes(self) -> bool: ...
    @property
    def loops(self) -> int: ...
    @property
    def session_ids(self) -> bool: ...
    @property
    def sort_parameters(self) -> bool: ...
    @property
    def drop_parameters(self) -> Sequence[str]: ...


class Normaliser:
    """The rules in order; each replaces all that it finds (UF-24). ``is_identity``: nobody need ask.

    ``strips_sessions``: session ids are taken out of links, not of redirects, whose server may insist on them.
    """

    __slots__ = ("_any", "_collapse", "_drop", "_loops", "_rules", "_sort", "is_identity", "strips_sessions")

    def __init__(
        self,
        rules: Sequence[tuple[str, str]] = (),
        *,
        collapse_slashes: bool = False,
        loops: int = 1,
        sessions: bool = False,
        sort: bool = False,
        drop: Sequence[str] = (),
    ) -> None:
        """Compile rules that ``mistakes`` has nothing to say about."""
        self._rules = tuple((compiled(pattern), _template(pattern, text)) for pattern, text in rules)
        self._any = Patterns([pattern for pattern, _ in rules])
        self._collapse = collapse_slashes
        self._loops = loops
        self._sort = sort
        self._drop = tuple(name.lower() for name in drop)
        self.strips_sessions = sessions
        self.is_identity = not (rules or collapse_slashes or sort or drop)

    @classmethod
    def of(cls, settings: _Settings) -> Self:
        """Return the normaliser that ``[normalise]`` describes."""
        rules = [(rule.pattern, rule.replace) for rule in settings.rules]
        return cls(
            rules,
            collapse_slashes=settings.collapse_slashes,
            loops=settings.loops,
            sessions=settings.session_ids,
            sort=settings.sort_parameters,
            drop=settings.drop_parameters,
        )

    def link(self, href: str) -> str:
        """Return what a link's href becomes: as ``key``, without session ids."""
        return self.key(without_session(href) if self.strips_sessions and "=" in href else href)

    def key(self, href: str) -> str:
        """Return what a serialised http(s) href without fragment becomes; two with one key are one entry (R-1.2).

        It is a serialised href itself. What the rules would make no http(s) URL stays as it was.
        """
        if self.is_identity:
            return href
        if (self._sort or self._drop) and "?" in href:
            href = self._with_parameters(href)
        for _ in range(self._loops):
            before, href = href, self._once(href)
            if href == before:
                break
        return href

    def _with_parameters(self, href: str) -> str:
        """Return the href without the parameters that the owner drops, and with the others in order where wanted."""
        path, _, query = href.partition("?")
        pairs = [pair for pair in query.split("&") if not self._is_dropped(pair.partition("=")[0].lower())]
        query = "&".join(sorted(pairs) if self._sort else pairs)
        return f"{path}?{query}" if query else path

    def _is_dropped(self, name: str) -> bool:
        return any(name == one or (one[-1:] == "*" and name.startswith(one[:-1])) for one in self._drop)

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


def mistakes(settings: _Rules) -> Iterator[tuple[str, str, str]]:
    """Yield (key, value, remedy) for all that is wrong in the rules of ``[normalise]``."""
    for number, rule in enumerate(settings.rules, 1):
        remedy = mend(rule.pattern, offers=False)
        if not remedy and r"\1" in rule.pattern:
            remedy = Sentence("RE2 has no back-references")
        if remedy:
            yield f"normalise.rule[{number}].pattern", rule.pattern, remedy
            continue
        try:
            _template(rule.pattern, rule.replace)
        except (ValueError, KeyError):
            most = compiled(rule.pattern).groups
            remedy = Sentence(
                "the pattern has {most} groups: write $0 to ${most}, and {sign} for the sign itself",
                most=most,
                sign=r"\$",
            )
            yield f"normalise.rule[{number}].replace", rule.replace, remedy


@cache
def _sessions() -> re.Pattern[str]:
    """Return what finds a session id: a name that means nothing else, or one that may and a long value with digits."""
    sure = "phpsessid|jsessionid|aspsessionid[a-z]*|oscsid|zenid|xtcsid|cftoken"
    likely = r"(?:sid|sess|session|session[_-]?id|sessid)=(?=[^&;/?]*\d)[0-9a-z_-]{16,}(?![^&;/?])"
    return re.compile(rf"[?&;](?:(?:{sure})=[^&;/?]*|{likely})", re.IGNORECASE)


def without_session(href: str) -> str:
    """Return an http(s) href without session ids, in its query or after a semicolon in its path; else as it is."""
    if _sessions().search(href) is None:
        return href
    path, mark, query = href.partition("?")
    path = _sessions().sub("", path)
    # Each pair is looked at with a sign before it, so that the first is no exception.
    pairs = [pair for pair in query.split("&") if _sessions().fullmatch(f"&{pair}") is None]
    return f"{path}{mark}{'&'.join(pairs)}" if pairs and mark else path


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
