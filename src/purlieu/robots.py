"""robots.txt: may we, how slowly, and which sitemaps (RFC 9309, ST-1 to ST-15).

Knows bytes, product tokens and patterns, and answers with a Verdict that names the deciding line.
Must not know how the file was fetched, who asks, how long it is cached or what the pace then is.
All text here is octets in a ``str`` (latin-1), since RFC 9309 measures and compares octets.
"""

from __future__ import annotations

import codecs
import re
from math import isfinite
from typing import TYPE_CHECKING, Literal

from purlieu import late
from purlieu.sentence import Sentence
from purlieu.value import dataclass, field
from purlieu.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LIMIT_BYTES = 512_000  # ST-5, R-8.3: 500 KiB is the least that RFC 9309 asks for
_LINE_BYTES = 16_663  # what the reference parser keeps of a line (8 x 2083, less the end mark)
_ITSELF = "/robots.txt"
_TOO_MANY_REQUESTS = 429  # not of http.HTTPStatus, an import of 3 million instructions
_QUOTED = 200  # octets of a line that a reason quotes

# The lines that count. Each misspelling is one that the reference parser forgives and that owners rely on (ST-13).
_KEYS = {
    b"user-agent": "agent",
    b"useragent": "agent",
    b"user agent": "agent",
    b"allow": "allow",
    b"disallow": "disallow",
    b"dissallow": "disallow",
    b"dissalow": "disallow",
    b"disalow": "disallow",
    b"diasllow": "disallow",
    b"disallaw": "disallow",
    b"crawl-delay": "delay",
    b"sitemap": "sitemap",
    b"site-map": "sitemap",
}

_TOKEN = late.pattern(rb"[A-Za-z_-]+")  # ST-8; the reference parser cuts a name at the first other octet
_WORD = late.pattern(rb"[^\s/]+")  # the whole name, for agents whose name the grammar does not allow ("mj12bot")
_USUAL = late.pattern(r"https?://[^/?#]+(/[!&-)+-;=?-\[\]_a-z~]*)")  # a URL whose path needs no spelling
_ORIGIN = late.pattern(r"(?:[^:/?#]+:)?//[^/?#]*")
_ESCAPE = r"%[0-9A-Fa-f]{2}"
_ODD = late.pattern(_ESCAPE + r"|[^!-~]|[\"<>\\^`{|}]")
_LETTER = late.pattern(r"%(?:3\d|[46][1-9A-Fa-f]|[57][0-9Aa])")  # an escaped letter or digit

