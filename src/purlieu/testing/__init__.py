"""For tests of ours and of owners: a made web, a made clock, sites that misbehave."""

from purlieu.testing.clock import FakeClock
from purlieu.testing.serve import ServedFolder
from purlieu.testing.sites import HostileSite
from purlieu.testing.web import FakeWeb

__all__ = ["FakeClock", "FakeWeb", "HostileSite", "ServedFolder"]
