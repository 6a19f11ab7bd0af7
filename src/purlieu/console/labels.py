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

WORDS: Final = {
    "purpose": {
        "page": Sentence("page"),
        "robots": Sentence("robots.txt"),
        "sitemap": Sentence("sitemap"),
        "check": Sentence("only checked"),
    },
    "check": {
        "grant": Sentence("permission beyond the scope"),
        "list": Sentence("list of URLs"),
        "scope": Sentence("scope"),
        "sitemap": Sentence("sitemap"),
        "filter": Sentence("filters"),
        "length": Sentence("length"),
        "trap": Sentence("endless series"),
        "redirects": Sentence("redirects"),
        "depth": Sentence("depth"),
        "nofollow": Sentence("nofollow"),
    },
    "found_by": {
        "seed": Sentence("seed"),
        "sitemap": Sentence("sitemap"),
        "link": Sentence("link"),
        "redirect": Sentence("redirect"),
        "refresh": Sentence("refresh"),
        "canonical": Sentence("canonical"),
        "robots": Sentence("robots.txt"),
        "owner": Sentence("settings"),
        "history": Sentence("an earlier run"),
        "guess": Sentence("guess"),
        "style": Sentence("style sheet"),
        "script": Sentence("script"),
        "image": Sentence("image"),
        "media": Sentence("media"),
    },
    "landing": {
        "landed": Sentence("it leads to"),
        "loop": Sentence("it goes round in a circle at"),
        "too_many": Sentence("too many redirects, the last to"),
        "out_of_scope": Sentence("it leads out of scope to"),
        "failed": Sentence("it leads to what could not be had"),
    },
    "pace": {
        "delay": Sentence("set for all hosts"),
        "host": Sentence("set for this host"),
        "default": Sentence("the usual pause"),
        "crawl-delay": Sentence("Crawl-delay of robots.txt"),
        "response-time": Sentence("its response time"),
        "back-off": Sentence("pause after failures"),
        "loopback": Sentence("this machine: no pause"),
    },
    "role": {"owner": Sentence("owner"), "viewer": Sentence("viewer")},
    "change": {
        "login": Sentence("signed in"),
        "login_refused": Sentence("was not let in"),
        "logout": Sentence("signed out"),
        "run": Sentence("started a run"),
        "stop": Sentence("stopped a run"),
        "resume": Sentence("resumed a run"),
        "sitemap_make": Sentence("made a sitemap"),
        "sitemap_write": Sentence("wrote a sitemap to its folder"),
        "sitemap_check": Sentence("checked a sitemap"),
        "profile_keep": Sentence("kept a profile of sitemaps"),
        "profile_remove": Sentence("removed a profile of sitemaps"),
        "schedule_add": Sentence("added a schedule"),
        "schedule_on": Sentence("switched a schedule on"),
        "schedule_off": Sentence("switched a schedule off"),
        "schedule_remove": Sentence("removed a schedule"),
    },
    "event": {
        "waiting": Sentence("waits for the store"),
        "started": Sentence("under way"),
        "ended": Sentence("ended"),
        "failed": Sentence("no run began"),
        "missed": Sentence("missed"),
        "overlapped": Sentence("left out: overlapped"),
    },
    "stop": {
        "limit:pages": Sentence("It ended at the limit of pages (limits.max_pages); what waits can be gone on with."),
        "limit:seconds": Sentence(
            "It ended at the limit of time (limits.max_seconds); what waits can be gone on with."
        ),
        "limit:targets": Sentence(
            "It ended at the limit of URLs met (limits.max_targets); what waits can be gone on with."
        ),
        "interrupted": Sentence("Its owner stopped it; it can be gone on with."),
        "system:disk": Sentence("The disk was full or gave an error. Free some space, then resume or run it again."),
        "system:memory": Sentence("There was no memory left. End other programs, then resume or run it again."),
        "system:store": Sentence("The store could not be written. Look after the store, then resume or run it again."),
        "system:shutdown": Sentence("The machine was shut down, or the process was ended. Resume it or run it again."),
        "system:hangup": Sentence("Its terminal was closed. Resume it or run it again."),
        "system:killed": Sentence("Its process was killed. Resume it or run it again."),
    },
    "given_up": {
        "failures": Sentence("too many failures"),
        "retry-after": Sentence("it asked for too long a pause"),
    },
    "of": {"crawl": Sentence("crawl"), "run": Sentence("run"), "schedule": Sentence("schedule")},
    "fact": {
        "outcome": Sentence("outcome"),
        "reason": Sentence("reason"),
        "status": Sentence("status"),
        "title": Sentence("title"),
        "canonical": Sentence("canonical"),
        "redirect_to": Sentence("where it redirects"),
        "content": Sentence("content"),
        "headers": Sentence("headers"),
    },
}
"""What other names of the ledger, of judgements, paces and differences are called, by what they are names of."""

ENDED: Final = {
    "done": Sentence("the run finished"),
    "stopped": Sentence("the run was stopped by its owner"),
    "failed": Sentence("the run was stopped by the system"),
    "killed": Sentence("the run was killed"),
}
"""How a run of a schedule ended."""

CHANGE_GROUPS: Final = {
    "new": "good", "back": "good", "changed": "moved", "moved": "moved", "gone": "bad", "failed": "bad",
    "unasked": "wait",
}  # fmt: skip
"""The colour of each difference; any other is out."""


def change_group(difference: str) -> str:
    """Return the colour group of a difference: good, moved, bad, wait or out."""
    return CHANGE_GROUPS.get(difference, "out")


def group_of(kind: str) -> str:
    """Return the colour group of a kind: good, moved, out, wait or bad."""
    return GROUPS.get(kind, "bad")
