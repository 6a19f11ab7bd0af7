"""``purlieu explain`` and ``purlieu scope`` as they are typed (R-3.7, R-8.2; house.md, public faces)."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from tests.crawling import HOME, crawl, html, made_settings

from purlieu.cli import options, scope
from purlieu.cli.main import main
from purlieu.testing.web import FakeWeb, answer, redirect

TOML = 'seeds = ["https://www.example.co.uk/"]\n[scope]\nmode = "same-domain"\n[filter]\nexclude = ["*.pdf"]\n'
Words = list[str]


@pytest.fixture
def toml(tmp_path: Path) -> str:
    """Return the path of a settings file."""
    path = tmp_path / "purlieu.toml"
    path.write_text(TOML, encoding="utf-8")
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """Return the path of a store with one run whose settings have a secret."""
    web = FakeWeb(
        {
            HOME: html("/a", "/r", "/private/x", "http://other.test/"),
            f"{HOME}robots.txt": answer("User-agent: *\nDisallow: /private/\n", url="/robots.txt"),
            f"{HOME}a": html(),
            f"{HOME}r": redirect("/a"),
        }
    )
    login = {"origin": "http://site.test", "user": "me", "password": "s3cret"}
    crawl(web, made_settings(tmp_path / "s.db", {"origin": [login]}))
    return str(tmp_path / "s.db")


def test_explain_by_a_file(toml: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a run the tests are told with their values, the suffix rule and its list, and what is assumed (R-3.7)."""
    assert main(["explain", "HTTPS://Shop.example.co.uk:443/a/../b#c", "-c", toml]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("https://shop.example.co.uk/b\n  verdict     accepted\n  rule        same-domain\n")
    assert "assuming no seed redirects" in out
    assert 'rule "co.uk" of the public suffix list (publicsuffixlist ' in out
    assert err == ""


@pytest.mark.parametrize(
    ("url", "accepted", "rule", "reason"),
    [
        ("https://www.example.co.uk/", True, "seed", "it is a seed"),
        ("https://www.example.co.uk/x.pdf", False, "exclude:1", 'item 1 of filter.exclude, "*.pdf", refuses it'),
        ("https://notexample.co.uk/", False, "out-of-scope:notexample.co.uk", '"notexample.co.uk" is not'),
        ("mailto:me@example.co.uk", False, "mailto", "neither http nor https"),
        ("http://[", False, "invalid-url", "is no URL"),
    ],
)
def test_explain_as_json(
    toml: str, url: str, accepted: bool, rule: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """--json prints one object with at least url, accepted, rule and reason, for whatever is typed (public faces)."""
    assert main(["explain", url, "-c", toml, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["url"], told["accepted"], told["rule"]) == (url, accepted, rule)
    assert reason in told["reason"]


def test_explain_in_a_run(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With a run its ending, way, robots line and redirects are told, in the owner's language; a secret never is."""
    assert main(["explain", f"{HOME}r", "--run", "latest", "--store", store, "--lang", "ja"]) == 0
    out = capsys.readouterr().out
    assert "redirected.permanent: ページは恒久的に移動しました" in out
    assert f"landed: {HOME}a" in out
    assert f"{HOME} の link で発見\n" in out
    assert main(["explain", f"{HOME}private/x", "--run", "1", "--store", store]) == 0
    out = capsys.readouterr().out
    assert "rule        robots:2" in out
    assert 'line 2, "Disallow: /private/"' in out
    assert "s3cret" not in out


def test_explain_without_settings_means_the_latest_run(
    store: str, toml: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has crawled without a settings file is told of the latest run; the ending of what is in stands on top."""
    folder = Path(store).parent
    monkeypatch.chdir(folder)
    Path(toml).unlink()
    assert main(["explain", f"{HOME}gone", "--store", store]) == 0
    assert "run 1 has no row of it" in capsys.readouterr().out
    assert main(["explain", f"{HOME}r", "--store", store]) == 0
    assert capsys.readouterr().out.splitlines()[4].startswith("  ending      redirected.permanent: The server says")
    assert main(["explain", f"{HOME}r"]) == 2
    assert "neither such a file nor a store purlieu.db; give -c FILE, or --store FILE" in capsys.readouterr().err


def test_explain_in_a_run_as_json(store: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The same as values: the rows of the ledger, each with its ending."""
    assert main(["explain", f"{HOME}a", "--run", "1", "--store", store, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"url", "accepted", "rule", "reason"} <= told.keys()
    assert [(row["purpose"], row["outcome"]) for row in told["rows"]] == [("page", "fetched.ok")]
    assert told["linked_from"] == [{"url": HOME, "kind": "a", "nofollow": False}]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--run", "7", "--store", "STORE"], "there is no such run"),
        (["--run", "1", "-c", "TOML", "--store", "STORE"], "leave -c or --run out"),
        (["--run", "1", "--store", "nowhere.db"], "there is no such file"),
        (["-c", "nowhere.toml"], "cannot be read"),
    ],
)
def test_what_cannot_be_explained(
    words: Words, told: str, toml: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is wrong in what was typed is told with a remedy, and the exit status is 2."""
    typed = [{"STORE": store, "TOML": toml}.get(word, word) for word in words]
    assert main(["explain", HOME, *typed]) == 2
    assert told in capsys.readouterr().err


def test_scope_check(toml: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each URL, typed or from a file, has a line with rule and reason; the exit status is 1 if any is refused (R-8.2)."""
    listed = tmp_path / "urls.txt"
    listed.write_text("# ours\nhttps://a.example.co.uk/\n\nhttps://example.com/\n", encoding="utf-8")
    assert main(["scope", "check", "-c", toml, str(listed), "https://www.example.co.uk/x.pdf"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[:3]] == [
        ["accepted", "https://a.example.co.uk/", "same-domain"],
        ["refused", "https://example.com/", "out-of-scope:example.com"],
        ["refused", "https://www.example.co.uk/x.pdf", "exclude:1"],
    ]
    assert lines[3] == "1 accepted, 2 refused, assuming no seed redirects."
    assert main(["scope", "check", "-c", toml, "https://b.example.co.uk/"]) == 0


def test_scope_check_as_json_from_stdin(toml: str, capsys: pytest.CaptureFixture[str]) -> None:
    """- reads stdin, and --json prints one object a line with url, accepted, rule and reason."""
    typed = options.parse(["scope", "check", "-c", toml, "-", "--json"])
    assert scope.run(typed, io.StringIO("https://a.example.co.uk/\nhttp://[\n")) == 1
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["accepted"], one["rule"]) for one in told] == [(True, "same-domain"), (False, "invalid-url")]
    assert all({"url", "accepted", "rule", "reason"} <= one.keys() for one in told)


def test_scope_check_reads_the_rules_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of a rules file beside the settings file decide, and the deciding one is quoted (UF-2, UF-3)."""
    (tmp_path / "rules.txt").write_text("-[.]jpg$\n+^http://site[.]test/\n", encoding="utf-8")
    toml = tmp_path / "p.toml"
    toml.write_text('seeds = ["http://site.test/"]\nfilter.rules_file = "rules.txt"\n', encoding="utf-8")
    assert main(["scope", "check", "-c", str(toml), f"{HOME}a.jpg"]) == 1
    assert 'line 1 of filter.rules, "-[.]jpg$", refuses it' in capsys.readouterr().out


@pytest.mark.parametrize(("words", "told"), [([], "nothing to check"), (["example.com"], "cannot be read")])
def test_nothing_to_check(words: Words, told: str, toml: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a URL, or with a word that is neither URL nor file, the exit status is 2 and the remedy is told."""
    assert main(["scope", "check", "-c", toml, *words]) == 2
    assert told in capsys.readouterr().err


def test_what_if(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What would enter and leave is counted by the rules that decided and would decide, and listed when asked for."""
    toml = tmp_path / "other.toml"
    toml.write_text(f'seeds = ["{HOME}"]\nfilter.exclude = ["*/r"]\n[scope]\nmode = "any"\n', encoding="utf-8")
    assert main(["scope", "whatif", "latest", "-c", str(toml), "--store", store]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:5]] == [
        ["enters", "1"], ["leaves", "1"], ["stays", "in", "2"], ["stays", "out", "1"],
    ]  # fmt: skip
    assert "  out-of-scope:other.test -> any  1" in lines
    assert "  same-host -> exclude:1  1" in lines
    assert main(["scope", "whatif", "1", "-c", str(toml), "--list", "--store", store]) == 0
    out = capsys.readouterr().out
    assert "enters  http://other.test/  out-of-scope:other.test -> any\n" in out
    assert f"leaves  {HOME}r  same-host -> exclude:1\n" in out


def test_what_if_as_json(store: str, toml: str, capsys: pytest.CaptureFixture[str]) -> None:
    """--json gives the counts as one object, after the listed pages; a seed that the run never met enters."""
    assert main(["scope", "whatif", "1", "-c", toml, "--list", "--json", "--store", store]) == 0
    *listed, counts = map(json.loads, capsys.readouterr().out.splitlines())
    assert (counts["run"], counts["enters"], counts["leaves"], counts["not_listed"]) == (1, 1, 3, [])
    assert {"change": "enters", "was": "not met", "rule": "seed", "count": 1} in counts["by_rule"]
    assert [one["url"] for one in listed if one["change"] == "leaves"] == [HOME, f"{HOME}a", f"{HOME}r"]


def test_what_if_tells_what_is_not_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refusals that the run only counted are said to be unknown, with their host and number (R-1.4)."""
    web = FakeWeb({HOME: html(*(f"http://other.test/{number}" for number in range(5)))})
    made = made_settings(tmp_path / "s.db", {"ledger": {"refusals_per_host": 2}})
    crawl(web, made)
    toml = tmp_path / "other.toml"
    toml.write_text(f'seeds = ["{HOME}"]\nscope.mode = "any"\n', encoding="utf-8")
    assert main(["scope", "whatif", "1", "-c", str(toml), "--store", made.store]) == 0
    out = capsys.readouterr().out
    assert "Not listed, so it is not known whether they would enter: 3 finds" in out
    assert "other.test  3  excluded.scope" in out


@pytest.mark.parametrize(("language", "verdict"), [("ja", "判定"), ("zh", "判定")])
@pytest.mark.parametrize("url", [HOME, f"{HOME}x.pdf", "http://other.test/", "mailto:a@b", "foo"])
def test_explain_speaks_the_owner_s_language(
    language: str, verdict: str, url: str, toml: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No sentence and no label of an explanation stays English where the owner's language is another."""
    assert main(["explain", url, "-c", toml, "--lang", "en"]) == 0
    english = capsys.readouterr().out.splitlines()
    assert main(["explain", url, "-c", toml, "--lang", language]) == 0
    other = capsys.readouterr().out.splitlines()
    assert len(other) == len(english)
    assert other[1].strip().startswith(verdict)
    labels = ("reason", "note", "verdict", "Tests", "Sites", "passes", "its ", "it is", "assuming")
    assert not [line for line in other if any(f" {label}" in f" {line.strip()}" for label in labels)]


@pytest.mark.parametrize(("language", "refused"), [("ja", "対象外"), ("zh", "拒绝")])
def test_scope_speaks_the_owner_s_language(
    language: str, refused: str, toml: str, store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """``scope check`` and ``whatif`` say verdicts and reasons in the language that is asked for."""
    assert main(["scope", "check", "-c", toml, "--lang", language, "http://other.test/"]) == 1
    told = capsys.readouterr().out
    assert told.startswith(refused)
    assert "its " not in told
    assert main(["scope", "whatif", "latest", "-c", toml, "--store", store, "--lang", language]) == 0
    told = capsys.readouterr().out
    assert not [word for word in ("Run ", "enters", "Leaves", "Each page") if word in told]
    assert told.endswith("。\n")


def test_the_file_s_language_is_spoken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --lang the ``language`` of the settings file is spoken; JSON stays English, for machines."""
    path = tmp_path / "ja.toml"
    path.write_text(f'seeds = ["{HOME}"]\nlanguage = "ja"\n', encoding="utf-8")
    assert main(["explain", "http://other.test/", "-c", str(path)]) == 0
    assert "対象外" in capsys.readouterr().out
    assert main(["explain", "http://other.test/", "-c", str(path), "--json"]) == 0
    assert "its host" in json.loads(capsys.readouterr().out)["reason"]
