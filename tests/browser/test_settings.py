"""A crawl's settings edited in a real browser: the form and the text follow each other, and the box says in or out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.screen import Console, Viewer, served
from tests.browser.screens import barriers

from purlieu.store import crawls
from purlieu.store.sqlite import SqliteDatabase

expect.set_options(timeout=20_000)  # a busy machine answers late
TOML = '# mine\nseeds = ["https://a.example/"]\n'


@pytest.fixture
def console(tmp_path: Path) -> Iterator[Console]:
    """Yield a console with one crawl that has never run."""
    store = tmp_path / "edited.db"
    database = SqliteDatabase.writer(str(store))
    crawls.make(database, "mine", TOML)
    database.close()
    with served(store) as opened:
        yield opened


def test_form_and_text_follow_each_other(look: Callable[..., Viewer], console: Console) -> None:
    """What is typed into one side stands in the other at once, is checked at once, and is kept when it is saved."""
    page = look(console).open("/crawls/1/settings")
    page.locator("#limits-max_depth").fill("near")
    expect(page.locator("#e-limits-max_depth")).to_contain_text("write a number of at least 0")
    expect(page.locator("#limits-max_depth")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#told a[href='#limits-max_depth']")).to_be_visible()
    assert barriers(page) == []
    page.locator("#limits-max_depth").fill("2")
    expect(page.locator("#toml")).to_have_value(TOML + "\n[limits]\nmax_depth = 2\n")
    expect(page.locator("#limits-max_depth")).not_to_have_attribute("aria-invalid", "true")
    page.locator("#toml").fill(TOML + "\n[limits]\nmax_depth = 4\n\n[scope]\nmode = 'any'\n")
    expect(page.locator("#limits-max_depth")).to_have_value("4")
    expect(page.locator("input[name='scope.mode'][value='any']")).to_be_checked()
    expect(page.locator("#toml")).to_be_focused()
    page.locator("button[value='save']").click()
    expect(page.locator(".good").first).to_contain_text("Saved")
    expect(page.locator("#limits-max_depth")).to_have_value("4")


@pytest.mark.parametrize(
    ("language", "inside", "outside"), [("en", "In", "Out"), ("ja", "対象", "対象外"), ("zh", "在内", "在外")]
)
def test_the_box_answers_while_one_types(
    look: Callable[..., Viewer], console: Console, language: str, inside: str, outside: str
) -> None:
    """The box says in or out as the form stands, letter by letter, and again when the form changes (R-3.7)."""
    viewer = look(console, language)
    page = viewer.open("/crawls/1/settings")
    page.locator("#try").press_sequentially("/shop/cart")
    verdict = page.locator("#verdict strong")
    expect(verdict).to_have_text(inside)
    page.locator("#filter-exclude").fill("/shop/*")
    expect(verdict).to_have_text(outside)
    expect(page.locator("#try")).to_have_value("/shop/cart")
    viewer.picture(f"settings-try-{language}")


def test_without_scripts_it_is_a_form(look: Callable[..., Viewer], console: Console) -> None:
    """Without scripts the same page checks, judges and saves when a button is pressed."""
    page = look(console, with_scripts=False).open("/crawls/1/settings")
    page.locator("#limits-max_pages").fill("0")
    page.locator("#try").fill("https://b.example/")
    page.locator("button[value='check']").click()
    expect(page.locator("#e-limits-max_pages")).to_contain_text("at least 1")
    page.locator("#limits-max_pages").fill("10")
    page.locator("button[value='check']").click()
    expect(page.locator("#verdict strong")).to_have_text("Out")
    page.locator("button[value='save']").click()
    expect(page.locator("#toml")).to_have_value(TOML + "\n[limits]\nmax_pages = 10\n")
