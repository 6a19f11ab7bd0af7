"""What is found quickly is what is found by the steps: encodings in usual heads, references in C, what need not be told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu import page
from purlieu.errors import UrlError
from purlieu.page import encoding, scan
from purlieu.url import Joiner

_scan = pytest.importorskip("purlieu.page._scan", reason="the page scanner in C was not built; see CONTRIBUTING.md")

# fmt: off
_PIECES = """a b.html .. . ... .a a. / // ./ ../ /../ /./ ../../.. /a/b/../c ..?q ./x:y x:/ w/x:/y ? ?x=1 & = % %2e %2E%2e %20 %zz :
 http: https: HTTP: http:// https:// h.test H.test host 127.0.0.1 1.2.3.256 01.2.3.4 1.2.3 .1 1 0x7f [::1] xn--a a- -a ab--c a.b.c user@ @ :80 :443 :8080 :65536 :0 :00
 mailto: javascript: void(0) tel: file: ftp: ws: data: blob: C: C| ^ | ' \\ ~ $!*(),; { } < " ` é 日 # #f + - _ a_b Z p?q?r ?' (')
 /wiki/Special:Random index.html?a=b/../c"""
PIECES = [*_PIECES.split(), " ", "\t", "\n", "\ud800", "\0", "\x7f", "a" * 64]
_BASES = """http://h.test/d/p http://h.test/ http://h.test/a/b/c.html?q=1 https://h.test:8080/x//y/ http://localhost:9/a/ http://h.test/a%2e/b
 http://h.test/a:/b http://1.2.3.4/a/b http://a.b.c/é http://h.test/a/b?x'y http://u@h.test/a/b file:///a/b http://h.test/a/./b
 http://[::1]/x/y http://h.test/a'b/c http://h.test"""
_HEADS = """<!doctype·html> <!-- --> <!-- <!x> <?xml·version="1.0"·encoding="latin2"?> <html> <html·lang="de"> <head> </head > <meta <meta>
 <META·charset="gbk"> <meta·charset="utf-8"> <meta·charset="UTF-8"/> <meta·charset=utf-8> <meta·charset="koi8-r"> <meta·name="viewport"·content="x">
 <meta·http-equiv="Content-Type"·content="text/html;·charset=utf-8"·/> <meta·http-equiv="refresh"·content="charset=gbk"> <title> < </meta·charset="gbk">
 <a·href="<meta·charset='gbk'>"> <a·b='"'> <meta·charset="x"·charset="gbk"> <br/> <h1> > " ' charset="gbk" é"""
BASES, HEADS = _BASES.split(), [piece.replace("·", " ") for piece in _HEADS.split()]
# fmt: on


def made(chance: Random, pieces: list[str], most: int) -> str:
    """Join some of the pieces."""
    return "".join(chance.choices(pieces, k=chance.randrange(most)))


@given(st.integers(0, 2**64))
def test_the_usual_head_is_read_as_by_the_steps(seed: int) -> None:
    """An encoding found at once is the one that the prescan finds (HTML 13.2.3.2)."""
    chance = Random(seed)
    head = made(chance, HEADS, 9)
    if chance.random() < 0.2:
        head = head.replace(" ", chance.choice("\n/\t"))

    assert encoding.prescan(head.encode()) == encoding.prescan_by_steps(head.encode())
    if _scan.is_silent(head.encode()):
        assert encoding.declared(head.encode(), None) is None


@pytest.mark.parametrize("before", [0, 1, 14, 15, 16, 30, 1014, 1017, 1018])
@pytest.mark.parametrize("said", ["charset", "CharSet"])
def test_an_encoding_is_looked_for_where_it_may_be(before: int, said: str) -> None:
    """A page whose first 1024 bytes have the word charset in any case may declare one; a mark or XML may too."""
    body = b"<" + b"c" * before + said.encode() + b"=x>"

    assert _scan.is_silent(body) == (before + 1 + len(said) > encoding.PRESCAN_BYTES)
    assert _scan.is_silent(b"<p>" + b"x" * before)
    assert not any(map(_scan.is_silent, (b"\xef\xbb\xbf<p>", b"\xfe\xff", b"<?xml?>", b"<\0?\0x\0", b"\0<\0?\0x")))


@given(st.integers(0, 2**64))
def test_references_are_resolved_in_c_as_by_the_standard(seed: int) -> None:
    """What C resolves is what the joiner gives, kinds, order and nofollow included; the rest it leaves to the joiner."""
    chance = Random(seed)
    base = chance.choice(BASES) if chance.random() < 0.8 else "http://" + made(chance, PIECES, 5)
    try:
        joiner = Joiner(base)
    except UrlError:
        joiner = Joiner("http://h.test/")
    written = [(chance.choice(("a", "a", "area")), made(chance, PIECES, 6), chance.random() < 0.3) for _ in range(20)]
    unique: dict[tuple[str, str, bool], bool] = {}
    links: dict[str | tuple[str, str], bool] = {}
    for kind, reference, nofollow in written:
        key = reference if kind == "a" else (kind, reference)
        links[key] = nofollow and links.get(key, True)
        href = joiner(reference)
        raw = (reference[:2048], kind, False) if href is None else (href, kind, True)
        unique[raw] = nofollow and unique.get(raw, True)

    found = _scan.resolve(joiner.plain_base, links, joiner, 2048, 10**9)

    assert _scan.join(base, "") in {None, joiner.plain_base}
    assert found == tuple((href, kind, nofollow, is_url) for (href, kind, is_url), nofollow in unique.items())


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("../x.html?a=b", "https://h.test:8080/x.html?a=b"),
        ("../../../y/", "https://h.test:8080/y/"),
        ("", "https://h.test:8080/d/p?q"),
        ("?r", "https://h.test:8080/d/p?r"),
        ("/a/./b/..", "https://h.test:8080/a/"),
        ("http://other.test", "http://other.test/"),
        ("mailto:me@h.test", "mailto:me@h.test"),
        ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"),
    ],
)
def test_usual_references_need_no_joiner(reference: str, href: str) -> None:
    """The references that nearly all links have are resolved without asking Python."""
    asked: list[str] = []

    found = _scan.resolve("https://h.test:8080/d/p?q", {reference: False}, asked.append, 2048, 10**9)

    assert (found, asked) == (((href, "a", False, True),), [])


