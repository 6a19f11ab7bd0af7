"""Which of the parts compiled from C are in use: the page scanner, where it was built.

Finds it beside the page reader without importing that, so that ``--version`` can tell. The environment variable
PURLIEU_NATIVE chooses: 0 for Python, 1 for C (ImportError where it was not built). Knows nothing of pages.
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

INTERFACE = 5  # what _scan.c must say too: raised when a call into it changes
_NAME = "purlieu.page._scan"
_PLACE = Path(__file__).parent / "page" / "_scan.abi3.so"


def scanner() -> ModuleType | None:
    """Return the module that reads pages, None where Python does; ImportError where C is insisted on and is missing."""
    chosen = os.environ.get("PURLIEU_NATIVE", "")
    if chosen == "0":
        return None
    try:
        return built_scanner()
    except ImportError:
        if chosen == "1":
            raise
        return None


def built_scanner() -> ModuleType:
    """Return the module in C; ImportError if it was not built, or is left over from another version of the package."""
    module = sys.modules.get(_NAME)
    if module is None:
        spec = spec_from_file_location(_NAME, _PLACE)
        if spec is None or spec.loader is None:
            raise ImportError(f"{_PLACE.name} cannot be loaded by this Python")
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[_NAME] = module
    if getattr(module, "INTERFACE", 0) != INTERFACE:
        raise ImportError("the page scanner in C was built for another version of purlieu: install purlieu again")
    return module


def scanner_name() -> str:
    """Return by what pages are read: ``C`` or ``Python``."""
    try:
        return "C" if scanner() else "Python"
    except ImportError as error:
        return f"none ({error})"
