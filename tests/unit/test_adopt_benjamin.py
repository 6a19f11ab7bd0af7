"""Benjamin TaskConfigs as settings: entry points, follow policy, extra sites, limits, and everything that is refused.

Items BJ-1 to BJ-43, AMB-BJ-1 to AMB-BJ-18; rule R-3.6.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.adopt import Adopted, benjamin
from purlieu.errors import SettingsError
from purlieu.settings.secret import MASK

CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "adopt" / "benjamin"


def adopt(strict: bool = False, **fields: Any) -> Adopted:
    """Return what comes of a TaskConfig with these fields."""
    return benjamin.read(json.dumps(fields), source="task.json", strict=strict)


def tree(adopted: Adopted) -> dict[str, Any]:
    """Return what the written file says."""
    return tomllib.loads(adopted.toml)


def featured(url: str, policy: str = "SameDomain", **options: Any) -> dict[str, Any]:
    """Return the one site that a featured URL and its policy make."""
    (site,) = tree(adopt(entry_points=[url], follow_policy={"policy": policy, **options}))["site"]
    made: dict[str, Any] = site
    return made


def mistakes(text: str = "", *, strict: bool = False, **fields: Any) -> list[tuple[str, str, str]]:
    """Return (key, value, remedy) of everything that is refused."""
    with pytest.raises(SettingsError) as caught:
        benjamin.read(text or json.dumps(fields), source="task.json", strict=strict)
    assert {one.file for one in caught.value.mistakes} == {"task.json"}
    return [(one.key, one.value, one.remedy) for one in caught.value.mistakes]


def refused(url: str, policy: Any = "SameDomain", *, strict: bool = False, **options: Any) -> list[tuple[str, str]]:
    """Return (key, remedy) of everything that is refused of a featured URL and its policy."""
    found = mistakes(strict=strict, entry_points=[url], follow_policy={"policy": policy, **options})
    return [(key.removeprefix("follow_policy."), remedy) for key, _, remedy in found]


# 3.1 Model


def test_the_featured_url_is_named_or_the_first_entry_point() -> None:
    """BJ-1: featured_entry_point names it; without it, it is the first of entry_points."""
    entries = ["http://a.example/", "http://b.example/"]
    assert [site["url"] for site in tree(adopt(entry_points=entries))["site"]] == ["http://a.example/"]
    named = adopt(entry_points=entries, featured_entry_point="http://c.example/")
    assert [site["url"] for site in tree(named)["site"]] == ["http://c.example/"]


def test_entry_points_are_seeds_and_add_no_site() -> None:
    """BJ-2, AMB-BJ-12, AMB-BJ-17: all entry points are fetched, none of them widens the scope, and nothing else is a seed."""
    entries = ["http://a.example/", "http://outside.test/x", "http://a.example/"]
    made = tree(
        adopt(entry_points=entries, featured_entry_point="http://c.example/", sites=[{"url": "http://d.example/"}])
    )
    assert made["seeds"] == ["http://a.example/", "http://outside.test/x"]
    assert [site["url"] for site in made["site"]] == ["http://c.example/", "http://d.example/"]


def test_sites_are_united_with_the_featured_one() -> None:
    """BJ-3, BJ-4, BJ-5: each site has a table of its own, with its own policy and options."""
    sites = [
        {"url": "baidu.com", "policy": "SameTLD"},
        {"url": "http://abc.example.com/", "policy": "SameDomain", "ignore_port": True},
    ]
    made = tree(adopt(entry_points=["http://x.example/a/"], follow_policy={"policy": "SameDir"}, sites=sites))["site"]
    assert [(site["url"], site["mode"], site["ignore_port"]) for site in made] == [
        ("http://x.example/a/", "same-dir", False),
        ("http://baidu.com/", "same-domain", False),
        ("http://abc.example.com/", "same-host", True),
    ]


def test_redirects_of_seeds_do_not_move_a_site() -> None:
    """R-3.6: the policy is measured by the URL that was written, wherever it redirects to; AMB-BJ-3: schemes are ignored."""
    site = featured("http://x.example/")
    assert site["follow_redirected_seed"] is False
    assert site.get("ignore_scheme", True) is True


def test_the_same_site_twice_is_written_once() -> None:
    """BJ-6: a site that says again what another says changes nothing."""
    made = adopt(entry_points=["http://a.example/"], sites=[{"url": "a.example", "policy": "SameDomain"}])
    assert len(tree(made)["site"]) == 1
    assert ("sites[1].url", "http://a.example/", "site") in made.carried


def test_one_url_may_have_several_policies() -> None:
    """BJ-4: the union holds for sites of one URL too."""
    sites = [{"url": "http://a.example/", "policy": policy} for policy in ("SameTLD", "SameSLD", "SameDir")]
    made = tree(adopt(entry_points=["http://a.example/"], sites=sites))["site"]
    assert [site["mode"] for site in made] == ["same-host", "same-domain", "same-sld", "same-dir"]
    assert {site["url"] for site in made} == {"http://a.example/"}


# 3.2 Policies


@pytest.mark.parametrize(
    ("policy", "mode"),
    [("SameTLD", "same-domain"), ("SameDomain", "same-host"), ("SameDir", "same-dir"), ("SameSLD", "same-sld")],
)
def test_policies(policy: str, mode: str) -> None:
    """BJ-10, BJ-12, BJ-13, BJ-16: the four policies and our words for them."""
    assert featured("http://x.baidu.com/abc/", policy)["mode"] == mode


def test_without_a_policy_it_is_same_domain() -> None:
    """AMB-BJ-16: no policy, and no follow_policy at all."""
    assert [site["mode"] for site in tree(adopt(entry_points=["http://a.b.example/"]))["site"]] == ["same-host"]
    assert tree(adopt(entry_points=["http://a.b.example/"], follow_policy={}))["site"][0]["mode"] == "same-host"


def test_domains_are_told_by_the_icann_list() -> None:
    """BJ-17, AMB-BJ-2, R-3.6: SameTLD leaves the private suffixes out; SameSLD does so in any case."""
    assert featured("http://foo.github.io/", "SameTLD")["domains"] == "psl-icann"


@pytest.mark.parametrize("host", ["192.0.2.7", "[2001:db8::1]", "intranet", "com.cn", "0x7f.1"])
def test_same_tld_without_a_domain_is_same_domain(host: str) -> None:
    """BJ-11, AMB-BJ-6, AMB-BJ-13: an address, a bare name, a public suffix: SameDomain with a warning, strictly an error."""
    adopted = adopt(entry_points=[f"http://{host}/"], follow_policy={"policy": "SameTLD"})
    assert tree(adopted)["site"][0]["mode"] == "same-host"
    assert [("SameDomain" in one, "follow_policy" in one) for one in adopted.warnings] == [(True, True)]
    assert [key for key, _ in refused(f"http://{host}/", "SameTLD", strict=True)] == ["policy"]


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("http://baidu.com/abc/", True),
        ("http://baidu.com", True),
        ("baidu.com/abc/../def/", True),
        ("http://baidu.com/abc", False),
        ("http://baidu.com/abc/?q", False),
        ("http://baidu.com/abc/?", False),
        ("http://baidu.com/abc/#f", False),
        ("http://baidu.com/abc/..", True),
    ],
)
def test_same_dir_needs_a_folder(url: str, taken: bool) -> None:
    """BJ-14, AMB-BJ-15: checked on the resolved URL, whose path ends in / and which has neither query nor fragment."""
    if taken:
        assert featured(url, "SameDir")["url"].endswith("/")
    else:
        assert [key for key, _ in refused(url, "SameDir")] == ["entry_points[1]"]


def test_same_dir_is_checked_on_whatever_url_is_featured() -> None:
    """BJ-14, AMB-BJ-18: the mistake names the field that has the URL: the featured one's or a site's."""
    entries, policy = ["http://a.example/"], {"policy": "SameDir"}
    found = mistakes(entry_points=entries, featured_entry_point="http://a.example/x", follow_policy=policy)
    assert [key for key, _, _ in found] == ["featured_entry_point"]
    found = mistakes(entry_points=entries, sites=[{"url": "http://a.example/x", "policy": "SameDir"}])
    assert [key for key, _, _ in found] == ["sites[1].url"]


@pytest.mark.parametrize(
    ("url", "word"), [("http://192.0.2.7/", "address"), ("http://[::1]/", "address"), ("http://baidu/", "dot")]
)
def test_same_sld_needs_a_name_with_a_dot(url: str, word: str) -> None:
    """BJ-18, BJ-20, BJ-22: an address and a host without dot are refused, each with its own words; a listed TLD too."""
    ((key, remedy),) = refused(url, "SameSLD")
    assert key == "entry_points[1]"
    assert word in remedy


@pytest.mark.parametrize(
    ("url", "warned"), [("http://x.baidu.xxxx/", True), ("http://com.cn/", True), ("http://x.baidu.com/", False)]
)
def test_same_sld_falls_back_with_a_warning(url: str, warned: bool) -> None:
    """BJ-19, AMB-BJ-7: where the list tells no label, the one before the last counts, and the owner hears of it."""
    adopted = adopt(entry_points=[url], follow_policy={"policy": "SameSLD"})
    assert tree(adopted)["site"][0]["mode"] == "same-sld"
    assert bool(adopted.warnings) is warned


@pytest.mark.parametrize("policy", ["sameTLD", "SameTld", "SAME_TLD", "Any", 1, ["SameTLD"]])
def test_another_policy_is_refused(policy: object) -> None:
    """BJ-10 ff.: there are four policies."""
    found = mistakes(entry_points=["http://a.example/"], follow_policy={"policy": policy})
    assert [(key, remedy) for key, _, remedy in found] == [
        ("follow_policy.policy", "write one of: SameTLD, SameDomain, SameDir, SameSLD")
    ]


# 3.3 Policy config


def test_ignore_port() -> None:
    """BJ-30: false by default, and always written, whatever our own default is."""
    assert featured("http://a.example/")["ignore_port"] is False
    assert featured("http://a.example/", ignore_port=True)["ignore_port"] is True
    assert [key for key, _ in refused("http://a.example/", ignore_port="yes")] == ["ignore_port"]


@pytest.mark.parametrize("name", ["ignore_ports", "ignorePorts"])
def test_the_plural_is_refused_with_the_right_name(name: str) -> None:
    """AMB-BJ-1: the field is ignore_port; in follow_policy and in a site."""
    ((key, remedy),) = refused("http://a.example/", **{name: True})
    assert key == "ignore_ports"
    assert "did you mean ignore_port?" in remedy
    found = mistakes(entry_points=["http://a.example/"], sites=[{"url": "http://b.example/", name: True}])
    assert [key for key, _, _ in found] == ["sites[1].ignore_ports"]


@pytest.mark.parametrize(
    ("url", "suffixes"),
    [
        ("http://baidu.com/", [".com", ".com.cn"]),
        ("http://baidu.com.cn/", [".com", ".cn"]),
        ("http://baidu.com.cn/", [".com", ".com.cn", ".cn"]),
        ("http://BAIDU.COM./", [".COM", ".net"]),
        ("http://例.中国/", [".中国", ".com"]),
    ],
)
def test_alternative_suffixes(url: str, suffixes: list[str]) -> None:
    """BJ-31, BJ-33, BJ-34, BJ-35, AMB-BJ-14: they are carried over; one of them ends the featured host."""
    assert featured(url, "SameTLD", alternative_domain_suffix=suffixes)["alternative_suffixes"] == [
        one.lower() for one in suffixes
    ]


@pytest.mark.parametrize("suffixes", [[], None])
def test_no_suffixes_are_no_mistake(suffixes: list[str] | None) -> None:
    """BJ-32: the conditions hold only for a list that is given and not empty, also for addresses and SameSLD."""
    assert "alternative_suffixes" not in featured("http://192.0.2.7/", alternative_domain_suffix=suffixes)
    assert "alternative_suffixes" not in featured("http://a.example/", "SameSLD", alternative_domain_suffix=suffixes)


@pytest.mark.parametrize(
    ("url", "policy", "suffixes", "words"),
    [
        ("http://baidu.com/", "SameDomain", [".com", "cn"], ["dot in front"]),
        ("http://baidu.com/", "SameDomain", [".net", ".cn"], ["none of them ends baidu.com"]),
        ("http://baidu.com/", "SameDomain", [".com"], ["at least two"]),
        ("http://baidu.com/", "SameDomain", [".com", ".com", ".COM"], ["at least two"]),
        ("http://192.0.2.7/", "SameDomain", [".7", ".8"], ["address"]),
        ("http://baidu.com/", "SameSLD", [".com", ".cn"], ["SameSLD"]),
        ("http://com/", "SameDomain", [".com", ".cn"], ["nothing but a suffix"]),
        ("http://xbaidu.com/", "SameDomain", [".baidu.com", ".cn"], ["none of them ends"]),
        ("http://baidu.com/", "SameDomain", [".c m", ".<>"], ["none of them ends"]),
        (
            "http://192.0.2.7/",
            "SameSLD",
            ["com"],
            ["with an address", "dot in front", "at least two", "SameSLD", "address"],
        ),
    ],
)
def test_what_is_wrong_with_suffixes(url: str, policy: str, suffixes: list[str], words: list[str]) -> None:
    """BJ-32, AMB-BJ-10, AMB-BJ-11: each of the five conditions has its own words, and all are told in one go."""
    found = refused(url, policy, alternative_domain_suffix=suffixes)
    assert [word in remedy for word, (_, remedy) in zip(words, found, strict=True)] == [True] * len(words)


@pytest.mark.parametrize("suffixes", [".com", [1, 2], [""], {".com": 1}])
def test_suffixes_are_a_list_of_texts(suffixes: object) -> None:
    """BJ-31: anything else is refused."""
    assert [key for key, _ in refused("http://a.com/", alternative_domain_suffix=suffixes)] == [
        "alternative_domain_suffix"
    ]


# 3.4 Limits


@pytest.mark.parametrize("value", [60, 60.0, "60"])
def test_limits(value: object) -> None:
    """BJ-40, BJ-41, BJ-43: seconds and targets, as numbers or as protobuf's texts."""
    limits = tree(adopt(entry_points=["http://a.example/"], max_time_seconds=value, max_target=value))["limits"]
    assert limits == {"max_seconds": 60, "max_targets": 60}


