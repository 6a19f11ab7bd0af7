"""Endeca Web Crawler configurations as settings: precedence, scope, filter, normaliser, units, limits, what is refused.

Items EN-1 to EN-82, UF-1 to UF-26, AMB-EN-1 to AMB-EN-19; rules R-3.4, R-3.5, R-3.6.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from purlieu.adopt import Adopted, endeca
from purlieu.adopt.endeca_property import DEFAULTS, NO_COUNTERPART
from purlieu.domain import GENERIC
from purlieu.errors import SettingsError
from purlieu.settings.secret import MASK

CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "adopt" / "endeca"
REAL_NAME = "crawlscope.on-redirected-seed"
ADDITIONAL = "crawlscope.top-level-domains.additional"
GENERICS = "crawlscope.top-level-domains.generic"

Folder = Callable[..., Path]


def xml(properties: Mapping[str, str]) -> str:
    """Return a configuration file."""
    body = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{body}</configuration>\n'


def normaliser(*rules: tuple[str, str]) -> str:
    """Return a regex normaliser file."""
    body = "".join(
        f"<regex><pattern>{escape(pattern)}</pattern><substitution>{escape(text)}</substitution></regex>\n"
        for pattern, text in rules
    )
    return f"<regex-normalize>\n{body}</regex-normalize>\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Return what makes a configuration folder: the properties of its site.xml, and further files by name."""
    made = iter(range(100))

    def make(properties: Mapping[str, str] | None = None, **files: str) -> Path:
        path = tmp_path / f"conf{next(made)}"
        path.mkdir()
        if properties is not None:
            (path / "site.xml").write_text(xml(properties), encoding="utf-8")
        for name, text in files.items():
            real = name.replace("__", "-").replace("_", ".")
            (path / real).write_text(text, encoding="utf-8")
        return path

    return make