# The one spelling of each octet. An unreserved octet stands for itself, whether it was escaped or not, and the
# other way about for octets that no URI may hold (RFC 9309, 2.2.2). "*" and "$" are spelt "%2A" and "%24" where they
# are meant literally. In a query ":", "/", "?" and "@" mean nothing more than their escapes (RFC 9309, table 1).
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_IN_PATH = {f"%{ord(octet):02X}": octet for octet in _UNRESERVED}
_IN_QUERY = _IN_PATH | {f"%{ord(octet):02X}": octet for octet in ":/?@"}
# For an Allow, letters and digits stay as they are written: the reference parser and RFC 9309 differ there, and the
# reading that allows less is the one nobody can complain of.
_IN_ALLOW = {code: octet for code, octet in _IN_PATH.items() if not octet.isalnum()}
_IN_ALLOW_QUERY = {code: octet for code, octet in _IN_QUERY.items() if not octet.isalnum()}


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line: ``head``, then ``middle`` anywhere in this order, then ``tail`` at the very end.

    ``tail`` is None where anything may follow, and empty where nothing may. ``octets`` ranks rules (ST-6).
    """

    allow: bool
    line: int
    text: bytes
    octets: int
    head: str
    middle: tuple[str, ...]
    tail: str | None
    plain: bool  # nothing but the head counts

    def matches(self, path: str) -> bool:
        """Say whether a path in the one spelling matches, in time linear in the path and the pattern."""
        if not path.startswith(self.head):
            return False
        at = len(self.head)
        for part in self.middle:
            at = path.find(part, at)
            if at < 0:
                return False
            at += len(part)
        if self.tail is None:
            return True
        if not self.tail:
            return at == len(path)
        return path.endswith(self.tail) and len(path) - len(self.tail) >= at


@dataclass(frozen=True, slots=True)
class Group:
    """All that one product token is told, from every group that names it (ST-7).

    ``rules`` are (head, rule), best first; ``blocked`` the heads of all Disallow, asked at once before anything else.
    """

    token: str
    rules: tuple[tuple[str, Rule], ...]
    blocked: tuple[str, ...]
    crawl_delay: float | None

    def rule_for(self, path: str, as_written: str) -> Rule | None:
        """Return the longest rule that matches a path, in either spelling; of two as long, the Allow (ST-6)."""
        twice = as_written is not path
        for head, rule in self.rules:
            if path.startswith(head) and (rule.plain or rule.matches(path)):
                return rule
            if twice and rule.matches(as_written):
                return rule
        return None


@dataclass(slots=True, eq=False)
class Part:
    """What some User-agent lines are told together: their rules, or their delay."""

    rules: list[Rule] = field(default_factory=list)
    delay: float | None = None


@dataclass(frozen=True, slots=True)
class Robots:
    """What one robots.txt says. ``sitemaps`` are as written, once each, in order (ST-11, SM-44).

    ``parts`` has by token, in lower case, what each of its lines belongs to. They are merged only for the agents that
    are asked for: merged for all, a file of many agents and many rules would take their product.
    """

    parts: dict[str, dict[int, Part]] = field(default_factory=dict)
    sitemaps: tuple[str, ...] = ()
    _asked: dict[str, Group | None] = field(default_factory=dict, repr=False, compare=False)

    def group(self, agent: str) -> Group | None:
        """Return the group for an agent's product token (its version cut off), else ``*``, else None (ST-7)."""
        if agent not in self._asked:
            token = agent.partition("/")[0].lower()
            token = token if token in self.parts else "*"
            parts = self.parts.get(token)
            self._asked[agent] = _merged(token, parts.values()) if parts else None
        return self._asked[agent]

    def allowed(self, agent: str, url: str) -> bool:
        """Say whether ``agent`` may fetch ``url``: ``judge(...).accepted``, without the words."""
        group = self.group(agent)
        if group is None or not group.blocked:
            return True
        path, as_written = _paths(url)
        if not path.startswith(group.blocked) or path == _ITSELF:
            return True
        rule = group.rule_for(path, as_written)
        return rule is None or rule.allow

    def judge(self, agent: str, url: str) -> Verdict:
        """Judge a URL (absolute, or a path) for a product token; ``robots:none`` where no line decides.

        RFC 9309, 2.2.2: the longest match in octets, on a tie Allow; ``/robots.txt`` itself is always allowed.
        """
        group, (path, as_written) = self.group(agent), _paths(url)
        shown = url[:_QUOTED]
        if path == _ITSELF:
            return Verdict(
                accepted=True, rule="robots:none", reason=Sentence("robots.txt itself may always be fetched.")
            )
        if group is None:
            return Verdict(
                accepted=True,
                rule="robots:none",
                reason=Sentence('robots.txt has no rules for "{agent}".', agent=agent),
            )
        rule = group.rule_for(path, as_written)
        if rule is None:
            reason = Sentence('No line of robots.txt for "{agent}" matches "{url}".', agent=group.token, url=shown)
            return Verdict(accepted=True, rule="robots:none", reason=reason)
        values = {"number": rule.line, "line": _shown(rule.text[:_QUOTED]), "agent": group.token, "url": shown}
        if rule.allow:
            reason = Sentence('robots.txt, line {number}, "{line}" (for "{agent}") allows "{url}".', **values)
        else:
            reason = Sentence('robots.txt, line {number}, "{line}" (for "{agent}") forbids "{url}".', **values)
        return Verdict(accepted=rule.allow, rule=f"robots:{rule.line}", reason=reason)

    def crawl_delay(self, agent: str) -> float | None:
        """Return the seconds between requests that the agent's own group asks for, else None (ST-12, EN-50).

        The largest of several counts; what is no number or below zero is ignored; nothing is capped here.
        """
        group = self.group(agent)
        return group.crawl_delay if group else None


