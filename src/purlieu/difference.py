"""How one URL differs between two runs: its class, and every fact that changed.

Knows what each pair of endings means; the table is the whole rule. Reads no store and knows no file format.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from purlieu.sentence import Sentence


class Difference(StrEnum):
    """What became of a URL from one run to a later one."""

    NEW = "new"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"
    FAILED = "failed"
    BACK = "back"
    UNASKED = "unasked"
    UNCHANGED = "unchanged"
    OUTSIDE = "outside"


MEANINGS: Final = {
    Difference.NEW: Sentence("a page that was not there, or not met, before"),
    Difference.CHANGED: Sentence("a page in both, with other main content, or where a redirect was"),
    Difference.MOVED: Sentence("it redirects now, or to another address than before"),
    Difference.GONE: Sentence("it was there, and is not met any more, or answers 404 or 410"),
    Difference.FAILED: Sentence("it could not be had now: an error, a refusal, a broken link"),
    Difference.BACK: Sentence("a page again, after it could not be had"),
    Difference.UNASKED: Sentence("the later run ended before it was asked for"),
    Difference.UNCHANGED: Sentence("the same as before"),
    Difference.OUTSIDE: Sentence("kept out of both runs; listed where the reason changed"),
}
"""What each class means, in its order."""

FACTS: Final = ("outcome", "reason", "status", "title", "canonical", "redirect_to", "content", "headers")
"""What may change of a URL, in the order in which it is told. ``outcome`` is the kind of the ending."""


class Seen(NamedTuple):
    """What one run knows of a URL. ``headers``: names in lower case, sorted; with their values where these count."""

    kind: str
    reason: str
    status: int | None = None
    title: str | None = None
    canonical: str | None = None
    redirect_to: str | None = None
    digest: str | None = None
    headers: tuple[str, ...] | None = None


_PAGE, _MOVED, _GONE, _BAD, _WAIT, _OUT = range(6)
_GROUPS: Final = {
    "fetched": _PAGE, "unchanged": _PAGE, "redirected": _MOVED, "missing": _GONE, "abandoned": _WAIT, "due": _WAIT,
    "excluded": _OUT,
}  # fmt: skip
"""Groups of kinds that are judged alike; any other kind is a failure."""
_SAME: Final = frozenset({"fetched", "unchanged", "redirected", "missing"})
_D = Difference
# Rows: before; columns: after. Page, redirect, missing, could not be had, not asked for, not in the run.
_TABLE: Final = (
    #  page         redirect      missing       failing       unasked       outside
    (_D.UNCHANGED, _D.MOVED,     _D.GONE,      _D.FAILED,    _D.UNASKED,   _D.GONE),       # page
    (_D.CHANGED,   _D.UNCHANGED, _D.GONE,      _D.FAILED,    _D.UNASKED,   _D.GONE),       # redirect
    (_D.BACK,      _D.MOVED,     _D.UNCHANGED, _D.FAILED,    _D.UNASKED,   _D.GONE),       # missing
    (_D.BACK,      _D.MOVED,     _D.GONE,      _D.UNCHANGED, _D.UNASKED,   _D.GONE),       # failing
    (_D.NEW,       _D.NEW,       _D.FAILED,    _D.FAILED,    _D.UNCHANGED, _D.GONE),       # unasked
    (_D.NEW,       _D.NEW,       _D.FAILED,    _D.FAILED,    _D.UNASKED,   _D.OUTSIDE),    # outside
)  # fmt: skip


def judge(before: Seen | None, after: Seen | None) -> tuple[Difference, tuple[str, ...]]:
    """Return the class of a URL and which of ``FACTS`` changed; None is a run that did not meet it.

    A page has changed when the digest of its main content has. Facts are compared where both runs have the URL; of
    what only a response tells (title, canonical, content, headers), where both have one and ended alike.
    """
    if before == after and before is not None and before.kind in _SAME:  # by far the most
        return Difference.UNCHANGED, ()
    one = _OUT if before is None else _GROUPS.get(before.kind, _BAD)
    two = _OUT if after is None else _GROUPS.get(after.kind, _BAD)
    found = _TABLE[one][two]
    changed = tuple(_changed(before, after)) if before and after else ()
    if found is Difference.UNCHANGED and one == _PAGE and "content" in changed:
        found = Difference.CHANGED
    elif found is Difference.UNCHANGED and one == _MOVED and "redirect_to" in changed:
        found = Difference.MOVED
    return found, changed


def _changed(before: Seen, after: Seen) -> Iterator[str]:
    one, two = _GROUPS.get(before.kind, _BAD), _GROUPS.get(after.kind, _BAD)
    # That a page was not asked for again, or answered 304, is no change of it.
    revisited = one == two == _PAGE and "unchanged" in {before.kind, after.kind}
    left_alone = one == two == _GONE and None in {before.status, after.status}  # what is gone is asked ever more rarely
    answered = before.headers is not None and after.headers is not None
    comparable = answered and one == two  # an error page has another title than a page, of course
    told = {
        "outcome": before.kind != after.kind and not revisited,
        "reason": (before.kind, before.reason) != (after.kind, after.reason) and not revisited,
        "status": before.status != after.status and (answered or not (revisited or left_alone)),
        "title": comparable and before.title != after.title,
        "canonical": comparable and before.canonical != after.canonical,
        "redirect_to": before.redirect_to != after.redirect_to,
        "content": bool(before.digest and after.digest) and one == two and before.digest != after.digest,
        "headers": comparable and before.headers != after.headers,
    }
    yield from (fact for fact in FACTS if told[fact])


def is_told(found: Difference, changed: tuple[str, ...]) -> bool:
    """Return whether a URL is listed: all but what stayed as it was."""
    return bool(changed) or found not in {Difference.UNCHANGED, Difference.OUTSIDE}


def section_of(href: str) -> str:
    """Return the section of an address: its origin and the first folder of its path."""
    scheme, _, rest = href.partition("://")
    host, slash, path = rest.partition("/")
    path = path.partition("?")[0]
    first, deeper, _ = path.partition("/")
    return f"{scheme}://{host}{slash}{f'{first}/' if deeper else ''}"
