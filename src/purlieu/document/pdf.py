"""What a PDF says, by PDFium. The only place that knows it.

Whatever is wrong with a file, time and memory are the process's to bound (``__main__.py``): PDFium is C++, and a file
may make it loop or end the process.
"""

from __future__ import annotations

import ctypes
from contextlib import closing
from typing import Final

import pypdfium2
from pypdfium2 import raw

from purlieu.document.told import Telling, Unread
from purlieu.page.content import MOST_HEADINGS

_LOCKED: Final = frozenset({raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY})
_FACTS: Final = (("title", "Title"), ("author", "Author"), ("description", "Subject"))
_LANGUAGE_CHARACTERS: Final = 64


def read(body: bytes, telling: Telling) -> None:
    """Tell what a file says, in the order of its pages. Raises Unread, and Enough."""
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        # PDFium may tell the fault of the file before.
        is_locked = error.err_code in _LOCKED and b"/Encrypt" in body
        raise Unread("encrypted" if is_locked else "damaged") from None
    with closing(document):
        for name, key in _FACTS:
            telling.say(name, document.get_metadata_value(key))
        telling.say("language", _language(document))
        _outline(document, telling)
        if not _pages(document, telling):
            raise Unread("no_text" if len(document) else "damaged")


def _pages(document: pypdfium2.PdfDocument, telling: Telling) -> bool:
    """Tell the text of each page; return whether there is any. A page that cannot be read is left out."""
    has_text = False
    for number in range(len(document)):
        try:
            page = document[number]
        except pypdfium2.PdfiumError:
            continue
        with closing(page):
            try:
                said = page.get_textpage()
            except pypdfium2.PdfiumError:
                continue
            with closing(said):
                text = said.get_text_bounded()
        has_text = has_text or not text.isspace()
        telling.take(text)
    return has_text


def _language(document: pypdfium2.PdfDocument) -> str:
    told = (ctypes.c_ushort * _LANGUAGE_CHARACTERS)()
    size = raw.FPDFCatalog_GetLanguage(document, told, ctypes.sizeof(told))
    return bytes(told)[:size].decode("utf-16-le", "replace").rstrip("\0") if size <= ctypes.sizeof(told) else ""


def _outline(document: pypdfium2.PdfDocument, telling: Telling) -> None:
    try:
        for number, bookmark in enumerate(document.get_toc(max_depth=6)):
            if number >= MOST_HEADINGS:
                return
            telling.head(bookmark.get_title(), bookmark.level + 1)
    except (pypdfium2.PdfiumError, RecursionError):
        return
