"""The follow policy's validations, the two Endeca lists in scope, and what is told before the first fetch."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies

from purlieu import settings
from purlieu.domain import GENERIC_IN_ORDER, registrable, suffix_list_version, suffix_rule
from purlieu.errors import SettingsError
from purlieu.scope import MODES, Scope, findings
from purlieu.settings import ScopeSettings, Settings, SiteSettings
from purlieu.url import host_of, origin_of, parse


def wrong(site: str, **how: Any) -> list[tuple[str, str, str]]:
    """Return (key, value, remedy) of each mistake of one site with these options."""
    with pytest.raises(SettingsError) as caught:
        settings.of({"seeds": ["http://x.example/"], "site": [{"url": site, **how}]})
    return [(one.key, one.value, one.remedy) for one in caught.value.mistakes]


def at_home(*seeds: str, **how: Any) -> Scope:
    """Return the scope of these seeds under these options, all landed where they are."""
    scope = Scope.of(settings.of({"seeds": list(seeds), "scope": how}))
    return scope.all_landed({site: scope.seed(site) for site in scope.pending})


@pytest.mark.parametrize(
    ("item", "site", "how", "key", "part"),
    [
        ("BJ-14", "http://h.example/abc", {"mode": "same-dir"}, "url", 'write "http://h.example/abc/"'),
        ("BJ-14", "http://h.example/a/b", {"mode": "same-dir"}, "url", 'write "http://h.example/a/b/"'),
        ("BJ-14", "http://h.example/a/b.html", {"mode": "same-dir"}, "url", 'write "http://h.example/a/"'),
        ("AMB-BJ-15", "http://h.example/abc/?q", {"mode": "same-dir"}, "url", 'write "http://h.example/abc/"'),
        ("AMB-BJ-15", "http://h.example/abc/#x", {"mode": "same-dir"}, "url", 'write "http://h.example/abc/"'),
        ("BJ-11", "http://192.0.2.7/", {"mode": "same-domain", "strict": True}, "mode", "is an address"),
        ("BJ-11", "http://[::1]/", {"mode": "same-domain", "strict": True}, "mode", "is an address"),
        ("AMB-BJ-6", "http://com.cn/", {"mode": "same-domain", "strict": True}, "mode", "is a public suffix"),
        ("AMB-BJ-6", "http://intranet/", {"mode": "same-domain", "strict": True}, "mode", "is a name without a dot"),
        ("BJ-18", "http://192.0.2.7/", {"mode": "same-sld"}, "mode", "is an address and has no second-level name"),
        ("BJ-20", "http://localhost/", {"mode": "same-sld"}, "mode", "has no dot"),
        ("BJ-22", "http://baidu/", {"mode": "same-sld"}, "mode", "has no dot"),
        ("AMB-EN-16", "http://h.example/", {"mode": "SAME_HOST"}, "mode", 'write "same-host"'),
        ("AMB-BJ-1", "http://h.example/", {"ignore_ports": True}, "ignore_ports", 'did you mean "ignore_port"'),
    ],
)
def test_validation_errors(item: str, site: str, how: dict[str, Any], key: str, part: str) -> None:
    """What a policy cannot be applied to is a mistake of its key, with the remedy (the item stands in the row)."""
    ((found, _, remedy),) = wrong(site, **how)
    assert (item, found) == (item, f"site[1].{key}")
    assert part in remedy


@pytest.mark.parametrize(
    ("site", "suffixes", "how", "parts"),
    [
        ("http://baidu.com/", ["com", ".com", ".cn"], {}, ["begin it with a dot"]),
        ("http://baidu.com/", [".org", ".cn"], {}, ["ends in none of them"]),
        ("http://baidu.com/", [".com"], {}, ["at least two different suffixes"]),
        ("http://baidu.com/", [".com", ".COM"], {}, ["at least two different suffixes"]),
        ("http://192.0.2.7/", [".com", ".cn"], {}, ["is an address, which has no suffix"]),
        ("http://baidu.com/", [".com", ".cn"], {"mode": "same-sld"}, ["same-sld compares no suffix"]),
        ("http://baidu.com/", [".baidu.com", ".com"], {}, ["nothing would remain in front"]),
        ("http://baidu.com/", ["cn"], {"mode": "same-sld"}, ["dot", "at least two", "same-sld", "none of them"]),
    ],
)
def test_alternative_suffix_errors(site: str, suffixes: list[str], how: dict[str, Any], parts: list[str]) -> None:
    """The five errors of a given list, each with its own message and all in one go (BJ-32, AMB-BJ-10, AMB-BJ-11)."""
    found = wrong(site, alternative_suffixes=suffixes, **how)
    assert {key for key, _, _ in found} == {"site[1].alternative_suffixes"}
    assert len(found) == len(parts)
    assert all(part in remedy for part, (_, _, remedy) in zip(parts, found, strict=True))


@pytest.mark.parametrize(
    ("host", "suffixes"),
    [("baidu.com", [".com", ".cn"]), ("baidu.com.cn", [".com.cn", ".x"]), ("baidu.com.cn", [".cn", ".x"]), ("h", [])],
)
def test_right_alternative_suffixes(host: str, suffixes: list[str]) -> None:
    """A list with one fitting suffix is right, and so is none (BJ-32, BJ-33)."""
    made = settings.of({"seeds": [f"http://{host}/"], "scope": {"alternative_suffixes": suffixes}})
    assert made.scope.alternative_suffixes == tuple(suffixes)


def test_all_mistakes_in_one_go() -> None:
    """The mistakes of every site are told at once, beside those of single values (AMB-BJ-18)."""
    with pytest.raises(SettingsError) as caught:
        settings.of(
            {
                "seeds": ["http://a.example/"],
                "limits": {"max_depth": -1},
                "site": [
                    {"url": "http://a.example/x", "mode": "same-dir"},
                    {"url": "http://1.2.3.4/", "mode": "same-sld"},
                ],
            }
        )
    assert [one.key for one in caught.value.mistakes] == ["limits.max_depth", "site[1].url", "site[2].mode"]


def test_seeds_are_checked_as_the_sites_they_are() -> None:
    """Without sites the options of the scope must suit every seed; each mistake names the seed (R-3.1)."""
    with pytest.raises(SettingsError) as caught:
        settings.of({"seeds": ["http://a.example/x", "http://b.example/y/"], "scope": {"mode": "same-dir"}})
    assert [(one.key, one.value) for one in caught.value.mistakes] == [("seeds", "http://a.example/x")]


def test_benjamin_union() -> None:
    """Sites are a union, in which one accepts whole domains and another one host (BJ-4, BJ-5, BJ-6)."""
    tree = {
        "seeds": ["http://baidu.com/"],
        "site": [
            {"url": "http://baidu.com/", "mode": "same-domain"},
            {"url": "http://abc.example.com/", "mode": "same-host"},
        ],
    }
    scope = Scope.of(settings.of(tree)).landed(0, None)
    verdicts = [scope.judge(f"http://{host}/").accepted for host in ("x.baidu.com", "abc.example.com", "y.example.com")]
    assert verdicts == [True, True, False]


def test_no_policy_is_same_host() -> None:
    """Without a mode a site is its host (AMB-BJ-16, EN-12)."""
    assert (ScopeSettings().mode, SiteSettings().mode) == ("same-host", "same-host")


def test_cost_of_suffixes_is_linear() -> None:
    """A site of n suffixes compares n values and no more (BJ-36)."""
    suffixes = [".com", *(f".x{number}" for number in range(50))]
    (test,) = at_home("http://baidu.com/", alternative_suffixes=suffixes).tests("http://baidu.x7/")
    assert test.accepted
    assert len(test.wanted) == len(suffixes)


LISTS = {"mode": "same-domain", "domains": "lists", "ignore_port": True}


@pytest.mark.parametrize(
    ("seed", "additional", "accepted", "refused"),
    [
        ("http://www.xyz.com/", [], "http://a.b.xyz.com:81/", "http://abc.com/"),
        ("http://www.xyz.co.uk/", ["co.uk"], "https://xyz.co.uk/", "http://abc.co.uk/"),
        ("http://www.xyz.co.uk/", [], "http://abc.co.uk/", "http://xyz.ac.uk/"),
        ("http://www.xyz.co.uk/", ["uk", ".CO.uk"], "http://a.xyz.co.uk/", "http://abc.co.uk/"),
        ("http://www.xyz.ca/", ["ca"], "http://xyz.ca/", "http://abc.ca/"),
        ("http://www.example.co.uk.com/", ["co.uk"], "http://x.uk.com/", "http://x.com/"),
        ("http://192.0.2.7/", [], "http://192.0.2.7:8080/", "http://193.0.2.7/"),
        ("http://localhost/", [], "http://localhost:8080/", "http://other/"),
    ],
)
def test_scope_by_the_two_lists(seed: str, additional: list[str], accepted: str, refused: str) -> None:
    """With the two lists the domain is what their algorithm says (EN-11, EN-15, EN-21 to EN-34, AMB-EN-12, AMB-EN-19)."""
    tree = {"seeds": [seed], "scope": LISTS, "domains": {"additional": additional}}
    scope = Scope.of(settings.of(tree)).landed(0, seed)
    for url, is_in in ((accepted, True), (refused, False)):
        assert scope.judge(url).accepted is is_in
        assert (scope.accepts(parse(url).href, host_of(parse(url).href)) is not None) is is_in


def test_the_message_travels_as_a_note() -> None:
    """The message names the URL as given and the last two labels, only where neither list knew (EN-23, EN-29, AMB-EN-2)."""
    scope = at_home("http://www.xyz.co.uk/", **LISTS)
    assert scope.judge("http://WWW.xyz.co.uk").notes == (
        "Failed to get the domain name for url: http://WWW.xyz.co.uk\nusing co.uk as the default domain name",
    )
    assert scope.judge("http://www.xyz.com/").notes == ()
    assert at_home("http://www.xyz.co.uk/", mode="same-domain").judge("http://www.xyz.co.uk/").notes == ()
    assert at_home("http://www.xyz.co.uk/", domains="lists").judge("http://www.xyz.co.uk/").notes == ()


def told(tree: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return (subject, arguments) of each finding by its code."""
    return {one.code: (one.subject, dict(one.arguments)) for one in findings(settings.of(tree))}


