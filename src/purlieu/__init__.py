"""Purlieu: a web crawler that knows its bounds.

``Crawl`` is imported when first asked for, so that the command line starts at once.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from purlieu.crawl.local import Crawl
    from purlieu.crawl.plain import batches, run, run_async

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__", "batches", "run", "run_async"]


_FACES = ("domain", "extraction", "page", "robots", "row", "scope", "settings", "sitemap", "testing", "url")
_PLAIN = ("batches", "run", "run_async")


def __getattr__(name: str) -> object:
    """Return ``Crawl``, a function that crawls, or a module with a public face, such as ``purlieu.url``."""
    if name == "Crawl":
        from purlieu.crawl.local import Crawl

        return Crawl
    if name in _PLAIN:
        from purlieu.crawl import plain

        return getattr(plain, name)
    if name in _FACES:
        from importlib import import_module

        return import_module(f"purlieu.{name}")
    raise AttributeError(f'module "purlieu" has no attribute "{name}"')
