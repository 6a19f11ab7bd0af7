"""One value against what is known of its key: the value, or what to write instead.

Knows types, units, ranges and the forms of texts (URL, origin, header ...). Knows
nothing of TOML and of where a value came from. Nothing here raises: what is wrong
comes back as a ``Wrong`` with its remedy, so that every mistake can be told in one go.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from purlieu import url
from purlieu.errors import UrlError
from purlieu.sentence import Sentence
from purlieu.settings.fact import Key
from purlieu.settings.secret import MASK
from purlieu.value import dataclass

UNITS: Final[dict[str, dict[str, float]]] = {
    "seconds": {"ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86_400},
    "bytes": {"B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3},
}
_EXAMPLES: Final = {
    "": "",
    "seconds": Sentence(', or one with its unit, such as "5 min"'),
    "bytes": Sentence(', or one such as "10 MiB"'),
}
_NUMBERS: Final = {
    "": Sentence("a number"),
    "seconds": Sentence("a number of seconds"),
    "bytes": Sentence("a number of bytes"),
}
_MOST: Final = 10**15  # fits every counter, in libcurl and in the store
# Patterns are compiled when first used: a start that needs none of them pays for none.
_MEASURED: Final = r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?([A-Za-z]{1,3})"
_CONTROL: Final = r"[\x00-\x1f\x7f\ud800-\udfff]"
_HEADER_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # RFC 9110, 5.6.2
_AGENT: Final = r"[A-Za-z0-9_-]+"  # RFC 9309, 2.2.1, and digits, which real names have
_REFERENCE: Final = r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+|keyring:[^/]+/.+"
_HOST_LIKE: Final = r"[^\s/:?#@.]+(?:\.[^\s/:?#@.]+)+(?::[0-9]+)?(?:[/?#].*)?|localhost(?::[0-9]+)?(?:[/?#].*)?"
_PROXIES: Final = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A value that cannot stand, and the sentence that says what to write instead."""

    value: object
    remedy: str


def check(value: object, kind: str, key: Key) -> tuple[Any, list[Wrong]]:
    """Return the value as the field of type ``kind`` holds it, and what is wrong with it (then the value is None).

    ``kind`` is the field's annotation: ``bool``, ``int``, ``float``, ``str``, ``tuple[str, ...]`` or
    ``tuple[tuple[str, str], ...]`` (from a table of texts), with or without ``| None``.
    """
    if value is None and kind.endswith(" | None"):
        return None, []
    checked = _KINDS[kind.removesuffix(" | None")](value, key)
    if isinstance(checked, Wrong):
        return None, [checked]
    if isinstance(checked, list):
        wrongs = [one for one in checked if isinstance(one, Wrong)]
        return (None, wrongs) if wrongs else (tuple(checked if key.is_lines else dict.fromkeys(checked)), [])
    return checked, []


def _bool(value: object, _key: Key) -> bool | Wrong:
    return value if isinstance(value, bool) else Wrong(value, Sentence("write true or false, without quotes"))


def _int(value: object, key: Key) -> int | Wrong:
    number = _number(value, key)
    if isinstance(number, Wrong):
        return number
    return (
        int(number)
        if number == int(number)
        else Wrong(value, Sentence("write a whole number{bounds}", bounds=_bounds(key)))
    )


def _int_or_word(value: object, key: Key) -> int | str | Wrong:
    if value == key.also:
        return str(value)
    number = _int(value, key)
    if isinstance(number, Wrong):
        return Wrong(value, Sentence("write a whole number{bounds}", bounds=_bounds(key)))
    return number


def _float(value: object, key: Key) -> float | Wrong:
    number = _number(value, key)
    return number if isinstance(number, Wrong) else float(number)


def _number(value: object, key: Key) -> float | Wrong:
    """Return the number, in seconds or bytes where the key has a unit, when it is within the key's bounds."""
    number = _measured(value, UNITS[key.unit]) if isinstance(value, str) and key.unit else value
    if isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number):
        least = -_MOST if key.least is None else key.least
        most = _MOST if key.most is None else key.most
        if least <= number <= most or number == key.also:
            return number
    said = {"number": _NUMBERS[key.unit], "bounds": _bounds(key), "example": _EXAMPLES[key.unit]}
    return Wrong(value, Sentence("write {number}{bounds}{example}", **said))


