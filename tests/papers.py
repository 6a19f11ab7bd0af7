"""Documents made by hand, byte by byte: PDF, Word, PowerPoint, Excel, OpenDocument; sound ones and hostile ones."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Final

PDF: Final = "application/pdf"
DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
WORDS: Final = "文書の検索"
READING: Final = "ぶんしょ"
_RELATION: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CORE: Final = (
    '<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>{title}</dc:title><dc:creator>Author</dc:creator>'
    "<dc:description>About it</dc:description><dc:language>ja-JP</dc:language></cp:coreProperties>"
)


def pdf_of(objects: Sequence[bytes], info: str = "") -> bytes:
    """Return a PDF of numbered objects, the first of which is its catalog."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {info} >>\nstartxref\n{table}\n%%EOF\n"
    return bytes(out) + trailer.encode()


def stream(body: bytes, more: str = "") -> bytes:
    """Return a packed stream object."""
    packed = zlib.compress(body, 9)
    return f"<< /Length {len(packed)} /Filter /FlateDecode {more} >>\nstream\n".encode() + packed + b"\nendstream"


def utf16(text: str) -> str:
    """Return a text as a PDF's hexadecimal string."""
    return f"<FEFF{text.encode('utf-16-be').hex()}>"


def pdf(pages: Sequence[str], title: str = "", *, more: str = "") -> bytes:
    """Return a PDF whose pages say each a text, in a font that is not in it and codes of UTF-16 (UniJIS-UTF16-H).

    ``more`` goes into the trailer.
    """
    first = 8
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (ja-JP) /Outlines 7 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UTF16-H /DescendantFonts [4 0 R] >>",
        (
            b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /FontDescriptor 5 0 R"
            b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> >>"
        ),
        (
            b"<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 6 /FontBBox [-123 -257 1001 910] /ItalicAngle 0"
            b" /Ascent 709 /Descent -241 /CapHeight 709 /StemV 69 >>"
        ),
        f"<< /Title {utf16(title)} /Author {utf16('著者')} /Subject (About it) >>".encode() if title else b"<< >>",
        b"<< /Type /Outlines >>",
    ]
    for number, text in enumerate(pages):
        lines = " T* ".join(f"<{line.encode('utf-16-be').hex()}> Tj" for line in text.split("\n"))
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {first + 2 * number + 1} 0 R"
            " /Resources << /Font << /F 3 0 R >> >> >>".encode(),
            stream(f"BT /F 12 Tf 14 TL 50 800 Td {lines} ET".encode()),
        ]
    return pdf_of(objects, f"/Info 6 0 R {more}")


def locked_pdf() -> bytes:
    """Return a PDF that wants a password: what its keys are is of no meaning."""
    key = "00" * 32
    return pdf(
        ["secret"], more=f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >> /ID [<00> <00>]"
    )


