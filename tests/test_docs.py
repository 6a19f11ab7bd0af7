"""What is built is documented, and what is documented is built.

A setting, command, option, outcome, ledger column or word without its place in the documentation fails here;
so does an example that would not run, and a link that leads nowhere.
"""

from __future__ import annotations

import argparse
import ast
import re
import shlex
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Final, get_args, get_type_hints

import pytest

import purlieu
from purlieu import settings
from purlieu.audit import RULES
from purlieu.cli import options
from purlieu.outcome import REASONS
from purlieu.report.column import COLUMNS
from purlieu.testing import Errors, MadeServer, MadeWeb

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"
PAGES: Final = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
FENCE: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK: Final = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
FRAGMENT_KINDS: Final = {"added", "changed", "fixed", "removed", "security"}
WORDS: Final = (  # noqa: SIM905  # words read best as a sentence
    "crawl run site host origin seed candidate via depth scope rule verdict frontier entry due done lease politeness "
    "pace grant landing robots fetch response failure hop page link canonical alternate outcome reason visit revisit "
    "trap ledger books finding report section worker"
).split()
"""The project's vocabulary: each has one meaning."""


def text(name: str) -> str:
    """Return a page of the documentation."""
    return (DOCS / name).read_text(encoding="utf-8")


def blocks(language: str) -> list[tuple[str, str]]:
    """Return (page, text) of every fenced block in a language."""
    return [
        (page.relative_to(ROOT).as_posix(), body)
        for page in PAGES
        for kind, body in FENCE.findall(page.read_text(encoding="utf-8"))
        if kind == language
    ]


def keys(values: type, table: str = "") -> list[tuple[str, str]]:
    """Return (table, key) of every setting below a settings class; the table is "" at the top."""
    found: list[tuple[str, str]] = []
    hints = get_type_hints(values)
    for item in fields(values):
        inner = next((kind for kind in (hints[item.name], *get_args(hints[item.name])) if is_dataclass(kind)), None)
        if isinstance(inner, type):
            found += keys(inner, item.metadata["key"].table if "key" in item.metadata else item.name)
        else:
            found.append((table, item.name))
    return found


def commands(parser: argparse.ArgumentParser, name: tuple[str, ...] = ()) -> dict[tuple[str, ...], list[str]]:
    """Return every command that can be typed, with its options; a group of commands has its own row."""
    found: dict[tuple[str, ...], list[str]] = {name: []}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, inner in action.choices.items():
                found |= commands(inner, (*name, word))
        else:
            found[name] += action.option_strings
    return found


CRAWLING: Final = (
    "README.md",
    "docs/how-to/data-frames.md",
    "docs/how-to/notebooks-and-schedulers.md",
    "docs/how-to/python.md",
)
"""Pages whose examples crawl."""
COMMANDS: Final = commands(options.parser())


@pytest.mark.parametrize(("table", "key"), keys(settings.Settings))
def test_every_setting_is_documented(table: str, key: str) -> None:
    """Every key stands in the settings reference, under its table."""
    page = text("reference/settings.md")
    if table:
        _, found, page = page.partition(f"[{table}]")
        assert found, f"no [{table}] in the settings reference"
    assert f"`{key}`" in page


@pytest.mark.parametrize("name", [name for name in COMMANDS if name], ids=" ".join)
def test_every_command_is_documented(name: tuple[str, ...]) -> None:
    """Every command and every long option stands in the command line reference."""
    page = text("reference/command-line.md")
    missing = [option for option in COMMANDS[name] if option.startswith("--") and option not in page]
    assert f"purlieu {' '.join(name)}" in page
    assert missing == []


@pytest.mark.parametrize("name", REASONS)
def test_every_outcome_is_documented(name: str) -> None:
    """Every outcome stands in the outcomes reference by its whole name."""
    assert name in text("reference/outcomes.md")


@pytest.mark.parametrize("name", RULES)
def test_every_rule_of_the_audit_is_documented(name: str) -> None:
    """Every rule stands in the how-to by its code."""
    assert f"`{name}`" in text("how-to/audit.md")


@pytest.mark.parametrize("name", [column.name for column in COLUMNS])
def test_every_ledger_column_is_documented(name: str) -> None:
    """Every column of the ledger has its row in the ledger's reference."""
    assert f"| `{name}` |" in text("reference/ledger.md")


@pytest.mark.parametrize("word", WORDS)
def test_every_word_is_in_the_glossary(word: str) -> None:
    """Each word of the vocabulary is explained once."""
    assert len(re.findall(rf"^\*\*{word}\*\*", text("glossary.md"), re.MULTILINE)) == 1


@pytest.mark.parametrize(("page", "block"), blocks("toml"))
def test_settings_in_examples_are_right(page: str, block: str) -> None:
    """Every TOML example is read without a mistake."""
    settings.read(block, path=page)


@pytest.mark.parametrize(("page", "block"), blocks("python"))
def test_python_in_examples_is_right(page: str, block: str) -> None:
    """Every Python example is Python, what it imports is there, and it runs where it crawls nothing."""
    tree = ast.parse(block, page)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "purlieu":
            assert hasattr(purlieu, node.attr), f"{page}: no purlieu.{node.attr}"
    if "asyncio.run(" not in block and page not in CRAWLING:
        exec(compile(tree, page, "exec"), {})


@pytest.mark.parametrize("page", CRAWLING)
def test_python_that_crawls_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python examples of a page that crawls run one after another, as a reader types them, against a server here."""
    monkeypatch.chdir(tmp_path)
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    with MadeServer(MadeWeb(pages=12, seed=2, errors=Errors(missing=0.1, redirects=0.1))) as server:
        for name, block in blocks("python"):
            if name == page:
                local = block.replace("https://www.example.com/", server.seeds[0])
                exec(compile(local, page, "exec", dont_inherit=True), module.__dict__)
    assert server.log


def typed() -> list[tuple[str, list[str]]]:
    """Return (page, words) of every call of Purlieu in a console example or a crontab line."""
    found = []
    for page, block in blocks("console"):
        for part in re.split(r"\n|&&|\|\|?|;", block.replace("\\\n", " ")):
            if call := re.match(r"\s*(?:\$ )?(scripts/crawl|purlieu)\b(.*)", part):
                words = shlex.split(re.sub(r"[>&].*", "", call[2]), comments=True)
                found.append((page, ["crawl", *words] if call[1] == "scripts/crawl" else words))
    return found


@pytest.mark.parametrize(
    ("page", "words"), typed(), ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_commands_in_examples_can_be_typed(page: str, words: list[str]) -> None:
    """Every command line in the documentation is one that the parser takes."""
    assert options.parse(words).command == words[0], page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link leads to a file of the project."""
    body = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [link.partition("#")[0] for link in LINK.findall(body) if "://" not in link]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


def test_every_decision_is_listed() -> None:
    """Every page of a decision has its line in the index, which is all that leads to it."""
    listed = set(LINK.findall(text("decisions/index.md")))
    assert {page.name for page in (DOCS / "decisions").glob("2*.md")} - listed == set()


def test_every_news_fragment_is_of_a_known_kind() -> None:
    """A fragment is named NAME.KIND.md, else the changelog would leave it out."""
    wrong = [path.name for path in (ROOT / "changes").glob("*.md") if path.name.split(".")[-2] not in FRAGMENT_KINDS]
    assert wrong == []


def test_the_licence_is_whole() -> None:
    """The licence file is the Apache License 2.0 with its nine sections and appendix."""
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert all(f"\n   {number}. " in licence for number in range(1, 10))
    assert "APPENDIX: How to apply the Apache License to your work." in licence
