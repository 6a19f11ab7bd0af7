"""Certificates for tests of TLS, made by ``openssl``; one may have expired long ago."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

AUTHORITY: Final = """[ca]
default_ca = here
[here]
database = index
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
subjectAltName = DNS:localhost
"""
"""How ``openssl ca`` is told to make a certificate that has expired, which ``openssl x509`` does not."""


def made_certificate(folder: Path, ends: str) -> Path:
    """Make a certificate for localhost that signs itself, until YYYYMMDDHHMMSSZ; return its file, the key beside it."""
    if not shutil.which("openssl"):
        pytest.skip("the openssl command is absent")
    folder.mkdir()

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    (folder / "made.conf").write_text(AUTHORITY)
    (folder / "index").write_text("")
    openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
    openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=localhost", "-out", "wanted.pem")
    dates = ("-startdate", "20200101000000Z", "-enddate", ends)
    openssl("ca", "-selfsign", "-batch", "-notext", "-config", "made.conf", "-keyfile", "key.pem", "-in", "wanted.pem",
            *dates, "-out", "cert.pem")  # fmt: skip
    return folder / "cert.pem"
