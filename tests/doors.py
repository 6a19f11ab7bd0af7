"""For tests of doors: certificates made on the spot, and servers that let in by one door each."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import Final

SECRET: Final = "s3cr3t-of-the-owner"


def certificates(folder: Path) -> dict[str, Path]:
    """Make an authority with a server's and a client's certificate by ``openssl``; return their files by name."""

    def run(*words: str) -> None:
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=folder)

    subject = ("-subj", "/CN=authority")
    run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", *subject)
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n", encoding="ascii")
    for name in ("server", "client"):
        run(
            "req",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            f"{name}.key",
            "-out",
            f"{name}.csr",
            "-subj",
            f"/CN={name}",
        )
        signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-days", "2")
        run("x509", "-req", "-in", f"{name}.csr", "-out", f"{name}.pem", *signed)
    run("rsa", "-aes256", "-passout", f"pass:{SECRET}", "-in", "client.key", "-out", "locked.key")
    return {path.name: path for path in folder.iterdir()}


def asks_for_certificate(made: dict[str, Path]) -> ssl.SSLContext:
    """Return the TLS of a server that speaks to nobody without a certificate of the authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made["server.pem"], made["server.key"])
    context.load_verify_locations(made["ca.pem"])
    context.verify_mode = ssl.CERT_REQUIRED
    return context