def keys(adopted: Adopted) -> dict[str, Any]:
    """Return what the written file says, by dotted key."""
    tree = tomllib.loads(adopted.toml)
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        flat |= {f"{name}.{inner}": one for inner, one in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def mistakes(folder: Path, **options: Any) -> list[tuple[str, str, str]]:
    """Return (key, value, remedy) of everything that is refused."""
    with pytest.raises(SettingsError) as caught:
        endeca.read(folder, **options)
    return [(one.key, one.value, one.remedy) for one in caught.value.mistakes]


# 1.1 Files and precedence


def test_site_xml_stands_over_default_xml(folder: Folder) -> None:
    """EN-1: what site.xml says holds; what it leaves out is as default.xml says, not as the guide's default."""
    path = folder({"fetcher.delay": "7"}, default_xml=xml({"fetcher.delay": "3", "fetcher.retry.max": "9"}))
    adopted = endeca.read(path)
    assert (keys(adopted)["politeness.delay"], keys(adopted)["politeness.retries"]) == (7.0, 9)
    assert '# fetcher.delay = "7" (site.xml)' in adopted.toml
    assert '# fetcher.retry.max = "9" (default.xml)' in adopted.toml


def test_the_default_folder_is_read_first_and_the_named_one_after_it(folder: Folder) -> None:
    """EN-2: for every file of the set; EN-5: default.xml in one folder, site.xml in the other."""
    default = folder(
        default_xml=xml({"crawlscope.mode": "ANY"}), crawl__urlfilter_txt="+default", x_lst="http://d.example/"
    )
    own = folder({"fetcher.delay": "7"}, regex__normalize_xml=normaliser(("a", "b")))
    read = keys(endeca.read(own, defaults=default))
    assert (read["scope.mode"], read["politeness.delay"]) == ("any", 7.0)
    assert read["filter.rules"] == ["+default", "-."]
    assert read["normalise.rule"] == [{"pattern": "a", "replace": "b"}]
    assert read["seeds"] == []
    (own / "crawl-urlfilter.txt").write_text("+own")
    assert keys(endeca.read(own, defaults=default))["filter.rules"] == ["+own", "-."]


def test_the_default_folder_alone_is_a_configuration(folder: Folder) -> None:
    """EN-3: without -c the default folder is all there is."""
    path = folder(default_xml=xml({"crawlscope.mode": "SAME_DOMAIN"}))
    assert keys(endeca.read(path))["scope.mode"] == "same-domain"


def test_a_default_folder_without_default_xml_is_refused(folder: Folder) -> None:
    """EN-4: the original does not start when default.xml was renamed or removed."""
    default = folder({"fetcher.delay": "1"})
    ((key, value, remedy),) = mistakes(folder({}), defaults=default)
    assert (key, value) == ("--defaults", str(default))
    assert "default.xml" in remedy


def test_a_folder_with_neither_file_is_refused(folder: Folder, tmp_path: Path) -> None:
    """EN-5: a configuration folder holds default.xml or site.xml; another folder, or none, is the wrong one."""
    assert [key for key, _, _ in mistakes(folder(notes_txt="x"))] == ["DIR"]
    assert "neither default.xml nor site.xml" in mistakes(tmp_path / ("n" * 300))[0][2]


@pytest.mark.parametrize("name", ["mime-types.xml", "parse-plugins.xml", "log4j.properties"])
def test_files_that_are_not_read_are_named(folder: Folder, name: str) -> None:
    """EN-6: each other file of the set is listed as not carried over, with why."""
    path = folder({})
    assert name not in {one for one, _, _ in endeca.read(path).not_carried}
    (path / name).write_text("anything, even <no XML")
    assert [bool(why) for one, _, why in endeca.read(path).not_carried if one == name] == [True]


def test_the_shape_of_a_property(folder: Folder) -> None:
    """EN-7: name, value, description in any order; white space around is none of them; the last of two holds."""
    text = (
        "<configuration><property><description>x</description><value>\n ANY\n</value>"
        "<name> crawlscope.mode </name></property>"
        "<property><name>fetcher.delay</name><value>1</value></property>"
        "<property><name>fetcher.delay</name><value>4</value></property>"
        "<property><name>fetcher.retry.max</name></property></configuration>"
    )
    read = keys(endeca.read(folder(site_xml=text)))
    assert (read["scope.mode"], read["politeness.delay"], read["politeness.retries"]) == ("any", 4.0, 3)


def test_elements_that_say_nothing_are_passed_over_with_a_warning(folder: Folder) -> None:
    """EN-7: what is no property has no effect, and the owner hears of it with its line."""
    text = "<configuration>\n<propperty><name>a</name></propperty>\n<property><value>1</value></property>\n</configuration>"
    warnings = endeca.read(folder(site_xml=text)).warnings
    assert any("line 2" in one and "<propperty>" in one for one in warnings)
    assert any("line 3" in one and "without <name>" in one for one in warnings)


def test_a_final_property_stays(folder: Folder) -> None:
    """EN-7 (Hadoop's shape): what default.xml says is final is not overridden by site.xml, with a warning."""
    final = "<configuration><property><name>fetcher.delay</name><value>5</value><final>true</final></property></configuration>"
    adopted = endeca.read(folder({"fetcher.delay": "1"}, default_xml=final))
    assert keys(adopted)["politeness.delay"] == 5.0
    assert any("fetcher.delay is final in default.xml" in one for one in adopted.warnings)


def test_a_value_may_hold_another_propertys_value(folder: Folder) -> None:
    """EN-7 (Hadoop's shape): ``${name}`` stands for the other one's value, also its default, and never without end."""
    read = keys(endeca.read(folder({"http.agent.name": "me", "http.agent.version": "${http.agent.name}-1"})))
    assert read["fetch.user_agent"] == "me/me-1"
    assert keys(endeca.read(folder({"http.agent.email": "${http.agent.version}"})))["fetch.user_agent"].endswith(
        "(WebCrawler)"
    )
    assert keys(endeca.read(folder({"http.agent.email": "${no.such}"})))["fetch.user_agent"].endswith("(${no.such})")
    assert len(keys(endeca.read(folder({"http.agent.email": "${http.agent.email}x"})))["fetch.user_agent"]) < 200


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('<!DOCTYPE c [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<configuration>&x;</configuration>', "DTD"),
        ('<!DOCTYPE c [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><configuration>&b;</configuration>', "DTD"),
        ('<!DOCTYPE configuration SYSTEM "http://x.example/c.dtd"><configuration/>', "DTD"),
        ("<configuration>&undefined;</configuration>", "undefined entity"),
        ("<configuration><property></configuration>", "mismatched tag"),
        ("", "no element found"),
        ("<properties/>", "write <configuration>"),
        ("<a>" * 40 + "</a>" * 40, "nested too deeply"),
        ('<?xml version="1.0" encoding="no-such"?><configuration/>', "encoding"),
    ],
)
def test_xml_is_read_without_entities_and_dtd(folder: Folder, text: str, word: str) -> None:
    """EN-7: XML that could reach other files or blow up, or is none, is refused with the file and the line."""
    ((key, _, remedy),) = mistakes(folder(site_xml=text))
    assert key.startswith("line ")
    assert word in remedy


def test_every_mistake_is_told_in_one_go(folder: Folder) -> None:
    """Mistakes of properties, filter, normaliser, seeds and flags come together, each with its file."""
    path = folder(
        {"crawlscope.mode": "EVERYTHING", "http.agent.name": ""},
        crawl__urlfilter_txt="what\n+(",
        regex__normalize_xml=normaliser(("[", "")),
    )
    found = [key for key, _, _ in mistakes(path, seeds=["ftp://x.example/"], depth=-1)]
    assert found == ["--seed", "crawlscope.mode", "line 1", "line 2", "line 2", "http.agent.name", "--depth"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("http.proxy.host", "a b"), (ADDITIONAL, "co.uk co/uk")],
)
def test_what_settings_refuse_is_told_by_the_propertys_name(folder: Folder, name: str, value: str) -> None:
    """EN-8: the owner sees the name that stands in their own file, not that of the key it would have become."""
    assert [key for key, _, _ in mistakes(folder({name: value}))] == [name]


