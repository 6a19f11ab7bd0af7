"""The files of an Endeca configuration beside its properties: URL filter, regex normaliser, list of seeds.

Knows their formats and in which folder to look. Knows nothing of what they decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from purlieu.adopt import plain_xml
from purlieu.errors import Mistake, SettingsError
from purlieu.settings.check import FORMS, Wrong
from purlieu.value import dataclass

_LINES: Final = re.compile(r"\r\n|\r|\n")  # what the original takes for line ends; str.splitlines knows many more
_SEEDS: Final = ("*.lst", "seed*.txt", "seeds", "urls.txt")


@dataclass(frozen=True, slots=True)
class Folders:
    """Where files are looked for: the crawl's own folder before the default one (EN-2)."""

    own: Path
    default: Path | None

    def find(self, name: str) -> Path | None:
        """Return the file of that bare name, None when neither folder has it."""
        places = [self.own] if self.default is None else [self.own, self.default]
        return next((place / name for place in places if is_file(place / name)), None)

    def seed_lists(self) -> list[Path]:
        """Return the files of the crawl's own folder that look like lists of seeds."""
        try:
            return sorted({path for pattern in _SEEDS for path in self.own.glob(pattern) if is_file(path)})
        except (OSError, ValueError):  # no folder can be called so
            return []


def is_file(path: Path) -> bool:
    """Say whether there is such a file; a name that no file can have (too long, a NUL) is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def content(path: Path) -> bytes:
    """Return a file's bytes, at most 4 MiB; raises SettingsError."""
    try:
        with path.open("rb") as file:
            body = file.read(plain_xml.MOST_BYTES + 1)
    except OSError as error:
        why = error.strerror or str(error)
        raise SettingsError((Mistake("file", path.name, f"it cannot be read ({why}); mend it", str(path)),)) from None
    if len(body) > plain_xml.MOST_BYTES:
        remedy = f"it is longer than {plain_xml.MOST_BYTES:,} bytes; give another file"
        raise SettingsError((Mistake("file", path.name, remedy, str(path)),))
    return body


def lines(path: Path) -> list[str]:
    """Return a file's lines; raises SettingsError."""
    try:
        return _LINES.split(content(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        remedy = "the file is not UTF-8; save it as UTF-8"
        raise SettingsError((Mistake("file", path.name, remedy, str(path)),)) from None


def filter_rules(path: Path, mistakes: list[Mistake]) -> Iterator[tuple[int, str, str]]:
    """Yield (line, sign, pattern) of each rule of a URL filter file (UF-1, UF-5, UF-8); note lines that are none."""
    for number, line in enumerate(lines(path), 1):
        if line[:1] in {"", "#", " "}:
            continue
        if line[0] in "+-":
            yield number, line[0], line[1:]
        else:
            remedy = f"Invalid first character: {line[:200]}; begin it with + or -, or with # if it is a comment"
            mistakes.append(Mistake(f"line {number}", line[:200], remedy, str(path)))


def normalise_rules(path: Path, mistakes: list[Mistake]) -> Iterator[tuple[int, str, str]]:
    """Yield (line, pattern, substitution) of each rule of a regex normaliser file (UF-24); note what is none."""
    root = plain_xml.read(content(path), str(path))
    if root.name != "regex-normalize":
        mistakes.append(Mistake(f"line {root.line}", f"<{root.name}>", "write <regex-normalize>", str(path)))
        return
    for rule in root.children:
        pattern, substitution = rule.child("pattern"), rule.child("substitution")
        if rule.name != "regex" or pattern is None or not pattern.text:
            remedy = "write <regex><pattern>...</pattern><substitution>...</substitution></regex>"
            mistakes.append(Mistake(f"line {rule.line}", f"<{rule.name}>", remedy, str(path)))
        else:
            yield rule.line, pattern.text, substitution.text if substitution is not None else ""


def seeds(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of a list of seeds, without empty lines and comments (EN-68)."""
    for number, line in enumerate(lines(path), 1):
        if (text := line.strip()) and not text.startswith("#"):
            yield number, text


def seed_fault(text: str) -> str:
    """Return why a text is no seed that can be crawled, "" when it is one (EN-66: no FTP)."""
    checked = FORMS["url"](text)
    return checked.remedy if isinstance(checked, Wrong) else ""


def named(seeds: Sequence[str], folders: Folders) -> list[str | Path]:
    """Return each typed seed as the URL or the list of URLs that it is; the original's ``-s`` takes both."""
    return [_list(seed, folders) or seed for seed in seeds]


def _list(seed: str, folders: Folders) -> Path | None:
    if "://" in seed or not seed:
        return None
    return next((path for path in (Path(seed), folders.own / seed) if is_file(path)), None)