@pytest.mark.parametrize(
    ("seed", "domain", "terms"),
    [
        ("http://www.xyz.co.uk/", "co.uk", "co.uk"),
        ("http://www.xyz.ca/", "xyz.ca", "ca"),
        ("http://foo.github.io/", "github.io", "io"),
        ("http://localhost/", "localhost", "localhost"),
    ],
)
def test_a_fallen_back_domain_is_told_before_the_first_fetch(seed: str, domain: str, terms: str) -> None:
    """The finding names what is used and what to add, and adding it mends it (EN-80, AMB-EN-2)."""
    tree: dict[str, Any] = {"seeds": [seed], "scope": LISTS}
    assert told(tree) == {"domain_not_listed": (seed, {"domain": domain, "terms": terms})}
    assert told({**tree, "domains": {"additional": [terms]}}) == {}


def test_an_edited_generic_list_is_told() -> None:
    """A changed list is a finding, one in another order or case is none (EN-16, EN-82, AMB-EN-14)."""
    seeds = ["http://a.example/"]
    assert "generic_list_edited" in told({"seeds": seeds, "domains": {"generic": ["com", "uk"]}})
    same = [f".{name.upper()}" for name in reversed(GENERIC_IN_ORDER)]
    assert told({"seeds": seeds, "domains": {"generic": same}}) == {}


