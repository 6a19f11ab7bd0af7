"""What a made web is like besides its size: how it fails, changes, maps itself and ensnares.

Values only: shares are of 1 and spans are seconds. What they do to a page is ``made.fate``'s and ``made.web``'s to say.
"""

from __future__ import annotations

from typing import Final, get_args

from purlieu.testing.made.words import Lastmod, RetryAfter, Snare
from purlieu.value import dataclass

SNARES: Final[tuple[Snare, ...]] = get_args(Snare)


@dataclass(frozen=True, slots=True)
class Errors:
    """What goes wrong. Only pages without children are redirects or errors, so that every page stays reachable.

    ``redirects``, ``missing`` (404) and ``failing`` (500) are shares of those pages; every third redirect has two hops.
    ``slow_hosts`` and ``broken_hosts`` are shares of the hosts: a slow one answers after ``slow_seconds``; a broken one
    resets, hangs, closes, cuts its answers short, talks no HTTP or answers 503, each host in its own way.
    With ``busy_seconds`` a host answers 429 to everything for so long, every ``busy_every_seconds``.
    """

    redirects: float = 0.0
    missing: float = 0.0
    failing: float = 0.0
    slow_hosts: float = 0.0
    slow_seconds: float = 2.0
    broken_hosts: float = 0.0
    busy_seconds: float = 0.0
    busy_every_seconds: float = 60.0
    retry_after: RetryAfter = "seconds"


@dataclass(frozen=True, slots=True)
class Changes:
    """How the web differs from epoch to epoch.

    ``schedule``: (share of all pages, epochs between two changes of the main text); exact, so that of 20,000 pages
    ``((0.01, 1),)`` changes the same 200 in every epoch. ``appear`` (in the first ten epochs), ``vanish`` and ``move``
    are shares of the pages without children, per epoch: new pages, pages that are gone (half of them still linked, and
    answered with 410), pages that redirect from then on. ``dated`` writes the day into every footer, which is no
    change of the main text.
    """

    schedule: tuple[tuple[float, int], ...] = ()
    appear: float = 0.0
    vanish: float = 0.0
    move: float = 0.0
    dated: bool = False
    epoch_seconds: int = 86_400


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """What each host's ``/sitemap.xml`` says; robots.txt names it.

    ``lastmod``: ``honest`` (when the main text last changed), ``fresh`` (always now), ``stale`` (never moves),
    ``random`` or ``none``. More than ``per_file`` pages are split into files under an index.
    """

    lastmod: Lastmod = "honest"
    changefreq: bool = False
    priority: bool = False
    per_file: int = 50_000
    gzip: bool = False


@dataclass(frozen=True, slots=True)
class Traps:
    """Which traps every page leads into; each has so many ``pages`` on each host.

    ``calendar``: days without end. ``session``: a new id in every link. ``parameters``: permutations of a filter.
    ``segments``: a relative link that nests. ``subdomains``: a new host in every link (needs named hosts).
    ``soft404``: what does not exist is answered with 200.
    """

    kinds: tuple[Snare, ...] = ()
    pages: int = 100_000
