"""Header lines are looked at when the body begins, and say the same as if each were looked at as it comes."""

from __future__ import annotations

import pytest

from purlieu.fetch.answer import CACHED_LINES, STOP, Answer, pairs
from purlieu.response import Fault, Request

HTML = frozenset({"HTML"})
OK, END = b"HTTP/1.1 200 OK\r\n", b"\r\n"


def answered(lines: list[bytes], body: bytes = b"text", limit: int = 8192) -> tuple[Answer, int | None]:
    """Return an answer to whom these lines and this body came, and what it said to the body."""
    answer = Answer(limit)
    answer.begin(Request("http://a.example/", classes=HTML))
    answer.lines.extend(lines)
    told = answer.body(body) if body else answer.look()
    answer.look()
    return answer, told


@pytest.mark.parametrize(
    ("lines", "status", "names"),
    [
        ([OK, b"A: 1\r\n", END], 200, ["A"]),
        ([b"HTTP/1.1 103 Early\r\n", b"Link: x\r\n", END, OK, b"A: 1\r\n", END], 200, ["A"]),
        ([OK, b"A: 1\r\n", b" more\r\n", b"B : 2\r\n", b"none\r\n", END], 200, ["A", "B"]),
        ([b"HTTP/1.0 404\n", b"a:1\n", b"\n"], 404, ["a"]),
        ([OK, b"A: 1\r\n", END, b"Trailer: 2\r\n", END], 200, ["A"]),
        ([OK, END], 200, []),
    ],
    ids=["plain", "interim", "folded", "bare", "trailer", "none"],
)
def test_blocks_of_header_lines(lines: list[bytes], status: int, names: list[str]) -> None:
    """RFC 9112 2.1, 5.2, RFC 9110 15.2: interim answers and trailers are no headers, folded lines continue others."""
    answer, told = answered(lines)
    assert told is None
    assert answer.start is not None
    assert answer.start.status == status
    assert [name for name, _ in answer.headers] == names
    assert b"".join(answer.pieces) == b"text"


def test_the_limit_counts_every_header_line() -> None:
    """Semantics of fetch.header_bytes: lines of a block, of interim ones and trailers count together, and too many end the answer."""
    long = b"A: " + b"x" * 4000 + b"\r\n"
    early = [b"HTTP/1.1 103 Early\r\n", long, END]
    for lines in ([OK, long, long, long, END], [*early, *early, OK, long, END]):
        answer, told = answered(lines)
        assert (told, answer.fault, answer.pieces) == (STOP, Fault.PROTOCOL, [])
    answer, told = answered([OK, long, END])
    assert told is None
    answer.lines.extend([long, long])  # trailers come after the body
    assert answer.look() == STOP
    assert answer.fault is Fault.PROTOCOL


def test_an_unwanted_class_ends_the_body_before_its_first_byte_is_kept() -> None:
    """MF-21, house.md section 2: what is not wanted is not downloaded; without a body the answer is cut all the same."""
    lines = [OK, b"CONTENT-TYPE: image/png\r\n", END]
    for body in (b"\x89PNG", b""):
        answer, told = answered(lines, body)
        assert (told, answer.cut, answer.pieces) == (STOP, True, [])


def test_a_challenge_is_forgotten_but_for_its_size() -> None:
    """R-4.7: of the answer that asks for credentials nothing is left, but its lines count for the limit."""
    answer = Answer(8192)
    answer.begin(Request("http://a.example/"))
    answer.lines.extend([b"HTTP/1.1 401 No\r\n", b"Set-Cookie: a=" + b"b" * 5000 + b"\r\n", END])
    answer.restart()
    assert (answer.start, answer.headers, answer.lines) == (None, (), [])
    assert answer.cookie_bytes == 5002
    answer.lines.extend([OK, b"A: " + b"x" * 4000 + b"\r\n", END])
    assert answer.body(b"text") == STOP
    assert answer.fault is Fault.PROTOCOL


def test_known_lines_are_bounded() -> None:
    """House, section 4: a server that sends new lines with each page fills no memory."""
    for number in range(3 * CACHED_LINES):
        assert pairs([b"ETag: %d\r\n" % number]) == (("ETag", str(number)),)
    known = pairs.__globals__["_pair"].__self__
    assert 0 < len(known) <= CACHED_LINES
