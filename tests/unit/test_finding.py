"""The table of findings and its sentences."""

from __future__ import annotations

import string

import pytest

from purlieu.finding import FINDINGS, Finding, FindingKind, Severity
from purlieu.outcome import LANGUAGES


@pytest.mark.parametrize("kind", FINDINGS.values(), ids=lambda kind: kind.code)
def test_sentences_show_known_values_only(kind: FindingKind) -> None:
    """Every sentence of a finding names only its subject and its declared arguments, and every argument is shown."""
    for sentence in kind.sentences:
        shown = {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}

        assert shown <= {"subject", *kind.arguments}
        assert set(kind.arguments) <= shown


@pytest.mark.parametrize("kind", FINDINGS.values(), ids=lambda kind: kind.code)
def test_three_languages(kind: FindingKind) -> None:
    """Every finding has three different sentences, one for each language."""
    assert len(kind.sentences) == len(LANGUAGES) == len(set(kind.sentences))


def test_sentence_in_each_language() -> None:
    """The sentence comes in the language asked for, and in English when there is none of that name."""
    finding = Finding("seed_landed_elsewhere", "https://a.test/", {"landing": "https://b.test/"})

    assert "leads to https://b.test/" in finding.sentence()
    assert "転送されます" in finding.sentence("ja")
    assert "跳转" in finding.sentence("zh")
    assert finding.sentence("fr") == finding.sentence("en")


def test_hostile_values_are_shown_as_they_are() -> None:
    """Braces in a value from the web are text, never a placeholder."""
    finding = Finding("seed_landed_elsewhere", "https://a.test/{landing.__class__}", {"landing": "{0}{subject}"})

    assert "https://a.test/{landing.__class__} leads to {0}{subject}," in finding.sentence()


def test_missing_value_shows_as_question_mark() -> None:
    """A value that was not stored does not keep the sentence from being shown."""
    assert "leads to ?," in Finding("seed_landed_elsewhere", "https://a.test/").sentence()


def test_code_of_a_newer_version() -> None:
    """A code that this version does not know is shown with its subject, as a warning."""
    finding = Finding("from_the_future", "https://a.test/", {"x": 1})

    assert finding.sentence("ja") == "from_the_future: https://a.test/"
    assert finding.severity is Severity.WARNING


def test_severity_is_the_table_s() -> None:
    """A finding weighs what the table says."""
    assert Finding("nothing_fetched").severity is Severity.PROBLEM
    assert Finding("hash_collision").severity is Severity.NOTE
