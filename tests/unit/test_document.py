"""``purlieu.document``: what documents say, whatever they are made of (issue 8, R-8.1)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from tests import papers

from purlieu import document, settings
from purlieu.document import office, told
from purlieu.document.told import REASONS
from purlieu.errors import SettingsError
from purlieu.page.content import MOST_HEADINGS, MOST_TEXT, Content

W: Final = papers.paragraph
RUN: Final = "<w:r><w:t>{}</w:t></w:r>"
ODF: Final = "<text:p>{}</text:p>"

SAID: Final = {
    "pdf": (papers.pdf([f"{papers.WORDS}\nsecond line", "page two"], "題"), f"{papers.WORDS}\nsecond line\npage two"),
    "pdf behind other bytes": (b"\n" * 900 + papers.pdf(["page"], "題"), "page"),
    "word": (papers.docx(W("見出し", "1") + W("a &amp; b")), "見出し\na & b"),
    "word, breaks": (
        papers.docx("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r><w:hyperlink><w:r><w:t>d</w:t></w:r></w:hyperlink></w:p>"),
        "a b\ncd",
    ),
    "word, what is no text": (
        papers.docx(
            f"<w:p>{RUN.format('stays')}<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r>"
            f"<w:ruby><w:rt>{RUN.format(papers.READING)}</w:rt><w:rubyBase>{RUN.format(papers.WORDS)}</w:rubyBase></w:ruby>"
            f"<mc:AlternateContent><mc:Choice>{RUN.format('new')}</mc:Choice><mc:Fallback>{RUN.format('old')}</mc:Fallback></mc:AlternateContent></w:p>"
        ),
        f"stays{papers.WORDS}new",
    ),
    "slides": (papers.pptx([("First", "one"), ("Second", "two")]), "First\none\nSecond\ntwo"),
    "sheets": (papers.xlsx(), f"Prices\n{papers.WORDS} 42\ninline in runs"),
    "odt": (
        papers.opened("text", '<text:h text:outline-level="2">Head</text:h><text:p>a<text:s text:c="2"/>b<text:span>c</text:span><text:tab/>d'
                      "<office:annotation><text:p>a remark</text:p></office:annotation></text:p>"),
        "Head\na bc d",
    ),
    "ods": (
        papers.opened("spreadsheet", f'<table:table table:name="Prices"><table:table-row><table:table-cell>{ODF.format("a")}</table:table-cell>'
                      f"<table:table-cell>{ODF.format('1')}</table:table-cell></table:table-row></table:table>"),
        "Prices\na 1",
    ),
    "odp": (papers.opened("presentation", f'<draw:frame presentation:class="title">{ODF.format("Slide")}</draw:frame>'), "Slide"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_a_document_is_read(name: str) -> None:
    """The text of each form comes in its order, without what is no text: deleted, readings, field codes, what is hidden."""
    body, text = SAID[name]
    made = document.read(body)
    assert (made.text, made.unread, made.title) == (text, "", "題")


def test_what_a_document_says_of_itself_is_kept() -> None:
    """Title, author, description, declared language (issue 8); headings by their levels, whatever their styles are called."""
    pdf, word = document.read(papers.pdf(["x"], "題")), document.read(papers.docx(W("見出し", "1")))
    assert (pdf.title, pdf.author, pdf.description, pdf.language) == ("題", "著者", "About it", "ja-JP")
    assert (word.title, word.author, word.description, word.language) == ("題", "Author", "About it", "ja-JP")
    assert word.headings == ((2, "見出し"),)
    assert document.read(papers.pptx([("First", "one")])).headings == ((1, "First"),)


def test_a_document_without_a_title_has_its_first_heading_for_one() -> None:
    """Search and feeds need a title; of a document that declares no language it is what the text seems to be in."""
    made = document.read(
        papers.opened("text", '<text:h text:outline-level="1">Chapter</text:h>').replace(b"meta.xml", b"m__a.xml")
    )
    assert made.title == "Chapter"
    assert document.read(papers.docx(W("heading", "x"), title="")).title == ""


CORE_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
WRONG: Final = {
    "pdf with a password": (papers.locked_pdf(), "encrypted"),
    "pdf of nothing": (papers.pdf([]), "damaged"),
    "pdf of pictures": (papers.pdf_of([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                                       b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"]), "no_text"),
    "pdf cut short": (papers.pdf(["x"])[:300], "damaged"),
    "pdf in name alone": (b"%PDF-1.7\n" + b"garbage " * 100, "damaged"),
    "word with a password": (CORE_OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    "word of long ago": (CORE_OLE, "old_form"),
    "rtf": (b"{\\rtf1 text}", "unknown_form"),
    "nothing": (b"", "unknown_form"),
    "zip of anything": (papers.zipped({"a.txt": "text"}), "unknown_form"),
    "zip cut short": (papers.docx(W("x"))[:400], "damaged"),
    "zip in name alone": (b"PK\x03\x04" + b"garbage", "damaged"),
    "word without its part": (papers.office("word/none.xml", {}), "damaged"),
    "word of no words": (papers.docx(""), "no_text"),
    "entities": (papers.office("w.xml", {"w.xml": '<!DOCTYPE a [<!ENTITY e "x">]><document>&e;</document>'}), "damaged"),
    "no xml": (papers.office("w.xml", {"w.xml": "<document><"}), "damaged"),
    "a root of nothing": (papers.office("w.xml", {"w.xml": "<thing/>"}), "unknown_form"),
    "odt with a password": (papers.opened("text", "", "<m:encryption-data/>"), "encrypted"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read_has_a_reason(name: str) -> None:
    """Encrypted, damaged, of a form that is not read, or without text: each is told by its reason."""
    body, reason = WRONG[name]
    assert (document.read(body).text, document.read(body).unread) == ("", reason)
    assert reason in REASONS


def test_what_was_read_until_a_fault_is_kept() -> None:
    """A file that is damaged further on has as much text as was read, and the reason why not all."""
    made = document.read(papers.office("w.xml", {"w.xml": "<document><p><r><t>first</t></r></p><p><r><t>half"}))
    assert (made.text, made.unread) == ("first", "damaged")


def test_a_zip_that_unpacks_to_too_much_is_left() -> None:
    """No more than a number of bytes of all parts together are read, however small the file is."""
    body = papers.office("w.xml", {"w.xml": "<document>" + " " * 1_000_000 + "</document>"})
    office.read(body, told.Telling(), 1_100_000)
    with pytest.raises(told.Unread, match="too_large"):
        office.read(body, told.Telling(), 1_000_000)


@pytest.mark.parametrize(
    "made",
    [
        lambda: papers.docx(W("x" * 1000, "1") * 2000),
        lambda: papers.docx("<w:p>" * 50_000 + W("x")),
        lambda: papers.docx("<w:del>" * 50_000 + W("x")),
        lambda: papers.opened("text", "<text:p>" * 50_000 + '<text:s text:c="999999999"/>'),
        lambda: papers.pdf(["x" * 60] * 300),
    ],
    ids=["long", "nested", "deleted", "spaces", "pages"],
)
def test_a_document_gives_no_more_than_is_kept(made: Callable[[], bytes]) -> None:
    """Text, headings and their lengths have bounds, whatever a document holds."""
    content = document.read(made())
    assert len(content.text) <= MOST_TEXT
    assert len(content.headings) <= MOST_HEADINGS


@pytest.mark.parametrize("seed", range(60))
def test_no_document_raises(seed: int) -> None:
    """However a document is damaged, what is said of it are values."""
    random = Random(seed)
    body = bytearray(random.choice([SAID["pdf"][0], SAID["word"][0], SAID["sheets"][0], SAID["odt"][0]]))
    for _ in range(random.randint(1, 20)):
        body[random.randrange(len(body))] = random.randrange(256)
    if seed % 3 == 0:
        del body[random.randrange(len(body)) :]
    made = document.read(bytes(body))
    assert made.unread in {"", *REASONS}


def test_what_goes_between_processes_comes_back_as_it_was() -> None:
    """What a document says is the same on the other side; what is no such thing is a process that broke down."""
    made = Content("テキスト", ((1, "見出し"),), "about", language="ja", title="題", author="A", unread="damaged")
    assert told.unpacked(told.packed(made)) == made
    for wrong in (b"", b"[]", b'{"text": 1}', b"\xff", b"[" * 100_000):
        assert told.unpacked(wrong) == told.unread("crashed")


def test_control_characters_are_no_text() -> None:
    """Lines end alike, blanks are single, and a hyphen that ends a line is gone with it."""
    assert told.tidy("a\x00b\r\nc\td\u00a0e\x0cf ele\ufffe\r\nment") == "ab\nc d e\nf element"


def test_who_asks_for_documents_is_told_what_is_missing() -> None:
    """Without the library the settings are wrong at once, with the remedy (issue 8); who asks for none needs none."""
    wanted = settings.of({"seeds": ["http://a.test/"], "keep": "text", "documents": {"read": True}})
    (mistake,) = document.lacking(wanted, lambda _: None)
    assert (mistake.key, mistake.value) == ("documents.read", "true")
    assert "pip install 'purlieu[documents]'" in mistake.remedy
    assert document.lacking(wanted) == ()
    assert document.lacking(settings.of({"seeds": ["http://a.test/"], "keep": "text"}), lambda _: None) == ()


def test_documents_are_kept_with_text_alone() -> None:
    """To read documents and keep no text is a mistake that says so."""
    with pytest.raises(SettingsError, match='keep = "text"'):
        settings.of({"seeds": ["http://a.test/"], "documents": {"read": True}})
