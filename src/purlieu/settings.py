"""One TOML text to one frozen, checked object.

Knows every key, its default and its limits. Knows nothing of how a crawl runs.
Every field's docstring line below is the text of the reference page.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """``[[site]]``: one part of the scope (a featured URL and a mode)."""

    url: str = ""
    mode: str = "same-host"
    ignore_port: bool = False
    ignore_scheme: bool = True
    follow_redirected_seed: bool = True


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """``[scope]``: which URLs belong to the crawl."""

    mode: str = "same-host"
    ignore_port: bool = False
    ignore_scheme: bool = True
    follow_redirected_seed: bool = True
    judge_against: str = "any-seed"
    only_seeds: bool = False          # list mode: exactly the given URLs, nothing they link to


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """``[limits]``: where a run ends. None means no limit."""

    max_depth: int | None = None
    max_pages: int | None = None       # page entries ended by a request (counts fetched and failed)
    max_seconds: float | None = None
    max_targets: int | None = None     # finished plus running page entries (BJ-43)
    max_redirects: int = 10
    max_url_length: int = 8192
    pages_per_host: int | None = None
    repeated_segment: int = 3          # 0 switches the loop breaker off


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """``[fetch]``: how pages are asked for."""

    user_agent: str = ""               # "" means Purlieu/VERSION
    connect_timeout_seconds: float = 10.0
    timeout_seconds: float = 30.0
    low_speed_bytes: int = 10          # fewer bytes a second than this ...
    low_speed_seconds: float = 15.0    # ... for so long is a timeout
    page_bytes: int = 10 * 1024 * 1024
    sitemap_bytes: int = 52_428_800
    robots_bytes: int = 512_000
    header_bytes: int = 131_072
    classes: tuple[str, ...] = ("HTML", "PDF", "OFFICE", "TEXT")
    head_first: bool = False
    http2: bool = True
    proxy: str = ""
    proxy_from_environment: bool = False
    ca_file: str = ""
    cookies: bool = True
    allow_addresses: tuple[str, ...] = ()   # address classes open besides public: private, loopback, link-local, metadata, cgnat, special
    accept_language: str = ""


@dataclass(frozen=True, slots=True)
class PolitenessSettings:
    """``[politeness]``: how slowly each host is asked (section 4 of the rules)."""

    delay: float | None = None         # None: 0.25 s, and 0 on loopback
    connections: int | None = None     # None: 1, and 8 on loopback
    adaptive: bool = True              # the gap is also at least the smoothed response time
    max_crawl_delay: float = 30.0      # -1: always obey
    max_hosts: int = 64                # hosts asked at the same time
    retries: int = 2                   # further tries of a URL that failed in a way that may pass
    retry_seconds: float = 5.0         # before the first retry; doubles
    give_up_after: int = 20            # failures of a host in a row


@dataclass(frozen=True, slots=True)
class RobotsSettings:
    """``[robots]``: how robots.txt is obeyed."""

    obey: bool = True
    agent: str = "purlieu"
    tries: int = 3
    within_seconds: float = 600.0
    max_age_seconds: float = 86_400.0


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """``[links]``: which links are followed."""

    obey_nofollow: bool = True
    kinds: tuple[str, ...] = ("a", "area", "frame", "iframe", "next", "prev", "alternate", "refresh")
    canonical: bool = True             # canonical targets become candidates


@dataclass(frozen=True, slots=True)
class SitemapSettings:
    """``[sitemap]``: how sitemaps are used."""

    use: bool = True
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HostSettings:
    """``[[host]]``: exceptions for one host. None: as for all."""

    name: str = ""
    delay: float | None = None
    connections: int | None = None
    verify: bool = True


@dataclass(frozen=True, slots=True)
class OriginSettings:
    """``[[origin]]``: headers and credentials, sent to this origin only (R-4.7)."""

    origin: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    user: str = ""
    password: str = ""
    auth: str = "basic"                # basic or digest


@dataclass(frozen=True, slots=True)
class LedgerSettings:
    """``[ledger]``: what is remembered."""

    refusals_per_host: int = 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """A crawl: seeds and everything else, checked."""

    seeds: tuple[str, ...] = ()
    name: str = ""                     # "" means the first seed's host
    store: str = "purlieu.db"
    output: str = "purlieu-out"
    formats: tuple[str, ...] = ("crawl_result",)
    language: str = "en"
    scope: ScopeSettings = field(default_factory=ScopeSettings)
    sites: tuple[SiteSettings, ...] = ()
    limits: LimitSettings = field(default_factory=LimitSettings)
    fetch: FetchSettings = field(default_factory=FetchSettings)
    politeness: PolitenessSettings = field(default_factory=PolitenessSettings)
    robots: RobotsSettings = field(default_factory=RobotsSettings)
    links: LinkSettings = field(default_factory=LinkSettings)
    sitemap: SitemapSettings = field(default_factory=SitemapSettings)
    hosts: tuple[HostSettings, ...] = ()
    origins: tuple[OriginSettings, ...] = ()
    ledger: LedgerSettings = field(default_factory=LedgerSettings)