def test_every_property_is_accounted_for(folder: Folder) -> None:
    """EN-8: each property that a file has is carried over or listed with why, whichever of all there are."""
    given = {name: value or "x" for name, value in DEFAULTS.items()} | dict.fromkeys(NO_COUNTERPART, "x")
    given |= {GENERICS: "com", "urlfilter.order": "com.example.MyFilter", "urlnormalizer.order": "", "my.own": "1"}
    path = folder(given, crawl__urlfilter_txt="+.", regex__normalize_xml=normaliser())
    adopted = endeca.read(path)
    told = {name for name, _, _ in (*adopted.carried, *adopted.not_carried)}
    assert set(given) - told == set()
    assert told - set(given) == set()


def test_the_file_is_commented_with_what_was_left_out(folder: Folder) -> None:
    """EN-8: the written file names each property that was left out, and why."""
    toml = endeca.read(folder({"output.file.is-xml": "true"})).toml
    assert '#   output.file.is-xml = "true": Purlieu writes result files of its own' in toml


def test_no_value_breaks_out_of_its_comment(folder: Folder) -> None:
    """EN-7: a value with line breaks, quotes or control characters stays in its comment and in its text."""
    value = 'a"]\n[scope]\nmode = "any"\n# \u0085\u2028"""'
    adopted = endeca.read(folder({"http.agent.description": value, "my.own": value}))
    assert keys(adopted)["scope.mode"] == "same-host"


# 1.2 Scope


@pytest.mark.parametrize(
    ("given", "mode"),
    [("ANY", "any"), ("SAME_DOMAIN", "same-domain"), ("SAME_HOST", "same-host"), (None, "same-host")],
)
def test_modes(folder: Folder, given: str | None, mode: str) -> None:
    """EN-10, EN-11, EN-12: the three modes and the default; AMB-EN-15: ports and schemes are ignored."""
    read = keys(endeca.read(folder({"crawlscope.mode": given} if given else {})))
    assert read["scope.mode"] == mode
    assert read["scope.ignore_port"] is True
    assert read["scope.ignore_scheme"] is True


@pytest.mark.parametrize("given", ["same_host", "Any", "SAME_HOSTS", "", "SAME-HOST"])
def test_another_mode_is_refused(folder: Folder, given: str) -> None:
    """AMB-EN-16: an unknown mode, or one in lower case, fails at the start with what to write."""
    assert mistakes(folder({"crawlscope.mode": given})) == [
        ("crawlscope.mode", given, "write ANY, SAME_DOMAIN, SAME_HOST, in capitals")
    ]


@pytest.mark.parametrize(("given", "follows"), [("true", True), ("false", False), (None, True)])
def test_redirected_seeds(folder: Folder, given: str | None, follows: bool) -> None:
    """EN-13, EN-17, EN-18, EN-81: the property says which seed links are held against; it is true by default."""
    read = keys(endeca.read(folder({REAL_NAME: given} if given else {})))
    assert read["scope.follow_redirected_seed"] is follows


def test_a_misspelt_property_has_no_effect_and_is_told_the_right_name(folder: Folder) -> None:
    """AMB-EN-1: the spelling that the guide once uses is unknown: a warning names the real one."""
    adopted = endeca.read(folder({"crawl.scope.on-redirected-seed": "false"}))
    assert keys(adopted)["scope.follow_redirected_seed"] is True
    assert [one for one in adopted.warnings if "crawl.scope" in one] == [
        f'site.xml: "crawl.scope.on-redirected-seed" is no property and has no effect; did you mean "{REAL_NAME}"?'
    ]
    assert [(name, value) for name, value, _ in adopted.not_carried] == [("crawl.scope.on-redirected-seed", "false")]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("fetcher.threads.per.host", "fetcher.threads.per-host"),
        ("CrawlScope.Mode", "crawlscope.mode"),
        ("http.robot.ignore", "http.robots.ignore"),
        ("my.own.thing", ""),
    ],
)
def test_what_a_misspelt_property_was_meant_to_be(folder: Folder, name: str, meant: str) -> None:
    """AMB-EN-1: a name like a property's is told that property; one like none is only listed."""
    adopted = endeca.read(folder({name: "1"}))
    warned = [one for one in adopted.warnings if "no property" in one]
    assert [f'did you mean "{meant}"' in one for one in warned] == ([True] if meant else [])
    assert [one for one, _, _ in adopted.not_carried] == [name]


def test_scope_is_set_as_the_original_decides(folder: Folder) -> None:
    """EN-14, EN-20d, AMB-EN-4: a link is held against its own seed, and domains are told by the two lists."""
    read = keys(endeca.read(folder({})))
    assert read["scope.judge_against"] == "own-seed"
    assert read["scope.domains"] == "lists"


# 1.3 Domains


@pytest.mark.parametrize("text", [".co.uk ma.us", "co.uk\tMA.us", "\n  .CO.UK.\n  ma.us  co.uk\n"])
def test_lists_of_top_level_domains(folder: Folder, text: str) -> None:
    """EN-16, AMB-EN-13, AMB-EN-19: any white space parts the names; case, and dots around them, do not count."""
    read = keys(endeca.read(folder({ADDITIONAL: text, GENERICS: "com .ORG"})))
    assert read["domains.additional"] == ["co.uk", "ma.us"]
    assert read["domains.generic"] == ["com", "org"]


