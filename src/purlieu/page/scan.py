"""The bytes of a page cut into what matters: by ``_scan.c`` where it was built, else by ``markup``.

Both give the same, and tests compare them. Knows which bodies can be read without decoding them first; which of the
two reads is for ``native`` to say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from purlieu.native import built_scanner, scanner
from purlieu.page import encoding, markup
from purlieu.page.markup import EVERYTHING, Heard, Place, Take

_PLACES = tuple(Place)
_NOT_ASCII = frozenset(("ISO-2022-JP", "UTF-16BE", "UTF-16LE", "replacement"))  # ASCII bytes may mean something else
_MASKED = b"0123456789\t\n\f\r "
Scanned = tuple[str | None, bytes, bytes | None, bytes | None, Any]
"""(title, the main text without digits and white space, which change without saying anything (R-9.3), main and aside

as in ``Markup``, what ``native().resolve`` knows the plain links by)."""

_in_attribute = partial(markup.unescaped, in_attribute=True)


_native: Any = scanner()


def is_native() -> bool:
    """Say whether pages are read by the scanner in C."""
    return _native is not None


def native() -> Any:
    """Return the module compiled from ``_scan.c``, None where pages are read in Python."""
    return _native


def is_silent(body: bytes) -> bool:
    """Say whether it was seen at once that ``encoding.prescan`` finds nothing, nor is there a byte order mark."""
    return _native is not None and _native.is_silent(body)


@contextmanager
def forced(*, native: bool) -> Iterator[None]:
    """Read pages by the scanner in C or by the one in Python, for tests that compare them.

    ImportError if the scanner in C was not built.
    """
    global _native  # noqa: PLW0603
    before = _native
    _native = built_scanner() if native else None
    try:
        yield
    finally:
        _native = before


def read(
    body: bytes, name: str, wanted: frozenset[str], take: Take, heard: Heard = EVERYTHING, most_short: int = sys.maxsize
) -> Scanned:
    """Return the title and text of a body in the encoding of that name; the rest is as ``markup.read`` says.

    The texts themselves are not made if the masked one has ``most_short`` bytes or more.
    """
    if _native is None:
        marked = markup.read(encoding.decoded(body, name), wanted, take)
        return marked.title, marked.main.translate(None, _MASKED), marked.main, marked.aside, None
    errors = "replace"
    if name == "UTF-8":
        source = body.removeprefix(encoding.UTF_8_MARK)
    elif body.isascii() and name not in _NOT_ASCII:
        source = body
    else:
        source, errors = encoding.decoded(body, name).encode("utf-8", "surrogatepass"), "surrogatepass"
    if not _native.is_plain(source):
        text = markup.without_cdata(source.decode("utf-8", errors).replace("\0", "\ufffd"))
        source, errors = text.encode("utf-8", "surrogatepass"), "surrogatepass"
    found: Scanned = _native.read(source, errors, wanted, take, _in_attribute, _PLACES, heard, most_short)
    return found
