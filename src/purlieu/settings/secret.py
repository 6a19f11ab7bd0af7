"""What must not be shown or stored: passwords, values of owner's headers, a proxy's password.

Knows how a secret is masked and how ``env:NAME`` is replaced. The environment is
handed in; nothing here reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from purlieu.errors import Mistake, SettingsError
from purlieu.settings.key import Settings
from purlieu.value import replace

MASK: Final = "********"
"""Stands for a secret where settings are shown or stored."""


def masked(settings: Settings) -> Settings:
    """Return the settings with every secret masked that is not ``env:NAME``."""
    origins = tuple(
        replace(
            origin,
            password=_mask(origin.password),
            headers=tuple((name, _mask(text)) for name, text in origin.headers),
        )
        for origin in settings.origins
    )
    scheme, slashes, rest = settings.fetch.proxy.partition("://")
    credentials, at, address = rest.rpartition("@")
    if not at:
        return replace(settings, origins=origins)
    proxy = f"{scheme}{slashes}{credentials.partition(':')[0]}:{MASK}@{address}"
    return replace(settings, origins=origins, fetch=replace(settings.fetch, proxy=proxy))


def _mask(text: str) -> str:
    return text if not text or text.startswith("env:") else MASK


def resolve(settings: Settings, environment: Mapping[str, str]) -> Settings:
    """Return the settings with each ``env:NAME`` (passwords, header values, proxy, webhook) replaced by its variable.

    Call it right before the first request, with ``os.environ``, and keep the result out of store and log.
    Raises SettingsError that names every variable that is not set.
    """
    mistakes: list[Mistake] = []

    def value(key: str, text: str) -> str:
        name = text.removeprefix("env:")
        if name == text:
            return text
        if not environment.get(name):
            mistakes.append(Mistake(key, text, f"set the environment variable {name}"))
        return environment.get(name, "")

    origins = tuple(
        replace(
            origin,
            password=value("origin.password", origin.password),
            headers=tuple((name, value(f"origin.headers.{name}", text)) for name, text in origin.headers),
        )
        for origin in settings.origins
    )
    proxy = value("fetch.proxy", settings.fetch.proxy)
    after = replace(settings.after, webhook=value("after.webhook", settings.after.webhook))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return replace(settings, origins=origins, fetch=replace(settings.fetch, proxy=proxy), after=after)
