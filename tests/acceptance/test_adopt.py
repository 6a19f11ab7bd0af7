"""What an adopted configuration decides: read back by the settings, asked of the rules that a crawl asks.

Items EN-10 to EN-34, EN-61, EN-81, UF-1 to UF-26, BJ-2 to BJ-35; rules R-3.1, R-3.5, R-3.6.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from purlieu import settings
from purlieu.admission import Admission
from purlieu.adopt import Adopted, benjamin, endeca
from purlieu.candidate import Facts, FoundBy, Purpose
from purlieu.scope import GRANT_SEED
from purlieu.url import host_of, parse

ADDITIONAL = "crawlscope.top-level-domains.additional"
GENERICS = "aero asia biz cat com coop edu gov info int jobs mil mobi museum name net org pro tel travel"


def rules(adopted: Adopted, landings: Mapping[int, str] | None = None) -> Admission:
    """Return the rules of a crawl with these settings, once every seed has landed: where it was, or as said."""
    made = Admission.of(settings.read(adopted.toml))
    landed = {site.index: (landings or {}).get(site.index) for site in made.scope.sites}
    return replace(made, scope=made.scope.all_landed(landed))


def ruling(made: Admission, url: str, *, sites: Sequence[int] | None = None, depth: int = 1) -> str:
    """Return how a link is refused, "" when it is taken; ``sites`` are those that its page descends from."""
    href = made.normaliser.key(parse(url).href)
    lineage = frozenset(range(len(made.scope.sites)) if sites is None else sites)
    return made.judge(href, host_of(href), Facts(depth=depth, sites=lineage), Purpose.PAGE).refused


def taken(made: Admission, urls: str) -> list[bool]:
    """Return which of several URLs, parted by spaces, are taken."""
    return [not ruling(made, url) for url in urls.split()]


def configured(
    folder: Path, seeds: Sequence[str], properties: Mapping[str, str] | None = None, **files: str
) -> Adopted:
    """Return what comes of an Endeca configuration."""
    body = "".join(
        f"<property><name>{name}</name><value>{value}</value></property>" for name, value in (properties or {}).items()
    )
    (folder / "site.xml").write_text(f"<configuration>{body}</configuration>", encoding="utf-8")
    for name, text in files.items():
        (folder / name.replace("__", "-").replace("_", ".")).write_text(text, encoding="utf-8")
    return endeca.read(folder, seeds=seeds, depth=2)


def task(**fields: Any) -> Admission:
    """Return the rules that come of a Benjamin TaskConfig."""
    return rules(benjamin.read(json.dumps(fields), source="task.json"))


def policy(url: str, name: str, **options: Any) -> Admission:
    """Return the rules of a task with one featured URL."""
    return task(entry_points=[url], follow_policy={"policy": name, **options})


# Endeca


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("SAME_HOST", [True, True, True, False, False, False]),
        ("SAME_DOMAIN", [True, True, True, True, True, False]),
        ("ANY", [True, True, True, True, True, True]),
    ],
)
def test_endeca_modes(tmp_path: Path, mode: str, expected: list[bool]) -> None:
    """EN-10, EN-11, EN-12, EN-33, EN-34, AMB-EN-15, AMB-EN-17: host, domain or nothing, whatever the port and scheme."""
    made = rules(configured(tmp_path, ["http://www.xyz.com/"], {"crawlscope.mode": mode}))
    urls = "http://www.xyz.com/a https://WWW.xyz.com/ http://www.xyz.com:8080/ http://xyz.com/ http://a.b.xyz.com/ http://xyz.org/"
    assert taken(made, urls) == expected


@pytest.mark.parametrize(
    ("mode", "follows", "expected"),
    [
        ("SAME_HOST", "true", [False, True, False]),
        ("SAME_HOST", "false", [True, False, False]),
        ("SAME_DOMAIN", "true", [False, True, True]),
        ("SAME_DOMAIN", "false", [True, False, False]),
        ("ANY", "true", [True, True, True]),
        ("ANY", "false", [True, True, True]),
    ],
)
def test_endeca_redirected_seed(tmp_path: Path, mode: str, follows: str, expected: list[bool]) -> None:
    """EN-13, EN-17, EN-18, EN-19, EN-81: links of the landing page are held against xyz.go.com or xyz.com."""
    given = {"crawlscope.mode": mode, "crawlscope.on-redirected-seed": follows}
    made = rules(configured(tmp_path, ["http://xyz.com/"], given), {0: "http://xyz.go.com/"})
    assert taken(made, "http://xyz.com/a http://xyz.go.com/a http://other.go.com/") == expected


def test_endeca_scope_comes_before_the_filter(tmp_path: Path) -> None:
    """EN-20a, EN-20b, EN-20c, UF-3: a + line admits nothing from outside; what is inside needs one."""
    made = rules(configured(tmp_path, ["http://xyz.com/"], crawl__urlfilter_txt="-/private/\n+other\n+^http://xyz\n"))
    urls = {"http://other.com/": "scope", "http://xyz.com/private/other": "filter", "http://xyz.com/a": ""}
    assert {url: ruling(made, url) for url in urls} == urls
    assert ruling(made, "https://xyz.com/a") == "filter"


def test_endeca_links_are_held_against_their_own_seed(tmp_path: Path) -> None:
    """EN-20d, AMB-EN-4: of two seeds, a page of the one may not link into the host of the other; a page of both may."""
    made = rules(configured(tmp_path, ["http://a.com/", "http://b.com/"]))
    found = [ruling(made, "http://b.com/x", sites=sites) for sites in ([0], [1], [0, 1])]
    assert found == ["scope", "", ""]


@pytest.mark.parametrize(
    ("host", "additional", "domain"),
    [
        ("www.xyz.com", "", "xyz.com"),
        ("a.b.c.xyz.org", "", "xyz.org"),
        ("www.xyz.co.uk", "", "co.uk"),
        ("www.xyz.co.uk", "co.uk", "xyz.co.uk"),
        ("www.xyz.co.uk", "uk", "co.uk"),
        ("www.xyz.co.uk", "uk co.uk", "xyz.co.uk"),
        ("xyz.uk", "co.uk", "xyz.uk"),
        ("www.xyz.ca", "", "xyz.ca"),
        ("www.xyz.ca", "ca", "xyz.ca"),
        ("foo.github.io", "", "github.io"),
        ("www.example.co.uk.com", "co.uk", "uk.com"),
    ],
)
def test_endeca_domain_matrix(tmp_path: Path, host: str, additional: str, domain: str) -> None:
    """EN-21 to EN-28: everything under the derived domain is in scope, and nothing beside it."""
    given = {"crawlscope.mode": "SAME_DOMAIN", ADDITIONAL: additional, "crawlscope.top-level-domains.generic": GENERICS}
    made = rules(configured(tmp_path, [f"http://{host}/"], given))
    parent = domain.partition(".")[2]
    urls = f"http://{domain}/ http://x.y.{domain}/ http://x{domain}/ http://x.other.{parent}/"
    assert taken(made, urls) == [True, True, False, False]


@pytest.mark.parametrize("host", ["localhost", "192.0.2.7", "[2001:db8::1]"])
def test_endeca_hosts_without_a_domain(tmp_path: Path, host: str) -> None:
    """EN-31, EN-32, AMB-EN-12: an address and a bare name are their own domain."""
    made = rules(configured(tmp_path, [f"http://{host}/"], {"crawlscope.mode": "SAME_DOMAIN"}))
    assert taken(made, f"http://{host}:81/x http://198.51.100.7/ http://a.localhost.example/") == [True, False, False]


def test_endeca_order_of_rules(tmp_path: Path) -> None:
    """UF-2, UF-4, UF-5, UF-9: the first rule that matches decides, and case counts."""
    text = "# x\n+^http://h\\.com/\n-^http://h\\.com/x/\n"
    made = rules(configured(tmp_path, ["http://h.com/"], crawl__urlfilter_txt=text))
    assert taken(made, "http://h.com/x/1 http://h.com/") == [True, True]
    made = rules(configured(tmp_path, ["http://h.com/"], crawl__urlfilter_txt="-\\.PDF$\n+."))
    assert taken(made, "http://h.com/a.PDF http://h.com/a.pdf") == [False, True]


def test_endeca_empty_filter_refuses_everything(tmp_path: Path) -> None:
    """UF-3: without any rule no rule matches."""
    made = rules(configured(tmp_path, ["http://h.com/"], crawl__urlfilter_txt="# none\n"))
    assert ruling(made, "http://h.com/a") == "filter"


def test_endeca_loops(tmp_path: Path) -> None:
    """UF-10: the template's own loop breaker breaks loops; without it nothing does."""
    url = "http://h.com/a/b/a/b/a/b/"
    with_it = configured(tmp_path, ["http://h.com/"], crawl__urlfilter_txt="-.*(/.+?)/.*?\\1/.*?\\1/\n+.")
    assert ruling(rules(with_it), url) == "filter"
    without = configured(tmp_path, ["http://h.com/"], crawl__urlfilter_txt="+.")
    assert ruling(rules(without), url) == ""


