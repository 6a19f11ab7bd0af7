"""Sitemap files of a folder of static files: which files are pages, and what they say of themselves.

Reads the files as a web server would serve them. Knows no store; each page is judged by ``sitemap.choose``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from mimetypes import guess_type
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from purlieu import page, robots
from purlieu.errors import Mistake, SettingsError, StoreError
from purlieu.report.sitemap_former import Former
from purlieu.report.sitemap_writing import Built, How, LeftOut, folder_of, form_of, listing, put
from purlieu.settings import ProfileSettings
from purlieu.sitemap import Entry
from purlieu.sitemap.choose import Chooser, Place, Priorities, Told
from purlieu.sitemap.language import Alternates, agreed

INDEXES: Final = ("index.html", "index.htm", "index.xhtml")
"""Files that a server gives for their folder's URL, the first that is there."""
_LARGEST_BYTES: Final = 10 * 1024 * 1024
_DOCUMENTS: Final = frozenset({
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "rtf", "txt", "csv", "md",
})  # fmt: skip
_PAGES: Final = frozenset({"html", "htm", "xhtml"})


class _File(NamedTuple):
    href: str
    path: Path


def build(source: Path, profile: ProfileSettings, folder: Path, how: How) -> Built:
    """Write the sitemap of the files below ``source``, served at ``how.location``, and return what was made.

    ``index.html`` stands for its folder. Hidden files and links are passed over. Titles and texts are not changed;
    noindex, canonical and refresh count as they do in a crawl, and ``<lastmod>`` is the file's own time. Raises
    SettingsError for a folder that is not there, StoreError for one that cannot be read or written to.
    """
    if not source.is_dir():
        raise SettingsError(
            (Mistake("--from-files", str(source), "there is no such folder; give one with HTML files"),)
        )
    base = folder_of(how.location, "--base")
    location = folder_of(profile.location, "location") if profile.location else base
    former = Former.of(folder, form_of(profile), location)
    with listing(how) as left:
        pages = _Pages(source, base, profile, location, left)
        return put([("", pages.entries())], former.form, former, left, how)


class _Pages:
    """The pages of one folder."""

    def __init__(self, source: Path, base: str, profile: ProfileSettings, location: str, left: LeftOut) -> None:
        self._source = source
        self._base = base
        self._profile = profile
        self._left = left
        rules = source / "robots.txt"
        read = robots.read(rules.read_bytes()) if profile.robot and rules.is_file() else None
        forbids = (lambda href: not read.allowed(profile.robot, href)) if read else (lambda _: False)
        self._chooser = Chooser(profile, Place(location, (), forbids))
        self._priorities = Priorities(profile.priority)
        self._read = lru_cache(maxsize=2_000)(self._page)

    def entries(self) -> Iterator[Entry]:
        """Yield what goes in, in the order of their paths; the rest is listed with its reason."""
        for href, path in self._files(self._source, self._base):
            reason = self._judged(href, path)
            if reason:
                self._left.add(href, reason)
                continue
            dated = self._profile.lastmod != "none"
            yield Entry(
                href,
                priority=self._priorities.of(href),
                lastmod_at=path.stat().st_mtime if dated else None,
                alternates=agreed(href, self._declares) if self._profile.hreflang and _is_page(path) else (),
            )

    def _files(self, folder: Path, href: str) -> Iterator[_File]:
        """Yield the pages and documents of a folder and of those in it."""
        try:
            inside = sorted(folder.iterdir(), key=lambda path: path.name)
        except OSError as error:
            raise StoreError(f'folder "{folder}": it cannot be read ({error.strerror}); check its rights') from None
        names = {path.name for path in inside}
        index = next((name for name in INDEXES if name in names), None)
        for path in inside:
            if path.name.startswith(".") or path.is_symlink():
                continue
            told = href + quote(os.fsencode(path.name))
            if path.is_dir():
                yield from self._files(path, f"{told}/")
            elif not path.is_file():
                continue  # a pipe or a device, which nobody serves
            elif path.name == index:
                yield _File(href, path)
            elif _ending(path) in _PAGES | _DOCUMENTS and path.name != "robots.txt":
                yield _File(told, path)

    def _judged(self, href: str, path: Path) -> str:
        """Return why a file is left out, as a crawl would say it."""
        kind = "text/html" if _is_page(path) else guess_type(path.name)[0] or "application/octet-stream"
        found = self._read(href, path) if _is_page(path) else None
        index = "" if found is None else _index_reason(href, found)
        if found and found.refresh and found.refresh[1] not in {None, href} and found.refresh[0] <= 5:
            return "redirected"
        return self._chooser.page(Told(href, "fetched", "ok", 1, 200, kind, index))

    def _page(self, href: str, path: Path) -> page.Page:
        try:
            with path.open("rb") as file:
                body = file.read(_LARGEST_BYTES)
        except OSError as error:
            raise StoreError(f'file "{path}": it cannot be read ({error.strerror}); check its rights') from None
        agent = self._profile.robot or "purlieu"
        return page.read(body, url=href, content_type="text/html", agent=agent)

    def _declares(self, href: str) -> Alternates | None:
        """Return what a page of the folder says of its languages."""
        path = self._path(href)
        if path is None:
            return None
        found = self._read(href, path)
        return None if _index_reason(href, found) else found.alternates

    def _path(self, href: str) -> Path | None:
        if not href.startswith(self._base) or "?" in href:
            return None
        inside = os.fsdecode(unquote_to_bytes(href[len(self._base) :]))
        if any(part in {"..", "."} or part.startswith(".") for part in inside.split("/")) or "\0" in inside:
            return None
        path = self._source / inside
        if path.is_dir() and (not inside or inside.endswith("/")):
            path = next((path / name for name in INDEXES if (path / name).is_file()), path)
        return path if path.is_file() and _is_page(path) else None


def _index_reason(href: str, found: page.Page) -> str:
    if found.noindex:
        return "noindex"
    if found.canonical and found.canonical != href:
        return "canonical"
    return "empty" if found.text_empty else ""


def _ending(path: Path) -> str:
    return path.suffix[1:].lower()


def _is_page(path: Path) -> bool:
    return _ending(path) in _PAGES
