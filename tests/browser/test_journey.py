"""The whole way of a newcomer, in a real browser and in each language: from an empty store to files in hand (issue 6)."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.screen import Viewer, served

from purlieu.report.crawl_result import ZIP_NAME
from purlieu.sitemap import read
from purlieu.testing.demo import DemoSite

LONG = 60_000.0
"""Milliseconds in which a run of twenty pages ends on a busy machine."""
CSV_NAME = ZIP_NAME.removesuffix(".zip")


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_from_nothing_to_files(look: Callable[..., Viewer], tmp_path: Path, language: str) -> None:
    """An empty store leads to a new crawl, this to its run, and this to its result file and its sitemap (issue 6)."""
    with DemoSite() as site, served(tmp_path / "new.db") as console:
        viewer = look(console, language)
        page = viewer.page

        def keep(step: str) -> None:
            viewer.picture(f"journey-{language}-{step}")

        keep("1-empty")
        page.locator("main a[href='/crawls/new']").first.click()
        page.locator("#seeds").fill(site.url)
        keep("2-new")
        page.locator("main button[value='run']").click()
        expect(page.locator(".state-done").first).to_be_visible(timeout=LONG)
        keep("3-run")
        viewer.open("/crawls/1")
        with page.expect_download() as result:
            page.locator("a[href='/crawls/1/result']").click()
        assert result.value.suggested_filename == ZIP_NAME
        with zipfile.ZipFile(result.value.path()) as file:
            rows = list(csv.reader(io.StringIO(file.read(CSV_NAME).decode("utf-8-sig"))))
        assert any(f"{site.url}bread" in row for row in rows), rows[:3]
        keep("4-crawl")
        viewer.open("/runs/1/tree")
        keep("5-tree")
        page.locator("main a[href*='/sitemap?']").first.click()
        keep("6-profile")
        page.locator("main button[value='download']").click()
        made = page.locator("a[href$='/file']")
        expect(made).to_be_visible(timeout=LONG)
        keep("7-sitemap")
        with page.expect_download() as sitemap:
            made.click()
        told = read(sitemap.value.path().read_bytes(), url=f"{site.url}{sitemap.value.suggested_filename}")
        assert f"{site.url}bread" in {entry.loc for entry in told.entries}
        assert not told.problems
