"""Secrets from where the owner keeps them: files and the system's keyring, besides the environment.

The only place that reads them; what comes back goes to a fetcher and nowhere else. No message holds a secret.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from purlieu.errors import Mistake, SettingsError
from purlieu.fetch import cookie_file
from purlieu.fetch.origin import host_of
from purlieu.settings import OriginSettings, Settings, resolve
from purlieu.value import replace

SECRET_BYTES: Final = 65_536
COOKIE_BYTES: Final = 4 * 1024 * 1024


def resolved(
    settings: Settings,
    now: float,
    environment: Mapping[str, str] | None = None,
    able: Callable[[str], bool] | None = None,
) -> Settings:
    """Return the settings with every secret in its place, and the lines of each ``cookies_file`` in that.

    ``now`` (seconds since the epoch) says which cookies have expired, ``able`` (else ``can_log_in``) which
    ways to log in there are. Raises SettingsError that names everything that
    cannot be had.
    """
    mistakes: list[Mistake] = []
    made = settings
    try:
        made = resolve(settings, os.environ if environment is None else environment, read)
    except SettingsError as error:
        mistakes += error.mistakes
    mistakes += _not_built(settings, able or can_log_in)
    origins = tuple(_with_files(origin, now, mistakes) for origin in made.origins)
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return replace(made, origins=origins)


def can_log_in(auth: str) -> bool:
    """Return whether what is installed here can log in in a way (a value of ``origin.auth``)."""
    if auth == "ntlm":
        return find_spec("spnego") is not None
    if auth == "negotiate":
        from purlieu.fetch.http import negotiates  # only who asks for it pays for it

        return negotiates()
    return True


_REMEDIES = {
    "ntlm": "it needs pyspnego, which is not installed: pip install purlieu[ntlm], or use another way to log in to {}",
    "negotiate": "the libcurl that was installed with pycurl cannot do it for {}; install one that can "
    "(pip install --no-binary pycurl pycurl, beside such a libcurl), or use another way to log in",
}


def _not_built(settings: Settings, able: Callable[[str], bool]) -> Iterator[Mistake]:
    """Yield a mistake for each way to log in that what is installed here cannot do."""
    auths = {origin.auth: origin.origin for origin in reversed(settings.origins)}
    for auth, remedy in _REMEDIES.items():
        if auth in auths and not able(auth):
            yield Mistake("origin.auth", auth, remedy.format(auths[auth]))


def read(reference: str) -> str:
    """Return the secret that ``file:PATH`` or ``keyring:SERVICE/USER`` names; raises ValueError with the remedy."""
    kind, _, rest = reference.partition(":")
    secret = _of_keyring(rest) if kind == "keyring" else _text(rest, SECRET_BYTES).rstrip("\r\n")
    if not secret:
        message = f"there is nothing in it; put the secret there ({kind})"
        raise ValueError(message)
    if any(sign in secret for sign in "\r\n\0"):
        message = "a secret is one line; take the other lines out"
        raise ValueError(message)
    return secret


def _of_keyring(name: str) -> str:
    service, _, user = name.partition("/")
    try:
        import keyring  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        message = "the package keyring is not installed: pip install purlieu[keyring], or write env:NAME or file:PATH"
        raise ValueError(message) from None
    try:
        return str(keyring.get_password(service, user) or "")
    except Exception as error:  # noqa: BLE001  each backend has errors of its own
        message = f"the keyring gives nothing ({type(error).__name__}); unlock it, or write env:NAME or file:PATH"
        raise ValueError(message) from None


def _text(path: str, most: int) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            body = file.read(most + 1)
    except (OSError, ValueError) as error:
        message = f"the file cannot be read ({getattr(error, 'strerror', None) or 'no path'}); mend its path or rights"
        raise ValueError(message) from None
    if len(body) > most:
        message = f"the file is larger than {most:,} bytes; name another"
        raise ValueError(message)
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        message = "the file is not UTF-8; save it as UTF-8"
        raise ValueError(message) from None


def _with_files(origin: OriginSettings, now: float, mistakes: list[Mistake]) -> OriginSettings:
    """Return an origin with the lines of ``cookies_file`` in its place; note each of its files that cannot be read."""
    for name in ("certificate", "certificate_key"):
        path = getattr(origin, name)
        try:
            if path and "PRIVATE KEY" not in (text := _text(path, COOKIE_BYTES)) and "CERTIFICATE" not in text:
                mistakes.append(Mistake(f"origin.{name}", path, "there is none in it; name a PEM file"))
        except ValueError as error:
            mistakes.append(Mistake(f"origin.{name}", path, str(error)))
    if not origin.cookies_file:
        return origin
    try:
        text = _text(origin.cookies_file, COOKIE_BYTES)
        lines = cookie_file.read(text, host_of(origin.origin).strip("[]"), now)
        return replace(origin, cookies_file="\n".join(lines))
    except ValueError as error:
        mistakes.append(Mistake("origin.cookies_file", origin.cookies_file, str(error)))
        return origin
