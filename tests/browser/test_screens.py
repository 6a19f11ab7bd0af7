"""Every screen, in a real browser: for all, on anything, in light and dark, with and without scripts (issue 6)."""

from __future__ import annotations

import re
from collections.abc import Callable
from pprint import pformat
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect
from tests.browser import village
from tests.browser.screen import PHONE, Console, Viewer
from tests.browser.screens import SCREENS, barriers, overflow, untranslated


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_nobody_is_shut_out(look: Callable[..., Viewer], shown: Console, *, is_dark: bool) -> None:
    """No screen has a fault that axe-core knows of against WCAG A and AA, in light and in dark (issue 6)."""
    viewer = look(shown, is_dark=is_dark)
    found = {}
    for name, path in SCREENS.items():
        page = viewer.open(path)
        viewer.picture(f"{name}-{'dark' if is_dark else 'light'}")
        if faults := barriers(page, only_colours=is_dark):  # nothing else differs in the dark
            found[name] = faults
    assert found == {}, pformat(found)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_a_phone_shows_it_all(look: Callable[..., Viewer], shown: Console, language: str) -> None:
    """On a phone no screen is wider than the window, in any language; wide tables scroll by themselves (issue 6)."""
    viewer = look(shown, language, size=PHONE)
    found = {}
    for name, path in SCREENS.items():
        page = viewer.open(path)
        viewer.picture(f"{name}-phone-{language}")
        if faults := overflow(page):
            found[name] = faults
    assert found == {}, pformat(found)


def test_axe_sees_a_fault(look: Callable[..., Viewer], shown: Console) -> None:
    """The check itself works under the policy of our pages: a grey text on a grey ground is found."""
    page = look(shown).open("/")
    page.evaluate("document.querySelector('h1').style.cssText = 'color: #999; background: #aaa'")
    assert any("color-contrast" in fault for fault in barriers(page))


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_nothing_is_left_in_english(look: Callable[..., Viewer], shown: Console, language: str) -> None:
    """On a Japanese and a Chinese screen each text is in that language, but for addresses, titles, codes and names."""
    viewer = look(shown, language)
    found = {}
    for name, path in SCREENS.items():
        page = viewer.open(path)
        viewer.picture(f"{name}-{language}")
        if texts := untranslated(page):
            found[name] = texts
    assert found == {}, pformat(found)


