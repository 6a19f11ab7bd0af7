"""The hostile sites: one misbehaves in every way we know, the other, the leak kit's, tempts a crawler out of scope.

``HostileSite`` says of each page the outcome that it must end in. ``LeakSite`` and what judges its log (``leaks``,
``crawled``, ``rounds``) are made in ``lure.py`` and ``leak.py`` and have their public name here.

Owners may use it too: ``with HostileSite() as site`` and crawl ``site.url``. The index links to every page of
``TROUBLES``, and ``site.expected`` says by URL how each must end in the ledger (names of ``outcome.REASONS``). Give the
crawl short times and a small page limit (``TIGHT`` holds fitting ``[fetch]`` values) and no retries, or the slow pages
take their full time.

Knows what it sends; knows nothing of who fetches it.
"""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Iterator
from html import escape
from typing import Final, Self

from purlieu.testing.leak import Leak, LeakSite, crawled, leaks, rounds
from purlieu.testing.loopback import Loopback, Received, message, reset
from purlieu.value import dataclass

__all__ = ["TIGHT", "TROUBLES", "HostileSite", "Leak", "LeakSite", "Trouble", "crawled", "leaks", "rounds"]

TIGHT: Final = {
    "page_bytes": 1 << 20,
    "timeout_seconds": 3.0,
    "connect_timeout_seconds": 2.0,
    "low_speed_seconds": 2.0,
}
"""``[fetch]`` values with which the whole site is crawled in seconds."""
MOST_BYTES: Final = 64 << 20
MOST_SECONDS: Final = 20.0
CHAIN: Final = 15

Script = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Trouble:
    """One page: what the server does, and the outcome (``kind.reason``) it must end in."""

    path: str
    outcome: str
    says: str
    play: Script


TROUBLES: Final[dict[str, Trouble]] = {}
"""Every page by its name."""


def _trouble(name: str, outcome: str, says: str, path: str = "") -> Callable[[Script], Script]:
    def add(play: Script) -> Script:
        TROUBLES[name] = Trouble(path or f"/{name}", outcome, says, play)
        return play

    return add


def _sends(name: str, outcome: str, says: str, data: bytes | Callable[[], bytes]) -> None:
    async def play(_: Received, out: asyncio.StreamWriter) -> None:
        out.write(data() if callable(data) else data)

    TROUBLES[name] = Trouble(f"/{name}", outcome, says, play)


async def _pour(out: asyncio.StreamWriter, pieces: Iterator[bytes]) -> None:
    sent = 0
    for piece in pieces:
        out.write(piece)
        await out.drain()
        sent += len(piece)
        if sent > MOST_BYTES or out.is_closing():
            return


