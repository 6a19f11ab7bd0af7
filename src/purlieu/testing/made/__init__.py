"""A whole made web from a formula: many hosts, from one process, without files, the same for the same seed.

The face of the room: ``MadeWeb`` says what it answers and what is true of it, ``MadeServer`` serves it on loopback,
``fake`` puts it behind a ``Fetcher``.
"""

from purlieu.testing.made.fake import fake
from purlieu.testing.made.plan import Changes, Errors, Sitemaps, Traps
from purlieu.testing.made.server import MadeServer
from purlieu.testing.made.web import Answer, MadeWeb

__all__ = ["Answer", "Changes", "Errors", "MadeServer", "MadeWeb", "Sitemaps", "Traps", "fake"]
