"""Sentences are English texts that can be said in another language."""

from __future__ import annotations

import json

from purlieu.cli.words import speaker
from purlieu.sentence import Sentence, said


def test_a_sentence_is_its_english_text() -> None:
    """Whoever wants a text has one, in JSON too; braces in a value stay as they are."""
    made = Sentence('its {what} "{value}" {count}', what=Sentence("host"), value="{x}", count="1,200")
    assert made == 'its host "{x}" 1,200'
    assert json.loads(json.dumps({"reason": made})) == {"reason": 'its host "{x}" 1,200'}
    assert said(made, speaker("en")) == made


def test_a_sentence_is_said_with_the_sentences_in_it() -> None:
    """A value that is a sentence is said in the same language; a plain text stays, whatever it holds."""
    made = Sentence('its {what} "{value}" matches that of {start}', what=Sentence("host"), value="{a}", start="host")
    assert said(made, speaker("ja")) == "ホスト「{a}」は host のものと一致します"
    assert said(made, speaker("zh")) == "其主机“{a}”与 host 的一致"
    assert said("host", speaker("ja")) == "host"


def test_a_language_without_catalogue_says_english() -> None:
    """An unknown language falls back to English."""
    assert said(Sentence("{count} of {most}", count=1, most=2), speaker("xx")) == "1 of 2"