def test_no_limit_is_unlimited() -> None:
    """BJ-40: unlimited by default, and 0 is protobuf's default."""
    assert "limits" not in tree(adopt(entry_points=["http://a.example/"], max_time_seconds=0, max_target=None))


@pytest.mark.parametrize("value", [-1, 1.5, "soon", True, [1], 10**400])
def test_another_limit_is_refused(value: object) -> None:
    """BJ-40: a limit is a whole number of at least 0."""
    assert [key for key, _, _ in mistakes(entry_points=["http://a.example/"], max_target=value)] == ["max_target"]


# The text


@pytest.mark.parametrize("name", ["task.json", "task.yaml"])
def test_a_whole_task(name: str) -> None:
    """R-3.6: JSON with camelCase names and YAML with snake_case ones come to the same."""
    adopted = benjamin.read((CORPUS / name).read_text(encoding="utf-8"), source=name)
    assert tree(adopted) == {
        "seeds": ["http://www.garden.example/", "http://flowers.example.com.cn/spring/", "http://elsewhere.example/"],
        "limits": {"max_seconds": 3600, "max_targets": 5000},
        "site": [
            {
                "url": "http://flowers.example.com.cn/spring/",
                "mode": "same-domain",
                "ignore_port": True,
                "alternative_suffixes": [".com", ".com.cn", ".cn"],
                "domains": "psl-icann",
                "follow_redirected_seed": False,
            },
            {
                "url": "http://www.garden.example/",
                "mode": "same-host",
                "ignore_port": False,
                "follow_redirected_seed": False,
            },
            {
                "url": "http://docs.garden.example/v2/",
                "mode": "same-dir",
                "ignore_port": True,
                "follow_redirected_seed": False,
            },
        ],
    }
    assert [name for name, _, _ in adopted.not_carried] == ["plugins"]
    assert "#   plugins: it says nothing about where to crawl" in adopted.toml


