"""Which texts are nearly the same (likeness.py, R-9.3)."""

from __future__ import annotations

import random
from typing import Any

from purlieu.likeness import groups, likeness, sketch

WORDS = [f"w{chr(97 + one)}{chr(97 + two)}" for one in range(26) for two in range(26)]


def text(chance: int, words: int = 300) -> list[str]:
    """Return a text of words drawn by chance."""
    dice = random.Random(chance)
    return [dice.choice(WORDS) for _ in range(words)]


def test_a_sketch_tells_how_much_is_shared() -> None:
    """The same text is alike wholly, digits aside; one with a few words changed nearly; another not at all."""
    one = text(1)
    changed = [*one[:150], "other", *one[151:]]
    assert sketch(" ".join(one)) == sketch(" ".join([*one, "2026", "7"]))
    assert likeness(sketch(" ".join(one)), sketch(" ".join(changed))) > 0.9
    assert likeness(sketch(" ".join(one)), sketch(" ".join(text(2)))) < 0.1


def test_texts_without_spaces_are_compared_too() -> None:
    """Japanese and Chinese texts are compared by characters."""
    one = "東京都は日本の首都であり世界最大の都市圏を形成している行政機関と企業の本社が集まる都市である" * 2
    assert likeness(sketch(one), sketch(one.replace("最大", "有数"))) > 0.5
    assert likeness(sketch(one), sketch("猫が庭で眠っている間に犬は道を渡って公園へ行きました")) < 0.1


def test_too_short_a_text_has_no_sketch() -> None:
    """Fewer than three words say nothing of likeness."""
    assert sketch("") == sketch("two words 1 2 3") == b""
    assert len(sketch("three words here")) == 256


def test_groups_hold_what_is_like_their_first() -> None:
    """Each group is the pages like its first, in order; a page like none is in no group."""
    one, two = text(1), text(2)
    texts = [one, two, [*one, "more"], text(3), [*two[:-1], "less"], ["some", *one]]
    found = list(groups((number, sketch(" ".join(words))) for number, words in enumerate(texts)))
    assert found == [[0, 2, 5], [1, 4]]


class Read(bytes):
    """A sketch that counts how often it is read."""

    times = 0

    def __getitem__(self, at: Any) -> Any:
        """Count one reading."""
        Read.times += 1
        return super().__getitem__(at)


def test_pages_of_one_template_are_grouped_in_linear_time() -> None:
    """Four fifths of every page are its template's: no page is compared with all others, and twins are found all the same."""
    dice = random.Random(1)

    def value() -> bytes:
        return dice.getrandbits(32).to_bytes(4, "little")

    template = [value() for _ in range(64)]
    pages = [[one if dice.random() < 0.8 else value() for one in template] for _ in range(800)]
    twins = [[*page[:5], value(), *page[6:]] for page in pages[:100]]
    told = [Read(b"".join(values)) for values in [*pages, *twins]]
    found = list(groups(enumerate(told)))
    assert Read.times < 6_000 * len(told), "each is read for itself and 32 others at most"
    assert sum(any({number, 800 + number} <= set(group) for group in found) for number in range(100)) >= 90
