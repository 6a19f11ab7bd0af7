"""The command line without a crawl: what is typed, what is refused and how, settings commands, completion.

Rules R-1.7, R-8.2, R-9.2; house.md section 4 (every mistake in one go, value in quotes, what to do).
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from purlieu import __version__, settings
from purlieu.cli import completion, config, options
from purlieu.cli.main import main
from purlieu.errors import SettingsError
from purlieu.page import scan
from purlieu.settings import Settings


def made(*words: str, stdin: str = "") -> Settings:
    """Return the settings that a typed ``purlieu crawl`` makes."""
    return config.of_crawl(options.parse(["crawl", *words]), io.StringIO(stdin))


def mistakes(*words: str, stdin: str = "") -> list[tuple[str, str, str | None]]:
    """Return (key, value, file) of what is wrong with a typed ``purlieu crawl``."""
    with pytest.raises(SettingsError) as caught:
        made(*words, stdin=stdin)
    return [(one.key, one.value, one.file) for one in caught.value.mistakes]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a settings file."""
    path = tmp_path / "p.toml"
    path.write_text('seeds = ["http://file.example/"]\n[limits]\nmax_depth = 9\nmax_pages = 9\n', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["--scope", "any"], "scope.mode", "any"),
        (["--max-depth", "2"], "limits.max_depth", 2),
        (["--max-pages", "2"], "limits.max_pages", 2),
        (["--max-seconds", "1.5"], "limits.max_seconds", 1.5),
        (["--max-seconds", "5 min"], "limits.max_seconds", 300.0),
        (["--delay", "0"], "politeness.delay", 0.0),
        (["--connections", "4"], "politeness.connections", 4),
        (["--user-agent", "Me/1"], "fetch.user_agent", "Me/1"),
        (["--ignore-robots"], "robots.obey", False),
        (["--name", "x"], "name", "x"),
        (["--store", "x.db"], "store", "x.db"),
        (["--output", "x"], "output", "x"),
        (["--format", "csv", "--format", "parquet"], "formats", ("csv", "parquet")),
        (["--lang", "ja"], "language", "ja"),
    ],
)
def test_an_option_overrides_its_setting(file: Path, words: list[str], key: str, value: object) -> None:
    """Each option stands over the file's key, and what is not typed stays as the file says."""
    read = made("-c", str(file), *words)
    found: object = read
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value
    assert read.seeds == ("http://file.example/",)
    assert key == "limits.max_depth" or read.limits.max_depth == 9


def test_every_option_with_a_key_stands_for_a_setting() -> None:
    """An option's key is a key of the settings, and no two options stand for the same one."""
    keys = [argument.key for argument in options.COMMANDS[0].arguments if argument.key]
    assert set(keys) <= set(settings.tree.dotted_keys())
    assert len(keys) == len(set(keys))


def test_typed_urls_stand_instead_of_the_files() -> None:
    """URLs on the command line are the seeds, whatever the file says."""
    assert made("http://a.example/", "http://b.example/").seeds == ("http://a.example/", "http://b.example/")


def test_every_mistake_is_named_as_the_owner_typed_it(file: Path) -> None:
    """Mistakes in options name the option, those in URLs say so, those in the file name the file; all at once."""
    file.write_text("[limits]\nmax_redirects = -1\n", encoding="utf-8")
    found = mistakes("-c", str(file), "example.com", "--max-depth", "deep", "--lang", "de", "--format", "pdf")
    assert sorted(found) == sorted(
        [
            ("URL", "example.com", None),
            ("--max-depth", "deep", None),
            ("--lang", "de", None),
            ("--format", "pdf", None),
            ("limits.max_redirects", "-1", str(file)),
        ]
    )


