"""Who may look and who may change: two roles, and what proves each of them.

Passwords and tokens are held as argon2 hashes alone. Knows no request.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

HASH: Final = "$argon2"
"""How a hash begins, and no password or token may."""
MOST_GIVEN: Final = 1_000
LEAST: Final = 10
"""Characters that a password or token has at least."""


class Role(StrEnum):
    """What somebody may do: an owner everything, a viewer see everything and change nothing."""

    VIEWER = "viewer"
    OWNER = "owner"


class Keys:
    """The passwords and tokens of each role, by their hashes."""

    def __init__(self, hashes: Mapping[Role, tuple[str, ...]] | None = None) -> None:
        """Take the hashes of each role."""
        self._hashes = {role: tuple(found) for role, found in (hashes or {}).items() if found}
        self._salt = secrets.token_bytes(32)
        self._proven: dict[bytes, Role] = {}

    def __bool__(self) -> bool:
        """Return whether there are any: else the token of the start lets in."""
        return bool(self._hashes)

    def role_of(self, given: str) -> Role | None:
        """Return the role that a password or token proves, None when it is none of ours.

        Takes the time that argon2 takes for each hash, whichever fits; one that was right before is known at once.
        """
        if len(given) > MOST_GIVEN:
            return None
        digest = self._digest(given)
        if digest in self._proven:
            return self._proven[digest]
        fitting = [
            role for role in (Role.OWNER, Role.VIEWER) for one in self._hashes.get(role, ()) if _fits(one, given)
        ]
        if not fitting:
            return None
        self._proven[digest] = fitting[0]
        return fitting[0]

    def knows(self, given: str) -> bool:
        """Return whether a password or token was right before, and costs nothing to look at."""
        return self._digest(given[:MOST_GIVEN]) in self._proven

    def _digest(self, given: str) -> bytes:
        return hmac.digest(self._salt, given.encode(errors="replace"), hashlib.sha256)


def _fits(hashed_one: str, given: str) -> bool:
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return PasswordHasher().verify(hashed_one, given)
    except (VerificationError, InvalidHashError, UnicodeEncodeError):
        return False


def hashed(given: str) -> str:
    """Return the argon2 hash of a password or token; one that is a hash already stays as it is."""
    from argon2 import PasswordHasher

    return given if given.startswith(HASH) else PasswordHasher().hash(given)


def is_hash(text: str) -> bool:
    """Return whether a text is an argon2 hash whole, not the beginning of one."""
    from argon2 import extract_parameters
    from argon2.exceptions import InvalidHashError

    try:
        extract_parameters(text)
    except (InvalidHashError, ValueError):
        return False
    return text.count("$") == 5
