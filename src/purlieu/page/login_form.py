"""The forms of a page, with what a browser would send of each, for a login that the owner has asked for.

Takes a body, gives values. Knows HTML's rules of what is submitted; knows no owner and sends nothing. No page raises.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote_plus

from purlieu import url
from purlieu.errors import UrlError
from purlieu.page import encoding
from purlieu.page.content import is_deep
from purlieu.page.header import combined
from purlieu.value import dataclass

MOST_BYTES: Final = 1_000_000
MOST_FIELDS: Final = 500
_NOT_SENT: Final = frozenset({"submit", "image", "reset", "button", "file"})
_WRITTEN: Final = frozenset({"UTF-8", "windows-1252", "Shift_JIS", "EUC-JP", "GBK", "gb18030", "Big5", "EUC-KR"})
"""Encodings that a form is sent in, if its page is; every other page's is sent in UTF-8."""
_BOUNDARY: Final = "----purlieu-form-data-boundary"


@dataclass(frozen=True, slots=True)
class Form:
    """One form: ``names`` it has in the page, where it is sent and how, and its fields as they stand there.

    ``action`` is absolute, "" where it is no address. ``offered`` are the names that can be filled in.
    """

    names: tuple[str, ...]
    action: str
    method: str
    kind: str
    fields: tuple[tuple[str, str], ...]
    offered: tuple[str, ...]
    charset: str

    def filled(self, given: Mapping[str, str]) -> tuple[tuple[str, str], bytes]:
        """Return the Content-Type header and the body that the form sends, with these values in its fields."""
        pairs = [(name, text) for name, text in self.fields if name not in given] + list(given.items())
        if self.kind == "multipart/form-data":
            parts = [
                f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{text}\r\n'
                for name, text in pairs
            ]
            body = "".join([*parts, f"--{_BOUNDARY}--\r\n"]).encode(self.charset, "xmlcharrefreplace")
            return ("Content-Type", f"multipart/form-data; boundary={_BOUNDARY}"), body
        sent = "&".join("=".join(quote_plus(self._coded(one)) for one in pair) for pair in pairs)
        return ("Content-Type", "application/x-www-form-urlencoded"), sent.encode("ascii")

    def _coded(self, text: str) -> bytes:
        return text.encode(self.charset, "xmlcharrefreplace")  # as browsers do for what the encoding has not


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def read(body: bytes, base: str, content_type: str | None) -> list[Form]:
    """Return the forms of a page at ``base``, in order; of a page nested out of all sense, none."""
    from resiliparse.parse.html import HTMLTree  # only a login by form pays for it

    body = body[:MOST_BYTES]
    name = encoding.declared(body, combined(content_type or "")[1]) or encoding.assumed(body)
    html = encoding.decoded(body, name)
    tree = HTMLTree.parse(html) if not is_deep(html) else None
    if tree is None or tree.document is None:
        return []
    based = tree.document.query_selector("base[href]")
    base = (_joined(based.getattr("href"), base) if based is not None else "") or base
    forms = tree.document.query_selector_all("form")
    outside: dict[str, list[Any]] = {}
    for element in tree.document.query_selector_all("[form]")[:MOST_FIELDS]:  # it may stand anywhere in the page
        outside.setdefault(element.getattr("form") or "", []).append(element)
    charset = name if name in _WRITTEN else "UTF-8"
    return [_form(one, outside.get(one.getattr("id") or "", []), base, charset) for one in forms]


def _joined(reference: str | None, base: str) -> str:
    try:
        return url.parse(reference or "", base).href
    except UrlError:
        return ""


def _form(form: Any, outside: list[Any], base: str, charset: str) -> Form:
    elements = [*form.query_selector_all("input, select, textarea, button")[:MOST_FIELDS], *outside]
    pairs, offered, button = [], [], None
    for element in elements:
        name, kind = element.getattr("name") or "", (element.getattr("type") or "").strip().lower()
        if not name or element.hasattr("disabled"):
            continue
        is_button = element.tag == "button" or kind in _NOT_SENT
        if is_button:
            if button is None and (kind == "submit" or (element.tag == "button" and not kind)):
                button = (name, element.getattr("value") or "")
            continue
        offered.append(name)
        pairs += [(name, value) for value in _values(element, kind)]
    return Form(
        tuple(one for one in (form.getattr("id"), form.getattr("name")) if one),
        _joined(form.getattr("action"), base),
        (form.getattr("method") or "get").strip().lower(),
        (form.getattr("enctype") or "").strip().lower(),
        (*pairs, button) if button else tuple(pairs),  # a browser sends the button that was pressed: its first
        tuple(dict.fromkeys(offered)),
        charset,
    )


def _values(element: Any, kind: str) -> Iterator[str]:
    """Yield what a field sends as it stands (HTML 4.10.21.4)."""
    if element.tag == "select":
        options = element.query_selector_all("option")[:MOST_FIELDS]
        chosen = [one for one in options if one.hasattr("selected")] or options[:1]
        for one in chosen:
            value = one.getattr("value")
            yield value if value is not None else " ".join(one.text.split())
    elif element.tag == "textarea":
        yield element.text
    elif kind not in {"checkbox", "radio"}:
        yield element.getattr("value") or ""
    elif element.hasattr("checked"):
        value = element.getattr("value")
        yield value if value is not None else "on"