def test_nothing_to_crawl_is_a_mistake(file: Path) -> None:
    """Without URL, list or seeds there is nothing to do, and the message says what to give."""
    assert mistakes() == [("URL", "", None)]
    file.write_text("", encoding="utf-8")
    assert mistakes("-c", str(file)) == [("URL", "", str(file))]
    assert mistakes("--list", "-", stdin="\n# nothing\n") == [("--list", "-", None)]


def test_a_list_is_crawled_exactly(tmp_path: Path) -> None:
    """``--list`` takes a URL a line from a file or stdin, once each, without blank and comment lines, in list mode."""
    text = "\ufeffhttp://a.example/\n\n# note\n  http://b.example/  \r\nhttp://a.example/\n"
    path = tmp_path / "urls.txt"
    path.write_text(text, encoding="utf-8")
    for read in (made("--list", str(path)), made("--list", "-", stdin=text)):
        assert read.seeds == ("http://a.example/", "http://b.example/")
        assert read.scope.only_seeds


def test_a_wrong_line_of_a_list_is_named(tmp_path: Path) -> None:
    """A mistake in a list names its file and line."""
    path = tmp_path / "urls.txt"
    path.write_text("http://a.example/\nexample.com\nftp://x/\n", encoding="utf-8")
    assert mistakes("--list", str(path)) == [
        ("line 2", "example.com", str(path)),
        ("line 3", "ftp://x/", str(path)),
    ]


@pytest.mark.parametrize("flag", ["-c", "--list"])
def test_an_unreadable_file_is_a_mistake(tmp_path: Path, flag: str) -> None:
    """A file that is absent, a folder, or no UTF-8 is the owner's mistake, told with its path."""
    latin = tmp_path / "latin"
    latin.write_bytes(b'name = "caf\xe9"\n')
    for path in (tmp_path / "absent", tmp_path, latin, Path("a\0b")):
        assert mistakes(flag, str(path), "http://a.example/") == [(flag, str(path), None)]


def test_a_ca_file_is_looked_at_before_the_crawl(file: Path) -> None:
    """A certificate file that cannot be read is told at once, not by a failure of every page."""
    with file.open("a", encoding="utf-8") as out:
        out.write('[fetch]\nca_file = "/nowhere/ca.pem"\n')
    assert mistakes("-c", str(file)) == [("fetch.ca_file", "/nowhere/ca.pem", str(file))]
    assert main(["config", "check", str(file)]) == 2


def test_a_secret_that_is_not_set_is_told_before_the_crawl(file: Path) -> None:
    """A password from an environment variable that is not set is a mistake at once; no run begins without it."""
    with file.open("a", encoding="utf-8") as out:
        out.write('[[origin]]\norigin = "http://file.example"\nuser = "u"\npassword = "env:PURLIEU_TEST_UNSET"\n')
    assert mistakes("-c", str(file)) == [("origin.password", "env:PURLIEU_TEST_UNSET", str(file))]


@pytest.mark.parametrize(
    "words",
    [
        ["crawl", "example.com"],
        ["crawl"],
        ["crawl", "-c", "/nowhere.toml"],
        ["crawl", "--max-pages", "0", "http://a.example/"],
        ["config", "check", "/nowhere.toml"],
        ["runs", "--store", "/nowhere.db"],
        ["report", "latest", "--store", "/nowhere.db"],
    ],
)
def test_a_mistake_ends_with_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The owner's mistakes end with status 2 (R-8.2) and lines on stderr, one a mistake; stdout stays empty."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert all(line.startswith("purlieu: ") for line in err.splitlines())


@pytest.mark.parametrize("words", [[], ["craw"], ["crawl", "--max-dept", "3"], ["crawl", "-q", "-v"], ["report"]])
def test_what_is_no_command_ends_with_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be understood ends with status 2 and a usage line; options are never guessed from a beginning."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "usage: purlieu" in capsys.readouterr().err


