"""Purlieu: a web crawler that knows its bounds.

``Crawl`` is imported when first asked for, so that the command line starts at once.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as typing's, without its import
if TYPE_CHECKING:
    from purlieu.crawl.local import Crawl

__version__ = "0.1.0"
__all__ = ["Crawl", "__version__"]


def __getattr__(name: str) -> object:
    """Return ``Crawl``."""
    if name == "Crawl":
        from purlieu.crawl.local import Crawl

        return Crawl
    raise AttributeError(f'module "purlieu" has no attribute "{name}"')
