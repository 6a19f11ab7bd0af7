"""The two things that the tables of the command line are made of.

Knows what an argument or a command may be. Has no table itself, and acts on nothing.
"""

from __future__ import annotations

from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    """One thing to type.

    ``names`` are an option's flags, or one bare name for a positional argument. ``kind``: "text", "number",
    "flag", "on" and "off" (flags that say true and false), "count", "list" (may be repeated), "rest" (any number of
    positional ones) or "maybe" (a positional one that may be left out). ``key`` is the setting it stands for;
    its value is checked with the settings file's, in one go (``choices`` then only serve the completion).
    ``is_loudness``: at most one of these at a time.
    """

    names: tuple[str, ...]
    help: str
    metavar: str = ""
    kind: str = "text"
    key: str = ""
    choices: tuple[str, ...] = ()
    default: str | None = None
    is_loudness: bool = False

    @property
    def name(self) -> str:
        """Return the attribute under which the parser keeps the value."""
        return self.names[-1].lstrip("-").replace("-", "_")


@dataclass(frozen=True, slots=True)
class Command:
    """One command with what may follow it: arguments, or commands of its own."""

    name: str
    help: str
    arguments: tuple[Argument, ...] = ()
    commands: tuple[Command, ...] = ()