def test_the_additional_list_is_empty_and_the_generic_one_is_ours_by_default(folder: Folder) -> None:
    """EN-16, AMB-EN-14: where no file has the generic list, Purlieu's own holds."""
    read = keys(endeca.read(folder({})))
    assert read["domains.additional"] == []
    assert "domains.generic" not in read


@pytest.mark.parametrize(
    ("generic", "warned"), [(" ".join(sorted(GENERIC)), False), ("com org", True), ("", True), (None, False)]
)
def test_an_edited_generic_list_is_warned_of(folder: Folder, generic: str | None, warned: bool) -> None:
    """EN-82: a changed list may change how domain names are derived."""
    adopted = endeca.read(folder({} if generic is None else {GENERICS: generic}))
    assert any("may change how domain names are derived" in one for one in adopted.warnings) is warned


@pytest.mark.parametrize(
    ("additional", "mode", "added"),
    [("", "SAME_DOMAIN", '"co.uk"'), ("co.uk", "SAME_DOMAIN", ""), ("", "SAME_HOST", "")],
)
def test_the_two_terms_to_add_are_told_before_the_crawl(folder: Folder, additional: str, mode: str, added: str) -> None:
    """EN-80, EN-23, AMB-EN-2: a seed whose domain no list tells would open its whole registry; EN-22: listed, it does not."""
    path = folder({"crawlscope.mode": mode, ADDITIONAL: additional})
    warned = [one for one in endeca.read(path, seeds=["http://www.xyz.co.uk/"]).warnings if "told by neither" in one]
    assert [f"add {added} to {ADDITIONAL}" in one for one in warned] == ([True] if added else [])


# 1.4 URL filter


def rules(folder: Folder, text: str, **properties: str) -> list[str]:
    """Return the filter rules that come of a crawl-urlfilter.txt."""
    made: list[str] = keys(endeca.read(folder(properties, crawl__urlfilter_txt=text)))["filter.rules"]
    return made


def test_filter_rules_keep_their_order_signs_and_patterns(folder: Folder) -> None:
    """UF-1, UF-2, UF-4, UF-9: rules stay as they are, in order, since the first that matches decides."""
    assert rules(folder, "+^http://h/\n-^http://h/x/\r\n-(?i)\\.PDF$\n+.") == [
        "+^http://h/",
        "-^http://h/x/",
        "-(?i)\\.PDF$",
        "+.",
    ]


@pytest.mark.parametrize(
    ("text", "made"), [("+a", ["+a", "-."]), ("-a\n-.", ["-a", "-."]), ("# none", ["-."]), ("", ["-."])]
)
def test_what_no_rule_matches_is_refused(folder: Folder, text: str, made: list[str]) -> None:
    """UF-3: the file's silent end is written out; a file without rules refuses everything."""
    assert rules(folder, text) == made


def test_empty_lines_comments_and_lines_with_a_space_are_skipped(folder: Folder) -> None:
    """UF-5: of a line only the first character says that it is none; UF-8: a trailing comment is part of the pattern."""
    assert rules(folder, "# -x\n\n +y\n+z # not a comment\n-\u2028") == ["+z # not a comment", "-\u2028", "-."]


@pytest.mark.parametrize("line", ["http://x/", "\t+x", "*x"])
def test_another_first_character_is_refused(folder: Folder, line: str) -> None:
    """UF-6: loading fails with the original's words and the line."""
    ((key, value, remedy),) = mistakes(folder({}, crawl__urlfilter_txt=f"+a\n{line}\n"))
    assert (key, value) == ("line 2", line)
    assert remedy.startswith(f"Invalid first character: {line}")


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?z)a", "*"])
def test_an_invalid_expression_is_refused(folder: Folder, pattern: str) -> None:
    """UF-7: loading fails, with the line and the pattern."""
    ((key, value, _),) = mistakes(folder({}, crawl__urlfilter_txt=f"-{pattern}"))
    assert (key, value) == ("line 1", pattern)


def test_the_shipped_template_is_taken_whole(folder: Folder) -> None:
    """UF-10, R-3.4: with its loop breaker; the native trap test stays out of the way; the placeholder is warned of."""
    template = (
        "-^(file|ftp|mailto):\n-\\.(gif|GIF|exe)$\n-[?*!@=]\n-.*(/.+?)/.*?\\1/.*?\\1/\n"
        "+^http://([a-z0-9]*\\.)*MY.DOMAIN.NAME/\n-.\n"
    )
    adopted = endeca.read(folder({}, crawl__urlfilter_txt=template))
    read = keys(adopted)
    assert read["filter.rules"] == template.splitlines()
    assert "filter.unsafe_patterns" not in read
    assert read["limits.repeated_segment"] == 0
    assert any("MY.DOMAIN.NAME" in one and "line 5" in one for one in adopted.warnings)


