"""Pages made of pieces that mean something in HTML, and changed in a few places: what makes two readers disagree.

Knows what is likely to break a reader of tags. Knows nothing of what the right answer is.
"""

from __future__ import annotations

from random import Random

# fmt: off
_NAMES = """a a a A area base body br div footer form frame frameset head header html iframe image img input li link link
 math meta meta nav noembed noframes noscript p plaintext script source span style svg template textarea title title xmp
 TITLE sCript Noscript noframe\u017f l\u0131nk lin\u212a basefont bgsound plaintextx scripts mathx SVG x-y"""
_ATTRIBUTES = """href href href src rel rel content http-equiv name charset hreflang lang xml:lang srcset method action
 xlink:href class HREF Rel id = == "x 'y lin\u212a \u00c9"""
_VALUES = """x y.html a#b #top ?q=1&amp;r=2 &copy=1 &copy; &copy &#65; &#x41 &am &nosuch; &ampamp; &amp;amp; nofollow NoFollow
 noopener canonical stylesheet next alternate refresh robots noindex,nofollow description content-type de 5 purlieu post get
 text/html;charset=shift_jis utf-8 gbk 0;url=z http://[ //h.test/ javascript:x \u65e5\u672c \u00e9?\u00e9 &eacute;&eacute= x&y &# &#x
 &; nofollow&x &#110;ofollow nof\u00d6llow > a>b <a> ../.. %zz \ufffd &lt;#b &a1=# &#35;x &#0; &#00; &#127; &#128; &#1114112; &#064;y &gt;&quot &ltx; &#4 &#38;amp; &amp;#38;"""
NAMES, ATTRIBUTES = _NAMES.split(), _ATTRIBUTES.split()
VALUES = (
    *_VALUES.split(),
    *("", " ", "a b", " x #y", "x\t#y", "a\u00a0#b", "a nofollow b", "alternate next", "1 1x, 2 2x", "a\nb", "\0", "a\0#b", "0; url='q'"),
)
TEXTS = (
    *("text ", "  ", "\n", "1 2 3", "&nbsp;", "&nb", "sp;", "&", "<", "< ", "<3", "</", "</>", "</ >", "<!", "<?", "<!x>", "<?x>"),
    *("<!--", "-->", "--!>", "<!-->", "<!--->", "<!-- x -->", "--", "-", "->", ">", "/>", "/", "'", '"', "=", "\0", "\u00a0"),
    *("<![CDATA[", "]]>", "]]", "<!doctype html>", "<!DOCTYPE", "\u65e5\u672c\u8a9e", "\u00e9", "\u2028", "\x1c", "\x0b", "\f", "\r", "\ufeff"),
    *("<script><!--", "<script", "</script", "</script>", "<plaintext>", "</title>", "</titl", "</style >", "</textarea/>"),
    *("<a href=", "<a href='", '<a href="', "<a ", '<a class="q" href="', '" rel="', "<meta charset=", "<svg/>", "<svg / >", "<svg a=b/>"),
)
BYTES = (b"\xff", b"\xc3", b"\xe3\x81", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xc0\xaf", b"\xf0\x9f\x98", b"\x1b$B", b"\x1b(B")
WHOLE = (  # what tells where the head ends, and which of two attributes or references counts
    *("<link rel=canonical href=x>", "<meta name=robots content=noindex>", "<base href=/b/>", "<html lang=de>", "<meta charset=gbk>"),
    *("<head>", "</head>", "<body>", "</body>", "</html>", "</br>", "<br>", "</p>", "<noframes>x</noframes>", "<style>x</style>"),
    *("<a href=f rel=x rel=nofollow>", "<a rel=nofollow rel=x href=g>", "<a href=h rel=&#110;ofollow>", "<a href=h rel='&#x6e;ofollow'>"),
    *("<a href='?a=1&b=2&amp;c=3&copy=4&lt=5&gt;'>", "<a href=i href=j>", "<a href=k rel='a  nofollow'>", "<a href=k>", "<a rel=x>"),
)
TYPES = (
    *["text/html; charset=utf-8"] * 8,
    *("text/html", "text/html;charset=windows-1252", "text/html;charset=shift_jis", "text/html;charset=iso-2022-jp"),
    *("text/html;charset=utf-16le", "application/xhtml+xml", "text/html;charset=gb18030", "text/html;charset=koi8-r"),
)
# fmt: on


def tag(chance: Random) -> str:
    """Make a start or end tag, mostly well formed."""
    if chance.random() < 0.3:
        return f"</{chance.choice(NAMES)}>"
    made = ["<", chance.choice(NAMES)]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        quote = chance.choice(('"', '"', '"', "'", ""))
        made += chance.choice((" ", " ", " ", "\n", "/", "  ", "")), chance.choice(ATTRIBUTES)
        made += chance.choice(("=", "=", "=", " = ", "")), quote, chance.choice(VALUES), quote
    made.append(chance.choice((">", ">", ">", ">", "/>", " >", " / >", "")))
    return "".join(made)


def soup(chance: Random) -> bytes:
    """Make a page of up to thirty pieces."""
    most = chance.choice((2, 5, 10, 30))
    tags, wholes = chance.choice(((0.6, 0.7), (0.2, 0.8)))
    made = []
    for _ in range(most):
        kind = chance.random()
        made.append(tag(chance) if kind < tags else chance.choice(WHOLE if kind < wholes else TEXTS))
    return "".join(made).encode()


def mutated(chance: Random, body: bytes) -> bytes:
    """Change a few places: drop, double, swap, overwrite, insert, cut."""
    made = bytearray(body)
    for _ in range(chance.choice((0, 0, 1, 2, 5))):
        at = chance.randrange(len(made) + 1)
        end = min(len(made), at + chance.choice((1, 1, 2, 5, 20, 100)))
        match chance.randrange(7):
            case 0:
                del made[at:end]
            case 1:
                made[at:at] = made[at:end]
            case 2:
                made[at:end] = made[at:end].swapcase()
            case 3:
                made[at : at + 1] = bytes((chance.choice(b"<>/=\"'&#-! \n\0;aA\x80"),))
            case 4:
                made[at:at] = chance.choice(BYTES)
            case 5:
                made[at:at] = tag(chance).encode()
            case _:
                made[at:at] = chance.choice(TEXTS).encode()
    return bytes(made[: chance.randrange(len(made) + 1)] if chance.random() < 0.1 else made)