@pytest.mark.parametrize("host", ["192.0.2.7", "[::1]", "intranet", "com.cn"])
def test_a_host_without_domain_is_told(host: str) -> None:
    """Same-domain on a host that has no domain takes the host and says so (BJ-11, AMB-BJ-6, AMB-BJ-13)."""
    tree = {"seeds": [f"http://{host}/"], "scope": {"mode": "same-domain"}}
    assert told(tree) == {"domain_is_host": (f"http://{host}/", {"host": host})}


def test_a_suffix_with_a_second_level_is_told() -> None:
    """Same-sld on a public suffix uses the fallback and says so (AMB-BJ-7)."""
    tree = {"seeds": ["http://com.cn/"], "scope": {"mode": "same-sld"}}
    assert told(tree) == {"second_level_is_suffix": ("http://com.cn/", {"host": "com.cn", "label": "com"})}


def test_a_site_without_a_seed_is_told() -> None:
    """A site in which no seed lies is a finding; one that a seed of another spelling lies in is none (AMB-BJ-17)."""
    tree: dict[str, Any] = {"seeds": ["http://a.example/x"], "site": [{"url": "https://a.example/"}]}
    assert told(tree) == {}
    tree["site"].append({"url": "http://b.example/"})
    assert told(tree) == {"site_without_seed": ("http://b.example/", {})}


