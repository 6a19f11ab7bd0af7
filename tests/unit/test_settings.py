"""Settings: what is read, what is refused and with which remedy, and what comes back out.

Sources: house.md sections 3, 4 and "Public faces"; rules R-3.1, R-4.7, R-8.3.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from purlieu import scope, settings
from purlieu.errors import Mistake, SettingsError
from purlieu.settings import Settings
from purlieu.settings.agreement import disagreements
from purlieu.settings.fact import META
from purlieu.settings.secret import MASK
from purlieu.settings.tree import LISTS, SECTIONS, dotted_keys

SECRET = "hunter2"


def mistakes(text: str, **more: Any) -> list[Mistake]:
    """Return what is wrong with a TOML text."""
    with pytest.raises(SettingsError) as caught:
        settings.read(text, **more)
    return list(caught.value.mistakes)


def test_nothing_said_gives_the_defaults() -> None:
    """An empty text means the defaults, and they are themselves valid settings."""
    assert settings.read("") == Settings() == settings.checked(Settings())


def test_every_table_is_read() -> None:
    """Each table and list of tables of the text ends in its field, with the values as written."""
    read = settings.read(
        """
        seeds = ["https://example.com/"]
        name = "日本語"
        [scope]
        mode = "any"
        [limits]
        max_depth = 0
        [fetch]
        classes = ["HTML"]
        [politeness]
        delay = 0
        [robots]
        obey = false
        [links]
        kinds = ["a"]
        [sitemap]
        files = ["https://example.com/s.xml"]
        [ledger]
        refusals_per_host = 5
        [[site]]
        url = "https://example.com/a/"
        [[host]]
        name = "WWW.Example.com"
        verify = false
        [[origin]]
        origin = "https://Example.com:443"
        headers = { X-A = "1", X-B = "2" }
        """
    )
    assert read.seeds == ("https://example.com/",)
    assert read.name == "日本語"
    assert (read.scope.mode, read.limits.max_depth, read.fetch.classes) == ("any", 0, ("HTML",))
    assert (read.politeness.delay, read.robots.obey, read.links.kinds) == (0.0, False, ("a",))
    assert (read.sitemap.files, read.ledger.refusals_per_host) == (("https://example.com/s.xml",), 5)
    assert [site.url for site in read.sites] == ["https://example.com/a/"]
    assert [(host.name, host.verify) for host in read.hosts] == [("www.example.com", False)]
    assert [(one.origin, one.headers) for one in read.origins] == [
        ("https://example.com", (("X-A", "1"), ("X-B", "2"))),
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fetch.proxy", "ftp://me:{0}@proxy.example:21"),
        ("fetch.proxy", "me:{0}@proxy.example:3128"),
        ("fetch.proxy", "http://me:{0}/x:y@z@proxy.example:port"),
        ("fetch.proxy", "http://:{0}@"),
        ("seeds", "http://me:{0}@www.example.com/a@b"),
        ("seeds", "http://me:a:{0}@x@www.example.com/"),
        ("sitemap.files", "https:\\\\me:{0}@www.example.com/"),
    ],
)
def test_a_wrong_address_does_not_show_its_password(key: str, value: str) -> None:
    """A mistake shows the value, and of a login no more than the user."""
    table, _, name = key.rpartition(".")
    given: Any = value.format("s3cret") if name == "proxy" else [value.format("s3cret")]
    with pytest.raises(SettingsError) as caught:
        settings.of({"seeds": ["http://a.example/"], **({table: {name: given}} if table else {name: given})})
    assert "s3cret" not in str(caught.value)
    assert key in str(caught.value)


@pytest.mark.parametrize("seed", ["http://.www.example.com/", "http://a..example.com/", "http://www.example.com../"])
def test_a_seed_with_an_empty_label_is_refused(seed: str) -> None:
    """A host with two dots together, or one in front, is no name (RFC 1035 2.3.1); the host is told."""
    with pytest.raises(SettingsError, match="no host is called"):
        settings.of({"seeds": [seed]})


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("limits.max_seconds", '"5 min"', 300.0),
        ("limits.max_seconds", '"1.5h"', 5400.0),
        ("limits.max_seconds", "90", 90.0),
        ("politeness.delay", '"250 ms"', 0.25),
        ("politeness.max_crawl_delay", "-1", -1.0),
        ("fetch.page_bytes", '"10 MiB"', 10 * 1024 * 1024),
        ("fetch.page_bytes", '"2 MB"', 2_000_000),
        ("fetch.page_bytes", "4096", 4096),
        ("limits.repeated_segment", "0", 0),
        ("fetch.classes", '["HTML", "PDF", "HTML"]', ("HTML", "PDF")),
        ("fetch.proxy", '"socks5h://proxy.example:1080"', "socks5h://proxy.example:1080"),
        ("fetch.proxy", '"env:PROXY"', "env:PROXY"),
        ("after.command", '["notify", "-v", "-v"]', ("notify", "-v", "-v")),
        ("after.webhook", '"env:HOOK"', "env:HOOK"),
        ("after.webhook", '"https://chat.example/hook"', "https://chat.example/hook"),
        ("retention.result_days", "-1", -1),
        ("limits.threshold", "0.8", 0.8),
    ],
)
def test_values_may_have_units(key: str, written: str, value: object) -> None:
    """Spans and sizes are numbers, or texts with a unit; a list holds each text once, in order."""
    section, _, name = key.partition(".")
    read = settings.read(f"[{section}]\n{name} = {written}\n")
    found = getattr(getattr(read, section), name)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("seed", "remedy"),
    [
        ("example.com", "write http://example.com or https://example.com"),
        ("localhost:8000/x", "write http://localhost:8000/x or https://localhost:8000/x"),
        ("ftp://example.com/", 'only http and https can be crawled, not "ftp"'),
        ("javascript:alert(1)", 'only http and https can be crawled, not "javascript"'),
        ("file:///etc/passwd", 'only http and https can be crawled, not "file"'),
        ("http://", "this is no URL; write it whole, such as https://example.com/"),
        ("http://a b/", "this is no URL; write it whole, such as https://example.com/"),
        ("what is this", "this is no URL; write it whole, such as https://example.com/"),
        ("", "take the empty text out of the list"),
        ("http://exa\nmple.com/", "take the line breaks and other control characters out"),
    ],
)
def test_a_wrong_seed_tells_its_remedy(seed: str, remedy: str) -> None:
    """A seed that is no http or https URL is a mistake with its key, its value and what to write instead."""
    (mistake,) = mistakes("", overrides={"seeds": [seed, "http://good.example/"]})
    assert (mistake.key, mistake.value, mistake.remedy) == ("seeds", seed, remedy)


def test_a_password_in_a_seed_is_refused_and_not_shown() -> None:
    """Credentials belong to an origin (R-4.7), and an error message never shows them."""
    (mistake,) = mistakes(f'seeds = ["http://me:{SECRET}@example.com/"]')
    assert "[[origin]]" in mistake.remedy
    assert SECRET not in str(mistake)


@pytest.mark.parametrize(
    ("text", "key", "remedy"),
    [
        ("max_depth = 3", "max_depth", 'did you mean "limits.max_depth"?'),
        ("[limits]\nmax_dept = 3", "limits.max_dept", 'did you mean "max_depth"?'),
        ("[limits]\nmaxDepth = 3", "limits.maxDepth", 'did you mean "max_depth"?'),
        ("[limits]\nmax-depth = 3", "limits.max-depth", 'did you mean "max_depth"?'),
        ("[limit]\nx = 1", "limit", 'did you mean "[limits]"?'),
        ("[[sites]]\nurl = 'http://a/'", "sites", 'did you mean "[[site]]"?'),
        ("[[host]]\nname = 'a'\nverfy = false", "host[1].verfy", 'did you mean "verify"?'),
        ("qqqqqq = 3", "qqqqqq", "take it out"),
    ],
)
def test_an_unknown_key_names_the_nearest(text: str, key: str, remedy: str) -> None:
    """A key that does not exist is refused with the most likely right one, of its table or of another."""
    (mistake,) = mistakes(text, path="p.toml")
    assert (mistake.key, mistake.file) == (key, "p.toml")
    assert mistake.remedy == f"there is no such key; {remedy}"


@pytest.mark.parametrize(
    ("text", "key", "part"),
    [
        ("seeds = 'http://a/'", "seeds", "write a list"),
        ("seeds = [1]", "seeds", "text in quotes"),
        ("name = 'a/b'", "name", "without /"),
        ("name = '..'", "name", "dots"),
        ("language = 'de'", "language", "en, ja, zh"),
        ("limits = 3", "limits", "write a table: [limits]"),
        ("site = 3", "site", "list of tables: [[site]]"),
        ("[limits]\nmax_pages = 0", "limits.max_pages", "of at least 1"),
        ("[limits]\nmax_pages = 1.5", "limits.max_pages", "whole number"),
        ("[limits]\nmax_pages = '5'", "limits.max_pages", "write a number"),
        ("[limits]\nmax_pages = true", "limits.max_pages", "write a number"),
        ("[limits]\nmax_pages = 99999999999999999999", "limits.max_pages", "write a number"),
        ("[limits]\nmax_seconds = nan", "limits.max_seconds", "write a number of seconds"),
        ("[limits]\nmax_seconds = inf", "limits.max_seconds", "write a number of seconds"),
        ("[limits]\nmax_seconds = '5 fortnights'", "limits.max_seconds", '"5 min"'),
        ("[limits]\nrepeated_segment = 1", "limits.repeated_segment", "from 2 to 100, or 0"),
        ("[fetch]\npage_bytes = 'big'", "fetch.page_bytes", '"10 MiB"'),
        ("[fetch]\nrobots_bytes = 1000", "fetch.robots_bytes", "512,000"),
        ("[fetch]\nclasses = ['html']", "fetch.classes", 'write "HTML"'),
        ("[fetch]\nclasses = ['x']", "fetch.classes", "one of: HTML, PDF"),
        ("[fetch]\nuser_agent = 'クローラ'", "fetch.user_agent", "ASCII"),
        ('[fetch]\nuser_agent = "a\\r\\nX: y"', "fetch.user_agent", "line breaks"),
        ("[after]\nwebhook = 'ftp://a.example/'", "after.webhook", "only http and https"),
        ("[retention]\nledger_runs = 0", "retention.ledger_runs", "of at least 1"),
        ("[limits]\nthreshold = 80", "limits.threshold", "from 0.01 to 1"),
        ("[fetch]\nproxy = 'proxy:3128'", "fetch.proxy", "http://proxy.example.com:3128"),
        ("[politeness]\nadaptive = 'yes'", "politeness.adaptive", "true or false"),
        ("[politeness]\nmax_crawl_delay = -2", "politeness.max_crawl_delay", "of at least 0, or -1"),
        ("[robots]\nagent = 'Purlieu/1.0'", "robots.agent", "bare name"),
        ("[scope]\nmode = 'same_host'", "scope.mode", 'write "same-host"'),
        ("[[site]]", "site[1].url", "needed"),
        ("[[host]]\nname = 'http://a/'", "host[1].name", 'the host alone: "a"'),
        ("[[host]]\nname = 'a:80'", "host[1].name", "host"),
        ("[[host]]\nname = 'a'\n[[host]]\nname = 'A'", "host.name", "twice"),
        ("[[origin]]\norigin = 'http://a/b'", "origin[1].origin", "alone: http://a"),
        ("[[origin]]\norigin = 'http://a'\nuser = 'x'", "origin[1].password", "needs both user and password"),
        ("[[origin]]\norigin = 'http://a'\nheaders = { 'a b' = 'c' }", "origin[1].headers", "header's name"),
        ('[[origin]]\norigin = "http://a"\nheaders = { X = "a\\nb" }', "origin[1].headers", "one line"),
        ("[[origin]]\norigin = 'http://a'\nheaders = ['X: y']", "origin[1].headers", "table of texts"),
    ],
)
def test_a_wrong_value_tells_what_to_write(text: str, key: str, part: str) -> None:
    """A wrong type, range or choice is a mistake with its key and what would be right."""
    (mistake,) = mistakes(text)
    assert mistake.key == key
    assert part in mistake.remedy


def test_every_mistake_is_told_in_one_go() -> None:
    """Mistakes do not hide each other: the text's, each seed's, the overrides'; only the text's name the file."""
    found = mistakes(
        'seeds = ["a.example", "ftp://b"]\nnme = "x"\n[limits]\nmax_pages = -1\nmax_depth = -1\n[fetch]\nhttp2 = 1\n',
        path="p.toml",
        overrides={"limits.max_depth": "deep", "politeness.delay": -1},
    )
    assert sorted((one.key, one.file) for one in found) == sorted(
        [
            ("seeds", "p.toml"),
            ("seeds", "p.toml"),
            ("nme", "p.toml"),
            ("limits.max_pages", "p.toml"),
            ("limits.max_depth", None),
            ("fetch.http2", "p.toml"),
            ("politeness.delay", None),
        ],
        key=lambda pair: pair[0],
    )


def test_no_toml_is_a_mistake_with_its_line() -> None:
    """A text that is no TOML is told with line and text, and does not hide a wrong override."""
    found = mistakes("name = 'x'\nseeds = = 3\n", path="p.toml", overrides={"limits.max_pages": 0})
    assert [(one.key, one.value, one.file) for one in found] == [
        ("line 2", "seeds = = 3", "p.toml"),
        ("limits.max_pages", "0", None),
    ]


@pytest.mark.parametrize("text", ["a = [" * 5000, "[a.a.a.a", "x = '", "\x00", 'a = "\ud800"', "= 1", "a=1\na=2"])
def test_damaged_texts_are_mistakes(text: str) -> None:
    """No text, however damaged, raises anything but SettingsError."""
    assert mistakes(text)


def test_overrides_stand_over_the_text() -> None:
    """An override wins over the text, even over a wrong value; None means not given."""
    read = settings.read(
        "seeds = ['http://a/']\n[limits]\nmax_depth = 'x'\nmax_pages = 7\n",
        overrides={"seeds": ["http://b/"], "limits.max_depth": 2, "limits.max_pages": None},
    )
    assert (read.seeds, read.limits.max_depth, read.limits.max_pages) == (("http://b/",), 2, 7)


def test_an_unknown_override_is_a_mistake() -> None:
    """An override of a key or table that does not exist is refused like one of the text."""
    found = mistakes("", overrides={"limits.max_dept": 2, "nowhere.max_depth": 2})
    assert {one.key for one in found} == {"limits.max_dept", "nowhere.max_depth"}


SECRETS = f"""
    [fetch]
    proxy = "http://me:{SECRET}@proxy.example:3128"
    [[origin]]
    origin = "https://a.example"
    user = "me"
    password = "{SECRET}"
    headers = {{ Authorization = "Bearer {SECRET}", X-Plain = "env:TOKEN" }}
    [[origin]]
    origin = "https://b.example"
    user = "me"
    password = "env:PASSWORD"
    """


def test_no_secret_is_dumped() -> None:
    """What is shown or stored holds no plain password, header value or proxy password; env:NAME stands."""
    text = settings.dump(settings.read(SECRETS))
    assert SECRET not in text
    assert text.count(MASK) == 3
    assert 'password = "env:PASSWORD"' in text


def test_a_mask_is_no_secret() -> None:
    """A masked secret that is read back is a mistake, so that it is never sent to a server."""
    text = settings.dump(settings.read(SECRETS))
    assert [one.key for one in mistakes(text)] == ["fetch.proxy", "origin[1].headers", "origin[1].password"]


def test_a_wrong_password_is_not_shown() -> None:
    """A mistake about a password does not show it."""
    (mistake,) = mistakes(f'[[origin]]\norigin = "http://a"\nuser = "u"\npassword = "{SECRET}\\n"')
    assert mistake.key == "origin[1].password"
    assert SECRET not in str(mistake)


def test_secrets_come_from_the_environment_at_last() -> None:
    """``env:NAME`` is replaced by ``resolve`` alone, in passwords, header values and the proxy."""
    read = settings.read(SECRETS.replace(f'"http://me:{SECRET}@proxy.example:3128"', '"env:PROXY"'))
    environment = {"PASSWORD": "p", "TOKEN": "t", "PROXY": "http://proxy.example:1"}
    resolved = settings.resolve(read, environment)
    assert resolved.origins[0].headers[1] == ("X-Plain", "t")
    assert (resolved.origins[0].password, resolved.origins[1].password) == (SECRET, "p")
    assert resolved.fetch.proxy == "http://proxy.example:1"


def test_a_variable_that_is_not_set_is_a_mistake() -> None:
    """Every variable that is missing is told, with what to set."""
    with pytest.raises(SettingsError) as caught:
        settings.resolve(settings.read(SECRETS), {})
    assert [one.remedy for one in caught.value.mistakes] == [
        "set the environment variable TOKEN",
        "set the environment variable PASSWORD",
    ]


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
urls = st.sampled_from(["http://a.example/", "https://b.example/x?y=1", "http://[::1]:8080/", "http://例え.jp/あ"])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "url": urls,
    "origin": st.sampled_from(["http://a.example", "https://b.example:8443"]),
    "host": st.sampled_from(["a.example", "[::1]", "127.0.0.1"]),
    "agent": st.sampled_from(["purlieu", "my-bot_2"]),
    "header": st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
    "name": st.sampled_from(["", "x", "日本語", "a b.c"]),
    "line": texts,
    "proxy": st.sampled_from(["", "env:P", "http://proxy:1"]),
    "webhook": st.sampled_from(["", "env:W", "https://a.example/hook"]),
    "suffix": st.sampled_from(["com", "co.uk", ".xn--p1ai"]),
    "": st.sampled_from(["/private/*", "prefix:https://a.example/x", "regex:a+"]),
    "headers": st.dictionaries(st.sampled_from(["X-A", "X-B"]), st.just("env:V")).map(lambda d: tuple(d.items())),
}


def values_of(field: dataclasses.Field[Any]) -> st.SearchStrategy[Any]:
    """Return the valid values of one field, drawn from what is known of its key."""
    known = settings.tree.known(field)
    kind = str(field.type).removesuffix(" | None")
    if kind in {"int", "float", "int | str"}:
        low = int(known.least or 0) + 1
        high = max(low, int(min(known.most or 10**6, 10**6)))
        made: st.SearchStrategy[Any] = st.integers(low, high) if kind != "float" else st.floats(low, high)
    elif known.choices:
        made = st.sampled_from(known.choices)
    else:
        made = VALUES["bool" if kind == "bool" else known.form]
    if kind == "tuple[str, ...]":
        made = st.lists(made, unique=True, max_size=3).map(tuple)
    return st.none() | made if str(field.type).endswith("None") else made


def tables_of(kind: type) -> st.SearchStrategy[Any]:
    """Return valid tables of one section."""
    keys = {f.name: values_of(f) for f in dataclasses.fields(kind) if f.metadata and not settings.tree.known(f).table}
    if kind in {settings.ScopeSettings, settings.SiteSettings}:
        keys["alternative_suffixes"] = st.just(())  # what is right depends on the site
    if kind is settings.FilterSettings:
        rules = st.sampled_from(["", "# a\tcomment", "+^http://a/", "-\\.(gif|jpg)$", "-."])
        keys |= {"rules": st.lists(rules, max_size=4).map(tuple), "rules_file": st.just("")}
    if kind is settings.OriginSettings:
        keys |= {"user": st.just("me"), "password": st.just("env:P"), "auth": st.sampled_from(["basic", "negotiate"])}
        keys |= {name: st.just("") for name in ("token", "certificate", "certificate_key", "certificate_password")}
        keys |= {name: st.just("") for name in ("login_page", "login_form", "login_success")}
        keys |= {"login_fields": st.just(()), "cookies_file": st.sampled_from(["", "cookies.txt"])}
    if kind is settings.ProfileSettings:
        folders = st.sampled_from(["/news/", "http://a.example/news/"])
        rules = st.sampled_from(["/news/ 0.8", "*.pdf 0", "regex:a b$ 1.0"])
        keys["sections"], keys["priority"] = (
            st.lists(one, unique=True, max_size=2).map(tuple) for one in (folders, rules)
        )
    if kind is settings.PolitenessSettings:
        keys["group"] = st.sampled_from(["host", "domain"])  # by address does not go with a proxy
    if kind is settings.GroupSettings:
        names = {"x": "a.example", "日本語": "[::1]", "a b.c": "127.0.0.1"}
        return st.sampled_from(sorted(names)).map(lambda name: settings.GroupSettings(name, (names[name],)))
    return st.builds(kind, **keys)


@st.composite
def whole(draw: st.DrawFn) -> Settings:
    """Draw valid settings with every key."""
    sections = {name: draw(tables_of(kind)) for name, kind in SECTIONS.items()}
    lists: dict[str, Any] = {}
    for name, (field, kind) in LISTS.items():
        one = tables_of(kind)
        made = tuple(draw(st.lists(one, max_size=2, unique_by=lambda one: dataclasses.astuple(one)[0])))
        needed = [one.name for one in dataclasses.fields(kind) if META in one.metadata and one.metadata[META].needed]
        made = tuple(one for one in made if all(getattr(one, name) for name in needed))
        section = name.rpartition(".")[0]
        if section:
            sections[section] = dataclasses.replace(sections[section], **{field: made})
        else:
            lists[field] = made
    drawn: Settings = dataclasses.replace(draw(tables_of(Settings)), **sections, **lists)
    if any(scope.mistakes(drawn)):  # a mode that does not suit a URL
        sites = tuple(dataclasses.replace(site, mode="any") for site in drawn.sites)
        drawn = dataclasses.replace(drawn, sites=sites, scope=dataclasses.replace(drawn.scope, mode="any"))
    if any(key == "sitemap.mode" for key, *_ in disagreements(drawn)):
        drawn = dataclasses.replace(drawn, sitemap=dataclasses.replace(drawn.sitemap, mode="links-and-sitemaps"))
    if drawn.documents.read:  # documents are kept with text
        drawn = dataclasses.replace(drawn, keep="text")
    return drawn


@effort(suppress_health_check=[HealthCheck.too_slow])  # every key of every table is drawn
@given(whole())
def test_what_is_dumped_is_read_back(made: Settings) -> None:
    """Dumping valid settings and reading them gives the same settings, whatever they hold."""
    assert settings.read(settings.dump(made)) == made


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*dotted_keys(), *SECTIONS, *LISTS]) | st.text(max_size=8), junk, max_size=5))
def test_no_tree_raises_anything_else(tree: dict[str, Any]) -> None:
    """Whatever the tables hold, reading gives settings or a SettingsError with a remedy for each mistake."""
    nested: dict[str, Any] = {}
    for dotted, value in tree.items():
        table, _, name = dotted.rpartition(".")
        if table in SECTIONS:
            nested.setdefault(table, {})
        into = nested[table] if table in SECTIONS and isinstance(nested[table], dict) else nested
        into[name] = value
    wrong: tuple[Mistake, ...] | None = None
    try:
        made = settings.of(nested)
    except SettingsError as error:
        wrong = error.mistakes
    assert all(one.remedy for one in wrong) and wrong if wrong is not None else settings.checked(made) == made


def test_every_key_is_explained() -> None:
    """Each key has a sentence for the reference page, ended by a full stop or, in two halves, dots (house rule 7)."""
    tables = [Settings, *SECTIONS.values(), *(kind for _, kind in LISTS.values())]
    for kind in tables:
        assert kind.__doc__
        for field in dataclasses.fields(kind):
            if field.metadata and not settings.tree.known(field).table:
                doc = settings.tree.known(field).doc
                assert doc.endswith((".", "env:NAME`.")), field.name
    optional = [f for kind in tables for f in dataclasses.fields(kind) if f.metadata and f.default is None]
    assert all(settings.tree.known(field).unset for field in optional)


def test_the_json_schema_holds_every_key() -> None:
    """The JSON Schema names each key once, refuses others, and can be written as JSON."""
    made = json.loads(json.dumps(settings.schema()))
    names = set()
    left = list(made["properties"].items())
    while left:
        name, part = left.pop()
        table = part.get("items", {}) if name in LISTS else part
        if "properties" in table:
            assert table["additionalProperties"] is False
            left += [(f"{name}.{key}", value) for key, value in table["properties"].items()]
        else:
            names.add(name)
    assert made["additionalProperties"] is False
    assert names == set(dotted_keys())


def test_the_dump_is_toml() -> None:
    """The dump is TOML by the standard library's reading, with every table in it."""
    assert SECTIONS.keys() <= tomllib.loads(settings.dump(Settings())).keys()
