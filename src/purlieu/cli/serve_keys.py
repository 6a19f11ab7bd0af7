"""What lets into the console: passwords and tokens of its roles, from variables or files, and their hashes.

A password stands in no settings file and no store, and in a file only as its hash.
"""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from purlieu.console.keys import HASH, LEAST, Keys, Role, hashed, is_hash
from purlieu.errors import Mistake, SettingsError

PASSWORD: Final = "PURLIEU_CONSOLE_PASSWORD"  # noqa: S105  the variable's name, no password
VARIABLES: Final = {
    PASSWORD: Role.OWNER,
    "PURLIEU_CONSOLE_TOKEN": Role.OWNER,
    "PURLIEU_CONSOLE_VIEWER_PASSWORD": Role.VIEWER,
    "PURLIEU_CONSOLE_VIEWER_TOKEN": Role.VIEWER,
}
"""Each also with _FILE behind it, as the path of a file that has the hash."""
_MOST_FILE: Final = 10_000


def of_environment(environment: Mapping[str, str]) -> Keys:
    """Return the keys that variables and the files they name hold. Raises SettingsError for every mistake."""
    found: dict[Role, list[str]] = {Role.OWNER: [], Role.VIEWER: []}
    mistakes: list[Mistake] = []
    for name, role in VARIABLES.items():
        text = environment.get(name, "").strip()
        file = environment.get(f"{name}_FILE", "")
        if text:
            wrong = _mistake(name, text)
        elif file:
            text, wrong = _of_file(f"{name}_FILE", file)
        else:
            continue
        if wrong:
            mistakes.append(wrong)
        else:
            found[role].append(text)
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return Keys({role: tuple(map(hashed, texts)) for role, texts in found.items()})


def _mistake(name: str, text: str) -> Mistake | None:
    if text.startswith(HASH):
        return (
            None if is_hash(text) else Mistake(name, f"{text[:12]}…", "this is part of an argon2 hash; give it whole")
        )
    return Mistake(name, "…", f"take at least {LEAST} characters, or an argon2 hash") if len(text) < LEAST else None


def _of_file(name: str, file: str) -> tuple[str, Mistake | None]:
    try:
        with Path(file).open(encoding="utf-8") as opened:
            text = opened.read(_MOST_FILE).strip()
    except (OSError, UnicodeDecodeError) as error:
        return "", Mistake(name, file, f"it cannot be read ({getattr(error, 'strerror', None) or 'it is no text'})")
    if text.startswith(HASH) and is_hash(text):
        return text, None
    return "", Mistake(name, file, "write the argon2 hash into it, not the password: `purlieu serve --hash` prints it")


def print_hash() -> int:
    """Read a password or token, typed twice on a terminal, and print its hash. Raises SettingsError."""
    given = _typed() if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    if len(given) < LEAST or given.startswith(HASH):
        raise SettingsError((Mistake("--hash", "…", f"take at least {LEAST} characters"),))
    sys.stdout.write(hashed(given) + "\n")
    return 0


def _typed() -> str:
    given = getpass.getpass("Password or token: ")
    if getpass.getpass("Again: ") != given:
        raise SettingsError((Mistake("--hash", "…", "the two are not the same; try again"),))
    return given
