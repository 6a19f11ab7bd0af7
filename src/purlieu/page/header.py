"""What HTTP header fields and their twins in <meta> say about a page: type, links, robots rules, refresh.

Pure readers of field values: text in, values out. Knows no body and resolves no URL. No value raises;
each reader is linear in its input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from purlieu import late

Headers = Sequence[tuple[str, str]]

_W = "\t\n\f\r "
_TOKEN = late.pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LIMIT = 8192  # characters of one field value that are read (ST-25 asks for at least 8 KiB)


_TELLING = frozenset(("content-type", "link", "refresh", "x-robots-tag"))
_LENGTHS = frozenset(map(len, _TELLING))


def telling(headers: Headers) -> dict[str, list[str]]:
    """Return the values of the fields that say something about a page, by lower-case name, in the order received."""
    found: dict[str, list[str]] = {}
    for key, value in headers:
        if len(key) in _LENGTHS and (name := key.lower()) in _TELLING:  # the length first spares lowering every name
            found.setdefault(name, []).append(value)
    return found


def content_type_of(headers: Headers) -> tuple[str | None, str | None]:
    """Return (essence, charset) of the Content-Type fields, combined as Fetch does (3.2.2, extract a MIME type).

    The last valid one counts, ``*/*`` never; a charset is carried over to a later one of the same essence.
    """
    return combined(",".join(telling(headers).get("content-type", ())))


@lru_cache(maxsize=64)  # a site says the same on page after page
def combined(text: str) -> tuple[str | None, str | None]:
    """Return (essence, charset) of Content-Type fields joined by commas."""
    essence = charset = carried = None
    for value in _list_members(text):
        parsed = mime_type(value)
        if parsed is None or parsed[0] == "*/*":
            continue
        if parsed[0] != essence:
            carried = parsed[1]
        essence, charset = parsed[0], parsed[1] or carried
    return essence, charset


def mime_type(text: str) -> tuple[str, str | None] | None:
    """Return (essence in lower case, charset as written or None), None if it is none (MIME Sniffing 4.4)."""
    kind, _, rest = text.strip(_W).partition("/")
    subtype, semicolon, parameters = rest.partition(";")
    subtype = subtype.rstrip(_W)
    if not (_TOKEN.fullmatch(kind) and _TOKEN.fullmatch(subtype)):
        return None
    charset = _parameter(parameters, "charset") if semicolon else None
    return f"{kind}/{subtype}".lower(), charset


_PARAMETER = late.pattern(r"[\t\n\f\r ]*([^;=]*)(?:=(?:\"((?:[^\"\\]|\\.)*+)(?:\"|\\?\Z)[^;]*|([^;]*)))?;?", re.DOTALL)
_ALLOWED = late.pattern(r"[\t\x20-\x7e\x80-\xff]*")


def _parameter(text: str, wanted: str) -> str | None:
    """Return the first valid value of a MIME type parameter."""
    at = 0
    while at < len(text) and (match := _PARAMETER.match(text, at)) and match.end() > at:
        at = match.end()
        name, quoted, bare = match.groups()
        if name.lower() != wanted or (quoted is None and not (bare or "").rstrip(_W)):
            continue
        value = re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted is not None else bare.rstrip(_W)
        if _ALLOWED.fullmatch(value):
            return value
    return None


def _list_members(text: str) -> Iterator[str]:
    """Split a field value at the commas outside quoted strings (Fetch 2.2.2, get, decode, and split)."""
    return (member.strip("\t ") for member in _MEMBER.findall(text[:_LIMIT]))


_MEMBER = late.pattern(r"(?:[^\",]++|\"(?:[^\"\\]|\\.)*+(?:\"|\\?\Z))*+", re.DOTALL)
_LINK = late.pattern(r"[\t ,]*<([^>]*)>")
_LINK_PARAMETER = late.pattern(
    r"[\t ]*;[\t ]*([^\t =;,\"]*)[\t ]*(?:=[\t ]*(?:\"((?:[^\"\\]|\\.)*+)(?:\"|\\?\Z)|([^\t ;,]*)))?", re.DOTALL
)


def links(fields: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (target, parameters) of each Link field (RFC 8288, 3 and B.2); names in lower case, the first counts."""
    for value in fields:
        text, at = value[:_LIMIT], 0
        while link := _LINK.match(text, at):
            at = link.end()
            parameters: dict[str, str] = {}
            while found := _LINK_PARAMETER.match(text, at):
                at = found.end()
                name, quoted, bare = found.groups()
                quoted = re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted is not None else None
                parameters.setdefault(name.lower(), bare or "" if quoted is None else quoted)
            yield link[1].strip(_W), parameters
            comma = text.find(",", at)
            if comma < 0:
                break
            at = comma + 1


_AGENT = late.pattern(r"([a-z][a-z0-9_.-]*)[\t ]*:(.*)", re.DOTALL)
_VALUED = ("unavailable_after", "max-")  # rules with a value, which are no bots' names


def robots_rules(values: Iterable[str], agent: str) -> set[str]:
    """Return the rules of robots values that are for everyone or for ``agent``, in lower case (ST-20, ST-22).

    A bot's name before a colon holds for the rules after it. A comma in the date of ``unavailable_after`` does no
    harm: what follows it is no rule (ST-24). White space between rules, a usual slip, parts them too.
    """
    rules: set[str] = set()
    for value in values:
        ours = True
        for part in value[:_LIMIT].lower().split(","):
            rule = part.strip(_W)
            named = _AGENT.fullmatch(rule)
            if named and not named[1].startswith(_VALUED):
                ours, rule = named[1] == agent.lower(), named[2]
            if ours:
                rules.update(rule.split())
    return rules


_REFRESH = late.pattern(
    rf"[{_W}]*(?:([0-9]+)[0-9.]*|(?=\.)[0-9.]*)(?:\Z|(?=[;,{_W}])[{_W}]*[;,]?[{_W}]*(.*))", re.DOTALL
)
_URL_PREFIX = late.pattern(rf"[uU][rR][lL][{_W}]*=[{_W}]*")
FOREVER = 10**9  # seconds; a longer wait says no more


def refresh(content: str) -> tuple[int, str] | None:
    """Return (seconds, reference as written, "" for the page itself), None if it is none (HTML 4.2.5.3, Refresh)."""
    match = _REFRESH.fullmatch(content)
    if match is None:
        return None
    digits, reference = match[1] or "0", match[2] or ""
    if prefix := _URL_PREFIX.match(reference):
        reference = reference[prefix.end() :]
    if reference[:1] in ("'", '"'):
        reference = reference[1:].partition(reference[0])[0]
    return (int(digits) if len(digits) < len(str(FOREVER)) else FOREVER), reference