def number_or_text(text: str) -> float | str:
    """Return the number that was typed, else what was: a check says what is wrong with it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _measured(text: str, units: dict[str, float]) -> float | None:
    found = re.fullmatch(_MEASURED, text.strip())
    if found is None or found[2] not in units:
        return None
    return float(found[1]) * units[found[2]]


def _bounds(key: Key) -> str:
    """Return the bounds in words: `` from 1 to 64``, `` of at least 1, or -1``."""
    least = "" if key.least is None else f"{key.least:,}"
    text: str = ""
    if key.most is not None:
        text = Sentence(" from {least} to {most}", least=least, most=f"{key.most:,}")
    elif least:
        text = Sentence(" of at least {least}", least=least)
    also = f'"{key.also}"' if isinstance(key.also, str) else key.also
    return text if also is None else Sentence("{bounds}, or {value}", bounds=text, value=also)


def _str(value: object, key: Key) -> str | Wrong:
    if not isinstance(value, str):
        return Wrong(value, Sentence("write a text in quotes"))
    # Asked first, since to compile a class with half a plane in it takes as long as all other settings.
    if not value.isprintable() and re.search(_CONTROL, value.replace("\t", "") if key.is_lines else value):
        return Wrong(value, Sentence("take the line breaks and other control characters out"))
    if key.choices and value not in key.choices:
        return Wrong(value, _one_of(value, key.choices))
    if not value:  # the default of most texts: not set
        return value
    return FORMS[key.form](value)


def _texts(value: object, key: Key) -> list[str | Wrong] | Wrong:
    if not isinstance(value, list | tuple):
        return Wrong(value, Sentence('write a list: ["...", "..."]'))
    empty = Wrong("", Sentence("take the empty text out of the list"))
    return [_str(one, key) if one != "" or key.is_lines else empty for one in value]


def _pairs(value: object, _key: Key) -> list[tuple[str, str] | Wrong] | Wrong:
    if not isinstance(value, Mapping):
        return Wrong(value, Sentence("write a table of texts: {example}", example='{ X-Name = "value" }'))
    return [_pair(name, text) for name, text in value.items()]


def _pair(name: str, text: object) -> tuple[str, str] | Wrong:
    if not re.fullmatch(_HEADER_NAME, name):
        return Wrong(name, Sentence("write a header's name: letters, digits and hyphens"))
    if not isinstance(text, str) or re.search(_CONTROL, text):
        return Wrong(MASK, Sentence("write the value of {name} as a text of one line", name=name))
    line = _line(text)
    return line if isinstance(line, Wrong) else (name, text)


_KINDS: Final[dict[str, Callable[[object, Key], Any]]] = {
    "bool": _bool,
    "int": _int,
    "int | str": _int_or_word,
    "float": _float,
    "str": _str,
    "tuple[str, ...]": _texts,
    "tuple[tuple[str, str], ...]": _pairs,
}


def _one_of(value: str, choices: tuple[str, ...]) -> str:
    near = nearest(value, choices)
    if near:
        return Sentence('write "{value}"', value=near)
    return Sentence("write one of: {choices}", choices=", ".join(choices))


def nearest(name: str, names: tuple[str, ...] | list[str]) -> str:
    """Return the name most like this one, "" when none is."""
    from difflib import get_close_matches

    folded = {known.lower(): known for known in reversed(names)}
    found = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return folded[found[0]] if found else ""


# Forms of texts. Each takes a text that is not empty and holds no control character.


def _any(text: str) -> str | Wrong:
    return text


def _url(text: str) -> str | Wrong:
    """Take an absolute http or https URL with a host and without credentials; it stays as it was written."""
    if not text.startswith(("http://", "https://")) and re.fullmatch(_HOST_LIKE, text):
        return Wrong(text, Sentence("write http://{text} or https://{text}", text=text))
    try:
        parsed = url.parse(text)
    except UrlError:
        return Wrong(text, Sentence("this is no URL; write it whole, such as https://example.com/"))
    if parsed.scheme not in {"http", "https"}:
        return Wrong(text, Sentence('only http and https can be crawled, not "{scheme}"', scheme=parsed.scheme))
    if "@" in parsed.href.split("/", 3)[2]:
        remedy = Sentence("take user and password out of the URL and write them under [[origin]]")
        return Wrong(_masked(text, "[^/?#]*"), remedy)
    if ".." in parsed.host or parsed.host.startswith("."):
        return Wrong(text, Sentence('no host is called "{host}": take the dot too many out', host=parsed.host))
    return text


def _masked(text: str, password: str) -> str:
    """Return an address without the password in it, which matches the pattern ``password``."""
    return re.sub(rf"^((?:[A-Za-z0-9+.-]+:[/\\]+)?[^:/?#@]*):{password}@", rf"\1:{MASK}@", text)


def _origin(text: str) -> str | Wrong:
    """Take an http or https URL without a path; return it as ``Url.origin`` writes it."""
    checked = _url(text)
    if isinstance(checked, Wrong):
        return checked
    parsed = url.parse(text)
    if parsed.href != f"{parsed.origin}/":
        return Wrong(text, Sentence("write scheme, host and port alone: {origin}", origin=parsed.origin))
    return parsed.origin


def _host(text: str) -> str | Wrong:
    """Take a host's name or address; return it as ``Url.host`` writes it."""
    bracketed = f"[{text}]" if text.count(":") > 1 and not text.startswith("[") else text
    try:
        parsed = url.parse(text if "://" in text else f"http://{bracketed}")
    except UrlError:
        return Wrong(text, Sentence("write the host's name, such as www.example.com"))
    if parsed.href != f"http://{parsed.host}/" or "://" in text or bracketed.rpartition("]")[2].count(":"):
        return Wrong(text, Sentence('write the host alone: "{host}"', host=parsed.host))
    return parsed.host