@pytest.mark.parametrize("where", ["follow_policy", "sites"])
def test_unknown_fields_that_decide_are_refused(where: str) -> None:
    """R-3.6: inside follow_policy and sites an unknown field could change the scope, so it is refused."""
    site = {"url": "http://b.example/", "polcy": "SameTLD"}
    fields = {"follow_policy": {"polcy": "SameTLD"}} if where == "follow_policy" else {"sites": [site]}
    ((key, value, remedy),) = mistakes(entry_points=["http://a.example/"], **fields)
    assert key in {"follow_policy.polcy", "sites[1].polcy"}
    assert (value, "did you mean policy?" in remedy) == ("SameTLD", True)


def test_unknown_fields_elsewhere_are_listed() -> None:
    """R-3.6, BJ-40: they are not carried over, the limit of results neither; one like a field that decides is warned of too."""
    adopted = adopt(entry_points=["http://a.example/"], labels=["x"], max_results=3, max_targets=3)
    assert [name for name, _, _ in adopted.not_carried] == ["labels", "max_results", "max_targets"]
    assert [("max_target" in one) for one in adopted.warnings] == [True]


def test_secrets_of_other_fields_are_not_shown() -> None:
    """R-3.6: what is not carried over may hold logins: nested values are not shown, and named secrets are masked."""
    adopted = adopt(entry_points=["http://a.example/"], http={"headers": "s3cret"}, auth_token="s3cret", note="x")
    assert [(name, value) for name, value, _ in adopted.not_carried] == [
        ("http", ""),
        ("auth_token", MASK),
        ("note", "x"),
    ]
    assert "s3cret" not in adopted.toml


