"""For tests of ours and of owners: a made web, a made clock, sites that misbehave."""

from purlieu.testing.clock import FakeClock
from purlieu.testing.made import Changes, Errors, MadeServer, MadeWeb, Sitemaps, Traps
from purlieu.testing.serve import ServedFolder
from purlieu.testing.sites import HostileSite, LeakSite
from purlieu.testing.web import FakeWeb

__all__ = [
    "Changes",
    "Errors",
    "FakeClock",
    "FakeWeb",
    "HostileSite",
    "LeakSite",
    "MadeServer",
    "MadeWeb",
    "ServedFolder",
    "Sitemaps",
    "Traps",
]
