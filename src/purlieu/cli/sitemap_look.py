"""``purlieu sitemap check``: what is wrong with a sitemap; and how any sitemap that is typed is asked for.

Builds what asks for files by themselves; what is wrong with one is ``purlieu.sitemap``'s to say, what a run found
``purlieu.report``'s.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from purlieu import settings
from purlieu.cli import config
from purlieu.cli.words import safe, speaker, tongue
from purlieu.crawl.sitemap_walk import WalkRules
from purlieu.errors import Mistake, SettingsError, UrlError
from purlieu.sentence import said
from purlieu.sitemap import Entry
from purlieu.sitemap.inspection import Inspection
from purlieu.url import parse

if TYPE_CHECKING:
    from purlieu.settings import Settings

PIECE = 65_536
MOST_TOLD = 10_000
"""Problems that are told one by one over all files."""
_REMEDY = "give a URL with http:// or https://, the path of a file, or -"


def run(arguments: argparse.Namespace) -> int:
    """Tell what is wrong with a sitemap; 1 when it is invalid in the reading asked for. Raises SettingsError."""
    made = settings_of(arguments)
    place = checked_url(arguments.url, "--url") if arguments.url else None
    checked = Checked(arguments, made, place)
    asyncio.run(checked.look())
    if arguments.crawl:
        from purlieu.cli import sitemap_fates

        checked.fates = sitemap_fates.of(checked.locs, checked.rejected, made)
    if arguments.json:
        sys.stdout.write(json.dumps(checked.facts(), ensure_ascii=False) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in checked.lines())
    return 0 if checked.is_valid else 1


# -- what was typed --------------------------------------------------------------------------------


def is_url(word: str) -> bool:
    """Say whether a word is meant as a URL."""
    return "://" in word


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings that say how to ask; raises SettingsError."""
    return config.of_file(arguments.config) if arguments.config else settings.of({})


def checked_url(word: str, key: str) -> str:
    """Return the serialised http or https URL that was typed; raises SettingsError."""
    try:
        url = parse(word)
    except UrlError:
        url = None
    if url is None or url.scheme not in {"http", "https"}:
        raise SettingsError((Mistake(key, word, "write a whole URL with http:// or https://"),))
    return url.href


@contextmanager
def pieces_of(word: str) -> Iterator[Callable[[], Iterable[bytes]]]:
    """Give what reads a local file from its beginning, each time it is called; stdin is kept, up to the limit.

    Raises SettingsError when it cannot be read.
    """
    from purlieu.sitemap import LIMIT_BYTES

    if word == "-":
        body = sys.stdin.buffer.read(LIMIT_BYTES + 1)
        yield lambda: (body,)
        return
    try:
        with Path(word).open("rb"):
            pass
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise SettingsError((Mistake("SITEMAP", word, f"the file cannot be read ({why}); {_REMEDY}"),)) from None
    yield lambda: _read(Path(word))


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


def _beside(word: str) -> Callable[[str], Callable[[], Iterable[bytes]] | None]:
    """Return what finds the children of a local index that stand in its folder."""
    folder = Path(word).parent

    def find(href: str) -> Callable[[], Iterable[bytes]] | None:
        name = href.partition("?")[0].rpartition("/")[2]
        path = folder / name
        return (lambda: _read(path)) if name not in {"", ".", ".."} and path.is_file() else None

    return find


async def inspections(
    word: str,
    made: Settings,
    *,
    strict: bool = False,
    limit_2007: bool = False,
    place: str | None = None,
    each: Callable[[str, Entry], object] | None = None,
) -> AsyncGenerator[Inspection]:
    """Yield what the sitemap that was typed is, then each child; ``place`` as for ``SitemapWalk.of_bytes``."""
    from purlieu.crawl.looking import looking

    is_local = not is_url(word) and word != "-"
    rules = WalkRules(strict, limit_2007, each=each, beside=_beside(word) if is_local else lambda _: None)
    async with looking(made, rules) as walk:
        if is_url(word):
            async with aclosing(walk.of_url(checked_url(word, "SITEMAP"))) as found:
                async for one in found:
                    yield one
            return
        with pieces_of(word) as pieces:
            async with aclosing(walk.of_bytes(pieces, "stdin" if word == "-" else word, place)) as found:
                async for one in found:
                    yield one


# -- check -----------------------------------------------------------------------------------------


