"""What documents say that are no HTML: PDF, Word, PowerPoint, Excel, OpenDocument.

``read`` may take for ever, all memory, or the process with it, as files are hostile: it is called in a process that may
be ended at any time (``python -m purlieu.document``). Fetches nothing and knows no store.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from purlieu.errors import Mistake
from purlieu.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from purlieu.document.told import Telling
    from purlieu.page.content import Content
    from purlieu.settings import Settings

_NOT_INSTALLED: Final = Sentence(
    "what reads documents is not installed: pip install 'purlieu[documents]', or take it out"
)
_PDF: Final = b"%PDF-"
_PDF_WITHIN: Final = 1024
"""What stands before a PDF's first line is no part of it, up to so many bytes (ISO 32000, Annex H of PDF 1.7)."""
_ZIP: Final = b"PK\x03\x04"
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")


def lacking(settings: Settings, find: Callable[[str], object] = find_spec) -> tuple[Mistake, ...]:
    """Return the mistake that documents are to be read and what reads them is not installed; ``find`` looks for it."""
    if not settings.reads_documents or find("pypdfium2") is not None:
        return ()
    return (Mistake("documents.read", "true", _NOT_INSTALLED),)


def read(body: bytes) -> Content:
    """Return what a document says; its form is told by its first bytes, as types are often wrong.

    Where ``unread`` of the content names a reason, there is as much text as was read until then. Raises MemoryError.
    """
    from purlieu.document.told import Enough, Telling, Unread
    from purlieu.page.content import language_of
    from purlieu.value import replace

    telling, reason = Telling(), ""
    try:
        reason = _tell(body, telling)
    except Enough:
        pass
    except Unread as error:
        reason = str(error)
    content = telling.content()
    if not reason and not content.text:
        reason = "no_text"
    return replace(content, unread=reason, language=content.language or language_of(content.text))


def _tell(body: bytes, telling: Telling) -> str:
    """Tell what a document says; return why it is of no form that is read, "" where it is. Raises Unread, Enough."""
    if _PDF in body[: _PDF_WITHIN + len(_PDF)]:
        from purlieu.document import pdf

        pdf.read(body, telling)
        return ""
    if body.startswith(_ZIP):
        from purlieu.document import office

        office.read(body, telling)
        return ""
    if body.startswith(_OLE):
        return "encrypted" if _ENCRYPTED in body else "old_form"
    return "unknown_form"
