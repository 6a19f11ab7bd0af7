"""Hostile spellings of addresses against what an owner means: ``explain`` and ``Scope`` say the same, and the truth.

The last column was worked out by hand from the URL Standard, the public suffix list and the items named.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from purlieu import settings
from purlieu.report import explain
from purlieu.scope import Scope

Cases = tuple[tuple[str, bool], ...]
TRIALS: Final[tuple[tuple[str, str, str, dict[str, Any], Cases], ...]] = (
    (
        "same-host: dots, ports, userinfo, backslashes, full width, soft hyphen, look-alikes (BJ-12, BJ-30, AMB-BJ-3, AMB-BJ-14)",
        "http://www.example.com/a/",
        "same-host",
        {},
        (
            ("http://WWW.EXAMPLE.COM/x", True),
            ("http://www.example.com./x", True),
            ("http://www.example.com:80/", True),
            ("https://www.example.com:443/", True),
            ("http://www.example.com:8080/", False),
            ("http://www.example.com:443/", False),
            ("http://www.example.com@evil.net/", False),
            ("http://evil.net@www.example.com/", True),
            ("http://www.example.com%2eevil.net/", False),
            ("http://www%2eexample%2ecom/", True),
            ("http://www.example.com%00.evil.net/", False),
            ("http://www.example.com\\@evil.net/", True),
            ("http://www.example.com\\.evil.net/", True),
            ("http:www.example.com/", True),
            ("http:/\\www.example.com/", True),
            ("http://ｗｗｗ．example。com/", True),
            ("http://www.exam\xadple.com/", True),
            ("http://www.example.com#@evil.net/", True),
            ("http://www.example.com?@evil.net/", True),
            ("  http://www.example.com/ \n", True),
            ("ht\ntp://www.exam\tple.com/", True),
            ("//www.example.com/", False),
            ("http://www.example.com.evil.net/", False),
            ("http://notwww.example.com/", False),
            ("ftp://www.example.com/", False),
            ("javascript:alert(1)//http://www.example.com/", False),
            ("http://www.еxample.com/", False),
            ("http://www.example.com:0/", False),
            ("http://www.example.com:/", True),
            ("http://www.example.com:65536/", False),
            ("http://[::1]/", False),
        ),
    ),
    (
        "IPv4 in all its spellings (EN-31, AMB-EN-12)",
        "http://127.0.0.1/",
        "same-host",
        {},
        (
            ("http://2130706433/", True),
            ("http://0x7f.1/", True),
            ("http://0177.0.0.1/", True),
            ("http://127.1/", True),
            ("http://127.0.0.1./", True),
            ("http://127.0.0.2/", False),
            ("http://[::ffff:127.0.0.1]/", False),
            ("http://127.0.0.1.nip.io/", False),
            ("http://０x7f.1/", True),
            ("http://127.0.0.256/", False),
        ),
    ),
    (
        "IPv6 in all its spellings (AMB-EN-12)",
        "http://[::1]/",
        "same-host",
        {},
        (
            ("http://[0:0:0:0:0:0:0:1]/", True),
            ("http://[::1]:80/", True),
            ("http://[::2]/", False),
            ("http://[::1%25eth0]/", False),
        ),
    ),
    (
        "addresses have no domain (EN-31, BJ-11)",
        "http://127.0.0.1/",
        "same-domain",
        {},
        (
            ("http://127.0.0.2/", False),
            ("http://0.1/", False),
            ("http://2130706433/", True),
        ),
    ),
    (
        "an exception of the suffix list (BJ-21)",
        "http://a.city.kawasaki.jp/",
        "same-domain",
        {},
        (
            ("http://city.kawasaki.jp/", True),
            ("http://b.city.kawasaki.jp/", True),
            ("http://kawasaki.jp/", False),
            ("http://a.other.kawasaki.jp/", False),
        ),
    ),
    (
        "a wildcard of the suffix list (BJ-21)",
        "http://foo.bar.kawasaki.jp/",
        "same-domain",
        {},
        (
            ("http://foo.bar.kawasaki.jp/", True),
            ("http://x.foo.bar.kawasaki.jp/", True),
            ("http://baz.bar.kawasaki.jp/", False),
            ("http://bar.kawasaki.jp/", False),
        ),
    ),
    (
        "an exception under a wildcard (BJ-21)",
        "http://www.ck/",
        "same-domain",
        {},
        (
            ("http://x.www.ck/", True),
            ("http://a.b.ck/", False),
            ("http://b.ck/", False),
        ),
    ),
    (
        "private suffixes (AMB-BJ-2)",
        "http://foo.github.io/",
        "same-domain",
        {},
        (
            ("http://x.foo.github.io/", True),
            ("http://bar.github.io/", False),
            ("http://github.io/", False),
        ),
    ),
    (
        "ICANN suffixes alone (AMB-BJ-2)",
        "http://foo.github.io/",
        "same-domain",
        {"domains": "psl-icann"},
        (
            ("http://bar.github.io/", True),
            ("http://github.io/", True),
        ),
    ),
    (
        "punycode below a domain (AMB-BJ-14)",
        "http://www.xn--bcher-kva.example.com/",
        "same-domain",
        {},
        (("http://bücher.example.com/", True),),
    ),
    (
        "IDN (AMB-BJ-14)",
        "http://bücher.de/",
        "same-domain",
        {},
        (
            ("http://xn--bcher-kva.de/", True),
            ("http://www.BÜCHER.de/", True),
            ("http://bucher.de/", False),
            ("http://faß.de/", False),
        ),
    ),
    (
        "IDN under an unlisted TLD (AMB-BJ-14)",
        "http://例え.テスト/",
        "same-host",
        {},
        (("http://xn--r8jz45g.xn--zckzah/", True),),
    ),
    (
        "folders: dot segments and what looks like them (BJ-13, BJ-15, AMB-BJ-5)",
        "http://example.com/abc/",
        "same-dir",
        {},
        (
            ("http://example.com/abc/../x", False),
            ("http://example.com/abc/%2e%2e/x", False),
            ("http://example.com/abc/%2E./x", False),
            ("http://example.com/x/../abc/y", True),
            ("http://example.com/%61bc/y", False),
            ("http://example.com/abc", False),
            ("http://example.com/abcd/", False),
            ("http://example.com/abc/?q=/../", True),
            ("http://example.com/abc\\def", True),
            ("http://example.com//abc/x", False),
            ("http://example.com/ABC/x", False),
            ("http://example.com/abc/..%2fx", True),
            ("http://example.com/abc/..;/x", True),
        ),
    ),
    (
        "second-level names (BJ-16, BJ-20, AMB-BJ-8)",
        "http://x.baidu.com/",
        "same-sld",
        {},
        (
            ("http://x.y.z.baidu.com.cn/", True),
            ("http://baidu.abc.com/", False),
            ("http://baidu/", False),
            ("http://baidu.xxxx/", False),
            ("http://baidu.co.uk/", True),
            ("http://xbaidu.com/", False),
            ("http://1.2.3.4/", False),
            ("http://.baidu.com/", False),
        ),
    ),
    (
        "suffixes and the registrable domain (BJ-35)",
        "http://baidu.com.cn/",
        "same-domain",
        {"alternative_suffixes": [".com", ".cn"]},
        (
            ("http://x.com.com/", True),
            ("http://baidu.com/", False),
            ("http://baidu.com.com/", True),
            ("http://x.baidu.com.cn/", True),
        ),
    ),
    (
        "suffixes and hosts (BJ-34)",
        "http://baidu.com.cn/",
        "same-host",
        {"alternative_suffixes": [".com", ".com.cn", ".cn"]},
        (
            ("http://baidu.com/", True),
            ("http://baidu.cn/", True),
            ("http://baidu.com.com/", False),
            ("http://baidu.com.com.cn/", False),
        ),
    ),
    (
        "scheme compared (AMB-BJ-3)",
        "https://example.com/",
        "same-host",
        {"ignore_scheme": False},
        (
            ("http://example.com/", False),
            ("https://example.com/", True),
        ),
    ),
    (
        "www (AMB-EN-17)",
        "https://example.com/",
        "same-host",
        {"www_equivalent": True},
        (
            ("https://www.example.com/", True),
            ("https://www.www.example.com/", False),
        ),
    ),
)


@pytest.mark.parametrize(("seed", "mode", "how", "cases"), [trial[1:] for trial in TRIALS], ids=[t[0] for t in TRIALS])
def test_hostile_spellings(seed: str, mode: str, how: dict[str, Any], cases: Cases) -> None:
    """An address is in exactly where the page it means is, however it is spelt; the items are in the trial's name."""
    made = settings.of({"seeds": [seed], "scope": {"mode": mode, **how}})
    scope = Scope.of(made)
    scope = scope.all_landed(dict.fromkeys(scope.pending))
    for url, accepted in cases:
        told = explain.by_settings(made, url)
        assert told.accepted is accepted, (url, told.judgement)
        assert scope.judge(url).accepted is accepted or told.rule == "seed", url
        assert told.reason