def looping_pdf() -> bytes:
    """Return a small PDF whose pages take for ever: each form calls the next ten times."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /XObject << /X 5 0 R >> >> >>",
        stream(b"/X Do " * 10),
    ]
    for number in range(5, 15):
        more = f"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X {number + 1} 0 R >> >>"
        objects.append(stream(b"/X Do " * 10, more))
    objects.append(stream(b"BT ET", "/Type /XObject /Subtype /Form /BBox [0 0 9 9]"))
    return pdf_of(objects)


def bomb_pdf(megabytes: int) -> bytes:
    """Return a small PDF whose page unpacks to so much: packed once, and packed again."""
    packer = zlib.compressobj(9)
    once = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(megabytes)) + packer.flush()
    twice = zlib.compress(once, 9)
    return pdf_of([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream" % (len(twice), twice),
    ])  # fmt: skip


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip of these parts."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, body in parts.items():
            file.writestr(name, body)
    return out.getvalue()


def _relations(*related: tuple[str, str]) -> str:
    told = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATION}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(related)
    )
    return f'<Relationships xmlns="p">{told}</Relationships>'


def office(main: str, parts: Mapping[str, str | bytes], title: str = "題") -> bytes:
    """Return an Office file with a main part."""
    top = _relations(("officeDocument", main), ("metadata/core-properties", "docProps/core.xml"))
    return zipped({"_rels/.rels": top, "docProps/core.xml": _CORE.format(title=title), **parts})


def docx(body: str, title: str = "題") -> bytes:
    """Return a Word file: paragraphs as elements, with the prefix w; the style "1" is a heading."""
    return office(
        "/word/document.xml",
        {
            "word/document.xml": f'<w:document xmlns:w="w" xmlns:mc="m"><w:body>{body}</w:body></w:document>',
            "word/_rels/document.xml.rels": _relations(("styles", "styles.xml")),
            "word/styles.xml": '<w:styles xmlns:w="w"><w:style w:styleId="1"><w:name w:val="heading 2"/></w:style></w:styles>',
        },
        title,
    )


def paragraph(text: str, style: str = "") -> str:
    """Return a paragraph of a Word file."""
    styled = f'<w:pPr><w:pStyle w:val="{style}"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(slides: Sequence[tuple[str, str]]) -> bytes:
    """Return a PowerPoint file of slides, each a title and a text; the parts are not in the order of the slides."""
    shape = "<p:sp><p:nvSpPr><p:nvPr>{ph}</p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
    count = len(slides)
    listed = "".join(f'<p:sldId id="{number}" r:id="r{number}"/>' for number in range(count))
    parts = {
        "ppt/presentation.xml": f'<p:presentation xmlns:p="p" xmlns:r="{_RELATION}"><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>',
        "ppt/_rels/presentation.xml.rels": _relations(
            *(("slide", f"slides/s{count - number}.xml") for number in range(count))
        ),
    }
    for number, (title, text) in enumerate(slides):
        told = shape.format(ph='<p:ph type="title"/>', text=title) + shape.format(ph="", text=text)
        parts[f"ppt/slides/s{count - number}.xml"] = f'<p:sld xmlns:p="p" xmlns:a="a">{told}</p:sld>'
    return office("ppt/presentation.xml", parts)


def xlsx() -> bytes:
    """Return an Excel file: a sheet with shared, inline and plain cells, and one that is hidden."""
    return office("xl/workbook.xml", {
        "xl/workbook.xml": f'<workbook xmlns:r="{_RELATION}"><sheets><sheet name="Prices" r:id="r0"/>'
        '<sheet name="Hidden" state="hidden" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(
            ("worksheet", "worksheets/one.xml"), ("worksheet", "worksheets/two.xml"), ("sharedStrings", "shared.xml")
        ),
        "xl/shared.xml": f"<sst><si><t>{WORDS}</t><rPh><t>{READING}</t></rPh></si><si><r><t>in </t></r><r><t>runs</t></r></si></sst>",
        "xl/worksheets/one.xml": '<worksheet><sheetData><row><c t="s"><v>0</v></c><c><v>42</v></c></row><row>'
        '<c t="inlineStr"><is><t>inline</t></is></c><c t="s"><v>1</v></c><c t="s"><v>9</v></c><c t="e"><v>#REF!</v></c></row>'
        "</sheetData></worksheet>",
        "xl/worksheets/two.xml": "<worksheet><sheetData><row><c><v>7777</v></c></row></sheetData></worksheet>",
    })  # fmt: skip


def opened(kind: str, body: str, manifest: str = "") -> bytes:
    """Return an OpenDocument file of a kind: elements with the prefixes text, table, draw."""
    spaces = 'xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="w" xmlns:presentation="p"'
    meta = (
        '<office:document-meta xmlns:office="o" xmlns:dc="d" xmlns:meta="m"><office:meta><dc:title>題</dc:title>'
        "<meta:initial-creator>Author</meta:initial-creator></office:meta></office:document-meta>"
    )
    return zipped({
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "META-INF/manifest.xml": f'<m:manifest xmlns:m="m">{manifest}</m:manifest>',
        "meta.xml": meta,
        "content.xml": f"<office:document-content {spaces}><office:body>{body}</office:body></office:document-content>",
    })  # fmt: skip
