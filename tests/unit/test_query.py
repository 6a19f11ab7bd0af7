"""What is looked for: words of a question, and the piece of a text in which they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purlieu.query import MOST_WORDS, Scale, excerpt, folded, pieces, shown, words

CASES = {
    "asyncio  Event\u3000loop": ("asyncio", "event", "loop"),
    '"Event  loop", asyncio.': ("event loop", "asyncio"),
    "C++ .htaccess os.path": ("c++", ".htaccess", "os.path"),
    "レイヤー、選択範囲。": ("レイヤー", "選択範囲"),
    "ＡＢＣ ｶﾞｲﾄﾞ": ("abc", "ガイド"),
    "「色」(RGB)": ("色", "rgb"),
    'NEAR( title:x* AND "unended': ("near", "title:x*", "and", "unended"),
    "a a A": ("a",),
    "": (),
    '"" ... !? -- \'': (),
    "\x00\x1b[31m": ("31m",),
}


@pytest.mark.parametrize("text", CASES, ids=range(len(CASES)))
def test_a_question_is_its_words(text: str) -> None:
    """Words are folded and kept once, quotes hold words together, brackets and stops go, what has no letter is no word."""
    assert words(text) == CASES[text]


@given(st.text(max_size=300))
def test_no_question_is_too_odd(text: str) -> None:
    """Whatever is typed gives at most so many words, and the words of a word are the word."""
    found = words(text)
    assert len(found) <= MOST_WORDS
    assert all(any(map(str.isalnum, word)) for word in found)
    assert all(folded(word) == word for word in found)


def test_pieces_are_of_one_script_each() -> None:
    """Without blanks a word is taken apart by scripts: particles go, long runs of Chinese characters go two by two."""
    assert pieces(["レイヤーを追加する方法"]) == ("レイヤー", "追加", "方法")
    assert pieces(["图像编辑", "gimp"]) == ("图像", "像编", "编辑", "gimp")
    assert pieces(["これから"]) == ("これから",)
    assert pieces(["title:x*"]) == ("title", "x")


@given(st.text(max_size=400), st.lists(st.text("ab色レ ", min_size=1, max_size=3), max_size=4), st.integers(20, 60))
def test_marks_stand_on_what_was_looked_for(text: str, looked_for: list[str], most: int) -> None:
    """Marks lie in the excerpt, in order and apart, and each begins with a word of the question."""
    line = shown(text)
    found = excerpt(line, [word for word in map(folded, looked_for) if word], most)
    assert len(found.text) <= most + 4
    assert found.text.strip("… ") in line
    last = -1
    for start, end in found.marks:
        assert last < start < end <= len(found.text)
        assert any(folded(found.text[start:end]).startswith(folded(word)) for word in looked_for)
        last = end


def test_an_excerpt_is_where_the_most_words_stand() -> None:
    """A place with both words is shown, not the first place of one of them; the ends are at blanks."""
    text = "loop " + "filler " * 100 + "an event of the loop " + "filler " * 100
    found = excerpt(text.strip(), ["event", "loop"], 80)
    assert [found.text[start:end] for start, end in found.marks] == ["event", "loop"]
    assert found.text.startswith("… filler")
    assert found.text.endswith("filler …")


@pytest.mark.parametrize("text", ["a\u0315\u0300" * 300_000, "\u0300\u0315" * 400_000, "ab" * 400_000, "İ" * 400_000])
def test_a_hostile_text_takes_linear_time(text: str) -> None:
    """Combining characters out of order, and words that are nearly there everywhere, keep nobody waiting."""
    assert len(excerpt(text, ["aba" * 100 + "c", "\u0300", "b"]).text) < 300
    assert len(folded(text)) == len(shown(text))


def test_a_page_weighs_by_whole_words_and_titles() -> None:
    """A title about nothing else comes before one with more in it, that before a part of a word, that before a text."""
    scale = Scale(["os"], [4], 100, 100)
    pages = (
        ("os", ""),
        ("os and more of it", ""),
        ("position", ""),
        ("x", "os and os"),
        ("x", "os"),
        ("x", "position"),
    )
    weights = [scale.weigh(title, "", text) for title, text in pages]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == len(weights)
    assert scale.weigh("", "", "nothing") == 0
    assert Scale(["色"], [4], 100, 100).weigh("", "", "背景色です") == Scale(["色"], [4], 100, 100).weigh(
        "", "", "背景 色す"
    )
