"""Purlieu: a web crawler that knows its bounds.

``Crawl`` is imported when first asked for, so that the command line starts at once.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from purlieu.crawl.local import Crawl

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__"]


_FACES = ("domain", "page", "robots", "scope", "settings", "sitemap", "testing", "url")


def __getattr__(name: str) -> object:
    """Return ``Crawl``, or a module with a public face, so that ``purlieu.url.parse`` works as it reads."""
    if name == "Crawl":
        from purlieu.crawl.local import Crawl

        return Crawl
    if name in _FACES:
        from importlib import import_module

        return import_module(f"purlieu.{name}")
    raise AttributeError(f'module "purlieu" has no attribute "{name}"')
