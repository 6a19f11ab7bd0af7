"""What settings may open that are saved or run through a console which others can reach (R-5.1); one rule for both.

Somebody on another machine may crawl the public web with them, and neither look into the networks of this machine nor
start programs, read files or take secrets here. Early words alone: that no private address is spoken to, whatever a
name leads to, sees the run itself to, by ``fetch.public_only``.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Final
from urllib.parse import urlsplit

from purlieu.console.draft import put
from purlieu.console.parts import Terms
from purlieu.errors import Mistake, SettingsError
from purlieu.sentence import Sentence
from purlieu.settings import Settings, read
from purlieu.settings.door import FILES
from purlieu.settings.secret import REFERENCES

PRIVATE: Final = Sentence(
    "this leads into a network of the console's machine; crawl it there, or let whoever starts the console say "
    "--allow-private"
)
OWNERS: Final = Sentence("only whoever starts the console may set this: on the machine itself, in a settings file")
WORDS: Final = ("--public-only",)
"""What a run is told besides that may open no private network."""
_LOCAL: Final = (".localhost", ".local", ".internal", ".home.arpa", ".localdomain")


def mistakes(made: Settings, before: Settings | None = None) -> tuple[Mistake, ...]:
    """Return what in settings may not be saved or run from elsewhere, each with its remedy; () when all may.

    ``before`` are the crawl's settings until now: what only the machine's owner may set may stand as it stood.
    """
    stood = set(_powers(before)) if before else set()
    found = [Mistake(key, value, PRIVATE) for key, value in _private(made)]
    return (*found, *(Mistake(key, value, OWNERS) for key, value in _powers(made) if (key, value) not in stood))


def of_text(text: str | None, terms: Terms) -> str | None:
    """Return in a sentence why a run may not be started with a settings text from this console, None when it may."""
    if terms.private or not text:
        return None
    try:
        made = read(text)
    except SettingsError:  # the run says what is wrong with it
        return None
    wrong = mistakes(made, made)
    return (
        Sentence("{key} = {value}: {why}", key=wrong[0].key, value=wrong[0].value, why=wrong[0].remedy)
        if wrong
        else None
    )


def closed(text: str, terms: Terms) -> str:
    """Return a settings text as it is kept from this console: one from elsewhere says for good what it may not open."""
    return text if terms.private else put(text, {"fetch.public_only": "true"})


def words_of(terms: Terms) -> list[str]:
    """Return what a run is told besides that is started from this console."""
    return [] if terms.private else list(WORDS)


def _private(made: Settings) -> Iterator[tuple[str, str]]:
    """Yield what names a place that is not public."""
    yield from (("fetch.allow_addresses", one) for one in made.fetch.allow_addresses)
    for key, addresses in (
        ("seeds", made.seeds),
        ("site.url", [one.url for one in made.sites]),
        ("sitemap.files", made.sitemap.files),
    ):
        yield from ((key, one) for one in addresses if is_private(one))


def _powers(made: Settings) -> Iterator[tuple[str, str]]:
    """Yield what reaches beyond the crawl: programs, files, ways round the guard of addresses, and secrets."""
    for key, value in (
        ("after.command", " ".join(made.after.command)),
        ("after.webhook", made.after.webhook),
        ("fetch.proxy", made.fetch.proxy),
        ("fetch.ca_file", made.fetch.ca_file),
        ("filter.rules_file", made.filter.rules_file),
        ("store", made.store if made.store != Settings().store else ""),
        ("output", made.output if made.output != Settings().output else ""),
    ):
        if value:
            yield key, value
    if made.fetch.proxy_from_environment:
        yield "fetch.proxy_from_environment", "true"
    for one in made.origins:
        yield from ((f"origin.{name}", value) for name in FILES if (value := getattr(one, name)))
    yield from _secrets(made, "")


def _secrets(value: object, key: str) -> Iterator[tuple[str, str]]:
    """Yield each value that is taken from a variable, file or keyring of the console's machine."""
    if isinstance(value, str):
        if value.startswith(REFERENCES):
            yield key, value
    elif is_dataclass(value):
        for one in fields(value):
            yield from _secrets(getattr(value, one.name), f"{key}.{one.name}".strip("."))
    elif isinstance(value, tuple):
        for each in value:
            yield from _secrets(each, key)


def is_private(address: str) -> bool:
    """Return whether a URL names by itself what is not public: an address of a private block, or a local name."""
    try:
        host = (urlsplit(address if "//" in address else f"//{address}").hostname or "").rstrip(".")
    except ValueError:
        return True
    try:
        return not ipaddress.ip_address(host.partition("%")[0]).is_global
    except ValueError:
        return "." not in host or f".{host}".endswith(_LOCAL)