def test_a_pattern_for_the_slow_engine_switches_it_on(folder: Folder) -> None:
    """R-3.4: what only looks ahead is still taken, with a warning; what neither engine knows is refused with its line."""
    adopted = endeca.read(folder({}, crawl__urlfilter_txt="+a\n-^(?!http://h/)"))
    assert keys(adopted)["filter.unsafe_patterns"] is True
    assert any("line 2" in one and "10 ms" in one for one in adopted.warnings)
    assert [key for key, _, _ in mistakes(folder({}, crawl__urlfilter_txt="-[a-z&&[^b]]"))] == ["line 1"]


@pytest.mark.parametrize(("given", "to_seeds"), [("true", True), ("false", False), (None, False)])
def test_whether_seeds_are_filtered(folder: Folder, given: str | None, to_seeds: bool) -> None:
    """UF-11: seeds pass the filter unless the property says otherwise."""
    properties = {"urlfilter.filter-seeds": given} if given else {}
    assert keys(endeca.read(folder(properties, crawl__urlfilter_txt="+.")))["filter.apply_to_seeds"] is to_seeds


def test_the_filter_file_may_have_another_name(folder: Folder) -> None:
    """UF-1: urlfilter.regex.file names it; a named one must be there, and must be a bare name; the usual one may lack."""
    path = folder({"urlfilter.regex.file": "mine.txt"}, mine_txt="+mine", crawl__urlfilter_txt="+usual")
    assert keys(endeca.read(path))["filter.rules"] == ["+mine", "-."]
    for name in ("other.txt", "n" * 300, "../conf0/mine.txt", "/etc/passwd", ""):
        assert [key for key, _, _ in mistakes(folder({"urlfilter.regex.file": name}))] == ["urlfilter.regex.file"]
    without = endeca.read(folder({}))
    assert "filter.rules" not in keys(without)
    assert any("no crawl-urlfilter.txt" in one for one in without.warnings)


def test_a_filter_plugin_is_not_carried_over(folder: Folder) -> None:
    """EN-20c, UF-1: another filter than the regex one is a program, and is named."""
    order = "org.apache.nutch.urlfilter.regex.RegexURLFilter com.example.Own"
    (left,) = endeca.read(folder({"urlfilter.order": order})).not_carried
    assert left[0] == "urlfilter.order"
    assert left[2].endswith("com.example.Own is one")


# 1.5 Normalisers


def test_the_basic_normaliser(folder: Folder) -> None:
    """UF-20, UF-21, UF-23, R-3.5: the standard form, and slashes made one, always; AMB-EN-8 is the standard's too."""
    read = keys(endeca.read(folder({})))
    assert read["normalise.collapse_slashes"] is True
    assert (read["normalise.loops"], read["normalise.apply_to_seeds"]) == (1, False)


def test_normaliser_properties(folder: Folder) -> None:
    """UF-20: loop count and seeds; another order is not carried over."""
    given = {"urlnormalizer.loop.count": "3", "urlnormalizer.normalize-seeds": "true"}
    order = "x.y.RegexURLNormalizer x.y.BasicURLNormalizer"
    adopted = endeca.read(folder(given | {"urlnormalizer.order": order}))
    assert (keys(adopted)["normalise.loops"], keys(adopted)["normalise.apply_to_seeds"]) == (3, True)
    assert [name for name, _, _ in adopted.not_carried] == ["urlnormalizer.order"]
    usual = endeca.read(folder({"urlnormalizer.order": "x.y.BasicURLNormalizer x.y.RegexURLNormalizer"}))
    assert usual.not_carried == ()


def test_normaliser_rules_keep_their_order_and_spaces(folder: Folder) -> None:
    """UF-24, UF-25, UF-26: in file order, a pattern of one space too, ``&`` from its entity, empty text deletes."""
    sample = [
        ("(?i)(;?\\b_?(l|j|bv_)?(sid|phpsessid|sessionid)=.*?)(\\?|&|#|$)", "$4"),
        (" ", "%20"),
        ("#.*?(\\?|&|$)", "$1"),
    ]
    sample += [("\\?&", "?"), ("&{2,}", "&"), ("[?&.]$", "")]
    read = keys(endeca.read(folder({}, regex__normalize_xml=normaliser(*sample))))
    assert [(rule["pattern"], rule["replace"]) for rule in read["normalise.rule"]] == sample


def test_a_missing_substitution_deletes(folder: Folder) -> None:
    """UF-24: an empty substitution, or none, deletes what was found."""
    text = "<regex-normalize><regex><pattern>x</pattern></regex><regex><pattern>y</pattern><substitution/></regex></regex-normalize>"
    read = keys(endeca.read(folder({}, regex__normalize_xml=text)))
    assert [rule["replace"] for rule in read["normalise.rule"]] == ["", ""]


@pytest.mark.parametrize(
    "text",
    [
        "<regex-normalize><regex><pattern> </pattern><substitution>%20</substitution><regex></regex-normalize>",
        "<rules/>",
        "<regex-normalize><regex><substitution>x</substitution></regex></regex-normalize>",
        normaliser(("(", "")),
        normaliser(("a", "$1")),
        normaliser(("a(?=b)", "")),
    ],
)
def test_a_wrong_normaliser_file_is_refused(folder: Folder, text: str) -> None:
    """UF-24, UF-25: the guide's misprint is no XML; other roots, rules without pattern, and bad patterns are told by line."""
    found = mistakes(folder({}, regex__normalize_xml=text))
    assert [key.startswith("line ") for key, _, _ in found] == [True]


