"""Domains: the public suffix list, second-level names and Endeca's two lists."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from purlieu.domain import (
    GENERIC,
    TldLists,
    is_address,
    is_public_suffix,
    not_found,
    public_suffix,
    registrable,
    second_level,
)
from purlieu.errors import UrlError
from purlieu.url import parse


@pytest.mark.parametrize(
    ("host", "icann", "private", "sld"),
    [
        ("x.y.z.baidu.com", "baidu.com", "baidu.com", ("baidu", "")),
        ("x.baidu.com.cn", "baidu.com.cn", "baidu.com.cn", ("baidu", "")),
        ("www.xyz.co.uk", "xyz.co.uk", "xyz.co.uk", ("xyz", "")),
        ("foo.github.io", "github.io", "foo.github.io", ("github", "")),
        ("www.example.uk.com", "uk.com", "example.uk.com", ("uk", "")),
        ("www.example.co.uk.com", "uk.com", "co.uk.com", ("uk", "")),
        ("baidu.com.com", "com.com", "com.com", ("com", "")),
        ("x.baidu.xxxx", "baidu.xxxx", "baidu.xxxx", ("baidu", "xxxx")),
        ("com.cn", None, None, ("com", "cn")),
        ("baidu", None, None, None),
        ("foo.bar.kawasaki.jp", "foo.bar.kawasaki.jp", "foo.bar.kawasaki.jp", ("foo", "")),
        ("city.kawasaki.jp", "city.kawasaki.jp", "city.kawasaki.jp", ("city", "")),
        ("www.ck", "www.ck", "www.ck", ("www", "")),
        ("baidu.abc.com", "abc.com", "abc.com", ("abc", "")),
        ("192.0.2.7", None, None, None),
        ("[2001:db8::1]", None, None, None),
        ("localhost", None, None, None),
        ("WWW.Example.COM.", "example.com", "example.com", ("example", "")),
        (
            "www.xn--85x722f.xn--55qx5d.cn",
            "xn--85x722f.xn--55qx5d.cn",
            "xn--85x722f.xn--55qx5d.cn",
            ("xn--85x722f", ""),
        ),
        ("", None, None, None),
    ],
)
def test_host_matrix(host: str, icann: str | None, private: str | None, sld: tuple[str, str] | None) -> None:
    """Every row of the shared host matrix of section 3 holds (BJ-10, BJ-16 to BJ-22, AMB-BJ-2, AMB-BJ-6 to AMB-BJ-8)."""
    assert icann == registrable(host, private=False)
    assert private == registrable(host)
    assert sld == second_level(host)


def test_public_suffix() -> None:
    """The public suffix of a host is the longest listed one, an unlisted TLD is one itself, an address has none (BJ-21)."""
    assert public_suffix("www.xyz.co.uk") == "co.uk"
    assert public_suffix("foo.github.io") == "github.io"
    assert public_suffix("foo.github.io", private=False) == "io"
    assert public_suffix("a.b.kawasaki.jp") == "b.kawasaki.jp"
    assert public_suffix("x.unlisted") == "unlisted"
    assert public_suffix("192.0.2.7") is None
    assert public_suffix("[::1]") is None


def test_is_public_suffix() -> None:
    """Only what the list names is a bare suffix: an intranet's bare name and an address are none (R-3.2)."""
    assert all(map(is_public_suffix, ("com", "co.uk", "github.io", "b.kawasaki.jp")))
    assert not any(map(is_public_suffix, ("example.com", "intranet", "localhost", "192.0.2.7", "[::1]", "")))


def test_second_level_fallback_stays_under_its_tld() -> None:
    """Hosts of an unlisted TLD share a second-level name only under that TLD (BJ-19)."""
    assert second_level("baidu.xxxx") == second_level("x.baidu.xxxx")
    assert second_level("baidu.xxxx") != second_level("baidu.yyyy")
    assert second_level("baidu.xxxx") != second_level("baidu.com")


