"""The hash that everything here is known by: BLAKE2b, without the rest of ``hashlib``.

That one loads OpenSSL for hashes that a crawl has no use for: 10 million instructions before the first request (R-9.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        from _blake2 import blake2b  # the very function that ``hashlib`` hands on
    except ImportError:
        from hashlib import blake2b

__all__ = ["blake2b"]