def test_the_rule_for_slashes_becomes_our_own(folder: Folder) -> None:
    """UF-23, R-3.4: the sample's rule that looks behind is what collapse_slashes does."""
    adopted = endeca.read(folder({}, regex__normalize_xml=normaliser(("(?<!:)/{2,}", "/"), ("x", "y"))))
    assert [rule["pattern"] for rule in keys(adopted)["normalise.rule"]] == ["x"]
    assert any("collapse_slashes" in one for one in adopted.warnings)


# 1.6 HTTP and robots


@pytest.mark.parametrize(
    ("given", "agent"),
    [
        ({}, "endeca webcrawler/WebCrawler"),
        ({"name": "me", "version": ""}, "me"),
        ({"description": "a", "url": "http://b/", "email": "c@d"}, "endeca webcrawler/WebCrawler (a; http://b/; c@d)"),
        ({"email": "c@d"}, "endeca webcrawler/WebCrawler (c@d)"),
    ],
)
def test_user_agent(folder: Folder, given: dict[str, str], agent: str) -> None:
    """EN-40: name/version, then description, URL and e-mail in parentheses as far as they are set."""
    properties = {f"http.agent.{name}": value for name, value in given.items()}
    assert keys(endeca.read(folder(properties)))["fetch.user_agent"] == agent


def test_what_a_header_cannot_hold_is_not_carried_over(folder: Folder) -> None:
    """EN-40: line breaks become spaces; a text in another script than ASCII is left out and listed."""
    adopted = endeca.read(folder({"http.agent.description": "a\n b", "http.agent.url": "クローラ"}))
    assert keys(adopted)["fetch.user_agent"] == "endeca webcrawler/WebCrawler (a b)"
    assert [name for name, _, _ in adopted.not_carried] == ["http.agent.url"]


def test_a_crawler_without_name_is_refused(folder: Folder) -> None:
    """EN-40: http.agent.name is required."""
    assert [key for key, _, _ in mistakes(folder({"http.agent.name": ""}))] == ["http.agent.name"]


@pytest.mark.parametrize(("given", "allows"), [("true", True), (None, True), ("false", False)])
def test_robots_403(folder: Folder, given: str | None, allows: bool) -> None:
    """EN-41, AMB-EN-7: true, the default, is RFC 9309's way; false forbids the whole host, here too."""
    adopted = endeca.read(folder({"http.robots.403.allow": given} if given else {}))
    assert keys(adopted)["robots.allow_403"] is allows
    assert not adopted.not_carried


@pytest.mark.parametrize(("given", "obey"), [("true", False), ("false", True), (None, True)])
def test_robots_may_be_ignored(folder: Folder, given: str | None, obey: bool) -> None:
    """EN-44, EN-53: http.robots.ignore is for robots.txt and META robots alike."""
    read = keys(endeca.read(folder({"http.robots.ignore": given} if given else {})))
    assert (read["robots.obey"], read["links.obey_nofollow"]) == (obey, obey)


@pytest.mark.parametrize(
    ("given", "agent", "left"),
    [(None, "endeca", False), ("me,*", "me", False), ("me/2.0, you, *", "me", True), ("*", None, True)],
)
def test_robots_agents(folder: Folder, given: str | None, agent: str | None, left: bool) -> None:
    """Semantics 1.6: the first name is the one obeyed; further ones are not carried over; ``*`` is always the last."""
    adopted = endeca.read(folder({"http.robots.agents": given} if given else {}))
    assert keys(adopted).get("robots.agent") == agent
    assert ("http.robots.agents" in {name for name, _, _ in adopted.not_carried}) is left


def test_units_of_http(folder: Folder) -> None:
    """Semantics 1.6: the timeout is in milliseconds, the limit in bytes, -1 of it is none."""
    read = keys(endeca.read(folder({"http.timeout": "2500", "http.content.limit": "65536"})))
    assert (read["fetch.timeout_seconds"], read["fetch.connect_timeout_seconds"], read["fetch.page_bytes"]) == (
        2.5,
        2.5,
        65536,
    )
    defaults = keys(endeca.read(folder({})))
    assert (defaults["fetch.timeout_seconds"], defaults["fetch.page_bytes"]) == (10.0, 1048576)
    assert keys(endeca.read(folder({"http.content.limit": "-1"})))["fetch.page_bytes"] == 1024**3


def test_logins_are_bound_to_their_origin(folder: Folder) -> None:
    """Semantics 1.6, R-4.7: each entry becomes the origins that its host and port can mean; secrets stay out of reports."""
    basic = "u~~~p|w~~~h.example~~~443~~~ANY_REALM|||v~~~q~~~i.example~~~8080~~~r"
    adopted = endeca.read(folder({"http.auth.basic": basic, "http.auth.digest": "x~~~y~~~j.example~~~80~~~ANY_REALM"}))
    made = [tuple(one.values()) for one in keys(adopted)["origin"]]
    assert made == [
        ("https://h.example", "u", "p|w", "basic"),
        ("http://i.example:8080", "v", "q", "basic"),
        ("https://i.example:8080", "v", "q", "basic"),
        ("http://j.example", "x", "y", "digest"),
    ]
    assert {value for name, value, _ in adopted.carried if name.startswith("http.auth")} == {MASK}
    assert "p|w" not in repr((adopted.carried, adopted.not_carried, adopted.warnings))