def read(body: bytes, *, cut: bool = False) -> Robots:
    """Read the bytes of a robots.txt; whatever they are, the answer is what can be understood of them.

    Only the first 512,000 bytes count, and a last line which that limit (or the fetcher's, then ``cut`` is true)
    may have cut in half is dropped (ST-5). UTF-16 is understood where a byte order mark announces it.
    """
    cut = cut or len(body) > LIMIT_BYTES
    body, following = body[:LIMIT_BYTES], body[LIMIT_BYTES : LIMIT_BYTES + 1]
    body = _utf8(body)
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    if cut and following not in {b"\n", b"\r"}:
        lines.pop()
    return _grouped(lines)


def of_status(status: int) -> Literal["parse", "allow", "disallow"]:
    """Say what a final status for robots.txt means: read the body, or all is allowed, or nothing is, for now.

    RFC 9309, 2.3.1 and ST-1 to ST-3: 2xx parse, 4xx allow, 5xx disallow; 429 as 5xx (ST-14, AMB-ST-2). A 3xx that
    cannot be followed any further and a 1xx mean no rules (AMB-ST-1, R-4.5). A number that is no status counts as
    5xx (RFC 9110, 15).
    """
    if status == _TOO_MANY_REQUESTS:
        return "disallow"
    match status // 100:
        case 2:
            return "parse"
        case 1 | 3 | 4:
            return "allow"
        case _:
            return "disallow"


def _utf8(body: bytes) -> bytes:
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return body.decode("utf-16", "replace").encode()
    # The reference parser also skips a mark of which only the beginning is there.
    for length in (3, 2, 1):
        if body.startswith(codecs.BOM_UTF8[:length]):
            return body[length:]
    return body


def _records(lines: list[bytes]) -> Iterator[tuple[int, str, bytes, bytes]]:
    """Yield line number, key in its right spelling, value, and the line without its comment."""
    for number, line in enumerate(lines, 1):
        text = line[:_LINE_BYTES].partition(b"#")[0].strip()
        if not text:
            continue
        key, colon, value = text.partition(b":")
        if colon:
            key, value = key.strip(), value.strip()
        elif len(words := text.split(None, 2)) == 2:
            key, value = words
        if found := _KEYS.get(key.lower()):
            yield number, found, value, text


def _grouped(lines: list[bytes]) -> Robots:
    parts: dict[str, dict[int, Part]] = {}
    sitemaps: dict[str, None] = {}
    group = pace = Part()  # for whom nothing stands here: rules before any group are ignored (ST-7)
    opened = pace_opened = False  # whether the next User-agent line joins the last ones
    for number, key, value, text in _records(lines):
        match key:
            case "agent":
                # Only an Allow or Disallow closes a group (ST-11); for a delay those count that stand right before it.
                group = group if opened else Part()
                pace = pace if pace_opened else Part()
                opened = pace_opened = True
                for name in _names(value):
                    parts.setdefault(name, {}).update({id(group): group, id(pace): pace})
            case "allow" | "disallow":
                opened = pace_opened = False
                if value:
                    group.rules.extend(_rules(value, allow=key == "allow", line=number, text=text))
            case "delay":
                pace_opened = False
                seconds = _seconds(value)
                if seconds is not None:
                    pace.delay = max(seconds, pace.delay or 0.0)
            case "sitemap" if value:
                sitemaps[value.decode("utf-8", "replace")] = None
    return Robots(parts, tuple(sitemaps))


