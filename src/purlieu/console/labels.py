"""What the console calls kinds, states and columns, and the colour group of each kind; one table each.

Sentences of endings and findings stand in their own tables at the top of the package.
"""

from __future__ import annotations

from typing import Final

from purlieu.sentence import Sentence

KINDS: Final = {
    "fetched": Sentence("fetched"),
    "unchanged": Sentence("unchanged"),
    "redirected": Sentence("redirected"),
    "misdirected": Sentence("redirect leads nowhere"),
    "skipped": Sentence("skipped"),
    "excluded": Sentence("left out"),
    "missing": Sentence("missing"),
    "refused": Sentence("refused by the server"),
    "server_error": Sentence("server error"),
    "unreachable": Sentence("unreachable"),
    "unreadable": Sentence("unreadable"),
    "abandoned": Sentence("not reached"),
    "crashed": Sentence("fault of ours"),
    "due": Sentence("waiting"),
}
"""How a URL ended, in a word or two."""

GROUPS: Final = {
    "fetched": "good", "unchanged": "good", "redirected": "moved", "skipped": "out", "excluded": "out",
    "abandoned": "wait", "due": "wait",
}  # fmt: skip
"""The colour of each kind; any other is bad."""

SECTION_COLUMNS: Final = {
    "unlinked": Sentence("in a sitemap, not linked"),
    "unlisted": Sentence("linked, in no sitemap"),
    "redirecting": Sentence("in a sitemap, redirects"),
    "excluded": Sentence("in a sitemap, left out"),
    "failing": Sentence("in a sitemap, fails"),
    "broken": Sentence("broken"),
    "unindexable": Sentence("not for search"),
    "problems": Sentence("sitemap problems"),
}
"""What may be the matter with a section of the site tree."""

DIFFERENCES: Final = {
    "new": Sentence("new"),
    "changed": Sentence("changed"),
    "moved": Sentence("moved"),
    "gone": Sentence("gone"),
    "failed": Sentence("fails now"),
    "back": Sentence("back"),
    "unasked": Sentence("not asked for"),
    "unchanged": Sentence("unchanged"),
    "outside": Sentence("outside of both"),
}
"""What became of a URL between two runs, in a word or two."""


def group_of(kind: str) -> str:
    """Return the colour group of a kind: good, moved, out, wait or bad."""
    return GROUPS.get(kind, "bad")