class Checked:
    """One sitemap, checked."""

    def __init__(self, arguments: argparse.Namespace, made: Settings, place: str | None) -> None:
        """Prepare to check what was typed."""
        self._word: str = arguments.sitemap
        self._strict: bool = arguments.strict
        self._say = speaker(tongue(arguments.lang, made.language))
        self._arguments = arguments
        self._made = made
        self._place = place
        self.files: list[dict[str, Any]] = []
        self.problems: list[dict[str, Any]] = []
        self.entries = 0
        self.untold = 0
        self.lenient = self.strict = True
        self.locs: dict[str, None] = {}
        self.rejected: set[str] = set()
        self.fates: list[dict[str, Any]] | None = None

    @property
    def is_valid(self) -> bool:
        """Whether it is valid in the reading that was asked for."""
        return self.strict if self._strict else self.lenient

    async def look(self) -> None:
        """Look at every file."""
        a = self._arguments
        found = inspections(
            self._word,
            self._made,
            strict=self._strict,
            limit_2007=a.profile == "2007",
            place=self._place,
            each=self._keep if a.crawl else None,
        )
        async with aclosing(found):
            async for one in found:
                self._take(one)
                if a.no_children:
                    break

    def _keep(self, _: str, entry: Entry) -> None:
        self.locs[entry.loc] = None

    def _take(self, one: Inspection) -> None:
        self.entries += one.entries
        self.rejected |= one.rejected
        self.lenient = self.lenient and one.is_valid
        self.strict = self.strict and one.is_strictly_valid
        self.files.append(
            {
                "file": one.url,
                "kind": one.kind,
                "entries": one.entries,
                "children": len(one.children),
                "bytes": one.size_bytes,
                "problems": len(one.problems),
                "valid": one.is_valid,
                "strictly_valid": one.is_strictly_valid,
                "within_2007_limits": one.size_bytes <= 10_485_760,
            }
        )
        for problem in one.problems:
            if len(self.problems) < MOST_TOLD:
                told = {
                    "line": problem.line,
                    "kind": problem.kind,
                    "sentence": said(problem.sentence, self._say),
                }
                self.problems.append({"file": one.url, **told})
            else:
                self.untold += 1

    def facts(self) -> dict[str, Any]:
        """Return everything as one object."""
        facts = {
            "sitemap": self._word,
            "valid": self.is_valid,
            "lenient": self.lenient,
            "strict": self.strict,
            "entries": self.entries,
            "problems": self.problems,
            "problems_not_listed": self.untold,
            "files": self.files,
        }
        return facts if self.fates is None else {**facts, "fates": self.fates}

    def lines(self) -> Iterator[str]:
        """Yield a line for each file and problem, the fates of the entries if asked for, and the sums."""
        say = self._say
        by_file: dict[str, list[dict[str, Any]]] = {}
        for problem in self.problems:
            by_file.setdefault(problem["file"], []).append(problem)
        for file in self.files:
            parts = [file["kind"], self._entries(file["entries"])]
            if file["kind"] == "index":
                parts.append(self._files(file["children"]))
            parts.append(say("{count} bytes", count=f"{file['bytes']:,}"))
            yield f"{safe(file['file'])}: {', '.join(parts)}"
            yield from (
                f"  {say('line {line}', line=one['line'])}: {one['kind']}: {safe(one['sentence'])}"
                for one in by_file.pop(file["file"], ())
            )
        if self.untold:
            yield say("{count} more problems are not listed.", count=f"{self.untold:,}")
        if self.fates is not None:
            yield ""
            yield from _fates(self.fates)
        yield ""
        count = len(self.problems) + self.untold
        problems = say("1 problem") if count == 1 else say("{count} problems", count=f"{count:,}")
        entries, files = self._entries(self.entries), self._files(len(self.files))
        yield say("{entries} in {files}, {problems}.", entries=entries, files=files, problems=problems)
        lenient, strict = (say("valid") if one else say("not valid") for one in (self.lenient, self.strict))
        yield say("Read leniently: {lenient}. Read strictly: {strict}.", lenient=lenient, strict=strict)
        if not count and not self.strict:
            yield say("What is wrong strictly is told with --strict.")

    def _entries(self, count: int) -> str:
        return self._say("1 entry") if count == 1 else self._say("{count} entries", count=f"{count:,}")

    def _files(self, count: int) -> str:
        return self._say("1 file") if count == 1 else self._say("{count} files", count=f"{count:,}")


def _fates(fates: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the entries that were not fetched as they stand, and how many ended how."""
    counts: dict[str, int] = {}
    for one in fates:
        ending = f"{one['kind']}.{one['reason']}"
        counts[ending] = counts.get(ending, 0) + 1
        if one["kind"] not in {"fetched", "unchanged"} or one["index_reason"]:
            to = f" -> {safe(one['redirect_to'])}" if one["redirect_to"] else ""
            why = f", not indexable: {one['index_reason']}" if one["index_reason"] else ""
            status = f" ({one['status']})" if one["status"] else ""
            yield f"  {ending}{status}  {safe(one['url'])}{to}{why}"
    yield "  ".join(f"{ending} {count:,}" for ending, count in sorted(counts.items()))
