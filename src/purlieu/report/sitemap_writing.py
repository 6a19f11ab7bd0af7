"""Entries into the sitemap files of a folder: written beside, put in place whole, the index last.

Knows folders and the list of what was left out. Which entries there are, and why the others are not, is decided by
whoever hands them over.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from purlieu import url as urls
from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.report.file_set import replacing_in
from purlieu.report.sitemap_former import Former
from purlieu.report.whole_file import replacing
from purlieu.settings import ProfileSettings
from purlieu.sitemap import Child, Entry
from purlieu.sitemap.choose import sentence
from purlieu.sitemap.moment import as_w3c
from purlieu.sitemap.write import LIMITS, Form, indexes, lastmod_of, urlsets, written
from purlieu.value import dataclass, field

LIST_COLUMNS: Final = ("url", "reason", "sentence")


@dataclass(frozen=True, slots=True)
class How:
    """How a sitemap is made besides its profile.

    ``now`` in seconds since the epoch dates the files in the index. ``location`` stands over the profile's, "" does
    not. ``left_out`` is the file for the list of what was left out: JSON lines if its name ends so, else CSV; None: no
    list. ``keep``: whether former entries that the run did not visit stay ("auto": unless it was a whole run).
    ``tracks``: whether the changed addresses are wanted, for IndexNow; that holds the former set in memory.
    """

    now: float
    location: str = ""
    left_out: Path | None = None
    language: str = "en"
    keep: str = "auto"
    tracks: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """What was made. ``files`` in the order of the index, which comes last; no entries: nothing was written.

    ``left_out`` counts by reason (``sitemap.choose.REASONS``). ``kept`` of the ``entries`` came from the former files.
    ``changed`` are the files whose bytes are new, ``removed`` those no longer needed; ``moved`` the addresses that are
    new, changed or gone (only when tracked). ``problems`` tell what was wrong with the former files. ``indexes`` are
    the URLs of the index files, which are to be made known.
    """

    folder: Path
    location: str
    files: tuple[str, ...]
    entries: int
    left_out: Mapping[str, int]
    kept: int = 0
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


class LeftOut:
    """Counts and lists what is left out, by reason."""

    def __init__(self, file: BinaryIO | None, path: Path | None, language: str) -> None:
        """List into a file, if there is one."""
        self.counts: Counter[str] = Counter()
        self._text = io.TextIOWrapper(file, "utf-8", newline="", write_through=False) if file else None
        self._language = language
        self._lines = bool(path and path.suffix in {".jsonl", ".ndjson", ".json"})
        self._rows = csv.writer(self._text, lineterminator="\r\n") if self._text and not self._lines else None
        if self._rows:
            self._rows.writerow(LIST_COLUMNS)

    def add(self, url: str, reason: str) -> None:
        """Note that an address is left out."""
        self.counts[reason] += 1
        if self._text is None:
            return
        row = (url, reason, sentence(reason, self._language))
        if self._rows:
            self._rows.writerow(row)
        else:
            self._text.write(json.dumps(dict(zip(LIST_COLUMNS, row, strict=True)), ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Hand the rest to the file, which stays open."""
        if self._text is not None:
            self._text.flush()
            self._text.detach()
            self._text = None


@contextmanager
def listing(how: How) -> Iterator[LeftOut]:
    """Give what lists the pages that are left out; the list takes its place when all went well. Raises StoreError."""
    if how.left_out is None:
        yield LeftOut(None, None, how.language)
        return
    with replacing(how.left_out) as file:
        left = LeftOut(file, how.left_out, how.language)
        try:
            yield left
        finally:
            left.close()


def form_of(profile: ProfileSettings) -> Form:
    """Return how a profile's files are written."""
    return Form(profile.file or "sitemap", LIMITS[profile.limits], profile.gzip, profile.hreflang)


def folder_of(text: str, key: str) -> str:
    """Return the URL of a folder, which ends in a slash; raises SettingsError for a URL that is none."""
    try:
        parsed = urls.parse(text)
    except UrlError:
        raise SettingsError((Mistake(key, text, "write a folder's whole URL, such as https://example.com/"),)) from None
    if parsed.scheme not in {"http", "https"} or parsed.query is not None or "@" in parsed.href.split("/", 3)[2]:
        raise SettingsError((Mistake(key, text, "write http or https, a host and a folder, and nothing else"),))
    return parsed.href if parsed.path.endswith("/") else f"{parsed.href}/"


@dataclass(slots=True)
class Watch:
    """Counts entries as they pass, and notes which are new or say something new, if the former ones are known."""

    entries: int = 0
    former: dict[str, str | None] | None = None
    moved: list[str] = field(default_factory=list)

    def over(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield the entries as they are."""
        for entry in entries:
            self.entries += 1
            if self.former is not None:
                loc = written(entry.loc)
                before = self.former.pop(loc, False)
                if before is False or before != lastmod_of(entry):
                    self.moved.append(loc)
            yield entry


def put(groups: Iterable[tuple[str, Iterable[Entry]]], form: Form, former: Former, left: LeftOut, how: How) -> Built:
    """Write groups of entries, each by its name ("" for none), into the former files' folder, and return what was made.

    Without any entry nothing is written, and what stands there stays. Raises StoreError.
    """
    watch = Watch(former={written(one.loc): lastmod_of(one) for one in former.entries()} if how.tracks else None)
    with replacing_in(former.folder) as files:
        children = []
        for group, entries in groups:
            for name, differs in files.put(urlsets(watch.over(entries), form, group)):
                stays = None if differs else former.dated.get(name)
                children.append(Child(former.location + name, stays or as_w3c(int(how.now))))
        if not children:
            return Built(former.folder, former.location, (), 0, dict(left.counts), problems=tuple(former.problems))
        begun = len(files.names)
        files.put(indexes(children, form))
        # The first index is what is asked for first, so it comes last of all.
        files.changed.sort(key=lambda name: (name in files.names[begun:], name == form.index()))
        removed = files.commit(former.ours())
    return Built(
        former.folder, former.location, tuple(files.names), watch.entries, dict(left.counts), 0, tuple(files.changed),
        tuple(removed), (*watch.moved, *(watch.former or ())), tuple(former.problems),
        tuple(former.location + name for name in files.names[begun:]),
    )  # fmt: skip
