"""``purlieu serve``: the console in a browser.

Decides where it listens and what lets in; builds the console and hands it what it needs. What it shows is
``purlieu.console``.
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import os
import socket
import sys
from pathlib import Path
from typing import Final

from purlieu.crawl.clock import RealClock
from purlieu.errors import Mistake, SettingsError
from purlieu.store.sqlite import SqliteDatabase

PORT: Final = 8760
PASSWORD: Final = "PURLIEU_CONSOLE_PASSWORD"  # noqa: S105  the variable's name, no password
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


def run(arguments: argparse.Namespace) -> int:
    """Serve until it is stopped, and return 0. Raises SettingsError for what was typed wrong, StoreError."""
    from purlieu.console.app import application, serve
    from purlieu.console.guard import Door, hashed
    from purlieu.crawl.process import RunProcess

    password = os.environ.get(PASSWORD, "")
    host, port = _place(arguments, password)
    store = str(Path(arguments.store).resolve())
    SqliteDatabase.beside(store).close()  # made when absent, brought up to date when older
    listener = _listener(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    names = {f"{name.lower()}:{port}" for name in (*_NAMES, shown)}
    for name in arguments.allow_host or ():  # behind a proxy the port is another, or none
        names |= {name.lower(), f"{name.lower()}:{port}"}
    clock = RealClock()
    door = Door(
        frozenset(names),
        f"purlieu_{port}",
        clock.monotonic,
        hashed(password) if password else "",
        is_secure=arguments.https,
    )
    app = application(store, door, clock, RunProcess.start)
    key = "" if password else f"?token={door.token}"
    sys.stdout.write(f"http://{shown if host not in {'0.0.0.0', '::'} else socket.gethostname()}:{port}/{key}\n")  # noqa: S104
    sys.stdout.flush()
    try:
        asyncio.run(serve(app, listener))
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
    return 0


def _place(arguments: argparse.Namespace, password: str) -> tuple[str, int]:
    """Return where to listen; anywhere but on this machine only with a password."""
    host, text = arguments.host, arguments.port
    mistakes = []
    if not text.isdecimal() or not 0 <= int(text[:6]) <= 65_535:
        mistakes.append(Mistake("--port", text, "write a number from 0 to 65535; 0 takes a free one"))
    try:
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = False
        mistakes.append(Mistake("--host", host, "write an address of this machine, such as 127.0.0.1 or 0.0.0.0"))
    if not mistakes and not is_local and not password:
        remedy = f"others could reach the console there: set a password in the environment variable {PASSWORD}"
        mistakes.append(Mistake("--host", host, remedy))
    if password and len(password) < 10 and not password.startswith("$argon2"):
        mistakes.append(Mistake(PASSWORD, "…", "take at least 10 characters, or an argon2 hash of the password"))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return ("127.0.0.1" if host == "localhost" else host), int(text)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        remedy = f"it cannot be listened on ({error.strerror}); write another with --port"
        raise SettingsError((Mistake("--port", str(port), remedy),)) from None
    return listener
