"""Real servers for Kerberos and NTLM, as ordinary processes on loopback: Debian's KDC, and Apache with mod_auth_gssapi.

Both are programs of others, so that what our side says is judged by them. Everything lies in one folder that the
processes may read; ports are chosen by the system.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

MODULES: Final = Path("/usr/lib/apache2/modules")
PROGRAMS: Final = ("apache2", "krb5kdc", "kdb5_util", "kadmin.local")
NTLM_MECHANISM: Final = Path("/etc/gss/mech.d/mech.ntlmssp.conf")
_PATH: Final = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin"
_CONF: Final = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
DefaultRuntimeDir {folder}
Listen 127.0.0.1:{port}
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule auth_gssapi_module {modules}/mod_auth_gssapi.so
LoadModule dir_module {modules}/mod_dir.so
LoadModule mime_module {modules}/mod_mime.so
TypesConfig {folder}/types
{account}
ErrorLog {folder}/error.log
LogFormat "%U %>s %u %k" short
CustomLog {folder}/access.log short
DocumentRoot {folder}/www
<Directory {folder}/www>
AuthType GSSAPI
AuthName house
Require valid-user
{lines}
</Directory>
"""
_KRB5: Final = """
[libdefaults]
default_realm = EXAMPLE.TEST
dns_canonicalize_hostname = false
rdns = false
dns_lookup_kdc = false
dns_lookup_realm = false
udp_preference_limit = 1
[realms]
EXAMPLE.TEST = {{
 kdc = 127.0.0.1:{port}
}}
[domain_realm]
localhost = EXAMPLE.TEST
"""
_KDC: Final = """
[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = 127.0.0.1:{port}
[realms]
EXAMPLE.TEST = {{
 database_name = {folder}/principal
 key_stash_file = {folder}/stash
}}
[logging]
kdc = FILE:{folder}/kdc.log
"""


def absent() -> str:
    """Return what is not installed here, "" for nothing."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=_PATH) is None]
    missing += [str(path) for path in (MODULES / "mod_auth_gssapi.so", NTLM_MECHANISM) if not path.exists()]
    return ", ".join(missing)


@contextmanager
def folder_for_all() -> Iterator[Path]:
    """Give a folder that a server which is no longer root may read, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="purlieu-gssapi-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@contextmanager
def apache(folder: Path, pages: Mapping[str, str], lines: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Serve pages behind a door of mod_auth_gssapi (``lines`` of its directory); give the origin."""
    (folder / "www").mkdir()
    (folder / "types").write_text("text/html html\nimage/png png\n", encoding="ascii")
    for name, text in pages.items():
        (folder / "www" / name).write_text(text, encoding="utf-8")
    port = _free_port()
    account = "User nobody\nGroup nogroup" if os.geteuid() == 0 else ""
    text = _CONF.format(folder=folder, port=port, modules=MODULES, account=account, lines=lines)
    (folder / "conf").write_text(text, encoding="utf-8")
    with _running(("apache2", "-X", "-f", str(folder / "conf")), environment, port):
        yield f"http://localhost:{port}"


def asked(folder: Path) -> list[tuple[str, int, str, int]]:
    """Return path, status, user and place within its connection of each request that Apache has answered."""
    rows = (line.split() for line in (folder / "access.log").read_text(encoding="utf-8").splitlines())
    return [(path, int(status), user, int(place)) for path, status, user, place in rows]


@contextmanager
def realm(folder: Path) -> Iterator[dict[str, str]]:
    """Run a KDC of a realm with ``ann`` and the service ``HTTP/localhost``, their keys in ``NAME.keytab``.

    Gives the environment of who belongs to it: without a ticket, and with ``ann``'s key to get one by.
    """
    port = _free_port()
    (folder / "krb5.conf").write_text(_KRB5.format(port=port), encoding="ascii")
    (folder / "kdc.conf").write_text(_KDC.format(port=port, folder=folder), encoding="ascii")
    environment = {"KRB5_CONFIG": str(folder / "krb5.conf"), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
    _run(("kdb5_util", "create", "-s", "-P", "of-the-realm", "-r", "EXAMPLE.TEST"), environment)
    for name, principal in (("ann", "ann"), ("http", "HTTP/localhost")):
        _run(("kadmin.local", "addprinc", "-randkey", principal), environment)
        _run(("kadmin.local", "ktadd", "-k", str(folder / f"{name}.keytab"), principal), environment)
    (folder / "http.keytab").chmod(0o644)
    with _running(("krb5kdc", "-n"), environment, port):
        yield environment | {"KRB5CCNAME": f"FILE:{folder}/tickets", "KRB5_CLIENT_KTNAME": str(folder / "ann.keytab")}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _run(words: tuple[str, ...], environment: Mapping[str, str]) -> None:
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "PATH": _PATH, **environment})


@contextmanager
def _running(words: tuple[str, ...], environment: Mapping[str, str], port: int) -> Iterator[None]:
    """Run a server until the block ends; it listens when the block begins."""
    program = shutil.which(words[0], path=_PATH)
    assert program is not None
    process = subprocess.Popen(
        (program, *words[1:]),
        env={**os.environ, "PATH": _PATH, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            assert process.poll() is None, f"{words[0]} ended with {process.returncode}"
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.02)  # it is not listening yet
        yield
    finally:
        process.terminate()
        process.wait()
