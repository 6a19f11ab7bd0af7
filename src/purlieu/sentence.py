"""A sentence for people: English text that remembers what it is made of, so that it can be said in other languages.

The catalogues are data of the package, as the suffix list is to ``domain.py``; who shows a sentence asks for the
language. To everyone else it is a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Protocol, Self

LOCALE: Final = Path(__file__).parent / "locale"
"""The folder of the catalogues."""


class Say(Protocol):
    """Say an English text in a language, with values put in."""

    def __call__(self, text: str, /, **values: object) -> str:
        """Return the translated text with the values in their places."""
        ...


@cache
def speaker(language: str) -> Say:
    """Return what says texts in ``en``, ``ja`` or ``zh``; a language or text without translation is English."""
    import gettext  # only where something is said

    catalogue = gettext.translation("purlieu", LOCALE, [language], fallback=True)

    def say(text: str, /, **values: object) -> str:
        said = catalogue.gettext(text)
        return said.format(**values) if values else said  # the help of a setting may hold braces of its own

    return say


class Sentence(str):  # noqa: SLOT000  it has two attributes, and the text's own memory is not the question
    """``Sentence("{count} of {most}", count=1, most=2)`` is the text "1 of 2".

    Templates are collected for translation where they stand as arguments, and hold names alone, no formats; values may
    be sentences themselves.
    """

    template: str
    values: Mapping[str, object]

    def __new__(cls, template: str, /, **values: object) -> Self:
        """Return the text with the values in their places."""
        made = super().__new__(cls, template.format(**values))
        made.template, made.values = template, values
        return made


def said(text: str, say: Say) -> str:
    """Return a text in the language of ``say``; one that is no sentence stays as it is."""
    if not isinstance(text, Sentence):
        return text
    return say(
        text.template,
        **{name: said(value, say) if isinstance(value, str) else value for name, value in text.values.items()},
    )
