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
from purlieu.schedule import mistake
from purlieu.store.sqlite import SqliteDatabase

PORT: Final = 8760
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


def run(arguments: argparse.Namespace) -> int:
    """Serve until it is stopped, and return 0. Raises SettingsError for what was typed wrong, StoreError."""
    from purlieu.cli import serve_keys
    from purlieu.console.app import application, serve
    from purlieu.console.guard import Door
    from purlieu.console.parts import Terms
    from purlieu.crawl.process import RunProcess

    if arguments.hash:
        return serve_keys.print_hash()
    keys = serve_keys.of_environment(os.environ)
    host, port = _place(arguments, has_keys=bool(keys))
    is_elsewhere = not _is_local(host) or bool(arguments.allow_host)
    store = str(Path(arguments.store).resolve())
    SqliteDatabase.beside(store).close()  # made when absent, brought up to date when older
    listener = _listener(host, port)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    names = {f"{name.lower()}:{port}" for name in (*_NAMES, shown)}
    for name in arguments.allow_host or ():  # behind a proxy the port is another, or none
        names |= {name.lower(), f"{name.lower()}:{port}"}
    clock = RealClock()
    cookie = f"__Host-purlieu_{port}" if arguments.https else f"purlieu_{port}"
    door = Door(frozenset(names), cookie, clock.monotonic, keys, is_secure=arguments.https)
    terms = Terms(
        zone=arguments.zone or "",
        private=arguments.allow_private or not is_elsewhere,
        keeps=not arguments.no_keep,
        sitemap_folder=str(Path(arguments.sitemap_folder).resolve()) if arguments.sitemap_folder else "",
    )
    app = application(store, door, clock, RunProcess.start, terms=terms)
    key = "" if keys else f"?token={door.token}"
    sys.stdout.write(f"http://{shown if host not in {'0.0.0.0', '::'} else socket.gethostname()}:{port}/{key}\n")  # noqa: S104
    sys.stdout.flush()
    try:
        asyncio.run(serve(app, listener))
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()
    return 0


def _place(arguments: argparse.Namespace, *, has_keys: bool) -> tuple[str, int]:
    """Return where to listen; anywhere but on this machine only with a password or token."""
    from purlieu.cli.serve_keys import PASSWORD

    host, text = arguments.host, arguments.port
    mistakes = []
    if not text.isdecimal() or not 0 <= int(text[:6]) <= 65_535:
        mistakes.append(Mistake("--port", text, "write a number from 0 to 65535; 0 takes a free one"))
    try:
        is_local = _is_local(host)
    except ValueError:
        is_local = False
        mistakes.append(Mistake("--host", host, "write an address of this machine, such as 127.0.0.1 or 0.0.0.0"))
    if not mistakes and not is_local and not has_keys:
        remedy = f"others could reach the console there: set a password in the environment variable {PASSWORD}"
        mistakes.append(Mistake("--host", host, remedy))
    if not mistakes and arguments.allow_host and not has_keys:
        remedy = f"a further name is for others to reach the console: set a password in the variable {PASSWORD}"
        mistakes.append(Mistake("--allow-host", arguments.allow_host[0], remedy))
    if arguments.zone and mistake("0 0 * * *", arguments.zone):
        remedy = "write a time zone's name, such as Asia/Tokyo or UTC, that the system's tzdata has"
        mistakes.append(Mistake("--zone", arguments.zone, remedy))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return ("127.0.0.1" if host == "localhost" else host), int(text)


def _is_local(host: str) -> bool:
    """Return whether an address is of this machine alone; ValueError for none."""
    return host == "localhost" or ipaddress.ip_address(host).is_loopback


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
