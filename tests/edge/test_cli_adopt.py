"""``purlieu adopt`` and ``purlieu crawl --endeca`` / ``--benjamin`` as they are typed.

Rules R-3.6, R-8.2; house.md section 4 (every mistake in one go).
"""

from __future__ import annotations

import asyncio
import io
import json
import tomllib
from pathlib import Path

import pytest

from purlieu import settings
from purlieu.cli import adopt, config, options
from purlieu.cli.main import main
from purlieu.errors import SettingsError
from purlieu.testing.loopback import Loopback, Received, message

ENDECA = Path(__file__).resolve().parent.parent / "corpus" / "adopt" / "endeca"
BENJAMIN = Path(__file__).resolve().parent.parent / "corpus" / "adopt" / "benjamin"
POLITE = [str(ENDECA / "polite"), "--defaults", str(ENDECA / "default")]


def crawled(*words: str) -> settings.Settings:
    """Return the settings that a typed ``purlieu crawl`` with another system's configuration makes."""
    arguments = options.parse(["crawl", *words])
    return config.of_crawl(arguments, io.StringIO(), adopt.for_crawl(arguments))


def test_endeca_is_written_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    """R-3.6: the file goes to stdout, what the owner should know to stderr, and no secret there."""
    assert main(["adopt", "endeca", *POLITE, "--depth", "2", "--limit", "9", "--seed", "http://flowers.ca/"]) == 0
    out, err = capsys.readouterr()
    made = settings.read(out)
    assert (made.limits.max_depth, made.limits.max_pages, made.seeds) == (2, 9, ("http://flowers.ca/",))
    assert 'did you mean "crawlscope.on-redirected-seed"' in err
    assert "not carried over: output.file.is-xml" in err
    assert "r0ses" not in err
    assert "s3cret" not in out + err


