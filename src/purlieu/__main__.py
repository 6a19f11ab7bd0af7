"""``python -m purlieu`` is the same as ``purlieu``."""

from __future__ import annotations

from purlieu.cli.main import entrance

if __name__ == "__main__":
    entrance()
