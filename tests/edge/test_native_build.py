"""The package is built with the scanner in C where that can be compiled, and whole without it where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

BUILT = "purlieu/page/_scan.abi3.so"


def build(root: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel in a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    inherited = {name: value for name, value in os.environ.items() if name not in {"CC", "PURLIEU_NATIVE"}}
    return subprocess.run(
        command, cwd=root, env=inherited | environment, capture_output=True, text=True, check=False, timeout=200
    )


@pytest.mark.parametrize("environment", [{"PURLIEU_NATIVE": "0"}, {"CC": "/bin/false"}, {"CC": "no-such-compiler"}])
def test_without_a_compiler_the_wheel_is_of_python_alone(
    environment: dict[str, str], root: Path, tmp_path: Path
) -> None:
    """What cannot be compiled, or need not be, leaves a wheel for every platform, and a word about it if it was wanted."""
    done = build(root, tmp_path, **environment)

    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith((".so", ".c"))]
    assert ("gcc" in done.stderr + done.stdout) == ("CC" in environment)


def test_a_scanner_that_is_insisted_on_and_cannot_be_built_ends_the_build(root: Path, tmp_path: Path) -> None:
    """PURLIEU_NATIVE=1 makes it an error, which says what to install."""
    done = build(root, tmp_path, PURLIEU_NATIVE="1", CC="/bin/false")

    assert done.returncode != 0
    assert "gcc, libc6-dev, python3-dev" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_with_a_compiler_the_wheel_holds_the_scanner_and_says_so_in_its_tag(root: Path, tmp_path: Path) -> None:
    """One wheel serves every CPython from 3.11 on, on this platform only, and the scanner in it reads pages."""
    pytest.importorskip("purlieu.page._scan", reason="the page scanner in C was not built; see CONTRIBUTING.md")
    done = build(root, tmp_path, PURLIEU_NATIVE="1")

    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.iterdir()
    assert "-cp311-abi3-" in wheel.name
    with zipfile.ZipFile(wheel) as packed:
        assert [name for name in packed.namelist() if name.endswith((".so", ".c"))] == [BUILT]
        packed.extractall(tmp_path / "installed")
    script = "from purlieu.page import scan, _scan; print(scan.is_native(), _scan.__file__)"
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed"), "PURLIEU_NATIVE": "1"}
    said = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout.split()
    assert said == ["True", str(tmp_path / "installed" / BUILT)]


@pytest.mark.parametrize(("chosen", "native"), [("0", "False"), ("1", "True"), ("", "True")])
def test_the_environment_chooses_the_scanner(chosen: str, native: str) -> None:
    """PURLIEU_NATIVE=0 reads pages in Python although C is there."""
    pytest.importorskip("purlieu.page._scan", reason="the page scanner in C was not built; see CONTRIBUTING.md")
    script = "from purlieu.page import scan; print(scan.is_native())"
    environment = os.environ | {"PURLIEU_NATIVE": chosen}
    said = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)

    assert said.stdout.strip() == native
