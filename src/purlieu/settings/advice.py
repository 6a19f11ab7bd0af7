"""What the owner should know of settings that are right: of their scope, and of secrets that stand in them.

Knows which nouns to ask. Decides nothing.
"""

from __future__ import annotations

from purlieu import scope
from purlieu.finding import Finding
from purlieu.settings.key import Settings
from purlieu.settings.secret import in_clear


def findings(settings: Settings) -> tuple[Finding, ...]:
    """Return what there is to say, in the order of the settings. Raises UrlError as ``Scope.of`` does."""
    keys: dict[str, list[str]] = {}
    for subject, key in in_clear(settings):
        keys.setdefault(subject, []).append(key)
    clear = (Finding("secret_in_clear", subject, {"key": ", ".join(names)}) for subject, names in keys.items())
    return (*scope.findings(settings), *clear)