def test_the_older_name_of_the_policy_is_refused() -> None:
    """AMB-BJ-18: domain_policy, taken for a field that says nothing, would leave the policy out."""
    assert [key for key, _, _ in mistakes(entry_points=["http://a.example/"], domain_policy={})] == ["domain_policy"]


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({}, "entry_points"),
        ({"entry_points": []}, "entry_points"),
        ({"entry_points": "http://a.example/"}, "entry_points"),
        ({"entry_points": [1]}, "entry_points[1]"),
        ({"entry_points": ["ftp://a.example/"]}, "entry_points[1]"),
        ({"entry_points": ["http://u:p@a.example/"]}, "entry_points[1]"),
        ({"entry_points": ["http://a.example/", ""]}, "entry_points[2]"),
        ({"entry_points": ["http://a.example/"], "featured_entry_point": "http://"}, "featured_entry_point"),
        ({"entry_points": ["http://a.example/"], "follow_policy": []}, "follow_policy"),
        ({"entry_points": ["http://a.example/"], "sites": {}}, None),
        ({"entry_points": ["http://a.example/"], "sites": {"url": "x"}}, "sites"),
        ({"entry_points": ["http://a.example/"], "sites": [{}]}, "sites[1].url"),
        ({"entry_points": ["http://a.example/"], "sites": [None]}, "sites[1]"),
        ({"entry_points": ["http://a.example/"], "sites": [{"url": "x", "URL": "y"}]}, "sites[1].url"),
    ],
)
def test_shapes(fields: dict[str, Any], key: str | None) -> None:
    """BJ-1, BJ-4: entry points are URLs, sites are tables with a url; the mistake names the place."""
    if key:
        assert key in [found for found, _, _ in mistakes(**fields)]
    else:
        assert len(tree(adopt(**fields))["site"]) == 1