@pytest.mark.parametrize(
    "value",
    ["u~~~p~~~ANY_HOST~~~80~~~ANY_REALM", "u~~~p", "u~~~~~~h~~~80~~~r", "u~~~p~~~h/x~~~80~~~r", "u~~~p~~~h~~~port~~~r"],
)
def test_logins_without_a_host_are_not_carried_over(folder: Folder, value: str) -> None:
    """Semantics 1.6: a login for any host would be sent everywhere; a broken one is for none; both are listed, masked."""
    adopted = endeca.read(folder({"http.auth.basic": value}))
    assert "origin" not in keys(adopted)
    assert [(name, shown) for name, shown, _ in adopted.not_carried] == [("http.auth.basic", MASK)]


def test_one_login_for_each_origin(folder: Folder) -> None:
    """Semantics 1.6: settings take one login for an origin; a second one is listed."""
    login = "u~~~p~~~h.example~~~443~~~ANY_REALM"
    adopted = endeca.read(folder({"http.auth.basic": login, "http.auth.digest": login}))
    assert [one["auth"] for one in keys(adopted)["origin"]] == ["basic"]
    assert [name for name, _, _ in adopted.not_carried] == ["http.auth.digest"]


@pytest.mark.parametrize("name", ["http.cookies", "http.auth.ntlm"])
def test_secrets_that_are_not_carried_over_are_masked(folder: Folder, name: str) -> None:
    """Semantics 1.6: cookies and NTLM logins are listed without their values."""
    adopted = endeca.read(folder({name: "d~~~n~~~s3cret~~~/~~~-1~~~true"}))
    assert [(one, shown) for one, shown, _ in adopted.not_carried] == [(name, MASK)]
    assert "s3cret" not in adopted.toml


def test_a_proxy_is_carried_over(folder: Folder) -> None:
    """EN-8: host, port, user and password become one proxy; without a host there is none."""
    proxy = {"host": "proxy.example", "port": "3128", "username": "u", "password": "p@w"}
    adopted = endeca.read(folder({f"http.proxy.{name}": value for name, value in proxy.items()}))
    assert keys(adopted)["fetch.proxy"] == "http://u:p%40w@proxy.example:3128"
    assert ("http.proxy.password", MASK, "fetch.proxy") in adopted.carried
    assert "fetch.proxy" not in keys(endeca.read(folder({"http.proxy.port": "3128"})))


# 1.7 Fetcher


def test_fetcher_defaults(folder: Folder) -> None:
    """Semantics 1.7: the guide's defaults hold where no file says otherwise."""
    read = keys(endeca.read(folder({})))
    names = ("delay", "max_crawl_delay", "max_hosts", "connections", "retries", "retry_seconds")
    assert [read[f"politeness.{name}"] for name in names] == [2.0, 30.0, 100, 1, 3, 5.0]


@pytest.mark.parametrize(("delay", "pause", "made"), [("2", "0.5", 2.0), ("1", "5", 5.0)])
def test_a_retry_never_comes_sooner_than_another_request(folder: Folder, delay: str, pause: str, made: float) -> None:
    """Semantics 1.7: below fetcher.delay, fetcher.delay is used."""
    read = keys(endeca.read(folder({"fetcher.delay": delay, "fetcher.retry.delay": pause})))
    assert read["politeness.retry_seconds"] == made


@pytest.mark.parametrize(("given", "made"), [("-1", -1.0), ("5", 5.0), ("0", 0.0)])
def test_the_longest_crawl_delay(folder: Folder, given: str, made: float) -> None:
    """EN-50, EN-51, EN-52: in seconds; -1 always waits."""
    assert keys(endeca.read(folder({"fetcher.delay.max": given})))["politeness.max_crawl_delay"] == made


def test_a_delay_for_each_thread_becomes_one_for_the_host(folder: Folder) -> None:
    """Semantics 1.7: four threads that each wait 2 s ask every 0.5 s; no more requests than threads are under way."""
    read = keys(endeca.read(folder({"fetcher.threads.per-host": "4", "fetcher.threads.total": "10"})))
    assert (read["politeness.delay"], read["politeness.connections"], read["politeness.max_hosts"]) == (0.5, 4, 2)


@pytest.mark.parametrize(
    ("name", "value", "key", "made"),
    [
        ("fetcher.delay", "soon", "politeness.delay", 2.0),
        ("fetcher.delay", "NaN", "politeness.delay", 2.0),
        ("http.robots.ignore", "yes", "robots.obey", True),
        ("fetcher.threads.per-host", "1000", "politeness.connections", 64),
        ("http.timeout", "1", "fetch.timeout_seconds", 0.1),
        ("http.timeout", "-1", "fetch.timeout_seconds", 0.1),
        ("urlnormalizer.loop.count", "-1", "normalise.loops", 1),
    ],
)
def test_values_that_cannot_stand(folder: Folder, name: str, value: str, key: str, made: object) -> None:
    """EN-7: what is no number or boolean is the default, as in the original; what is out of reach is brought near; told."""
    adopted = endeca.read(folder({name: value}))
    assert keys(adopted)[key] == made
    assert any(name in one for one in adopted.warnings)


