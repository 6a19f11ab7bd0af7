"""The sitemap files that stand in a folder already: what they list, and which of them are ours.

Reads them as any crawler would, with our own reader, as a stream. Decides nothing about what is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from purlieu.sitemap import Child, Entry, scan
from purlieu.sitemap.write import Form
from purlieu.value import dataclass, field

_CHUNK_BYTES = 65_536
_LONGEST_NAME = 255


@dataclass(slots=True)
class Former:
    """The files of one sitemap in a folder. ``dated`` gives the lastmod of each file that the index names."""

    folder: Path
    form: Form
    location: str
    dated: dict[str, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    is_index: bool = True

    @classmethod
    def of(cls, folder: Path, form: Form, location: str) -> Former:
        """Look at the index that stands in a folder, if one does."""
        former = cls(folder, form, location)
        number = 1
        while (folder / form.index(number)).is_file():
            for item in former._scan(form.index(number)):
                if isinstance(item, Child):
                    former.dated.setdefault(item.loc.rpartition("/")[2], item.lastmod)
                elif number == 1:
                    former.is_index = False
            number += 1
        former.dated = {name: dated for name, dated in former.dated.items() if former._is_here(name)}
        return former

    def entries(self) -> Iterator[Entry]:
        """Yield what the files list, in their order."""
        for name in self.dated if self.is_index else (self.form.index(),):
            for item in self._scan(name):
                if isinstance(item, Entry):
                    yield item

    def ours(self) -> list[str]:
        """Return the files that bear names as we give them, so that those no longer needed may go."""
        pattern = re.compile(rf"{re.escape(self.form.stem)}-(?:[\w.-]+-)?[0-9]+\.xml(?:\.gz)?", re.ASCII)
        found = [path.name for path in self.folder.iterdir()] if self.folder.is_dir() else []
        return sorted(
            name for name in found if pattern.fullmatch(name) and (name in self.dated or self._is_index(name))
        )

    def _is_index(self, name: str) -> bool:
        return re.fullmatch(rf"{re.escape(self.form.stem)}-index-[0-9]+\.xml", name) is not None

    def _is_here(self, name: str) -> bool:
        """Say whether a file of an index lies here; its name is what follows the last slash of an address."""
        return 0 < len(name.encode()) <= _LONGEST_NAME and (self.folder / name).is_file()

    def _scan(self, name: str) -> Iterator[Entry | Child]:
        with (self.folder / name).open("rb") as file:
            for item in scan(iter(lambda: file.read(_CHUNK_BYTES), b""), url=self.location + name):
                if isinstance(item, Entry | Child):
                    yield item
                elif len(self.problems) < 20:
                    told = f"{name}, line {item.line}: {item.sentence}"
                    if told not in self.problems:
                        self.problems.append(told)
