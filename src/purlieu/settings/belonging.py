"""The keys that say what belongs to the crawl: scope and sites, domains, filters, normalisers.

As ``key.py``, of which this is a part. What they mean is decided by the nouns of the same names.
"""

# ruff: noqa: FBT003  # a default stands beside what is known of its key
from __future__ import annotations

from purlieu.domain import GENERIC_IN_ORDER
from purlieu.scope import DOMAIN_SOURCES, MODES
from purlieu.settings.fact import Key, key
from purlieu.value import dataclass


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """One part of the scope. With any `[[site]]` only these are in scope; seeds are fetched but add none."""

    url: str = key(
        "",
        Key("The URL that the site is measured from. It is fetched only if it is a seed too.", form="url", needed=True),
    )
    mode: str = key("same-host", Key("How far the site reaches; see `scope.mode`.", choices=MODES))
    ignore_port: bool = key(False, Key("Whether other ports of the host belong to the site."))
    ignore_scheme: bool = key(True, Key("Whether http and https are the same site."))
    follow_redirected_seed: bool = key(
        True, Key("Whether the site is measured by where its first URL redirects to instead of by that URL.")
    )
    aliases: tuple[str, ...] = key((), Key("Hosts that count as the site's host.", form="host"))
    www_equivalent: bool = key(False, Key("Whether the site's host counts with `www.` before it and without."))
    alternative_suffixes: tuple[str, ...] = key((), Key("See `scope.alternative_suffixes`.", form="suffix"))
    domains: str = key("psl", Key("See `scope.domains`.", choices=DOMAIN_SOURCES))
    strict: bool = key(False, Key("See `scope.strict`."))


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Which URLs belong to the crawl. Without any `[[site]]` each seed is a site of its own with these settings."""

    mode: str = key(
        "same-host",
        Key(
            "How far a site reaches: `same-dir` is the seed's folder, `same-host` its host, `same-domain` its "
            "registrable domain, `same-sld` its second-level name under any top-level domain, `any` the whole web.",
            choices=MODES,
        ),
    )
    ignore_port: bool = key(False, Key("Whether other ports of the host belong to the site."))
    ignore_scheme: bool = key(True, Key("Whether http and https are the same site."))
    follow_redirected_seed: bool = key(
        True, Key("Whether a site is measured by where its seed redirects to instead of by the seed.")
    )
    aliases: tuple[str, ...] = key((), Key("Hosts that count as every site's host.", form="host"))
    www_equivalent: bool = key(False, Key("Whether a site's host counts with `www.` before it and without."))
    alternative_suffixes: tuple[str, ...] = key(
        (),
        Key(
            'Suffixes that may stand for each other, such as `[".com", ".com.cn"]`: hosts that differ only in these '
            "count as the site's host. The site's own must be among them.",
            form="suffix",
        ),
    )
    domains: str = key(
        "psl",
        Key(
            "What tells a host's domain in `same-domain`: `psl` is the public suffix list, `psl-icann` the list "
            "without the suffixes that companies lend out (`github.io`), `lists` the two lists of `[domains]`.",
            choices=DOMAIN_SOURCES,
        ),
    )
    strict: bool = key(
        False,
        Key(
            "Whether `same-domain` is refused for a host without a domain (an address, a bare name, a public suffix). "
            "Otherwise it takes that host alone, and the report says so."
        ),
    )
    judge_against: str = key(
        "any-seed",
        Key(
            "With several seeds: `any-seed` takes a URL that belongs to any of their sites, `own-seed` only one that "
            "belongs to the site it was found from.",
            choices=("any-seed", "own-seed"),
        ),
    )
    only_seeds: bool = key(False, Key("List mode: exactly the given URLs are fetched, and nothing they link to."))


@dataclass(frozen=True, slots=True)
class DomainSettings:
    """The two lists of top-level domains, used where `domains = "lists"`.

    The last two labels of a host are its domain if its last label is generic; else the longest suffix on the
    additional list and one label more.
    """

    generic: tuple[str, ...] = key(
        GENERIC_IN_ORDER,
        Key(
            "Top-level domains directly under which names are given. The default is a reconstruction; better leave it "
            "alone and add to `additional`.",
            form="suffix",
        ),
    )
    additional: tuple[str, ...] = key(
        (), Key('All other suffixes that the crawl may meet, such as `["ca", "co.uk"]`.', form="suffix")
    )


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """Which URLs that are in scope are refused all the same. Nothing here admits what scope refuses."""

    rules: tuple[str, ...] = key(
        (),
        Key(
            "Lines of `+` or `-` and a pattern that is searched in the URL. The first that matches decides; a URL that "
            "none matches is refused, if there are any lines. Empty lines and those that begin with `#` are skipped.",
            is_lines=True,
        ),
    )
    rules_file: str = key("", Key("A file with such lines, instead of `rules`.", form="line", unset="no file"))
    apply_to_seeds: bool = key(False, Key("Whether seeds are refused too, and where they redirect to."))
    include: tuple[str, ...] = key(
        (),
        Key(
            "If given, a URL must match one of these: `prefix:`, `glob:` or `regex:` and a text. Without such a word a "
            "URL is a prefix and all else a glob, in which `*` stands for anything. What begins with `/` is compared "
            "with the path."
        ),
    )
    exclude: tuple[str, ...] = key((), Key("A URL must match none of these; written as in `include`."))
    unsafe_patterns: bool = key(
        False,
        Key(
            "Whether patterns may hold what cannot be searched in linear time: back-references, look-ahead and "
            "look-behind. One that takes longer than 10 ms refuses the URL (`excluded.filter_timeout`)."
        ),
    )


@dataclass(frozen=True, slots=True)
class NormaliseRule:
    """One rule; the rules are applied in order, each to all that it finds."""

    pattern: str = key("", Key("What is searched in the URL.", needed=True))
    replace: str = key("", Key("What stands instead: `$1` is the first group, `\\` takes the next sign as it is."))


@dataclass(frozen=True, slots=True)
class NormaliseSettings:
    """How several spellings of a URL are made one, after the standard form that every URL gets."""

    collapse_slashes: bool = key(False, Key("Whether several slashes in a row in a path are one."))
    session_ids: bool = key(
        True,
        Key(
            "Whether session ids (`jsessionid`, `PHPSESSID`, a long `sid` and the like) are taken out of links, so "
            "that a page is not taken for another at each visit. Redirects keep theirs."
        ),
    )
    sort_parameters: bool = key(
        False, Key("Whether the same parameters in another order are the same URL: they are put in order.")
    )
    drop_parameters: tuple[str, ...] = key(
        (), Key('Parameters that are taken out, such as `["utm_*", "fbclid"]`; `*` at the end stands for anything.')
    )
    apply_to_seeds: bool = key(False, Key("Whether this holds for seeds too."))
    loops: int = key(1, Key("How often all of it is applied, unless nothing changes any more.", least=1, most=10))
    rules: tuple[NormaliseRule, ...] = key((), Key("", table="normalise.rule"))
