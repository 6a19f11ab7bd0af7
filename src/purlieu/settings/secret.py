"""What must not be shown or stored: passwords, tokens, values of owner's headers and forms, a proxy's password.

Knows how a secret is masked, and where one that is only named (``env:NAME``, ``file:PATH``, ``keyring:SERVICE/USER``)
is to be put. The environment, and what reads files and keyrings, are handed in; nothing here reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from purlieu.errors import Mistake, SettingsError
from purlieu.settings.door import SECRET_KEYS, SECRET_NAME, SECRET_TABLES
from purlieu.value import replace

if TYPE_CHECKING:
    from purlieu.settings.door import OriginSettings
    from purlieu.settings.key import Settings

MASK: Final = "********"
"""Stands for a secret where settings are shown or stored."""
REFERENCES: Final = ("env:", "file:", "keyring:")
"""How a value begins that only names where its secret is."""


def masked(settings: Settings) -> Settings:
    """Return the settings with every secret masked that is not a reference (``REFERENCES``)."""
    origins = tuple(_with(origin, lambda _, text: _mask(text)) for origin in settings.origins)
    scheme, slashes, rest = settings.fetch.proxy.partition("://")
    credentials, at, address = rest.rpartition("@")
    if not at or settings.fetch.proxy.startswith(REFERENCES):
        return replace(settings, origins=origins)
    proxy = f"{scheme}{slashes}{credentials.partition(':')[0]}:{MASK}@{address}"
    return replace(settings, origins=origins, fetch=replace(settings.fetch, proxy=proxy))


def _mask(text: str) -> str:
    return text if not text or text.startswith(REFERENCES) else MASK


def _with(origin: OriginSettings, value: Callable[[str, str], str]) -> OriginSettings:
    """Return an origin with ``value(key, text)`` for each of its secrets."""
    singles: dict[str, Any] = {name: value(f"origin.{name}", getattr(origin, name)) for name in SECRET_KEYS}
    tables: dict[str, Any] = {
        name: tuple((part, value(f"origin.{name}.{part}", text)) for part, text in getattr(origin, name))
        for name in SECRET_TABLES
    }
    return replace(origin, **singles, **tables)


def in_clear(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield (origin, key) of each secret that the settings hold themselves.

    Of a form only where all it is filled with is: one of its fields is the user's name, which is none.
    """
    for origin in settings.origins:
        yield from ((origin.origin, name) for name in SECRET_KEYS if _mask(getattr(origin, name)) == MASK)
        for name, text in origin.headers:
            if SECRET_NAME.search(name) and _mask(text) == MASK:
                yield origin.origin, f"headers.{name}"
        if origin.login_fields and all(_mask(text) == MASK for _, text in origin.login_fields):
            yield origin.origin, "login_fields"
    if masked(settings).fetch.proxy != settings.fetch.proxy:
        yield "fetch", "proxy"


def resolve(settings: Settings, environment: Mapping[str, str], read: Callable[[str], str] | None = None) -> Settings:
    """Return the settings with each reference (passwords, header values, proxy, webhook ...) replaced by its secret.

    ``read`` takes ``file:PATH`` or ``keyring:SERVICE/USER`` and returns the secret; ValueError has the remedy.
    Call it right before the first request, with ``os.environ``, and keep the result out of store and log.
    Raises SettingsError that names everything that is not there.
    """
    mistakes: list[Mistake] = []

    def value(key: str, text: str) -> str:
        if not text.startswith(REFERENCES):
            return text
        name = text.removeprefix("env:")
        if name != text:
            if not environment.get(name):
                mistakes.append(Mistake(key, text, f"set the environment variable {name}"))
            return environment.get(name, "")
        try:
            if read is None:
                raise ValueError("only env:NAME can be read here")  # noqa: TRY301  as from ``read``
            return read(text)
        except ValueError as error:
            mistakes.append(Mistake(key, text, str(error)))
            return ""

    origins = tuple(_with(origin, value) for origin in settings.origins)
    proxy = value("fetch.proxy", settings.fetch.proxy)
    after = replace(settings.after, webhook=value("after.webhook", settings.after.webhook))
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return replace(settings, origins=origins, fetch=replace(settings.fetch, proxy=proxy), after=after)
