"""Addresses: which class each has, and which classes a run may connect to (section 5 of the rules)."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.fetch.address import CLASSES, AddressGuard, classify, literal

CASES = [
    ("93.184.216.34", "public"),
    ("8.8.8.8", "public"),
    ("192.0.0.9", "public"),
    ("172.15.255.255", "public"),
    ("172.32.0.0", "public"),
    ("100.63.255.255", "public"),
    ("100.128.0.0", "public"),
    ("223.255.255.255", "public"),
    ("10.0.0.0", "private"),
    ("10.255.255.255", "private"),
    ("172.16.0.1", "private"),
    ("172.31.255.255", "private"),
    ("192.168.1.1", "private"),
    ("127.0.0.1", "loopback"),
    ("127.255.255.254", "loopback"),
    ("169.254.0.1", "link-local"),
    ("169.254.169.254", "metadata"),
    ("169.254.170.2", "metadata"),
    ("100.100.100.200", "metadata"),
    ("168.63.129.16", "metadata"),
    ("100.64.0.1", "cgnat"),
    ("100.127.255.255", "cgnat"),
    ("0.0.0.0", "special"),
    ("0.1.2.3", "special"),
    ("192.0.0.1", "special"),
    ("192.0.2.7", "special"),
    ("198.18.0.1", "special"),
    ("198.51.100.9", "special"),
    ("203.0.113.9", "special"),
    ("224.0.0.1", "special"),
    ("240.0.0.1", "special"),
    ("255.255.255.255", "special"),
    ("2606:2800:220:1:248:1893:25c8:1946", "public"),
    ("2a00:1450::1", "public"),
    ("::1", "loopback"),
    ("::", "special"),
    ("fe80::1", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("febf::1", "link-local"),
    ("fec0::1", "special"),
    ("fc00::1", "private"),
    ("fdff::1", "private"),
    ("fd00:ec2::254", "metadata"),
    ("ff02::1", "special"),
    ("2001:db8::1", "special"),
    ("3fff::1", "special"),
    ("100::1", "special"),
    ("4000::1", "special"),
    ("::ffff:127.0.0.1", "loopback"),
    ("::ffff:10.1.2.3", "private"),
    ("::ffff:169.254.169.254", "metadata"),
    ("::ffff:8.8.8.8", "public"),
    ("::ffff:0:127.0.0.1", "loopback"),
    ("::127.0.0.1", "loopback"),
    ("::8.8.8.8", "public"),
    ("64:ff9b::7f00:1", "special"),
    ("64:ff9b::808:808", "public"),
    ("64:ff9b::a9fe:a9fe", "metadata"),
    ("64:ff9b:1::1", "special"),
    ("64:ff9b:1::808:808", "private"),
    ("2002:7f00:1::", "special"),
    ("2002:a00:1::1", "special"),
    ("2002:808:808::1", "public"),
    ("2001:0:808:808::80ff:fffe", "loopback"),
    ("2001:0:808:808::f7f7:f7f7", "public"),
    ("2001:0:a00:1::f7f7:f7f7", "private"),
    ("2001:20::1", "special"),
    ("", "special"),
    ("localhost", "special"),
    ("127.1", "special"),
    ("1.2.3.4\0", "special"),
    ("1.2.3.4.5", "special"),
]


@pytest.mark.parametrize(("address", "kind"), CASES)
def test_class(address: str, kind: str) -> None:
    """R-5.1: every special block has its class, and an address inside an address decides for its carrier."""
    assert kind == classify(address)


@given(st.ip_addresses())
def test_agrees_with_the_standard_library(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    """R-5.1: what the standard library calls not global is never public here, unless an inner address decides."""
    kind = classify(str(address))
    assert kind in CLASSES
    inner = isinstance(address, ipaddress.IPv6Address) and int(address) >> 96 in {0, 0xFFFF0000, 0x64FF9B << 72}
    if not address.is_global and not inner and not getattr(address, "ipv4_mapped", None):
        assert kind != "public" or int(address) >> 112 == 0x2002


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    """Nothing the web sends may raise: a text that is no address is special."""
    assert classify(text) in CLASSES


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("example.org", None),
        ("127.0.0.1.example.org", None),
        ("", None),
        ("a\0b", None),
    ],
)
def test_literal(host: str, address: str | None) -> None:
    """R-5.2: a literal address in a URL is known as one, so that it is checked behind a proxy too."""
    assert address == literal(host)


PUBLIC, PRIVATE, LOOPBACK, LINK, METADATA = "8.8.8.8", "10.0.0.1", "127.0.0.1", "169.254.1.1", "169.254.169.254"


def admits(guard: AddressGuard, address: str, *, in_scope: bool = True) -> bool:
    """Ask as any page other than an entry point does."""
    return guard.admit(address, "another.example", opens=False, in_scope=in_scope)


def test_only_public_is_open_at_first() -> None:
    """R-5.1: without an entry point or a setting only public addresses are open."""
    guard = AddressGuard()
    assert [admits(guard, address) for address in (PUBLIC, PRIVATE, LOOPBACK, LINK, METADATA)] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_an_entry_point_opens_its_class_in_scope() -> None:
    """R-5.1: a seed on the intranet opens that class for every host in scope, and for none outside."""
    guard = AddressGuard()
    assert guard.admit(PRIVATE, "seed.example", opens=True, in_scope=True)
    assert admits(guard, "192.168.7.7")
    assert admits(guard, "fd00::7")
    assert not admits(guard, "192.168.7.7", in_scope=False)
    assert not admits(guard, LOOPBACK)


@pytest.mark.parametrize("address", [LINK, METADATA, "100.64.0.1", "0.0.0.0"])
def test_an_entry_point_never_opens_the_dangerous_classes(address: str) -> None:
    """R-5.1: link-local, metadata, shared and special addresses take an owner's setting."""
    guard = AddressGuard()
    assert not guard.admit(address, "seed.example", opens=True, in_scope=True)
    assert not admits(guard, address)


def test_the_class_is_pinned_at_first_contact() -> None:
    """R-5.1: a public seed whose name later leads inside (DNS rebinding) opens nothing."""
    guard = AddressGuard()
    assert guard.admit(PUBLIC, "seed.example", opens=True, in_scope=True)
    assert not guard.admit(LOOPBACK, "seed.example", opens=True, in_scope=True)
    assert not admits(guard, LOOPBACK)


def test_an_entry_point_out_of_scope_opens_nothing() -> None:
    """R-5.1: only hosts in scope may open a class."""
    guard = AddressGuard()
    assert not guard.admit(LOOPBACK, "seed.example", opens=True, in_scope=False)
    assert not admits(guard, LOOPBACK)


def test_the_owner_opens_any_class_in_scope_only() -> None:
    """R-5.1: ``fetch.allow_addresses`` opens a class for hosts in scope."""
    guard = AddressGuard(("metadata", "link-local"))
    assert admits(guard, METADATA)
    assert admits(guard, LINK)
    assert not admits(guard, METADATA, in_scope=False)
    assert not admits(guard, PRIVATE)


def test_a_closed_guard_opens_nothing() -> None:
    """With ``public_only`` neither a seed nor an owner's class opens anything but public addresses (R-5.1)."""
    guard = AddressGuard(("private", "loopback", "metadata"), public_only=True)
    for address in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "fc00::1", "100.64.0.1"):
        assert not guard.admit(address, "a.test", opens=True, in_scope=True)
    assert guard.admit("93.184.216.34", "a.test", opens=False, in_scope=True)