@pytest.mark.parametrize(("to_seeds", "refused"), [("false", ""), ("true", "filter")])
def test_endeca_seeds_and_the_filter(tmp_path: Path, to_seeds: str, refused: str) -> None:
    """UF-11: a seed that a rule refuses is crawled all the same, unless seeds are filtered."""
    given = {"urlfilter.filter-seeds": to_seeds}
    made = rules(configured(tmp_path, ["http://h.com/"], given, crawl__urlfilter_txt="-h\n+."))
    facts = Facts(depth=0, found_by=FoundBy.SEED, grant=GRANT_SEED, sites=frozenset({0}))
    assert made.judge("http://h.com/", "h.com", facts, Purpose.PAGE).refused == refused


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("HTTP://XYZ.com:80/aa/bb/../../cc/../foo.html#x", "http://xyz.com/foo.html"),
        ("https://xyz.com//a///b?u=//c", "https://xyz.com/a/b?u=//c"),
        ("http://xyz.com", "http://xyz.com/"),
        ("http://xyz.com/Price List.html", "http://xyz.com/Price%20List.html"),
        ("http://xyz.com/a;jsessionid=1F?b=2", "http://xyz.com/a?b=2"),
        ("http://xyz.com/a?b=2&PHPSESSID=xx", "http://xyz.com/a?b=2"),
        ("http://xyz.com/a?&b=1&&&c=2&", "http://xyz.com/a?b=1&c=2"),
    ],
)
def test_endeca_normalisers(tmp_path: Path, url: str, key: str) -> None:
    """UF-21 to UF-26, AMB-EN-8, R-3.5: the basic normaliser, then the rules of the file in their order."""
    sample = [
        ("(?i)(;?\\b_?(l|j|bv_)?(sid|phpsessid|sessionid)=.*?)(\\?|&amp;|#|$)", "$4"),
        (" ", "%20"),
        ("\\?&amp;", "?"),
        ("&amp;{2,}", "&amp;"),
        ("[?&amp;.]$", ""),
    ]
    text = "".join(f"<regex><pattern>{one}</pattern><substitution>{to}</substitution></regex>" for one, to in sample)
    text = f"<regex-normalize>{text}</regex-normalize>"
    made = rules(configured(tmp_path, ["http://xyz.com/"], regex__normalize_xml=text))
    assert made.normaliser.key(parse(url).href) == key