@pytest.mark.parametrize("host", [".www.example.com", ".example.com", "a..example.com", "example..com", "x..", "..."])
def test_a_host_with_an_empty_label_has_no_domain(host: str) -> None:
    """Two dots together, or one in front, make no name: no domain, no second-level name, by lists itself alone (BJ-16)."""
    assert registrable(host) is None
    assert second_level(host) is None
    assert TldLists(additional="co.uk").domain(host) == (host.removesuffix("."), True)


@pytest.mark.parametrize(
    ("host", "additional", "domain", "found"),
    [
        ("www.xyz.com", "", "xyz.com", True),
        ("a.b.c.xyz.org", "", "xyz.org", True),
        ("www.xyz.co.uk", "", "co.uk", False),
        ("www.xyz.co.uk", "co.uk", "xyz.co.uk", True),
        ("www.xyz.co.uk", "uk", "co.uk", True),
        ("www.xyz.co.uk", "uk co.uk", "xyz.co.uk", True),
        ("www.xyz.co.uk", "co.uk uk", "xyz.co.uk", True),
        ("xyz.uk", "co.uk", "xyz.uk", False),
        ("www.xyz.ca", "", "xyz.ca", False),
        ("www.xyz.ca", "ca", "xyz.ca", True),
        ("foo.github.io", "", "github.io", False),
        ("www.example.co.uk.com", "co.uk", "uk.com", True),
        ("www.example.uk.com", "uk.com", "uk.com", True),
        ("co.uk", "co.uk", "co.uk", True),
        ("localhost", "", "localhost", False),
        ("localhost", "localhost", "localhost", True),
        ("com", "", "com", True),
        ("192.0.2.7", "", "192.0.2.7", True),
        ("[2001:db8::1]", "", "[2001:db8::1]", True),
        ("www.xyz.co.uk.", "co.uk", "xyz.co.uk", True),
        ("WWW.XYZ.Co.UK", "co.uk", "xyz.co.uk", True),
        ("www.xyz.co.uk", "\t.CO.UK \n", "xyz.co.uk", True),
        ("www.xn--wgv71a.jp", "日本.jp", "www.xn--wgv71a.jp", True),
        ("www.xyz.jp", "\ufffd.jp", "xyz.jp", False),
    ],
)
def test_endeca_matrix(host: str, additional: str, domain: str, found: bool) -> None:
    """Every row of the domain matrix of section 1.3 holds.

    EN-15, EN-21, EN-22, EN-23, EN-24, EN-25, EN-26, EN-27, EN-28, EN-30 to EN-33, AMB-EN-11 to AMB-EN-13, AMB-EN-18,
    AMB-EN-19.
    """
    assert (domain, found) == TldLists(GENERIC, additional).domain(host)
    assert (domain, found) == TldLists(" ".join(GENERIC), additional.split()).domain(host)


def test_endeca_lists_are_the_owners() -> None:
    """The generic list can be replaced, and holds by default what is known of it and not what is known to be missing."""
    assert TldLists("uk").domain("www.xyz.co.uk") == ("co.uk", True)
    assert TldLists("uk").domain("www.xyz.com") == ("xyz.com", False)
    assert {"com", "gov", "org"} <= GENERIC
    assert not GENERIC & {"uk", "jp", "ca", "us"}


def test_endeca_port_and_scheme_play_no_part() -> None:
    """Only the host of a URL tells its domain (EN-34)."""
    host = parse("https://www.example.co.uk:8080/").host

    assert TldLists(additional="co.uk").domain(host) == ("example.co.uk", True)


def test_endeca_message() -> None:
    """The message for a domain that no list told is worded as documented, with the URL and a line break (EN-29)."""
    assert not_found("http://www.xyz.co.uk", "co.uk") == (
        "Failed to get the domain name for url: http://www.xyz.co.uk\nusing co.uk as the default domain name"
    )