@pytest.mark.parametrize(
    ("how", "expected"),
    [({}, True), ({"www_equivalent": True}, False), ({"mode": "same-domain"}, False), ({"mode": "any"}, False)],
)
def test_look_alikes_are_told(how: dict[str, Any], expected: bool) -> None:
    """Two seeds that differ by www. alone are a finding, unless one site takes both (AMB-EN-17)."""
    tree = {"seeds": ["http://example.com", "https://www.example.com", "http://example.com/2"], "scope": how}
    found = {"hosts_look_alike": ("https://www.example.com/", {"other": "http://example.com/"})}
    assert told(tree) == (found if expected else {})


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ("www.xyz.co.uk", "co.uk"),
        ("foo.bar.kawasaki.jp", "*.kawasaki.jp"),
        ("city.kawasaki.jp", "!city.kawasaki.jp"),
        ("www.ck", "!www.ck"),
        ("a.b.ck", "*.ck"),
        ("x.baidu.xxxx", "*"),
        ("192.0.2.7", ""),
        ("foo.github.io", "github.io"),
    ],
)
def test_the_rule_of_the_suffix_list(host: str, rule: str) -> None:
    """A test names the rule of the list that told a domain: exact, wildcard, exception or implicit (BJ-21)."""
    assert suffix_rule(host) == rule
    (test,) = at_home(f"http://{host}/", mode="same-domain").tests(f"http://{host}/")
    assert test.told_by == rule
    assert suffix_list_version().rpartition(".")[2].startswith("20")


def test_what_told_a_domain_by_the_lists() -> None:
    """A test by the two lists says whether they knew; one that compares hosts names nothing (EN-22, EN-23)."""
    scope = at_home("http://www.xyz.co.uk/", **LISTS)
    assert [scope.tests(url)[0].told_by for url in ("http://a.co.uk/", "http://a.com/")] == ["last two labels", "lists"]
    assert at_home("http://h.example/").tests("http://h.example/")[0].told_by == ""
    assert scope.tests("mailto:x@y") == scope.tests("nothing") == ()


def test_a_waiting_site_tests_for_its_seed() -> None:
    """Before its seed has landed a site's test compares with the seed (R-3.2)."""
    scope = Scope.of(settings.of({"seeds": ["http://h.example/a"]}))
    (test,) = scope.tests("http://h.example/b")
    assert (test.compares, test.wanted, test.accepted) == ("seed", ("http://h.example/a",), False)


def test_redirected_domain() -> None:
    """A seed that lands on another domain moves a same-domain scope there, or not, as set (EN-17, EN-18, EN-81)."""
    for follow, accepted, refused in (
        (True, "http://abc.go.com/", "http://xyz.com/"),
        (False, "http://a.xyz.com/", "http://abc.go.com/"),
    ):
        tree = {"seeds": ["http://xyz.com"], "scope": {**LISTS, "follow_redirected_seed": follow}}
        scope = Scope.of(settings.of(tree)).landed(0, "http://xyz.go.com/")
        assert scope.judge(accepted).accepted
        assert not scope.judge(refused).accepted


options = st.builds(
    SiteSettings,
    url=strategies.hrefs(),
    mode=st.sampled_from(MODES),
    ignore_port=st.booleans(),
    ignore_scheme=st.booleans(),
    aliases=st.lists(strategies.hosts, max_size=2).map(tuple),
    www_equivalent=st.booleans(),
    alternative_suffixes=st.sampled_from([(), (".com", ".co.uk"), (".example.com", ".com", ".org")]),
    domains=st.sampled_from(["psl", "psl-icann", "lists"]),
)


def of_sites(*sites: SiteSettings) -> Scope:
    """Return the scope of these sites, all landed where they are."""
    scope = Scope.of(Settings(sites=sites))
    assert not scope.pending
    return scope


@given(sites=st.lists(options, min_size=1, max_size=4), url=strategies.hrefs())
def test_a_union_admits_exactly_what_its_members_admit(sites: list[SiteSettings], url: str) -> None:
    """The union of sites accepts a URL if one of them alone does, and by exactly those; every way of asking agrees."""
    href = parse(url).href
    scope = of_sites(*sites)
    members = {number for number, site in enumerate(sites) if of_sites(site).judge(url).accepted}

    assert scope.judge(url).sites == scope.accepting(href, host_of(href)) == members
    assert scope.accepts(href, host_of(href)) == min(members, default=None)
    if host_of(href):
        assert scope.holds(origin_of(href)) is scope.judge(f"{origin_of(href)}/", "robots").accepted
    assert {test.site for test in scope.tests(url) if test.accepted} == members


@given(sites=st.lists(options, min_size=1, max_size=4), url=strategies.hrefs(), data=st.data())
def test_own_seed_never_admits_what_any_seed_refuses(sites: list[SiteSettings], url: str, data: st.DataObject) -> None:
    """Judged by a lineage a URL is in by a part of the sites that accept it at all (AMB-EN-4, R-3.1)."""
    scope, href = of_sites(*sites), parse(url).href
    lineage = frozenset(data.draw(st.sets(st.integers(0, len(sites) - 1))))
    own = scope.accepting(href, host_of(href), lineage)

    assert own == scope.accepting(href, host_of(href)) & lineage == scope.judge(url, sites=lineage).sites


