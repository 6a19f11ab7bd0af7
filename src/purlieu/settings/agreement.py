"""Whether the keys of the settings agree with each other: scope with its URLs, patterns with what may be written.

Knows which nouns to ask. Single values are checked before (``check.py``). Reads no file.
"""

from __future__ import annotations

from collections.abc import Iterator

from purlieu import scope
from purlieu.sentence import Sentence
from purlieu.settings.key import Settings
from purlieu.url import parse
from purlieu.value import replace

_NONE_READ = Sentence("it reads no sitemap, and sitemap.files names some; take one of the two out")
_SEEDS_ALONE = Sentence("scope.only_seeds fetches the seeds and nothing else; take one of the two out")
_NONE_FOUND = Sentence("with sitemap.use = false no sitemap is found; write sitemap.files, or take use out")
_NO_ADDRESS = Sentence('behind a proxy no address is known; write "host" or "domain", or list the hosts in [[group]]')

_NOT_KEPT = Sentence('what documents say is kept with what pages say: write keep = "text", or take it out')
_NO_TLS = Sentence("only https has certificates; write an origin that begins with https://, or take it out")


def disagreements(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yield (key, value, remedy) for all that is wrong between keys. What is not used is not loaded (R-9.2)."""
    yield from scope.mistakes(settings)
    yield from _of_groups(settings)
    yield from _of_sitemaps(settings)
    yield from _of_origins(settings)
    if settings.documents.read and not settings.keeps_text:
        yield "documents.read", "true", _NOT_KEPT
    if settings.filter.rules or settings.filter.include or settings.filter.exclude:
        from purlieu.pattern import filters

        yield from filters.mistakes(settings.filter)
    if settings.traps.allow:
        from purlieu.pattern import filters

        for number, item in enumerate(settings.traps.allow, 1):
            if remedy := filters.wrong_item(item, unsafe=False):
                yield f"traps.allow[{number}]", item, remedy
    if settings.normalise.rules:
        from purlieu import normalise

        yield from normalise.mistakes(settings.normalise)
    for number, profile in enumerate(settings.sitemap.profiles, 1):
        from purlieu.sitemap import choose

        for name, value, remedy in choose.mistakes(profile, profile.priority):
            yield f"sitemap.profile[{number}].{name}", value, remedy


def _of_sitemaps(settings: Settings) -> Iterator[tuple[str, str, str]]:
    mode = settings.sitemap.mode
    if mode == "links-only" and settings.sitemap.files:
        yield "sitemap.mode", mode, _NONE_READ
    if mode == "sitemaps-only" and settings.scope.only_seeds:
        yield "sitemap.mode", mode, _SEEDS_ALONE
    if mode == "sitemaps-only" and not settings.sitemap.use and not settings.sitemap.files:
        yield "sitemap.mode", mode, _NONE_FOUND


def _of_origins(settings: Settings) -> Iterator[tuple[str, str, str]]:
    for number, one in enumerate(settings.origins, 1):
        if one.login_page and one.origin and parse(one.login_page).origin != one.origin:
            yield (
                f"origin[{number}].login_page",
                one.login_page,
                Sentence(
                    "credentials go to their own origin alone: name a page of {origin}, or of another [[origin]]",
                    origin=one.origin,
                ),
            )
        if one.certificate and one.origin.startswith("http:"):
            yield f"origin[{number}].certificate", one.certificate, _NO_TLS


def _of_groups(settings: Settings) -> Iterator[tuple[str, str, str]]:
    seen: dict[str, str] = {}
    for number, group in enumerate(settings.groups, 1):
        for host in group.hosts:
            if host in seen:
                yield (
                    f"group[{number}].hosts",
                    host,
                    Sentence('it is in the group "{group}" already; leave it in one', group=seen[host]),
                )
            seen[host] = group.name
    if settings.politeness.group == "address" and (settings.fetch.proxy or settings.fetch.proxy_from_environment):
        yield "politeness.group", "address", _NO_ADDRESS


def with_rules(settings: Settings, text: str) -> Settings:
    """Return the settings with the text of ``filter.rules_file`` as ``filter.rules``.

    Raises SettingsError with every wrong line of it.
    """
    from purlieu.pattern.filters import read_rules

    own = settings.filter
    lines = read_rules(text, own.rules_file, unsafe=own.unsafe_patterns)
    # An empty file refuses everything, as its last rule does not match (UF-3); no rules at all would admit.
    return replace(settings, filter=replace(own, rules=lines or ("",), rules_file=""))
