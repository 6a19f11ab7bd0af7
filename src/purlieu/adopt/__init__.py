"""Other systems' configurations, read into a settings file that decides the same.

Reads the folder it is handed and nothing else; writes nothing.
"""

from __future__ import annotations

from purlieu.adopt.adopted import Adopted

__all__ = ["Adopted"]