def _again(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece


_HTML: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"


# Without end.


@_trouble("endless-body", "unreadable.too_large", "a page that never ends")
async def _endless_body(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(_HTML + b"\r\n<title>Endless</title>")
    await _pour(out, _again(b"<p>and so on\n" * 4096))


@_trouble("endless-image", "skipped.content_class", "an unwanted class without end: only its headers may be read")
async def _endless_image(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nConnection: close\r\n\r\n")
    await _pour(out, _again(bytes(65_536)))


@_trouble("endless-headers", "unreadable.protocol", "header lines without end")
async def _endless_headers(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(_HTML)
    await _pour(out, (b"X-%d: %s\r\n" % (number, b"y" * 200) for number in range(1 << 30)))


@_trouble("endless-header-line", "unreadable.protocol", "one header line without end")
async def _endless_header_line(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(_HTML + b"X-Long: ")
    await _pour(out, _again(b"y" * 8192))


@_trouble("endless-interim", "unreadable.protocol", "interim answers (100) without end")
async def _endless_interim(_: Received, out: asyncio.StreamWriter) -> None:
    await _pour(out, _again(b"HTTP/1.1 100 Continue\r\n\r\n"))


@_trouble("endless-error", "missing.not_found", "a 404 whose body never ends: the status is the answer")
async def _endless_error(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
    await _pour(out, _again(b"<p>not here\n" * 4096))


@_trouble("silence", "unreachable.timeout", "the connection is taken and nothing is said")
async def _silence(_: Received, out: asyncio.StreamWriter) -> None:
    await _pause(out, MOST_SECONDS)


@_trouble("drip", "unreadable.truncated", "a page that comes byte by byte")
async def _drip(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(_HTML + b"\r\n")
    for byte in b"<title>Slow</title>" * 10:
        out.write(bytes([byte]))
        await _pause(out, 0.2)


async def _pause(out: asyncio.StreamWriter, seconds: float) -> None:
    await out.drain()
    await asyncio.sleep(seconds)


# No HTTP.

_sends("garbage", "unreadable.protocol", "a first line that is no status line", b"HELLO THERE\r\n\r\nhow are you\r\n")
_sends("http-0.9", "unreadable.protocol", "a bare page without headers", b"<title>Old</title><p>as in 1991")
_sends("http-9.9", "unreadable.protocol", "a version that nobody speaks", b"HTTP/9.9 200 OK\r\n\r\nhello")
_sends("status-word", "unreadable.protocol", "a status that is no number", b"HTTP/1.1 FINE yes\r\nA: b\r\n\r\n")
_sends("header-nul", "unreadable.protocol", "a NUL in a header", _HTML + b"X-Nul: a\0b\r\nContent-Length: 2\r\n\r\nok")
_sends("two-lengths", "unreadable.protocol", "two lengths that differ",
       _HTML + b"Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello")  # fmt: skip
_sends("length-word", "unreadable.protocol", "a length that is no number", _HTML + b"Content-Length: five\r\n\r\nhello")
_sends("chunk-garbage", "unreadable.protocol", "a chunk size that is no number",
       _HTML + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz-what\r\nhello\r\n")  # fmt: skip


@_trouble("close-before-answer", "unreachable.reset", "the connection is closed without a word")
async def _close_before_answer(_: Received, out: asyncio.StreamWriter) -> None:
    out.close()


@_trouble("reset-before-answer", "unreachable.reset", "the connection is reset without a word")
async def _reset_before_answer(_: Received, out: asyncio.StreamWriter) -> None:
    reset(out)


# Broken on the way.


@_trouble("reset-in-body", "unreadable.truncated", "the connection is reset in the middle of the page")
async def _reset_in_body(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(_HTML + b"Content-Length: 100000\r\n\r\n<title>Half</title>" + b"x" * 2000)
    await _pause(out, 0.1)
    reset(out)


@_trouble("reset-in-headers", "unreadable.truncated", "the connection is reset between two header lines")
async def _reset_in_headers(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(_HTML + b"X-More: to come\r\n")
    await _pause(out, 0.1)
    reset(out)


_sends("length-too-long", "unreadable.truncated", "a length that promises more than comes",
       _HTML + b"Content-Length: 5000\r\n\r\n<title>Short</title>")  # fmt: skip
_sends("length-too-short", "fetched.ok", "a length that promises less than comes: the rest is not read",
       _HTML + b"Content-Length: 20\r\n\r\n<title>Cut!</title>\n<a href='/never'>beyond the length</a>")  # fmt: skip
_sends("chunks-cut", "unreadable.truncated", "chunks without their end",
       _HTML + b"Transfer-Encoding: chunked\r\n\r\n400\r\nhello")  # fmt: skip


# Codings.


def _coded(coding: bytes, data: bytes) -> bytes:
    return _HTML + b"Content-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s" % (coding, len(data), data)


def _gzip_bomb() -> bytes:
    return gzip.compress(gzip.compress(bytes(MOST_BYTES), 9), 9)


def brotli_bomb(blocks: int) -> bytes:
    """Return a brotli stream of about 13 bytes a block that unfolds to ``blocks`` x 16 MiB of NULs (RFC 7932).

    Each meta-block has prefix codes of one symbol, which take no bits: insert one literal (NUL), then copy it
    2^24 - 2 times from one byte back.
    """
    bits = 0b1111  # a window of 2^24 bytes
    count = 4

    def put(value: int, width: int) -> None:
        nonlocal bits, count
        bits |= value << count
        count += width

    for block in range(blocks):
        put(0, 1)  # not the last
        put(2, 2)  # the length has six nibbles
        put((1 << 24) - 1, 24)  # length minus one
        put(0, 1)  # compressed
        put(0, 3)  # one block type each for literals, commands, distances
        put(0, 6)  # no postfix, no direct distances
        put(0, 2)  # context mode
        put(0, 2)  # one tree for literals, one for distances
        for symbol, width in ((0, 8), (399, 10), (0 if block else 8, 6)):  # literal 0; insert 1, copy long; distance 1
            put(1, 2)  # a simple prefix code ...
            put(0, 2)  # ... of one symbol
            put(symbol, width)
        put((1 << 24) - 1 - 2118, 24)  # copy length above its code's base
    put(0b11, 2)  # last, and empty
    return bits.to_bytes((count + 7) // 8, "little")


_sends("gzip-bomb", "unreadable.too_large", "gzip in gzip that unfolds to 64 MiB",
       lambda: _coded(b"gzip, gzip", _gzip_bomb()))  # fmt: skip
_sends("br-bomb", "unreadable.too_large", "a few bytes of brotli that unfold to 64 MiB",
       lambda: _coded(b"br", brotli_bomb(4)))  # fmt: skip
_sends("gzip-damaged", "unreadable.decoding", "gzip with wrong bytes in the middle",
       lambda: _coded(b"gzip", _damaged(gzip.compress(b"<title>Damaged" + bytes(range(256)) * 40))))  # fmt: skip
_sends("gzip-not", "unreadable.decoding", "text that claims to be gzip", _coded(b"gzip", b"<title>Plain"))
_sends("coding-unknown", "unreadable.decoding", "a content coding that nobody asked for", _coded(b"rot13", b"uryyb"))


def _damaged(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes(byte ^ 0xFF for byte in data[middle : middle + 8]) + data[middle + 8 :]


# Redirects.


def _to(location: bytes, status: int = 302) -> bytes:
    return b"HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, location)


_sends("loop", "misdirected.loop", "two redirects that lead to each other", _to(b"/loop-back"))
_sends("loop-back", "misdirected.loop", "the other half of the loop", _to(b"/loop"))
_sends("loop-self", "misdirected.loop", "a redirect to itself", _to(b"/loop-self"))
_sends("to-file", "misdirected.bad_location", "a redirect to a file", _to(b"file:///etc/hostname"))
_sends("to-script", "misdirected.bad_location", "a redirect to a script", _to(b"javascript:alert(1)"))
_sends("to-nonsense", "misdirected.bad_location", "a redirect to no address", _to(b"http://[::1:/\xff"))
_sends("to-nowhere", "misdirected.bad_location", "a redirect without an address",
       b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")  # fmt: skip
_sends("to-outside", "misdirected.out_of_scope", "a redirect out of the site", _to(b"http://outside.invalid/"))


@_trouble("chain", "misdirected.too_many", f"{CHAIN} redirects in a row", f"/chain/{CHAIN}")
async def _chain(received: Received, out: asyncio.StreamWriter) -> None:
    left = int(received.path.rpartition("/")[2])
    out.write(_to(b"/chain/%d" % (left - 1)) if left else message(b"<title>The end of the chain</title>"))


@_trouble("redirect-endless", "redirected.temporary", "a redirect with an endless body: the headers are the answer")
async def _redirect_endless(_: Received, out: asyncio.StreamWriter) -> None:
    out.write(b"HTTP/1.1 302 Found\r\nLocation: /\r\nConnection: close\r\n\r\n")
    await _pour(out, _again(b"moved " * 8192))


# Odd statuses.

for _status in (300, 305, 306, 999):
    _sends(f"status-{_status}", "unreadable.protocol", f"status {_status}",
           b"HTTP/1.1 %d Odd\r\nContent-Length: 5\r\n\r\nhello" % _status)  # fmt: skip
_sends("status-101", "unreadable.protocol", "a change of protocol that nobody asked for",
       b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: chess\r\n\r\ne4 e5")  # fmt: skip
_sends("status-304", "unreadable.protocol", "not modified, unasked", b"HTTP/1.1 304 Not Modified\r\n\r\n")
_sends("status-204", "fetched.empty", "success without content", b"HTTP/1.1 204 No Content\r\n\r\n")


# Pages that are hard to read, and whole.


def _page(body: bytes, kind: bytes = b"text/html; charset=utf-8") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
    return head + body


_sends("wrong-charset", "fetched.ok", "Shift_JIS that claims to be UTF-8",
       _page("<title>文字化けのページ</title><p>符号が違います。".encode("shift_jis")))  # fmt: skip
_sends("charset-unknown", "fetched.ok", "a charset that does not exist",
       _page(b"<title>x</title>", b"text/html; charset=x-no"))  # fmt: skip
_sends("nul-bytes", "fetched.ok", "NUL bytes all over the page", _page(b"<ti\0tle>\0NUL</title>" + b"<p>\0" * 1000))
_sends("deep", "fetched.ok", "elements nested 10,000 deep",
       _page(b"<title>Deep</title>" + b"<div>" * 10_000 + b"ground" + b"</div>" * 10_000))  # fmt: skip
_sends("huge-title", "fetched.ok", "a title of 512 KiB", _page(b"<title>" + b"long " * 104_857 + b"</title>"))
_sends("open-tags", "fetched.ok", "100,000 tags that never end", _page(b"<title>Open</title>" + b"<a href=" * 60_000))
_sends("folded-header", "fetched.ok", "a header folded over two lines, as in 1999",
       _page(b"<title>Folded</title>").replace(b"\r\n\r\n", b"\r\nX-Long: one\r\n  two\r\n\r\n"))  # fmt: skip
_sends("bare-lf", "fetched.ok", "lines that end without CR", _page(b"<title>Bare</title>").replace(b"\r\n", b"\n"))


class HostileSite(Loopback):
    """Serves every trouble on a port of its own for the length of a ``with`` block."""

    def __init__(self) -> None:
        """Prepare; ``with`` starts it."""
        super().__init__(self._play, seconds=MOST_SECONDS)
        self._by_path = {trouble.path: trouble for trouble in TROUBLES.values()}

    def __enter__(self) -> Self:
        """Listen."""
        return super().__enter__()

    @property
    def url(self) -> str:
        """Return the index, which links to every trouble."""
        return f"{self.origin}/"

    @property
    def expected(self) -> dict[str, str]:
        """Return the outcome that each linked URL must end in, the index too."""
        return {self.url: "fetched.ok"} | {f"{self.origin}{one.path}": one.outcome for one in TROUBLES.values()}

    def address(self, name: str) -> str:
        """Return the URL of a trouble."""
        return f"{self.origin}{TROUBLES[name].path}"

    async def _play(self, received: Received, out: asyncio.StreamWriter) -> bool:
        path = received.path
        if path == "/":
            out.write(message(_index()))
            return True
        trouble = TROUBLES["chain"] if path.startswith("/chain/") else self._by_path.get(path)
        if trouble is None:
            out.write(message(b"<title>None</title>", status=404))
            return True
        await trouble.play(received, out)
        return False


def _index() -> bytes:
    links = "\n".join(
        f'<li><a href="{one.path}">{escape(name)}</a>: {escape(one.says)}' for name, one in TROUBLES.items()
    )
    return f"<!doctype html><title>Troubles</title><ul>\n{links}\n</ul>".encode()
