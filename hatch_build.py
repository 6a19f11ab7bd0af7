"""Compiles the page scanner in C where that can be done; where it cannot, the package is whole all the same.

Knows the compiler that Python was built with, or $CC, $CFLAGS and $LDFLAGS. PURLIEU_NATIVE=0 leaves the scanner out,
PURLIEU_NATIVE=1 makes it an error that it cannot be built. Needs nothing but hatchling.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/purlieu/page/_scan.c")
BUILT = "purlieu/page/_scan.abi3.so"  # the stable ABI: one file for every CPython from 3.11 on
REMEDY = "install a C compiler and Python's headers (Debian: gcc, libc6-dev, python3-dev), then purlieu again"


class ScannerHook(BuildHookInterface[Any]):
    """Adds the compiled scanner to a wheel, or puts it beside its source for an editable install."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say in the wheel's tag what was built; RuntimeError if that fails and PURLIEU_NATIVE=1."""
        chosen = os.environ.get("PURLIEU_NATIVE", "")
        in_tree = Path(self.root, "src", BUILT)
        if version == "editable":
            in_tree.unlink(missing_ok=True)
        if chosen == "0":
            return
        fault = _compile(Path(self.root, SOURCE), in_tree if version == "editable" else self._kept_apart())
        if fault and chosen == "1":
            raise RuntimeError(f"PURLIEU_NATIVE=1, but the page scanner in C was not built: {fault}; {REMEDY}")
        if fault:
            self.app.display_warning(f"the slower page scanner in Python will be used, for C failed: {fault}; {REMEDY}")
        elif version != "editable":
            platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            build_data.update(pure_python=False, tag=f"cp311-abi3-{platform}")
            build_data["force_include"][str(self._kept_apart())] = BUILT

    def _kept_apart(self) -> Path:
        """Return where a wheel's file is made, so that none left in the tree gets into it."""
        if not hasattr(self, "_folder"):
            self._folder = tempfile.TemporaryDirectory()
        return Path(self._folder.name, Path(BUILT).name)


def _compile(source: Path, target: Path) -> str:
    """Return what went wrong, "" if nothing did."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no stable ABI"
    usual = str(sysconfig.get_config_var("CC") or "cc")
    linker = str(sysconfig.get_config_var("LDSHARED") or f"{usual} -shared")
    compiler = os.environ.get("CC", usual)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    command = [
        *shlex.split(compiler + linker.removeprefix(usual) if linker.startswith(usual) else linker),
        *("-O3", "-fPIC", "-fvisibility=hidden", f'-DSOURCE="{zlib.crc32(source.read_bytes()):08x}"'),
        *shlex.split(os.environ.get("CFLAGS", "")),
        *(f"-I{sysconfig.get_path('include')}", str(source), "-o", str(partial)),
        *shlex.split(os.environ.get("LDFLAGS", "")),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
        partial.replace(target)  # at once: a process may be running with the one before
    except OSError as error:
        return str(error)
    except subprocess.CalledProcessError as error:
        said = (line for line in str(error.stderr).splitlines() if "error" in line)
        return next(said, f"{command[0]} ended with {error.returncode}")
    finally:
        partial.unlink(missing_ok=True)
    return ""
