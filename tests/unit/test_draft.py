"""Settings while they are edited: a form's values written into an owner's text, and the text read back into the form."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as untimed
from hypothesis import strategies as st

from purlieu import settings
from purlieu.console import draft
from purlieu.console.field import UNSET, Field, every, values

FIELDS = [one for one, _ in every({})]
LINES = st.lists(
    st.sampled_from(
        [
            "# a comment", "", "seeds = ['https://a.test/']", "seeds = [\n  'https://a.test/', # why\n  'https://b.test/',\n]",
            "limits.max_depth = 2", "[limits]", "max_pages = 7 # here", "[scope]", "mode = 'any'",
            "limits = { max_depth = 1 }", "[[site]]", "url = 'https://a.test/'", "[sitemap]", "[[sitemap.profile]]",
            "name = 'x'", "[normalise]", "[[normalise.rule]]", "pattern = 'a'", "site = 3", "[scope.aliases]",
            'origin = [{ origin = "https://a.test" }]', "[limits.x]", "scope = 'no table'", "headers = { X-A = 'b' }",
        ]
    ),
    max_size=12,
)  # fmt: skip
KNOWN = st.sampled_from(["", "true", "false", "5", "0.5", "-1", "any", "https://a.test/", "a\nb", "x: y"])
NAMED = {one.name: one for one in FIELDS}


def reached(tree: Any, name: str) -> Any:
    """Return what stands under a dotted name, UNSET for nothing."""
    for part in name.split("."):
        tree = tree.get(part, UNSET) if isinstance(tree, dict) else UNSET
    return tree


@untimed(deadline=None)
@given(LINES, st.dictionaries(st.sampled_from(sorted(NAMED)), st.one_of(KNOWN, st.text()), max_size=6))
def test_a_value_of_the_form_stands_in_the_text(lines: list[str], typed: dict[str, str]) -> None:
    """Whatever text a value is put into is TOML after that, holds the value, and has all else as it was."""
    text = "\n".join(lines)
    before = draft.tree_of(text)
    if before is None:
        return
    after = draft.tree_of(draft.put(text, typed))
    assert after is not None
    for name in set(typed) - {one for one in NAMED if "[" in one}:
        section = name.partition(".")[0] if "." in name else ""
        if not section or isinstance(before.get(section, {}), dict):
            one = NAMED[name]
            assert one.shown(reached(after, name)) == one.shown(one.read(typed[name])), name
    untouched = [name for name in values(before) if name not in typed and "[" not in name]
    assert [values(before)[name] for name in untouched] == [values(after)[name] for name in untouched]


@untimed(deadline=None)
@given(st.text())
def test_any_text_can_be_edited(text: str) -> None:
    """No text that somebody types makes the draft fail: it is read, or kept as it stands."""
    made = draft.merged("", text, {"limits.max_depth": text, "seeds": text, "origin[1].headers": text})
    assert made.is_broken == (draft.tree_of(draft.plain(text)) is None)
    if made.is_broken:
        assert made.text == draft.plain(text)
    else:
        assert draft.merged(made.base, made.text, made.fields).text == made.text


@pytest.mark.parametrize("field", FIELDS, ids=lambda one: one.name)
def test_a_default_stays_one(field: Field) -> None:
    """Each field of an untouched form means its default: sending the form back changes nothing."""
    made = draft.of_text('seeds = ["https://a.test/"]\n')
    assert draft.merged(made.base, made.text, {field.name: made.fields[field.name]}).text == made.text


def test_comments_and_order_stay() -> None:
    """A list loses and gains items where it stands, with the comments of the rest; a new table comes at the end."""
    text = "# top\nseeds = [\n  'https://a.test/',  # first\n  'https://b.test/',\n]\n[limits]  # few\nmax_pages = 1\n"
    typed = {"seeds": "https://a.test/\nhttps://c.test/", "robots.obey": "false", "limits.max_pages": "2"}
    made = draft.put(text, typed)
    assert "# top" in made
    assert "# first" in made
    assert "[limits]  # few" in made
    assert made.endswith("[robots]\nobey = false\n")
    assert tomllib.loads(made)["seeds"] == ["https://a.test/", "https://c.test/"]


def test_what_a_run_stored_is_told_briefly() -> None:
    """Of all keys that a run stored only those are shown that are otherwise than usual, and they mean the same."""
    origin = {"origin": "https://a.test", "headers": {"X-A": "env:A"}}
    made = settings.of(
        {
            "seeds": ["https://a.test/"],
            "limits": {"max_depth": 2},
            "site": [{"url": "https://a.test/"}],
            "origin": [origin],
        }
    )
    text = draft.brief(settings.dump(made))
    assert settings.read(text) == made
    assert text.count("\n") < 14
