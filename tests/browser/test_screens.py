"""Every screen, in a real browser: for all, on anything, in light and dark, with and without scripts (issue 6)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.browser.screen import PHONE, Console, Viewer
from tests.browser.screens import SCREENS, barriers, overflow


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_nobody_is_shut_out(look: Callable[..., Viewer], shown: Console, *, is_dark: bool) -> None:
    """No screen has a fault that axe-core knows of against WCAG A and AA, in light and in dark (issue 6)."""
    viewer = look(shown, is_dark=is_dark)
    found = {}
    for name, path in SCREENS.items():
        page = viewer.open(path)
        viewer.picture(f"{name}-{'dark' if is_dark else 'light'}")
        if faults := barriers(page):
            found[name] = faults
    assert found == {}


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
    assert found == {}


def test_axe_sees_a_fault(look: Callable[..., Viewer], shown: Console) -> None:
    """The check itself works under the policy of our pages: a grey text on a grey ground is found."""
    page = look(shown).open("/")
    page.evaluate("document.querySelector('h1').style.cssText = 'color: #999; background: #aaa'")
    assert any("color-contrast" in fault for fault in barriers(page))
