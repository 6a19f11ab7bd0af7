"""What somebody looks for in pages: the words of a question, and where they stand in a text.

Takes text and gives values, in linear time whatever the text holds. Knows no index and no language of one.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from purlieu.value import dataclass

MOST_CHARACTERS: Final = 1_000
"""A question that is longer is not answered."""
MOST_WORDS: Final = 32
_MOST_PLACES: Final = 200
_EXCERPT: Final = 200
_BLANK: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
# Short, since the standard's way of putting combining characters in order takes quadratic time; never before one.
_RUN: Final = re.compile(r"\s+|\S{1,64}[\u0300-\u036f\u3099\u309a\uff9e\uff9f]{0,8}")
_WORD: Final = re.compile(r'"([^"]*)"|([^\s"、。，；「」『』【】〈〉《》“”]+)')
_BRACKETS: Final = "()[]{}<>‘’,;:!?"
_KANJI: Final = "\u3400-\u9fff\uf900-\ufaff々〆"
_SCRIPT: Final = re.compile(rf"[\u3041-\u309f]+|[\u30a0-\u30ff]+|[{_KANJI}]+|[^\W_\u3041-\u30ff{_KANJI}]+")
_SPACED: Final = re.compile(rf"[^\W\u3041-\u30ff{_KANJI}]")
_HIRAGANA: Final = re.compile(r"[\u3041-\u309f]+")
_HAN: Final = re.compile(rf"[{_KANJI}]{{3,}}")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a text, with the (start, end) of what was looked for in it, in order."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()

    def parts(self) -> Iterator[tuple[str, bool]]:
        """Yield the text in parts, each with whether it was looked for."""
        last = 0
        for start, end in self.marks:
            if start > last:
                yield self.text[last:start], False
            yield self.text[start:end], True
            last = end
        if last < len(self.text):
            yield self.text[last:], False


def shown(text: str) -> str:
    """Return a text on one line, in the usual form of its characters (NFKC): full-width letters are letters."""
    if not text.isascii():
        text = "".join(unicodedata.normalize("NFKC", run) for run in _RUN.findall(text))
    return _BLANK.sub(" ", text).strip()


def folded(text: str) -> str:
    """Return a text as it is compared: shown, in lower case, as long as it is shown."""
    text = shown(text)
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def words(text: str) -> tuple[str, ...]:
    """Return the words of a question, each once and folded; what stands between double quotes is one word.

    None where nothing in it is a letter or a digit.
    """
    found: dict[str, None] = {}
    for part in _WORD.finditer(folded(text[: MOST_CHARACTERS + 1])):
        word = part[1].strip() if part[1] is not None else part[2].strip(_BRACKETS).rstrip(".")
        if any(map(str.isalnum, word)):
            found[word] = None
    return tuple(found)[:MOST_WORDS]


def pieces(looked_for: Sequence[str]) -> tuple[str, ...]:
    """Return what words are made of, for when no page has them all: of scripts without blanks, one script at a time.

    Long runs of Chinese characters are taken two by two; particles in hiragana are left out where there is anything
    else.
    """
    found: dict[str, None] = {}
    for word in looked_for:
        for part in _SCRIPT.findall(word):
            long = _HAN.fullmatch(part)
            found |= dict.fromkeys(part[at : at + 2] for at in range(len(part) - 1)) if long else {part: None}
    heavy = [part for part in found if not _HIRAGANA.fullmatch(part)]
    return tuple(heavy or found)[: 2 * MOST_WORDS]


class Scale:
    """Weighs pages by what was looked for: each word by how rare it is, and more in a title or heading."""

    def __init__(self, looked_for: Sequence[str], pages: Sequence[int], of: int, average: float) -> None:
        """Take the words with the number of pages of each, of so many, that have so many characters on average."""
        self._words = [
            (word, _whole(word), math.log(1 + max(of, number) / max(number, 1)))
            for word, number in zip(looked_for, pages, strict=True)
        ]
        self._average = max(average, 1.0)

    def weigh(self, title: str, headings: str, text: str) -> float:
        """Return the weight of a page, from its folded texts; 0 where none has any of the words.

        A word counts for more where it stands whole, and in a title for the more the less else there is in it. In a
        text it counts the less the longer that is, and the second time less than the first (BM25).
        """
        weight = 0.0
        length = 0.25 + 0.75 * len(text) / self._average
        for word, whole, rarity in self._words:
            share = 0.0
            if word in title:
                share += (4.0 if whole.search(title) else 1.5) * (1 + min(1.0, len(word) / len(title)))
            if word in headings:
                share += 1.0 if whole.search(headings) else 0.3
            if count := text.count(word):
                certain = 1.0 if whole.search(text) else 0.4
                share += 2.2 * certain * count / (count + 1.2 * length)
            weight += rarity * share
        return weight


def _whole(word: str) -> re.Pattern[str]:
    """Return what finds a word where it is not a part of another; scripts without blanks have no such parts."""
    before = r"(?<![^\W_])" if _SPACED.match(word[0]) else ""
    after = r"(?![^\W_])" if _SPACED.match(word[-1]) else ""
    return re.compile(before + re.escape(word) + after)


def excerpt(text: str, looked_for: Sequence[str], most: int = _EXCERPT) -> Excerpt:
    """Return the piece of a shown text, at most so many characters, in which the most of the words stand."""
    low = folded(text)
    places = sorted(_places(low, looked_for))
    start = _best(places, most)
    start = max(0, start - most // 5) if start + most // 2 < len(text) else max(0, min(start, len(text) - most))
    if start and (blank := text.find(" ", start, start + most // 5)) >= 0:
        start = blank + 1
    end = min(len(text), start + most)
    if end < len(text) and (blank := text.rfind(" ", end - most // 5, end)) >= 0:
        end = blank
    before, after = "… " if start else "", " …" if end < len(text) else ""
    marks: list[tuple[int, int]] = []
    for first, last, _ in places:
        if start <= first and last <= end:
            first, last = first - start + len(before), last - start + len(before)  # noqa: PLW2901
            if marks and first <= marks[-1][1]:
                marks[-1] = (marks[-1][0], max(last, marks[-1][1]))
            else:
                marks.append((first, last))
    return Excerpt(f"{before}{text[start:end]}{after}", tuple(marks))


def _places(low: str, looked_for: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    for word in looked_for:
        at = low.find(word)
        for _ in range(_MOST_PLACES):
            if at < 0:
                break
            yield at, at + len(word), word
            at = low.find(word, at + len(word))


def _best(places: Sequence[tuple[int, int, str]], most: int) -> int:
    """Return where the piece begins that has the most different words, the first such."""
    best = start = 0
    held: Counter[str] = Counter()
    left = 0
    for first, last, word in places:
        held[word] += 1
        while left < len(places) and last - places[left][0] > most * 3 // 4 and places[left][0] < first:
            gone = places[left][2]
            held[gone] -= 1
            if not held[gone]:
                del held[gone]
            left += 1
        if len(held) > best:
            best, start = len(held), places[left][0]
    return start
