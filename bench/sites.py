"""The sites that whole crawls are measured on: folders of files that Debian packages, or that are made here.

Knows where they lie and how the made ones are made, always alike. Must not know how they are served or crawled.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL_PAGES, SMALL_BYTES, SMALL_LINKS = 3_000, 4_000, 30
LARGE_PAGES, LARGE_BYTES, LARGE_LINKS = 24, 4_000_000, 60
_LETTERS: Final = str.maketrans("0123456789", "ghijklmnop")


@dataclass(frozen=True)
class Site:
    """A folder with an index.html; ``told`` says what it is."""

    folder: Path
    told: str


def _words(of: str, characters: int) -> str:
    """Return so many characters of made words, always the same for one name: pages alike would look like a trap."""
    letters = blake2b(of.encode()).hexdigest().translate(_LETTERS)
    text = " ".join(letters[start : start + 3 + start % 5] for start in range(0, len(letters) - 8, 8))
    return (f"{text} " * (characters // len(text) + 1))[: max(0, characters)]


def _page(number: int, pages: int, links: int, size_bytes: int) -> str:
    """Return one page: links to the next by number and to others all over the site, in text of the wanted size."""
    title = _words(f"title {number}", 30)
    lines = [f"<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body><h1>{title}</h1>"]
    for place in range(links):
        target = (number * links + place * 7 + 1) % pages
        text = _words(f"{number} {place}", size_bytes // links - 60)
        lines.append(f'<p><a href="p{target}.html">page {target}</a> {text}</p>')
    lines.append("</body></html>")
    return "\n".join(lines)


def _made(folder: Path, pages: int, links: int, size_bytes: int) -> None:
    for number in range(pages):
        (folder / f"p{number}.html").write_text(_page(number, pages, links, size_bytes), encoding="utf-8")
    starts = "\n".join(f'<a href="p{number}.html">{number}</a>' for number in range(0, pages, max(1, pages // 50)))
    (folder / "index.html").write_text(f"<!DOCTYPE html><title>All</title>{starts}", encoding="utf-8")


def _small(folder: Path) -> Site:
    _made(folder, SMALL_PAGES, SMALL_LINKS, SMALL_BYTES)
    return Site(folder, f"{SMALL_PAGES:,} made pages of {SMALL_BYTES // 1000} kB with {SMALL_LINKS} links each")


def _large(folder: Path) -> Site:
    _made(folder, LARGE_PAGES, LARGE_LINKS, LARGE_BYTES)
    return Site(folder, f"{LARGE_PAGES} made pages of {LARGE_BYTES // 1_000_000} MB with {LARGE_LINKS} links each")


PACKAGED: Final = {
    "python3-doc": "/usr/share/doc/python3-doc/html",
    "sqlite3-doc": "/usr/share/doc/sqlite3",
    "gimp-help-ja": "/usr/share/gimp/2.0/help/ja",
}
MADE: Final[dict[str, Callable[[Path], Site]]] = {"small": _small, "large": _large}


def site(name: str, folder: Path) -> Site:
    """Return a site by its name, or a folder of the caller's own; a made one is made in ``folder``."""
    if name in MADE:
        return MADE[name](folder)
    place = Path(PACKAGED.get(name, name)).resolve()
    if not (place / "index.html").is_file():
        known = ", ".join([*PACKAGED, *MADE])
        remedy = f"on Debian: apt-get install {name}" if name in PACKAGED else f"write a folder, or one of: {known}"
        sys.exit(f"{place}: there is no index.html; {remedy}")
    html = [path for path in place.rglob("*.html") if path.is_file()]
    size = sum(path.stat().st_size for path in html) / len(html) / 1000
    who = f"{name} as Debian packages it" if name in PACKAGED else place.name
    return Site(place, f"{who}, {len(html):,} HTML files of {size:.0f} kB on average")