def test_a_password_in_a_url_is_not_told() -> None:
    """BJ-2: a URL with credentials is refused, and its password is masked in the message."""
    assert "secret" not in str(mistakes(entry_points=["http://u:secret@a.example/"]))


def test_a_host_without_scheme_is_a_url() -> None:
    """AMB-BJ-4: ``baidu.com/abc/`` and ``baidu.com:8080`` are hosts, a path, a port."""
    assert featured("baidu.com/abc/")["url"] == "http://baidu.com/abc/"
    assert featured("baidu.com:8080")["url"] == "http://baidu.com:8080/"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("entry_points: [http://a.example/\n", "no YAML"),
        ('{"entry_points": ["http://a.example/"],}x', "no JSON"),
        ('{"entry_points": [], "entry_points": []}', "twice"),
        ("entry_points: []\nentry_points: []\n", "twice"),
        ('{"entry_points": [], "entryPoints": []}', "two spellings"),
        ("a: &x [1]\nb: *x\n", "alias"),
        ("a: !!python/object/apply:os.system [id]\n", "no YAML"),
        ("just words", "write a TaskConfig"),
        ("[1, 2]", "write a TaskConfig"),
        ("", "write a TaskConfig"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' * 5000, "no"),
        ("x" * (4 * 1024 * 1024 + 1), "longer"),
        ('{"a": ' + "9" * 5000 + "}", "no YAML"),
        ("\x00", "no YAML"),
    ],
)
def test_texts_that_are_no_task(text: str, word: str) -> None:
    """R-3.6: what is neither JSON nor YAML, or uses what a task has no need of, is one mistake in words."""
    ((_, _, remedy),) = mistakes(text or " ")
    assert word in remedy


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
URLS = (
    st.sampled_from(["http://a.example/", "b.example/x", "http://192.0.2.7/", "com.cn", "http://intranet/"]) | ANYTHING
)
POLICY = {
    "policy": st.sampled_from(["SameTLD", "SameDomain", "SameDir", "SameSLD", ""]) | ANYTHING,
    "ignorePort": st.booleans() | ANYTHING,
    "alternative_domain_suffix": st.lists(st.sampled_from([".example", ".cn", ".com.cn", "cn"])) | ANYTHING,
}
TASKS = st.fixed_dictionaries(
    {"entry_points": st.lists(URLS)},
    optional={
        "featured_entry_point": URLS,
        "follow_policy": st.fixed_dictionaries({}, optional=POLICY) | ANYTHING,
        "sites": st.lists(st.fixed_dictionaries({"url": URLS}, optional=POLICY)) | ANYTHING,
        "max_target": st.integers() | ANYTHING,
        "x": ANYTHING,
    },
)


@given(TASKS | ANYTHING)
def test_no_values_raise_anything_but_mistakes(value: object) -> None:
    """R-3.6: whatever is written, the answer is a settings file with sites, or a list of mistakes."""
    try:
        adopted = benjamin.read(json.dumps(value), source="task.json")
    except SettingsError as error:
        assert error.mistakes  # noqa: PT017  the other of two right answers
        return
    assert tree(adopted)["site"]
