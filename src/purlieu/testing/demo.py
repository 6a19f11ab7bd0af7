"""The small site that ``scripts/crawl --demo`` crawls: a village bakery in three languages, served on loopback.

Holds one of each thing that a crawl has to tell apart (redirects, a canonical, a robots rule, a sitemap, a missing
page, a PDF, legacy encodings, a link that leads out, a nofollow link). Needs no network and no file.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, NamedTuple

from purlieu.testing.loopback import Loopback, Received, message

PORT: Final = 8427
"""Where ``scripts/crawl --demo`` serves it: a second run meets the same addresses, and knows them."""


class _Page(NamedTuple):
    """An HTML page: ``head`` and ``main`` are HTML; ``named`` says whether the HTTP header names the encoding."""

    title: str
    main: str
    head: str = ""
    lang: str = "en"
    encoding: str = "utf-8"
    named: bool = True


_HOME: Final = """
<p>Bread from a wood-fired oven, six days a week.</p>
<ul>
<li><a href="/bread">Our bread</a>, and <a href="/bread?from=home">the same with a note</a></li>
<li><a href="/cakes">Cakes</a></li>
<li><a href="/old-menu">The old menu</a></li>
<li><a href="/ja/">日本語</a> <a href="/zh/">中文</a></li>
<li><a href="/price-list.pdf">Price list (PDF)</a></li>
<li><a href="/summer">Summer hours</a></li>
<li><a href="/kitchen/rota">Staff rota</a></li>
<li><a href="/guestbook" rel="nofollow">Guest book</a></li>
<li><a href="/closed-shop">Our second shop</a></li>
<li><a href="/oven.png">A picture of the oven</a></li>
<li><a href="https://mill.example/">The mill we buy from</a></li>
<li><a href="mailto:bread@bakery.example">Write to us</a></li>
</ul>"""
_TONGUES: Final = '<link rel="alternate" hreflang="ja" href="/ja/"><link rel="alternate" hreflang="zh" href="/zh/">'

PAGES: Final[dict[str, _Page]] = {
    "/": _Page("Hedgerow Bakery", _HOME, _TONGUES),
    "/about": _Page("About us", "<p>Founded when the mill wheel still turned. <a href='/bread'>Bread</a>.</p>"),
    "/bread": _Page(
        "Our bread",
        "<p>A white tin loaf, <a href='/bread/rye'>rye</a> and <a href='/bread/spelt'>spelt</a>.</p>",
        '<link rel="canonical" href="/bread">',
    ),
    "/bread/rye": _Page("Rye bread", "<p>Two days of sourdough. <a href='/bread'>All breads</a></p>"),
    "/bread/spelt": _Page("Spelt bread", "<p>Lighter than <a href='rye'>rye</a>. <a href='#top'>To the top</a></p>"),
    "/cakes/": _Page("Cakes", "<p>On Saturdays, such as <a href='plum'>plum cake</a>.</p>"),
    "/cakes/plum": _Page(
        "Plum cake",
        "<p>While the plums last; not for search engines.</p>",
        '<meta name="robots" content="noindex">',
    ),
    "/summer": _Page(
        "Summer hours",
        "<p>You are being taken to the page about us.</p>",
        '<meta http-equiv="refresh" content="0; url=/about">',
    ),
    "/guestbook": _Page("Guest book", "<p>Anyone may write here.</p>"),
    "/kitchen/rota": _Page("Staff rota", "<p>Not for crawlers: robots.txt says so.</p>"),
    "/hidden-oven": _Page("The second oven", "<p>No page links here; only the sitemap knows.</p>"),
    "/ja/": _Page(
        "生け垣のパン屋",
        "<p>薪窯で焼いたパンを週に六日お届けします。<a href='/ja/pan'>パンの種類</a> <a href='/'>English</a></p>",
        lang="ja",
        encoding="shift_jis",
        named=False,
    ),
    "/ja/pan": _Page("パンの種類", "<p>ライ麦とスペルト小麦のパンがあります。<a href='/ja/'>戻る</a></p>", lang="ja"),
    "/zh/": _Page(
        "树篱面包店",
        "<p>每周六天，柴火窑烤面包。<a href='/zh/mianbao'>面包种类</a> <a href='/'>English</a></p>",
        lang="zh",
        encoding="gb18030",
    ),
    "/zh/mianbao": _Page("面包种类", "<p>黑麦面包和斯佩耳特小麦面包。<a href='/zh/'>返回</a></p>", lang="zh"),
}
"""The HTML pages by path."""

REDIRECTS: Final = {"/cakes": (301, "/cakes/"), "/old-menu": (301, "/menu"), "/menu": (302, "/bread")}
LISTED: Final = ("/", "/bread", "/bread/rye", "/bread/spelt", "/cakes/", "/hidden-oven", "/ja/", "/zh/")
"""What the sitemap names."""
MISSING: Final = _Page("No such page", "<p>The shelf is empty. <a href='/'>Front page</a></p>")


def _html(page: _Page) -> bytes:
    return f"""<!doctype html>