def test_config_check_and_show(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``config check`` says that there is nothing to mend; ``config show`` prints TOML that reads the same."""
    assert main(["config", "check", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: no mistakes\n"
    assert main(["config", "show", str(file)]) == 0
    shown = capsys.readouterr().out
    assert settings.read(shown) == settings.read(file.read_text(encoding="utf-8"))
    assert tomllib.loads(shown)["limits"]["max_depth"] == 9


def test_config_check_tells_what_may_not_be_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is right and may not be meant is told by ``config check``, in the file's language: the terms to add (EN-80)."""
    path = tmp_path / "purlieu.toml"
    path.write_text(
        'seeds = ["http://www.xyz.co.uk/"]\nlanguage = "ja"\n[scope]\nmode = "same-domain"\ndomains = "lists"\n',
        encoding="utf-8",
    )
    assert main(["config", "check", str(path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{path}: no mistakes"
    assert "domains.additional に「co.uk」を追加して" in second


def test_config_show_masks_secrets(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A password in the file is not printed."""
    file.write_text('[[origin]]\norigin = "http://a"\nuser = "u"\npassword = "hunter2"\n', encoding="utf-8")
    assert main(["config", "show", str(file)]) == 0
    assert "hunter2" not in capsys.readouterr().out


def test_config_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    """``config schema`` prints the JSON Schema."""
    assert main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == settings.schema()


def test_version_is_told_with_next_to_nothing_imported() -> None:
    """``--version`` needs no part of the crawler but the page scanner, which it names (R-9.2)."""
    code = (
        "import sys; from purlieu.cli.main import main; main(['--version'])\n"
        "print(*sorted({'argparse', 'asyncio', 'pycurl', 'rich', 'purlieu.settings', 'purlieu.page'} & sys.modules.keys()))"
    )
    version = f"purlieu {__version__}\npage scanner: {'C' if scan.is_native() else 'Python'}\n"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == f"{version}\n"
    python = os.environ | {"PURLIEU_NATIVE": "0"}
    told = subprocess.run([sys.executable, "-c", code], env=python, capture_output=True, text=True, check=True)
    assert told.stdout == f"purlieu {__version__}\npage scanner: Python\n\n"
    module = subprocess.run([sys.executable, "-m", "purlieu", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout == version


def test_a_crawl_starts_without_what_it_does_not_need() -> None:
    """What shows the end and draws the terminal is not imported before the first request (R-9.2)."""
    code = (
        "import sys, purlieu.cli.options, purlieu.cli.crawl\n"
        "late = {'rich', 'pyarrow', 'purlieu.report', 'zipfile', 'csv', 'urllib.request', 'ada_url', 'tomllib', 'html'}\n"
        "late |= {'purlieu.sitemap', 'purlieu.page', 'purlieu.store.reader', 'purlieu.cli.summary', 'purlieu.console'}\n"
        "print(*sorted(late & sys.modules.keys()))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ""


@pytest.mark.parametrize("buffering", ["", "1"])
def test_the_version_for_a_reader_who_has_gone_tells_nothing(buffering: str) -> None:
    """``purlieu --version | true`` ends with status 1 and no traceback, however output is buffered (R-8.2)."""
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-m", "purlieu", "--version"],
        stdout=writing, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": buffering}, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (run.returncode, run.stderr) == (1, b"")


@pytest.mark.parametrize(
    ("typed", "status"),
    [(["--version"], 0), (["crawl", "--help"], 0), (["nonsense"], 2), (["runs", "--store", "none.db"], 2)],
    ids=["version", "help", "no-command", "no-store"],
)
def test_a_process_ends_with_the_status_of_its_command(typed: list[str], status: int, tmp_path: Path) -> None:
    """The process leaves at once with what the command said, and its words are out by then (R-8.2)."""
    command = [sys.executable, "-m", "purlieu", *typed]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == status
    assert (done.stderr if status else done.stdout).strip()


def complete(*typed: str) -> list[str]:
    """Return what bash offers after these words, the last one unfinished."""
    code = (
        f"{completion.script('bash')}\n"
        f'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _purlieu; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", code, "bash", *typed], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["purlieu", "c"], ["crawl", "config", "completion"]),
        (["purlieu", "crawl", "--max-"], ["--max-depth", "--max-pages", "--max-seconds"]),
        (["purlieu", "crawl", "--lang", ""], ["en", "ja", "zh"]),
        (["purlieu", "crawl", "http://a.example/", "--scope", "same-h"], ["same-host"]),
        (["purlieu", "config", "s"], ["show", "schema"]),
        (["purlieu", "report", "latest", "--format", "c"], ["crawl_result", "csv", "csv-spreadsheet"]),
        (["purlieu", "completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_bash_completes(typed: list[str], offered: list[str]) -> None:
    """The bash script offers commands, options and the words that an option takes."""
    assert complete(*typed) == offered


@pytest.mark.parametrize("shell", options.SHELLS)
def test_completion_knows_every_command_and_option(shell: str) -> None:
    """Each shell's script names every command and every long option."""
    script = completion.script(shell)
    for typed, command in options.every_command():
        assert typed.split()[-1] in script
        for argument in command.arguments:
            if argument.names[-1].startswith("--"):
                flag = argument.names[-1]
                assert (f"-l {flag[2:]}" if shell == "fish" else flag) in script


def test_output_to_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """When whoever reads our output has gone, we end without a traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as out:
        words = [sys.executable, "-m", "purlieu", "config", "schema"]
        done = subprocess.run(words, stdout=out, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("machine", "typed", "kept", "heard"),
    [
        ({"LANG": "ja_JP.UTF-8"}, (), "", "実行"),
        ({"LANG": "zh_CN.UTF-8"}, (), "", "运行"),
        ({"LC_MESSAGES": "zh", "LANG": "ja_JP.UTF-8"}, (), "", "运行"),
        ({"LC_ALL": "C.UTF-8", "LANG": "ja_JP.UTF-8"}, (), "", "Run 1"),
        ({"LANG": "java"}, (), "", "Run 1"),
        ({"LANG": "ja_JP.UTF-8"}, ("--lang", "en"), "", "Run 1"),
        ({"LANG": "zh_CN.UTF-8"}, (), "ja", "実行"),
    ],
    ids=["ja", "zh", "messages", "all", "none", "typed", "settings"],
)
def test_the_terminal_speaks_what_the_machine_speaks(
    tmp_path: Path, machine: dict[str, str], typed: tuple[str, ...], kept: str, heard: str
) -> None:
    """What is typed goes first, then the settings' language, then LC_ALL, LC_MESSAGES and LANG; files take no notice."""
    (tmp_path / "purlieu.toml").write_text(
        f'seeds = ["http://127.0.0.1:9/"]\nformats = ["csv"]\nlanguage = "{kept or "en"}"\n'
        "[politeness]\nretries = 0\n[robots]\ntries = 1\n",
        encoding="utf-8",
    )
    plain = {name: value for name, value in os.environ.items() if name not in {"LANG", "LC_ALL", "LC_MESSAGES"}}
    done = subprocess.run(
        [sys.executable, "-m", "purlieu", "crawl", "-c", "purlieu.toml", *typed],
        cwd=tmp_path, env=plain | machine, capture_output=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip
    assert heard in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("typed", [("--lang", "ja"), ("--lang=ja",)], ids=["apart", "joined"])
def test_mistakes_are_told_in_the_language_that_was_typed(
    typed: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Item 9.2: what is wrong with the settings is said in the language of ``--lang``."""
    path = tmp_path / "p.toml"
    path.write_text('seeds = ["http://file.example/"]\n[links]\ncheck_external = "yes"\n', encoding="utf-8")
    assert main(["crawl", "-c", str(path), *typed]) == 2
    assert "引用符なしで true か false と書いてください" in capsys.readouterr().err