def _names(value: bytes) -> set[str]:
    """Return the tokens that a User-agent line names, in lower case."""
    if value == b"*" or value[:2] in {b"* ", b"*\t"}:
        return {"*"}
    found = (pattern.match(value) for pattern in (_TOKEN, _WORD))
    return {match[0].decode("utf-8", "replace").lower() for match in found if match} - {"*"}


def _merged(token: str, parts: Iterable[Part]) -> Group:
    """Merge all that one token is told; of equal rules the first stands."""
    parts = list(parts)
    rules = (rule for part in reversed(parts) for rule in reversed(part.rules))
    alone = {(rule.allow, rule.head, rule.middle, rule.tail): rule for rule in rules}
    best = sorted(alone.values(), key=lambda rule: (-rule.octets, not rule.allow, rule.line))
    blocked = tuple(dict.fromkeys(rule.head for rule in best if not rule.allow))
    delay = max((part.delay for part in parts if part.delay is not None), default=None)
    return Group(token, tuple((rule.head, rule) for rule in best), blocked, delay)


def _rules(value: bytes, *, allow: bool, line: int, text: bytes) -> Iterator[Rule]:
    """Yield the rule of a line, and for an Allow of an index page the one for its folder too (ST-13)."""
    pattern = value.decode("latin-1")
    yield _rule(pattern, allow=allow, line=line, text=text)
    if not allow:
        return
    folder, slash, name = pattern.rpartition("/")
    if slash and name.startswith("index.htm"):
        yield _rule(folder + "/$", allow=allow, line=line, text=text)


def _rule(pattern: str, *, allow: bool, line: int, text: bytes) -> Rule:
    octets = len(pattern) if pattern.isascii() else len(pattern) + 2 * sum(octet > "\x7f" for octet in pattern)
    anchored = pattern.endswith("$")
    if anchored:
        pattern = pattern[:-1]
    pattern = _spell(pattern, _IN_ALLOW, _IN_ALLOW_QUERY) if allow else _spell(pattern, _IN_PATH, _IN_QUERY)
    head, *rest = pattern.replace("$", "%24").split("*")
    tail = None
    if anchored:
        tail = (rest.pop() or None) if rest else ""
    middle = tuple(filter(None, rest))
    return Rule(allow, line, text, octets, head, middle, tail, plain=not middle and tail is None)


def _seconds(value: bytes) -> float | None:
    try:
        seconds = float(value)
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


def _paths(url: str) -> tuple[str, str]:
    """Return path and query of a URL in the one spelling, and with escaped letters and digits left as written.

    The two are the same object wherever none is escaped.
    """
    if usual := _USUAL.fullmatch(url):
        return usual[1], usual[1]
    origin = _ORIGIN.match(url)
    path = (url[origin.end() :] if origin else url).partition("#")[0]
    if not path.startswith("/"):
        path = "/" + path
    if not path.isascii():
        path = path.encode("utf-8", "replace").decode("latin-1")
    path = path.replace("*", "%2A").replace("$", "%24")
    spelt = _spell(path, _IN_PATH, _IN_QUERY)
    return spelt, _spell(path, _IN_ALLOW, _IN_ALLOW_QUERY) if _LETTER.search(path) else spelt


def _spell(text: str, in_path: dict[str, str], in_query: dict[str, str]) -> str:
    if not _ODD.search(text):
        return text

    def one(match: re.Match[str]) -> str:
        octet = match[0]
        code = octet.upper() if len(octet) > 1 else f"%{ord(octet):02X}"
        return table.get(code, code)

    path, mark, query = text.partition("?")
    table = in_path
    path = _ODD.sub(one, path)
    table = in_query
    return path + mark + _ODD.sub(one, query)


def _shown(text: bytes) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text.decode("utf-8", "replace"))