def _suffix(text: str) -> str | Wrong:
    """Take the end of a host, with a dot before it or without; return it as ``Url.host`` would end (AMB-EN-13)."""
    name = text.strip(". ").lower()
    try:
        parsed = url.parse(f"http://x.{name}/")
    except UrlError:
        return Wrong(text, Sentence("write the end of a host, such as .co.uk"))
    if not name or parsed.path != "/" or parsed.port or any(letter in name for letter in "/@:?#\\ "):
        return Wrong(text, Sentence("write the end of one host, such as .co.uk"))
    return f"{'.' if text.startswith('.') else ''}{parsed.host.removeprefix('x.')}"


def _header(text: str) -> str | Wrong:
    return text if text.isascii() else Wrong(text, Sentence("write it with ASCII characters alone"))


def _agent(text: str) -> str | Wrong:
    if re.fullmatch(_AGENT, text):
        return text
    return Wrong(text, Sentence("write the bare name: letters, digits, - and _ alone"))


def _name(text: str) -> str | Wrong:
    """Take what can be the name of a folder on every system."""
    if re.search(r'[/\\:*?"<>|]', text) or text.strip(". ") != text or len(text.encode()) > 200:
        signs = '/ \\ : * ? " < > |'
        told = Sentence("write a shorter name without {signs} and without dots or spaces at its ends", signs=signs)
        return Wrong(text, told)
    return text


def _line(text: str) -> str | Wrong:
    if text == MASK:
        return Wrong(text, Sentence("the value was masked when it was stored; write it again, or env:NAME"))
    if text.startswith(("env:", "file:", "keyring:")) and not re.fullmatch(_REFERENCE, text):
        return Wrong(text, Sentence("write env:NAME, file:PATH or keyring:SERVICE/USER"))
    return text


def _proxy(text: str) -> str | Wrong:
    if re.fullmatch(_REFERENCE, text):
        return text
    remedy = Sentence("write it whole, such as http://proxy.example.com:3128, or env:NAME")
    shown = _masked(text, ".*")  # a text that is no address may have its password anywhere
    if f":{MASK}@" in text:
        return Wrong(text, Sentence("the password was masked when it was stored; write it again, or env:NAME"))
    try:
        parsed = url.parse(text)
    except UrlError:
        return Wrong(shown, remedy)
    return text if parsed.scheme in _PROXIES and parsed.host else Wrong(shown, remedy)


def _webhook(text: str) -> str | Wrong:
    return text if re.fullmatch(_REFERENCE, text) else _url(text)


FORMS: Final[dict[str, Callable[[str], str | Wrong]]] = {
    "": _any,
    "url": _url,
    "origin": _origin,
    "host": _host,
    "suffix": _suffix,
    "header": _header,
    "agent": _agent,
    "name": _name,
    "line": _line,
    "proxy": _proxy,
    "webhook": _webhook,
}