<html lang="{page.lang}"><head><meta charset="{page.encoding}"><title>{page.title}</title>{page.head}</head>
<body><header><a href="/">Hedgerow Bakery</a></header>
<main><h1>{page.title}</h1>
{page.main}
</main><footer><a href="/about">About us</a></footer></body></html>
""".encode(page.encoding)


def _answer(page: _Page, status: int = 200) -> tuple[int, dict[str, str], bytes]:
    kind = f"text/html; charset={page.encoding}" if page.named else "text/html"
    return status, {"Content-Type": kind}, _html(page)


def pdf(text: str) -> bytes:
    """Return a PDF of one page that shows a line of ASCII text."""
    shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    stream = f"BT /F1 18 Tf 72 720 Td ({shown}) Tj ET"
    fonts = "/Resources << /Font << /F1 5 0 R >> >>"
    objects = (
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R {fonts} >>",
        f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    out = b"%PDF-1.4\n"
    table = "0000000000 65535 f \n"
    for number, body in enumerate(objects, 1):
        table += f"{len(out):010} 00000 n \n"
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("ascii", "replace")
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n{table}{trailer}".encode()


def png() -> bytes:
    """Return a picture of one brown dot."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    dot = zlib.compress(b"\0\x8b\x5a\x2b")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", dot) + chunk(b"IEND", b"")


def _robots(origin: str) -> bytes:
    return f"User-agent: *\nDisallow: /kitchen/\n\nSitemap: {origin}/sitemap.xml\n".encode()


def _sitemap(origin: str) -> bytes:
    entries = "".join(f"<url><loc>{origin}{path}</loc><lastmod>2026-05-01</lastmod></url>\n" for path in LISTED)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{entries}</urlset>
""".encode()


class DemoSite(Loopback):
    """Serves the site for the length of a ``with`` block; ``url`` is where a crawl starts."""

    def __init__(self, port: int = 0) -> None:
        """Prepare; ``with`` starts it."""
        super().__init__(self._give, port=port)

    @property
    def url(self) -> str:
        """Return the front page."""
        return f"{self.origin}/"

    async def _give(self, received: Received, out: asyncio.StreamWriter) -> bool:
        status, headers, body = self._found(received.path)
        out.write(message(body, status=status, headers=headers, with_body=received.method != "HEAD"))
        return True

    def _found(self, path: str) -> tuple[int, dict[str, str], bytes]:
        if path in PAGES:
            return _answer(PAGES[path])
        if path in REDIRECTS:
            status, target = REDIRECTS[path]
            return status, {"Location": target}, b""
        match path:
            case "/robots.txt":
                return 200, {"Content-Type": "text/plain"}, _robots(self.origin)
            case "/sitemap.xml":
                return 200, {"Content-Type": "application/xml"}, _sitemap(self.origin)
            case "/price-list.pdf":
                return 200, {"Content-Type": "application/pdf"}, pdf("Rye 4.20, spelt 4.80, white tin 3.10")
            case "/oven.png":
                return 200, {"Content-Type": "image/png"}, png()
            case _:
                return _answer(MISSING, 404)


@contextmanager
def serve(port: int = 0) -> Iterator[str]:
    """Serve the demo site on loopback until the block ends, on this port if it is free; gives the URL to start from."""
    with ExitStack() as stack:
        try:
            site = stack.enter_context(DemoSite(port))
        except OSError:  # it is taken
            site = stack.enter_context(DemoSite())
        yield site.url