@given(host=strategies.hosts, names=st.lists(strategies.hosts, max_size=4))
def test_endeca_domain_is_a_suffix(host: str, names: list[str]) -> None:
    """The domain is a suffix of the host at a label's edge, and its own domain is no longer than it."""
    lists = TldLists(additional=names)
    domain, _ = lists.domain(host)

    assert f".{host}".endswith(f".{domain}")
    assert domain.endswith(lists.domain(domain)[0])


@given(host=strategies.hosts)
def test_registrable_is_a_fixed_point(host: str) -> None:
    """The registrable domain of a registrable domain is itself, and is its suffix and one label."""
    domain = registrable(host)
    if domain is not None:
        assert domain == registrable(domain) == registrable(f"x.{domain}")
        assert domain.partition(".")[2] == public_suffix(host)


@given(host=st.text(max_size=30))
def test_any_text_is_answered(host: str) -> None:
    """No text makes a lookup raise."""
    registrable(host)
    public_suffix(host)
    second_level(host)
    TldLists().domain(host)


def test_many_labels() -> None:
    """A host of half a million labels is answered in time that grows with its length."""
    host = "a." * 500_000 + "co.uk"

    assert registrable(host) == "a.co.uk"
    assert TldLists(additional="co.uk").domain(host) == ("a.co.uk", True)
    assert second_level(host) == ("a", "")


def test_list_is_read_only_when_asked() -> None:
    """Importing the module reads no list: start-up does not pay for modes that do not ask (R-9.2)."""
    program = "import sys, purlieu.domain; sys.exit('publicsuffixlist' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def rows(conformance: Path, op: str) -> list[dict[str, Any]]:
    """Return the cases of an operation that hold with the current list."""
    lines = (conformance / "psl" / "psl_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [row for row in map(json.loads, lines) if row["op"] == op and row.get("matches_current_list", True)]
    assert cases
    return cases


def host_of_text(text: str) -> str:
    """Return the host of a URL or bare host, '' for what is neither."""
    try:
        return parse(text if "//" in text else f"http://{text}").host
    except UrlError:
        return ""


def test_registrable_conformance(conformance: Path) -> None:
    """The list's own cases and those derived from it hold."""
    wrong = [
        row for row in rows(conformance, "registrable_domain") if registrable(row["host"] or "") != row["expected"]
    ]

    assert wrong == []


def test_derived_suffix_conformance(conformance: Path) -> None:
    """The public suffixes derived from the list hold."""
    cases = [row for row in rows(conformance, "registrable_domain") if "public_suffix" in row]

    assert [row for row in cases if public_suffix(row["host"]) != row["public_suffix"]] == []


def test_public_suffix_conformance(conformance: Path) -> None:
    """Another implementation's cases for the public suffix hold; no host has none."""
    wrong = [row for row in rows(conformance, "public_suffix") if (public_suffix(row["host"]) or "") != row["expected"]]

    assert wrong == []


def test_assigned_domain_conformance(conformance: Path) -> None:
    """A crawler library's registrable domains hold; where it answers the suffix itself, we answer none."""
    wrong = []
    for row in rows(conformance, "assigned_domain"):
        got = registrable(row["host"], private=row["section"] == "all")
        if (got or (None if row["strict_arg"] else row["host"])) != row["expected"]:
            wrong.append((row, got))

    assert wrong == []


def test_second_level_conformance(conformance: Path) -> None:
    """Wherever another library tells a domain label by a listed ICANN suffix, of a host that is one, so do we."""
    cases = [row for row in rows(conformance, "split_host") if row["expected"]["suffix"] and row["expected"]["domain"]]

    wrong = []
    for row in cases:
        host = host_of_text(row["url"])
        got = second_level(host)
        if host and got != (row["expected"]["domain"].lower(), ""):
            wrong.append((row, host, got))

    assert cases
    assert wrong == []


def test_is_address() -> None:
    """A host whose last label is a number is an address, as the parser holds it; nothing else of letters is."""
    assert is_address("192.0.2.7")
    assert is_address("[::1]")
    assert is_address("1.2.3.4.")
    assert not is_address("1.2.3.4.example")
    assert not is_address("x.\u0661")
