"""What of a scope's settings contradicts itself or the URLs it is measured from.

Knows the validations of the follow policy (BJ-11 to BJ-32) and their remedies. Single values are checked elsewhere;
what is no URL is passed over here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from purlieu.domain import is_address, registrable
from purlieu.errors import UrlError
from purlieu.scope._described import ScopeSettings, SiteOptions
from purlieu.scope.site import LISTS, PSL
from purlieu.sentence import Sentence
from purlieu.url import Url, host_of, parse

_JUDGED = frozenset({"same-dir", "same-sld", "same-domain"})
Told = tuple[str, str, str]
"""Key, value, and what to write instead."""


def sites_of(
    settings: ScopeSettings, concerned: Callable[[SiteOptions], object]
) -> Iterator[tuple[str, str, Url, SiteOptions]]:
    """Yield each site that is ``concerned``: the prefix of its keys, the key of its URL, the URL, its options."""
    given: list[tuple[str, str, str, SiteOptions]] = [
        (f"site[{number}].", f"site[{number}].url", site.url, site) for number, site in enumerate(settings.sites, 1)
    ]
    for prefix, key, text, how in given or [("scope.", "seeds", seed, settings.scope) for seed in settings.seeds]:
        if not concerned(how):
            continue
        try:
            url = parse(text)
        except UrlError:
            continue
        if host_of(url.href):
            yield prefix, key, url, how


def mistakes(settings: ScopeSettings) -> Iterator[Told]:
    """Yield (key, value, remedy) for all that is wrong, in every site, each once."""
    found: dict[Told, None] = {}
    for prefix, key, url, how in sites_of(settings, lambda how: how.mode in _JUDGED or how.alternative_suffixes):
        for told in (*_of_mode(prefix, key, url, how), *_of_suffixes(prefix, url, how)):
            found[told] = None
    yield from found


def without_domain(host: str, how: SiteOptions) -> str:
    """Return why a host has no registrable domain of its own, "" if it has one (BJ-11, AMB-BJ-6)."""
    if registrable(host, private=how.domains == PSL) is not None:
        return ""
    if is_address(host):
        return Sentence("an address")
    if "." in host:
        return Sentence("a public suffix, under which anyone may have a site")
    return Sentence("a name without a dot")


def _of_mode(prefix: str, key: str, url: Url, how: SiteOptions) -> Iterator[Told]:
    host = url.host.removesuffix(".")
    if how.mode == "same-dir" and (not url.path.endswith("/") or url.query is not None or url.fragment is not None):
        whole, _, last = url.path.rpartition("/")
        # A last part with a dot is a file's name as a rule, else the slash was forgotten.
        folder = f"{url.origin}{whole}/" + (f"{last}/" if last and "." not in last else "")
        # BJ-14, AMB-BJ-15: without the slash /abc would take /abcd too.
        yield (
            key,
            str(url),
            Sentence('same-dir needs the URL of a folder, with a slash at its end: write "{folder}"', folder=folder),
        )
    elif how.mode == "same-sld" and is_address(host):
        yield (
            f"{prefix}mode",
            how.mode,
            Sentence('"{host}" is an address and has no second-level name; write "same-host"', host=host),
        )
    elif how.mode == "same-sld" and "." not in host:
        yield (
            f"{prefix}mode",
            how.mode,
            Sentence('"{host}" has no dot and so no second-level name; write "same-host"', host=host),
        )
    elif how.mode == "same-domain" and how.strict and how.domains != LISTS and (why := without_domain(host, how)):
        yield (
            f"{prefix}mode",
            how.mode,
            Sentence('"{host}" is {why}, and has no domain; write "same-host"', host=host, why=why),
        )


def _of_suffixes(prefix: str, url: Url, how: SiteOptions) -> Iterator[Told]:
    """Yield the errors of BJ-32; a list that is empty or absent makes none."""
    key, host, suffixes = f"{prefix}alternative_suffixes", url.host.removesuffix("."), how.alternative_suffixes
    if not suffixes:
        return
    for one in suffixes:
        if not one.startswith("."):
            yield key, one, Sentence('begin it with a dot: ".{suffix}"', suffix=one)
    if len(set(suffixes)) < 2:
        yield key, suffixes[0], Sentence("write at least two different suffixes, the site's own among them")
    if how.mode == "same-sld":
        yield (
            key,
            ", ".join(suffixes),
            Sentence("same-sld compares no suffix: take the list out, or write another mode"),
        )
    if is_address(host):
        yield (
            key,
            ", ".join(suffixes),
            Sentence('"{host}" is an address, which has no suffix: take the list out', host=host),
        )
    elif whole := next((one for one in suffixes if one.removeprefix(".") == host), ""):
        yield key, whole, Sentence('it is the whole host "{host}", so that nothing would remain in front', host=host)
    elif not any(host.endswith(one) for one in suffixes if one.startswith(".")):
        last = host.rpartition(".")[2]
        yield (
            key,
            ", ".join(suffixes),
            Sentence('"{host}" ends in none of them: write the suffix it ends in too, ".{last}"', host=host, last=last),
        )