def test_the_language_is_the_browsers_until_it_is_chosen(look: Callable[..., Viewer], shown: Console) -> None:
    """A page speaks the browser's language; one chosen on a page shows that page again, and holds for the others."""
    viewer = look(shown, "ja")
    page = viewer.open("/crawls/1")
    html = page.locator("html")
    assert html.get_attribute("lang") == "ja"
    page.get_by_role("link", name="简体中文").click()
    expect(html).to_have_attribute("lang", "zh-Hans")
    assert urlsplit(page.url).path == "/crawls/1"
    viewer.open("/")
    expect(html).to_have_attribute("lang", "zh-Hans")
    page.get_by_role("link", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Crawls")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_pages_work_without_scripts(look: Callable[..., Viewer], shown: Console, language: str) -> None:
    """Without JavaScript every screen shows, and the table is filtered, sorted and paged by links and forms."""
    viewer = look(shown, language, with_scripts=False)
    for path in SCREENS.values():
        expect(viewer.open(path).locator("main h1").first).to_be_visible()
    page = viewer.open(SCREENS["run"])
    rows = page.locator("table.ledger tbody tr")
    expect(rows).to_have_count(50)
    page.locator("a[rel=next]").click()
    expect(rows.first).not_to_contain_text("https://mill.example/")
    page.go_back()
    page.locator("select[name=kind]").select_option("missing")
    page.locator("#table form button").click()
    expect(rows).to_have_count(6)
    page.locator("thead a").nth(1).click()
    expect(page.locator("th[aria-sort]")).to_have_count(1)
    expect(rows).to_have_count(6)


def test_hostile_text_does_not_run(look: Callable[..., Viewer], hostile: Console) -> None:
    """Titles, addresses, headers and robots.txt that are scripts are shown as text: none runs, none is asked for."""
    viewer = look(hostile)
    page = viewer.open("/runs/1")
    expect(page.locator(".title").first).to_contain_text("<script>")
    addresses = page.locator("table.ledger .what a").evaluate_all("links => links.map(one => one.getAttribute('href'))")
    assert len(addresses) > 2
    for path in (
        *addresses,
        "/",
        "/crawls/1",
        "/crawls/1/settings",
        "/runs/1/map",
        "/runs/1/tree?all=on",
        "/runs/1/hosts?u=https://evil.example/<script>",
        "/compare",
    ):
        viewer.open(path)
        for closed in page.locator("summary").all():
            closed.click()
        assert page.locator("main script, main img, main [onerror], main [onmouseover]").count() == 0, path
        assert page.locator("a[href^='javascript:'], a[href^='data:']").count() == 0, path


def test_a_filter_without_sections_says_so(look: Callable[..., Viewer], shown: Console) -> None:
    """With "Filter sections" on and nothing selected there is a message and no row; a section chosen shows its own (IB-5)."""
    page = look(shown).open(f"/runs/{village.RUNS}/tree")
    rows = page.locator("table.tree tbody tr")
    assert rows.count() > 1
    page.get_by_label("Filter sections").check()
    expect(page.get_by_role("status")).to_contain_text("none is selected")
    expect(rows).to_have_count(0)
    page.get_by_role("checkbox", name=f"{village.HOME}bread/").check()
    expect(rows.first).to_be_visible()
    assert all("bread" in text or text == village.HOME for text in page.locator("table.tree .url").all_inner_texts())


def test_a_bar_filters_the_ledger(look: Callable[..., Viewer], shown: Console) -> None:
    """A bar of the outcomes leads to its rows; a choice in the form asks at once and stands in the address (issue 6)."""
    viewer = look(shown)
    page = viewer.open(SCREENS["run"])
    rows = page.locator("table.ledger tbody tr")
    page.locator(".bar", has_text="missing").click()
    expect(page.get_by_label("Kind")).to_have_value("missing")
    expect(rows).to_have_count(6)
    page.get_by_label("Kind").select_option("server_error")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("jobs/baker")
    assert "kind=server_error" in page.url
    page.get_by_label("Kind").select_option("")
    expect(rows).to_have_count(50)
    page.get_by_label("In the address or title").fill("jobs/")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(3)


def test_a_schedule_tells_its_times_while_it_is_typed(look: Callable[..., Viewer], shown: Console) -> None:
    """A schedule being typed says in words when it runs and when next, and what is wrong with it, before it is added (issue 6)."""
    page = look(shown).open("/crawls/1/schedules")
    told = page.locator("#check")
    page.locator("#cron").fill("0 12 * * mon-fri")
    expect(told.locator("time")).to_have_count(5)
    expect(told).to_contain_text("12:00")
    page.locator("#cron").fill("61 12 * * *")
    expect(told.locator("time")).to_have_count(0)
    expect(told).to_contain_text("minute")


def test_settings_are_checked_while_they_are_typed(look: Callable[..., Viewer], shown: Console) -> None:
    """The form of the settings shows a mistake beside its field and the same settings as TOML; nothing is saved by it (issue 6)."""
    page = look(shown).open("/crawls/1/settings")
    depth = page.locator("[name='limits.max_depth']")
    depth.fill("minus")
    expect(page.locator(".field", has=depth).locator(".wrong p")).to_be_visible()
    depth.fill("3")
    expect(page.locator(".field", has=depth).locator(".wrong p")).to_have_count(0)
    expect(page.locator("textarea.toml")).to_have_value(re.compile("max_depth = 3"))


def test_times_are_in_the_viewers_zone(look: Callable[..., Viewer], shown: Console) -> None:
    """Times are told in the zone of the browser, from the first page on (issue 6)."""
    page = look(shown, zone="Asia/Tokyo").open("/crawls/1")
    first = page.locator("td time").first
    expect(first).to_have_attribute("datetime", re.compile(r"\+09:00$"))
    assert (first.get_attribute("datetime") or "")[11:16] in first.inner_text()


def test_two_runs_are_compared(look: Callable[..., Viewer], shown: Console) -> None:
    """What is new, changed and failing between two runs is counted, and each count leads to its URLs (issue 6)."""
    page = look(shown).open("/crawls/1")
    page.get_by_role("link", name="Compare").nth(1).click()
    rows = page.locator("table.ledger tbody tr")
    expect(rows.first).to_contain_text("shop.hedgerow.example/item/")
    page.locator(".bar", has_text="fails now").click()
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("jobs/baker")
    expect(rows.first).to_contain_text("500")


def test_the_main_way_needs_only_the_keyboard(look: Callable[..., Viewer], shown: Console) -> None:
    """From the list of crawls to one URL of a run every step is reached by Tab, is seen to be, and is taken by Enter."""
    viewer = look(shown)
    page = viewer.open("/")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    page.keyboard.press("Enter")
    for step in (village.NAME, str(village.RUNS), "missing"):
        reach(page, step)
        with page.expect_navigation():
            page.keyboard.press("Enter")
    expect(page.locator("table.ledger tbody tr")).to_have_count(6)
    reach(page, f"{village.HOME}bread/cinnamon")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("bread/cinnamon")


def reach(page: Page, text: str) -> None:
    """Press Tab until what begins with a text has the focus, which must be seen."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").strip().startswith(text):
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(text)