@given(site=options, url=strategies.hrefs())
def test_more_equivalents_refuse_nothing(site: SiteSettings, url: str) -> None:
    """Aliases, www equivalence and ignored ports and schemes only ever add URLs to a site."""
    less = replace(site, aliases=(), www_equivalent=False, ignore_port=False, ignore_scheme=False)
    if of_sites(less).judge(url).accepted:
        assert of_sites(replace(less, aliases=site.aliases)).judge(url).accepted
        assert of_sites(replace(less, www_equivalent=True)).judge(url).accepted
        assert of_sites(replace(less, ignore_port=True, ignore_scheme=True)).judge(url).accepted


def test_many_folders_of_one_host() -> None:
    """Many folders of one host are asked for by the beginnings of the path, with the same answer as one by one (BJ-13)."""
    sites = [SiteSettings(url=f"http://h/{'a/' * depth}b{depth}/", mode="same-dir") for depth in range(20)]
    scope = of_sites(*sites)
    for url, expected in (
        ("http://h/a/a/b2/x/y", {2}),
        ("http://h/b0/", {0}),
        ("http://h/b0", set()),
        ("http://h/a/a/", set()),
        (f"http://h/{'a/' * 19}b19/{'c/' * 3000}", {19}),
    ):
        assert scope.accepting(url, "h") == scope.judge(url).sites == expected
        assert scope.accepts(url, "h") == min(expected, default=None)


def test_remembered_origins_are_few() -> None:
    """However many origins links name, what is remembered of them stays bounded, and answers stay right."""
    scope = at_home("http://h.example/")
    for number in range(40_000):
        assert scope.accepts(f"http://u{number}@h.example/", "h.example") == 0
    assert len(scope._known) <= 16_384


def test_landings_together_are_landings_one_by_one() -> None:
    """Several landings at once give the scope that they give one after the other (R-3.2)."""
    scope = Scope.of(settings.of({"seeds": [f"http://h{number}.example/" for number in range(5)]}))
    landings = {0: "http://x.example/", 2: None, 4: "http://github.io/"}
    one_by_one = scope
    for site, href in landings.items():
        one_by_one = one_by_one.landed(site, href)
    together = scope.all_landed(landings)

    assert (together.sites, together.pending) == (one_by_one.sites, one_by_one.pending)
    for host in ("x.example", "h0.example", "h2.example", "h4.example", "github.io", "h1.example"):
        assert together.accepting(f"http://{host}/x", host) == one_by_one.accepting(f"http://{host}/x", host)


def equal_settings(row: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the seed and the options by which a case of another crawler's scope is asked of ours; None: it has none."""
    options, op = row.get("options", {}), row["op"]
    if op == "host_scope":
        return row["page_url"], {"mode": "same-host" if options["ignoreOutsideHost"] else "any"}
    if op == "scope" and options["scope_type"] == "host":
        return options["seed"], {"mode": "same-host"}
    if op in {"allowed_domains", "url_is_from_any_domain"}:
        (domain,) = options.get("allowed_domains") or options["domains"]
        if domain[-1].isdigit():
            return f"http://{domain}/", {"mode": "same-host"}
        if registrable(domain) == domain:
            return f"http://{domain}/", {"mode": "same-domain", "ignore_port": True}
    return None


def test_scope_conformance(conformance: Path) -> None:
    """Cases of other crawlers' scopes that mean a host or a registrable domain have the same verdict here (EN-11, EN-12)."""
    lines = (conformance / "urlfilter" / "urlfilter_cases.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [(row, how) for row in map(json.loads, lines) if (how := equal_settings(row))]
    wrong = [row for row, (seed, how) in asked if at_home(seed, **how).judge(row["url"]).accepted is not row["accept"]]
    assert wrong == []
    assert len(asked) > 20


def test_a_list_of_urls_waits_for_nothing() -> None:
    """In list mode every site counts as landed, and a list too long to be written by hand is not searched for slips."""
    seeds = [f"http://h{number}.example/" for number in range(2000)]
    made = settings.of({"seeds": [*seeds, "http://www.h1.example/"], "scope": {"only_seeds": True}})
    scope = Scope.of(made)
    assert scope.pending == set()
    assert scope.accepts(seeds[7], "h7.example") == 7
    assert findings(made) == ()
