"""Whether a settings text may be a crawl's in this store: the one place through which every one of them goes.

Asks the same checks as ``purlieu config check``, and a few that only a crawl without a folder of its own needs.
Reads no file and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from purlieu import settings
from purlieu.console import grant
from purlieu.console.parts import Terms
from purlieu.errors import Mistake, SettingsError
from purlieu.finding import Finding
from purlieu.sentence import Sentence
from purlieu.settings import Settings
from purlieu.settings.advice import findings
from purlieu.settings.door import SECRET_KEYS, SECRET_TABLES
from purlieu.settings.secret import MASK, masked
from purlieu.value import dataclass

NO_SEED: Final = Sentence("write at least one address to start from")
SECRET: Final = Sentence("write env:NAME and set that variable where the console is started: the store keeps no secret")
NO_FILE: Final = Sentence(
    "a crawl of the console has no folder of its own: write the lines of the file under filter.rules"
)
_ITEM: Final = re.compile(r"\[[0-9]+\]$")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a settings text is: the settings, or else every mistake; ``notes`` are what its owner should know."""

    made: Settings | None = None
    mistakes: tuple[Mistake, ...] = ()
    notes: tuple[Finding, ...] = ()


def check(text: str, terms: Terms, name: str = "", before: str = "") -> Checked:
    """Return a settings text checked for the crawl ``name``, for any where it has none yet; raises nothing.

    ``terms`` say whether it may reach into the networks of this machine, ``before`` is what stood there until now.
    """
    try:
        made = settings.read(text)
    except SettingsError as error:
        return Checked(mistakes=error.mistakes)
    mistakes = (*_mistakes(made, name), *(() if terms.private else grant.mistakes(made, _read(before))))
    return Checked(mistakes=mistakes) if mistakes else Checked(made, (), tuple(findings(made)))


def _read(text: str) -> Settings | None:
    try:
        return settings.read(text) if text else None
    except SettingsError:
        return None


def _mistakes(made: Settings, name: str) -> Iterator[Mistake]:
    if not made.seeds:
        yield Mistake("seeds", "", NO_SEED)
    if name and made.name and made.name != name:
        yield Mistake(
            "name", made.name, Sentence('the crawl is called "{name}"; copy it to have one of another name', name=name)
        )
    if made.filter.rules_file:
        yield Mistake("filter.rules_file", made.filter.rules_file, NO_FILE)
    safe = masked(made)
    if safe.fetch.proxy != made.fetch.proxy:
        yield Mistake("fetch.proxy", safe.fetch.proxy, SECRET)
    for number, (one, other) in enumerate(zip(made.origins, safe.origins, strict=True), 1):
        for key in (*SECRET_KEYS, *SECRET_TABLES):
            if getattr(one, key) != getattr(other, key):
                yield Mistake(f"origin[{number}].{key}", MASK, SECRET)


def field_of(mistake: Mistake, names: Collection[str]) -> str:
    """Return the field of a form that a mistake belongs to, "" where it has none: a key that is not there, a line."""
    for name in (mistake.key, _ITEM.sub("", mistake.key), mistake.key.rpartition(".")[0]):
        if name in names:
            return name
    return ""


def by_field(checked: Checked, names: Collection[str]) -> dict[str, list[Mistake]]:
    """Return the mistakes by the field they belong to, in their order; those without under ""."""
    found: dict[str, list[Mistake]] = {}
    for one in checked.mistakes:
        found.setdefault(field_of(one, names), []).append(one)
    return found
