"""What is made from other files is up to date: reference pages and catalogues. ``scripts/docs`` makes both."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from purlieu.cli.reference import pages
from purlieu.cli.words import LOCALE, speaker
from purlieu.console import form

LANGUAGES = ("ja", "zh")
CALLS = {"say": None, "_say": None, "_words": None}


def catalogue(language: str) -> Catalog:
    """Return the texts of a language as written."""
    with (LOCALE / language / "LC_MESSAGES" / "purlieu.po").open("rb") as file:
        return read_po(file, language)


def said(root: Path) -> set[str]:
    """Return every text that is said through ``say``, every sentence wherever it is made, and those of the settings."""
    source, python = root / "src" / "purlieu", [("**.py", "python")]
    found = [*extract_from_dir(source / "cli", python, keywords=CALLS)]
    found += extract_from_dir(source, python, keywords={"Sentence": None})
    found += extract_from_dir(source, [("**.html", "jinja2")], keywords={"say": None})
    return form.texts() | {message for _, _, message, _, _ in found if isinstance(message, str)}


@pytest.mark.parametrize("name", pages())
def test_a_reference_page_is_fresh(root: Path, name: str) -> None:
    """The page in docs/reference is what the tables say now; scripts/docs writes it."""
    assert (root / "docs" / "reference" / name).read_text(encoding="utf-8") == pages()[name]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated(root: Path, language: str) -> None:
    """A catalogue has each text that is said, translated, with the same values in it, and no others."""
    texts = {str(message.id): str(message.string) for message in catalogue(language) if message.id}
    assert texts.keys() == said(root)
    for english, translated in texts.items():
        assert translated
        names = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (english, translated)]
        assert names[0] == names[1], english


def test_texts_are_found(root: Path) -> None:
    """The search for texts finds those of each part of the command line."""
    found = said(root)
    assert len(found) > 20
    assert {"Findings", "... and {count} more", "fetched", "1 link", "Crawling {seeds}. Ctrl-C stops cleanly."} <= found


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_compiled_catalogue_is_fresh(language: str) -> None:
    """The .mo beside a .po says the same, text by text; scripts/docs compiles it."""
    say = speaker(language)
    for message in catalogue(language):
        if message.id:
            values = {name: f"<{name}>" for _, name, _, _ in string.Formatter().parse(str(message.id)) if name}
            assert say(str(message.id), **values) == str(message.string).format(**values)


def test_a_language_without_catalogue_is_english() -> None:
    """English needs no catalogue, and an unknown language falls back to it."""
    assert speaker("en")("Files") == speaker("xx")("Files") == "Files"
    assert speaker("ja")("Files") == "ファイル"