@pytest.mark.parametrize("name", ["task.json", "task.yaml"])
def test_benjamin_is_written_to_a_new_file(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """R-3.6: -o makes a file; one that is there stays as it is, with exit status 2."""
    path = tmp_path / "purlieu.toml"
    words = ["adopt", "benjamin", str(BENJAMIN / name), "-o", str(path)]
    assert main(words) == 0
    assert len(settings.read(path.read_text(encoding="utf-8")).sites) == 3
    assert "plugins" in capsys.readouterr().err
    path.write_text("# mine", encoding="utf-8")
    assert main(words) == 2
    assert path.read_text(encoding="utf-8") == "# mine"
    assert "already" in capsys.readouterr().err


def test_adopting_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """R-3.6: --json prints one object with everything that was and was not carried over."""
    assert main(["adopt", "endeca", *POLITE, "--json"]) == 0
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert set(facts) == {"toml", "carried", "not_carried", "warnings"}
    assert ["crawlscope.mode", "SAME_DOMAIN", "scope.mode"] in facts["carried"]
    assert tomllib.loads(facts["toml"])["scope"]["mode"] == "same-domain"
    assert err == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["endeca", "nowhere"], "neither default.xml nor site.xml"),
        (["endeca", POLITE[0], "--depth", "-1"], "--depth"),
        (["endeca", POLITE[0], "--limit", "many"], "--limit"),
        (["benjamin", "nowhere.json"], "cannot be read"),
        (["benjamin", POLITE[0]], "cannot be read"),
    ],
)
def test_what_cannot_be_adopted(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """R-8.2: exit status 2, and a sentence that says what to give."""
    assert main(["adopt", *words]) == 2
    out, err = capsys.readouterr()
    assert (out, told in err) == ("", True)


def test_strict_refuses_what_is_announced_to_be_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """BJ-11: SameTLD for an address is a warning, with --strict an error."""
    path = tmp_path / "task.json"
    path.write_text('{"entry_points": ["http://192.0.2.7/"], "follow_policy": {"policy": "SameTLD"}}', encoding="utf-8")
    assert main(["adopt", "benjamin", str(path)]) == 0
    assert "SameDomain" in capsys.readouterr().err
    assert main(["adopt", "benjamin", str(path), "--strict"]) == 2


def test_a_crawl_takes_either_directly(capsys: pytest.CaptureFixture[str]) -> None:
    """R-3.6: --endeca and --benjamin bring the settings; options and URLs stand over them; -q tells nothing."""
    made = crawled("--endeca", POLITE[0], "--endeca-defaults", POLITE[2], "--max-depth", "1", "http://flowers.ca/")
    assert (made.seeds, made.limits.max_depth, made.scope.judge_against) == (("http://flowers.ca/",), 1, "own-seed")
    assert "not carried over" in capsys.readouterr().err
    assert crawled("--benjamin", str(BENJAMIN / "task.yaml"), "-q").limits.max_targets == 5000
    assert capsys.readouterr().err == ""


def test_a_wrong_url_is_told_as_ever() -> None:
    """R-8.2: a URL typed beside --endeca is a URL, not the original's -s."""
    with pytest.raises(SettingsError) as caught:
        crawled("--endeca", POLITE[0], "ftp://a.example/", "example.com")
    assert [(one.key, one.value) for one in caught.value.mistakes] == [
        ("URL", "ftp://a.example/"),
        ("URL", "example.com"),
    ]


@pytest.mark.parametrize("other", [["--benjamin", "x"], ["-c", "x"], ["--demo"]])
def test_one_configuration_at_a_time(other: list[str]) -> None:
    """R-8.2: two sources of all the settings contradict each other."""
    with pytest.raises(SettingsError, match="leave --endeca or --"):
        crawled("--endeca", POLITE[0], *other)


def test_a_crawl_with_an_endeca_folder(tmp_path: Path) -> None:
    """EN-12: a whole crawl asks for the seed and what its scope lets through, and for no more."""
    asked: list[str] = []

    async def give(received: Received, out: asyncio.StreamWriter) -> bool:
        asked.append(received.path)
        links = '<a href="/in/a">a</a><a href="/out/b">b</a><a href="http://127.0.0.2:1/c">c</a>'
        out.write(message(b"" if received.path == "/robots.txt" else f"<title>x</title>{links}".encode()))
        return True

    (tmp_path / "site.xml").write_text(
        "<configuration><property><name>fetcher.delay</name><value>0</value></property></configuration>"
    )
    (tmp_path / "crawl-urlfilter.txt").write_text("-/out/\n+/in/\n")
    results = ["--store", str(tmp_path / "p.db"), "--output", str(tmp_path / "out")]
    with Loopback(give) as served:
        (tmp_path / "mysites.lst").write_text(f"{served.origin}/start\n")
        assert main(["crawl", "--endeca", str(tmp_path), "-q", *results]) == 0
    assert sorted(asked) == ["/in/a", "/robots.txt", "/start"]


def test_wrong_words_are_told_with_a_wrong_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was typed wrong and what stands wrong in the folder are told in one go (AMB-EN-16)."""
    (tmp_path / "site.xml").write_text(
        "<configuration><property><name>crawlscope.mode</name><value>any</value></property></configuration>"
    )
    assert main(["adopt", "endeca", str(tmp_path), "--seed", "http://a.example/", "--depth", "x", "--limit", "-1"]) == 2
    told = capsys.readouterr().err
    assert [told.count(key) for key in ("--depth", "--limit", "crawlscope.mode")] == [1, 1, 1]


def test_a_depth_that_is_typed_is_not_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """EN-61: ``crawl --endeca --max-depth`` is the original's -d, and is not missed."""
    (tmp_path / "site.xml").write_text("<configuration></configuration>")
    for words, missed in (([], True), (["--max-depth", "2"], False)):
        typed = options.parse(["crawl", "--endeca", str(tmp_path), "http://a.example/", *words])
        text, _ = adopt.for_crawl(typed)
        assert ("limits.max_depth" in capsys.readouterr().err) is missed
        assert ("max_depth = 2" in text) is not missed