def test_endeca_depth(tmp_path: Path) -> None:
    """EN-61: -d 2 crawls levels 0 to 2."""
    made = rules(configured(tmp_path, ["http://h.com/"]))
    assert [ruling(made, "http://h.com/a", depth=depth) for depth in (1, 2, 3)] == ["", "", "depth"]


def test_endeca_filters_of_nutch(tmp_path: Path, conformance: Path) -> None:
    """UF-1 to UF-10: rule files of Nutch's own tests decide as there; other schemes than http(s) are never asked for."""
    sets = json.loads((conformance / "urlfilter" / "rulesets.json").read_text(encoding="utf-8"))
    lines = (conformance / "urlfilter" / "urlfilter_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case.get("ruleset", "").startswith("nutch-regex")]
    adopted: dict[str, Admission] = {}
    asked, wrong = 0, []
    for case in cases:
        ruleset = sets[case["ruleset"]]["rules"]
        if any(set(rule) != {"sign", "regex"} for rule in ruleset) or not case["url"].startswith(
            ("http://", "https://")
        ):
            continue
        if case["ruleset"] not in adopted:
            text = "".join(f"{rule['sign']}{rule['regex']}\n" for rule in ruleset)
            made = configured(tmp_path, ["http://h.com/"], {"crawlscope.mode": "ANY"}, crawl__urlfilter_txt=text)
            adopted[case["ruleset"]] = rules(made)
        asked += 1
        href = parse(case["url"]).href
        ruled = adopted[case["ruleset"]].judge(href, host_of(href), Facts(depth=1, sites=frozenset({0})), Purpose.PAGE)
        if ruled.refused != ("" if case["accept"] else "filter"):
            wrong.append((case["ruleset"], case["url"]))
    assert asked > 50
    assert wrong == []


# Benjamin


@pytest.mark.parametrize(
    ("url", "name", "urls", "expected"),
    [
        (
            "http://x.baidu.com/",
            "SameTLD",
            "http://baidu.com/ http://x.y.z.baidu.com/ https://y.baidu.com/ http://baidu.com.cn/ http://x.baidu.com:81/",
            [True, True, True, False, False],
        ),
        (
            "http://x.baidu.com/",
            "SameDomain",
            "http://x.baidu.com/a https://x.baidu.com/ http://baidu.com/ http://y.baidu.com/ http://y.x.baidu.com/",
            [True, True, False, False, False],
        ),
        (
            "http://baidu.com/abc/",
            "SameDir",
            "http://baidu.com/abc/d http://baidu.com/abc/d/e http://baidu.com/abc http://baidu.com/abcd/x http://x.baidu.com/abc/",
            [True, True, False, False, False],
        ),
        ("http://baidu.com/abc/", "SameDir", "http://baidu.com/abc/../x http://baidu.com/abc/?/../x", [False, True]),
        (
            "http://x.baidu.com/",
            "SameSLD",
            "http://baidu.com/ http://x.y.z.baidu.com.cn/ http://baidu.abc.com/ http://192.0.2.7/ http://baidu/",
            [True, True, False, False, False],
        ),
        (
            "http://x.baidu.xxxx/",
            "SameSLD",
            "http://baidu.xxxx/ http://baidu.yyyy/ http://baidu.com/",
            [True, False, False],
        ),
        ("http://foo.github.io/", "SameTLD", "http://bar.github.io/ http://foo.github.io/", [True, True]),
        ("http://192.0.2.7/", "SameTLD", "http://192.0.2.7/a http://192.0.2.8/", [True, False]),
        ("http://intranet/", "SameTLD", "http://intranet/a http://other/", [True, False]),
    ],
)
def test_benjamin_policies(url: str, name: str, urls: str, expected: list[bool]) -> None:
    """BJ-10 to BJ-19, BJ-30, AMB-BJ-2, AMB-BJ-3, AMB-BJ-5, AMB-BJ-6, AMB-BJ-8: each policy on both sides of its bounds."""
    assert taken(policy(url, name), urls) == expected


@pytest.mark.parametrize("name", ["SameTLD", "SameDomain", "SameSLD", "SameDir"])
def test_benjamin_ports(name: str) -> None:
    """BJ-30: the port counts in every policy, unless it is ignored."""
    found = [
        taken(policy("http://baidu.com/", name, ignore_port=ignored), "http://baidu.com:8080/")
        for ignored in (False, True)
    ]
    assert found == [[False], [True]]


@pytest.mark.parametrize(
    ("url", "name", "suffixes", "urls", "expected"),
    [
        (
            "http://baidu.com/",
            "SameDomain",
            [".com", ".com.cn"],
            "http://baidu.com.cn/ http://baidu.cn/",
            [True, False],
        ),
        (
            "http://baidu.com.cn/",
            "SameDomain",
            [".com", ".com.cn", ".cn"],
            "http://baidu.com/ http://baidu.com.cn/ http://baidu.cn/ http://baidu.com.com/ http://baidu.com.com.cn/",
            [True, True, True, False, False],
        ),
        (
            "http://baidu.com.cn/",
            "SameTLD",
            [".com", ".cn"],
            "http://x.com.com/ http://x.baidu.com.cn/ http://baidu.com/",
            [True, True, False],
        ),
    ],
)
def test_benjamin_suffixes(url: str, name: str, suffixes: list[str], urls: str, expected: list[bool]) -> None:
    """BJ-31, BJ-34, BJ-35, AMB-BJ-9: the longest fitting suffix is exchanged, and TLD+1 computed for each equivalent."""
    assert taken(policy(url, name, alternative_domain_suffix=suffixes), urls) == expected


def test_benjamin_sites_are_united() -> None:
    """BJ-4, BJ-5: a URL is taken that any of the sites takes."""
    sites = [{"url": "baidu.com", "policy": "SameTLD"}, {"url": "abc.example.com", "policy": "SameDomain"}]
    made = task(entry_points=["http://start.example/"], sites=sites)
    urls = "http://x.baidu.com/ http://abc.example.com/ http://y.example.com/ http://start.example/a"
    assert taken(made, urls) == [True, True, False, True]


def test_benjamin_entry_points_do_not_widen_the_scope() -> None:
    """BJ-2, BJ-3, AMB-BJ-12: one outside the policy is fetched by its grant, and its neighbours are not."""
    made = task(entry_points=["http://in.example/", "http://out.test/"], follow_policy={"policy": "SameDomain"})
    facts = Facts(depth=0, found_by=FoundBy.SEED, grant=GRANT_SEED)
    assert made.judge("http://out.test/", "out.test", facts, Purpose.PAGE).refused == ""
    assert taken(made, "http://out.test/a http://in.example/a") == [False, True]


def test_benjamin_redirects_do_not_move_the_scope() -> None:
    """R-3.6: the site stays measured by its featured URL."""
    adopted = benjamin.read('{"entry_points": ["http://in.example/"]}', source="task.json")
    made = rules(adopted, {0: "http://moved.example/"})
    assert taken(made, "http://moved.example/a http://in.example/a") == [False, True]
