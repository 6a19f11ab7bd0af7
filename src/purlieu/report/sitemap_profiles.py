"""The named profiles of a crawl, one per robot or purpose: what a sitemap holds (IB-6), and how one is kept or removed.

A profile is a ``[[sitemap.profile]]`` of the settings that are kept for the crawl, else of those that a run was made
with. What is kept is the owner's text: nothing in it changes but the profile.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from typing import Final

from purlieu import settings
from purlieu.errors import SettingsError
from purlieu.settings import PUBLIC, ProfileSettings
from purlieu.store.reader import Reader, RunRow
from purlieu.value import replace

_HEADER: Final = "[[sitemap.profile]]"
_NEXT: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)


def of_run(reader: Reader, run: RunRow) -> dict[str, ProfileSettings]:
    """Return the profiles by name: those kept for the crawl now, else the run's; ``public`` is always there.

    Secrets in the settings of a run are masked, so its profiles are read alone.
    """
    kept = reader.kept_settings(run.crawl)
    return {PUBLIC.name: PUBLIC} | _of_text(kept.toml if kept else reader.config(run))


def text_with(text: str, profile: ProfileSettings) -> str:
    """Return a settings text with a profile, in the place of the one of its name. Raises SettingsError."""
    added = f"{without(text, profile.name).rstrip()}\n\n{_written(profile)}"
    return _checked(text, added, profile.name, profile)


def text_without(text: str, name: str) -> str:
    """Return a settings text without the profile of a name. Raises SettingsError."""
    return _checked(text, without(text, name), name, None)


def without(text: str, name: str) -> str:
    """Return a text without the tables of that profile, each from its header to the next one."""
    found, at = "", 0
    while (start := text.find(_HEADER, at)) >= 0:
        behind = _NEXT.search(text, start + len(_HEADER))
        end = behind.start() if behind else len(text)
        try:
            is_it = tomllib.loads(text[start:end])["sitemap"]["profile"][0].get("name") == name
        except (tomllib.TOMLDecodeError, KeyError, IndexError):
            is_it = False
        found += text[at:start] if is_it else text[at:end]
        at = end
    return found + text[at:]


def _checked(before: str, after: str, name: str, profile: ProfileSettings | None) -> str:
    """Return the new text, if it says the same as before but for the profile. Raises SettingsError."""
    old, new = settings.read(before), settings.read(after)
    kept = tuple(one for one in old.sitemap.profiles if one.name != name)
    wanted = (*kept, profile) if profile else kept
    if new != replace(old, sitemap=replace(old.sitemap, profiles=wanted)):
        from purlieu.errors import Mistake

        remedy = "the settings of this crawl are written in a way that cannot be changed here; edit them as a text"
        raise SettingsError((Mistake("sitemap.profile", name, remedy),))
    return after


def _written(profile: ProfileSettings) -> str:
    """Return a profile as TOML: its name, and what is not as usual."""
    usual = ProfileSettings(name=profile.name)
    lines = [_HEADER, f"name = {_value(profile.name)}"]
    for one in fields(ProfileSettings):
        value = getattr(profile, one.name)
        if one.name != "name" and value != getattr(usual, one.name):
            lines.append(f"{one.name} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _value(value: bool | str | tuple[str, ...]) -> str:  # noqa: FBT001 - a value of TOML
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"{}"'.format("".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in escaped))


def _of_text(text: str) -> dict[str, ProfileSettings]:
    try:
        tables = tomllib.loads(text).get("sitemap", {}).get("profile", [])
        made = settings.of({"sitemap": {"profile": tables}})
    except (tomllib.TOMLDecodeError, SettingsError, AttributeError):
        return {}
    return {one.name: one for one in made.sitemap.profiles}