@pytest.mark.parametrize(("most", "resolved"), [(10**9, 5), (70, 5), (60, 4)])
def test_plain_links_are_resolved_without_a_text_for_each(most: int, resolved: int) -> None:
    """Links that the scanner keeps as bytes are those that were texts, in their place, counted once for the limit."""
    html = "<a href=x><a href=y rel=nofollow><a href='x#a'><a href='z&amp;#b'><a href='q #c'><a href=y><a href=w>"
    taken: list[Any] = []
    plain = scan.read(html.encode(), "UTF-8", frozenset("a"), taken.extend)[-1]
    written = dict.fromkeys(("x", "y", "z&", "q #c", "w"), False)

    found = _scan.resolve("http://h.test/", {1: False, "y": True, 5: False}, Joiner("http://h.test/"), 9, most, plain)

    assert (taken[0], taken[1][0], taken[2]) == (1, "a", 5)
    assert found == _scan.resolve("http://h.test/", written, Joiner("http://h.test/"), 9, most)
    assert sum(is_url for _, _, _, is_url in found) == resolved


def test_a_base_may_be_an_address() -> None:
    """Pages of a host that has no name but an IPv4 address are read as fast as others."""
    asked: list[str] = []

    found = _scan.resolve("http://10.0.0.255:8080/d/p", {"../x": False}, asked.append, 2048, 10**9)

    assert (found, asked) == ((("http://10.0.0.255:8080/x", "a", False, True),), [])


@pytest.mark.parametrize("agent", ["purlieu", "my bot", "", " ", "\u00fcbot", "x" * 300, " ".join("abcdefghijkl")])
def test_any_bot_s_rules_are_heard(agent: str) -> None:
    """A meta element is left out only if its name is no bot's that is asked for (ST-22)."""
    html = (
        f'<meta name="{agent.upper()}" content=noindex><meta content=nofollow><meta name=viewport content=x>'.encode()
    )
    pages = []
    for native in (False, True):
        with scan.forced(native=native):
            pages.append(page.read(html, url="http://h.test/", content_type="text/html;charset=utf-8", agent=agent))

    assert pages[0] == pages[1]
    assert pages[0].noindex == (agent != " ")


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    "element",
    ["<a href={}>", "<area href={}>", "<link rel=alternate hreflang=de href={}>", "<link rel=canonical href={}>"],
)
def test_a_long_base_does_not_multiply(element: str, native: bool) -> None:
    """A small page cannot make a gigabyte of hrefs: after 64 MiB of them its links stay as written, and none is lost."""
    html = f"<base href='/{'x' * 500_000}/'>" + "".join(element.format(n) for n in range(1000))
    with scan.forced(native=native):
        found = page.read(html.encode(), url="http://h.test/d")
    resolved = [len(href) for href, _, _, is_url in found.raw_links if is_url]

    assert sum(resolved) + sum(len(href) for _, href in found.alternates) < 2.1 * 64 * 1024 * 1024
    assert found.canonical is None
    if "canonical" not in element:
        assert len(found.raw_links) == 1000
        assert found.raw_links[-1][0] == "999"
        assert 100 < len(resolved) < 200


def test_a_scanner_of_another_version_is_not_used(tmp_path: Path) -> None:
    """A compiled file left over from another version is as good as none; where C is insisted on it is an error."""
    left = tmp_path / "left.py"
    left.write_text("import sys, types\nsys.modules['purlieu.page._scan'] = types.ModuleType('purlieu.page._scan')\n")
    script = "import left, purlieu.page\nfrom purlieu.page import scan\nprint(scan.is_native())"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), *sys.path))}
    for chosen, said in (("", "False"), ("1", "another version")):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment | {"PURLIEU_NATIVE": chosen},
            capture_output=True,
            text=True,
            check=False,
        )
        assert said in done.stdout + done.stderr


def test_what_is_no_text_is_refused() -> None:
    """References that are no texts are an error of the caller's, and no crash."""
    with pytest.raises(TypeError, match="texts"):
        _scan.resolve("http://h.test/", {("a", 1): False}, str, 2048, 10**9)
    with pytest.raises(ValueError, match="words"):
        _scan.read(b"", "strict", frozenset("a"), str, str, (0, 1, 2, 3), ((), (), ("x",) * 17), 0)
    with pytest.raises(ValueError, match="plain links"):
        _scan.resolve("http://h.test/", {1: False}, str, 2048, 10**9)