# 1.8 Flags and seeds


def test_depth_and_limit(folder: Folder) -> None:
    """EN-61, EN-62: a seed is level 0; the limit is soft, and 0 is none."""
    read = keys(endeca.read(folder({}), depth=0, limit=50))
    assert (read["limits.max_depth"], read["limits.max_pages"]) == (0, 50)
    without = endeca.read(folder({}), limit=0)
    assert not {"limits.max_depth", "limits.max_pages"} & set(keys(without))
    assert any("-d" in one for one in without.warnings)


@pytest.mark.parametrize("flag", ["depth", "limit"])
def test_a_negative_flag_is_refused(folder: Folder, flag: str) -> None:
    """EN-61, EN-62: depth and limit are whole numbers of at least 0."""
    assert mistakes(folder({}), **{flag: -1}) == [(f"--{flag}", "-1", "write a whole number of at least 0")]


def test_seeds_are_urls_or_files(folder: Folder) -> None:
    """Semantics 1.8: -s takes a URL or a file; EN-68: one a line, without empty lines and comments; each URL once."""
    path = folder({}, mysites_lst="# shops\n\n http://b.example/ \nhttp://a.example/\n")
    made = keys(endeca.read(path, seeds=["http://a.example/", "mysites.lst"]))["seeds"]
    assert made == ["http://a.example/", "http://b.example/"]
    assert keys(endeca.read(path))["seeds"] == ["http://b.example/", "http://a.example/"]


def test_a_bad_line_of_a_seed_list_is_passed_over(folder: Folder) -> None:
    """EN-68, EN-66: with a warning that has its line; FTP is none that can be crawled."""
    adopted = endeca.read(folder({}, mysites_lst="ftp://a.example/\nhttp://b.example/\nhttp://\n"))
    assert keys(adopted)["seeds"] == ["http://b.example/"]
    assert [line in " ".join(adopted.warnings) for line in ("line 1:", "line 2:", "line 3:")] == [True, False, True]


def test_a_typed_seed_that_is_none_is_refused(folder: Folder) -> None:
    """EN-66: what was typed as a seed must be one."""
    assert [(key, value) for key, value, _ in mistakes(folder({}), seeds=["ftp://a.example/"])] == [
        ("--seed", "ftp://a.example/")
    ]


def test_several_lists_of_seeds_are_not_guessed_between(folder: Folder) -> None:
    """EN-68: of two lists none is taken, and both are named."""
    adopted = endeca.read(folder({}, a_lst="http://a.example/", b_lst="http://b.example/"))
    assert keys(adopted)["seeds"] == []
    assert any("a.lst, b.lst" in one for one in adopted.warnings)


def test_only_links_are_followed(folder: Folder) -> None:
    """Semantics 1.9, EN-76: no sitemaps, no canonical URLs; targets of forms only where the parser is told so."""
    read = keys(endeca.read(folder({})))
    assert (read["sitemap.use"], read["links.canonical"], "form" in read["links.kinds"]) == (False, False, False)
    assert "form" in keys(endeca.read(folder({"parser.html.form.use_action": "true"})))["links.kinds"]


def test_files_that_cannot_be_read_are_told(folder: Folder) -> None:
    """EN-6: a filter that is not UTF-8, and a file without end, are refused and not half read."""
    path = folder({})
    (path / "crawl-urlfilter.txt").write_bytes(b"+\xff\xfe")
    assert "UTF-8" in mistakes(path)[0][2]
    (path / "crawl-urlfilter.txt").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    assert "longer than" in mistakes(path)[0][2]
    (path / "crawl-urlfilter.txt").unlink()
    (path / "site.xml").write_bytes(b" " * (4 * 1024 * 1024 + 1))
    assert "longer than" in mistakes(path)[0][2]


def test_a_whole_configuration() -> None:
    """A polite crawl's folder over the default one: everything in it has its place."""
    adopted = endeca.read(CORPUS / "polite", defaults=CORPUS / "default", depth=2)
    read = keys(adopted)
    assert read["seeds"] == ["http://www.garden.co.uk/", "http://flowers.ca/"]
    assert (read["scope.mode"], read["scope.follow_redirected_seed"]) == ("same-domain", False)
    assert read["domains.additional"] == ["co.uk", "ca"]
    assert (read["politeness.delay"], read["politeness.retry_seconds"]) == (1.0, 1.0)
    assert len(read["filter.rules"]) == 8
    assert len(read["normalise.rule"]) == 4
    assert [name for name, _, _ in adopted.not_carried] == [
        "output.file.is-xml",
        "output.file.directory",
        "plugin.includes",
        "crawl.scope.on-redirected-seed",
        "http.cookies",
    ]
