"""Where the shared data beside the checkout stands, for tests that read it when they are collected."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

SHARED: Final = Path(os.environ.get("PURLIEU_SHARED") or Path(__file__).resolve().parents[2] / "shared")
CONFORMANCE: Final = SHARED / "conformance"
