"""Which URLs belong to the crawl: its sites, where their seeds have landed, and the verdict on any URL.

The face of this room. Knows sites, modes and landings, as values; what is fetched although it is outside, and why,
is a grant that the caller gives (R-3.3).
"""

from __future__ import annotations

from purlieu.scope.mistake import mistakes
from purlieu.scope.notice import findings, of_landing
from purlieu.scope.site import ANY, DOMAIN_SOURCES, MODES, Site
from purlieu.scope.told import Test
from purlieu.scope.union import Scope

__all__ = [
    "ANY",
    "DOMAIN_SOURCES",
    "GRANT_FOREIGN",
    "GRANT_ROBOTS",
    "GRANT_SEED",
    "GRANT_SEED_REDIRECT",
    "GRANT_SITEMAP",
    "MODES",
    "Scope",
    "Site",
    "Test",
    "findings",
    "mistakes",
    "of_landing",
]

GRANT_SEED = "seed"
GRANT_SEED_REDIRECT = "seed-redirect"
GRANT_ROBOTS = "robots-redirect"
GRANT_SITEMAP = "named-sitemap"
GRANT_FOREIGN = "foreign-link"
